"""Our side of the race in training; started as a program, like `timed_lstm_baseline.py`, with "corpus" and "dtype" besides.

What is timed is the loop as `syntagm train lstm` runs it, from one step to another, checkpoints and evaluation left out.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import torch
from timed_lstm_baseline import CLIP, RATE, SEED, WARM_UP

from syntagm.errors import Interrupted
from syntagm.progress import Progress
from syntagm.training.lstm.settings import LstmSettings, Size, Steps
from syntagm.training.lstm.train import train
from syntagm.training.settings import Settings
from syntagm.training.words import Words


class Timed(Progress):
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


def main() -> None:
    torch.set_num_threads(1)
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    loop = Settings(epochs=1, optimiser="sgd", lr=RATE, clip=CLIP, seed=SEED, dtype=asked["dtype"])
    size = Size(*(asked[name] for name in ("embedding", "hidden", "layers", "dropout")))
    settings = LstmSettings(size, Words("blanks"), Steps(asked["batch"], asked["window"]), loop)
    timed = Timed(asked["steps"])
    with tempfile.TemporaryDirectory() as folder:
        try:
            train(asked["corpus"], asked["corpus"], Path(folder), settings, timed)
        except Interrupted:
            tokens = (asked["steps"] - WARM_UP) * asked["batch"] * asked["window"]
            print(json.dumps({"cpu": timed.cpu, "wall": timed.wall, "tokens": tokens, "losses": timed.losses}))


if __name__ == "__main__":
    main()
