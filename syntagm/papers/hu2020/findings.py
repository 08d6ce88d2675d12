"""Data behind the claims of Hu et al. 2020: the raw results, prepared as in the paper, and the means in its figures."""

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
# Checked: printed, computed, verdict. Claim: the claim and the same three.
Checked = tuple[str, str, str]
Claim = tuple[str, str, str, str]
# The ending of verdicts that are based on fewer models than the paper's.
INCOMPLETE = " (incomplete data)"
# Scores within this distance are called comparable where there is no interval.
CLOSE = 0.10
Number = Mapping[str, Any]


@dataclass(frozen=True)
class Findings:
    """The raw data, and the means and fits computed from them. A mean is a row with value, low, high and n.

    If the data lack a model, a corpus or a fit, LookupError is raised, whose message names it.
    """

    raw: Raw
    study: Study

    @cached_property
    def printed(self) -> Mapping[str, Any]:
        """The numbers transcribed from the paper."""
        return cited("hu2020")

    @cached_property
    def fits(self) -> Fits:
        """The regressions over 31 suites."""
        return regressions.fitted(regressions.observations(self.study))

    def fit(self, name: str) -> Fit:
        """Return the fit of a regression."""
        if name not in self.fits.fits:
            raise LookupError(f"{name} could not be fitted: {self.fits.failures.get(name, '')}")
        return self.fits.fits[name]

    def aic(self, name: str, suites: str) -> float:
        """Return the AIC of a regression over another set of suites."""
        fits = regressions.fitted(regressions.observations(prepared(self.raw, suites)), (name,))
        if name not in fits.fits:
            raise LookupError(f"{name} could not be fitted: {fits.failures[name]}")
        return fits.fits[name].aic

    def score(self, model: str) -> Number:
        """Return the mean suite score of a class (Figure 1)."""
        return self._row(self._scores, model=model)

    def delta(self, model: str) -> Number:
        """Return the mean delta of a class, with a cluster bootstrap over corpora (Figure 3, left)."""
        return self._row(self._deltas, model=model)

    def cell(self, model: str, corpus: str) -> Number:
        """Return the mean suite score of a class on a corpus."""
        return self._row(self._cells, model=model, corpus=corpus)

    def circuits(self) -> dict[str, dict[str, float]]:
        """Return the mean scores by circuit and model (Figure 5): circuit -> model -> score."""
        table = by_circuit(self.study.scores(), self.study.circuits)
        scores: dict[str, dict[str, float]] = {}
        rows = (
            table.group_by("circuit", "model", maintain_order=True)
            .agg(pl.col("score").mean())
            .sort("circuit", "model")
            .iter_rows()
        )
        for circuit, model, value in rows:
            scores.setdefault(circuit, {})[model] = value
        return scores

    def circuit_deltas(self, without: tuple[str, ...] = ()) -> dict[str, dict[str, float]]:
        """Return the mean deltas by circuit and corpus (Figure 4, right): circuit -> corpus -> delta."""
        deltas = self.study.deltas().filter(~pl.col("model").is_in(without))
        table = by_circuit(deltas, self.study.circuits, "delta")
        means: dict[str, dict[str, float]] = {}
        for circuit, corpus, value in (
            table.group_by("circuit", "corpus", maintain_order=True)
            .agg(pl.col("delta").mean())
            .sort("circuit")
            .iter_rows()
        ):
            means.setdefault(circuit, {})[corpus] = value
        return means

    def corpus_deltas(self, without: tuple[str, ...] = ()) -> dict[str, float]:
        """Return the mean deltas by corpus (Figure 3, right): corpus -> delta."""
        deltas = self.study.deltas().filter(~pl.col("model").is_in(without))
        return dict(deltas.group_by("corpus", maintain_order=True).agg(pl.col("delta").mean()).iter_rows())

    def modified(self, model: str, modifier: str) -> float:
        """Return the mean score without or with modifiers (Figure 6)."""
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

    def _row(self, table: pl.DataFrame, **keys: str) -> Number:
        rows = table.filter(*(pl.col(key) == value for key, value in keys.items())).rows(named=True)
        if not rows:
            raise LookupError("no results of " + " on ".join(label(value) for value in keys.values()))
        return rows[0]


# A function that checks one claim or several.
Check = Callable[[Findings], Checked | list[Claim]]


def table(claims: "Sequence[Check]", findings: Findings) -> Table:
    """Make the table of claims with their verdicts.

    Arguments:
        claims: functions that check claims. The docstring of a function that checks a single claim is the claim. If
            data are missing or models can't be compared, the table gives the reason.
        findings: the data.
    """
    lacking = missing(findings)
    rows: list[Claim] = [_incomplete(lacking)] if lacking else []
    for claim in claims:
        claimed = " ".join((claim.__doc__ or "").split())
        try:
            checked = claim(findings)
            results = checked if isinstance(checked, list) else [(claimed, *checked)]
            rows += [(*result[:3], result[3] + (INCOMPLETE if lacking else "")) for result in results]
        except LookupError as error:
            rows.append((claimed, "", str(error.args[0]), UNKNOWN))
        except UsageError as error:
            rows.append((claimed, "", str(error), UNKNOWN))
    notes = (
        f"printed: {findings.printed['source']}",
        "computed: from the raw data, prepared as in the paper's own code, unless stated otherwise.",
    )
    return Table(
        "The printed paper and its raw data", ("claim", "printed", "computed", "verdict"), tuple(rows), (), notes
    )


def missing(findings: Findings) -> list[str]:
    """List the models of the published raw data that these data lack."""
    present = Counter(
        (label(model), corpus) for model, corpus in findings.study.instances()["model", "corpus"].iter_rows()
    )
    trained = findings.printed["trained"]
    expected = {(model, corpus): count for model, cells in trained.items() for corpus, count in cells.items()}
    short = [
        f"{model} on {corpus} ({present[model, corpus]} of {count})"
        for (model, corpus), count in expected.items()
        if present[model, corpus] < count
    ]
    return short + [model for model in findings.printed["off_the_shelf"] if not present[model, ""]]


def _incomplete(lacking: Sequence[str]) -> Claim:
    computed = f"missing: {', '.join(lacking)}. All rows below use the remaining models and say little about the paper"
    return "The raw data are those of the paper", "all models", computed, "incomplete data"


def verdict(holds: bool, otherwise: str = FALSE) -> str:
    """Return the verdict on a claim."""
    return HOLDS if holds else otherwise
