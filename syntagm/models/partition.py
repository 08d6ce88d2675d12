"""The rules by which tokens partition a text."""

from dataclasses import dataclass

import numpy as np

from syntagm.models.answers import Surprisals


@dataclass(frozen=True, slots=True)
class Fault:
    """A violation of the rules: what was found, and what was expected."""

    found: str
    expected: str


def fault(answer: Surprisals, ended: bool) -> Fault | None:
    """Return the first violation of the rules in an answer; None if there is none.

    Arguments:
        answer: the tokens of a text.
        ended: whether the end-of-text symbol is listed.

    >>> fault(Surprisals("the dog", np.array([0, 3]), np.ones(2), np.ones(2, bool)), ended=False) is None
    True
    >>> fault(Surprisals("the dog", np.array([0, 4]), np.ones(2), np.ones(2, bool)), ended=False)
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
