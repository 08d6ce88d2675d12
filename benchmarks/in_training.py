"""Benchmark of evaluation during training: its cost per call, in CPU-seconds, compared with that of training steps.

A GPT-2 of the demo model's shape is trained on the bundled text by transformers' trainer with the callback, on sampled
items of the suites of Hu et al. 2020. Goal: at most 2% of the training time with an evaluation every `EVERY` steps.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

STEPS, EVERY, BATCH, LENGTH, PRECISION, GOAL = 12, 500, 32, 128, 0.05, 0.02


def in_training(cap: int | None) -> str:
    """Run the benchmark and return the results as Markdown."""
    import torch
    from transformers import GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, default_data_collator

    import syntagm as sg
    from syntagm.training import BUNDLED

    torch.set_num_threads(1)
    demo: Any = sg.load_model("demo")
    ids = demo.tokenizer(BUNDLED["excerpt"].read_text("utf-8")[:300_000], verbose=False)["input_ids"]
    rows = [ids[at : at + LENGTH] for at in range(0, len(ids) - LENGTH, LENGTH)]
    seconds: dict[str, list[float]] = {"step": [], "call": []}

    class Clock(TrainerCallback):
        def on_step_begin(self, *arguments: Any, **named: Any) -> None:
            self.began = time.process_time()

        def on_step_end(self, *arguments: Any, **named: Any) -> None:
            seconds["step"].append(time.process_time() - self.began)

    class Timed(sg.EvaluationCallback):  # type: ignore[misc]  # imported late
        def on_step_end(self, *arguments: Any, **named: Any) -> None:
            began = time.process_time()
            super().on_step_end(*arguments, **named)
            seconds["call"].append(time.process_time() - began)

    with tempfile.TemporaryDirectory() as place:
        settings = TrainingArguments(
            place, max_steps=min(STEPS, cap or STEPS), per_device_train_batch_size=BATCH, save_strategy="no",
            report_to="none", use_cpu=True, disable_tqdm=True,
        )  # fmt: skip
        data = [{"input_ids": row, "labels": row} for row in rows]
        trainer = Trainer(
            GPT2LMHeadModel(demo.module.config), settings, train_dataset=data, callbacks=[Clock()],
            processing_class=demo.tokenizer, data_collator=default_data_collator,
        )  # fmt: skip
        suites = sg.read_suites("hu2020")
        trainer.add_callback(Timed(trainer, suites, Path(place, "runs"), every=4, precision=PRECISION))
        trainer.train()
        items = sum(suite.items for suite in sg.open_run(Path(place, "runs", "step4")).suites)
    calls = [call for number, call in enumerate(seconds["call"], 1) if number % 4 == 0]
    step = sum(seconds["step"]) / len(seconds["step"])
    later = sum(calls[1:]) / len(calls[1:])
    share = later / (EVERY * step)
    return "\n".join([
        "## Evaluation during training", "",
        f"The demo model's shape, {BATCH} x {LENGTH} tokens a step; {items} items of {len(suites)} suites "
        f"(precision {PRECISION:g}); CPU-seconds.", "",
        f"| | CPU-seconds |\n|---|---|\n| a training step | {step:.2f} |",
        f"| the first evaluation, with the probe | {calls[0]:.2f} |\n| a later one | {later:.2f} |", "",
        f"Every {EVERY} steps: {share:.2%} of the training time. Goal {GOAL:.0%}: "
        + ("reached" if share <= GOAL else "**missed**")
        + f"; it is reached from every {later / GOAL / step:.0f} steps on.", "",
    ])  # fmt: skip
