"""Hu et al. 2020 of data that are not all there: what is said of the paper then, and which figures make no sense."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import raw_hu2020

from syntagm.drawing.table import Cell
from syntagm.errors import UsageError
from syntagm.papers.hu2020 import figures
from syntagm.papers.hu2020.claims_of_circuits import by_corpus, dissociation
from syntagm.papers.hu2020.claims_of_numbers import table4
from syntagm.papers.hu2020.findings import INCOMPLETE, UNKNOWN, Checked, Findings, missing, table
from syntagm.papers.hu2020.preparation import prepared
from syntagm.papers.hu2020.raw import read
from syntagm.papers.hu2020.study import Study
from syntagm.papers.hu2020.tables import correlations
from syntagm.views.classes import ITEM

NO_PERPLEXITY = {"model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64}


def study_of(rows: list[tuple[str, str, int, str, str, float]], corpora: tuple[str, ...]) -> Study:
    items = pl.DataFrame(rows, schema=ITEM, orient="row")
    circuits = dict.fromkeys(items["suite"], "Agreement")
    return Study(items, circuits, pl.DataFrame(schema=NO_PERPLEXITY), dict.fromkeys(corpora, 1.0))


def claimed(folder: Path, *models: str) -> list[tuple[Cell, ...]]:
    raw = read(raw_hu2020.write(folder, models))
    return list(table([by_corpus, table4], Findings(raw, prepared(raw))).rows)


def test_verdicts_on_part_of_the_data_say_so(tmp_path: Path) -> None:
    first, *others = claimed(tmp_path / "raw", "vanilla", "gpt-2", "grnn")
    said = str(first[2])
    assert (first[0], first[3]) == ("The raw data are those of the paper", "incomplete data")
    # Made up are two LSTMs on XS and one on LG; of GPT-2 one on XS and one on LG that read pieces.
    assert "missing: LSTM on XS (2 of 3), LSTM on SM (0 of 3), LSTM on MD (0 of 3), LSTM on LG (1 of 3)" in said
    assert "GPT-2 on SM (0 of 1)" in said
    assert "GPT-2 on XS" not in said
    assert "Transformer-XL, JRNN" in said
    assert [str(row[3]).endswith(INCOMPLETE) for row in others if row[3] != UNKNOWN] == [True]


def test_a_figure_without_gpt_2_says_nothing_of_its_absence(tmp_path: Path) -> None:
    [row] = [row for row in claimed(tmp_path / "raw", "vanilla", "rnng") if str(row[0]).startswith("Figures 3 and 4")]
    assert row[2:] == ("no results of GPT-2", UNKNOWN)


def test_nothing_is_said_of_a_correlation_without_degrees_of_freedom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three LSTMs and two RNNGs; held constant are the size and two of the three classes: 5 - 2 - 3 = 0 degrees of freedom.
    monkeypatch.setitem(raw_hu2020.INSTANCES, "rnng", raw_hu2020.INSTANCES["rnng"][:2])
    raw = read(raw_hu2020.write(tmp_path / "raw", ("vanilla", "rnng")))
    *_, within = table([dissociation], Findings(raw, prepared(raw))).rows
    assert str(within[0]).endswith("within a word-level class")
    assert within[3] == UNKNOWN + INCOMPLETE
    made = correlations(prepared(raw))
    # All are word by word: the size and one class of two leave 5 - 2 - 2 = 1 degree of freedom.
    assert not any(note.startswith("nan") for note in made.notes)
    few = replace(prepared(raw), items=prepared(raw).items.filter(pl.col("corpus") == "xs"))
    assert any(note.startswith("nan") for note in correlations(few).notes)


def test_a_claim_whose_models_cannot_be_compared_is_not_computed(tmp_path: Path) -> None:
    def claim(_: Findings) -> Checked:
        """One model is the best"""
        raise UsageError("y ~ x", "the larger model has the lower likelihood", "a better search")

    raw = read(raw_hu2020.write(tmp_path / "raw"))
    *_, row = table([claim], Findings(raw, prepared(raw))).rows
    assert row == (
        "One model is the best", "", "y ~ x: the larger model has the lower likelihood; expected a better search", UNKNOWN,
    )  # fmt: skip


def test_the_published_data_lack_nothing(shared: Path) -> None:
    raw = read(shared / "data" / "hu2020")
    assert missing(Findings(raw, prepared(raw))) == []


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
