"""What Hu et al. 2020 say of their scores, checked against their raw data: each function computes one claim and its verdict.

Where a claim has no number ("comparable", "little"), the criterion stands in what is computed.
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


def suites(found: Findings) -> Checked:
    """The analysis is over 34 suites"""
    printed = found.printed["aic"]["no_size"]
    values = {count: found.aic("no_size", count) for count in SUITES}
    fitting = [count for count, value in values.items() if round(value) == printed]
    said = "; ".join(f"over {count} suites {value:.1f}" for count, value in values.items())
    computed = f"the AIC printed as {printed} (without size) is {said}"
    return "34", computed, verdict("34" in fitting, f"{FALSE}: {' or '.join(fitting) or 'neither'}")


def chance(found: Findings) -> Checked:
    """Random answers score about 25%"""
    printed = found.printed["random"]
    value = found.study.chance
    computed = f"{value:.3f} over the {len(found.study.suites)} suites, if compared values are independent draws"
    return f"{printed:.2f}", computed, verdict(round(value, 2) == printed, DIFFERS)


def twice(found: Findings) -> Checked:
    """GPT-2-XL scores more than twice as high as the LSTM"""
    best, least = found.score("gpt-2-xl-pretrained")["value"], found.score("vanilla")["value"]
    computed = f"{best:.4f} / {least:.4f} = {best / least:.2f}"
    return "over twice", computed, verdict(best > 2 * least)


def comparable(found: Findings) -> Checked:
    """GPT-2 and RNNG are comparable to Transformer-XL and JRNN"""
    small, large = ([found.score(one) for one in names] for names in (("gpt-2", "rnng"), ("transformer-xl", "jrnn")))
    holds = all(_overlap(one, other) for one in small for other in large)
    said = ", ".join(f"{label(one['model'])} {one['value']:.4f}" for one in (*small, *large))
    computed = f"{said}; comparable: intervals overlap"
    return "comparable", computed, verdict(holds)


def above_random(found: Findings) -> Checked:
    """All neural models are significantly above random"""
    rows = [found.score(one) for one in NEURAL]
    least = min(rows, key=lambda row: float(row["low"]))
    computed = (
        f"lowest end of an interval: {least['low']:.3f} ({label(least['model'])}); chance {found.study.chance:.3f}"
    )
    return "all", computed, verdict(least["low"] > found.study.chance)


def rnng_and_lstm(found: Findings) -> Checked:
    """The error bars of RNNG and LSTM don't overlap in Figure 3"""
    rnng, lstm = found.delta("rnng"), found.delta("vanilla")
    computed = f"RNNG from {rnng['low']:.3f}, LSTM to {lstm['high']:.3f}"
    return "no overlap", computed, verdict(rnng["low"] > lstm["high"])


def ngram(found: Findings) -> Checked:
    """n-grams are not appreciably above chance"""
    row = found.score("ngram")
    computed = f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]; chance {found.study.chance:.3f}"
    return "never", computed, verdict(row["low"] <= found.study.chance)


def ngram_ties(found: Findings) -> Checked:
    """An n-gram's score is the vote of 51 tie-breaking seeds"""
    rows = found.raw.items.filter((pl.col("model") == "ngram") & pl.col("suite").is_in(found.study.suites))
    if not len(rows):
        raise LookupError("no results of n-gram")
    seeds = rows.group_by("corpus", "suite", "seed", maintain_order=True).agg(pl.col("value").mean().alias("score"))
    cells = seeds.group_by("corpus", "suite", maintain_order=True).agg(
        pl.col("score").min().alias("least"), pl.col("score").max().alias("most")
    )
    thrown = cells.filter((pl.col("least") < 0.05) & (pl.col("most") > 0.95))
    names = ", ".join(sorted(set(thrown["suite"])))
    means = dict(seeds.group_by("corpus", maintain_order=True).agg(pl.col("score").mean()).iter_rows())
    voted = dict(
        found.study.scores()
        .filter(pl.col("model") == "ngram")
        .group_by("corpus", maintain_order=True)
        .agg(pl.col("score").mean())
        .iter_rows()
    )
    both = "; ".join(
        f"{size} {voted[size]:.3f} and {means[corpus]:.3f}"
        for corpus in sorted(means)
        if (size := corpus.split("-")[1].upper()) in voted
    )
    computed = (
        f"in {len(thrown)} of {len(cells)} cells of corpus and suite one tie-breaking seed scores below 0.05 and another above "
        f"0.95: ties are broken for all items at once ({names}); by vote and by mean of seeds: {both}"
    )
    return "one score", computed, verdict(not len(thrown), "coin flips")


def gpt2_of_little(found: Findings) -> Checked:
    """GPT-2 trained on BLLIP-MD or LG equals pre-trained GPT-2"""
    small = [found.cell("gpt-2", corpus)["value"] for corpus in ("MD", "LG")]
    large = found.score("gpt-2-pretrained")["value"]
    said = f"{small[0]:.4f} (MD), {small[1]:.4f} (LG), pre-trained {large:.4f}"
    retrained = ", ".join(f"{one['score']:.3f} ({one['corpus']})" for one in found.printed["withdrawn"]["retrained"])
    holds = all(abs(value - large) <= CLOSE for value in small)
    computed = f"{said}; but the authors withdrew these models, and retrained ones score {retrained}"
    return "about equal", computed, f"{verdict(holds)}; withdrawn"


def gpt2_without_withdrawn(found: Findings) -> Checked:
    """GPT-2 is the best of the classes trained for the study (Figure 1)"""
    values = {one: found.score(one)["value"] for one in (*WORD_BY_WORD, "gpt-2")}
    aside = {(one["corpus"], one["seed"]) for one in found.printed["withdrawn"]["instances"]}
    rows = found.study.instances().filter(pl.col("model") == "gpt-2").select("corpus", "seed", "score").iter_rows()
    kept = [score for corpus, seed, score in rows if (corpus, seed) not in aside]
    retrained = [one["score"] for one in found.printed["withdrawn"]["retrained"]]
    later = sum([*kept, *retrained]) / len([*kept, *retrained])
    best = max(values, key=lambda model: values[model])
    said = ", ".join(f"{label(model)} {value:.4f}" for model, value in values.items())
    computed = f"{said}; with the retrained models in place of the withdrawn ones GPT-2 {later:.4f}"
    holds = f"{verdict(best == 'gpt-2')}; withdrawn" if later < values[best] else verdict(best == "gpt-2")
    return "GPT-2 first", computed, holds


def seed_weights(found: Findings) -> Checked:
    """Figure 1 orders GPT-2 before RNNG, whatever the seeds on each corpus"""
    scores = found.study.scores()
    corpora = (
        scores.group_by("model", "corpus", maintain_order=True)
        .agg(pl.col("score").mean())
        .group_by("model", maintain_order=True)
        .agg(pl.col("score").mean())
    )
    means = dict(corpora.iter_rows())
    pooled = {model: found.score(model)["value"] for model in ("gpt-2", "rnng")}
    said = "; ".join(
        f"{label(model)} {value:.4f} pooled, {means[model]:.4f} with corpora alike" for model, value in pooled.items()
    )
    turned = (pooled["gpt-2"] > pooled["rnng"]) != (means["gpt-2"] > means["rnng"])
    computed = f"{said}; a corpus with more seeds weighs more" + (", and the order turns round" if turned else "")
    return "GPT-2 first", computed, verdict(not turned, "depends on seeds")


def _overlap(one: Number, other: Number) -> bool:
    return bool(one["low"] <= other["high"] and other["low"] <= one["high"])


CLAIMS: list[Check] = [
    suites, chance, twice, comparable, above_random, gpt2_without_withdrawn, gpt2_of_little, rnng_and_lstm, ngram, ngram_ties,
    seed_weights,
]  # fmt: skip
