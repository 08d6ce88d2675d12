"""The probe of a masked model: find out which ways of batching give the same numbers as computing each row alone."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.core import ModelError
from syntagm.models.device import FullPrecision
from syntagm.models.masked.forward import MaskedForward
from syntagm.models.masked.rows import Row
from syntagm.models.possible import round_up

_TOLERANCE = 1e-4
_LENGTHS = (12, 9, 6)


def probed(model: Any, mask: int, budget: int) -> MaskedForward:
    """Return the fastest forward passes of a model that give the same numbers as computing each row alone."""
    forward = MaskedForward(model, mask, budget)
    _probe(forward)
    forward.widest = forward.evaluated = 0
    return forward


def _probe(forward: MaskedForward) -> None:
    """Set `first`, `last`, `direct_head`, `vocabulary`, `symbols` and `numerical_error`."""
    texts = _texts(forward)
    rows = [row for text in texts for row in text]
    with torch.inference_mode(), FullPrecision():
        single_logits = [_alone(forward, row) for row in rows]
    forward.vocabulary = single_logits[0].shape[-1]
    forward.symbols = min(forward.symbols, forward.vocabulary)
    targets = [int(row.inputs[row.place]) for row in rows]
    single = _bits(torch.stack(single_logits), targets)
    for first, last, direct in _combinations(forward):
        forward.first, forward.last, forward.direct_head = first, last, direct
        if (batched := _batched(forward, rows, targets)) is not None and _same(forward, batched, single):
            forward.numerical_error = round_up(_furthest(batched - single, [len(text) for text in texts]))
            return
    raise ModelError(
        str(forward.model.config.model_type), "batched scoring differs from scoring one row at a time",
        "the same numbers", "Syntagm can't score this architecture exactly.",
    )  # fmt: skip


def _combinations(forward: MaskedForward) -> list[tuple[Any, Any, bool]]:
    """Return combinations of optimised first layer, last layer and head to try, from the fastest to the plainest."""
    first, last = forward.first, forward.last
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


def _furthest(differences: NDArray[np.float64], lengths: list[int]) -> float:
    """Return the largest difference between sums over a text."""
    return float(max(abs(part.sum()) for part in np.split(differences, np.cumsum(lengths)[:-1])))
