"""Tokens as vLLM lists them, and texts scored by llama.cpp's server (llama-server), which echoes no log-probabilities.

llama-server lists the tokens of a text with their bytes (`/tokenize`), and states the log-probability of the token with
which it continues a list of tokens (`/completion`), before samplers and biases. A bias makes it continue with the next
token of the text. So a text takes a request for each token. With the server's cache of prompts, numbers would depend on
what was asked before, so it is not used. A token that ends inside a character is not listed as a continuation, so it is
looked up among all tokens.
"""

import itertools
import re
import threading
from collections.abc import Sequence
from typing import Any

from syntagm.core import InputError, ModelError, shape
from syntagm.models.hugging_face.tokens import BYTES
from syntagm.models.openai.answers import Completion, logprob
from syntagm.models.openai.client import Client

# In vLLM's answers, a token that ends inside a character is empty, and the next one begins with a replacement
# character, so that letters can be missing, too. Its `/tokenize` lists the tokens as in the vocabulary, which spells bytes
# in one of two ways: each as a letter (byte-level tokenizers such as GPT-2's), or as `<0xC3>` (SentencePiece with bytes
# for rare characters).

# In the list of models, where others have the name of an organisation.
VLLM = "vllm"
_FALLBACK = re.compile("<0x([0-9A-F]{2})>")


def lists_tokens(client: Client, model: str, place: str) -> bool:
    """Return whether the server lists tokens as in the vocabulary. Older versions may not, and a proxy may hide the page."""
    try:
        return bool(vocabulary_tokens(client, model, "a", place))
    except ModelError:
        return False


def vocabulary_tokens(client: Client, model: str, prompt: str, place: str) -> list[str]:
    """Return the tokens of a text as in the vocabulary, special symbols included; none if the server does not list them."""
    body = {"model": model, "prompt": prompt, "return_token_strs": True}
    answer = client.post(f"{client.base.removesuffix('/v1')}/tokenize", body, place, threading.Event())
    tokens = answer.get("token_strs")
    return tokens if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens) else []


def byte_offsets(text: str, tokens: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return the first character of each token, and the one after its last; None if the tokens are not those of the text.

    >>> byte_offsets("a\u00efve", ["a\u00c3", "\u00afve"]), byte_offsets("\u00e9", ["\u2581", "<0xC3>", "<0xA9>"])
    ([(0, 2), (1, 4)], [(0, 0), (0, 1), (0, 1)])
    """
    # The number of the character to which each byte belongs.
    characters = [number for number, character in enumerate(text) for _ in character.encode()]
    # SentencePiece puts a blank before a text.
    contents = (text.encode(), b" " + text.encode())
    for spelling in (_byte_level, _byte_fallback):
        parts = [spelling(token) for token in tokens]
        if all(parts) and (whole := b"".join(parts)) in contents:
            ends = [end + len(characters) - len(whole) for end in itertools.accumulate(map(len, parts))]
            return [
                (characters[max(0, end - len(part))], characters[end - 1] + 1 if end else 0)
                for end, part in zip(ends, parts, strict=True)
            ]
    return None


def _byte_level(token: str) -> bytes:
    return bytes(BYTES[letter] for letter in token) if BYTES.keys() >= set(token) else b""


def _byte_fallback(token: str) -> bytes:
    byte = _FALLBACK.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace("\u2581", " ").encode()


# In the list of models, where others have the name of an organisation.
LLAMA_CPP = "llamacpp"
# Added to the logit of the next token, so that it is chosen.
_BIAS = 1e6
# More than there are tokens in any vocabulary.
_ALL = 10_000_000
# Part of a character.
_PART = "\ufffd"


def completed_stepwise(
    client: Client, prompt: str, special: bool, echo: bool, place: str, stop: threading.Event
) -> Completion:
    """Return the tokens of a text as in a completion with echo but without a generated token, or the generated token alone."""
    root = client.base.removesuffix("/v1")
    body = {"content": prompt, "add_special": True, "parse_special": special, "with_pieces": True}
    entries = client.post(f"{root}/tokenize", body, place, stop).get("tokens")
    tokens = [_token(entry, place) for entry in entries] if isinstance(entries, list) else []
    if not tokens:
        raise InputError(place, f"the tokens {shape.shown(entries)}", "the tokens of the text")
    ids = [number for number, _ in tokens]

    def continued(count: int, bias: Sequence[object], listed: int = 1) -> dict[str, Any]:
        body = {
            "prompt": ids[:count], "n_predict": 1, "n_probs": listed, "temperature": 0, "cache_prompt": False,
            "logit_bias": bias, "response_fields": ["completion_probabilities", "tokens_evaluated"],
        }  # fmt: skip
        answer = client.post(f"{root}/completion", body, place, stop)
        if answer.get("tokens_evaluated") != count:
            raise InputError(
                place, f"an answer after {shape.shown(answer.get('tokens_evaluated'))} tokens", f"one after {count}"
            )
        probabilities = answer.get("completion_probabilities")
        if not isinstance(probabilities, list) or len(probabilities) != 1 or not isinstance(probabilities[0], dict):
            raise InputError(place, f"the probabilities {shape.shown(probabilities)}", "that of one token")
        entry: dict[str, Any] = probabilities[0]
        return entry

    def value(count: int) -> float:
        number, piece = tokens[count]
        if _PART not in piece:
            entry = continued(count, [[number, _BIAS]])
        else:
            others = [other for other, whole in tokens if _PART not in whole]
            top = continued(count, [[others[0], _BIAS]], _ALL).get("top_logprobs") if others else None
            entries = top if isinstance(top, list) else []
            entry = next((one for one in entries if isinstance(one, dict) and one.get("id") == number), {})
        if entry.get("id") != number:
            raise InputError(
                f"{place}, token {count}", f"the number {shape.shown(entry.get('id'))}", f"{number}, as asked"
            )
        return logprob(entry.get("logprob"), f"{place}, token {count}")

    if not echo:
        entry = continued(len(ids), [])
        return Completion((str(entry.get("token")),), (logprob(entry.get("logprob"), place),), len(ids), 1)
    pieces, values = tuple(piece for _, piece in tokens), [value(count) for count in range(1, len(ids))]
    return Completion(pieces, (None, *values), len(ids), 0)


def _token(entry: Any, place: str) -> tuple[int, str]:
    """Return the number of a token and its piece; a token that is part of a character has a list of bytes."""
    number, piece = (entry.get("id"), entry.get("piece")) if isinstance(entry, dict) else (None, None)
    if isinstance(piece, list) and all(isinstance(byte, int) and 0 <= byte < 256 for byte in piece):
        piece = bytes(piece).decode("utf-8", "replace")
    if not isinstance(number, int) or not isinstance(piece, str):
        raise InputError(place, f"the token {shape.shown(entry)}", "a number and a piece of text")
    return number, piece
