"""The documents' tables of losses are those of the committed results: every number, and no cell forgotten or invented."""

import json
import re

import pytest
from conftest import ROOT

REPRODUCTION = "docs/reproduction.md"
MODELS = ["gpt", "ddl", "mhc", "jpmhc", "edelta"]
UNITS = [("gyroscope", "1e-3"), ("stability", "1e-6"), ("near π", "1e-6"), ("near π, all planes", "1e-6")]
# As the documents call them; the table that the paper has and that of the controls.
TASKS = {
    "gyroscope": ("main-gyroscope", "gain-gyroscope"),
    "stability": ("main-stability", "gain-stability"),
    "near π": ("near-pi-single", "gain-near-pi"),
    "near-π single": ("near-pi-single", "gain-near-pi"),
    "near π, all planes": ("near-pi-multi", "gain-near-pi-multi"),
    "near-π multi": ("near-pi-multi", "gain-near-pi-multi"),
    "reversal": (None, "gain-reversal"),
}
# As the documents call them, and the results.
CONTROLS = {
    "gpt": "gpt",
    "jpmhc": "jpmhc",
    "jpmhc, no operator (α = 0)": "jpmhc, no operator",
    "edelta, as published": "edelta",
    "edelta, λ = 0": "λ = 0",
    "edelta, the penalty's gradient kept to the gate": "penalty to the gate alone",
    "the same, causal": "penalty to the gate alone, causal",
    "geodesic blend": "geodesic",
    "geodesic blend, causal": "geodesic, causal",
    "complex field": "complex",
    "Cayley rotation alone": "rotation alone",
    "the same, live: turning from the start": "rotation alone, live",
    "Cayley rotation alone, not looking at the input": "fixed rotation",
    "no operator": "no operator",
    "no operator, no H_pre and H_post": "no operator, no H",
    "no operator, one map, rate to 1e-5": "one map, rate to 1e-5",
    "preset best: no operator, rate to 1e-5": "preset best",
}


def plain(cell):
    return re.sub(r"[†‡*`]", "", cell).strip()


def table_in(document, section, *heading):
    """The rows of a section's first table that begins with this heading, the heading among them."""
    text = (ROOT / document).read_text(encoding="utf-8")
    (body,) = re.findall(rf"^## {re.escape(section)}$(.*?)(?=^## |\Z)", text, re.S | re.M)
    for block in re.findall(r"(?:^\|.*\n)+", body, re.M):
        rows = [[plain(cell) for cell in line.strip("|").split("|")] for line in block.splitlines()]
        if rows[0][: len(heading)] == list(heading):
            return [rows[0], *rows[2:]]
    raise AssertionError(f"{document}, {section}: no table {heading}")


def results(folder):
    """The cells of a folder's results, by table, row and column; None where nothing was measured."""
    read = json.loads((ROOT / "docs" / "results" / folder / "results.json").read_text(encoding="utf-8"))
    return {
        table["id"]: {row["label"]: row["cells"] for row in table["rows"]}
        for experiment in read["experiments"]
        for table in experiment["tables"]
    }


def agrees(text, value):
    """Whether a number is written as it is, to the digits that it has; a whole one that ends in zeros to three at least."""
    digits = re.sub(r"^0+", "", text.replace(".", ""))
    last = 10.0 ** -len(text.partition(".")[2])
    if "." not in text:  # 11950 has four digits
        last = 10.0 ** max(0, min(len(digits) - 3, len(digits) - len(digits.rstrip("0"))))
    return abs(float(text) - value) <= 0.501 * last


def check(text, cell, scale, where):
    if text in ("", "not run"):
        assert cell is None, f"{where} has been run: {cell['mean'] / scale:.4g}"
        return
    assert cell is not None, f"{where} has not been run, and is said to be {text}"
    mean, _, deviation = text.partition(" ± ")
    assert agrees(mean, cell["mean"] / scale), f"{where}: {text} for {cell['mean'] / scale:.6g}"
    assert ("std" in cell) == bool(deviation), f"{where}: {text} for {cell}"
    if deviation:
        assert agrees(deviation, cell["std"] / scale), f"{where}: {text} for ± {cell['std'] / scale:.6g}"


def named(label):
    """A task and its unit: "near π ×1e-6"."""
    task, unit = re.fullmatch(r"(.*) ×(1e-\d+)", label).groups()
    return task, float(unit)


@pytest.mark.parametrize(
    ("document", "section", "folder"),
    [
        ("README.md", "Does the paper reproduce?", "paper-gain"),
        (REPRODUCTION, "By the paper's protocol", "paper-gain"),
        (REPRODUCTION, "What came out with `quick`", "quick"),
    ],
)
def test_the_papers_tables(document, section, folder):
    measured = results(folder)
    heading, *rows = table_in(document, section, "", *MODELS)
    shown = 0
    for label, *cells in rows:
        if label.endswith(", paper"):
            task, scale = named(label.removesuffix(", paper"))
        published, controls = TASKS[task]
        for model, text in zip(heading[1:], cells, strict=True):
            in_paper = model in MODELS
            row = measured[published][model] if in_paper else measured[controls][model.removeprefix("edelta, ")]
            key = {"here": "final", "training loss": "training"}.get(label, "paper")
            check(text, row.get(key), scale, f"{model}, {task}, {key}")
            shown += key == "final"
    assert shown >= len(MODELS) * 4


@pytest.mark.parametrize(
    ("document", "section", "folder", "at_least"),
    [
        ("README.md", "Does the paper reproduce?", "paper-gain", 6),
        (REPRODUCTION, "By the paper's protocol", "paper-gain", 8),
        (REPRODUCTION, "What carries the gain?", "gain", 8),
    ],
)
def test_the_controls(document, section, folder, at_least):
    measured = results(folder)
    heading, *rows = table_in(document, section, "", *(f"{task} ×{unit}" for task, unit in UNITS))
    for label, *cells in rows:
        for column, text in zip(heading[1:], cells, strict=True):
            if column == "parameters":
                assert int(text.replace(",", "")) == measured["gain-gyroscope"][CONTROLS[label]]["parameters"]["value"]
                continue
            task, scale = named(column)
            check(text, measured[TASKS[task][1]][CONTROLS[label]]["final"], scale, f"{label}, {task}")
    assert len(rows) >= at_least


def test_the_learning_rates():
    measured = results("gain")["learning-rate-stability"]
    heading, *rows = table_in(REPRODUCTION, "What carries the gain?", "learning rate, peak → end")
    for label, *cells in rows:
        for model, text in zip(heading[1:], cells, strict=True):
            row = f"{model.removeprefix('edelta, ')}, {label.partition(',')[0]}"
            check(text, measured[row]["final"], 1e-6, row)
    assert len(rows) == 4


def test_the_norms():
    measured = results("paper-gain")
    rows = {**measured["norms"], "edelta, no operator": measured["norms-control"]["edelta, no operator"]}
    heading, *lines = table_in(REPRODUCTION, "By the paper's protocol", "norms", *MODELS)
    quantity = None
    for label, *cells in lines:
        quantity = {"deviation, paper": "deviation", "last norm, paper": "last"}.get(label, quantity)
        for model, text in zip(heading[1:], cells, strict=True):
            row = rows[model]
            in_table = model in MODELS
            name = {"deviation": "norm_deviation", "last": "last_norm"}[quantity] if in_table else quantity
            key = name if label == "here" else f"paper_{name}"
            check(text, row.get(key), 1, f"{model}, {label}, {quantity}")
    assert len(lines) == 4
