"""Which process of an experiment makes what: a folder is held by one, and the others wait for it."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from syntagm.errors import RunError
from syntagm.io.lock import held
from syntagm.progress import Progress

WAIT_SECONDS = 0.5


@contextmanager
def waiting(folder: Path, progress: Progress) -> Iterator[None]:
    """Hold a folder, as `io.lock.held`; if another process of the experiment has it, wait until it lets go."""
    with ExitStack() as stack:
        waited = False
        while True:
            try:
                stack.enter_context(held(folder))
                break
            except RunError as error:
                if not error.found.startswith("in use"):
                    raise
                if not waited:
                    progress.began(f"{folder}: {error.found}; waiting")
                waited = True
            time.sleep(WAIT_SECONDS)
        yield
