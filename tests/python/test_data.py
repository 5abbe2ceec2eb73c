"""The tasks as arrays and as a Dataset: the program's own numbers."""

import edelta
import numpy as np
import pytest
import torch


def test_every_task(program, tmp_path):
    assert set(edelta.data.names()) >= {"gyroscope", "stability", "near-pi", "near-pi-multi", "negation"}
    for task in edelta.data.names():
        dim = 7 if task == "reversal" else 6
        options = {"dim": dim, "train": 5, "val": 3, "seed": 9}
        if task != "negation":
            options["steps"] = 8
        arrays = edelta.data.generate(task, **options)
        assert all(a.dtype == np.float32 for a in arrays)
        flags = [word for key, value in options.items() for word in (f"--{key}", value)]
        program("data", task, "--out", tmp_path / task, *flags)
        for mine, theirs in zip(arrays, edelta.data.read(tmp_path / task)):
            np.testing.assert_array_equal(mine, theirs)


def test_the_rule_of_gyroscope():
    x, y, _, _ = edelta.data.generate("gyroscope", dim=4, steps=6, train=3, val=1)
    np.testing.assert_array_equal(x[:, 1:], y[:, :-1])
    np.testing.assert_allclose(np.linalg.norm(x, axis=-1), 1, rtol=1e-6)


def test_options():
    options = edelta.data.options("gyroscope")
    assert options["dim"] == 16 and options["steps"] == 255 and options["theta"] == [0.1, 2.5]
    with pytest.raises(RuntimeError, match="has no option"):
        edelta.data.options("gyroscope", noise=1.0)
    with pytest.raises(RuntimeError, match="below pi"):
        edelta.data.generate("near-pi", theta=3.2)
    with pytest.raises(RuntimeError, match="task"):
        edelta.data.generate("gyro")


def test_a_loader(tmp_path):
    dataset = edelta.data.Sequences("gyroscope", "train", dim=4, steps=6, train=10, val=4)
    assert len(dataset) == 10
    loader = torch.utils.data.DataLoader(dataset, batch_size=4)
    x, y = next(iter(loader))
    assert x.shape == y.shape == (4, 6, 4)
    assert len(edelta.data.Sequences("gyroscope", "val", dim=4, steps=6, train=10, val=4)) == 4
    for name in ("train_x", "train_y", "val_x", "val_y"):
        np.save(tmp_path / f"{name}.npy", np.random.default_rng(0).normal(size=(3, 5, 2)))
    assert edelta.data.Sequences(tmp_path)[1][0].shape == (5, 2)
    with pytest.raises(ValueError, match="split is 'test'"):
        edelta.data.Sequences("gyroscope", "test")
    with pytest.raises(TypeError, match="dim: options are of tasks"):
        edelta.data.Sequences(tmp_path, dim=2)
    with pytest.raises(RuntimeError):
        edelta.data.Sequences(tmp_path / "nothing")
