"""The declaration of the family `masked`."""

from collections.abc import Sequence
from pathlib import Path

from syntagm.progress import Progress
from syntagm.training.masked.settings import MaskedSettings
from syntagm.training.trainable import Trainable


def _train(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: MaskedSettings, progress: Progress
) -> object:
    from syntagm.training.masked.train import train

    return train(corpus, valid, folder, settings, progress)


# It takes no part in controlled experiments: pseudo-perplexities can't be compared with perplexities.
MASKED = Trainable(
    name="masked",
    summary="a BERT from scratch, over WordPiece",
    settings=MaskedSettings(),
    train=_train,
)
