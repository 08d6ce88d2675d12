"""A model that is evaluated while it is trained, in a loop of one's own."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from masked_for_tests import transformer as masked_transformer, word_pieces
from models_for_tests import TEXT, byte_level, transformer

import syntagm as sg
from syntagm.evaluation import Kind
from syntagm.models import as_evaluated
from syntagm.models.causal import model as causal
from syntagm.stats import Resampling, items_for, reach_of, suite_intervals, using


def suites(names: Sequence[str] = ("boats", "doors"), items: int = 6) -> list[sg.Suite]:
    nouns = ["gardener", "teacher", "farmer", "painter", "owner", "daughter"][:items]
    prediction = sg.Prediction("agreement", sg.parse_formula("(*;%good%) < (*;%bad%)"))

    def item(name: str, noun: str) -> sg.Item:
        texts = {"good": f"The {noun} near the {name} waits.", "bad": f"The {noun} near the {name} wait."}
        return sg.Item(noun, {condition: sg.Sentence(text) for condition, text in texts.items()})

    return [
        sg.Suite(name, tuple(item(name, noun) for noun in nouns), (prediction,), {"circuit": "Agreement"})
        for name in names
    ]


def steps(model: Any, count: int) -> Iterator[int]:
    """Train with dropout, and yield the number of each finished step."""
    ids = torch.tensor([byte_level()(TEXT)["input_ids"][:64]])
    optimiser = torch.optim.AdamW(model.parameters(), 1e-2)
    model.train()
    for step in range(1, count + 1):
        model(input_ids=ids, labels=ids).loss.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        yield step


@pytest.mark.slow
def test_it_gives_the_numbers_of_a_model_in_memory(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level())
    trajectory = sg.Trajectory(tmp_path, suites(), byte_level(), name="mine")
    for step in steps(model, 2):
        accuracies = trajectory.evaluate(model, step)
        assert list(accuracies) == ["mean", "boats", "doors"]
        with as_evaluated(model):
            expected = sg.evaluate(sg.from_transformers(model, byte_level(), name="mine"), suites())
        run = sg.open_run(tmp_path / f"step{step}")
        assert run.model == f"causal:mine@step{step}"
        columns = ["suite", "item", "value", "margin"]
        assert run.results().select(columns).equals(expected.results().select(columns))
        values = run.results("boats")["value"]
        assert accuracies["boats"] == pytest.approx(values.mean())
        assert accuracies["mean"] == pytest.approx((accuracies["boats"] + accuracies["doors"]) / 2)


def test_the_record_is_honest_about_weights_and_probe(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level())
    trajectory = sg.Trajectory(tmp_path, suites(), byte_level(), bos="no")
    for step in steps(model, 2):
        trajectory.evaluate(model, step)
    first, second = trajectory.runs()
    assert first.record["model"]["fingerprint"] != second.record["model"]["fingerprint"]
    record = second.record["model"]["record"]
    assert record["weights"] == ""
    assert record["training"]["step"] == 2
    assert record["training"]["exactness probed at step"] == 1
    assert "weights are not hashed" in record["training"]["identified by"]
    assert second.model == "causal:model@step2?bos=no"
    assert second.record["command"] == "a trajectory on all items of 2 suites"
    assert "weights:" not in str(second.signature("boats", "agreement"))


@pytest.mark.slow
def test_weights_are_not_hashed_and_the_probe_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probes: list[Any] = []
    own = causal.probed
    monkeypatch.setattr(causal, "probed", lambda *arguments: probes.append(1) or own(*arguments))
    monkeypatch.setattr("syntagm.models.hugging_face.loading.hash_of_weights", None)
    model = transformer("gpt2", byte_level())
    trajectory = sg.Trajectory(tmp_path, suites(), byte_level())
    for step in steps(model, 3):
        trajectory.evaluate(model, step)
    assert len(probes) == 1
    # Another model object is probed again.
    trajectory.evaluate(transformer("gpt2", byte_level(), seed=2), 4)
    assert len(probes) == 2


@pytest.mark.slow
def test_training_is_the_same_with_and_without(tmp_path: Path) -> None:
    def trained(trajectory: sg.Trajectory | None) -> tuple[list[torch.Tensor], list[object]]:
        model = transformer("gpt2", byte_level())
        torch.manual_seed(7)
        np.random.seed(7)
        random.seed(7)
        for step in steps(model, 4):
            if trajectory:
                trajectory.evaluate(model, step)
        states = [torch.random.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()]
        return [weights.detach() for weights in model.parameters()], states

    plain, states = trained(None)
    watched, others = trained(sg.Trajectory(tmp_path, suites(), byte_level()))
    assert all(map(torch.equal, plain, watched))
    assert states == others


@pytest.mark.slow  # to import the compiler takes seconds
def test_a_compiled_model_is_evaluated_without_its_compilation(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level()).train()
    compiled: Any = torch.compile(model, backend="eager")
    found = sg.Trajectory(tmp_path / "a", suites(), byte_level()).evaluate(compiled, 1)
    model.compile(backend="eager")
    called = model._compiled_call_impl
    assert found == sg.Trajectory(tmp_path / "b", suites(), byte_level()).evaluate(model, 1)
    assert model._compiled_call_impl is called is not None
    assert compiled.training
    assert model.training
    made = [sg.from_transformers(each.eval(), byte_level(), name="m") for each in (model, compiled)]
    assert made[0].fingerprint == made[1].fingerprint
    # The head of this one needs a hook on it.
    capped, same = transformer("gemma2", byte_level()), transformer("gemma2", byte_level())
    capped.compile(backend="eager")
    sums = [
        [
            answer.bits.sum()
            for answer in sg.from_transformers(each, byte_level(), name="m").score(["Ten boats.", "a b"])
        ]
        for each in (capped, same)
    ]
    assert sums[0] == sums[1]


def test_a_suite_is_not_called_as_the_mean_is(tmp_path: Path) -> None:
    with pytest.raises(sg.UsageError, match="suite mean"):
        sg.Trajectory(tmp_path, suites(["mean"]), byte_level())


def test_the_model_is_left_as_it_was_found(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level()).train()
    frozen = model.transformer.h[0].eval()
    model(input_ids=torch.tensor([[1, 2, 3]]), labels=torch.tensor([[1, 2, 3]])).loss.backward()
    gradients = [weights.grad.clone() for weights in model.parameters()]

    def low_precision(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("evaluation must not use a trainer's own forward method")

    model.forward = low_precision
    sg.Trajectory(tmp_path, suites(), byte_level()).evaluate(model, 1)
    assert model.forward is low_precision
    assert model.training
    assert not frozen.training
    assert model.transformer.h[1].training
    assert all(map(torch.equal, gradients, [weights.grad for weights in model.parameters()]))


@pytest.mark.slow
def test_the_views_of_trajectories_read_it(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level())
    trajectory = sg.Trajectory(tmp_path, suites(), byte_level(), name="mine", precision=0.3, seed=3)
    for step in steps(model, 3):
        trajectory.evaluate(model, step)
    [row] = sg.table("trajectory", trajectory.runs()).to_frame().to_dicts()
    assert (row["series"], row["from"], row["to"], row["runs"]) == ("causal:mine", 1, 3, 3)
    tags = trajectory.runs()[0].suites[0].tags
    assert tags["sample"] == f"{items_for([6, 6], 0.3)} of 6 items, seed 3"
    assert "precision 0.3, reached 0.2" in trajectory.runs()[0].record["command"]


@pytest.mark.slow
def test_a_masked_model(tmp_path: Path) -> None:
    model = masked_transformer("bert", word_pieces()).train()
    trajectory = sg.Trajectory(tmp_path, suites(), word_pieces(), masked=True, masking="word")
    trajectory.evaluate(model, 5)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(0.5)
    trajectory.evaluate(model, 10)
    with as_evaluated(model):
        expected = sg.evaluate(
            sg.from_transformers(model, word_pieces(), name="x", masked=True, masking="word"), suites()
        )
    assert trajectory.runs()[1].results()["margin"].equals(expected.results()["margin"])
    assert trajectory.runs()[1].model == "masked:model@step10?masking=word"


@pytest.mark.slow
def test_resumption_moves_later_steps_away(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level())
    for start in (0, 10, 10):
        trajectory = sg.Trajectory(tmp_path, suites(), byte_level(), start=start)
        for step in (10, 20, 100)[bool(start) :]:
            with torch.no_grad():
                model.lm_head.weight.mul_(0.9)
            trajectory.evaluate(model, step)
    assert [run.label for run in trajectory.runs()] == ["step10", "step20", "step100"]
    assert sorted(path.name for path in (tmp_path / "replaced").iterdir()) == [
        "step100-1", "step100-2", "step20-1", "step20-2",
    ]  # fmt: skip


def test_what_is_refused(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level())
    trajectory = sg.Trajectory(tmp_path, suites(), byte_level())
    with pytest.raises(sg.UsageError, match="above 0"):
        trajectory.evaluate(model, 0)
    trajectory.evaluate(model, 10)
    with torch.no_grad():
        model.lm_head.weight.mul_(0.9)
    with pytest.raises(sg.RunError, match=r"a run of causal:model@step10 \("):
        trajectory.evaluate(model, 10)
    with pytest.raises(sg.RunError, match=r"earlier training, up to step 10.*start=STEP"):
        sg.Trajectory(tmp_path, suites(), byte_level())
    with pytest.raises(sg.RunError, match="a run on other suites or items"):
        sg.Trajectory(tmp_path, suites(items=5), byte_level(), start=10)
    with pytest.raises(sg.UsageError, match="no such option: 'colour'"):
        sg.Trajectory(tmp_path / "new", suites(), byte_level(), colour="red")
    with pytest.raises(sg.UsageError, match=r"precision.*with all 12 items"):
        sg.Trajectory(tmp_path / "new", suites(), byte_level(), precision=0.1)


def test_weights_that_diverged_give_nan(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level())
    trajectory = sg.Trajectory(tmp_path, suites(), byte_level())
    trajectory.evaluate(model, 1)
    with torch.no_grad():
        model.lm_head.weight.fill_(torch.nan)
    assert np.isnan(trajectory.evaluate(model, 2)["mean"])
    assert sum(trajectory.runs()[1].undefined.values()) == 12


def test_the_precision_is_that_of_the_intervals_of_runs() -> None:
    sizes = [10, 20, 20]
    values = {str(number): np.resize([0.0, 1.0], size) for number, size in enumerate(sizes)}
    with using(Resampling(suites="fixed")):
        found = suite_intervals.over_suites(values, Kind.VERDICT)
    # Variances of intervals are those of samples, with n - 1.
    assert reach_of(sizes) == pytest.approx((found.high - found.low) / 2, rel=0.05)
    few = items_for([30, 100, 100], 0.08)
    assert reach_of([min(few, size) for size in (30, 100, 100)]) <= 0.08
    assert reach_of([min(few - 1, size) for size in (30, 100, 100)]) > 0.08


def test_a_step_whose_record_is_missing_is_no_missing_step(tmp_path: Path) -> None:
    model = transformer("gpt2", byte_level())
    trajectory = sg.Trajectory(tmp_path, suites(["boats"]), byte_level())
    for step in steps(model, 2):
        trajectory.evaluate(model, step)
    (tmp_path / "step1" / "run.json").unlink()
    (tmp_path / "step2" / "run.json").unlink()
    with pytest.raises(sg.RunError, match=r"step1/run\.json: no such file, beside ledger\.jsonl of a run"):
        trajectory.runs()
    with pytest.raises(sg.RunError, match="runs of an earlier training, up to step 2"):
        sg.Trajectory(tmp_path, suites(["boats"]), byte_level())
    with pytest.raises(sg.RunError, match=r"step1/run\.json: no such file"):
        sg.Trajectory(tmp_path, suites(["boats"]), byte_level(), start=1)


def test_a_step_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    model, trajectory = transformer("gpt2", byte_level()), sg.Trajectory(tmp_path / "all", suites(), byte_level())
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "step1").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(sg.RunError, match="step1: a link to"):
        trajectory.evaluate(model, 1)
    assert list((tmp_path / "elsewhere").iterdir()) == []
