"""The files that this package writes: model folders, and the state of unfinished training in them."""

from pathlib import Path

from syntagm.errors import ModelError, RunError, SyntagmError
from syntagm.io import seal
from syntagm.io.integrity import File, Folder
from syntagm.training import record

_STATE = f"{record.STATE}/{record.STATE_FILE}"


def _faults(folder: Path) -> dict[Path, SyntagmError]:
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


MODEL = Folder(
    "model",
    (record.FILE, seal.FILE, _STATE),
    (
        File("the seal of the folder", seal.FILE),
        File("the record of the training run", record.FILE),
        File("weights", "*.safetensors"),
        File("a vocabulary", "*.txt"),
        File("a part of the model's description", "*.json"),
        File("the trees of a text that a parser gave", "*.trees", checked=False),
        File("the state of an unfinished training run", _STATE),
        File("the best weights of an unfinished training run", f"{record.STATE}/best-*.safetensors"),
        File("the lock of an unfinished training run", f"{record.STATE}/lock", checked=False),
        File("a file of an unfinished training run", "unfinished/*", checked=False),
    ),
    _faults,
    seal.renew,
)

FOLDERS = (MODEL,)
