"""Upper estimates of training time before training starts.

A training step costs 6 floating-point operations per weight of a matrix product and token; scoring costs 2. The machine's
speed is measured. Training of small and large models reached 0.27 to 0.4 of this speed on one processor core. Each step
also has a fixed cost. The vocabulary size is guessed from the size of the text. The estimate ignores early stopping, so
it is an upper limit for models that are trained by gradient descent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

REACHED = 0.3
STEP_SECONDS = {"cpu": 0.005, "cuda": 0.02}
LOAD_SECONDS = 5.0
# Treebank words and punctuation marks per whitespace-separated word.
TREEBANK_WORDS = 1.17
SUITE_TOKENS = 60_000


@dataclass(frozen=True, slots=True)
class Work:
    """The amount of text for one model, and the speed of the machine."""

    words: int  # words of the training text
    valid: int  # words of the held-out text
    test: int  # words of the test text, which is scored in addition to the suites
    speed: float  # floating-point operations per second
    device: str  # the device for training and scoring: `cpu`, `cuda` ..
    # The options with which the model is evaluated; see `Controlled.evaluation`.
    evaluation: Mapping[str, str] = field(default_factory=dict)


def seen_twice(words: int) -> float:
    """Guess how many distinct words occur at least twice in a text of `words` words.

    >>> round(seen_twice(1_000_000))
    24000
    """
    return float(24_000 * (words / 1e6) ** 0.6)


def by_gradients(weights: float, tokens: float, epochs: int, step: float, work: Work) -> tuple[float, float]:
    """Estimate the time for a model that is trained by gradient descent."""
    rate = work.speed * REACHED
    one_pass = (6 * work.words + 2 * work.valid) * tokens * weights / rate
    steps = work.words * tokens / step
    one_pass += steps * STEP_SECONDS[work.device.partition(":")[0]]
    scoring = (work.test * tokens + SUITE_TOKENS) * 2 * weights / rate
    return epochs * one_pass + LOAD_SECONDS, scoring + 2 * LOAD_SECONDS
