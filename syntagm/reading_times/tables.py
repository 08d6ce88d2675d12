"""Strict reading of tables of reading times: CSV, TSV or Parquet, with roles for columns and numbers that are numbers.

Nothing is dropped. A cell that should be a number and isn't is refused with its line; an empty cell, `NA` and the like are
missing values, and are counted.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

from syntagm.core import InputError, UsageError, csv, did_you_mean, lines, utf8
from syntagm.reading_times import roles
from syntagm.reading_times.roles import Chosen
from syntagm.suites import unescaped

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", ".")
TRUE = ("true", "t", "1", "1.0", "yes", "c", "correct")
FALSE = ("false", "f", "0", "0.0", "no", "e", "error", "incorrect")
# Sentences without a question.
NO_ANSWER = "-"
MAX_PARQUET = 2**30
UNITS = ("ms", "s", "log-ms")
DECIMALS = {"point": ".", "comma": ","}
# The row of a table in its file, which messages and lists name.
LINE = "line"
# No time, surprisal, length or count is larger, and sums of its squares don't overflow.
LARGEST = 1e15
# Raw results that are no tables with a row for each word: how a file begins -> what it is, and the cure.
RAW = {
    r"#\s*\n|#\s*Results on ": (
        "raw results of Ibex or PCIbex", "Read them in R with read.pcibex, keep the rows of words, and write a CSV with a header."
    ),
    r"\d+,[^\n]*,(DashedSentence|PennController|Controller-\w+)\b": (
        "raw results of Ibex or PCIbex, without a header", "Put a line with the names of the columns above them."
    ),
    r"\s*\[?\s*\[?\s*\{\s*\"": ("JSON, as jsPsych saves it", "Save a CSV, with a row for each word."),
}  # fmt: skip
_ARRAYS = "Give each word a row: pandas.DataFrame.explode, tidyr::unnest."


@dataclass(frozen=True, slots=True)
class Source:
    """A table as it stands in its file."""

    path: Path  # the file
    frame: pl.DataFrame  # its columns, as text unless the file has types
    lines: pl.Series  # the line of each row in the file, from 1. Of Parquet, the row.
    digest: str  # the SHA-256 of the file
    decimal: str = "."  # the decimal mark

    @property
    def names(self) -> list[str]:
        return self.frame.columns

    def place(self, row: int) -> str:
        """Return the place of a row, from 0, for messages."""
        return f"{self.path}, line {self.lines[row]}"

    def place_of_line(self, line: int) -> str:
        return f"{self.path}, line {line}"

    def require(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.frame.columns:
                listed = ", ".join(self.names[:15]) + (" ..." if len(self.names) > 15 else "")
                raise InputError(
                    str(self.path), f"no column {name!r}", f"one of {listed}", did_you_mean(name, self.names)
                )

    def numbers(self, name: str) -> pl.Series:
        """Return a column as numbers; missing values are null."""
        self.require([name])
        column = self.frame[name]
        if column.dtype.is_numeric() or column.dtype == pl.Boolean:
            return column.cast(pl.Float64).fill_nan(None)
        if column.dtype != pl.String:
            raise InputError(f"{self.path}, column {name}", str(column.dtype), "numbers")
        text = column.str.strip_chars()
        plain = text.str.replace(",", ".", literal=True) if self.decimal == "," else text
        numbers = plain.cast(pl.Float64, strict=False)
        absent = text.is_null() | text.is_in(MISSING)
        wrong = numbers.is_null() & ~absent
        if self.decimal == ",":
            wrong = wrong | text.str.contains(".", literal=True) & ~absent
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            found = f"{column[row]!r} in column {name}"
            cure = f"{int(wrong.sum()):,} cells of the column are no numbers."
            if column[row].lstrip().startswith("["):
                cure = f"Are these arrays, as jsPsych writes them? {_ARRAYS}"
            elif self.decimal == "." and "," in column[row]:
                cure = "Are these decimal commas? Then give --decimal comma."
            raise InputError(self.place(row), found, "a number, or an empty cell or NA for a missing one", cure)
        return pl.Series(name, numbers).fill_nan(None)

    def truths(self, name: str) -> pl.Series:
        """Return a column as truth values: True, TRUE, true, 1, correct and their opposites; missing values are null."""
        column = self.frame[name]
        if column.dtype == pl.Boolean:
            return column
        text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
        absent = text.is_null() | text.is_in([NO_ANSWER, *(value.lower() for value in MISSING)])
        right, wrong = text.is_in(TRUE), text.is_in(FALSE)
        if (odd := ~(right | wrong | absent).fill_null(True)).any():
            row = int(odd.arg_max() or 0)
            raise InputError(self.place(row), f"{column[row]!r} in column {name}", "TRUE or FALSE, 1 or 0")
        return pl.select(pl.when(absent).then(None).otherwise(right)).to_series().alias(name)

    def texts(self, columns: Sequence[str], shown: bool = False) -> pl.Series:
        """Return one or more columns as text, joined by `/`; whole numbers have no decimals."""
        # Names have Unicode's form NFC, as `core.name_of` gives it: programs differ in how they write accents.
        parts = []
        for name in columns:
            column = self.frame[name]
            if column.dtype.is_float():
                whole = (column == column.round()).all()
                column = column.cast(pl.Int64) if whole else column
            text = column.cast(pl.String)
            if shown and text.str.contains("%", literal=True).any():
                text = text.map_elements(unescaped, pl.String)
            text = text if shown else text.str.strip_chars().str.normalize("NFC")
            present = text != "" if shown else ~text.is_in(MISSING)
            text = pl.select(pl.when(present).then(text)).to_series()
            parts.append(text)
        return pl.select(pl.concat_str(parts, separator="/")).to_series() if len(parts) > 1 else parts[0]


@dataclass(frozen=True, slots=True)
class Readings:
    """A table of reading times, or of surprisals of words, whose columns have the names of their roles."""

    frame: pl.DataFrame  # a column per role, the other columns unchanged, and `line`
    chosen: Chosen  # role -> the columns that it was made from
    source: Source  # the file
    notes: tuple[str, ...]  # sentences about what was read
    unit: str = "ms"  # the unit of times in the file

    def has(self, *names: str) -> bool:
        """Return whether the table has columns of all these roles."""
        return all(name in self.chosen for name in names)

    def require(self, *names: str) -> None:
        """Refuse a table without a column of one of these roles."""
        for name in names:
            if name not in self.chosen:
                meaning, listed = roles.BY_NAME[name].meaning, ", ".join(self.source.names[:15])
                raise InputError(
                    str(self.source.path), f"no column for {name} ({meaning}) among {listed}", "such a column",
                    f"Name it: --columns {name}=COLUMN.",
                )  # fmt: skip


WORDS = ("word", "token")
_NUMERIC = ("time", "position", "bits", "entropy", "logprob", "length", "frequency")


def open_table(path: Path, decimal: str = "point") -> Source:
    """Read a table without interpreting it: CSV with commas or semicolons, TSV (gzipped or not), or Parquet."""
    # In TSV, quotation marks are ordinary characters unless those around the names of the columns show otherwise.
    if decimal not in DECIMALS:
        raise UsageError("--decimal", repr(decimal), "one of " + ", ".join(DECIMALS))
    mark = DECIMALS[decimal]
    if path.suffix == ".parquet":
        content = utf8.whole(path, MAX_PARQUET)
        try:
            frame = pl.read_parquet(BytesIO(content))
        except Exception as error:  # polars raises errors of many kinds, and panics
            raise InputError(str(path), f"no Parquet that can be read ({error})"[:300], "a Parquet file") from None
        if not frame.height:
            raise InputError(str(path), "no rows", "a row for each word that was read")
        numbered = pl.Series(LINE, range(1, frame.height + 1))
        return Source(path, frame, numbered, hashlib.sha256(content).hexdigest(), mark)
    content = utf8.whole(path)
    gzipped = content[:2] == b"\x1f\x8b"
    text = "\n".join(line for _, line in lines.read(path)) if gzipped else utf8.decoded(content, path)
    for beginning, (what, cure) in RAW.items():
        if re.match(beginning, text):
            raise InputError(str(path), what, "a table with a header and a row for each word or region", cure)
    first = text.partition("\n")[0]
    delimiter = max("\t,;", key=first.count)
    quote = delimiter != "\t" or first.lstrip().startswith('"')
    remaining = csv.rows(text, path, delimiter, quote, blanks=True)  # tokens begin with them
    line, names = next(remaining, (1, []))
    names = [name.strip() for name in names]
    if len(names) < 2:
        found = first[:100] or "no header"
        raise InputError(f"{path}, line {line}", found, "a header with several columns", "Use CSV or TSV.")
    names = _named(names, path)
    rows, numbers = [], []
    for line, row in remaining:
        if len(row) != len(names):
            commas = " If decimal commas make the cells, write them with points." if delimiter == "," else ""
            cure = f"Put cells with the delimiter in quotation marks.{commas}"
            raise InputError(f"{path}, line {line}", f"{len(row)} cells", f"{len(names)} as in the header", cure)
        rows.append(row)
        numbers.append(line)
    if not rows:
        raise InputError(str(path), "no rows", "a row for each word that was read")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    return Source(path, frame, pl.Series(LINE, numbers), hashlib.sha256(content).hexdigest(), mark)


def _named(names: list[str], path: Path) -> list[str]:
    """Return the names of columns; R and pandas leave the one of row numbers empty."""
    if names[0] == "" and "" not in names[1:]:
        names = ["row", *names[1:]] if "row" not in names else ["row_number", *names[1:]]
    csv.refuse_repeated(names, path)
    if "" in names:
        raise InputError(f"{path}, line 1", f"column {names.index('') + 1} without a name", "a name for each column")
    return names


def interpret(source: Source, given: Chosen, unit: str = "", unused: Sequence[str] = ()) -> Readings:
    """Give the columns of a table the names of their roles, and turn times into milliseconds."""
    if unit and unit not in UNITS:
        raise UsageError("--unit", repr(unit), "one of " + ", ".join(UNITS))
    chosen = roles.choose(source.names, given, [name for name in roles.BY_NAME if name not in unused])
    columns: dict[str, pl.Series] = {}
    used = {column for made_from in chosen.values() for column in made_from}
    arrays = [name for name in source.names if _of_arrays(source.frame[name])]
    if arrays and (used & {*arrays} or not {"word", "token"} & chosen.keys()):
        found = f"arrays in the cells of {' and '.join(arrays)}, as jsPsych writes them"
        cure = f"{_ARRAYS} If they are something else, delete them."
        raise InputError(str(source.path), found, "a row for each word", cure)
    for name, made_from in chosen.items():
        if name in _NUMERIC:
            columns[name] = source.numbers(made_from[0])
        elif name in ("correct", "known"):
            columns[name] = source.truths(made_from[0])
        else:
            columns[name] = source.texts(made_from, shown=name in WORDS)
            if name == "word":
                columns[name] = columns[name].str.strip_chars().replace("", None)
    if {"language", "text"} <= chosen.keys() and not {*chosen["language"]} <= {*chosen["text"]}:
        # Names of texts recur in other languages.
        columns["text"] = source.texts((*chosen["language"], *chosen["text"]))
    for name in source.names:
        if name not in used and name != LINE:
            columns[name if name not in columns else f"{name}.file"] = source.frame[name]
    if "time" in columns and unit in ("s", "log-ms"):
        times = columns["time"]
        columns["time"] = times * 1000 if unit == "s" else times.exp()
    frame = pl.DataFrame([column.alias(name) for name, column in [*columns.items(), (LINE, source.lines)]])
    return Readings(frame, chosen, source, tuple(_notes(source, frame, chosen, unit)), unit or "ms")


def _of_arrays(column: pl.Series) -> bool:
    """Return whether all cells are arrays, some of them of several values."""
    if column.dtype != pl.String:
        return isinstance(column.dtype, pl.List | pl.Array)
    cells = column.filter(~column.str.strip_chars().is_in(MISSING)).drop_nulls()
    return bool(len(cells) and cells.str.contains(r"^\s*\[.*\]\s*$").all() and cells.str.contains(",").any())


def _notes(source: Source, frame: pl.DataFrame, chosen: Chosen, unit: str) -> Iterable[str]:
    yield "columns: " + ", ".join(f"{role} = {' + '.join(columns)}" for role, columns in chosen.items())
    if {"language", "text"} <= chosen.keys():
        languages = frame["language"].drop_nulls().unique(maintain_order=True).to_list()
        listed = ", ".join(languages[:20]) + (" ..." if len(languages) > 20 else "")
        yield f"{len(languages)} language{'' if len(languages) == 1 else 's'}, whose texts are different texts: {listed}"
    if unit:
        yield f"times are read as {unit}"
    for name in WORDS:
        column = source.frame[chosen[name][0]] if len(chosen.get(name, ())) == 1 else frame[LINE]
        if column.dtype == pl.String and (escaped := (column.str.strip_chars() != frame[name].str.strip_chars()).sum()):
            yield f"{escaped:,} of {frame.height:,} rows with escapes such as %2C in the {name}, which are read as the characters"
    for name in ("time", "word", "text", "position", "bits", "participant", "item", "condition"):
        if name in chosen and (count := frame[name].null_count()):
            said = _said_missing(source.frame.filter(frame[name].is_null()), chosen[name])
            yield f"{count:,} of {frame.height:,} rows without {name}{said}"


def _said_missing(rows: pl.DataFrame, columns: Sequence[str]) -> str:
    """Say which texts were read as missing values; a condition may be called null."""
    texts = [rows[name].str.strip_chars() for name in columns if rows[name].dtype == pl.String]
    found = sorted({cell for column in texts for cell in column.drop_nulls() if cell in MISSING[1:]})
    return f" ({', '.join(found)} is a missing value)" if found else ""


def refuse_absurd(frame: pl.DataFrame, names: Iterable[str], lines: pl.Series, place: str = "") -> None:
    """Refuse columns of numbers with an infinite one, or one beyond `LARGEST`; missing values are let through."""
    for name in (name for name in names if frame[name].dtype.is_float()):
        column = frame[name]
        if (wrong := (~column.is_between(-LARGEST, LARGEST)).fill_null(False)).any():
            row = int(wrong.arg_max() or 0)
            found = f"{'an infinite number' if column.is_infinite()[row] else f'the number {column[row]:g}'} in column {name}"
            cure = f"A placeholder, or the logarithm of 0? Count it as missing (NA; in a fit, --missing {name}={column[row]:g})"
            cure += ", or add 1 to counts before taking logarithms."
            raise InputError(f"{place}line {lines[row]}", found, "finite numbers up to 1e15", cure)


def keys(frame: pl.DataFrame, *names: str) -> list[str]:
    """Return those of the names that are columns of a frame."""
    return [name for name in names if name in frame.columns]
