"""Training of a word-level LSTM as in Gulordava et al. 2018 and Hu et al. 2020 (PyTorch's word language model).

The default is plain SGD with a learning rate that is divided by four after an epoch without improvement.
"""

from dataclasses import asdict
from typing import ClassVar

from syntagm.models import Lstm as LstmModel, Network, RecurrentModel
from syntagm.training.lstm.family import LstmSettings
from syntagm.training.recurrent import RecurrentLearner


class Lstm(RecurrentLearner):
    """An LSTM in training."""

    model: ClassVar[type[RecurrentModel]] = LstmModel
    settings: LstmSettings

    def network(self, on_cpu: bool) -> Network:
        sparse = on_cpu and self.settings.loop.optimiser == "sgd"
        return self.model.kind(len(self.vocabulary), **asdict(self.settings.size), sparse=sparse)


train = Lstm.train
