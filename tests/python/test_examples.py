"""examples/python: they run and leave their figures."""

import runpy
import sys

import pytest
import torch
from conftest import ROOT


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs an example in an empty folder; what it prints."""
    monkeypatch.chdir(tmp_path)
    dtype = torch.get_default_dtype()

    def example(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(ROOT / "examples" / "python" / name), run_name="__main__")
        return capsys.readouterr().out

    yield example
    torch.set_default_dtype(dtype)


def is_figure(path):
    return "<svg" in path.read_text()[:2000]


def test_training_on_gyroscope(run, tmp_path):
    output = run("train.py", "--steps", 3)
    assert "hybrid: step 2" in output and "plain: step 2" in output
    assert is_figure(tmp_path / "train.svg")


def test_training_on_text(run, tmp_path):
    (tmp_path / "text").write_text("all work and no play makes jack a dull boy. " * 20)
    run("train.py", "--steps", 2, "--text", "text", "--out", "text.svg")
    assert is_figure(tmp_path / "text.svg")


def test_a_walk_through_the_operators(run, tmp_path):
    output = run("operators.py")
    assert "determinant -1.0" in output
    for name in ("angle", "gate", "determinant", "penalty"):
        assert is_figure(tmp_path / "operators" / f"{name}.svg")
