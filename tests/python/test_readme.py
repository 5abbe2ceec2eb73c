"""The README's section "From Python": every snippet runs, in the order in which it stands."""

import os
import re

from conftest import ROOT


def snippets():
    readme = (ROOT / "README.md").read_text()
    section = re.search(r"\n### From Python\n(.*?)\n##", readme, re.S).group(1)
    return re.findall(r"```python\n(.*?)```", section, re.S)


def test_the_snippets(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # As the README's section before makes them.
    program("data", "gyroscope", "--out", "my-sequences", "--dim", 8, "--steps", 32, "--train", 256, "--val", 64)
    smoke = ("--preset", "smoke", "--iterations", 3, "--warmup", 1)
    program("train", "--model", "edelta", "--pool", "prefix", "--data", "my-sequences", *smoke, "--out", "runs/mine")
    found = snippets()
    assert len(found) >= 4
    names = {}
    for snippet in found:
        exec(compile(snippet, "README.md", "exec"), names)  # noqa: S102
    # What its comments promise.
    program("eval", "mine.safetensors", "--data", "my-sequences")
    program("parity", "trace.safetensors")
    assert os.path.exists("trace.safetensors")
