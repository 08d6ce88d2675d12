"""Find out what a model can take, by asking the same in several ways: no list of architectures is ever complete."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.errors import ModelError
from syntagm.models.causal.forward import Forward
from syntagm.models.causal.prefix_tree import plan
from syntagm.models.causal.rows import Rows
from syntagm.models.hugging_face.noise import round_up
from syntagm.models.hugging_face.tokens import Borders

_TOLERANCE = 1e-4
# No symbol has more bits, unless the model masks it.
_MASKED = 1e4


def probed(model: Any, budget: int, share: bool, borders: Borders | None) -> Forward:
    """Return the forward passes of a model, in the fastest way that gives the numbers of single computation.

    Arguments:
        share: may prefixes be shared?
        borders: which tokens begin a word, if that is to be watched.

    Raises:
        ModelError: there is no such way.
    """
    forward = Forward(model, budget)
    _probe(forward, share)
    forward.start(borders)
    return forward


def _probe(forward: Forward, share: bool) -> None:
    """Set `tree`, `direct_head` and `noise`."""
    sequences = _probe_sequences(forward.symbols, min(forward.limit, 48))
    with torch.inference_mode():
        plain = [_plain(forward, sequence) for sequence in sequences]
        _refuse_looking_ahead(forward, sequences, plain)
        forward.direct_head = _reaches_head(forward, sequences[0])
        used = _attempt(forward, sequences, False)
        if forward.direct_head and not _same(forward, used, plain):
            forward.direct_head = False
            used = _attempt(forward, sequences, False)
        if not _same(forward, used, plain):
            raise ModelError(
                str(forward.model.config.model_type), "batched scoring differs from scoring one sentence at a time",
                "the same numbers", "This architecture can't be scored exactly here.",
            )  # fmt: skip
        packed = _attempt(forward, sequences, True) if share else None
        if _same(forward, packed, plain) and _keeps_apart(forward, sequences):
            forward.tree, used = True, packed
    forward.numerical_error = round_up(
        max(_distance(one, other) for one, other in zip(used or plain, plain, strict=True))
    )


def _refuse_looking_ahead(
    forward: Forward, sequences: Sequence[Sequence[int]], plain: list[NDArray[np.float64]]
) -> None:
    """A masked model loaded as a causal one sees the words it should foretell; its beginnings then score otherwise."""
    halves = [(len(bits) + 1) // 2 for bits in plain]
    alone = [_plain(forward, sequence[: half + 1]) for sequence, half in zip(sequences, halves, strict=True)]
    if not _same(forward, alone, [bits[:half] for bits, half in zip(plain, halves, strict=True)]):
        raise ModelError(
            str(forward.model.config.model_type), "the surprisal of a token changes with what follows it",
            "a left-to-right model", "Is it a masked model? Then write masked: before its path or name.",
        )  # fmt: skip


def _reaches_head(forward: Forward, sequence: Sequence[int]) -> bool:
    """Is the head applied to the body's output the whole way to the logits, with no scaling or capping after it?

    The same operations on the same shapes give the same bits, so in any type the least difference says no.
    """
    inputs = {"input_ids": torch.tensor([sequence[:-1]], device=forward.device), "use_cache": False}
    try:
        direct = forward.model.get_output_embeddings()(forward.model.base_model(**inputs)[0])
    except Exception:  # whatever fails, this way is not open to this architecture
        return False
    own = forward.model(**inputs).logits
    return direct.shape == own.shape and torch.equal(direct.to(own.dtype).nan_to_num(), own.nan_to_num())


def _keeps_apart(forward: Forward, sequences: Sequence[Sequence[int]]) -> bool:
    """Do other branches of a tree leave the last one alone? Recurrent and convolutional layers ignore the mask.

    The same operations on the same shapes, so in any type nothing may change; comparing with separate sentences is
    too blunt for that in types of low precision.
    """
    [pack] = plan(sequences, sum(map(len, sequences)))
    other = np.ones(len(pack.tokens), bool)
    other[pack.paths[-1]] = False
    changed = replace(pack, tokens=np.where(other, (pack.tokens + 1) % forward.symbols, pack.tokens))
    try:
        one, two = (forward.batch(sequences, [each], True)[0][-1].bits for each in (pack, changed))
    except (RuntimeError, MemoryError):  # too large for the memory there is, or not open to this architecture
        return False
    return bool(np.allclose(one, two, rtol=0, atol=1e-6, equal_nan=True))


def _plain(forward: Forward, sequence: Sequence[int]) -> NDArray[np.float64]:
    """Bits of a sequence by the model's own forward pass, alone, without mask."""
    logits = forward.model(input_ids=torch.tensor([sequence[:-1]], device=forward.device), use_cache=False).logits[0]
    spread = torch.log_softmax(logits.to(forward.head.wide), -1)
    return np.array([-float(row[token]) / math.log(2) for row, token in zip(spread, sequence[1:], strict=True)])


def _attempt(forward: Forward, sequences: Sequence[Sequence[int]], tree: bool) -> list[NDArray[np.float64]] | None:
    try:
        found: list[Rows | None] = [None] * len(sequences)
        forward.run(sequences, range(len(sequences)), tree, found, lambda _: None)
    except ModelError:  # no memory for a single sentence
        if not tree:
            raise
        return None
    except Exception:  # any failure means that this way is not open to this architecture
        return None
    return [rows.bits for rows in found if rows is not None]


def _same(forward: Forward, found: list[NDArray[np.float64]] | None, plain: list[NDArray[np.float64]]) -> bool:
    """Equal up to rounding; in types of low precision, up to a tenth of a bit a token on average."""
    if found is None:
        return False
    one, other = np.concatenate(found), np.concatenate(plain)
    if (np.isnan(one) != np.isnan(other)).any():
        return False
    said = _said(one, other)
    difference = np.abs(one[said] - other[said])
    if not len(difference):
        return True
    if forward.dtype in (torch.float32, torch.float64):
        return bool(difference.max() < _TOLERANCE * max(1.0, other[said].max() / 16))
    return bool(difference.mean() < 0.1)


def _said(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which tokens can be compared. Those that a model masks have infinitely many bits, or as many as its type holds."""
    defined = ~np.isnan(one) & ~np.isnan(other)
    return defined & ~((one > _MASKED) & (other > _MASKED))


def _distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """By how many bits two answers to one sequence differ in sum."""
    said = _said(one, other)
    return abs(float((one[said] - other[said]).sum()))


def _probe_sequences(vocabulary: int, length: int) -> list[list[int]]:
    """Random sequences of several lengths that branch from shared prefixes."""
    draw = np.random.default_rng(20)
    stem = draw.integers(0, vocabulary, length).tolist()
    sequences = []
    for shared, total in ((length // 4, length), (length // 4, length // 2), (length // 2, length), (1, length // 3)):
        # The last token is a target only, so one more than the positions fits.
        total = min(max(total, shared + 2), length + 1)
        shared = min(shared, total - 1)
        sequences.append([*stem[:shared], *draw.integers(0, vocabulary, total - shared).tolist()])
    return sequences
