"""Declarations of papers (`PAPER` in the `reproduce.py` of each folder), and the numbers transcribed from them."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from syntagm.core import registry, toml, utf8

if TYPE_CHECKING:
    from syntagm.core import Progress
    from syntagm.papers.experiment.design import Design
    from syntagm.stats import Planned
    from syntagm.views import Figure, Table

_FOLDER = Path(__file__).resolve().parent


@cache
def cited(name: str) -> Mapping[str, Any]:
    """Return the transcribed numbers of a paper and their source, from `papers/NAME/cited.toml`.

    >>> cited("marvin2018")["transcribed"]
    True
    """
    path = _FOLDER / name / "cited.toml"
    return MappingProxyType(toml.read(utf8.read(path), str(path)))


if TYPE_CHECKING:
    Outputs = Mapping[str, Table | Figure] | Iterable[tuple[str, Table | Figure]]


@dataclass(frozen=True, slots=True)
class Gaps:
    """The words that a model predicts in the gaps of the paper's suites.

    Arguments:
        words: the name of the word list.
        top, bottom: the nucleus (top-p) cut-offs.
    """

    words: str
    top: tuple[float, ...]
    bottom: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A controlled experiment: models trained on nested subsets of a corpus, and their results.

    Arguments:
        sizes: the default subsets of the corpus: name -> words.
        seeds: the default seeds of each model.
        carry_out: a function that trains and evaluates the missing models and writes `results.csv` and `results.md`.
        outputs: a function that makes the tables and figures of an experiment's folder.
        families: the default families; empty for `hyperparameters.DEFAULT`.
        samples: the default number of random samples of the corpus.
        paper_sizes, paper_samples: sizes and samples of the paper, for `--sizes paper`; no sizes if it has none.
        tests: a function that plans the likelihood-ratio tests of its results that have simulated responses. Its arguments
            are the design, and whether all models are finished. None: there are no such tests.
    """

    sizes: Mapping[str, int]
    seeds: Sequence[int]
    carry_out: "Callable[[Design, Progress], Table]"
    outputs: "Callable[[Path], Outputs]"
    families: Sequence[str] = ()
    samples: int = 1
    paper_sizes: Mapping[str, int] = field(default_factory=dict)
    paper_samples: int = 1
    tests: "Callable[[Design, bool], Sequence[Planned]] | None" = None


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper to reproduce. Parts that it does not offer are None.

    Arguments:
        suites: the names of the paper's suites.
        of_runs: a function that makes its tables and figures from runs. Its keyword-only arguments are the user's
            options, as text.
        from_raw: a function that makes the tables and figures from the authors' raw data, as `read` returns them, with
            such options.
        read: a function that reads a folder of raw data; by default, `from_raw` gets the folder.
        missing: a function that lists what raw data lack of the publication; empty if they are complete.
        ratio_tests: whether the results of raw data and of the experiment contain likelihood-ratio tests.
        gaps: the words that models predict in the gaps of its suites.
        experiment: the paper's controlled experiment.
    """

    suites: tuple[str, ...]
    of_runs: "Callable[..., Outputs] | None" = None
    from_raw: "Callable[..., Outputs] | None" = None
    read: Callable[[Path], Any] = Path
    missing: Callable[[Any], Sequence[str]] | None = None
    ratio_tests: bool = False
    gaps: Gaps | None = None
    experiment: Experiment | None = None


def find(name: str) -> Paper:
    """Find a paper by its name.

    Raises:
        UsageError: there is no such paper; the message lists all papers.

    >>> find("hu2020").suites
    ('hu2020',)
    """
    paper = registry.find("papers", name).PAPER
    assert isinstance(paper, Paper), name
    return paper


def choices(make: "Callable[..., Outputs]") -> list[str]:
    """List the options of an analysis, which are its keyword-only arguments.

    >>> choices(find("hu2020").from_raw)
    ['suites', 'ngram', 'intervals']
    """
    parameters = inspect.signature(make).parameters
    return [name for name, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
