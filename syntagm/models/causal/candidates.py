"""How candidates for a blank are tokenised where they stand.

Thousands of candidates after thousands of contexts are too many to tokenise one by one. Where a tokenizer divides a text at a
single blank whatever stands around it, context and candidate are tokenised apart, each once; whether it does is read off its
parts (`divides_at_blanks`), and one candidate a context is tokenised whole as a check. All else is tokenised in full.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import ModelError
from syntagm.models.hugging_face.tokens import Encoded, encode

# A letter first: what begins with a mark may be joined to what stands before it.
_PLAIN = re.compile(r"[A-Za-z](?:[!-~]| (?=[!-~]))*")
_BEFORE_BLANK = re.compile(r"[!-~] \Z")
# Any such text will do; what is tokenised after it stands after a blank.
_ANCHOR = "a "
_NORMALIZERS = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "BertNormalizer", "Prepend", "Replace"}
_DIVIDING = {"ByteLevel", "BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Metaspace", "Split"}
_HARMLESS = {"ByteLevel", "Digits", "Punctuation"}
# GPT-4's and Llama 3's, and Qwen 2's.
_PATTERNS = {
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|" + numbers + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    for numbers in (r"\p{N}{1,3}", r"\p{N}")
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Spelled:
    """Candidates that stand after the same tokens.

    Arguments:
        before: the tokens of the text before the blank, without start symbol.
        places: shape (candidates,): which of the words they are.
        tokens: of each candidate, at least one.
        in_vocabulary: shape (candidates,): none of its tokens is the unknown one.
    """

    before: tuple[int, ...]
    places: NDArray[np.int64]
    tokens: tuple[tuple[int, ...], ...]
    in_vocabulary: NDArray[np.bool_]


class Speller:
    """Tokenises candidates; keeps lists of them, since one list is asked about in many blanks."""

    def __init__(self, tokenizer: Any, model: str) -> None:
        self._tokenizer, self._model = tokenizer, model
        self._apart = divides_at_blanks(json.loads(tokenizer.backend_tokenizer.to_str()))
        self._kept: dict[tuple[str, tuple[str, ...]], tuple[Spelled | None, list[int]]] = {}

    def spelled(self, left: str, words: tuple[str, ...]) -> list[Spelled]:
        """The candidates after `left`, grouped by the tokens that stand before them.

        Raises:
            ModelError: an empty candidate, white space around one, or one whose first token begins before it.
        """
        anchor = self._anchor(left)
        if anchor is None:
            return list(self._whole(left, words, range(len(words))))
        group, others = self._listed(anchor, words)
        before = tuple(self._encode([left.rstrip()])[0].ids)
        if group is None or not self._holds(left, before, words, group):
            return list(self._whole(left, words, range(len(words))))
        found = Spelled(before, group.places, group.tokens, group.in_vocabulary)
        return [found, *self._whole(left, words, others)]

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the words are single tokens after a blank."""
        found = np.zeros(len(words), bool)
        for group in self._whole(_ANCHOR, tuple(words), range(len(words))):
            found[group.places] = [len(tokens) == 1 for tokens in group.tokens]
        return found

    def _anchor(self, left: str) -> str | None:
        """After what the candidates may be tokenised in place of `left`; None if after nothing else."""
        if not self._apart or (left and not _BEFORE_BLANK.search(left)):
            return None
        return _ANCHOR if left else ""

    def _listed(self, anchor: str, words: tuple[str, ...]) -> tuple[Spelled | None, list[int]]:
        """All plain candidates after an anchor, and which are not plain; None if they can't be told from it."""
        if (anchor, words) not in self._kept:
            if len(self._kept) >= 8:
                self._kept.clear()
            plain = [place for place, word in enumerate(words) if _PLAIN.fullmatch(word)]
            groups = list(self._whole(anchor, words, plain))
            others = sorted(set(range(len(words))).difference(plain))
            self._kept[anchor, words] = (groups[0] if len(groups) == 1 else None, others)
        return self._kept[anchor, words]

    def _holds(self, left: str, before: tuple[int, ...], words: Sequence[str], group: Spelled) -> bool:
        """Is a text tokenised in full what its parts are?"""
        [whole] = self._encode([left + words[int(group.places[0])]])
        return tuple(whole.ids) == before + group.tokens[0]

    def _whole(self, left: str, words: Sequence[str], places: Sequence[int]) -> Iterator[Spelled]:
        """Candidates by tokenising each text in full."""
        if not places:
            return
        groups: dict[tuple[int, ...], list[tuple[int, tuple[int, ...], bool]]] = {}
        for place in places:
            if not words[place] or words[place] != words[place].strip():
                raise ModelError(
                    self._model, f"the candidate {words[place]!r}", "a word without white space around it",
                    "White space around a blank belongs to what stands before and after it.",
                )  # fmt: skip
        for place, answer in zip(places, self._encode([left + words[place] for place in places]), strict=True):
            first = self._first(left, words[place], answer)
            entry = (place, tuple(answer.ids[first:]), bool(answer.in_vocabulary[first:].all()))
            groups.setdefault(tuple(answer.ids[:first]), []).append(entry)
        for before, entries in groups.items():
            found, tokens, known = zip(*entries, strict=True)
            yield Spelled(before, np.array(found, np.int64), tokens, np.array(known, bool))

    def _first(self, left: str, word: str, answer: Encoded) -> int:
        """The first token of the candidate. The blank before it is part of it, even if it is a token by itself."""
        text, starts = left + word, answer.starts
        border = len(left) - left.endswith(" ")
        ends = np.append(starts, len(text))[np.searchsorted(starts, starts, "right")]
        inside = np.flatnonzero(ends > border)
        if not len(inside) or text[starts[inside[0]] : border].strip():
            raise ModelError(
                self._model, f"no token border between {left!r} and {word!r}", "a candidate with tokens of its own",
                "Leave a blank before the gap, at the end of what stands before it.",
            )  # fmt: skip
        return int(inside[0])

    def _encode(self, texts: Sequence[str]) -> list[Encoded]:
        return list(encode(self._tokenizer, texts, self._model))


def divides_at_blanks(tokenizer: Mapping[str, Any]) -> bool:
    """Does a tokenizer, as its JSON describes it, divide at a single blank between a visible ASCII character and a letter?

    And is each side tokenised as if the other were not there? Known to hold for pre-tokenizers that look no farther than the
    blank, and without one where no token holds a blank after something else. False is always safe.
    """
    if not all(_keeps_away(token) for token in tokenizer.get("added_tokens") or []):
        return False
    normalizers, pieces = (_flat(tokenizer.get(name)) for name in ("normalizer", "pre_tokenizer"))
    if not all(part["type"] in _NORMALIZERS for part in normalizers):
        return False
    if tokenizer["model"].get("dropout"):
        return False
    replaced = any(part["type"] == "Replace" for part in normalizers)
    if replaced:
        return _marks_blanks(normalizers) and not _splits(pieces) and _crosses_nothing(tokenizer["model"])
    return any(map(_divides, pieces)) and all(_divides(part) or _is_harmless(part) for part in pieces)


def _keeps_away(token: Mapping[str, Any]) -> bool:
    """Can an added token not reach across a blank? Special ones are refused in texts."""
    if token["lstrip"] or token["rstrip"] or token["single_word"]:
        return bool(token["special"]) and not any(map(str.isspace, token["content"]))
    if token["special"]:
        return not any(map(str.isspace, token["content"]))
    return len(token["content"]) > 1 and not token["content"].strip()


def _flat(part: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    if part is None:
        return []
    nested = part.get("normalizers") or part.get("pretokenizers")
    return [one for inner in nested for one in _flat(inner)] if nested else [part]


def _divides(part: Mapping[str, Any]) -> bool:
    if part["type"] == "ByteLevel":
        return bool(part.get("use_regex", True))
    if part["type"] == "Split":
        return part["pattern"].get("Regex") in _PATTERNS and part["behavior"] == "Isolated" and not part["invert"]
    return part["type"] in _DIVIDING and bool(part.get("split", True))


def _is_harmless(part: Mapping[str, Any]) -> bool:
    return part["type"] in _HARMLESS and not part.get("add_prefix_space")


def _marks_blanks(normalizers: Sequence[Mapping[str, Any]]) -> bool:
    return all(
        part["pattern"] == {"String": " "} and part["content"] == "▁"
        for part in normalizers
        if part["type"] == "Replace"
    )


def _splits(pieces: Sequence[Mapping[str, Any]]) -> bool:
    """Does anything split further? Where blanks are replaced, a split at blanks does nothing."""
    return any(part["type"] != "Split" or part["pattern"] != {"String": " "} for part in pieces)


def _crosses_nothing(model: Mapping[str, Any]) -> bool:
    """Is there no merge over a blank? Then merges on its two sides don't touch."""
    if model["type"] != "BPE" or model.get("ignore_merges"):
        return False
    return not any("▁" in token.lstrip("▁") for token in model["vocab"])
