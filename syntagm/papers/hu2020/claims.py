"""Claims of Hu et al. 2020 about their scores, checked against their raw data; each function checks one claim.

If a claim has no number ("comparable", "little"), the computed result states the criterion.
"""

import polars as pl

from syntagm.papers.hu2020.findings import (
    CLOSE,
    DIFFERS,
    FALSE,
    Check,
    Checked,
    Findings,
    Number,
    verdict,
)
from syntagm.papers.hu2020.models import NEURAL, WORD_BY_WORD, label
from syntagm.papers.hu2020.preparation import SUITES


def suites(findings: Findings) -> Checked:
    """The analysis is over 34 suites"""
    printed = findings.printed["aic"]["no_size"]
    values = {count: findings.aic("no_size", count) for count in SUITES}
    fitting = [count for count, value in values.items() if round(value) == printed]
    listed = "; ".join(f"over {count} suites {value:.1f}" for count, value in values.items())
    computed = f"the AIC printed as {printed} (without size) is {listed}"
    return "34", computed, verdict("34" in fitting, f"{FALSE}: {' or '.join(fitting) or 'neither'}")


def chance(findings: Findings) -> Checked:
    """Random answers score about 25%"""
    printed = findings.printed["random"]
    value = findings.study.chance
    computed = f"{value:.3f} over the {len(findings.study.suites)} suites, if compared values are independent draws"
    return f"{printed:.2f}", computed, verdict(round(value, 2) == printed, DIFFERS)


def twice(findings: Findings) -> Checked:
    """GPT-2-XL scores more than twice as high as the LSTM"""
    best, least = findings.score("gpt-2-xl-pretrained")["value"], findings.score("vanilla")["value"]
    computed = f"{best:.4f} / {least:.4f} = {best / least:.2f}"
    return "over twice", computed, verdict(best > 2 * least)


def comparable(findings: Findings) -> Checked:
    """GPT-2 and RNNG are comparable to Transformer-XL and JRNN"""
    pairs = (("gpt-2", "rnng"), ("transformer-xl", "jrnn"))
    small, large = ([findings.score(model) for model in models] for models in pairs)
    holds = all(_overlap(first, second) for first in small for second in large)
    scores = ", ".join(f"{label(row['model'])} {row['value']:.4f}" for row in (*small, *large))
    computed = f"{scores}; criterion for comparable: the intervals overlap"
    return "comparable", computed, verdict(holds)


def above_random(findings: Findings) -> Checked:
    """All neural models are significantly above random"""
    rows = [findings.score(model) for model in NEURAL]
    least = min(rows, key=lambda row: float(row["low"]))
    computed = (
        f"lowest lower limit of an interval: {least['low']:.3f} ({label(least['model'])}); "
        f"chance {findings.study.chance:.3f}"
    )
    return "all", computed, verdict(least["low"] > findings.study.chance)


def rnng_and_lstm(findings: Findings) -> Checked:
    """The error bars of RNNG and LSTM don't overlap in Figure 3"""
    rnng, lstm = findings.delta("rnng"), findings.delta("vanilla")
    computed = f"RNNG: lower limit {rnng['low']:.3f}; LSTM: upper limit {lstm['high']:.3f}"
    return "no overlap", computed, verdict(rnng["low"] > lstm["high"])


def ngram(findings: Findings) -> Checked:
    """n-grams are not appreciably above chance"""
    row = findings.score("ngram")
    computed = f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]; chance {findings.study.chance:.3f}"
    return "never", computed, verdict(row["low"] <= findings.study.chance)


def ngram_ties(findings: Findings) -> Checked:
    """An n-gram's score is the vote of 51 tie-breaking seeds"""
    rows = findings.raw.items.filter((pl.col("model") == "ngram") & pl.col("suite").is_in(findings.study.suites))
    if not len(rows):
        raise LookupError("no results of n-gram")
    seeds = rows.group_by("corpus", "suite", "seed", maintain_order=True).agg(pl.col("value").mean().alias("score"))
    cells = seeds.group_by("corpus", "suite", maintain_order=True).agg(
        pl.col("score").min().alias("least"), pl.col("score").max().alias("most")
    )
    decided = cells.filter((pl.col("least") < 0.05) & (pl.col("most") > 0.95))
    names = ", ".join(sorted(set(decided["suite"])))
    means = dict(seeds.group_by("corpus", maintain_order=True).agg(pl.col("score").mean()).iter_rows())
    voted = dict(
        findings.study.scores()
        .filter(pl.col("model") == "ngram")
        .group_by("corpus", maintain_order=True)
        .agg(pl.col("score").mean())
        .iter_rows()
    )
    by_size = "; ".join(
        f"{size} {voted[size]:.3f} and {means[corpus]:.3f}"
        for corpus in sorted(means)
        if (size := corpus.split("-")[1].upper()) in voted
    )
    computed = (
        f"in {len(decided)} of {len(cells)} combinations of corpus and suite, one tie-breaking seed scores below 0.05 and "
        f"another above 0.95, because a seed breaks the ties of all items alike ({names}); score by vote and by mean of "
        f"seeds: {by_size}"
    )
    return "one score", computed, verdict(not len(decided), "coin flips")


def gpt2_of_little(findings: Findings) -> Checked:
    """GPT-2 trained on BLLIP-MD or LG equals pre-trained GPT-2"""
    small = [findings.cell("gpt-2", corpus)["value"] for corpus in ("MD", "LG")]
    large = findings.score("gpt-2-pretrained")["value"]
    scores = f"{small[0]:.4f} (MD), {small[1]:.4f} (LG), pre-trained {large:.4f}"
    retrained = ", ".join(f"{row['score']:.3f} ({row['corpus']})" for row in findings.printed["withdrawn"]["retrained"])
    holds = all(abs(value - large) <= CLOSE for value in small)
    computed = f"{scores}; but the authors withdrew these models, and the retrained ones score {retrained}"
    return "about equal", computed, f"{verdict(holds)}; withdrawn"


def gpt2_without_withdrawn(findings: Findings) -> Checked:
    """GPT-2 is the best of the classes trained for the study (Figure 1)"""
    values = {model: findings.score(model)["value"] for model in (*WORD_BY_WORD, "gpt-2")}
    withdrawn = {(row["corpus"], row["seed"]) for row in findings.printed["withdrawn"]["instances"]}
    rows = findings.study.instances().filter(pl.col("model") == "gpt-2").select("corpus", "seed", "score").iter_rows()
    remaining = [score for corpus, seed, score in rows if (corpus, seed) not in withdrawn]
    retrained = [row["score"] for row in findings.printed["withdrawn"]["retrained"]]
    corrected = sum([*remaining, *retrained]) / len([*remaining, *retrained])
    best = max(values, key=lambda model: values[model])
    scores = ", ".join(f"{label(model)} {value:.4f}" for model, value in values.items())
    computed = f"{scores}; with the retrained models in place of the withdrawn ones: GPT-2 {corrected:.4f}"
    holds = f"{verdict(best == 'gpt-2')}; withdrawn" if corrected < values[best] else verdict(best == "gpt-2")
    return "GPT-2 first", computed, holds


def seed_weights(findings: Findings) -> Checked:
    """Figure 1 ranks GPT-2 above RNNG, independently of the number of seeds on each corpus"""
    scores = findings.study.scores()
    corpora = (
        scores.group_by("model", "corpus", maintain_order=True)
        .agg(pl.col("score").mean())
        .group_by("model", maintain_order=True)
        .agg(pl.col("score").mean())
    )
    means = dict(corpora.iter_rows())
    pooled = {model: findings.score(model)["value"] for model in ("gpt-2", "rnng")}
    by_model = "; ".join(
        f"{label(model)} {value:.4f} pooled, {means[model]:.4f} with equal weights of corpora"
        for model, value in pooled.items()
    )
    reversed_order = (pooled["gpt-2"] > pooled["rnng"]) != (means["gpt-2"] > means["rnng"])
    effect = ", and this reverses the order" if reversed_order else ""
    computed = f"{by_model}; in the pooled mean a corpus with more seeds weighs more{effect}"
    return "GPT-2 first", computed, verdict(not reversed_order, "depends on seeds")


def _overlap(first: Number, second: Number) -> bool:
    return bool(first["low"] <= second["high"] and second["low"] <= first["high"])


CLAIMS: list[Check] = [
    suites, chance, twice, comparable, above_random, gpt2_without_withdrawn, gpt2_of_little, rnng_and_lstm, ngram, ngram_ties,
    seed_weights,
]  # fmt: skip
