"""Explanation: by which differences of conventions, settings and texts one run gets the verdicts of another on the same items."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import NONE, ModelError, UsageError
from syntagm.evaluation import DEFAULT, LINKINGS, REPORTED, TREATMENTS, Convention, Judge
from syntagm.models import Asking, LanguageModel, Option, Surprisals, families, names
from syntagm.runs import Run, named, pairs, whole
from syntagm.views.drawing.table import Cell, Table

# The values of settings that are tried, besides the model's own.
_SETTINGS: Mapping[str, tuple[str, ...]] = {"bos": ("yes", "no"), "eos": ("yes", "no"), "dtype": ("f32", "bf16", "f16")}
_TEXTS: Mapping[str, Callable[[str], str]] = {"a blank before": lambda text: f" {text}", "lower case": str.lower}


@dataclass(frozen=True, slots=True)
class Change:
    """A difference that needs other surprisals: a setting of the model, or another text."""

    setting: str  # the name of a setting; "" for another text
    value: str  # its value, or a key of `_TEXTS`

    def __str__(self) -> str:
        return f"{self.setting}={self.value}" if self.setting else self.value


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers to texts under some changes."""

    of: Mapping[str, tuple[str, Surprisals]]  # text -> the text that was scored, and its surprisals
    first_scored: bool  # whether the model had a start-of-text symbol
    tolerance: float  # differences in bits within it are ties


class Rescoring:
    """A model that scores texts again, under changes."""

    def __init__(self, name: str, run: Run, texts: Sequence[str]) -> None:
        self._name, self._texts = name, list(dict.fromkeys(texts))
        model = names.load(name)
        if model.fingerprint != (recorded := run.record["model"]["fingerprint"]):
            found = f"{model.name} ({model.fingerprint[:8]})"
            cure = "Give its options, too, such as bos=no."
            raise UsageError("model", found, f"the model of {run.place}: {run.model} ({recorded[:8]})", cure)
        parsed = names.parse(name)
        own = parsed.options
        known = {option.name: option for option in families.find(parsed.family).settings if isinstance(option, Option)}
        self._own: dict[str, str] = {
            setting: model.settings.get(setting) or own.get(setting) or known[setting].default or _SETTINGS[setting][0]
            for setting in _SETTINGS
            if setting in known
        }
        self._plain = {key: value for key, value in own.items() if key not in self._own}
        self._address = name.partition("?")[0]
        self._loaded: dict[tuple[str, ...], LanguageModel | None] = {}
        self._answers: dict[frozenset[Change], Answers | None] = {}
        self.refused: dict[str, None] = {}

    @property
    def changes(self) -> list[Change]:
        settings = [
            Change(setting, value) for setting, own in self._own.items() for value in _SETTINGS[setting] if value != own
        ]
        return [*settings, *(Change("", text) for text in _TEXTS)]

    def answers(self, changes: frozenset[Change]) -> Answers | None:
        """Score the texts under some changes; None if the model can't be loaded so, which `refused` says then."""
        if changes not in self._answers:
            self._answers[changes] = self._score(changes)
        return self._answers[changes]

    def _score(self, changes: frozenset[Change]) -> Answers | None:
        if (model := self._model(changes)) is None:
            return None
        changed = dict(zip(self._texts, self._changed(changes), strict=True))
        asked = sorted(set(changed.values()))
        asking = Asking(model)
        found = {answer.text: answer for answer in asking.score(asked)}
        asking.confirm()
        tolerance = max(1e-4, model.numerical_error)
        return Answers(
            {text: (other, found[other]) for text, other in changed.items()}, model.bos is not None, tolerance
        )

    def _changed(self, changes: frozenset[Change]) -> Iterator[str]:
        edits = [edit for name, edit in _TEXTS.items() if Change("", name) in changes]
        for text in self._texts:
            for edit in edits[::-1]:
                text = edit(text)
            yield text

    def _model(self, changes: frozenset[Change]) -> LanguageModel | None:
        """Return the model with the settings of the changes; only the last one is kept."""
        settings = self._own | {change.setting: change.value for change in changes if change.setting}
        key = tuple(settings.values())
        if key not in self._loaded:
            self._loaded = {}
            try:
                self._loaded[key] = names.load_permitted(self._address, NONE, {**self._plain, **settings})
            except (ModelError, UsageError) as error:
                self._loaded[key] = None
                shown = " and ".join(str(change) for change in changes if change.setting)
                self.refused[f"{shown}: {error}"] = None
        return self._loaded[key]


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
        return self.best.differences


@dataclass(frozen=True, slots=True)
class Found:
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


COLUMNS = ("differences", "convention", "n", "discordant", "explained", "left")
MEANING = (
    "differences: how many have to be assumed; convention: that under which the verdicts of {a} are closest to those of {b} "
    "with so many. discordant: items with other verdicts when both are compared by bits; explained and left: how many of all "
    "items agree then, and how many still don't."
)
_STORED = (
    "What can't be computed from the tokens of {a} is not tried: another start symbol, a blank before the text, case and dtype. "
    "Name the model of {a} (`compare --rescore MODEL`, or `model=`) to try them."
)
_SCORED = "{items:,} of {of:,} items were scored again, all or a sample of those with other verdicts among them."
# Sets of differences of the same number that are named.
_NAMED = 4


def make_table(
    runs: Sequence[Run],
    model: Annotated[
        str, "the model of the first run, to try start and end symbol, dtype, a blank and case, too; default: none"
    ] = "",
) -> Table:
    """Make one row for each number of differences, until nothing more is explained.

    Raises:
        UsageError: there are not two runs, they share no suite that compares two whole sentences, or the model is another
            one.
        RunError: the first run has no surprisals.
        ModelError: the model can't be loaded.
    """
    if len(runs) != 2:
        raise UsageError("explanation", f"{len(runs)} runs", "two: one with surprisals, and another of the same suites")
    (a, first), (b, second) = named(runs)
    found = explain(first, second, model)
    discordant = found.steps[0].left
    rows: list[tuple[Cell, ...]] = [
        (each.differences, _shown(each), found.items, discordant, discordant - each.left, each.left)
        for each in found.steps
    ]
    texts = [MEANING, _SCORED if model else _STORED]
    notes = [" ".join(texts).format(a=a, b=b, items=found.items, of=found.of)]
    if found.refused:
        notes.append(f"Not tried, as the model refuses it: {'; '.join(found.refused)}")
    return Table("Explanation of other verdicts", COLUMNS, tuple(rows), notes=tuple(notes))


def _shown(explanation: Explanation) -> str:
    candidates = [str(each) for each in (explanation.best, *explanation.others)]
    more = f" or {len(candidates) - _NAMED} more" if len(candidates) > _NAMED else ""
    return " or ".join(candidates[:_NAMED]) + more


__all__ = ["explain", "make_table"]
