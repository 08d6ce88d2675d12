"""Tokenisation with character positions, special symbols, borders of words, and vocabulary entries as texts."""

import contextlib
import hashlib
import inspect
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError
from syntagm.models.answers import Entry
from syntagm.models.hugging_face.unsafe import one_error
from syntagm.models.rank import likeliest, rank

# Only one thread at a time may change how tokenizers truncate and pad.
_SETTINGS = threading.Lock()


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A text as token ids, without bos and eos; `starts` and `in_vocabulary` as in `Surprisals`."""

    ids: list[int]
    starts: NDArray[np.int32]
    in_vocabulary: NDArray[np.bool_]


# What a symbol is called; what follows if it is taken, and if there is none; and what else can be chosen.
_CALLED = {
    "bos": ("start symbol", "it precedes each text", "nothing precedes a text", "Use bos=auto or bos=no."),
    "eos": ("end symbol", "it ends each text", "no symbol ends a word", "Use eos=no."),
}


def symbol(
    key: str, choice: str, tokenizer: Any, config: Any, stated: Mapping[str, Any] | None
) -> tuple[int | None, str]:
    """Return the number of the symbol before texts, or after them, and a remark where only a configuration names one."""
    # It is the tokenizer's own. If that has none, `auto` takes the one that the model's own configuration names, if it
    # is special in the tokenizer; as bos, only if it is the eos, too (GPT-2, Pythia). `yes` takes any that is named
    # there.
    if choice == "no":
        return None, ""
    kind, so, otherwise, cure = _CALLED[key]
    number, other, remark = getattr(tokenizer, f"{key}_token_id"), _configured(config, key), ""
    own = other is not None and _is_own(config, key, stated, tokenizer)
    if number is not None and (not is_added_by_class(tokenizer, key) or (own and number == other)):
        return int(number), ""
    found, default = other if number is None else number, "is only a default of transformers"
    shown = "" if found is None else shown_symbol(tokenizer, found)
    if number is not None:
        number, remark = None, f"The {kind} {shown} {default}"
    elif other is not None and (key == "eos" or choice == "yes" or other == _configured(config, "eos")):
        if own and other in special_symbols(tokenizer):
            return other, ""
        number = other if own and choice == "yes" else None
        remark = (
            f"The {kind} of the configuration, {shown}, is not special in the tokenizer"
            if own
            else f"The {kind} {shown} {default}"
        )
    if number is None and choice == "yes":
        missing = f"no {kind} in this model. {remark}".removesuffix(". ")
        raise UsageError(f"model option {key}=yes", missing, "a model with one", cure)
    return number, f"{remark}, so {otherwise if number is None else so}." if remark else ""


def shown_symbol(tokenizer: Any, number: int) -> str:
    token = tokenizer.convert_ids_to_tokens(number)
    return f"number {number}" if token is None else f"{token!r} (number {number})"


def _configured(config: Any, key: str) -> int | None:
    """Return the number of a symbol in a configuration, or in that of its language model; the first of several."""
    parts = (config, config.get_text_config())
    number = next((found for part in parts if (found := getattr(part, f"{key}_token_id", None)) is not None), None)
    number = number[0] if isinstance(number, list) and number else number
    return number if isinstance(number, int) else None


def _is_own(config: Any, key: str, stated: Mapping[str, Any] | None, tokenizer: Any) -> bool:
    """Return whether a configuration has a symbol itself, and not from the defaults of its class."""
    if stated is not None:
        return any(part.get(f"{key}_token_id") is not None for part in (stated, stated.get("text_config") or {}))
    # What is written is not known of a model in memory, only what the tokenizer confirms or differs from the defaults.
    if _configured(config, key) == tokenizer.eos_token_id:
        return True
    with contextlib.suppress(TypeError):  # a class that needs arguments has no defaults
        return _configured(type(config)(), key) != _configured(config, key)
    return False


def is_added_by_class(tokenizer: Any, key: str) -> bool:
    """Return whether the class of a tokenizer has added a symbol that is not in the files it was read from."""
    token, declared = getattr(tokenizer, f"{key}_token"), tokenizer.init_kwargs.get("added_tokens_decoder")
    default = inspect.signature(type(tokenizer)).parameters.get(f"{key}_token")
    if declared is None or default is None or str(default.default) != token:
        return False  # it was not read from files, or they name the symbol
    known = {str(added) for added in declared.values()}
    return token not in known and token not in tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False)


@dataclass(frozen=True, slots=True, eq=False)
class Framed:
    """A text with the special symbols that its tokenizer adds around it."""

    inputs: NDArray[np.int64]  # shape (inputs,): token ids, including special symbols
    places: NDArray[np.int64]  # shape (tokens,): index in `inputs` of each token of the text
    # Shape (tokens,): the word that each token belongs to, by the tokenizer's pre-tokenisation.
    words: NDArray[np.int64]
    tokens: Encoded  # the text without special symbols

    def part(self, begin: int, end: int) -> "Framed":
        """Return some of the tokens, with the same special symbols around them as around the whole text."""
        if end - begin == len(self.places):
            return self
        after = int(self.places[-1]) + 1
        inputs = [self.inputs[: self.places[0]], self.inputs[self.places[begin:end]], self.inputs[after:]]
        tokens = self.tokens
        return Framed(
            np.concatenate(inputs),
            self.places[begin:end] - self.places[begin] + self.places[0],
            self.words[begin:end],
            Encoded(tokens.ids[begin:end], tokens.starts[begin:end], tokens.in_vocabulary[begin:end]),
        )


def encode(tokenizer: Any, texts: Sequence[str], model: str) -> Iterator[Encoded]:
    """Tokenise texts without truncation, padding or special symbols."""
    special = special_symbols(tokenizer)
    for text, encoding in _encodings(tokenizer, texts, model, False):
        yield _read(text, encoding.ids, encoding.offsets, special, tokenizer.unk_token_id, model)


def encode_after(tokenizer: Any, context: str, texts: Sequence[str], model: str) -> Iterator[tuple[list[int], Encoded]]:
    """Tokenise each text together with a context before it, which may contain special symbols; for errors, see `encode`."""
    special, size = special_symbols(tokenizer), len(context)
    blank = size - len(context.rstrip())
    for whole, encoding in _encodings(tokenizer, [context + text for text in texts], model, False):
        text, first = whole[size:], sum(1 for _, end in encoding.offsets if end <= size)
        if first < len(encoding.ids) and encoding.offsets[first][0] < size - blank:
            token = tokenizer.convert_ids_to_tokens(encoding.ids[first])
            raise ModelError(
                model, f"the token {token!r}, which is part of {text!r} and of what precedes it, {context[-20:]!r}",
                "a text that begins with a token of its own", "Score the text without a context.",
            )  # fmt: skip
        offsets = [(max(0, start - size), end - size) for start, end in encoding.offsets[first:]]
        yield encoding.ids[:first], _read(text, encoding.ids[first:], offsets, special, tokenizer.unk_token_id, model)


def frame(tokenizer: Any, texts: Sequence[str], model: str) -> Iterator[Framed]:
    """Tokenise texts without truncation or padding, with the tokenizer's special symbols; for errors, see `encode`."""
    # The tokenizer decides which tokens are special symbols, and which belong to the same word.
    special = special_symbols(tokenizer)
    for text, encoding in _encodings(tokenizer, texts, model, True):
        places = np.flatnonzero(np.array(encoding.special_tokens_mask, bool) == 0)
        columns = encoding.ids, encoding.offsets, encoding.word_ids
        ids, offsets, words = ([column[place] for place in places] for column in columns)
        tokens = _read(text, ids, offsets, special, tokenizer.unk_token_id, model)
        # A token that belongs to no word counts as a word of its own.
        numbers = [-1 - index if word is None else word for index, word in enumerate(words)]
        yield Framed(np.array(encoding.ids, np.int64), places, np.array(numbers, np.int64), tokens)


def _encodings(tokenizer: Any, texts: Sequence[str], model: str, symbols: bool) -> Iterator[tuple[str, Any]]:
    refuse_surrogates(texts, model)
    subject = f"the tokens of {len(texts):,} texts, the first {texts[0][:60]!r}" if texts else "no tokens"
    # The library panics where a regular expression gives up.
    with (
        _whole(tokenizer.backend_tokenizer) as backend,
        one_error(
            f"the tokenizer of {model}", subject, "Leave such a text out, or see what is wrong with tokenizer.json."
        ),
    ):
        encodings = backend.encode_batch(list(texts), add_special_tokens=symbols)
    return zip(texts, encodings, strict=True)


@contextlib.contextmanager
def _whole(backend: Any) -> Iterator[Any]:
    """Switch truncation and padding off during the block; they may be those of a program that trains the model."""
    with _SETTINGS:
        truncation, padding = backend.truncation, backend.padding
        backend.no_truncation()
        backend.no_padding()
        try:
            yield backend
        finally:
            if truncation is not None:
                backend.enable_truncation(**truncation)
            if padding is not None:
                backend.enable_padding(**padding)


def special_symbols(tokenizer: Any) -> dict[int, str]:
    """Return the special symbols of a tokenizer, with those among its added tokens: id -> symbol."""
    special = {number: tokenizer.convert_ids_to_tokens(number) for number in tokenizer.all_special_ids}
    return special | {
        number: token.content for number, token in tokenizer.added_tokens_decoder.items() if token.special
    }


def _read(
    text: str, ids: list[int], offsets: Sequence[tuple[int, int]], special: Mapping[int, str], unknown: int, model: str
) -> Encoded:
    for number, (start, end) in zip(ids, offsets, strict=True):
        # Unknown words have the id of the unknown-word symbol, which may be the start-of-text symbol at the same time.
        if number in special and (number != unknown or text[start:end].strip() == special[number]):
            raise ModelError(
                model, f"the special symbol {special[number]!r} inside {text!r}", "plain text",
                "Special symbols are added by the model and its options, and can't be part of a text.",
            )  # fmt: skip
    return Encoded(ids, starts_of(text, offsets, model), np.array([number != unknown for number in ids], bool))


def starts_of(text: str, offsets: Sequence[tuple[int, int]], model: str) -> NDArray[np.int32]:
    """Return the start of each token in the text; white space belongs to the token after it."""
    # Tokens that share a character get the same start, so a character is never assigned to a token that has only a part
    # of it.
    starts = np.zeros(len(offsets), np.int32)
    end = last = 0
    for index, (left, right) in enumerate(offsets):
        if left < last and text.isascii():  # marks of other letters may change places
            found = f"tokens that go back, from character {last} to {left} of {text!r:.100}"
            raise ModelError(model, found, "tokens in the order of the text", "See what is wrong with tokenizer.json.")
        last = left
        if left > end and not text[end:left].isspace():
            _refuse_dropped(text, end, left, model)
        if index:
            starts[index] = end if left >= end and end < len(text) else starts[index - 1]
        end = max(end, right)
    if end < len(text) and not text[end:].isspace():
        _refuse_dropped(text, end, len(text), model)
    return starts


def refuse_random(tokenizer: Any, symbols: Mapping[str, int | None], size: int, model: str) -> None:
    """Refuse a tokenizer that gives a text other tokens each time, or whose special symbols are none of the model."""
    if dropout := getattr(tokenizer.backend_tokenizer.model, "dropout", None):
        raise ModelError(
            model, f"a tokenizer that drops {dropout:g} of its merges at random", "the same tokens each time",
            "Such a dropout is for training: set it to null in tokenizer.json.",
        )  # fmt: skip
    vocabulary = tokenizer.get_vocab()
    for name, number in symbols.items():
        if number is None:
            continue
        refuse_beyond(tokenizer, f"the {name} symbol", number, size, model)
        if len(owners := sorted(token for token, other in vocabulary.items() if other == number)) > 1:
            shared = " and ".join(map(repr, owners[:3]))
            raise ModelError(
                model, f"{shared}, which have the number {number}, that of the {name} symbol", "a number of its own",
                "Is tokenizer.json complete?",
            )  # fmt: skip


def refuse_beyond(tokenizer: Any, what: str, number: int, size: int, model: str, text: str = "") -> None:
    """Raise ModelError if a model has no vocabulary entry for a token, of a text if it is given."""
    if number >= size:
        found = f"{what} {shown_symbol(tokenizer, number)}" + (f" of {text!r}" if text else "")
        expected = f"a number below {size:,}, the size of the model's vocabulary"
        raise ModelError(model, found, expected, "Check that config.json and the tokenizer belong to the weights.")


def refuse_surrogates(texts: Sequence[str], model: str) -> None:
    """Raise ModelError if a text contains half a character, which no encoding can represent."""
    for text in texts:
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise ModelError(model, f"half a character (a lone surrogate) in {text!r}", "whole characters")


def _refuse_dropped(text: str, left: int, right: int, model: str) -> None:
    dropped = next(character for character in text[left:right] if not character.isspace())
    raise ModelError(
        model, f"the tokenizer drops {dropped!r} (U+{ord(dropped):04X}, near character {left}) of {text!r}",
        "a token for each visible character", "Remove the character, or use a model with a token for it.",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Borders:
    """The sets of tokens that begin a word, and that can begin a text."""

    # Shape (vocabulary,), bool: whether the token begins with white space, or is the end-of-text symbol.
    begins: NDArray[np.bool_]
    first: NDArray[np.bool_]  # shape (vocabulary,), bool: whether the token can be the first of a text

    def digest(self) -> str:
        """Return a hash of the two sets. tokenizer.json does not determine them, because it may lack the end symbol."""
        return hashlib.sha256(self.begins.tobytes() + self.first.tobytes()).hexdigest()


def word_borders(tokenizer: Any, size: int, end: int | None) -> Borders:
    """Return the sets that the word-boundary correction sums over (Pimentel & Meister 2024; Oh & Schuler 2024)."""
    begins, ordinary = np.zeros(size, bool), np.zeros(size, bool)
    special = set(tokenizer.all_special_ids)
    backend = tokenizer.backend_tokenizer
    marks = _BYTE_MARKS if "ByteLevel" in f"{backend.pre_tokenizer} {backend.decoder}" else _MARKS
    for token, number in tokenizer.get_vocab().items():
        if number < size and number not in special:
            ordinary[number] = True
            begins[number] = token[:1] in marks or token in _SPACE_BYTES
    if not begins.any():
        raise UsageError(
            "model option boundary=word", "a tokenizer that does not mark word starts with a space", "one that does",
            "Use boundary=token.",
        )  # fmt: skip
    # If the tokenizer adds a space before the first word, texts begin with the same tokens as words.
    space_first = begins[next(encode(tokenizer, ["a"], "boundary=word")).ids[0]]
    first = begins.copy() if space_first else ordinary & ~begins
    if end is not None:
        begins[end] = first[end] = True
    return Borders(begins, first)


# Space, line feed, carriage return and tab, as byte-level tokenizers spell them and as others do. In both, added tokens are
# spelled literally.
_BYTE_MARKS = frozenset("ĠĊčĉ \n\r\t")
_MARKS = frozenset("▁ \n\r\t")
# White space in tokenizers that fall back to bytes.
_SPACE_BYTES = frozenset(["<0x20>", "<0x0A>", "<0x0D>", "<0x09>"])


def _bytes() -> dict[str, int]:
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


# The byte that each character in byte-level tokens encodes (Radford et al. 2019).
BYTES = _bytes()


def speller(tokenizer: Any) -> Callable[[str], str]:
    """Return the function from a token to its text, for tokenizers in which a space belongs to the token after it."""
    # The text begins with a space if the token does. That of a byte which is no ASCII character is empty or has U+FFFD.
    backend = tokenizer.backend_tokenizer
    return _byte_level_text if "ByteLevel" in f"{backend.pre_tokenizer} {backend.decoder}" else _text


def _text(token: str) -> str:
    """Return the text of a token. For byte tokens such as `<0x2C>`, this is the ASCII character or an empty string."""
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        byte = int(token[3:5], 16)
        return chr(byte) if byte < 0x80 else ""
    return token.replace("▁", " ")


def _byte_level_text(token: str) -> str:
    # Added tokens are spelled literally, and may have characters that don't encode a byte.
    if not all(character in BYTES for character in token):
        return token
    return bytes(BYTES[character] for character in token).decode("utf-8", "replace")


# Tokenizers mark words in one of three ways (`causal.gaps`). If a space belongs to the token after it, an entry
# begins a word in a gap after a space if it has that space itself, because the space before the gap belongs to what
# fills the gap. If tokens that continue a word are marked, all others begin one. If words' last tokens are marked,
# every token after a space begins one.


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
