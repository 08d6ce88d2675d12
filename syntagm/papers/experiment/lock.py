"""Whose a folder of a controlled experiment is: its record, and which process makes what.

What the record says binds once something rests on it: hyperparameters of a family when one of its models has begun, the size of a
part when it is drawn. Until then another value replaces it, so that a mistake which training refuses costs nothing.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from syntagm.errors import RunError, UsageError
from syntagm.io import atomic
from syntagm.io.lock import held
from syntagm.papers.experiment import hyperparameters
from syntagm.papers.experiment.experiment import SEEDLESS, Cell, Design, part, read, state
from syntagm.papers.experiment.progress import Told

FORMAT = 1
WAIT_SECONDS = 0.5


def check(design: Design) -> None:
    """See that the folder holds this experiment, or none, and that it can be begun. Nothing is written.

    Raises:
        RunError: the folder holds another experiment.
        UsageError: a hyperparameter, suite or seed that can't be taken.
        InputError: a text or suite can't be read.
    """
    _settled(design, _record(design))


def claim(design: Design, told: Told) -> None:
    """Note in the folder what the experiment is about; families and sizes are added. Errors as `check`."""
    asked, path = _record(design), design.folder / "experiment.json"
    with alone(design.folder, told):
        settled = _settled(design, asked)
        if not path.exists() or settled != read(path):
            atomic.write(path, (json.dumps(settled, indent=1, ensure_ascii=False) + "\n").encode())


@contextmanager
def alone(folder: Path, told: Told) -> Iterator[None]:
    """Hold a folder, as `io.lock.held`; if another process of the experiment has it, wait until it lets go."""
    with ExitStack() as stack:
        waiting = False
        while True:
            try:
                stack.enter_context(held(folder))
                break
            except RunError as error:
                if not error.found.startswith("in use"):
                    raise
                if not waiting:
                    told.said(f"{folder}: {error.found}; waiting")
                waiting = True
            time.sleep(WAIT_SECONDS)
        yield


@contextmanager
def turn(design: Design, cell: Cell, told: Told) -> Iterator[None]:
    """Make a model that the record still allows; one that stands for all seeds is made by one process, and others wait for it.

    Raises:
        RunError: another process has begun with other hyperparameters or parts meanwhile.
    """
    with ExitStack() as stack:
        if cell.family in SEEDLESS and state(design, cell) != "done":
            stack.enter_context(alone(design.folder / "models" / cell.name, told))
        path = design.folder / "experiment.json"
        standing, family = read(path), json.loads(json.dumps(dict(design.options[cell.family])))
        _refuse_another(path, f"families.{cell.family}", standing["families"].get(cell.family), family)
        _refuse_another(path, f"sizes.{cell.size}", standing["sizes"].get(cell.size), design.sizes[cell.size])
        yield


def _record(design: Design) -> dict[str, Any]:
    from syntagm.materials.suite_files import read_all
    from syntagm.tasks.slices import suite_hash
    from syntagm.training.corpora import corpus

    if design.draw < 0:
        raise UsageError("draw", str(design.draw), "a whole number from 0")
    for family, options in design.options.items():
        hyperparameters.taken(family, options)
    texts = {name: corpus.record(getattr(design, name)) for name in ("corpus", "valid", "test")}
    made = {"format": FORMAT, **texts, "draw": design.draw, "suites": list(design.suites)}
    made["suite_hashes"] = {suite.name: suite_hash(suite) for suite in read_all(*design.suites)}
    made |= {"sizes": dict(design.sizes), "families": {name: dict(one) for name, one in design.options.items()}}
    record: dict[str, Any] = json.loads(json.dumps(made))
    return record


def _settled(design: Design, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The record that has what stands in the folder and what is asked for."""
    path = design.folder / "experiment.json"
    standing = read(path) if path.exists() else {}
    if not standing and (_made(design.folder) or any(design.folder.glob("corpora/*.txt"))):
        found = "parts of a corpus or models, and no experiment.json that says of what"
        raise RunError(str(design.folder), found, "an experiment, or a new folder", "Choose another folder.")
    bound = _bound(design, standing)
    binding = {key: {name: standing[key][name] for name in names} for key, names in bound.items()}
    for key, value in asked.items():
        _refuse_another(path, key, binding.get(key, standing.get(key, value)), value)
    return {**asked, **{key: standing.get(key, {}) | asked[key] for key in bound}}


def _bound(design: Design, standing: Mapping[str, Any]) -> dict[str, set[str]]:
    """The families and sizes that something in the folder rests on."""
    bound: dict[str, set[str]] = {"sizes": set(), "families": set()}
    there = _made(design.folder)
    for size in standing.get("sizes", {}):
        if part(design, size).exists():
            bound["sizes"].add(size)
        for family in standing.get("families", {}):
            if any(re.fullmatch(rf"{re.escape(f'{family}-{size}')}(-\d+)?", name) for name in there):
                bound["sizes"].add(size)
                bound["families"].add(family)
    return bound


def _made(folder: Path) -> set[str]:
    """The names of the models of which there is anything that nothing else would replace."""
    # Before its first state a training leaves a lock or a tokenizer, and makes the latter anew.
    weights = {place.parent.name for place in folder.glob("models/*/*.safetensors")}
    states = {place.parent.parent.name for place in folder.glob("models/*/state/*.safetensors")}
    runs = {place.parent.name for place in folder.glob("runs/*/run.json")}
    return weights | states | runs | {place.stem for place in folder.glob("perplexity/*.json")}


def _refuse_another(path: Path, key: str, found: Any, wanted: Any) -> None:
    """Refuse a value that differs; of what has names only those that both have are compared."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for name in found.keys() & wanted.keys():
            _refuse_another(path, f"{key}.{name}", found[name], wanted[name])
    elif found != wanted:
        remove = ", remove what was made with them" if key.startswith(("families", "sizes")) else ""
        cure = f"Give the same options to go on with it{remove}, or choose another folder."
        raise RunError(str(path), f"an experiment with {key} = {found!r}", f"{wanted!r}", cure)
