"""`--stop-at`: a pilot chooses how many items a suite gets, and everything that shows the numbers says so."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from executor_for_tests import Here
from toy_runs import pairs

from syntagm.cli import main
from syntagm.core import RunError, UsageError
from syntagm.models import load
from syntagm.report import methods
from syntagm.runs import open_run, run_suites
from syntagm.runs.evaluate import evaluate
from syntagm.stats import precision
from syntagm.suites import Suite, sample_of, sampled


def judged(name: str, good: int, bad: int) -> Suite:
    """Pairs of which the toy model prefers the good sentence in `good`, and the bad one in `bad`."""
    texts = [(f"the dog barks x{k}", f"the dog bark x{k}") for k in range(good)]
    return pairs(name, *texts, *((f"the dog bark y{k}", f"the dog barks y{k}") for k in range(bad)))


SUITES = [judged("easy", 300, 0), judged("even", 300, 300), judged("few", 20, 0)]


def reached(low: float, high: float) -> float:
    return (high - low) / 2


@pytest.mark.parametrize("right", [0, 3, 25, 40, 50])
def test_the_least_number_that_the_worst_accuracy_of_the_pilot_needs(right: int) -> None:
    items = precision.items_after(right, 50, 50, 0.05)
    pilot = precision._wilson(right / 50, 50)
    worst = min((pilot.low, pilot.high, 0.5 if pilot.low <= 0.5 <= pilot.high else 0), key=lambda p: abs(p - 0.5))
    widths = [reached(found.low, found.high) for found in (precision._wilson(worst, n) for n in (items, items - 1))]
    assert widths[0] <= 0.05 < widths[1]
    # Half of the items undefined: twice as many. Never fewer than the pilot.
    assert precision.items_after(right, 50, 100, 0.05) == 2 * items
    assert precision.items_after(right, 50, 50, 0.4) == 50


@pytest.mark.slow
def test_each_suite_gets_its_own_number_of_items(tmp_path: Path) -> None:
    run = run_suites(load("toy"), SUITES, tmp_path / "run", stop_at=0.05)
    sizes = {name: run.suite(name).items for name in ("easy", "even", "few")}
    # The pilot of 50 finds 50 right; that of "even" about half of them; "few" has no more items.
    assert sizes == {"easy": precision.items_after(50, 50, 50, 0.05), "even": 381, "few": 20}
    samples = [sample_of(run.suite(name).tags) for name in sizes]
    assert [sample and sample.reach for sample in samples] == [0.05, 0.05, None]
    # The pilot is part of the sample, and the same command is the same run.
    pilot = {item.id for item in sampled(SUITES[1], 50, 1, 0.05).items}
    assert pilot <= set(run.results("even")["item"])
    assert run_suites(load("toy"), SUITES, tmp_path / "run", stop_at=0.05).results().equals(run.results())


@pytest.mark.slow
def test_it_is_shown_with_the_numbers_and_is_another_run_without_it(tmp_path: Path) -> None:
    run = run_suites(load("toy"), SUITES[:2], tmp_path / "run", stop_at=0.05)
    assert "|sample:381,seed:1,half-width:0.05|" in str(run.signature("even", "full_sentence"))
    said = "a pilot chose how many, for a 95% interval of half-width 0.05 on each suite"
    assert said in methods.describe_sample(run.suites)
    assert said in " ".join(methods.paragraphs([run]))
    for options in ({}, {"limit": 381}, {"stop_at": 0.04}):
        with pytest.raises(RunError):
            run_suites(load("toy"), SUITES[:2], tmp_path / "run", **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stop_at": 0.0}, "between 0 and 0.5"),
        ({"stop_at": 0.5}, "between 0 and 0.5"),
        ({"stop_at": float("nan")}, "between 0 and 0.5"),
        ({"stop_at": 0.1, "limit": 5}, "a limit beside it"),
        ({"stop_at": 0.1, "measures": ["surprisal(condition=good, region=*)"]}, "measures beside it"),
    ],
)
def test_what_it_can_not_be(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        evaluate(load("toy"), SUITES[2:], **options)  # type: ignore[arg-type]


def words(*more: object) -> Sequence[str]:
    return ["run", *map(str, more), "--suite", "hu2020/mvrr", "--no-cache", "--no-report"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words("random", "--stop-at", 0.05, "-o", tmp_path / "run")) == 0
    assert "mvrr: 28 items are too few for a half-width of 0.05" in capsys.readouterr().err.replace("\n", " ")
    assert open_run(tmp_path / "run").suite("mvrr").items == 28
    assert main(words("random", "--stop-at", 0.05, "--dry-run", "-o", tmp_path / "dry")) == 2
    assert "--dry-run beside it" in capsys.readouterr().err


def runs(folder: Path) -> dict[str, bytes]:
    names = ("results.csv", "results.parquet")
    return {str(path.relative_to(folder)): path.read_bytes() for name in names for path in folder.rglob(name)}


@pytest.fixture
def many(tmp_path: Path) -> str:
    """Pairs that the two models judge differently: `toy` mostly alike, `random` at chance."""
    rows = [("the dog barks", "the dog bark")] * 100 + [("the dogs bark", "the dogs barks")] * 100
    lines = [f"{good} {number}\t{bad} {number}" for number, (good, bad) in enumerate(rows)]
    (tmp_path / "many.tsv").write_text("good\tbad\n" + "\n".join(lines) + "\n")
    return str(tmp_path / "many.tsv")


@pytest.mark.slow
def test_several_models_get_the_number_of_items_that_one_of_them_needs_most(
    tmp_path: Path, many: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--suite", many, "--stop-at", "0.1", "--no-cache", "--no-report", "-o"]
    alone = {}
    for model in ("toy", "random"):
        assert main(["run", model, *line, str(tmp_path / model)]) in (0, 1)
        alone[model] = open_run(tmp_path / model).suites[0].items
    assert alone["toy"] != alone["random"]
    assert main(["run", "toy", "random", *line, str(tmp_path / "both")]) in (0, 1)
    assert "toy (1 of 2): pilot" in capsys.readouterr().err
    both = [open_run(tmp_path / "both" / model) for model in alone]
    assert [run.suites[0].items for run in both] == [max(alone.values())] * 2
    items = [run.results("many")["item"].to_list() for run in both]
    assert items[0] == items[1]
    # Again: the pilots have the same result, and nothing is computed anew.
    before = runs(tmp_path / "both")
    assert main(["run", "toy", "random", *line, str(tmp_path / "both")]) in (0, 1)
    assert runs(tmp_path / "both") == before


@pytest.mark.parametrize("models", [pytest.param(("toy",), marks=pytest.mark.slow), ("toy", "random")])
def test_workers_compute_pilots_too(
    tmp_path: Path, many: str, monkeypatch: pytest.MonkeyPatch, models: Sequence[str]
) -> None:
    line = ["run", *models, "--suite", many, "--stop-at", "0.1", "--no-cache", "--no-report", "-q", "-o"]
    assert main([*line, str(tmp_path / "here")]) in (0, 1)
    monkeypatch.setattr("syntagm.runs.executors.find", lambda _: Here(2))
    assert main([*line, str(tmp_path / "there"), "--executor", "here"]) in (0, 1)
    assert "pilot" not in open_run(next(tmp_path.glob("there/**/run.json")).parent).name
    assert runs(tmp_path / "there") == runs(tmp_path / "here")
    assert not list(tmp_path.glob("there/.*"))


@pytest.mark.parametrize("executor", [(), ("--executor", "here")])
def test_a_pilot_that_fails_is_named_and_nothing_is_evaluated(
    tmp_path: Path,
    many: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    executor: Sequence[str],
) -> None:
    monkeypatch.setattr("syntagm.runs.executors.find", lambda _: Here(2))
    models = ("toy", f"lstm:{tmp_path}/nowhere")
    assert main(["run", *models, "--suite", many, "--stop-at", "0.1", "-o", str(tmp_path / "out"), *executor]) == 2
    shown = capsys.readouterr().err.replace("\n", " ")
    assert "syntagm: nowhere, pilot: " in shown
    assert "--stop-at needs a pilot of each model, so none was evaluated." in shown
    assert not list(tmp_path.glob("out/**/run.json"))


def test_a_limit_is_refused_with_workers_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--stop-at", 0.1, "--limit", 5, "--executor", "local:1", "-o", tmp_path / "out")
    assert main(words("toy", *more)) == 2
    assert "a limit beside it" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
