"""The probe of a causal model: find out which ways of computing give the same numbers as scoring each text alone.

A probe works for any architecture; a list of architectures would never be complete. Its first part, which refuses models
that look ahead, runs when a model is loaded, and its second part before the first batch.
"""

import contextlib
import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.core import ModelError
from syntagm.models.causal.forward import Forward, Rows, Ways
from syntagm.models.causal.prefix_tree import plan
from syntagm.models.devices import FullPrecision
from syntagm.models.hugging_face.tokens import Borders
from syntagm.models.possible import round_up

_TOLERANCE = 1e-4
# Lengths of the longest sequence. Rounding in low precision has to be averaged over more tokens.
_SHORT, _LONG = 16, 48
# The fewest tokens that two sequences must share to show whether a model looks ahead.
_SHARED = 4
# Only symbols that a model masks have more bits.
_MASKED = 1e4


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What the model's own forward passes tell."""

    sequences: list[list[int]]  # token ids
    plain: list[NDArray[np.float64]]  # the bits of each sequence
    direct_head: bool  # whether applying the head to the body's output gives the logits


def probed(model: Any, budget: int, share: bool, borders: Borders | None) -> Forward:
    """Return the fastest forward passes of a model that give the same numbers as scoring each text alone."""
    forward = Forward(model, budget, lambda forward: _ways(forward, share, known))
    known = _look(forward)
    if borders is not None:
        forward.watch(borders)
    return forward


@torch.inference_mode()
@FullPrecision()
def _look(forward: Forward) -> _Known:
    """Run the model's own forward passes."""
    sequences = _probe_sequences(forward.symbols, min(forward.limit, _SHORT if _is_precise(forward) else _LONG))
    with _watched(getattr(forward.model, "base_model", None)) as calls:
        first = forward.own(sequences[0])
    logits = [first, *map(forward.own, sequences[1:])]
    plain = [_bits(forward, rows, sequence[1:]) for rows, sequence in zip(logits, sequences, strict=True)]
    # Where rounding is large, more tokens are needed than two sequences share.
    shared = _beginnings(forward, sequences, logits) if _is_precise(forward) else None
    _refuse_looking_ahead(forward, *(shared or _halves(forward, sequences, plain)))
    return _Known(sequences, plain, _reaches_head(forward, sequences[0], first, calls))


@torch.inference_mode()
@FullPrecision()
def _ways(forward: Forward, share: bool, known: _Known) -> Ways:
    """Return the fastest ways of computing batches that give the same numbers; they are set while they are tried."""
    sequences, plain = known.sequences, known.plain
    forward.ways = Ways(False, known.direct_head)
    used = _attempt(forward, sequences)
    if forward.ways.direct_head and not _same(forward, used, plain):
        forward.ways = Ways(False, False)
        used = _attempt(forward, sequences)
    if not _same(forward, used, plain):
        _refuse_looking_ahead(forward, *_halves(forward, sequences, plain))
        raise ModelError(
            str(forward.model.config.model_type), "batched scoring differs from scoring one sentence at a time",
            "the same numbers", "Syntagm can't score this architecture exactly.",
        )  # fmt: skip
    tree = share and (packed := _packed(forward, sequences)) is not None and _same(forward, packed, plain)
    if tree:
        used = packed
    error = max(_distance(batched, single) for batched, single in zip(used or plain, plain, strict=True))
    return Ways(tree, forward.ways.direct_head, round_up(error))


def _refuse_looking_ahead(
    forward: Forward, before: Sequence[NDArray[np.float64]], after: Sequence[NDArray[np.float64]]
) -> None:
    """Refuse a model whose surprisals change with the text after them, such as a masked model loaded as a causal one."""
    if not _same(forward, before, after):
        raise ModelError(
            str(forward.model.config.model_type), "the surprisal of a token changes with what follows it",
            "a left-to-right model",
            "If it is a masked model, write masked: before its path or name, or masked=True if it is in memory.",
        )  # fmt: skip


def _beginnings(
    forward: Forward, sequences: Sequence[Sequence[int]], logits: Sequence[torch.Tensor]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] | None:
    """Return the bits of what the first sequence shares with each other one, in either; None if it shares too little."""
    # They are in the logits that are known, so no further pass is needed.
    before, after = [], []
    for other, rows in zip(sequences[1:], logits[1:], strict=True):
        pairs = zip(sequences[0], other, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        # The token after the last shared one must be an input of both, as the longer text.
        if 0 < shared < len(other) - 1:
            targets = [*other[1 : shared + 1], sequences[0][shared]]
            places = [*range(shared), shared - 1]
            before.append(_bits(forward, rows[places], targets))
            after.append(_bits(forward, logits[0][places], targets))
    return (before, after) if max(map(len, before), default=0) > _SHARED else None


def _halves(
    forward: Forward, sequences: Sequence[Sequence[int]], plain: Sequence[NDArray[np.float64]]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Return the bits of the first halves of the longer sequences, alone and before the second halves."""
    # The longer sequences show as much as all of them.
    longest = max(map(len, sequences))
    chosen = [(sequence, bits) for sequence, bits in zip(sequences, plain, strict=True) if len(sequence) == longest]
    half = longest // 2
    return [_bits(forward, forward.own(sequence[: half + 1]), sequence[1 : half + 1]) for sequence, _ in chosen], [
        bits[:half] for _, bits in chosen
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """A call of a model's body within the model's own forward pass."""

    positional: tuple[Any, ...]
    named: Mapping[str, Any]
    output: torch.Tensor  # a copy of its output before anything else was done with it


@contextlib.contextmanager
def _watched(body: Any) -> Iterator[list[_Call]]:
    """Collect the calls of a model's body during the block; none if it is no module."""
    calls: list[_Call] = []
    if not isinstance(body, torch.nn.Module):
        yield calls
        return

    def collect(_: Any, positional: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        with contextlib.suppress(Exception):  # an output of another kind: the model's own pass goes on
            calls.append(_Call(positional, named, output[0].clone()))

    hook = body.register_forward_hook(collect, with_kwargs=True)
    try:
        yield calls
    finally:
        hook.remove()


def _is_call(body: Any, call: _Call, inputs: Mapping[str, Any]) -> bool:
    """Return whether a call of the body had these inputs, and no others that differ from its defaults, as far as is known."""
    try:
        signature = inspect.signature(body.forward)
        own, expected = signature.bind(*call.positional, **call.named), signature.bind(**inputs)
        own.apply_defaults()
        expected.apply_defaults()
        return all(_is_equal(own.arguments[name], expected.arguments[name]) for name in signature.parameters)
    except Exception:  # parameters that can't be compared: the body is asked itself
        return False


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(one, other)
    return one is other or (type(one) is type(other) and one == other)


def _reaches_head(forward: Forward, sequence: Sequence[int], own: torch.Tensor, calls: Sequence[_Call]) -> bool:
    """Return whether applying the head to the body's output gives the logits, without scaling or capping after it."""
    # The same operations on the same shapes give identical results, so the logits must be equal in any dtype. The body
    # is only run again if the model's own forward pass did not call it once with the same inputs.
    body = forward.model.base_model
    inputs = {"input_ids": torch.tensor([sequence[:-1]], device=forward.device), "use_cache": False}
    try:
        known = len(calls) == 1 and _is_call(body, calls[0], inputs)
        direct = forward.model.get_output_embeddings()(calls[0].output if known else body(**inputs)[0])[0]
    except Exception:  # any failure means that this way does not work for this architecture
        return False
    return direct.shape == own.shape and torch.equal(direct.to(own).nan_to_num(), own.nan_to_num())


def _packed(forward: Forward, sequences: Sequence[Sequence[int]]) -> list[NDArray[np.float64]] | None:
    """Compute the bits of sequences in one tree; None if its last branch depends on the others."""
    # Recurrent and convolutional layers ignore the mask. The same operations on the same shapes give the same results
    # in any dtype. With low-precision dtypes, a comparison with separate sentences would not be precise enough.
    [pack] = plan(sequences, sum(map(len, sequences)))
    other = np.ones(len(pack.tokens), bool)
    other[pack.paths[-1]] = False
    changed = replace(pack, tokens=np.where(other, (pack.tokens + 1) % forward.symbols, pack.tokens))
    try:
        before, after = ([rows.bits for rows in forward.batch(sequences, [one], True)()[0]] for one in (pack, changed))
    except Exception:  # too large for the memory, or this way does not work for this architecture
        return None
    if not np.allclose(before[-1], after[-1], rtol=0, atol=1e-6, equal_nan=True):
        return None
    bits = dict(zip(pack.sequences, before, strict=True))
    return [bits[index] for index in range(len(sequences))]


def _bits(forward: Forward, logits: torch.Tensor, targets: Sequence[int]) -> NDArray[np.float64]:
    log_probabilities = torch.log_softmax(logits.to(forward.head.wide), -1)
    return np.array([-float(row[token]) / math.log(2) for row, token in zip(log_probabilities, targets, strict=True)])


def _attempt(forward: Forward, sequences: Sequence[Sequence[int]]) -> list[NDArray[np.float64]] | None:
    """Compute the bits of sequences in padded batches; None if that does not work for this architecture."""
    try:
        results: list[Rows | None] = [None] * len(sequences)
        forward.run(sequences, range(len(sequences)), False, results, lambda _: None)
    except ModelError:  # no memory for a single sentence
        raise
    except Exception:  # any failure means that this way does not work for this architecture
        return None
    return [rows.bits for rows in results if rows is not None]


def _same(forward: Forward, bits: Sequence[NDArray[np.float64]] | None, plain: Sequence[NDArray[np.float64]]) -> bool:
    """Return whether bits are equal up to rounding."""
    # With low-precision dtypes and quantised weights, they are equal up to 0.1 bits per token on average.
    if bits is None:
        return False
    first, second = np.concatenate(bits), np.concatenate(plain)
    if (np.isnan(first) != np.isnan(second)).any():
        return False
    compared = _comparable(first, second)
    difference = np.abs(first[compared] - second[compared])
    if not len(difference):
        return True
    if _is_precise(forward):
        return bool(difference.max() < _TOLERANCE * max(1.0, second[compared].max() / 16))
    return bool(difference.mean() < 0.1)


def _is_precise(forward: Forward) -> bool:
    return forward.dtype in (torch.float32, torch.float64) and not getattr(forward.model, "is_quantized", False)


def _comparable(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which tokens can be compared. Tokens that a model masks have infinite bits, or the largest number of the dtype."""
    defined = ~np.isnan(first) & ~np.isnan(second)
    return defined & ~((first > _MASKED) & (second > _MASKED))


def _distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the difference in bits between the sums of two results for the same sequence."""
    compared = _comparable(first, second)
    return abs(float((first[compared] - second[compared]).sum()))


def _probe_sequences(vocabulary: int, length: int) -> list[list[int]]:
    """Return random sequences of several lengths with shared prefixes."""
    draw = np.random.default_rng(20)
    stem = draw.integers(0, vocabulary, length).tolist()
    sequences = []
    for shared, total in ((length // 4, length), (length // 4, length // 2), (length // 2, length), (1, length // 3)):
        # The last token is only a target, so a sequence may have one token more than there are positions.
        total = min(max(total, shared + 2), length + 1)
        shared = min(shared, total - 1)
        sequences.append([*stem[:shared], *draw.integers(0, vocabulary, total - shared).tolist()])
    return sequences
