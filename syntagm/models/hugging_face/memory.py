"""What running out of memory looks like, and how to go on after it."""

import torch

_SIGNS = ("can't allocate memory", "out of memory", "not enough memory", "bad_alloc", "cublas_status_alloc_failed")


def is_out_of_memory(error: BaseException) -> bool:
    """Does an error say that memory ran out? On a processor, PyTorch says so in the text of a plain RuntimeError."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return any(sign in str(error).lower() for sign in _SIGNS)


def free(device: torch.device) -> None:
    """Give back what is held on a graphics card and not in use."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
