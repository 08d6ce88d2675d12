"""Training of a word-level ON-LSTM as in Shen et al. 2019, with the recipe of AWD-LSTM (Merity et al. 2018).

The number of words of a step is drawn from a normal distribution around `window`, or, for one step in twenty, around
half of it. The learning rate is proportional to this number. The loss is the cross-entropy, plus terms for
large outputs of the last layer and for their change from word to word.
"""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from syntagm.core import InputError
from syntagm.models import Dropout, OnLstm as OnLstmModel, OnLstmNetwork, RecurrentModel, State
from syntagm.training.onlstm.family import OnLstmSettings
from syntagm.training.recurrent import RecurrentLearner

# The number of words of a step: standard deviation, minimum, and the probability of half of the mean.
SPREAD, LEAST, HALVED = 5.0, 5, 0.05
# The first words of the tails of an adaptive softmax, in Shen et al.
CUTOFFS = (2800, 20_000, 76_000)
# Arrays of a number for each word of a step and each word of the vocabulary: logits, their log-softmax, and its gradient.
ARRAYS = 3


class OnLstm(RecurrentLearner):
    model: ClassVar[type[RecurrentModel]] = OnLstmModel
    settings: OnLstmSettings
    module: OnLstmNetwork

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], settings: OnLstmSettings) -> None:
        super().__init__(corpus, valid, settings)
        self.record |= {"regularisation": asdict(settings.regularisation), "cutoffs": self._cutoffs}

    def network(self, on_cpu: bool) -> OnLstmNetwork:
        size, dropout, words = self.settings.size, self.settings.regularisation, len(self.vocabulary)
        self._cutoffs = [first for first in CUTOFFS if first < words] if self._adaptive(words, on_cpu) else []
        return OnLstmNetwork(
            words, size.embedding, size.hidden, size.layers, size.chunk, self._cutoffs,
            Dropout(
                dropout.dropout, dropout.dropout_layers, dropout.dropout_input, dropout.dropout_words,
                dropout.dropout_recurrent,
            ),
        )  # fmt: skip

    def _adaptive(self, words: int, on_cpu: bool) -> bool:
        """Return whether the softmax is adaptive."""
        if (softmax := self.settings.size.softmax) == "adaptive" and words <= CUTOFFS[0]:
            found, expected = f"adaptive, for a vocabulary of {words:,} words", f"more than {CUTOFFS[0]:,} words"
            raise InputError("softmax", found, expected, "Use --softmax full.")
        if softmax != "auto" or on_cpu or words <= CUTOFFS[0]:
            # On a CPU, a few rows are computed at a time.
            return softmax == "adaptive"
        steps = self.settings.steps
        memory = torch.cuda.get_device_properties(self.settings.loop.device).total_memory
        return ARRAYS * 4 * steps.batch * steps.window * words > memory / 2

    def description(self) -> dict[str, object]:
        """Return the size of the network, without the choice of the softmax, which `cutoffs` tells."""
        size = asdict(self.settings.size)
        del size["softmax"]
        return size | {"cutoffs": self._cutoffs}

    def starts(self, rows: int, epoch: int) -> Sequence[int]:
        """Draw the first row of each step: the same numbers of words in each epoch, in another order."""
        seed = self.settings.loop.seed
        random, lengths, left = np.random.default_rng(seed), [], rows - 1
        while left > 0:
            mean = self.settings.steps.window * (0.5 if random.random() < HALVED else 1.0)
            lengths.append(min(left, max(LEAST, int(random.normal(mean, SPREAD)))))
            left -= lengths[-1]
        np.random.default_rng((seed, epoch)).shuffle(lengths)
        return list(accumulate(lengths[:-1], initial=0)) if lengths else []

    def rate_factor(self, batch: Tensor) -> float:
        """Return the number of words of a step, relative to the mean."""
        return (len(batch) - 1) / self.settings.steps.window

    def outputs(self, ids: Tensor, state: State) -> tuple[Tensor, Tensor | float, State]:
        """Return the inputs of the output layer, the regularisation, and the state; see `RecurrentLearner.outputs`."""
        settings = self.settings.regularisation
        raw, state = self.module.raw(ids, state)
        outputs = self.module.dropped(raw, settings.dropout)
        added = settings.activation * outputs.float().square().mean()
        if len(raw) > 1:
            added = added + settings.smoothness * (raw[1:] - raw[:-1]).float().square().mean()
        return outputs, added, state


train = OnLstm.train
