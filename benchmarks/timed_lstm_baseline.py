"""Program that times the training of a plain LSTM: `nn.LSTM`, a linear layer and `cross_entropy`, as in PyTorch's example.

It gets a file {"ids", "words", "embedding", "hidden", "layers", "dropout", "batch", "window", "steps"}, prints one line of
JSON, {"cpu", "wall", "tokens", "losses"}, and needs only torch.
"""

import json
import sys
import time

import torch
from torch import nn

RATE, CLIP, SEED, WARM_UP = 20.0, 0.25, 1, 2


class Plain(nn.Module):
    def __init__(self, words: int, embedding: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(words, embedding)
        self.rnn = nn.LSTM(embedding, hidden, layers, dropout=dropout)
        self.decoder = nn.Linear(hidden, words)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, ids: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        outputs, (hidden, cell) = self.rnn(self.drop(self.encoder(ids)), state)
        return self.decoder(self.drop(outputs)).flatten(0, 1), hidden, cell


def main() -> None:
    torch.set_num_threads(1)
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    torch.manual_seed(SEED)
    model = Plain(*(task[name] for name in ("words", "embedding", "hidden", "layers", "dropout")))
    # The training loop seeds like this before an epoch; so dropout is the same.
    torch.manual_seed(SEED * 1_000_003)
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE)
    ids, batch, window = torch.tensor(task["ids"]), task["batch"], task["window"]
    columns = ids[: len(ids) // batch * batch].view(batch, -1).T.contiguous()
    hidden = cell = torch.zeros(task["layers"], batch, task["hidden"])
    losses = []
    for step in range(task["steps"]):
        if step == WARM_UP:
            wall, cpu = time.perf_counter(), time.process_time()
        rows = columns[step * window : (step + 1) * window + 1]
        optimiser.zero_grad()
        logits, hidden, cell = model(rows[:-1], (hidden.detach(), cell.detach()))
        loss = nn.functional.cross_entropy(logits, rows[1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        losses.append(loss.item())
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    tokens = (task["steps"] - WARM_UP) * batch * window
    print(json.dumps({"cpu": cpu, "wall": wall, "tokens": tokens, "losses": losses}))


if __name__ == "__main__":
    main()
