"""Slurm's commands for tests on a machine without Slurm: the jobs are processes of this machine, and start at once.

While there is a file `full`, `sbatch` waits as it does when Slurm has as many jobs as it takes.
"""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

_COMMANDS = ("sbatch", "squeue", "scancel")


def install(folder: Path) -> Path:
    """Write the commands into a folder, and return the folder that is to come first in the PATH."""
    (place := folder / "bin").mkdir(parents=True)
    for name in _COMMANDS:
        (path := place / name).write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {name} {folder} "$@"\n')
        path.chmod(0o755)
    return place


def sbatch(folder: Path, words: list[str]) -> None:
    """Start the jobs of an array."""
    while (folder / "full").exists():
        time.sleep(0.05)
    options = dict(word.removeprefix("--").split("=", 1) for word in words if "=" in word)
    array = next(number for number in itertools.count(1) if _is_free(folder / str(number)))
    for number in range(int(options["array"].removeprefix("0-")) + 1):
        job = folder / f"{array}_{number}"
        signs = {"%A": str(array), "%a": str(number), "%%": "%"}
        log = "".join(signs.get(part, part) for part in re.split("(%.)", options["output"]))
        with open(log, "wb") as output:
            process = subprocess.Popen(
                ["sh", "-c", f"sh -c \"$0\"; echo $? > {job}.code", options["wrap"]],
                env=os.environ | {"SLURM_ARRAY_TASK_ID": str(number)},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        job.with_suffix(".process").write_text(str(process.pid))
    print(array)


def _is_free(number: Path) -> bool:
    """Take a number; return whether it was free. Another command may submit at the same time."""
    try:
        number.mkdir()
    except FileExistsError:
        return False
    return True


def squeue(folder: Path, _: list[str]) -> None:
    """Tell the states of all jobs."""
    for path in sorted(folder.glob("*.process")):
        code = path.with_suffix(".code")
        state = "RUNNING" if not code.exists() else "COMPLETED" if code.read_text() == "0\n" else "FAILED"
        print(path.stem, state, "None")


def scancel(folder: Path, words: list[str]) -> None:
    """Kill the jobs of arrays."""
    for array in words:
        for path in folder.glob(f"{array}_*.process"):
            if not path.with_suffix(".code").exists():
                os.killpg(int(path.read_text()), signal.SIGKILL)
                path.with_suffix(".code").write_text("CANCELLED\n")


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:])
