"""Reductions of the distributions over the next token, in PyTorch: their entropy, and the rank of a token in them.

`models.rank.reduce` computes the same for a single distribution in NumPy.
"""

import math

import torch

# Numbers in memory at a time, in float64: what fits into a CPU's cache, and what a GPU computes at once.
_BLOCK, _HELD = 1 << 18, 1 << 24


def reduce(logits: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Compute the entropy of some rows in bits, and the rank of a target in each.

    Distributions are normalised in float64, and ranks compare the logits as they are. A GPU without float64 leaves both to
    the CPU.

    Arguments:
        logits: shape (rows, vocabulary): logits in any dtype, not normalised.
        rows: shape (targets,): the row of each target.
        targets: shape (targets,): the index of each target in its row.

    Returns:
        Shape (2, targets), float64: entropies, and ranks from 1, which count the likelier entries.

    >>> logits = torch.tensor([[0.5, 0.25, 0.125, 0.125]], dtype=torch.float64).log()
    >>> reduce(logits, torch.tensor([0, 0]), torch.tensor([1, 3])).round(decimals=9).tolist()
    [[1.75, 1.75], [2.0, 3.0]]
    """
    if logits.device.type == "mps":
        logits, rows, targets = logits.cpu(), rows.cpu(), targets.cpu()
    size = max(1, (_BLOCK if logits.device.type == "cpu" else _HELD) // logits.shape[-1])
    entropies = [
        torch.special.entr(part.double().softmax(-1)).sum(-1) / math.log(2) for part in torch.split(logits, size)
    ]
    ranks = [
        1.0 + (logits[some] > logits[some, chosen][:, None]).sum(-1, dtype=torch.float64)
        for some, chosen in zip(torch.split(rows, size), torch.split(targets, size), strict=True)
    ]
    # -0.0 becomes 0.0.
    return torch.stack([torch.cat(entropies)[rows] + 0.0, torch.cat(ranks)])
