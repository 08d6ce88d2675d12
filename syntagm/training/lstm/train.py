"""Training of a word-level LSTM as in Gulordava et al. 2018 and Hu et al. 2020 (PyTorch's word language model).

The text is one stream of words with eos after each sentence. It is cut into the columns of a batch; a remainder that
does not fill a row is dropped. Each step reads `window` words of all columns in parallel. The state is carried from
step to step; gradients stop at the beginning of the step. The default is plain SGD with a learning rate that is divided
by four after an epoch without improvement.

The held-out perplexity is computed over single sentences from a fresh state, with eos read first and the final eos
counted, because the model will score sentences in this way. (The papers score a stream.) It is per whitespace-separated
word, as for the other families.
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
    """Train an LSTM and write its folder, which `lstm:FOLDER` loads; making the same call again resumes interrupted training.

    Arguments:
        corpus: paths of the training text, as in `corpora.corpus.texts`.
        valid: paths of the held-out text, for the schedule and early stopping.
        folder: the folder for the model.
        settings: the settings of the model, its text and the loop.
        progress: progress callbacks.

    Returns:
        The history of evaluations; see `loop.fit`.
    """
    finished(folder, "lstm")
    # Check all paths before the training text is read, which may take long.
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
        self.stream = _stream(self.vocabulary.ids(sentence) for sentence in corpora.sentences(corpus, words.tokens))
        self.sentences = [[0, *self.vocabulary.ids(sentence), 0] for sentence in corpora.sentences(valid, words.tokens)]
        # Whitespace-separated words and sentence ends: Treebank words are more and would give another perplexity.
        self.words = sum(len(text.split()) + 1 for text in corpora.texts(valid))
        on_cpu = torch.device(settings.loop.device).type == "cpu"
        self.module: Network = Network(
            len(self.vocabulary), size.embedding, size.hidden, size.layers, size.dropout, size.tied,
            sparse=on_cpu and settings.loop.optimiser == "sgd",
        )  # fmt: skip
        self.module.to(settings.loop.device)
        self._softmax = Softmax(self.module.decoder, settings.loop.dtype == "bf16") if on_cpu else None
        self.record = {
            "corpus": corpora.record(corpus), "held_out": corpora.record(valid),
            "size": asdict(size), "text": asdict(words) | asdict(settings.steps),
            "vocabulary": len(self.vocabulary), "training_tokens": len(self.stream), "held_out_words": self.words,
        }  # fmt: skip

    def batches(self, epoch: int, rank: int, world: int) -> "Columns":
        """Return the steps of an epoch, from the beginning of the text to its end; they are the same in each epoch."""
        steps = self.settings.steps
        width = steps.batch * world
        rows = len(self.stream) // width
        columns = self.stream[: rows * width].reshape(width, rows).T
        return Columns(columns[:, rank * steps.batch : (rank + 1) * steps.batch], steps.window)

    def needs(self, world: int) -> tuple[str, str]:
        """Describe the words needed, two in each column: one to read and one to predict."""
        return f"{len(self.stream):,} words and sentence ends", f"{2 * self.settings.steps.batch * world:,}"

    def carried(self) -> dict[str, Tensor]:
        """Return the initial hidden and cell state: zeros."""
        return dict(zip(("hidden", "cell"), self.module.fresh(self.settings.steps.batch), strict=True))

    def loss(self, batch: Tensor, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Return the cross-entropy of each word given those before it in its column."""
        rows = batch.to(self.device)
        outputs, (hidden, cell) = self.module(rows[:-1], (carried["hidden"], carried["cell"]))
        flat, targets = outputs.flatten(0, 1), rows[1:].flatten()
        if self._softmax is not None:
            loss = self._softmax.loss(flat, targets)
        else:
            loss = torch.nn.functional.cross_entropy(self.module.decoder(flat), targets)
        return loss, len(targets), {"hidden": hidden.detach().float(), "cell": cell.detach().float()}

    def held_out(self) -> tuple[float, int]:
        """Score the held-out sentences one by one, like `models.lstm.model`; see `Learner.held_out`."""
        self.module.eval()
        nats = {index: float(each.sum()) for index, each in surprisals(self.module, self.sentences, HELD_OUT_WORDS)}
        # Add in the order of the text, so that the sum does not depend on the order of computation.
        return sum(nats[index] for index in range(len(self.sentences))), self.words

    def write(self, folder: Path) -> None:
        """Write the weights, the vocabulary, and the description that `models.lstm.model` reads."""
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.module.named_parameters()}
        atomic.write(folder / "model.safetensors", save(weights))
        self.vocabulary.write(folder / "vocabulary.txt")
        description = {
            "family": self.family,
            "format": FORMAT,
            **asdict(self.settings.size),
            "tokens": self.settings.words.tokens,
        }
        atomic.write(folder / "model.json", (json.dumps(description, indent=1) + "\n").encode())


@dataclass(frozen=True, slots=True)
class Columns(Sequence[Tensor]):
    """Steps through the columns of a text. Each step has `window` rows and the row after them; the last step may be shorter."""

    columns: NDArray[np.int32]
    window: int

    def __len__(self) -> int:
        return -(-max(0, len(self.columns) - 1) // self.window)

    def __getitem__(self, index: int) -> Tensor:  # type: ignore[override]
        first = range(len(self))[index] * self.window
        return torch.from_numpy(self.columns[first : first + self.window + 1].astype(np.int64))


def _stream(sentences: Iterable[Sequence[int]]) -> NDArray[np.int32]:
    """Concatenate all sentences, each followed by eos."""
    stream = array("i")
    for sentence in sentences:
        stream.extend(sentence)
        stream.append(0)
    return np.frombuffer(stream, np.int32)
