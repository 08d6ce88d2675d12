"""Tiny trainings, in this process or as a program that kills itself: `FAMILY FOLDER CORPUS EVENT NUMBER`."""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from syntagm.progress import Progress
from syntagm.training import loop
from syntagm.training.gpt2 import settings as gpt2
from syntagm.training.gpt2.train import train as train_gpt2
from syntagm.training.lstm import settings as lstm
from syntagm.training.lstm.train import train as train_lstm
from syntagm.training.masked import settings as masked
from syntagm.training.masked.train import train as train_masked
from syntagm.training.multitask.settings import MultitaskSettings
from syntagm.training.multitask.train import train as train_multitask
from syntagm.training.onlstm import settings as onlstm
from syntagm.training.onlstm.train import train as train_onlstm
from syntagm.training.rnng import settings as rnng
from syntagm.training.rnng.train import train as train_rnng
from syntagm.training.settings import Settings
from syntagm.training.transformers.size import Size

LSTM = Settings(epochs=2, optimiser="sgd", lr=5.0, every=10)
# With such a rate, held-out text soon gets worse, and averaging begins.
ONLSTM = Settings(epochs=2, optimiser="asgd", lr=60.0, schedule="constant", decay=1e-5, every=3)
GPT2 = Settings(epochs=2, optimiser="adamw", lr=1e-2, schedule="cosine", warmup=3, decay=0.1, clip=1.0)


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
    texts = [str(corpus)]
    if family == "lstm":
        size, steps = lstm.Size(8, 8, 2, dropout, tied), lstm.Steps(batch, window=7)
        of_lstm = lstm.LstmSettings(size, steps=steps, loop=settings or LSTM)
        return train_lstm(texts, texts, folder, of_lstm, progress)
    if family == "onlstm":
        ordered = onlstm.Size(8, 12, 2, 4, "full"), onlstm.Regularisation(*[dropout] * 5)
        of_onlstm = onlstm.OnLstmSettings(*ordered, steps=lstm.Steps(batch, window=7), loop=settings or ONLSTM)
        return train_onlstm(texts, texts, folder, of_onlstm, progress)
    if family in ("rnng", "multitask"):
        trees = corpus.with_suffix(".trees")
        trees.write_text(bracketed(corpus.read_text(encoding="utf-8")), encoding="utf-8")
        paths = [str(trees)]
        if family == "multitask":
            sizes, windows = lstm.Size(8, 8, 1, dropout, tied), lstm.Steps(batch, window=7)
            of_multitask = MultitaskSettings(sizes, steps=windows, loop=settings or LSTM)
            return train_multitask(paths, paths, folder, of_multitask, progress)
        of_rnng = rnng.RnngSettings(lstm.Size(8, 8, 2, dropout, tied), steps=rnng.Steps(batch), loop=settings or GPT2)
        return train_rnng(paths, paths, folder, of_rnng, progress)
    small = Size(1, 8, 2, 32, dropout)
    if family == "masked":
        pieces = masked.Text(200, window=16, batch=batch)
        return train_masked(texts, texts, folder, masked.MaskedSettings(small, pieces, settings or GPT2), progress)
    rows = gpt2.Text(vocabulary=300, window=16, batch=batch)
    return train_gpt2(texts, texts, folder, gpt2.Gpt2Settings(small, rows, settings or GPT2), progress)


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
