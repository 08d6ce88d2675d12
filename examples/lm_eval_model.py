"""Evaluate a model of Syntagm with lm-evaluation-harness (0.4): n-grams, LSTMs, RNNGs, masked models, programs.

    syntagm train ngram --corpus excerpt --discount-fallback -o runs/5gram
    syntagm convert my_suites/ tasks/ --as lm-eval-task
    python examples/lm_eval_model.py runs/5gram tasks/ syntagm_agreement

It needs the package lm_eval. Log-likelihoods are Syntagm's surprisals, as natural logarithms; so the start symbol and all other
settings are those of the model's name: `runs/lstm?bos=no`. Only log-likelihoods are computed: tasks that generate text are
refused, and so is a model whose tokens don't end where the context does. Whether a continuation is the most probable one is not
known, and given as False; only the metric `exact_match` of tasks such as LAMBADA uses it.
"""

import contextlib
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lm_eval
import numpy as np
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

import syntagm as sg


class Harness(LM):  # type: ignore[misc]
    """A model of Syntagm as a model of lm-evaluation-harness.

    Arguments:
        name: the name of the model, with its options.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.model = sg.load_model(name)

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        """Return the natural log-probability of each continuation after its context, and False."""
        asked = [request.args for request in requests]
        answers = self.model.score([context + continuation for context, continuation in asked])
        return [(_nats(answer, len(context)), False) for (context, _), answer in zip(asked, answers, strict=True)]

    def loglikelihood_rolling(self, requests: Sequence[Any]) -> list[float]:
        """Return the natural log-probability of each text."""
        return [_nats(answer, 0) for answer in self.model.score([request.args[0] for request in requests])]

    def generate_until(self, requests: Sequence[Any]) -> list[str]:
        """Refuse to generate text."""
        raise NotImplementedError("a model of Syntagm gives surprisals; it does not generate text")


def _nats(answer: sg.Surprisals, begin: int) -> float:
    """Return the log-probability of the tokens from a place in the text on. A first token without start symbol counts 0."""
    starts, bits = answer.starts, np.where(np.arange(len(answer.bits)) == 0, np.nan_to_num(answer.bits), answer.bits)
    if begin and begin < len(answer.text) and begin not in starts:
        # White space belongs to the token after it, so that a context may end with it.
        raise ValueError(f"no token begins behind the context {answer.text[:begin]!r}")
    return -float(bits[starts >= begin].sum()) * math.log(2)


def main(name: str, folder: str, *tasks: str) -> dict[str, Any]:
    """Evaluate a model on tasks, and return the results of lm-evaluation-harness.

    Arguments:
        name: the name of the model.
        folder: the folder of the tasks.
        tasks: their names.
    """
    harness, manager = Harness(name), TaskManager(include_path=str(Path(folder).resolve()))
    with contextlib.chdir(folder):  # where the sentences of the tasks are looked for
        return lm_eval.simple_evaluate(
            harness, tasks=list(tasks), task_manager=manager, log_samples=True, bootstrap_iters=0
        )


if __name__ == "__main__":
    for task, numbers in main(*sys.argv[1:])["results"].items():
        print(task, numbers["acc,none"])
