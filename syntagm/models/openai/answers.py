"""Checks of a server's answers, and the proof that its tokens are those of the text.

A server that echoes a text lists its tokens as pieces of text. If the pieces together are the text, each is a slice of it
(vLLM: of a character that several tokens share, the last one has all). Otherwise, of such a character, the pieces have
replacement characters (SGLang) or nothing (llama-cpp-python: the tokens of "naïve", split inside `ï`, are listed as `na` and
`ve`); some servers leave out white space at the beginning of a piece, or put a blank before the first one. Tokens are placed
only where a single place is possible; otherwise the text is refused.
"""

import decimal
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from syntagm.core import InputError, shape
from syntagm.models.possible import ROUNDING_NATS

# What servers give for a probability of 0, since JSON has no infinite numbers (vLLM).
_ZERO = -9999.0
_EXPECTED = "the tokens of the text with their log-probabilities (`echo` and `logprobs`)"
_CURE = (
    "The server must echo texts with log-probabilities, as vLLM, SGLang and llama-cpp-python do; OpenAI's own service "
    "doesn't."
)
# Part of a character, as servers show it.
_PART = "\ufffd"
_ATOM = re.compile(f"{_PART}+|[^{_PART}]+")


@dataclass(frozen=True, slots=True)
class Completion:
    """The tokens of a completion."""

    pieces: tuple[str, ...]  # the tokens of the prompt and, after them, those that were generated, as pieces of text
    # The natural logarithm of the probability of each; None for a first token that nothing precedes.
    logprobs: tuple[float | None, ...]
    prompt: int  # the number of tokens of the prompt, by the server's count
    generated: int  # the number of generated tokens, by the server's count


def completion(answer: dict[str, Any], place: str) -> Completion:
    choices = answer.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise InputError(place, f"the choices {shape.shown(choices)}", "a list of one choice", _CURE)
    logprobs = choices[0].get("logprobs")
    if not isinstance(logprobs, dict) or not isinstance(pieces := logprobs.get("tokens"), list):
        raise InputError(place, f"the log-probabilities {shape.shown(logprobs)}", _EXPECTED, _CURE)
    values = logprobs.get("token_logprobs")
    if not isinstance(values, list) or len(values) != len(pieces):
        count = len(values) if isinstance(values, list) else "no"
        raise InputError(place, f"{count} log-probabilities of {len(pieces)} tokens", "one for each token")
    for number, piece in enumerate(pieces):
        if not isinstance(piece, str):
            raise InputError(f"{place}, token {number}", shape.shown(piece), "a text")
    numbers = tuple(
        None if value is None and number == 0 else logprob(value, f"{place}, token {number}")
        for number, value in enumerate(values)
    )
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        raise InputError(place, f"the usage {shape.shown(usage)}", "the numbers of tokens, as in OpenAI's interface")
    prompt, generated = (_count(usage.get(key), f"{place}, {key}") for key in ("prompt_tokens", "completion_tokens"))
    return Completion(tuple(pieces), numbers, prompt, generated)


def _count(value: object, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(place, shape.shown(value), "a number of tokens")
    return value


def logprob(value: object, place: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise InputError(place, f"the log-probability {shape.shown(value)}", "a number of at most 0")
    if value > ROUNDING_NATS:
        raise InputError(place, f"the log-probability {value:g}", "a number of at most 0")
    if value <= _ZERO:
        expected = "a finite surprisal"
        raise InputError(place, f"the log-probability {value:g}, which stands for a probability of 0", expected)
    return float(value)


def decimals(logprobs: Sequence[float | None]) -> int:
    """Return the largest number of decimals of log-probabilities.

    >>> decimals([None, -1.25, -3.0])
    2
    """
    numbers = [decimal.Decimal(repr(value)).normalize().as_tuple().exponent for value in logprobs if value is not None]
    return max((-exponent for exponent in numbers if isinstance(exponent, int)), default=0)


def offsets(text: str, pieces: Sequence[str], place: str) -> list[tuple[int, int]]:
    """Return the first character of each token, and the one after its last.

    The tokens of a character that none of them contains whole have the offsets of that character. If several such
    characters follow each other, nobody knows which token belongs to which, so all have the offsets of all of them.

    Pieces that are not those of the text, or could be placed in several ways, are an error.

    >>> offsets("the ☃ sat", ["the", " \\ufffd", "\\ufffd", "\\ufffd", " sat"], "")
    [(0, 3), (3, 5), (4, 5), (4, 5), (5, 9)]
    """
    try:
        return _spans(text, pieces, place)
    except InputError:
        if not pieces or not pieces[0].startswith(" "):
            raise
        # Tokenizers like Llama's put a blank before a text.
        return _spans(text, [pieces[0][1:], *pieces[1:]], place)


def _spans(text: str, pieces: Sequence[str], place: str) -> list[tuple[int, int]]:
    if "".join(pieces) == text:
        ends = list(itertools.accumulate(map(len, pieces)))
        return list(zip([0, *ends], ends, strict=False))
    spans: list[tuple[int, int]] = []
    # Tokens since the last placed one that show parts of characters, and whether any of them must have one.
    open_tokens: list[int] = []
    at, parts = 0, False

    def close(end: int) -> None:
        for token in open_tokens:
            begin = spans[token][0]
            spans[token] = (begin, max(end, spans[token][1]))
        open_tokens.clear()

    for number, piece in enumerate(pieces):
        spans.append((-1, at))
        # A replacement character of the text itself is in the piece as it is in the text.
        atoms = [piece] if text.startswith(piece, at) and not open_tokens else _ATOM.findall(piece)
        for atom in atoms or [""]:
            begin = at
            if not atom or (atom.startswith(_PART) and not text.startswith(atom, at)):
                open_tokens.append(number)
                parts = parts or bool(atom)
            else:
                begin, end = _placed(text, atom, at, bool(open_tokens), place, number)
                passed = text[at:begin].rstrip()
                if parts and not passed:
                    raise _refused(text, place, number, piece, at)
                if passed and not open_tokens:
                    # The token before this one has the first bytes of a character, and this one the others.
                    spans[number - 1] = (spans[number - 1][0], begin)
                    begin = at
                elif at + len(passed) == begin and not parts and len(open_tokens) < len(passed.encode()):
                    # Whether empty pieces are all of a character, or this token has its last bytes, is not shown.
                    begin = at
                close(at + len(passed))
                at, parts = end, False
                spans[number] = (spans[number][0], at)
            if spans[number][0] < 0:
                spans[number] = (begin, spans[number][1])
    rest = _dense(text, at) if open_tokens else at
    if text[rest:].strip() or (parts and rest == at):
        raise InputError(place, f"tokens that end before {text[rest:][:40]!r}", "tokens that cover the text", _CURE)
    close(rest)
    return spans


def _placed(text: str, atom: str, at: int, after_part: bool, place: str, number: int) -> tuple[int, int]:
    """Return where a piece begins and ends that shows whole characters."""
    bare = atom.lstrip()
    last = _dense(text, at) if after_part else at
    # A character of which two tokens have a part, and neither shows it. Next to another such character, it could be that one.
    alone = not after_part and at > 0 and text[at - 1].isascii() and _dense(text, at) == at + 1 and atom[0].isascii()
    if alone and text.startswith(atom, at + 1):
        return at + 1, at + 1 + len(atom)
    found = text.find(atom, at, last + len(atom))
    if found >= 0:
        if after_part and text.find(atom, found + 1, last + len(atom)) >= 0:
            raise InputError(
                f"{place}, token {number}", f"the piece {atom!r}, which can be placed in several ways", "one way",
                "The server shows parts of characters only as replacement characters; leave such texts out.",
            )  # fmt: skip
        return found, found + len(atom)
    # Some servers leave out the white space before a word.
    after = last
    while text[after : after + 1].isspace():
        after += 1
    if after > last and text.startswith(bare, after):
        return after, after + len(bare)
    raise _refused(text, place, number, atom, at)


def _refused(text: str, place: str, number: int, piece: str, at: int) -> InputError:
    expected = f"a part of the text at character {at}, {text[at : at + 20]!r}"
    return InputError(f"{place}, token {number}", f"the piece {piece[:40]!r}", expected, _CURE if at == 0 else "")


def _dense(text: str, at: int) -> int:
    """Return the end of the characters from `at` that can take more than one byte."""
    while at < len(text) and not text[at].isascii() and not text[at].isspace():
        at += 1
    return at
