"""The bits that an answer can have, whoever computed it.

Bits are -log2 of a probability. So no token has fewer than 0, and neither has the beginning of a text up to any token, or a
candidate in a gap. There are two exceptions for single tokens, whose bits may be the difference of two numbers:

* An approximate model (`exact` is False) knows only upper bounds of the bits of a text and of its beginnings. The bound of a
  longer beginning may be the tighter one.
* Words corrected for where they end (`boundary=word`) share out their bits among their tokens in another way.

Even then, beginnings have at least 0 bits in a left-to-right model, and whole texts in any. Logarithms are rounded, so a
number may be below 0 by as much as this rounding. It is kept as it is.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from syntagm.core import ModelError
from syntagm.models.answers import Fill, Gap, Reductions, Surprisals
from syntagm.models.contract import LanguageModel, Sees


@dataclass(frozen=True, slots=True)
class Fault:
    """A violation of the rules: what was found, and what was expected."""

    found: str
    expected: str


def fault_in_tokens(answer: Surprisals, ended: bool) -> Fault | None:
    """Return the first violation of the rules in an answer; None if there is none.

    If the text is `ended`, the end-of-text symbol is listed.

    >>> fault_in_tokens(Surprisals("the dog", np.array([0, 3]), np.ones(2), np.ones(2, bool)), ended=False) is None
    True
    >>> fault_in_tokens(Surprisals("the dog", np.array([0, 4]), np.ones(2), np.ones(2, bool)), ended=False)
    Fault(found='token 1 begins at 4, after white space', expected='3: white space belongs to the token after it')
    """
    text, starts = answer.text, answer.starts
    if ended:
        if not len(starts) or starts[-1] != len(text):
            return Fault("no token at the end of the text", f"the end-of-text symbol at {len(text)}, as the last token")
        starts = starts[:-1]
    if not len(starts):
        return Fault("no tokens", "at least one") if text.strip() else None
    if starts[0] != 0:
        return Fault(f"token 0 begins at {starts[0]}", "0: tokens partition the text")
    if len(falling := np.flatnonzero(np.diff(starts) < 0)):
        token = falling[0] + 1
        return Fault(
            f"token {token} begins at {starts[token]}, before token {token - 1} at {starts[token - 1]}",
            "starts that never decrease",
        )
    if text and starts[-1] >= len(text):
        return Fault(
            f"token {len(starts) - 1} begins at {starts[-1]}, beyond the text of {len(text)} characters",
            "starts in Unicode code points, inside the text",
        )
    return _white_space(text, starts.tolist())


def _white_space(text: str, starts: list[int]) -> Fault | None:
    """Return the first token that contains a visible character, and ends in white space before another token."""
    visible = len(text.rstrip())
    for token in range(1, len(starts)):
        left, right = starts[token - 1], starts[token]
        part = text[left:right]
        if right < visible and part[-1:].isspace() and not part.isspace():
            expected = f"{left + len(part.rstrip())}: white space belongs to the token after it"
            return Fault(f"token {token} begins at {right}, after white space", expected)
    return None


# The rounding of the logarithm of a probability of 1 in 32-bit floats, with a wide margin: in nats and in bits.
ROUNDING_NATS = 1e-4
ROUNDING = ROUNDING_NATS / math.log(2)
# That of a sum of bits over a text.
ROUNDING_OF_SUM = 1e-3
_EXPECTED = "at least 0: bits are -log2 of a probability"


def round_up(value: float) -> float:
    """Round a measured error up to one significant digit, so that it is the same each time a model is loaded."""
    if not value > 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / unit) * unit:.0e}")


class Stated(Protocol):
    """What a model states about its numbers; a `LanguageModel` is one."""

    @property
    def exact(self) -> bool:
        """As for `LanguageModel`."""

    @property
    def sees(self) -> Sees:
        """As for `LanguageModel`."""

    @property
    def settings(self) -> Mapping[str, str]:
        """As for `LanguageModel`."""

    @property
    def numerical_error(self) -> float:
        """As for `LanguageModel`; it is added to the rounding."""


def fault(answer: Surprisals, stated: Stated) -> Fault | None:
    """Return the first number in an answer that is not possible; None if there is none."""
    # nan is possible, since it stands for an undefined number, and so is inf, for a probability of 0.
    if answer.reductions is not None and (problem := _fault_in_reductions(answer, answer.reductions)):
        return problem
    bits = answer.bits
    if not len(bits) or not (negative := bits < 0).any():
        return None
    slack = stated.numerical_error
    apart = stated.exact and stated.settings.get("boundary") != "word"
    if (wrong := np.isneginf(bits) | (negative & apart & (bits < -ROUNDING - slack))).any():
        token = int(wrong.argmax())
        return Fault(f"{bits[token]:g} bits of {_token(answer, token)}", _EXPECTED)
    sums = np.nancumsum(bits)
    if sums[-1] < -ROUNDING_OF_SUM - slack:
        return Fault(f"{sums[-1]:g} bits in all", _EXPECTED)
    if stated.sees == "left" and (wrong := sums < -ROUNDING_OF_SUM - slack).any():
        token = int(wrong.argmax())
        return Fault(f"{sums[token]:g} bits up to {_token(answer, token)}", _EXPECTED)
    return None


def _fault_in_reductions(answer: Surprisals, reductions: Reductions) -> Fault | None:
    """Return the first entropy below 0, or rank below 1, that is not due to rounding."""
    if (wrong := (reductions.entropy < -ROUNDING) | (reductions.rank < 1) | np.isinf(reductions.rank)).any():
        token = int(wrong.argmax())
        found = f"the entropy {reductions.entropy[token]:g} and the rank {reductions.rank[token]:g}"
        return Fault(f"{found} of {_token(answer, token)}", "an entropy of at least 0, and ranks from 1")
    return None


def fault_in_gap(fill: Fill, stated: Stated) -> Fault | None:
    """Return the first number of a candidate or of a listed entry that is not possible; None if there is none."""
    least = -ROUNDING - stated.numerical_error if stated.exact else -math.inf
    bits = np.append(fill.bits, [entry.bits for entry in fill.best])
    if (wrong := (bits < least) | np.isneginf(bits)).any():
        return Fault(f"{bits[wrong.argmax()]:g} bits", _EXPECTED)
    return None


def refuse(model: LanguageModel, answer: Surprisals) -> None:
    """Refuse an answer of a model with numbers that are not possible, or that don't begin where the text does."""
    # The other rules of tokens are tested by `syntagm conform`. Where these are broken, a part of the text has no bits.
    if (not len(answer.starts) or answer.starts[0]) and answer.text.strip():
        found = f"a first token at {answer.starts[0]}" if len(answer.starts) else "no tokens"
        raise ModelError(model.name, f"{found}, in {answer.text[:100]!r}", "tokens that partition the text")
    if problem := fault(answer, model):
        raise ModelError(model.name, f"{problem.found}, in {answer.text[:100]!r}", problem.expected)


def refuse_in_gap(model: LanguageModel, gap: Gap, fill: Fill) -> None:
    if problem := fault_in_gap(fill, model):
        found = f"{problem.found} of a candidate in the gap after {gap.left[-60:]!r}"
        raise ModelError(model.name, found, problem.expected)


def _token(answer: Surprisals, token: int) -> str:
    bounds = [*answer.starts.tolist(), len(answer.text)]
    return f"token {token}, {answer.text[bounds[token] : bounds[token + 1]][:40]!r}"
