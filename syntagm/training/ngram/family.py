"""The declaration of the family `ngram`."""

from pathlib import Path

from syntagm.training.duration import LOAD_SECONDS, Work
from syntagm.training.ngram.settings import NgramSettings
from syntagm.training.trainable import Controlled, Trainable

WORDS_A_SECOND = 150_000


def _is_intact(folder: Path) -> bool:
    from syntagm.training.ngram.train import is_intact

    return is_intact(folder)


def _duration(settings: NgramSettings, work: Work) -> tuple[float, float]:
    return work.words / WORDS_A_SECOND + LOAD_SECONDS, LOAD_SECONDS + work.test / WORDS_A_SECOND


NGRAM = Trainable(
    name="ngram",
    summary="n-grams: modified Kneser-Ney, interpolated or backing off",
    settings=NgramSettings(),
    module="syntagm.training.ngram.train",
    seeded=False,
    needs_valid=False,
    valid="held-out text, whose perplexity is reported",
    controlled=Controlled(_duration, pace=f"n-grams: {WORDS_A_SECOND:,} words per second"),
    is_intact=_is_intact,
)
