"""Any Hugging Face masked language model: BERT, RoBERTa, DistilBERT, DeBERTa, ModernBERT, ELECTRA's generator and others.

`masked:./folder`, `masked:org/name@revision`.

A token's surprisal is that of the token under its mask, given all the text around it, on both sides; the sum over a text is its
pseudo-log-likelihood, not the probability of the text. The symbols around a text are never scored. Of a text that is longer
than the model's positions all tokens are nan: undefined, and counted.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap, Surprisals
from syntagm.errors import ModelError
from syntagm.models.contract import LanguageModel
from syntagm.models.hugging_face.loading import batch_tokens, read, spelled
from syntagm.models.hugging_face.tokens import Framed, frame
from syntagm.models.hugging_face.weights import hash_code, hash_weights, refuse_change, refuse_training, sample
from syntagm.models.masked.family import BATCH, FAMILY
from syntagm.models.masked.gaps import Filler
from syntagm.models.masked.masking import MASKINGS
from syntagm.models.masked.probe import probed
from syntagm.models.masked.rows import plan

SCORER = "masked 1"
# Tokens scored at a time, which stand in memory.
_TOKENS = 1 << 16
_BLOCK = 1 << 19


class Masked(LanguageModel):
    """A masked transformer with its tokenizer; made by `load`, or around a model in memory by `from_transformers`.

    Attributes:
        tokenizer: from texts to token numbers.
        forward: from rows of token numbers to logits at their masks.
        filler: fills gaps.
    """

    can: ClassVar[frozenset[str]] = frozenset({"score", "fill"})
    sees = FAMILY.sees

    def __init__(self, model: Any, tokenizer: Any, label: str, options: Mapping[str, str], weights: str) -> None:
        chosen = FAMILY.choose(options)
        self._masking = MASKINGS[chosen["masking"]]
        self.name = FAMILY.canonical(label, options)
        if tokenizer.mask_token_id is None:
            raise ModelError(self.name, "a tokenizer without a mask", "that of a masked model")
        self.tokenizer = tokenizer
        self.bos = _before(tokenizer, self.name)
        self.forward = probed(model, int(tokenizer.mask_token_id), batch_tokens(chosen, model.device, BATCH))
        self.filler = Filler(self.forward, tokenizer, chosen["masks"] == "several", self.name)
        self.numerical_error = self.forward.numerical_error
        self.settings = FAMILY.scoring_settings(chosen, dtype=spelled(model.dtype))
        self._sample = sample(model)
        code = hash_code(model)
        rests = [SCORER, weights, code, self.forward.mask, tokenizer.unk_token_id, self.settings]
        self.fingerprint = hashlib.sha256(json.dumps(rests).encode()).hexdigest()
        self.record = {
            "architecture": model.config.model_type,
            "weights": weights,
            "code": code,
            "revision": getattr(model.config, "_commit_hash", None),
            "options": dict(options),
            "device": str(model.device),
            "head": "asked places" if self.forward.direct_head else "all places",
            "first layer": "once a token and place" if self.forward.first is not None else "all rows",
            "last layer": "asked places" if self.forward.last is not None else "all places",
            "positions": self.forward.limit,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    @property
    def module(self) -> Any:
        """The transformers model itself."""
        return self.forward.model

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """The pseudo-surprisals of each text; see `LanguageModel.score`."""
        refuse_change(self.module, self._sample, self.name)
        repeats = Counter(texts)
        distinct = list(repeats)
        framed = list(frame(self.tokenizer, distinct, self.name))
        highest = max((int(one.inputs.max(initial=0)) for one in framed), default=0)
        self.forward.refuse_beyond(highest, self.tokenizer, self.name)
        bits = [np.full(len(one.places), np.nan) for one in framed]
        for some in _portions(framed):
            for finished in self._score(framed, some, bits):
                if done and finished:
                    done(sum(repeats[distinct[index]] for index in finished))
        answers = {
            text: Surprisals(text, one.tokens.starts, number, one.tokens.in_vocabulary)
            for text, one, number in zip(distinct, framed, bits, strict=True)
        }
        for text in texts:
            yield answers[text]

    def _score(
        self, framed: Sequence[Framed], some: range, bits: Sequence[NDArray[np.float64]]
    ) -> Iterator[Sequence[int]]:
        """Fill in the bits of some texts, and say batch by batch which of them are finished."""
        left = {index: len(framed[index].places) for index in some if self.forward.fits(len(framed[index].inputs))}
        yield [index for index in some if not left.get(index)]
        made = plan([(index, framed[index]) for index in left], self.forward.mask, self._masking.hidden)
        for batch, logits in self.forward.logits(made.rows):
            asked = [(row, *one) for row, number in enumerate(batch) for one in made.asked[number]]
            rows, owners, indices, targets = map(list, zip(*asked, strict=True))
            for owner, index, value in zip(owners, indices, _bits(logits, rows, targets), strict=True):
                bits[owner][index] = value
                left[owner] -= 1
            yield [owner for owner in dict.fromkeys(owners) if not left[owner]]

    def fill(self, blanks: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """The surprisal of each candidate under one mask in its place; see `LanguageModel.fill`.

        The softmax runs over the whole vocabulary, so that a candidate competes with every other piece. A candidate of several
        tokens is nan, or with `masks=several` the sum over as many masks, unmasked from left to right: an estimate that can't
        be compared with those of words of other lengths. `above` and `below` are nan for it.
        """
        refuse_change(self.module, self._sample, self.name)
        yield from self.filler.fill(blanks, done)


def load(path: str, **options: str) -> Masked:
    """Load a masked language model and its tokenizer.

    Raises:
        UsageError: an option can't be taken.
        ModelError: it can't be found, or is not what it should be: pickled weights, code of its own, missing weights.
    """
    model, tokenizer, label, weights = read("masked", path, FAMILY.choose(options), FAMILY.bundled)
    return Masked(model, tokenizer, label, options, weights)


def from_transformers(model: Any, tokenizer: Any, label: str, **options: str) -> Masked:
    """A live model, for example inside a training loop, as a language model of this package.

    Arguments:
        model: a transformers model with a masked-language-model head, in evaluation mode. It is used where and as it is.
        label: what to call it in results. Call this again after a training step: the fingerprint is of these weights.
        options: those of the family that are not about loading.

    Raises:
        UsageError: an option can't be taken, or the model is in training mode.
    """
    FAMILY.choose(options, loaded=True)
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
