"""The tokens of a text as vLLM's vocabulary spells them, for texts whose tokens its completions don't show exactly.

There, a token that ends inside a character is empty, and the next one begins with a replacement character, so that letters can
be missing, too. `/tokenize` lists the tokens as in the vocabulary, which spells bytes in one of two ways: each as a letter
(byte-level tokenizers such as GPT-2's), or as `<0xC3>` (SentencePiece with bytes for rare characters).
"""

import itertools
import re
import threading
from collections.abc import Sequence

from syntagm.core import ModelError
from syntagm.models.hugging_face.tokens import BYTES
from syntagm.models.openai.client import Client

# In the list of models, where others have the name of an organisation.
OWNER = "vllm"
_FALLBACK = re.compile("<0x([0-9A-F]{2})>")


def available(client: Client, model: str, place: str) -> bool:
    """Return whether the server lists tokens as in the vocabulary. Older versions may not, and a proxy may hide the page."""
    try:
        return bool(spelled(client, model, "a", place))
    except ModelError:
        return False


def spelled(client: Client, model: str, prompt: str, place: str) -> list[str]:
    """Return the tokens of a text as in the vocabulary, special symbols included; none if the server does not list them."""
    body = {"model": model, "prompt": prompt, "return_token_strs": True}
    answer = client.post(f"{client.base.removesuffix('/v1')}/tokenize", body, place, threading.Event())
    tokens = answer.get("token_strs")
    return tokens if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens) else []


def offsets(text: str, tokens: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return the first character of each token, and the one after its last; None if the tokens are not those of the text.

    >>> offsets("a\u00efve", ["a\u00c3", "\u00afve"]), offsets("\u00e9", ["\u2581", "<0xC3>", "<0xA9>"])
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
