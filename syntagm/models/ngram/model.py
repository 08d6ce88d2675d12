"""N-gram models: folders written by `syntagm train ngram`, ARPA files and KenLM's binary files.

Names: `ngram:FOLDER`, `ngram:FILE.arpa`, `ngram:FILE.arpa.gz`, `ngram:FILE.binary` (needs the package kenlm: `pip install
syntagm[kenlm]`). Each text is scored after `<s>`.

Words that are not in the vocabulary are marked as unknown. The same word after the same history always has exactly the same
surprisal.
"""

import contextlib
import hashlib
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError, extras, hashing, regular
from syntagm.models.answers import Entry, Fill, Gap, Reductions, Surprisals
from syntagm.models.contract import LanguageModel, unable
from syntagm.models.family import choice
from syntagm.models.ngram import arpa, folder
from syntagm.models.ngram.family import FAMILY
from syntagm.models.ngram.ngrams import END, START, UNKNOWN, Ngrams
from syntagm.models.rank import likeliest, reduce
from syntagm.models.windows import in_batches, once
from syntagm.models.words.splitting import divide, placed, single, split, unsplit
from syntagm.models.words.vocabulary import Vocabulary

_TEXTS = 8_192
BITS = -np.log2(10.0)
# From words, as for `WordModel.logs`, to their entropies in bits and their ranks; shape (2, words).
Reduce: TypeAlias = Callable[[Sequence[str]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Tokenisation:
    """The options for splitting texts into words."""

    tokens: str  # `blanks`, `treebank` or `auto`, as in `words.words`
    eos: bool  # whether the end symbol is listed
    lower: bool  # whether words are looked up in lower case


class WordModel(LanguageModel):
    """An n-gram model, from the probabilities of words in sentences that begin with `<s>` and end with `</s>`."""

    can = frozenset(FAMILY.can)
    worth_caching: ClassVar[bool] = False
    bos = START

    def __init__(self, order: int, name: str, tokenisation: Tokenisation) -> None:
        self._tokenisation, self.name = tokenisation, name
        self.eos = END if tokenisation.eos else None
        # The number of previous words that the next word depends on. In `memory`, the start symbol always counts.
        self.reach, self.memory = order - 1, max(1, order - 1)

    def _identify(self, scorer: str, digest: str, unknown: str) -> None:
        """Set settings and fingerprint; `unknown` tells the classes of unknown words."""
        eos, case = "yes" if self._tokenisation.eos else "no", "lower" if self._tokenisation.lower else "keep"
        self.settings = FAMILY.scoring_settings(
            {}, eos=eos, tokens=self._tokenisation.tokens, case=case, unknown=unknown
        )
        self.fingerprint = hashlib.sha256(json.dumps([scorer, digest, self.settings]).encode()).hexdigest()

    @abstractmethod
    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of each word (nan at start symbols), and whether it is in the vocabulary; each of shape (words,)."""
        # `words` are those of all sentences in order, each sentence between the start symbol and the end symbol.

    @abstractmethod
    def after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of possible words after the beginning of a sentence, and whether each is in the vocabulary."""
        # The first array has the shape (3, words): log10 p, and above and below as in `Fill`.

    @abstractmethod
    def best(self, before: Sequence[str], count: int) -> list[tuple[str, bool, float]]:
        """Return the likeliest next words after the beginning of a sentence: word, whether it is no symbol, and log10 p."""

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        return self._scored(texts, done)

    def _scored(
        self, texts: Sequence[str], done: Callable[[int], None] | None, reductions: Reduce | None = None
    ) -> Iterator[Surprisals]:
        for begin in range(0, len(texts), _TEXTS):
            batch = texts[begin : begin + _TEXTS]
            yield from self._batch(batch, reductions)
            if done:
                done(len(batch))

    def _batch(self, texts: Sequence[str], reductions: Reduce | None) -> Iterator[Surprisals]:
        self._refuse_special_in(texts)
        words = self._divided(texts)
        logs, in_vocabulary = self.logs(self._spelled(words))
        reduced = reductions(self._spelled(words)) if reductions else None
        borders = np.flatnonzero(np.isnan(logs))
        if np.isinf(logs).any():
            self._refuse_impossible(texts, words, logs, borders)
        # Adding 0.0 turns -0.0 into 0.0.
        bits, starts = logs * BITS + 0.0, _starts_if_single_spaces(words, borders)
        ends = np.append(borders[1:], len(words)) - 1
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        # If words are split at white space only, the length shows whether they are separated by single spaces.
        all_single_spaces, sure = starts[ends] == lengths, self._tokenisation.tokens == "blanks"
        for text, begin, end, single_spaces in zip(
            texts, (borders + 1).tolist(), ends.tolist(), all_single_spaces.tolist(), strict=True
        ):
            last = end + 1 if self._tokenisation.eos else end
            if single_spaces and (sure or " ".join(words[begin:end]) == text):
                text_starts = starts[begin:last]
            else:
                text_starts = self._placed(text, words[begin:end])
            kept = None if reduced is None else Reductions(*reduced[:, begin:last])
            yield Surprisals(text, text_starts, bits[begin:last], in_vocabulary[begin:last], kept)

    def _placed(self, text: str, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the starts of the words of a text, and of the end symbol if it is listed."""
        starts = placed(text, words)
        return np.append(starts, np.int32(len(text))) if self._tokenisation.eos else starts

    def _divided(self, texts: Sequence[str]) -> list[str]:
        """Return the words of all texts, each text between the start symbol and the end symbol."""
        if self._tokenisation.tokens == "blanks":
            # Splitting one string is faster than splitting its parts.
            return f"{START} {f' {END} {START} '.join(texts)} {END}".split()
        return [word for text in texts for word in (START, *split(text, self._tokenisation.tokens), END)]

    def _spelled(self, words: Sequence[str]) -> Sequence[str]:
        return [word.lower() for word in words] if self._tokenisation.lower else words

    def _refuse_impossible(
        self, texts: Sequence[str], words: Sequence[str], logs: NDArray[np.float64], borders: NDArray[np.int64]
    ) -> None:
        at = int(np.flatnonzero(np.isinf(logs))[0])
        text = texts[int(np.searchsorted(borders, at)) - 1]
        raise ModelError(
            self.name, f"the word {words[at]!r} of {text!r} has probability 0",
            "a probability above 0", "Check that the file has an <unk> and no back-off weight of -inf.",
        )  # fmt: skip

    def _refuse_special_in(self, texts: Sequence[str]) -> None:
        for text in texts:
            if "<" in text:
                self._refuse_special(split(text, self._tokenisation.tokens))

    def _refuse_special(self, words: Sequence[str]) -> None:
        """Refuse a text that contains start or end symbols."""
        for word in self._spelled(words):
            if word in (START, END):
                raise ModelError(
                    self.name, f"the special symbol {word!r} inside a text", "plain text",
                    "Start and end symbols are set by the model and eos=, never by the text.",
                )  # fmt: skip

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        # `above` and `below` are nan for multi-word candidates, and for KenLM's binary files. If the file has no
        # unknown word, the surprisal of unknown words is infinite.
        divided = [divide(gap, self._tokenisation.tokens, self.name) for gap in gaps]
        lists = {id(gap.candidates): gap.candidates for gap in divided}
        keys = [
            (tuple(self._spelled(gap.before[-self.memory :])), id(gap.candidates), asked.best)
            for gap, asked in zip(divided, gaps, strict=True)
        ]
        return once(
            keys, in_batches(1, lambda batch: [self._filled(key[0], lists[key[1]], key[2]) for key in batch]), done
        )

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        return single(words, self._tokenisation.tokens, self.name)

    def _filled(self, before: Sequence[str], candidates: Sequence[Sequence[str]], best: int) -> Fill:
        listed = self.best(before, best) if best else []
        entries = tuple(Entry(word, is_word, float(log * BITS + 0.0)) for word, is_word, log in listed)
        bits, above, below = np.full((3, len(candidates)), np.nan)
        in_vocabulary = np.zeros(len(candidates), bool)
        spelled = [self._spelled(words) for words in candidates]
        self._refuse_special([*before, *chain.from_iterable(spelled)])
        single = [index for index, words in enumerate(spelled) if len(words) == 1]
        (logs, above[single], below[single]), in_vocabulary[single] = self.after(
            before, [spelled[index][0] for index in single]
        )
        bits[single] = logs * BITS + 0.0
        several = [index for index, words in enumerate(spelled) if len(words) > 1]
        for index, (cost, all_known) in zip(several, self._several(before, [spelled[i] for i in several]), strict=True):
            bits[index], in_vocabulary[index] = cost, all_known
        return Fill(bits, above, below, in_vocabulary, entries)

    def _several(self, before: Sequence[str], candidates: Sequence[Sequence[str]]) -> Iterator[tuple[float, bool]]:
        """Yield the bits of each multi-word candidate, and whether all its words are in the vocabulary."""
        if not candidates:
            return
        logs, in_vocabulary = self.logs([word for words in candidates for word in (START, *before, *words, END)])
        end = -1
        for words in candidates:
            begin = end + 2 + len(before)
            end = begin + len(words)
            yield float((logs[begin:end] * BITS + 0.0).sum()), bool(in_vocabulary[begin:end].all())


def _starts_if_single_spaces(words: Sequence[str], borders: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the starts of words and end symbols in their sentences, if words are separated by single spaces."""
    lengths = np.fromiter(map(len, words), np.int64, len(words)) + 1
    after = np.cumsum(lengths)
    # The space before a word belongs to the word.
    before = after - lengths - 1
    sizes = np.diff(borders, append=len(words))
    starts: NDArray[np.int32] = np.maximum(before - np.repeat(after[borders], sizes), 0).astype(np.int32)
    return starts


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
        ids, in_vocabulary = self._ids([START, *before, *words])
        begin = len(before) + 1
        history, targets = ids[:begin][-self.memory :], ids[begin:]
        logs, ranked, sums = self._distribution(tuple(history.tolist()))
        own = logs[targets]
        first, after = np.searchsorted(ranked, -own), np.searchsorted(ranked, -own, "right")
        return np.stack([own, sums[first], sums[-1] - sums[after]]), in_vocabulary[begin:]

    def best(self, before: Sequence[str], count: int) -> list[tuple[str, bool, float]]:
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
    if not path or not (place := Path(path)).exists():
        raise ModelError(f"{name}:{path}", "no such file or folder", "a trained folder, an ARPA file, a KenLM binary")
    if not (place.is_dir() or place.is_file()):
        raise ModelError(f"{name}:{path}", "not a regular file", "a file", "A pipe can't be read twice.")


def load(path: str, **options: str) -> BackOff | KenLM:
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
