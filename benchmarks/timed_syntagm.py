"""Program that times our scores of a causal model."""

import math
from collections.abc import Sequence

import stopwatch

from syntagm.models.causal.model import load


def main() -> None:
    path, dtype, sentences = stopwatch.task()
    device = stopwatch.options().get("device", "cpu")
    model = load(path, dtype={"float32": "f32", "bfloat16": "bf16"}[dtype], device=device)

    def score(texts: Sequence[str]) -> list[float]:
        return [-float(answer.bits.sum()) * math.log(2) for answer in model.score(texts)]

    stopwatch.measure(sentences, score, model.module)


if __name__ == "__main__":
    main()
