"""The Hugging Face Hub: whether it can be reached."""

import socket
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
    try:
        socket.create_connection((hub.hostname or "", hub.port or 443), timeout=3).close()
    except OSError:
        return False
    return True
