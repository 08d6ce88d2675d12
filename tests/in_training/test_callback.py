"""The callback of transformers' trainer."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from models_for_tests import TEXT, byte_level, transformer
from test_trajectory import suites

import syntagm as sg

pytest.importorskip("accelerate")


def trainer(folder: Path, steps: int = 6, **changes: Any) -> "transformers.Trainer":
    model = transformer("gpt2", byte_level(), sharpen=1.0)
    ids = byte_level()(TEXT)["input_ids"]
    rows = [{"input_ids": ids[at : at + 16], "labels": ids[at : at + 16]} for at in range(0, len(ids) - 16, 16)]
    settings: dict[str, Any] = {"max_steps": steps, "logging_steps": 1, "save_strategy": "no", "report_to": "none"}
    settings |= {"use_cpu": True, "disable_tqdm": True, "per_device_train_batch_size": 2, "seed": 3} | changes
    arguments = transformers.TrainingArguments(str(folder / "out"), **settings)
    more = {"processing_class": byte_level(), "data_collator": transformers.default_data_collator}
    return transformers.Trainer(model, arguments, train_dataset=rows, eval_dataset=rows, **more)


@pytest.mark.slow
def test_training_and_its_log_are_the_same_with_it(tmp_path: Path) -> None:
    plain = trainer(tmp_path / "a", 5)
    plain.train()
    watched = trainer(tmp_path / "b", 5)
    callback = sg.EvaluationCallback(watched, suites(), tmp_path / "runs", every=2, name="mine", precision=0.3)
    watched.add_callback(callback)
    watched.train()
    assert all(map(torch.equal, plain.model.parameters(), watched.model.parameters()))
    losses = [[row["loss"] for row in each.state.log_history if "loss" in row] for each in (plain, watched)]
    assert losses[0] == losses[1]
    assert len(losses[0]) == 5
    logged = {row["step"]: row for row in watched.state.log_history if "eval_syntagm_mean" in row}
    assert list(logged) == [2, 4, 5], "every two steps, and at the end"
    assert logged[5].keys() > {"eval_syntagm_boats", "eval_syntagm_doors", "eval_syntagm_seconds"}
    runs = [sg.open_run(tmp_path / "runs" / f"step{step}") for step in logged]
    assert [run.model for run in runs] == ["causal:mine@step2", "causal:mine@step4", "causal:mine@step5"]
    assert logged[5]["eval_syntagm_boats"] == runs[2].results("boats")["value"].mean()


@pytest.mark.slow
@pytest.mark.parametrize("early", [False, True])
def test_the_last_step_is_evaluated_before_the_best_checkpoint_is_loaded(tmp_path: Path, early: bool) -> None:
    # The loss of the first checkpoint is the highest one, which is said to be the best.
    changes = {"load_best_model_at_end": True, "greater_is_better": True, "eval_strategy": "steps", "eval_steps": 1}
    made = trainer(tmp_path, 3, save_strategy="steps", save_steps=1, metric_for_best_model="loss", **changes)
    made.add_callback(sg.EvaluationCallback(made, suites(), tmp_path / "runs", every=5))
    if early:
        made.add_callback(transformers.EarlyStoppingCallback(1))
    made.train()
    last = made.state.global_step
    assert (last, made.state.best_global_step) == (2 if early else 3, 1)
    trained = type(made.model).from_pretrained(tmp_path / "out" / f"checkpoint-{last}").eval()
    expected = sg.evaluate(sg.from_transformers(trained, byte_level(), name="last"), suites())
    [run] = [sg.open_run(path) for path in (tmp_path / "runs").glob("step*")]
    assert run.model == f"causal:model@step{last}"
    assert run.results()["margin"].to_list() == pytest.approx(expected.results()["margin"].to_list(), abs=1e-4)


@pytest.mark.slow
def test_a_last_step_that_is_gone_is_not_evaluated(tmp_path: Path) -> None:
    made = trainer(tmp_path, load_best_model_at_end=True, save_strategy="steps", eval_strategy="steps")
    callback = sg.EvaluationCallback(made, suites(), tmp_path / "runs", every=5)
    callback.on_train_begin(made.args, made.state, made.control)
    # As after training that another callback has stopped, too late for this one.
    made.state.global_step, made.state.best_model_checkpoint = 3, "out/checkpoint-1"
    with pytest.warns(UserWarning, match="step 3, the last one, was not evaluated.*checkpoint-1"):
        callback.on_train_end(made.args, made.state, made.control)
    made.control.should_training_stop = True
    callback.on_evaluate(made.args, made.state, made.control)
    assert not list(tmp_path.rglob("step*"))


@pytest.mark.slow
def test_a_resumed_training_resumes_the_trajectory(tmp_path: Path) -> None:
    def train(steps: int, resume: bool, folder: str) -> dict[int, float]:
        made = trainer(tmp_path, steps, save_strategy="steps", save_steps=4, lr_scheduler_type="constant")
        made.add_callback(sg.EvaluationCallback(made, suites(), tmp_path / folder, every=3))
        made.train(resume_from_checkpoint=resume)
        places = sorted((tmp_path / folder).glob("step*"), key=lambda place: int(place.name[4:]))
        return {int(place.name[4:]): sg.open_run(place).results()["margin"].sum() for place in places}

    through = train(9, False, "whole")
    for checkpoint in (tmp_path / "out").glob("checkpoint-*"):
        checkpoint.rename(tmp_path / f"old-{checkpoint.name}")
    assert list(train(7, False, "resumed")) == [3, 6, 7]
    (tmp_path / "out" / "checkpoint-7").rename(tmp_path / "checkpoint-7")
    # Training resumes at step 4, so steps 6 and 7 are trained again.
    assert train(9, True, "resumed") == pytest.approx(through)
    assert list(through) == [3, 6, 9]
    assert {path.name for path in (tmp_path / "resumed" / "replaced").iterdir()} == {"step6-1", "step7-1"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mixed_precision_does_not_reach_the_numbers(tmp_path: Path) -> None:
    made = trainer(tmp_path, 2, bf16=True)
    made.add_callback(sg.EvaluationCallback(made, suites(), tmp_path / "runs", every=2))
    made.train()
    model = transformer("gpt2", byte_level(), sharpen=1.0)
    model.load_state_dict(made.model.state_dict())
    expected = sg.evaluate(sg.from_transformers(model.eval(), byte_level(), name="after"), suites())
    found = sg.open_run(tmp_path / "runs" / "step2").results()["margin"]
    assert found.to_list() == pytest.approx(expected.results()["margin"].to_list(), abs=1e-4)


@pytest.mark.slow
def test_what_is_refused(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    with pytest.raises(sg.UsageError, match="every=0"):
        sg.EvaluationCallback(made, suites(), tmp_path / "runs", every=0)
    with pytest.raises(sg.UsageError, match="suite seconds"):
        sg.EvaluationCallback(made, suites(["seconds"]), tmp_path / "runs", every=1)
    made.is_deepspeed_enabled = True
    with pytest.raises(sg.UsageError, match="split the weights"):
        sg.EvaluationCallback(made, suites(), tmp_path / "runs", every=1)
    made.is_deepspeed_enabled, made.processing_class = False, None
    with pytest.raises(sg.UsageError, match="processing_class=tokenizer"):
        sg.EvaluationCallback(made, suites(), tmp_path / "runs", every=1)
