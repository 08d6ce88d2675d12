"""Hugging Face causal language models: the bundled demo, folders, or models from the hub.

Names: `causal:./folder`, `causal:org/name@revision`; a name without a family means `causal:`.

Without a start-of-text symbol (`bos=no`, or a model that has none), the first token has no surprisal: its bits are nan
and count as 0 in sums. The surprisals of tokens beyond the model's positions are undefined (nan).

Gaps are filled exactly, regardless of a candidate's number of tokens. With `fill=word`, a candidate's probability is
that of the word, not of all words that begin with its tokens: the product of its tokens' probabilities is multiplied by
the probability that a word has ended after it, and divided by the probability that a word has ended before it. A word
has ended if the next token begins with white space or a punctuation mark, or is the end-of-text symbol. If the
tokenizer marks tokens that continue a word (##), a word has ended if the next token is not marked. This needs a forward
pass for the end of each candidate. Published numbers are usually those of `fill=token`, which needs only one pass per
context for single-token candidates. The default for texts is `boundary=token`, because the correction nearly cancels
over a sentence. It does not cancel between candidates for a gap.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError
from syntagm.models import families
from syntagm.models.answers import Fill, Gap, InContext, Reductions, Surprisals
from syntagm.models.causal.family import BATCH, FAMILY
from syntagm.models.causal.forward import NO_LIMIT, Rows
from syntagm.models.causal.gaps import Filler, word_ends
from syntagm.models.causal.probe import probed
from syntagm.models.hugging_face.identity import Identified
from syntagm.models.hugging_face.loading import Loaded, batch_tokens, in_memory, read, refuse_headless, spelled
from syntagm.models.hugging_face.tokens import (
    Borders,
    Encoded,
    encode,
    encode_after,
    refuse_beyond,
    refuse_random,
    symbol,
    word_borders,
)
from syntagm.models.hugging_face.unsafe import CURE, UNUSABLE, described, one_error
from syntagm.models.hugging_face.weights import hash_code, refuse_nan
from syntagm.models.windows import Window, before, overlap_of, refuse_overlap, shares

# A chat template is rendered with one message. What precedes the content is the context of the text. Context and text are
# tokenised together, as a chat would be. If a token then belongs to both of them, or the text changes the tokens of the
# context, it is refused. White space belongs to the token after it, so a token may begin with that of the template.

# Content that no template contains or changes.
_CONTENT = "SyntagmContent"
# Characters of a template, and of what it writes; most have some hundred.
_LONGEST = 100_000


def before_content(tokenizer: Any, role: str, name: str) -> str:
    """Return what a chat template writes before the content of a message, special symbols included."""
    place = f"model option chat={role}"
    if not tokenizer.chat_template:
        raise UsageError(place, f"no chat template in {name}", "a tokenizer with a template", "Use chat=no.")
    message = {"role": role, "content": _CONTENT}
    try:
        template = tokenizer.get_chat_template()
        rendered = str(tokenizer.apply_chat_template([message], tokenize=False))
    except Exception as error:  # a template is a program, and raises what programs raise
        expected = "a template for a chat of this message alone"
        raise ModelError(
            name, f"a chat template that fails ({described(error)})", expected, "Use another role, or chat=no."
        ) from error
    for found, length in (("that writes", len(rendered)), ("of", len(template))):
        if length > _LONGEST:
            raise ModelError(
                name, f"a chat template {found} {length:,} characters", f"at most {_LONGEST:,}", "Use chat=no."
            )
    if rendered.count(_CONTENT) != 1:
        found = f"a chat template that writes the content {rendered.count(_CONTENT)} times"
        raise ModelError(name, found, "once", "Use chat=no.")
    return rendered.partition(_CONTENT)[0]


def refuse_with_chat(options: Mapping[str, str], role: str) -> None:
    """Refuse options that the template decides on or that are not defined for the content of a message."""
    if role == "no":
        return
    for name, least in (("bos", "auto"), ("eos", "no"), ("boundary", "token")):
        if options.get(name, least) != least:
            cure = "The template decides on the symbols around a text." if name != "boundary" else ""
            raise UsageError("model options", f"{name}={options[name]} with chat={role}", "only one of them", cure)


def encode_contents(tokenizer: Any, context: str, texts: Sequence[str], name: str) -> Iterator[Encoded]:
    expected = context_ids(tokenizer, context, name)
    for text, (tokens_before, encoded) in zip(texts, encode_after(tokenizer, context, texts, name), strict=True):
        if text and tokens_before != expected:
            raise ModelError(
                name, f"{text!r}, which changes the tokens of the chat template before it",
                "a text that begins with tokens of its own", "Remove white space at its beginning, or use chat=no.",
            )  # fmt: skip
        yield encoded


def context_ids(tokenizer: Any, context: str, name: str) -> list[int]:
    """Return the token ids of the context, as it is before a text that begins with a letter."""
    [(before, _)] = encode_after(tokenizer, context, ["a"], name)
    return before


SCORER = "causal 1"


class Causal(Identified):
    """A causal transformer with its tokenizer, created by `load`, or by `from_transformers` for a model in memory."""

    def __init__(self, loaded: Loaded, options: Mapping[str, str], probe_later: bool = False) -> None:
        model, tokenizer = loaded.model, loaded.tokenizer
        chosen, config = FAMILY.choose(options), model.config
        refuse_with_chat(options, chosen["chat"])
        self.can = FAMILY.able(chosen)
        refuse_headless(model, "causal", loaded.label)
        self.eos_id, about_eos = symbol("eos", chosen["eos"], tokenizer, config, loaded.stated)
        self._ending, about_end = symbol("eos", "auto", tokenizer, config, loaded.stated)
        refuse_nan(model, FAMILY.canonical(loaded.label, options))
        self.tokenizer = tokenizer
        self._chat, self.eos, about_bos = "", self._symbol(tokenizer, self.eos_id), ""
        if chosen["chat"] == "no":
            self.bos_id, about_bos = symbol("bos", chosen["bos"], tokenizer, config, loaded.stated)
            self._start = [] if self.bos_id is None else [self.bos_id]
            self.bos = self._symbol(tokenizer, self.bos_id)
        else:
            self._chat = before_content(tokenizer, chosen["chat"], FAMILY.canonical(loaded.label, options))
            self._start = context_ids(tokenizer, self._chat, loaded.label)
            self.bos_id, self.bos = self._start[0] if self._start else None, self._chat or None
        # The end-of-text symbol also ends words, even with `eos=no`.
        self.warnings = tuple(filter(None, (about_bos, about_eos or about_end)))
        # With a chat, the template may begin with any token.
        symbols = {"start": None if self._chat else self.bos_id, "end": self.eos_id}
        size = min(model.get_output_embeddings().weight.shape[0], model.get_input_embeddings().weight.shape[0])
        refuse_random(tokenizer, symbols, size, loaded.label)
        refuse_beyond(tokenizer, "the template's", max(self._start, default=0), size, loaded.label)
        self._borders = self._word_borders(model, tokenizer, chosen["boundary"])
        self.forward = probed(
            model, batch_tokens(chosen, model.device, BATCH), chosen["sharing"] == "auto", self._borders
        )
        if not probe_later:
            _ = self.forward.ways
        # With a chat, the template decides on bos. Without, signatures are as they were before this option.
        before = "yes" if self.bos is not None else "no"
        chat = {"bos": before, "chat": None} if chosen["chat"] == "no" else {"bos": None, "chat": chosen["chat"]}
        self.settings = FAMILY.scoring_settings(chosen, **chat, dtype=spelled(model.dtype), adapter=loaded.adapter)
        if loaded.quantised:
            self.settings["quantised"] = loaded.quantised
        self._options = dict(options)
        self.identify(loaded)

    def identify(self, loaded: Loaded) -> None:
        """Set the attributes that depend on the values of the weights: name, fingerprint and record."""
        model, tokenizer, config = loaded.model, loaded.tokenizer, loaded.model.config
        self.name = FAMILY.canonical(loaded.label, self._options)
        code, borders = hash_code(model), self._borders and self._borders.digest()
        ending = self._ending if self.settings["fill"] == "word" else None
        dependencies = [
            code,
            self.bos_id,
            self.eos_id,
            tokenizer.unk_token_id,
            borders,
            ending,
            self.settings,
            *([self._chat, self._start] if self._chat else []),
        ]

        def record() -> dict[str, object]:
            ways = self.forward.ways
            return {
                "unused weights": list(loaded.unused),
                "code": code,
                "revision": getattr(config, "_commit_hash", None),
                "options": self._options,
                "device": str(model.device),
                "prefixes": "shared (packed trees)" if ways.tree else "not shared (padded batches, by length)",
                "head": "needed rows" if ways.direct_head else "needed rows, inside the model's own pass",
                "positions": self.forward.limit,
                "torch": torch.__version__,
                "transformers": transformers.__version__,
                **loaded.record,
                **({"symbols": list(self.warnings)} if self.warnings else {}),
                **({"training": loaded.training} if loaded.training else {}),
                **({"chat": {"before each text": self._chat, "tokens": self._start}} if self._chat else {}),
            }

        self._identify(loaded, SCORER, dependencies, record)

    @cached_property
    def numerical_error(self) -> float:  # type: ignore[override]  # it can be written, too
        """The largest difference that the probe measured; it is measured when it is first asked for."""
        return self.forward.ways.numerical_error

    @property
    def module(self) -> Any:
        return self.forward.model

    @staticmethod
    def _symbol(tokenizer: Any, number: int | None) -> str | None:
        return None if number is None else str(tokenizer.convert_ids_to_tokens(number))

    def _word_borders(self, model: Any, tokenizer: Any, boundary: str) -> Borders | None:
        if boundary == "token":
            return None
        size = model.get_output_embeddings().weight.shape[0]
        if self._ending is None or self._ending >= size:
            found = f"no end symbol in this model. {' '.join(self.warnings)}".strip().rstrip(".")
            raise UsageError("model option boundary=word", found, "a model with one", "Use boundary=token.")
        return word_borders(tokenizer, size, self._ending)

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        return self._scored(texts, done)

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        families.refuse_unable(self, ("reduce",))
        return self._scored(texts, done, reducing=True)

    def _scored(
        self, texts: Sequence[str], done: Callable[[int], None] | None, reducing: bool = False
    ) -> Iterator[Surprisals]:
        size = self._window_size

        def beginning(tokens: int) -> list[Window]:
            return [Window(0, min(tokens, size), 0, min(tokens, size))]

        for answer in self._answers(texts, beginning, done, lambda _: 1, reducing):
            yield answer.surprisals

    def read(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        # A window contains as many tokens as the model can score at once. With a start-of-text symbol, this is the
        # number of positions, because the last token is not an input. With `boundary=word`, the last token is also an
        # input, so a window has one token less.
        return self._windowed(texts, overlap, done)

    def read_reduced(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        families.refuse_unable(self, ("reduce",))
        return self._windowed(texts, overlap, done, reducing=True)

    def _windowed(
        self, texts: Sequence[str], overlap: int | None, done: Callable[[int], None] | None, reducing: bool = False
    ) -> Iterator[InContext]:
        size, positions = self._window_size, self.forward.limit
        if positions >= NO_LIMIT:
            refuse_overlap(overlap, self.name, "this model has no limit of positions and reads a text at once")
        overlap = overlap_of(overlap, size, positions, self.name, least=0 if self._start else 1)
        # Under boundary=word, the end of the last word is scored like a further token.
        further = 0 if self._borders is None else 1
        return self._answers(texts, lambda tokens: before(tokens + further, size, overlap), done, len, reducing)

    def _answers(
        self,
        texts: Sequence[str],
        windows: Callable[[int], list[Window]],
        done: Callable[[int], None] | None,
        weight: Callable[[str], int],
        reducing: bool = False,
    ) -> Iterator[InContext]:
        self._refuse_change()
        repeats = Counter(texts)
        distinct = list(repeats)
        encoded = dict(zip(distinct, self._encode(distinct), strict=True))
        for text, text_tokens in encoded.items():
            refuse_beyond(
                self.tokenizer, "the token", max(text_tokens.ids, default=0), self.forward.symbols, self.name, text
            )
        start = self._start
        end = [] if self.eos_id is None else [self.eos_id]
        sequences: list[list[int]] = []
        skipped: list[int] = []
        reported: list[int] = []
        # For each text its windows, and the number of its first sequence. Nothing is computed for an empty sequence.
        plans: dict[str, tuple[list[Window], int]] = {}
        empty = 0
        for text in distinct:
            ids = [*encoded[text].ids, *end]
            text_windows = windows(len(ids)) if start + ids else []
            plans[text] = text_windows, len(sequences)
            if not text_windows:
                empty += repeats[text] * weight(text)
                continue
            for window, share in zip(text_windows, shares(weight(text), text_windows), strict=True):
                sequences.append([*start, *ids[window.begin : window.end]])
                skipped.append(max(0, window.first - window.begin + len(start) - 1))
                reported.append(repeats[text] * share)

        def finished(batch: Sequence[int]) -> None:
            if done:
                done(sum(reported[index] for index in batch))

        rows = self.forward.surprisals(sequences, finished, skipped, reducing)
        answers = {
            text: self._answer(text, encoded[text], text_windows, rows[first : first + len(text_windows)], reducing)
            for text, (text_windows, first) in plans.items()
        }
        if done and empty:
            done(empty)
        for text in texts:
            yield answers[text]

    @property
    def _window_size(self) -> int:
        """The largest number of tokens that can be scored at once."""
        return max(0, self.forward.limit + (self._borders is None) - len(self._start))

    def _encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        if self._chat:
            return encode_contents(self.tokenizer, self._chat, texts, self.name)
        return encode(self.tokenizer, texts, self.name)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        # The surprisals of listed entries (`Gap.best`) are those of single tokens, also with `fill=word`.
        if self._chat:
            raise ModelError(self.name, "a gap in a chat", "whole texts", "Use chat=no to fill gaps.")
        self._refuse_change()
        yield from self._filler.fill(gaps, done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        return self._filler.speller.single(words)

    @cached_property
    def _filler(self) -> Filler:
        ends = None
        if self.settings["fill"] == "word":
            ends = word_ends(self.tokenizer, self.forward.head.vocabulary, self._ending)
        return Filler(self.forward, self.tokenizer, self.bos_id, ends, self.name)

    def _answer(
        self, text: str, encoded: Encoded, text_windows: Sequence[Window], all_rows: Sequence[Rows], reducing: bool
    ) -> InContext:
        starts, in_vocabulary, ids = encoded.starts, encoded.in_vocabulary, encoded.ids
        if self.eos_id is not None:
            starts, in_vocabulary = np.append(starts, np.int32(len(text))), np.append(in_vocabulary, True)
            ids = [*ids, self.eos_id]
        bits = np.full(len(starts), np.nan)
        reductions = np.full((2, len(starts)), np.nan) if reducing else None
        context = np.arange(len(starts), dtype=np.int32)
        for window, rows in zip(text_windows, all_rows, strict=True):
            last = min(window.last, len(bits))
            bits[last - len(rows.bits) : last] = rows.bits
            if reductions is not None and rows.reductions is not None:
                reductions[:, last - len(rows.bits) : last] = rows.reductions
            context[window.first : last] -= window.begin
        if self._borders is not None and len(all_rows):
            self._correct(bits, ids, text_windows, all_rows)
        reduced = None if reductions is None else Reductions(*reductions)
        return InContext(Surprisals(text, starts, bits, in_vocabulary, reduced), context, max(1, len(text_windows)))

    def _correct(
        self, bits: NDArray[np.float64], ids: Sequence[int], text_windows: Sequence[Window], all_rows: Sequence[Rows]
    ) -> None:
        """Move the probability of each word's end to that word from the next one (Pimentel & Meister 2024, theorem 2)."""
        # Subtract the surprisal of "a word begins here" from the bits of a word's first token, and add that of the next
        # word to the bits of a word's last token. For the first word of a text, it is the surprisal of "a text can
        # begin so". Both are computed in the window that scores the next token, so the sum over a text is exact across
        # windows, too.
        assert self._borders is not None
        shift = 0 if self.bos_id is None else 1
        # The surprisal of "a word begins here" before each token, and at the end. Without bos, none is known before the first.
        border = np.full(len(ids) + 1, np.nan)
        for window, rows in zip(text_windows, all_rows, strict=True):
            places = np.arange(max(window.first, 1 - shift), min(window.last, len(ids)) + 1)
            places = places[places - 1 - window.begin + shift < len(rows.begin)]
            border[places] = rows.begin[places - 1 - window.begin + shift]
        begins = self._borders.begins[np.array(ids, np.int64)]
        # A text may begin with a space; then its first word begins like any other.
        opening = 0.0 if shift == 0 else border[0] if begins[:1].any() else all_rows[0].first
        begins[:1] = True
        words_end = len(ids) - (self.eos_id is not None)
        ends = np.append(begins[1:words_end], True)[:words_end]
        bits[: len(ids)][begins] -= np.append(opening, border[1:-1])[: len(ids)][begins]
        bits[:words_end][ends] += border[1 : words_end + 1][ends]


def load(path: str, allow_pickle: bool = False, trust_remote_code: bool = False, **options: str) -> Causal:
    loaded = read("causal", path, FAMILY.choose(options), FAMILY.bundled, allow_pickle, trust_remote_code)
    with one_error(f"causal:{path}", UNUSABLE, CURE):
        return Causal(loaded, options, probe_later=True)


def from_transformers(model: Any, tokenizer: Any, label: str, **options: str) -> Causal:
    FAMILY.choose(options, loaded=True)
    return in_memory("causal", model, tokenizer, label, lambda loaded: Causal(loaded, options))
