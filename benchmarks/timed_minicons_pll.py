"""Program that times minicons' pseudo-log-likelihoods: `sequence_score` over batches in order, in its own environment."""

from collections.abc import Sequence

import stopwatch
import torch
from minicons import scorer


def main() -> None:
    path, dtype, sentences = stopwatch.task()
    settings = stopwatch.options()
    model = scorer.MaskedLMScorer(path, "cpu", torch_dtype=getattr(torch, dtype))

    def score(texts: Sequence[str]) -> list[float]:
        scores = []
        for first in range(0, len(texts), settings["batch"]):
            batch = list(texts[first : first + settings["batch"]])
            metric = {"token": "original", "word": "within_word_l2r"}[settings["masking"]]
            # The default of minicons is the mean over tokens.
            scores += model.sequence_score(batch, reduction=lambda row: row.sum(0).item(), PLL_metric=metric)
        return scores

    stopwatch.measure(sentences, score, model.model)


if __name__ == "__main__":
    main()
