"""Strict reading of ARPA files: an invalid line is refused, and the error gives its number."""

import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, regular
from syntagm.models.ngram.assembly import Listed, assemble
from syntagm.models.ngram.ngrams import Ngrams

if TYPE_CHECKING:
    import polars as pl

Numbers: TypeAlias = NDArray[np.int32]
_ROWS = 200_000
_LONGEST = 65_536
# IRSTLM writes both numbers in columns: "ngram  1=         5".
_COUNT = re.compile(rb"ngram\s+(\d{1,3})\s*=\s*(\d{1,12})")
_GZIP = b"\x1f\x8b"


def read(path: Path) -> Ngrams:
    """Read an ARPA file, gzipped or not."""
    reader = _Reader(path)
    try:
        with regular.opened(path) as file:
            gzipped = file.read(2) == _GZIP
            file.seek(0)
            reader.file = gzip.GzipFile(fileobj=file) if gzipped else file
            words, listed = reader.whole_file()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise reader.refusal(f"damaged gzip data ({error})", "a whole file", "Copy or download it again.") from None
    except OSError as error:
        raise ModelError(f"ngram:{path}", f"can't be read ({error.strerror or error})", "an ARPA file") from None
    return assemble(f"ngram:{path}", words, listed)


class _Reader:
    """A line reader that counts lines."""

    def __init__(self, path: Path) -> None:
        self.path, self.line = path, 0
        self.file: IO[bytes] | gzip.GzipFile = io.BytesIO()

    def refusal(self, found: str, expected: str, cure: str = "", line: int = 0) -> ModelError:
        return ModelError(f"ngram:{self.path}, line {line or self.line}", found, expected, cure)

    def whole_file(self) -> tuple[list[str], list[Listed]]:
        """Read the words and the n-grams of each order, in the order of the file."""
        counts, heading = self._counts()
        words: list[str] = []
        listed: list[Listed] = []
        for order, count in enumerate(counts, 1):
            self._expect(heading, f"\\{order}-grams:")
            listed.append(Listed.joined(self._section(order, count, words, order == len(counts)), order))
            heading = self._next()
        self._expect(heading, "\\end\\")
        if more := next((line for line in self._lines() if line.strip()), None):
            raise self.refusal(_shown(more.strip()), "nothing after \\end\\")
        return words, listed

    def _expect(self, line: bytes, expected: str) -> None:
        if line != expected.encode():
            raise self.refusal(_shown(line), expected, "Check the counts at the top of the file.")

    def _counts(self) -> tuple[list[int], bytes]:
        """Read the number of n-grams of each order; return the numbers and the line after them."""
        line = self._next()
        while line.startswith(b"#"):
            # Some programs write comments here, and only here.
            line = self._next()
        if line != b"\\data\\":
            raise self.refusal(_shown(line), "\\data\\, preceded only by lines that begin with #")
        counts: list[int] = []
        while match := _COUNT.fullmatch(line := self._next()):
            if int(match[1]) != len(counts) + 1:
                raise self.refusal(_shown(line), f"ngram {len(counts) + 1}=")
            counts.append(int(match[2]))
        if not counts:
            raise self.refusal(_shown(line), "ngram 1=")
        return counts, line

    def _next(self) -> bytes:
        """Read the next line that is not empty; return it without surrounding white space."""
        for line in self._lines():
            if stripped := line.strip():
                return stripped
        raise self.refusal("the end of the file", "\\end\\", "The file is truncated.")

    def _lines(self) -> Iterator[bytes]:
        while line := self.file.readline(_LONGEST + 1):
            self.line += 1
            if len(line) > _LONGEST:
                raise self.refusal(f"a line of more than {_LONGEST:,} bytes", "one n-gram per line")
            yield line

    def _section(self, order: int, count: int, words: list[str], highest: bool) -> Iterator[Listed]:
        """Read the n-grams of one order in parts. Unigrams are appended to `words`."""
        import polars as pl

        vocabulary = pl.Enum(words) if order > 1 else None
        for done in range(0, count, _ROWS):
            first, size = self.line + 1, min(_ROWS, count - done)
            lines = list(islice(self._lines(), size))
            table = self._table(lines, first, order)
            if highest and len(weighted := np.flatnonzero(table["weight"].to_numpy())):
                shown = _shown(lines[weighted[0]].rstrip())
                raise self.refusal(shown, "no back-off weight at the highest order", line=first + int(weighted[0]))
            if len(lines) < size:
                raise self.refusal(
                    "the end of the file", f"{count:,} n-grams of order {order}", "The file is truncated."
                )
            if vocabulary is None:
                columns = self._unigrams(table["words"], words)
            else:
                columns = self._numbers(table["words"], vocabulary, order, first)
            yield Listed(columns, table["log"].to_numpy(), table["weight"].to_numpy())
        if len(set(words)) < len(words):
            [(word, _)] = Counter(words).most_common(1)
            raise self.refusal(f"the word {word!r} twice before this line", "each word once among the 1-grams")

    def _table(self, lines: list[bytes], first: int, order: int) -> "pl.DataFrame":
        """Parse lines into a table with the columns log, words, weight."""
        import polars as pl

        text = pl.Series("line", self._text(lines, first), pl.String)
        fields = text.str.strip_chars_end("\r\n").str.splitn("\t", 4).struct.unnest()
        table = fields.select(
            pl.col("field_0").cast(pl.Float32, strict=False).alias("log"),
            pl.col("field_1").alias("words"),
            pl.col("field_2").fill_null("0").cast(pl.Float32, strict=False).alias("weight"),
            pl.col("field_3").is_null().alias("three"),
        )
        # -inf is a valid weight: lmplz writes it if a discount of 0 leaves no probability mass to the lower order.
        valid_weight = (pl.col("weight") < np.inf) & pl.col("weight").is_not_nan()
        valid = (pl.col("log") <= 0) & pl.col("log").is_not_nan() & valid_weight & pl.col("three")
        invalid = table.select((valid & pl.col("words").is_not_null()).fill_null(False).not_()).to_series().arg_true()
        if len(invalid):
            self._refuse(lines, invalid[0], first, order)
        return table

    def _refuse(self, lines: list[bytes], index: int, first: int, order: int) -> None:
        expected = (
            f"log10 p (0 or less), tab, {order} word{'s' * (order > 1)}, and optionally tab and a back-off weight"
        )
        raise self.refusal(_shown(lines[index].rstrip(b"\r\n")), expected, line=first + index)

    def _text(self, lines: list[bytes], first: int) -> list[str]:
        try:
            return [line.decode() for line in lines]
        except UnicodeDecodeError as error:
            invalid = next(index for index, line in enumerate(lines) if line == error.object)
            raise self.refusal("bytes that are not UTF-8", "UTF-8", line=first + invalid) from None

    def _unigrams(self, column: "pl.Series", words: list[str]) -> Numbers:
        """Append the words to `words`; return their ids, in the order of the file."""
        if len(invalid := column.str.contains(r"^$|[ \r]").arg_true()):
            line = self.line - len(column) + 1 + invalid[0]
            raise self.refusal(repr(column[invalid[0]]), "one word, without spaces", line=line)
        words.extend(column)
        return np.arange(len(words) - len(column), len(words), dtype=np.int32)[:, None]

    def _numbers(self, column: "pl.Series", vocabulary: "pl.Enum", order: int, first: int) -> Numbers:
        """Return the ids of the words of n-grams."""
        import polars as pl

        fields = column.str.splitn(" ", order + 1).struct.unnest()
        if len(too_long := fields[f"field_{order}"].is_not_null().arg_true()):
            raise self.refusal(
                repr(column[too_long[0]]), f"{order} words, separated by single spaces", line=first + too_long[0]
            )
        spelled = [pl.col(f"field_{index}") for index in range(order)]
        numbers = fields.select(word.cast(vocabulary, strict=False).to_physical().cast(pl.Int32) for word in spelled)
        unknown = numbers.select(pl.any_horizontal(pl.all().is_null())).to_series().arg_true()
        if len(unknown):
            expected = f"{order} words, each among the 1-grams, separated by single spaces"
            raise self.refusal(repr(column[unknown[0]]), expected, line=first + unknown[0])
        return numbers.to_numpy()


def _shown(line: bytes) -> str:
    return repr(line[:80].decode(errors="replace"))
