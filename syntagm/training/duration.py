"""How long a training takes at most: an estimate made before it starts.

A training step costs 6 floating-point operations for each weight of a matrix product and each token, scoring 2. How many the
machine does in a second is measured; trainings of small and large models reached 0.27 to 0.4 of it on one processor core. A
step takes some time of its own besides. Vocabularies are guessed by the size of the text. Early stopping is left out, so that
models that learn by gradients take this long at most.
"""

from dataclasses import dataclass

REACHED = 0.3
STEP_SECONDS = {"cpu": 0.005, "cuda": 0.02}
LOAD_SECONDS = 5.0
# Words and marks of the Treebank for a word between blanks.
TREEBANK_WORDS = 1.17
SUITE_TOKENS = 60_000


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done with a model, and how fast the machine is.

    Arguments:
        words: of the training text.
        valid: words of the held-out text.
        test: words of the text that is scored besides the suites.
        speed: floating-point operations a second.
        device: where to train and score.
    """

    words: int
    valid: int
    test: int
    speed: float
    device: str


def seen_twice(words: int) -> float:
    """Guess how many different words a text of so many words has at least twice.

    >>> round(seen_twice(1_000_000))
    24000
    """
    return float(24_000 * (words / 1e6) ** 0.6)


def by_gradients(weights: float, tokens: float, epochs: int, step: int, work: Work) -> tuple[float, float]:
    """Estimate how long a model takes that learns by gradients.

    Arguments:
        weights: that a token meets in matrix products.
        tokens: for a word between blanks.
        epochs: passes over the text.
        step: tokens of a step.

    Returns:
        Seconds of training, and of scoring.
    """
    rate = work.speed * REACHED
    one_pass = (6 * work.words + 2 * work.valid) * tokens * weights / rate
    steps = work.words * tokens / step
    one_pass += steps * STEP_SECONDS[work.device.partition(":")[0]]
    scoring = (work.test * tokens + SUITE_TOKENS) * 2 * weights / rate
    return epochs * one_pass + LOAD_SECONDS, scoring + 2 * LOAD_SECONDS
