"""minicons' pseudo-log-likelihoods: `sequence_score` over batches in the order of the list, in its own environment."""

from collections.abc import Sequence

import stopwatch
import torch
from minicons import scorer


def main() -> None:
    path, dtype, sentences = stopwatch.task()
    asked = stopwatch.options()
    model = scorer.MaskedLMScorer(path, "cpu", torch_dtype=getattr(torch, dtype))

    def score(texts: Sequence[str]) -> list[float]:
        scores = []
        for first in range(0, len(texts), asked["batch"]):
            batch = list(texts[first : first + asked["batch"]])
            metric = {"token": "original", "word": "within_word_l2r"}[asked["masking"]]
            # Its default for a sentence is the mean over tokens.
            scores += model.sequence_score(batch, reduction=lambda row: row.sum(0).item(), PLL_metric=metric)
        return scores

    stopwatch.measure(sentences, score, model.model)


if __name__ == "__main__":
    main()
