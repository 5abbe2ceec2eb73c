"""examples/python: they run and leave their figures."""

import os
import subprocess
import sys

from conftest import ROOT


def run(folder, name, *arguments):
    script = ROOT / "examples" / "python" / name
    done = subprocess.run(
        [sys.executable, str(script), *map(str, arguments)], cwd=folder, capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_figure(path):
    return "<svg" in path.read_text()[:2000]


def test_training_on_gyroscope(tmp_path):
    output = run(tmp_path, "train.py", "--steps", 3)
    assert "hybrid: step 2" in output and "plain: step 2" in output
    assert is_figure(tmp_path / "train.svg")


def test_training_on_text(tmp_path):
    (tmp_path / "text").write_text("all work and no play makes jack a dull boy. " * 20)
    run(tmp_path, "train.py", "--steps", 2, "--text", "text", "--out", "text.svg")
    assert is_figure(tmp_path / "text.svg")


def test_a_walk_through_the_operators(tmp_path):
    output = run(tmp_path, "operators.py")
    assert "determinant -1.0" in output
    for name in ("angle", "gate", "determinant", "penalty"):
        assert is_figure(tmp_path / "operators" / f"{name}.svg")
