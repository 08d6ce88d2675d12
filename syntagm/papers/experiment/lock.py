"""Locks between the processes of an experiment: one process locks a folder, and the others wait."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from syntagm.core import Progress, RunError, held

WAIT_SECONDS = 0.5


@contextmanager
def waiting(folder: Path, progress: Progress) -> Iterator[None]:
    """Lock a folder, as `io.lock.held` does, but wait if another process of the experiment has locked it."""
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
