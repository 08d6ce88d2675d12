"""Which tokens can follow a whole word: for the probability that a word ends where a candidate does.

Tokenizers say where words end in one of three ways. A blank belongs to the token after it (GPT-2, Llama): then a word has
ended if the next token begins with white space or with a punctuation mark, or is the end symbol. Or a token that goes on
with a word is marked (WordPiece): then any other has ended it. Or words are whole, or marked at their end.
"""

import json
import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import UsageError
from syntagm.models.hugging_face.tokens import Borders, word_borders


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The sets that the word-boundary correction of blanks sums over.

    Arguments:
        ends: shape (vocabulary,): the word before the token has ended; None where a word's tokens say it themselves.
        first: shape (vocabulary,): the token can be the first of a text; None where each token says that a word begins.
    """

    ends: NDArray[np.bool_] | None
    first: NDArray[np.bool_] | None


def word_ends(tokenizer: Any, size: int, end: int | None) -> Ends:
    """The sets for a tokenizer.

    Arguments:
        size: rows of the model's vocabulary; rows beyond the tokenizer's are in neither set.
        end: the end symbol; None if there is none.

    Raises:
        UsageError: the tokenizer marks neither beginnings nor ends nor middles of words.
    """
    backend = tokenizer.backend_tokenizer
    model = json.loads(backend.to_str())["model"]
    if model.get("type") == "WordLevel" or model.get("end_of_word_suffix"):
        return Ends(None, None)
    if prefix := model.get("continuing_subword_prefix"):
        return Ends(_without(tokenizer, size, prefix), None)
    borders = _borders(tokenizer, size, end)
    ends = borders.begins.copy()
    spelled = _byte_level_text if "ByteLevel" in f"{backend.pre_tokenizer} {backend.decoder}" else _text
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


def _without(tokenizer: Any, size: int, prefix: str) -> NDArray[np.bool_]:
    ends = np.zeros(size, bool)
    for token, number in tokenizer.get_vocab().items():
        if number < size:
            ends[number] = not token.startswith(prefix)
    return ends


def _is_punctuation(character: str) -> bool:
    """Neither letter, digit, mark nor white space: what tokenizers divide from a word; apostrophe and hyphen, too."""
    return bool(character) and not (
        character.isalnum()
        or character.isspace()
        or unicodedata.category(character)[0] in "MC"
        or character == "\ufffd"
    )


def _text(token: str) -> str:
    """What a token spells; a byte stands for itself where characters fall back to bytes."""
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        byte = int(token[3:5], 16)
        return chr(byte) if byte < 0x80 else ""
    return token.removeprefix("▁")


def _byte_level_text(token: str) -> str:
    # An added token is spelled as it is, and may have characters that stand for no byte.
    if not all(character in _BYTES for character in token):
        return token
    return bytes(_BYTES[character] for character in token).decode("utf-8", "replace")


def _bytes() -> dict[str, int]:
    """Which byte each character of byte-level tokens stands for (Radford et al. 2019)."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


_BYTES = _bytes()
