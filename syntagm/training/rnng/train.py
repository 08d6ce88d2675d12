"""Training of an RNNG on trees, as in Dyer et al. 2016 and Hu et al. 2020, but in batches.

The objective is the likelihood of the actions and words of each tree. The probability of an action is a softmax over the
actions that are valid before it, as in the search. Each epoch reads all trees in a random order, in batches of trees of
similar length.

Held-out trees are evaluated in the same way: the perplexity is that of the words together with their trees, per word and
sentence end. That of the words alone is lower; `syntagm perplexity` estimates it by the search.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from syntagm.core import InputError, Progress, atomic
from syntagm.models import FORMAT, RnngNetwork, vocabulary
from syntagm.training.corpora import corpus as corpora
from syntagm.training.loop import Learner, fit
from syntagm.training.record import finished
from syntagm.training.recurrent import OnePass
from syntagm.training.rnng import oracle
from syntagm.training.rnng.batch import Batch, batch, nats
from syntagm.training.rnng.family import RnngSettings
from syntagm.training.rnng.oracle import Derivation, Encoded, Ints
from syntagm.training.statistics import statistics

# Batches whose trees are sorted by length together.
SORTED = 50


def train(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: RnngSettings, progress: Progress | None = None
) -> list[dict[str, float]]:
    """Train an RNNG and write its folder, which `rnng:FOLDER` loads; making the same call again resumes interrupted training."""
    finished(folder, "rnng")
    # Check all paths before the training trees are read, which may take long.
    corpora.files([*corpus, *valid])
    torch.manual_seed(settings.loop.seed)
    return fit(Rnng(corpus, valid, settings), settings.loop, folder, progress)


class Rnng(Learner):
    family = "rnng"

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], settings: RnngSettings) -> None:
        self.settings, size, words = settings, settings.size, settings.words
        trees, held_out = _derivations(corpus), _derivations(valid)
        self.vocabulary = vocabulary.build(
            (tree.words for tree in trees), words.threshold, words.classes, " ".join(map(str, corpus)), words.vocabulary
        )
        self.labels = oracle.labels(trees)
        self.trees = [oracle.encoded(tree, self.vocabulary, self.labels) for tree in trees]
        self.held_out_trees = [oracle.encoded(tree, self.vocabulary, self.labels) for tree in held_out]
        self.words = sum(len(tree.words) + 1 for tree in held_out)
        self.statistics = statistics(
            self.vocabulary, len(trees), sum(len(tree.words) for tree in trees), (tree.words for tree in held_out)
        )
        self.module: RnngNetwork = RnngNetwork(
            len(self.vocabulary), len(self.labels), size.embedding, size.hidden, size.layers, settings.parts, size.dropout,
            size.tied,
        )  # fmt: skip
        self.module.to(settings.loop.device)
        on_cpu = torch.device(settings.loop.device).type == "cpu"
        self._softmax = OnePass(self.module.word, settings.loop.dtype == "bf16") if on_cpu else None
        self.record = {
            "corpus": corpora.record(corpus), "held_out": corpora.record(valid),
            "size": asdict(size) | {"parts": settings.parts}, "text": asdict(words) | asdict(settings.steps),
            "vocabulary": len(self.vocabulary), "labels": len(self.labels), "training_trees": len(trees),
            "training_words": sum(len(tree.words) for tree in trees), "held_out_words": self.words,
        }  # fmt: skip

    def batches(self, epoch: int, rank: int, world: int) -> "Batches":
        size = self.settings.steps.batch * world
        random = np.random.default_rng((self.settings.loop.seed, epoch))
        shuffled = random.permutation(len(self.trees))
        lengths = np.array([len(tree.actions) for tree in self.trees])
        groups = []
        for first in range(0, len(shuffled), SORTED * size):
            part = shuffled[first : first + SORTED * size]
            part = part[np.argsort(lengths[part], kind="stable")]
            groups += [part[start : start + size] for start in range(0, len(part), size)]
        # Each process needs a tree.
        groups = [group[rank::world] for group in groups if len(group) >= world]
        order = random.permutation(len(groups))
        return Batches(self.trees, [groups[number] for number in order], len(self.labels), self.device)

    def needs(self, world: int) -> tuple[str, str]:
        """Return the number of trees, and the smallest number for a batch; see `Learner.needs`."""
        return f"{len(self.trees):,} trees", f"{world:,}"

    def loss(self, batch: Batch, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Return the mean loss per word, with its share of actions; see `Learner.loss`."""
        of_actions, of_words = nats(self.module, batch, self._softmax)
        return (of_actions + of_words) / len(batch.words), len(batch.words), {}

    @torch.no_grad()
    def held_out(self) -> tuple[float, int]:
        self.module.eval()
        size = self.settings.steps.batch
        order = sorted(range(len(self.held_out_trees)), key=lambda index: len(self.held_out_trees[index].actions))
        groups = [np.array(order[first : first + size]) for first in range(0, len(order), size)]
        batches = Batches(self.held_out_trees, groups, len(self.labels), self.device)
        return sum(float(sum(nats(self.module, batches[index], None))) for index in range(len(batches))), self.words

    def write(self, folder: Path) -> None:
        """Write the weights, the vocabulary, and the description that `models.rnng.model` reads."""
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.module.named_parameters()}
        atomic.write(folder / "model.safetensors", save(weights))
        self.vocabulary.write(folder / "vocabulary.txt")
        size = asdict(self.settings.size) | {"parts": self.settings.parts}
        tokens = self.settings.words.tokens
        description = {"family": self.family, "format": FORMAT, **size, "labels": self.labels, "tokens": tokens}
        atomic.write(folder / "model.json", (json.dumps(description, indent=1) + "\n").encode())


@dataclass(frozen=True, slots=True)
class Batches(Sequence[Batch]):
    """Batches of trees, built when they are used."""

    trees: Sequence[Encoded]
    groups: Sequence[Ints]  # the trees of each batch
    labels: int  # the number of labels
    device: torch.device  # the device of the network

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, index: int) -> Batch:  # type: ignore[override]
        return batch([self.trees[number] for number in self.groups[index]], self.labels).to(self.device)

    def __iter__(self) -> Iterator[Batch]:
        return (self[index] for index in range(len(self)))


def _derivations(paths: Sequence[str]) -> list[Derivation]:
    found = list(oracle.derivations(paths))
    if not found:
        raise InputError(" ".join(map(str, paths)), "no tree with a word", "bracketed trees of sentences")
    return found
