"""What is shallow about minimal pairs: lengths, and how likely their good sentence is whatever the bad one."""

import polars as pl

from syntagm.stats import matching

_KEYS = ("item", "occurrence")
PROPERTIES = {
    "words": "words of the good sentence",
    "more_words": "words of the bad sentence less those of the good one",
    "bits_per_word": "surprisal of the good sentence, bits per word",
    "bits": "surprisal of the good sentence, bits",
    "confidence": "confidence: difference of surprisals, bits",
}
PAIRS = {
    "suite": pl.String, "item": pl.String, "occurrence": pl.Int64, "value": pl.Float64, "margin": pl.Float64,
    "words": pl.Int64, "more_words": pl.Int64, "bits_per_word": pl.Float64, "bits": pl.Float64, "confidence": pl.Float64,
}  # fmt: skip


def properties(sentences: pl.DataFrame, results: pl.DataFrame, scored_first: bool = True) -> pl.DataFrame:
    """A row an item, with columns as in `PAIRS`.

    Items are those of one suite that have both conditions `good` and `bad`. Words are what stands between blanks.

    Arguments:
        sentences: item, condition, text, bits (a list a sentence).
        results: of one measure of the same suite: suite, item, value, margin.
        scored_first: does the first token have a surprisal? If not, it counts 0.
    """
    bits = pl.col("bits") if scored_first else pl.col("bits").list.slice(1)
    measured = matching.numbered(sentences, "condition").select(
        "item",
        "condition",
        "occurrence",
        words=pl.col("text").str.count_matches(r"\S+").cast(pl.Int64),
        bits=bits.list.sum(),
    )
    good, bad = (measured.filter(pl.col("condition") == side).drop("condition") for side in ("good", "bad"))
    pairs = good.join(bad, on=_KEYS, suffix="_bad", maintain_order="left")
    judged = matching.numbered(results)
    joined = judged.join(pairs, on=_KEYS, how="left", maintain_order="left").with_columns(
        more_words=pl.col("words_bad") - pl.col("words"),
        bits_per_word=pl.col("bits") / pl.col("words"),
        confidence=(pl.col("bits_bad") - pl.col("bits")).abs(),
    )
    return joined.select(pl.col(name).cast(kind) for name, kind in PAIRS.items())
