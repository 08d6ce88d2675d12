"""The tables of a unit of contexts: contexts, lemmas and results, and the most probable entries if they are kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.evaluation.gaps.weights import Cut, EqualWeight, ModelWeight, Shares
from syntagm.evaluation.items import results_table
from syntagm.evaluation.result import Result
from syntagm.evaluation.task import RESULTS, Schema
from syntagm.models import Entry
from syntagm.suites import WordList

CONTEXTS: dict[str, pl.DataType] = {
    "suite": pl.String(),
    "context": pl.String(),
    "item": pl.String(),
    "left": pl.String(),
    "right": pl.String(),
    "label": pl.String(),
    "items": pl.Int32(),
    "eligible": pl.Int32(),
    "ranked": pl.Int32(),
}
LEMMAS: dict[str, pl.DataType] = {
    "suite": pl.String(),
    "label": pl.String(),
    "row": pl.Int32(),
    "lemma": pl.String(),
    "contexts": pl.Int32(),
    "won": pl.Float64(),
    "right": pl.Float64(),
    "wrong": pl.Float64(),
}
TOP_WORDS: dict[str, pl.DataType] = {
    "suite": pl.String(),
    "context": pl.String(),
    "rank": pl.Int32(),
    "entry": pl.String(),
    "begins": pl.Boolean(),
    "bits": pl.Float64(),
    "lemma": pl.String(),
    "label": pl.String(),
}
WEIGHTS = ("equal_weight", "model_weight", "covered")


def schemas(cuts: Sequence[Cut], best: int = 0) -> dict[str, Schema]:
    """Return the columns of each table. The table of contexts has three columns for each cut-off."""
    numbers = {f"{name}{cut}": pl.Float64() for cut in cuts for name in WEIGHTS}
    entries = {"top_words.parquet": TOP_WORDS} if best else {}
    return {"contexts.parquet": CONTEXTS | numbers, "lemmas.parquet": LEMMAS, "results.parquet": RESULTS} | entries


def measures(cuts: Sequence[Cut]) -> list[EqualWeight | ModelWeight]:
    return [kind(cut.top, cut.bottom) for cut in cuts for kind in (EqualWeight, ModelWeight)]


@dataclass(slots=True)
class LemmaSums:
    """Sums over the contexts of one suite and label, for each row of the list. Shapes (rows,)."""

    contexts: NDArray[np.int32]
    won: NDArray[np.float64]
    right: NDArray[np.float64]
    wrong: NDArray[np.float64]

    def add(self, shares: Shares) -> None:
        self.contexts += shares.eligible
        for total, addend in ((self.won, shares.won), (self.right, shares.right), (self.wrong, shares.wrong)):
            total += np.where(shares.eligible, addend, 0.0)


@dataclass(slots=True)
class Rows:
    """The rows of a unit's tables, collected context by context."""

    cuts: tuple[Cut, ...]  # the cut-offs
    words: WordList
    best: int = 0  # the number of most probable entries that are kept for each context
    contexts: list[tuple[object, ...]] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    lemmas: dict[tuple[str, str], LemmaSums] = field(default_factory=dict)
    entries: list[tuple[object, ...]] = field(default_factory=list)
    forms: dict[str, tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        # Of a form that a published list repeats, the first row counts.
        rows = self.words.rows if self.best else ()
        self.forms = {
            form: (row.lemma, label)
            for row in reversed(rows)
            for form, label in zip(row.forms, self.words.labels, strict=True)
        }

    def add_best(self, suite: str, context: str, best: Sequence[Entry], capital: bool) -> None:
        """Add the most probable entries of a context, with lemma and label if they are forms of the list."""
        for number, entry in enumerate(best, 1):
            # Half a character, as a vocabulary may have it, can't be written.
            text = entry.text.encode("utf-8", "backslashreplace").decode()
            form = self.forms.get(text) or (self.forms.get(text[:1].lower() + text[1:]) if capital else None)
            lemma, label = form if form and entry.begins else (None, None)
            self.entries.append((suite, context, number, text, entry.begins, entry.bits, lemma, label))

    def add(self, about: tuple[object, ...], suite: str, label: str, shares: Shares) -> None:
        weights = [getattr(shares, name)[number] for number in range(len(self.cuts)) for name in WEIGHTS]
        self.contexts.append((*about, int(shares.eligible.sum()), shares.ranked, *map(float, weights)))
        if (suite, label) not in self.lemmas:
            rows = len(shares.eligible)
            self.lemmas[suite, label] = LemmaSums(np.zeros(rows, np.int32), *(np.zeros(rows) for _ in range(3)))
        self.lemmas[suite, label].add(shares)

    def tables(self) -> dict[str, pl.DataFrame]:
        schema = schemas(self.cuts)["contexts.parquet"]
        lemmas = [pl.DataFrame(schema=LEMMAS), *(_lemmas(key, sums, self.words) for key, sums in self.lemmas.items())]
        entries = pl.DataFrame(self.entries, schema=TOP_WORDS, orient="row")
        tables = {
            "contexts.parquet": pl.DataFrame(self.contexts, schema=schema, orient="row"),
            "lemmas.parquet": pl.concat(lemmas),
            "results.parquet": results_table(self.results),
        }
        return tables | ({"top_words.parquet": entries} if self.best else {})


def _lemmas(key: tuple[str, str], sums: LemmaSums, words: WordList) -> pl.DataFrame:
    rows = np.flatnonzero(sums.contexts)
    columns = {
        "suite": [key[0]] * len(rows),
        "label": [key[1]] * len(rows),
        "row": rows,
        "lemma": [words.rows[row].lemma for row in rows],
        **{name: getattr(sums, name)[rows] for name in ("contexts", "won", "right", "wrong")},
    }
    return pl.DataFrame(columns, schema=LEMMAS)
