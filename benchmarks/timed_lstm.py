"""Our side of the race in training; started as a program, like `timed_lstm_baseline.py`, with "corpus" and "dtype" besides.

What is timed is the loop as `syntagm train lstm` runs it, from one step to another, checkpoints and evaluation left out.
"""

import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import torch
from timed_lstm_baseline import CLIP, RATE, SEED, WARM_UP

from syntagm.errors import Interrupted
from syntagm.training.lstm import train as lstm
from syntagm.training.settings import Settings


class Timed:
    """Takes the time from one step to another, and then stops the training."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self.losses: list[float] = []
        self.wall = self.cpu = 0.0

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        self.losses.append(loss)
        if step == WARM_UP:
            self.wall, self.cpu = time.perf_counter(), time.process_time()
        if step == self._steps:
            self.wall, self.cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
            raise Interrupted

    def evaluated(self, row: Mapping[str, float]) -> None: ...


def main() -> None:
    torch.set_num_threads(1)
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    settings = Settings(epochs=1, optimiser="sgd", rate=RATE, clip=CLIP, seed=SEED, dtype=asked["dtype"])
    size = lstm.Size(*(asked[name] for name in ("embedding", "hidden", "layers", "dropout")))
    text = lstm.Text(tokens="blanks", batch=asked["batch"], window=asked["window"])
    timed = Timed(asked["steps"])
    with tempfile.TemporaryDirectory() as folder:
        try:
            lstm.train(asked["corpus"], asked["corpus"], Path(folder), size, text, settings, timed)
        except Interrupted:
            tokens = (asked["steps"] - WARM_UP) * asked["batch"] * asked["window"]
            print(json.dumps({"cpu": timed.cpu, "wall": timed.wall, "tokens": tokens, "losses": timed.losses}))


if __name__ == "__main__":
    main()
