"""The published raw data of Hu et al. 2020 give the numbers of the reference, each to the digits that stand there."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import stdev

import polars as pl
import pytest

from syntagm.core import UsageError
from syntagm.papers import Study
from syntagm.papers.hu2020 import figures, regressions, reproduce, tables
from syntagm.papers.hu2020.findings import Findings, counts, table, verdicts
from syntagm.papers.hu2020.printed import CLAIMS
from syntagm.papers.hu2020.raw import Raw, build_study, read
from syntagm.papers.hu2020.regressions import Fits, Regressions
from syntagm.stats import HOLDS, OPEN
from syntagm.views import Figure, Table
from tools import blocks, pages

STARRED = {
    "GPT-2-XL*": "GPT-2-XL, pre-trained", "GPT-2*": "GPT-2, pre-trained", "Transformer-XL*": "Transformer-XL",
    "JRNN*": "JRNN", "GRNN*": "GRNN",
}  # fmt: skip
# Half of the last of four digits; and what 10,000 draws of another random stream may move an end of an interval by.
EXACT = 0.00005001
DRAWN = 0.006
Rows = list[dict[str, str]]


@cache
def raw(folder: Path) -> Raw:
    return read(folder / "data" / "hu2020")


@cache
def study_of(folder: Path, suites: str = "31") -> Study:
    return build_study(raw(folder), suites)


@cache
def regressions_of(folder: Path) -> Regressions:
    return Regressions(study_of(folder))


@cache
def findings_of(folder: Path) -> Findings:
    findings = Findings(raw(folder), study_of(folder))
    findings.__dict__["regressions"] = regressions_of(folder)
    return findings


def fits_of(folder: Path) -> Fits:
    return regressions_of(folder).fits


@pytest.fixture
def study(shared: Path) -> Study:
    return study_of(shared)


@pytest.fixture
def reference(shared: Path) -> dict[str, list[Rows]]:
    """Heading -> the tables below it, names as ours."""
    text = (shared / "reference" / "hu2020_analysis.md").read_text(encoding="utf-8")
    found: dict[str, list[Rows]] = {}
    for part in re.split(r"^#+ ", text, flags=re.M):
        heading, _, rest = part.partition("\n")
        found[heading.split()[0] if heading else ""] = list(_tables(rest))
    return found


def _tables(text: str) -> Iterator[Rows]:
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.M):
        lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines()]
        head = [STARRED.get(cell, cell) for cell in lines[0]]
        yield [dict(zip(head, [STARRED.get(cell, cell) for cell in line], strict=True)) for line in lines[2:]]


def by_name(made: Table, *keys: str) -> dict[tuple[object, ...], dict[str, object]]:
    rows = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
    return {tuple(row[key] for key in keys): row for row in rows}


def equal(found: object, expected: str) -> bool:
    return abs(float(str(found)) - float(expected)) <= EXACT


def close(found: object, expected: str) -> bool:
    return abs(float(str(found)) - float(expected)) <= DRAWN


@pytest.mark.slow
def test_rows(shared: Path, study: Study) -> None:
    assert len(raw(shared).items) == 213_868
    assert (len(study.scores()), len(study.deltas())) == (1_426, 1_271)
    assert study.chance == pytest.approx(0.285, abs=0.0005)


@pytest.mark.slow
def test_class_scores(study: Study, reference: dict[str, list[Rows]]) -> None:
    found = by_name(tables.classes(study), "model")
    for row in reference["4.1"][0]:
        ours = found[row["model class"],]
        assert equal(ours["score"], row["Figure 1 score"])
        assert equal(ours["mean of corpus means"], row["(mean of corpus means)"])
        assert equal(ours["mean of items"], row["(item-level mean)"])
        assert ours["n"] == int(row["rows"])
        # The reference resamples rows, as if the scores of a suite under several models were independent.
        low, high = (float(f"0{end}") for end in row["95% CI"].split("-"))
        assert ours["high"] - ours["low"] > 0.95 * (high - low)
    # Suites are random: an audit that resampled suites, and models within the class, found .261 to .450.
    lstm = found["LSTM",]
    assert (lstm["low"], lstm["high"]) == pytest.approx((0.261, 0.450), abs=0.01)
    assert len(found) == len(reference["4.1"][0]) == 10


@pytest.mark.slow
def test_sets_of_suites(shared: Path, reference: dict[str, list[Rows]]) -> None:
    found = by_name(reproduce.suite_sets(raw(shared), "vote"), "model", "suites")
    for row in reference["4.1"][1]:
        for column, suites in (("31 suites (paper)", 31), ("33 suites", 33), ("34 suites", 34)):
            assert equal(found[row["model"], suites]["score"], row[column])


@pytest.mark.slow
def test_cells_and_table_4(study: Study, reference: dict[str, list[Rows]]) -> None:
    found = by_name(tables.cells(study), "model", "corpus")
    instances = study.instances().filter(pl.col("corpus") != "").with_columns(pl.col("model").replace(study.labels))
    ours = {(row["model"], row["corpus"], row["seed"]): row for row in instances.iter_rows(named=True)}
    for row in reference["4.2"][0]:
        cell = found[row["model"], row["corpus"]]
        assert cell["seeds"] == int(row["seeds"])
        assert equal(cell["score"], row["SG score"])
        assert equal(cell["delta"], row["SG delta"])
        assert f"{cell['perplexity']:.2f}" == row["perplexity (Table 4)"]
        by_seed = []
        for part in row["seed: SG / perplexity"].split("; "):
            seed, score, perplexity = re.split(r": | / ", part)
            by_seed.append(float(score))
            one = ours.pop((row["model"], row["corpus"], int(seed)))
            assert equal(one["score"], score)
            assert f"{one['perplexity']:.2f}" == perplexity
        # The reference has four digits.
        spread = cell["sd over seeds"]
        assert spread is None if len(by_seed) == 1 else spread == pytest.approx(stdev(by_seed), abs=1e-4)
    assert not ours
    printed = reproduce.table4(study)
    assert all(f"{row[2]:.2f}" == f"{row[-1]:.2f}" for row in printed.rows)
    assert len(printed.rows) == 20


@pytest.mark.slow
def test_correlations(study: Study) -> None:
    found = by_name(tables.correlations(study), "n", "correlation", "held constant")
    expected = [(41, "Pearson", -0.4761, 0.0017), (41, "Spearman", -0.5190, 0.0005)]
    expected += [(32, "Pearson", -0.0180, 0.92), (32, "Spearman", -0.0304, 0.87)]
    for n, method, value, p in expected:
        row = found[n, method, ""]
        assert equal(row["value"], str(value))
        # Perplexities are skewed, so that the jackknife's p of Pearson's r is larger than the reference's, which is Fisher's.
        larger = method == "Pearson" and p < 0.1
        assert p < row["p"] < 0.05 if larger else row["p"] == pytest.approx(p, abs=0.005 if p > 0.1 else 0.00005)


@pytest.mark.slow
def test_figure_3(study: Study, reference: dict[str, list[Rows]]) -> None:
    found = by_name(tables.deltas(study), "name")
    assert (len(reference["4.3"][0]), len(reference["4.3"][1])) == (5, 4)
    for row in reference["4.3"][0]:
        ours = found[row["model"],]
        assert equal(ours["delta"], row["Figure 3 left"])
        assert equal(ours["mean of means of all"], row["(mean of corpus means)"])
        # The reference resamples corpora and rows; here suites are random, too, and four corpora are few.
        low, high = map(float, row["95% CI (units = corpus)"].split(" to "))
        assert ours["high"] - ours["low"] > high - low
    for row in reference["4.3"][1]:
        ours = found[row["corpus"],]
        assert equal(ours["delta"], row["Figure 3 right (as drawn: GPT-2 missing)"])
        assert equal(ours["of all"], row["(with GPT-2, rows pooled)"])
        assert equal(ours["mean of means of all"], row["(with GPT-2, mean of model means)"])
        low, high = map(float, row["95% CI (units = model)"].split(" to "))
        assert ours["high"] - ours["low"] > high - low


def drawn(figure: Figure, *keys: str) -> dict[tuple[object, ...], float]:
    return {tuple(row[key] for key in keys): row["value"] for row in figure.table.iter_rows(named=True)}


@pytest.mark.slow
def test_figure_4(study: Study, reference: dict[str, list[Rows]]) -> None:
    assert (len(reference["4.4"][0]), len(reference["4.4"][1])) == (6, 6)
    by_class = drawn(figures.figure4_by_class(study), "circuit", "name")
    assert all(
        equal(by_class[row["circuit"], name], value)
        for row in reference["4.4"][0]
        for name, value in row.items()
        if name != "circuit"
    )
    by_corpus = drawn(figures.figure4_by_corpus(study), "circuit", "name", "series")
    for row in reference["4.4"][1]:
        for size in ("LG", "MD", "SM", "XS"):
            assert equal(by_corpus[row["circuit"], size, "without GPT-2, as published"], row[size])
            assert equal(by_corpus[row["circuit"], size, "all classes"], row[f"with GPT-2: {size}"])


@pytest.mark.slow
def test_figure_5(study: Study, reference: dict[str, list[Rows]]) -> None:
    found = drawn(figures.figure5(study), "circuit", "name")
    expected = {
        (circuit, row["model"]): value
        for row in reference["4.5"][0]
        for circuit, value in row.items()
        if circuit != "model"
    }
    assert found.keys() == expected.keys()
    assert all(equal(found[key], value) for key, value in expected.items())


@pytest.mark.slow
def test_figure_6(study: Study, reference: dict[str, list[Rows]]) -> None:
    found = by_name(tables.modifiers(study), "model", "suites")
    assert len(reference["4.6"][0]) == 10
    for row in reference["4.6"][0]:
        ours = found[row["model"], "all pairs"]
        assert equal(ours["no modifier"], row["no modifier"])
        assert equal(ours["with modifier"], row["with modifier"])
        assert equal(ours["difference"], row["difference"])
        for column, value in row.items():
            if column.endswith(" base / mod"):
                pair = found[row["model"], column.removesuffix(" base / mod")]
                plain, modified = value.split(" / ")
                assert equal(pair["no modifier"], plain)
                assert equal(pair["with modifier"], modified)


@pytest.mark.slow
def test_suites(shared: Path, study: Study, reference: dict[str, list[Rows]]) -> None:
    for made, expected, count in (
        (tables.suites(study), reference["4.7"][0], 31),
        (tables.suites(study_of(shared, "34")), reference["4.7"][1], 3),
    ):
        found = by_name(made, "suite")
        assert len(expected) == count
        for row in expected:
            ours = found[row.get("suite") or row["excluded suite"],]
            assert equal(ours["mean"], row.get("controlled mean", str(ours["mean"])))
            assert all(equal(ours[name], value) for name, value in row.items() if name in ours and name != "suite")


@pytest.mark.slow
def test_regressions(shared: Path, reference: dict[str, list[Rows]]) -> None:
    found = fits_of(shared).fits
    assert tuple(found) == tuple(regressions.FIXED)
    for row, fit in zip(reference["5."][0], found.values(), strict=True):
        assert fit.k == int(row["k"])
        assert fit.converged
        assert (fit.loglik, fit.aic, fit.bic) == (
            pytest.approx(float(row["logLik"]), abs=0.001),
            pytest.approx(float(row["AIC"]), abs=0.001),
            pytest.approx(float(row["BIC"]), abs=0.001),
        )
    # Four digits of a coefficient and of its standard error; the reference has six.
    terms = {one.name.removeprefix("architecture"): one for one in found["full"].coefficients}
    for row in reference["5."][1]:
        one = terms[row["term"].partition(" (=")[0]]
        assert one.estimate == pytest.approx(float(row["estimate"]), abs=2e-5)
        assert one.se == pytest.approx(float(row["SE"]), abs=2e-5)
    assert [fit.singular for fit in found.values()] == [False] * 3 + [True] * 3


@pytest.mark.slow
def test_ratio_tests_and_footnote_7(shared: Path) -> None:
    fitted = regressions_of(shared)
    made = regressions.tests({"all classes": fitted.fits, **fitted.without}, fitted.ratios)
    found = by_name(made, "classes", "tested")
    for tested, chi2, df, p in (
        ("size", 11.198, 1, 0.00082), ("architecture", 24.317, 4, 6.9e-5),
        ("size by circuit", 29.636, 5, 1.74e-5), ("architecture by circuit", 91.017, 20, 4.92e-11),
    ):  # fmt: skip
        row = found["all classes", tested]
        assert row["chi2"] == pytest.approx(chi2, abs=0.001)
        assert row["df"] == df
        assert row["p"] == pytest.approx(p, rel=0.01)
    for classes, full, no_size, no_architecture in (
        ("without n-gram", -937.97, -931.29, -927.71), ("without GPT-2", -582.16, -570.50, -568.28),
        ("without both", -936.84, -931.25, -924.04),
    ):  # fmt: skip
        size, architecture = found[classes, "size"], found[classes, "architecture"]
        aics = (size["aic with"], size["aic without"], architecture["aic without"])
        assert aics == pytest.approx((full, no_size, no_architecture), abs=0.0051)


@pytest.mark.slow
def test_random_effects(shared: Path) -> None:
    suite, instance = fits_of(shared).fits["full"].groups
    assert instance.sd == (pytest.approx(0.08106, abs=2e-5),)
    assert suite.sd == pytest.approx((0.18573, 0.02443, 0.23600, 0.25427, 0.23364, 0.17371), abs=5e-5)
    assert suite.correlations[4][3] == pytest.approx(0.8711, abs=5e-4)


@pytest.mark.slow
def test_what_differs_from_the_printed_paper(shared: Path) -> None:
    findings = findings_of(shared)
    rows = {row[0]: row for row in table(CLAIMS, findings).rows}
    said = {str(claim): str(row[3]) for claim, row in rows.items()}
    false = {claim for claim, verdict in said.items() if verdict.startswith("does not hold")}
    assert false == {
        "The analysis is over 34 suites",
        "Perplexity and SG score are dissociated",
        "Perplexity and SG score are dissociated within a class",
        "GPT-2 is the best of the classes trained for the study (Figure 1)",
        "Corpus size matters little, except for Agreement",
        "Every item of mvrr can be answered correctly",
        "The chance of a correct answer to an item of mvrr is below 25%",
        "A model that ignores context scores 50% on number agreement",
        "The chance of a correct answer to an NPI item is 5 of 32",
    }
    assert said["The analysis is over 34 suites"] == "does not hold: 31"
    assert {claim for claim, verdict in said.items() if verdict == "differs: GPT-2 is missing"} == {
        "Figure 3, right, shows all trained classes",
        "Figure 4, right, shows all trained classes",
    }
    assert "not computed" not in said.values()
    assert str(rows["Pre-trained GPT-2 and GPT-2-XL outperform all others on each circuit"][2]).startswith(
        "decisive: GPT-2-XL, pre-trained - RNNG, Gross Syntactic State -0.064 ["
    )
    assert said["All neural models score above random"].startswith("holds in 4, does not hold in 2, inconclusive in 6")
    assert said["GPT-2 trained on BLLIP-MD or LG equals pre-trained GPT-2"] == "holds; only with the withdrawn models"
    first = str(rows["GPT-2 is the best of the classes trained for the study (Figure 1)"][2])
    assert "against it: GPT-2 - RNNG -0.306 [-0.422, -0.189] (without withdrawn, alike, random)" in first
    ngram = str(rows["An n-gram's score is the vote of 51 tie-breaking seeds"][2])
    assert "LG 0.281 and 0.325; MD 0.308 and 0.310; SM 0.146 and 0.284; XS 0.196 and 0.287" in ngram


@pytest.mark.slow
def test_the_page_shows_what_the_data_give(shared: Path) -> None:
    """The tables of the command that the page names, without the time that its figures and other regressions take."""
    found = findings_of(shared)
    differences = table(CLAIMS, found)
    made = {
        **{f"raw/{name}": made for name, made in verdicts(found.rows(), found.study)},
        "raw/counts": counts(differences, found.judged), "raw/withdrawn": reproduce.withdrawn_table(found.study),
        "raw/variances": regressions.variances(regressions_of(shared).observations),
    }  # fmt: skip
    page = (pages.PAGES / "hu2020_claims.md").read_text(encoding="utf-8")
    shown = [block for block in blocks.find(page) if block.name in made]
    assert {block.name for block in shown} == set(made)
    for block in shown:
        current = pages.shown(made[block.name].markdown(), block.how)
        assert pages.same(current, block.content), f"{block.name}: run `python -m tools.pages hu2020_claims`"


@pytest.mark.slow
def test_figures_of_an_audit_with_other_programs(shared: Path) -> None:
    """The numbers under other analyses, as an audit with independent code computed them."""
    findings = findings_of(shared)
    rows = {(row.part, *row.analysis): row for row in findings.rows()}
    least = rows["LSTM - chance", "all", "pooled", "random"]
    assert (round(least.value, 3), least.verdict) == (0.069, OPEN)
    assert rows["LSTM - chance", "all", "pooled", "fixed"].verdict == HOLDS
    growth = {
        circuit: rows[f"LG - XS, {circuit}", "all", "alike", "random"].value
        for circuit in (
            "Center Embedding",
            "Garden-Path Effects",
            "Gross Syntactic State",
            "Long-Distance Dependencies",
        )
    }
    assert [round(value, 3) for value in growth.values()] == [0.126, 0.156, 0.231, 0.155]
    within = {row.analysis[:2]: row.value for row in findings.rows() if row.claim.endswith("within a class")}
    assert round(within["word-level neural models, log size", "pooled"], 2) == -0.59
    assert round(within["word-level neural models, size as a factor", "pooled"], 2) == -0.42
    gaps = {row.models: round(row.value, 1) for row in findings.rows() if row.part == "difference of AICs"}
    assert (gaps["all"], gaps["without withdrawn"]) == (7.1, 2.2)


@pytest.mark.slow
def test_withdrawn_models(study: Study) -> None:
    rows = by_name(reproduce.withdrawn_table(study), "corpus", "seed")
    for row in rows.values():
        if row["status"] == "withdrawn":
            assert equal(row["score"], str(row["cited score"]))
            assert f"{row['perplexity']:.2f}" == f"{row['cited perplexity']:.2f}"
        if row["status"] == "retrained":
            assert row["score"] is None
    assert [row["status"] for row in rows.values()].count("kept") == 2


@pytest.mark.slow
def test_intervals_as_published_are_those_of_the_reference(shared: Path) -> None:
    """Of the paper's bootstrap: rows in Figure 1, corpora and rows within them on the left of Figure 3."""
    study = study_of(shared)
    crossed, resampled = (figures.figure1(study, as_published).table for as_published in (False, True))
    found = {row["model"]: (row["low"], row["high"]) for row in resampled.iter_rows(named=True)}
    for model, interval in {"GPT-2": (0.498, 0.608), "RNNG": (0.501, 0.577), "LSTM": (0.324, 0.384)}.items():
        assert found[model] == pytest.approx(interval, abs=DRAWN)
    assert resampled["value"].equals(crossed["value"])
    assert set(resampled["method"]) == {"percentile bootstrap(rows, 2000, seed 1)"}
    left = figures.figure3(study, True).table.filter(by="by model class")
    deltas = {row["name"]: (row["low"], row["high"]) for row in left.iter_rows(named=True)}
    for model, interval in {"LSTM": (-0.1, -0.044), "ON-LSTM": (0.017, 0.098), "RNNG": (0.062, 0.175)}.items():
        assert deltas[model] == pytest.approx(interval, abs=0.012)
    with pytest.raises(UsageError, match="crossed or published"):
        next(figures.figures(study, "bars"))
