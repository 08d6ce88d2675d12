"""Runs command lines of syntagm in forked children, with the shim of disk.py armed: one JSON request per line."""

import ctypes
import importlib
import json
import os
import signal
import sys
import time
import traceback
from typing import Any, NoReturn

CRASHED = 70
PRELOADED = (
    "polars", "safetensors.torch", "torch", "transformers", "vl_convert", "syntagm.cli", "syntagm.models.names",
    "syntagm.report.page", "syntagm.training.families",
)  # fmt: skip


def child(request: dict[str, Any]) -> NoReturn:
    """Run one command line as a process of its own would."""
    code = CRASHED
    try:
        output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        os.chdir(request["folder"])
        signal.alarm(request["seconds"])
        # Time stands still, and a training saves its state after each step.
        time.monotonic = lambda: 0.0
        from syntagm.cli import main

        if request["line"][0] in ("train", "reproduce"):
            importlib.import_module("syntagm.training.loop").SAVE_EVERY = -1.0

        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if request["log"] else -1
        if not request["bare"]:
            library = ctypes.CDLL(None)
            library.faults_arm(
                request["folder"].encode(), ctypes.c_long(request["at"]), request["fault"], request["on"], log
            )
        try:
            code = main(request["line"])
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def main() -> None:
    """Load what commands load, then fork a child for each request."""
    for module in PRELOADED if sys.argv[1] else ():
        importlib.import_module(module)
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if not (number := os.fork()):
            child(request)
        print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
