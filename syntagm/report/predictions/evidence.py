"""The numbers of runs of predictions that a page shows: accuracies, comparisons of models, and effects."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from markupsafe import Markup

from syntagm.core import UsageError, counted
from syntagm.evaluation import People
from syntagm.report import numbers
from syntagm.report.alerts import Alert, note_conventions, note_ties, note_unknown, warn_undefined, warn_unfinished
from syntagm.report.chapter import Chapter
from syntagm.report.html import isolate, join
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions import figures, model_pairs, scores
from syntagm.report.predictions.model_pairs import Headline, ModelPair, headlines
from syntagm.report.predictions.scores import ScoreRow
from syntagm.report.predictions.suites import SuiteOnPage, lay_out, read_sentences
from syntagm.runs import Run, ties_of, whole
from syntagm.views import Effect, Figure, Table, claims

# Pairs of all runs that a page judges by every convention; more take minutes.
_PAIRS = 4_000


class Evidence(Chapter):
    """The numbers of runs of predictions, or of measures used instead of them."""

    intro: ClassVar[str] = "predictions/intro.html"
    title: ClassVar[str] = "Targeted syntactic evaluation"

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns: Sequence[Column[Run]] = scores.columns(runs)
        self.subjects: Sequence[Subject[Run]] = numbers.subjects(self.columns)
        self.judged = scores.are_verdicts(self.columns)
        self.tag, self.by_group = scores.group_subjects(self.columns, self.subjects)

    def alerts(self) -> list[Alert]:
        """Return what the page warns of."""
        by_column = []
        for column in self.columns:
            of_items = f"of {sum(suite.items for suite in column.run.suites):,} items"
            by_column += [
                *warn_unfinished(column, of_items),
                *warn_undefined(column, "verdict"),
                *_note_skipped(column),
                *note_unknown(column),
            ]
        runs = [column.run for column in self.columns]
        meaning = f"The two sides of a tie differ by no more than numerical error; ties count as {ties_of(runs)}."
        return [*note_conventions(self.columns), *by_column, *note_ties(self.columns, "", meaning)]

    @property
    def tag_name(self) -> str:
        """The tag by which suites are grouped, as a noun; "" if there is none."""
        return self.tag.replace("_", " ")

    @property
    def names(self) -> set[str]:
        """The names of all suites."""
        return {subject.name for subject in self.subjects}

    @property
    def meanings(self) -> dict[str, str]:
        """What the names of predictions mean, where it is known."""
        names = dict.fromkeys(name for subject in self.subjects for name in subject.record.predictions)
        return {name: scores.MEANINGS[name] for name in names if name in scores.MEANINGS}

    @cached_property
    def overall(self) -> list[ScoreRow]:
        """The scores over all suites."""
        return scores.overall(self.columns)

    @cached_property
    def groups(self) -> Mapping[str, Sequence[ScoreRow]]:
        """Tag -> the scores over the suites of each of its values."""
        return scores.groups(self.columns)

    @property
    def all_lines(self) -> list[ScoreRow]:
        """The scores over all suites, and over those of each value of each tag."""
        return [*self.overall, *(line for group in self.groups.values() for line in group)]

    @cached_property
    def pairs(self) -> list[ModelPair]:
        """The comparisons of two models."""
        return model_pairs.compare(self.columns, self.subjects)

    @cached_property
    def claims(self) -> Table | None:
        """The claims that some convention shows; None without pairs of sentences, or with too many to judge on a page."""
        runs = [column.run for column in self.columns]
        pairs = sum(suite.items for run in runs for suite in run.suites if whole(run, suite.name))
        if not (self.judged and all(run.task.surprisals for run in runs)) or not 0 < pairs <= _PAIRS:
            return None
        try:
            table = claims.make_table(runs)
        except UsageError:  # a run without such pairs, or two without a suite in common
            return None
        return table if table.rows else None

    @cached_property
    def chance_headlines(self) -> list[Headline]:
        """The headline of each model, without comparisons with other models."""
        return headlines(self.columns, self.subjects, ())

    @cached_property
    def effects(self) -> dict[int, list[Effect]]:
        """Number of a suite -> the effects of all its predictions under all models."""
        return {subject.number: figures.effects_of(subject, read_sentences(subject)) for subject in self.subjects}

    @cached_property
    def curves(self) -> Figure | None:
        """The figure of scores along checkpoints; None if the runs have none."""
        return figures.trajectories(self.columns, self.tag)

    @cached_property
    def suites(self) -> list[SuiteOnPage]:
        """The suites as the page shows them."""
        return lay_out(self.subjects, self.effects)


def _note_skipped(column: Column[Run]) -> Iterator[Alert]:
    if column.skipped:
        skipped = join(
            Markup("%s (of %s)") % (isolate(name, False), counted(suites, "suite"))
            for name, suites in column.skipped.items()
        )
        why = (
            "People chose between the sentences of the first prediction only."
            if column.run.task is People
            else "These predictions are about parts of a sentence. This model sees the text on both sides of a part, so its bits "
            "for a part are not the surprisal of a reader who has read only up to there."
        )
        yield Alert(Markup("<b>Not computed</b> for %s: %s. %s") % (isolate(column.name), skipped, why))
