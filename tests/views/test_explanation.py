"""Explanations of other verdicts: planted differences are found, alone and in twos."""

import json
import random
from itertools import combinations
from pathlib import Path

import pytest
from toy_runs import pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.core import UsageError
from syntagm.evaluation import DEFAULT, Convention, Sum, Sums
from syntagm.runs import Run
from syntagm.runs.engine import execute
from syntagm.runs.imported.pairs import PREDICTION, Tool
from syntagm.suites import Suite
from syntagm.views import explanation
from syntagm.views.conventions import Chosen, results

WORDS = (
    "The",
    "dog",
    "dogs",
    "near",
    "cats",
    "bark",
    "barks",
    "sleeps",
    "she",
    "thinks",
    "that",
    ".",
    "!",
    "unheard-of",
)
TREATMENTS = ("without_first", "without_final_mark", "ties_as_hits")
LINKINGS = ("mean_token", "mean_character", "penalised", "word_max")


def corpus(count: int = 80) -> Suite:
    """Random pairs; some are equal, and so tie."""
    draw = random.Random(7)
    texts = []
    for k in range(count):
        good = " ".join(draw.choices(WORDS, k=draw.randint(2, 7)))
        bad = good if k % 10 == 0 else " ".join(draw.choices(WORDS, k=draw.randint(2, 7)))
        texts.append((good, bad))
    return pairs("random", *texts)


@pytest.fixture(scope="module")
def run() -> Run:
    return sg.evaluate(sg.load_model("toy"), [corpus()])


def planted(run: Run, convention: Convention) -> Run:
    """A run of another tool that compares by a convention, as far as its files tell."""
    rows = results(run, "random", Chosen((Convention.parse(DEFAULT), convention), None))
    values = rows.filter(measure=str(convention))["value"].to_list()
    sums = [Sum(float("nan"), float("nan"), value) for value in values]
    assert corpus().predictions == (PREDICTION,)
    return execute(Sums("tool", {"random": sums}), Tool("tool", "m", "0" * 64), [corpus()], None)


PLANTED = [
    *[f"bits+{name}" for name in TREATMENTS],
    *LINKINGS,
    *[f"bits+{one}+{other}" for one, other in combinations(TREATMENTS, 2)],
    *[f"{name}+{treatment}" for name in LINKINGS[:2] for treatment in TREATMENTS],
]


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_is_found(run: Run, name: str) -> None:
    """The smallest set that leaves nothing contains the planted one, or has the same verdicts with fewer differences."""
    convention = Convention.parse(name)
    searched = explanation.explain(run, planted(run, convention))
    found = searched.steps
    # A sentence of marks alone has no number without them.
    assert searched.items == searched.of >= 78
    assert (found[0].differences, str(found[0].best)) == (0, DEFAULT)
    last = found[-1]
    assert last.left == 0
    wanted = len(convention.treatments) + (convention.linking.name != DEFAULT)
    assert last.differences <= wanted
    assert last.differences < wanted or explanation.Candidate(convention) in (last.best, *last.others)
    assert [each.left for each in found] == sorted({each.left for each in found}, reverse=True)


def test_the_same_verdicts_need_no_difference(run: Run) -> None:
    found = explanation.explain(run, run)
    [only] = found.steps
    assert (found.items, only.differences, only.left) == (80, 0, 0)
    [row] = explanation.make_table([run, run]).rows
    assert row == (0, "bits", 80, 0, 0, 0)


def test_each_row_counts_the_discordant_items_that_are_explained_and_left(run: Run) -> None:
    """Nine items tie that the other run counts as hits."""
    table = explanation.make_table([run, planted(run, Convention.parse("bits+ties_as_hits"))])
    assert table.rows == ((0, "bits", 80, 9, 0, 9), (1, "bits+ties_as_hits", 80, 9, 9, 0))


def test_what_can_not_be_explained(run: Run) -> None:
    with pytest.raises(UsageError, match="1 runs; expected two"):
        explanation.make_table([run])
    with pytest.raises(UsageError, match="no suite in common"):
        explanation.explain(run, sg.evaluate(sg.load_model("toy"), [pairs("random", ("a", "b"))]))
    found = explanation.explain(run, sg.evaluate(sg.load_model("random"), [corpus()]))
    assert found.steps[-1].left > 0


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "p.tsv"
    suite.write_text("good\tbad\nThe dog barks\tThe dog bark\na b\ta b\n")
    scores = tmp_path / "p.csv"
    scores.write_text("good,bad,score_good,score_bad,reported\nThe dog barks,The dog bark,-5,-6,1\na b,a b,-2,-2,1\n")
    assert main(["run", "toy", "--suite", str(suite), "-o", str(tmp_path / "a"), "--no-report"]) == 0
    command = ["import-results", "minicons", str(scores), "--suite", str(suite), "-o", str(tmp_path / "b")]
    assert main(command) == 0
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--explain"]) == 0
    assert "bits+ties_as_hits" in capsys.readouterr().out
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--explain", "--json"]) == 0
    last = json.loads(capsys.readouterr().out)["explanation"][-1]
    assert (last["convention"], last["explained"], last["left"]) == ("bits+ties_as_hits", 1, 0)
