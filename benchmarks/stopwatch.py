"""Functions that all timed programs share. Standard library only, because they also run in the peers' environment.

A timed program gets a file {"model", "dtype", "sentences"}, and optionally "device" and "batch", loads its model, warms up on
the first sentences, scores all of them, and prints one line of JSON: {"cpu", "wall", "tokens", "scores"}.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

WARM_UP = 64


def measure(
    sentences: Sequence[str],
    score: Callable[[Sequence[str]], list[float]],
    model: Any,
    warm_up: Sequence[str] | None = None,
) -> None:
    """Time a function and count the tokens that it sends through the model; print both with the scores.

    Arguments:
        sentences: the sentences.
        score: the function, which returns a log-probability in nats per sentence.
        model: the transformers model; None if it can't be reached, and tokens are not counted.
        warm_up: what to score first, untimed; the first sentences by default.
    """
    counter = Counter(model)
    score(sentences[:WARM_UP] if warm_up is None else warm_up)
    before = counter.tokens
    wall, cpu = time.perf_counter(), time.process_time()
    scores = score(sentences)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(json.dumps({"cpu": cpu, "wall": wall, "tokens": counter.tokens - before, "scores": scores}))


def task() -> tuple[str, str, list[str]]:
    """Read the model folder, dtype and sentences from the file named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    return settings["model"], settings["dtype"], settings["sentences"]


def options() -> dict[str, Any]:
    """Read all settings from that file."""
    with open(sys.argv[1], encoding="utf-8") as file:
        settings: dict[str, Any] = json.load(file)
    return settings


class Counter:
    """A counter of the tokens, padding included, that go through a transformers model."""

    def __init__(self, model: Any) -> None:
        self.tokens = 0
        if model is not None:
            model.get_input_embeddings().register_forward_pre_hook(self._count)

    def _count(self, _: object, arguments: Sequence[Any]) -> None:
        self.tokens += arguments[0].numel()
