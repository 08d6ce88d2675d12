"""How far the training in a folder has come, and whether another one may go on there.

nothing               no training has begun here
state/                one has begun; the same goes on with it
training.json         one has ended: its settings, its text and its history; the same does nothing, another is refused
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagm.errors import RunError, UsageError
from syntagm.io import json, record

FILE = "training.json"
STATE = "state"
# Weights, optimiser and place of a training that has begun.
STATE_FILE = "state.safetensors"
# The files of weights, of whatever tool.
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
_CURE = "Give the same command to go on with it, or choose another folder."


def finished(folder: Path, family: str = "") -> dict[str, Any] | None:
    """What `training.json` says of a training that has ended; None if none has ended here.

    Arguments:
        family: the family that the folder may be of; "" for any.

    Raises:
        UsageError: a model of another family.
        RunError: the file is damaged.
    """
    if not (folder / FILE).exists():
        return None
    made = json.record(folder / FILE, RunError, "what a training wrote", "Choose another folder.")
    if family and made.get("family") != family:
        raise UsageError(str(folder), f"a model of the family {made.get('family')}", "a new folder")
    return made


def begun(folder: Path) -> bool:
    """Does a training that has not ended go on from a state here?"""
    return not (folder / FILE).exists() and (folder / STATE / STATE_FILE).exists()


def leaves_something(folder: Path) -> bool:
    """Is there anything here that a training with other settings would destroy?

    Before its first state a training leaves a lock or a tokenizer, and makes the latter anew.
    """
    kept = (*folder.glob("*.safetensors"), *(folder / STATE).glob("*.safetensors"))
    return bool(kept) or (folder / FILE).exists()


def refuse_another(folder: Path, standing: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse to go on with a training of other settings or another text.

    Raises:
        RunError: a value of `asked` is another in `standing`.
    """
    record.refuse_another(folder, "another training,", standing, asked, _CURE)


def refuse_foreign(folder: Path) -> None:
    """Refuse weights that no training of ours left there, as they would be overwritten; and a record without its weights.

    Raises:
        RunError: so it is.
    """
    ended = (folder / FILE).exists()
    weights = sorted(path.name for kind in _WEIGHTS for path in folder.glob(kind))
    if ended and not weights:
        cure = "Delete the folder to train anew."
        raise RunError(str(folder), f"{FILE} of a training that has ended, without its weights", "both", cure)
    if weights and not ended and not begun(folder):
        raise RunError(str(folder), f"a model that was not trained here ({weights[0]})", "a new folder")


def end(folder: Path, made: Mapping[str, Any]) -> None:
    """Note that a training has ended, and delete its state, which is not needed any more.

    Arguments:
        made: what there is to know of it: its family, settings, text and history.

    Raises:
        RunError: the note can't be written.
    """
    record.write(folder / FILE, made)
    remove_state(folder)


def remove_state(folder: Path) -> None:
    """Delete the state of a training that has ended, if it is there."""
    # The model is written: a file that stays, as a lock that is held does on network file systems, must not spoil that.
    with contextlib.suppress(OSError):
        for path in (folder / STATE).iterdir():
            path.unlink()
        (folder / STATE).rmdir()
