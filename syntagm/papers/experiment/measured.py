"""The contents of an experiment's folder: the progress of each model and the results of finished ones."""

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
    """Return the state of a model: `to do`, `begun`, `trained` or `done`."""
    folder = design.model(cell)
    if training.finished(folder) is None:
        return "begun" if folder.exists() else "to do"
    scored = read_record(design.run(cell)) is not None and open_run(design.run(cell)).done
    return "done" if scored and design.perplexity(cell).exists() else "trained"


def finished(folder: Path) -> Iterator[tuple[dict[str, Any], Run]]:
    """Yield the perplexity record and the run of each finished model of a folder, beginning with small subsets.

    Raises:
        RunError: there is no experiment, or a file is damaged.
    """
    record = read(places.record(folder))
    families, sizes = list(record["families"]), record["sizes"]
    models = []
    for path in sorted((folder / "perplexity").glob("*.json")):
        models.append(model := read(path))
        if model.get("family") not in families or model.get("size") not in sizes:
            found = "a model that is not in the experiment"
            raise RunError(str(path), found, "a family and a size of the experiment", "Remove it.")
    for model in sorted(models, key=lambda each: (sizes[each["size"]], families.index(each["family"]), each["seed"])):
        run = places.run(folder, Cell(model["family"], model["size"], model["seed"]))
        if read_record(run) is not None and (opened := open_run(run)).done:
            yield model, opened


def sizes(folder: Path) -> dict[str, int]:
    """Return the requested sizes of the subsets of an experiment: name -> words.

    Raises:
        RunError: there is no experiment, or its record is damaged.
    """
    return dict(read(places.record(folder))["sizes"])


def read(path: Path) -> dict[str, Any]:
    """Read a JSON file that an experiment wrote.

    Raises:
        RunError: the file can't be read.
    """
    return json.record(path, RunError, "a file written by an experiment", "Remove it.")
