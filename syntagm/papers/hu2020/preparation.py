"""The preparation of the raw data of Hu et al. 2020 before means are computed (`notebooks/main.py` of their repository).

1. Suites are assigned to circuits by the beginnings of their names (`circuit_of`).
2. Three suites are excluded; 31 of the 34 remain (`with_suites`).
3. Models that do not belong to the study are excluded (`of_the_study`).
4. The seeds of the n-gram model, which only break ties, become one instance by vote (`with_one_ngram`).
5. and 6., scores and deltas, are in `views.classes`.
"""

from collections.abc import Sequence
from functools import cache

import polars as pl

from syntagm.core import InputError, UsageError
from syntagm.evaluation import chance_level
from syntagm.papers.cited import cited
from syntagm.papers.hu2020.models import LABELS, NOT_OF_THE_STUDY, WITHDRAWAL, WITHDRAWN, WORD_BY_WORD
from syntagm.papers.hu2020.raw import PERPLEXITY, Raw, circuit_of
from syntagm.papers.hu2020.study import Study
from syntagm.suites import Formula, Suite
from syntagm.views import by_mean, by_vote

# Number of suites -> excluded suites.
SUITES = {
    "31": ("fgd-embed3", "fgd-embed4", "nn-nv-rpl"),
    "33": ("nn-nv-rpl",),
    "34": (),
}
VOTES = ("vote", "mean")
# Corpus -> millions of words, as in the paper's regression.
WORDS = {"XS": 1.0, "SM": 4.8, "MD": 14.0, "LG": 42.0}
_BPE = "gptbpe"


def build_study(raw: Raw, suites: str = "31", ngram: str = "vote") -> Study:
    """Build the study of the paper from its raw data."""
    if ngram not in VOTES:
        raise UsageError("ngram", repr(ngram), "one of " + ", ".join(VOTES))
    items = with_one_ngram(of_the_study(with_suites(raw.items, suites)), ngram)
    if not len(items):
        raise InputError("results", "no model of the study", "one of " + ", ".join(LABELS))
    names = [str(suite) for suite in items["suite"].unique(maintain_order=True)]
    circuits = {suite: circuit for suite in names if (circuit := circuit_of(suite))}
    perplexity = of_the_study(raw.perplexity).select(list(PERPLEXITY))
    remarks = (WITHDRAWAL,) if len(items.filter(is_withdrawn())) else ()
    expected = chances_of(raw, names)
    level = sum(expected.values()) / len(names) if len(expected) == len(names) else float("nan")
    published = len(cited("hu2020")["items"]) - len(SUITES[suites])
    return Study(
        items, circuits, perplexity, WORDS, LABELS, level, (WITHDRAWN,), WORD_BY_WORD, remarks, published, expected,
        (WITHDRAWN,), False,
    )  # fmt: skip


def withdrawn() -> set[tuple[str, int]]:
    """Return corpus and seed of the GPT-2 models that the authors withdrew."""
    return {(row["corpus"], row["seed"]) for row in cited("hu2020")["withdrawn"]["instances"]}


def is_withdrawn() -> pl.Expr:
    """Return the condition that a row, with corpora named XS to LG, is of one of them."""
    listed = [{"corpus": corpus, "seed": seed} for corpus, seed in withdrawn()]
    return (pl.col("model") == WITHDRAWN) & pl.struct("corpus", "seed").is_in(listed)


def with_suites(items: pl.DataFrame, suites: str = "31") -> pl.DataFrame:
    """Keep the items of the included suites."""
    if suites not in SUITES:
        raise UsageError("suites", repr(suites), "one of " + ", ".join(SUITES))
    return items.filter(~pl.col("suite").is_in(SUITES[suites]))


def of_the_study(table: pl.DataFrame) -> pl.DataFrame:
    """Keep the models of the study, with corpora renamed XS to LG."""
    # This excludes unigrams, n-gram models that don't break ties, word-level models over byte pairs, and GPT-2 models
    # over words.
    parts = pl.col("corpus").str.split("-")
    pieces = pl.col("corpus").str.ends_with("bpe")
    kept = pl.when(pl.col("model") == "gpt-2").then(pl.col("corpus").str.ends_with(f"-{_BPE}")).otherwise(~pieces)
    size = pl.when(pl.col("corpus") == "").then(pl.lit("")).otherwise(parts.list.get(1, null_on_oob=True))
    chosen = table.filter(kept & ~pl.col("model").is_in(NOT_OF_THE_STUDY))
    return chosen.with_columns(corpus=size.str.to_uppercase())


def with_one_ngram(items: pl.DataFrame, how: str = "vote") -> pl.DataFrame:
    """Combine the seeds of the n-gram model on each corpus into one with seed 0; other models are unchanged."""
    ngram = pl.col("model") == "ngram"
    pooled = (by_vote if how == "vote" else by_mean)(items.filter(ngram))
    return pl.concat([items.filter(~ngram), pooled])


def chances_of(raw: Raw, suites: Sequence[str]) -> dict[str, float]:
    """Return the score of random answers on each suite: suite -> score."""
    # The score comes from the file of random answers if that has all suites. Otherwise it is computed exactly from the
    # suites' first predictions. Suites for which neither is known are not in the result.
    simulated = dict(raw.random.filter(pl.col("suite").is_in(suites)).select("suite", "score").iter_rows())
    if len(simulated) == len(suites):
        return simulated
    known = formulas()
    return {name: chance_level.known(known[name]).value for name in suites if name in known}


def formulas() -> dict[str, Formula]:
    """Return the first prediction of each suite, to which the raw results refer: suite -> formula."""
    return {name: suite.predictions[0].formula for name, suite in bundled().items()}


@cache
def bundled() -> dict[str, Suite]:
    """Return the bundled suites with these names: the paper's predictions on new items."""
    from syntagm.suites import expand
    from syntagm.suites.materials.reading import read

    return {suite.name: suite for file in expand(["hu2020"]) for suite in read(file)}
