"""The numbers that Hu et al. 2020 print, compared with their raw data: AICs, tests, perplexities, chance levels."""

from collections.abc import Callable, Mapping
from zlib import crc32

import polars as pl

from syntagm.evaluation import chance_level
from syntagm.papers.hu2020.findings import DIFFERS, Check, Checked, Claim, Findings, verdict
from syntagm.papers.hu2020.models import label
from syntagm.papers.hu2020.preparation import bundled, formulas
from syntagm.papers.hu2020.regressions import ALL
from syntagm.papers.hu2020.study import Missing
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


CLAIMS: list[Check] = [
    aics,
    optimum,
    ratio_tests,
    footnote_7,
    table4,
    chance_of_mvrr,
    chance_of_npi,
    context_blind,
    word_level_gpt2,
]
