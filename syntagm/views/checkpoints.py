"""Positions of checkpoints in their series: from training records, from names, or given by the user.

x=step      training steps, from names with step3000, step_3000 or checkpoint-3000
x=words     training words, from the records of a controlled experiment (folder `perplexity` next to `runs`), or from
names
            with 10M or chck_100M
x=tokens    training tokens, from `training.json` of such an experiment, or from names with 2B or 300B
x=size      parameters, from names with 70m or 1.4b
x=1e6,1e7   numbers in the order of the runs; or NAME=NUMBER pairs by folder or model, separated by commas
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from syntagm.core import UsageError
from syntagm.runs import Run, group_of, named, trained_on

UNITS = ("step", "words", "tokens", "size")
TITLES = {
    "step": "training steps",
    "words": "words of training text",
    "tokens": "tokens of training",
    "size": "parameters",
}
X = Annotated[
    str, "`step`, `words`, `tokens`, `size`, or numbers in the order of the runs; default: the first known for all runs"
]
Names = Annotated[tuple[str, ...], "name of the curve of each run, in the order of the runs, separated by commas"]
_STEP = re.compile(r"(?:step|checkpoint|global_step)[-_= ]?(\d+)", re.IGNORECASE)
_AMOUNT = re.compile(r"(?<![A-Za-z0-9.])(?:chck_)?(\d+(?:\.\d+)?)([kmbt])(?![A-Za-z0-9])", re.IGNORECASE)
_TIMES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_HASH = re.compile(r"@[0-9a-f]{8}\b")


@dataclass(frozen=True, slots=True)
class Point:
    """A run with its position in a series."""

    model: str  # the name of the model
    run: Run
    series: str  # the name of the curve
    at: float  # the position: steps, words, tokens or size


@dataclass(frozen=True, slots=True)
class Places:
    """Runs with their positions."""

    points: list[Point]  # one point for each run
    title: str  # the unit of the positions, for example "training steps"
    source: str  # the source of the positions


def places(runs: Sequence[Run], x: str = "", series: Sequence[str] = ()) -> Places:
    """Find the position and the series of each run."""
    # series: the name of the curve of each run. The default is the model family in a controlled experiment, otherwise
    # the name of the model without the number.
    positions = _from_option(runs, x) if x and x not in UNITS else _from_runs(runs, x)
    labels = list(series) or [_with_group(run, label) for run, (_, label) in zip(runs, positions.places, strict=True)]
    if len(labels) != len(runs):
        raise UsageError("series=", f"{len(labels)} names", f"{len(runs)}, one for each run, separated by commas")
    points = [
        Point(model, run, label, at)
        for (model, run), label, (at, _) in zip(named(runs), labels, positions.places, strict=True)
    ]
    return Places(points, positions.title, positions.source)


@dataclass(frozen=True, slots=True)
class _Positions:
    places: list[tuple[float, str]]
    title: str
    source: str


def _from_option(runs: Sequence[Run], x: str) -> _Positions:
    unit, colon, rest = x.partition(":")
    title, listed = (TITLES[unit], rest) if colon and unit in UNITS else ("x", x)
    parts = [text.strip() for text in listed.split(",")]
    pairs = dict(text.rsplit("=", 1) for text in parts if "=" in text)
    if pairs:
        parts = [pairs.get(run.label, pairs.get(run.model, "")) for run in runs]
    try:
        numbers = [float(text.replace("_", "")) for text in parts]
    except ValueError:
        numbers = []
    if len(numbers) != len(runs) or not all(0 <= number < float("inf") for number in numbers):
        expected = f"{len(runs)} numbers, NAME=NUMBER for each run, or one of " + ", ".join(UNITS)
        raise UsageError("x=", repr(x), expected)
    return _Positions([(at, _without_digits(run)) for at, run in zip(numbers, runs, strict=True)], title, "as given")


def _from_runs(runs: Sequence[Run], x: str) -> _Positions:
    unknown = ""
    for unit in [x] if x else UNITS:
        places = [_READERS[unit](run) for run in runs]
        known = [position for position in places if position is not None]
        if len(known) == len(runs):
            recorded = unit in ("words", "tokens") and all(trained_on(run, unit) for run in runs)
            source = "from the records of the experiment" if recorded else "read from the names"
            return _Positions(known, TITLES[unit], source)
        unknown = unknown or next(run.label for run, position in zip(runs, places, strict=True) if position is None)
    option = f"x={x}" if x else "x="
    raise UsageError(option, f"unknown for {unknown}", "x=NUMBER,NUMBER,... in the order of the runs")


def _by_step(run: Run) -> tuple[float, str] | None:
    return _in_name(run, _STEP, lambda match: float(match[1]))


def _by_amount(run: Run) -> tuple[float, str] | None:
    return _in_name(run, _AMOUNT, lambda match: float(match[1]) * _TIMES[match[2].lower()])


def _by_words(run: Run) -> tuple[float, str] | None:
    return trained_on(run, "words") or _by_amount(run)


def _by_tokens(run: Run) -> tuple[float, str] | None:
    return trained_on(run, "tokens") or _by_amount(run)


_READERS: dict[str, Callable[[Run], tuple[float, str] | None]] = {
    "step": _by_step, "words": _by_words, "tokens": _by_tokens, "size": _by_amount,
}  # fmt: skip


def _in_name(run: Run, pattern: re.Pattern[str], number: Callable[[re.Match[str]], float]) -> tuple[float, str] | None:
    """Return the position in the name of the model or of the folder, and the name of the series; None if there is none."""
    # A series has the name that the run was given, without the number. If that name has no such number, it is the name
    # with the number.
    for name in (run.model, run.label):
        if match := pattern.search(name):
            at, given = number(match), pattern.search(run.name)
            if given and number(given) == at:
                name, match = run.name, given
            rest = _HASH.sub("", name[: match.start()] + name[match.end() :])
            return at, rest.strip("-_@/:=, ") or run.model.partition(":")[0]
    return None


def _with_group(run: Run, label: str) -> str:
    """Return the name of a series after that of its group, so that models of different groups stay apart."""
    group = group_of(run.name)
    return label if label.startswith(group) else f"{group}: {label}"


def _without_digits(run: Run) -> str:
    return re.sub(r"[-_]?\d+", "", _HASH.sub("", run.model)).strip("-_@/:= ") or "series"
