"""Verdicts of a run under conventions, from its stored tokens; no model is loaded."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from syntagm.core import UsageError
from syntagm.evaluation import (
    DEFAULT,
    LINKINGS,
    TREATMENTS,
    Case,
    Convention,
    Judge,
    Tokens,
    Unigrams,
    linking,
    load_unigrams,
    scored,
)
from syntagm.runs import Run, listed, pairs, whole

# The columns of results, so that `stats.score` and `stats.paired` apply; the measure is the convention.
SCHEMA = {
    "model": pl.String, "suite": pl.String, "item": pl.String, "measure": pl.String, "value": pl.Float64,
    "margin": pl.Float64, "n": pl.Int64,
}  # fmt: skip
# Margins are exactly 0 where the difference in bits is within the tolerance of the run.
TOLERANCE = 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where unigram probabilities and ratings come from, as options of a view say it."""

    unigrams: str = ""  # a text, or `ngram:...`; "" for none, and no convention that needs them
    ratings: str = ""  # a CSV file of ratings, for MORCELA; "" for none
    tokens: Tokens = "blanks"  # `tokens`, `case`: how words are found and looked up
    case: Case = "keep"

    def __post_init__(self) -> None:
        if self.ratings and not self.unigrams:
            raise UsageError("ratings=", "ratings without unigrams=", "both: MORCELA weighs the frequency of words")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The conventions of a run."""

    conventions: tuple[Convention, ...]  # the conventions, of which `bits` is the first
    unigrams: Unigrams | None  # the unigram model; None without one
    notes: tuple[str, ...] = ()  # what readers have to know, as sentences


def choose(run: Run, source: Source, names: Sequence[str] = ()) -> Chosen:
    """Return the conventions that apply to a run."""
    unigrams = None
    if source.unigrams:
        texts = (text for suite in run.suites for text in run.scored(suite.name)["text"].unique())
        unigrams = load_unigrams(source.unigrams, texts, source.tokens, source.case)
    notes: tuple[str, ...] = ()
    if names:
        found = [Convention.parse(name) for name in dict.fromkeys((DEFAULT, *names))]
        if not unigrams and (lacking := next((each for each in found if each.unigrams), None)):
            raise UsageError("convention=", f"{lacking} without unigrams=", "unigrams=FILE, a text to count words in")
    else:
        found = [Convention(linking) for linking in LINKINGS if unigrams or not linking.unigrams]
        ended = run.record["model"]["policies"].get("eos") == "yes"
        found += [
            Convention(LINKINGS[0], (treatment,))
            for treatment in TREATMENTS
            if (ended or treatment.name != "without_end") and treatment.tie in (None, 1)
        ]
    if source.ratings and unigrams:
        fitted = _fitted(run, source, unigrams)
        found.append(Convention(fitted.linking))
        notes = (fitted.note,)
    return Chosen(tuple(found), unigrams, notes)


def _fitted(run: Run, source: Source, unigrams: Unigrams) -> linking.Fit:
    given = linking.read_ratings(source.ratings)
    first_scored = run.record["model"]["start"] is not None
    known = {}
    for suite in run.suites:
        for _, _, sentence, answer in run.answers(suite.name):
            if sentence.text in given and sentence.text not in known:
                known[sentence.text] = scored(
                    sentence.text, answer, first_scored, unigrams=unigrams, tokens=source.tokens
                )
    return linking.fit_ratings(known, given, source.ratings)


def results(run: Run, suite: str, chosen: Chosen, tokens: Tokens = "blanks") -> pl.DataFrame:
    """Judge the items of a suite under each convention: the columns of `SCHEMA`, items in order within a convention."""
    judge = Judge(run.tolerance_in_bits, run.record["model"]["start"] is not None, chosen.unigrams, tokens)
    rows: list[list[tuple[object, ...]]] = [[] for _ in chosen.conventions]
    for item, good, bad in pairs(run, suite):
        size = len(good[1].bits) + len(bad[1].bits)
        for own, convention, (value, margin) in zip(
            rows, chosen.conventions, judge.margins(good, bad, chosen.conventions), strict=True
        ):
            own.append((run.model, suite, item, str(convention), value, margin, size))
    return pl.DataFrame([row for own in rows for row in own], schema=SCHEMA, orient="row")


def all_results(run: Run, chosen: Chosen, tokens: Tokens = "blanks", suite: str = "") -> pl.DataFrame:
    """Judge the items of all suites that compare whole sentences, or of one."""
    if "parquet" not in run.tables:
        run.refuse("sentences, tokens or regions")
    names = [record.name for record in run.suites if not suite or record.name == suite]
    tables = [results(run, name, chosen, tokens) for name in names if whole(run, name)]
    if not tables:
        raise UsageError(
            "suite=" if suite else run.place, "no prediction that compares two whole sentences", "(*;%a%) < (*;%b%)"
        )
    return pl.concat(tables)


def other_aggregates(runs: Sequence[Run], suite: str = "") -> tuple[str, ...]:
    """Return a note on the suites of which runs judge by another aggregate of tokens than the sum, if there are any."""
    names = dict.fromkeys(
        record.name
        for run in runs
        for record in run.suites
        if record.aggregate != "sum" and suite in ("", record.name) and whole(run, record.name)
    )
    return (
        (f"{DEFAULT} is the sum here also for {listed([*names])}; runs judge by another aggregate.",) if names else ()
    )


def wide(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return, for each convention, the rows of its items; those of all conventions are in the same order."""
    return {str(name): own for (name,), own in rows.group_by("measure", maintain_order=True)}


def flips(one: pl.DataFrame, other: pl.DataFrame) -> int:
    """Count the items that two conventions judge differently, among those that are defined under both."""
    a, b = one["value"], other["value"]
    return int((a.is_not_nan() & b.is_not_nan() & (a != b)).sum())
