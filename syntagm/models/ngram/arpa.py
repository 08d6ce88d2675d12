r"""Reading and writing of ARPA files, the text format for back-off models of KenLM, SRILM and others; `.gz` is gzipped.

    \data\         then a line for each order: ngram ORDER=NUMBER OF N-GRAMS
    \1-grams:      log10 p, tab, the words separated by spaces, and optionally tab, log10 of the back-off weight
    \end\
"""

import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, atomic, regular
from syntagm.models.ngram.ngrams import END, START, UNKNOWN, Ngrams

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The n-grams of one length, in file order."""

    words: NDArray[np.int32]  # shape (n-grams, order), int32: word ids, first to last
    logs: NDArray[np.float32]  # shape (n-grams,), float32: log10 p of the last word given the others
    weights: NDArray[np.float32]  # shape (n-grams,), float32: log10 of the back-off weight

    @staticmethod
    def joined(parts: Iterable["Listed"], order: int) -> "Listed":
        empty = Listed(np.zeros((0, order), np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))
        parts = [empty, *parts]
        return Listed(
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.logs for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


def assemble(place: str, words: Sequence[str], listed: Sequence[Listed]) -> Ngrams:
    # Suffixes of some n-grams may be missing, because SRILM prunes them. They are added with the probability that
    # backing off gives them. If the unknown word is missing, its probability is 0.
    words, listed = _renumbered(place, words, listed)
    return _sorted(place, words, listed) or _whole(place, words, _closed(listed))


def _renumbered(place: str, words: Sequence[str], listed: Sequence[Listed]) -> tuple[tuple[str, ...], list[Listed]]:
    """Renumber words and n-grams as in `Ngrams`: END, UNKNOWN, the other words in order, START."""
    numbers = {word: number for number, word in enumerate(words)}
    for symbol in (START, END):
        if symbol not in numbers:
            raise ModelError(place, f"no {symbol} among the 1-grams", "both the start and the end symbol")
    # Like KenLM, accept this spelling of the unknown word, too.
    unknown = numbers.get(UNKNOWN, numbers.get("<UNK>"))
    special = [numbers[END], len(words) if unknown is None else unknown, numbers[START]]
    others = [number for number in range(len(words)) if number not in special]
    old = np.array([*special[:2], *others, special[2]], np.int32)
    new = np.empty(len(words) + 1, np.int32)
    new[old] = np.arange(len(old), dtype=np.int32)
    if any((ngrams.words[:, 1:] == special[2]).any() for ngrams in listed):
        raise ModelError(place, f"{START} inside an n-gram", "only at its beginning")
    logs, weights = np.append(listed[0].logs, np.float32(-np.inf)), np.append(listed[0].weights, np.float32(0))
    unigrams = Listed(np.arange(len(old), dtype=np.int32)[:, None], logs[old], weights[old])
    longer = [Listed(new[ngrams.words], ngrams.logs, ngrams.weights) for ngrams in listed[1:]]
    return (END, UNKNOWN, *(words[number] for number in others), START), [unigrams, *longer]


def _whole(place: str, words: tuple[str, ...], listed: Sequence[Listed]) -> Ngrams:
    ngrams = _sorted(place, words, listed)
    assert ngrams is not None
    return ngrams


def _sorted(place: str, words: tuple[str, ...], listed: Sequence[Listed]) -> Ngrams | None:
    """Sort the n-grams; return None if a suffix of an n-gram is missing."""
    model = Ngrams(words, (), (), (listed[0].logs,), ())
    weights = listed[0].weights
    for ngrams in listed[1:]:
        suffixes = model.located(ngrams.words[:, 1:])
        if (suffixes < 0).any():
            return None
        keys = suffixes.astype(np.int64) * len(words) + ngrams.words[:, 0]
        rows = np.argsort(keys)
        if len(repeated := np.flatnonzero(np.diff(keys[rows]) == 0)):
            spelled = " ".join(words[word] for word in ngrams.words[rows[repeated[0]]])
            raise ModelError(place, f"the n-gram {spelled!r} twice", "each n-gram once")
        logs = _filled(model, weights, ngrams, suffixes)
        model = Ngrams(
            words, (*model.firsts, ngrams.words[rows, 0]), (*model.suffixes, suffixes[rows]),
            (*model.probabilities, logs[rows]), (*model.backoffs, weights),
        )  # fmt: skip
        weights = ngrams.weights[rows]
    return model


def _filled(
    model: Ngrams, weights: NDArray[np.float32], ngrams: Listed, suffixes: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Return the probabilities of n-grams. Those of added n-grams are computed by backing off with `weights`."""
    added = np.flatnonzero(np.isnan(ngrams.logs))
    logs = ngrams.logs.copy()
    contexts = model.located(ngrams.words[added, :-1])
    logs[added] = model.probabilities[-1][suffixes[added]] + np.where(contexts >= 0, weights[contexts], np.float32(0))
    return logs


def _closed(listed: Sequence[Listed]) -> list[Listed]:
    """Add to each order the missing suffixes of n-grams one order above, with the probability nan."""
    closed = list(listed)
    for index in reversed(range(1, len(closed) - 1)):
        ngrams = closed[index]
        suffixes = np.unique(closed[index + 1].words[:, 1:], axis=0)
        rows, first, counts = np.unique(
            np.concatenate([ngrams.words, suffixes]), axis=0, return_index=True, return_counts=True
        )
        added = rows[(first >= len(ngrams.words)) & (counts == 1)]
        empty = np.zeros(len(added), np.float32)
        closed[index] = Listed.joined([ngrams, Listed(added, empty + np.float32(np.nan), empty)], index + 1)
    return closed


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
