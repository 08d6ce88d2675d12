"""Selection of the device to compute on, copies to it, and the precision of products."""

import threading
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray

from syntagm.core import UsageError


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
