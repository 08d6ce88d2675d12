"""Accuracy by scoring method: means and deviations over the suites that have both methods."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from toy_runs import agreement

from syntagm.core import UsageError
from syntagm.models import load
from syntagm.runs import run_suites
from syntagm.suites import SuiteFiles, expand
from syntagm.views import methods

SUITES = ["determiner_noun_agreement_1", "anaphor_number_agreement", "determiner_noun_agreement_2", "causative"]


@pytest.mark.slow
def test_means_and_deviations_are_those_of_the_suites(tmp_path: Path) -> None:
    files = expand([f"warstadt2020/{name}?n=20" for name in SUITES])
    run = run_suites(load("random"), SuiteFiles(files), tmp_path)
    table = methods.make_table([run])
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    values = run.results().group_by("suite", "measure").agg(pl.col("value").mean())
    means = {(suite, measure): value for suite, measure, value in values.iter_rows()}
    for row in rows:
        if row["group"] == "all":
            names = SUITES[:2] if row["compared"].startswith("one") else SUITES[2:3]
            found = [means[name, row["accuracy of"]] for name in names]
            assert row["score"] == pytest.approx(np.mean(found))
            assert row["sd"] == (pytest.approx(np.std(found, ddof=1)) if len(found) > 1 else None)
    # Both methods stand for both prefixes: over all suites, and for each phenomenon that has them.
    assert [(row["compared"][:3], row["group"]) for row in rows[::2]] == [
        ("one", "all"), ("one", "determiner_noun_agreement"), ("one", "anaphor_agreement"), ("two", "all"),
        ("two", "determiner_noun_agreement"),
    ]  # fmt: skip
    assert any(note.startswith("all, ") and note.endswith(": only 2 suites.") for note in table.notes)


def test_suites_without_prefixes_are_refused(tmp_path: Path) -> None:
    run = run_suites(load("toy"), [agreement()], tmp_path)
    for make in (methods.make_table, methods.draw_figure):
        with pytest.raises(UsageError, match="no suite with full_sentence and a prefix method"):
            make([run])
