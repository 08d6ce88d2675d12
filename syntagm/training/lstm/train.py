"""Training of a word-level LSTM as in Gulordava et al. 2018 and Hu et al. 2020 (PyTorch's word language model).

The default is plain SGD with a learning rate that is divided by four after an epoch without improvement.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from syntagm.models.lstm.model import FORMAT
from syntagm.models.lstm.network import Network
from syntagm.progress import Progress
from syntagm.training.lstm.settings import LstmSettings
from syntagm.training.record import finished
from syntagm.training.recurrent.learner import RecurrentLearner, fitted


def train(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: LstmSettings, progress: Progress | None = None
) -> list[dict[str, float]]:
    """Train an LSTM and write its folder, which `lstm:FOLDER` loads; see `recurrent.learner.fitted`."""
    finished(folder, "lstm")
    return fitted(Lstm, corpus, valid, folder, settings, progress)


class Lstm(RecurrentLearner):
    """An LSTM in training."""

    family, format = "lstm", FORMAT
    settings: LstmSettings

    def network(self, on_cpu: bool) -> Network:
        """Build the network for the vocabulary."""
        size = self.settings.size
        sparse = on_cpu and self.settings.loop.optimiser == "sgd"
        return Network(
            len(self.vocabulary), size.embedding, size.hidden, size.layers, size.dropout, size.tied, sparse=sparse
        )

    def description(self) -> dict[str, object]:
        """Return the size of the network."""
        return asdict(self.settings.size)
