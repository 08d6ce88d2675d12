"""The numbers that Hu et al. 2020 print, beside the same from their raw data: AICs, tests, perplexities, chance levels."""

from collections.abc import Callable, Mapping
from zlib import crc32

import polars as pl

from syntagm.papers.hu2020 import regressions
from syntagm.papers.hu2020.findings import DIFFERS, Check, Checked, Claim, Findings, verdict
from syntagm.papers.hu2020.models import label
from syntagm.papers.hu2020.preparation import bundled, formulas
from syntagm.stats.chance import chance as chances
from syntagm.stats.mixed import linear
from syntagm.suite import Item

LEVEL = 0.001
NAMES = {
    "no_size": "AIC without corpus size", "no_architecture": "AIC without model class",
    "circuit_no_size": "AIC without size by circuit", "circuit_no_architecture": "AIC without class by circuit",
}  # fmt: skip


def aics(found: Findings) -> list[Claim]:
    """AICs of the regressions (section 4.3)"""
    claims = []
    for model, printed in found.printed["aic"].items():
        fit = found.fit(model)
        claims.append((NAMES[model], str(printed), f"{fit.aic:.4f}", verdict(round(fit.aic) == printed)))
    return claims


def margin(found: Findings) -> Checked:
    """Model class matters more than corpus size"""
    size, architecture, full = (found.fit(one) for one in ("no_size", "no_architecture", "full"))
    printed = found.printed["aic"]
    computed = (
        f"{architecture.aic - size.aic:.1f} between AICs of models that lack {full.k - size.k} parameter and "
        f"{full.k - architecture.k}"
    )
    shown = f"{printed['no_architecture']} above {printed['no_size']}"
    return shown, computed, verdict(architecture.aic > size.aic)


def ratio_tests(found: Findings) -> Checked:
    """Size and model class each matter, p < 0.001"""
    full = found.fit("full")
    tests = {one: linear.compare(found.fit(f"no_{one}"), full) for one in ("size", "architecture")}
    said = "; ".join(f"{one}: chi2({test.df}) = {test.chi2:.3f}, p = {test.p:.2g}" for one, test in tests.items())
    return "p < 0.001", said, verdict(all(test.p < LEVEL for test in tests.values()))


def footnote_7(found: Findings) -> Checked:
    """The pattern stays without n-gram, without GPT-2 and without both (footnote 7)"""
    found.fit("full")
    said, kept, weaker = [], True, 0
    for classes, several in regressions.without_classes(regressions.observations(found.study)).items():
        if len(several.fits) < 3:
            raise LookupError(f"{classes}: " + "; ".join(several.failures.values()))
        size, architecture = (
            linear.compare(several.fits[f"no_{one}"], several.fits["full"]).p for one in ("size", "architecture")
        )
        ordered = several.fits["no_architecture"].aic > several.fits["no_size"].aic
        kept, weaker = kept and ordered and max(size, architecture) < 0.05, weaker + (size >= LEVEL)
        said.append(f"{classes}: size p {size:.2g}, class p {architecture:.2g}")
    if not said:
        raise LookupError("no results of n-gram or GPT-2")
    computed = "; ".join(said) + f"; size p is above {LEVEL} in {weaker} of {len(said)}"
    return "same pattern", computed, verdict(kept)


def optimum(found: Findings) -> Checked:
    """The AIC without class by circuit is that of the best fit"""
    model = "circuit_no_architecture"
    fit, other, printed = found.fit(model), found.printed["lme4"][model], found.printed["aic"][model]
    computed = f"{fit.aic:.2f} here, {len(fit.reached)} starts; lme4 1.1-31 stops at {other:.2f}"
    return str(printed), computed, verdict(fit.aic <= min(other, printed + 0.5))


def table4(found: Findings) -> Checked:
    """Table 4, perplexities"""
    means = perplexities(found)
    if not means:
        raise LookupError("no perplexities")
    printed = {(model, size): value for model, row in found.printed["table4"].items() for size, value in row.items()}
    missing = [key for key in printed if key not in means]
    off = [
        f"{model} {size} {means[model, size]:.2f}"
        for (model, size), value in printed.items()
        if (model, size) in means and abs(means[model, size] - value) > 0.00501
    ]
    same = len(printed) - len(missing) - len(off)
    computed = (
        f"{same} of {len(printed)} cells equal"
        + (f"; other: {', '.join(off)}" if off else "")
        + (f"; no data: {len(missing)}" if missing else "")
    )
    return "20 cells", computed, verdict(not off and not missing, DIFFERS)


def perplexities(found: Findings) -> Mapping[tuple[str, str], float]:
    """(model class, corpus) -> mean perplexity over seeds."""
    means = found.study.perplexity.group_by("model", "corpus", maintain_order=True).agg(pl.col("perplexity").mean())
    return {(label(model), corpus): value for model, corpus, value in means.iter_rows()}


def chance_of_mvrr(found: Findings) -> Checked:
    """By chance an item of mvrr comes out right in less than 25%"""
    one, printed = chances.known(formulas()["mvrr"]), found.printed["chance"]["mvrr"]
    computed = f"{one} = {one.value:.4f}, if compared values are independent draws of one {one.method}"
    return f"below {printed}", computed, verdict(one.value < printed)


def chance_of_npi(found: Findings) -> Checked:
    """By chance an NPI item comes out right in 5 of 32 cases"""
    one, printed = chances.known(formulas()["npi_src_any"]), found.printed["chance"]["npi"]
    computed = f"{one} = {one.value:.4f}, if compared values are independent draws of {one.method}"
    return str(printed), computed, verdict(abs(one.value - printed) < 1e-9)


def context_blind(found: Findings) -> Checked:
    """A model that is blind to context scores 50% on number agreement"""
    right = [
        bool(suite.predictions[0].formula.margin(_by_itself(item)) > 0)
        for name, suite in bundled().items()
        if name.startswith("number_")
        for item in suite.items
    ]
    share = sum(right) / len(right)
    computed = (
        f"{share:.0%} of {len(right)} items of our own, bits by the words of a region alone: the comparisons exclude "
        "each other"
    )
    return f"{found.printed['chance']['context_blind']:.0%}", computed, verdict(abs(share - 0.5) < 0.1)


def _by_itself(item: Item) -> Callable[[str, str], float]:
    """Bits that depend on nothing but the words of a region."""

    def bits(region: str, condition: str) -> float:
        sentence = item.sentences[condition]
        (place,) = (one for one in sentence.regions if one.name == region)
        return float(crc32(sentence.text[place.start : place.end].strip().encode()) % 1000)

    return bits


def word_level_gpt2(found: Findings) -> Checked:
    """GPT-2 on words and on word pieces (section 4.5)"""
    results = set(found.raw.items.select("model", "corpus").unique().iter_rows())
    wanted = set(found.raw.perplexity.select("model", "corpus").unique().iter_rows())
    lacking = sorted(f"{model} on {corpus}" for model, corpus in wanted - results)
    computed = "perplexities without results: " + (", ".join(lacking) or "none")
    return "compared", computed, "can't be computed" if lacking else "not compared here"


CLAIMS: list[Check] = [
    aics,
    optimum,
    margin,
    ratio_tests,
    footnote_7,
    table4,
    chance_of_mvrr,
    chance_of_npi,
    context_blind,
    word_level_gpt2,
]
