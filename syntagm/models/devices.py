"""Devices: their selection, copies to them, entropies and ranks, checksums, and the precision of products."""

import hashlib
import math
import threading
from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray

from syntagm.core import UsageError

# Numbers in memory at a time, in float64: what fits into a CPU's cache, and what a GPU computes at once.
_REDUCED, _HELD = 1 << 18, 1 << 24


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
    size = max(1, (_REDUCED if logits.device.type == "cpu" else _HELD) // logits.shape[-1])
    entropies = [
        torch.special.entr(part.double().softmax(-1)).sum(-1) / math.log(2) for part in torch.split(logits, size)
    ]
    ranks = [
        1.0 + (logits[some] > logits[some, chosen][:, None]).sum(-1, dtype=torch.float64)
        for some, chosen in zip(torch.split(rows, size), torch.split(targets, size), strict=True)
    ]
    # -0.0 becomes 0.0.
    return torch.stack([torch.cat(entropies)[rows] + 0.0, torch.cat(ranks)])


_SUMMED = 1 << 16


def checksum(tensors: Iterable[torch.Tensor]) -> str:
    """Return a checksum of all numbers of some tensors, which takes a fifth of the time of a cryptographic hash."""
    # Each eight bytes are multiplied by an odd random number, modulo 2^64, so two edits cancel by chance alone.
    sums: dict[torch.device, list[torch.Tensor]] = {}
    for tensor in tensors:
        for part in _parts(tensor.detach()):
            flat = part.contiguous().reshape(-1).view(torch.uint8)
            if len(flat) % 8 or flat.storage_offset() % 8:
                flat = torch.nn.functional.pad(flat, (0, -len(flat) % 8)).clone()
            blocks, factors = torch.split(flat.view(torch.int64), _SUMMED), _factors(flat.device)
            products = [(block * factors[: len(block)]).sum() for block in blocks]
            sums.setdefault(flat.device, []).extend(products)
    digest = hashlib.sha256()
    for products in sums.values():
        # One copy for all weights, since a GPU is waited for at each.
        digest.update(torch.stack(products).cpu().numpy().tobytes())
    return digest.hexdigest()


def _parts(tensor: torch.Tensor) -> Iterable[torch.Tensor]:
    """Yield the tensors in which a tensor holds its values: of some quantised ones, codes and scales."""
    if not torch.utils._python_dispatch.is_traceable_wrapper_subclass(tensor):
        yield tensor
        return
    for name in tensor.__tensor_flatten__()[0]:
        yield from _parts(getattr(tensor, name))


@cache
def _factors(device: torch.device) -> torch.Tensor:
    draw = torch.Generator().manual_seed(22)
    return (torch.randint(-(2**62), 2**62, (_SUMMED,), generator=draw) * 2 + 1).to(device)


def device(choice: str) -> torch.device:
    """Return the device called `choice`; `auto` is the GPU if there is one, else the CPU."""
    if choice == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(choice)
        torch.empty(0, device=chosen).cpu()  # on the device meta, nothing is computed
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        shown = str(error).strip().splitlines()[0]
        raise UsageError("model option device", repr(choice), "a device of this machine", shown) from error
    return chosen


def send(array: NDArray[Any], place: torch.device) -> torch.Tensor:
    """Copy an array to a device. The copy to a GPU waits neither for the array to arrive nor for earlier computations."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(place, non_blocking=True) if place.type == "cuda" else tensor.to(place)


def free(place: torch.device) -> None:
    """Free unused cached memory on a GPU."""
    if place.type != "cpu":
        getattr(torch, place.type).empty_cache()


class FullPrecision(torch.no_grad):
    """A context or decorator for computing without gradients, in which factors in float32 are not rounded."""

    # PyTorch rounds them inside `torch.autocast`, which is switched off for this thread. Outside, it may round them to
    # TensorFloat-32 on a GPU, or to bfloat16 on a CPU: recurrent and convolutional layers of cuDNN by default, and all
    # products if a program (`torch.set_float32_matmul_precision`, `tf32=True` of transformers' trainer) or the
    # environment (TORCH_ALLOW_TF32_CUBLAS_OVERRIDE, as in NVIDIA's containers) says so. The surprisals of a model would
    # depend on that. What the program has set applies again afterwards.

    # These settings are of the process, so the first thread that enters changes them, and the last one that leaves restores.
    _lock: ClassVar = threading.Lock()
    _entered: ClassVar[int] = 0
    _before: ClassVar[list[Any]] = []

    def __enter__(self) -> None:
        super().__enter__()
        self._casting = [kind for kind in _KINDS if torch.is_autocast_enabled(kind)]
        for kind in self._casting:
            torch.set_autocast_enabled(kind, False)
        with self._lock:
            if not FullPrecision._entered:
                FullPrecision._before = _precisions()
                _set_precisions(["ieee"] * len(_PRODUCTS) if _PRODUCTS else ["highest", False])
            FullPrecision._entered += 1

    def __exit__(self, *error: Any) -> None:
        with self._lock:
            FullPrecision._entered -= 1
            if not FullPrecision._entered:
                _set_precisions(FullPrecision._before)
        for kind in self._casting:
            torch.set_autocast_enabled(kind, True)
        super().__exit__(*error)


# The kinds of devices for which a program may use `torch.autocast`.
_KINDS = ("cpu", "cuda", "mps", "xpu")
_backends: Any = torch.backends
# Before PyTorch 2.9, there are two settings for all of them.
_PRODUCTS: list[Any] = (
    [
        _backends.cuda.matmul, _backends.cudnn.conv, _backends.cudnn.rnn,
        _backends.mkldnn.matmul, _backends.mkldnn.conv, _backends.mkldnn.rnn,
    ]
    if hasattr(_backends, "fp32_precision")
    else []
)  # fmt: skip


def _precisions() -> list[Any]:
    if _PRODUCTS:
        return [product.fp32_precision for product in _PRODUCTS]
    return [torch.get_float32_matmul_precision(), _backends.cudnn.allow_tf32]


def _set_precisions(values: list[Any]) -> None:
    if _PRODUCTS:
        for product, value in zip(_PRODUCTS, values, strict=True):
            product.fp32_precision = value
        return
    torch.set_float32_matmul_precision(values[0])
    _backends.cudnn.allow_tf32 = values[1]
