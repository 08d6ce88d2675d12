"""A word list: rows of forms that differ in one thing, such as the number of a verb, and what is known of each row.

CSV in UTF-8 with a header: the column `lemma`, two or more columns `form:LABEL`, then any others, which become tags.

    lemma,form:singular,form:plural,band
    be,is,are,1
    walk,walks,walk,2

Columns `also:LABEL` hold further words, with blanks between them, that say the label of a context and are never asked: `herself`
beside the row `himself,themselves`, since a form stands once.

The verb list of Newman et al. 2021 is read as published: columns `idx,sing,plur,freq`, with or without the header. Its
rows are numbered, whatever stands under `idx` (the released code files them under it, and `_` keeps the last row only).
Its faults are handled by name, and each is reported: wrong forms are put right, rows that are no verb in the present tense
or no word are left out, and of rows that share a form the first stays. `FILE.csv?faults=keep` gives the list as published.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntagm.errors import InputError, UsageError
from syntagm.io import csv, utf8

FORM, ALSO = "form:", "also:"
FAULTS = ("mend", "keep")
_LEXICON = Path(__file__).resolve().parent / "materials" / "lexicon"
_PUBLISHED = ("idx", "sing", "plur", "freq")
_WRONG = {
    "haves": "has",
    "quizes": "quizzes",
    "fine-tunines": "fine-tunes",
    "stomaches": "stomachs",
    "wooes": "woos",
}
_PAST = "the past tense, in a list of the present"
_NO_VERB = "no verb, or no base form of one"
_MISSPELLED = "a misspelling"
_LEFT_OUT = (
    dict.fromkeys(
        ("allowed", "increased", "refocuses", "attention", "growth", "safety", "plea", "gon", "shorn", "streetspeak"),
        _NO_VERB,
    )
    | dict.fromkeys(("tandy", "the"), _NO_VERB)
    | dict.fromkeys(("accomodate", "repond", "excorciate", "emphaticize"), _MISSPELLED)
    | {"were": _PAST}
)


@dataclass(frozen=True, slots=True)
class WordRow:
    """One lemma: a form for each label of the list, and what else is known of it.

    Arguments:
        also: label -> words that have it and are never asked.
    """

    lemma: str
    forms: tuple[str, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WordList:
    """Rows of forms under the same labels.

    Arguments:
        labels: what the forms of a row are, e.g. ("singular", "plural").
        remarks: a sentence for each thing that was put right or left out when the list was read.
        repeats: may a form stand twice? Only in a list that is kept as published: the mass of the form counts twice then.

    Raises:
        InputError: fewer than two labels; a row without a lemma, or a form for each label; a form that stands twice.

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
                raise InputError(f"{place}, row {number}", f"the lemma {row.lemma[:200]!r}", "a name for the row")
            if len(row.forms) != len(self.labels) or not all(map(_is_form, row.forms)):
                raise InputError(
                    f"{place}, row {number}", f"the forms {str(list(row.forms))[:200]}", "one for each label",
                    "White space around a form, line breaks and other control characters are none.",
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
                        "each form once", "The probability of a form must not count twice: take one of them out.",
                    )  # fmt: skip
                seen[form] = number

    def label(self, word: str) -> str | None:
        """The label of a word; None if it is not in the list, or under more than one label."""
        found = self.places().get(word, set())
        return self.labels[next(iter(found))] if len(found) == 1 else None

    def places(self) -> dict[str, set[int]]:
        """Each form, and each word that a row has also -> the numbers of the labels under which it stands."""
        found: dict[str, set[int]] = {}
        for row in self.rows:
            for number, form in enumerate(row.forms):
                for word in (form, *row.also.get(self.labels[number], ())):
                    found.setdefault(word, set()).add(number)
        return found

    @property
    def hash(self) -> str:
        """Of labels, lemmas, forms and further words: what numbers depend on."""
        further = [[number, dict(row.also)] for number, row in enumerate(self.rows) if row.also]
        content = json.dumps([self.labels, [[row.lemma, row.forms] for row in self.rows], *further])
        return hashlib.sha256(content.encode()).hexdigest()

    def csv(self) -> str:
        """The list as a file that `read` reads."""
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
    """The names of the lists that come with the package."""
    return sorted(path.stem for path in _LEXICON.glob("*.csv"))


def read(name: str | Path) -> WordList:
    """Read a bundled list (`verbs`), or a file; `?faults=keep` after it keeps a published list as it is.

    Arguments:
        name: a `Path`, and text that is the whole name of a file, has no options: folders may be called `gpt2?bos=no`.

    Raises:
        UsageError: there is no such list or option.
        InputError: it is not a word list, or a form stands twice.
    """
    path, options = _parted(name)
    key, _, faults = options.partition("=")
    if options and (key != "faults" or faults not in FAULTS):
        raise UsageError(f"word list {name}", repr(options), " or ".join(f"faults={value}" for value in FAULTS))
    other = UsageError(f"word list {name}", "faults=, and a list that is not the published one", "no option")
    if path in bundled():
        if faults:
            raise other
        return _own(path, _rows(_LEXICON / f"{path}.csv"))
    if not Path(path).is_file():
        raise UsageError("word list", f"no such file: {path!r}", "a file, or one of " + ", ".join(bundled()))
    rows = _rows(Path(path))
    if not rows:
        raise InputError(path, "an empty file", "a word list")
    first = tuple(cell.strip() for cell in rows[0][1])
    # Without its header the published list begins with a number or `_`; a header of other words is another list's.
    if first == _PUBLISHED or (len(first) == len(_PUBLISHED) and (first[0] == "_" or first[0].isdecimal())):
        return _published(Path(path).stem, rows[1:] if first == _PUBLISHED else rows, faults == "keep")
    if faults:
        raise other
    return _own(Path(path).stem, rows, path)


def kept(content: bytes, place: str) -> WordList:
    """Read the content of a list that a run kept (`words.csv`), in which a form may stand twice.

    Raises:
        InputError: it is not a word list.
    """
    rows = csv.rows(utf8.decoded(content, Path(place)), Path(place))
    return _own(Path(place).stem, [(line, row) for line, row in rows if any(map(str.strip, row))], place, repeats=True)


def _parted(name: str | Path) -> tuple[str, str]:
    """The name of a list or file, and the options after it."""
    if isinstance(name, Path) or "?" not in name or Path(name).is_file():
        return str(name), ""
    path, _, options = name.rpartition("?")
    return path, options


def _is_form(form: str) -> bool:
    return bool(form) and form == form.strip() and not any(ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 for one in form)


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, with the line where each begins."""
    return [(line, row) for line, row in csv.rows(utf8.read(path), path) if any(cell.strip() for cell in row)]


def _own(name: str, rows: Sequence[tuple[int, list[str]]], place: str = "", repeats: bool = False) -> WordList:
    place = place or f"word list {name}"
    header = [cell.strip() for cell in rows[0][1]] if rows else []
    labels = tuple(cell.removeprefix(FORM) for cell in header if cell.startswith(FORM))
    if header[:1] != ["lemma"] or len(labels) < 2 or len(set(header)) < len(header):
        found = ",".join(header)[:200]
        raise InputError(place, f"the header {found!r}", "lemma,form:LABEL,form:LABEL,... and any other columns")
    if odd := [cell for cell in header if cell.startswith(ALSO) and cell.removeprefix(ALSO) not in labels]:
        raise InputError(place, f"the column {odd[0]!r}", "one of " + ", ".join(ALSO + label for label in labels))
    made = []
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise InputError(f"{place}, line {line}", f"{len(cells)} cells", f"{len(header)}, as in the header")
        named = {column: cell.strip() for column, cell in zip(header, cells, strict=True)}
        forms = tuple(named.pop(FORM + label) for label in labels)
        also = {label: tuple(named.pop(ALSO + label, "").split()) for label in labels}
        further = {label: words for label, words in also.items() if words}
        made.append(WordRow(named.pop("lemma"), forms, named, further))
    return WordList(name, labels, tuple(made), repeats=repeats)


def _published(name: str, rows: Sequence[tuple[int, list[str]]], keep: bool) -> WordList:
    """The list of Newman et al.: third person singular and base form, by position."""
    made: list[tuple[int, WordRow]] = []
    for line, cells in rows:
        if len(cells) != len(_PUBLISHED):
            raise InputError(f"{name}, line {line}", f"{len(cells)} cells", ",".join(_PUBLISHED))
        singular, plural = cells[1].strip(), cells[2].strip()
        made.append((line, WordRow(plural, (singular, plural))))
    remarks = [f"{len(made)} rows, numbered by their order: {len({row[1][0] for row in rows})} different idx"]
    if not keep:
        made = list(_mended(made, remarks))
    labels = ("singular", "plural")
    return WordList(name, labels, tuple(row for _, row in made), tuple(remarks), repeats=keep)


def _mended(rows: Sequence[tuple[int, WordRow]], remarks: list[str]) -> Iterator[tuple[int, WordRow]]:
    """The rows that stay, with right forms; says what was done to the others."""
    seen: dict[str, int] = {}
    for line, row in rows:
        singular, plural = row.forms
        place = f"line {line}, {singular}/{plural}"
        if plural in _LEFT_OUT:
            remarks.append(f"{place}: left out: {_LEFT_OUT[plural]}")
            continue
        if singular in _WRONG:
            singular = _WRONG[singular]
            remarks.append(f"{place}: a wrong form, read as {singular}")
        repeated = [form for form in (singular, plural) if form in seen]
        if repeated or singular == plural:
            other = f"stands in line {seen[repeated[0]]}, too" if repeated else "stands under both labels"
            remarks.append(f"{place}: left out: {(repeated or [plural])[0]} {other}")
            continue
        seen |= {singular: line, plural: line}
        yield line, WordRow(row.lemma, (singular, plural), row.tags)
