"""Program that times our LSTM training; it gets the file of `timed_lstm_baseline.py` with "corpus" and "dtype" added.

The time covers the loop of `syntagm train lstm` from one step to another, without checkpoints and evaluation.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import torch
from timed_lstm_baseline import CLIP, RATE, SEED, WARM_UP

from syntagm.core import Interrupted, Progress
from syntagm.training import LstmSettings, Settings, Size, Steps, Words
from syntagm.training.lstm.train import train


class Timed(Progress):
    """Progress callbacks that measure the time from one step to another, and then stop the training."""

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
        task = json.load(file)
    loop = Settings(epochs=1, optimiser="sgd", lr=RATE, clip=CLIP, seed=SEED, dtype=task["dtype"])
    size = Size(*(task[name] for name in ("embedding", "hidden", "layers", "dropout")))
    settings = LstmSettings(size, Words("blanks"), Steps(task["batch"], task["window"]), loop)
    timed = Timed(task["steps"])
    with tempfile.TemporaryDirectory() as folder:
        try:
            train(task["corpus"], task["corpus"], Path(folder), settings, timed)
        except Interrupted:
            tokens = (task["steps"] - WARM_UP) * task["batch"] * task["window"]
            print(json.dumps({"cpu": timed.cpu, "wall": timed.wall, "tokens": tokens, "losses": timed.losses}))


if __name__ == "__main__":
    main()
