"""Models in KenLM's binary format, read with the package kenlm."""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, extras, regular
from syntagm.models.answers import Fill, Gap, Surprisals
from syntagm.models.contract import LanguageModel, unable
from syntagm.models.ngram.family import FAMILY
from syntagm.models.ngram.ngrams import START, UNKNOWN
from syntagm.models.ngram.scorer import Tokenisation, WordScorer

SCORER = "kenlm 1"
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


class KenLM(LanguageModel):
    """A model in a KenLM binary file, created by `ngram.load`."""

    # The words of a binary can't be listed.
    can = frozenset(FAMILY.can) - {"best", "reduce"}
    worth_caching: ClassVar[bool] = False

    def __init__(self, path: Path, name: str, digest: str, tokenisation: Tokenisation) -> None:
        self._tokenisation, self.name, self.bos = tokenisation, name, START
        self.eos = self._scorer.end
        self._model = _opened(path)
        self.reach = self._model.order - 1
        self._impossible = self._model.score(UNKNOWN, bos=False, eos=False) == _NO_UNKNOWN
        self.settings = self._scorer.scoring_settings("none")
        self.fingerprint = hashlib.sha256(json.dumps([SCORER, digest, self.settings]).encode()).hexdigest()
        self.record = {"order": self._model.order, "hash": digest, "kenlm": metadata.version("kenlm")}

    @property
    def _scorer(self) -> WordScorer:
        # Made anew each time: as an attribute, it would make a reference cycle with the model.
        return WordScorer(self, self.name, self._tokenisation)

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute the surprisals of each text; see `LanguageModel.score`."""
        return self._scorer.score(texts, done)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """Compute the surprisal of each candidate, given the text before the gap; see `WordScorer.fill`."""
        return self._scorer.fill(gaps, done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each candidate is one word; see `LanguageModel.single`."""
        return self._scorer.single(words)

    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of words in sentences; see `Source.logs`."""
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
        """Compute log10 p of possible next words; see `Source.after`."""
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

    @property
    def memory(self) -> int:
        """The number of previous words that the next word depends on."""
        return max(1, int(self._model.order) - 1)


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
