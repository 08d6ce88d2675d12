"""The figures of runs over gaps: the weights against cut-offs, and by how frequent a lemma is."""

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
    """A figure with the name of its files, what stands over it, and what a reader must know of it."""

    stem: str
    title: str
    said: tuple[str, ...]
    figure: Figure


def cut_off_drawings(columns: Sequence[Column[Run]], titled: bool = False) -> list[Drawing]:
    """Equal weight, model weight, covered mass and invalid contexts against cut-offs; none if no run has cut-offs.

    By construction, where all suites of all runs have one, else by suite.

    Arguments:
        titled: do the title and the lines under it stand within the figure, too?
    """
    cut = [column for column in columns if len(kept.cuts(column.run)) > 1]
    found = []
    for measure in nucleus.MEASURES if cut else ():
        rows = [row for column in cut for row in _rows(column, measure, _by_construction(cut))]
        table = pl.DataFrame(rows, schema=nucleus.SCHEMA, orient="row")
        title, said = nucleus.title(measure), nucleus.subtitle(measure)
        figure = nucleus.draw(table, measure, *((title, said) if titled else ()))
        found.append(Drawing(f"cut_offs_{measure}", title, tuple(said), figure))
    return found


def _by_construction(columns: Sequence[Column[Run]]) -> bool:
    return all(column.pooled and all(TAG in suite.tags for suite in column.run.suites) for column in columns)


def _rows(column: Column[Run], measure: str, pooled: bool) -> Iterator[tuple[object, ...]]:
    found = column.pooled if pooled else column.accuracies
    rows = (nucleus.row_of(one, about, column.name, measure) for (about, _), one in found.items())
    yield from (row for row in rows if row)


def band_drawing(columns: Sequence[Column[Run]], titled: bool = False) -> Drawing | None:
    """Accuracy by frequency band; None if no word list has bands.

    Arguments:
        titled: as above.
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
    said, title = (*frequency_bands.SUBTITLE, *different), "Equal weight by frequency of the lemma"
    figure = frequency_bands.draw(table, said, title) if titled else frequency_bands.draw(table, (), "")
    return Drawing("frequency_bands", title, tuple(said), figure)


@dataclass(frozen=True, slots=True)
class Band:
    """The lemmas of one frequency band under one model, each label counting the same: equal weight and model weight."""

    column: Column[Run]
    band: int
    equal_weight: Estimate
    model_weight: Estimate


def bands(columns: Sequence[Column[Run]]) -> list[Band]:
    """A line for each model and band; of lemmas that were asked under every label."""
    return [one for column in columns for one in _bands(column)]


def _bands(column: Column[Run]) -> Iterator[Band]:
    lemmas = lemma_groups.balanced(kept.lemmas(column.run), kept.words(column.run).labels)
    table = lemma_groups.tagged(lemmas, _tags(column), [frequency_bands.TAG])
    for band in sorted(int(one) for one in table[frequency_bands.TAG].unique() if one.isdecimal()):
        part = table.filter(pl.col(frequency_bands.TAG).cast(pl.Int64, strict=False) == band)
        # The name from which the figure's intervals are drawn, so that they are the same.
        about = f"{column.name}/{frequency_bands.ALL}/{band}"
        group = Group(column.name)
        yield Band(
            column, band, *(lemma_groups.share(part, measure, about, group) for measure in lemma_groups.MEASURES)
        )


def _tags(column: Column[Run]) -> dict[str, dict[str, str]]:
    return {row.lemma: dict(row.tags) for row in kept.words(column.run).rows}
