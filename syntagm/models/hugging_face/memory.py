"""Detection of out-of-memory errors, and freeing of memory after one."""

import torch

_SIGNS = ("can't allocate memory", "out of memory", "not enough memory", "bad_alloc", "_status_alloc_failed")


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out. On a CPU, PyTorch raises a RuntimeError with such a message."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return any(sign in str(error).lower() for sign in _SIGNS)


def free(device: torch.device) -> None:
    """Free unused cached memory on a GPU."""
    if device.type != "cpu":
        getattr(torch, device.type).empty_cache()
