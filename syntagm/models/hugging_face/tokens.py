"""From texts to token numbers and back to characters, and the policies about start, end and word borders."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
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
    in_vocabulary: NDArray[np.bool_]


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


@dataclass(frozen=True, slots=True, eq=False)
class Framed:
    """A text between the symbols that its tokenizer puts around it.

    Arguments:
        inputs: shape (inputs,): all token numbers, the symbols' too.
        places: shape (tokens,): where in `inputs` each token of the text stands.
        words: shape (tokens,): which word each token belongs to, by the tokenizer's own division of the text.
        tokens: the text alone.
    """

    inputs: NDArray[np.int64]
    places: NDArray[np.int64]
    words: NDArray[np.int64]
    tokens: Encoded


def encode(tokenizer: Any, texts: Sequence[str], model: str) -> Iterator[Encoded]:
    """Tokenise texts, without truncation, padding or special symbols.

    Raises:
        ModelError: a special symbol spelled out in a text, or a character that no token covers.
    """
    special = _special(tokenizer)
    for text, encoding in _encodings(tokenizer, texts, model, False):
        yield _read(text, encoding.ids, encoding.offsets, special, tokenizer.unk_token_id, model)


def frame(tokenizer: Any, texts: Sequence[str], model: str) -> Iterator[Framed]:
    """Tokenise texts, without truncation or padding, with the symbols that the tokenizer puts around them; errors as `encode`.

    Which tokens are such symbols, and which belong to one word, is the tokenizer's own word.
    """
    special = _special(tokenizer)
    for text, encoding in _encodings(tokenizer, texts, model, True):
        places = np.flatnonzero(np.array(encoding.special_tokens_mask, bool) == 0)
        ids, offsets, words = ([column[place] for place in places] for column in _columns(encoding))
        tokens = _read(text, ids, offsets, special, tokenizer.unk_token_id, model)
        # A token that belongs to no word is one of its own.
        numbers = [-1 - index if word is None else word for index, word in enumerate(words)]
        yield Framed(np.array(encoding.ids, np.int64), places, np.array(numbers, np.int64), tokens)


def _columns(encoding: Any) -> tuple[list[Any], list[Any], list[Any]]:
    return encoding.ids, encoding.offsets, encoding.word_ids


def _encodings(tokenizer: Any, texts: Sequence[str], model: str, symbols: bool) -> Iterator[tuple[str, Any]]:
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    _refuse_surrogates(texts, model)
    return zip(texts, backend.encode_batch(list(texts), add_special_tokens=symbols), strict=True)


def _special(tokenizer: Any) -> dict[int, str]:
    special = {number: tokenizer.convert_ids_to_tokens(number) for number in tokenizer.all_special_ids}
    return special | {
        number: token.content for number, token in tokenizer.added_tokens_decoder.items() if token.special
    }


def _read(
    text: str, ids: list[int], offsets: Sequence[tuple[int, int]], special: Mapping[int, str], unknown: int, model: str
) -> Encoded:
    for number, (start, end) in zip(ids, offsets, strict=True):
        # The unknown word's number stands for other words too; one symbol may serve as it and as start symbol.
        if number in special and (number != unknown or text[start:end].strip() == special[number]):
            raise ModelError(
                model, f"the special symbol {special[number]!r} inside {text!r}", "plain text",
                "Such symbols are set by the model and its options, never by the text.",
            )  # fmt: skip
    return Encoded(ids, _starts(text, offsets, model), np.array([number != unknown for number in ids], bool))


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


# Gap, line feed, carriage return and tab: as byte-level tokenizers spell them, and as others do.
# Added tokens are spelled as they are in either.
_BYTE_MARKS = frozenset("ĠĊčĉ \n\r\t")
_MARKS = frozenset("▁ \n\r\t")
# Where characters fall back to bytes.
_BLANK_BYTES = frozenset(["<0x20>", "<0x0A>", "<0x0D>", "<0x09>"])
