"""The forward passes of a masked transformer: rows with masks in, the vocabulary's logits at one mask of each out.

Rows of one length go through the body together, as many as the budget of tokens allows: a sentence has as many rows as tokens,
so that there are enough of each length, and nothing is padded. The head is applied to the asked place of each row only, where
that gives the model's own logits; a probe at load decides, never a list of names.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice, takewhile
from typing import Any

import numpy as np
import torch

from syntagm.errors import ModelError
from syntagm.models.hugging_face.memory import free, is_out_of_memory
from syntagm.models.masked.first_layer import first_layer, once
from syntagm.models.masked.last_layer import at_places, last_layer
from syntagm.models.masked.positions import limit
from syntagm.models.masked.rows import Row

# Logits held at a time, in numbers: 128 MiB of float32.
_HELD = 1 << 25


class MaskedForward:
    """A masked model's forward passes; `probed` makes one, and sets what it found out.

    Attributes:
        direct_head: is the head applied to the asked places only?
        first: the body's first layer, if what it multiplies tokens by is computed once a token and place; else None.
        last: the body's last layer, if that too is computed at the asked places only; else None.
        noise: the largest difference in bits of a text between batched and single computation, measured.
        vocabulary: entries that the softmax runs over.
        symbols: token numbers below it may be asked.
        limit: how many inputs a row may have.
        widest: tokens of the largest batch so far.
        evaluated: rows so far; the probe's are counted in neither.
    """

    def __init__(self, model: Any, mask: int, budget: int) -> None:
        self.model, self.mask, self.budget = model, mask, budget
        self.device, self.dtype = model.device, model.dtype
        self.wide = torch.float64 if self.dtype == torch.float64 else torch.float32
        self.limit = limit(model)
        self.vocabulary = self.symbols = int(model.get_input_embeddings().weight.shape[0])
        self.first, self.last = first_layer(model), last_layer(model)
        self.direct_head, self.numerical_error, self.widest, self.evaluated = True, 0.0, 0, 0
        # Batches share the hook while they run.
        self._alone = threading.RLock()

    def fits(self, inputs: int) -> bool:
        """Are there positions for so many inputs?"""
        return inputs <= self.limit

    def refuse_beyond(self, number: int, tokenizer: Any, model: str) -> None:
        """Refuse a token that the model has no row for, or the mask: tokenizer and model are not of one make.

        Arguments:
            model: its name, for the error.

        Raises:
            ModelError: `number` is not below `symbols`.
        """
        highest = max(number, self.mask)
        if highest >= self.symbols:
            raise ModelError(
                model, f"the token {tokenizer.convert_ids_to_tokens(highest)!r}",
                f"numbers below {self.symbols}, the model's rows", "Does the tokenizer belong to the model?",
            )  # fmt: skip

    def logits(self, rows: Sequence[Row]) -> Iterator[tuple[list[int], torch.Tensor]]:
        """The logits at the place of each row, batch by batch, in float32 at least.

        Arguments:
            rows: none longer than `limit`.

        Yields:
            The indices of some rows, and their logits, shape (rows, vocabulary).

        Raises:
            ModelError: not even one row fits into the memory.
        """
        waiting = sorted(range(len(rows)), key=lambda index: len(rows[index].inputs))
        while waiting:
            batch = self._next(rows, waiting)
            try:
                found = self.batch([rows[index] for index in batch])
            except (RuntimeError, MemoryError) as error:
                self._halve(sum(len(rows[index].inputs) for index in batch), len(batch), error)
                continue
            del waiting[: len(batch)]
            yield batch, found

    def _next(self, rows: Sequence[Row], waiting: Sequence[int]) -> list[int]:
        """The first of the waiting rows, sorted by length, that are of one length and stay within the budget; at least one."""
        most = max(1, _HELD // self.vocabulary)
        width = len(rows[waiting[0]].inputs)
        # Without a head of its own every place of a row costs a row of logits.
        most = min(self.budget // width, most if self.direct_head else most // width)
        alike = islice(waiting, max(1, most))
        return list(takewhile(lambda index: len(rows[index].inputs) == width, alike))

    def _halve(self, size: int, rows: int, error: Exception) -> None:
        """After running out of memory: half the batch, from now on. Any other error is raised again."""
        if not is_out_of_memory(error):
            raise error
        if rows == 1:
            raise ModelError(
                str(self.model.config.model_type), f"out of memory for a single row of {size} tokens",
                "memory for one row", "Use a smaller model or type, or another device.",
            ) from error  # fmt: skip
        self.budget = max(1, min(self.budget, size) // 2)
        free(self.device)

    @torch.inference_mode()
    def batch(self, rows: Sequence[Row]) -> torch.Tensor:
        """The logits at the place of each row, all of one length. Shape (rows, vocabulary)."""
        tokens = torch.from_numpy(np.stack([row.tokens(self.mask) for row in rows])).to(self.device)
        places = torch.tensor([row.place for row in rows], device=self.device)
        self.widest, self.evaluated = max(self.widest, tokens.numel()), self.evaluated + len(rows)
        with self._alone:
            found = self._asked(tokens, places) if self.direct_head else self._all(tokens, places)
        return found.to(self.wide)

    def _all(self, tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(input_ids=tokens).logits
        return logits[torch.arange(len(places), device=self.device), places]

    def _asked(self, tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """The model's own pass, but that of the body's output only the asked places go on to the head."""

        def cut(_: Any, __: Any, output: Any) -> Any:
            # After a last layer that was computed at the asked places, there are no others.
            rows, at = torch.arange(len(places), device=self.device), places if self.last is None else 0
            hidden = output[0][rows, at][None]
            if isinstance(output, tuple):
                return (hidden, *output[1:])
            output[next(iter(output))] = hidden
            return output

        hook = self.model.base_model.register_forward_hook(cut)
        try:
            with ExitStack() as cuts:
                if self.first is not None:
                    cuts.enter_context(once(self.first, tokens))
                if self.last is not None:
                    cuts.enter_context(at_places(self.last, places))
                logits: torch.Tensor = self.model(input_ids=tokens).logits
        finally:
            hook.remove()
        return logits[0]
