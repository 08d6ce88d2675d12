"""Vocabulary entries as texts, for lists of the most probable entries in a gap.

Tokenizers mark words in one of three ways (`causal.word_ends`). If a space belongs to the token after it, an entry begins a
word in a gap after a space if it has that space itself, because the space before the gap belongs to what fills the gap. If
tokens that continue a word are marked, all others begin one. If words' last tokens are marked, every token after a space
begins one.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.models.answers import Entry
from syntagm.models.hugging_face.tokens import special_symbols, speller
from syntagm.models.rank import likeliest, rank


class Entries:
    """The vocabulary entries of a tokenizer as texts."""

    def __init__(self, tokenizer: Any) -> None:
        backend = tokenizer.backend_tokenizer
        model = json.loads(backend.to_str())["model"]
        self._tokenizer, self._special = tokenizer, special_symbols(tokenizer)
        self._continuing: str = model.get("continuing_subword_prefix") or ""
        self._ending: str = model.get("end_of_word_suffix") or ""
        self._spaced = not (self._continuing or self._ending or model.get("type") == "WordLevel")
        self._text = speller(tokenizer)

    def best(self, logits: NDArray[np.floating], left: str, count: int) -> tuple[Entry, ...]:
        """Return the most probable entries in a gap; see `Fill.best`."""
        return tuple(self._listed(logits, left, likeliest(logits, count))) if count else ()

    def _listed(self, logits: NDArray[np.floating], left: str, numbers: NDArray[np.int64]) -> Iterator[Entry]:
        for number, bits in zip(numbers.tolist(), rank(logits, numbers)[0].tolist(), strict=True):
            token = self._tokenizer.convert_ids_to_tokens(number)
            if token is None or number in self._special:
                # A vocabulary may be larger than that of its tokenizer.
                yield Entry(f"<{number}>" if token is None else token, False, bits)
            else:
                yield Entry(*self._spelled(token, left), bits)

    def _spelled(self, token: str, left: str) -> tuple[str, bool]:
        """Return the text of an ordinary token, and whether it begins a word after `left`."""
        continues = left[-1:].isalnum()
        if not self._spaced:
            text = token.removesuffix(self._ending)
            if self._continuing and text.startswith(self._continuing):
                return text.removeprefix(self._continuing) or token, False
            return text or token, not continues
        spelled = self._text(token)
        if not (text := spelled.strip()):
            return spelled or token, False
        space = spelled[0].isspace()
        if left.endswith(" ") or not left:
            return text, space or not left
        return text, not space and not continues
