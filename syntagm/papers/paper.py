"""What a paper offers to `syntagm reproduce`: each folder here declares it as `PAPER` in its `reproduce.py`."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm import registry

if TYPE_CHECKING:
    from syntagm.drawing.chart import Figure
    from syntagm.drawing.table import Table
    from syntagm.papers.experiment.design import Design
    from syntagm.progress import Progress

    Made = Mapping[str, Table | Figure] | Iterable[tuple[str, Table | Figure]]


@dataclass(frozen=True, slots=True)
class Gaps:
    """What a model is asked for in the gaps of the paper's suites.

    Arguments:
        words: the word list.
        top, bottom: the nucleus cut-offs.
    """

    words: str
    top: tuple[float, ...]
    bottom: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A controlled experiment: models trained on parts of a corpus, and what is made of them.

    Arguments:
        sizes, seeds: of an experiment that names none: parts of the corpus by name and words, and seeds of each model.
        carry_out: trains and measures what is missing; writes `results.csv` and `results.md`.
        made: the tables and figures of an experiment's folder.
    """

    sizes: Mapping[str, int]
    seeds: Sequence[int]
    carry_out: "Callable[[Design, Progress], Table]"
    made: "Callable[[Path], Made]"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that can be reproduced. What it does not offer is None.

    Arguments:
        suites: the names of its suites.
        of_runs: makes its tables and figures of runs; keyword-only arguments are choices of the user, as text.
        from_raw: makes them of the folder with the raw data that its authors published; likewise.
        gaps: what its suites are filled with, if it asks for words in gaps.
        experiment: how it trains models.
    """

    suites: tuple[str, ...]
    of_runs: "Callable[..., Made] | None" = None
    from_raw: "Callable[..., Made] | None" = None
    gaps: Gaps | None = None
    experiment: Experiment | None = None


def find(name: str) -> Paper:
    """The paper of a name.

    Raises:
        UsageError: there is none; the message lists those that exist.

    >>> find("hu2020").suites
    ('hu2020',)
    """
    paper = registry.find("papers", name).PAPER
    assert isinstance(paper, Paper), name
    return paper


def choices(make: "Callable[..., Made]") -> list[str]:
    """The choices that an analysis leaves to the user.

    >>> choices(find("hu2020").from_raw)
    ['suites', 'ngram']
    """
    return [name for name, one in inspect.signature(make).parameters.items() if one.kind is one.KEYWORD_ONLY]
