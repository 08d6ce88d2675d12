"""How long a controlled experiment will take: an estimate made before it starts.

A training step costs 6 floating-point operations for each weight of a matrix product and each token, scoring 2. How many the
machine does in a second is measured here, on one matrix product of its best size; trainings of small and large models reached
0.27 to 0.4 of it on one processor core. A step takes some time of its own besides. Vocabularies are guessed by the size of the
text. Early stopping is left out, so that neural models take this long at most.
"""

import time
from collections.abc import Mapping

from syntagm.papers.experiment.experiment import Options, passes

REACHED = 0.3
STEP_SECONDS = {"cpu": 0.005, "cuda": 0.02}
LOAD_SECONDS = 5.0
# Words and marks of the Treebank, and byte pairs, for a word between blanks.
TOKENS = {"lstm": 1.17, "gpt2": 1.4, "gpt2-words": 1.17}
NGRAM_WORDS = 150_000
SUITE_TOKENS = 60_000


def operations(device: str) -> float:
    """How many floating-point operations a second one matrix product makes here, the best of several."""
    import torch

    size, repeats = (4096, 10) if device.startswith("cuda") else (512, 20)
    matrix = torch.rand(size, size, device=device)
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        float((matrix @ matrix)[0, 0])
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


def weights(family: str, options: Options, words: int) -> float:
    """How many weights a token meets in matrix products, in a model trained on so many words.

    >>> round(weights("lstm", {"layers": 2, "embedding": 256, "hidden": 256, "threshold": 2, "classes": ""}, 1_000_000))
    7192576
    >>> round(weights("gpt2", {"layers": 12, "width": 768, "vocabulary": 50_257, "units": "bpe"}, 1_000_000))
    123532032
    """
    seen_twice = 24_000 * (words / 1e6) ** 0.6
    if family == "lstm":
        inner = sum(
            4 * options["hidden"] * (options["hidden"] + (options["embedding"] if layer == 0 else options["hidden"]))
            for layer in range(options["layers"])
        )
        return float(inner + seen_twice * min(1.0, 2 / max(1, options["threshold"])) * options["hidden"])
    entries = options["vocabulary"] if options["units"] == "bpe" else seen_twice
    return float(12 * options["layers"] * options["width"] ** 2 + entries * options["width"])


def seconds(
    family: str, options: Options, words: int, texts: Mapping[str, int], speed: float, device: str = "cpu"
) -> tuple[float, float]:
    """How long a model takes at most.

    Arguments:
        words: of its part of the corpus.
        texts: the words of the texts `valid` and `test`.
        speed: floating-point operations a second, see `operations`.

    Returns:
        Seconds of training, and of scoring.
    """
    if family == "ngram":
        return words / NGRAM_WORDS + LOAD_SECONDS, LOAD_SECONDS + texts["test"] / NGRAM_WORDS
    tokens, many = TOKENS[family], weights(family, options, words)
    rate = speed * REACHED
    one_pass = (6 * words + 2 * texts["valid"]) * tokens * many / rate
    steps = words * tokens / (options["batch"] * options["window"])
    one_pass += steps * STEP_SECONDS[device.partition(":")[0]]
    scoring = (texts["test"] * tokens + SUITE_TOKENS) * 2 * many / rate
    return passes(options, words) * one_pass + LOAD_SECONDS, scoring + 2 * LOAD_SECONDS
