"""Clusters of Ray on this machine whose nodes share neither a network nor the folder of results: namespaces of Linux.

The node of the driver is in one network namespace, with no processor for Ray. Other nodes are in another one, each with its
own mounts: what lies in `hidden` isn't there. Only root may make namespaces.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_PORT = 6399


def forbidden() -> str:
    """Return why such clusters can't be had here; "" if they can."""
    if not shutil.which("ip") or not shutil.which("unshare"):
        return "there are no commands ip and unshare"
    tried = subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"namespaces are not permitted: {tried.stderr.strip()}"


class Cluster:
    """A cluster, from `with` to its end.

    Arguments:
        hidden: a folder that nodes with workers don't see.
        number: the number of the cluster among those that exist at the same time.
    """

    def __init__(self, hidden: Path, number: int = 0) -> None:
        # Names of sockets, which are in there, are short.
        self._temporary = tempfile.TemporaryDirectory(prefix="ray-")
        self._folder, self._hidden = Path(self._temporary.name), hidden
        self._network = f"10.77.{number + 1}"
        name = f"sg{os.getpid() % 100000}{number}"
        self._places = (f"{name}d", f"{name}w")
        self._nodes = 0
        self.executor = f"ray:{self._network}.1:{_PORT}"

    def __enter__(self) -> "Cluster":
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self) -> None:
        driver, workers = self._places
        for place in self._places:
            _ip("netns", "add", place)
        _ip(
            "link",
            "add",
            f"v{driver}",
            "netns",
            driver,
            "type",
            "veth",
            "peer",
            "name",
            f"v{workers}",
            "netns",
            workers,
        )
        for number, place in enumerate(self._places, 1):
            _ip("-n", place, "addr", "add", f"{self._network}.{number}/24", "dev", f"v{place}")
            for device in ("lo", f"v{place}"):
                _ip("-n", place, "link", "set", device, "up")
        self.start_head()
        self.add_node()

    def __exit__(self, *_: object) -> None:
        for place in self._places:
            self._kill(place)
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "del", place)
        shutil.rmtree(self._folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._temporary.cleanup()

    def start_head(self) -> None:
        """Start the head, on the machine of the driver."""
        self._start(0, ["--head", "--port", str(_PORT), "--num-cpus", "0", "--include-dashboard", "false"], ())

    def add_node(self, processors: int = 2) -> None:
        """Start a machine with workers."""
        self._nodes += 1
        hidden = ("/dev/shm", str(self._hidden), str(self._folder / "0"))
        address = ["--address", f"{self._network}.1:{_PORT}", "--num-cpus", str(processors)]
        self._start(self._nodes, address, hidden)

    def _start(self, number: int, options: Sequence[str], hidden: Sequence[str]) -> None:
        place, last = (self._places[0], 1) if number == 0 else (self._places[1], 2)
        (folder := self._folder / str(number)).mkdir(exist_ok=True)
        mounts = "".join(f"mount -t tmpfs tmpfs {each} && " for each in hidden)
        words = (
            sys.executable, "-m", "ray.scripts.scripts", "start", *options, "--node-ip-address", f"{self._network}.{last}",
            "--temp-dir", str(folder), "--object-store-memory", "100000000", "--disable-usage-stats",
        )  # fmt: skip
        script = f'{mounts}exec "$@"'
        started = subprocess.run(
            ["ip", "netns", "exec", place, "unshare", "--mount", "sh", "-c", script, "sh", *words],
            capture_output=True, text=True, env=_environment(), timeout=300,
        )  # fmt: skip
        assert started.returncode == 0, started.stdout + started.stderr

    def command(self, *words: str, seconds: float = 5.0) -> subprocess.Popen[str]:
        """Start a command of Syntagm on the machine of the driver.

        Arguments:
            seconds: how long Ray goes on without its head before it ends the connection.
        """
        environment = _environment() | {"RAY_gcs_rpc_server_reconnect_timeout_s": f"{seconds:.0f}"}
        return subprocess.Popen(
            ["ip", "netns", "exec", self._places[0], sys.executable, "-m", "syntagm", *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
        )  # fmt: skip

    def kill_head(self) -> None:
        """Kill the process that keeps the state of the cluster."""
        for process in _processes(self._places[0]):
            if "gcs_server" in _line(process)[0]:
                os.kill(process, signal.SIGKILL)

    def actors(self) -> list[int]:
        """Return the processes of actors."""
        return [process for process in _processes(self._places[1]) if "_Actor" in _line(process)[0]]

    def raylets(self) -> list[int]:
        """Return the processes that manage the machines with workers."""
        return [process for process in _processes(self._places[1]) if _line(process)[0].endswith("/raylet")]

    def kill_machines(self) -> None:
        """Kill everything on the machines with workers."""
        self._kill(self._places[1])

    def _kill(self, place: str) -> None:
        for process in _processes(place):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _environment() -> dict[str, str]:
    # Nothing else is in these networks.
    return dict(os.environ) | {"OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def _processes(place: str) -> list[int]:
    with contextlib.suppress(subprocess.CalledProcessError):
        return [int(word) for word in _ip("netns", "pids", place).split()]
    return []


def _line(process: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text(errors="replace").split("\0")
    return [""]
