"""The table of judgements, of a run of single sentences and of a run of pairs."""

from pathlib import Path

import pytest

import syntagm as sg
from syntagm.errors import UsageError
from syntagm.views import judgements

DATA = Path(__file__).parents[1] / "data"


def test_labels_ratings_and_pairs_have_a_row_each(tmp_path: Path) -> None:
    model = sg.load_model("toy")
    files = [f"{DATA / 'judgements'}/{name}" for name in ("kites.tsv", "ratings.csv")]
    single = sg.evaluate(model, sg.read_suites(*files), measures=["surprisal(condition=sentence)"])
    rows = [dict(zip(judgements.COLUMNS, row, strict=True)) for row in judgements.make_table([single]).rows]
    assert [(row["suite"], row["n"], row["acceptable"], row["rated"]) for row in rows] == [
        ("kites", 4, 2, 0), ("ratings", 0, 0, 3),
    ]  # fmt: skip
    pairs = sg.evaluate(model, sg.read_suites(f"{DATA}/labelled/rows.csv?sentence=text&label=ok&good=yes&item=pair"))
    [row] = judgements.make_table([pairs]).rows
    assert row[1:4] == ("rows", 4, 2)


def test_a_run_without_judgements_is_refused() -> None:
    run = sg.evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"), limit=2)
    with pytest.raises(UsageError, match="no suite with judgements"):
        judgements.make_table([run])
