"""Training of word-level recurrent networks on a stream of words, as in PyTorch's word language model.

The text is one stream of words with eos after each sentence. It is cut into the columns of a batch; a remainder that
does not fill a row is dropped. Each step reads a window of words of all columns in parallel. The state is carried
from step to step; gradients stop at the beginning of the step.

The held-out perplexity is computed over single sentences from a fresh state, with eos read first and the final eos
counted, because the model will score sentences in this way. (The papers score a stream.) It is per
whitespace-separated word, as for the other families.
"""

import json
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor, nn

from syntagm.core import Progress, UsageError, atomic
from syntagm.models import Network, RecurrentModel, State, surprisals, vocabulary
from syntagm.training.corpora import corpus as corpora
from syntagm.training.loop import Learner, fit
from syntagm.training.lstm.family import Steps
from syntagm.training.record import finished
from syntagm.training.settings import Settings, Words
from syntagm.training.statistics import statistics

# Rows at a time: few enough that their numbers stay in the CPU's cache.
ROWS = 256
# Probabilities below this are close to denormal numbers, or 0.
SMALL = 1e-30
HELD_OUT_WORDS = 8192


class RecurrentSettings(Protocol):
    """The settings of a family of recurrent networks."""

    @property
    def size(self) -> Any:
        """The size of the model, a dataclass; it is recorded."""

    @property
    def words(self) -> Words:
        """The settings for turning text into words."""

    @property
    def steps(self) -> Steps:
        """The division of the words into training steps."""

    @property
    def loop(self) -> Settings:
        """The settings of the training loop."""


class RecurrentLearner(Learner, ABC):
    """A recurrent network in training."""

    model: ClassVar[type[RecurrentModel]]  # the class of the trained model, which reads the folder
    module: Network

    @classmethod
    def train(
        cls,
        corpus: Sequence[str],
        valid: Sequence[str],
        folder: Path,
        settings: Any,
        progress: Progress | None = None,
    ) -> list[dict[str, float]]:
        """Train a network and write its folder; making the same call again resumes interrupted training."""
        finished(folder, cls.model.family.name)
        # Check all paths before the training text is read, which may take long.
        corpora.files([*corpus, *valid])
        torch.manual_seed(settings.loop.seed)
        return fit(cls(corpus, valid, settings), settings.loop, folder, progress)

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], settings: RecurrentSettings) -> None:
        self.family = self.model.family.name
        self.settings, words = settings, settings.words
        texts = corpora.sentences(corpus, words.tokens)
        self.vocabulary = vocabulary.build(
            texts, words.threshold, words.classes, " ".join(map(str, corpus)), words.vocabulary
        )
        self.stream = _stream(self.vocabulary.ids(sentence) for sentence in corpora.sentences(corpus, words.tokens))
        held_out = list(corpora.sentences(valid, words.tokens))
        self.sentences = [[0, *self.vocabulary.ids(sentence), 0] for sentence in held_out]
        sentences = int(np.count_nonzero(self.stream == 0))
        self.statistics = statistics(self.vocabulary, sentences, len(self.stream) - sentences, held_out)
        # Whitespace-separated words and sentence ends: Treebank words are more and would give another perplexity.
        self.words = sum(len(text.split()) + 1 for text in corpora.texts(valid))
        on_cpu = torch.device(settings.loop.device).type == "cpu"
        self.module = self.network(on_cpu)
        self.module.to(settings.loop.device)
        layer = self.module.decoder.plain if on_cpu else None
        self._loss = OnePass(layer, settings.loop.dtype == "bf16").loss if layer else self.module.decoder.loss
        self.record = {
            "corpus": corpora.record(corpus), "held_out": corpora.record(valid),
            "size": asdict(settings.size), "text": asdict(words) | asdict(settings.steps),
            "vocabulary": len(self.vocabulary), "training_tokens": len(self.stream), "held_out_words": self.words,
        }  # fmt: skip

    @abstractmethod
    def network(self, on_cpu: bool) -> Network:
        """Build the network for the vocabulary."""

    def starts(self, rows: int, epoch: int) -> Sequence[int]:
        """Return the first row of each step through columns of `rows` words: every `window` rows, unless overridden."""
        return range(0, rows - 1, self.settings.steps.window)

    def description(self) -> dict[str, object]:
        """Return what `model.json` says of the network: its size, unless overridden. It has the keys of the model."""
        return asdict(self.settings.size)

    def batches(self, epoch: int, rank: int, world: int) -> Sequence[Any]:
        """Return the steps of an epoch, from the beginning of the text to its end."""
        return self.columns(self.stream, epoch, rank, world)

    def columns(self, stream: NDArray[np.int32], epoch: int, rank: int, world: int) -> "Columns":
        """Cut a stream into the columns of a batch, and return the steps through those of one process."""
        batch = self.settings.steps.batch
        width = batch * world
        rows = len(stream) // width
        columns = stream[: rows * width].reshape(width, rows).T
        return Columns(columns[:, rank * batch : (rank + 1) * batch], self.starts(rows, epoch))

    def needs(self, world: int) -> tuple[str, str]:
        """Describe the words needed, two in each column: one to read and one to predict."""
        return f"{len(self.stream):,} words and sentence ends", f"{2 * self.settings.steps.batch * world:,}"

    def carried(self) -> dict[str, Tensor]:
        """Return the initial state of the network: zeros."""
        return _named(self.module.fresh(self.settings.steps.batch))

    def loss(self, batch: Tensor, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Return the cross-entropy of each word given those before it in its column, and what `objective` adds."""
        rows = batch.to(self.device)
        outputs, added, state = self.outputs(rows[:-1], tuple(carried[name] for name in sorted(carried)))
        flat, targets = outputs.flatten(0, 1), rows[1:].flatten()
        return self._loss(flat, targets) + added, len(targets), _named(state)

    def outputs(self, ids: Tensor, state: State) -> tuple[Tensor, Tensor | float, State]:
        """Return the inputs of the output layer, a term to add to the loss, and the state after the last step."""
        outputs, state = self.module(ids, state)
        return outputs, 0.0, state

    def held_out(self) -> tuple[float, int]:
        """Score the held-out sentences one by one, like `models.recurrent.model`; see `Learner.held_out`."""
        self.module.eval()
        nats = {index: float(each.sum()) for index, each in surprisals(self.module, self.sentences, HELD_OUT_WORDS)}
        # Add in the order of the text, so that the sum does not depend on the order of computation.
        return sum(nats[index] for index in range(len(self.sentences))), self.words

    def write(self, folder: Path) -> None:
        """Write the weights, the vocabulary, and the description that the model family reads."""
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.module.stored().items()}
        atomic.write(folder / "model.safetensors", save(weights))
        self.vocabulary.write(folder / "vocabulary.txt")
        description = {"family": self.family, "format": self.model.format, **self.description()}
        description |= {"tokens": self.settings.words.tokens}
        atomic.write(folder / "model.json", (json.dumps(description, indent=1) + "\n").encode())


@dataclass(frozen=True, slots=True)
class Columns(Sequence[Tensor]):
    """Steps through the columns of a text. Each step has the rows from its first one to that of the next step."""

    columns: NDArray[np.int32]  # word ids
    starts: Sequence[int]  # the first row of each step

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> Tensor:  # type: ignore[override]
        first = self.starts[index]
        end = self.starts[index + 1] if index + 1 < len(self) else len(self.columns) - 1
        return torch.from_numpy(self.columns[first : end + 1].astype(np.int64))


def _named(state: State) -> dict[str, Tensor]:
    """Return a state by the names of its parts in a saved one, whose order is that of the parts."""
    return {f"{index:03d}": part.detach().float() for index, part in enumerate(state)}


def _stream(sentences: Iterable[Sequence[int]]) -> NDArray[np.int32]:
    """Concatenate all sentences, each followed by eos."""
    stream = array("i")
    for sentence in sentences:
        stream.extend(sentence)
        stream.append(0)
    return np.frombuffer(stream, np.int32)


class OnePass:
    """The loss of an output layer on a CPU: loss and gradients in one pass, in preallocated memory."""

    # With a plain linear layer and `cross_entropy`, about half the time of a step is spent on allocating memory for the
    # logits, their log-softmax and both gradients, each with a number for every token and every word of the vocabulary.
    # Here, a few rows at a time go through one buffer, in which logits become probabilities p. The targets are subtracted
    # afterwards, in arrays as wide as the hidden layer. For N tokens with hidden states h, targets t and weights W, the
    # gradients are
    #
    #     of W:  p' h / N, minus h / N in the rows t;     of h:  (p W - W[t]) / N
    #
    # This is the same computation in a different order, so the results are equal up to rounding.
    #
    # The gradients of the layer's weights are written directly to `grad`, in memory that is reused for each batch.

    def __init__(self, layer: nn.Linear, rounded: bool = False) -> None:
        if rounded:
            _precision()
        self.layer, self._rounded = layer, rounded
        self._gradients = torch.empty_like(layer.weight), torch.empty_like(layer.bias)
        self._buffer = torch.empty(ROWS, len(layer.bias))

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Compute the mean surprisal of the targets in nats."""
        apply: Any = _Loss.apply
        loss: Tensor = apply(hidden, targets, self)
        return loss

    def compute(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss and its gradient with respect to `hidden`; store the gradients of the layer for `give`."""
        if not self._rounded:
            return self._compute(hidden.float(), targets)
        matmul = _precision()
        precision, matmul.fp32_precision = matmul.fp32_precision, "bf16"
        try:
            return self._compute(hidden.float(), targets)
        finally:
            matmul.fp32_precision = precision

    def _compute(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        (weight, bias), share = (self.layer.weight, self.layer.bias), 1 / len(targets)
        of_weight, of_bias = self._gradients
        of_hidden, loss = torch.empty_like(hidden), 0.0
        for first in range(0, len(targets), ROWS):
            rows, row_targets = hidden[first : first + ROWS], targets[first : first + ROWS]
            buffer = torch.addmm(bias, rows, weight.T, out=self._buffer[: len(rows)])
            torch.softmax(buffer, 1, out=buffer)
            loss += self._nats(rows, row_targets, buffer) * share
            kept = 1.0 if first else 0.0
            torch.addmm(of_weight, buffer.T, rows, beta=kept, alpha=share, out=of_weight)
            torch.addmv(of_bias, buffer.T, torch.full((len(rows),), share), beta=kept, out=of_bias)
            torch.mm(buffer, weight, out=of_hidden[first : first + ROWS]).mul_(share)
        of_weight.index_add_(0, targets, hidden, alpha=-share)
        of_bias.index_add_(0, targets, torch.ones(len(targets)), alpha=-share)
        return torch.tensor(loss), of_hidden.sub_(weight[targets], alpha=share)

    def _nats(self, hidden: Tensor, targets: Tensor, probabilities: Tensor) -> float:
        """Return the sum of the surprisals of some targets."""
        chosen = probabilities.gather(1, targets[:, None])[:, 0]
        # These have lost digits or are 0. They are rare, so they are computed again from the logits.
        small = chosen < SMALL
        nats = -float(chosen[~small].double().log().sum())
        if small.any():
            logits = torch.nn.functional.linear(hidden[small], self.layer.weight, self.layer.bias)
            nats += float(torch.nn.functional.cross_entropy(logits, targets[small], reduction="sum"))
        return nats

    def give(self, factor: Tensor) -> None:
        """Multiply the stored gradients by `factor`, and add them to the gradients of the layer."""
        for parameter, gradient in zip((self.layer.weight, self.layer.bias), self._gradients, strict=True):
            if factor != 1:
                gradient *= factor
            if parameter.grad is None:
                parameter.grad = gradient
            else:
                parameter.grad += gradient


def _precision() -> Any:
    """Return the part of PyTorch that sets the precision of products on a CPU."""
    matmul = getattr(torch.backends.mkldnn, "matmul", None)
    if matmul is None:
        found, expected = f"PyTorch {torch.__version__}", "2.9 or newer, which can multiply in bfloat16 here"
        raise UsageError("--dtype bf16", found, expected, "Use --dtype f32, or a newer PyTorch.")
    return matmul


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, hidden: Tensor, targets: Tensor, softmax: OnePass) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            loss, gradient = softmax.compute(hidden.detach(), targets)
        context.softmax, context.kind = softmax, hidden.dtype
        context.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(context: Any, *factors: Tensor) -> tuple[Tensor, None, None]:
        [factor], [gradient] = factors, context.saved_tensors
        context.softmax.give(factor)
        return (gradient * factor).to(context.kind), None, None
