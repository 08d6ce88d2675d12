"""N-gram models: folders written by `syntagm train ngram`, ARPA files and KenLM's binary files.

Names: `ngram:FOLDER`, `ngram:FILE.arpa`, `ngram:FILE.arpa.gz`, `ngram:FILE.binary` (needs the package kenlm: `pip install
syntagm[kenlm]`). Each text is scored after `<s>`.

Words that are not in the vocabulary are marked as unknown. The same word after the same history always has exactly the same
surprisal.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError, extras, hashing, regular
from syntagm.models.answers import Surprisals
from syntagm.models.contract import unable
from syntagm.models.family import choice
from syntagm.models.ngram import arpa, folder
from syntagm.models.ngram.family import FAMILY
from syntagm.models.ngram.ngrams import END, START, UNKNOWN, Ngrams
from syntagm.models.ngram.scorer import Tokenisation, WordModel
from syntagm.models.rank import likeliest, reduce
from syntagm.models.words.splitting import unsplit
from syntagm.models.words.vocabulary import Vocabulary

_KEPT = 32
_NEW = -1
_ROOM = 500_000


class BackOff(WordModel):
    """An n-gram model with its vocabulary, created by `ngram.load`."""

    def __init__(
        self, ngrams: Ngrams, vocabulary: Vocabulary, name: str, digest: str, tokenisation: Tokenisation
    ) -> None:
        super().__init__(ngrams.order, name, tokenisation)
        self.ngrams, self.vocabulary = ngrams, vocabulary
        self._numbers = self._word_ids()
        self._room = len(self._numbers) + _ROOM
        self._distributions: dict[tuple[int, ...], tuple[NDArray[np.float64], ...]] = {}
        self._identify("ngram 1", digest, vocabulary.classes)
        self.record = {
            "order": ngrams.order,
            "ngrams": [len(values) for values in ngrams.probabilities],
            "vocabulary": len(vocabulary),
            "threshold": vocabulary.threshold,
            "classes": vocabulary.classes,
            "hash": digest,
        }

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute surprisals, entropies and ranks; see `LanguageModel.reduce`. Each distinct history is computed once."""
        return self._scored(texts, done, self.reductions)

    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of words in sentences; see `WordModel.logs`."""
        text, in_vocabulary = self._ids(words)
        return self.ngrams.logs(text), in_vocabulary

    def reductions(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the entropy before each word in bits, and its rank; shape (2, words), nan at start symbols."""
        text, _ = self._ids(words)
        ids, begin = text.tolist(), 0
        places: dict[tuple[int, ...], list[int]] = {}
        for place, number in enumerate(ids):
            if number == self.ngrams.start:
                begin = place
            else:
                places.setdefault(tuple(ids[max(begin, place - self.memory) : place]), []).append(place)
        reduced = np.full((2, len(words)), np.nan)
        for history, at in places.items():
            logs = self.ngrams.distribution(np.array(history, np.int32))
            reduced[0, at], reduced[1, at] = reduce(logs * np.log(10), text[at].astype(np.int64))
        return reduced

    def _ids(self, words: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the ids of words and of start and end symbols, and whether each is in the vocabulary."""
        ids = np.fromiter(map(self._numbers.get, words, repeat(_NEW)), np.int32, len(words))
        for place in np.flatnonzero(ids == _NEW).tolist():
            ids[place] = self._unknown(words[place])
        in_vocabulary = ids >= 0
        return np.where(in_vocabulary, ids, _NEW - 1 - ids), in_vocabulary

    def _unknown(self, word: str) -> int:
        """Return an id below `_NEW` that encodes the class of an unknown word, and cache it like those of other words."""
        if word not in self._numbers:
            if len(self._numbers) >= self._room:
                self._numbers = self._word_ids()
            self._numbers[word] = _NEW - 1 - self.vocabulary.ids([word])[0]
        return self._numbers[word]

    def _word_ids(self) -> dict[str, int]:
        word_ids = {word: number for number, word in enumerate(self.vocabulary.words) if self.vocabulary.known(word)}
        return word_ids | {END: 0, START: self.ngrams.start}

    def after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of possible next words; see `WordModel.after`."""
        ids, in_vocabulary = self._ids([START, *before, *words])
        begin = len(before) + 1
        history, targets = ids[:begin][-self.memory :], ids[begin:]
        logs, ranked, sums = self._distribution(tuple(history.tolist()))
        own = logs[targets]
        first, after = np.searchsorted(ranked, -own), np.searchsorted(ranked, -own, "right")
        return np.stack([own, sums[first], sums[-1] - sums[after]]), in_vocabulary[begin:]

    def best(self, before: Sequence[str], count: int) -> list[tuple[str, bool, float]]:
        """Return the likeliest next words; see `WordModel.best`."""
        history = self._ids([START, *before])[0][-self.memory :]
        logs, _, _ = self._distribution(tuple(history.tolist()))
        words = self.vocabulary.words
        return [
            (words[number], self.vocabulary.known(words[number]), float(logs[number]))
            for number in likeliest(logs, count).tolist()
        ]

    def _distribution(self, history: tuple[int, ...]) -> tuple[NDArray[np.float64], ...]:
        """Return log10 p of all words, the same negated and sorted, and the cumulative sums of these probabilities."""
        if history not in self._distributions:
            if len(self._distributions) >= _KEPT:
                self._distributions.clear()
            logs = self.ngrams.distribution(np.array(history, np.int32))
            ranked = np.sort(-logs)
            sums = np.concatenate([[0.0], np.cumsum(10.0**-ranked)])
            self._distributions[history] = (logs, ranked, sums)
        return self._distributions[history]


_MAGIC = b"mmap lm http://kheafield.com/code"
# The package takes words as C strings in UTF-8: it would cut a word at a NUL, and can't encode lone surrogates.
_UNSPELLED = re.compile("[\0\ud800-\udfff]")
# The log10 p that build_binary gives to the unknown word if the ARPA file has none.
_NO_UNKNOWN = -100.0


def is_binary(path: Path) -> bool:
    """Return whether a file is one of KenLM's binary files."""
    with contextlib.suppress(OSError), regular.opened(path) as file:
        return file.read(len(_MAGIC)) == _MAGIC
    return False


class KenLM(WordModel):
    """A model in a KenLM binary file, created by `ngram.load`."""

    # The words of a binary can't be listed.
    can = frozenset(FAMILY.can) - {"best", "reduce"}

    def __init__(self, path: Path, name: str, digest: str, tokenisation: Tokenisation) -> None:
        self._model = _opened(path)
        super().__init__(int(self._model.order), name, tokenisation)
        self._impossible = self._model.score(UNKNOWN, bos=False, eos=False) == _NO_UNKNOWN
        self._identify("kenlm 1", digest, "none")
        self.record = {"order": self._model.order, "hash": digest, "kenlm": metadata.version("kenlm")}

    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of words in sentences; see `WordModel.logs`."""
        logs, in_vocabulary = np.full(len(words), np.nan), np.ones(len(words), bool)
        borders = [place for place, word in enumerate(words) if word == START]
        for begin, end in pairwise([*borders, len(words)]):
            sentence = " ".join(map(_word_or_unknown, words[begin + 1 : end - 1]))
            for place, (log, _, unknown) in enumerate(self._model.full_scores(sentence, bos=True, eos=True), begin + 1):
                logs[place], in_vocabulary[place] = log, not unknown
        return self._possible(logs, in_vocabulary), in_vocabulary

    def _possible(self, logs: NDArray[np.float64], in_vocabulary: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Replace log10 p of unknown words by -inf if the model has no unknown word, as for the original ARPA file."""
        return np.where(in_vocabulary, logs, -np.inf) if self._impossible else logs

    def after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of possible next words; see `WordModel.after`."""
        import kenlm

        state, following = kenlm.State(), kenlm.State()
        self._model.BeginSentenceWrite(state)
        for word in before:
            self._model.BaseScore(state, _word_or_unknown(word), following)
            state, following = following, state
        logs, in_vocabulary = np.empty(len(words)), np.empty(len(words), bool)
        for index, word in enumerate(words):
            score = self._model.BaseFullScore(state, _word_or_unknown(word), following)
            logs[index], in_vocabulary[index] = score.log_prob, not score.oov
        # The words in the file can't be listed, so ranks are unknown.
        no_ranks = np.full(len(words), np.nan)
        return np.stack([self._possible(logs, in_vocabulary), no_ranks, no_ranks]), in_vocabulary

    def best(self, before: Sequence[str], count: int) -> list[tuple[str, bool, float]]:
        """Refuse to list words, since those in the file can't be listed."""
        if count:
            raise unable(self.name, "best", "a model that can, such as one in an ARPA file")
        return []


def _word_or_unknown(word: str) -> str:
    """Return a word, or the unknown word if the package can't accept it."""
    return UNKNOWN if _UNSPELLED.search(word) else word


def _opened(path: Path) -> Any:
    with extras.needed(f"ngram:{path}", ModelError, "give the ARPA file", "a KenLM binary"):
        import kenlm
    try:
        return kenlm.Model(str(path))
    except (OSError, RuntimeError) as error:
        shown = str(error).splitlines()[0] if str(error) else repr(error)
        raise ModelError(f"ngram:{path}", shown, "a complete KenLM binary of this version") from error


def check(name: str, path: str, chosen: Mapping[str, str]) -> None:
    """Refuse a file or folder that does not exist; see `Family.checks`."""
    if not path or not (place := Path(path)).exists():
        raise ModelError(f"{name}:{path}", "no such file or folder", "a trained folder, an ARPA file, a KenLM binary")
    if not (place.is_dir() or place.is_file()):
        raise ModelError(f"{name}:{path}", "not a regular file", "a file", "A pipe can't be read twice.")


def load(path: str, **options: str) -> BackOff | KenLM:
    """Load an n-gram model."""
    chosen, place = FAMILY.choose(options), Path(path)
    check(FAMILY.name, path, chosen)
    if place.is_dir():
        return _of_folder(place, chosen, options)
    tokenisation = _tokenisation(chosen, chosen.get("tokens", "blanks"))
    digest = _hash(place)
    name = FAMILY.canonical(f"{place.name}@{digest[:8]}", options)
    if is_binary(place):
        if "unknown" in options:
            raise UsageError("model option unknown", "a KenLM binary, whose words can't be listed", "an ARPA file")
        return KenLM(place, name, digest, tokenisation)
    ngrams = arpa.read(place)
    vocabulary = Vocabulary(ngrams.words[:-1], 1, "berkeley" if chosen.get("unknown") == "berkeley" else "none")
    return BackOff(ngrams, vocabulary, name, digest, tokenisation)


def _of_folder(place: Path, chosen: Mapping[str, str], options: Mapping[str, str]) -> BackOff:
    if "unknown" in options:
        raise UsageError("model option unknown", "given with a folder, which already records it", "no such option")
    ngrams, vocabulary, tokens, digest = folder.read(place)
    # Only a model trained with `auto` may be used with any value: others must split texts as in training, unless a text is
    # already split.
    if tokens != "auto" and "tokens" in options:
        choice(list(dict.fromkeys([tokens, unsplit(tokens)]))).read("model option tokens", options["tokens"])
    tokenisation = _tokenisation(chosen, chosen.get("tokens", tokens))
    shown = {key: value for key, value in options.items() if key != "tokens" or value != tokens}
    name = FAMILY.canonical(f"{place.resolve().name}@{digest[:8]}", shown)
    return BackOff(ngrams, vocabulary, name, digest, tokenisation)


def _tokenisation(chosen: Mapping[str, str], tokens: str) -> Tokenisation:
    return Tokenisation(tokens, chosen["eos"] == "yes", chosen["case"] == "lower")


def _hash(path: Path) -> str:
    try:
        return hashing.of_file(path)
    except OSError as error:
        raise ModelError(f"ngram:{path}", f"can't be read ({error.strerror or error})", "a readable file") from None
