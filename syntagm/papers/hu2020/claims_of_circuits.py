"""What Hu et al. 2020 say of corpora, circuits, modifiers and perplexity, checked against their raw data, a function a claim.

Where a claim has no number ("comparable", "little"), the criterion stands in what is computed.
"""

from math import isnan

import polars as pl

from syntagm.papers.hu2020.findings import (
    CLOSE,
    DIFFERS,
    UNKNOWN,
    Check,
    Checked,
    Claim,
    Findings,
    verdict,
)
from syntagm.papers.hu2020.models import NEURAL, PRETRAINED, WORD_BY_WORD, label
from syntagm.stats.association import association
from syntagm.views.modifiers import MODIFIED, PLAIN


def dissociation(found: Findings) -> list[Claim]:
    """Perplexity and SG score are dissociated"""
    table = found.study.instances().filter(pl.col("perplexity").is_not_null() & (pl.col("corpus") != ""))
    words = table.filter(pl.col("model").is_in(WORD_BY_WORD))
    if len(words) < 4:
        raise LookupError("no perplexities of word-level neural models")
    claims = []
    for named, rows in (
        (f"over all {len(table)} trained models", table),
        (f"over the {len(words)} word-level neural models", words),
    ):
        pearson, spearman = (association(rows["perplexity"], rows["score"], one) for one in ("Pearson", "Spearman"))
        said = f"Pearson {pearson.value:.4f} (p {pearson.p:.2g}), Spearman {spearman.value:.4f} (p {spearman.p:.2g})"
        claims.append(
            (
                f"Perplexity and SG score are dissociated, {named}",
                "no coefficient",
                said,
                verdict(min(pearson.p, spearman.p) > 0.05),
            )
        )
    dummies = [(words["model"] == model).cast(pl.Float64) for model in WORD_BY_WORD[1:]]
    within = association(words["perplexity"], words["score"], given=[words["words"].log(), *dummies])
    said = f"Pearson {within.value:.4f} (p {within.p:.2g}), class and log corpus size held constant"
    return [
        *claims,
        (
            "Perplexity and SG score are dissociated, within a word-level class",
            "no coefficient",
            said,
            UNKNOWN if isnan(within.p) else verdict(within.p > 0.05),
        ),
    ]


def by_corpus(found: Findings) -> list[Claim]:
    """Figures 3 and 4, right, show all trained classes"""
    if "gpt-2" not in set(found.study.deltas()["model"]):
        raise LookupError(f"no results of {label('gpt-2')}")
    drawn, everything = (found.corpus_deltas(without) for without in (("gpt-2",), ()))
    said = "; ".join(
        f"{size} {_of(drawn, size):+.3f} without, {_of(everything, size):+.3f} with"
        for size in ("LG", "MD", "SM", "XS")
    )
    circuits = found.circuit_deltas(("gpt-2",)), found.circuit_deltas()
    gaps = {
        (circuit, size): circuits[1][circuit][size] - value
        for circuit, values in circuits[0].items()
        for size, value in values.items()
    }
    if not gaps:
        raise LookupError("no scores of circuits by corpus")
    (circuit, size), gap = max(gaps.items(), key=lambda pair: abs(pair[1]))
    moved = f"with it, {circuit} on {size} moves most, by {gap:+.3f}"
    right = verdict(drawn == everything, f"{DIFFERS}: GPT-2 is missing")
    return [
        ("Figure 3, right, shows all trained classes", "without GPT-2", said, right),
        ("Figure 4, right, shows all trained classes", "without GPT-2", moved, right),
    ]


def corpus_size(found: Findings) -> Checked:
    """The size of the corpus matters little except for Agreement"""
    changes = {
        circuit: _of(values, "LG") - _of(values, "XS")
        for circuit, values in found.circuit_deltas(found.study.absent).items()
    }
    if len(changes) < 2:
        raise LookupError("no scores of circuits by corpus")
    others = {circuit: change for circuit, change in changes.items() if circuit != "Agreement"}
    largest = max(others, key=lambda circuit: abs(others[circuit]))
    agreement = _of(changes, "Agreement")
    computed = (
        f"XS to LG: Agreement {agreement:+.3f}, of the others at most {largest} {others[largest]:+.3f}; "
        f"little: below {CLOSE:.2f}"
    )
    holds = abs(others[largest]) < CLOSE <= agreement
    return "little", computed, verdict(holds)


def each_circuit(found: Findings) -> Checked:
    """Pre-trained GPT-2 and GPT-2-XL outperform all others on each circuit"""
    failing = []
    for circuit, values in found.circuits().items():
        pretrained = [_of(values, one) for one in PRETRAINED]
        above = {model: value for model, value in values.items() if model not in PRETRAINED and value > min(pretrained)}
        if above:
            said = ", ".join(
                f"{label(model)} {value:.4f}" for model, value in sorted(above.items(), key=lambda pair: -pair[1])
            )
            failing.append(f"{circuit}: {said} against {max(pretrained):.4f} and {min(pretrained):.4f}")
    computed = "; ".join(failing) or "on all of them"
    return "each", computed, verdict(not failing)


def rnng_and_grnn(found: Findings) -> Checked:
    """RNNG is comparable to GRNN on all circuits"""
    gaps = {circuit: (_of(values, "rnng"), _of(values, "grnn")) for circuit, values in found.circuits().items()}
    circuit, (one, other) = max(gaps.items(), key=lambda pair: abs(pair[1][0] - pair[1][1]))
    computed = f"largest gap: {circuit}, {one:.4f} and {other:.4f}; comparable: within {CLOSE:.2f}"
    return "comparable", computed, verdict(abs(one - other) <= CLOSE)


def modifiers(found: Findings) -> Checked:
    """GPT-2-XL is not affected by modifiers (Figure 6)"""
    plain, other = (found.modified("gpt-2-xl-pretrained", one) for one in (PLAIN, MODIFIED))
    drops = {
        model: found.modified(model, MODIFIED) - found.modified(model, PLAIN)
        for model in NEURAL
        if model != "gpt-2-xl-pretrained"
    }
    least = max(drops, key=lambda model: drops[model])
    computed = f"{plain:.4f} to {other:.4f}; the other neural models lose at least {-drops[least]:.3f} ({label(least)})"
    return "unaffected", computed, verdict(other >= plain)


def degenerate_item(found: Findings) -> Checked:
    """Every item of mvrr can come out right"""
    rows = found.study.items.filter(pl.col("suite").is_in(["mvrr", "mvrr_mod"]) & (pl.col("model") != "ngram"))
    shares = rows.group_by("item", maintain_order=True).agg(pl.col("value").mean().alias("share")).sort("share")
    if len(shares) < 2:
        raise LookupError("no results of mvrr")
    (item, least), (other, next_one) = shares.rows()[:2]
    right = rows.filter((pl.col("item") == item) & (pl.col("value") == 1))
    who = ", ".join(sorted({label(model) for model in right["model"]})) or "no model"
    computed = (
        f"without n-gram, item {item} is right in {least:.1%} of answers, all of {who}; the next hardest, {other}, in "
        f"{next_one:.1%}; in the published suites its sentences are identical in pairs"
    )
    return "all", computed, verdict(least > next_one / 2)


def _of(values: dict[str, float], key: str) -> float:
    if key not in values:
        raise LookupError(f"no results of {label(key)}")
    return values[key]


CLAIMS: list[Check] = [dissociation, by_corpus, corpus_size, each_circuit, rnng_and_grnn, modifiers, degenerate_item]
