"""The table of judgements, of a run of single sentences and of a run of pairs."""

from pathlib import Path

import numpy as np
import pytest

import syntagm as sg
from syntagm.core import UsageError
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


def test_ratings_of_one_sentence_are_averaged_and_contrary_labels_are_none(tmp_path: Path) -> None:
    """A spreadsheet with a row for each rating: means 1.5, 3 and 4; the last ratings alone would be 2, 1 and 3."""
    rows = [
        ("It rains.", 1),
        ("Dogs bark.", 5),
        ("We slept.", 5),
        ("It rains.", 2),
        ("Dogs bark.", 1),
        ("We slept.", 3),
    ]
    (tmp_path / "rated.csv").write_text("sentence,rating\n" + "".join(f"{text},{each}\n" for text, each in rows))
    labelled = [("It rains.", 1), ("Dogs bark.", 0), ("We slept.", 1), ("It rains.", 0)]
    (tmp_path / "labels.csv").write_text("sentence,label\n" + "".join(f"{text},{each}\n" for text, each in labelled))
    chosen = [f"{tmp_path}/rated.csv?sentence=sentence&rating=rating"]
    chosen += [f"{tmp_path}/labels.csv?format=judgements&sentence=sentence&label=label"]
    measure = "surprisal(condition=sentence)"
    run = sg.evaluate(sg.load_model("random"), sg.read_suites(*chosen), measures=[measure])
    table = judgements.make_table([run])
    rated, labels = (dict(zip(judgements.COLUMNS, row, strict=True)) for row in table.rows)
    costs = run.results("rated").filter(measure=run.suite("rated").predictions_for("")[0])["value"].to_list()[:3]
    assert rated["pearson"] == pytest.approx(np.corrcoef(np.negative(costs), [1.5, 3, 4])[0, 1])
    assert (labels["n"], labels["acceptable"]) == (2, 1)
    assert table.notes[1:] == ("labels: 1 sentence with both labels, left out of accuracy, mcc and auc.",)


def test_a_run_without_judgements_is_refused() -> None:
    run = sg.evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"), limit=2)
    with pytest.raises(UsageError, match="no suite with judgements"):
        judgements.make_table([run])
