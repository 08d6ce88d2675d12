"""Recurrent neural network grammars, trained on trees by `syntagm train rnng` (Dyer et al. 2016; Hu et al. 2020).

The name is `rnng:FOLDER`, or just the folder, which contains `model.json`, `model.safetensors` and `vocabulary.txt`.

The surprisal of a word is found by a beam search over derivations (`search`). It is not that of the model's own
distribution: what the beam leaves out is lost. The actions between two words belong to the second one; the actions that
close the tree after the last word belong to the end symbol (`eos=yes`) or to none. A word that no derivation in the beam
can generate, and what follows it, have no surprisal (nan).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np
import torch

from syntagm.core import UsageError
from syntagm.models.answers import Surprisals
from syntagm.models.contract import LanguageModel
from syntagm.models.devices import checksum, device
from syntagm.models.rnng.family import FAMILY
from syntagm.models.rnng.grammar import PARTS, NetworkGrammar, RnngNetwork
from syntagm.models.rnng.search import OPEN, REDUCE, SHIFT, Reading, Sizes, search
from syntagm.models.words import weights
from syntagm.models.words.splitting import leaf, split, words
from syntagm.models.words.vocabulary import Vocabulary

SCORER = "rnng 1"
FORMAT = 1
# The beam that keeps derivations apart from those that already have the next word.
LARGEST_SHARE = 3
START, END = "the empty stack", "the closed tree"
_KEYS: weights.Keys = {
    **dict.fromkeys(("embedding", "hidden", "layers"), weights.is_size),
    "tied": weights.is_flag,
    "parts": lambda value: value in PARTS,
    "labels": weights.are_names,
}


class Rnng(LanguageModel):
    """An RNNG with its vocabulary and labels, created by `load`, or from a network."""

    can = frozenset(FAMILY.can)
    bos, exact = START, False

    def __init__(
        self, network: RnngNetwork, vocabulary: Vocabulary, labels: Sequence[str], tokens: str, label: str,
        options: Mapping[str, str],
    ) -> None:  # fmt: skip
        chosen = FAMILY.choose(options)
        self.network, self.vocabulary, self.labels = network.eval(), vocabulary, tuple(labels)
        self.name = FAMILY.canonical(label, options)
        self._tokens = tokens if chosen["tokens"] == "saved" else chosen["tokens"]
        self._batch = int(chosen["batch"])
        beam, word_beam, fast_track = (int(chosen[name]) for name in ("beam", "word_beam", "fast_track"))
        self.sizes = Sizes(beam, word_beam, fast_track, chosen["root"])
        self.warnings = tuple(_warnings({"word_beam": word_beam, "fast_track": fast_track}, beam))
        self.eos = END if chosen["eos"] == "yes" else None
        if self.eos and chosen["root"] == "mask":
            # The words alone have all of the probability, so ends in addition would have more than 1.
            found = "eos=yes with root=mask, which gives sentences no probability of ending"
            raise UsageError(f"model {self.name}", found, "root=drop", "Use root=drop, or leave the ends out.")
        self.settings = FAMILY.scoring_settings(chosen, tokens=self._tokens)
        digest = weights.digest(network)
        dependencies = [
            SCORER, digest, vocabulary.words, vocabulary.threshold, vocabulary.classes, self.labels, self.settings,
        ]  # fmt: skip
        self.fingerprint = hashlib.sha256(json.dumps(dependencies).encode()).hexdigest()
        self.record = {
            "architecture": "rnng",
            "weights": digest,
            "vocabulary": len(vocabulary),
            "unknown": vocabulary.classes,
            "labels": list(self.labels),
            "parts": network.parts,
            "options": dict(options),
            "device": str(network.word.weight.device),
            "torch": torch.__version__,
        }
        self._grammar = NetworkGrammar(network)

    def _weights_now(self) -> str:
        return checksum(self.network.state_dict().values())

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        divided = {text: words(text, self._tokens) for text in texts}
        readings = self._read({text: text_words for text, (text_words, _) in divided.items()}, texts, False, done)
        for text in texts:
            text_words, starts = divided[text]
            reading = readings[text]
            ending = [] if self.eos is None else [reading.closed]
            logs = np.concatenate([np.zeros(1), reading.masses, ending]) / np.log(2)
            with np.errstate(invalid="ignore"):
                bits = -np.diff(logs)
            bits[~np.isfinite(bits)] = np.nan
            in_vocabulary = np.array([self.vocabulary.known(word) for word in text_words], bool)
            if self.eos is not None:
                starts, in_vocabulary = np.append(starts, np.int32(len(text))), np.append(in_vocabulary, True)
            yield Surprisals(text, starts, bits, in_vocabulary)

    def parse(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[tuple[str, ...]]:
        divided = {text: split(text, self._tokens) for text in texts}
        readings = self._read(divided, texts, True, done)
        for text in texts:
            yield tuple(self._tree(actions, divided[text]) for actions in readings[text].best or ())

    def _read(
        self, divided: Mapping[str, list[str]], texts: Sequence[str], trees: bool, done: Callable[[int], None] | None
    ) -> dict[str, Reading]:
        """Search the derivations of each distinct text."""
        repeats = Counter(texts)
        ids = {text: self.vocabulary.ids(text_words) for text, text_words in divided.items()}
        # Neighbours in sorted order share the longest prefixes.
        ordered = sorted((text for text in ids if ids[text]), key=lambda text: ids[text])
        readings = {text: Reading(np.empty(0), [], -np.inf) for text in ids if not ids[text]}
        if done and readings:
            done(sum(repeats[text] for text in readings))
        for first in range(0, len(ordered), self._batch):
            batch = ordered[first : first + self._batch]
            found = search(self._grammar, [ids[text] for text in batch], self.sizes, trees, self.eos is not None)
            readings.update(zip(batch, found, strict=True))
            if done:
                done(sum(repeats[text] for text in batch))
        return readings

    def _tree(self, actions: Sequence[int], text_words: Sequence[str]) -> str:
        """Write a derivation as a bracketed tree; what is open at the end is closed."""
        remaining = iter(text_words)
        parts = []
        for action in actions:
            if action == SHIFT:
                parts.append(" " + leaf(next(remaining)))
            else:
                parts.append(")" if action == REDUCE else f" ({self.labels[action - OPEN]}")
        opened = [0, *accumulate((action >= OPEN) - (action == REDUCE) for action in actions)][-1]
        return "".join(parts).lstrip() + ")" * opened


def load(path: str, **options: str) -> Rnng:
    chosen = FAMILY.choose(options)
    stored = weights.stored(path, FAMILY.name, FORMAT, _KEYS, _build)
    stored.network.to(device(chosen["device"]))
    description = stored.description
    return Rnng(stored.network, stored.vocabulary, description["labels"], description["tokens"], stored.label, options)


def _build(description: weights.Description, vocabulary: Vocabulary) -> RnngNetwork:
    return RnngNetwork(
        len(vocabulary), len(description["labels"]), description["embedding"], description["hidden"],
        description["layers"], description["parts"], tied=description["tied"],
    )  # fmt: skip


def _warnings(sizes: Mapping[str, int], beam: int) -> Iterator[str]:
    for name, size in sizes.items():
        if size > beam / LARGEST_SHARE:
            yield (
                f"{name}={size} is more than a third of beam={beam}: the search for a word can end before it has tried to "
                f"close and open constituents, and the word then seems far too surprising; use beam={LARGEST_SHARE * size} "
                f"or more, or a smaller {name}"
            )
