"""Values of regions in bits, computed for all sentences of a suite at once."""

import numpy as np
import polars as pl

from syntagm.tasks.align import Batch
from syntagm.tasks.reading import Reading

SCHEMA = {
    "item": pl.String, "condition": pl.String, "region": pl.String, "place": pl.Int64, "content": pl.String,
    "empty": pl.Boolean, "bits": pl.Float64,
}  # fmt: skip
_WHITE_SPACE = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


def regions(sentences: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return the value of each region of each sentence: one row per region, with the columns of `SCHEMA`.

    `place` is the index of the region in its sentence, from 0. `empty` is true if a region is empty or contains only
    white space. Bits are nan where a token crosses a region border.

    Arguments:
        sentences: one row per sentence, with the columns of `tasks.items.SENTENCES`.
    """
    table = sentences.filter(pl.col("region_names").list.len() > 0)
    if not len(table):
        return pl.DataFrame(schema=SCHEMA)
    count = table["region_names"].list.len().to_numpy().astype(np.int64)
    sentence = np.arange(len(table)).repeat(count)
    low, high = (table[f"region_{end}s"].explode().to_numpy().astype(np.int64) for end in ("start", "end"))
    tokens = table["starts"].list.len().to_numpy().astype(np.int64)
    starts = table["starts"].explode().drop_nulls().to_numpy().astype(np.int64)
    batch = Batch(table["text"].to_list(), count, low, high, tokens, starts)
    columns = {
        "item": table["item"].gather(sentence),
        "condition": table["condition"].gather(sentence),
        "region": table["region_names"].explode(),
        "place": np.arange(len(sentence)) - (count.cumsum() - count).repeat(count),
        "content": table["text"].gather(sentence),
        "bits": reading.all_regions(batch, table["bits"].explode().drop_nulls().to_numpy()),
    }
    content = pl.col("content").str.slice(pl.Series(low), pl.Series(high - low))
    rows = pl.DataFrame(columns).with_columns(content)
    empty = pl.col("content").str.strip_chars(_WHITE_SPACE) == ""
    return rows.with_columns(empty.alias("empty")).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
