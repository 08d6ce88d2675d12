"""Word-level LSTM language models, trained by `syntagm train lstm` (Gulordava et al. 2018; Hu et al. 2020)."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from syntagm.models.family import Family
from syntagm.models.lstm.family import FAMILY
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.recurrent.network import Network, Softmax, State
from syntagm.models.words import weights

# The layers are: embedding, dropout, LSTM with dropout between its layers, dropout, linear output layer. The weights
# are named as in PyTorch's example of a word-level language model, on which both papers build.


class LstmNetwork(Network):
    """An LSTM language model.

    Arguments:
        words: size of the vocabulary.
        embedding: width of the embeddings.
        hidden: width of the hidden layers.
        layers: number of layers.
        dropout: dropout probability in training.
        tied: whether embeddings and output layer share their weights; then `embedding` must equal `hidden`.
        sparse: whether the embeddings have sparse gradients, for plain SGD.
    """

    def __init__(
        self, words: int, embedding: int, hidden: int, layers: int, dropout: float = 0.0, tied: bool = False,
        sparse: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(words, embedding, sparse=sparse)
        # Dropout is applied between layers; PyTorch warns if there is only one.
        self.rnn = nn.LSTM(embedding, hidden, layers, dropout=dropout if layers > 1 else 0.0)
        self.decoder: Softmax = Softmax(hidden, words)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)
        if tied:
            self.decoder.weight = self.encoder.weight

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        hidden, state = self.rnn(self.drop(self.encoder(ids)), state)
        return self.drop(hidden), state

    def fresh(self, columns: int) -> State:
        weight = self.decoder.weight
        zeros = weight.new_zeros(self.rnn.num_layers, columns, self.rnn.hidden_size)
        return zeros, zeros.clone()

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        inputs, hiddens, cells = self.encoder(ids), [], []
        for layer, (hidden, cell) in enumerate(zip(*state, strict=True)):
            weights = [
                getattr(self.rnn, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            ]
            inputs, cell = torch.lstm_cell(inputs, (hidden, cell), *weights)
            hiddens.append(inputs)
            cells.append(cell)
        return inputs, (torch.stack(hiddens), torch.stack(cells))


class Lstm(RecurrentModel):
    """An LSTM with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "lstm 1"
    keys: ClassVar[weights.Keys] = {
        **dict.fromkeys(("embedding", "hidden", "layers"), weights.is_size),
        "tied": weights.is_flag,
    }
    kind = LstmNetwork


load = Lstm.load
