"""The bits of every region of a suite at once: what `Run.regions` gives, for suites of thousands of sentences.

One array holds the characters of all sentences, a place for the end after each; regions and tokens are spans of it. The rules
are those of `syntagm.tasks.align`.
"""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.runs.store import Run

Ints = NDArray[np.int64]
SCHEMA = {
    "item": pl.String, "condition": pl.String, "region": pl.String, "place": pl.Int64, "empty": pl.Boolean, "bits": pl.Float64,
}  # fmt: skip
# Whether each character up to U+3000, and the one after it for all beyond, is white space; there is none beyond.
_BLANK = np.array([chr(code).isspace() for code in range(0x3002)], bool)


def regions(run: Run, suite: str, sentences: pl.DataFrame | None = None) -> pl.DataFrame:
    """A row a region of each sentence: item, condition, region, place in the sentence, empty, bits.

    Bits are the suite's aggregate over the region's tokens; nan where a token reaches over a border.

    Arguments:
        sentences: of the suite, if they are at hand.
    """
    table = run.sentences(suite) if sentences is None else sentences
    table = table.filter(pl.col("region_names").list.len() > 0)
    if run.suite(suite).aggregate != "sum":
        return _one_by_one(run, suite)
    if not len(table):
        return pl.DataFrame(schema=SCHEMA)
    count = table["region_names"].list.len().to_numpy().astype(np.int64)
    sentence = np.repeat(np.arange(len(table)), count)
    bits, empty = _summed(table, sentence, run.rule == "strict", run.record["model"]["start"] is not None)
    return pl.DataFrame(
        {
            "item": table["item"].gather(sentence),
            "condition": table["condition"].gather(sentence),
            "region": table["region_names"].explode(),
            "place": np.arange(len(sentence)) - np.repeat(np.cumsum(count) - count, count),
            "empty": empty,
            "bits": bits,
        },
        schema=SCHEMA,
    )


def _one_by_one(run: Run, suite: str) -> pl.DataFrame:
    table = run.regions(suite)
    place = pl.int_range(pl.len()).over("item", "condition").alias("place")
    empty = (pl.col("content").str.strip_chars() == "").alias("empty")
    return table.select("item", "condition", "region", place, empty, "bits")


def _summed(table: pl.DataFrame, sentence: Ints, strict: bool, first_scored: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """The summed bits of each region, and whether it holds nothing but white space."""
    visible, first, begins = _characters(table["text"].to_list())
    low, high = (table[f"region_{end}s"].explode().to_numpy() + begins[sentence] for end in ("start", "end"))
    owner = np.full(len(visible), -1, np.int64)
    owner[_within(low, high)] = np.repeat(np.arange(len(low)), np.maximum(high - low, 0))
    tokens = table["starts"].list.len().to_numpy().astype(np.int64)
    of_token = np.repeat(np.arange(len(table)), tokens)
    starts = table["starts"].explode().drop_nulls().to_numpy() + begins[of_token]
    home = owner[first[starts]]
    bits = table["bits"].explode().drop_nulls().to_numpy().copy()
    if not first_scored:
        firsts = (np.cumsum(tokens) - tokens)[tokens > 0]
        bits[firsts] = np.where(np.isnan(bits[firsts]), 0.0, bits[firsts])
    sums = np.bincount(home[home >= 0], bits[home >= 0], len(low)).astype(np.float64)
    if strict:
        crossing = _crossing(starts, of_token, begins, visible, owner)
        sums[np.isin(sentence, of_token[crossing])] = np.nan
    seen = np.append(0, np.cumsum(visible & (owner >= 0)))
    return sums, seen[high] == seen[low]


def _characters(texts: list[str]) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Which characters are visible, where the token that begins at each belongs, and where each text begins.

    After each text stands a place for its end, which counts as visible. Shapes (characters,), (characters,), (texts + 1,).
    """
    begins = np.append(0, np.cumsum([len(text) + 1 for text in texts]))
    codes = np.frombuffer("\0".join([*texts, ""]).encode("utf-32-le", "surrogatepass"), np.uint32)
    ends = begins[1:] - 1
    visible = ~_BLANK[np.minimum(codes, len(_BLANK) - 1)]
    visible[ends] = True
    places = np.arange(len(codes))
    first = np.minimum.accumulate(np.where(visible, places, len(codes))[::-1])[::-1].copy()
    # White space at the end of a text follows the last visible character, if there is one.
    is_end = np.zeros(len(codes), bool)
    is_end[ends] = True
    last = np.maximum.accumulate(np.where(visible & ~is_end, places, -1))
    trailing = is_end[first] & ~is_end
    begin = np.repeat(begins[:-1], np.diff(begins))
    first[trailing] = np.where(last >= begin, last, first)[trailing]
    return visible, first, begins


def _within(low: Ints, high: Ints) -> Ints:
    """All places in the spans, one span after the other."""
    sizes = np.maximum(high - low, 0)
    before = np.cumsum(sizes) - sizes
    places: Ints = np.repeat(low - before, sizes) + np.arange(int(sizes.sum()))
    return places


def _crossing(starts: Ints, of_token: Ints, begins: Ints, visible: NDArray[np.bool_], owner: Ints) -> NDArray[np.bool_]:
    """Which tokens have visible characters of two owners."""
    later = np.searchsorted(starts, starts, side="right")
    ends = begins[of_token + 1] - 1
    following = np.append(starts, len(visible))[later]
    ends = np.minimum(ends, following)
    shown = np.flatnonzero(visible)
    changes = np.append(0, np.cumsum(np.diff(owner[shown]) != 0))
    begin, stop = np.searchsorted(shown, starts), np.searchsorted(shown, ends)
    changed = changes[np.maximum(stop, 1) - 1] > changes[np.minimum(begin, len(shown) - 1)]
    crossing: NDArray[np.bool_] = (stop > begin) & changed
    return crossing
