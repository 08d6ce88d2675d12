"""Workers as processes of this machine."""

import glob
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from syntagm.runs.exchange import Exchange
from syntagm.runs.executors import workers
from syntagm.runs.shared_folder import SharedFolder, program

if TYPE_CHECKING:
    from syntagm.runs.worker import Session

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Local(SharedFolder):
    """Processes of this machine, with one thread each unless OMP_NUM_THREADS says otherwise; on GPUs, each has its own.

    A worker ends when its standard input does, which is when the driver ends in any way.
    """

    form: ClassVar[str] = "local:N"
    summary: ClassVar[str] = "N processes of this machine"
    one_machine: ClassVar[bool] = True

    def __init__(self, address: str, options: Mapping[str, Any]) -> None:
        super().__init__(address, options)
        self.count = workers("local", address)
        # A local file is renewed at no cost, and tells how far the worker is.
        self.beat = 1.0
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._started = 0

    def start(self, workers: Sequence[str], session: "Session") -> None:
        exchange, words = Exchange(session.exchange), program("syntagm.runs.worker", session, self.permissions)
        for worker in workers:
            with exchange.log(worker).open("wb") as log:
                # In a session of its own, Ctrl-C in the terminal reaches the driver only.
                self._processes[worker] = subprocess.Popen(
                    [*words, worker], stdin=subprocess.PIPE, stdout=log, stderr=log, env=self._environment(),
                    start_new_session=True,
                )  # fmt: skip
            self._started += 1

    def _environment(self) -> dict[str, str]:
        environment = dict.fromkeys(_THREADS, "1") | dict(os.environ)
        if devices := _devices():
            environment["CUDA_VISIBLE_DEVICES"] = devices[self._started % len(devices)]
        return environment

    def ended(self) -> Mapping[str, str]:
        """Return the processes that have ended, with their exit codes or signals."""
        ended = {name: code for name, process in self._processes.items() if (code := process.poll()) is not None}
        for name in ended:
            self._processes.pop(name).communicate()
        return {name: _reason(code) for name, code in ended.items()}

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.communicate()
        self._processes.clear()


def _devices() -> list[str]:
    """Return the GPUs of this machine, as CUDA_VISIBLE_DEVICES names them. torch is not loaded for that."""
    if (visible := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return [device for device in visible.split(",") if device]
    # A container may have some of the machine's GPUs only, under their names there; CUDA numbers those that it finds.
    return [str(number) for number in range(len(glob.glob("/dev/nvidia[0-9]*")))]


def _reason(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


EXECUTOR = Local
