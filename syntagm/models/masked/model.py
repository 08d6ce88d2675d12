"""Hugging Face masked language models: BERT, RoBERTa, DistilBERT, DeBERTa, ModernBERT, ELECTRA's generator and others.

Names: `masked:./folder`, `masked:org/name@revision`.

A token's surprisal is computed under its mask, given the text on both sides. The sum over a text is its negative
pseudo-log-likelihood, not the surprisal of the text. Special symbols around a text are never scored. If a text is longer than
the model's positions, the surprisals of all its tokens are undefined (nan).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from syntagm.core import ModelError
from syntagm.models.answers import Fill, Gap, InContext, Reductions, Surprisals
from syntagm.models.devices import reduce, send
from syntagm.models.hugging_face.identity import Identified
from syntagm.models.hugging_face.loading import Loaded, batch_tokens, in_memory, read, refuse_headless, spelled
from syntagm.models.hugging_face.tokens import Framed, frame, is_added_by_class, refuse_beyond, refuse_random
from syntagm.models.hugging_face.unsafe import CURE, UNUSABLE, one_error
from syntagm.models.hugging_face.weights import hash_code, refuse_nan
from syntagm.models.masked.family import BATCH, FAMILY
from syntagm.models.masked.forward import NO_LIMIT, plan, probed
from syntagm.models.masked.gaps import Filler
from syntagm.models.masked.masking import MASKINGS
from syntagm.models.windows import Window, around, overlap_of, refuse_overlap, shares

SCORER = "masked 1"
# Number of tokens whose rows are planned at a time, to limit memory.
_TOKENS = 1 << 16
_BLOCK = 1 << 19


@dataclass(frozen=True, slots=True)
class _Piece:
    """A window of a text."""

    owner: int  # the number of the text
    window: Window
    text: Framed  # the tokens in it, with special symbols around them
    reported: int  # the number reported to `done` when the window is scored


class Masked(Identified):
    """A masked transformer with its tokenizer, created by `load`, or by `from_transformers` for a model in memory."""

    def __init__(self, loaded: Loaded, options: Mapping[str, str]) -> None:
        model, tokenizer = loaded.model, loaded.tokenizer
        chosen, name = FAMILY.choose(options), FAMILY.canonical(loaded.label, options)
        self._masking = MASKINGS[chosen["masking"]]
        self.can, self.sees = FAMILY.able(chosen), FAMILY.seen(chosen)
        refuse_headless(model, "masked", loaded.label)
        refuse_nan(model, name)
        if tokenizer.mask_token_id is None or is_added_by_class(tokenizer, "mask"):
            raise ModelError(name, "a tokenizer without a mask symbol", "the tokenizer of a masked model")
        self.tokenizer = tokenizer
        size = int(model.get_input_embeddings().weight.shape[0])
        refuse_random(tokenizer, {"mask": tokenizer.mask_token_id}, size, name)
        self.bos = _before(tokenizer, name)
        self.forward = probed(model, int(tokenizer.mask_token_id), batch_tokens(chosen, model.device, BATCH))
        self.filler = Filler(self.forward, tokenizer, chosen["masks"] == "several", name)
        self.numerical_error = self.forward.numerical_error
        self.settings = FAMILY.scoring_settings(chosen, dtype=spelled(model.dtype), adapter=loaded.adapter)
        if loaded.quantised:
            self.settings["quantised"] = loaded.quantised
        self._options = dict(options)
        self.identify(loaded)

    def identify(self, loaded: Loaded) -> None:
        """Set the attributes that depend on the values of the weights: name, fingerprint and record."""
        model = loaded.model
        self.name = FAMILY.canonical(loaded.label, self._options)
        code = hash_code(model)
        # `regions` decides which predictions are computed, but changes no surprisal.
        settings = {**self.settings, "regions": "no"}
        dependencies = [code, self.forward.mask, self.tokenizer.unk_token_id, settings]
        record = {
            "unused weights": list(loaded.unused),
            "code": code,
            "revision": getattr(model.config, "_commit_hash", None),
            "options": self._options,
            "device": str(model.device),
            "head": "asked places" if self.forward.direct_head else "all places",
            "first layer": "once a token and place" if self.forward.first is not None else "all rows",
            "last layer": "asked places" if self.forward.last is not None else "all places",
            "positions": self.forward.limit,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            **loaded.record,
            **({"training": loaded.training} if loaded.training else {}),
        }
        self._identify(loaded, SCORER, dependencies, lambda: record)

    @property
    def module(self) -> Any:
        return self.forward.model

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        return self._scored(texts, done)

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        return self._scored(texts, done, reducing=True)

    def _scored(
        self, texts: Sequence[str], done: Callable[[int], None] | None, reducing: bool = False
    ) -> Iterator[Surprisals]:
        def whole(tokens: int, symbols: int) -> list[Window]:
            return around(tokens, tokens + 1, 0) if self.forward.fits(tokens + symbols) else []

        for answer in self._answers(texts, whole, done, lambda _: 1, reducing):
            yield answer.surprisals

    def read(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        # The special symbols of a text are placed around each window. A token is scored in the window in which it is
        # farthest from the ends, so it has at least half of `overlap` on each side.
        limit = self.forward.limit
        if limit >= NO_LIMIT:
            refuse_overlap(overlap, self.name, "this model has no limit of positions and reads a text at once")

        def windows(tokens: int, symbols: int) -> list[Window]:
            size = limit - symbols
            return around(tokens, size, overlap_of(overlap, size, limit, self.name))

        return self._answers(texts, windows, done, len)

    def _answers(
        self,
        texts: Sequence[str],
        windows: Callable[[int, int], list[Window]],
        done: Callable[[int], None] | None,
        weight: Callable[[str], int],
        reducing: bool = False,
    ) -> Iterator[InContext]:
        self._refuse_change()
        repeats = Counter(texts)
        distinct = list(repeats)
        framed = list(frame(self.tokenizer, distinct, self.name))
        highest = max((int(text_frame.inputs.max(initial=0)) for text_frame in framed), default=0)
        refuse_beyond(self.tokenizer, "the token", highest, self.forward.symbols, self.name)
        bits = [np.full(len(text_frame.places), np.nan) for text_frame in framed]
        context = [np.zeros(len(text_frame.places), np.int32) for text_frame in framed]
        # Shape (2, tokens) for each text: entropies and ranks.
        reduced = [np.full((2, len(values)), np.nan) for values in bits] if reducing else None
        pieces: list[_Piece] = []
        counts: list[int] = []
        for owner, (text, text_frame) in enumerate(zip(distinct, framed, strict=True)):
            tokens, total = len(text_frame.places), repeats[text] * weight(text)
            text_windows = windows(tokens, len(text_frame.inputs) - tokens)
            counts.append(len(text_windows))
            if not text_windows:
                if done:
                    done(total)
                continue
            for window, share in zip(text_windows, shares(total, text_windows), strict=True):
                pieces.append(_Piece(owner, window, text_frame.part(window.begin, window.end), share))
        for portion in _portions([piece.window.last - piece.window.first for piece in pieces]):
            for finished in self._score(pieces[portion.start : portion.stop], bits, context, reduced):
                if done and finished:
                    done(finished)
        reductions = repeat(None) if reduced is None else (Reductions(*numbers) for numbers in reduced)
        answers = {
            text: InContext(
                Surprisals(text, part.tokens.starts, values, part.tokens.in_vocabulary, kept), seen, max(1, count)
            )
            for text, part, values, seen, count, kept in zip(
                distinct, framed, bits, context, counts, reductions, strict=False
            )
        }
        for text in texts:
            yield answers[text]

    def _score(
        self,
        pieces: Sequence["_Piece"],
        bits: Sequence[NDArray[np.float64]],
        context: Sequence[NDArray[np.int32]],
        reduced: Sequence[NDArray[np.float64]] | None,
    ) -> Iterator[int]:
        """Fill in the bits, contexts and reductions of windows."""
        remaining = [piece.window.last - piece.window.first for piece in pieces]
        yield sum(piece.reported for piece, rest in zip(pieces, remaining, strict=True) if not rest)
        scored = [
            (number, piece.text, range(piece.window.first - piece.window.begin, piece.window.last - piece.window.begin))
            for number, piece in enumerate(pieces)
        ]
        rows_plan = plan(scored, self.forward.mask, self._masking.hidden)

        def read(batch: list[int], logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
            targets = [(row, target) for row, number in enumerate(batch) for *_, target in rows_plan.targets[number]]
            rows, ids = send(np.array(targets, np.int64).T.copy(), logits.device)
            return _nats(logits, rows, ids), None if reduced is None else reduce(logits, rows, ids)

        def finish(batch: list[int], answer: tuple[torch.Tensor, torch.Tensor | None]) -> int:
            nats, reductions = answer
            bits_of_targets = (nats.cpu().double() / math.log(2)).tolist()
            targets = [(number, owner, index) for number in batch for owner, index, _ in rows_plan.targets[number]]
            reported = 0
            for (number, owner, index), value in zip(targets, bits_of_targets, strict=True):
                piece = pieces[owner]
                bits[piece.owner][piece.window.begin + index] = value
                seen = len(piece.text.places) - len(rows_plan.rows[number].masked)
                context[piece.owner][piece.window.begin + index] = seen
                remaining[owner] -= 1
                reported += 0 if remaining[owner] else piece.reported
            if reduced is not None and reductions is not None:
                for (_, owner, index), numbers in zip(targets, reductions.cpu().numpy().T, strict=True):
                    reduced[pieces[owner].owner][:, pieces[owner].window.begin + index] = numbers
            return reported

        # A GPU computes a batch while the next one is prepared.
        under_way: list[tuple[list[int], tuple[torch.Tensor, torch.Tensor | None]]] = []
        for started in self.forward.visit(rows_plan.rows, read):
            under_way.append(started)
            if len(under_way) == 2:
                yield finish(*under_way.pop(0))
        for started in under_way:
            yield finish(*started)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        # The softmax runs over the whole vocabulary, so a candidate competes with every other token. For a candidate of
        # several tokens, the result is nan. With `masks=several`, its surprisal is the sum over as many masks, unmasked
        # from left to right; such sums can't be compared between candidates of different lengths. `above` and `below`
        # are nan for such a candidate.
        self._refuse_change()
        yield from self.filler.fill(gaps, done)


def load(path: str, allow_pickle: bool = False, trust_remote_code: bool = False, **options: str) -> Masked:
    loaded = read("masked", path, FAMILY.choose(options), FAMILY.bundled, allow_pickle, trust_remote_code)
    with one_error(f"masked:{path}", UNUSABLE, CURE):
        return Masked(loaded, options)


def from_transformers(model: Any, tokenizer: Any, label: str, **options: str) -> Masked:
    FAMILY.choose(options, loaded=True)
    return in_memory("masked", model, tokenizer, label, lambda loaded: Masked(loaded, options))


def _before(tokenizer: Any, name: str) -> str:
    """Return the special symbols that the tokenizer adds before a text."""
    [framed] = frame(tokenizer, ["a"], name)
    first = int(framed.places[0]) if len(framed.places) else 0
    symbols = tokenizer.convert_ids_to_tokens(framed.inputs[:first].tolist())
    return " ".join(symbols) or "the text around each mask"


def _portions(sizes: Sequence[int]) -> Iterator[range]:
    """Split windows with these numbers of scored tokens into ranges with a limited number of tokens."""
    first = tokens = 0
    for index, size in enumerate(sizes):
        if index > first and tokens + size > _TOKENS:
            yield range(first, index)
            first, tokens = index, 0
        tokens += size
    if sizes:
        yield range(first, len(sizes))


def _nats(logits: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the surprisal of each target in its row, in nats; a row may have several targets."""
    # Blocks that fit into the CPU's cache.
    block = len(logits) if logits.device.type != "cpu" else max(1, _BLOCK // logits.shape[-1])
    total = torch.cat([part.logsumexp(-1) for part in torch.split(logits, block)])
    return total[rows] - logits[rows, targets]
