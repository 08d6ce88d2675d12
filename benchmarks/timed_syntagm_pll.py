"""Program that times our pseudo-log-likelihoods."""

import math
from collections.abc import Sequence

import stopwatch

from syntagm.models.masked.model import load


def main() -> None:
    path, dtype, sentences = stopwatch.task()
    model = load(path, masking=stopwatch.options()["masking"], dtype={"float32": "f32", "bfloat16": "bf16"}[dtype])

    def score(texts: Sequence[str]) -> list[float]:
        return [-float(answer.bits.sum()) * math.log(2) for answer in model.score(texts)]

    stopwatch.measure(sentences, score, model.module)


if __name__ == "__main__":
    main()
