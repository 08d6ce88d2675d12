"""What Hu et al. 2020 count, show and print, checked against their raw data; a function checks one claim or a few."""

from collections.abc import Callable, Mapping
from zlib import crc32

import polars as pl

from syntagm.evaluation import chance_level
from syntagm.papers.hu2020.findings import DIFFERS, Check, Checked, Claim, Findings, verdict
from syntagm.papers.hu2020.raw import SUITES, bundled, formulas
from syntagm.papers.hu2020.regressions import ALL
from syntagm.papers.hu2020.study import Missing, label
from syntagm.stats import FALSE, HOLDS, OPEN, LikelihoodRatio
from syntagm.suites import Item

LEVEL = 0.001
PREDICTORS = ("size", "architecture")
NAMES = {
    "no_size": "AIC without corpus size", "no_architecture": "AIC without model class",
    "circuit_no_size": "AIC without size by circuit", "circuit_no_architecture": "AIC without class by circuit",
}  # fmt: skip


def aics(findings: Findings) -> list[Claim]:
    """AICs of the regressions (section 4.3)"""
    claims = []
    for model, printed in findings.printed["aic"].items():
        fit = findings.fit(model)
        claims.append((NAMES[model], str(printed), f"{fit.aic:.4f}", verdict(round(fit.aic) == printed)))
    return claims


def ratio_tests(findings: Findings) -> Checked:
    """Size and model class each matter, p < 0.001"""
    findings.fit("full")
    tests = {name: _ratio(findings, ALL, name) for name in PREDICTORS}
    computed = "; ".join(
        f"{name}: chi2({test.df}) = {test.chi2:.3f}, p = {test.p:.2g} ({test.method})" for name, test in tests.items()
    )
    if any(test.p >= LEVEL > test.least for test in tests.values()):
        return "p < 0.001", computed, FALSE
    return "p < 0.001", computed, verdict(all(test.p < LEVEL for test in tests.values()), OPEN)


def footnote_7(findings: Findings) -> Checked:
    """The pattern is the same without n-gram, without GPT-2 and without both (footnote 7)"""
    findings.fit("full")
    results, verdicts, weaker = [], set(), 0
    for classes, subset in findings.regressions.without.items():
        if len(subset.fits) < 3:
            raise Missing(f"{classes}: " + "; ".join(subset.failures.values()))
        size, architecture = (_ratio(findings, classes, name).p for name in PREDICTORS)
        ordered = subset.fits["no_architecture"].aic > subset.fits["no_size"].aic
        verdicts.add(FALSE if not ordered else HOLDS if max(size, architecture) < 0.05 else OPEN)
        weaker += size >= LEVEL
        results.append(f"{classes}: size p {size:.2g}, class p {architecture:.2g}")
    if not results:
        raise Missing("no results for n-gram or GPT-2")
    computed = "; ".join(results) + f"; the p of size is above {LEVEL} in {weaker} of {len(results)}"
    computed += "; criterion for the same pattern: the AIC without class is the higher one, and both p are below 0.05"
    return "same pattern", computed, next(each for each in (FALSE, OPEN, HOLDS) if each in verdicts)


def _ratio(findings: Findings, classes: str, tested: str) -> LikelihoodRatio:
    found = findings.regressions.ratios.get((classes, tested), "a model could not be fitted")
    if isinstance(found, str):
        raise Missing(f"{classes}: {tested} is not tested: {found}")
    return found


def optimum(findings: Findings) -> Checked:
    """The AIC without class by circuit is that of the best fit"""
    model = "circuit_no_architecture"
    fit, printed = findings.fit(model), findings.printed["aic"][model]
    computed = f"{fit.aic:.2f}, the best of {len(fit.reached)} starts"
    return str(printed), computed, verdict(abs(fit.aic - printed) <= 0.5)


def table4(findings: Findings) -> Checked:
    """Table 4, perplexities"""
    means = perplexities(findings)
    if not means:
        raise Missing("no perplexities")
    printed = {(model, size): value for model, row in findings.printed["table4"].items() for size, value in row.items()}
    missing = [key for key in printed if key not in means]
    off = [
        f"{model} {size} {means[model, size]:.2f}"
        for (model, size), value in printed.items()
        if (model, size) in means and abs(means[model, size] - value) > 0.00501
    ]
    same = len(printed) - len(missing) - len(off)
    computed = (
        f"{same} of {len(printed)} cells are equal"
        + (f"; different: {', '.join(off)}" if off else "")
        + (f"; without data: {len(missing)}" if missing else "")
    )
    return "20 cells", computed, verdict(not off and not missing, DIFFERS)


def perplexities(findings: Findings) -> Mapping[tuple[str, str], float]:
    """Return the mean perplexity over seeds: (model class, corpus) -> perplexity."""
    means = findings.study.perplexity.group_by("model", "corpus", maintain_order=True).agg(pl.col("perplexity").mean())
    return {(label(model), corpus): value for model, corpus, value in means.iter_rows()}


def chance_of_mvrr(findings: Findings) -> Checked:
    """The chance of a correct answer to an item of mvrr is below 25%"""
    chance, printed = chance_level.known(formulas()["mvrr"]), findings.printed["chance"]["mvrr"]
    computed = f"{chance} = {chance.value:.4f}, if compared values are independent draws of one {chance.method}"
    return f"below {printed}", computed, verdict(chance.value < printed)


def chance_of_npi(findings: Findings) -> Checked:
    """The chance of a correct answer to an NPI item is 5 of 32"""
    chance, printed = chance_level.known(formulas()["npi_src_any"]), findings.printed["chance"]["npi"]
    computed = f"{chance} = {chance.value:.4f}, if compared values are independent draws of {chance.method}"
    return str(printed), computed, verdict(abs(chance.value - printed) < 1e-9)


def context_blind(findings: Findings) -> Checked:
    """A model that ignores context scores 50% on number agreement"""
    right = [
        bool(suite.predictions[0].formula.margin(_by_itself(item)) > 0)
        for name, suite in bundled().items()
        if name.startswith("number_")
        for item in suite.items
    ]
    share = sum(right) / len(right)
    computed = (
        f"{share:.0%} of {len(right)} bundled items, with bits that depend only on the words of a region: the comparisons "
        "of an item exclude each other"
    )
    return f"{findings.printed['chance']['context_blind']:.0%}", computed, verdict(abs(share - 0.5) < 0.1)


def _by_itself(item: Item) -> Callable[[str, str], float]:
    """Return a function whose bits depend only on the words of a region."""

    def bits(region: str, condition: str) -> float:
        sentence = item.sentences[condition]
        (span,) = (each for each in sentence.regions if each.name == region)
        return float(crc32(sentence.text[span.start : span.end].strip().encode()) % 1000)

    return bits


def word_level_gpt2(findings: Findings) -> Checked:
    """GPT-2 on words and on word pieces (section 4.5)"""
    results = set(findings.raw.items.select("model", "corpus").unique().iter_rows())
    with_perplexity = set(findings.raw.perplexity.select("model", "corpus").unique().iter_rows())
    lacking = sorted(f"{model} on {corpus}" for model, corpus in with_perplexity - results)
    computed = "perplexities without results: " + (", ".join(lacking) or "none")
    return "compared", computed, "can't be computed" if lacking else "not compared here"


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


CLAIMS: list[Check] = [
    suites, chance, twice, ngram_ties, by_corpus, degenerate_item, aics, optimum, ratio_tests,
    footnote_7, table4, chance_of_mvrr, chance_of_npi, context_blind, word_level_gpt2,
]  # fmt: skip
