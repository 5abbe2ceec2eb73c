"""What the tests share: the program, the golden traces, and threads that do not fight for cores."""

import os
import subprocess
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def program():
    """Runs the edelta program; its standard output. code: the exit status to expect, None for any."""
    path = os.environ.get("EDELTA_PROGRAM", str(ROOT / "build" / "release" / "edelta"))
    assert Path(path).exists(), f"{path} is not built"

    def run(*arguments, code=0):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert code in (None, done.returncode), f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def golden():
    """The folder with golden traces; tests that need it are skipped where there is none."""
    named = os.environ.get("EDELTA_GOLDEN_DIR")
    folder = Path(named) if named else ROOT.parent / "shared" / "golden"
    if not folder.is_dir():
        pytest.skip("there are no golden traces")
    return folder


@pytest.fixture
def composite():
    """The composite implementation for one test."""
    import edelta

    with edelta.implementation("composite"):
        yield
