"""Benchmark of executors: what workers cost, and a simulation of large sweeps with the measured costs.

Measured: one command in one process and with `local:1` and `local:2`, interleaved; and the steps of driver and workers, and
all that the driver does, on suites of BLiMP's size with models of the family `random`. For the latter, workers are objects of
one process, which compute while the driver waits, so that the time of the driver is what remains. With Ray, if it is installed,
workers are actors of this machine, and what counts is the processor time of the driver and that of the hub, which work at the
same time. Simulated with this: `MODELS` checkpoints, one driver.
"""

import heapq
import importlib.util
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.spine import PAIRS, PARADIGMS, measure, write

MODELS = 10_000
WORKERS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
# Seconds to score a unit, 1,000 pairs: about those of a small model on a GPU, and of one on a core.
UNITS = {"0.5 s": 0.5, "10 s": 10.0}
LOADING = 5.0
# Workers and models whose steps are measured, and the units that a worker computes before the driver looks again.
MEASURED_WORKERS, MEASURED, AT_ONCE = 2, 4, 4
STEPS = {
    "plan a model (worker)": ("computing", "_Loaded", "__init__"),
    "score and judge a unit (worker)": ("computing", "_Loaded", "compute"),
    "take a unit (worker)": ("exchange", "Exchange", "lease"),
    "deliver a unit, or the results (worker)": ("exchange", "Exchange", "deliver"),
    "offer a unit (driver)": ("exchange", "Exchange", "offer"),
    "open a run (driver)": ("ledger", "Ledger", "open"),
    "commit units that arrived together (driver)": ("ledger", "Ledger", "commit_written"),
    "finish a run (driver)": ("ledger", "Ledger", "finish"),
}


def executors(rounds: int, cap: int | None) -> str:
    """Run the benchmark and return the results as Markdown."""
    with tempfile.TemporaryDirectory() as place:
        lines = [*_commands(Path(place), rounds), *_steps(Path(place), cap or PAIRS)]
    return "\n".join(["## Executors", "", *lines])


def _commands(place: Path, rounds: int) -> list[str]:
    """Time one command with several executors, interleaved."""
    suites = ["--suite", "hu2020", "--limit", "10", "--no-cache", "--no-report", "-q"]
    command = [sys.executable, "-m", "syntagm", "run", "demo", "demo?eos=yes", *suites, "-o"]
    ways: Mapping[str, Sequence[str]] = {
        "one process": (),
        "local:1": ("--executor", "local:1"),
        "local:2": ("--executor", "local:2"),
    }
    seconds: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for turn in range(rounds):
        for way, options in ways.items():
            wall, cpu, _ = measure([*command, f"{place}/{turn}-{way}", *options])
            seconds[way].append((wall, cpu))
    lines = ["| 2 models on 34 suites | wall, median | CPU-seconds, median |", "|---|---|---|"]
    for way, times in seconds.items():
        lines.append(f"| {way} | {median(wall for wall, _ in times):.1f} | {median(cpu for _, cpu in times):.1f} |")
    return [*lines, ""]


def _steps(place: Path, pairs: int) -> list[str]:
    """Measure the steps of driver and worker, and simulate."""
    from syntagm.core import Progress
    from syntagm.evaluation import Predictions
    from syntagm.runs import OPEN, SharedFolder, computing, driver, evaluation, exchange, ledger, worker
    from syntagm.suites import expand

    modules = {"computing": computing, "exchange": exchange, "ledger": ledger}
    wall: dict[str, list[float]] = {name: [] for name in [*STEPS, "workers", "all"]}
    cpu: dict[str, list[float]] = {name: [] for name in wall}
    for name, (module, kind, function) in STEPS.items():
        target = getattr(modules[module], kind)
        setattr(target, function, _timed(getattr(target, function), wall[name], cpu[name]))

    class Here(SharedFolder):
        def start(self, workers: Sequence[str], session: Any) -> None:
            self._workers = [worker.Worker(session, name) for name in workers]

        def ended(self) -> Mapping[str, str]:
            _timed(self._compute, wall["workers"], cpu["workers"])()
            return {}

        def stop(self) -> None:
            pass

        def _compute(self) -> None:
            for each in self._workers:
                for _ in range(AT_ONCE):
                    piece = each.step()
                    if piece is None or piece.name == OPEN:
                        break

    (suites := place / "suites").mkdir()
    for number in range(PARADIGMS):
        write(suites / f"paradigm_{number:02}.jsonl", number, pairs)
    (out := place / "out").mkdir()
    work = computing.Work(Predictions(), expand([str(suites)]))
    jobs = [evaluation.Job(f"random?seed={number}", f"{number}", out / f"{number}") for number in range(MEASURED)]
    executor = Here("", {})
    executor.count = MEASURED_WORKERS
    _timed(lambda: list(driver.drive(jobs, work, out, executor, Progress())), wall["all"], cpu["all"])()
    units = PARADIGMS * MEASURED
    lines = [f"| step, {units} units of {pairs:,} pairs | times | CPU ms | wall ms |", "|---|---|---|---|"]
    lines += [f"| {name} | {len(cpu[name])} | {_mean(cpu[name]):.2f} | {_mean(wall[name]):.2f} |" for name in STEPS]
    # A worker reads the suites with its first model.
    plans = cpu["plan a model (worker)"]
    reading, planning = _mean(plans[:MEASURED_WORKERS]), _mean(plans[MEASURED_WORKERS:])
    lines += [f"| plan the first model of a worker | {MEASURED_WORKERS} | {reading:.2f} | |"]
    lines += [f"| plan a further model | {len(plans) - MEASURED_WORKERS} | {planning:.2f} | |"]
    # The results are what takes longest to deliver.
    writing = sum(sorted(cpu["deliver a unit, or the results (worker)"])[-MEASURED:]) / MEASURED
    lines += [f"| deliver the results (worker) | {MEASURED} | {1000 * writing:.2f} | |", ""]
    driver_cpu, driver_wall = ((sum(each["all"]) - sum(each["workers"])) / MEASURED for each in (cpu, wall))
    size = sum((out / "0" / name).stat().st_size for name in ("ledger.jsonl", "run.json"))
    lines += [
        f"The driver, all in all: {1000 * driver_cpu:.0f} CPU ms a model, {1000 * driver_cpu / PARADIGMS:.2f} a unit; "
        f"with waiting for the file system {1000 * driver_wall:.0f} ms a model, {1000 * driver_wall / PARADIGMS:.2f} a unit.",
        "", f"Ledger and record of a model: {size:,} bytes.", "",
    ]  # fmt: skip
    start = LOADING + planning / 1000
    opening = [sum(each["open a run (driver)"]) / MEASURED for each in (cpu, wall)]
    drivers = {"": (opening[0], driver_cpu), ", with waiting": (opening[1], driver_wall)}
    if importlib.util.find_spec("ray"):
        with_ray = [replace(job, folder=place / "ray" / job.label) for job in jobs]
        (place / "ray").mkdir()
        ray_driver, hub = _ray(with_ray, work, place / "ray")
        lines += [
            f"With Ray, CPU ms a unit: {1000 * ray_driver / PARADIGMS:.2f} of the driver, "
            f"{1000 * hub / PARADIGMS:.2f} of the hub.",
            "",
        ]
        drivers[", Ray"] = (opening[0], max(ray_driver, hub, opening[0]))
    return [*lines, *_simulations(start, writing, drivers)]


def _ray(jobs: Sequence[Any], work: Any, folder: Path) -> tuple[float, float]:
    """Return the CPU-seconds that a model costs driver and hub, from the first outcome on."""
    from syntagm.core import Progress
    from syntagm.runs import Arrival, Event, Ray, driver

    class Measured(Ray):
        first: tuple[float, float] | None = None
        last = (0.0, 0.0)

        def events(self, wait: float) -> Sequence[Event]:
            events = super().events(wait)
            assert self._hub
            fields = Path(f"/proc/{self._hub._process.pid}/stat").read_text().rpartition(")")[2].split()
            self.last = (time.process_time(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
            if self.first is None and any(isinstance(event, Arrival) for event in events):
                self.first = self.last
            return events

    executor = Measured("", {"workers": MEASURED_WORKERS})
    list(driver.drive(jobs, work, folder, executor, Progress()))
    first = executor.first or (0.0, 0.0)
    return (executor.last[0] - first[0]) / MEASURED, (executor.last[1] - first[1]) / MEASURED


def _timed(function: Callable[..., Any], wall: list[float], cpu: list[float]) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        clock, used = time.perf_counter(), time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            wall.append(time.perf_counter() - clock)
            cpu.append(time.process_time() - used)

    return timed


def _mean(seconds: Sequence[float]) -> float:
    return 1000 * sum(seconds) / max(len(seconds), 1)


def _simulations(start: float, writing: float, drivers: Mapping[str, tuple[float, float]]) -> list[str]:
    """Simulate sweeps.

    Arguments:
        drivers: what the driver takes to open a run, and for a model in all, in seconds: name -> both.
    """
    columns = [f"{name} a unit{driver}" for driver in drivers for name in UNITS]
    lines = [
        f"Simulated: {MODELS:,} models x {PARADIGMS} units; {start:.1f} s to load and plan a model, {writing:.2f} s to write",
        "its results. Hours, and how busy the workers are; `with waiting` has the driver's time on this file system:",
        "", f"| workers | {' | '.join(columns)} |", "|---|" + "---|" * len(columns),
    ]  # fmt: skip
    for workers in WORKERS:
        cells = []
        for opening, driver in drivers.values():
            for unit in UNITS.values():
                computing = PARADIGMS * unit + writing
                hours = simulate(workers, MODELS, start, computing, opening, driver - opening) / 3600
                busy = MODELS * (start + computing) / 3600 / workers / hours
                cells.append(f"{hours:,.1f} h, {busy:.0%}")
        lines.append(f"| {workers:,} | {' | '.join(cells)} |")
    return [*lines, ""]


def simulate(workers: int, models: int, start: float, computing: float, opening: float, committing: float) -> float:
    """Return the seconds that a sweep takes if a worker has a model for itself, as while there are more models than workers.

    A worker loads and plans a model (`start`), waits until the driver has opened its run, computes its units and writes its
    results, and goes on. The driver does one thing at a time, and openings first. The commits of a model are one piece of work,
    at its end.

    >>> simulate(1, 2, 1.0, 0.0, 0.0, 0.0), simulate(2, 2, 1.0, 0.0, 3.0, 0.0)
    (2.0, 7.0)
    """
    events = [(start, worker, "planned") for worker in range(min(workers, models))]
    left, busy, now = models - len(events), False, 0.0
    openings: deque[int] = deque()
    commits = 0
    while events:
        now, worker, what = heapq.heappop(events)
        busy = busy and what not in ("opened", "committed")
        if what == "planned":
            openings.append(worker)
        elif what == "opened":
            heapq.heappush(events, (now + computing, worker, "computed"))
        elif what == "computed":
            commits += 1
            if left:
                left -= 1
                heapq.heappush(events, (now + start, worker, "planned"))
        if not busy and openings:
            busy = True
            heapq.heappush(events, (now + opening, openings.popleft(), "opened"))
        elif not busy and commits:
            busy, commits = True, commits - 1
            heapq.heappush(events, (now + committing, -1, "committed"))
    return now
