"""The declaration of the family `masked`."""

from syntagm.training.masked.settings import MaskedSettings
from syntagm.training.trainable import Trainable

# It takes no part in controlled experiments: pseudo-perplexities can't be compared with perplexities.
MASKED = Trainable(
    name="masked",
    summary="a BERT from scratch, over WordPiece",
    settings=MaskedSettings(),
    module="syntagm.training.masked.train",
)
