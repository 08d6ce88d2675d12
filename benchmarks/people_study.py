"""A study from plan to report: simulated people answer over HTTP while the server is killed and the network cut.

    python -m benchmarks.people_study [PEOPLE] [DISTURBANCES] > benchmarks/people_study.md

Three designs, each with a suite of two by two conditions: a forced choice between the sentences of two pairs, ratings from 1
to 7, and reading in one's own pace. In each, the server is killed so many times, and the network of all people is cut so
many times, while they answer. Afterwards every receipt is compared with the file of answers, and the known effects with
their intervals. What is expected of the population of people and items is the mean of as many simulated answers as
`EXPECTED` says.

    python -m benchmarks.people_study rehearsed [STUDIES]

does the same without a server, once for each of so many groups of people, and prints how often the interval has the known
effect.
"""

import contextlib
import os
import platform
import random
import socket
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.people_load import Server, Visitor, reachable
from syntagm.experiment import NAME, Audit, Plan, Study, Trial, answers, designs, make, people, plan, read, simulate
from syntagm.report import report
from syntagm.runs import Run
from syntagm.suites import Prediction, Suite, parse, read_suites
from syntagm.views.people import agreements, effects

DESIGNS = ("forced-choice", "acceptability", "self-paced")
EXPECTED = 200_000
_PLACE = "(disambiguator;%{}%)"
_RAISED = " - ".join(_PLACE.format(f"{kind}_ambig") for kind in ("reduced", "unreduced"))
_SAME = " - ".join(_PLACE.format(f"{kind}_unambig") for kind in ("reduced", "unreduced"))
_PAIRS = " & ".join(
    f"({_PLACE.format(f'unreduced_{kind}')} < {_PLACE.format(f'reduced_{kind}')})" for kind in ("ambig", "unambig")
)


class Taking(Visitor):
    """A person whose network can be cut."""

    def __init__(self, server: Server, number: int, down: threading.Event) -> None:
        super().__init__(server, number)
        self.down = down

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any, bytes]:
        """Send a request, unless the network is down."""
        if self.down.is_set():
            raise OSError("no network")
        return super().ask(method, path, body, **headers)

    def cut(self) -> None:
        """Cut the connection, also while an answer or its receipt is on its way."""
        held = self.connection.sock if self.connection is not None else None
        if held is not None:
            with contextlib.suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)


def suite(design: str) -> Suite:
    """Two by two conditions of 28 items, with the prediction that the design can ask."""
    [found] = read_suites("hu2020/mvrr")
    text = _PAIRS if design == "forced-choice" else f"({_RAISED}) > ({_SAME})"
    return replace(found, predictions=(Prediction("expected", parse(text)),))


def took_part(folder: Path, made: Plan, count: int, disturbances: int) -> str:
    """Let people take part while server and network fail, and return what became of their answers."""
    server, down, done = Server(folder), threading.Event(), threading.Event()
    visitors = [Taking(server, number, down) for number in range(count)]
    truth = simulate.Simulated(made, simulate.Truth(simulate.EFFECTS[made.design.name]), 1)
    orders, receipts, lock = Study(folder), list[tuple[str, str]](), threading.Lock()

    def take(visitor: Taking) -> None:
        own, pace = truth.person(visitor.number), random.Random(visitor.number)
        state = visitor.begin()
        with lock:
            person = orders.person(visitor.place.rpartition("/")[2])
            assert person is not None
            shown = orders.trials_of(person)
        for told, (number, first) in zip(state["trials"], shown, strict=True):
            time.sleep(pace.uniform(0.5, 2.0))
            trial = made.trials[number]
            body = {key: value for key, value in own.answer(trial).items() if key != "trial"}
            if len(trial.texts) == 2:
                body["choice"] = 1 if (body["choice"] == trial.choices[0]) == first else 2
            visitor.send({**body, "n": told["n"]})
            with lock:
                receipts.append((person.code, trial.id))
        visitor.patiently("POST", f"{visitor.place}/finish", b'{"said": []}')

    kills = cuts = 0

    def disturb() -> None:
        nonlocal kills, cuts
        numbers = random.Random(made.design.name)
        for _ in range(disturbances):
            if done.wait(numbers.uniform(0.3, 1.0)):
                return
            server.kill()
            server.start()
            kills += 1
            if done.wait(numbers.uniform(0.3, 1.0)):
                return
            down.set()
            for visitor in visitors:
                visitor.cut()
            done.wait(numbers.uniform(0.1, 0.5))
            down.clear()
            cuts += 1

    disturber = threading.Thread(target=disturb)
    disturber.start()
    threads = [threading.Thread(target=take, args=[visitor]) for visitor in visitors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    disturber.join()
    server.kill()
    stored = [(answer.person, answer.trial) for answer in orders.answers()]
    progress = orders.progress()
    orders.close()
    with sqlite3.connect(folder / NAME) as connection:
        places = connection.execute("SELECT max(n) FROM (SELECT count(*) n FROM people GROUP BY id)").fetchone()[0]
    lost, twice = len(set(receipts) - set(stored)), len(stored) - len(set(stored))
    latencies = sorted(latency for visitor in visitors for latency in visitor.latencies)
    return (
        f"{count} people, {kills} kills, {cuts} cuts: {len(receipts):,} receipts, {len(stored):,} answers stored, {lost} lost, "
        f"{twice} twice, {sum(visitor.replays for visitor in visitors)} replays; most places of a person: {places}; finished: "
        f"{progress.totals[0]}, by list {', '.join(str(kinds[0]) for kinds in progress.lists)}; longest wait for a receipt "
        f"{latencies[-1]:.1f} s"
    )


def expected(made: Plan) -> float:
    """What is true of the population of people and items, in the unit of the design."""
    truth = simulate.Simulated(made, simulate.Truth(simulate.EFFECTS[made.design.name]), 2)
    by_condition: dict[str, list[Trial]] = {}
    for trial in made.trials:
        if trial.role == "critical":
            by_condition.setdefault(trial.condition, []).append(trial)
    means = {}
    for condition, trials in by_condition.items():
        values = []
        for number in range(EXPECTED // len(by_condition)):
            # Another person and another item each time.
            body = truth.person(number).answer(replace(trials[number % len(trials)], item=f"item {number}"))
            values.append(_value(made, trials[number % len(trials)], body))
        means[condition] = fmean(values)
    if made.design.shows == 2:
        return fmean(means.values())
    turned = 1 if made.design.timed else -1
    signs = truth.signs[made.suites[0].name]
    return turned * sum(signs[condition] * mean for condition, mean in means.items())


def _value(made: Plan, trial: Trial, body: dict[str, Any]) -> float:
    if made.design.shows == 2:
        return float(body["choice"] == trial.expected)
    if made.design.timed:
        return float(
            sum(ms for ms, (_, name) in zip(body["times"], trial.words, strict=True) if name == "disambiguator")
        )
    return float(body["rating"])


def found(run: Run) -> tuple[float, float, float]:
    """The effect with its interval for other people and other items."""
    if run.record["options"]["asks"] == "pairs":
        [agreement] = agreements([run])
        assert agreement.individual is not None
        estimate = agreement.individual
    else:
        [estimate] = [effect.estimate for effect in effects([run]) if effect.compared]
    return estimate.value, estimate.low, estimate.high


def study(design: str, count: int, disturbances: int, folder: Path) -> Sequence[str]:
    """Plan, ask, import and report one design; return lines about it."""
    made = make.planned([suite(design)], make.Wishes(designs.find(design), count, seed=1))
    make.write(made, folder / "study")
    reachable(folder / "study")
    # As everything that is asked later reads it.
    made = plan.read(folder / "study")
    what = took_part(folder / "study", made, count, disturbances)
    run, applied, audit = imported(made, folder / "study", folder / "run")
    value, low, high = found(run)
    true = expected(made)
    report([run], folder / "people.html")
    size = (folder / "people.html").stat().st_size
    unit = {"forced-choice": "share", "acceptability": "points", "self-paced": "ms"}[design]
    return [
        f"{design}: {what}.",
        f"{design}: import left out {sum(map(len, audit.found.values()))} answers and excluded {len(applied.people)} people by "
        f"the rules; expected {true:.3f} {unit}, found {value:.3f} [{low:.3f}, {high:.3f}]: "
        f"{'inside' if low <= true <= high else 'OUTSIDE'}; report {size / 1000:.0f} kB.",
    ]


def imported(made: Plan, folder: Path, run: Path) -> tuple[Run, Any, Audit]:
    """The run of the answers, what the declared rules excluded, and what was left out."""
    audit = Audit()
    given = answers.audited(made, read.read(folder, made, {}, audit), audit)
    return *people.run_of(made, plan.digest(folder), given, audit, made.design.name, run), audit


def rehearsed(studies: int) -> None:
    """Print how often the intervals of 60 people in each design have the known effect."""
    print(f"`python -m benchmarks.people_study rehearsed {studies}`: 60 people a study, without a server.\n")
    print("| design | studies | intervals with the known effect | mean found | known |\n|---|---|---|---|---|")
    for design in DESIGNS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make.write(make.planned([suite(design)], make.Wishes(designs.find(design), 60, seed=1)), folder / "study")
            made = plan.read(folder / "study")
            true, estimates = expected(made), []
            for seed in range(1, studies + 1):
                copied = folder / f"study{seed}"
                simulate.copy(folder / "study", copied)
                truth = simulate.Truth(simulate.EFFECTS[design])
                simulate.fill(copied, simulate.Simulated(made, truth, seed)).close()
                estimates.append(found(imported(made, copied, folder / f"run{seed}")[0]))
        inside = sum(low <= true <= high for _, low, high in estimates)
        mean = fmean(value for value, *_ in estimates)
        print(f"| {design} | {studies} | {inside} | {mean:.3f} | {true:.3f} |", flush=True)


def main(count: int, disturbances: int) -> None:
    """Print what became of the three designs."""
    print(
        f"# A study from plan to report\n\n`python -m benchmarks.people_study {count} {disturbances}`, on a machine of"
    )
    print(
        f"{os.cpu_count()} cores ({platform.machine()}), which other work kept busy (load average {os.getloadavg()[0]:.1f}).\n"
    )
    for design in DESIGNS:
        with tempfile.TemporaryDirectory() as name:
            for line in study(design, count, disturbances, Path(name)):
                print(f"* {line}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rehearsed"]:
        rehearsed(int(sys.argv[2]) if len(sys.argv) > 2 else 100)
    else:
        main(*([int(text) for text in sys.argv[1:3]] if len(sys.argv) > 2 else [60, 20]))
