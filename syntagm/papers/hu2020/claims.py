"""Claims of Hu et al. 2020 about scores: for each, which differences of scores it is about, and the claimed range.

Two are no differences of scores: perplexity tells little, and class matters more than size.

Where a claim has no number ("comparable", "little"), the criterion is `CLOSE`. Claims about several classes need all of
them in published data. In an experiment of one's own, they are about those of these classes that it has.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import isnan

import polars as pl

from syntagm.core import InputError
from syntagm.papers.hu2020 import regressions
from syntagm.papers.hu2020.multiverse import MODELS, Claim, Contrast, Row, View, Withdrawn, adjusted_together, counting
from syntagm.papers.hu2020.regressions import Regressions
from syntagm.papers.hu2020.study import NEURAL, PRETRAINED, WITHDRAWN, WORD_BY_WORD, Missing, Study, label
from syntagm.stats import FALSE, HOLDS, OPEN, Range, association
from syntagm.views import pairs

# Scores whose difference is within this distance are called comparable, and a smaller effect is called little.
CLOSE = 0.10
POSITIVE, SIMILAR = Range(low=0.0), Range(-CLOSE, CLOSE)
_FREED = "Agreement"
# A correlation this small is called none. A difference of AICs this small is inconclusive (Burnham & Anderson 2002,
# section 2.6).
NONE, NEAR = 0.3, 4.0
CRITERIA = (
    f"Comparable, about equal, little, unaffected: a difference within ±{CLOSE:.2f}. Not appreciably: a difference below "
    f"{CLOSE:.2f}. The paper gives no limits; these are Syntagm's.",
    f"Dissociated: a correlation within ±{NONE:.1f}, or, if its interval reaches beyond, one that may be 0. Of two AICs that "
    f"differ by less than {NEAR:g}, neither is better. These limits are Syntagm's, too.",
)


def claims() -> list[Claim]:
    """Return the claims."""
    return [
        Claim("GPT-2 and RNNG are comparable to Transformer-XL and JRNN", "comparable", _comparable),
        Claim("All neural models score above random", "all", _above_random),
        Claim("n-grams are not appreciably above chance", "never", _ngram),
        Claim("RNNG scores higher than the LSTM (Figure 3)", "no overlap", _rnng_and_lstm),
        Claim("GPT-2 is the best of the classes trained for the study (Figure 1)", "GPT-2 first", _gpt2_first),
        Claim("GPT-2 trained on BLLIP-MD or LG equals pre-trained GPT-2", "about equal", _gpt2_of_little),
        Claim("Corpus size matters little, except for Agreement", "little", _corpus_size),
        Claim("Agreement improves with corpus size", "improves", _agreement),
        Claim("Pre-trained GPT-2 and GPT-2-XL outperform all others on each circuit", "each", _each_circuit),
        Claim("RNNG is comparable to GRNN on all circuits", "comparable", _rnng_and_grnn),
        Claim("GPT-2-XL is not affected by modifiers (Figure 6)", "unaffected", _modifiers),
    ]


def _suites(view: View, circuit: str = "") -> list[str | tuple[str, str]]:
    """Return the suites of a circuit, or all."""
    suites: list[str | tuple[str, str]] = [
        suite for suite in view.values if not circuit or view.study.circuits.get(suite) == circuit
    ]
    if not suites:
        raise Missing(f"no suites of {circuit}")
    return suites


def _classes(view: View, names: Sequence[str]) -> list[str]:
    present = {model for model, _, _ in view.models}
    return [name for name in names if view.study.published or name in present]


def _circuits(view: View) -> list[str]:
    circuits = list(dict.fromkeys(view.study.circuits.values()))
    if len(circuits) < 2:
        raise Missing(f"suites of {circuits[0]} only" if circuits else "no suites of a circuit")
    return circuits


def _pair(view: View, first: str, second: str, claimed: Range, circuit: str = "") -> Contrast:
    name = f"{label(first)} - {label(second)}" + (f", {circuit}" if circuit else "")
    return Contrast(name, view.mean(first) - view.mean(second), claimed, _suites(view, circuit))


def _comparable(view: View) -> list[Contrast]:
    return [_pair(view, small, large, SIMILAR) for small in ("gpt-2", "rnng") for large in ("transformer-xl", "jrnn")]


def _above_random(view: View) -> list[Contrast]:
    # GPT-2 is no model of an analysis without it.
    present = {model for model, _, _ in view.models}
    left_out = set() if view.analysis.models == MODELS[0] else {WITHDRAWN} - present
    models = [model for model in _classes(view, NEURAL) if model not in left_out]
    return [_above_chance(view, model, POSITIVE) for model in models]


def _ngram(view: View) -> list[Contrast]:
    return [_above_chance(view, "ngram", Range(high=CLOSE))]


def _above_chance(view: View, model: str, claimed: Range) -> Contrast:
    suites, chances = _suites(view), view.study.chances
    if unknown := [suite for suite in view.values if suite not in chances]:
        raise Missing(f"the chance level of {unknown[0]} is unknown")
    return Contrast(f"{label(model)} - chance", view.mean(model), claimed, suites, chances)


def _rnng_and_lstm(view: View) -> list[Contrast]:
    return [_pair(view, "rnng", "vanilla", POSITIVE)]


def _gpt2_first(view: View) -> list[Contrast]:
    return [_pair(view, "gpt-2", model, POSITIVE) for model in _classes(view, (*WORD_BY_WORD, "ngram"))]


def _gpt2_of_little(view: View) -> list[Contrast]:
    large = view.mean("gpt-2-pretrained")
    return [
        Contrast(f"GPT-2 on {corpus} - pre-trained", view.mean("gpt-2", corpus) - large, SIMILAR, _suites(view))
        for corpus in ("MD", "LG")
    ]


def _corpus_size(view: View) -> list[Contrast]:
    return [_growth(view, circuit, SIMILAR) for circuit in _circuits(view) if circuit != _FREED]


def _agreement(view: View) -> list[Contrast]:
    return [_growth(view, _FREED, POSITIVE)]


def _growth(view: View, circuit: str, claimed: Range) -> Contrast:
    least, *_, most = view.study.words
    on_least, on_most = view.classes_on(least), view.classes_on(most)
    # Other classes would be compared instead of other sizes.
    both = on_least & on_most
    if on_least and on_most and not both:
        raise Missing(f"no class on both {least} and {most}")
    weights = view.mean_of_corpus(most, both or None) - view.mean_of_corpus(least, both or None)
    return Contrast(f"{most} - {least}, {circuit}", weights, claimed, _suites(view, circuit))


def _each_circuit(view: View) -> list[Contrast]:
    others = [model for model in dict.fromkeys(name for name, _, _ in view.models) if model not in PRETRAINED]
    return [
        _pair(view, model, other, POSITIVE, circuit)
        for circuit in _circuits(view)
        for model in PRETRAINED
        for other in others
    ]


def _rnng_and_grnn(view: View) -> list[Contrast]:
    return [_pair(view, "rnng", "grnn", SIMILAR, circuit) for circuit in _circuits(view)]


def _modifiers(view: View) -> list[Contrast]:
    both: list[str | tuple[str, str]] = [(modified, plain) for plain, modified in pairs(view.values).items()]
    if not both:
        raise Missing("no suites with modifiers")
    return [Contrast("with - without modifiers", view.mean("gpt-2-xl-pretrained"), SIMILAR, both)]


DISSOCIATED, CLASS_OVER_SIZE = "Perplexity and SG score are dissociated", "Model class matters more than corpus size"
WITHIN = "Perplexity and SG score are dissociated within a class"
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
        _correlation(DISSOCIATED, method, models, weights, rows)
        for models, subset in subsets.items()
        for weights, rows in (("pooled", subset), ("cell means", _cell_means(subset)))
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
    for weights, rows in (("pooled", table), ("cell means", _cell_means(table))):
        classes = _dummies(rows, "model")
        for size, given in (("log size", [rows["words"].log()]), ("size as a factor", _dummies(rows, "corpus"))):
            models = f"word-level neural models, {size}"
            found.append(_correlation(WITHIN, "Pearson", models, weights, rows, [*given, *classes]))
    cells = table.with_columns(cell=pl.format("{} {}", *_CELL))
    found.append(_correlation(WITHIN, "Pearson", IN_CELLS, "pooled", table, _dummies(cells, "cell")))
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


def _cell_means(table: pl.DataFrame) -> pl.DataFrame:
    return table.group_by(_CELL, maintain_order=True).agg(pl.col("perplexity", "score", "words").mean())


def _dummies(table: pl.DataFrame, column: str) -> list[pl.Series]:
    levels = table[column].unique(maintain_order=True).to_list()
    return [(table[column] == level).cast(pl.Float64) for level in levels[1:]]


def _correlation(
    claim: str, part: str, models: str, weights: str, table: pl.DataFrame, given: Sequence[pl.Series] = ()
) -> Row:  # fmt: skip
    claimed = Range(-NONE, NONE, zero=True)
    found = association(table["perplexity"], table["score"], part, given)
    verdict = OPEN if isnan(found.value) else claimed.verdict(found.low, found.high)
    return Row(claim, part, models, weights, "fixed", found.value, found.low, found.high, claimed, verdict, found.p)


def claims_of_perplexity(
    study: Study, withdrawn: Withdrawn, found: Regressions
) -> list[tuple[str, Callable[[], list[Row]]]]:
    return [
        (DISSOCIATED, lambda: dissociation(study, withdrawn)),
        (WITHIN, lambda: within_a_class(study)),
        (CLASS_OVER_SIZE, lambda: class_over_size(withdrawn, found)),
    ]
