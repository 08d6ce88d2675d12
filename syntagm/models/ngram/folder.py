"""Folders of n-gram models: model.json, model.safetensors, vocabulary.txt, and training.json for the record of training."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import (
    InputError,
    ModelError,
    RunError,
    SyntagmError,
    atomic,
    hashing,
    json as strict_json,
    lock,
    regular,
    safetensors_file,
    seal,
    shape,
)
from syntagm.models.ngram.ngrams import START, Ngrams
from syntagm.models.words import vocabulary
from syntagm.models.words.splitting import KINDS
from syntagm.models.words.vocabulary import Vocabulary

FORMAT = 1
_UNFINISHED = "unfinished"
FILES = ("model.safetensors", "vocabulary.txt")
_SHAPE = {
    "family": frozenset({"ngram"}),
    "format": int,
    "order": int,
    "tokens": frozenset(KINDS),
    "ngrams": [int],
    "sha256": dict.fromkeys(FILES, str),
}


@contextlib.contextmanager
def training(folder: Path) -> Iterator[None]:
    """Lock a model folder while a model is trained for it, and leave no unfinished files in it."""
    with lock.held(atomic.inside(folder, _UNFINISHED)):
        try:
            yield
        finally:
            shutil.rmtree(folder / _UNFINISHED, ignore_errors=True)


def clear(folder: Path) -> None:
    """Delete what a killed training run left beside a finished model, unless another process trains there."""
    if (folder / _UNFINISHED).exists():
        with contextlib.suppress(RunError), training(folder):
            pass


def write(folder: Path, ngrams: Ngrams, vocabulary: Vocabulary, tokens: str, training: Mapping[str, object]) -> None:
    """Write a model, inside `training`. An existing model is replaced once the new one is completely on disk."""
    new = folder / _UNFINISHED
    try:
        vocabulary.write(new / "vocabulary.txt")
        atomic.write_parts(new / "model.safetensors", safetensors_file.parts(_arrays(ngrams)))
        atomic.write(new / "training.json", json.dumps(training, indent=1).encode() + b"\n")
        head = {
            "family": "ngram",
            "format": FORMAT,
            "order": ngrams.order,
            "tokens": tokens,
            "ngrams": [len(values) for values in ngrams.probabilities],
            "sha256": {name: hashing.of_file(new / name) for name in FILES},
        }
        atomic.write(new / "model.json", json.dumps(head, indent=1).encode() + b"\n")
        seal.write(new)
        # The record comes first: it shows that a folder in which the other files are missing was written here.
        for name in ("training.json", *FILES, "model.json", seal.FILE):
            atomic.put(new / name, folder / name)
    except OSError as error:
        raise atomic.refusal(folder, error, 0) from error


def _arrays(ngrams: Ngrams) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for order in range(1, ngrams.order + 1):
        if order > 1:
            arrays[f"firsts.{order}"] = ngrams.firsts[order - 2]
            arrays[f"suffixes.{order}"] = ngrams.suffixes[order - 2]
        arrays[f"probabilities.{order}"] = ngrams.probabilities[order - 1]
        if order < ngrams.order:
            arrays[f"backoffs.{order}"] = ngrams.backoffs[order - 1]
    return arrays


def read(folder: Path) -> tuple[Ngrams, Vocabulary, str, str]:
    """Read a model: n-grams, vocabulary, the option `tokens` of its training, and a hash of everything."""
    place = f"ngram:{folder}"
    head = check(folder)
    words = vocabulary.read(folder / "vocabulary.txt")
    ngrams = _ngrams(folder / "model.safetensors", head["order"], words)
    if (counts := [len(values) for values in ngrams.probabilities]) != head["ngrams"]:
        raise ModelError(
            place, f"{counts} n-grams by order", f"{head['ngrams']}, as in model.json", "Train the model again."
        )
    if fault := _fault(ngrams):
        raise ModelError(
            place, f"{fault} in model.safetensors", "sorted n-grams and their logarithms", "Train the model again."
        )
    return ngrams, words, head["tokens"], hashlib.sha256(json.dumps(head, sort_keys=True).encode()).hexdigest()


def check(folder: Path) -> dict[str, Any]:
    """Read model.json, and check that the other files were written together with it."""
    place, head = f"ngram:{folder}", _head(folder)
    sealed = seal.demand(folder, ModelError)
    for name in FILES:
        if sealed["files"].get(name) != head["sha256"][name]:
            raise ModelError(
                place, f"{name} is not the file that model.json names", "one model", "Train the model again."
            )
    return head


def faults(folder: Path) -> list[SyntagmError]:
    """Return an error for each file that is damaged, edited, missing or new, or from a different training."""
    if damaged := list(seal.faults(folder, ModelError).values()):
        return damaged
    try:
        check(folder)
    except ModelError as error:
        return [error]
    return []


def _head(folder: Path) -> dict[str, Any]:
    place = f"ngram:{folder}"
    expected_and_cure = "a folder written by `syntagm train ngram`", "Check that training was finished."
    head = strict_json.record(folder / "model.json", ModelError, *expected_and_cure)
    try:
        shape.check(head, _SHAPE, "model.json")
    except InputError as error:
        raise ModelError(place, f"{error.place}: {error.found}", error.expected, expected_and_cure[1]) from error
    if head["format"] != FORMAT or not 0 < head["order"] < 1_000:
        found = f"format {shape.shown(head['format'])}, order {shape.shown(head['order'])}"
        raise ModelError(place, found, f"an n-gram model of format {FORMAT}", expected_and_cure[1])
    return head


def _ngrams(path: Path, order: int, vocabulary: Vocabulary) -> Ngrams:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(regular.checked(path))
        orders = range(1, order + 1)
        expected = {f"probabilities.{index}" for index in orders} | {f"backoffs.{index}" for index in orders[:-1]}
        expected |= {f"{kind}.{index}" for kind in ("firsts", "suffixes") for index in orders[1:]}
        if surplus := sorted(arrays.keys() - expected):
            raise ModelError(
                str(path),
                f"an extra array {surplus[0]!r}",
                f"only the arrays of an n-gram model of order {order}",
                "Train the model again.",
            )
        return Ngrams(
            (*vocabulary.words, START),
            tuple(arrays[f"firsts.{index}"] for index in orders[1:]),
            tuple(arrays[f"suffixes.{index}"] for index in orders[1:]),
            tuple(arrays[f"probabilities.{index}"] for index in orders),
            tuple(arrays[f"backoffs.{index}"] for index in orders[:-1]),
        )
    except (OSError, SafetensorError, KeyError) as error:
        raise ModelError(
            str(path), f"can't be read ({error})", "the n-grams of an n-gram model", "Train the model again."
        ) from error


def _fault(ngrams: Ngrams) -> str:
    """Describe what is wrong with n-grams from a file; empty if they are valid."""
    if fault := _array_fault(ngrams):
        return fault
    sizes = [len(values) for values in ngrams.probabilities]
    if not sizes or sizes[0] != len(ngrams.words):
        return "a different number of unigrams and words"
    for order, (firsts, suffixes) in enumerate(zip(ngrams.firsts, ngrams.suffixes, strict=True), 2):
        size, below = sizes[order - 1], sizes[order - 2]
        if not len(firsts) == len(suffixes) == size or len(ngrams.backoffs[order - 2]) != below:
            return f"arrays of different lengths at order {order}"
        if size and not (firsts.min() >= 0 and firsts.max() < len(ngrams.words)):
            return f"words that are not in the vocabulary at order {order}"
        if size and not (
            suffixes.min() >= 0 and suffixes.max() < below and (np.diff(ngrams.keys(order - 2)) > 0).all()
        ):
            return f"unsorted n-grams at order {order}"
    return ""


def _array_fault(ngrams: Ngrams) -> str:
    """Describe an array with a wrong type, shape or value; empty if there is none."""
    integers, logs = (*ngrams.firsts, *ngrams.suffixes), (*ngrams.probabilities, *ngrams.backoffs)
    for kind, arrays in ((np.int32, integers), (np.float32, logs)):
        if any(values.dtype != kind or values.ndim != 1 for values in arrays):
            return "arrays of an unexpected type or shape"
    if not all((values <= 0).all() for values in ngrams.probabilities):
        return "probabilities above 1, or nan"
    # A weight may be 0, since a discount may be 0, and its logarithm -inf.
    return "" if all((values < np.inf).all() for values in ngrams.backoffs) else "infinite back-off weights, or nan"
