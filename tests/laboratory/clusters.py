"""Kills on clusters of Ray whose machines share neither a network nor the folder of results.

`python -m tests.laboratory.clusters [KILLS [SEED]]` evaluates 12 models, three of which are sent to the workers, on 34 suites. It
kills actors and machines until there were so many kills; kills the head of the cluster in the middle, and gives the same line on
another cluster. It prints what was wrong, and the times.
"""

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntagm.cli import main as syntagm

from .kills import files, kill
from .lines import TEXT
from .machines import Cluster, forbidden

RANDOM = "random?seed=1,2,3,4,5,6,7,8"
_PATIENCE = 600.0


@dataclass
class Clusters:
    """Trials of one command on clusters.

    Arguments:
        folder: an empty folder.
        models: the models besides the local ones.
        suites: the suites, with options such as `--limit`.
        local: how many models are trained here, so that they must be sent.
        machines: of so many kills, one is that of a whole machine.

    Attributes:
        kills: what was killed, and how often.
    """

    folder: Path
    models: Sequence[str]
    suites: Sequence[str]
    local: int = 3
    machines: int = 10
    kills: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        (hidden := self.folder / "hidden").mkdir()
        self._hidden = hidden
        (self._hidden / "text.txt").write_text(TEXT)
        for seed in range(self.local):
            tiny = ("--layers=1", "--epochs=1", "--batch=20", "--hidden=8", "--embedding=8", "--seed", str(seed))
            text = str(self._hidden / "text.txt")
            assert syntagm(["train", "lstm", "--corpus", text, "--valid", text, *tiny, "-o", self._model(seed)]) == 0
        names = [self._model(seed) for seed in range(self.local)]
        self._line = ("run", *names, *self.models, "--suite", *self.suites, "--no-report", "--no-cache", "-q", "-o")
        here = subprocess.run([sys.executable, "-m", "syntagm", *self._line, str(self.folder / "expected")])
        assert here.returncode in (0, 1)
        self._expected = files(self.folder / "expected")

    def _model(self, seed: int) -> str:
        return str(self._hidden / f"lstm{seed}")

    def cluster(self, number: int = 0) -> Cluster:
        """Return a cluster that is yet to be started."""
        return Cluster(self._hidden, number)

    def undisturbed(self, cluster: Cluster, name: str) -> Iterator[str]:
        """Run the command, or go on with it; yield what is wrong."""
        printed, _ = (process := self._start(cluster, name)).communicate(timeout=_PATIENCE)
        yield from self._checked(name, process.returncode, printed)

    def killed(self, cluster: Cluster, name: str, number: int, draw: random.Random) -> Iterator[str]:
        """Run the command, and kill actors and machines until it ends or there were so many kills; yield what is wrong."""
        process = self._start(cluster, name)
        every = max(1, self._units // (number + 1))
        while process.poll() is None and self.kills.total() < number:
            # At least one unit is committed between two kills, so that none kills three workers in a row.
            before = self._committed(name)
            while process.poll() is None and self._committed(name) < before + every:
                time.sleep(0.01)
            time.sleep(draw.random() * 0.2)
            if process.poll() is None:
                self._kill(cluster, draw)
        printed, _ = process.communicate(timeout=_PATIENCE)
        yield from self._checked(name, process.returncode, printed)

    def _kill(self, cluster: Cluster, draw: random.Random) -> None:
        if (self.kills.total() + 1) % self.machines == 0:
            # Of a machine, either the process that manages it, which its actors follow, or all at once.
            if draw.random() < 0.5:
                for process in cluster.raylets():
                    kill(process)
            cluster.kill_machines()
            self.kills["machine"] += 1
            cluster.add_node()
        elif actors := cluster.actors():
            kill(draw.choice(actors))
            self.kills["actor"] += 1

    def without_head(self, cluster: Cluster, name: str) -> Iterator[str]:
        """Run the command, and kill the head in the middle; yield what is wrong, apart from the unfinished runs."""
        process = self._start(cluster, name)
        while process.poll() is None and self._committed(name) < self._units // 4:
            time.sleep(0.01)
        for actor in cluster.actors():  # so that the command needs the head
            kill(actor)
        cluster.kill_head()
        began = time.monotonic()
        printed, _ = process.communicate(timeout=_PATIENCE)
        if process.returncode != 2 or "Traceback" in printed:
            yield f"{name}: without a head, exit code {process.returncode}: {printed[-2000:]}"
        expected = "the connection to Ray is lost: its head does not answer; expected a cluster that runs"
        if expected not in printed:
            yield f"{name}: without a head: {printed[-2000:]}"
        if process.returncode == 2 and not 0 < (committed := self._committed(name)) < self._units:
            yield f"{name}: without a head, {committed} of {self._units} units after {time.monotonic() - began:.0f} s"

    def here(self, name: str, executor: str) -> Iterator[str]:
        """Go on with the command on this machine; yield what is wrong."""
        words = (*self._line, str(self._hidden / name), "--executor", executor)
        ended = subprocess.run(
            [sys.executable, "-m", "syntagm", *words], capture_output=True, text=True, timeout=_PATIENCE
        )
        yield from self._checked(name, ended.returncode, ended.stdout + ended.stderr)

    @property
    def _units(self) -> int:
        return self._committed("expected", self.folder)

    def _committed(self, name: str, folder: Path | None = None) -> int:
        ledgers = ((folder or self._hidden) / name).glob("*/ledger.jsonl")
        return sum(ledger.read_bytes().count(b"\n") for ledger in ledgers)

    def _start(self, cluster: Cluster, name: str) -> subprocess.Popen[str]:
        executor = f"{cluster.executor}?ship=models"
        return cluster.command(*self._line, str(self._hidden / name), "--executor", executor)

    def _checked(self, name: str, code: int, printed: str) -> Iterator[str]:
        if code not in (0, 1) or "Traceback" in printed:
            yield f"{name}: exit code {code}: {printed[-2000:]}"
        found = files(self._hidden / name)
        different = {key for key in found.keys() | self._expected.keys() if found.get(key) != self._expected.get(key)}
        yield from (f"{name}: different: {key}" for key in sorted(different))
        if self._committed(name) != self._units:
            yield f"{name}: {self._committed(name)} lines in the ledgers for {self._units} units"


def main(number: int = 50, seed: int = 1) -> int:
    """Try kills; return 1 if an outcome was wrong."""
    if reason := forbidden():
        print(reason)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wrong, draw = 0, random.Random(f"{seed} clusters")
    with tempfile.TemporaryDirectory(prefix="clusters-") as folder:
        began = time.monotonic()
        clusters = Clusters(Path(folder), (RANDOM, "toy"), ("hu2020", "--limit", "4"))

        def said(what: str, problems: Iterator[str]) -> None:
            nonlocal wrong, began
            found = list(problems)
            wrong += len(found)
            print(f"{what}: {len(found)} problems, {time.monotonic() - began:.0f} s", *found, sep="\n  ", flush=True)
            began = time.monotonic()

        said("one process", iter(()))
        with clusters.cluster() as cluster:
            said("the cluster is up", iter(()))
            said("undisturbed", clusters.undisturbed(cluster, "undisturbed"))
            turn = 0
            while clusters.kills.total() < number:
                turn += 1
                said(f"with kills, run {turn}", clusters.killed(cluster, f"killed{turn}", number, draw))
                print(f"killed so far: {dict(clusters.kills)}", flush=True)
                shutil.rmtree(Path(folder, "hidden", f"killed{turn}"))
            said("the head is killed", clusters.without_head(cluster, "headless"))
        with clusters.cluster(1) as second:
            said("the same line on a second cluster", clusters.undisturbed(second, "headless"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
