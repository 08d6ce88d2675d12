"""Forward passes of a causal transformer, from token ids to surprisals.

There are two ways to run the body, and two to run the head. A probe chooses between them before the first batch:

* Shared prefixes are computed once, in packed trees with a tree mask, if this gives the same numbers as separate sentences.
  Otherwise, sentences are sorted by length and padded. Some architectures, such as those with
  recurrent layers or ALiBi, don't support the mask, and some of these ignore it without an error.
* The head is applied only to the rows that are needed, a few at a time, if this gives the same logits as the original model.
  Otherwise, the model's own forward pass is run, and a hook removes the other rows before the head.

A tensor of shape (batch, length, vocabulary) is never created.

Before the probe, a single text is computed by the model's own forward pass, which the probe compares the others with.
"""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.core import ModelError, lacks_memory
from syntagm.models.causal.prefix_tree import Budget, Pack, batches, plan
from syntagm.models.devices import FullPrecision, free, reduce, send
from syntagm.models.hugging_face.quantised import plain
from syntagm.models.hugging_face.tokens import Borders
from syntagm.models.hugging_face.weights import own_pass

# Number of logits in memory at a time (128 MiB of float32), and of those exponentiated at a time.
_HELD = 1 << 25
_BLOCK = 1 << 19


class Head:
    # On a CPU, logits are written into one buffer that is reused, because allocating memory is slow (oneDNN allocates
    # what it returns), and the log-sum-exp is computed in blocks that fit into the processor's cache. It is computed in
    # float32 or wider, regardless of the dtype of the head.

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
        # `chunks` has the logits of `count` rows in order; each comes with the number of its first row, and may be
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


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The results for one sequence, in bits."""

    # Shape (length - 1 - skipped,): surprisal of each token after the first and after those that are only context.
    bits: NDArray[np.float64]
    # Shape (inputs,): surprisal of the event "a word begins here" after each input token; empty without borders.
    begin: NDArray[np.float64]
    first: float  # surprisal of the event "a token that can begin a text" after the first input token
    # Shape (2, length - 1 - skipped): the entropy before each of these tokens in bits, and its rank; None if they were
    # not wanted.
    reductions: NDArray[np.float64] | None = None


# Stands for any number of positions, as in recurrent models.
NO_LIMIT = 1 << 30


def limit(config: Any) -> int:
    """Return the largest number of input tokens that the model has positions for; `NO_LIMIT` if there is no limit."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"):
        positions = getattr(config.get_text_config(), name, None)
        if isinstance(positions, int) and positions > 0:
            return positions
    return NO_LIMIT


def window(config: Any) -> int:
    """Return the length up to which no sliding-window layer excludes any tokens."""
    text = config.get_text_config()
    sizes = [
        getattr(text, name, None)
        for name in ("sliding_window", "window_size", "attention_window", "sliding_window_size", "attention_chunk_size")
    ]
    return min([size for size in sizes if isinstance(size, int) and size > 0], default=NO_LIMIT)


_PACK = 128
# Longer sequences share little, and the size of a tree's mask is quadratic.
_LONGEST = 1024


@dataclass(frozen=True, slots=True)
class Ways:
    """How batches are computed."""

    tree: bool  # whether shared prefixes are computed once
    direct_head: bool  # whether the head is applied to the needed rows outside the model's own forward pass
    # Largest measured difference, in bits per sentence, between batched and unbatched computation.
    numerical_error: float = 0.0


class Forward:
    """The forward passes of a causal model, made by `probed`."""

    def __init__(self, model: Any, budget: int, probe: Callable[["Forward"], Ways]) -> None:
        self.model, self.budget = model, Budget(budget)
        self.device, self.dtype = model.device, model.dtype
        # A model may be spread over several devices. `device` is that of its inputs.
        self.head = Head(model.get_output_embeddings(), self.dtype)
        self.symbols = min(self.head.vocabulary, int(model.get_input_embeddings().weight.shape[0]))
        self.limit = limit(model.config)
        self.window = window(model.config)
        self.evaluated = 0
        # Only one thread may use the head's buffer and its hook at a time, or try ways.
        self._lock = threading.RLock()
        self._probe = probe
        self._ways: Ways | None = None

    @property
    def ways(self) -> Ways:
        """How batches are computed: the fastest ways that give the numbers of scoring each text alone."""
        # The first time, the probe finds out, which sets one way after another to try them.
        with self._lock:
            if self._ways is None:
                evaluated = self.evaluated
                try:
                    self._ways = self._probe(self)
                except BaseException:
                    self._ways = None  # those that were tried last
                    raise
                finally:
                    self.evaluated = evaluated
                if not self._ways.direct_head:
                    # The whole model runs once for each portion of rows, so a batch should have a single portion.
                    self.budget.tokens = min(self.budget.tokens, self._portion)
            return self._ways

    @ways.setter
    def ways(self, ways: Ways) -> None:
        self._ways = ways

    def watch(self, borders: Borders) -> None:
        _ = self.ways  # which are found without these sets
        self.head.watch(borders)

    @torch.inference_mode()
    @FullPrecision()
    def surprisals(
        self,
        sequences: Sequence[Sequence[int]],
        done: Callable[[Sequence[int]], None],
        skipped: Sequence[int] | None = None,
        reducing: bool = False,
    ) -> list[Rows]:
        """Compute the surprisals of all tokens but the first of each sequence."""
        if self._ways is None and len(sequences) == 1:
            with self._lock:
                if rows := self._alone(sequences[0], skipped[0] if skipped else 0, reducing):
                    done([0])
                    return [rows]
        tree = self.ways.tree
        results: list[Rows | None] = [None] * len(sequences)
        short = [
            index
            for index, sequence in enumerate(sequences)
            if tree and len(sequence) <= min(self.window, _LONGEST) and not (skipped and skipped[index])
        ]
        short_indices = set(short)
        long = [index for index in range(len(sequences)) if index not in short_indices]
        with self._lock:
            self.run(sequences, short, True, results, done, reducing=reducing)
            self.run(sequences, long, False, results, done, skipped, reducing)
        return [rows for rows in results if rows is not None]

    def own(self, sequence: Sequence[int]) -> torch.Tensor:
        """Compute the logits after each token but the last by the model's own forward pass, without a batch or mask."""
        inputs = send(np.array([sequence[:-1]], np.int64), self.device)
        return own_pass(self.model, input_ids=inputs, use_cache=False)[0]

    def _alone(self, sequence: Sequence[int], skipped: int, reducing: bool) -> Rows | None:
        """Compute a sequence by the model's own forward pass; None if it is too short or too long for that."""
        if not skipped + 1 < len(sequence) <= self.head.rows:
            return None
        try:
            logits = self.own(sequence)[skipped:].to(self.head.device)
        except (RuntimeError, MemoryError) as error:
            if not lacks_memory(error):
                raise
            return None
        self.evaluated += len(sequence) - 1
        targets = np.array(sequence[skipped + 1 :], np.int64)
        chunks = iter([(0, logits)])
        bits, _, reductions = self.head.read(
            chunks, len(targets), np.arange(len(targets)), targets, reducing=reducing
        )()
        return Rows(bits, np.empty(0), math.nan, reductions)

    def run(
        self,
        sequences: Sequence[Sequence[int]],
        chosen: Sequence[int],
        tree: bool,
        results: list[Rows | None],
        done: Callable[[Sequence[int]], None],
        skipped: Sequence[int] | None = None,
        reducing: bool = False,
    ) -> None:
        def collect(batch: Sequence[Pack], answers: Callable[[], list[list[Rows]]]) -> None:
            for pack, rows in zip(batch, answers(), strict=True):
                for index, row in zip(pack.sequences, rows, strict=True):
                    results[index] = row
            done([index for pack in batch for index in pack.sequences])

        remaining = list(chosen)
        while remaining:
            # A GPU computes a batch while the next one is prepared.
            under_way: list[tuple[Sequence[Pack], Callable[[], list[list[Rows]]]]] = []
            # The batch that fails, if one does.
            batch: Sequence[Pack] = ()
            try:
                for batch in batches(self._packs(sequences, remaining, tree), self.budget):
                    under_way.append((batch, self.batch(sequences, batch, tree, skipped, reducing)))
                    if len(under_way) == 2:
                        batch, answers = under_way.pop(0)
                        collect(batch, answers)
                for batch, answers in under_way:
                    collect(batch, answers)
            except (RuntimeError, MemoryError) as error:
                # What was under way is computed again, with the rest.
                under_way.clear()
                self._halve(batch, error)
            if remaining := [index for index in remaining if results[index] is None]:
                # Inside `except`, the error would still hold the memory of the batch.
                free(self.device)

    @torch.inference_mode()
    @FullPrecision()
    def visit(
        self, packs: Sequence[Pack], nodes: Sequence[NDArray[np.int64]], tree: bool,
        read: Callable[[range, Iterator[tuple[int, torch.Tensor]]], None],
    ) -> None:  # fmt: skip
        """Compute the logits after some nodes of each pack, and pass them to `read`."""
        # `read` is called for each batch with the indices of its packs, and an iterator over the logits after their nodes,
        # in order. It yields one portion of rows at a time, with the index of its first row. Each portion overwrites
        # the previous one.
        at = 0
        with self._lock:
            while at < len(packs):
                for batch in batches(iter(packs[at:]), self.budget):
                    indices = range(at, at + len(batch))
                    try:
                        inputs, width = self._inputs(batch, tree)
                        needed = np.concatenate([row * width + nodes[index] for row, index in enumerate(indices)])
                        read(indices, self._logits(inputs, needed))
                    except (RuntimeError, MemoryError) as error:
                        self._halve(batch, error, whole=True)
                        break
                    at = indices.stop
                if at < len(packs):
                    free(self.device)

    def _halve(self, batch: Sequence[Pack], error: Exception, whole: bool = False) -> None:
        """Halve the size of batches permanently after running out of memory; raise any other error again."""
        if not lacks_memory(error):
            raise error
        size = sum(len(pack.tokens) for pack in batch)
        if size <= 1 or (len(batch) if whole else sum(len(pack.sequences) for pack in batch)) == 1:
            raise ModelError(
                str(self.model.config.model_type), f"out of memory for a single sentence of {size} tokens",
                "enough memory for one sentence", "Use a smaller model or dtype, or another device.",
            ) from error  # fmt: skip
        self.budget.tokens = max(1, min(self.budget.tokens, size) // 2)

    def _packs(self, sequences: Sequence[Sequence[int]], chosen: Sequence[int], tree: bool) -> Iterator[Pack]:
        last = self.head.borders is not None
        if tree:
            # Layers may limit the number of nodes in a pack, not only the depth: by a window, or by a table of positions.
            size = min(_PACK, self.budget.tokens, self.window, self.limit)
            packs = plan(sequences, size, last, chosen)
            # Packs of the same size need no padding.
            yield from sorted(packs, key=lambda pack: len(pack.tokens))
            return
        for index in sorted(chosen, key=lambda index: (len(sequences[index]), tuple(sequences[index]))):
            yield from plan(sequences, 1, last, [index])

    def batch(
        self,
        sequences: Sequence[Sequence[int]],
        batch: Sequence[Pack],
        tree: bool,
        skipped: Sequence[int] | None = None,
        reducing: bool = False,
    ) -> Callable[[], list[list[Rows]]]:
        """Compute the results for each sequence of each pack. The returned function waits for them and returns them."""
        inputs, width = self._inputs(batch, tree)
        # The row of the head and the target of each surprisal, in the order of packs, sequences and positions.
        nodes, targets, lengths = [], [], []
        for row, pack in enumerate(batch):
            for index, path in zip(pack.sequences, pack.paths, strict=True):
                sequence, first = sequences[index], skipped[index] if skipped else 0
                nodes.append(row * width + path[first : len(sequence) - 1])
                targets.append(np.array(sequence[first + 1 :], np.int64))
                lengths.append(len(sequence) - 1 - first)
        all_nodes = np.concatenate(nodes)
        if self.head.borders is not None:
            needed = np.concatenate([row * width + np.arange(len(pack.tokens)) for row, pack in enumerate(batch)])
        else:
            needed = np.unique(all_nodes)
        logits = self._logits(inputs, needed)
        places = np.searchsorted(needed, all_nodes)
        finish = self.head.read(logits, len(needed), places, np.concatenate(targets), reducing=reducing)
        return lambda: self._split(batch, *finish(), lengths)

    def _split(
        self,
        batch: Sequence[Pack],
        bits: NDArray[np.float64],
        sets: NDArray[np.float64],
        reductions: NDArray[np.float64] | None,
        lengths: Sequence[int],
    ) -> list[list[Rows]]:
        borders = np.cumsum(lengths)[:-1]
        parts = iter(np.split(bits, borders))
        reduced = repeat(None) if reductions is None else iter(np.split(reductions, borders, axis=1))
        answers, before = [], 0
        for pack in batch:
            rows = []
            for path in pack.paths:
                begin = sets[before + path, 0] if len(sets) else np.empty(0)
                first = float(sets[before + path[0], 1]) if len(sets) and len(path) else math.nan
                rows.append(Rows(next(parts), begin, first, next(reduced)))
            before += len(pack.tokens)
            answers.append(rows)
        return answers

    def _inputs(self, batch: Sequence[Pack], tree: bool) -> tuple[dict[str, Any], int]:
        """Return the model's inputs for a batch, and the length of its rows."""
        width = max(1, max(len(pack.tokens) for pack in batch))
        tokens = np.zeros((len(batch), width), np.int64)
        for row, pack in enumerate(batch):
            tokens[row, : len(pack.tokens)] = pack.tokens
        inputs: dict[str, Any] = {"input_ids": send(tokens, self.device), "use_cache": False}
        if tree:
            inputs |= self._tree_inputs(batch, width)
        # Padding needs no mask: it comes last, where a left-to-right model does not see it.
        self.evaluated += sum(len(pack.tokens) for pack in batch)
        return inputs, width

    def _tree_inputs(self, batch: Sequence[Pack], width: int) -> dict[str, torch.Tensor]:
        depths = np.zeros((len(batch), width), np.int64)
        allowed = np.zeros((len(batch), 1, width, width), bool)
        # A padding position attends to itself, so that no row of the softmax is empty.
        allowed[:, 0, np.arange(width), np.arange(width)] = True
        for row, pack in enumerate(batch):
            depths[row, : len(pack.tokens)] = pack.depths
            allowed[row, 0, : len(pack.tokens), : len(pack.tokens)] = pack.mask()
        mask = torch.zeros(allowed.shape, dtype=self.dtype, device=self.device)
        # The mask is additive: some attention implementations use a boolean mask incorrectly without an error.
        mask.masked_fill_(send(~allowed, self.device), torch.finfo(self.dtype).min)
        return {"attention_mask": mask, "position_ids": send(depths, self.device)}

    @property
    def _portion(self) -> int:
        """The number of rows of logits in memory at a time; at least those of one pack if each portion needs a forward pass."""
        return self.head.rows if self.ways.direct_head else max(self.head.rows, _PACK)

    def _logits(self, inputs: dict[str, Any], needed: NDArray[np.int64]) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield the logits of the needed rows in portions, each with the index of its first row."""
        step = self._portion
        if self.ways.direct_head:
            hidden = self.model.base_model(**inputs)[0]
            hidden = hidden.reshape(-1, hidden.shape[-1])
            rows = send(needed, hidden.device)
            for first in range(0, len(needed), step):
                yield first, self.head.logits(hidden[rows[first : first + step]])
            return
        for first in range(0, len(needed), step):
            chosen = needed[first : first + step]

            def cut(
                _: Any, arguments: tuple[torch.Tensor, ...], chosen: NDArray[np.int64] = chosen
            ) -> tuple[torch.Tensor]:
                hidden = arguments[0]
                return (hidden.reshape(-1, hidden.shape[-1])[send(chosen, hidden.device)][None],)

            hook = self.head.layer.register_forward_pre_hook(cut)
            try:
                logits = own_pass(self.model, **inputs)[0].to(self.head.device)
            finally:
                hook.remove()
            yield first, logits
