"""Word lists: rows of word forms that differ in one feature, such as the number of a verb.

A word list is a CSV file in UTF-8 with a header: the column `lemma`, two or more columns `form:LABEL`, then any other
columns, which become tags.

    lemma,form:singular,form:plural,band
    be,is,are,1
    walk,walks,walk,2

Columns `also:LABEL` contain further words with that label, separated by spaces. They determine the label of a context,
but the model never scores them. An example is `herself` in the row `himself,themselves`: each form may occur in the
list only once.

A list that others have published is read as it is, with or without its header, if `suites/materials/lexicon/published` has a
declaration of it. Rows are numbered by their order. Known errors are mended and reported one by one: wrong forms are
corrected, rows that are no words of the list's kind are skipped, and if rows share a form, only the first is used.
`FILE.csv?faults=keep` reads the list without these changes.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from syntagm.core import InputError, UsageError, csv, public, toml, utf8

FORM, ALSO = "form:", "also:"
FAULTS = ("mend", "keep")
_LEXICON = Path(__file__).resolve().parent / "materials" / "lexicon"


@dataclass(frozen=True, slots=True)
@public
class WordRow:
    """A row of a word list.

    Arguments:
        lemma: name of the row.
        forms: the row's forms, one for each label of the list.
        tags: further information: name -> value.
        also: label -> further words with that label, which the model never scores.
    """

    lemma: str
    forms: tuple[str, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
@public
class WordList:
    """A word list: rows of forms with the same labels.

    Arguments:
        name: name of the list.
        labels: labels of the forms, e.g. ("singular", "plural").
        rows: the rows.
        remarks: one sentence for each correction made and row skipped when the list was read.
        repeats: whether a form may occur in the list twice, as in a list kept as published; its probability then counts
            twice.

    Raises:
        InputError: there are fewer than two labels, a row lacks a lemma or a form, or a form is repeated.

    >>> words = WordList("two", ("singular", "plural"), (WordRow("be", ("is", "are")), WordRow("walk", ("walks", "walk"))))
    >>> words.label("walk"), words.label("swims")
    ('plural', None)
    """

    name: str
    labels: tuple[str, ...]
    rows: tuple[WordRow, ...]
    remarks: tuple[str, ...] = ()
    repeats: bool = False

    def __post_init__(self) -> None:
        place = f"word list {self.name}"
        if len(self.labels) < 2 or len(set(self.labels)) < len(self.labels) or not all(self.labels):
            raise InputError(place, f"the labels {list(self.labels)}", "two or more, all different")
        if not self.rows:
            raise InputError(place, "no rows", "at least one")
        for number, row in enumerate(self.rows, 1):
            if not _is_form(row.lemma):
                raise InputError(
                    f"{place}, row {number}", f"the lemma {row.lemma[:200]!r}", "a lemma as the name of the row"
                )
            if len(row.forms) != len(self.labels) or not all(map(_is_form, row.forms)):
                raise InputError(
                    f"{place}, row {number}", f"the forms {str(list(row.forms))[:200]}", "one for each label",
                    "A form has no white space around it, no line breaks and no other control characters.",
                )  # fmt: skip
        if not self.repeats:
            self._refuse_repeats(place)

    def _refuse_repeats(self, place: str) -> None:
        seen: dict[str, int] = {}
        for number, row in enumerate(self.rows, 1):
            for form in row.forms:
                if form in seen:
                    other = self.rows[seen[form] - 1]
                    raise InputError(
                        place, f"{form!r} in row {seen[form]} ({other.lemma}) and in row {number} ({row.lemma})",
                        "each form once", "Remove one of them: the probability of a form must not be counted twice.",
                    )  # fmt: skip
                seen[form] = number

    def label(self, word: str) -> str | None:
        """Return the label of a word; None if it is not in the list, or has more than one label."""
        numbers = self.places().get(word, set())
        return self.labels[next(iter(numbers))] if len(numbers) == 1 else None

    def places(self) -> dict[str, set[int]]:
        """Return a mapping from each form and further word to the numbers of its labels."""
        places: dict[str, set[int]] = {}
        for row in self.rows:
            for number, form in enumerate(row.forms):
                for word in (form, *row.also.get(self.labels[number], ())):
                    places.setdefault(word, set()).add(number)
        return places

    @property
    def hash(self) -> str:
        """The hash of everything that results depend on: labels, lemmas, forms and further words."""
        further = [[number, dict(row.also)] for number, row in enumerate(self.rows) if row.also]
        content = json.dumps([self.labels, [[row.lemma, row.forms] for row in self.rows], *further])
        return hashlib.sha256(content.encode()).hexdigest()

    def csv(self) -> str:
        """Return the list as the text of a CSV file that `read` accepts."""
        tags = list(dict.fromkeys(name for row in self.rows for name in row.tags))
        also = [label for label in self.labels if any(row.also.get(label) for row in self.rows)]
        header = ["lemma", *(FORM + label for label in self.labels), *(ALSO + label for label in also), *tags]
        further = ([" ".join(row.also.get(label, ())) for label in also] for row in self.rows)
        rows = (
            [row.lemma, *row.forms, *words, *(row.tags.get(name, "") for name in tags)]
            for row, words in zip(self.rows, further, strict=True)
        )
        return "".join(csv.lines(header, rows))


def bundled() -> list[str]:
    return sorted(path.stem for path in _LEXICON.glob("*.csv"))


def read_word_list(name: str | Path) -> WordList:
    # `name` is that of a bundled list, such as `verbs`, or the path of a file. Text may end with `?faults=keep`, which
    # reads a published list unchanged. A `Path` has no options. Neither does text that is itself the path of a file,
    # because a folder may be called `gpt2?bos=no`.
    path, options = _split_options(name)
    key, _, faults = options.partition("=")
    if options and (key != "faults" or faults not in FAULTS):
        raise UsageError(f"word list {name}", repr(options), " or ".join(f"faults={value}" for value in FAULTS))
    no_options = UsageError(f"word list {name}", "faults= with a list other than the published one", "no option")
    if path in bundled():
        if faults:
            raise no_options
        return _own(path, _rows(_LEXICON / f"{path}.csv"))
    if not Path(path).exists():
        raise UsageError(f"word list {path}", "no such file", "a file, or one of " + ", ".join(bundled()))
    rows = _rows(Path(path))
    if not rows:
        raise InputError(path, "an empty file", "a word list")
    if published := next((each for each in _published() if each.is_of(rows[0][1])), None):
        return published.read(Path(path).stem, rows, faults == "keep")
    if faults:
        raise no_options
    return _own(Path(path).stem, rows, path)


def kept(content: bytes, place: str) -> WordList:
    """Read the word list that a run saved (`words.csv`), in which a form may be repeated."""
    rows = csv.rows(utf8.decoded(content, Path(place)), Path(place))
    return _own(Path(place).stem, [(line, row) for line, row in rows if any(map(str.strip, row))], place, repeats=True)


def _split_options(name: str | Path) -> tuple[str, str]:
    if isinstance(name, Path) or "?" not in name or Path(name).is_file():
        return str(name), ""
    path, _, options = name.rpartition("?")
    return path, options


def _is_form(form: str) -> bool:
    return (
        bool(form)
        and form == form.strip()
        and not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in form)
    )


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Read the rows that are not empty, each with the line where it begins."""
    return [(line, row) for line, row in csv.rows(utf8.read(path), path) if any(cell.strip() for cell in row)]


def _own(name: str, rows: Sequence[tuple[int, list[str]]], place: str = "", repeats: bool = False) -> WordList:
    place = place or f"word list {name}"
    header = [cell.strip() for cell in rows[0][1]] if rows else []
    labels = tuple(cell.removeprefix(FORM) for cell in header if cell.startswith(FORM))
    if header[:1] != ["lemma"] or len(labels) < 2 or len(set(header)) < len(header):
        shown = ",".join(header)[:200]
        raise InputError(place, f"the header {shown!r}", "lemma,form:LABEL,form:LABEL,... and any other columns")
    if wrong := [cell for cell in header if cell.startswith(ALSO) and cell.removeprefix(ALSO) not in labels]:
        raise InputError(place, f"the column {wrong[0]!r}", "one of " + ", ".join(ALSO + label for label in labels))
    word_rows = []
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise InputError(f"{place}, line {line}", f"{len(cells)} cells", f"{len(header)}, as in the header")
        cells_by_column = {column: cell.strip() for column, cell in zip(header, cells, strict=True)}
        forms = tuple(cells_by_column.pop(FORM + label) for label in labels)
        also = {label: tuple(cells_by_column.pop(ALSO + label, "").split()) for label in labels}
        further = {label: words for label, words in also.items() if words}
        word_rows.append(WordRow(cells_by_column.pop("lemma"), forms, cells_by_column, further))
    return WordList(name, labels, tuple(word_rows), repeats=repeats)


@dataclass(frozen=True, slots=True)
class _Published:
    """A list in the form in which others have published it."""

    columns: tuple[str, ...]  # the columns, the first of which numbers the rows
    forms: Mapping[str, str]  # label -> the column of its forms
    lemma: str  # the column of the lemma
    wrong: Mapping[str, str]  # a wrong form -> the right one
    skipped: Mapping[str, str]  # lemma -> why its row is left out

    def is_of(self, row: Sequence[str]) -> bool:
        """Return whether this is the list whose first row is given."""
        # Without its header, the list begins with a number or `_`. Any other word belongs to another list's header.
        first = row[0].strip()
        return self._is_header(row) or (len(row) == len(self.columns) and (first == "_" or first.isdecimal()))

    def read(self, name: str, rows: Sequence[tuple[int, list[str]]], keep: bool) -> WordList:
        """Read the list; `keep` leaves its errors as they are."""
        numbered: list[tuple[int, WordRow]] = []
        rows = rows[1:] if self._is_header(rows[0][1]) else rows
        for line, cells in rows:
            if len(cells) != len(self.columns):
                raise InputError(f"{name}, line {line}", f"{len(cells)} cells", ",".join(self.columns))
            by_column = {column: cell.strip() for column, cell in zip(self.columns, cells, strict=True)}
            numbered.append(
                (line, WordRow(by_column[self.lemma], tuple(map(by_column.__getitem__, self.forms.values()))))
            )
        different = len({cells[0] for _, cells in rows})
        remarks = [f"{len(numbered)} rows, numbered by their order; {self.columns[0]} has {different} different values"]
        if not keep:
            numbered = list(self._mended(numbered, remarks))
        return WordList(name, tuple(self.forms), tuple(row for _, row in numbered), tuple(remarks), repeats=keep)

    def _is_header(self, row: Sequence[str]) -> bool:
        return tuple(cell.strip() for cell in row) == self.columns

    def _mended(self, rows: Sequence[tuple[int, WordRow]], remarks: list[str]) -> Iterator[tuple[int, WordRow]]:
        """Yield the rows that are used, with corrected forms; add a remark for each correction and skipped row."""
        seen: dict[str, int] = {}
        for line, row in rows:
            place = f"line {line}, {'/'.join(row.forms)}"
            if row.lemma in self.skipped:
                remarks.append(f"{place}: skipped: {self.skipped[row.lemma]}")
                continue
            forms = tuple(self.wrong.get(form, form) for form in row.forms)
            remarks += [f"{place}: a wrong form, corrected to {form}" for form in forms if form not in row.forms]
            repeated = [form for form in forms if form in seen]
            if repeated or len(set(forms)) < len(forms):
                reason = f"is also in line {seen[repeated[0]]}" if repeated else "has both labels"
                remarks.append(f"{place}: skipped: {(repeated or [row.lemma])[0]} {reason}")
                continue
            seen |= dict.fromkeys(forms, line)
            yield line, WordRow(row.lemma, forms, row.tags)


@cache
def _published() -> tuple[_Published, ...]:
    """Return the published lists that are declared, in the order of the names of their files."""
    declared = [toml.read(utf8.read(path), path.name) for path in sorted((_LEXICON / "published").glob("*.toml"))]
    return tuple(
        _Published(
            tuple(each["columns"]), each["forms"], each["lemma"], each["wrong"],
            {lemma: reason for reason, lemmas in each["skipped"].items() for lemma in lemmas},
        )
        for each in declared
    )  # fmt: skip
