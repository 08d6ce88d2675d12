"""Damage to the folder of a model, and to the state of an unfinished training in it."""

from pathlib import Path

from syntagm.core import ModelError, RunError, SyntagmError, seal
from syntagm.training import record


def faults(folder: Path) -> dict[Path, SyntagmError]:
    """Return an error for each file that is damaged, edited, missing or new, and for a folder without its seal."""
    if (folder / seal.FILE).exists():
        return seal.faults(folder, ModelError) | _state_faults(folder / record.STATE)
    if not (folder / record.FILE).exists():
        return _state_faults(folder / record.STATE)
    try:
        seal.demand(folder, ModelError)
    except ModelError as error:
        return {folder / seal.FILE: error}
    return {}


def _state_faults(folder: Path) -> dict[Path, SyntagmError]:
    if not (folder / record.STATE_FILE).exists():
        return {}
    from syntagm.training import state

    try:
        saved = state.load(folder)
        if saved and saved[0].best_file:
            state.load_best(folder, saved[0])
    except RunError as error:
        return {Path(error.place): error}
    return {}
