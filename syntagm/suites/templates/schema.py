"""Lexicons in a folder: `schema.toml` declares classes, forms, features and their values, and each class is a CSV table.

Everything is checked when the lexicon is read. docs/reference/templates.md describes the schema.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from syntagm.core import InputError, UsageError, csv, known, need, toml, utf8
from syntagm.suites.languages import tags
from syntagm.suites.templates import lexicon, template
from syntagm.suites.templates.cells import MAX_CELL, MAX_COLUMNS, MAX_ROWS, MISSING
from syntagm.suites.templates.lexicon import LexicalClass, Lexicon

SCHEMA, PHRASES = "schema.toml", "phrases.toml"
USUAL = "usual_"  # frames: those of all uses; usual_frames: those of uses that aren't marginal
MAX_TABLES = 1_000


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature: its values (None if any value is allowed), and what each value brings along."""

    values: frozenset[str] | None
    ancestors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Declared:
    """A class that the schema declares: its forms, its features, and the table of its uses with their features."""

    # A use without a value of the feature `usual` is marginal: it is not drawn. If `usual` is empty, all uses are.

    forms: tuple[str, ...]
    features: Mapping[str, Feature]
    uses: str
    use_features: Mapping[str, Feature]
    usual: str


def read(folder: Path) -> Lexicon:
    texts = [
        (file.name, utf8.read(file)) for file in sorted([*folder.glob("*.csv"), *folder.glob("*.toml")])[:MAX_TABLES]
    ]
    return _read(tuple(texts), str(folder))


@lru_cache(maxsize=4)
def _read(texts: tuple[tuple[str, str], ...], folder: str) -> Lexicon:
    files = dict(texts)
    if SCHEMA not in files:
        raise InputError(folder, f"no {SCHEMA}", f"a folder with {SCHEMA} and a table for each class")
    declared, language = _schema(files[SCHEMA], f"{folder}/{SCHEMA}")
    classes = {name: _class(name, own, files, folder) for name, own in declared.items()}
    more = template.read_lexicon(files[PHRASES], f"{folder}/{PHRASES}") if PHRASES in files else Lexicon()
    for name in (*more.classes, *more.aliases):
        if name in classes:
            raise InputError(f"{folder}/{PHRASES}, [classes] {name}", "a class of the schema", "another name")
    return Lexicon(classes | dict(more.classes), more.aliases, more.phrases, language)


def _schema(text: str, place: str) -> tuple[dict[str, Declared], str]:
    """Return the classes, and the tag of the language, "" if the schema doesn't say it."""
    top = toml.read(text, place)
    known(top, ("language", "trees", "classes"), place)
    language = toml.text(top, "language", place, "")
    try:
        tags.find(language)
    except UsageError as error:
        raise InputError(f"{place}, language", toml.shown(language), error.expected, error.cure) from None
    trees = {
        name: _tree(need(tree, dict, f"{place}, [trees.{name}]"), f"{place}, [trees.{name}]")
        for name, tree in toml.table(top, "trees", place).items()
    }
    classes = {}
    for name, content in toml.table(top, "classes", place).items():
        at = f"{place}, [classes.{toml.name(name, place)}]"
        known(need(content, dict, at), ("about", "forms", "uses", "usual", "features", "use_features"), at)
        forms = tuple(
            toml.name(need(form, str, at), f"{at}, forms") for form in need(content.get("forms"), list, f"{at}, forms")
        )
        features = _features(content, "features", trees, at)
        uses = toml.text(content, "uses", at, "")
        use_features = _features(content, "use_features", trees, at)
        if bool(uses) != bool(use_features):
            raise InputError(at, "only one of uses and use_features", "both, or neither")
        usual = toml.text(content, "usual", at, "")
        if usual and usual not in use_features:
            lexicon.refuse_unknown(usual, "feature", use_features, f"{at}, usual")
        for column, times in Counter([*forms, *features, *use_features, lexicon.CLASS]).items():
            if times > 1:
                raise InputError(at, f"two columns called {column}", "each name once")
        if not len(forms) > 0 or len(forms) + len(features) + len(use_features) > MAX_COLUMNS:
            raise InputError(f"{at}, forms", f"{len(forms)} forms", f"at least one, and at most {MAX_COLUMNS} columns")
        classes[name] = Declared(forms, features, uses, use_features, usual)
    return classes, language


def _tree(tree: Mapping[str, Any], place: str) -> dict[str, tuple[str, ...]]:
    """Return the ancestors of each value of a tree, whose entries are `value = "parent/parent"`."""
    parents = {
        value: tuple(part.strip() for part in need(text, str, f"{place} {value:.100}").split("/") if part.strip())
        for value, text in tree.items()
    }
    for value, own in parents.items():
        for parent in own:
            if parent not in parents:
                lexicon.refuse_unknown(parent, "value", parents, f"{place} {value:.100}")
    ancestors: dict[str, tuple[str, ...]] = {}
    for value in parents:
        above: dict[str, None] = {}
        pending = list(parents[value])
        while pending:
            parent = pending.pop(0)
            if parent == value:
                raise InputError(f"{place} {value:.100}", "a value that is its own ancestor", "a tree")
            if parent not in above:
                above[parent] = None
                pending += parents[parent]
        ancestors[value] = tuple(above)
    return ancestors


def _features(
    content: Mapping[str, Any], key: str, trees: Mapping[str, Mapping[str, tuple[str, ...]]], place: str
) -> dict[str, Feature]:
    features = {}
    for name, entry in toml.table(content, key, place).items():
        at = f"{place}, {key}, {toml.name(name, place)}"
        known(need(entry, dict, at), ("values", "tree", "closed", "about"), at)
        if "values" in entry and "tree" in entry:
            raise InputError(at, "both values and tree", "one of them")
        if "tree" in entry:
            tree = toml.text(entry, "tree", at)
            if tree not in trees:
                lexicon.refuse_unknown(tree, "tree", trees, at)
            closed = entry.get("closed", False)
            if not isinstance(closed, bool):
                raise InputError(f"{at}, closed", toml.shown(closed), "true or false")
            features[name] = Feature(frozenset(trees[tree]), trees[tree] if closed else {})
        else:
            if "closed" in entry:
                raise InputError(at, "closed without a tree", "a tree")
            listed = need(entry["values"], list, f"{at}, values") if "values" in entry else None
            features[name] = Feature(None if listed is None else frozenset(need(one, str, at) for one in listed))
        for value in features[name].values or ():
            if not value.strip() or value != value.strip() or value == MISSING or set(value) & set("/',"):
                raise InputError(at, f"the value {toml.shown(value)}", "a value without / , and ', and other than -")
    return features


def _class(name: str, declared: Declared, files: Mapping[str, str], folder: str) -> LexicalClass:
    columns = (*declared.forms, *declared.features)
    place = f"{folder}/{name}.csv"
    rows = _rows(name, columns, declared.features, files, folder)
    seen: dict[tuple[str, ...], str] = {}
    for where, cells in rows:
        # Two entries may have the same forms if they differ in a feature other than those of a tree (homonyms).
        features = (cells[column] for column, feature in declared.features.items() if not feature.ancestors)
        forms = tuple(cells[form] for form in declared.forms)
        key = forms[:1] if declared.uses else (*forms, *features)
        if set(forms) == {MISSING}:
            raise InputError(where, "no form", "at least one form")
        if key in seen:
            found = f"a second entry {toml.shown(next(form for form in forms if form != MISSING))}"
            raise InputError(where, found, f"one: the first is in {seen[key]}")
        seen[key] = where
    values = {column: feature.values for column, feature in declared.features.items()}
    if declared.uses:
        rows = _uses(name, declared, rows, files, folder)
        values |= {column: feature.values for column, feature in declared.use_features.items()}
        first = next(iter(declared.use_features))
        derived = (f"{first}s", f"{USUAL}{first}s") if declared.usual else (f"{first}s",)
        columns = (*columns, *declared.use_features, *derived)
        values |= dict.fromkeys(derived, values[first])
    return lexicon.of_words(
        name, place, columns,
        [(where, cells[declared.forms[0]] if declared.uses else where, cells) for where, cells in rows],
        {column: allowed for column, allowed in values.items() if allowed is not None},
    )  # fmt: skip


def _uses(
    name: str, declared: Declared, entries: Sequence[tuple[str, dict[str, str]]], files: Mapping[str, str], folder: str
) -> list[tuple[str, dict[str, str]]]:
    """Return a row for each use that is not marginal: the cells of the entry and of the use, and derived ones."""
    # These are all values of the first feature in the uses of the entry, and those of the uses that are not marginal.
    by_name = {cells[declared.forms[0]]: (where, cells) for where, cells in entries}
    uses = _rows(declared.uses, (name, *declared.use_features), declared.use_features, files, folder)
    first = next(iter(declared.use_features))
    frames: dict[str, dict[str, None]] = {}
    usual: dict[str, dict[str, None]] = {}
    for where, cells in uses:
        if cells[name] not in by_name:
            lexicon.refuse_unknown(cells[name], name, by_name, f"{where}, {name}")
        if cells[first] == MISSING:
            raise InputError(f"{where}, {first}", "no value", f"the {first} of this use")
        values = dict.fromkeys(cells[first].split("/"))
        frames.setdefault(cells[name], {}).update(values)
        if _is_usual(cells, declared):
            usual.setdefault(cells[name], {}).update(values)
    for entry, (where, _) in by_name.items():
        if entry not in usual:
            cure = f"List its uses in {declared.uses}.csv."
            without = f" with a value of {declared.usual}" if entry in frames else ""
            raise InputError(where, f"{entry}, which has no use{without}", "at least one use", cure)
    derived = {
        entry: {f"{first}s": "/".join(frames[entry])}
        | ({f"{USUAL}{first}s": "/".join(usual[entry])} if declared.usual else {})
        for entry in by_name
    }
    return [
        (where, by_name[cells[name]][1] | cells | derived[cells[name]])
        for where, cells in uses
        if _is_usual(cells, declared)
    ]


def _is_usual(cells: Mapping[str, str], declared: Declared) -> bool:
    return not declared.usual or cells[declared.usual] != MISSING


def _rows(
    name: str, columns: Sequence[str], features: Mapping[str, Feature], files: Mapping[str, str], folder: str
) -> list[tuple[str, dict[str, str]]]:
    """Read the rows of a table with their places. Cells of features get the ancestors of their values."""
    place = f"{folder}/{name}.csv"
    if f"{name}.csv" not in files:
        raise InputError(place, "no such file", "a table for each class of the schema")
    if files[f"{name}.csv"].count("\n") > MAX_ROWS:
        raise InputError(place, "too many lines", f"at most {MAX_ROWS:,}")
    full: dict[tuple[str, str], str] = {}
    rows = []
    for line, row in csv.under(columns, files[f"{name}.csv"], Path(place)):
        where = f"{place}, line {line}"
        cells = dict(zip(columns, row, strict=True))
        for column, cell in cells.items():
            if column in features:
                if (column, cell) not in full:
                    full[column, cell] = _full(cell, column, features[column], where)
                cells[column] = full[column, cell]
            elif len(cell) > MAX_CELL or cell != " ".join(cell.split()):
                raise InputError(
                    f"{where}, {column}", toml.shown(cell), f"at most {MAX_CELL:,} characters, with single spaces"
                )
        rows.append((where, cells))
    if not rows:
        raise InputError(place, "no rows", "at least one entry")
    return rows


def _full(cell: str, column: str, feature: Feature, place: str) -> str:
    """Return a cell of a feature with the ancestors of its values, if the feature is closed."""
    if cell == MISSING:
        return cell
    at = f"{place}, {column}"
    values = cell.split("/")
    if not cell or len(cell) > MAX_CELL or any(not value or value != value.strip() for value in values):
        raise InputError(at, toml.shown(cell), "values with / between them", f"Write {MISSING} for no value.")
    if len(set(values)) < len(values):
        raise InputError(at, f"a value twice in {toml.shown(cell)}", "each value once")
    for value in values:
        if feature.values is not None and value not in feature.values:
            lexicon.refuse_unknown(value, f"value of {column}", sorted(feature.values), at)
    inherited = (above for value in values for above in feature.ancestors.get(value, ()))
    return "/".join(dict.fromkeys([*values, *inherited]))
