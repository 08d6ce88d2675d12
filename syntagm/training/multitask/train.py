"""Training of an LSTM language model with a second task, tagging (Marvin & Linzen 2018).

Both tasks share embeddings and LSTM. The language model is trained as `training.lstm` does; the tagger predicts the tag of
each word when it has read this word. Tagged sentences are a second stream, with a state of its own, in columns and
windows of the same sizes. The sum of both held-out losses, in bits per word, decides which weights are best.

The vocabulary is that of the corpus, as for a language model without the second task; other words of the tagged text are
unknown.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from syntagm.core import InputError, lines
from syntagm.models import UNKNOWN, Multitask as MultitaskModel, MultitaskNetwork, RecurrentModel, tag
from syntagm.training import state
from syntagm.training.corpora import corpus as corpora, trees
from syntagm.training.multitask import categories
from syntagm.training.multitask.family import MultitaskSettings, tagged_files
from syntagm.training.recurrent import HELD_OUT_WORDS, Columns, RecurrentLearner

Tagged = list[tuple[str, str]]
AUTO = ".auto"
# Every `<L` begins a word; what does not continue in this way is a mistake.
_LEAF = re.compile(r"<L(?: ([^\s<>]+) [^\s<>]+ [^\s<>]+ (\S+) [^\s<>]+>)?")
_CURE = "Correct it, or remove its sentence."


def tagged_sentences(paths: Sequence[str | Path]) -> Iterator[Tagged]:
    # A file has one of these layouts; its lines are checked against that of its first one:
    #
    # * `word|tag word|tag`: a sentence per line;
    # * `word<TAB>tag`: a word per line, with an empty line between sentences;
    # * `.auto` files of CCGbank: a derivation per line after a line with its ID, in which `<L category tag tag word category>`
    #   is a word;
    # * files of Penn-style trees (`.trees`, `.ptb`, `.mrg`, `.parse`), whose words get simplified categories; see `categories`.
    for path in paths:
        lines.check(Path(path))
    for path in map(str, paths):
        empty = True
        for sentence in _sentences(path):
            empty = False
            yield sentence
        if empty:
            raise InputError(path, "no tagged words", "word|tag, word<TAB>tag, CCGbank's .auto files, or trees")


def _sentences(path: str) -> Iterator[Tagged]:
    plain = path.removesuffix(".gz")
    if plain.endswith(trees.SUFFIXES):
        for number, tree in enumerate(corpora.treebank([path]), 1):
            if sentence := categories.tagged(tree, f"{path}, tree {number}"):
                yield sentence
    elif plain.endswith(AUTO):
        yield from _derivations(path)
    else:
        first = next((line for _, line in lines.read(Path(path)) if line.strip()), "")
        yield from _columns(path) if "\t" in first else _rows(path)


def _rows(path: str) -> Iterator[Tagged]:
    """Read sentences of `word|tag`; a word may contain the sign, a tag may not."""
    for number, line in lines.read(Path(path)):
        sentence: Tagged = []
        for pair in line.split():
            word, _, tag = pair.rpartition("|")
            if not (word and tag):
                raise InputError(f"{path}, line {number}", repr(pair[:40]), "word|tag", _CURE)
            sentence.append((word, tag))
        if sentence:
            yield sentence


def _columns(path: str) -> Iterator[Tagged]:
    """Read a word and its tag per line."""
    sentence: Tagged = []
    for number, line in lines.read(Path(path)):
        if line.strip():
            word, *tags = line.split("\t")
            # Words are divided at white space, so a word with a space in it would get another tag's words.
            if len(tags) != 1 or [word, tags[0]] != line.split():
                raise InputError(f"{path}, line {number}", repr(line[:40]), "a word, a tab and a tag", _CURE)
            sentence.append((word, tags[0]))
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _derivations(path: str) -> Iterator[Tagged]:
    """Read the words of CCGbank's derivations."""
    for number, line in lines.read(Path(path)):
        if not line.strip() or line.startswith("ID="):
            continue
        place, leaves = f"{path}, line {number}", list(_LEAF.finditer(line))
        if not line.startswith("(") or not leaves:
            expected = "a line with ID=, or a derivation: (<T ...> (<L category tag tag word category>) ...)"
            raise InputError(place, repr(line[:40]), expected, _CURE)
        for leaf in leaves:
            if leaf[1] is None:
                found = repr(line[leaf.start() : leaf.start() + 40])
                raise InputError(place, found, "<L category tag tag word category>", _CURE)
        if (opened := line.count("(<")) != (closed := len(re.findall(r"\)(?= |$)", line))):
            found = f"{opened} opening and {closed} closing brackets"
            raise InputError(place, found, "as many closing as opening brackets", _CURE)
        yield [(leaf[2], leaf[1]) for leaf in leaves]


Encoded = tuple[list[int], list[int]]
_WORDS, _TAGS = "words.", "tags."


class Multitask(RecurrentLearner):
    """An LSTM with a second task in training."""

    model: ClassVar[type[RecurrentModel]] = MultitaskModel
    settings: MultitaskSettings
    module: MultitaskNetwork

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], settings: MultitaskSettings) -> None:
        files, held_out = tagged_files(settings.tagging, corpus, valid)
        sentences = list(tagged_sentences(files))
        self.tags = sorted({tag for sentence in sentences for _, tag in sentence})
        self._numbers = {tag: number for number, tag in enumerate(self.tags)}
        super().__init__(corpus, valid, settings)
        self._tagged = [np.array(part, np.int32) for part in self._streams(sentences)]
        self._held_out = [self._encoded(sentence) for sentence in tagged_sentences(held_out)]
        self.record |= {
            "tagging": asdict(settings.tagging) | {"tags": corpora.record(files), "valid_tags": corpora.record(held_out)},
            "tags": len(self.tags), "tagged_words": sum(map(len, sentences)),
            "held_out_tagged_words": sum(len(words) for words, _ in self._held_out),
        }  # fmt: skip

    def network(self, on_cpu: bool) -> MultitaskNetwork:
        size, words, head = self.settings.size, len(self.vocabulary), self.settings.tagging.head
        if head == "shared" and len(self.tags) > words:
            found, cure = f"{len(self.tags):,} tags for {words:,} words", "Use --head linear, or more text."
            raise InputError("head", found, "no more tags than words, which share an output layer", cure)
        return MultitaskNetwork(
            words, size.embedding, size.hidden, size.layers, self.tags, head, size.dropout, size.tied,
            sparse=on_cpu and head == "linear" and self.settings.loop.optimiser == "sgd",
        )  # fmt: skip

    def description(self) -> dict[str, object]:
        return asdict(self.settings.size) | {"head": self.settings.tagging.head, "tags": self.tags}

    def batches(self, epoch: int, rank: int, world: int) -> "Windows":
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

    def _streams(self, sentences: Sequence[Tagged]) -> tuple[list[int], list[int]]:
        """Concatenate the words of all sentences, each followed by eos, and their tags."""
        words: list[int] = []
        tags: list[int] = []
        for sentence in sentences:
            ids, numbers = self._encoded(sentence)
            words += [*ids, 0]
            tags += [*numbers, UNKNOWN]
        return words, tags

    def _encoded(self, sentence: Tagged) -> Encoded:
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
