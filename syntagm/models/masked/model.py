"""Hugging Face masked language models: BERT, RoBERTa, DistilBERT, DeBERTa, ModernBERT, ELECTRA's generator and others.

Names: `masked:./folder`, `masked:org/name@revision`.

A token's surprisal is computed under its mask, given the text on both sides. The sum over a text is its negative
pseudo-log-likelihood, not the surprisal of the text. Special symbols around a text are never scored. If a text is longer than
the model's positions, the surprisals of all its tokens are undefined (nan).
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
# Number of tokens whose rows are planned at a time, to limit memory.
_TOKENS = 1 << 16
_BLOCK = 1 << 19


class Masked(LanguageModel):
    """A masked transformer with its tokenizer, created by `load`, or by `from_transformers` for a model in memory.

    Attributes:
        tokenizer: the tokenizer.
        forward: the forward passes.
        filler: the filler of gaps.
    """

    can: ClassVar[frozenset[str]] = frozenset({"score", "fill"})
    sees = FAMILY.sees

    def __init__(self, model: Any, tokenizer: Any, label: str, options: Mapping[str, str], weights: str) -> None:
        chosen = FAMILY.choose(options)
        self._masking = MASKINGS[chosen["masking"]]
        self.name = FAMILY.canonical(label, options)
        if tokenizer.mask_token_id is None:
            raise ModelError(self.name, "a tokenizer without a mask symbol", "the tokenizer of a masked model")
        self.tokenizer = tokenizer
        self.bos = _before(tokenizer, self.name)
        self.forward = probed(model, int(tokenizer.mask_token_id), batch_tokens(chosen, model.device, BATCH))
        self.filler = Filler(self.forward, tokenizer, chosen["masks"] == "several", self.name)
        self.numerical_error = self.forward.numerical_error
        self.settings = FAMILY.scoring_settings(chosen, dtype=spelled(model.dtype))
        self._sample = sample(model)
        code = hash_code(model)
        dependencies = [SCORER, weights, code, self.forward.mask, tokenizer.unk_token_id, self.settings]
        self.fingerprint = hashlib.sha256(json.dumps(dependencies).encode()).hexdigest()
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
        """Compute the pseudo-surprisals of each text; see `LanguageModel.score`."""
        refuse_change(self.module, self._sample, self.name)
        repeats = Counter(texts)
        distinct = list(repeats)
        framed = list(frame(self.tokenizer, distinct, self.name))
        highest = max((int(text_frame.inputs.max(initial=0)) for text_frame in framed), default=0)
        self.forward.refuse_beyond(highest, self.tokenizer, self.name)
        bits = [np.full(len(text_frame.places), np.nan) for text_frame in framed]
        for portion in _portions(framed):
            for finished in self._score(framed, portion, bits):
                if done and finished:
                    done(sum(repeats[distinct[index]] for index in finished))
        answers = {
            text: Surprisals(text, text_frame.tokens.starts, number, text_frame.tokens.in_vocabulary)
            for text, text_frame, number in zip(distinct, framed, bits, strict=True)
        }
        for text in texts:
            yield answers[text]

    def _score(
        self, framed: Sequence[Framed], portion: range, bits: Sequence[NDArray[np.float64]]
    ) -> Iterator[Sequence[int]]:
        """Compute the bits of a portion of the texts; after each batch, yield the indices of the finished texts."""
        remaining = {
            index: len(framed[index].places) for index in portion if self.forward.fits(len(framed[index].inputs))
        }
        yield [index for index in portion if not remaining.get(index)]
        rows_plan = plan([(index, framed[index]) for index in remaining], self.forward.mask, self._masking.hidden)
        for batch, logits in self.forward.logits(rows_plan.rows):
            scored = [(row, *target) for row, number in enumerate(batch) for target in rows_plan.targets[number]]
            rows, owners, indices, targets = map(list, zip(*scored, strict=True))
            for owner, index, value in zip(owners, indices, _bits(logits, rows, targets), strict=True):
                bits[owner][index] = value
                remaining[owner] -= 1
            yield [owner for owner in dict.fromkeys(owners) if not remaining[owner]]

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """Compute the surprisal of each candidate under one mask; see `LanguageModel.fill`.

        The softmax runs over the whole vocabulary, so a candidate competes with every other token. For a candidate of
        several tokens, the result is nan. With `masks=several`, its surprisal is the sum over as many masks, unmasked
        from left to right; such sums can't be compared between candidates of different lengths. `above` and `below` are
        nan for such a candidate.
        """
        refuse_change(self.module, self._sample, self.name)
        yield from self.filler.fill(gaps, done)


def load(path: str, **options: str) -> Masked:
    """Load a masked language model and its tokenizer.

    Raises:
        UsageError: an option is invalid.
        ModelError: the model can't be found, has missing weights, or has pickled weights or its own code without
            permission.
    """
    model, tokenizer, label, weights = read("masked", path, FAMILY.choose(options), FAMILY.bundled)
    return Masked(model, tokenizer, label, options, weights)


def from_transformers(model: Any, tokenizer: Any, label: str, **options: str) -> Masked:
    """Create a language model from a transformers model in memory, for example inside a training loop.

    Arguments:
        model: a transformers model with a masked-language-model head, in evaluation mode. It is neither copied nor moved.
        tokenizer: its fast tokenizer.
        label: name of the model in results. Call this function again after a training step, because the fingerprint
            depends on the weights.
        options: options of the family that are not about loading.

    Raises:
        UsageError: an option is invalid, or the model is in training mode.
    """
    FAMILY.choose(options, loaded=True)
    refuse_training(model, label)
    return Masked(model, tokenizer, label, options, hash_weights(model, tokenizer))


def _before(tokenizer: Any, name: str) -> str:
    """Return the special symbols that the tokenizer adds before a text."""
    [framed] = frame(tokenizer, ["a"], name)
    first = int(framed.places[0]) if len(framed.places) else 0
    symbols = tokenizer.convert_ids_to_tokens(framed.inputs[:first].tolist())
    return " ".join(symbols) or "the text around each mask"


def _portions(framed: Sequence[Framed]) -> Iterator[range]:
    """Split the texts into ranges with a limited number of tokens."""
    first = tokens = 0
    for index, text_frame in enumerate(framed):
        if index > first and tokens + len(text_frame.places) > _TOKENS:
            yield range(first, index)
            first, tokens = index, 0
        tokens += len(text_frame.places)
    if framed:
        yield range(first, len(framed))


def _bits(logits: torch.Tensor, rows: Sequence[int], targets: Sequence[int]) -> list[float]:
    """Return the surprisal of each target in its row, in bits; rows may be repeated."""
    # Blocks that fit into the CPU's cache.
    block = len(logits) if logits.device.type != "cpu" else max(1, _BLOCK // logits.shape[-1])
    total = torch.cat([part.logsumexp(-1) for part in torch.split(logits, block)])
    surprisals: list[float] = ((total[rows] - logits[rows, targets]).double() / math.log(2)).tolist()
    return surprisals
