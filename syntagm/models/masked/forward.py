"""Forward passes of a masked transformer. They compute the logits at one masked position of each row.

A batch has rows of the same length, as many as the budget of tokens allows, so there is no padding. Since a sentence has as
many rows as tokens, there are enough rows of each length. The head is applied only to the scored position of each row, if
this gives the same logits as the original model. A probe decides this when the model is loaded.
"""

import contextlib
import hashlib
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any, TypeVar

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from torch.nn.functional import embedding

from syntagm.core import ModelError, lacks_memory
from syntagm.models.devices import FullPrecision, free, send
from syntagm.models.hugging_face.tokens import Framed
from syntagm.models.possible import round_up

# In BERT-like models, the last layer is computed only at the scored positions; they still attend to all positions. With
# four layers this saves nearly a quarter of the time. The layer is recognised by its parts, and a probe checks that the
# results are those of the original model.

_RETURNS_TUPLE = transformers.__version__.startswith("4.")


def layers(model: Any) -> Sequence[Any]:
    """Return the layers of a model if they are built like BERT's; else an empty sequence."""
    modules = getattr(getattr(model.base_model, "encoder", None), "layer", None)
    if not modules or not isinstance(modules, torch.nn.ModuleList):
        return ()
    layer: Any = modules[-1]
    parts, attention = ("query", "key", "value"), getattr(layer, "attention", None)
    own = getattr(attention, "self", None)
    linear = all(isinstance(getattr(own, part, None), torch.nn.Linear) for part in parts)
    after = all(hasattr(layer, part) for part in ("intermediate", "output")) and hasattr(attention, "output")
    return list(modules) if linear and after and hasattr(own, "num_attention_heads") else ()


@contextlib.contextmanager
def at_places(layer: Any, places: torch.Tensor) -> Iterator[None]:
    """Within the `with` block, compute the layer's output only at one position of each row. Shape (rows, 1, width)."""

    def forward(hidden: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor | tuple[torch.Tensor]:
        scored = hidden[torch.arange(len(places), device=hidden.device), places][:, None]
        attended = layer.attention.output(_attend(layer.attention.self, scored[:, 0], hidden)[:, None], scored)
        output: torch.Tensor = layer.output(layer.intermediate(attended), attended)
        return (output,) if _RETURNS_TUPLE else output

    layer.forward = forward
    try:
        yield
    finally:
        del layer.forward


def _attend(own: Any, scored: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    """Compute the attention output at one position per row. Shape (rows, width)."""
    # With one query per row, the key matrix is multiplied with the query and the value matrix with the weighted sum of
    # hidden states, instead of both with every position. The bias of the keys is the same for all positions, so it
    # cancels.
    heads = own.num_attention_heads
    keys, values = (part.weight.unflatten(0, (heads, -1)) for part in (own.key, own.value))
    query = own.query(scored).unflatten(-1, (heads, -1))
    scores = torch.einsum("rhe,hed->rhd", query, keys) @ hidden.transpose(1, 2)
    weights = torch.softmax(scores / query.shape[-1] ** 0.5, -1)
    mixed: torch.Tensor = torch.einsum("rhd,hed->rhe", weights @ hidden, values).flatten(1) + own.value.bias
    return mixed


# The queries, keys and values of the first layer are computed once for each token and position: its input depends only on
# them, and the rows of a text differ in one mask, so nearly all of them are repeated. A probe checks that the results are
# those of the original model.


@contextlib.contextmanager
def once(layer: Any, tokens: torch.Tensor) -> Iterator[None]:
    """Within the `with` block, compute the layer's queries, keys and values once for each token id and position in `tokens`."""
    width = tokens.shape[1]
    distinct, which = torch.unique(tokens * width + torch.arange(width, device=tokens.device), return_inverse=True)
    # An occurrence of each distinct pair.
    occurrence = torch.empty(len(distinct), dtype=torch.long, device=tokens.device)
    occurrence[which.flatten()] = torch.arange(tokens.numel(), device=tokens.device)
    parts = [getattr(layer.attention.self, name) for name in ("query", "key", "value")]
    for part in parts:

        def forward(hidden: torch.Tensor, part: Any = part) -> torch.Tensor:
            return embedding(which, type(part).forward(part, hidden.flatten(0, 1)[occurrence]))

        part.forward = forward
    try:
        yield
    finally:
        for part in parts:
            del part.forward


# Stands for any number of positions.
NO_LIMIT = 1 << 30


def limit(model: Any) -> int:
    """Return the largest number of inputs that the model has positions for; `NO_LIMIT` if there is no limit."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len"):
        positions = getattr(model.config, name, None)
        if isinstance(positions, int) and positions > 0:
            break
    else:
        return NO_LIMIT
    words = model.get_input_embeddings()
    for table in model.modules():
        if table is words:
            continue
        # RoBERTa-like models count positions from the one after the padding index.
        if (
            isinstance(table, torch.nn.Embedding)
            and table.num_embeddings == positions
            and table.padding_idx is not None
        ):
            return positions - table.padding_idx - 1
    return positions


# Rows with the same input are computed once, regardless of the words under their masks. So a good and a bad sentence
# that differ in one word share the row of that word.


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A text with masks and one scored position."""

    inputs: NDArray[np.int64]  # shape (inputs,): token ids without masks; rows of the same text share this array
    masked: NDArray[np.int64]  # shape (masks,): the masked positions
    place: int  # the scored position, one of `masked`

    def tokens(self, mask: int) -> NDArray[np.int64]:
        seen = self.inputs.copy()
        seen[self.masked] = mask
        return seen

    def digest(self, mask: int) -> bytes:
        """Return a hash of 16 bytes that is equal for rows with the same input and scored position."""
        seen = np.append(self.tokens(mask), self.place)
        return hashlib.blake2b(seen.tobytes(), digest_size=16).digest()


@dataclass(slots=True)
class Plan:
    """The distinct rows to compute, and the targets of each."""

    mask: int  # token id of the mask
    rows: list[Row] = field(default_factory=list)  # without repetitions
    # For each row, tuples of (owner, index, target): which text or gap and which of its tokens or candidates a result is
    # for, and the token id to score.
    targets: list[list[tuple[int, int, int]]] = field(default_factory=list)
    _numbers: dict[bytes, int] = field(default_factory=dict)

    def ask(self, row: Row, owner: int, index: int, target: int) -> None:
        """Add a token to score in a row."""
        self.targets[self.number(row)].append((owner, index, target))

    def number(self, row: Row) -> int:
        """Return the number of a row; add the row if it is new."""
        number = self._numbers.setdefault(row.digest(self.mask), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
            self.targets.append([])
        return number


def plan(
    texts: Iterable[tuple[int, Framed, range]], mask: int, hidden: Callable[[Framed, int], NDArray[np.int64]]
) -> Plan:
    rows = Plan(mask)
    for owner, text, indices in texts:
        for index in indices:
            place = int(text.places[index])
            rows.ask(Row(text.inputs, hidden(text, index), place), owner, index, int(text.inputs[place]))
    return rows


def words_in_place(before: Sequence[int], pieces: Sequence[int], after: Sequence[int]) -> list[tuple[Row, int]]:
    """Return the rows that score a word: one for each of its tokens, unmasked from left to right, with the token's id."""
    inputs = np.array([*before, *pieces, *after], np.int64)
    places = np.arange(len(before), len(before) + len(pieces))
    return [(Row(inputs, places[step:], int(place)), pieces[step]) for step, place in enumerate(places)]


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
        all_layers = layers(model)
        # On a GPU, finding the repeats takes longer than computing them.
        self.first = all_layers[0] if len(all_layers) > 1 and self.device.type == "cpu" else None
        self.last = all_layers[-1] if all_layers else None
        self.direct_head, self.numerical_error, self.widest, self.evaluated = True, 0.0, 0, 0
        # Only one thread may use the hook at a time.
        self._lock = threading.RLock()

    def fits(self, inputs: int) -> bool:
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


_TOLERANCE = 1e-4
_LENGTHS = (12, 9, 6)


def probed(model: Any, mask: int, budget: int) -> MaskedForward:
    """Return the fastest forward passes of a model that give the same numbers as computing each row alone."""
    forward = MaskedForward(model, mask, budget)
    texts = _texts(forward)
    rows = [row for text in texts for row in text]
    with torch.inference_mode(), FullPrecision():
        single_logits = [_alone(forward, row) for row in rows]
    forward.vocabulary = single_logits[0].shape[-1]
    forward.symbols = min(forward.symbols, forward.vocabulary)
    targets = [int(row.inputs[row.place]) for row in rows]
    single = _bits(torch.stack(single_logits), targets)
    for first, last, direct in _combinations(forward.first, forward.last):
        forward.first, forward.last, forward.direct_head = first, last, direct
        if (batched := _batched(forward, rows, targets)) is not None and _same(forward, batched, single):
            # The largest difference between sums over a text.
            parts = np.split(batched - single, np.cumsum([len(text) for text in texts])[:-1])
            forward.numerical_error = round_up(float(max(abs(part.sum()) for part in parts)))
            forward.widest = forward.evaluated = 0
            return forward
    raise ModelError(
        str(forward.model.config.model_type), "batched scoring differs from scoring one row at a time",
        "the same numbers", "Syntagm can't score this architecture exactly.",
    )  # fmt: skip


def _combinations(first: Any, last: Any) -> list[tuple[Any, Any, bool]]:
    """Return combinations of optimised first layer, last layer and head to try, from the fastest to the plainest."""
    return list(dict.fromkeys([(first, last, True), (None, last, True), (None, None, True), (None, None, False)]))


def _texts(forward: MaskedForward) -> list[list[Row]]:
    """Return the rows of random texts of several lengths, one row for each position."""
    draw = np.random.default_rng(20)
    no_words = (forward.mask, getattr(forward.model.config, "pad_token_id", None))
    kept = [number for number in range(min(forward.symbols, 1 << 16)) if number not in no_words]
    texts = []
    for length in sorted({min(length, forward.limit) for length in _LENGTHS}):
        inputs = draw.choice(np.array(kept, np.int64), length)
        texts.append([Row(inputs, np.array([place]), place) for place in range(length)])
    return texts


def _alone(forward: MaskedForward, row: Row) -> torch.Tensor:
    """Compute the logits at a row's position with the model's own forward pass, without a batch or attention mask."""
    tokens = torch.from_numpy(row.tokens(forward.mask))[None].to(forward.device)
    logits: torch.Tensor = forward.model(input_ids=tokens).logits[0, row.place]
    return logits.to(forward.wide)


def _bits(logits: torch.Tensor, targets: list[int]) -> NDArray[np.float64]:
    picked = torch.log_softmax(logits, -1)[torch.arange(len(targets), device=logits.device), targets]
    return np.array(-picked.cpu().double().numpy() / math.log(2), np.float64)


def _batched(forward: MaskedForward, rows: list[Row], targets: list[int]) -> NDArray[np.float64] | None:
    bits = np.full(len(rows), np.nan)
    # All rows of one length go into one batch.
    budget, forward.budget = forward.budget, max(forward.budget, max(_LENGTHS) ** 2)
    try:

        def read(batch: list[int], logits: torch.Tensor) -> NDArray[np.float64]:
            return _bits(logits, [targets[index] for index in batch])

        for batch, batch_bits in forward.visit(rows, read):
            bits[batch] = batch_bits
    except ModelError:  # no memory for a single row
        raise
    except Exception:  # any failure means that this way does not work for this architecture
        return None
    finally:
        forward.budget = min(budget, forward.budget)
    return bits


def _same(forward: MaskedForward, batched: NDArray[np.float64], single: NDArray[np.float64]) -> bool:
    """Return whether bits are equal up to rounding."""
    # With low-precision dtypes and quantised weights, they are equal up to 0.1 bits per token on average.
    if not (np.isfinite(batched).all() and np.isfinite(single).all()):
        return False
    difference = np.abs(batched - single)
    if forward.dtype in (torch.float32, torch.float64) and not getattr(forward.model, "is_quantized", False):
        return bool(difference.max() < _TOLERANCE * max(1.0, single.max() / 16))
    return bool(difference.mean() < 0.1)
