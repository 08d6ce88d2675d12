"""Detection of out-of-memory errors, and freeing of memory after one."""

import torch

from syntagm.errors import lacks_memory


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out, that of a GPU included."""
    return isinstance(error, torch.OutOfMemoryError) or lacks_memory(error)


def free(device: torch.device) -> None:
    """Free unused cached memory on a GPU."""
    if device.type != "cpu":
        getattr(torch, device.type).empty_cache()
