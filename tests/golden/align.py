"""Find the lines that were put in, left out or changed between two texts, however long and repetitive they are."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

# Texts are aligned by runs of lines that each text has exactly once: long runs first, since short ones agree by chance.
_RUNS = (32, 8, 2, 1)
# A stretch without such runs that needs more edits than this counts as replaced.
_EDITS = 400


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch that differs: lines `first` to `last` of the old text stand where `new_first` to `new_last` do now.

    Numbers are from 0, without the last one.
    """

    first: int
    last: int
    new_first: int
    new_last: int

    @property
    def removed(self) -> int:
        """How many more lines the old text has here."""
        return max(0, self.last - self.first - (self.new_last - self.new_first))

    @property
    def added(self) -> int:
        """How many more lines the new text has here."""
        return max(0, self.new_last - self.new_first - (self.last - self.first))


def blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The stretches in which two texts differ, in order.

    >>> blocks("a b c d".split(), "a x b d".split())
    [Block(first=1, last=1, new_first=1, new_last=2), Block(first=2, last=3, new_first=3, new_last=3)]
    """
    numbers: dict[str, int] = {}
    a, b = ([numbers.setdefault(line, len(numbers)) for line in text] for text in (old, new))
    found = list(_blocks(a, b, Block(0, len(a), 0, len(b)), _RUNS))
    if len(a) == len(b):
        # Where most lines differ, runs that agree by chance move the others away from their places.
        places = [
            Block(at, at + 1, at, at + 1) for at, (one, other) in enumerate(zip(a, b, strict=True)) if one != other
        ]
        if len(places) < sum(max(block.last - block.first, block.new_last - block.new_first) for block in found):
            return places
    return found


def changed(old: Sequence[str], new: Sequence[str], block: Block) -> int:
    """How many lines of a block have another text at their place."""
    pairs = zip(old[block.first : block.last], new[block.new_first : block.new_last], strict=False)
    return sum(one != other for one, other in pairs)


def _blocks(a: list[int], b: list[int], block: Block, runs: Sequence[int]) -> Iterator[Block]:
    i, i_end, j, j_end = block.first, block.last, block.new_first, block.new_last
    while i < i_end and j < j_end and a[i] == b[j]:
        i, j = i + 1, j + 1
    while i < i_end and j < j_end and a[i_end - 1] == b[j_end - 1]:
        i_end, j_end = i_end - 1, j_end - 1
    if i == i_end or j == j_end:
        if i < i_end or j < j_end:
            yield Block(i, i_end, j, j_end)
        return
    inner = Block(i, i_end, j, j_end)
    kept = _anchors(a, b, inner, runs[0]) if runs else _shortest(a, b, inner)
    for (p, q), (p_end, q_end) in pairwise([(i - 1, j - 1), *kept, (i_end, j_end)]):
        if runs and (p + 1 < p_end or q + 1 < q_end):
            yield from _blocks(a, b, Block(p + 1, p_end, q + 1, q_end), runs[1:])
        elif p + 1 < p_end or q + 1 < q_end:
            yield Block(p + 1, p_end, q + 1, q_end)


def _anchors(a: list[int], b: list[int], block: Block, size: int) -> list[tuple[int, int]]:
    """The lines with which the longest ascending series of common runs begins, in both texts."""
    theirs = _unique(b, block.new_first, block.new_last, size)
    ours = _unique(a, block.first, block.last, size)
    pairs = [(i, theirs[run]) for run, i in ours.items() if i >= 0 and theirs.get(run, -1) >= 0]
    # Patience: the last line of the best series of each length, and before each pair the one that it continues.
    ends: list[int] = []
    at_end: list[int] = []
    before: list[int] = []
    for at, (_, j) in enumerate(pairs):
        place = bisect_left(ends, j)
        before.append(at_end[place - 1] if place else -1)
        ends[place : place + 1], at_end[place : place + 1] = [j], [at]
    found = []
    at = at_end[-1] if at_end else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _unique(lines: list[int], first: int, last: int, size: int) -> dict[tuple[int, ...], int]:
    """Where each run of so many lines begins; -1 if there are several."""
    found: dict[tuple[int, ...], int] = {}
    for at in range(first, last - size + 1):
        run = tuple(lines[at : at + size])
        found[run] = -1 if run in found else at
    return found


def _shortest(a: list[int], b: list[int], block: Block) -> list[tuple[int, int]]:
    """The lines that stay under the fewest edits, in both texts; none if these are too many.

    Myers (1986), An O(ND) difference algorithm and its variations.
    """
    width, height = block.last - block.first, block.new_last - block.new_first
    ends, trail = {1: 0}, list[dict[int, int]]()
    for edits in range(_EDITS + 1):
        trail.append(dict(ends))
        for diagonal in range(-edits, edits + 1, 2):
            before = _before(ends, diagonal, edits)
            x = ends[before] + (before < diagonal)
            y = x - diagonal
            while x < width and y < height and a[block.first + x] == b[block.new_first + y]:
                x, y = x + 1, y + 1
            ends[diagonal] = x
            if x >= width and y >= height:
                return [(block.first + i, block.new_first + j) for i, j in _stayed(trail, x, y)]
    return []


def _before(ends: dict[int, int], diagonal: int, edits: int) -> int:
    """The diagonal from which the path to this one, of so many edits, comes."""
    down = diagonal == -edits or (diagonal != edits and ends[diagonal - 1] < ends[diagonal + 1])
    return diagonal + 1 if down else diagonal - 1


def _stayed(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    found = []
    for edits in range(len(trail) - 1, -1, -1):
        before = _before(trail[edits], x - y, edits)
        from_x = trail[edits][before]
        from_y = from_x - before
        while x > from_x and y > from_y:
            x, y = x - 1, y - 1
            found.append((x, y))
        x, y = from_x, from_y
    return found[::-1]
