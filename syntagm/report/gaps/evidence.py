"""The numbers of fill runs that a page shows: the measures by suite, by nucleus cut-off and by frequency band."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

from markupsafe import Markup

from syntagm.core import counted
from syntagm.report import numbers
from syntagm.report.alerts import Alert, list_reasons, note_conventions, note_ties, warn_undefined, warn_unfinished
from syntagm.report.chapter import Chapter
from syntagm.report.gaps import bands, scores, suites
from syntagm.report.gaps.bands import Band
from syntagm.report.gaps.scores import Row
from syntagm.report.gaps.suites import SuiteOnPage
from syntagm.report.html import isolate
from syntagm.report.numbers import Column
from syntagm.runs import Run
from syntagm.views import gaps


class Evidence(Chapter):
    """The numbers of fill runs."""

    intro: ClassVar[str] = "gaps/intro.html"
    title: ClassVar[str] = "Words in gaps"

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns: Sequence[Column[Run]] = scores.columns(runs)
        self.subjects = numbers.subjects(self.columns)
        blanks = {run.record["options"]["blank"] for run in runs}
        self.differing, self.shared = "differing" in blanks, "shared" in blanks

    def alerts(self) -> list[Alert]:
        """Return what the page warns of."""
        by_column = []
        for column in self.columns:
            unfinished = warn_unfinished(column, "of the items that make a context")
            by_column += [*unfinished, *warn_undefined(column, ""), *_note_items(column)]
        meaning = "The two words of a tie are equally likely within numerical error; a tie counts as a failure."
        ties = note_ties(self.columns, " of TSE", meaning)
        return [*note_conventions(self.columns), *by_column, *self._compare(), *ties]

    def _compare(self) -> Iterator[Alert]:
        """Warn of runs whose numbers can't be compared."""
        if len({tuple(gaps.shared_settings(column.run).values()) for column in self.columns}) > 1:
            content = Markup(
                "<b>Not comparable.</b> The runs have different word lists, gaps or eligible rows; see <a "
                'href="#record">the record</a>. Their numbers stand side by side, but measure different things.'
            )
            yield Alert(content, mild=False)
        elif not gaps.same_rows([column.run for column in self.columns]):
            content = Markup(
                "<b>Compare with care.</b> Not all models could score the same rows of the list, so their weights are over "
                "different rows: see the column &ldquo;rows&rdquo;."
            )
            yield Alert(content)

    @cached_property
    def suites(self) -> list[SuiteOnPage]:
        """The suites as the page shows them."""
        return suites.lay_out(self.subjects)

    @property
    def rows(self) -> list[Row]:
        """The results of each model on each suite."""
        return [model.row for suite in self.suites for model in suite.models]

    @cached_property
    def band_rows(self) -> list[tuple[object, ...]]:
        """The numbers of the figure by frequency band; empty if no word list has bands."""
        return bands.band_rows(self.columns)

    @cached_property
    def bands(self) -> list[Band]:
        """The weights of the lemmas of each band; empty if no word list has bands."""
        return bands.bands(self.columns) if self.band_rows else []


def _note_items(column: Column[Run]) -> Iterator[Alert]:
    """Note the items without a context, and those whose context has the label of another item."""
    if column.skipped:
        yield Alert(Markup("<b>No context</b> for %s:") % isolate(column.name) + list_reasons(column.skipped))
    if conflicts := scores.conflicts(column):
        content = Markup(
            "<b>%s</b> for %s share%s a context with an item of another label. The label of that item is used, since the model "
            "sees nothing that decides between the two."
        )
        items = counted(conflicts, "item")
        yield Alert(content % (items, isolate(column.name), "s" if conflicts == 1 else ""))
