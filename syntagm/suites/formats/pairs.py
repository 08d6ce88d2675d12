"""Minimal pairs in any table with one pair per row: TSV, CSV, JSON lines or a JSON list.

    good	bad
    The keys are here.	The keys is here.

The two columns are recognised by their names: good/bad, acceptable/unacceptable, grammatical/ungrammatical,
gramm/ungramm, sen/wrong_sen; correct/incorrect, correct/wrong and right/wrong unless their cells have little in common;
chosen/rejected, positive/negative, pos/neg and original/corrupted if their cells are sentences that differ a little; and
source_sentence/target_sentence beside a column `phenomenon` or `paradigm`. `sentence`, `sent`, `text` or `example` may
precede or follow both words, and case, blanks and hyphens don't matter: `sentence_good`, `Bad sentence`, `goodSentence`.
Columns of numbers are not recognised. Options name other columns: `pairs.csv?good=right&bad=wrong`. The header shows
whether cells are separated by a tab, `;` or `,`.

`pairs.csv?good=A&bad=B&label=COLUMN` reads a table in which a column says which sentence is good: the name of A for A and
that of B for B, or what differs in them (`1` and `2` of `text1` and `text2`), or otherwise 0 for A and 1 for B; `&values=X,Y`
names other labels. If such a column may exist and no option mentions it, the table is refused; `label=none` says that there
is none.

`discard=COLUMN` names a column that marks rows which their authors left out: they are read, get the tag `discard`, and are
counted by `check` and `run`. `ratings=FILE` joins a table of the same folder with the columns `id`, `sentence` and
`judgement` by the columns `gramm_id` and `ungramm_id`: the tags `rating_good` and `rating_bad` are the means of the ratings
of the two sentences.

A table without a header is recognised by its content: two columns separated by a tab, good first, in which at least half
of the first rows are sentences that differ a little (`check.alike`).

The columns `prefix`, `critical_good` and `critical_bad` add the prediction `one_prefix`; `prefix_good`, `prefix_bad` and
`word` add `two_prefix`. The column `suite`, `paradigm` or `UID` has the name of a pair's suite; the default is the name
of the file. The column `id`, `pairID`, `pair_id` or `item`, or a column without a name, has the id of a pair; the
default is its number, from 0. Other columns are tags.
"""

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from syntagm.core import InputError, UsageError, atomic, csv, shape, utf8
from syntagm.suites.check.alike import LEAST_WORDS, alike, mostly, unlike
from syntagm.suites.formats import _pair, _table
from syntagm.suites.suite import Item, Sentence, Suite

ENDINGS = (".tsv", ".csv", ".txt", ".jsonl", ".json")
WRITES = (".tsv", ".csv")
_WORDS = (("good", "bad"), ("acceptable", "unacceptable"), ("grammatical", "ungrammatical"), ("gramm", "ungramm"))
# Other tables have these names, too: of answers; of preferences, triplets and corruptions; of translations or corrections.
_ANSWERS = (("correct", "incorrect"), ("correct", "wrong"), ("right", "wrong"))
_OTHERS = (("chosen", "rejected"), ("positive", "negative"), ("pos", "neg"), ("original", "corrupted"))
SOURCES = ("source_sentence", "target_sentence")
_NOUNS = ("sentence", "sent", "text", "example")


def _with_nouns(words: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the names of columns that two words make, alone or with a noun.

    >>> _with_nouns(("good", "bad"))[:4]
    [('good', 'bad'), ('sentence_good', 'sentence_bad'), ('good_sentence', 'bad_sentence'), ('good_sentences', 'bad_sentences')]
    """
    forms = [form for noun in _NOUNS for form in (f"{noun}_{{}}", f"{{}}_{noun}", f"{{}}_{noun}s")]
    good, bad = words
    return [words, *((form.format(good), form.format(bad)) for form in forms)]


ANSWERS = tuple(names for words in _ANSWERS for names in _with_nouns(words))
OTHERS = tuple(names for words in _OTHERS for names in _with_nouns(words))
KNOWN = (*(names for words in _WORDS for names in _with_nouns(words)), ("sen", "wrong_sen"), *ANSWERS, *OTHERS, SOURCES)
IDS = ("id", "pairid", "pair_id", "item", "item_id", "item_number", "")
SUITES = ("suite", "paradigm", "uid")
FIELDS = (
    ("one_prefix", ("prefix", "critical_good", "critical_bad")),
    ("two_prefix", ("prefix_good", "prefix_bad", "word")),
    *_pair.FIELDS.items(),
)
# The names of a column of single sentences.
SINGLE = ("sentence", "text", "sent")
# The ids of the two sentences, by which ratings of another table are joined.
JOINED_BY = ("gramm_id", "ungramm_id")
NO_QUOTES = f"{csv.DOUBLE[:-1]}, or add the option quote=none if quotation marks are ordinary characters."


def claims(path: Path, head: str) -> bool:
    """Return whether this is a table with known names of columns, or one of two columns that hold pairs."""
    first = head.lstrip().split("\n", 1)[0]
    if path.suffix in (".json", ".jsonl") and not _table.is_json(head):
        return False
    if first.startswith("{") and '"sentence_good"' in first.lower():
        return False
    return bool(_recognised(_table.excerpt(path, head, _names()))) or _has_pairs_only(path, head)


def columns(path: Path, head: str) -> tuple[str, ...]:
    """Return the columns of a table, or the first row of one without a header, as its beginning shows them."""
    return _table.excerpt(path, head, _names()).columns


def unclaimed(path: Path, head: str) -> tuple[str, str]:
    """Describe the columns of a table that is not recognised, and say what to do; ("", "") if the text is no table."""
    table = _table.excerpt(path, head)
    lines = sum(1 for line in _table.whole_lines(head).split("\n")[: _table.ROWS] if line.strip())
    is_json = table.unit == "row"
    if not table.columns or not (is_json or (len(table.columns) > 1 and 2 * len(table.rows) + 2 >= lines)):
        return "", ""
    names = [repr(name if len(name) <= 40 else f"{name[:37]}...") for name in table.columns[:12]]
    shown = f"its {'keys are' if is_json else 'first row is'} {', '.join(names)}" + ", ..." * (len(table.columns) > 12)
    doubts = [doubt for pair in _names()(table.columns) if (doubt := _doubt(table, pair))]
    cure = f"Name the columns of pairs, as in {path.name}?good=COLUMN&bad=COLUMN"
    cure += ", and add &label=COLUMN if a column says which of the two is good."
    single = [name for name in table.columns if name.strip().lower() in SINGLE]
    labels = [name for name in table.columns if name.strip().lower() in _table.NAMES]
    if len(single) == 1 and labels:
        named = f"{path.name}?format=judgements&sentence={single[0]}&label={labels[0]}"
        cure += f" If each row is a single sentence, labelled 1 or 0, write {named}"
        cure += (
            f"; if two rows are a pair, {path.name}?format=labelled&sentence={single[0]}&label={labels[0]}&item=COLUMN."
        )
    if not doubts and len(table.columns) == 2 and not is_json:
        doubts = [_few([table.columns, *(tuple(row.values()) for _, row in table.rows)])]
        cure += " If a table of pairs has no header, insert a first line with the names good and bad."
    elif len(table.columns) > 2 and not is_json and alike(*table.columns[:2]):
        # Premises with hypotheses look like this, too, so it is not read as it is.
        cure += " If this is a pair, insert a first line with a name for each column, such as good, bad and kind."
    return "; ".join([shown, *doubts]), cure


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the columns that are neither scored nor names of pairs or suites; they become tags."""
    named = tuple(options[name] for name in ("good", "bad") if options.get(name))
    table = _table.excerpt(path, head, _names(*named), options.get("delimiter", ""))
    pair = named or next(iter(_recognised(table) or _names()(table.columns)), ())
    columns = table.columns
    _, fields = _method("", columns)
    of_pair = (
        options.get("id") or _known(columns, IDS),
        options.get("suite") or _known(columns, SUITES),
        options.get("label"),
    )
    used = {*pair, *fields, *of_pair, ""}
    return [name for name in columns if name not in used] if pair and set(pair) <= set(columns) else []


def read_as(path: Path, head: str, **options: str) -> str:
    if (named := options.get("good")) and not options.get("delimiter") and not _table.is_json(head):
        table = _table.excerpt(path, head, _names(named, options.get("bad", "")))
    else:
        table = _table.excerpt(path, head, _names(), options.get("delimiter", ""))
    pair = (named, options.get("bad", "")) if named else next(iter(_recognised(table)), None)
    if assumption := assumed(path, head, **options):
        return assumption
    if not pair:
        return ""
    label = options.get("label", "")
    suite = options.get("suite") or _known(table.columns, SUITES)
    parts = [f"good: {pair[0]}, bad: {pair[1]}", f"suite: {suite}" if suite else "suite: the file"]
    if label not in ("", _table.NONE) and {*pair} <= {*table.columns}:
        meant = _table.meaning(table.columns, pair, table.cells(label), options.get("values", ""))
        first, second = _table.of(meant, 0), _table.of(meant, 1)
        parts[0] += f" where {label} is {first}, the other way round where it is {second}" if meant else ""
    if options.get("discard"):
        parts.append(f"discarded: {options['discard']}")
    return ", ".join(parts)


def assumed(path: Path, head: str, **options: str) -> str:
    """Say which column is taken as the good one if no name says so; "" if one does."""
    named = options.get("good") or options.get("delimiter") or _table.is_json(head)
    if named or _recognised(_table.excerpt(path, head, _names())) or not _has_pairs_only(path, head):
        return ""
    return "no header; the first column is taken as the good sentence, the second as the bad one"


def read(
    path: Path,
    *,
    good: str = "",
    bad: str = "",
    label: str = "",
    values: str = "",
    id: str = "",
    suite: str = "",
    discard: str = "",
    ratings: str = "",
    delimiter: str = "",
    quote: str = "yes",
) -> Iterator[Suite]:
    """Read the suites of a table.

    Arguments:
        path: the file.
        good: the column of the acceptable sentences; required unless its name is a known one.
        bad: the column of the unacceptable sentences; required unless its name is a known one.
        label: a column that says which of the two sentences is acceptable, by the name of its column, or 0 for that in
            `good` and 1 for that in `bad`. `none` if no column says so.
        values: the label for the column `good`, a comma, and the label for the column `bad`.
        id: the column with the ids of pairs.
        suite: the column with the names of suites.
        discard: the column that marks rows which their authors left out.
        ratings: a table in the same folder with the ratings of the sentences, joined by their ids.
        delimiter: the separator of cells: a character, `tab`, `comma` or `semicolon`.
        quote: `yes` if quotation marks enclose cells (RFC 4180), `none` if they are ordinary characters.

    Raises:
        InputError: a row has too many or too few cells, a sentence is empty, a label has another value, a column that is
            not mentioned may be a label, or prefix fields don't fit the sentence; the message names the line.
        UsageError: an option names a column that does not exist.
    """
    if quote not in ("yes", "none"):
        raise UsageError("quote", repr(quote), "yes or none")
    if bool(good) != bool(bad):
        given, missing = ("good", "bad") if good else ("bad", "good")
        raise UsageError(given, f"given without {missing}=", "both good= and bad=")
    content = utf8.read(path)
    table = _read(content, path, (good, bad) if good else None, delimiter, quote == "yes")
    columns = table.columns
    pair = (good, bad) if good else _only(table, content)
    for name in (*pair, id, suite, discard, "" if label == _table.NONE else label):
        if name and name not in columns:
            raise UsageError(str(path), f"no column {name!r}", "one of " + ", ".join(map(repr, columns)))
    id, suite = id or _known(columns, IDS), suite or _known(columns, SUITES)
    if values and label in ("", _table.NONE):
        raise UsageError("values", "given without label=", "both label= and values=")
    if not label:
        is_known = pair in _names()(table.columns) and not _open(table, pair)
        _table.refuse_unused(table, pair, (*pair, id, suite, discard), is_known)
    joined = _ratings(table, ratings) if ratings else {}
    label = "" if label == _table.NONE else label
    meant = _table.meaning(columns, pair, table.cells(label), values) if label else {}
    yield from _suites(table, pair, label, meant, id, suite, discard, joined)


def write(suites: Sequence[Suite], path: Path) -> None:
    """Write minimal pairs as a table that can be read back as the same suites.

    Cells are separated by commas if the name of the file ends in .csv, otherwise by tabs. Tags that begin with `json:`
    are skipped, because they only serve the format from which the suites were read.

    Raises:
        InputError: a suite does not consist of minimal pairs, or a tag has the name of a column.
    """
    methods = {suite.name: _pair.method(suite) for suite in suites}
    if len(set(methods.values())) > 1:
        raise InputError(
            str(path), "suites with different prefix methods", "one method", "Write each to a separate file."
        )
    rows = [_row(suite, item, methods[suite.name]) for suite in suites for item in suite.items]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if (in_columns := _method(str(path), columns)[0]) != (method := next(iter(methods.values()), None)):
        raise InputError(
            str(path), f"tags with the names of columns of {in_columns}", f"columns of {method or 'no prefix method'}"
        )
    cells = [columns, *([row.get(name, "") for name in columns] for row in rows)]
    text = csv.plain(cells, "," if path.suffix == ".csv" else "\t")
    atomic.write(path, text.encode())


def _names(good: str = "", bad: str = "") -> Callable[[Sequence[str]], list[tuple[str, str]]]:
    """Return a function that finds the columns of a pair in a header: `good` and `bad`, or all known pairs of names."""
    # Case is ignored.

    def find(columns: Sequence[str]) -> list[tuple[str, str]]:
        meant = _meant(columns)
        wanted = [(good, bad)] if good else KNOWN
        return [(meant[first], meant[second]) for first, second in wanted if first in meant and second in meant]

    return find


def _meant(columns: Sequence[str]) -> dict[str, str]:
    """Map names to the columns that they mean: the one of this name, otherwise the only one that `_table.plain` spells so.

    >>> _meant(["Good sentence", "BAD", "bad "])["good_sentence"], "bad" in _meant(["Good sentence", "BAD", "bad "])
    ('Good sentence', False)
    """
    spelt: dict[str, list[str]] = {}
    for column in columns:
        for name in dict.fromkeys((_table.plain(column), column.strip().lower())):
            spelt.setdefault(name, []).append(column)
    return {name: of[0] for name, of in spelt.items() if len(of) == 1} | {column: column for column in columns}


def _known(columns: Sequence[str], names: Sequence[str]) -> str:
    """Return the column with the first of some names that there is; "" if there is none."""
    meant = _meant(columns)
    return next((meant[name] for name in names if name in meant), "")


def _read(content: str, path: Path, named: tuple[str, str] | None, delimiter: str, quote: bool) -> _table.Table:
    """Read the table; one without a header has the columns `good` and `bad`."""
    is_header = _names(*(named or ()))
    is_named = named or delimiter or _table.is_json(content)
    if is_named or is_header(_table.excerpt(path, content, is_header).columns):
        return _table.read(content, path, is_header, delimiter, quote, NO_QUOTES)
    if not _has_pairs_only(path, content):
        raise _unknown(path, content)
    table = _table.under(KNOWN[0], content, path, "\t", quote, NO_QUOTES)
    _refuse_a_header([tuple(row.values()) for _, row in table.rows], path)
    return table


def _has_pairs_only(path: Path, content: str) -> bool:
    """Return whether there is no header, and most of the first rows are two sentences that differ a little."""
    lines = [line for _, line in utf8.lines(_table.whole_lines(content)) if line.strip()][: _table.ROWS]
    rows = [line.split("\t") for line in lines]
    if path.suffix not in (".tsv", ".txt") or not rows or _names()(rows[0]):
        return False
    return mostly(len(row) == 2 and alike(*row) for row in rows)


def _few(rows: Sequence[Sequence[str]]) -> str:
    """Say in how many rows of two cells the cells are alike."""
    count = sum(len(row) == 2 and alike(*row) for row in rows)
    what = f"two sentences of {LEAST_WORDS} words or more that differ a little"
    return f"in its two columns, {count} of {len(rows)} rows are {what}"


def _refuse_a_header(rows: Sequence[Sequence[str]], path: Path) -> None:
    """Refuse a first row that differs from the others in kind, because unknown names of columns would be scored as a pair."""
    first, *others = rows
    stops = [_ends_a_sentence(cell) for row in others for cell in row]
    lacks_stops = bool(stops) and sum(stops) >= 0.9 * len(stops) and not any(map(_ends_a_sentence, first))
    if not alike(*first) or lacks_stops:
        raise InputError(
            f"{path}, line 1", f"{first[0]!r} and {first[1]!r}, which look like column names",
            "a known pair of names such as good and bad",
            f"Name the columns, as in {path.name}?good=COLUMN&bad=COLUMN; "
            "if the line is a pair, insert a line with the names good and bad above it.",
        )  # fmt: skip


def _ends_a_sentence(cell: str) -> bool:
    return unicodedata.category(cell.rstrip()[-1:] or " ") in ("Po", "Pe", "Pf")


def _recognised(table: _table.Table) -> list[tuple[str, str]]:
    """Return the pairs of columns with known names that don't hold anything else."""
    return [pair for pair in _names()(table.columns) if not _doubt(table, pair)]


def _doubt(table: _table.Table, pair: tuple[str, str]) -> str:
    """Return the reason why columns with known names are not taken for pairs; "" if there is none."""
    first, second = pair
    for name in pair:
        if table.has_numbers(name):
            return f"the column {name!r} holds numbers"
    if _open(table, pair):
        return f"without a column 'phenomenon' or 'paradigm', either of {first!r} and {second!r} may be the good one"
    rows = [row for _, row in table.rows[: _table.ROWS]]
    cells = [(shape.plain(row.get(first, "")), shape.plain(row.get(second, ""))) for row in rows]
    if _plain(pair) in ANSWERS and mostly(unlike(*texts) for texts in cells):
        return f"{first!r} and {second!r} have little in common"
    if _plain(pair) in OTHERS and not mostly(alike(*texts) for texts in cells):
        return f"few of {first!r} and {second!r} are sentences of {LEAST_WORDS} words or more that differ a little"
    return ""


def _open(table: _table.Table, pair: tuple[str, str]) -> bool:
    """Return whether the names of a pair do not say which is good: a source can be what a target corrects."""
    return _plain(pair) == SOURCES and not _known(table.columns, ("phenomenon", "paradigm"))


def _plain(pair: tuple[str, str]) -> tuple[str, str]:
    return _table.plain(pair[0]), _table.plain(pair[1])


def _only(table: _table.Table, content: str) -> tuple[str, str]:
    """Return the columns of the pair by their names; raise InputError if there is no known pair, or more than one."""
    # Whoever names the format has seen the columns; but that doesn't say which of two is good.
    known = [pair for pair in _names()(table.columns) if not _open(table, pair)]
    pairs = _recognised(table) or known
    if len(pairs) == 1:
        return pairs[0]
    shown = "; ".join(f"{good!r} and {bad!r}" for good, bad in pairs)
    raise _unknown(table.path, content, f"more than one pair of columns: {shown}" if pairs else "")


def _unknown(path: Path, content: str, found: str = "") -> InputError:
    columns, cure = unclaimed(path, content)
    return InputError(str(path), found or columns or "no columns", "a known pair of columns such as good and bad", cure)


def _ratings(table: _table.Table, name: str) -> dict[str, float]:
    """Return the mean rating of each sentence in a table of the same folder: id -> mean."""
    if Path(name).name != name:
        raise UsageError("ratings", repr(name), "the name of a file in the folder of the table")
    if not set(JOINED_BY) <= set(table.columns):
        raise UsageError(
            str(table.path), "no ids of sentences to join ratings by", "the columns " + " and ".join(JOINED_BY)
        )
    path = table.path.with_name(name)
    rated: dict[str, list[float]] = {}
    for line, row in csv.records(utf8.read(path), path, ("id", "judgement")):
        try:
            value = float(row["judgement"])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"{path}, line {line}, judgement", repr(row["judgement"][:60]), "a number")
        rated.setdefault(row["id"].strip(), []).append(value)
    if not rated:
        raise InputError(str(path), "no ratings", "a rating of a sentence in each row")
    ids = {shape.plain(row.get(column, "")).strip() for _, row in table.rows for column in JOINED_BY}
    if ids.isdisjoint(rated):
        found = f"ratings of {next(iter(rated))!r} and others, none of which the table of pairs has"
        raise InputError(str(path), found, f"ids such as {next(iter(ids), '')!r}, of {table.path.name}")
    return {key: sum(values) / len(values) for key, values in rated.items()}


def _suites(
    table: _table.Table,
    pair: tuple[str, str],
    label: str,
    meant: Mapping[str, int],
    id: str,
    suite: str,
    discard: str = "",
    ratings: Mapping[str, float] | None = None,
) -> Iterator[Suite]:
    method, fields = _method(str(table.path), table.columns)
    if label and method:
        raise UsageError(str(table.path), f"label= beside the columns of {method}", "one of them")
    used = {*pair, *fields, id if id in table.columns else None, suite if suite.strip().lower() == "suite" else None}
    items = []
    for index, (number, row) in enumerate(table.rows):
        place = table.place(number)
        texts = [_table.text(row, name, place) for name in pair]
        first = _table.side(meant, row.get(label, ""), pair, f"{place}, {label}") if label else 0
        good, bad = texts[first], texts[1 - first]
        if method:
            critical = [shape.plain(row.get(name, "")) for name in fields]
            sentences = _pair.regions(good, bad, method, critical, place)
        else:
            sentences = {"good": Sentence(good), "bad": Sentence(bad)}
        name = _table.name(row, suite, place) if suite else table.path.stem
        tags = _table.tags(row, used)
        if discard and tags.get(discard, "").strip():
            tags["discard"] = tags.pop(discard)
        for side, column in zip(("good", "bad"), JOINED_BY, strict=True):
            if ratings and (rating := ratings.get(tags.get(column, "").strip())) is not None:
                tags[f"rating_{side}"] = csv.cell(rating)
        items.append((name, Item(shape.plain(row.get(id, "")) or str(index), sentences, tags)))
    return _pair.suites(items, method, str(table.path))


def _method(place: str, columns: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    meant = _meant(columns)
    methods = [(method, tuple(meant[name] for name in names)) for method, names in FIELDS if meant.keys() >= {*names}]
    if len(methods) > 1:
        raise InputError(place, "the columns of two prefix methods", "the columns of one method")
    return methods[0] if methods else (None, ())


def _row(suite: Suite, item: Item, method: str | None) -> dict[str, str]:
    place = f"suite {suite.name}, item {item.id}"
    row = {"suite": suite.name, "id": item.id, "good": item.sentences["good"].text, "bad": item.sentences["bad"].text}
    parts = _pair.parts(item, method, f"suite {suite.name}")
    names = next((names for name, names in FIELDS if name == method), ())
    row |= dict(zip(names, parts.values(), strict=True))
    for name, text in {**suite.tags, **item.tags}.items():
        if name in row:
            raise InputError(place, f"a tag called {name!r}", "another name", f"The format reserves {name!r}.")
        if not name.startswith("json:"):
            row[name] = text
    return row
