"""Values of regions in bits, computed for all sentences of a suite at once."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.evaluation.align import Batch
from syntagm.evaluation.reading import Reading

SCHEMA = {
    "item": pl.String, "condition": pl.String, "region": pl.String, "place": pl.Int64, "content": pl.String,
    "empty": pl.Boolean, "bits": pl.Float64,
}  # fmt: skip
_WHITE_SPACE = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


def regions(sentences: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return the value of each region of each sentence: one row per region, with the columns of `SCHEMA`."""
    # `place` is the index of the region in its sentence, from 0. `empty` is true if a region is empty or contains only
    # white space. Bits are nan where a token crosses a region border.
    table = sentences.filter(pl.col("region_names").list.len() > 0)
    if not len(table):
        return pl.DataFrame(schema=SCHEMA)
    batch, bits = _batch(table)
    sentence = np.arange(len(table)).repeat(batch.regions)
    columns = {
        "item": table["item"].gather(sentence),
        "condition": table["condition"].gather(sentence),
        "region": table["region_names"].explode(),
        "place": np.arange(len(sentence)) - (batch.regions.cumsum() - batch.regions).repeat(batch.regions),
        "content": table["text"].gather(sentence),
        "bits": reading.all_regions(batch, bits),
    }
    content = pl.col("content").str.slice(pl.Series(batch.low), pl.Series(batch.high - batch.low))
    rows = pl.DataFrame(columns).with_columns(content)
    empty = pl.col("content").str.strip_chars(_WHITE_SPACE) == ""
    return rows.with_columns(empty.alias("empty")).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def whole_sentences(sentences: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return the value of each whole sentence, which is `*` in formulas. The columns are item, condition and bits."""
    batch, bits = _batch(sentences)
    return sentences.select("item", "condition", bits=pl.Series(reading.all_sentences(batch, bits)))


def _batch(sentences: pl.DataFrame) -> tuple[Batch, NDArray[np.float64]]:
    """Return sentences in flat arrays, with the bits of all their tokens."""
    regions, tokens = (sentences[name].list.len().to_numpy().astype(np.int64) for name in ("region_names", "starts"))
    low, high, starts = (
        sentences[name].explode().drop_nulls().to_numpy().astype(np.int64)
        for name in ("region_starts", "region_ends", "starts")
    )
    batch = Batch(sentences["text"].to_list(), regions, low, high, tokens, starts)
    return batch, sentences["bits"].explode().drop_nulls().to_numpy()
