"""The search for the smallest set of differences by which one run gets the verdicts of another."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.evaluation import DEFAULT, LINKINGS, REPORTED, TREATMENTS, Convention, Judge
from syntagm.models import Surprisals
from syntagm.runs import Run, pairs, whole
from syntagm.views.explanation.rescoring import Answers, Change, Rescoring

# Differences that are assumed together, at most, and those of them that need other surprisals.
_MOST, _MOST_CHANGES = 3, 2
# Pairs that are scored again, at most: of those with other verdicts, and as many of the others.
_RESCORED = 500

Answered = tuple[str, Surprisals]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A set of differences: a convention other than the sum of bits, and changes of settings or texts."""

    convention: Convention
    changes: tuple[Change, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.convention} with {' and '.join(map(str, self.changes))}" if self.changes else str(self.convention)
        )

    @property
    def differences(self) -> int:
        """The number of differences; another linking function is one."""
        convention = self.convention
        return len(convention.treatments) + (convention.linking.name != DEFAULT) + len(self.changes)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The differences that explain most, of sets with the same number of them."""

    best: Candidate  # the differences
    others: tuple[Candidate, ...]  # further sets of as many that leave as many items
    left: int  # the items on which the verdicts still differ

    @property
    def differences(self) -> int:
        """The number of differences."""
        return self.best.differences


@dataclass(frozen=True, slots=True)
class Found:
    """What the search found."""

    items: int  # the number of items that were looked at
    of: int  # the number of items of both runs
    steps: tuple[Explanation, ...]  # an explanation for each number of differences from 0, as long as more is explained
    refused: tuple[str, ...] = ()  # changes that the model refused, with its reasons


@dataclass(frozen=True, slots=True)
class _Pair:
    good: Answered
    bad: Answered
    theirs: float


def explain(first: Run, second: Run, model: str | Rescoring = "") -> Found:
    """Find the smallest sets of differences that turn the verdicts of a run into those of another."""
    judge = Judge(first.tolerance_in_bits, first.record["model"]["start"] is not None)
    listed = list(_pairs(first, second))
    bits = Convention.parse(DEFAULT)
    own = _verdicts(listed, judge, [bits])[0]
    kept = [
        (pair, value != pair.theirs)
        for pair, value in zip(listed, own, strict=True)
        if not np.isnan(value) and not np.isnan(pair.theirs)
    ]
    chosen = _sampled(kept) if model else [pair for pair, _ in kept]
    texts = [text for pair in chosen for text in (pair.good[0], pair.bad[0])]
    rescoring = (Rescoring(model, first, texts) if model else None) if isinstance(model, str) else model
    conventions = list(_conventions(first))
    theirs = np.array([pair.theirs for pair in chosen])
    found: list[Explanation] = []
    for count in range(_MOST + 1):
        left: list[tuple[int, Candidate]] = []
        for changes in _changes(rescoring, count):
            fitting = [each for each in conventions if Candidate(each, changes).differences == count]
            if rescoring and changes:
                if (answers := rescoring.answers(frozenset(changes))) is None:
                    continue
                again = Judge(answers.tolerance, answers.first_scored)
                values = _verdicts([_answered(pair, answers) for pair in chosen], again, fitting)
            else:
                values = _verdicts(chosen, judge, fitting)
            left += [
                (int((row != theirs).sum()), Candidate(each, changes))
                for each, row in zip(fitting, values, strict=True)
            ]
        least = min((number for number, _ in left), default=len(chosen))
        if found and least >= found[-1].left:
            continue
        best, *others = [candidate for number, candidate in left if number == least]
        found.append(Explanation(best, tuple(others), least))
        if not least:
            break
    return Found(len(chosen), len(kept), tuple(found), tuple(rescoring.refused) if rescoring else ())


def _pairs(first: Run, second: Run) -> Iterator[_Pair]:
    """Yield the pairs of both runs with the verdict of the second."""
    hashes = {suite.name: suite.hash for suite in second.suites}
    shared = [suite.name for suite in first.suites if hashes.get(suite.name) == suite.hash and whole(first, suite.name)]
    for name in shared:
        own, reported = list(pairs(first, name)), _reported(second, name)
        if len(reported) != len(own):
            found = f"{len(own)} and {len(reported)} items with verdicts"
            raise UsageError(name, found, "the same items in both runs")
        for (_, good, bad), verdict in zip(own, reported.tolist(), strict=True):
            yield _Pair(good, bad, verdict)
    if not shared:
        raise UsageError(
            "explanation", "no suite in common that compares two whole sentences", "runs of the same pairs"
        )


def _reported(run: Run, suite: str) -> NDArray[np.float64]:
    names = run.suite(suite).predictions
    measure = REPORTED if REPORTED in names else next(iter(whole(run, suite)), next(iter(names)))
    return run.results(suite).filter(pl.col("measure") == measure)["value"].to_numpy()


def _sampled(kept: Sequence[tuple[_Pair, bool]]) -> list[_Pair]:
    """Return pairs with other verdicts and as many of the others, at least 100, in order."""
    draw = Random(1)
    differing = [place for place, (_, differs) in enumerate(kept) if differs]
    agreeing = [place for place, (_, differs) in enumerate(kept) if not differs]
    # Differences that change no verdict but those in question are asked for; so some of the others are scored, too.
    chosen = draw.sample(differing, min(len(differing), _RESCORED))
    chosen += draw.sample(agreeing, min(len(agreeing), max(len(chosen), 100)))
    return [kept[place][0] for place in sorted(chosen)]


def _verdicts(pairs: Iterable[_Pair], judge: Judge, conventions: Sequence[Convention]) -> NDArray[np.float64]:
    """Return the verdicts under conventions. Shape (conventions, pairs)."""
    rows = [[value for value, _ in judge.margins(pair.good, pair.bad, conventions)] for pair in pairs]
    return np.array(rows, np.float64).reshape(-1, len(conventions)).T


def _answered(pair: _Pair, answers: Answers) -> _Pair:
    return _Pair(answers.of[pair.good[0]], answers.of[pair.bad[0]], pair.theirs)


def _changes(rescoring: Rescoring | None, most: int) -> Iterator[tuple[Change, ...]]:
    """Yield sets of changes, of which no two are about the same setting; the empty one first."""
    yield ()
    if rescoring:
        for count in range(1, min(most, _MOST_CHANGES) + 1):
            for changes in combinations(rescoring.changes, count):
                settings = [change.setting for change in changes if change.setting]
                if len(settings) == len(set(settings)):
                    yield changes


def _conventions(run: Run) -> Iterator[Convention]:
    """Yield all conventions with at most `_MOST` differences from `bits`; another linking function is one."""
    ended = run.record["model"]["policies"].get("eos") == "yes"
    # The verdicts to be explained are hits or failures.
    treatments = [each for each in TREATMENTS if (ended or each.name != "without_end") and each.tie in (None, 1)]
    for linking in LINKINGS:
        if linking.unigrams:
            continue
        for count in range(_MOST + (linking.name == DEFAULT)):
            for chosen in combinations(treatments, count):
                yield Convention(linking, chosen)
