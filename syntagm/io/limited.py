"""Trials: work that may never end, or take all memory, is done first in a process of its own, with limits of both.

Within a process, nothing ends a regular expression that backtracks or a power of a billion digits, and a library that asks
for too much memory may end the process. The trial is a new Python process, and not a copy of this one (a fork): the copy of
a process with threads may wait forever for a lock, and macOS does not support it.
"""

import contextlib
import importlib
import json
import math
import os
import subprocess
import sys
import time
from typing import Any

from syntagm.io import regular

# On a busy machine, a process may wait so many times as long as it computes.
_WAIT = 10
_BEGINS = b"begins\n"
_PROGRAM = """
import json, sys
job = json.load(sys.stdin)
sys.path[:] = job["path"]
from syntagm.io import limited
limited.do(job)
"""
# Libraries that start threads take memory for each; transformers is loaded without torch, which no trial needs.
_SETTINGS = {
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "USE_TORCH": "0",
    "PYTHONWARNINGS": "ignore",
}  # fmt: skip


def problem(function: str, argument: Any, seconds: int, gigabytes: int, library: str = "") -> str:
    """Do some work in a new process, and return what is wrong with it: "it takes ...", or "" if nothing is.

    Where no process can be started there is no trial, and nothing is wrong.

    Arguments:
        function: MODULE:NAME, a function that takes the argument and returns what is wrong, or "". If it raises an
            exception, nothing is wrong: the work itself will raise it, too. A panic or a lack of memory is wrong.
        argument: a value for JSON.
        seconds: the longest time that it may compute.
        gigabytes: the most memory that it may take, where the system limits that.
        library: a module that the work needs. The limits don't count what it takes to load it.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return ""
    job = {
        "path": [place for place in sys.path if isinstance(place, str)],
        "function": function, "argument": argument, "seconds": seconds, "gigabytes": gigabytes, "library": library,
    }  # fmt: skip
    try:
        # -P: no module in the current folder may take the place of json. A session of its own: Ctrl-C is not for it.
        done = subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM], input=json.dumps(job).encode(), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=os.environ | _SETTINGS, timeout=_WAIT * seconds, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it takes more than {seconds} seconds"
    except OSError:
        return ""
    begun, _, answer = done.stdout.partition(_BEGINS)
    if begun or not done.stdout:  # the process could not begin the work
        return ""
    if answer.endswith(b"\n"):
        return str(json.loads(answer))
    # The limits of POSIX end a process by these signals: SIGXCPU, or SIGKILL a second later.
    if done.returncode in (-24, -9):
        return f"it takes more than {seconds} seconds"
    return f"it takes more than {gigabytes} GB of memory, or ends the process (exit status {done.returncode})"


def do(job: dict[str, Any]) -> None:
    """Do the work in the process of a trial, under limits, and write what is wrong with it."""
    output = os.dup(1)
    os.dup2(2, 1)  # what libraries print is lost
    module, _, name = job["function"].partition(":")
    work = getattr(importlib.import_module(module), name)
    if job["library"]:
        importlib.import_module(job["library"])
    os.write(output, _BEGINS)
    _limit(job["seconds"], job["gigabytes"])
    try:
        found = work(job["argument"])
    except MemoryError:
        found = f"it takes more than {job['gigabytes']} GB of memory"
    except Exception:
        found = ""
    except BaseException as error:  # a panic of a library in Rust is no Exception
        found = " ".join(f"it raises {type(error).__name__}: {error}".split())[:300]
    os.write(output, json.dumps(found).encode() + b"\n")
    # What is left in memory may take long to clear away.
    os._exit(0)


def _limit(seconds: int, gigabytes: int) -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # no such limits here, or lower ones
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # What the interpreter has taken already is not counted.
        used = math.ceil(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds + 1))
        pages = int(regular.content("/proc/self/statm").split()[0])
        most = pages * resource.getpagesize() + (gigabytes << 30)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
