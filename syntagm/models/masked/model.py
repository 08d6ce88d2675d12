"""Any Hugging Face masked language model: BERT, RoBERTa, DistilBERT, DeBERTa, ModernBERT, ELECTRA's generator and others.

`masked:./folder`, `masked:org/name@revision`. Options, after `?` and joined by `&`:

    masking=token|word         token: one token masked at a time (Salazar et al. 2020); word: and the later ones of its word
                               (Kauf & Ivanova 2023)
    masks=one|several          blanks: words of one token only; or also words of several, with a mask for each of their
                               tokens, unmasked from left to right
    regions=no|yes             are predictions about parts of a sentence computed, from sums of pseudo-surprisals?
    dtype=f32|bf16|f16|f64     the type computed in, whatever the weights are stored in; log-sum-exp in float32 at least
    device=auto|cpu|cuda|...   where to compute
    batch=N                    tokens a batch; halved by itself when memory runs out
    allow_pickle=no|yes        may weights be unpickled? Pickles can run code
    remote_code=no|yes         may code that comes with the model be run?

A token's surprisal is that of the token under its mask, given all the text around it, on both sides; the sum over a text is its
pseudo-log-likelihood, not the probability of the text. The symbols around a text are never scored. Of a text that is longer
than the model's positions all tokens are nan: undefined, and counted.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from syntagm.answers import Blank, Fill, Surprisals
from syntagm.errors import ModelError
from syntagm.models.batching import once
from syntagm.models.contract import LanguageModel
from syntagm.models.hugging_face.options import PERMISSIONS, batch_tokens, read, spelled
from syntagm.models.hugging_face.tokens import Framed, frame
from syntagm.models.hugging_face.weights import hash_code, hash_weights, refuse_change, refuse_training, sample
from syntagm.models.masked.forward import MaskedForward
from syntagm.models.masked.in_place import Candidates, Places
from syntagm.models.masked.rows import Plan, plan, words_in_place
from syntagm.models.names import canonical, choose, refuse_others
from syntagm.models.rank import rank

SCORER = "masked 1"
_OF_LIVE_MODELS = ("masking", "masks", "regions", "batch")
_OPTIONS = (*_OF_LIVE_MODELS, "dtype", "device", *PERMISSIONS)
_SILENT = ("device", "batch", *PERMISSIONS)
# What stands in memory at a time: tokens scored; blanks asked, and their candidates where those of several tokens count.
_TOKENS, _BLANKS, _CANDIDATES = 1 << 16, 256, 1 << 15
_BLOCK = 1 << 19


class Masked(LanguageModel):
    """A masked transformer with its tokenizer; made by `load`, or around a live model by `wrap`."""

    can: ClassVar[frozenset[str]] = frozenset({"score", "fill"})
    sees = "both"

    def __init__(self, model: Any, tokenizer: Any, label: str, options: Mapping[str, str], weights: str) -> None:
        refuse_others("masked", options, _OPTIONS)
        masking = choose(options, "masking", ["token", "word"], "token")
        masks = choose(options, "masks", ["one", "several"], "one")
        regions = choose(options, "regions", ["no", "yes"], "no")
        self._words, self._several = masking == "word", masks == "several"
        self.name = canonical("masked", label, {**options, "masking": masking}, _SILENT)
        if tokenizer.mask_token_id is None:
            raise ModelError(self.name, "a tokenizer without a mask", "that of a masked model")
        self._tokenizer, self._mask = tokenizer, int(tokenizer.mask_token_id)
        self.start = _before(tokenizer, self.name)
        self._forward = MaskedForward(model, self._mask, batch_tokens(options, model.device, 4096))
        self._places = Places(tokenizer, self.name)
        self.noise = self._forward.noise
        self.policies = {
            "masking": masking, "masks": masks, "regions": regions, "bos": "yes", "eos": "no",
            "dtype": spelled(model.dtype),
        }  # fmt: skip
        self._sample = sample(model)
        code = hash_code(model)
        rests = [SCORER, weights, code, self._mask, tokenizer.unk_token_id, self.policies]
        self.fingerprint = hashlib.sha256(json.dumps(rests).encode()).hexdigest()
        self.record = {
            "architecture": model.config.model_type,
            "weights": weights,
            "code": code,
            "revision": getattr(model.config, "_commit_hash", None),
            "options": dict(options),
            "device": str(model.device),
            "head": "asked places" if self._forward.direct_head else "all places",
            "first layer": "once a token and place" if self._forward.first is not None else "all rows",
            "last layer": "asked places" if self._forward.last is not None else "all places",
            "positions": self._forward.limit,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    @property
    def live(self) -> Any:
        """The transformers model itself."""
        return self._forward.model

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """The pseudo-surprisals of each text; see `LanguageModel.score`."""
        refuse_change(self.live, self._sample, self.name)
        repeats = Counter(texts)
        distinct = list(repeats)
        framed = list(frame(self._tokenizer, distinct, self.name))
        self._refuse_beyond(max((int(one.inputs.max(initial=0)) for one in framed), default=0))
        bits = [np.full(len(one.places), np.nan) for one in framed]
        for some in _portions(framed):
            for finished in self._score(framed, some, bits):
                if done and finished:
                    done(sum(repeats[distinct[index]] for index in finished))
        answers = {
            text: Surprisals(text, one.tokens.starts, number, one.tokens.known)
            for text, one, number in zip(distinct, framed, bits, strict=True)
        }
        for text in texts:
            yield answers[text]

    def _score(
        self, framed: Sequence[Framed], some: range, bits: Sequence[NDArray[np.float64]]
    ) -> Iterator[Sequence[int]]:
        """Fill in the bits of some texts, and say batch by batch which of them are finished."""
        left = {index: len(framed[index].places) for index in some if self._fits(len(framed[index].inputs))}
        yield [index for index in some if not left.get(index)]
        made = plan([(index, framed[index]) for index in left], self._mask, self._words)
        for batch, logits in self._forward.logits(made.rows):
            asked = [(row, *one) for row, number in enumerate(batch) for one in made.asked[number]]
            rows, owners, indices, targets = map(list, zip(*asked, strict=True))
            for owner, index, value in zip(owners, indices, _bits(logits, rows, targets), strict=True):
                bits[owner][index] = value
                left[owner] -= 1
            yield [owner for owner in dict.fromkeys(owners) if not left[owner]]

    def _fits(self, inputs: int) -> bool:
        return inputs <= self._forward.limit

    def fill(self, blanks: Sequence[Blank], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """The surprisal of each candidate under one mask in its place; see `LanguageModel.fill`.

        The softmax runs over the whole vocabulary, so that a candidate competes with every other piece. A candidate of several
        tokens is nan, or with `masks=several` the sum over as many masks, unmasked from left to right: an estimate that can't
        be compared with those of words of other lengths. `above` and `below` are nan for it.
        """
        refuse_change(self.live, self._sample, self.name)
        yield from once(blanks, self._some, done)

    def _some(self, waiting: Iterator[Blank]) -> tuple[list[Blank], list[Fill]]:
        """As many of the blanks as memory allows."""
        first = next(waiting)
        most = max(1, _CANDIDATES // max(1, len(first.words))) if self._several else _BLANKS
        portion = [first, *islice(waiting, most - 1)]
        return portion, self._filled(portion)

    def _filled(self, blanks: Sequence[Blank]) -> list[Fill]:
        candidates = [self._places.candidates(blank) for blank in blanks]
        self._refuse_beyond(max(one.highest for one in candidates))
        made = Plan(self._mask)
        whole: dict[int, list[int]] = {}
        fills = [_nothing(len(blank.words)) for blank in blanks]
        for owner, one in enumerate(candidates):
            if (one.single >= 0).any() and self._fits(len(one.before) + 1 + len(one.after)):
                [(row, _)] = words_in_place(one.before, (self._mask,), one.after)
                whole.setdefault(made.number(row), []).append(owner)
            self._ask_others(made, owner, one, fills[owner])
        for batch, logits in self._forward.logits(made.rows):
            for number, row in zip(batch, logits.cpu().numpy(), strict=True):
                for owner in whole.get(number, []):
                    _read_whole(row, candidates[owner].single, fills[owner])
                _read_some(row, made.asked[number], fills)
        self._mark_unknown(candidates, fills)
        return fills

    def _ask_others(self, made: Plan, owner: int, one: Candidates, fill: Fill) -> None:
        """Ask for the words that are not one token between the same others as most."""
        others = {index: (one.before, pieces, one.after) for index, pieces in one.several.items()}
        others |= {index: (odd.before, odd.pieces, odd.after) for index, odd in one.odd.items()}
        for index, (before, pieces, after) in others.items():
            if self._fits(len(before) + len(pieces) + len(after)) and (len(pieces) == 1 or self._several):
                fill.bits[index] = 0.0
                for row, target in words_in_place(before, pieces, after):
                    # One token has a rank; several have not.
                    made.ask(row, owner, index if len(pieces) == 1 else -1 - index, target)

    def _mark_unknown(self, candidates: Sequence[Candidates], fills: Sequence[Fill]) -> None:
        unknown = self._tokenizer.unk_token_id
        for one, fill in zip(candidates, fills, strict=True):
            fill.known[one.single == unknown] = False
            for index, pieces in [*one.several.items(), *((index, odd.pieces) for index, odd in one.odd.items())]:
                fill.known[index] = unknown not in pieces

    def _refuse_beyond(self, number: int) -> None:
        """Refuse a token that the model has no row for, or the mask: tokenizer and model are not of one make."""
        highest = max(number, self._mask)
        if highest >= self._forward.symbols:
            raise ModelError(
                self.name, f"the token {self._tokenizer.convert_ids_to_tokens(highest)!r}",
                f"numbers below {self._forward.symbols}, the model's rows", "Does the tokenizer belong to the model?",
            )  # fmt: skip


def load(path: str, **options: str) -> Masked:
    """Load a masked language model and its tokenizer.

    Raises:
        UsageError: an option can't be taken.
        ModelError: it can't be found, or is not what it should be: pickled weights, code of its own, missing weights.
    """
    refuse_others("masked", options, _OPTIONS)
    model, tokenizer, label, weights = read("masked", path, options)
    return Masked(model, tokenizer, label, options, weights)


def wrap(model: Any, tokenizer: Any, label: str, **options: str) -> Masked:
    """A live model, for example inside a training loop, as a language model of this package.

    Arguments:
        model: a transformers model with a masked-language-model head, in evaluation mode. It is used where and as it is.
        label: what to call it in results. After a training step wrap it again: the fingerprint is of these weights.
        options: those of the module that say how to ask: masking, masks, regions, batch.

    Raises:
        UsageError: an option can't be taken, or the model is in training mode.
    """
    refuse_others("masked, around a live model", options, _OF_LIVE_MODELS)
    refuse_training(model, label)
    return Masked(model, tokenizer, label, options, hash_weights(model, tokenizer))


def _before(tokenizer: Any, name: str) -> str:
    """The symbols that the tokenizer puts before a text, as they are written."""
    [framed] = frame(tokenizer, ["a"], name)
    first = int(framed.places[0]) if len(framed.places) else 0
    symbols = tokenizer.convert_ids_to_tokens(framed.inputs[:first].tolist())
    return " ".join(symbols) or "the text around each mask"


def _portions(framed: Sequence[Framed]) -> Iterator[range]:
    """Texts in order, so many tokens at a time."""
    first = tokens = 0
    for index, one in enumerate(framed):
        if index > first and tokens + len(one.places) > _TOKENS:
            yield range(first, index)
            first, tokens = index, 0
        tokens += len(one.places)
    if framed:
        yield range(first, len(framed))


def _bits(logits: torch.Tensor, rows: Sequence[int], targets: Sequence[int]) -> list[float]:
    """The surprisal of one target a row, in bits; rows may be asked several times."""
    # In blocks that stay in a processor's cache.
    block = len(logits) if logits.device.type != "cpu" else max(1, _BLOCK // logits.shape[-1])
    total = torch.cat([part.logsumexp(-1) for part in torch.split(logits, block)])
    found: list[float] = ((total[rows] - logits[rows, targets]).double() / math.log(2)).tolist()
    return found


def _nothing(words: int) -> Fill:
    bits, above, below = np.full((3, words), np.nan)
    return Fill(bits, above, below, np.ones(words, bool))


def _read_whole(logits: NDArray[Any], single: NDArray[Any], fill: Fill) -> None:
    """All candidates of one token at once."""
    asked = np.flatnonzero(single >= 0)
    fill.bits[asked], fill.above[asked], fill.below[asked] = rank(logits, single[asked])


def _read_some(logits: NDArray[Any], asked: Sequence[tuple[int, int, int]], fills: Sequence[Fill]) -> None:
    """Tokens one by one; a negative index is that of a word of several."""
    if not asked:
        return
    bits, above, below = rank(logits, np.array([target for _, _, target in asked]))
    for number, (owner, index, _) in enumerate(asked):
        fills[owner].bits[index if index >= 0 else -1 - index] += bits[number]
        if index >= 0:
            fills[owner].above[index], fills[owner].below[index] = above[number], below[number]
