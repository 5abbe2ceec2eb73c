"""Folders that ``edelta train`` made, in which nobody else writes."""

import os


def refuse_runs(file: str) -> None:
    """FileExistsError where a file would lie in a run folder, or in one of its parts (best/, checkpoint/)."""
    folder = os.path.dirname(os.path.abspath(file))
    for candidate in (folder, os.path.dirname(folder)):
        if all(os.path.exists(os.path.join(candidate, name)) for name in ("config.json", "metrics.jsonl")):
            raise FileExistsError(f"{file} would lie in {candidate}, which is a run of edelta train; it stays as it is")
