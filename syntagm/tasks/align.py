"""Which token belongs to which region: one rule, one function, for one sentence or for thousands.

A token belongs to the region that holds its first character that is not white space. It may not reach beyond that
region: its bits would be another region's as well. `strict` refuses such a token and names it; `start` leaves it where it
begins, as SyntaxGym's offset alignment does.

Deliberate differences from SyntaxGym 0.8a1 (docs/reference/differences.md gives the reasons):

1.  A token over a border is refused unless `start` is chosen.
2.  An end symbol belongs to no region, so it never adds to the last one; it counts in the whole sentence.
3.  A blank first region moves nothing; there it shifts every later border by one character.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Surprisals
from syntagm.errors import AlignmentError
from syntagm.suite import Sentence

Rule = Literal["strict", "start"]
RULES: tuple[Rule, ...] = get_args(Rule)
Ints = NDArray[np.int64]
# Whether each character up to U+3000, and the one after it for all beyond, is white space; there is none beyond.
_BLANK = np.array([chr(code).isspace() for code in range(0x3002)], bool)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Sentences in flat arrays, one after the other: their regions and the tokens of their answers.

    Arguments:
        regions, tokens: how many each text has. Shapes (texts,).
        low, high: where each region begins and ends in its text. Shapes (all regions,).
        starts: where each token begins in its text. Shape (all tokens,).
    """

    texts: Sequence[str]
    regions: Ints
    low: Ints
    high: Ints
    tokens: Ints
    starts: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The regions of tokens, counted through all sentences.

    Arguments:
        home: the region of each token, -1 for none. Shape (all tokens,).
        crossing: which tokens reach over a border. Shape (all tokens,).
    """

    home: Ints
    crossing: NDArray[np.bool_]


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
    low = np.array([region.start for region in sentence.regions], np.int64)
    high = np.array([region.end for region in sentence.regions], np.int64)
    counts = np.array([len(low)]), np.array([len(answer.starts)])
    found = align_all(Batch([sentence.text], counts[0], low, high, counts[1], answer.starts.astype(np.int64)))
    if rule == "strict" and found.crossing.any():
        raise _crossing(sentence, answer.starts, int(np.argmax(found.crossing)))
    return found.home.astype(np.int32)


def align_all(batch: Batch) -> Alignment:
    """Find the regions of all tokens of a batch.

    One array holds the characters of all texts, with a place for the end after each; regions and tokens are spans of it.
    """
    begins = np.cumsum([0, *(len(text) + 1 for text in batch.texts)])
    ends = begins[1:] - 1
    shown, first = _visible(batch.texts, begins, ends)
    sizes = batch.high - batch.low
    owner = np.full(begins[-1], -1, np.int64)
    owner[_within(batch.low + begins[:-1].repeat(batch.regions), sizes)] = np.arange(len(sizes)).repeat(sizes)
    starts = batch.starts + begins[:-1].repeat(batch.tokens)
    # Characters with one number belong together: tokens that share a start share the characters up to the next start.
    together = np.zeros(begins[-1], np.int64)
    together[starts] = 1
    together[ends] = 1
    together[begins[:-1]] = 1
    together = together.cumsum()
    owners, tokens = owner[shown], together[shown]
    over = (owners[1:] != owners[:-1]) & (tokens[1:] == tokens[:-1])
    crossing = np.zeros(len(starts), bool)
    if over.any():
        crossing = np.isin(together[starts], tokens[1:][over])
    return Alignment(owner[first[starts]], crossing)


def _visible(texts: Sequence[str], begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Which characters are visible, and where a token that begins at each character belongs.

    The place for the end of a text counts as visible. Shapes (visible characters,), (characters,).
    """
    codes = np.frombuffer("\0".join([*texts, ""]).encode("utf-32-le", "surrogatepass"), np.uint32)
    visible = ~_BLANK[np.minimum(codes, len(_BLANK) - 1)]
    visible[ends] = True
    shown = visible.nonzero()[0]
    before = np.empty_like(shown)
    before[0], before[1:] = -1, shown[:-1]
    first = shown.repeat(shown - before)
    # White space at the end of a text follows the last visible character, if there is one.
    for number in (~visible[ends - 1]).nonzero()[0]:
        end = ends[number]
        last = before[shown.searchsorted(end)]
        if last >= begins[number]:
            first[last + 1 : end] = last
    return shown, first


def _within(low: Ints, sizes: Ints) -> Ints:
    """All places in the spans, one span after the other."""
    places: Ints = (low - sizes.cumsum() + sizes).repeat(sizes) + np.arange(sizes.sum())
    return places


def _crossing(sentence: Sentence, starts: NDArray[np.int32], token: int) -> AlignmentError:
    """The refusal of a token that reaches over a border."""
    text, start = sentence.text, int(starts[token])
    end = int(min((at for at in starts if at > start), default=len(text)))
    owners = {at: index for index, region in enumerate(sentence.regions) for at in range(region.start, region.end)}
    visible = [at for at in range(start, end) if not text[at].isspace()]
    border = next(at for at in visible if owners.get(at, -1) != owners.get(visible[0], -1))
    return AlignmentError(
        f"sentence {text!r}",
        f"token {text[start:end].strip()!r} reaches over the region border at character {border}",
        "each token inside one region",
        "Move the border, or choose align=start to give the token to the region where it begins.",
    )
