"""The text of a suite while it is written: what it is a suite of, what `check` finds in it, and what a preview shows."""

import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from syntagm.core import InputError, UsageError, counted
from syntagm.evaluation import baselines, chance_level
from syntagm.report import formula_in_words
from syntagm.suites import Finding, Formula, Item, Prediction, Suite, parse, spreadsheet, violations, within
from syntagm.views import read_file, unreadable

TABLE, TEMPLATE = ".tsv", ".toml"
# The empty suite, with which writing begins: a row an item, with the regions of two conditions.
EMPTY = "item\tgood:subject\tgood:verb\tbad:subject\tbad:verb\n1\t\t\t\t\n"
EMPTY_TEMPLATE = """\
regions = "subject | verb"

[conditions]
good = "The {noun} | {verb.sg}."
bad = "The {noun} | {verb.pl}."

[predictions]
agreement = "(verb;%good%) < (verb;%bad%)"

[items]
fill = "table"
rows = '''
noun | verb.sg | verb.pl
dog  | barks   | bark
cat  | sleeps  | sleep
'''
"""
# The items of a preview, and the near-duplicates that are listed.
SHOWN, NEAR = 12, 20


def suites(text: str, name: str) -> tuple[list[Suite], list[Finding]]:
    """Read the suites of a text; if it can't be read, return no suites, and a finding with the reason."""
    with as_file(text, name) as path:
        try:
            # A table that is a suite of pairs or of word rows elsewhere is a table of regions here.
            kind = "spreadsheet" if path.suffix == TABLE else "template"
            return read_file(f"{path}?format={kind}")
        except UsageError as error:
            return [], [unreadable(str(path), InputError(error.place, error.found, error.expected, error.cure))]


@contextmanager
def as_file(text: str, name: str) -> Iterator[Path]:
    """Yield the path of a temporary file that has a text, character by character."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8", newline="")
        yield path


def suite(text: str, name: str) -> Suite:
    found, unread = suites(text, name)
    if unread:
        raise InputError(name, unread[0].message, "", unread[0].cure)
    if len(found) != 1:
        raise InputError(name, f"{len(found)} suites", "one suite")
    return found[0]


@dataclass(frozen=True, slots=True)
class PreviewedPrediction:
    """A prediction in a preview."""

    name: str
    formula: str
    words: Markup  # the prediction in words, as HTML
    chance: float  # the chance level; nan if it is unknown
    baselines: Sequence[baselines.Baseline]  # what each baseline scores


@dataclass(frozen=True, slots=True)
class Preview:
    """What a preview shows of a suite."""

    name: str
    counts: str  # the numbers of what, in words
    rows: Sequence[tuple[str, str, Sequence[str]]]
    more: int
    predictions: Sequence[PreviewedPrediction]
    near: Sequence[tuple[str, str, str, str]]
    nearer: int
    note: str  # what is to be said of the word frequencies


def preview(found: Suite) -> Preview:
    conditions = list(dict.fromkeys(name for item in found.items for name in item.sentences))
    sentences = sum(len(item.sentences) for item in found.items)
    compared = {
        (reference.region, reference.condition)
        for prediction in found.predictions
        for reference in prediction.formula.references()
    }
    rows = []
    for item in found.items[:SHOWN]:
        for condition, sentence in item.sentences.items():
            pieces, at = [], 0
            for region in sentence.regions:
                pieces.append((sentence.text[at : region.start], False))
                pieces.append((sentence.text[region.start : region.end], (region.name, condition) in compared))
                at = region.end
            pieces.append((sentence.text[at:], ("*", condition) in compared and not sentence.regions))
            # No blank may come between two pieces.
            marked = [Markup("<mark>%s</mark>") % text if compares else text for text, compares in pieces if text]
            rows.append((item.id, condition, marked))
    frequencies, note = baselines.fitting(found, baselines.books())
    scored = baselines.baselines(found, frequencies)
    predictions = [
        PreviewedPrediction(
            prediction.name,
            prediction.formula.text,
            formula_in_words(prediction.formula),
            chance_level.known(prediction.formula).value,
            [one for one in scored if one.prediction == prediction.name and not math.isnan(one.value)],
        )
        for prediction in found.predictions
    ]
    near = list(within(found))
    return Preview(
        found.name,
        f"{counted(len(found.items), 'item')}, {counted(len(conditions), 'condition')}, {counted(sentences, 'sentence')}",
        rows,
        max(0, len(found.items) - SHOWN),
        predictions,
        near[:NEAR],
        max(0, len(near) - NEAR),
        note,
    )


def text_of(found: Suite, by_item: bool = True) -> str:
    """Return the text of a suite, as `convert` writes it."""
    try:
        return spreadsheet.text_of(found, by_item=by_item)
    except InputError:
        return spreadsheet.text_of(found)


def layout(text: str, name: str, by_item: bool) -> str:
    """Return the text of a table in a layout: one item per row, or one sentence per row."""
    return spreadsheet.text_of(suite(text, name), by_item=by_item)


def is_by_item(text: str) -> bool:
    """Return whether a table has one item per row."""
    head = next((line for line in text.splitlines() if line.strip()), "")
    return "condition" not in [cell.strip().lower() for cell in head.split("\t")]


@dataclass(frozen=True, slots=True)
class Draft:
    """A text with what it is: `draft` makes it."""

    suites: Sequence[Suite]
    findings: Sequence[Finding]  # what `syntagm check` finds in its file

    @property
    def conditions(self) -> list[str]:
        return list(dict.fromkeys(name for item in self._items for name in item.sentences))

    @property
    def regions(self) -> list[str]:
        sentences = (sentence for item in self._items for sentence in item.sentences.values())
        return list(dict.fromkeys(region.name for sentence in sentences for region in sentence.regions))

    @property
    def predictions(self) -> list[Prediction]:
        return [prediction for found in self.suites for prediction in found.predictions]

    @property
    def compared(self) -> list[tuple[str, str]]:
        """The regions that predictions compare, each with its condition."""
        references = (each for prediction in self.predictions for each in prediction.formula.references())
        return sorted({(reference.region, reference.condition) for reference in references})

    @property
    def _items(self) -> Iterator[Item]:
        return (item for found in self.suites for item in found.items)


def draft(text: str, name: str) -> Draft:
    """Read and check a text as `syntagm check` checks its file."""
    found, unread = suites(text, name)
    return Draft(found, [*unread, *violations(found, name)])


def with_prediction(text: str, name: str, prediction: Prediction) -> str:
    """Add a prediction to the text of a table, or replace the one of its name; the layout stays."""
    found = suite(text, name)
    kept = [one for one in found.predictions if one.name != prediction.name]
    if len(kept) < len(found.predictions):
        place = [one.name for one in found.predictions].index(prediction.name)
        kept.insert(place, prediction)
    else:
        kept.append(prediction)
    return spreadsheet.text_of(replace(found, predictions=tuple(kept)), by_item=is_by_item(text))


def without_prediction(text: str, name: str, which: str) -> str:
    found = suite(text, name)
    kept = tuple(one for one in found.predictions if one.name != which)
    return spreadsheet.text_of(replace(found, predictions=kept), by_item=is_by_item(text))


_NAME = re.compile(r"\*|[\w.\-]+")


def comparison(region: str, relation: str, first: str, second: str, third: str = "", fourth: str = "") -> Formula:
    """Return a formula from the choices of the builder.

    Arguments:
        region: the region; "*" for the whole sentence.
        relation: "<", ">" or "=".
        first, second: the conditions that are compared, or the rise from `second` to `first`.
        third, fourth: with them, the rise from `fourth` to `third` is compared with: an interaction.

    Raises:
        InputError: a choice is missing, or is no name that formulas may have.

    >>> str(comparison("verb", "<", "good", "bad"))
    '(verb;%good%) < (verb;%bad%)'
    >>> str(comparison("verb", ">", "a", "b", "c", "d"))
    '((verb;%a%) - (verb;%b%)) > ((verb;%c%) - (verb;%d%))'
    """
    if bool(third) != bool(fourth):
        raise InputError("prediction", "three conditions", "two, or four for an interaction")
    for what, chosen in (("region", region), *(("condition", each) for each in (first, second, third, fourth) if each)):
        if not _NAME.fullmatch(chosen):
            cure = "In formulas, names have letters, digits, _, - and . only: rename it."
            raise InputError(f"prediction, {what}", repr(chosen[:100]), "a name", cure)
    if relation not in ("<", ">", "=") or not (first and second):
        raise InputError("prediction", "a choice is missing", "a region, a relation and two conditions")
    one, other = f"({region};%{first}%)", f"({region};%{second}%)"
    if not third:
        return parse(f"{one} {relation} {other}")
    return parse(f"({one} - {other}) {relation} (({region};%{third}%) - ({region};%{fourth}%))")


def lines(first: str, second: str) -> list[tuple[str, str, bool]]:
    """Return two texts side by side: (line, line, whether they are the same).

    >>> lines("a\\nb\\n", "a\\nc\\nd\\n")
    [('a', 'a', True), ('b', 'c', False), ('', 'd', False)]
    """
    from difflib import SequenceMatcher
    from itertools import zip_longest

    old, new = first.splitlines(), second.splitlines()
    found: list[tuple[str, str, bool]] = []
    for _, begin, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        pairs = zip_longest(old[begin:end], new[start:stop], fillvalue="")
        found += [(one, other, old[begin:end] == new[start:stop]) for one, other in pairs]
    return found
