"""Tiny trainings, in this process or as a program that kills itself: `FAMILY FOLDER CORPUS EVENT NUMBER`."""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from syntagm.core import Progress
from syntagm.training import Settings, Trainable, changed, families, loop

LSTM = Settings(epochs=2, optimiser="sgd", lr=5.0, every=10)
# With such a rate, held-out text soon gets worse, and averaging begins.
ONLSTM = Settings(epochs=2, optimiser="asgd", lr=60.0, schedule="constant", decay=1e-5, every=3)
GPT2 = Settings(epochs=2, optimiser="adamw", lr=1e-2, schedule="cosine", warmup=3, decay=0.1, clip=1.0)
LOOPS = {"onlstm": ONLSTM, "gpt2": GPT2, "masked": GPT2, "rnng": GPT2}
# A small value of each setting, for all families that have it.
TINY: dict[str, object] = {
    "embedding": 8, "hidden": 8, "layers": 2, "chunk": 4, "softmax": "full", "window": 7,
    "width": 8, "heads": 2, "positions": 32, "vocabulary": 300, "order": 3, "discount_fallback": True,
}  # fmt: skip
_TINY_OF: dict[str, dict[str, object]] = {
    "onlstm": {"hidden": 12},
    "multitask": {"layers": 1},
    "gpt2": {"layers": 1, "window": 16},
    "masked": {"layers": 1, "window": 16, "vocabulary": 200},
}
TRAINED = [family for family in families.FAMILIES if not family.variant_of]
# Those that learn by gradients, and those of words.
BY_GRADIENTS = [family.name for family in TRAINED if any(option.name == "lr" for option in family.options)]
OF_WORDS = [family.name for family in TRAINED if any(option.name == "classes" for option in family.options)]


def on_trees(family: Trainable[Any]) -> bool:
    """Must the texts of a training be trees, if nothing else is given?"""
    return family.trees or bool(family.controlled and family.controlled.check_texts)


def tiny(name: str) -> dict[str, object]:
    """Return the settings of a tiny model of a family, by field."""
    values = TINY | _TINY_OF.get(name, {})
    return {option.name: values[option.name] for option in families.find(name).options if option.name in values}


def bracketed(text: str) -> str:
    """Return a tree for each line: the first two words in one constituent, the others in another one."""
    lines = [[f"(W {word})" for word in line.split()] for line in text.splitlines()]
    return "".join(f"( (S (NP-SBJ {' '.join(line[:2])}) (VP {' '.join(line[2:])})))\n" for line in lines)


def learn(
    family: str, folder: Path, corpus: Path, settings: Settings | None = None, progress: Any = None, batch: int = 2,
    dropout: float = 0.2, tied: bool = False,
) -> list[dict[str, float]]:  # fmt: skip
    """Train a tiny model; the history."""
    torch.set_num_threads(1)
    trainable, text = families.find(family), corpus
    if on_trees(trainable):
        text = corpus.with_suffix(".trees")
        text.write_text(bracketed(corpus.read_text(encoding="utf-8")), encoding="utf-8")
    dropped = {option.name: dropout for option in trainable.options if option.name.startswith("dropout")}
    chosen = changed(trainable.settings, tiny(family) | dropped | {"batch": batch, "tied": tied})
    chosen = replace(chosen, loop=settings or LOOPS.get(family, LSTM))
    history: Any = trainable.train([str(text)], [str(text)], folder, chosen, progress)
    return history  # type: ignore[no-any-return]


class Killer(Progress):
    """Kills this process at a step, at an evaluation, or where the loop puts a file in its place."""

    def __init__(self, event: str, number: int) -> None:
        self._event, self._number, self._renamed, self._rename = event, number, 0, os.replace
        if event == "rename":
            os.replace = self.rename  # type: ignore[assignment]

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        self._at("step", step)

    def evaluated(self, row: Mapping[str, float]) -> None:
        self._at("evaluation", int(row["step"]))

    def rename(self, source: Any, target: Any) -> None:
        self._renamed += 1
        self._at("rename", self._renamed)
        self._rename(source, target)

    def _at(self, event: str, number: int) -> None:
        if (event, number) == (self._event, self._number):
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    family, folder, corpus, event, number = sys.argv[1:]
    if event == "together":
        # As one of several processes: so many rows each, no dropout.
        learn(family, Path(folder), Path(corpus), batch=int(number), dropout=0.0)
        return
    # The state is saved after each step, so that a kill finds one in the middle of an epoch.
    loop.SAVE_EVERY = 0.0 if event == "step" else loop.SAVE_EVERY
    learn(family, Path(folder), Path(corpus), progress=Killer(event, int(number)))


if __name__ == "__main__":
    main()
