r"""Writing of ARPA files, the text format for back-off models that KenLM, SRILM and others use; gzipped if the name ends in .gz.

    \data\         then a line for each order: ngram ORDER=NUMBER OF N-GRAMS
    \1-grams:      log10 p, tab, the words separated by spaces, and optionally tab, log10 of the back-off weight
    \end\
"""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, atomic
from syntagm.models.ngram.ngrams import Ngrams

if TYPE_CHECKING:
    import polars as pl

_ROWS = 200_000


def write(ngrams: Ngrams, path: Path) -> None:
    """Write a model as an ARPA file. Like lmplz, use the shortest decimals that round to the same 32-bit floats."""
    if word := next((word for word in ngrams.words if word.split() != [word]), None):
        raise ModelError(
            str(path), f"the word {word!r}", "words without white space", "The ARPA format does not allow it."
        )
    atomic.write_parts(path, _gzipped(_parts(ngrams)) if path.suffix == ".gz" else _parts(ngrams))


def _gzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    compressor = zlib.compressobj(wbits=31)
    for part in parts:
        yield compressor.compress(part)
    yield compressor.flush()


def _parts(ngrams: Ngrams) -> Iterator[bytes]:
    import polars as pl

    words = pl.Series(ngrams.words)
    counts = (f"ngram {order}={len(values)}\n" for order, values in enumerate(ngrams.probabilities, 1))
    yield ("\\data\\\n" + "".join(counts)).encode()
    for order, probabilities in enumerate(ngrams.probabilities, 1):
        yield f"\n\\{order}-grams:\n".encode()
        for begin in range(0, len(probabilities), _ROWS):
            rows = slice(begin, begin + _ROWS)
            spelled = [words.gather(column) for column in ngrams.columns(order, rows)]
            fields = [_decimals(probabilities[rows]), pl.select(pl.concat_str(spelled, separator=" ")).to_series()]
            fields += [_decimals(weights[rows]) for weights in ngrams.backoffs[order - 1 : order]]
            lines = pl.select(pl.concat_str(fields, separator="\t")).to_series()
            yield ("\n".join(lines) + "\n").encode()
    yield b"\n\\end\\\n"


def _decimals(values: NDArray[np.float32]) -> "pl.Series":
    import polars as pl

    # -0 is written as 0.
    return pl.Series(values + np.float32(0)).cast(pl.String).str.strip_suffix(".0")
