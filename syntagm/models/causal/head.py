"""From the body's output to surprisals: the head a few rows at a time, the log-sum-exp in blocks that stay in the cache.

Fresh memory is slow to touch, so on a CPU the logits go into one buffer that is kept. The log-sum-exp is in float32 at
least, whatever the head computes in.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.models.hugging_face.tokens import Borders

# Logits held at a time, in numbers: 128 MiB of float32. And how many of them are exponentiated at a time.
_HELD = 1 << 25
_BLOCK = 1 << 19


class Head:
    """A model's head.

    Attributes:
        layer: the module itself.
        vocabulary: its rows; the softmax runs over all of them.
        rows: how many rows of the body to give it at a time.
        wide: the type of the log-sum-exp.
        borders: two columns, one for each set of `Borders`, once they are watched.
    """

    def __init__(self, layer: Any, device: torch.device, dtype: torch.dtype) -> None:
        self.layer, self.device = layer, device
        self.vocabulary = int(layer.weight.shape[0])
        self.rows = max(1, _HELD // self.vocabulary)
        self.borders: torch.Tensor | None = None
        self.wide = torch.float64 if dtype == torch.float64 else torch.float32
        # Small blocks for a processor's cache; a GPU wants few and large ones.
        self._block = max(1, _BLOCK // self.vocabulary) if device.type == "cpu" else self.rows
        self._plain = device.type == "cpu" and type(layer) is torch.nn.Linear and layer.weight.dtype == dtype
        self._kept: torch.Tensor | None = None

    def watch(self, borders: Borders) -> None:
        """Sum the probability of the two sets of `borders` after each row, too."""
        sets = np.stack([borders.begins, borders.first], axis=1)
        self.borders = torch.tensor(sets, device=self.device, dtype=self.wide)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """The logits of at most `rows` rows. They are overwritten by the next call."""
        if not self._plain:
            result: torch.Tensor = self.layer(hidden)
            return result
        if self._kept is None:
            self._kept = torch.empty(self.rows, self.vocabulary, dtype=hidden.dtype)
        out = self._kept[: len(hidden)]
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
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bits of each (place, target), and of the watched sets after each row.

        Arguments:
            chunks: the logits of `count` rows, in order, each chunk with the number of its first row. They are overwritten.
            places: shape (asked,): which row each target is asked of.
            targets: shape (asked,): token numbers.
            watched: a column for each set, of the type `wide`; those of `borders` by default.

        Returns:
            Two arrays, of shape (asked,), and (count, sets), or (0, 2) if no sets are watched.
        """
        watched = self.borders if watched is None else watched
        order = np.argsort(places, kind="stable")
        bits, sets = np.empty(len(places)), np.empty((0, 2) if watched is None else (count, watched.shape[1]))
        sorted_places = places[order]
        for first, logits in chunks:
            for start in range(first, first + len(logits), self._block):
                wide = logits[start - first : start - first + self._block].to(self.wide)
                low, high = np.searchsorted(sorted_places, [start, start + len(wide)])
                rows = torch.from_numpy(sorted_places[low:high] - start).to(self.device)
                columns = torch.from_numpy(targets[order[low:high]]).to(self.device)
                wide -= wide.amax(-1, keepdim=True)
                picked = wide[rows, columns]
                masses = wide.exp_()
                total = masses.sum(-1)
                bits[order[low:high]] = ((total.log()[rows] - picked).double() / math.log(2)).cpu().numpy()
                if watched is not None:
                    shares = (masses @ watched).double() / total.double()[:, None]
                    sets[start : start + len(wide)] = -shares.log2().cpu().numpy()
        return bits, sets
