"""Program that times minicons as in its documentation: `sequence_score` over batches in order, with a start symbol."""

from collections.abc import Sequence

import stopwatch
import torch
from minicons import scorer

BATCH = 32


def main() -> None:
    path, dtype, sentences = stopwatch.task()
    settings = stopwatch.options()
    size = settings.get("batch", BATCH)
    model = scorer.IncrementalLMScorer(path, settings.get("device", "cpu"), torch_dtype=getattr(torch, dtype))

    def score(texts: Sequence[str]) -> list[float]:
        scores = []
        for first in range(0, len(texts), size):
            batch = list(texts[first : first + size])
            scores += model.sequence_score(batch, reduction=lambda row: row.sum(0).item(), bos_token=True)
        return scores

    stopwatch.measure(sentences, score, model.model)


if __name__ == "__main__":
    main()
