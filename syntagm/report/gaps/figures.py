"""The figures of fill runs: the measures at nucleus cut-offs and by the frequency of lemmas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.report.gaps.scores import TAG
from syntagm.report.numbers import Column
from syntagm.result import Estimate, Group
from syntagm.runs.store import Run
from syntagm.views import frequency_bands, nucleus
from syntagm.views.gaps import kept, lemma_groups


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure, with the base name of its files, its title and the lines under the title."""

    stem: str
    title: str
    subtitle: tuple[str, ...]
    figure: Figure


def cut_off_drawings(columns: Sequence[Column[Run]], titled: bool = False) -> list[Drawing]:
    """Return figures of equal weight, model weight, covered mass and invalid contexts at cut-offs.

    The list is empty if no run has cut-offs. There is one line per construction if all suites of all runs have one,
    else one per suite.

    Arguments:
        titled: whether the figure itself has the title and the lines under it.
    """
    cut = [column for column in columns if len(kept.cuts(column.run)) > 1]
    drawings = []
    for measure in nucleus.MEASURES if cut else ():
        rows = [row for column in cut for row in _rows(column, measure, _by_construction(cut))]
        table = pl.DataFrame(rows, schema=nucleus.SCHEMA, orient="row")
        title, subtitle = nucleus.title(measure), nucleus.subtitle(measure)
        figure = nucleus.draw(table, measure, *((title, subtitle) if titled else ()))
        drawings.append(Drawing(f"cut_offs_{measure}", title, tuple(subtitle), figure))
    return drawings


def _by_construction(columns: Sequence[Column[Run]]) -> bool:
    return all(column.pooled and all(TAG in suite.tags for suite in column.run.suites) for column in columns)


def _rows(column: Column[Run], measure: str, pooled: bool) -> Iterator[tuple[object, ...]]:
    estimates = column.pooled if pooled else column.accuracies
    rows = (nucleus.row_of(estimate, group, column.name, measure) for (group, _), estimate in estimates.items())
    yield from (row for row in rows if row)


def band_drawing(columns: Sequence[Column[Run]], titled: bool = False) -> Drawing | None:
    """Return the figure of equal weight by frequency band; None if no word list has bands.

    Arguments:
        titled: whether the figure itself has the title and the lines under it.
    """
    rows = [
        row
        for column in columns
        for row in frequency_bands.rows_of(
            column.name, kept.lemmas(column.run), _tags(column), kept.words(column.run).labels
        )
    ]
    if not rows:
        return None
    table = pl.DataFrame(rows, schema=frequency_bands.SCHEMA, orient="row")
    different = frequency_bands.differences((column.name, column.run) for column in columns)
    subtitle, title = (*frequency_bands.SUBTITLE, *different), "Equal weight by frequency of the lemma"
    figure = frequency_bands.draw(table, subtitle, title) if titled else frequency_bands.draw(table, (), "")
    return Drawing("frequency_bands", title, tuple(subtitle), figure)


@dataclass(frozen=True, slots=True)
class Band:
    """Equal weight and model weight of the lemmas of a frequency band under a model; all labels have equal weight."""

    column: Column[Run]
    band: int
    equal_weight: Estimate
    model_weight: Estimate


def bands(columns: Sequence[Column[Run]]) -> list[Band]:
    """Return the bands of each model, with the lemmas that were scored under every label."""
    return [band for column in columns for band in _bands(column)]


def _bands(column: Column[Run]) -> Iterator[Band]:
    lemmas = lemma_groups.balanced(kept.lemmas(column.run), kept.words(column.run).labels)
    table = lemma_groups.tagged(lemmas, _tags(column), [frequency_bands.TAG])
    for band in sorted(int(name) for name in table[frequency_bands.TAG].unique() if name.isdecimal()):
        members = table.filter(pl.col(frequency_bands.TAG).cast(pl.Int64, strict=False) == band)
        group = Group(column.name)
        yield Band(column, band, *(lemma_groups.share(members, measure, group) for measure in lemma_groups.MEASURES))


def _tags(column: Column[Run]) -> dict[str, dict[str, str]]:
    return {row.lemma: dict(row.tags) for row in kept.words(column.run).rows}
