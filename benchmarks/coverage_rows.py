"""The rows of the studies of coverage and size, and the page that a study writes."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from syntagm.stats import Interval

Numbers = NDArray[np.float64]
ITEMS = 24
# Suites whose accuracies differ in every way: a and b of a beta distribution.
POPULATIONS = {
    "even": (1.0, 1.0),
    "middling": (3.0, 2.0),
    "high": (8.0, 1.5),
    "near 1": (20.0, 1.0),
    "0 or 1": (0.4, 0.3),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table of coverage and size.

    Arguments:
        what, units: the number with its method, and the units.
        mean, least: coverage averaged over worlds, and in the worst; nan for a test alone.
        size: the largest rejection rate without a difference; nan without a test.
        power: the rejection rate in the world that `what` names; nan if it isn't shown.
        remark: what the product prints about few units.
    """

    what: str
    units: str
    mean: float = nan
    least: float = nan
    size: float = nan
    power: float = nan
    remark: str = ""

    def line(self) -> str:
        numbers = (
            "" if isnan(number) else f"{number:.3f}" for number in (self.mean, self.least, self.size, self.power)
        )
        return f"| {self.what} | {self.units} | {' | '.join(numbers)} | {self.remark} |"


HEADER = "| number (method) | units | coverage, mean | least | size | power | remark |\n|---|---|---|---|---|---|---|"


def holds(found: Interval, truth: float) -> bool:
    """Whether an interval contains the true number; none counts as missing it."""
    return found.low - 1e-12 <= truth <= found.high + 1e-12


def rate(outcomes: Sequence[bool]) -> float:
    return float(np.mean(outcomes))


def row(
    what: str, units: str, coverages: Sequence[float], sizes: Sequence[float] = (), power: float = nan, method: str = ""
) -> Row:
    size = float(np.max(sizes)) if sizes else nan
    mean, least = (float(np.mean(coverages)), float(np.min(coverages))) if coverages else (nan, nan)
    return Row(what, units, mean, least, size, power, remark(method))


def remark(method: str) -> str:
    """Return the remark about few units in the text of a method."""
    found = re.search(r"only \d+ [\w ]+", method)
    return found[0] if found else ""


def page(title: str, command: str, rows: Iterator[Row], draws: int) -> str:
    """Return the table in Markdown, with the time that it took."""
    start = time.process_time()
    lines = [HEADER]
    for found in rows:
        lines.append(found.line())
        print(lines[-1], flush=True)
    seconds = time.process_time() - start
    head = f"# {title}\n\n`python -m {command}`: {draws:,} draws, seed 1, {seconds:.0f} CPU-seconds.\n\n"
    return head + "\n".join(lines) + "\n"
