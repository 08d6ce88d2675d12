"""The figures of fill runs: the measures at nucleus cut-offs and by the frequency of lemmas."""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from syntagm.report.gaps.evidence import TAG
from syntagm.report.gaps.tables import tabulate_cut_offs
from syntagm.report.numbers import Column
from syntagm.report.section import Drawing
from syntagm.runs import Run
from syntagm.views import frequency_bands, kept, lines, nucleus

# The names of the figures at cut-offs: of equal weight and model weight, then of what they are computed from.
CUT_OFFS = tuple(f"cut_offs_{measure}" for measure in nucleus.MEASURES)


def select_cut(columns: Sequence[Column[Run]]) -> list[Column[Run]]:
    """Return the runs that have cut-offs."""
    return [column for column in columns if len(kept.cuts(column.run)) > 1]


def draw_cut_offs(columns: Sequence[Column[Run]], saved: bool = False) -> Iterator[Drawing]:
    """Draw equal weight, model weight, covered mass and invalid contexts at cut-offs."""
    # There is one line per construction if all suites of all runs have one, else one per suite.
    cut = select_cut(columns)
    for measure in nucleus.MEASURES:
        rows = [row for column in cut for row in _rows(column, measure, _by_construction(cut))]
        table = pl.DataFrame(rows, schema=nucleus.SCHEMA, orient="row")
        title = nucleus.title(measure)
        subtitle = nucleus.subtitle(measure, [(column.name, column.run) for column in cut])
        figure = nucleus.draw(table, measure, *((title, subtitle) if saved else ()))
        numbers = tabulate_cut_offs(table, title, len(columns) > 1)
        yield Drawing(f"cut_offs_{measure}", figure, f"Figure: {title}", _sentences(subtitle), title, numbers)


def _sentences(lines: Iterable[str]) -> str:
    return "".join(f"{line[0].upper()}{line[1:]}. " for line in lines)


def _by_construction(columns: Sequence[Column[Run]]) -> bool:
    return all(column.pooled and all(TAG in suite.tags for suite in column.run.suites) for column in columns)


def _rows(column: Column[Run], measure: str, pooled: bool) -> Iterator[tuple[object, ...]]:
    estimates = column.pooled if pooled else column.accuracies
    rows = (nucleus.row_of(estimate, group, column.name, measure) for (group, _), estimate in estimates.items())
    yield from (row for row in rows if row)


def draw_bands(columns: Sequence[Column[Run]], rows: Sequence[tuple[object, ...]], saved: bool = False) -> Drawing:
    """Draw equal weight by frequency band."""
    table = pl.DataFrame(rows, schema=frequency_bands.SCHEMA, orient="row")
    different = frequency_bands.differences((column.name, column.run) for column in columns)
    subtitle, title = (*frequency_bands.SUBTITLE, *different), "Equal weight by frequency of the lemma"
    wrapped = [*frequency_bands.SUBTITLE, *lines(different)]
    figure = frequency_bands.draw(table, wrapped, title) if saved else frequency_bands.draw(table, (), "")
    return Drawing("frequency_bands", figure, f"Figure: {title}", _sentences(subtitle), title)
