"""Every sentence about Hu et al. 2020 follows from the data: made-up data are perturbed, and the sentences checked anew.

The numbers are computed again from the rows, by other means than the package's, and each verdict from its numbers.
"""

import random
import re
from collections import Counter
from collections.abc import Callable
from itertools import product
from math import isnan
from pathlib import Path
from statistics import fmean

import pytest
from raw_hu2020 import write_rows

from syntagm.papers import circuit_of, multiverse
from syntagm.papers.hu2020 import raw, reproduce
from syntagm.papers.hu2020.findings import INCOMPLETE, UNKNOWN, Findings, counts, table, verdicts
from syntagm.papers.hu2020.multiverse import Row
from syntagm.papers.hu2020.printed import CLAIMS
from syntagm.papers.hu2020.raw import build_study, read
from syntagm.papers.hu2020.regressions import Fits
from syntagm.papers.hu2020.study import LABELS
from syntagm.stats import FALSE, HOLDS, OPEN, bootstrap

# Model, corpus, seed, suite, item, correct.
Data = list[tuple[str, str, int, str, int, bool]]
SUITES = (
    "number_prep", "number_src", "mvrr", "mvrr_mod", "npi_src_any", "reflexive_src_fem", "fgd_object", "cleft",
    "subordination", "subordination_pp-pp", "center_embed", "center_embed_mod",
)  # fmt: skip
ITEMS = 6
SKILL = {
    "vanilla": 0.35, "ordered-neurons": 0.5, "rnng": 0.75, "gpt-2": 0.6, "ngram": 0.3, "grnn": 0.6, "jrnn": 0.6,
    "transformer-xl": 0.65, "gpt-2-pretrained": 0.85, "gpt-2-xl-pretrained": 0.9,
}  # fmt: skip
SHELF = {"grnn", "jrnn", "transformer-xl", "gpt-2-pretrained", "gpt-2-xl-pretrained"}
WITHDRAWN = {("md", 1581861474), ("lg", 1581955288)}
MODELS = {label: name for name, label in LABELS.items()}


def instances(name: str) -> list[tuple[str, int]]:
    """Corpus and seed of the models of a class."""
    if name in SHELF:
        return [("", 0)]
    if name == "gpt-2":
        return [(f"bllip-{size}-gptbpe", seed) for size, seed in (("xs", 1), ("sm", 2), *sorted(WITHDRAWN))]
    seeds = (1, 2, 3) if name == "ngram" else (1, 2)
    return [(f"bllip-{size}", seed) for size in ("xs", "sm", "md", "lg") for seed in seeds]


def data() -> Data:
    rows: Data = []
    for name, skill in SKILL.items():
        for corpus, seed in instances(name):
            draw = random.Random(f"{name} {corpus} {seed}").random
            more = 0.15 * (corpus[6:8] == "lg")
            rows += [
                (name, corpus, seed, suite, item, draw() < skill + more) for suite in SUITES for item in range(ITEMS)
            ]
    return rows


def findings(rows: Data, folder: Path) -> Findings:
    """Read the rows; regressions are not fitted."""
    raw = read(write_rows(folder / "raw", rows))
    found = Findings(raw, build_study(raw))
    found.regressions.__dict__.update(fits=Fits({}, {}), without={}, remaining={})
    return found


def size(corpus: str) -> str:
    return corpus.split("-")[1].upper() if corpus else ""


def mean(rows: Data, chosen: Callable[[str, str], bool], suite: str) -> float:
    """The score on a suite: of each model, then over models."""
    answers: dict[tuple[str, str, int], list[bool]] = {}
    for model, corpus, seed, of_suite, _, correct in rows:
        if of_suite == suite and chosen(model, size(corpus)):
            answers.setdefault((model, corpus, seed), []).append(correct)
    return fmean(fmean(each) for each in answers.values())


def expected(rows: Data, part: str) -> float | None:
    """Compute the number that a part of a claim names, over all models with the same weight; None of those with chance."""
    circuit = next((circuit for circuit in map(circuit_of, SUITES) if part.endswith(f", {circuit}")), "")
    first, _, second = part.removesuffix(f", {circuit}").partition(" - ")
    on = {corpus: {row[0] for row in rows if size(row[1]) == corpus} for corpus in ("LG", "XS")}

    def chosen(text: str) -> Callable[[str, str], bool]:
        if text in MODELS:
            return lambda model, _: model == MODELS[text]
        return lambda model, corpus: corpus == text and model in on["LG"] & on["XS"]

    if not {first, second} <= {*MODELS, "LG", "XS"}:
        return None
    suites = [suite for suite in {row[3] for row in rows} if circuit in ("", circuit_of(suite))]
    return fmean(mean(rows, chosen(first), suite) - mean(rows, chosen(second), suite) for suite in suites)


def voted(rows: Data) -> Data:
    """The rows with one n-gram model on each corpus, which answers as most of its seeds do."""
    votes: dict[tuple[str, str, int], list[bool]] = {}
    for model, corpus, _, suite, item, correct in rows:
        if model == "ngram":
            votes.setdefault((corpus, suite, item), []).append(correct)
    ngram = [("ngram", corpus, 0, suite, item, 2 * sum(of) > len(of)) for (corpus, suite, item), of in votes.items()]
    return [*(row for row in rows if row[0] != "ngram"), *ngram]


def follows(row: Row) -> str:
    """The verdict that follows from a number, its interval, the claimed range as it is printed, and the adjusted p."""
    text = str(row.claimed)
    limits = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
    low, high = (limits[-1], float("inf")) if text.startswith(">") else (-float("inf"), limits[-1])
    low, high = (-limits[-1], limits[-1]) if "within" in text else (low, high)
    if isnan(row.low):
        return OPEN
    if low < row.low and row.high < high:
        return HOLDS
    if text.startswith("0 "):
        low = high = 0.0
    outside = row.high < low or row.low > high
    return FALSE if outside and (isnan(row.p) or row.p < 0.05) else OPEN


def check(found: Findings, rows: Data) -> dict[str, tuple[str, str]]:
    """Check every number, verdict and sentence; return claim -> what is computed, verdict."""
    judged, rows = found.rows(), voted(rows)
    for row in judged:
        assert row.verdict == follows(row), row
        if row.analysis == ("all", "pooled", "random") and (number := expected(rows, row.part)) is not None:
            assert row.value == pytest.approx(number), row
    numbers = {row.text: row for row in judged}
    made = table(CLAIMS, found)
    lines = {str(line[0]): [str(cell) for cell in line] for line in made.rows}
    lacking = raw.lacking(found.raw)
    assert ("The raw data are those of the paper" in lines) == bool(lacking)
    for claim in found.judged:
        _, _, computed, verdict = lines[claim.text]
        assert verdict.endswith(INCOMPLETE) == bool(lacking and claim.rows)
        if not claim.rows:
            assert (computed, verdict) == (claim.missing, UNKNOWN)
            assert claim.missing
            continue
        # A claim holds under an analysis if all of its numbers do, and does not hold if one of them does not.
        by_analysis: dict[tuple[str, str, str], list[str]] = {}
        for row in claim.rows:
            by_analysis.setdefault(row.analysis, []).append(row.verdict)
        combined = Counter(
            FALSE if FALSE in each else HOLDS if set(each) == {HOLDS} else OPEN for each in by_analysis.values()
        )
        for word, count in combined.items():
            assert verdict.startswith(word) if len(combined) == 1 else f"{word} in {count}" in verdict, (
                verdict,
                combined,
            )
        parts = dict(part.split(": ", 1) for part in computed.split("; "))
        assert numbers[parts["decisive"]].analysis == claim.rows[0].analysis
        assert ("against it" in parts) <= (FALSE in combined)
        assert all(numbers[parts["against it"]].verdict == FALSE for _ in range("against it" in parts))
        only = {row.models for row in claim.rows} == {"all"} and len(by_analysis) > 1
        assert ("only with the withdrawn models" in verdict) == only
    summary = dict(verdicts(judged, found.study))["verdicts"]
    small = {str(line[0]): dict(zip(summary.columns, line, strict=True)) for line in summary.rows}
    for claim in found.judged:
        if claim.rows:
            words = multiverse.verdict_by_analysis(claim.rows)
            line = small[claim.text]
            assert [line[word] for word in (HOLDS, FALSE, OPEN)] == [
                Counter(words.values())[w] for w in (HOLDS, FALSE, OPEN)
            ]
            only = "; only with the withdrawn models" if "only with" in lines[claim.text][3] else ""
            assert line["over all"] == multiverse.standing(claim.rows) + only
            deciding_choices_hold(str(line["deciding choices"]), words)
    elsewhere = {claim.text for claim in found.judged}
    assert {str(row[0]) for row in counts(made, found.judged).rows} == set(lines) - elsewhere
    return {claim: (line[2], line[3]) for claim, line in lines.items()}


def deciding_choices_hold(text: str, words: dict[tuple[str, str, str], str]) -> None:
    """Each analysis has the verdict under whose choices it falls."""
    assert bool(text) == (len(set(words.values())) > 1)
    for part in text.split("; ") if text else ():
        verdict, _, combinations = part.partition(": ")
        matching = {
            analysis
            for analysis, combination in product(words, combinations.split(" or "))
            if all(any(choice == own for own in analysis) for choice in _choices(combination, analysis))
        }
        assert matching == {analysis for analysis, word in words.items() if word == verdict}, text


def _choices(combination: str, analysis: tuple[str, str, str]) -> list[str]:
    """The choices of a combination; names of models may contain a comma."""
    names = {name for name in analysis if name in combination}
    rest = combination
    for name in sorted(names, key=len, reverse=True):
        rest = rest.replace(name, "", 1)
    return [*names, *filter(None, rest.split(", "))]


def without(*names: str) -> Callable[[Data], Data]:
    return lambda rows: [row for row in rows if row[0] not in names and row[3] not in names]


def swapped(rows: Data) -> Data:
    other = {"vanilla": "rnng", "rnng": "vanilla"}
    return [(other.get(row[0], row[0]), *row[1:]) for row in rows]  # type: ignore[misc]


def copied(rows: Data) -> Data:
    """All seeds of the LSTM on XS answer like the first."""
    first = {row[3:5]: row[5] for row in rows if row[:3] == ("vanilla", "bllip-xs", 1)}
    return [(*row[:5], first[row[3:5]]) if row[:2] == ("vanilla", "bllip-xs") else row for row in rows]  # type: ignore[misc, index]


def one_a_class(rows: Data) -> Data:
    """One model of each class, on the smallest corpus for some and on the largest for others."""
    kept = {name: instances(name)[0 if number % 2 else -1] for number, name in enumerate(SKILL)}
    return [row for row in rows if row[1:3] == kept[row[0]]]


RNNG, LSTM = "RNNG scores higher than the LSTM (Figure 3)", "GPT-2-XL scores more than twice as high as the LSTM"
CIRCUITS = "Pre-trained GPT-2 and GPT-2-XL outperform all others on each circuit"
SIZES, AGREEMENT = "Corpus size matters little, except for Agreement", "Agreement improves with corpus size"
CHANCE = "All neural models score above random"
# Name -> the perturbation, and what is then said: claim -> beginnings of what is computed and of the verdict.
PERTURBED: dict[str, tuple[Callable[[Data], Data], dict[str, tuple[str, str]]]] = {
    "nothing": (lambda rows: rows, {RNNG: ("decisive: RNNG - LSTM 0.", HOLDS), LSTM: ("", HOLDS)}),
    "models swapped": (swapped, {RNNG: ("decisive: RNNG - LSTM -0.", FALSE), LSTM: ("", FALSE)}),
    "a class flipped": (
        lambda rows: [(*row[:5], row[5] != (row[0] == "rnng")) for row in rows],
        {RNNG: ("decisive: RNNG - LSTM -0.", FALSE)},
    ),
    "suites deleted": (without("number_src", "cleft", "mvrr"), {CIRCUITS: ("decisive: ", OPEN)}),
    "seeds copied": (copied, {"The raw data are those of the paper": ("models: ", "incomplete data")}),
    "one circuit": (
        lambda rows: [row for row in rows if row[3].startswith("number")],
        {CIRCUITS: ("suites of Agreement only", UNKNOWN), SIZES: ("suites of Agreement only", UNKNOWN), AGREEMENT: ("", "")},
    ),
    "no circuit but one without Agreement": (
        lambda rows: [row for row in rows if row[3].startswith("cleft")],
        {AGREEMENT: ("no suites of Agreement", UNKNOWN), SIZES: ("suites of Long-Distance Dependencies only", UNKNOWN)},
    ),
    "one suite": (
        lambda rows: [row for row in rows if row[3] == "mvrr"],
        {CIRCUITS: ("suites of Garden-Path Effects only", UNKNOWN), RNNG: ("decisive: RNNG - LSTM 0.", "")},
    ),
    "one model a class": (one_a_class, {AGREEMENT: ("no class on both XS and LG", UNKNOWN)}),
    "one corpus": (
        lambda rows: [row for row in rows if size(row[1]) in ("", "XS")], {SIZES: ("no results of LG", UNKNOWN)},
    ),
    "no GPT-2": (without("gpt-2"), {"Figures 3 and 4, right, show all trained classes": ("no results of GPT-2", UNKNOWN)}),
    "trained models only": (without(*SHELF), {CIRCUITS: ("no results of GPT-2, pre-trained", UNKNOWN)}),
    "off-the-shelf models only": (
        lambda rows: [row for row in rows if row[0] in SHELF], {RNNG: ("no results of RNNG", UNKNOWN)},
    ),
    "one class": (lambda rows: [row for row in rows if row[0] == "rnng"], {RNNG: ("no results of LSTM", UNKNOWN)}),
    "everything wrong": (lambda rows: [(*row[:5], False) for row in rows], {LSTM: ("0.0000 / 0.0000", FALSE), RNNG: ("", OPEN)}),
    "everything right": (lambda rows: [(*row[:5], True) for row in rows], {LSTM: ("1.0000 / 1.0000 = 1.00", FALSE)}),
    "one item": (lambda rows: [row for row in rows if row[4] == 0], {RNNG: ("decisive: ", "")}),
}  # fmt: skip


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name == "one suite" else pytest.mark.slow)
    for name in PERTURBED
])  # fmt: skip
def test_every_sentence_follows_from_perturbed_data(name: str, tmp_path: Path) -> None:
    change, said = PERTURBED[name]
    rows = change(data())
    found = check(findings(rows, tmp_path), rows)
    for claim, (computed, verdict) in said.items():
        assert found[claim][0].startswith(computed), found[claim]
        assert found[claim][1].startswith(verdict), found[claim]
    copies = raw.models_like_others(read(tmp_path / "raw"))
    assert copies == ["the same answers: LSTM on XS, seed 1 = LSTM on XS, seed 2"] * (name == "seeds copied")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one model a class", "everything wrong"])
def test_everything_is_made_of_perturbed_data(name: str, tmp_path: Path) -> None:
    raw = read(write_rows(tmp_path / "raw", PERTURBED[name][0](data())))
    with bootstrap.using(bootstrap.Resampling(simulated=0)):
        made = dict(reproduce.from_raw(raw))
    assert {"differences", "counts", "completeness", "figure1"} <= set(made)


def test_withdrawn_models_are_only_named_where_there_are_any(tmp_path: Path) -> None:
    rows = [row for row in data() if row[0] != "gpt-2" or (size(row[1]).lower(), row[2]) not in WITHDRAWN]
    assert raw.WITHDRAWAL in findings(data(), tmp_path / "a").study.remarks
    assert findings(rows, tmp_path / "b").study.remarks == ()
