"""Our side of the race; started as a program."""

import math
from collections.abc import Sequence

import stopwatch
import torch
import transformers

from syntagm.models.causal import wrap


def main() -> None:
    path, dtype, sentences = stopwatch.task()
    live = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype)).eval()
    model = wrap(live, transformers.AutoTokenizer.from_pretrained(path), "benchmark")

    def score(texts: Sequence[str]) -> list[float]:
        return [-float(answer.bits.sum()) * math.log(2) for answer in model.score(texts)]

    stopwatch.measure(sentences, score, live)


if __name__ == "__main__":
    main()
