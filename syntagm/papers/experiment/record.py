"""The record of an experiment: what its folder is about, and the refusal of another experiment.

What the record says binds once something rests on it: hyperparameters of a family when one of its models has begun, the size of a
part when it is drawn. Until then another value replaces it, so that a mistake which training refuses costs nothing.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagm.errors import RunError, UsageError
from syntagm.io import record as records
from syntagm.papers.experiment import hyperparameters
from syntagm.papers.experiment.design import Cell, Design
from syntagm.papers.experiment.lock import waiting
from syntagm.papers.experiment.measured import read
from syntagm.progress import Progress
from syntagm.training import record as training

FORMAT = 1


def check(design: Design) -> None:
    """See that the folder holds this experiment, or none, and that it can be begun. Nothing is written.

    Raises:
        RunError: the folder holds another experiment.
        UsageError: a hyperparameter, suite or seed that can't be taken.
        InputError: a text or suite can't be read.
    """
    _settled(design, _record(design))


def begin(design: Design, progress: Progress) -> None:
    """Note in the folder what the experiment is about; families and sizes are added. Errors as `check`."""
    asked, path = _record(design), design.record()
    with waiting(design.folder, progress):
        settled = _settled(design, asked)
        if not path.exists() or settled != read(path):
            records.write(path, settled)


def refuse_changed(design: Design, cell: Cell) -> None:
    """Refuse to make a model that the record does not allow any more.

    Raises:
        RunError: another process has begun with other hyperparameters or parts meanwhile.
    """
    standing = read(design.record())
    asked: dict[str, dict[str, Any]] = {
        "families": {cell.family: dict(design.options[cell.family])},
        "sizes": {cell.size: design.sizes[cell.size]},
    }
    there = {key: {name: standing[key].get(name) for name in several} for key, several in asked.items()}
    _refuse_another(design, there, asked)


def _record(design: Design) -> dict[str, Any]:
    from syntagm.materials.suite_files import read_suites
    from syntagm.tasks.slices import suite_hash
    from syntagm.training.corpora import corpus

    if design.draw < 0:
        raise UsageError("draw", str(design.draw), "a whole number from 0")
    for family, options in design.options.items():
        for words in design.sizes.values():
            hyperparameters.settings(family, options, words)
    texts = {name: corpus.record(getattr(design, name)) for name in ("corpus", "valid", "test")}
    made = {"format": FORMAT, **texts, "draw": design.draw, "suites": list(design.suites)}
    made["suite_hashes"] = {suite.name: suite_hash(suite) for suite in read_suites(*design.suites)}
    made |= {"sizes": dict(design.sizes), "families": {name: dict(one) for name, one in design.options.items()}}
    record: dict[str, Any] = json.loads(json.dumps(made))
    return record


def _settled(design: Design, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The record that has what stands in the folder and what is asked for."""
    path = design.record()
    standing = read(path) if path.exists() else {}
    if not standing and (_made(design.folder) or any(design.folder.glob("corpora/*.txt"))):
        found = "parts of a corpus or models, and no experiment.json that says of what"
        raise RunError(str(design.folder), found, "an experiment, or a new folder", "Choose another folder.")
    bound = _bound(design, standing)
    binding = {key: {name: standing[key][name] for name in names} for key, names in bound.items()}
    _refuse_another(design, {**standing, **binding}, asked)
    return {**asked, **{key: standing.get(key, {}) | asked[key] for key in bound}}


def _bound(design: Design, standing: Mapping[str, Any]) -> dict[str, set[str]]:
    """The families and sizes that something in the folder rests on."""
    bound: dict[str, set[str]] = {"sizes": set(), "families": set()}
    there = _made(design.folder)
    for size in standing.get("sizes", {}):
        if design.part(size).exists():
            bound["sizes"].add(size)
        for family in standing.get("families", {}):
            if any(re.fullmatch(rf"{re.escape(f'{family}-{size}')}(-\d+)?", name) for name in there):
                bound["sizes"].add(size)
                bound["families"].add(family)
    return bound


def _made(folder: Path) -> set[str]:
    """The names of the models of which there is anything that nothing else would replace."""
    trained = {place.name for place in folder.glob("models/*") if training.leaves_something(place)}
    runs = {place.parent.name for place in folder.glob("runs/*/run.json")}
    return trained | runs | {place.stem for place in folder.glob("perplexity/*.json")}


def _refuse_another(design: Design, standing: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse values that differ; what only one of both has is an addition."""
    there, wanted = _shared(standing, asked), _shared(asked, standing)
    made = {path.partition(".")[0] for path in records.differences(there, wanted)} & {"families", "sizes"}
    remove = ", remove what was made with them" if made else ""
    cure = f"Give the same options to go on with it{remove}, or choose another folder."
    records.refuse_another(design.record(), "an experiment", there, wanted, cure)


def _shared(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What one has of that which both have."""
    return {
        key: _shared(value, other[key]) if isinstance(value, Mapping) and isinstance(other[key], Mapping) else value
        for key, value in one.items()
        if key in other
    }
