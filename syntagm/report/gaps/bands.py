"""The measures of fill runs by the frequency of lemmas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from syntagm.evaluation import Estimate, Group
from syntagm.report.numbers import Column
from syntagm.runs import Run
from syntagm.views import frequency_bands, gaps


def band_rows(columns: Sequence[Column[Run]]) -> list[tuple[object, ...]]:
    """Return the numbers of the figure by frequency band; empty if no word list has bands."""
    return [
        row
        for column in columns
        for row in frequency_bands.rows_of(
            column.name, gaps.lemma_sums(column.run), _tags(column), gaps.words(column.run).labels
        )
    ]


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
    lemmas = gaps.balance_labels(gaps.lemma_sums(column.run), gaps.words(column.run).labels)
    table = gaps.add_tags(lemmas, _tags(column), [frequency_bands.TAG])
    for band in sorted(int(name) for name in table[frequency_bands.TAG].unique() if name.isdecimal()):
        members = table.filter(pl.col(frequency_bands.TAG).cast(pl.Int64, strict=False) == band)
        group = Group(column.name)
        yield Band(column, band, *(gaps.lemma_share(members, measure, group) for measure in gaps.LEMMA_MEASURES))


def _tags(column: Column[Run]) -> dict[str, dict[str, str]]:
    return {row.lemma: dict(row.tags) for row in gaps.words(column.run).rows}
