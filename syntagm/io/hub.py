"""The Hugging Face Hub: whether it can be reached."""

import socket
import time
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies


def is_reachable(constants: Any) -> bool:
    """Return whether the hub can be reached. This check avoids a minute of retries without a network.

    Arguments:
        constants: the module `huggingface_hub.constants`, which knows the hub's address and whether the user is offline.
    """
    if constants.HF_HUB_OFFLINE or not getproxies().keys().isdisjoint({"https", "all"}):
        return not constants.HF_HUB_OFFLINE
    hub = urlsplit(constants.ENDPOINT)
    return _answers(hub.hostname or "", hub.port or 443, int(time.monotonic() // 60))


@lru_cache(maxsize=1)
def _answers(host: str, port: int, minute: int) -> bool:
    """Return whether a server accepts a connection within three seconds.

    The answer is remembered for the `minute`: a command asks several times, and would wait each time without a network.
    """
    try:
        socket.create_connection((host, port), timeout=3).close()
    except OSError:
        return False
    return True
