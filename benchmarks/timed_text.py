"""Program that times the surprisals of a document in our overlapping windows."""

import math
from collections.abc import Sequence

import stopwatch

from syntagm.models.causal.model import load


def main() -> None:
    path, _, [document] = stopwatch.task()
    model = load(path)

    def score(texts: Sequence[str]) -> list[float]:
        return [bits * math.log(2) for answer in model.read(texts) for bits in answer.surprisals.bits.tolist()]

    stopwatch.measure([document], score, model.module, [document[:2_000]])


if __name__ == "__main__":
    main()
