"""Forward passes of a masked transformer. They compute the logits at one masked position of each row.

A batch has rows of the same length, as many as the budget of tokens allows, so there is no padding. Since a sentence has as
many rows as tokens, there are enough rows of each length. The head is applied only to the scored position of each row, if
this gives the same logits as the original model. A probe decides this when the model is loaded.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice, takewhile
from typing import Any, TypeVar

import numpy as np
import torch

from syntagm.core import ModelError, lacks_memory
from syntagm.models.device import FullPrecision, free, send
from syntagm.models.masked.first_layer import first_layer, once
from syntagm.models.masked.last_layer import at_places, last_layer
from syntagm.models.masked.positions import limit
from syntagm.models.masked.rows import Row

# Number of logits in memory at a time: 128 MiB of float32.
_HELD = 1 << 25
Answer = TypeVar("Answer")


class MaskedForward:
    """The forward passes of a masked model, made by `probed`, which sets the attributes."""

    def __init__(self, model: Any, mask: int, budget: int) -> None:
        self.model, self.mask, self.budget = model, mask, budget
        self.device, self.dtype = model.device, model.dtype
        self.wide = torch.float64 if self.dtype == torch.float64 else torch.float32
        self.limit = limit(model)
        self.vocabulary = self.symbols = int(model.get_input_embeddings().weight.shape[0])
        self.first, self.last = first_layer(model), last_layer(model)
        self.direct_head, self.numerical_error, self.widest, self.evaluated = True, 0.0, 0, 0
        # Only one thread may use the hook at a time.
        self._lock = threading.RLock()

    def fits(self, inputs: int) -> bool:
        """Return whether the model has positions for this number of inputs."""
        return inputs <= self.limit

    def visit(
        self, rows: Sequence[Row], read: Callable[[list[int], torch.Tensor], Answer]
    ) -> Iterator[tuple[list[int], Answer]]:
        """Compute the logits at the scored position of each row, batch by batch, in float32 at least."""
        waiting = sorted(range(len(rows)), key=lambda index: len(rows[index].inputs))
        while waiting:
            batch = self._next(rows, waiting)
            try:
                answer = read(batch, self.batch([rows[index] for index in batch]))
            except (RuntimeError, MemoryError) as error:
                self._halve(sum(len(rows[index].inputs) for index in batch), len(batch), error)
            else:
                del waiting[: len(batch)]
                yield batch, answer
                continue
            # Inside `except`, the error would still hold the memory of the batch.
            free(self.device)

    def _next(self, rows: Sequence[Row], waiting: Sequence[int]) -> list[int]:
        """Return the first waiting rows of the same length that fit into the budget, at least one; `waiting` is sorted."""
        most = max(1, _HELD // self.vocabulary)
        width = len(rows[waiting[0]].inputs)
        # If the head is applied to all positions, each position needs a row of logits.
        most = min(self.budget // width, most if self.direct_head else most // width)
        alike = islice(waiting, max(1, most))
        return list(takewhile(lambda index: len(rows[index].inputs) == width, alike))

    def _halve(self, size: int, rows: int, error: Exception) -> None:
        """Halve the size of batches permanently after running out of memory; raise any other error again."""
        if not lacks_memory(error):
            raise error
        if rows == 1:
            raise ModelError(
                str(self.model.config.model_type), f"out of memory for a single row of {size} tokens",
                "enough memory for one row", "Use a smaller model or dtype, or another device.",
            ) from error  # fmt: skip
        self.budget = max(1, min(self.budget, size) // 2)

    @torch.inference_mode()
    @FullPrecision()
    def batch(self, rows: Sequence[Row]) -> torch.Tensor:
        """Compute the logits at the scored position of each row; all rows have the same length. Shape (rows, vocabulary)."""
        tokens = send(np.stack([row.tokens(self.mask) for row in rows]), self.device)
        places = send(np.array([row.place for row in rows], np.int64), self.device)
        self.widest, self.evaluated = max(self.widest, tokens.numel()), self.evaluated + len(rows)
        with self._lock:
            logits = self._at_places(tokens, places) if self.direct_head else self._at_all_places(tokens, places)
        return logits.to(self.wide)

    def _at_all_places(self, tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(input_ids=tokens).logits
        return logits[torch.arange(len(places), device=self.device), places]

    def _at_places(self, tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Run the model with a hook that passes only the scored positions of the body's output to the head."""

        def cut(_: Any, __: Any, output: Any) -> Any:
            # If the last layer was computed only at the scored positions, there are no others.
            device = output[0].device
            rows, at = torch.arange(len(places), device=device), places.to(device) if self.last is None else 0
            hidden = output[0][rows, at][None]
            if isinstance(output, tuple):
                return (hidden, *output[1:])
            output[next(iter(output))] = hidden
            return output

        hook = self.model.base_model.register_forward_hook(cut)
        try:
            with ExitStack() as stack:
                if self.first is not None:
                    stack.enter_context(once(self.first, tokens))
                if self.last is not None:
                    stack.enter_context(at_places(self.last, places))
                logits: torch.Tensor = self.model(input_ids=tokens).logits
        finally:
            hook.remove()
        return logits[0]
