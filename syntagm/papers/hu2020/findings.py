"""Data behind the claims of Hu et al. 2020: the raw results, prepared as in the paper, and the means in its figures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import polars as pl

from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.papers.hu2020 import claims, multiverse, raw, regressions
from syntagm.papers.hu2020.multiverse import Row, Withdrawn
from syntagm.papers.hu2020.raw import Raw, build_study, withdrawn
from syntagm.papers.hu2020.regressions import Regressions
from syntagm.papers.hu2020.study import Missing, Study, label
from syntagm.papers.paper import cited
from syntagm.stats import FALSE, HOLDS, Fit, cluster_intervals
from syntagm.views import UNITS, Table, by_circuit

DIFFERS, UNKNOWN = "differs", "not computed"
# Checked: printed, computed, verdict. Claim: the claim and the same three.
Checked = tuple[str, str, str]
Claim = tuple[str, str, str, str]
# The ending of verdicts that are based on fewer models than the paper's.
INCOMPLETE = " (incomplete data)"
Number = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its numbers.

    Arguments:
        text: the claim.
        printed: what the paper prints of it.
        rows: its numbers under all analyses; empty if data are missing.
        missing: what is missing; empty if nothing is.
    """

    text: str
    printed: str
    rows: list[Row]
    missing: str = ""

    @property
    def checked(self) -> Checked:
        """What is printed, the decisive number, and the verdict over all analyses."""
        if not self.rows:
            return self.printed, self.missing, UNKNOWN
        row, refuting = multiverse.decisive(self.rows), multiverse.against(self.rows)
        text = f"decisive: {row.text}; claimed: {row.claimed}"
        if refuting and refuting != row:
            text += f"; against it: {refuting.text}"
        return self.printed, text, multiverse.summary(self.rows)


def judge_claims(study: Study, withdrawn: Withdrawn, found: Regressions) -> list[Judged]:
    aic = cited("hu2020")["aic"]
    printed = {claims.CLASS_OVER_SIZE: f"{aic['no_architecture']} above {aic['no_size']}"}
    judges: list[tuple[str, Callable[[], list[Row]]]] = []
    for claim in claims.claims():
        printed[claim.text] = claim.printed
        judges.append((claim.text, partial(multiverse.rows, claim, study, withdrawn)))
    judges += claims.claims_of_perplexity(study, withdrawn, found)
    return [_judged(text, printed.get(text, "no coefficient"), judge) for text, judge in judges]


def _judged(text: str, printed: str, judge: Callable[[], list[Row]]) -> Judged:
    try:
        return Judged(text, printed, judge())
    except Missing as error:
        return Judged(text, printed, [], str(error))


def verdicts(rows: Sequence[Row], study: Study) -> Iterator[tuple[str, Table]]:
    """Yield the small table of verdicts, with the criteria of the claims, and the table of all their numbers."""
    small = multiverse.verdict_table(rows, claims.CRITERIA)
    for name, table in (("verdicts", small), ("multiverse", multiverse.table(rows))):
        yield name, replace(table, notes=(*table.notes, *study.mixed))


@dataclass(frozen=True)
class Findings:
    """The raw data, and the means and fits computed from them. A mean is a row with value, low, high and n."""

    # If the data lack a model, a corpus or a fit, Missing is raised, whose message names it.

    raw: Raw
    study: Study

    @cached_property
    def printed(self) -> Mapping[str, Any]:
        """The numbers transcribed from the paper."""
        return cited("hu2020")

    @cached_property
    def regressions(self) -> Regressions:
        """The regressions over 31 suites."""
        return Regressions(self.study)

    def fit(self, name: str) -> Fit:
        found = self.regressions.fits
        if name not in found.fits:
            raise Missing(f"{name} could not be fitted: {found.failures.get(name, '')}")
        return found.fits[name]

    def aic(self, name: str, suites: str) -> tuple[float, str]:
        """Return the AIC of a regression over another set of suites, and the number of suites as text."""
        study = build_study(self.raw, suites)
        fits = regressions.fit_models(regressions.observations(study), (name,))
        if name not in fits.fits:
            raise Missing(f"{name} could not be fitted: {fits.failures[name]}")
        return fits.fits[name].aic, study.counted

    def score(self, model: str) -> Number:
        """Return the mean suite score of a class (Figure 1)."""
        return self._row(self._scores, model=model)

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

    @cached_property
    def withdrawn(self) -> set[tuple[str, int]]:
        """The GPT-2 models that the authors withdrew: corpus and seed."""
        return withdrawn()

    @cached_property
    def judged(self) -> list[Judged]:
        return judge_claims(self.study, self.withdrawn, self.regressions)

    def rows(self) -> list[Row]:
        return [row for claim in self.judged for row in claim.rows]

    @cached_property
    def _scores(self) -> pl.DataFrame:
        return cluster_intervals.means(self.study.scores(), ["model"], "score", Kind.SHARE, UNITS)

    def _row(self, table: pl.DataFrame, **keys: str) -> Number:
        rows = table.filter(*(pl.col(key) == value for key, value in keys.items())).rows(named=True)
        if not rows:
            raise Missing("no results of " + " on ".join(label(value) for value in keys.values()))
        return rows[0]


# A function that checks one claim or several.
Check = Callable[[Findings], Checked | list[Claim]]


def table(checks: "Sequence[Check]", findings: Findings) -> Table:
    lacking = raw.lacking(findings.raw)
    rows: list[Claim] = [_incomplete(lacking)] if lacking else []
    marked = INCOMPLETE if lacking else ""
    for check in checks:
        claimed = " ".join((check.__doc__ or "").split())
        try:
            checked = check(findings)
            results = checked if isinstance(checked, list) else [(claimed, *checked)]
            rows += [(*result[:3], result[3] + marked) for result in results]
        except (Missing, UsageError) as error:
            rows.append((claimed, "", str(error), UNKNOWN))
    for claim in findings.judged:
        printed, computed, summary = claim.checked
        rows.append((claim.text, printed, computed, summary + (marked if claim.rows else "")))
    notes = (
        f"printed: {findings.printed['source']}",
        "computed: from the raw data, prepared as in the paper's own code, unless stated otherwise.",
        "decisive: of the numbers that a claim is about, the one that supports it least; claimed: the range it must be in.",
        *multiverse.notes(findings.rows()),
        *(f"On the publication, not from these data: {remark}" for remark in findings.printed["remarks"].values()),
    )
    return Table(
        "The printed paper and its raw data", ("claim", "printed", "computed", "verdict"), tuple(rows), (), notes
    )


def counts(made: Table, judged: Sequence[Judged]) -> Table:
    """Return the part of the table of claims that is about counts, printed numbers and figures, which one analysis judges."""
    elsewhere = {claim.text for claim in judged}
    rows = tuple(row for row in made.rows if row[0] not in elsewhere)
    notes = tuple(note for note in made.notes if note.startswith(("printed:", "computed:", "On the publication")))
    return replace(made, title="Counts, printed numbers and figures, and the raw data", rows=rows, notes=notes)


def _incomplete(lacking: Sequence[str]) -> Claim:
    computed = f"{'; '.join(lacking)}. All rows below use what there is, and say little about the paper"
    return "The raw data are those of the paper", "complete", computed, "incomplete data"


def verdict(holds: bool, otherwise: str = FALSE) -> str:
    return HOLDS if holds else otherwise
