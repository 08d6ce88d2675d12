"""The task `gaps`: a word list in the gaps of sentences, judged by TSE, EW and MW (Newman et al. 2021)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from syntagm.answers import Fill, Gap, Surprisals
from syntagm.errors import UsageError
from syntagm.models.contract import LanguageModel
from syntagm.result import Kind, Result
from syntagm.suite import Suite
from syntagm.tasks.gaps import nucleus, plan, tables
from syntagm.tasks.gaps.candidates import Candidates
from syntagm.tasks.gaps.context import Labels
from syntagm.tasks.gaps.distinct_contexts import Asked, Asker, asking
from syntagm.tasks.gaps.nucleus import Cut, Eligible
from syntagm.tasks.gaps.pair_accuracy import Tse
from syntagm.tasks.gaps.queries import Question, questions
from syntagm.tasks.gaps.shares import shares
from syntagm.tasks.items import count_reason
from syntagm.tasks.task import Judged, Options, Plan, Schema, Task, Unit
from syntagm.word_list import WordList


@dataclass(frozen=True, slots=True)
class Contexts:
    """Some contexts of a suite, with the words that are asked in them.

    Arguments:
        asked: digest -> context.
        within, initial: the words of gaps within sentences, and of those that begin one with a capital.
        tse: with the tolerance and the kind of eligible rows.
    """

    model: str
    words: WordList
    asked: Mapping[bytes, Asked]
    within: Question
    initial: Question
    cuts: tuple[Cut, ...]
    tse: Tse

    def question(self, context: Asked) -> Question:
        """Return the words of a context."""
        return self.initial if context.capital else self.within


@dataclass(frozen=True, slots=True)
class Gaps(Task[Contexts]):
    """Ask for every form of a word list in every distinct context.

    Arguments:
        words: the list.
        eligible: which rows of it count: "all" that the model can be asked for, or "single-token" ones.
        top, bottom: nucleus cut-offs, as shares, in any order; see `tasks.gaps.shares`.
        shared: is the gap the word that the sentences of an item share, rather than the word in which they differ?

    Raises:
        UsageError: a cut-off is no share, or `eligible` is neither.
    """

    name: ClassVar[str] = "gaps"
    needs: ClassVar[Literal["score", "fill"]] = "fill"
    # An answer for a long list takes some 200 kB.
    portion: ClassVar[int] = 64
    conjoins: ClassVar[bool] = False

    words: WordList
    eligible: Eligible = "all"
    top: Sequence[float] = ()
    bottom: Sequence[float] = ()
    shared: bool = False

    def __post_init__(self) -> None:
        if self.eligible not in nucleus.ELIGIBLE:
            raise UsageError("--eligible", repr(self.eligible), " or ".join(nucleus.ELIGIBLE))
        nucleus.cuts(tuple(self.top), tuple(self.bottom))

    def options(self, model: LanguageModel, tolerance: float, standing: Options) -> dict[str, Any]:
        """Return the list by its hash, the kind of gap, the rows that count, and the cut-offs."""
        cuts, words = nucleus.cuts(tuple(self.top), tuple(self.bottom)), self.words
        return {
            "tolerance": tolerance,
            "words": {"name": words.name, "hash": words.hash, "labels": list(words.labels), "rows": len(words.rows)},
            "blank": "shared" if self.shared else "differing",
            "eligible": self.eligible,
            "top": _as_recorded([cut.top for cut in cuts if cut.top < 1], standing, "top"),
            "bottom": _as_recorded([cut.bottom for cut in cuts if cut.bottom < 1], standing, "bottom"),
        }

    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        """Find the distinct contexts of all suites.

        Raises:
            InputError: no suite makes a context.
        """
        measures = ["tse", *map(str, tables.measures(_cuts(options)))]
        identity = f"{model.fingerprint}|{sorted(options.items())}"
        planned = plan.plan(suites, self._labels(), model.sees == "left", measures, identity)
        remarks = [f"word list {self.words.name}: {remark}" for remark in self.words.remarks]
        return Plan(
            planned.suites,
            planned.units,
            {**planned.record, "remarks": list(self.words.remarks)},
            # Tags change no number, so those of the latest start stand here, as those of suites do.
            {"words.csv": self.words.csv().encode()},
            (*remarks, *planned.warnings),
            planned.shared,
        )

    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Contexts]]:
        """Give each unit its contexts, with the items of all suites that have them."""
        own = plan.shared.own(suite.name, asking(suite, self._labels(), model.sees == "left"))
        tse = Tse(options["tolerance"], self.eligible)
        within, initial = questions(model, self.words, tse.which, own.values())
        digests = list(own)
        for unit in units:
            asked = {digest: own[digest] for digest in digests[unit.first : unit.last]}
            yield unit, Contexts(model.name, self.words, asked, within, initial, _cuts(options), tse)

    def ask(self, content: Contexts) -> list[Gap]:
        """Return the gap of each context."""
        return [content.question(context).blank(context) for context in content.asked.values()]

    def judge(self, content: Contexts, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        """Judge each context for every suite that has it, and each of its items."""
        rows, undefined = tables.Rows(content.cuts), Counter[str]()
        for (digest, context), answer in zip(content.asked.items(), answers, strict=True):
            assert isinstance(answer, Fill)
            question = content.question(context)
            _judge(content, rows, undefined, digest, context, question.answer(context, answer), question.words)
        suites = dict.fromkeys(asker.suite for context in content.asked.values() for asker in context.askers)
        return Judged(rows.tables(content.words), undefined, tuple(suites))

    @classmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        """Return the columns of contexts, of lemmas and of results."""
        return tables.schemas(_cuts(options))

    @classmethod
    def asked(cls, options: Options) -> tuple[str, ...]:
        """Return the word list, the kind of gap and the rows that count."""
        words = options["words"]
        return (
            f"words:{words['name']}@{words['hash'][:8]}",
            f"blank:{options['blank']}",
            f"eligible:{options['eligible']}",
        )

    @classmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        """TSE says of a pair whether it holds; the others are shares of a list."""
        return Kind.VERDICT if measure == "tse" else Kind.SHARE

    def _labels(self) -> Labels:
        return Labels(self.words, self.shared)


def _cuts(options: Options) -> tuple[Cut, ...]:
    return nucleus.cuts(tuple(options["top"]), tuple(options["bottom"]))


def _as_recorded(limits: list[float], standing: Options, end: str) -> list[float]:
    """Return cut-offs in the order in which the run that stands there names them: the names of its units rest on it."""
    recorded: list[float] = standing.get(end, [])
    return recorded if set(recorded) == set(limits) else limits


def _judge(
    content: Contexts,
    rows: tables.Rows,
    undefined: Counter[str],
    digest: bytes,
    context: Asked,
    fill: Fill,
    words: Candidates,
) -> None:
    """Add the rows of a context: one for each suite that has it, with the label of the first of the suite's items."""
    first: dict[str, Asker] = {}
    for asker in context.askers:
        first.setdefault(asker.suite, asker)
        rows.results.append(_tse(content, undefined, asker, fill, words))
    labels = {asker.label for asker in first.values()}
    by_label = {label: shares(fill, words, label, content.cuts, content.tse.which) for label in labels}
    for asker in first.values():
        found = by_label[asker.label]
        items = sum(other.suite == asker.suite for other in context.askers)
        about = (asker.suite, digest.hex(), asker.item, context.left, context.right, asker.label, items)
        rows.add(about, asker.suite, asker.label, found)
        if not found.eligible.any():
            _count(undefined, "a context without eligible rows", asker)
        n = int(found.eligible.sum())
        for measure in tables.measures(content.cuts):
            value = measure.of(found, content.cuts)
            rows.results.append(Result(content.model, asker.suite, asker.item, str(measure), value, n, np.nan))


def _tse(content: Contexts, undefined: Counter[str], asker: Asker, fill: Fill, words: Candidates) -> Result:
    found = content.tse.judge(fill, words, asker.good, asker.bad)
    if np.isnan(found.value):
        _count(undefined, "tse: a word of the pair is not eligible", asker)
    return Result(content.model, asker.suite, asker.item, "tse", found.value, found.n, found.margin)


def _count(undefined: Counter[str], reason: str, asker: Asker) -> None:
    count_reason(undefined, reason, lambda: f"item {asker.item} of {asker.suite} ({asker.good}, {asker.bad})")
