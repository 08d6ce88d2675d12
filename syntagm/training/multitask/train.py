"""Training of an LSTM language model with a second task, tagging (Marvin & Linzen 2018).

Both tasks share embeddings and LSTM. The language model is trained as `training.lstm` does; the tagger predicts the tag of
each word when it has read this word. Tagged sentences are a second stream, with a state of its own, in columns and
windows of the same sizes. The sum of both held-out losses, in bits per word, decides which weights are best.

The vocabulary is that of the corpus, as for a language model without the second task; other words of the tagged text are
unknown.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from syntagm import models
from syntagm.core import InputError
from syntagm.models import UNKNOWN, MultitaskNetwork, RecurrentModel, tag
from syntagm.training import state
from syntagm.training.corpora import corpus as corpora
from syntagm.training.multitask import tagged
from syntagm.training.multitask.settings import MultitaskSettings
from syntagm.training.recurrent.learner import HELD_OUT_WORDS, Columns, RecurrentLearner

Encoded = tuple[list[int], list[int]]
_WORDS, _TAGS = "words.", "tags."


class Multitask(RecurrentLearner):
    """An LSTM with a second task in training."""

    model: ClassVar[type[RecurrentModel]] = models.Multitask
    settings: MultitaskSettings
    module: MultitaskNetwork

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], settings: MultitaskSettings) -> None:
        files, held_out = tagged.files(settings.tagging, corpus, valid)
        sentences = list(tagged.sentences(files))
        self.tags = sorted({tag for sentence in sentences for _, tag in sentence})
        self._numbers = {tag: number for number, tag in enumerate(self.tags)}
        super().__init__(corpus, valid, settings)
        self._tagged = [np.array(part, np.int32) for part in self._streams(sentences)]
        self._held_out = [self._encoded(sentence) for sentence in tagged.sentences(held_out)]
        self.record |= {
            "tagging": asdict(settings.tagging) | {"tags": corpora.record(files), "valid_tags": corpora.record(held_out)},
            "tags": len(self.tags), "tagged_words": sum(map(len, sentences)),
            "held_out_tagged_words": sum(len(words) for words, _ in self._held_out),
        }  # fmt: skip

    def network(self, on_cpu: bool) -> MultitaskNetwork:
        """Build the network for the vocabulary and the tags."""
        size, words, head = self.settings.size, len(self.vocabulary), self.settings.tagging.head
        if head == "shared" and len(self.tags) > words:
            found, cure = f"{len(self.tags):,} tags for {words:,} words", "Use --head linear, or more text."
            raise InputError("head", found, "no more tags than words, which share an output layer", cure)
        return MultitaskNetwork(
            words, size.embedding, size.hidden, size.layers, self.tags, head, size.dropout, size.tied,
            sparse=on_cpu and head == "linear" and self.settings.loop.optimiser == "sgd",
        )  # fmt: skip

    def description(self) -> dict[str, object]:
        """Return the size of the network, its head and its tags."""
        return asdict(self.settings.size) | {"head": self.settings.tagging.head, "tags": self.tags}

    def batches(self, epoch: int, rank: int, world: int) -> "Windows":
        """Return the steps of an epoch; see `Learner.batches`."""
        texts, words, tags = (self.columns(stream, epoch, rank, world) for stream in (self.stream, *self._tagged))
        steps: list[tuple[int | None, int | None]]
        if self.settings.tagging.mixing == "equal":
            # The tagged text goes on where it stopped in the last epoch.
            first = epoch * len(texts)
            steps = [(index, (first + index) % len(words) if len(words) else None) for index in range(len(texts))]
        else:
            order = np.random.default_rng((self.settings.loop.seed, epoch)).permutation(len(texts) + len(words))
            steps, read = [], [0, 0]
            for step in order:
                of_tags = int(step >= len(texts))
                steps.append((None, read[1]) if of_tags else (read[0], None))
                read[of_tags] += 1
        return Windows(texts, words, tags, steps)

    def needs(self, world: int) -> tuple[str, str]:
        """Describe the words needed in both texts, two in each column."""
        has, needed = super().needs(world)
        return f"{has}, and {len(self._tagged[0]):,} tagged ones", needed

    def carried(self) -> dict[str, Tensor]:
        """Return the initial states of both texts: zeros."""
        fresh = super().carried()
        return {prefix + name: part for prefix in (_WORDS, _TAGS) for name, part in fresh.items()}

    def loss(self, batch: "Window", carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:  # type: ignore[override]
        """Return the sum of the losses of the texts in a step; see `Learner.loss`."""
        total, tokens, after = torch.zeros((), device=self.device), 0, dict(carried)
        if batch.text is not None:
            loss, tokens, states = super().loss(batch.text, state.part(carried, _WORDS))
            total, after = total + loss, after | {_WORDS + name: part for name, part in states.items()}
        if batch.words is not None and batch.tags is not None:
            words, tags = batch.words[:-1].to(self.device), batch.tags[:-1].flatten().to(self.device)
            before = state.part(carried, _TAGS)
            outputs, states_after = self.module(words, tuple(before[name] for name in sorted(before)))
            # The end of a sentence has no tag.
            places = (tags != UNKNOWN).nonzero()[:, 0]
            if len(places):
                logits = self.module.tag_logits(outputs.flatten(0, 1)[places])
                total = total + self.settings.tagging.tag_weight * cross_entropy(logits, tags[places])
            after |= {
                _TAGS + name: part.detach().float() for name, part in zip(sorted(before), states_after, strict=True)
            }
            tokens = tokens or len(tags)
        return total, tokens, after

    def judged(self, bits: float) -> tuple[float, dict[str, float]]:
        """Tag the held-out sentences: return the sum of both losses in bits per word, and the tagging accuracy."""
        nats, correct, words, known = 0.0, 0, 0, 0
        found = dict(tag(self.module.eval(), self._held_out, len(self.tags), HELD_OUT_WORDS))
        # In the order of the text, so that the sum does not depend on the order of computation.
        for index, (_, given) in enumerate(self._held_out):
            nats += float(np.nansum(found[index].nats))
            correct += int((found[index].best == given).sum())
            words, known = words + len(given), known + int((~np.isnan(found[index].nats)).sum())
        of_tags = nats / max(1, known) / float(np.log(2))
        more = {"tag_bits": of_tags, "tag_accuracy": correct / max(1, words)}
        return bits + self.settings.tagging.tag_weight * of_tags, more

    def _streams(self, sentences: Sequence[tagged.Tagged]) -> tuple[list[int], list[int]]:
        """Concatenate the words of all sentences, each followed by eos, and their tags."""
        words: list[int] = []
        tags: list[int] = []
        for sentence in sentences:
            ids, numbers = self._encoded(sentence)
            words += [*ids, 0]
            tags += [*numbers, UNKNOWN]
        return words, tags

    def _encoded(self, sentence: tagged.Tagged) -> Encoded:
        tags = [self._numbers.get(tag, UNKNOWN) for _, tag in sentence]
        return self.vocabulary.ids([word for word, _ in sentence]), tags


@dataclass(frozen=True, slots=True)
class Window:
    """A step: a window of the text, a window of the tagged text, or both."""

    text: Tensor | None
    words: Tensor | None
    tags: Tensor | None


@dataclass(frozen=True, slots=True)
class Windows(Sequence[Window]):
    """The steps of an epoch."""

    texts: Columns  # the windows of the text
    words: Columns  # `words`, `tags`: the windows of the tagged text
    tags: Columns
    # The index of the window of each text in a step; None if the step has none.
    steps: Sequence[tuple[int | None, int | None]]

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> Window:  # type: ignore[override]
        text, tagged = self.steps[index]
        return Window(
            None if text is None else self.texts[text],
            None if tagged is None else self.words[tagged],
            None if tagged is None else self.tags[tagged],
        )


train = Multitask.train
