"""Two claims of Hu et al. 2020 that are no differences of scores: perplexity tells little, and class matters more than size."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import isnan

import polars as pl

from syntagm.core import InputError
from syntagm.papers.hu2020 import regressions
from syntagm.papers.hu2020.multiverse import MODELS, Row, Withdrawn, adjusted_together, counting
from syntagm.papers.hu2020.regressions import Regressions
from syntagm.papers.hu2020.study import Missing, Study
from syntagm.stats import FALSE, HOLDS, OPEN, Range, association

# A correlation this small is called none. A difference of AICs this small is inconclusive (Burnham & Anderson 2002,
# section 2.6).
NONE, NEAR = 0.3, 4.0
DISSOCIATED, CLASS_OVER_SIZE = "Perplexity and SG score are dissociated", "Model class matters more than corpus size"
WITHIN = "Perplexity and SG score are dissociated within a class"
CRITERIA = (
    f"Dissociated: a correlation within ±{NONE:.1f}, or, if its interval reaches beyond, one that may be 0. Of two AICs that "
    f"differ by less than {NEAR:g}, neither is better. These limits are Syntagm's, too."
)
IN_CELLS = "word-level neural models, within class and size"
_CELL = ["model", "corpus"]


def dissociation(study: Study, withdrawn: Withdrawn) -> list[Row]:
    """Judge the correlation of perplexity and score: over models and over classes on a corpus, as linear and in ranks."""
    # Of an experiment, no analysis has models whose perplexities can't be compared.
    table = study.instances().filter(pl.col("perplexity").is_not_null() & (pl.col("corpus") != ""))
    subsets = {
        models: table.filter(counting(models, withdrawn))
        for models in MODELS
        if models != MODELS[1] or withdrawn is not None
    }
    if withdrawn is None:
        unlike = pl.col("model").is_in(study.unlike)
        subsets = {models: subset for models, subset in subsets.items() if subset.filter(unlike).is_empty()}
    subsets["word-level neural models"] = table.filter(pl.col("model").is_in(study.words_alike))
    if len(subsets["word-level neural models"]) < 4:
        raise Missing("fewer than 4 perplexities of word-level neural models")
    return adjusted_together([
        _row(DISSOCIATED, method, models, weights, rows)
        for models, subset in subsets.items()
        for weights, rows in (("pooled", subset), ("cell means", _cells(subset)))
        for method in ("Pearson", "Spearman")
    ])  # fmt: skip


def within_a_class(study: Study) -> list[Row]:
    """Judge the correlation of perplexity and score with class and corpus size held constant."""
    # Size is the logarithm of the number of words, or a factor; an observation is a model, or the mean of a class on a
    # corpus. Cell means with size as a factor leave few degrees of freedom. These effects of class and size add up.
    # Models of the same class on the same corpus are compared by the last analysis only, in which each such cell has
    # its own mean.
    table = study.instances().filter(pl.col("perplexity").is_not_null() & pl.col("model").is_in(study.words_alike))
    if not len(table):
        raise Missing("no perplexities of word-level neural models")
    found = []
    for weights, rows in (("pooled", table), ("cell means", _cells(table))):
        classes = _dummies(rows, "model")
        for size, given in (("log size", [rows["words"].log()]), ("size as a factor", _dummies(rows, "corpus"))):
            models = f"word-level neural models, {size}"
            found.append(_row(WITHIN, "Pearson", models, weights, rows, [*given, *classes]))
    cells = table.with_columns(cell=pl.format("{} {}", *_CELL))
    found.append(_row(WITHIN, "Pearson", IN_CELLS, "pooled", table, _dummies(cells, "cell")))
    return found


def class_over_size(withdrawn: Withdrawn, found: Regressions) -> list[Row]:
    """Judge by AICs, and by shares of variance."""
    # By how much does the AIC without the model class exceed that without corpus size, and the share of class that of
    # size? The models are all, those not withdrawn, and those without the classes of footnote 7, as far as several
    # classes and sizes are left.
    kept = ~pl.col("instance").is_in([f"gpt-2-{corpus}-{seed}" for corpus, seed in withdrawn or ()])
    tables = {"all": found.observations, MODELS[1]: found.observations.filter(kept), **found.remaining}
    if len(tables[MODELS[1]]) == len(tables["all"]):
        del tables[MODELS[1]]
    rows = []
    for models, table in tables.items():
        fits = found.without.get(models) or (
            found.fits if models == "all" else regressions.fit_models(table, ("no_size", "no_architecture"))
        )
        lacking = [name for name in ("no_architecture", "no_size") if name not in fits.fits]
        crossed = table.group_by("architecture").agg(pl.col("numwords").n_unique())["numwords"].max()
        if (lacking or crossed == 1) and models != "all":
            continue
        if lacking:
            raise Missing(f"{lacking[0]} could not be fitted: {fits.failures.get(lacking[0], '')}")
        if crossed == 1:
            raise Missing("each class has one size, so class and size can't be told apart")
        gap = fits.fits["no_architecture"].aic - fits.fits["no_size"].aic
        verdict = HOLDS if gap > NEAR else FALSE if gap < -NEAR else OPEN
        numbers = gap, gap, gap, Range(low=NEAR)
        rows.append(Row(CLASS_OVER_SIZE, "difference of AICs", models, "pooled", "random", *numbers, verdict))
        with suppress(InputError):
            value, low, high = regressions.split(table).difference("class", "size")
            claimed = Range(low=0.0)
            judged = value, low, high, claimed, claimed.verdict(low, high)
            rows.append(Row(CLASS_OVER_SIZE, "share of variance: class - size", models, "pooled", "random", *judged))
    return rows


def _cells(table: pl.DataFrame) -> pl.DataFrame:
    return table.group_by(_CELL, maintain_order=True).agg(pl.col("perplexity", "score", "words").mean())


def _dummies(table: pl.DataFrame, column: str) -> list[pl.Series]:
    levels = table[column].unique(maintain_order=True).to_list()
    return [(table[column] == level).cast(pl.Float64) for level in levels[1:]]


def _row(
    claim: str, part: str, models: str, weights: str, table: pl.DataFrame, given: Sequence[pl.Series] = ()
) -> Row:  # fmt: skip
    claimed = Range(-NONE, NONE, zero=True)
    found = association(table["perplexity"], table["score"], part, given)
    verdict = OPEN if isnan(found.value) else claimed.verdict(found.low, found.high)
    return Row(claim, part, models, weights, "fixed", found.value, found.low, found.high, claimed, verdict, found.p)


def claims(study: Study, withdrawn: Withdrawn, found: Regressions) -> list[tuple[str, Callable[[], list[Row]]]]:
    """Return the claims, each with a function that judges it."""
    return [
        (DISSOCIATED, lambda: dissociation(study, withdrawn)),
        (WITHIN, lambda: within_a_class(study)),
        (CLASS_OVER_SIZE, lambda: class_over_size(withdrawn, found)),
    ]
