"""Where to compute."""

import torch

from syntagm.errors import UsageError


def device(choice: str) -> torch.device:
    """The device called `choice`; `auto` is the graphics card if there is one.

    Raises:
        UsageError: this machine has no such device.
    """
    if choice == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(choice)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        shown = str(error).strip().splitlines()[0]
        raise UsageError("model option device", repr(choice), "a device of this machine", shown) from error
    return found
