"""From texts to token numbers and back to characters, and the policies about start, end and word borders."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import ModelError, UsageError


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A text as token numbers, without start and end symbol; `starts` and `known` as in `Surprisals`."""

    ids: list[int]
    starts: NDArray[np.int32]
    known: NDArray[np.bool_]


def start_symbol(policy: str, tokenizer: Any, config: Any) -> int | None:
    """The number of the start symbol under `bos=auto|yes|no`.

    It is the tokenizer's BOS, else the EOS where the model uses one symbol for both, else there is none.

    Raises:
        UsageError: `yes`, and the model has none.
    """
    if policy == "no":
        return None
    symbol = tokenizer.bos_token_id
    if symbol is None and config.bos_token_id is not None and config.bos_token_id == config.eos_token_id:
        symbol = config.eos_token_id
    if symbol is None and policy == "yes":
        raise UsageError(
            "model option bos=yes", "no start symbol in this model", "a model with one", "Use bos=auto or bos=no."
        )
    return None if symbol is None else int(symbol)


def end_symbol(policy: str, tokenizer: Any, config: Any) -> int | None:
    """The number of the end symbol under `eos=yes|no`.

    Raises:
        UsageError: `yes`, and the model has none.
    """
    if policy == "no":
        return None
    symbol = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else config.eos_token_id
    if isinstance(symbol, list):
        symbol = symbol[0]
    if symbol is None:
        raise UsageError("model option eos=yes", "no end symbol in this model", "a model with one", "Use eos=no.")
    return int(symbol)


def encode(tokenizer: Any, texts: Sequence[str], model: str) -> Iterator[Encoded]:
    """Tokenise texts, without truncation, padding or special symbols.

    Raises:
        ModelError: a special symbol spelled out in a text, or a character that no token covers.
    """
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    unknown = tokenizer.unk_token_id
    special = {number: tokenizer.convert_ids_to_tokens(number) for number in tokenizer.all_special_ids}
    special |= {number: token.content for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    _refuse_surrogates(texts, model)
    for text, encoding in zip(texts, backend.encode_batch(list(texts), add_special_tokens=False), strict=True):
        ids, offsets = encoding.ids, encoding.offsets
        known = np.array([number != unknown for number in ids], bool)
        for number, (start, end) in zip(ids, offsets, strict=True):
            # The unknown word's number stands for other words too; one symbol may serve as it and as start symbol.
            if number in special and (number != unknown or text[start:end].strip() == special[number]):
                raise ModelError(
                    model, f"the special symbol {special[number]!r} inside {text!r}", "plain text",
                    "Start and end symbols are set by bos= and eos=, never by the text.",
                )  # fmt: skip
        yield Encoded(ids, _starts(text, offsets, model), known)


def _starts(text: str, offsets: Sequence[tuple[int, int]], model: str) -> NDArray[np.int32]:
    """Where each token starts if white space goes to the token after it.

    Tokens that share a character get one start, so that none is ever taken for the owner of a character it holds a part of.
    """
    starts = np.zeros(len(offsets), np.int32)
    end = 0
    for index, (left, right) in enumerate(offsets):
        if left > end and not text[end:left].isspace():
            _refuse_gap(text, end, left, model)
        if index:
            starts[index] = end if left >= end and end < len(text) else starts[index - 1]
        end = max(end, right)
    if end < len(text) and not text[end:].isspace():
        _refuse_gap(text, end, len(text), model)
    return starts


def _refuse_surrogates(texts: Sequence[str], model: str) -> None:
    for text in texts:
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise ModelError(model, f"half a character (a lone surrogate) in {text!r}", "whole characters")


def _refuse_gap(text: str, left: int, right: int, model: str) -> None:
    lost = next(character for character in text[left:right] if not character.isspace())
    raise ModelError(
        model, f"the tokenizer drops {lost!r} (U+{ord(lost):04X}, near character {left}) of {text!r}",
        "a token for each visible character", "Remove the character, or use a model that knows it.",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Borders:
    """Which tokens begin a word: by number, and which can begin a text.

    Arguments:
        begins: shape (vocabulary,): the token begins with white space, or is the end symbol.
        first: shape (vocabulary,): the token can be the first of a text.
    """

    begins: NDArray[np.bool_]
    first: NDArray[np.bool_]

    def digest(self) -> str:
        """A hash of the two sets: which symbol ends a text may be said outside tokenizer.json."""
        return hashlib.sha256(self.begins.tobytes() + self.first.tobytes()).hexdigest()


def word_borders(tokenizer: Any, size: int, end: int | None) -> Borders:
    """The two sets that the word-boundary correction sums over (Pimentel & Meister 2024; Oh & Schuler 2024).

    Arguments:
        size: rows of the model's vocabulary; rows beyond the tokenizer's are in neither set.
        end: the end symbol, which ends a word too.

    Raises:
        UsageError: the tokenizer does not mark word starts with a blank.
    """
    begins, ordinary = np.zeros(size, bool), np.zeros(size, bool)
    special = set(tokenizer.all_special_ids)
    backend = tokenizer.backend_tokenizer
    marks = _BYTE_MARKS if "ByteLevel" in f"{backend.pre_tokenizer} {backend.decoder}" else _MARKS
    for token, number in tokenizer.get_vocab().items():
        if number < size and number not in special:
            ordinary[number] = True
            begins[number] = token[:1] in marks or token in _BLANK_BYTES
    if not begins.any():
        raise UsageError(
            "model option boundary=word", "a tokenizer that does not mark word starts with a blank", "one that does",
            "Use boundary=token.",
        )  # fmt: skip
    # A tokenizer that puts a blank before the first word begins texts as it begins words.
    blank_first = begins[next(encode(tokenizer, ["a"], "boundary=word")).ids[0]]
    first = begins.copy() if blank_first else ordinary & ~begins
    if end is not None:
        begins[end] = first[end] = True
    return Borders(begins, first)


# Blank, line feed, carriage return and tab: as byte-level tokenizers spell them, and as others do.
# Added tokens are spelled as they are in either.
_BYTE_MARKS = frozenset("ĠĊčĉ \n\r\t")
_MARKS = frozenset("▁ \n\r\t")
# Where characters fall back to bytes.
_BLANK_BYTES = frozenset(["<0x20>", "<0x0A>", "<0x0D>", "<0x09>"])
