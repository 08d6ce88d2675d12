"""What Hu et al. 2020 count and show, checked against their raw data; each function checks one claim or a few."""

import polars as pl

from syntagm.papers.hu2020.findings import DIFFERS, Check, Checked, Claim, Findings, verdict
from syntagm.papers.hu2020.models import label
from syntagm.papers.hu2020.preparation import SUITES
from syntagm.papers.hu2020.study import Missing
from syntagm.stats import FALSE


def suites(findings: Findings) -> Checked:
    """The analysis is over 34 suites"""
    printed = findings.printed["aic"]["no_size"]
    values = {count: findings.aic("no_size", count) for count in SUITES}
    fitting = [count for count, (value, _) in values.items() if round(value) == printed]
    listed = "; ".join(f"over {counted} {value:.1f}" for value, counted in values.values())
    computed = f"the AIC printed as {printed} (without size) is {listed}"
    return "34", computed, verdict("34" in fitting, f"{FALSE}: {' or '.join(fitting) or 'none of these'}")


def chance(findings: Findings) -> Checked:
    """Random answers score about 25%"""
    printed = findings.printed["random"]
    value = findings.study.chance
    computed = f"{value:.3f} over {findings.study.counted}, if compared values are independent draws"
    return f"{printed:.2f}", computed, verdict(round(value, 2) == printed, DIFFERS)


def twice(findings: Findings) -> Checked:
    """GPT-2-XL scores more than twice as high as the LSTM"""
    best, least = findings.score("gpt-2-xl-pretrained")["value"], findings.score("vanilla")["value"]
    computed = f"{best:.4f} / {least:.4f}" + (f" = {best / least:.2f}" if least else "")
    return "over twice", computed, verdict(best > 2 * least)


def ngram_ties(findings: Findings) -> Checked:
    """An n-gram's score is the vote of 51 tie-breaking seeds"""
    rows = findings.raw.items.filter((pl.col("model") == "ngram") & pl.col("suite").is_in(findings.study.suites))
    if not len(rows):
        raise Missing("no results of n-gram")
    seeds = rows.group_by("corpus", "suite", "seed", maintain_order=True).agg(pl.col("value").mean().alias("score"))
    cells = seeds.group_by("corpus", "suite", maintain_order=True).agg(
        pl.col("score").min().alias("least"), pl.col("score").max().alias("most")
    )
    if rows.select("corpus", "seed").n_unique() == rows["corpus"].n_unique():
        raise Missing("one tie-breaking seed for each corpus only")
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
    cause = f", because a seed breaks the ties of all items alike ({names})" if len(decided) else ""
    computed = (
        f"in {len(decided)} of {len(cells)} combinations of corpus and suite, one tie-breaking seed scores below 0.05 and "
        f"another above 0.95{cause}; score by vote and by mean of seeds: {by_size}"
    )
    return "one score", computed, verdict(not len(decided), "coin flips")


def by_corpus(findings: Findings) -> list[Claim]:
    """Figures 3 and 4, right, show all trained classes"""
    if "gpt-2" not in set(findings.study.deltas()["model"]):
        raise Missing(f"no results of {label('gpt-2')}")
    without, with_gpt2 = (findings.corpus_deltas(excluded) for excluded in (("gpt-2",), ()))
    by_size = "; ".join(
        f"{size} {_of(without, size):+.3f} without, {_of(with_gpt2, size):+.3f} with"
        for size in ("LG", "MD", "SM", "XS")
    )
    circuits = findings.circuit_deltas(("gpt-2",)), findings.circuit_deltas()
    gaps = {
        (circuit, size): circuits[1][circuit][size] - value
        for circuit, values in circuits[0].items()
        for size, value in values.items()
    }
    if not gaps:
        raise Missing("no scores of circuits by corpus")
    (circuit, size), gap = max(gaps.items(), key=lambda pair: abs(pair[1]))
    largest = f"with GPT-2, {circuit} on {size} changes most, by {gap:+.3f}"
    holds = verdict(without == with_gpt2, f"{DIFFERS}: GPT-2 is missing")
    return [
        ("Figure 3, right, shows all trained classes", "without GPT-2", by_size, holds),
        ("Figure 4, right, shows all trained classes", "without GPT-2", largest, holds),
    ]


def degenerate_item(findings: Findings) -> Checked:
    """Every item of mvrr can be answered correctly"""
    rows = findings.study.items.filter(pl.col("suite").is_in(["mvrr", "mvrr_mod"]) & (pl.col("model") != "ngram"))
    shares = rows.group_by("item", maintain_order=True).agg(pl.col("value").mean().alias("share")).sort("share")
    if len(shares) < 2:
        raise Missing("no results of mvrr")
    (item, least), (other, next_share) = shares.rows()[:2]
    right = rows.filter((pl.col("item") == item) & (pl.col("value") == 1))
    models = ", ".join(sorted({label(model) for model in right["model"]}))
    by = f", all of them by {models}" if models else ""
    computed = (
        f"without n-gram, {least:.1%} of the answers to item {item} are correct{by}; for the next "
        f"hardest item, {other}, {next_share:.1%} are; criterion: at least half as many"
    )
    return "all", computed, verdict(least >= next_share / 2 and len(right) > 0)


def _of(values: dict[str, float], key: str) -> float:
    if key not in values:
        raise Missing(f"no results of {label(key)}")
    return values[key]


CLAIMS: list[Check] = [suites, chance, twice, ngram_ties, by_corpus, degenerate_item]
