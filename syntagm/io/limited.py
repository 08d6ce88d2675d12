"""Work that may never end, or take all memory: in a copy of this process with limits of both, or in a thread.

Inside a process, nothing can end a regular expression that backtracks, take back memory that a library asks for, or survive a
library that ends the process. The copy is a fork, so that nothing has to be loaded again. It does the work, and nothing else.
"""

import contextlib
import faulthandler
import json
import os
import queue
import resource
import select
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

T = TypeVar("T")
# On a busy machine, a process may wait so many times as long as it computes.
_WAIT = 20
_CHUNK = 1 << 16
_MEMORY = Path("/proc/self/statm")


class Unfinished(Exception):
    """The work broke a limit, failed, or ended its process; the message says how: "it takes ..." or "it raises ..."."""


def result(work: Callable[[], Any], seconds: int, gigabytes: int) -> Any:
    """Do some work in a copy of this process, and return its result.

    Arguments:
        work: a function that returns a value for JSON. What it prints is lost, and so is what it changes in memory.
        seconds: the longest time that it may compute.
        gigabytes: the most memory that it may take beside that of this process, where the system tells how much that is.

    Raises:
        Unfinished: it gave no result.
    """
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python warns of locks that other threads hold for ever in the copy. The work needs none of theirs.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        _do(work, writer, seconds, gigabytes)
    os.close(writer)
    try:
        content, late = _read(reader, time.monotonic() + _WAIT * seconds)
    finally:
        os.close(reader)
        # One that has ended keeps its status.
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if content.endswith(b"\n"):
        answer = json.loads(content)
        if "raised" in answer:
            raise Unfinished(answer["raised"])
        return answer["result"]
    code = os.waitstatus_to_exitcode(status)
    if late or code in (-signal.SIGXCPU, -signal.SIGKILL):
        raise Unfinished(f"it takes more than {seconds} seconds")
    ended = f"signal {-code}" if code < 0 else f"exit status {code}"
    raise Unfinished(f"it takes more than {gigabytes} GB of memory, or ends the process ({ended})")


def _read(reader: int, deadline: float) -> tuple[bytes, bool]:
    """Read until the other end is closed, or the time is over; return what was read, and whether it is over."""
    content = b""
    # Both processes may have been stopped, or the machine may have slept: what has come by now is not late.
    while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        if not (chunk := os.read(reader, _CHUNK)):
            return content, False
        content += chunk
    return content, True


def _do(work: Callable[[], Any], writer: int, seconds: int, gigabytes: int) -> NoReturn:
    """Do the work under limits, write the result, and end this process."""
    try:
        faulthandler.disable()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        _limit(seconds, gigabytes)
        try:
            answer = {"result": work()}
        except MemoryError:
            answer = {"raised": f"it takes more than {gigabytes} GB of memory"}
        except BaseException as error:  # a panic of a library in Rust is no Exception
            answer = {"raised": " ".join(f"it raises {type(error).__name__}: {error}".split())[:300]}
        content = json.dumps(answer).encode() + b"\n"
        while content:
            content = content[os.write(writer, content) :]
    finally:
        # Buffers and locks are those of the other process.
        os._exit(0)


def _limit(seconds: int, gigabytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    with contextlib.suppress(OSError, ValueError):  # a system that does not tell, or a lower limit
        pages = int(_MEMORY.read_text("ascii").split()[0])
        most = pages * resource.getpagesize() + (gigabytes << 30)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def awaited(work: Callable[[], T], seconds: float) -> T:
    """Return the result of some work, which is done in a thread; raise what it raises.

    For work of a library that gives other threads their turn meanwhile. Nothing ends it if it takes too long: it is left behind,
    and ends with the process.

    Raises:
        TimeoutError: it takes longer.
    """
    outcome: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((work(), None))
        except BaseException as error:  # a panic of a library in Rust is no Exception
            outcome.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        found, error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"it takes more than {seconds:.0f} seconds") from None
    if error is not None:
        raise error
    return cast("T", found)
