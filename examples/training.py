"""Evaluate a model while it is trained: a tiny GPT-2 learns the bundled text, and is tested every 20 steps.

    python examples/training.py runs/tiny
    syntagm table trajectory runs/tiny/step* scale=linear
    syntagm figure trajectory runs/tiny/step* -o curves

It takes about half a minute. The model is too small and the text too short for scores above chance.
"""

import sys

from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, default_data_collator, set_seed

import syntagm as sg
from syntagm.training import BUNDLED

LENGTH = 64


def main(folder: str, steps: int = 60, every: int = 20) -> None:
    """Train a model, and write a run directory every few steps.

    Arguments:
        folder: the folder of the run directories.
        steps: the number of training steps.
        every: the number of steps between two evaluations.
    """
    set_seed(1)
    tokenizer = sg.load_model("demo").tokenizer
    symbol = tokenizer.eos_token_id
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=128, n_embd=64, n_layer=2, n_head=2, bos_token_id=symbol, eos_token_id=symbol
    )  # fmt: skip
    ids = tokenizer(BUNDLED["excerpt"].read_text("utf-8")[:200_000], truncation=False, verbose=False)["input_ids"]
    rows = [ids[at : at + LENGTH] for at in range(0, len(ids) - LENGTH, LENGTH)]
    trainer = Trainer(
        GPT2LMHeadModel(config),
        TrainingArguments(
            f"{folder}/checkpoints", max_steps=steps, per_device_train_batch_size=16, learning_rate=1e-3,
            logging_steps=every, save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
        ),
        train_dataset=[{"input_ids": row, "labels": row} for row in rows],
        processing_class=tokenizer,
        data_collator=default_data_collator,
    )  # fmt: skip
    suites = sg.read_suites("hu2020/number_prep", "hu2020/mvrr", "marvin2018/simple_agrmt")
    trainer.add_callback(sg.EvaluationCallback(trainer, suites, folder, every=every, name="tiny", precision=0.1))
    trainer.train()


if __name__ == "__main__":
    main(*sys.argv[1:2] or ["runs/tiny"])
