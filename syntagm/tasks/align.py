"""Which token belongs to which region: one rule, one function.

A token belongs to the region that holds its first character that is not white space. It may not reach beyond that
region: its bits would be another region's as well. `strict` refuses such a token and names it; `start` leaves it where it
begins, as SyntaxGym's offset alignment does.

Deliberate differences from SyntaxGym 0.8a1 (docs/differences.md gives the reasons):

1.  A token over a border is refused unless `start` is chosen.
2.  An end symbol belongs to no region, so it never adds to the last one; it counts in the whole sentence.
3.  A blank first region moves nothing; there it shifts every later border by one character.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Surprisals
from syntagm.errors import AlignmentError
from syntagm.suite import Sentence

Rule = Literal["strict", "start"]
RULES: tuple[Rule, ...] = get_args(Rule)


def align(sentence: Sentence, answer: Surprisals, rule: Rule = "strict") -> NDArray[np.int32]:
    """The index in `sentence.regions` of each token's region, -1 for none. Shape (tokens,).

    Raises:
        AlignmentError: under `strict`, a token reaches over a border.

    >>> from syntagm.suite import Region
    >>> sentence = Sentence("the dogs bark", (Region("subject", 0, 8), Region("verb", 9, 13)))
    >>> answer = Surprisals(sentence.text, np.array([0, 3, 8]), np.ones(3), np.ones(3, bool))
    >>> align(sentence, answer).tolist()
    [0, 0, 1]
    """
    text, starts = sentence.text, answer.starts
    owner = np.full(len(text) + 1, -1, np.int32)
    for index, region in enumerate(sentence.regions):
        owner[region.start : region.end] = index
    first = _first_visible(text)
    if text and first[0] < len(text):
        # White space at the end follows the last visible character.
        first[len(text.rstrip()) : len(text)] = len(text.rstrip()) - 1
    home = owner[first[starts]]
    if rule == "strict":
        _refuse_crossing(sentence, starts, first, owner)
    return home


def _first_visible(text: str) -> NDArray[np.int64]:
    """For each position, that of the first character at or after it that is not white space. Shape (len(text) + 1,)."""
    visible = np.append(_visible(text), True)
    places = np.where(visible, np.arange(len(text) + 1), len(text))
    return np.minimum.accumulate(places[::-1])[::-1].copy()


def _visible(text: str) -> NDArray[np.bool_]:
    """Which characters are not white space. Shape (len(text),)."""
    if not text.isascii():
        return np.array([not character.isspace() for character in text], bool)
    codes = np.frombuffer(text.encode(), np.uint8)
    blank: NDArray[np.bool_] = (codes == 32) | ((codes >= 9) & (codes <= 13)) | ((codes >= 28) & (codes <= 31))
    return ~blank


def _refuse_crossing(
    sentence: Sentence, starts: NDArray[np.int32], first: NDArray[np.int64], owner: NDArray[np.int32]
) -> None:
    text = sentence.text
    # Tokens that share a start share the characters up to the next start.
    later = np.searchsorted(starts, starts, side="right")
    ends = np.append(starts, len(text))[later]
    # A change of owner between two visible characters of one token is a crossing.
    shown = np.flatnonzero(first[:-1] == np.arange(len(text)))
    if not len(shown):
        return
    changes = np.append(0, np.cumsum(np.diff(owner[shown]) != 0))
    begin, stop = np.searchsorted(shown, starts), np.searchsorted(shown, ends)
    crossing = (stop > begin) & (changes[np.maximum(stop, 1) - 1] > changes[np.minimum(begin, len(shown) - 1)])
    for token in np.flatnonzero(crossing):
        border = shown[np.searchsorted(changes, changes[begin[token]], side="right")]
        raise AlignmentError(
            f"sentence {text!r}",
            f"token {text[starts[token] : ends[token]].strip()!r} reaches over the region border at character {border}",
            "each token inside one region",
            "Move the border, or choose align=start to give the token to the region where it begins.",
        )
