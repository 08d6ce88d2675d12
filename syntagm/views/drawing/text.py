"""Formatting of names, numbers and remarks for figures and tables."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from math import isnan
from typing import TypeVar

from syntagm.core import counted, shown, span
from syntagm.evaluation import IN_BRIEF, Estimate, unseen_of

T = TypeVar("T")
# A table or figure names so many numbers for a remark, if they fit in a line, and has so many remarks; it counts the others.
_NAMED, MOST, IN_FIGURE = 4, 8, 3
_FEW = re.compile(r"only (\d+) (.+)")
# The width of a line of a figure's subtitle, in characters.
_LINE = 90
# The hash in the name of a local model, and the family before the name of a local or causal model.
_HASH = re.compile(r"@[0-9a-f]{8}(?![0-9a-zA-Z])")
_FAMILY = re.compile(r"^(?:causal:(?=.)|[a-z]\w*:(?=[^@]+@[0-9a-f]{8}(?![0-9a-zA-Z])))")


def distinct(names: Iterable[str]) -> dict[str, str]:
    """Map each name to the text shown for it, in order; names that would look the same are numbered.

    >>> distinct(["a", "b", "a", "b\\n"])
    {'a': 'a', 'b': 'b', 'b\\n': 'b '}
    """
    texts: dict[str, str] = {}
    for name in dict.fromkeys(names):
        text, count = shown(name), 1
        while text in texts.values():
            count += 1
            text = f"{shown(name)} ({count})"
        texts[name] = text
    return texts


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Map names of models to short names for legends, if these are still distinct.

    The short names omit `causal:`, which is the default family; those of local models omit the family and the hash.

    >>> short_names(["causal:gpt2", "lstm:small@dd5dc999", "toy:12-sentences"])
    {'causal:gpt2': 'gpt2', 'lstm:small@dd5dc999': 'small', 'toy:12-sentences': 'toy:12-sentences'}
    >>> short_names(["causal:tiny@dd5dc999", "causal:tiny@0b1c2d3e"])["causal:tiny@0b1c2d3e"]
    'tiny@0b1c2d3e'
    """
    without_family = {name: _FAMILY.sub("", name) for name in names}
    without_hash = {name: _HASH.sub("", text) if text != name else text for name, text in without_family.items()}
    for short in (without_hash, without_family):
        if len(set(short.values())) == len(short):
            return short
    return {name: name for name in names}


def readable(name: str) -> str:
    """Return the name of a phenomenon as figures write it.

    >>> readable("npi_licensing")
    'NPI licensing'
    """
    return re.sub(r"\bnpi\b", "NPI", name.replace("_", " "))


def or_none(value: T) -> T | None:
    """Convert nan to None, which gives an empty cell in a table and no mark in a figure.

    >>> or_none(0.5), or_none(float("nan"))
    (0.5, None)
    """
    return None if isinstance(value, float) and isnan(value) else value


def spoken(value: float, low: float = float("nan"), high: float = float("nan"), *, digits: int = 3) -> str:
    """Format a number and its interval, with three decimals by default.

    >>> spoken(0.25, 0.2, 0.3), spoken(0.25), spoken(float("nan"))
    ('0.250 [0.200, 0.300]', '0.250', 'undefined')
    """
    number = "undefined" if isnan(value) else f"{value:.{digits}f}"
    return number + ("" if isnan(low) else f" [{low:.{digits}f}, {high:.{digits}f}]")


def signed(value: float) -> str:
    """Format a difference with its sign and a typographic minus; 0 has no sign.

    >>> signed(0.25), signed(-0.25), signed(-1e-9), signed(float("nan"))
    ('+0.250', '−0.250', '0.000', 'undefined')
    """
    if isnan(value):
        return "undefined"
    return f"{value:+.3f}".replace("-", "−") if round(value, 3) else "0.000"


def shown_duration(seconds: float) -> str:
    """Format a duration.

    >>> shown_duration(42), shown_duration(600), shown_duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"


def only(models: Sequence[str]) -> list[str]:
    """Return a subtitle line that names the model if there is only one, since the figure then has no legend.

    >>> only(["causal:demo"]), only(["a", "b"])
    (['model: causal:demo'], [])
    """
    return [f"model: {models[0]}"] if len(models) == 1 else []


def remarks(numbers: Iterable[tuple[str, Sequence[str]]], most: int = MOST) -> tuple[str, ...]:
    """Return the remarks on numbers as sentences for the notes of a table; each names the numbers that it is about.

    Arguments:
        numbers: the name of each number, and the remarks on it (`Estimate.remarks`). Those on few units are one sentence.
        most: of further remarks, their number is given.

    >>> remarks([("a", ["only 3 suites"]), ("b", ["only 5 suites", "without mvrr: 0.500 [0.400, 0.600]"]), ("c", [])])
    ('a, b: only 3 to 5 suites.', 'b: without mvrr: 0.500 [0.400, 0.600].')
    """
    by_remark: dict[str, tuple[dict[str, None], set[int]]] = {}
    every = set()
    for name, found in numbers:
        every.add(name)
        for remark in found:
            named, counts = by_remark.setdefault(_pooled(remark), ({}, set()))
            named[name] = None
            counts |= {int(few[1])} if (few := _FEW.fullmatch(remark)) else set()
    sentences = []
    for remark, (named, counts) in list(by_remark.items())[:most]:
        names = list(named)[:_NAMED]
        while names[1:] and len(", ".join(names)) > _LINE - 30:
            names.pop()
        more = len(named) - len(names)
        if more and named.keys() == every:
            names, more = [f"all {len(named)} numbers"], 0
        few_units = f"only {span(counts)} " if counts else ""
        sentences.append(f"{', '.join(names)}{f' and {more} more' if more > 0 else ''}: {few_units}{remark}.")
    if (left := len(by_remark) - most) > 0:
        sentences.append(f"{counted(left, 'more remark')} of this kind.")
    return tuple(sentences)


def _pooled(remark: str) -> str:
    """Return a remark, or the name of the units that are few."""
    return few[2] if (few := _FEW.fullmatch(remark)) else remark


def remarks_on(estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """Return what limits the estimates of a figure as sentences; each estimate is named by its suites."""
    # Models are named, in short, only where a remark is not on all of them, and alone if it is on all their numbers.
    drawn = list(estimates)
    models = short_names(list(dict.fromkeys(estimate.group.model for estimate in drawn)))
    # Remark ("": any) and place or model -> the models or places that have it.
    holding: dict[tuple[str, str], set[str]] = {}
    for estimate in drawn:
        for remark in ("", *map(_pooled, estimate.remarks)):
            holding.setdefault((_place(estimate), remark), set()).add(estimate.group.model)
            holding.setdefault((estimate.group.model, remark), set()).add(_place(estimate))
    numbers: list[tuple[str, list[str]]] = []
    for estimate in drawn:
        place, model = _place(estimate), estimate.group.model
        for remark in estimate.remarks or [""]:
            of_all, everywhere = (holding.get((one, _pooled(remark))) == holding[one, ""] for one in (place, model))
            name = place if of_all else models[model] if everywhere else f"{place} ({models[model]})"
            numbers.append((name, [remark] if remark else []))
    return (*remarks(numbers, IN_FIGURE), *unseen_of(estimate.method for estimate in drawn))


def limits(named: Iterable[tuple[str, Estimate]], most: int = MOST) -> tuple[str, ...]:
    """Return what limits estimates as sentences: the remarks on them, and what intervals for other units don't know."""
    numbers = list(named)
    general = unseen_of(estimate.method for _, estimate in numbers)
    return (*remarks(((name, estimate.remarks) for name, estimate in numbers), most), *general)


def _place(estimate: Estimate) -> str:
    group = estimate.group
    return group.suite or (readable(group.labels[-1][1]) if group.labels else "mean over suites")


def lines(sentences: Iterable[str]) -> list[str]:
    """Break sentences into lines for the subtitle of a figure."""
    return [line for sentence in sentences for line in textwrap.wrap(IN_BRIEF.get(sentence, sentence), _LINE)]
