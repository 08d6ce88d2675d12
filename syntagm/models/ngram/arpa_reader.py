"""Read ARPA files strictly: whatever is not as it should be is refused with its line."""

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

from syntagm.errors import ModelError
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
    """Read an ARPA file, gzipped or not.

    Raises:
        ModelError: it can't be read, or is not a whole ARPA file; the message names the line.
    """
    reader = _Reader(path)
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == _GZIP
            file.seek(0)
            reader.file = gzip.GzipFile(fileobj=file) if packed else file
            words, listed = reader.everything()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise reader.refusal(f"damaged gzip data ({error})", "a whole file", "Copy or download it again.") from None
    except OSError as error:
        raise ModelError(f"ngram:{path}", f"can't be read ({error.strerror or error})", "an ARPA file") from None
    return assemble(f"ngram:{path}", words, listed)


class _Reader:
    """Reads lines and knows which it is at."""

    def __init__(self, path: Path) -> None:
        self.path, self.line = path, 0
        self.file: IO[bytes] | gzip.GzipFile = io.BytesIO()

    def refusal(self, found: str, expected: str, cure: str = "", line: int = 0) -> ModelError:
        return ModelError(f"ngram:{self.path}, line {line or self.line}", found, expected, cure)

    def everything(self) -> tuple[list[str], list[Listed]]:
        """The words and the n-grams of each order, in the order of the file."""
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
            raise self.refusal(_shown(line), expected, "Do the counts at the top say how many n-grams there are?")

    def _counts(self) -> tuple[list[int], bytes]:
        """How many n-grams of each order there are, and the line after that."""
        line = self._next()
        while line.startswith(b"#"):
            # Other programs write remarks here, and only here.
            line = self._next()
        if line != b"\\data\\":
            raise self.refusal(_shown(line), "\\data\\, at most with lines that begin with # before it")
        counts: list[int] = []
        while found := _COUNT.fullmatch(line := self._next()):
            if int(found[1]) != len(counts) + 1:
                raise self.refusal(_shown(line), f"ngram {len(counts) + 1}=")
            counts.append(int(found[2]))
        if not counts:
            raise self.refusal(_shown(line), "ngram 1=")
        return counts, line

    def _next(self) -> bytes:
        """The next line that is not blank, without white space around it."""
        for line in self._lines():
            if stripped := line.strip():
                return stripped
        raise self.refusal("the end of the file", "\\end\\", "The file is cut short.")

    def _lines(self) -> Iterator[bytes]:
        while line := self.file.readline(_LONGEST + 1):
            self.line += 1
            if len(line) > _LONGEST:
                raise self.refusal(f"a line of more than {_LONGEST:,} bytes", "one n-gram a line")
            yield line

    def _section(self, order: int, count: int, words: list[str], highest: bool) -> Iterator[Listed]:
        """The n-grams of one order, part by part. Unigrams are appended to `words`."""
        import polars as pl

        known = pl.Enum(words) if order > 1 else None
        for done in range(0, count, _ROWS):
            first, wanted = self.line + 1, min(_ROWS, count - done)
            lines = list(islice(self._lines(), wanted))
            table = self._table(lines, first, order)
            if highest and len(odd := np.flatnonzero(table["weight"].to_numpy())):
                found = _shown(lines[odd[0]].rstrip())
                raise self.refusal(found, "no back-off weight at the highest order", line=first + int(odd[0]))
            if len(lines) < wanted:
                raise self.refusal("the end of the file", f"{count:,} n-grams of order {order}", "It is cut short.")
            if known is None:
                columns = self._unigrams(table["words"], words)
            else:
                columns = self._numbers(table["words"], known, order, first)
            yield Listed(columns, table["log"].to_numpy(), table["weight"].to_numpy())
        if len(set(words)) < len(words):
            [(word, _)] = Counter(words).most_common(1)
            raise self.refusal(f"the word {word!r} twice before here", "each word once among the 1-grams")

    def _table(self, lines: list[bytes], first: int, order: int) -> "pl.DataFrame":
        """Columns log, words, weight, of so many lines."""
        import polars as pl

        text = pl.Series("line", self._text(lines, first))
        fields = text.str.strip_chars_end("\r\n").str.splitn("\t", 4).struct.unnest()
        table = fields.select(
            pl.col("field_0").cast(pl.Float32, strict=False).alias("log"),
            pl.col("field_1").alias("words"),
            pl.col("field_2").fill_null("0").cast(pl.Float32, strict=False).alias("weight"),
            pl.col("field_3").is_null().alias("three"),
        )
        # -inf is a weight, too: a discount of 0 leaves nothing to the lower order, and lmplz writes it so.
        weighed = (pl.col("weight") < np.inf) & pl.col("weight").is_not_nan()
        good = (pl.col("log") <= 0) & pl.col("log").is_not_nan() & weighed & pl.col("three")
        wrong = table.select((good & pl.col("words").is_not_null()).fill_null(False).not_()).to_series().arg_true()
        if len(wrong):
            self._refuse(lines, wrong[0], first, order)
        return table

    def _refuse(self, lines: list[bytes], index: int, first: int, order: int) -> None:
        expected = f"log10 p (0 or less), tab, {order} word{'s' * (order > 1)}, and perhaps tab and a back-off weight"
        raise self.refusal(_shown(lines[index].rstrip(b"\r\n")), expected, line=first + index)

    def _text(self, lines: list[bytes], first: int) -> list[str]:
        try:
            return [line.decode() for line in lines]
        except UnicodeDecodeError as error:
            found = next(index for index, line in enumerate(lines) if line == error.object)
            raise self.refusal("bytes that are not UTF-8", "UTF-8", line=first + found) from None

    def _unigrams(self, found: "pl.Series", words: list[str]) -> Numbers:
        """Number the words, in the order of the file."""
        if len(odd := found.str.contains(r"^$|[ \r]").arg_true()):
            line = self.line - len(found) + 1 + odd[0]
            raise self.refusal(repr(found[odd[0]]), "one word, without blanks", line=line)
        words.extend(found)
        return np.arange(len(words) - len(found), len(words), dtype=np.int32)[:, None]

    def _numbers(self, found: "pl.Series", known: "pl.Enum", order: int, first: int) -> Numbers:
        """The numbers of the words of n-grams."""
        import polars as pl

        fields = found.str.splitn(" ", order + 1).struct.unnest()
        if len(odd := fields[f"field_{order}"].is_not_null().arg_true()):
            raise self.refusal(repr(found[odd[0]]), f"{order} words, with single blanks between", line=first + odd[0])
        spelled = [pl.col(f"field_{index}") for index in range(order)]
        numbers = fields.select(word.cast(known, strict=False).to_physical().cast(pl.Int32) for word in spelled)
        wrong = numbers.select(pl.any_horizontal(pl.all().is_null())).to_series().arg_true()
        if len(wrong):
            expected = f"{order} words, each among the 1-grams, with single blanks between"
            raise self.refusal(repr(found[wrong[0]]), expected, line=first + wrong[0])
        return numbers.to_numpy()


def _shown(line: bytes) -> str:
    return repr(line[:80].decode(errors="replace"))
