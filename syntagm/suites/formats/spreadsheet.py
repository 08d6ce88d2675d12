"""Suites from a spreadsheet: a CSV or TSV table of regions, with the predictions in separate rows.

    item,condition,subject,modifier,verb
    #prediction,agreement,(verb;%match%) < (verb;%mismatch%)
    1,match,The keys,to the cabinet,are here.
    1,mismatch,The keys,to the cabinet,is here.

The header decides the layout:

    item,condition,REGION,REGION,...                 one sentence per row, one column per region
    item,CONDITION:REGION,CONDITION:REGION,...       one item per row
    item,condition,region,content                    one region per row

The column of items may also be called `item_id` or `item_number`. If columns next to each other are called `Region1`,
`region_02` and the like, these are the regions, and columns before and after them are not read.

A sentence consists of the contents of its regions, in order, joined with single spaces. A content that begins with `~`
follows without a space. An empty cell is a region of length 0. A region called `sentence` is a whole sentence without
regions. Columns called `tag.NAME` are tags of the item.

In some rows, the first cell gives the kind of content: `#prediction` (name, formula), `#tag` of the suite (name,
value), `#metric` (`sum` by default), and `#suite` (the name; by default that of the file). Their values are in the next
cells.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from syntagm.core import InputError, atomic, csv, shape, utf8
from syntagm.suites.formats import _table
from syntagm.suites.formula import parse_at
from syntagm.suites.suite import AGGREGATES, Item, Prediction, Region, Sentence, Suite, public_tags

ENDINGS = (".tsv", ".csv")
WRITES = (".tsv", ".csv")
LONG = ("item", "condition", "region", "content")
WHOLE = "sentence"
TAG = "tag."
ATTACHED = "~"
_ITEMS = ("item_id", "item_number")
_REGION = re.compile(r"region[ _]?\d+", re.IGNORECASE)
# The kind of a row about the suite -> how many cells follow.
KINDS = {"#prediction": 2, "#tag": 2, "#metric": 1, "#suite": 1}


def claims(path: Path, head: str) -> bool:
    """Return whether the first row has the column `item`, and either `condition` or columns `CONDITION:REGION`.

    A table with a column of numbers, such as reading times, is only recognised if it has rows about the suite.
    """
    if path.suffix not in ENDINGS or not any(_is_header(_first(head, mark)) for mark in _table.DELIMITERS.values()):
        return False
    if any(kind in head for kind in KINDS):
        return True
    table = _excerpt(path, head)
    names = [_column(name) for name in table.columns]
    # Tables of pairs and of judgements have ids of items and conditions, too.
    if table.columns[0].lower() != LONG[0] and not (set(LONG) <= {*names} or any(map(_REGION.fullmatch, names))):
        return False
    others = [name for name in table.columns if _column(name) not in LONG[:3] and not name.strip().startswith(TAG)]
    return not any(table.has_numbers(name) for name in others if name not in _unread(names))


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the columns beside numbered regions, which are not read."""
    return _unread(_excerpt(path, head, options.get("delimiter", "")).columns)


def read(path: Path, *, delimiter: str = "") -> Iterator[Suite]:
    """Read the suite of a file.

    Arguments:
        path: the file.
        delimiter: the separator of cells: a character, `tab`, `comma` or `semicolon`. The default follows from the header.

    Raises:
        InputError: a column is missing, a row can't be read, or a condition or region occurs twice; the message names the
            line.
        UsageError: `delimiter` is not one character.
    """
    content = utf8.read(path)
    marks = [mark for mark in _table.DELIMITERS.values() if _is_header(_first(content, mark))]
    yield _parsed(content, _table.delimiter_character(delimiter) if delimiter else (*marks, ",")[0], path)


def write(suites: Sequence[Suite], path: Path) -> None:
    """Write a suite as a table that can be read back as the same suite.

    If all sentences have the same regions, there is one sentence per row, otherwise one region per row. Cells are
    separated by commas if the name of the file ends in .csv, otherwise by tabs. Tags that begin with `json:` are
    skipped, because they only serve the format from which the suite was read.

    Raises:
        InputError: there is more than one suite, or the table can't store the suite; the message gives the reason.
    """
    if len(suites) != 1:
        raise InputError(str(path), f"{len(suites)} suites", "one suite", "Write each to a file of its own.")
    (suite,) = suites
    atomic.write(path, text_of(suite, "," if path.suffix == ".csv" else "\t").encode())


def text_of(suite: Suite, mark: str = "\t", by_item: bool = False) -> str:
    """Return the table of a suite as text; InputError if it can't store the suite."""
    path = Path(f"{suite.name}.tsv")
    text = csv.plain(_rows_of_items(suite) if by_item else _rows(suite), mark)
    try:
        reread = _parsed(text, mark, path)
    except InputError as error:
        raise InputError(f"suite {suite.name}", f"{error.found} ({error.place})", error.expected, error.cure) from None
    _refuse_loss(suite, reread)
    return text


def _excerpt(path: Path, head: str, delimiter: str = "") -> _table.Table:
    return _table.excerpt(path, head, lambda names: _is_header([_column(name) for name in names]), delimiter)


def _unread(columns: Sequence[str]) -> list[str]:
    """Return the columns beside those that are called region 1, 2 ...; none if there are no such columns in a block."""
    places = [place for place, name in enumerate(columns) if _REGION.fullmatch(name)]
    if not places or places[-1] - places[0] >= len(places) or "condition" not in map(_column, columns):
        return []
    others = [*columns[: places[0]], *columns[places[-1] + 1 :]]
    return [name for name in others if _column(name) not in LONG[:2] and not name.startswith(TAG)]


def _parsed(content: str, mark: str, path: Path) -> Suite:
    rows = csv.rows(content, path, mark)
    names = [_column(name) for name in next(rows, (1, []))[1]]
    unread = _unread(names)
    _refuse_header([name for name in names if name not in unread], path)
    csv.refuse_repeated(names, path)
    suite = _Suite(path)
    for line, cells in rows:
        place = f"{path}, line {line}"
        if cells[0].lstrip().startswith("#"):
            suite.add_setting(cells, place)
        elif any(cell.strip() for cell in cells):
            row = csv.named(names, _fitted(cells, len(names)), place)
            suite.add({name: cell.strip() for name, cell in row.items() if name not in unread}, place)
            shape.count(len(suite.contents), path)
    return suite.suite()


def _refuse_header(names: Sequence[str], path: Path) -> None:
    if not _is_header(names):
        shown = ", ".join(names[:12]) or "no columns"
        expected = "item,condition,REGION,..., item,CONDITION:REGION,..., or item,condition,region,content"
        raise InputError(f"{path}, line 1", f"the columns {shown}", expected)
    present = set(LONG) & set(names)
    if len(present) == 3 and "condition" in present:
        found = f"the column {(present - set(LONG[:2])).pop()!r} alone"
        raise InputError(f"{path}, line 1", found, "region and content", "Add the other, or rename the region.")
    other = [name for name in names if name not in LONG and not name.startswith(TAG)]
    if len(present) == 4 and other:
        cure = f"Call it {TAG}{other[0]} if it is a tag of the item, or delete it."
        raise InputError(f"{path}, line 1", f"the column {other[0]!r}", f"{','.join(LONG)} and {TAG}NAME", cure)


def _column(name: str) -> str:
    """Return the name of a column, in which the case of the four fixed names does not matter."""
    name = name.strip()
    return LONG[0] if _table.plain(name) in _ITEMS else name.lower() if name.lower() in LONG else name


def _fitted(cells: list[str], count: int) -> list[str]:
    """Remove empty cells beyond the header, which spreadsheet programs add. A shorter row may lack a delimiter anywhere."""
    while len(cells) > count and not cells[-1]:
        cells = cells[:-1]
    return cells


@dataclass(slots=True)
class _Suite:
    """The state of a suite while its table is read."""

    path: Path  # the file
    name: str = ""  # the name of the suite
    metric: str = "sum"
    predictions: list[Prediction] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    # Item -> condition -> region -> content.
    contents: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    item_tags: dict[str, dict[str, str]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # the rows about the suite that were read, by kind and name

    def add_setting(self, cells: Sequence[str], place: str) -> None:
        kind = cells[0].strip()
        values = [cell for cell in cells[1:] if cell.strip()]
        if kind not in KINDS:
            raise InputError(place, repr(kind), "an item, or one of " + ", ".join(KINDS))
        if len(values) != KINDS[kind]:
            expected = {1: "one cell after it", 2: "two cells after it, a name and a value"}[KINDS[kind]]
            cure = "Put cells that hold the delimiter in quotation marks."
            raise InputError(f"{place}, {kind}", f"{len(values)} cells", expected, cure)
        named = f"{kind} {values[0]}" if KINDS[kind] == 2 else kind
        if named in self.seen:
            raise InputError(place, f"a second {named}", "one", "Rename or delete one of them.")
        self.seen.add(named)
        if kind == "#prediction":
            formula = parse_at(values[1], f"{place}, prediction {values[0]}")
            self.predictions.append(Prediction(values[0], formula))
        elif kind == "#tag":
            self.tags[values[0]] = values[1]
        elif kind == "#suite":
            self.name = values[0]
        elif values[0].strip() in AGGREGATES:
            self.metric = values[0].strip()
        else:
            raise InputError(f"{place}, {kind}", repr(values[0]), "one of " + ", ".join(AGGREGATES))

    def add(self, row: Mapping[str, str], place: str) -> None:
        if not (item := row["item"]):
            raise InputError(
                f"{place}, item", "an empty cell", "the id of an item", "Repeat the id in each row of the item."
            )
        if moved := next((cell for cell in row.values() if cell in KINDS), ""):
            found = f"{moved} behind the first column"
            raise InputError(place, found, "it in the first column", f"Delete what stands before {moved}.")
        tags = {name.removeprefix(TAG): cell for name, cell in row.items() if name.startswith(TAG) and cell}
        known = self.item_tags.setdefault(item, {})
        for name, value in tags.items():
            if known.setdefault(name, value) != value:
                raise InputError(f"{place}, {TAG}{name}", repr(value), f"{known[name]!r} as above in item {item}")
        sentences = self.contents.setdefault(item, {})
        if set(LONG) <= row.keys():
            regions = sentences.setdefault(self._named(row, "condition", place), {})
            name = self._named(row, "region", place)
            if name in regions:
                raise InputError(
                    place, f"a second region {name!r}", "each region once in a sentence", "Rename one of them."
                )
            regions[name] = row["content"]
            return
        for condition, regions in self._sentences(row, place):
            if condition in sentences:
                cure = "Rename or delete one of them."
                raise InputError(place, f"a second sentence for {condition!r}, item {item}", "one", cure)
            sentences[condition] = regions

    def _sentences(self, row: Mapping[str, str], place: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the condition and the regions of each sentence in a row with whole sentences."""
        cells = {name: cell for name, cell in row.items() if name not in LONG[:2] and not name.startswith(TAG)}
        if "condition" in row:
            yield self._named(row, "condition", place), cells
            return
        by_condition: dict[str, dict[str, str]] = {}
        for name, cell in cells.items():
            condition, colon, region = (part.strip() for part in name.partition(":"))
            if not (condition and colon and region):
                raise InputError(f"{self.path}, line 1", f"the column {name!r}", f"CONDITION:REGION or {TAG}NAME")
            by_condition.setdefault(condition, {})[region] = cell
        # An item without a condition has only empty cells there.
        yield from ((name, regions) for name, regions in by_condition.items() if any(regions.values()))

    def _named(self, row: Mapping[str, str], column: str, place: str) -> str:
        if not row[column]:
            raise InputError(f"{place}, {column}", "an empty cell", "a name", f"Fill in the {column} in every row.")
        return row[column]

    def suite(self) -> Suite:
        items = []
        for identifier, conditions in self.contents.items():
            place = f"{self.path}, item {identifier}"
            sentences = {
                name: sentence_of(regions, f"{place}, condition {name}") for name, regions in conditions.items()
            }
            items.append(Item(identifier, sentences, self.item_tags[identifier]))
        metric = next(aggregate for aggregate in AGGREGATES if aggregate == self.metric)
        return Suite(self.name or self.path.stem, tuple(items), tuple(self.predictions), self.tags, metric)


def _first(content: str, mark: str) -> list[str]:
    first = content.lstrip("\ufeff").split("\n", 1)[0].rstrip("\r")
    return [_column(cell.strip(' "')) for cell in first.split(mark)]


def _is_header(names: Sequence[str]) -> bool:
    return names[:1] == ["item"] and ("condition" in names or any(":" in name for name in names))


def sentence_of(contents: Mapping[str, str], place: str) -> Sentence:
    if WHOLE in contents:
        if len(contents) > 1:
            cure = f"Rename the region {WHOLE!r}, or delete the others."
            raise InputError(
                place, f"the region {WHOLE!r} together with others", "a whole sentence, or its regions", cure
            )
        return Sentence(shape.sentence(contents[WHOLE], place))
    text, regions = "", []
    for name, content in contents.items():
        attached = content.startswith(ATTACHED)
        content = content.removeprefix(ATTACHED)
        space = " " if text and content and not attached else ""
        regions.append(Region(name, len(text + space), len(text + space + content)))
        text += space + content
    return Sentence(shape.sentence(text, place), tuple(regions))


def _rows(suite: Suite) -> list[list[str]]:
    sentences = [sentence for item in suite.items for sentence in item.sentences.values()]
    sequences = {tuple(region.name for region in sentence.regions) for sentence in sentences}
    regions = next(iter(sequences), ()) or (WHOLE,)
    tags = list(dict.fromkeys(name for item in suite.items for name in public_tags(item.tags)))
    long = (
        len(sequences) > 1
        or len(set(regions)) < len(regions)
        or any(name.lower() in LONG or name.startswith(TAG) for name in regions)
        or _unread((*LONG[:2], *regions))
    )
    header = [*(LONG if long else (*LONG[:2], *regions)), *(TAG + name for name in tags)]
    rows = _settings(suite)
    for item in suite.items:
        values = [item.tags.get(name, "") for name in tags]
        for condition, sentence in item.sentences.items():
            contents = contents_of(sentence)
            if long:
                rows += [[item.id, condition, name, content, *values] for name, content in contents]
            else:
                rows.append([item.id, condition, *(content for _, content in contents), *values])
    return [header, *([*row, *[""] * (len(header) - len(row))] for row in rows)]


def _settings(suite: Suite) -> list[list[str]]:
    rows = [["#suite", suite.name], ["#metric", suite.aggregate]]
    rows += [["#tag", name, value] for name, value in public_tags(suite.tags).items()]
    return rows + [["#prediction", prediction.name, prediction.formula.text] for prediction in suite.predictions]


def _rows_of_items(suite: Suite) -> list[list[str]]:
    columns: dict[str, tuple[str, ...]] = {}
    for item in suite.items:
        for condition, sentence in item.sentences.items():
            regions = tuple(region.name for region in sentence.regions) or (WHOLE,)
            if columns.setdefault(condition, regions) != regions:
                found = "other regions than in an item above"
                cure = "Use a table with one sentence per row."
                raise InputError(f"item {item.id}, condition {condition}", found, "the same regions in all items", cure)
    tags = list(dict.fromkeys(name for item in suite.items for name in public_tags(item.tags)))
    names = [f"{condition}:{region}" for condition, regions in columns.items() for region in regions]
    header = ["item", *names, *(TAG + name for name in tags)]
    rows = _settings(suite)
    for item in suite.items:
        cells = [
            content
            for condition, regions in columns.items()
            for content in (
                [content for _, content in contents_of(item.sentences[condition])]
                if condition in item.sentences
                else [""] * len(regions)
            )
        ]
        rows.append([item.id, *cells, *(item.tags.get(name, "") for name in tags)])
    return [header, *([*row, *[""] * (len(header) - len(row))] for row in rows)]


def contents_of(sentence: Sentence) -> list[tuple[str, str]]:
    if not sentence.regions:
        return [(WHOLE, sentence.text)]
    contents, end = [], 0
    for region in sentence.regions:
        content = sentence.text[region.start : region.end]
        contents.append((region.name, ATTACHED + content if content and end and region.start == end else content))
        end = region.end
    return contents


def _refuse_loss(suite: Suite, reread: Suite) -> None:
    items = tuple(replace(item, tags=public_tags(item.tags)) for item in suite.items)
    for old, new in zip(items, reread.items, strict=False):
        for condition, sentence in old.sentences.items():
            if new.sentences.get(condition) != sentence:
                raise InputError(
                    f"suite {suite.name}, item {old.id}, condition {condition}", f"regions of {sentence.text!r}",
                    "regions with different names, which cover the sentence except for single spaces between them",
                )  # fmt: skip
    if replace(suite, items=items, tags=public_tags(suite.tags)) != reread:
        cure = "Names, ids and tags must not be empty, nor begin or end with a space; ids must not begin with #."
        raise InputError(
            f"suite {suite.name}", "names, ids or tags that a table can't store", "other names, ids or tags", cure
        )
