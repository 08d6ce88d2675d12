"""What stands in the folder of an experiment: how far each model has come, and what was measured of the finished ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagm.errors import RunError
from syntagm.io import json
from syntagm.papers.experiment import design as places
from syntagm.papers.experiment.design import Cell, Design
from syntagm.runs.store import Run, open_run, read_record
from syntagm.training import record as training


def state(design: Design, cell: Cell) -> str:
    """How far a model has come: `to do`, `begun`, `trained` or `done`."""
    folder = design.model(cell)
    if training.finished(folder) is None:
        return "begun" if folder.exists() else "to do"
    scored = read_record(design.run(cell)) is not None and open_run(design.run(cell)).done
    return "done" if scored and design.perplexity(cell).exists() else "trained"


def finished(folder: Path) -> Iterator[tuple[dict[str, Any], Run]]:
    """What was measured of each finished model of a folder, small parts first: its perplexity, and its run.

    Raises:
        RunError: there is no experiment, or a file is damaged.
    """
    record = read(places.record(folder))
    families, parts = list(record["families"]), record["sizes"]
    found = []
    for path in sorted((folder / "perplexity").glob("*.json")):
        found.append(one := read(path))
        if one.get("family") not in families or one.get("size") not in parts:
            raise RunError(str(path), "of no model of the experiment", "a family and a size of it", "Remove it.")
    for one in sorted(found, key=lambda one: (parts[one["size"]], families.index(one["family"]), one["seed"])):
        run = places.run(folder, Cell(one["family"], one["size"], one["seed"]))
        if read_record(run) is not None and (opened := open_run(run)).done:
            yield one, opened


def sizes(folder: Path) -> dict[str, int]:
    """How many words each part of an experiment has, as asked for.

    Raises:
        RunError: there is no experiment, or its record is damaged.
    """
    return dict(read(places.record(folder))["sizes"])


def read(path: Path) -> dict[str, Any]:
    """What an experiment wrote.

    Raises:
        RunError: it can't be read.
    """
    return json.record(path, RunError, "what an experiment wrote", "Remove it.")
