"""Measures whose values are shares, and fill runs that were asked different things, wherever two runs are compared."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fill_for_tests import Drawn
from rich.console import Console
from toy_runs import pairs

from syntagm.cli import compare as command, main
from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.runs import Run, fill, open_run
from syntagm.stats import paired
from syntagm.suites import Suite, WordList, WordRow
from syntagm.views import compare, gaps, margins, scores

FORMS = (("is", "are"), ("barks", "bark"), ("sings", "sing"), ("naps", "nap"))
VOCABULARY = [*(form for two in FORMS for form in two), *"abcdefghij"]
SUITE = pairs("simple", ("The dog barks.", "The dog bark."), ("The dogs are here.", "The dogs is here."),
              ("A bird sings.", "A bird sing."))  # fmt: skip
# Left of the blank three contexts, with what is on its right five.
LONGER = pairs("longer", ("The dog barks.", "The dog bark."), ("The dog barks here.", "The dog bark here."),
               ("The dogs are here.", "The dogs is here."), ("A bird sings.", "A bird sing."),
               ("A bird naps well.", "A bird nap well."))  # fmt: skip
OF_CONTEXTS = (
    "NOT COMPARABLE: {} the left side of a gap, {} both sides, so that their contexts differ in longer "
    "(A: {}, B: {} contexts). Contexts with the same first item are compared, others are undefined"
)
NAN = float("nan")


def filled(
    folder: Path, extra: str = "", forms: tuple[tuple[str, str], ...] = FORMS, both: bool = False,
    suite: Suite = SUITE, **options: Any,
) -> Run:  # fmt: skip
    words = WordList("list", ("singular", "plural"), tuple(WordRow(two[1], two) for two in forms))
    lacking = options.pop("lacking", "")
    model = Drawn([*(one for one in VOCABULARY if one != lacking), *extra], sees="both" if both else "left")
    return fill(model, (suite,), words, folder, **options)


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    return [str(filled(tmp_path / name, extra).folder) for name, extra in (("a", ""), ("b", "k"))]


def table_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, str]]:
    assert main(["table", *words, "--format", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def shares(*values: tuple[float, float]) -> pl.DataFrame:
    rows = [("s", str(k), "w", a, b, NAN, NAN) for k, (a, b) in enumerate(values)]
    return pl.DataFrame(rows, schema=list(paired.PAIR_COLUMNS), orient="row")


def test_shares_have_a_difference_and_nothing_that_holds() -> None:
    pairs_of_shares = shares((0.25, 0.75), (0.5, 0.5), (NAN, 0.1))
    [found] = paired.by_suite(pairs_of_shares, Kind.SHARE, (1e-4, 1e-4), margins=True)
    # Means .375 and .625 of the two items defined under both; differences .5 and 0.
    assert (found.a.value, found.b.value, found.n) == (0.375, 0.625, 2)
    # Two items: Student's, .25 -+ 12.706 * .25, as far as differences of shares can be.
    assert (found.difference.value, found.difference.n, found.difference.undefined) == (0.25, 2, 1)
    assert (found.difference.low, found.difference.high) == (-1.0, 1.0)
    assert found.difference.method == "t(1); random: items; only 2 items, paired"
    assert (found.margin, found.verdicts, found.tested) == (None, None, False)
    assert np.isnan(found.p)
    assert paired.over_suites(pairs_of_shares, Kind.SHARE, (1e-4, 1e-4)).verdicts is None
    with pytest.raises(UsageError, match="w, whose values are shares"):
        paired.refuse_others_than_verdicts("w", Kind.SHARE, "discordant")


def test_compare_of_shares(folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *folders, "--measure", "equal_weight"]) == 0
    shown = capsys.readouterr()
    for absent in ("McNemar", "both", "only A", "margin", "nan", "↑"):
        assert absent not in shown.out
    assert "equal_weight: the values are shares between 0 and 1, not verdicts" in shown.err
    assert "NOT COMPARABLE" not in shown.err
    assert main(["compare", *folders, "--measure", "equal_weight", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    values = [open_run(one).results().filter(pl.col("measure") == "equal_weight")["value"].mean() for one in folders]
    assert found["overall"]["difference"]["value"] == pytest.approx(values[1] - values[0])
    assert (found["overall"]["both"], found["overall"]["p"], found["suites"][0]["p_holm"]) == (None, None, None)
    assert found["flips"] == []
    assert main(["compare", *folders, "--measure", "equal_weight", "-o", str(tmp_path / "flips.csv")]) == 2
    assert "whose values are proportions" in capsys.readouterr().err
    assert not (tmp_path / "flips.csv").exists()


def test_compare_shows_an_interval_beside_each_mean(folders: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(*map(open_run, folders), "model_weight")
    assert main(["compare", *folders, "--measure", "model_weight"]) == 0
    one, printed = found.suites[0], capsys.readouterr().out
    for mean in (one.a, one.b):
        assert mean.low < mean.value < mean.high
        assert f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]" in printed


def test_a_narrow_terminal_has_intervals_under_the_means(folders: list[str]) -> None:
    console = Console(width=command.NARROWEST, record=True, file=io.StringIO())
    found = compare(*map(open_run, folders), "tse")
    console.print(command._suites(found, narrow=True))
    shown = console.export_text()
    assert f"[{found.suites[0].a.low:.3f}, {found.suites[0].a.high:.3f}]" in shown
    assert "…" not in shown


def test_tables_of_shares(folders: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = table_of(capsys, "comparison", *folders, "measure=equal_weight")
    assert [row["suite"] for row in rows] == ["simple", "mean of 1"]
    for row in rows:
        assert float(row["B - A"]) == pytest.approx(float(row["score B"]) - float(row["score A"]))
        assert {row[name] for name in ("only A", "only B", "p", "p Holm", "p Benjamini-Hochberg")} == {""}
    assert main(["table", "comparison", *folders, "measure=equal_weight"]) == 0
    assert "only A, only B and p are empty: the values of equal_weight are shares" in capsys.readouterr().out
    for name in ("discordant", "significance"):
        assert main(["table", name, *folders, "measure=equal_weight"]) == 2
        assert "whose values are shares" in capsys.readouterr().err
        assert main(["table", name, *folders, "measure=tse"]) == 0
        capsys.readouterr()


def test_items_of_shares_have_values(folders: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = table_of(capsys, "items", folders[0], "measure=equal_weight")
    results = open_run(folders[0]).results().filter(pl.col("measure") == "equal_weight")
    assert list(rows[0]) == ["item", "mean value", "defined", "equal_weight of drawn:18"]
    assert [float(row["mean value"]) for row in rows] == sorted(results["value"])
    assert "holds" in table_of(capsys, "items", folders[0], "measure=tse")[0]


def test_figures_of_shares(folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [open_run(one) for one in folders]
    with pytest.raises(UsageError, match=r"without margins; expected one of tse\."):
        margins.draw_figure(runs, measure="equal_weight")
    assert main(["figure", "margins", folders[0], "measure=equal_weight", "-o", str(tmp_path / "m")]) == 2
    assert "whose values are shares" in capsys.readouterr().err
    assert margins.draw_figure(runs, measure="tse").table["items"].sum() == 6  # three items under two models
    drawn, plain = (json.dumps(scores.draw_figure(runs, measure).spec) for measure in ("model_weight", "tse"))
    assert "mean model_weight over contexts, 95% interval" in drawn
    assert '"title": "mean model_weight"' in drawn
    assert "accuracy" not in drawn.lower()
    assert "proportion of items whose prediction holds" in plain


def test_runs_that_were_asked_different_things_are_not_comparable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, single = filled(tmp_path / "one"), filled(tmp_path / "single", eligible="single-token")
    shorter = filled(tmp_path / "shorter", forms=FORMS[:3])
    assert gaps.other_settings(one, one) == []
    assert gaps.other_settings(one, single) == [
        "NOT COMPARABLE: the runs have different kinds of eligible rows (A: all, B: single-token)"
    ]
    assert "different word lists (A: list@" in gaps.other_settings(one, shorter)[0]
    for words in (["compare"], ["table", "comparison"], ["table", "significance"], ["table", "discordant"]):
        assert main([*words, str(one.folder), str(single.folder)]) == 0
        assert "NOT COMPARABLE" in capsys.readouterr().err
    assert compare(one, single, "tse").warnings == gaps.other_settings(one, single)


def test_models_that_know_other_rows_are_not_comparable_by_weights(tmp_path: Path) -> None:
    one, same = filled(tmp_path / "one"), filled(tmp_path / "same", extra="k")
    fewer, other = (filled(tmp_path / lacking, lacking=lacking) for lacking in ("nap", "is"))
    assert gaps.same_rows([one, same])
    assert not gaps.same_rows([one, same, fewer])
    # Four rows, and three: the row nap does not count.
    said = "different rows of the word list are eligible in simple (A: 4, B: 3 rows)"
    assert compare(one, fewer, "equal_weight").warnings == [f"NOT COMPARABLE: {said}"]
    assert compare(one, fewer, "tse").warnings == []
    # Three rows each, but not the same.
    assert gaps.other_rows(fewer, other) == ["simple"]


def test_rows_of_a_model_that_sees_the_left_side_beside_one_that_sees_both(tmp_path: Path) -> None:
    left, both = filled(tmp_path / "left"), filled(tmp_path / "both", both=True)
    # Each left side has one right side here, so that the contexts are the same, and so are the rows.
    assert compare(left, both, "equal_weight").warnings == []
    assert gaps.same_rows([left, both])
    fewer, other = (filled(tmp_path / lacking, both=True, lacking=lacking) for lacking in ("nap", "is"))
    for runs, counts in (((left, fewer), "A: 4, B: 3"), ((fewer, left), "A: 3, B: 4")):
        said = f"different rows of the word list are eligible in simple ({counts} rows)"
        assert compare(*runs, "equal_weight").warnings == [f"NOT COMPARABLE: {said}"]
        assert compare(*runs, "tse").warnings == []
        assert not gaps.same_rows(runs)
    # Three rows each, but not the same.
    assert gaps.other_rows(filled(tmp_path / "of left", lacking="nap"), other) == ["simple"]


def test_contexts_of_a_model_that_sees_the_left_side_are_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = filled(tmp_path / "left", suite=LONGER)
    both, fewer = (filled(tmp_path / f"b{word}", suite=LONGER, both=True, lacking=word) for word in ("", "nap"))
    found = compare(left, both, "equal_weight")
    assert found.warnings == [OF_CONTEXTS.format("A sees", "B", 3, 5)]
    # What the sentence says: of five contexts three are compared, with what they have in their own runs.
    own = both.results().filter(pl.col("measure") == "equal_weight")
    first = own.filter(pl.col("item").is_in(["longer-0", "longer-2", "longer-3"]))
    assert (found.overall.b.value, found.overall.n) == (pytest.approx(first["value"].mean()), 3)
    assert found.suites[0].difference.undefined == len(own) - 3 == 2
    assert compare(both, left, "equal_weight").warnings == [OF_CONTEXTS.format("B sees", "A", 5, 3)]
    assert compare(left, both, "tse").warnings == []
    rows, contexts = compare(left, fewer, "equal_weight").warnings
    assert "different rows of the word list are eligible in longer (A: 4, B: 3 rows)" in rows
    assert contexts == OF_CONTEXTS.format("A sees", "B", 3, 5)
    for words in (["compare"], ["table", "comparison"]):
        measure = ["--measure", "equal_weight"] if words == ["compare"] else ["measure=equal_weight"]
        assert main([*words, str(left.folder), str(both.folder), *measure]) == 0
        assert "their contexts differ in longer" in " ".join(capsys.readouterr().err.split())
