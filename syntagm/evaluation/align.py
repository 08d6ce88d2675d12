"""Alignment of tokens with regions, for one sentence or for many at once.

A token belongs to the region of its first character that is not white space. A token that extends beyond that
region crosses a border, and its bits can't be divided between two regions. The rule `strict` refuses such a token and
names it. The rule `start` assigns it to the region where it begins, like SyntaxGym's offset alignment.

Deliberate differences from SyntaxGym 0.8a1 (docs/reference/differences.md gives the reasons):

1.  A token that crosses a border is refused unless `start` is chosen.
2.  The end-of-text symbol belongs to no region, so it is not added to the last one. It counts only in the whole
    sentence.
3.  An empty first region has no effect. In SyntaxGym it shifts every later border by one character.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from syntagm.core import AlignmentError
from syntagm.models import Surprisals
from syntagm.suites import Sentence

Rule = Literal["strict", "start"]
RULES: tuple[Rule, ...] = get_args(Rule)
Ints = NDArray[np.int64]
# Whether each character is white space. The last entry, U+3001, stands for all later characters: none is white space.
_WHITE_SPACE = np.array([chr(code).isspace() for code in range(0x3002)], bool)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Sentences in flat arrays, one after the other: their regions and the tokens of their answers."""

    texts: Sequence[str]
    regions: Ints  # `regions`, `tokens`: the numbers of regions and tokens of each text. Shapes (texts,).
    # `low`, `high`: the start and end of each region in its text, in characters; the end is exclusive. Shapes (all
    # regions,).
    low: Ints
    high: Ints
    tokens: Ints
    starts: Ints  # the start of each token in its text, in characters. Shape (all tokens,).


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The regions of tokens, numbered through all sentences of a batch."""

    home: Ints  # the region of each token, -1 for none. Shape (all tokens,).
    crossing: NDArray[np.bool_]  # whether each token crosses a region border. Shape (all tokens,).


def align(sentence: Sentence, answer: Surprisals, rule: Rule = "strict") -> NDArray[np.int32]:
    """Return the index in `sentence.regions` of each token's region, -1 for none. Shape (tokens,).

    Raises:
        AlignmentError: under `strict`, a token crosses a region border.

    >>> from syntagm.suites import Region
    >>> sentence = Sentence("the dogs bark", (Region("subject", 0, 8), Region("verb", 9, 13)))
    >>> answer = Surprisals(sentence.text, np.array([0, 3, 8]), np.ones(3), np.ones(3, bool))
    >>> align(sentence, answer).tolist()
    [0, 0, 1]
    """
    low = np.array([region.start for region in sentence.regions], np.int64)
    high = np.array([region.end for region in sentence.regions], np.int64)
    counts = np.array([len(low)]), np.array([len(answer.starts)])
    alignment = align_all(Batch([sentence.text], counts[0], low, high, counts[1], answer.starts.astype(np.int64)))
    if rule == "strict" and alignment.crossing.any():
        raise _crossing(sentence, answer.starts, int(np.argmax(alignment.crossing)))
    return alignment.home.astype(np.int32)


def align_all(batch: Batch) -> Alignment:
    """Find the regions of all tokens of a batch."""
    # The characters of all texts are in one array, where each text is followed by a position for its end. Regions and
    # tokens are spans of this array.
    begins = np.cumsum([0, *(len(text) + 1 for text in batch.texts)])
    ends = begins[1:] - 1
    shown, first = _visible(batch.texts, begins, ends)
    sizes = batch.high - batch.low
    owner = np.full(begins[-1], -1, np.int64)
    owner[_within(batch.low + begins[:-1].repeat(batch.regions), sizes)] = np.arange(len(sizes)).repeat(sizes)
    starts = batch.starts + begins[:-1].repeat(batch.tokens)
    # Characters of the same token get the same number. Tokens with the same start share the characters up to the next.
    token_numbers = np.zeros(begins[-1], np.int64)
    token_numbers[starts] = 1
    token_numbers[ends] = 1
    token_numbers[begins[:-1]] = 1
    token_numbers = token_numbers.cumsum()
    visible_owners, visible_tokens = owner[shown], token_numbers[shown]
    over = (visible_owners[1:] != visible_owners[:-1]) & (visible_tokens[1:] == visible_tokens[:-1])
    crossing = np.zeros(len(starts), bool)
    if over.any():
        crossing = np.isin(token_numbers[starts], visible_tokens[1:][over])
    return Alignment(owner[first[starts]], crossing)


def _visible(texts: Sequence[str], begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the visible characters and, for each character, the visible character that locates a token starting there."""
    # The position for the end of a text counts as visible. Shapes (visible characters,), (characters,).
    codes = np.frombuffer("\0".join([*texts, ""]).encode("utf-32-le", "surrogatepass"), np.uint32)
    visible = ~_WHITE_SPACE[np.minimum(codes, len(_WHITE_SPACE) - 1)]
    visible[ends] = True
    shown = visible.nonzero()[0]
    before = np.empty_like(shown)
    before[0], before[1:] = -1, shown[:-1]
    first = shown.repeat(shown - before)
    # White space at the end of a text belongs with the last visible character, if there is one.
    for number in (~visible[ends - 1]).nonzero()[0]:
        end = ends[number]
        last = before[shown.searchsorted(end)]
        if last >= begins[number]:
            first[last + 1 : end] = last
    return shown, first


def _within(low: Ints, sizes: Ints) -> Ints:
    """Return all positions in the spans, span by span."""
    places: Ints = (low - sizes.cumsum() + sizes).repeat(sizes) + np.arange(sizes.sum())
    return places


def _crossing(sentence: Sentence, starts: NDArray[np.int32], token: int) -> AlignmentError:
    """Return the exception for a token that crosses a region border."""
    text, start = sentence.text, int(starts[token])
    end = int(min((index for index in starts if index > start), default=len(text)))
    owners = {
        index: number for number, region in enumerate(sentence.regions) for index in range(region.start, region.end)
    }
    visible = [index for index in range(start, end) if not text[index].isspace()]
    border = next(index for index in visible if owners.get(index, -1) != owners.get(visible[0], -1))
    return AlignmentError(
        f"sentence {text!r}",
        f"token {text[start:end].strip()!r} crosses the region border at character {border}",
        "each token inside one region",
        "Move the border, or choose align=start to give the token to the region where it begins.",
    )
