"""The declaration of the family `rnng`."""

from collections.abc import Sequence
from pathlib import Path

from syntagm.progress import Progress
from syntagm.training.rnng.settings import RnngSettings
from syntagm.training.trainable import Trainable


def _train(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: RnngSettings, progress: Progress
) -> object:
    from syntagm.training.rnng.train import train

    return train(corpus, valid, folder, settings, progress)


RNNG = Trainable(
    name="rnng",
    summary="a recurrent neural network grammar, on trees",
    settings=RnngSettings(),
    train=_train,
    valid="held-out trees",
    note="FILE must be a file of bracketed trees. The size is that of Hu et al. 2020; the optimiser is that of rnng-pytorch.",
)
