"""Loads libedelta_torch.so into PyTorch's dispatcher, and says which implementation computes."""

import os
import warnings
from pathlib import Path

import torch

_FILE = "libedelta_torch.so"


def _find_library() -> str:
    """The library's path: where EDELTA_LIBRARY says, or beside this file."""
    named = os.environ.get("EDELTA_LIBRARY")
    if named:
        return named
    beside = Path(__file__).with_name(_FILE)
    if beside.exists():
        return str(beside)
    raise ImportError(
        f"{_FILE} is not in {beside.parent}: start Python with ./edelta python, install the package with "
        f"cmake --install, or name the file in EDELTA_LIBRARY"
    )


def _load() -> None:
    path = _find_library()
    try:
        torch.ops.load_library(path)
    except OSError as error:
        raise ImportError(
            f"{path} cannot be loaded into PyTorch {torch.__version__}; it must be built with the libtorch of this "
            f"very PyTorch (Debian: libtorch-dev beside python3-torch): {error}"
        ) from error


def _warn_of_slow_blas() -> None:
    library = torch.ops.edelta.slow_blas()
    if library:
        warnings.warn(
            f"PyTorch multiplies matrices with the reference BLAS ({library}), some forty times slower than OpenBLAS. "
            "Remedy: as root, apt-get install libopenblas0-openmp; or for one process alone, "
            "LD_PRELOAD=libopenblas.so.0 python3 ...",
            RuntimeWarning,
            stacklevel=3,
        )
    core, better = torch.ops.edelta.better_blas_core()
    if better:
        warnings.warn(
            f"OpenBLAS computes as for an older CPU ({core}), two to five times slower than this one can. "
            f"Remedy: OPENBLAS_CORETYPE={better} python3 ... or, where that changes nothing, another OpenBLAS",
            RuntimeWarning,
            stacklevel=3,
        )


_load()
_warn_of_slow_blas()

__version__: str = torch.ops.edelta.version()


def has_kernels() -> bool:
    """Whether the fused kernels run on this processor (AVX2 and FMA)."""
    return torch.ops.edelta.has_kernels()


class _Maps:
    """Whether neighbouring linear maps are multiplied into one; read by modules while they run."""

    fold = True


class implementation:
    """Chooses who computes: "fused" (kernels, for float32 on the CPU; the default) or "composite" (PyTorch's own ops).

    As a statement it holds from then on; in ``with`` it holds inside.

        with edelta.implementation("composite"):
            ...

    The composite implementation can be differentiated twice in float32 too, and is what the fused one is tested
    against.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._before = [torch.ops.edelta.implementation()]
        self._chosen_by_statement = True
        self._choose(name)

    @staticmethod
    def _choose(name: str) -> None:
        torch.ops.edelta.set_implementation(name)
        _Maps.fold = name == "fused"

    def __enter__(self) -> "implementation":
        if not self._chosen_by_statement:
            self._before.append(torch.ops.edelta.implementation())
        self._chosen_by_statement = False
        self._choose(self._name)
        return self

    def __exit__(self, *_: object) -> None:
        self._choose(self._before.pop())


def folds_maps() -> bool:
    """Whether matrices next to each other are multiplied into one before the tokens see them."""
    if torch.jit.is_scripting():
        return True
    else:
        return _Maps.fold
