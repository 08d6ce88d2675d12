"""Claims under several analyses: contrasts computed by hand, and sentences that follow the data when these are changed."""

import csv
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import raw_hu2020

from benchmarks import coverage_claims
from syntagm.cli import main
from syntagm.papers import Analysis, Claim, Study, View, multiverse
from syntagm.papers.hu2020 import figures, raw
from syntagm.papers.hu2020.findings import Findings, judge_claims, table
from syntagm.papers.hu2020.multiverse import Contrast
from syntagm.papers.hu2020.printed import CLAIMS
from syntagm.papers.hu2020.raw import build_study, read
from syntagm.papers.hu2020.regressions import Fits, Regressions
from syntagm.papers.hu2020.study import Missing
from syntagm.stats import FALSE, HOLDS, OPEN, Range
from syntagm.views import ITEM

NO_PERPLEXITY = {"model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64}
# Class, corpus, seed -> the verdicts on two suites of two items.
ANSWERS = {
    ("gpt-2", "XS", 1): ("10", "00"),
    ("gpt-2", "LG", 2): ("11", "11"),
    ("gpt-2", "LG", 3): ("11", "01"),
    ("rnng", "XS", 1): ("00", "01"),
}


def study() -> Study:
    rows = [
        (model, corpus, seed, suite, str(item), float(digit))
        for (model, corpus, seed), suites in ANSWERS.items()
        for suite, digits in zip(("s", "t"), suites, strict=True)
        for item, digit in enumerate(digits)
    ]
    items = pl.DataFrame(rows, schema=ITEM, orient="row")
    return Study(items, {"s": "One", "t": "Two"}, pl.DataFrame(schema=NO_PERPLEXITY), {"XS": 1.0, "LG": 42.0})


def test_weights_are_of_models_or_of_corpora() -> None:
    pooled, alike = (View(study(), Analysis(weights=weights), set()) for weights in multiverse.WEIGHTS)
    assert pooled.mean("gpt-2").tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert alike.mean("gpt-2").tolist() == pytest.approx([1 / 2, 1 / 4, 1 / 4, 0])
    assert alike.mean("gpt-2", "LG").tolist() == pytest.approx([0, 1 / 2, 1 / 2, 0])
    assert pooled.mean_of_corpus("XS").tolist() == alike.mean_of_corpus("XS").tolist() == [1 / 2, 0, 0, 1 / 2]
    with pytest.raises(Missing, match="no results of LSTM on MD"):
        pooled.mean("vanilla", "MD")


def test_a_contrast_by_hand() -> None:
    # Without the withdrawn model, gpt-2 is the mean of 10 and 11 on s and of 00 and 01 on t; rnng is 00 and 01.
    view = View(study(), Analysis("without withdrawn", "pooled", "fixed"), {("LG", 2)})
    contrast = Contrast("gpt-2 - rnng", view.mean("gpt-2") - view.mean("rnng"), Range(low=0.0), ["s", "t"])
    row = view.judge("better", contrast)
    # Items: 1 and 1/2 on s; 0 and 1/2 - 1 on t. The variance of each suite's mean is 1/16; no corpus has two seeds.
    assert row.value == pytest.approx((0.75 - 0.25) / 2)
    # Each variance has one degree of freedom, and they are equal: two together (t = 4.302653).
    assert row.high - row.value == pytest.approx(4.302653 * np.sqrt((1 / 16 + 1 / 16) / 4))
    assert (row.analysis, row.verdict) == (("without withdrawn", "pooled", "fixed"), OPEN)
    chance = Contrast("gpt-2 - chance", view.mean("gpt-2"), Range(low=0.0), ["s"], {"s": 0.25})
    assert view.judge("better", chance).value == pytest.approx(0.5)
    pair = Contrast("t - s", view.mean("gpt-2"), Range(low=0.0), [("t", "s")])
    assert view.judge("better", pair).value == pytest.approx(0.25 - 0.75)


def test_seeds_widen_the_interval() -> None:
    with_seeds, without = (View(study(), Analysis("all", "pooled", "fixed"), gone) for gone in (set(), set()))
    without.items = without.items.filter(pl.col("seed") != 3)
    several, one = (
        view.judge("c", Contrast("gpt-2", view.mean("gpt-2", "LG"), Range(low=0.0), ["s", "t"]))
        for view in (with_seeds, without)
    )
    # Seeds 2 and 3 have means of 1 and 3/4: variance 1/32 with 1 degree of freedom, and half of it for the mean of two.
    assert one.high - one.low == 0 or isnan(one.high)
    assert several.high - several.low > 1


@pytest.mark.parametrize(
    ("claimed", "low", "high", "verdict"),
    [
        (Range(low=0.0), 0.01, 0.2, HOLDS), (Range(low=0.0), -0.2, -0.01, FALSE), (Range(low=0.0), -0.1, 0.1, OPEN),
        (Range(low=0.0), nan, nan, OPEN), (Range(-0.1, 0.1), -0.05, 0.09, HOLDS), (Range(-0.1, 0.1), 0.11, 0.3, FALSE),
        (Range(-0.1, 0.1), 0.05, 0.3, OPEN), (Range(high=0.1), -0.9, 0.05, HOLDS), (Range(high=0.1), 0.2, 0.3, FALSE),
        (Range(-0.3, 0.3, zero=True), 0.1, 0.5, FALSE), (Range(-0.3, 0.3, zero=True), 0.1, 0.2, HOLDS),
        (Range(-0.3, 0.3, zero=True), -0.1, 0.5, OPEN),
    ],
)  # fmt: skip
def test_absence_of_evidence_is_no_support(claimed: Range, low: float, high: float, verdict: str) -> None:
    assert claimed.verdict(low, high) == verdict


def test_a_claim_needs_all_its_contrasts() -> None:
    def contrasts(view: View) -> list[Contrast]:
        better = Contrast("better", view.mean("gpt-2") - view.mean("rnng"), Range(-2.0, 2.0), ["s", "t"])
        never = Contrast("never", view.mean("gpt-2") - view.mean("rnng"), Range(low=5.0), ["s", "t"])
        return [better, never]

    rows = multiverse.rows(Claim("all of them", "printed", contrasts), study(), set())
    fixed = [row for row in rows if row.suites == "fixed"]
    assert {row.part: row.verdict for row in fixed} == {"better": HOLDS, "never": FALSE}
    assert set(multiverse.verdict_by_analysis(fixed).values()) == {FALSE}
    assert multiverse.decisive(rows).part == "never"
    # An analysis without GPT-2 has nothing to say, so 8 of 12 remain.
    assert len(multiverse.verdict_by_analysis(rows)) == 8


@pytest.mark.slow
def test_strict_refuses_incomplete_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = raw_hu2020.write(tmp_path / "raw", ("vanilla", "grnn"))
    line = ["reproduce", "hu2020", "--from-raw", str(folder), "-o", str(tmp_path / "out")]
    assert main(line) == 0
    assert main([*line, "--strict", "--force"]) == 1
    assert "incomplete raw data: suites: missing: center_embed" in capsys.readouterr().err
    assert main(["reproduce", "hu2020", "--model", "toy", "-o", str(tmp_path / "x"), "--strict"]) == 2
    assert "--strict" in capsys.readouterr().err


def changed(shared: Path, place: Path, change: Callable[[list[str]], list[str] | None]) -> Findings:
    """Copy the published data with a change of each row (None drops it); regressions are not fitted."""
    folder = place / "raw"
    shutil.copytree(shared / "data" / "hu2020", folder)
    for file in (folder / "sg_results").glob("*.csv"):
        header, *rows = list(csv.reader(file.read_text().splitlines()))
        kept = [row for row in map(change, rows) if row]
        file.write_text("\n".join(",".join(row) for row in [header, *kept]) + "\n")
        if not kept:
            file.unlink()
    raw = read(folder)
    findings = Findings(raw, build_study(raw))
    # Cached properties.
    findings.regressions.__dict__.update(fits=Fits({}, {}), without={}, remaining={})
    return findings


def verdicts(findings: Findings) -> dict[str, tuple[str, str]]:
    return {str(row[0]): (str(row[2]), str(row[3])) for row in table(CLAIMS, findings).rows}


@pytest.mark.slow
def test_a_dropped_suite_is_said_everywhere(shared: Path, tmp_path: Path) -> None:
    findings = changed(shared, tmp_path, lambda row: None if row[1] == "fgd_object" else row)
    assert raw.lacking(findings.raw) == ["suites: missing: fgd_object"]
    assert "mean of 30 of 31 suites" in str(figures.figure1(findings.study).spec["title"])
    said = verdicts(findings)
    assert said["Random answers score about 25%"][0].endswith(
        "over 30 of 31 suites, if compared values are independent draws"
    )
    assert said["The raw data are those of the paper"][0].startswith("suites: missing: fgd_object")
    assert all(
        verdict.endswith(("(incomplete data)", "not computed", "incomplete data")) for _, verdict in said.values()
    )


@pytest.mark.slow
def test_permuted_labels_reverse_what_is_said_of_them(shared: Path, tmp_path: Path) -> None:
    other = {"vanilla": "rnng", "rnng": "vanilla"}

    def swapped(row: list[str]) -> list[str]:
        name, rest = row[0].split("_", 1)
        return [f"{other.get(name, name)}_{rest}", *row[1:]]

    said = verdicts(changed(shared, tmp_path, swapped))
    assert said["RNNG scores higher than the LSTM (Figure 3)"][1].startswith(FALSE)
    assert said["GPT-2-XL scores more than twice as high as the LSTM"][1].startswith(FALSE)


@pytest.mark.slow
def test_noise_supports_nothing(shared: Path, tmp_path: Path) -> None:
    draw = random.Random(1)
    said = verdicts(changed(shared, tmp_path, lambda row: [*row[:3], str(draw.random() < 0.285)]))
    for claim in (
        "All neural models score above random", "RNNG scores higher than the LSTM (Figure 3)",
        "GPT-2 is the best of the classes trained for the study (Figure 1)", "Agreement improves with corpus size",
        "Pre-trained GPT-2 and GPT-2-XL outperform all others on each circuit",
    ):  # fmt: skip
        assert not said[claim][1].startswith(HOLDS), (claim, said[claim])
    assert said["Corpus size matters little, except for Agreement"][1].startswith(HOLDS)


@pytest.mark.slow
def test_a_dropped_size_leaves_its_claims_open(shared: Path, tmp_path: Path) -> None:
    findings = changed(shared, tmp_path, lambda row: None if "-lg" in row[0] else row)
    said = verdicts(findings)
    assert said["Corpus size matters little, except for Agreement"] == ("no results of LG", "not computed")
    assert "LSTM on LG (0 of 3)" in said["The raw data are those of the paper"][0]


@pytest.mark.slow
def test_renumbered_items_change_their_numbers_only(shared: Path, tmp_path: Path) -> None:
    before = verdicts(changed(shared, tmp_path / "a", lambda row: row))
    after = verdicts(changed(shared, tmp_path / "b", lambda row: [*row[:2], str(int(row[2]) + 100), row[3]]))
    differing = {claim for claim in before if before[claim] != after[claim]}
    assert differing == {"Every item of mvrr can be answered correctly"}
    assert "item 104" in after["Every item of mvrr can be answered correctly"][0]


def of_an_experiment() -> Study:
    """An experiment of one's own: an LSTM is right on one item of two, an RNNG and a GPT-2 on both, on two sizes."""
    right = {"lstm": "10", "rnng": "11", "gpt2": "11"}
    rows = [
        (family, size, seed, suite, str(item), float(digit))
        for family, digits in right.items()
        for size in ("small", "large")
        for seed in (1, 2)
        for suite in ("s", "t", "u")
        for item, digit in enumerate(digits if seed == 1 else digits[::-1])
    ]
    items = pl.DataFrame(rows, schema=ITEM, orient="row")
    circuits = {"s": "One", "t": "Two", "u": "Two"}
    words = {"small": 0.1, "large": 1.0}
    return Study(items, circuits, pl.DataFrame(schema=NO_PERPLEXITY), words, chances=dict.fromkeys("stu", 0.25))


def test_chance_levels_of_unequal_models_do_not_depend_on_the_order_of_a_set() -> None:
    suites = "abcdefghij"
    rows = [(model, "", 0, suite, "1", 1.0) for model, own in (("m", suites), ("n", "a")) for suite in own]
    items = pl.DataFrame(rows, schema=ITEM, orient="row")
    study = Study(items, {}, pl.DataFrame(schema=NO_PERPLEXITY), {}, chances=dict.fromkeys(suites, 0.1))
    assert study.levels == {"m": 0.1, "n": 0.1}  # added one by one, .1 is ten times .9999999999999999


def test_the_claims_are_judged_for_an_experiment_of_ones_own() -> None:
    study = of_an_experiment()
    regressions = Regressions(study)
    regressions.__dict__.update(fits=Fits({}, {}), without={}, remaining={})
    found = {claim.text: claim for claim in judge_claims(study.as_published(), None, regressions)}
    better = found["RNNG scores higher than the LSTM (Figure 3)"].rows
    # The LSTM is right on half of the items of each suite.
    assert {row.value for row in better} == {0.5}
    # There are no withdrawn models, so there is no analysis without them.
    assert {row.models for row in better} == {"all", "without GPT-2"}
    best = found["GPT-2 is the best of the classes trained for the study (Figure 1)"].rows
    assert [row[10] for row in multiverse.verdict_table([*better, *best]).rows] == ["inconclusive"] * 2
    sizes = found["Corpus size matters little, except for Agreement"].rows
    assert {row.part for row in sizes} == {"large - small, One", "large - small, Two"}
    # Only classes that there are count, and of classes that there never are nothing is said.
    assert {row.part for row in found["All neural models score above random"].rows} == {
        "LSTM - chance", "RNNG - chance", "GPT-2 - chance",
    }  # fmt: skip
    assert found["GPT-2 and RNNG are comparable to Transformer-XL and JRNN"].missing == "no results of Transformer-XL"


def test_one_number_of_many_at_the_limit_refutes_nothing() -> None:
    """Of 20 numbers that are just true, one is outside by chance; two thirds of the claims would be called false."""
    row = multiverse.Row("c", "p", "all", "pooled", "random", 0.1, 0.0, 0.2, Range(low=0.0), OPEN, 1.0)
    outside = replace(row, part="q", value=-0.1, low=-0.19, high=-0.01, verdict=FALSE, p=0.03)
    assert multiverse.verdict_by_analysis(multiverse.adjusted_together([outside])) == {row.analysis: FALSE}
    assert multiverse.verdict_by_analysis(multiverse.adjusted_together([outside, *[row] * 19])) == {row.analysis: OPEN}
    far = replace(outside, p=0.001)
    assert multiverse.verdict_by_analysis(multiverse.adjusted_together([far, *[row] * 19])) == {row.analysis: FALSE}
    # p is adjusted for the numbers of the same analysis, and numbers without p are left as they are.
    elsewhere = [replace(row, suites="fixed")] * 19
    aic = replace(outside, part="AIC", p=nan)
    assert multiverse.verdict_by_analysis(multiverse.adjusted_together([outside, *elsewhere]))[row.analysis] == FALSE
    assert multiverse.adjusted_together([aic, *[row] * 19])[0].verdict == FALSE


@pytest.mark.slow
def test_the_study_of_false_refutations_judges_its_claims() -> None:
    found = list(coverage_claims.study(draws=1))
    assert {row.what for row in found} == {*coverage_claims.WORLDS, "... without adjustment"}
    assert {row.units.partition(",")[0] for row in found} == {
        "96 numbers",
        "6 numbers",
        "5 numbers",
        "4 numbers",
        "1 number",
    }


def test_p_is_that_of_the_nearest_limit() -> None:
    view = View(study(), Analysis("all", "pooled", "fixed"), set())
    weights = view.mean("gpt-2") - view.mean("rnng")
    within, above = (
        view.judge("c", Contrast("d", weights, claimed, ["s", "t"])) for claimed in (Range(-0.9, 0.9), Range(low=5))
    )
    assert within.p == 1.0
    assert (above.verdict, above.p < 0.001) == (FALSE, True)
