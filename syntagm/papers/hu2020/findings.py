"""What claims about Hu et al. 2020 are checked against: their data, prepared as they do it, and the means that figures show."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from syntagm.drawing.table import Table
from syntagm.errors import UsageError
from syntagm.papers.cited import cited
from syntagm.papers.hu2020 import regressions
from syntagm.papers.hu2020.figures import modified
from syntagm.papers.hu2020.models import label
from syntagm.papers.hu2020.preparation import prepared
from syntagm.papers.hu2020.raw import Raw
from syntagm.papers.hu2020.regressions import Fits
from syntagm.papers.hu2020.study import Study
from syntagm.stats import clustered
from syntagm.stats.mixed.linear import Fit
from syntagm.views.classes import by_circuit

HOLDS, FALSE, DIFFERS, UNKNOWN = "holds", "does not hold", "differs", "not computed"
# What is printed, what is computed, the verdict; and the same after what is claimed.
Checked = tuple[str, str, str]
Claim = tuple[str, str, str, str]
# What a verdict on fewer models than the paper's ends in.
INCOMPLETE = " (incomplete data)"
# Within this distance scores are called comparable where there is no interval to compare.
CLOSE = 0.10
Number = Mapping[str, Any]


@dataclass(frozen=True)
class Findings:
    """The raw data and what is made of them; every mean is a row with value, low, high and n.

    Looking up a model, a corpus or a fit that the data don't have raises LookupError, which says what is missing.
    """

    raw: Raw
    study: Study

    @cached_property
    def printed(self) -> Mapping[str, Any]:
        """The cited numbers."""
        return cited("hu2020")

    @cached_property
    def fits(self) -> Fits:
        """The regressions over 31 suites."""
        return regressions.fitted(regressions.observations(self.study))

    def fit(self, name: str) -> Fit:
        """One regression."""
        if name not in self.fits.fits:
            raise LookupError(f"{name} could not be fitted: {self.fits.failures.get(name, '')}")
        return self.fits.fits[name]

    def aic(self, name: str, suites: str) -> float:
        """The AIC of a regression over another set of suites."""
        found = regressions.fitted(regressions.observations(prepared(self.raw, suites)), (name,))
        if name not in found.fits:
            raise LookupError(f"{name} could not be fitted: {found.failures[name]}")
        return found.fits[name].aic

    def score(self, model: str) -> Number:
        """The mean suite score of a class (Figure 1)."""
        return self._one(self._scores, model=model)

    def delta(self, model: str) -> Number:
        """The mean delta of a class, corpora redrawn (Figure 3, left)."""
        return self._one(self._deltas, model=model)

    def cell(self, model: str, corpus: str) -> Number:
        """The mean suite score of a class on a corpus."""
        return self._one(self._cells, model=model, corpus=corpus)

    def circuits(self) -> dict[str, dict[str, float]]:
        """Circuit -> model -> mean score (Figure 5)."""
        table = by_circuit(self.study.scores(), self.study.circuits)
        found: dict[str, dict[str, float]] = {}
        rows = (
            table.group_by("circuit", "model", maintain_order=True)
            .agg(pl.col("score").mean())
            .sort("circuit", "model")
            .iter_rows()
        )
        for circuit, model, value in rows:
            found.setdefault(circuit, {})[model] = value
        return found

    def circuit_deltas(self, without: tuple[str, ...] = ()) -> dict[str, dict[str, float]]:
        """Circuit -> corpus -> mean delta (Figure 4, right)."""
        deltas = self.study.deltas().filter(~pl.col("model").is_in(without))
        table = by_circuit(deltas, self.study.circuits, "delta")
        found: dict[str, dict[str, float]] = {}
        for circuit, corpus, value in (
            table.group_by("circuit", "corpus", maintain_order=True)
            .agg(pl.col("delta").mean())
            .sort("circuit")
            .iter_rows()
        ):
            found.setdefault(circuit, {})[corpus] = value
        return found

    def corpus_deltas(self, without: tuple[str, ...] = ()) -> dict[str, float]:
        """Corpus -> mean delta (Figure 3, right)."""
        deltas = self.study.deltas().filter(~pl.col("model").is_in(without))
        return dict(deltas.group_by("corpus", maintain_order=True).agg(pl.col("delta").mean()).iter_rows())

    def modified(self, model: str, modifier: str) -> float:
        """The mean score without or with modifiers (Figure 6)."""
        rows = modified(self.study).filter((pl.col("model") == label(model)) & (pl.col("modifier") == modifier))
        if not len(rows):
            raise LookupError(f"no suites with modifiers for {label(model)}")
        return float(rows.select(pl.col("score").mean()).item())

    @cached_property
    def _scores(self) -> pl.DataFrame:
        return clustered.means(self.study.scores(), ["model"], "score")

    @cached_property
    def _deltas(self) -> pl.DataFrame:
        return clustered.means(self.study.deltas(), ["model"], "delta", "corpus")

    @cached_property
    def _cells(self) -> pl.DataFrame:
        return clustered.means(self.study.scores(), ["model", "corpus"], "score")

    def _one(self, table: pl.DataFrame, **keys: str) -> Number:
        rows = table.filter(*(pl.col(key) == value for key, value in keys.items())).rows(named=True)
        if not rows:
            raise LookupError("no results of " + " on ".join(label(value) for value in keys.values()))
        return rows[0]


# One claim or several, checked.
Check = Callable[[Findings], Checked | list[Claim]]


def table(claims: "Sequence[Check]", findings: Findings) -> Table:
    """The claims with what they come to.

    Arguments:
        claims: a function a claim, whose docstring says what is claimed, or a function that makes several. A claim about
            data that are not there, or about models that can't be compared, says why.
    """
    lacking = missing(findings)
    rows: list[Claim] = [_incomplete(lacking)] if lacking else []
    for claim in claims:
        claimed = " ".join((claim.__doc__ or "").split())
        try:
            made = claim(findings)
            several = made if isinstance(made, list) else [(claimed, *made)]
            rows += [(*one[:3], one[3] + (INCOMPLETE if lacking else "")) for one in several]
        except LookupError as error:
            rows.append((claimed, "", str(error.args[0]), UNKNOWN))
        except UsageError as error:
            rows.append((claimed, "", str(error), UNKNOWN))
    notes = (
        f"printed: {findings.printed['source']}",
        "computed: from the raw data, as the paper's own code prepares them, unless it says otherwise.",
    )
    return Table(
        "The printed paper and its raw data", ("claim", "printed", "computed", "verdict"), tuple(rows), (), notes
    )


def missing(findings: Findings) -> list[str]:
    """The models of the published raw data that these data lack."""
    there = Counter(
        (label(model), corpus) for model, corpus in findings.study.instances()["model", "corpus"].iter_rows()
    )
    trained = findings.printed["trained"]
    wanted = {(model, corpus): count for model, cells in trained.items() for corpus, count in cells.items()}
    short = [
        f"{model} on {corpus} ({there[model, corpus]} of {count})"
        for (model, corpus), count in wanted.items()
        if there[model, corpus] < count
    ]
    return short + [model for model in findings.printed["off_the_shelf"] if not there[model, ""]]


def _incomplete(lacking: Sequence[str]) -> Claim:
    computed = "lacking: " + ", ".join(lacking) + ". All that follows is of what is left, and says little of the paper"
    return "The raw data are those of the paper", "all models", computed, "incomplete data"


def verdict(holds: bool, otherwise: str = FALSE) -> str:
    """Does a claim hold?"""
    return HOLDS if holds else otherwise
