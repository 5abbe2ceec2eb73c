"""The tasks, as numpy arrays or as a torch Dataset.

Sequences are generated bit for bit as the program generates them, on every machine.
"""

import json
import os
from typing import Any, Dict, List, NamedTuple, Tuple, Union

import numpy
import torch
from torch import Tensor

from . import _options

PathLike = Union[str, "os.PathLike[str]"]


class Arrays(NamedTuple):
    """float32 [N, T, dim]; y is what is to be predicted at each position, usually the next one."""

    train_x: numpy.ndarray
    train_y: numpy.ndarray
    val_x: numpy.ndarray
    val_y: numpy.ndarray


def names() -> List[str]:
    """The tasks: gyroscope, stability, near-pi, near-pi-multi, negation, reversal."""
    return list(torch.ops.edelta.task_names())


def options(task: str, **given: Any) -> Dict[str, Any]:
    """A task's options, complete: dim, steps (T), train and val (sequences), seed, and theta, planes or noise where
    it has them."""
    return json.loads(torch.ops.edelta.complete_task(_options.to_json({"task": task, **given})))


def generate(task: str, **given: Any) -> Arrays:
    """A task's sequences: ``generate("gyroscope", dim=8, steps=32, train=256, val=64, seed=1)``.

    gyroscope      ``v_{t+1} = R_{ij}(θ) v_t`` with a random plane and angle a sequence
    stability      a unit vector with N(0, noise²) added anew at every position
    near-pi        the rotation by 3.10 in plane (0, 1)
    near-pi-multi  the rotation by 3.14 in every plane (2p, 2p+1)
    negation       ``y = −x``, T = 1
    reversal       a rotation whose rule changes at a moment that the input announces
    """
    return Arrays(*(t.numpy() for t in torch.ops.edelta.generate_task(_options.to_json({"task": task, **given}))))


def read(folder: PathLike) -> Arrays:
    """A data folder of ``edelta data``, or of one's own: train_x.npy, train_y.npy, val_x.npy, val_y.npy."""
    return Arrays(*(t.numpy() for t in torch.ops.edelta.read_dataset(os.fspath(folder))))


class Sequences(torch.utils.data.Dataset):
    """Pairs (x, y) of float32 [T, dim], for a DataLoader.

        loader = DataLoader(edelta.data.Sequences("gyroscope", "train", dim=8), batch_size=64, shuffle=True)

    source: a task's name, with its options, or a data folder. split: "train" or "val".
    """

    def __init__(self, source: PathLike, split: str = "train", **given: Any) -> None:
        if split not in ("train", "val"):
            raise ValueError(f"split is '{split}'; it must be train or val")
        source = os.fspath(source)
        if given and source not in names():
            raise TypeError(f"{', '.join(given)}: options are of tasks ({', '.join(names())}), and '{source}' is none")
        arrays = generate(source, **given) if source in names() else read(source)
        x, y = (arrays.train_x, arrays.train_y) if split == "train" else (arrays.val_x, arrays.val_y)
        self.x: Tensor = torch.from_numpy(x)
        self.y: Tensor = torch.from_numpy(y)

    def __len__(self) -> int:
        return self.x.size(0)

    def __getitem__(self, index: int) -> Tuple[Tensor, Tensor]:
        return self.x[index], self.y[index]
