"""The Hugging Face Hub: whether it can be reached, and the commit of a folder in its cache."""

import re
import socket
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

import huggingface_hub

_COMMIT = re.compile("[0-9a-f]{40}")


def is_reachable() -> bool:
    """Return whether the hub can be reached. This check avoids a minute of retries without a network."""
    if huggingface_hub.constants.HF_HUB_OFFLINE or not getproxies().keys().isdisjoint({"https", "all"}):
        return not huggingface_hub.constants.HF_HUB_OFFLINE
    hub = urlsplit(huggingface_hub.constants.ENDPOINT)
    try:
        socket.create_connection((hub.hostname or "", hub.port or 443), timeout=3).close()
    except OSError:
        return False
    return True


def cache() -> Path:
    """Return the folder of the hub's cache (`HF_HUB_CACHE`, or `hub` in `HF_HOME`)."""
    return Path(huggingface_hub.constants.HF_HUB_CACHE)


def commit(folder: Path) -> str:
    """Return the commit of a folder in the hub's cache, from its name; empty for another folder."""
    return folder.name if folder.parent.name == "snapshots" and _COMMIT.fullmatch(folder.name) else ""
