"""The package as it is imported: what it needs, what it says, what it leaves alone."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import edelta
import pytest
import torch
from conftest import ROOT

PACKAGE = ROOT / "python" / "edelta"
REFERENCE_BLAS = Path("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3")
OPENBLAS = Path("/usr/lib/x86_64-linux-gnu/libopenblas.so.0")
CPU = Path("/proc/cpuinfo").read_text(encoding="utf-8")
HAS_AVX2 = "avx2" in CPU
# What OpenBLAS calls the core whose loops are right for this CPU.
CORE = "SkylakeX" if "avx512bw" in CPU else "Haswell"


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


@pytest.mark.skipif(not REFERENCE_BLAS.exists(), reason="the reference BLAS is not installed")
def test_a_slow_blas_is_named_with_its_remedy():
    done = python("import edelta", LD_LIBRARY_PATH=str(REFERENCE_BLAS.parent))
    assert done.returncode == 0
    assert "RuntimeWarning" in done.stderr and "reference BLAS" in done.stderr
    assert "libopenblas0-openmp" in done.stderr and "LD_PRELOAD" in done.stderr


@pytest.mark.skipif(not OPENBLAS.exists(), reason="OpenBLAS is not where it is usually")
@pytest.mark.skipif(not HAS_AVX2, reason="needs AVX2")
def test_an_openblas_that_does_not_know_the_cpu_is_named_with_its_remedy():
    done = python("import edelta", LD_PRELOAD=str(OPENBLAS), OPENBLAS_CORETYPE="Prescott")
    assert done.returncode == 0
    assert "RuntimeWarning" in done.stderr and "Prescott" in done.stderr
    assert f"OPENBLAS_CORETYPE={CORE}" in done.stderr


@pytest.mark.skipif(not OPENBLAS.exists(), reason="OpenBLAS is not where it is usually")
def test_the_process_is_left_alone():
    """The library alone is enough; with a good BLAS nothing is said, and threads and defaults stay as they are."""
    done = python(
        "import os, torch\n"
        "before = torch.get_num_threads(), torch.get_default_dtype()\n"
        "torch.ops.load_library(os.environ['EDELTA_LIBRARY'])\n"
        "assert torch.allclose(torch.ops.edelta.sinkhorn(torch.zeros(2, 2)), torch.full((2, 2), 0.5))\n"
        "import edelta\n"
        "assert before == (torch.get_num_threads(), torch.get_default_dtype())\n"
        "print('as before')",
        OMP_NUM_THREADS="2",
        LD_PRELOAD=str(OPENBLAS),
        # An OpenBLAS older than the CPU is not a good one; one without AVX-512 may be the user's wish.
        **({"OPENBLAS_CORETYPE": "Haswell"} if HAS_AVX2 else {}),
    )
    assert done.stdout == "as before\n" and not done.stderr, done.stderr


def test_a_missing_or_foreign_library_is_an_import_error(tmp_path, monkeypatch):
    monkeypatch.setenv("EDELTA_LIBRARY", str(tmp_path / "none.so"))
    with pytest.raises(ImportError, match="none.so cannot be loaded into PyTorch"):
        edelta._library._load()
    monkeypatch.delenv("EDELTA_LIBRARY")
    monkeypatch.setattr(edelta._library, "__file__", str(tmp_path / "_library.py"))
    with pytest.raises(ImportError, match="./edelta python"):
        edelta._library._load()


def test_the_only_dependencies():
    allowed = set(sys.stdlib_module_names) | {"numpy", "torch"}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            assert {name.split(".")[0] for name in names} <= allowed, file


def test_everything_public_is_documented_and_typed():
    for module in (edelta, edelta.functional, edelta.nn, edelta.data):
        assert module.__doc__
        names = getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")])
        for name in names:
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            if not thing.__module__.startswith("edelta"):
                continue
            assert inspect.getdoc(thing), name
            function = thing.__init__ if inspect.isclass(thing) else thing
            if not inspect.isfunction(function) or function.__module__.startswith("torch"):
                continue
            for parameter in inspect.signature(function).parameters.values():
                typed = parameter.annotation is not parameter.empty
                assert typed or parameter.name == "self", f"{name}({parameter.name})"


def test_the_formulas_are_in_the_help():
    assert "(I + M)" in edelta.functional.cayley.__doc__
    assert "γ Q + (1 − γ) H" in edelta.functional.hybrid.__doc__
    assert "G_γ" in edelta.nn.HybridResidual.__doc__


def test_the_choice_of_implementation():
    assert torch.ops.edelta.implementation() == "fused"
    with edelta.implementation("composite"):
        assert torch.ops.edelta.implementation() == "composite"
    assert torch.ops.edelta.implementation() == "fused"


def test_the_version_is_the_programs(program):
    assert edelta.__version__ in program("--version")
