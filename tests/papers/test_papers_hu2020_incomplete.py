"""Hu et al. 2020 of data that are not all there: what is said of the paper then, and which figures make no sense."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import raw_hu2020

from syntagm.core import InputError, UsageError
from syntagm.papers import Study
from syntagm.papers.hu2020 import figures, raw
from syntagm.papers.hu2020.findings import INCOMPLETE, UNKNOWN, Checked, Findings, table
from syntagm.papers.hu2020.printed import by_corpus, table4
from syntagm.papers.hu2020.raw import build_study, read
from syntagm.papers.hu2020.tables import correlations
from syntagm.views import ITEM, Cell

NO_PERPLEXITY = {"model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64}


def study_of(rows: list[tuple[str, str, int, str, str, float]], corpora: tuple[str, ...]) -> Study:
    items = pl.DataFrame(rows, schema=ITEM, orient="row")
    circuits = dict.fromkeys(items["suite"], "Agreement")
    return Study(items, circuits, pl.DataFrame(schema=NO_PERPLEXITY), dict.fromkeys(corpora, 1.0))


def claimed(folder: Path, *models: str) -> list[tuple[Cell, ...]]:
    raw = read(raw_hu2020.write(folder, models))
    return list(table([by_corpus, table4], Findings(raw, build_study(raw))).rows)


def row_of(folder: Path, claim: str, *models: str) -> tuple[Cell, ...]:
    [row] = [row for row in claimed(folder, *models) if str(row[0]).startswith(claim)]
    return row


@pytest.mark.slow
def test_verdicts_on_part_of_the_data_say_so(tmp_path: Path) -> None:
    first, second, *others = claimed(tmp_path / "raw", "vanilla", "gpt-2", "grnn")
    said = str(first[2])
    assert (first[0], first[3]) == ("The raw data are those of the paper", "incomplete data")
    # Made up are two LSTMs on XS and one on LG; of GPT-2 one on XS and one on LG that read pieces.
    assert "missing: LSTM on XS (2 of 3), LSTM on SM (0 of 3), LSTM on MD (0 of 3), LSTM on LG (1 of 3)" in said
    assert "GPT-2 on SM, GPT-2 on MD (0 of 2)" in said
    assert "GPT-2 on XS" not in said
    assert "suites: missing: center_embed, center_embed_mod, cleft" in said
    assert "items: missing: mvrr (4 of 28), mvrr_mod (4 of 28), number_src (3 of 19)" in said
    assert second[0] == "Figures 3 and 4, right, show all trained classes"
    assert all(str(row[3]).endswith(INCOMPLETE) for row in others if row[3] != UNKNOWN)


@pytest.mark.slow
def test_a_figure_without_gpt_2_says_nothing_of_its_absence(tmp_path: Path) -> None:
    row = row_of(tmp_path / "raw", "Figures 3 and 4", "vanilla", "rnng")
    assert row[2:] == ("no results of GPT-2", UNKNOWN)


@pytest.mark.slow
def test_nothing_is_said_of_a_correlation_without_degrees_of_freedom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three LSTMs and two RNNGs; held constant are the size and two of the three classes: 5 - 2 - 3 = 0 degrees of freedom.
    monkeypatch.setitem(raw_hu2020.INSTANCES, "rnng", raw_hu2020.INSTANCES["rnng"][:2])
    raw = read(raw_hu2020.write(tmp_path / "raw", ("vanilla", "rnng")))
    rows = table([], Findings(raw, build_study(raw))).rows
    [within] = [row for row in rows if str(row[0]).endswith("within a class")]
    assert within[3] == "inconclusive" + INCOMPLETE
    made = correlations(build_study(raw))
    # All are word by word: the size and one class of two leave 5 - 2 - 2 = 1 degree of freedom: a value, no interval.
    value, low = made.rows[-1][3:5]
    assert (value == value, low == low) == (True, False)
    assert any(note.startswith("nan") for note in made.notes)
    few = replace(build_study(raw), items=build_study(raw).items.filter(pl.col("corpus") == "xs"))
    assert any(note.startswith("nan") for note in correlations(few).notes)


@pytest.mark.slow
def test_a_claim_whose_models_cannot_be_compared_is_not_computed(tmp_path: Path) -> None:
    def claim(_: Findings) -> Checked:
        """One model is the best"""
        raise UsageError("y ~ x", "the larger model has the lower likelihood", "a better search")

    raw = read(raw_hu2020.write(tmp_path / "raw"))
    row = table([claim], Findings(raw, build_study(raw))).rows[1]
    assert row == (
        "One model is the best", "", "y ~ x: the larger model has the lower likelihood; expected a better search", UNKNOWN,
    )  # fmt: skip


@pytest.mark.slow
def test_the_published_data_lack_nothing(shared: Path) -> None:
    assert raw.lacking(read(shared / "data" / "hu2020")) == []


def test_surplus_items_and_unknown_suites_are_said(tmp_path: Path) -> None:
    folder = raw_hu2020.write(tmp_path / "raw")
    for file in (folder / "sg_results").glob("*.csv"):
        file.write_text(file.read_text().replace(",nn-nv-rpl,0,", ",number_new,0,"))
    lacking = raw.lacking(read(folder))
    assert "suites: not published: number_new" in lacking
    assert "nn-nv-rpl" in next(line for line in lacking if line.startswith("suites: missing"))


def test_models_that_answer_other_items_are_refused(tmp_path: Path) -> None:
    folder = raw_hu2020.write(tmp_path / "raw")
    file = folder / "sg_results" / "syntaxgym_results_grnn.csv"
    file.write_text(file.read_text().replace(",mvrr,3,", ",mvrr,7,"))
    with pytest.raises(InputError, match=r"no answer of .* to item [37] of mvrr"):
        read(folder)


def test_figures_that_would_be_empty_are_not_made() -> None:
    """Without a perplexity no point, and one class on one corpus differs from its own mean by 0."""
    one = [("a", "xs", seed, "s", str(item), float(item < 2)) for seed in (1, 2) for item in range(3)]
    assert {name for name, _ in figures.figures(study_of(one, ("xs",)))} == {"figure1", "figure5"}
    two = one + [("b", "xs", 1, "s", str(item), 1.0) for item in range(3)]
    made = {name for name, _ in figures.figures(study_of(two, ("xs",)))}
    assert made == {"figure1", "figure3", "figure4_by_class", "figure4_by_corpus", "figure5"}


def test_an_undefined_mean_has_no_interval() -> None:
    """A suite without a defined item: the mean of the circuit is undefined, and an interval of the rest would say nothing."""
    rows = [("a", "", 0, "s", str(item), float(item < 2)) for item in range(4)]
    rows += [("a", "", 0, "t", str(item), np.nan) for item in range(4)]
    made = figures.figure5(study_of(rows, ())).table
    assert made["n"].to_list() == [4]
    assert np.isnan([made[name][0] for name in ("value", "low", "high")]).all()
