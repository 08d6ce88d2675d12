"""Checks of what a program answers: its description of the model, surprisals, and candidates in gaps."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap, Surprisals
from syntagm.errors import InputError
from syntagm.io.shape import check, shown
from syntagm.models.contract import Sees
from syntagm.models.partition import fault

_HELLO = {
    "name": str,
    "fingerprint": str,
    "sees": frozenset(get_args(Sees)),
    "exact": bool,
    "bos": (str, None),
    "eos": (str, None),
    "can?": [frozenset({"score", "fill"})],
    "words?": [str],
    "settings?": {str: str},
}
# What a program says of itself. The last three are optional.
KEYS = tuple(key.rstrip("?") for key in _HELLO)
_SURPRISALS = {"answers": [{"starts": [int], "bits": [(float, None)], "known?": [bool]}]}
_FILLS = {
    "answers": [{"bits": [(float, None)], "known?": [bool], "above?": [(float, None)], "below?": [(float, None)]}]
}
_NAME = re.compile(r"[\w.+-]{1,100}")
_SETTING = re.compile(r"(?!(?:bos|eos)$)[a-z]\w{0,50}")
_VALUE = re.compile(r"[\w.+/-]{1,100}")
# Rounding of a sum of bits that is 0.
_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class Hello:
    """What a program says of its model. The fields are those of `LanguageModel`."""

    name: str
    fingerprint: str
    sees: Sees
    exact: bool
    bos: str | None
    eos: str | None
    can: frozenset[str]
    words: tuple[str, ...]
    settings: Mapping[str, str]


def hello(answer: Mapping[str, Any]) -> Hello:
    """Check what a program says of its model.

    Raises:
        InputError: a key is missing or unknown, or has a wrong value.
    """
    check(answer, _HELLO, "answer to hello")
    for key in ("name", "fingerprint", "bos", "eos"):
        if answer[key] is not None and not (answer[key] and answer[key].isprintable()):
            raise InputError(f"answer to hello, {key}", shown(answer[key]), "a text that is not empty")
    if not _NAME.fullmatch(answer["name"]):
        expected = "1 to 100 letters, digits and the characters _ . + -"
        raise InputError("answer to hello, name", shown(answer["name"]), expected)
    if "score" not in (can := answer.get("can", ["score"])):
        raise InputError("answer to hello, can", "no score", 'score, and possibly fill: ["score", "fill"]')
    for name, value in (settings := answer.get("settings", {})).items():
        if not _SETTING.fullmatch(name) or not _VALUE.fullmatch(value):
            expected = 'a name other than bos and eos, and a value without blanks, such as "beam": "100"'
            raise InputError("answer to hello, settings", f"{shown(name)}: {shown(value)}", expected)
    words = answer.get("words", [])
    for word in words:
        if word.split() != [word]:
            raise InputError("answer to hello, words", shown(word), "words without blanks")
    if (distinct := len(set(words))) < len(words):
        raise InputError(
            "answer to hello, words", f"{len(words):,} words, {distinct:,} of them different", "no repetition"
        )
    fields = {key: answer[key] for key in ("name", "fingerprint", "sees", "exact", "bos", "eos")}
    return Hello(**fields, can=frozenset(can), words=tuple(words), settings=settings)


def surprisals(answer: Mapping[str, Any], texts: Sequence[str], about: Hello) -> list[Surprisals]:
    """Check the surprisals of texts.

    Raises:
        InputError: keys, types or lengths are wrong; tokens don't partition their text; or surprisals are not possible.
    """
    check(answer, _SURPRISALS, "answer")
    _refuse_lengths("answer", {"answers": len(answer["answers"])}, len(texts))
    return [
        _surprisals(text, entry, about, f"answer {number} of {len(texts)}, to {text[:60]!r}")
        for number, (text, entry) in enumerate(zip(texts, answer["answers"], strict=True), 1)
    ]


def _surprisals(text: str, answer: Mapping[str, Any], about: Hello, place: str) -> Surprisals:
    starts = answer["starts"]
    _refuse_lengths(place, {key: len(values) for key, values in answer.items()}, len(starts))
    if starts and not 0 <= min(starts) <= max(starts) <= len(text):
        expected = f"0 to {len(text)}, counted in Unicode code points"
        raise InputError(place, f"starts from {min(starts)} to {max(starts)}", expected)
    bits = _numbers(answer["bits"])
    result = Surprisals(text, np.array(starts, np.int32), bits, np.array(answer.get("known", [True] * len(bits)), bool))
    if problem := fault(result, about.eos is not None):
        raise InputError(place, problem.found, problem.expected)
    if about.bos is None and len(bits) > (about.eos is not None) and not math.isnan(bits[0]):
        raise InputError(place, f"{bits[0]:g} bits of the first token", "null, since nothing precedes it (bos is null)")
    # Single tokens may have negative bits: in a beam search, and where the ends of words are corrected.
    if (total := float(np.nansum(bits))) < -_ROUNDING:
        raise InputError(place, f"{total:g} bits in all", "at least 0: bits are -log2 of a probability")
    return result


def fills(answer: Mapping[str, Any], gaps: Sequence[Gap]) -> list[Fill]:
    """Check the surprisals of the candidates in gaps.

    Raises:
        InputError: keys, types or lengths are wrong, or numbers are not possible.
    """
    check(answer, _FILLS, "answer")
    _refuse_lengths("answer", {"answers": len(answer["answers"])}, len(gaps))
    return [
        _fill(gap, entry, f"answer {number} of {len(gaps)}, to the gap after {gap.left[-60:]!r}")
        for number, (gap, entry) in enumerate(zip(gaps, answer["answers"], strict=True), 1)
    ]


def _fill(gap: Gap, answer: Mapping[str, Any], place: str) -> Fill:
    count = len(gap.words)
    _refuse_lengths(place, {key: len(values) for key, values in answer.items()}, count)
    bits, above, below = (_numbers(answer.get(key, [None] * count)) for key in ("bits", "above", "below"))
    if (bits < -_ROUNDING).any():
        raise InputError(place, f"{np.nanmin(bits):g} bits", "at least 0: bits are -log2 of a probability")
    unlike = np.isnan(above) != np.isnan(below)
    if unlike.any() or ((above < 0) | (below < 0) | (above + below > 1 + 1e-6)).any():
        raise InputError(place, "above and below that are no parts of 1", "probabilities, or null in both")
    return Fill(bits, above, below, np.array(answer.get("known", [True] * count), bool))


def _refuse_lengths(place: str, lengths: Mapping[str, int], expected: int) -> None:
    for key, length in lengths.items():
        if length != expected:
            raise InputError(f"{place}, {key}", f"{length:,}", f"{expected:,}: one for each")


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([math.nan if value is None else value for value in values], np.float64)
