"""What Hu et al. 2020 do with their raw data before any mean is taken, step by step (`notebooks/main.py` of their repository).

1. Suites go to circuits by the beginning of their names (`circuit_of`).
2. Three suites are left out, so that 31 of the 34 count (`with_suites`).
3. Models that are no models of the study are left out (`of_the_study`).
4. The seeds of the n-gram, which only break ties, become one instance by vote (`with_one_ngram`).
5. and 6., scores and deltas, are in `views.classes`.
"""

from functools import cache

import polars as pl

from syntagm.errors import InputError, UsageError
from syntagm.formula import Formula
from syntagm.papers.hu2020.models import LABELS, NOT_OF_THE_STUDY, WITHDRAWAL, WITHDRAWN, WORD_BY_WORD
from syntagm.papers.hu2020.raw import PERPLEXITY, Raw, circuit_of
from syntagm.papers.hu2020.study import Study
from syntagm.stats.chance import chance as chances
from syntagm.suite import Suite
from syntagm.views.classes import by_mean, by_vote

# How many suites -> which are left out.
SUITES = {
    "31": ("fgd-embed3", "fgd-embed4", "nn-nv-rpl"),
    "33": ("nn-nv-rpl",),
    "34": (),
}
VOTES = ("vote", "mean")
# Corpus -> millions of words, as in the paper's regression.
WORDS = {"XS": 1.0, "SM": 4.8, "MD": 14.0, "LG": 42.0}
_BPE = "gptbpe"


def prepared(raw: Raw, suites: str = "31", ngram: str = "vote") -> Study:
    """The study of the paper.

    Arguments:
        suites: how many suites count: "31" (as in the paper's figures), "33" or "34".
        ngram: the seeds of the n-gram become one instance by "vote" (as in the paper) or by "mean".

    Raises:
        UsageError: another choice.
        InputError: no model is left.
    """
    if ngram not in VOTES:
        raise UsageError("ngram", repr(ngram), "one of " + ", ".join(VOTES))
    items = with_one_ngram(of_the_study(with_suites(raw.items, suites)), ngram)
    if not len(items):
        raise InputError("results", "no model of the study", "one of " + ", ".join(LABELS))
    named = [str(one) for one in items["suite"].unique(maintain_order=True)]
    circuits = {suite: circuit for suite in named if (circuit := circuit_of(suite))}
    perplexity = of_the_study(raw.perplexity).select(list(PERPLEXITY))
    remarks = (WITHDRAWAL,) if WITHDRAWN in items["model"] else ()
    return Study(items, circuits, perplexity, WORDS, LABELS, chance(raw, named), (WITHDRAWN,), WORD_BY_WORD, remarks)


def with_suites(items: pl.DataFrame, suites: str = "31") -> pl.DataFrame:
    """The items of the suites that count.

    Raises:
        UsageError: neither 31, 33 nor 34.
    """
    if suites not in SUITES:
        raise UsageError("suites", repr(suites), "one of " + ", ".join(SUITES))
    return items.filter(~pl.col("suite").is_in(SUITES[suites]))


def of_the_study(table: pl.DataFrame) -> pl.DataFrame:
    """Without unigrams, n-grams that don't break ties, word models on byte pairs and GPT-2s on words; corpora as XS to LG."""
    parts = pl.col("corpus").str.split("-")
    pieces = pl.col("corpus").str.ends_with("bpe")
    kept = pl.when(pl.col("model") == "gpt-2").then(pl.col("corpus").str.ends_with(f"-{_BPE}")).otherwise(~pieces)
    size = pl.when(pl.col("corpus") == "").then(pl.lit("")).otherwise(parts.list.get(1, null_on_oob=True))
    chosen = table.filter(kept & ~pl.col("model").is_in(NOT_OF_THE_STUDY))
    return chosen.with_columns(corpus=size.str.to_uppercase())


def with_one_ngram(items: pl.DataFrame, how: str = "vote") -> pl.DataFrame:
    """The seeds of the n-gram on a corpus as one instance of seed 0; other models as they are."""
    ngram = pl.col("model") == "ngram"
    pooled = (by_vote if how == "vote" else by_mean)(items.filter(ngram))
    return pl.concat([items.filter(~ngram), pooled])


def chance(raw: Raw, suites: list[str]) -> float:
    """What random answers score over the suites: of the file of them, or else exactly, from the suites' first predictions."""
    drawn = raw.random.filter(pl.col("suite").is_in(suites))
    if len(drawn) == len(suites):
        return float(drawn.select(pl.col("score").mean()).item())
    known = formulas()
    firsts = [chances.known(known[name]) for name in suites if name in known]
    return chances.mean(firsts).value if len(firsts) == len(suites) else float("nan")


def formulas() -> dict[str, Formula]:
    """Suite -> its first prediction, which is what the raw results are about."""
    return {name: suite.predictions[0].formula for name, suite in bundled().items()}


@cache
def bundled() -> dict[str, Suite]:
    """Our own suites of these names: the paper's predictions on items of ours."""
    from syntagm.materials.finding import expand
    from syntagm.materials.reading import read

    return {suite.name: suite for file in expand(["hu2020"]) for suite in read(file)}
