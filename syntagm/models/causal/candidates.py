"""Tokenisation of candidates in their contexts.

Thousands of candidates after thousands of contexts are too many to tokenise one by one. If a tokenizer always splits a
text at a single space, contexts and candidates are tokenised separately, each once. `divides_at_blanks` decides this
from the parts of the tokenizer; as a check, one candidate per context is also tokenised together with the context. In
all other cases, every candidate is tokenised together with its context.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError
from syntagm.models.causal.prefix_tree import Pack, plan
from syntagm.models.hugging_face.tokens import Encoded, encode

# Each node is a distinct prefix of candidates. Its surprisal is computed from the output at its parent. So only nodes
# with children are inputs of the model; if the ends of words are scored, the last node of each candidate is one, too.

Nodes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of the tree that is computed in one pass."""

    pack: Pack  # the nodes of the part, to be placed below a context
    nodes: Nodes  # shape (nodes of the pack,): their numbers in the tree
    places: Nodes  # shape (targets,): for each target, the index of its parent in the pack
    targets: Nodes  # shape (targets,): the numbers of these children in the tree

    def cut(self, length: int) -> "Part":
        """Return the first `length` nodes of a part without branches."""
        if length >= len(self.nodes):
            return self
        pack, kept = self.pack, self.places < length
        shorter = Pack(
            pack.tokens[:length], pack.parents[:length], pack.depths[:length], pack.sequences,
            tuple(path[:length] for path in pack.paths), pack.mask()[:length, :length],
        )  # fmt: skip
        return Part(shorter, self.nodes[:length], self.places[kept], self.targets[kept])


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    """A tree of candidates, made by `grow`."""

    tokens: Nodes  # shape (nodes,): the last token of each prefix, in depth-first order
    parents: Nodes  # shape (nodes,): the node of the prefix without its last token; -1 for the context
    first: Nodes  # `first`, `last`: shape (candidates,): first and last node of each candidate
    last: Nodes
    depth: Nodes  # shape (candidates,): number of tokens of each candidate
    ended: bool  # whether the ends of the candidates are scored, too
    _flat: Nodes
    _plans: dict[int, tuple[Part, ...]] = field(default_factory=dict, init=False, repr=False)

    @property
    def roots(self) -> Nodes:
        """The nodes directly below the context."""
        return np.flatnonzero(self.parents < 0)

    def sums(self, bits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of `bits`, shape (nodes,), over the nodes of each candidate."""
        sums: NDArray[np.float64] = np.add.reduceat(bits[self._flat], np.cumsum(self.depth) - self.depth)
        return sums

    def parts(self, size: int) -> tuple[Part, ...]:
        """Return all nodes to compute, in parts of at most `size` nodes; if `size` is 0, each path is a part without branches."""
        if size not in self._plans:
            self._plans[size] = tuple(self._planned(size))
        return self._plans[size]

    def _planned(self, size: int) -> list[Part]:
        needed = np.zeros(len(self.tokens), bool)
        needed[self.parents[self.parents >= 0]] = True
        needed[self.last] |= self.ended
        passed = np.zeros(len(self.tokens), bool)
        passed[self.parents[needed & (self.parents >= 0)]] = True
        paths = [self._path(int(node)) for node in np.flatnonzero(needed & ~passed)]
        sequences = [self.tokens[path].tolist() for path in paths]
        if size:
            packs = list(plan(sequences, size, last=True))
        else:
            order = sorted(range(len(paths)), key=lambda index: len(paths[index]))
            packs = [pack for index in order for pack in plan(sequences, 1, True, [index])]
        return [self._part(pack, paths) for pack in packs]

    def _path(self, node: int) -> Nodes:
        path = [node]
        while (node := int(self.parents[node])) >= 0:
            path.append(node)
        return np.array(path[::-1], np.int64)

    def _part(self, pack: Pack, paths: Sequence[Nodes]) -> Part:
        nodes = np.empty(len(pack.tokens), np.int64)
        for index, path in zip(pack.sequences, pack.paths, strict=True):
            nodes[path] = paths[index]
        place = np.full(len(self.tokens) + 1, -1, np.int64)
        place[nodes] = np.arange(len(nodes))
        after = place[self.parents]
        targets = np.flatnonzero(after >= 0)
        # The mask is computed once here, not again for each context.
        kept = Pack(pack.tokens, pack.parents, pack.depths, pack.sequences, pack.paths, pack.mask())
        return Part(kept, nodes, after[targets], targets)


def grow(candidates: Sequence[Sequence[int]], ended: bool) -> Branches:
    """Build the tree of candidates, which have at least one token each and may be repeated.

    >>> branches = grow([[5, 6], [4], [5], [5, 7]], ended=False)
    >>> branches.tokens.tolist(), branches.parents.tolist(), branches.last.tolist()
    ([4, 5, 6, 7], [-1, -1, 1, 1], [2, 0, 1, 3])
    >>> [(part.nodes.tolist(), part.targets.tolist()) for part in branches.parts(8)]
    [([1], [2, 3])]
    """
    numbers: dict[tuple[int, int], int] = {}
    paths: dict[tuple[int, ...], list[int]] = {}
    for candidate in sorted({tuple(candidate) for candidate in candidates}):
        node, path = -1, []
        for token in candidate:
            node = numbers.setdefault((node, token), len(numbers))
            path.append(node)
        paths[candidate] = path
    candidate_paths = [paths[tuple(candidate)] for candidate in candidates]
    keys = np.array(list(numbers), np.int64).reshape(-1, 2)
    return Branches(
        keys[:, 1], keys[:, 0],
        np.array([path[0] for path in candidate_paths], np.int64), np.array([path[-1] for path in candidate_paths], np.int64),
        np.array([len(path) for path in candidate_paths], np.int64), ended,
        np.array([node for path in candidate_paths for node in path], np.int64),
    )  # fmt: skip


# The first character must be a letter: a punctuation mark may be merged with the text before it.
_PLAIN = re.compile(r"[A-Za-z](?:[!-~]| (?=[!-~]))*")
_BEFORE_SPACE = re.compile(r"[!-~] \Z")
# A placeholder for any context that ends with a space.
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
    """Tokenised candidates after the same context tokens."""

    before: tuple[int, ...]  # token ids of the text before the gap, without bos
    places: NDArray[np.int64]  # shape (candidates,): the index of each candidate in the list of words
    tokens: tuple[tuple[int, ...], ...]  # token ids of each candidate, at least one
    # Shape (candidates,), bool: whether none of the candidate's tokens is the unknown-word symbol.
    in_vocabulary: NDArray[np.bool_]


class Speller:
    """A tokenizer of candidates that caches lists of candidates, because many gaps use the same list."""

    def __init__(self, tokenizer: Any, model: str) -> None:
        self._tokenizer, self._model = tokenizer, model
        self._separately = divides_at_blanks(json.loads(tokenizer.backend_tokenizer.to_str()))
        self._cache: dict[tuple[str, tuple[str, ...]], tuple[Spelled | None, list[int]]] = {}

    def spelled(self, left: str, words: tuple[str, ...]) -> list[Spelled]:
        """Tokenise the candidates after `left`; group them by the tokens before them."""
        anchor = self._anchor(left)
        if anchor is None:
            return list(self._whole(left, words, range(len(words))))
        group, others = self._listed(anchor, words)
        before = tuple(self._encode([left.rstrip()])[0].ids)
        if group is None or not self._holds(left, before, words, group):
            return list(self._whole(left, words, range(len(words))))
        plain = Spelled(before, group.places, group.tokens, group.in_vocabulary)
        return [plain, *self._whole(left, words, others)]

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each word is a single token after a space."""
        single = np.zeros(len(words), bool)
        for group in self._whole(_ANCHOR, tuple(words), range(len(words))):
            single[group.places] = [len(tokens) == 1 for tokens in group.tokens]
        return single

    def _anchor(self, left: str) -> str | None:
        """Return the text that replaces `left` when candidates are tokenised separately from it; None if they can't be."""
        if not self._separately or (left and not _BEFORE_SPACE.search(left)):
            return None
        return _ANCHOR if left else ""

    def _listed(self, anchor: str, words: tuple[str, ...]) -> tuple[Spelled | None, list[int]]:
        """Return all plain candidates after an anchor (None if they can't be separated from it), and the other indices."""
        if (anchor, words) not in self._cache:
            if len(self._cache) >= 8:
                self._cache.clear()
            plain = [place for place, word in enumerate(words) if _PLAIN.fullmatch(word)]
            groups = list(self._whole(anchor, words, plain))
            others = sorted(set(range(len(words))).difference(plain))
            self._cache[anchor, words] = (groups[0] if len(groups) == 1 else None, others)
        return self._cache[anchor, words]

    def _holds(self, left: str, before: tuple[int, ...], words: Sequence[str], group: Spelled) -> bool:
        """Check that context and candidate have the same tokens when tokenised together as when tokenised separately."""
        [whole] = self._encode([left + words[int(group.places[0])]])
        return tuple(whole.ids) == before + group.tokens[0]

    def _whole(self, left: str, words: Sequence[str], places: Sequence[int]) -> Iterator[Spelled]:
        """Tokenise candidates, each with its context."""
        if not places:
            return
        groups: dict[tuple[int, ...], list[tuple[int, tuple[int, ...], bool]]] = {}
        for place in places:
            if not words[place] or words[place] != words[place].strip():
                raise ModelError(
                    self._model, f"the candidate {words[place]!r}", "a word without white space around it",
                    "White space around a gap belongs to the text before and after it.",
                )  # fmt: skip
        for place, encoded in zip(places, self._encode([left + words[place] for place in places]), strict=True):
            first = self._first(left, words[place], encoded)
            entry = (place, tuple(encoded.ids[first:]), bool(encoded.in_vocabulary[first:].all()))
            groups.setdefault(tuple(encoded.ids[:first]), []).append(entry)
        for before, entries in groups.items():
            group_places, tokens, in_vocabulary = zip(*entries, strict=True)
            yield Spelled(before, np.array(group_places, np.int64), tokens, np.array(in_vocabulary, bool))

    def _first(self, left: str, word: str, encoded: Encoded) -> int:
        """Return the index of the candidate's first token. A space before the candidate belongs to it, even as a token."""
        text, starts = left + word, encoded.starts
        border = len(left) - left.endswith(" ")
        ends = np.append(starts, len(text))[np.searchsorted(starts, starts, "right")]
        inside = np.flatnonzero(ends > border)
        if not len(inside) or text[starts[inside[0]] : border].strip():
            raise ModelError(
                self._model, f"no token border between {left!r} and {word!r}", "a candidate that begins with a new token",
                "Put a space at the end of the text before the gap.",
            )  # fmt: skip
        return int(inside[0])

    def _encode(self, texts: Sequence[str]) -> list[Encoded]:
        return list(encode(self._tokenizer, texts, self._model))


def divides_at_blanks(tokenizer: Mapping[str, Any]) -> bool:
    """Return whether a tokenizer always splits at a single space between a visible ASCII character and a letter."""
    # The two sides are then tokenised independently. This is true of pre-tokenizers that look no further than the
    # space. Without such a pre-tokenizer, it is true if no token has a space after another character. The result False
    # is always safe.
    if not all(_keeps_away(token) for token in tokenizer.get("added_tokens") or []):
        return False
    normalizers, pieces = (_flat(tokenizer.get(name)) for name in ("normalizer", "pre_tokenizer"))
    if not all(part["type"] in _NORMALIZERS for part in normalizers):
        return False
    if tokenizer["model"].get("dropout"):
        return False
    replaced = any(part["type"] == "Replace" for part in normalizers)
    if replaced:
        return _marks_spaces(normalizers) and not _splits(pieces) and _crosses_nothing(tokenizer["model"])
    return any(map(_divides, pieces)) and all(_divides(part) or _is_harmless(part) for part in pieces)


def _keeps_away(token: Mapping[str, Any]) -> bool:
    """Return whether an added token can't extend across a space. Special tokens are refused in texts anyway."""
    if token["lstrip"] or token["rstrip"] or token["single_word"]:
        return bool(token["special"]) and not any(map(str.isspace, token["content"]))
    if token["special"]:
        return not any(map(str.isspace, token["content"]))
    return len(token["content"]) > 1 and not token["content"].strip()


def _flat(part: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    if part is None:
        return []
    nested = part.get("normalizers") or part.get("pretokenizers")
    return [flat for inner in nested for flat in _flat(inner)] if nested else [part]


def _divides(part: Mapping[str, Any]) -> bool:
    if part["type"] == "ByteLevel":
        return bool(part.get("use_regex", True))
    if part["type"] == "Split":
        return part["pattern"].get("Regex") in _PATTERNS and part["behavior"] == "Isolated" and not part["invert"]
    return part["type"] in _DIVIDING and bool(part.get("split", True))


def _is_harmless(part: Mapping[str, Any]) -> bool:
    return part["type"] in _HARMLESS and not part.get("add_prefix_space")


def _marks_spaces(normalizers: Sequence[Mapping[str, Any]]) -> bool:
    return all(
        part["pattern"] == {"String": " "} and part["content"] == "▁"
        for part in normalizers
        if part["type"] == "Replace"
    )


def _splits(pieces: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether there are splits other than at spaces. If spaces are replaced, a split at spaces has no effect."""
    return any(part["type"] != "Split" or part["pattern"] != {"String": " "} for part in pieces)


def _crosses_nothing(model: Mapping[str, Any]) -> bool:
    """Return whether no merge extends across a space, so that merges on the two sides are independent."""
    if model["type"] != "BPE" or model.get("ignore_merges"):
        return False
    return not any("▁" in token.lstrip("▁") for token in model["vocab"])
