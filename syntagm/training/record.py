"""The record of training in a folder, and the check of whether training may continue there.

nothing               no training has started here
state/                training has started; the same command resumes it
training.json         training has finished: its settings, text and history; the same command does nothing, another is refused
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagm.core import RunError, UsageError, atomic, json, record, seal

FILE = "training.json"
STATE = "state"
# Weights, optimiser and position of a training run that has started.
STATE_FILE = "state.safetensors"
# Weight files, written by any tool.
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
# Settings that earlier versions did not have -> what they did.
_ADDED = {"smoothing": "interpolated", "vocabulary": 0}
_CURE = "Use the same command as before to resume it, or choose another folder."


def finished(folder: Path, family: str = "") -> dict[str, Any] | None:
    """Return the content of `training.json`, or None if no training has finished here."""
    if not (folder / FILE).exists():
        return None
    training = json.record(folder / FILE, RunError, "a record written by `syntagm train`", "Choose another folder.")
    if family and training.get("family") != family:
        raise UsageError(str(folder), f"a model of the family {training.get('family')}", "a new folder")
    return training


def begun(folder: Path) -> bool:
    """Return whether the folder contains the state of an unfinished training run."""
    return not (folder / FILE).exists() and (folder / STATE / STATE_FILE).exists()


def lacks_record(folder: Path) -> bool:
    """Return whether a folder has weights, but neither the record nor the state of a training run."""
    recorded = (folder / FILE).exists() or begun(folder)
    return not recorded and any(folder.glob("*.safetensors"))


def leaves_something(folder: Path) -> bool:
    """Return whether the folder contains anything that training with other settings would destroy."""
    # A lock and a tokenizer don't count, because training without a saved state builds its tokenizer again.
    weights = (*folder.glob("*.safetensors"), *(folder / STATE).glob("*.safetensors"))
    return bool(weights) or (folder / FILE).exists()


def refuse_another(folder: Path, recorded: Mapping[str, Any], requested: Mapping[str, Any]) -> None:
    """Refuse to resume training with other settings or another text."""
    complete = {
        key: {name: old for name, old in _ADDED.items() if name in (requested.get(key) or ())} | dict(value)
        if isinstance(value, Mapping)
        else value
        for key, value in recorded.items()
    }
    record.refuse_another(folder, "another training run,", complete, requested, _CURE)


def refuse_damaged(folder: Path) -> None:
    """Refuse the folder of a finished training if files have changed since."""
    seal.demand(folder, RunError)


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder with weights that Syntagm did not train and would overwrite, or with a record but no weights."""
    ended = (folder / FILE).exists()
    weights = sorted(path.name for kind in _WEIGHTS for path in folder.glob(kind))
    if ended and not weights:
        cure = "Delete the folder to train again."
        raise RunError(str(folder), f"the {FILE} of a finished training without the weights", "both files", cure)
    if weights and not ended and not begun(folder):
        raise RunError(str(folder), f"a model that was not trained here ({weights[0]})", "a new folder")


def end(folder: Path, training: Mapping[str, Any]) -> None:
    """Seal the folder of a finished training, write its record, and delete its state."""
    # The record comes last: a folder that has it is finished and sealed.
    seal.write(folder, {FILE: record.encoded(training)})
    atomic.write(folder / FILE, record.encoded(training))
    remove_state(folder)


def remove_state(folder: Path) -> None:
    """Delete the state of a finished training, if there is one, and what a process left that was killed as it wrote."""
    atomic.sweep(folder)
    # The model is written already. A file that can't be deleted, such as a lock on a network file system, is no error.
    for name in (STATE, "unfinished"):
        shutil.rmtree(folder / name, ignore_errors=True)
