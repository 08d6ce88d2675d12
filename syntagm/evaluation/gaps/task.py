"""The task `gaps`: a word list in the gaps of sentences, judged by TSE, EW and MW (Newman et al. 2021)."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, Shape, UsageError
from syntagm.evaluation.gaps import tables
from syntagm.evaluation.gaps.context import ContextItem, DistinctContext, Labels, SuiteContexts, suite_contexts
from syntagm.evaluation.gaps.weights import (
    ELIGIBLE,
    Candidates,
    Cut,
    Eligible,
    Tse,
    candidates,
    canonical_cuts,
    shares,
    spread,
)
from syntagm.evaluation.items import count_reason, suite_hash
from syntagm.evaluation.result import Kind, Result
from syntagm.evaluation.task import Judged, Options, Plan, Schema, SuiteRecord, Task, Unit, suite_record
from syntagm.models import Fill, Gap, LanguageModel, Query, Surprisals
from syntagm.suites import Suite, WordList

SIZE = 512
TSE = "(word;%good%) < (word;%bad%)"
VERSION = 1
# The shape of the counts of a suite in run.json; see `core.io.shape.check`.
COUNTS_SHAPE: Shape = {
    "contexts": int,
    "asked": int,
    "items": int,
    "left_out": {str: int},
    "conflicts": int,
    "contradicted": int,
}


@dataclass(slots=True)
class Owners:
    """The unit of each context, and the items of later suites with the same context."""

    # Each context is scored once, and belongs to the suite in which it first appears. Items of later suites with the
    # same context are judged by the same answer; they are the only items that the plan keeps in memory.

    units: dict[bytes, int] = field(default_factory=dict)  # digest of a context -> the index of its unit in the plan
    suites: list[str] = field(default_factory=list)  # the suite of each unit
    # Digest -> the items of later suites with this context.
    guests: dict[bytes, list[ContextItem]] = field(default_factory=dict)

    def own(self, suite: str, of_suite: SuiteContexts) -> dict[bytes, DistinctContext]:
        """Return the contexts that first appear in a given suite, in order, with their items from all suites."""
        contexts = {
            digest: context for digest, context in of_suite.contexts.items() if self.suites[self.units[digest]] == suite
        }
        for digest, context in contexts.items():
            context.items.extend(self.guests.get(digest, ()))
        return contexts


def plan(suites: Iterable[Suite], labels: Labels, left_only: bool, measures: Iterable[str], identity: str) -> Plan:
    """Plan a run in one pass over all suites, keeping one suite in memory at a time."""
    owners, units, records = Owners(), list[Unit](), list[SuiteRecord]()
    contexts: dict[str, dict[str, Any]] = {}
    digests: list[Any] = []
    # TSE is a comparison of two words, with a formula to show. The other measures have no formula.
    predictions = {name: TSE if name == "tse" else "" for name in measures}
    for suite in suites:
        of_suite = suite_contexts(suite, labels, left_only)
        first_seen = [digest for digest in of_suite.contexts if digest not in owners.units]
        _guests(owners, of_suite, digests)
        own = list[Unit]()
        for first in range(0, len(first_seen), SIZE):
            digests_of_unit = first_seen[first : first + SIZE]
            owners.units |= dict.fromkeys(digests_of_unit, len(units) + len(own))
            owners.suites.append(suite.name)
            own.append(Unit("", suite.name, first, first + len(digests_of_unit), len(digests_of_unit)))
            digests.append(_hash(VERSION, identity, suite.name, first))
            for digest in digests_of_unit:
                context = of_suite.contexts[digest]
                items = [asdict(item) for item in context.items]
                _update(digests[-1], context.left, context.right, context.capital, items)
        units += own
        records.append(suite_record(suite, suite_hash(suite), predictions, own))
        contexts[suite.name] = _counted(of_suite, len(first_seen))
    if not units:
        raise _no_contexts(contexts)
    # A unit's name depends on the items of later suites, too.
    units = [replace(unit, name=digest.hexdigest()[:32]) for unit, digest in zip(units, digests, strict=True)]
    names = {record.name: tuple(unit.name for unit in units if unit.suite == record.name) for record in records}
    records = [replace(record, shards=own, asked=bool(own)) for record in records for own in [names[record.name]]]
    return Plan(
        tuple(records), tuple(units), {"contexts": contexts}, warnings=tuple(_warnings(contexts)), shared=owners
    )


def _warnings(contexts: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, counts in contexts.items():
        for reason, count in counts["left_out"].items():
            yield f"{name}: {count:,} without a context: {reason}"
        if count := counts["conflicts"]:
            yield f"{name}: {count:,} items share a context with an item of another label, which is used"
        if count := counts["contradicted"]:
            yield f"{name}: {count:,} items have another number than their good word in the list, which is used"


def _guests(owners: Owners, of_suite: SuiteContexts, digests: list[Any]) -> None:
    """Record the items whose context belongs to an earlier suite, and add them to the digest of that suite's unit."""
    for digest, context in of_suite.contexts.items():
        if digest in owners.units:
            owners.guests.setdefault(digest, []).extend(context.items)
            _update(digests[owners.units[digest]], digest.hex(), [asdict(item) for item in context.items])


def _counted(of_suite: SuiteContexts, first_seen: int) -> dict[str, Any]:
    return {
        "contexts": len(of_suite.contexts),
        "asked": first_seen,
        "items": of_suite.item_count,
        "left_out": dict(of_suite.skipped),
        "conflicts": of_suite.conflicts,
        "contradicted": of_suite.contradicted,
    }


def _no_contexts(contexts: dict[str, dict[str, Any]]) -> InputError:
    reasons = {
        f"{name}: {reason} ({count} items)"
        for name, counts in contexts.items()
        for reason, count in counts["left_out"].items()
    }
    return InputError(
        "the suites", "no item has a context", "pairs of sentences that differ in one word",
        "; ".join(sorted(reasons)[:5]) + ". docs/guide/gaps.md explains contexts.",
    )  # fmt: skip


def _hash(*content: object) -> Any:
    return hashlib.sha256(json.dumps(content).encode())


def _update(digest: Any, *content: object) -> None:
    digest.update(json.dumps(content).encode())


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The words for the gaps of a suite."""

    # In gaps after white space, only some of the words may be scored. In other gaps all words are scored, because a
    # word is tested for being a single token after white space only.

    words: Candidates
    asked: tuple[str, ...]  # the words to score after white space
    places: NDArray[np.intp]  # the positions of `asked` in `words`

    def gap(self, context: DistinctContext, best: int = 0) -> Gap:
        """Return the gap that the model scores, and in which it lists some of its most probable entries."""
        return Gap(context.left, context.right, self.asked if self._narrowed(context) else self.words.words, best)

    def answer(self, context: DistinctContext, fill: Fill) -> Fill:
        """Return the answer for all words; words that were not scored have nan."""
        return spread(fill, self.places, len(self.words.words)) if self._narrowed(context) else fill

    def _narrowed(self, context: DistinctContext) -> bool:
        return context.left[-1:].isspace() and len(self.places) < len(self.words.words)


def questions(
    model: LanguageModel, words: WordList, which: Eligible, contexts: Iterable[DistinctContext]
) -> tuple[Question, Question]:
    """Return the words for gaps within sentences, and for gaps that begin a sentence with a capital."""
    # The whole suite has one set of words, so that a model tokenizes each word once. If only single tokens count, and
    # the model can tell which words these are, other words are not scored.
    contexts = list(contexts)
    sentence_words = sorted({word for context in contexts for item in context.items for word in (item.good, item.bad)})
    within = _question(model, words, which, sentence_words, False)
    # A long list takes a while, and few suites have a gap at the beginning of a sentence.
    capital = any(context.capital for context in contexts)
    return within, _question(model, words, which, sentence_words, True) if capital else within


def _question(
    model: LanguageModel, rows: WordList, which: Eligible, sentence_words: Sequence[str], capital: bool
) -> Question:
    words = candidates(rows, sentence_words, capital)
    places = np.arange(len(words.words))
    if which == "single-token" and type(model).single is not LanguageModel.single:
        # If no row can count, all words are asked for, and the answer shows that none counts.
        narrowed = words.whole_rows(model.single(words.words), sentence_words)
        places = narrowed if len(narrowed) else places
    return Question(words, tuple(words.words[place] for place in places), places)


# The option with the number of most probable entries.
_BEST = "most_probable"


@dataclass(frozen=True, slots=True)
class Contexts:
    """A slice of the contexts of a suite, with the words to score."""

    model: str  # the name of the model
    words: WordList
    contexts: Mapping[bytes, DistinctContext]  # digest -> context
    # `within`, `initial`: the words for gaps within sentences, and for gaps that begin a sentence with a capital
    within: Question
    initial: Question
    cuts: tuple[Cut, ...]  # the cut-offs
    tse: Tse  # the measure TSE, with its tolerance and its rule for eligible rows
    best: int = 0  # the number of most probable entries to keep for each context

    def question(self, context: DistinctContext) -> Question:
        return self.initial if context.capital else self.within


@dataclass(frozen=True, slots=True)
class Gaps(Task[Contexts]):
    """Score every form of a word list in every distinct context.

    Arguments:
        words: the word list.
        eligible: which rows to use: "all" that the model can score, or only "single-token" rows.
        top, bottom: nucleus cut-offs as probability masses, in any order; see `evaluation.gaps.weights`.
        shared: whether the gap replaces the word that an item's sentences share, instead of the word in which they
            differ.
        most_probable: the number of most probable entries of the model's vocabulary to keep for each context.

    Raises:
        UsageError: a cut-off is not above 0 and at most 1, `eligible` has another value, or `most_probable` is negative.
    """

    name: ClassVar[str] = "gaps"
    needs: ClassVar[Literal["score", "fill"]] = "fill"
    # The answer for a long list takes about 200 kB.
    portion: ClassVar[int] = 64
    conjoins: ClassVar[bool] = False
    recorded: ClassVar[Mapping[str, Shape]] = {
        "options": {
            "tolerance": float,
            "words": {"name": str, "hash": str, "labels": [str], "rows": int},
            "blank": frozenset({"shared", "differing"}),
            "eligible": frozenset(ELIGIBLE),
            "top": [float],
            "bottom": [float],
            "most_probable?": int,
        },
        "contexts": {str: COUNTS_SHAPE},
        "remarks": [str],
    }

    words: WordList
    eligible: Eligible = "all"
    top: Sequence[float] = ()
    bottom: Sequence[float] = ()
    shared: bool = False
    most_probable: int = 0

    def __post_init__(self) -> None:
        if self.most_probable < 0:
            raise UsageError("--most-probable", str(self.most_probable), "a number of entries, 0 or more")
        if self.eligible not in ELIGIBLE:
            raise UsageError("--eligible", repr(self.eligible), " or ".join(ELIGIBLE))
        canonical_cuts(tuple(self.top), tuple(self.bottom))

    @property
    def queries(self) -> tuple[Query, ...]:
        """What a model must be able to do: fill gaps, and list entries if some are to be kept."""
        return ("fill", "best") if self.most_probable else ("fill",)

    def options(self, model: LanguageModel, tolerance: float, recorded: Options) -> dict[str, Any]:
        """Return the word list (with its hash), the kind of gap, the rule for eligible rows, the cut-offs, and what is kept."""
        cuts, words = canonical_cuts(tuple(self.top), tuple(self.bottom)), self.words
        return {
            "tolerance": tolerance,
            "words": {"name": words.name, "hash": words.hash, "labels": list(words.labels), "rows": len(words.rows)},
            "blank": "shared" if self.shared else "differing",
            "eligible": self.eligible,
            "top": _as_recorded([cut.top for cut in cuts if cut.top < 1], recorded, "top"),
            "bottom": _as_recorded([cut.bottom for cut in cuts if cut.bottom < 1], recorded, "bottom"),
            # A run without entries has the units of earlier versions, which kept none.
            **({_BEST: self.most_probable} if self.most_probable or _BEST in recorded else {}),
        }

    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        measures = ["tse", *map(str, tables.measures(_cuts(options)))]
        identity = f"{model.fingerprint}|{sorted(options.items())}"
        planned = plan(suites, self._labels(), model.sees == "left", measures, identity)
        remarks = [f"word list {self.words.name}: {remark}" for remark in self.words.remarks]
        return Plan(
            planned.suites,
            planned.units,
            {**planned.record, "remarks": list(self.words.remarks)},
            # Tags change no number. As with suites, those of the latest start are recorded.
            {"words.csv": self.words.csv().encode()},
            (*remarks, *planned.warnings),
            planned.shared,
        )

    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Contexts]]:
        """Yield each unit with its contexts and their items from all suites."""
        own = plan.shared.own(suite.name, suite_contexts(suite, self._labels(), model.sees == "left"))
        tse = Tse(options["tolerance"], self.eligible)
        within, initial = questions(model, self.words, tse.which, own.values())
        digests = list(own)
        for unit in units:
            contexts = {digest: own[digest] for digest in digests[unit.first : unit.last]}
            best = options.get(_BEST, 0)
            yield unit, Contexts(model.name, self.words, contexts, within, initial, _cuts(options), tse, best)

    def ask(self, content: Contexts) -> list[Gap]:
        return [content.question(context).gap(context, content.best) for context in content.contexts.values()]

    def judge(self, content: Contexts, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        """Judge each context for every suite that contains it, and each item in the context."""
        rows, undefined = tables.Rows(content.cuts, content.words, content.best), Counter[str]()
        for (digest, context), answer in zip(content.contexts.items(), answers, strict=True):
            assert isinstance(answer, Fill)
            question = content.question(context)
            _judge(content, rows, undefined, digest, context, question.answer(context, answer), question.words)
            if content.best:
                for suite in dict.fromkeys(item.suite for item in context.items):
                    rows.add_best(suite, digest.hex(), answer.best, context.capital)
        suites = dict.fromkeys(item.suite for context in content.contexts.values() for item in context.items)
        return Judged(rows.tables(), undefined, tuple(suites))

    @classmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        return tables.schemas(_cuts(options), options.get(_BEST, 0))

    @classmethod
    def signature_parts(cls, options: Options) -> tuple[str, ...]:
        words = options["words"]
        return (
            f"words:{words['name']}@{words['hash'][:8]}",
            f"blank:{options['blank']}",
            f"eligible:{options['eligible']}",
        )

    @classmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        """Return `VERDICT` for TSE, which holds or fails for a pair, and `SHARE` for the weights of a word list."""
        return Kind.VERDICT if measure == "tse" else Kind.SHARE

    def _labels(self) -> Labels:
        return Labels(self.words, self.shared)


def _cuts(options: Options) -> tuple[Cut, ...]:
    return canonical_cuts(tuple(options["top"]), tuple(options["bottom"]))


def _as_recorded(limits: list[float], recorded: Options, end: str) -> list[float]:
    """Return cut-offs in the order of the recorded run if they are the same, because its unit names depend on the order."""
    in_record: list[float] = recorded.get(end, [])
    return in_record if set(in_record) == set(limits) else limits


def _judge(
    content: Contexts,
    rows: tables.Rows,
    undefined: Counter[str],
    digest: bytes,
    context: DistinctContext,
    fill: Fill,
    words: Candidates,
) -> None:
    """Add the rows of a context: one per suite that contains it, with the label of the suite's first item."""
    first: dict[str, ContextItem] = {}
    for item in context.items:
        first.setdefault(item.suite, item)
        rows.results.append(_tse(content, undefined, item, fill, words))
    labels = {item.label for item in first.values()}
    by_label = {label: shares(fill, words, label, content.cuts, content.tse.which) for label in labels}
    for item in first.values():
        of_label = by_label[item.label]
        items = sum(other.suite == item.suite for other in context.items)
        about = (item.suite, digest.hex(), item.item, context.left, context.right, item.label, items)
        rows.add(about, item.suite, item.label, of_label)
        if not of_label.eligible.any():
            _count(undefined, "a context without eligible rows", item)
        n = int(of_label.eligible.sum())
        for measure in tables.measures(content.cuts):
            value = measure.of(of_label, content.cuts)
            rows.results.append(Result(content.model, item.suite, item.item, str(measure), value, n, np.nan))


def _tse(content: Contexts, undefined: Counter[str], item: ContextItem, fill: Fill, words: Candidates) -> Result:
    judgement = content.tse.judge(fill, words, item.good, item.bad)
    if np.isnan(judgement.value):
        _count(undefined, "tse: a word of the pair is not eligible", item)
    return Result(content.model, item.suite, item.item, "tse", judgement.value, judgement.n, judgement.margin)


def _count(undefined: Counter[str], reason: str, item: ContextItem) -> None:
    count_reason(undefined, reason, lambda: f"item {item.item} of {item.suite} ({item.good}, {item.bad})")
