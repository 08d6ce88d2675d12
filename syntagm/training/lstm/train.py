"""A word-level LSTM from scratch, as Gulordava et al. 2018 and Hu et al. 2020 train it (PyTorch's word language model).

The text is one stream of words, the end symbol after each sentence, cut into as many columns as a batch has; what does not
fill them is left out. All columns are read side by side, `window` words a step, and the state goes from step to step, while
gradients stop at the step's beginning. Plain SGD; a quarter of the rate after an epoch without improvement.

Held-out perplexity is of single sentences from a fresh state, the end symbol read first and the end counted: as the model
scores them later, rather than of a stream, as in the papers; and per word between blanks, as for the other families.
"""

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor

from syntagm.io import atomic
from syntagm.models.lstm.model import FORMAT
from syntagm.models.lstm.network import Network, surprisals
from syntagm.models.words import vocabulary
from syntagm.progress import Progress
from syntagm.training.corpora import corpus as corpora
from syntagm.training.learner import Learner
from syntagm.training.loop import fit
from syntagm.training.lstm.settings import LstmSettings
from syntagm.training.lstm.softmax import Softmax
from syntagm.training.record import finished

HELD_OUT_WORDS = 8192


def train(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: LstmSettings, progress: Progress | None = None
) -> list[dict[str, float]]:
    """Train an LSTM and write its folder, which `lstm:FOLDER` loads; the same call goes on with it.

    Arguments:
        corpus: the training text, as `corpora.corpus.texts` takes it.
        valid: the held-out text, for the schedule and for early stopping.
        folder: where the model goes.
        settings: of the model, of its text, and of the loop.
        progress: is told of each step.

    Returns:
        The history; see `loop.fit`.
    """
    finished(folder, "lstm")
    # Before any of it is read: the training text may take long.
    corpora.files([*corpus, *valid])
    torch.manual_seed(settings.loop.seed)
    return fit(Lstm(corpus, valid, settings), settings.loop, folder, progress)


class Lstm(Learner):
    """An LSTM in training."""

    family = "lstm"

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], settings: LstmSettings) -> None:
        self.settings, size, words = settings, settings.size, settings.words
        sentences = corpora.sentences(corpus, words.tokens)
        self.vocabulary = vocabulary.build(sentences, words.threshold, words.classes, " ".join(map(str, corpus)))
        self.stream = _stream(self.vocabulary.ids(several) for several in corpora.sentences(corpus, words.tokens))
        self.sentences = [[0, *self.vocabulary.ids(several), 0] for several in corpora.sentences(valid, words.tokens)]
        # What stands between blanks, and the end: Treebank words are more, and would make the perplexity another.
        self.words = sum(len(text.split()) + 1 for text in corpora.texts(valid))
        on_processor = torch.device(settings.loop.device).type == "cpu"
        self.module: Network = Network(
            len(self.vocabulary), size.embedding, size.hidden, size.layers, size.dropout, size.tied,
            sparse=on_processor and settings.loop.optimiser == "sgd",
        )  # fmt: skip
        self.module.to(settings.loop.device)
        self._softmax = Softmax(self.module.decoder, settings.loop.dtype == "bf16") if on_processor else None
        self.record = {
            "corpus": corpora.record(corpus), "held_out": corpora.record(valid),
            "size": asdict(size), "text": asdict(words) | asdict(settings.steps),
            "vocabulary": len(self.vocabulary), "training_tokens": len(self.stream), "held_out_words": self.words,
        }  # fmt: skip

    def batches(self, epoch: int, rank: int, world: int) -> "Columns":
        """The same in each epoch, from the beginning of the text to its end."""
        steps = self.settings.steps
        width = steps.batch * world
        rows = len(self.stream) // width
        columns = self.stream[: rows * width].reshape(width, rows).T
        return Columns(columns[:, rank * steps.batch : (rank + 1) * steps.batch], steps.window)

    def needs(self, world: int) -> tuple[str, str]:
        """Words, two in each column: the one before and the one to predict."""
        return f"{len(self.stream):,} words and ends of sentences", f"{2 * self.settings.steps.batch * world:,}"

    def carried(self) -> dict[str, Tensor]:
        """Hidden and cell state: zeros."""
        return dict(zip(("hidden", "cell"), self.module.fresh(self.settings.steps.batch), strict=True))

    def loss(self, batch: Tensor, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Cross-entropy of each word given those before it in its column."""
        rows = batch.to(self.device)
        outputs, (hidden, cell) = self.module(rows[:-1], (carried["hidden"], carried["cell"]))
        flat, targets = outputs.flatten(0, 1), rows[1:].flatten()
        if self._softmax is not None:
            loss = self._softmax.loss(flat, targets)
        else:
            loss = torch.nn.functional.cross_entropy(self.module.decoder(flat), targets)
        return loss, len(targets), {"hidden": hidden.detach().float(), "cell": cell.detach().float()}

    def held_out(self) -> tuple[float, int]:
        """Sentence by sentence, as `models.lstm.model` scores them."""
        self.module.eval()
        nats = {index: float(found.sum()) for index, found in surprisals(self.module, self.sentences, HELD_OUT_WORDS)}
        # Added in the order of the text, whatever the order of computation.
        return sum(nats[index] for index in range(len(self.sentences))), self.words

    def write(self, folder: Path) -> None:
        """Weights, vocabulary, and what `models.lstm.model` must know of them."""
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.module.named_parameters()}
        atomic.write(folder / "model.safetensors", save(weights))
        self.vocabulary.write(folder / "vocabulary.txt")
        shown = {
            "family": self.family,
            "format": FORMAT,
            **asdict(self.settings.size),
            "tokens": self.settings.words.tokens,
        }
        atomic.write(folder / "model.json", (json.dumps(shown, indent=1) + "\n").encode())


@dataclass(frozen=True, slots=True)
class Columns(Sequence[Tensor]):
    """Steps through columns of a text: each `window` rows and the row after them, the last perhaps shorter."""

    columns: NDArray[np.int32]
    window: int

    def __len__(self) -> int:
        return -(-max(0, len(self.columns) - 1) // self.window)

    def __getitem__(self, index: int) -> Tensor:  # type: ignore[override]
        first = range(len(self))[index] * self.window
        return torch.from_numpy(self.columns[first : first + self.window + 1].astype(np.int64))


def _stream(sentences: Iterable[Sequence[int]]) -> NDArray[np.int32]:
    """All sentences one after the other, each followed by the end symbol."""
    stream = array("i")
    for sentence in sentences:
        stream.extend(sentence)
        stream.append(0)
    return np.frombuffer(stream, np.int32)
