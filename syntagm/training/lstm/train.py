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
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor

from syntagm.errors import UsageError
from syntagm.io import atomic
from syntagm.models.lstm.model import FORMAT
from syntagm.models.lstm.network import Network, surprisals
from syntagm.models.words import vocabulary
from syntagm.training.corpora import corpus
from syntagm.training.learner import Learner
from syntagm.training.loop import Progress, fit
from syntagm.training.lstm.softmax import Softmax
from syntagm.training.record import finished, refuse_small
from syntagm.training.settings import Settings

HELD_OUT_WORDS = 8192


@dataclass(frozen=True, slots=True)
class Size:
    """How big an LSTM is. Hu et al. 2020: 256, 256, 2, 0.3; Gulordava et al. 2018: 650, 650, 2, 0.2.

    Arguments:
        embedding: width of the embeddings.
        hidden: width of the layers.
        layers: how many.
        dropout: of embeddings, between layers, and before the output layer.
        tied: do embeddings and output layer share one matrix?
    """

    embedding: int = 256
    hidden: int = 256
    layers: int = 2
    dropout: float = 0.3
    tied: bool = False

    def __post_init__(self) -> None:
        refuse_small(self, "embedding", "hidden", "layers")
        if not 0 <= self.dropout < 1:
            raise UsageError("dropout", str(self.dropout), "from 0 to less than 1")
        if self.tied and self.embedding != self.hidden:
            raise UsageError("tied", f"embedding {self.embedding} and hidden {self.hidden}", "both the same")


@dataclass(frozen=True, slots=True)
class Text:
    """How text becomes words and steps.

    Arguments:
        tokens: `auto`: a text that is divided into words already is taken as it stands, another is divided as in the Penn
            Treebank; `treebank`: all are (in divided text, NLTK takes a closing quote for an opening one); `blanks`: none is.
        threshold: a word seen less often is unknown.
        classes: of unknown words: `berkeley`, `single` or `none` (every word is kept); see `models.words.vocabulary`.
        batch: columns.
        window: words of a column that a step reads.
    """

    tokens: Literal["auto", "blanks", "treebank"] = "auto"
    threshold: int = 2
    classes: Literal["berkeley", "single", "none"] = "berkeley"
    batch: int = 20
    window: int = 35

    def __post_init__(self) -> None:
        refuse_small(self, "batch", "window")


def train(
    training: Sequence[str], held_out: Sequence[str], folder: Path, size: Size, text: Text, settings: Settings,
    progress: Progress | None = None,
) -> list[dict[str, float]]:  # fmt: skip
    """Train an LSTM and write its folder, which `lstm:FOLDER` loads; the same call goes on with it.

    Arguments:
        training: the corpora, as `corpus.texts` takes them.
        held_out: the held-out corpora, for the schedule and for early stopping.
        folder: where the model goes.
        size: of the model.
        text: how text becomes words and steps.
        settings: of the loop.
        progress: is told of each step.

    Returns:
        The history; see `loop.fit`.
    """
    finished(folder, "lstm")
    # Before any of it is read: the training text may take long.
    corpus.files([*training, *held_out])
    torch.manual_seed(settings.seed)
    return fit(Lstm(training, held_out, size, text, settings), settings, folder, progress)


class Lstm(Learner):
    """An LSTM in training."""

    family = "lstm"

    def __init__(
        self, training: Sequence[str], held_out: Sequence[str], size: Size, text: Text, settings: Settings
    ) -> None:
        self.text, self.size = text, size
        sentences = corpus.sentences(training, text.tokens)
        self.vocabulary = vocabulary.build(sentences, text.threshold, text.classes, " ".join(map(str, training)))
        self.stream = _stream(self.vocabulary.ids(words) for words in corpus.sentences(training, text.tokens))
        self.sentences = [[0, *self.vocabulary.ids(words), 0] for words in corpus.sentences(held_out, text.tokens)]
        # What stands between blanks, and the end: Treebank words are more, and would make the perplexity another.
        self.words = sum(len(text.split()) + 1 for text in corpus.texts(held_out))
        on_processor = torch.device(settings.device).type == "cpu"
        self.module: Network = Network(
            len(self.vocabulary), size.embedding, size.hidden, size.layers, size.dropout, size.tied,
            sparse=on_processor and settings.optimiser == "sgd",
        )  # fmt: skip
        self.module.to(settings.device)
        self._softmax = Softmax(self.module.decoder, settings.dtype == "bf16") if on_processor else None
        self.record = {
            "corpus": corpus.record(training), "held_out": corpus.record(held_out),
            "size": {name: getattr(size, name) for name in Size.__slots__},
            "text": {name: getattr(text, name) for name in Text.__slots__},
            "vocabulary": len(self.vocabulary), "training_tokens": len(self.stream), "held_out_words": self.words,
        }  # fmt: skip

    def batches(self, epoch: int, rank: int, world: int) -> "Columns":
        """The same in each epoch, from the beginning of the text to its end."""
        width = self.text.batch * world
        rows = len(self.stream) // width
        columns = self.stream[: rows * width].reshape(width, rows).T
        return Columns(columns[:, rank * self.text.batch : (rank + 1) * self.text.batch], self.text.window)

    def needs(self, world: int) -> tuple[str, str]:
        """Words, two in each column: the one before and the one to predict."""
        return f"{len(self.stream):,} words and ends of sentences", f"{2 * self.text.batch * world:,}"

    def carried(self) -> dict[str, Tensor]:
        """Hidden and cell state: zeros."""
        return dict(zip(("hidden", "cell"), self.module.fresh(self.text.batch), strict=True))

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
        sizes = {name: getattr(self.size, name) for name in Size.__slots__}
        shown = {"family": self.family, "format": FORMAT, **sizes, "tokens": self.text.tokens}
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
