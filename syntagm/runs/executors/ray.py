"""Workers as actors of Ray, started on this machine or on a cluster that runs already."""

import importlib
import os
import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from syntagm.errors import RunError, UsageError
from syntagm.io.number import counted
from syntagm.permissions import Permissions
from syntagm.runs.executors import PATIENCE, Executor, first_line
from syntagm.settings import Setting, Whole

if TYPE_CHECKING:
    from syntagm.runs.worker import Session


class Ray(Executor):
    """Actors, each of which keeps its model loaded. Ray chooses their machines by the resources that they ask for."""

    form: ClassVar[str] = "ray[:ADDRESS]"
    options: ClassVar[tuple[Setting, ...]] = (
        Setting("workers", Whole(), "", "the number of workers; as many as fit into the cluster if not given"),
        Setting("cpus", Whole(), "1", "processors per worker, and its threads"),
        Setting("gpus", Whole(0), "0", "GPUs per worker"),
        Setting("memory", Whole(0), "", "gigabytes that Ray reserves per worker"),
        PATIENCE,
    )

    def __init__(self, address: str, options: Mapping[str, Any]) -> None:
        super().__init__(address, options)
        self._address, self._given = address, dict(options)
        self.be_patient(float(self._given.get("patience", self.patience)))
        # Ray warns of a future default otherwise, and reports each of its starts to its makers.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            self._ray = importlib.import_module("ray")
        except ImportError:
            cure = "Install it with: pip install 'syntagm[ray]'."
            raise UsageError("--executor ray", "Ray is not installed", "the package ray", cure) from None
        self._actors: dict[str, tuple[Any, Any]] = {}

    def connect(self) -> None:
        """Start Ray on this machine, or connect to a cluster.

        Raises:
            RunError: there is no cluster at the address, or no worker fits into it.
        """
        given, address = self._given, self._address
        needed = {"CPU": given.get("cpus", 1), "GPU": given.get("gpus", 0), "memory": given.get("memory", 0) << 30}
        self._resources: dict[str, Any] = {"num_cpus": needed["CPU"], "num_gpus": needed["GPU"]}
        if needed["memory"]:
            self._resources["memory"] = needed["memory"]
        try:
            _refuse_unreachable(address)
            self._ray.init(
                address or "local",
                include_dashboard=None if address else False,
                log_to_driver=False,
                logging_level="error",
            )
        except (OSError, RuntimeError, ValueError) as error:
            cure = "`ray start --head` starts one, and prints its address. Without an address, Ray is started on this machine."
            raise RunError(
                f"--executor {self.text}", first_line(error), "the address of a running Ray cluster", cure
            ) from error
        # Ray would wait without end for a machine that has all that a worker needs.
        machines = [machine["Resources"] for machine in self._ray.nodes() if machine["Alive"]]
        fit = sum(_room(machine, needed) for machine in machines)
        self.count = given.get("workers", fit)
        if not 1 <= self.count <= fit:
            self._ray.shutdown()
            found = f"room for {counted(fit, 'worker')} with {_shown(needed)}"
            if self.count:
                found += f", not for {self.count:,}"
            has = {name: sum(machine.get(name, 0) for machine in machines) for name, amount in needed.items() if amount}
            cure = f"There are {_shown(has)} on {counted(len(machines), 'machine')}, and each worker runs on one."
            raise RunError(f"--executor {self.text}", found, f"at most {fit:,}" if fit else "room for one", cure)

    def start(self, workers: Sequence[str], session: "Session") -> None:
        """Start an actor per worker."""
        kind = self._ray.remote(_Actor).options(**self._resources, max_restarts=0)
        for worker in workers:
            actor = kind.remote()
            self._actors[worker] = (actor, actor.serve.remote(session, worker, self.permissions))

    def ended(self) -> Mapping[str, str]:
        """Return the actors that have ended, with Ray's reason."""
        if not self._actors:
            return {}
        futures = {future: name for name, (_, future) in self._actors.items()}
        finished, _ = self._ray.wait(list(futures), num_returns=len(futures), timeout=0)
        ended = {}
        for future in finished:
            del self._actors[name := futures[future]]
            try:
                self._ray.get(future)
                ended[name] = "the end of its work"
            except Exception as error:  # an error of any kind in a worker is raised here
                ended[name] = f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')}"[:300]
        return ended

    def stop(self) -> None:
        """Kill the actors, and leave the cluster; one that was started here ends."""
        for actor, _ in self._actors.values():
            self._ray.kill(actor)
        self._actors.clear()
        self._ray.shutdown()


def _room(machine: Mapping[str, float], needed: Mapping[str, int]) -> int:
    """Return the number of workers that fit into a machine."""
    return min(int(machine.get(name, 0) // amount) for name, amount in needed.items() if amount)


def _shown(resources: Mapping[str, float]) -> str:
    """Return resources in words.

    >>> _shown({"CPU": 2.0, "GPU": 0, "memory": 8 << 30})
    '2 processors, 0 GPUs and 8 GB of memory'
    """
    processors, gpus = counted(int(resources["CPU"]), "processor"), counted(int(resources.get("GPU", 0)), "GPU")
    if memory := int(resources.get("memory", 0)) >> 30:
        return f"{processors}, {gpus} and {memory:,} GB of memory"
    return f"{processors} and {gpus}"


def _refuse_unreachable(address: str) -> None:
    """Raise OSError if nothing listens at [ray://]HOST:PORT, for which Ray would wait without an end."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.removeprefix("ray://").strip("[]"), int(port)), timeout=10).close()


class _Actor:
    """A process of Ray."""

    def serve(self, session: "Session", worker: str, permissions: Permissions) -> None:
        """Compute until the exchange ends."""
        from syntagm.runs.worker import serve

        serve(session, worker, permissions)


EXECUTOR = Ray
