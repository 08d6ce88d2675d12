"""Checks of what a program answers: its description of the model, surprisals, and candidates in gaps."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, check, shape
from syntagm.models import possible
from syntagm.models.answers import Fill, Gap, Surprisals
from syntagm.models.contract import Query, Sees
from syntagm.models.possible import fault_in_tokens

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
    "numerical_error?": float,
}
# What a program says of itself. The last four are optional.
KEYS = tuple(key.rstrip("?") for key in _HELLO)
_SURPRISALS = {"answers": [{"starts": [int], "bits": [(float, None)], "known?": [bool]}]}
_FILLS = {
    "answers": [{"bits": [(float, None)], "known?": [bool], "above?": [(float, None)], "below?": [(float, None)]}]
}
_NAME = re.compile(r"[\w.+-]{1,100}")
_SETTING = re.compile(r"(?!(?:bos|eos)$)[a-z]\w{0,50}")
_VALUE = re.compile(r"[\w.+/-]{1,100}")
# The rounding of a sum of probabilities.
_ROUNDING = 1e-4


@dataclass(frozen=True, slots=True)
class Hello:
    """What a program says of its model. The fields are those of `LanguageModel`."""

    name: str
    fingerprint: str
    sees: Sees
    exact: bool
    bos: str | None
    eos: str | None
    can: frozenset[Query]
    words: tuple[str, ...]
    settings: Mapping[str, str]
    numerical_error: float


def hello(answer: Mapping[str, Any]) -> Hello:
    check(answer, _HELLO, "answer to hello")
    for key in ("name", "fingerprint", "bos", "eos"):
        if answer[key] is not None and not (answer[key] and answer[key].isprintable()):
            raise InputError(f"answer to hello, {key}", shape.shown(answer[key]), "printable characters, at least one")
    if not _NAME.fullmatch(answer["name"]):
        expected = "1 to 100 letters, digits and the characters _ . + -"
        raise InputError("answer to hello, name", shape.shown(answer["name"]), expected)
    if "score" not in (can := answer.get("can", ["score"])):
        raise InputError("answer to hello, can", "no score", 'score, and possibly fill: ["score", "fill"]')
    for name, value in (settings := answer.get("settings", {})).items():
        if not _SETTING.fullmatch(name) or not _VALUE.fullmatch(value):
            expected = 'a name other than bos and eos, and a value without blanks, such as "beam": "100"'
            raise InputError("answer to hello, settings", f"{shape.shown(name)}: {shape.shown(value)}", expected)
    words = answer.get("words", [])
    for word in words:
        if word.split() != [word]:
            raise InputError("answer to hello, words", shape.shown(word), "words without blanks")
    if (distinct := len(set(words))) < len(words):
        raise InputError(
            "answer to hello, words", f"{len(words):,} words, {distinct:,} of them different", "no repetition"
        )
    if not 0 <= (error := answer.get("numerical_error", 0.0)) <= 1:
        raise InputError("answer to hello, numerical_error", shape.shown(error), "bits per text, from 0 to 1")
    fields = {key: answer[key] for key in ("name", "fingerprint", "sees", "exact", "bos", "eos")}
    return Hello(**fields, can=frozenset(can), words=tuple(words), settings=settings, numerical_error=float(error))


def surprisals(answer: Mapping[str, Any], texts: Sequence[str], about: Hello) -> list[Surprisals]:
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
    if problem := fault_in_tokens(result, about.eos is not None):
        raise InputError(place, problem.found, problem.expected)
    if about.bos is None and len(bits) > (about.eos is not None) and not math.isnan(bits[0]):
        raise InputError(place, f"{bits[0]:g} bits of the first token", "null, since nothing precedes it (bos is null)")
    if problem := possible.fault(result, about):
        raise InputError(place, problem.found, problem.expected)
    with np.errstate(over="ignore"):
        total = float(np.nansum(bits))
    if not math.isfinite(total):
        raise InputError(place, f"{total:g} bits in all", "a finite number")
    return result


def fills(answer: Mapping[str, Any], gaps: Sequence[Gap], about: Hello) -> list[Fill]:
    check(answer, _FILLS, "answer")
    _refuse_lengths("answer", {"answers": len(answer["answers"])}, len(gaps))
    return [
        _fill(gap, entry, about, f"answer {number} of {len(gaps)}, to the gap after {gap.left[-60:]!r}")
        for number, (gap, entry) in enumerate(zip(gaps, answer["answers"], strict=True), 1)
    ]


def _fill(gap: Gap, answer: Mapping[str, Any], about: Hello, place: str) -> Fill:
    count = len(gap.words)
    _refuse_lengths(place, {key: len(values) for key, values in answer.items()}, count)
    bits, above, below = (_numbers(answer.get(key, [None] * count)) for key in ("bits", "above", "below"))
    fill = Fill(bits, above, below, np.array(answer.get("known", [True] * count), bool))
    if problem := possible.fault_in_gap(fill, about):
        raise InputError(place, problem.found, problem.expected)
    unlike = np.isnan(above) != np.isnan(below)
    if unlike.any() or ((above < 0) | (below < 0) | (above + below > 1 + 1e-6)).any():
        raise InputError(place, "above and below that are no parts of 1", "probabilities, or null in both")
    if about.exact and (total := _together(gap, fill, about.words)) > 1 + _ROUNDING:
        expected = "at most 1: only one of them can follow"
        raise InputError(place, f"the probability {total:g} of its different known words together", expected)
    return fill


def _together(gap: Gap, fill: Fill, words: Sequence[str]) -> float:
    """Return the probability that one of the listed words among the candidates fills a gap between blanks."""
    if (gap.left and not gap.left[-1].isspace()) or (gap.right and not gap.right[0].isspace()):
        return 0.0
    listed = frozenset(words)
    pairs = zip(gap.words, fill.bits.tolist(), fill.in_vocabulary.tolist(), strict=True)
    return math.fsum(
        {word: 2.0**-bits for word, bits, known in pairs if known and bits == bits and word in listed}.values()
    )


def _refuse_lengths(place: str, lengths: Mapping[str, int], expected: int) -> None:
    for key, length in lengths.items():
        if length != expected:
            raise InputError(f"{place}, {key}", f"{length:,}", f"{expected:,}: one for each")


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    # Adding 0.0 turns -0.0 into 0.0.
    return np.array([math.nan if value is None else value for value in values], np.float64) + 0.0
