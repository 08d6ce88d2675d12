"""KenLM's binary files, asked through the package kenlm."""

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

from syntagm.answers import Fill, Gap, Surprisals
from syntagm.errors import ModelError
from syntagm.models.contract import LanguageModel
from syntagm.models.ngram.ngrams import START, UNKNOWN
from syntagm.models.ngram.scorer import Asked, WordScorer

SCORER = "kenlm 1"
_MAGIC = b"mmap lm http://kheafield.com/code"
# The package takes words as C strings in UTF-8: it would look up what stands before a NUL, and can't spell lone surrogates.
_UNSPELLED = re.compile("[\0\ud800-\udfff]")
# What build_binary says of the unknown word if the ARPA file says nothing.
_MADE_UP = -100.0


def is_binary(path: Path) -> bool:
    """Is it one of KenLM's binary files?"""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
    return False


class KenLM(LanguageModel):
    """A KenLM binary; made by `ngram.load`."""

    can: ClassVar[frozenset[str]] = frozenset({"score", "fill"})
    worth_caching: ClassVar[bool] = False

    def __init__(self, path: Path, name: str, digest: str, asked: Asked) -> None:
        self._asked, self.name, self.bos = asked, name, START
        self.eos = self._scorer.end
        self._model = _opened(path)
        self._impossible = self._model.score(UNKNOWN, bos=False, eos=False) == _MADE_UP
        self.settings = self._scorer.scoring_settings("none")
        self.fingerprint = hashlib.sha256(json.dumps([SCORER, digest, self.settings]).encode()).hexdigest()
        self.record = {"order": self._model.order, "hash": digest, "kenlm": metadata.version("kenlm")}

    @property
    def _scorer(self) -> WordScorer:
        # Kept, it and the model would hold each other in memory.
        return WordScorer(self, self.name, self._asked)

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """The surprisals of each text; see `LanguageModel.score`."""
        return self._scorer.score(texts, done)

    def fill(self, blanks: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """The surprisal of each candidate, given what stands before the blank; see `WordScorer.fill`."""
        return self._scorer.fill(blanks, done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the candidates are one word; see `LanguageModel.single`."""
        return self._scorer.single(words)

    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Log10 p of words in sentences, and which are known; see `Source.logs`."""
        logs, known = np.full(len(words), np.nan), np.ones(len(words), bool)
        borders = [place for place, word in enumerate(words) if word == START]
        for begin, end in pairwise([*borders, len(words)]):
            sentence = " ".join(map(_spelled, words[begin + 1 : end - 1]))
            for place, (log, _, unknown) in enumerate(self._model.full_scores(sentence, bos=True, eos=True), begin + 1):
                logs[place], known[place] = log, not unknown
        return self._possible(logs, known), known

    def _possible(self, logs: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Log10 p, that of unknown words -inf if the model was made without one, as for the ARPA file it was made of."""
        return np.where(known, logs, -np.inf) if self._impossible else logs

    def after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What may come next; see `Source.after`."""
        import kenlm

        state, following = kenlm.State(), kenlm.State()
        self._model.BeginSentenceWrite(state)
        for word in before:
            self._model.BaseScore(state, _spelled(word), following)
            state, following = following, state
        logs, known = np.empty(len(words)), np.empty(len(words), bool)
        for index, word in enumerate(words):
            found = self._model.BaseFullScore(state, _spelled(word), following)
            logs[index], known[index] = found.log_prob, not found.oov
        # The file does not say which words it has, so nothing is known of their ranks.
        unknown = np.full(len(words), np.nan)
        return np.stack([self._possible(logs, known), unknown, unknown]), known

    @property
    def memory(self) -> int:
        """How many words before it make a difference to the next."""
        return max(1, int(self._model.order) - 1)


def _spelled(word: str) -> str:
    """A word as the package can take it: one that it can't is unknown."""
    return UNKNOWN if _UNSPELLED.search(word) else word


def _opened(path: Path) -> Any:
    try:
        import kenlm
    except ImportError:
        raise ModelError(
            f"ngram:{path}", "a KenLM binary, and the package kenlm is not installed", "the package kenlm",
            "Install it with: pip install 'syntagm[kenlm]', or give the ARPA file.",
        ) from None  # fmt: skip
    try:
        return kenlm.Model(str(path))
    except (OSError, RuntimeError) as error:
        shown = str(error).splitlines()[0] if str(error) else repr(error)
        raise ModelError(f"ngram:{path}", shown, "a whole KenLM binary of this version") from error
