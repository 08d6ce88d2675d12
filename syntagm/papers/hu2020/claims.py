"""Claims of Hu et al. 2020 about their scores: for each, which differences of scores it is about, and the claimed range.

Where a claim has no number ("comparable", "little"), the criterion is `CLOSE`. Claims about several classes need all of
them in published data. In an experiment of one's own, they are about those of these classes that it has.
"""

from collections.abc import Sequence

from syntagm.papers.hu2020.models import NEURAL, PRETRAINED, WITHDRAWN, WORD_BY_WORD, label
from syntagm.papers.hu2020.multiverse import MODELS, Claim, Contrast, View
from syntagm.papers.hu2020.study import Missing
from syntagm.stats import Range
from syntagm.views import pairs

# Scores whose difference is within this distance are called comparable, and a smaller effect is called little.
CLOSE = 0.10
POSITIVE, SIMILAR = Range(low=0.0), Range(-CLOSE, CLOSE)
_FREED = "Agreement"
CRITERIA = (
    f"Comparable, about equal, little, unaffected: a difference within ±{CLOSE:.2f}. Not appreciably: a difference below "
    f"{CLOSE:.2f}. The paper gives no limits; these are Syntagm's."
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
    """Return those of some classes that a claim is about."""
    present = {model for model, _, _ in view.models}
    return [name for name in names if view.study.published or name in present]


def _circuits(view: View) -> list[str]:
    circuits = list(dict.fromkeys(view.study.circuits.values()))
    if len(circuits) < 2:
        raise Missing(f"suites of {circuits[0]} only" if circuits else "no suites of a circuit")
    return circuits


def _pair(view: View, first: str, second: str, claimed: Range, circuit: str = "") -> Contrast:
    """Return the contrast of two classes."""
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
