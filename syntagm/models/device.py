"""Selection of the device to compute on, and copies to it."""

from typing import Any

import torch
from numpy.typing import NDArray

from syntagm.errors import UsageError


def device(choice: str) -> torch.device:
    """Return the device called `choice`; `auto` is the GPU if there is one, else the CPU.

    Raises:
        UsageError: this machine has no such device.
    """
    if choice == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(choice)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        shown = str(error).strip().splitlines()[0]
        raise UsageError("model option device", repr(choice), "a device of this machine", shown) from error
    return chosen


def send(array: NDArray[Any], place: torch.device) -> torch.Tensor:
    """Copy an array to a device. The copy to a GPU waits neither for the array to arrive nor for earlier computations."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(place, non_blocking=True) if place.type == "cuda" else tensor.to(place)
