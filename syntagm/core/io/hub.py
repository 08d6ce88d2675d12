"""The Hugging Face Hub: whether it can be reached, and how to get a model or data set into its cache."""

import re
import shlex
import socket
import time
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_STORED = re.compile(r"/(models|datasets)--([^/]+)/snapshots/([^/]+)/?")


def download(repository: str, revision: str | None = "", file: str = "", dataset: bool = False) -> str:
    """Return the command that downloads what is not in the cache, as a sentence for an error message.

    >>> download("org/name", "step1000")
    'Where there is a network: hf download org/name --revision step1000'
    """
    words = [*(["--repo-type", "dataset"] if dataset else []), repository, *([file] if file else [])]
    command = shlex.join(["hf", "download", *words, *(["--revision", revision] if revision else [])])
    return f"Where there is a network: {command}"


def again(path: Path) -> str:
    """Return how to replace a damaged or missing file of a model or data set, as a sentence for an error message.

    >>> again(Path("model/config.json"))
    'Download or copy config.json again.'
    >>> again(Path("/hub/models--org--name/snapshots/0123/config.json"))
    'Where there is a network: hf download org/name config.json --revision 0123'
    """
    place = path.absolute().as_posix()
    if not (match := _STORED.search(place)):
        return f"Download or copy {path.name} again."
    # What is in the cache under its name is not downloaded again, whatever its content.
    delete = f"Delete {path.resolve()}. " if path.is_file() else ""
    repository = match[2].replace("--", "/", 1)
    return delete + download(repository, match[3], place[match.end() :], dataset=match[1] == "datasets")


def is_reachable(constants: Any) -> bool:
    """Return whether the hub can be reached. This check avoids a minute of retries without a network."""
    from urllib.request import getproxies

    if constants.HF_HUB_OFFLINE or not getproxies().keys().isdisjoint({"https", "all"}):
        return not constants.HF_HUB_OFFLINE
    hub = urlsplit(constants.ENDPOINT)
    return _answers(hub.hostname or "", hub.port or 443, int(time.monotonic() // 60))


@lru_cache(maxsize=1)
def _answers(host: str, port: int, minute: int) -> bool:
    """Return whether a server accepts a connection within three seconds."""
    # The answer is remembered for the `minute`: a command asks several times, and would wait each time without a
    # network.
    try:
        socket.create_connection((host, port), timeout=3).close()
    except OSError:
        return False
    return True
