"""People who take part at the same time: a load on one process, and a server that is killed while they answer.

    python -m benchmarks.people_load load [PEOPLE] [TRIALS]      latencies at one answer every 2 s for each person
    python -m benchmarks.people_load kills [PEOPLE] [KILLS]      no answer lost, none twice, nobody on two lists

Both start `syntagm serve --experiment` and speak HTTP with it; the load comes from the same machine.
"""

import http.client
import json
import os
import platform
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from syntagm.experiment import NAME, Plan, Study, designs, make, simulate
from syntagm.suites import read_suites, sampled

_HEADERS = {"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}


class Server:
    """A server of an experiment on one port, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, 0
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "syntagm", "serve", "--experiment", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = urlsplit(self.process.stdout.readline().strip()).port or self.port

    def kill(self) -> None:
        """Kill it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Visitor:
    """A person with a browser: a connection, and answers that are kept until they have a receipt."""

    def __init__(self, server: Server, number: int) -> None:
        self.server, self.number, self.place = server, number, ""
        self.connection: http.client.HTTPConnection | None = None
        self.latencies: list[float] = []
        self.replays = 0

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any, bytes]:
        """Send a request on a connection that is kept."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        try:
            self.connection.request(method, path, body, {**_HEADERS, **headers})
            answer = self.connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise

    def patiently(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any, bytes]:
        """Send a request until it is answered, as the script of the pages does."""
        while True:
            try:
                found = self.ask(method, path, body, **headers)
                if found[0] < 500:
                    return found
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.2)

    def cut(self) -> None:
        """Cut the connection."""
        if self.connection is not None and self.connection.sock is not None:
            self.connection.sock.close()

    def begin(self) -> dict[str, Any]:
        """Agree, and get the trials."""
        kind = "application/x-www-form-urlencoded"
        _, headers, _ = self.patiently("POST", "/take", f"id=panel{self.number}".encode(), **{"Content-Type": kind})
        self.place = headers["location"]
        state: dict[str, Any] = json.loads(self.patiently("GET", f"{self.place}/state")[2])
        return state

    def send(self, body: dict[str, Any]) -> None:
        """Send an answer until it has its receipt."""
        began = time.perf_counter()
        status, _, said = self.patiently("POST", f"{self.place}/answer", json.dumps(body).encode())
        self.latencies.append(time.perf_counter() - began)
        found = json.loads(said)
        assert status == 200, found
        assert found["stored"], found
        self.replays += not found["new"]


def planned(people: int, trials: int, folder: Path, design: str = "forced-choice") -> Plan:
    """Write an experiment of so many trials."""
    suites = [sampled(suite, trials, 1) for suite in read_suites("hu2020/number_prep")]
    made = make.planned(suites, make.Wishes(designs.find(design), people, built_in=False))
    make.write(made, folder)
    reachable(folder)
    return made


def reachable(folder: Path) -> None:
    """Name somebody whom the people of an experiment can reach."""
    settings = folder / "study.toml"
    settings.write_text(settings.read_text().replace("name@example.org", "lab@university.example"))


def answered(trial: dict[str, Any], random_numbers: random.Random) -> dict[str, Any]:
    """An answer to a trial as pages get it."""
    return {"n": trial["n"], "choice": random_numbers.choice([1, 2]), "ms": round(random_numbers.uniform(400, 3000), 1)}


def load(people: int, trials: int) -> None:
    """Print the latencies of answers under a steady load."""
    with tempfile.TemporaryDirectory() as name:
        planned(people, trials, Path(name))
        server = Server(Path(name))
        visitors = [Visitor(server, number) for number in range(people)]

        def take(visitor: Visitor) -> None:
            numbers = random.Random(visitor.number)
            time.sleep(numbers.uniform(0, 4))
            for trial in visitor.begin()["trials"]:
                time.sleep(max(0.0, numbers.uniform(1.5, 2.5)))
                visitor.send(answered(trial, numbers))

        _together(visitors, take)
        server.kill()
        study = Study(Path(name))
        latencies = sorted(latency for visitor in visitors for latency in visitor.latencies)
        stored = len(study.answers())
        study.close()
    where = latencies[len(latencies) // 2], latencies[int(len(latencies) * 0.99)], latencies[-1]
    print(
        f"{people} people, {len(latencies):,} answers, {stored:,} stored: "
        f"median {where[0] * 1000:.0f} ms, 99th {where[1] * 1000:.0f} ms, "
        f"largest {where[2] * 1000:.0f} ms; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {platform.machine()}"
    )


def _together(visitors: list[Visitor], take: Any) -> None:
    threads = [threading.Thread(target=take, args=[visitor]) for visitor in visitors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def kills(people: int, count: int) -> None:
    """Kill the server and cut connections while people answer in three designs; count what is lost or doubled."""
    for design in ("forced-choice", "acceptability", "self-paced"):
        _killed(people, count, design)


def _killed(people: int, count: int, design: str) -> None:
    """Kill the server so many times in one design."""
    with tempfile.TemporaryDirectory() as name:
        made = planned(people, 12, Path(name), design)
        server, done = Server(Path(name)), threading.Event()
        visitors = [Visitor(server, number) for number in range(people)]
        simulated = simulate.Simulated(made, simulate.Truth(simulate.EFFECTS[design]), 1)
        received: list[tuple[str, int]] = []

        def take(visitor: Visitor) -> None:
            person = simulated.person(visitor.number)
            for trial in visitor.begin()["trials"]:
                time.sleep(0.05)
                body = person.answer(made.trials[0]) if design != "forced-choice" else {}
                if design == "forced-choice":
                    body = answered(trial, random.Random(visitor.number))
                if "times" in body:
                    body["times"] = [400.0 for _ in trial["words"]]
                body = {**{key: value for key, value in body.items() if key != "trial"}, "n": trial["n"]}
                visitor.send(body)
                received.append((visitor.place, trial["n"]))
            visitor.patiently("POST", f"{visitor.place}/finish", b'{"said": []}')

        def disturb() -> None:
            numbers = random.Random(design)
            for _ in range(count):
                if done.wait(numbers.uniform(0.2, 0.8)):
                    return
                numbers.choice(visitors).cut()
                server.kill()
                server.start()

        disturber = threading.Thread(target=disturb)
        disturber.start()
        _together(visitors, take)
        done.set()
        disturber.join()
        server.kill()
        study = Study(Path(name))
        stored, progress = study.answers(), study.progress()
        study.close()
        with sqlite3.connect(Path(name) / NAME) as connection:
            lists = connection.execute("SELECT max(n) FROM (SELECT count(*) n FROM people GROUP BY id)").fetchone()[0]
        replays = sum(visitor.replays for visitor in visitors)
        print(
            f"{design}: {people} people, {count} kills and cuts: {len(received):,} receipts, {len(stored):,} stored, "
            f"{len({(answer.person, answer.trial) for answer in stored}):,} different, {replays} replays; places of a person: "
            f"{lists}; finished: {progress.totals[0]}; by list: {[kinds[0] for kinds in progress.lists]}"
        )


if __name__ == "__main__":
    action, numbers = sys.argv[1], [int(text) for text in sys.argv[2:]]
    if action == "load":
        load(*(numbers or [200, 20]))
    else:
        kills(*(numbers or [20, 20]))
