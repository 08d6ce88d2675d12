"""The tokens that can follow a complete word, for the probability that a word ends after a candidate.

Tokenizers mark ends of words in one of three ways. In the first, a space belongs to the token after it (GPT-2, Llama): a word
has ended if the next token begins with white space or a punctuation mark, or is the end-of-text symbol. In the second, tokens
that continue a word are marked (WordPiece): a word has ended if the next token is not marked. In the third, each word
is one token, or its last token is marked.
"""

import json
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.models.hugging_face.tokens import Borders, speller, word_borders


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The sets that the word-boundary correction of gaps sums over."""

    # Shape (vocabulary,), bool: whether the token shows that the word before it has ended; None if a word's own tokens
    # show its end.
    ends: NDArray[np.bool_] | None
    # Shape (vocabulary,), bool: whether the token can be the first of a text; None if each token shows whether it
    # begins a word.
    first: NDArray[np.bool_] | None


def word_ends(tokenizer: Any, size: int, end: int | None) -> Ends:
    """Return the sets for a tokenizer."""
    backend = tokenizer.backend_tokenizer
    model = json.loads(backend.to_str())["model"]
    if model.get("type") == "WordLevel" or model.get("end_of_word_suffix"):
        return Ends(None, None)
    if prefix := model.get("continuing_subword_prefix"):
        return Ends(_not_continuing(tokenizer, size, prefix), None)
    borders = _borders(tokenizer, size, end)
    ends = borders.begins.copy()
    spelled = speller(tokenizer)
    special = set(tokenizer.all_special_ids)
    for token, number in tokenizer.get_vocab().items():
        if number < size and number not in special and _is_punctuation(spelled(token)[:1]):
            ends[number] = True
    return Ends(ends, borders.first)


def _borders(tokenizer: Any, size: int, end: int | None) -> Borders:
    try:
        return word_borders(tokenizer, size, end)
    except UsageError as error:
        raise UsageError("model option fill=word", error.found, error.expected, "Use fill=token.") from None


def _not_continuing(tokenizer: Any, size: int, prefix: str) -> NDArray[np.bool_]:
    ends = np.zeros(size, bool)
    for token, number in tokenizer.get_vocab().items():
        if number < size:
            ends[number] = not token.startswith(prefix)
    return ends


def _is_punctuation(character: str) -> bool:
    """Return whether a character is punctuation: not a letter, digit, combining mark or white space."""
    return bool(character) and not (
        character.isalnum()
        or character.isspace()
        or unicodedata.category(character)[0] in "MC"
        or character == "\ufffd"
    )
