"""Export as CSV with one row per word: model,suite,item,condition,region,index,word,bits,known.

Words are separated by white space; their bits are the sum over their tokens, and nan if a token belongs to several words. The
region is that of a word's first character. `syntagm reading effects` reads the file.
"""

from collections.abc import Iterator
from math import nan
from typing import Any

import numpy as np

from syntagm.models import between_blanks
from syntagm.runs import Run
from syntagm.views.export import Csv, Row

COLUMNS = ("model", "suite", "item", "condition", "region", "index", "word", "bits", "known")


def _rows(run: Run) -> Iterator[Row]:
    if "parquet" not in run.tables:
        run.refuse("words")
    for suite in run.suites:
        for sentence in run.scored(suite.name).iter_rows(named=True):
            for row in _words(sentence):
                yield (run.model, suite.name, sentence["item"], sentence["condition"], *row)


def _words(sentence: dict[str, Any]) -> Iterator[Row]:
    """Yield region, index, word, bits and known of each word of a sentence, and of a scored end-of-text symbol."""
    text, starts = sentence["text"], np.array(sentence["starts"], np.int32)
    bits, known = np.array(sentence["bits"], np.float64), np.array(sentence["known"], np.bool_)
    home, ends = between_blanks(text, starts)
    words = text.split()
    begins = ends - np.array([len(word) for word in words], np.intp)
    # The end of a token without the white space after it, which is that of the next token.
    last = np.append(starts[1:], len(text))[: len(starts)]
    pairs = zip(starts.tolist(), last.tolist(), strict=True)
    visible = np.array([low + len(text[low:high].rstrip()) for low, high in pairs], np.intp)
    crossing = np.flatnonzero((home < len(words)) & (visible > np.append(ends, len(text))[home]))
    shared = np.zeros(len(words), np.bool_)
    for token in crossing:
        shared |= (begins < visible[token]) & (ends > starts[token])
    lows, highs = sentence["region_starts"], sentence["region_ends"]
    for index, (word, begin) in enumerate(zip(words, begins.tolist(), strict=True)):
        own = home == index
        value = float(bits[own].sum()) if own.any() and not shared[index] else nan
        region = next(
            (
                name
                for name, low, high in zip(sentence["region_names"], lows, highs, strict=True)
                if low <= begin < high
            ),
            "",
        )
        yield region, index, word, value, bool(known[own].all()) if own.any() else False
    if len(text) and (end := starts >= len(text)).any():
        yield "", len(words), "", float(bits[end].sum()), bool(known[end].all())


EXPORT = Csv(COLUMNS, _rows)
