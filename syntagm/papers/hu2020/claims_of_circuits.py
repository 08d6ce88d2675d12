"""Claims of Hu et al. 2020 about corpora, circuits, modifiers and perplexity, checked against their raw data.

Each function checks one claim or a few related ones. If a claim has no number ("comparable", "little"), the computed
result states the criterion.
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


def dissociation(findings: Findings) -> list[Claim]:
    """Perplexity and SG score are dissociated"""
    table = findings.study.instances().filter(pl.col("perplexity").is_not_null() & (pl.col("corpus") != ""))
    words = table.filter(pl.col("model").is_in(WORD_BY_WORD))
    if len(words) < 4:
        raise LookupError("no perplexities of word-level neural models")
    claims = []
    for subset, rows in (
        (f"over all {len(table)} trained models", table),
        (f"over the {len(words)} word-level neural models", words),
    ):
        pearson, spearman = (association(rows["perplexity"], rows["score"], kind) for kind in ("Pearson", "Spearman"))
        computed = (
            f"Pearson {pearson.value:.4f} (p {pearson.p:.2g}), Spearman {spearman.value:.4f} (p {spearman.p:.2g})"
        )
        claims.append(
            (
                f"Perplexity and SG score are dissociated, {subset}",
                "no coefficient",
                computed,
                verdict(min(pearson.p, spearman.p) > 0.05),
            )
        )
    dummies = [(words["model"] == model).cast(pl.Float64) for model in WORD_BY_WORD[1:]]
    within = association(words["perplexity"], words["score"], given=[words["words"].log(), *dummies])
    computed = f"Pearson {within.value:.4f} (p {within.p:.2g}), class and log corpus size held constant"
    return [
        *claims,
        (
            "Perplexity and SG score are dissociated, within a word-level class",
            "no coefficient",
            computed,
            UNKNOWN if isnan(within.p) else verdict(within.p > 0.05),
        ),
    ]


def by_corpus(findings: Findings) -> list[Claim]:
    """Figures 3 and 4, right, show all trained classes"""
    if "gpt-2" not in set(findings.study.deltas()["model"]):
        raise LookupError(f"no results of {label('gpt-2')}")
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
        raise LookupError("no scores of circuits by corpus")
    (circuit, size), gap = max(gaps.items(), key=lambda pair: abs(pair[1]))
    largest = f"with GPT-2, {circuit} on {size} changes most, by {gap:+.3f}"
    holds = verdict(without == with_gpt2, f"{DIFFERS}: GPT-2 is missing")
    return [
        ("Figure 3, right, shows all trained classes", "without GPT-2", by_size, holds),
        ("Figure 4, right, shows all trained classes", "without GPT-2", largest, holds),
    ]


def corpus_size(findings: Findings) -> Checked:
    """The size of the corpus matters little except for Agreement"""
    changes = {
        circuit: _of(values, "LG") - _of(values, "XS")
        for circuit, values in findings.circuit_deltas(findings.study.absent).items()
    }
    if len(changes) < 2:
        raise LookupError("no scores of circuits by corpus")
    others = {circuit: change for circuit, change in changes.items() if circuit != "Agreement"}
    largest = max(others, key=lambda circuit: abs(others[circuit]))
    agreement = _of(changes, "Agreement")
    computed = (
        f"from XS to LG: Agreement {agreement:+.3f}; largest change of the others: {largest} {others[largest]:+.3f}; "
        f"criterion for little: below {CLOSE:.2f}"
    )
    holds = abs(others[largest]) < CLOSE <= agreement
    return "little", computed, verdict(holds)


def each_circuit(findings: Findings) -> Checked:
    """Pre-trained GPT-2 and GPT-2-XL outperform all others on each circuit"""
    failing = []
    for circuit, values in findings.circuits().items():
        pretrained = [_of(values, model) for model in PRETRAINED]
        above = {model: value for model, value in values.items() if model not in PRETRAINED and value > min(pretrained)}
        if above:
            models = ", ".join(
                f"{label(model)} {value:.4f}" for model, value in sorted(above.items(), key=lambda pair: -pair[1])
            )
            failing.append(f"{circuit}: {models} compared with {max(pretrained):.4f} and {min(pretrained):.4f}")
    computed = "; ".join(failing) or "on all circuits"
    return "each", computed, verdict(not failing)


def rnng_and_grnn(findings: Findings) -> Checked:
    """RNNG is comparable to GRNN on all circuits"""
    gaps = {circuit: (_of(values, "rnng"), _of(values, "grnn")) for circuit, values in findings.circuits().items()}
    circuit, (rnng, grnn) = max(gaps.items(), key=lambda pair: abs(pair[1][0] - pair[1][1]))
    computed = f"largest difference: {circuit}, {rnng:.4f} and {grnn:.4f}; criterion for comparable: within {CLOSE:.2f}"
    return "comparable", computed, verdict(abs(rnng - grnn) <= CLOSE)


def modifiers(findings: Findings) -> Checked:
    """GPT-2-XL is not affected by modifiers (Figure 6)"""
    plain, modified = (findings.modified("gpt-2-xl-pretrained", modifier) for modifier in (PLAIN, MODIFIED))
    drops = {
        model: findings.modified(model, MODIFIED) - findings.modified(model, PLAIN)
        for model in NEURAL
        if model != "gpt-2-xl-pretrained"
    }
    least = max(drops, key=lambda model: drops[model])
    computed = f"from {plain:.4f} to {modified:.4f}; the other neural models lose at least {-drops[least]:.3f} ({label(least)})"
    return "unaffected", computed, verdict(modified >= plain)


def degenerate_item(findings: Findings) -> Checked:
    """Every item of mvrr can be answered correctly"""
    rows = findings.study.items.filter(pl.col("suite").is_in(["mvrr", "mvrr_mod"]) & (pl.col("model") != "ngram"))
    shares = rows.group_by("item", maintain_order=True).agg(pl.col("value").mean().alias("share")).sort("share")
    if len(shares) < 2:
        raise LookupError("no results of mvrr")
    (item, least), (other, next_share) = shares.rows()[:2]
    right = rows.filter((pl.col("item") == item) & (pl.col("value") == 1))
    models = ", ".join(sorted({label(model) for model in right["model"]})) or "no model"
    computed = (
        f"without n-gram, {least:.1%} of the answers to item {item} are correct, all of them by {models}; for the next "
        f"hardest item, {other}, {next_share:.1%} are; in the published suites the sentences of item {item} are pairwise "
        "identical"
    )
    return "all", computed, verdict(least > next_share / 2)


def _of(values: dict[str, float], key: str) -> float:
    if key not in values:
        raise LookupError(f"no results of {label(key)}")
    return values[key]


CLAIMS: list[Check] = [dissociation, by_corpus, corpus_size, each_circuit, rnng_and_grnn, modifiers, degenerate_item]
