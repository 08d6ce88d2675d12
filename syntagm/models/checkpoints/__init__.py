"""Published checkpoints of other programs: one file per kind, which converts them to model folders of Syntagm."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import (
    InputError,
    ModelError,
    RunError,
    UsageError,
    atomic,
    hashing,
    json as json_files,
    record as sealed,
    registry,
    safetensors_file,
    seal,
    torch_file,
)
from syntagm.models.words.splitting import KINDS
from syntagm.models.words.vocabulary import END, UNKNOWN, Vocabulary

# The record of an import is written first, so a folder with it, but without a seal, is unfinished.
RECORD = "import.json"
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Model:
    """A converted model.

    Arguments:
        description: the content of `model.json`.
        weights: the arrays of `model.safetensors`.
        vocabulary: the vocabulary.
        summary: one line about the model.
    """

    description: Mapping[str, object]
    weights: Mapping[str, Array]
    vocabulary: Vocabulary
    summary: str


@dataclass(frozen=True, slots=True)
class Layout:
    """A kind of checkpoint.

    Arguments:
        summary: one line about the models of this kind.
        tokens: how their texts are split into words; see `models.words.splitting`.
        convert: a function that reads a checkpoint, given the file, that of its vocabulary, and `tokens`.
        pickled: whether such a checkpoint is a pickle.
        further: names of further files, which lie beside the checkpoint.
    """

    summary: str
    tokens: str
    convert: Callable[[Path, Path, str], Model]
    pickled: bool = True
    further: tuple[str, ...] = ()


def convert(name: str, file: Path, vocabulary: Path, folder: Path, tokens: str = "", allow_pickle: bool = False) -> str:
    """Convert a checkpoint to a model folder. Making the same call again after it finished does nothing."""
    layout: Layout = registry.find("checkpoints", name).LAYOUT
    tokens = tokens or layout.tokens
    if tokens not in KINDS:
        raise UsageError("--tokens", repr(tokens), "one of " + ", ".join(KINDS))
    if layout.pickled and not allow_pickle:
        cure = "Give --allow-pickle. Only its tensors and plain values are read; nothing in it is run."
        raise UsageError(str(file), "a pickled checkpoint", "the permission to read it", cure)
    sources = {"checkpoint": file, "vocabulary": vocabulary} | {name: file.with_name(name) for name in layout.further}
    record = {
        "kind": name,
        "tokens": tokens,
        "files": {role: {"name": path.name, "sha256": _hash(path)} for role, path in sources.items()},
    }
    if _finished(folder, record):
        return ""
    model = layout.convert(file, vocabulary, tokens)
    atomic.make_folder(folder)
    atomic.write(folder / RECORD, sealed.encoded(record))
    atomic.write_parts(folder / "model.safetensors", safetensors_file.parts(model.weights))
    model.vocabulary.write(folder / "vocabulary.txt")
    atomic.write(folder / "model.json", sealed.encoded(model.description))
    seal.write(folder)
    return model.summary


def _hash(path: Path) -> str:
    try:
        return hashing.of_file(path)
    except OSError as error:
        raise InputError(str(path), f"can't be read ({error.strerror})", "a readable file") from None


def _finished(folder: Path, record: Mapping[str, object]) -> bool:
    """Return whether the folder has this model; refuse a folder with anything else."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"-o {folder}", "not a folder", "a folder")
    atomic.sweep(folder)
    if not folder.exists() or not any(folder.iterdir()):
        return False
    found = json_files.record(folder / RECORD, RunError, "") if (folder / RECORD).exists() else None
    if found != record:
        held = f"the import of another checkpoint, or with other settings ({RECORD})" if found else "something else"
        raise UsageError(f"-o {folder}", held, "a new or empty folder", "Choose another folder.")
    if not (folder / seal.FILE).exists():
        return False
    seal.verify(folder, ModelError)
    return True


def renumbered(
    words: Sequence[str], place: Path, end: str = "<eos>", unknown: str = UNKNOWN
) -> tuple[Vocabulary, NDArray[np.int64]]:
    """Return the vocabulary of a model, and for each of its words the number in the published one.

    In a `Vocabulary` the end symbol and the unknown word come first.

    Arguments:
        words: the published vocabulary.
        place: its file, for messages.
        end: its end symbol.
        unknown: its unknown word.

    Raises:
        InputError: a word occurs twice, or one of the two is missing.
    """
    numbers = {word: number for number, word in enumerate(words)}
    for symbol in (end, unknown):
        if symbol not in numbers:
            raise InputError(str(place), f"no word {symbol}", f"a vocabulary of {len(words):,} words with {symbol}")
    reserved = ({END, UNKNOWN} - {end, unknown}) & numbers.keys()
    if len(numbers) < len(words) or reserved:
        twice = min(reserved) if reserved else next(word for at, word in enumerate(words) if numbers[word] != at)
        raise InputError(
            str(place), f"the word {twice!r:.60} twice, or as a symbol", f"each word once, {end}, {unknown}"
        )
    first = [numbers[end], numbers[unknown]]
    rest = np.setdiff1d(np.arange(len(words)), first)
    return (
        Vocabulary((END, UNKNOWN, *(words[number] for number in rest)), 1, "none"),
        np.concatenate([first, rest]),
    )


def weights(
    stored: Mapping[str, torch_file.Tensor], shapes: Mapping[str, tuple[int, ...]], file: Path, size: str
) -> dict[str, Array]:
    if wrong := sorted(stored.keys() ^ shapes.keys()):
        found = f"{wrong[0]:.80} is {'unexpected' if wrong[0] in stored else 'missing'}"
        names = ", ".join([*shapes][:12])
        raise InputError(str(file), found, f"{len(shapes)} weights: {names}{', ...' if len(shapes) > 12 else ''}")
    for name, shape in shapes.items():
        if stored[name].shape != shape:
            raise InputError(str(file), f"{name} of the shape {stored[name].shape}", f"{shape}, with {size}")
    arrays = {name: stored[name].array() for name in shapes}
    for name, array in arrays.items():
        if array.dtype != np.float32 or not np.isfinite(array).all():
            found = "numbers that are not finite" if array.dtype == np.float32 else f"numbers of the type {array.dtype}"
            raise InputError(str(file), f"{name} has {found}", "finite 16- or 32-bit floats")
    return arrays
