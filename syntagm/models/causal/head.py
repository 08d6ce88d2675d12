"""The head of a causal model: from the body's output to logits and surprisals, a few rows at a time.

On a CPU, logits are written into one buffer that is reused, because allocating memory is slow (oneDNN allocates what it
returns), and the log-sum-exp is computed in blocks that fit into the processor's cache. It is computed in float32 or
wider, regardless of the dtype of the head.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.models.device import send
from syntagm.models.hugging_face.quantised import plain
from syntagm.models.hugging_face.tokens import Borders
from syntagm.models.reduction import reduce

# Number of logits in memory at a time (128 MiB of float32), and of those exponentiated at a time.
_HELD = 1 << 25
_BLOCK = 1 << 19


class Head:
    """The head of a model."""

    def __init__(self, layer: Any, dtype: torch.dtype) -> None:
        self.layer, self.device = layer, layer.weight.device
        # The matrix of a quantised layer may have another shape.
        self.vocabulary = int(getattr(layer, "out_features", layer.weight.shape[0]))
        self.rows = max(1, _HELD // self.vocabulary)
        self.borders: torch.Tensor | None = None
        self.wide = torch.float64 if dtype == torch.float64 else torch.float32
        # Small blocks fit into a CPU's cache; on a GPU, few large blocks are faster.
        self._block = max(1, _BLOCK // self.vocabulary) if self.device.type == "cpu" else self.rows
        self._plain = (
            self.device.type == "cpu"
            and type(layer) is torch.nn.Linear
            and layer.weight.dtype == dtype
            and plain(layer.weight)
        )
        self._buffer: torch.Tensor | None = None

    def watch(self, borders: Borders) -> None:
        """From now on, also compute the total probability of the two sets of `borders` after each row."""
        sets = np.stack([borders.begins, borders.first], axis=1)
        self.borders = torch.tensor(sets, device=self.device, dtype=self.wide)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Compute the logits of at most `rows` rows. The next call overwrites them."""
        if not self._plain:
            result: torch.Tensor = self.layer(hidden)
            return result
        if self._buffer is None:
            self._buffer = torch.empty(self.rows, self.vocabulary, dtype=hidden.dtype, device=self.device)
        out = self._buffer[: len(hidden)]
        if self.layer.bias is None:
            return torch.mm(hidden, self.layer.weight.t(), out=out)
        return torch.addmm(self.layer.bias, hidden, self.layer.weight.t(), out=out)

    def read(
        self,
        chunks: Iterator[tuple[int, torch.Tensor]],
        count: int,
        places: NDArray[np.int64],
        targets: NDArray[np.int64],
        watched: torch.Tensor | None = None,
        reducing: bool = False,
    ) -> Callable[[], tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]]:
        """Compute the surprisal of each target in its row, and of the watched sets after each row."""
        # A GPU computes while the caller goes on. It is waited for once, when the returned function is called.
        # chunks: the logits of `count` rows in order; each chunk comes with the number of its first row, and may be
        # overwritten by the next.
        watched = self.borders if watched is None else watched
        order = np.argsort(places, kind="stable")
        sorted_places = places[order]
        all_rows, all_columns = send(sorted_places, self.device), send(targets[order], self.device)
        parts: list[torch.Tensor] = []
        set_parts: list[torch.Tensor] = []
        reduced: list[torch.Tensor] = []
        for first, logits in chunks:
            for start in range(first, first + len(logits), self._block):
                block = logits[start - first : start - first + self._block]
                wide = block.to(self.wide)
                low, high = np.searchsorted(sorted_places, [start, start + len(wide)])
                rows, columns = all_rows[low:high] - start, all_columns[low:high]
                if reducing:
                    # Before `wide`, which may be the same memory, is overwritten.
                    reduced.append(reduce(block, rows, columns))
                wide -= wide.amax(-1, keepdim=True)
                picked = wide[rows, columns]
                # On a CPU, the exponential of base 2 is several times as fast as that of base e.
                masses = wide.mul_(1 / math.log(2)).exp2_()
                total = masses.sum(-1)
                # What remains is computed in float64, which not every GPU has, by the CPU.
                parts.append(torch.stack([total.log2()[rows], picked]))
                if watched is not None:
                    set_parts.append(torch.cat([masses @ watched, total[:, None]], 1))

        def finish() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
            bits, sets = np.empty(len(order)), np.zeros((0, 2 if watched is None else watched.shape[1]))
            if parts:
                totals, picks = torch.cat(parts, 1).cpu().double()
                bits[order] = (totals - picks / math.log(2)).numpy()
            if set_parts:
                masses = torch.cat(set_parts).cpu().double()
                sets = -(masses[:, :-1] / masses[:, -1:]).log2().numpy()
            reductions = np.empty((2, len(order))) if reducing else None
            if reductions is not None and reduced:
                reductions[:, order] = torch.cat(reduced, 1).cpu().numpy()
            return bits, sets, reductions

        return finish
