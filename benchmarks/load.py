"""Load on `syntagm serve`: readers who open a page every two seconds each, against runs of a stated size.

    python -m benchmarks.load                                          67 suites x 1,000 items x 12 models, 50 readers
    python -m benchmarks.load --suites 6 --items 200 --models 4 --readers 20 --repeats 1

The runs are made with the model `random`, whose numbers depend on its seed; with --seeds 3, all models but three are
copies. The load generator runs on the same processors as the server. Printed: the time of the first view of each kind
of page and figure, and the processor's seconds that the server spends on one; for each repeat the median and the 99th
percentile of the answers with a warm cache; the memory of the server; and with --folder the size and the time of
`syntagm report -o DIR/`. With --runs, the runs are kept there, and used again.
"""

import argparse
import contextlib
import http.client
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from benchmarks import processor
from syntagm.models import load
from syntagm.runs import run_suites
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse

_NOUNS = ("dog", "cat", "farmer", "sailor", "teacher", "child", "lawyer", "pilot", "doctor", "painter")
_VERBS = (("sees", "see"), ("likes", "like"), ("helps", "help"), ("knows", "know"), ("hears", "hear"))
_EVERY = 2.0


def main() -> None:
    arguments = _arguments()
    print(f"{processor()}; {arguments.suites} suites x {arguments.items:,} items x {arguments.models} models")
    with contextlib.ExitStack() as stack:
        folder = arguments.runs or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        runs = _make(Path(folder), arguments)
        _serve(runs, arguments)
        if arguments.folder:
            _time_folder(runs, Path(stack.enter_context(tempfile.TemporaryDirectory())) / "pages")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.load", description=__doc__)
    for name, default in (
        ("suites", 67),
        ("items", 1000),
        ("models", 12),
        ("seeds", 12),
        ("readers", 50),
        ("seconds", 60),
        ("repeats", 3),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"({default})")
    parser.add_argument("--folder", action="store_true", help="also time the folder of pages")
    parser.add_argument("--runs", type=Path, help="where the runs are kept, and used again (a temporary folder)")
    return parser.parse_args()


def _make(folder: Path, arguments: argparse.Namespace) -> list[Path]:
    suites = [_suite(f"suite_{number:02}", arguments.items) for number in range(1, arguments.suites + 1)]
    runs = []
    for seed in range(1, arguments.models + 1):
        runs.append(folder / f"model{seed:02}")
        if runs[-1].exists():
            continue
        if seed <= arguments.seeds:
            run_suites(load(f"random:?seed={seed}"), suites, runs[-1])
        else:
            shutil.copytree(runs[(seed - 1) % arguments.seeds], runs[-1])
    return runs


def _suite(name: str, items: int) -> Suite:
    draw = random.Random(name)

    def sentence(*parts: str) -> Sentence:
        regions, at = [], 0
        for region, part in zip(("subject", "modifier", "verb", "object"), parts, strict=True):
            regions.append(Region(region, at, at + len(part)))
            at += len(part) + 1
        return Sentence(" ".join(parts), tuple(regions))

    made = []
    for number in range(1, items + 1):
        noun, other, last = draw.sample(_NOUNS, 3)
        good, bad = draw.choice(_VERBS)
        parts = (f"The {noun}", f"near the {other}s number {number}")
        sentences = {name: sentence(*parts, verb, f"the {last}.") for name, verb in (("good", good), ("bad", bad))}
        made.append(Item(str(number), sentences, {"noun": noun, "verb": good}))
    predictions = (
        Prediction("verb", parse("(verb;%good%) < (verb;%bad%)")),
        Prediction("full_sentence", parse("(*;%good%) < (*;%bad%)")),
    )
    return Suite(name, tuple(made), predictions, {"circuit": f"circuit {int(name[-2:]) % 6}", "contrast": "Agreement."})


class _Reader:
    """A reader with a connection and a cookie."""

    def __init__(self, opening: str) -> None:
        self.address = urlsplit(opening).netloc
        self.connection = http.client.HTTPConnection(self.address, timeout=120)
        self.connection.request("GET", f"/?{urlsplit(opening).query}")
        answer = self.connection.getresponse()
        answer.read()
        self.cookie = (answer.getheader("set-cookie") or "").partition(";")[0]

    def seconds(self, path: str) -> float:
        begin = time.perf_counter()
        self.connection.request("GET", path, headers={"cookie": self.cookie})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {content[:200]!r}")
        return time.perf_counter() - begin


def _serve(runs: Sequence[Path], arguments: argparse.Namespace) -> None:
    begin = time.perf_counter()
    names = [word for number in range(1, len(runs) + 1) for word in ("--name", f"model {number}")]
    line = [sys.executable, "-m", "syntagm", "serve", *map(str, runs), *names]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        opening = server.stdout.readline().strip()
        print(f"start: {time.perf_counter() - begin:.1f} s")
        try:
            reader = _Reader(opening)
            draw = random.Random(1)
            names = [f"suite_{number:02}" for number in range(1, arguments.suites + 1)]
            items = [str(draw.randint(1, arguments.items)) for _ in range(20)]
            kinds = {
                "overview": ["/"],
                "figure of the overview": ["/overview.svg?on=page&figure=scores"],
                "suite": [f"/suite/{name}" for name in names[:20]],
                "figure of a suite": [f"/suite/{name}.svg?on=page&figure=regions" for name in names[:5]],
                "suite, filtered": [f"/suite/{name}?verdict=fails&order=lowest" for name in names[:20]],
                "item": [f"/suite/{name}/{item}" for name in names[:20] for item in items[:5]],
                "search": ["/search?words=dog+sees"],
                "run": [f"/run/{quote(f'model {number}')}" for number in (1, 2)[: arguments.models]],
            }
            for kind, paths in kinds.items():
                spent = _processor_seconds(server.pid)
                first = [reader.seconds(path) for path in paths]
                spent = (_processor_seconds(server.pid) - spent) / len(paths)
                print(
                    f"first view, {kind}: median {statistics.median(first):.2f} s, longest {max(first):.2f} s, "
                    f"{spent:.2f} processor seconds each"
                )
            paths = [path for of_kind in kinds.values() for path in of_kind]
            for repeat in range(1, arguments.repeats + 1):
                _load(opening, paths, arguments, repeat)
            status = Path(f"/proc/{server.pid}/status").read_text()
            for field, name in (("VmRSS", "memory"), ("VmHWM", "most memory")):
                match = re.search(rf"{field}:\s+(\d+)", status)
                print(f"{name}: {int(match[1]) / 1000:.0f} MB" if match else f"{name}: not known")
        finally:
            server.terminate()


def _processor_seconds(process: int) -> float:
    """Return the seconds that a process has had of the processors."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _load(opening: str, paths: Sequence[str], arguments: argparse.Namespace, repeat: int) -> None:
    times: list[float] = []
    end = time.perf_counter() + arguments.seconds

    def read(seed: int) -> None:
        reader, draw = _Reader(opening), random.Random(seed)
        time.sleep(draw.random() * _EVERY)
        while time.perf_counter() < end:
            taken = reader.seconds(draw.choice(paths))
            times.append(taken)
            time.sleep(max(0.0, _EVERY - taken))

    readers = [threading.Thread(target=read, args=(seed,)) for seed in range(arguments.readers)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    ordered = sorted(times)
    last = ordered[int(0.99 * (len(ordered) - 1))]
    middle, last, longest = (f"{1000 * seconds:.0f} ms" for seconds in (statistics.median(times), last, ordered[-1]))
    print(
        f"repeat {repeat}: {arguments.readers} readers, {len(times):,} pages in {arguments.seconds} s: "
        f"median {middle}, 99th percentile {last}, longest {longest}"
    )


def _time_folder(runs: Sequence[Path], folder: Path) -> None:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "syntagm", "report", *map(str, runs), "-o", f"{folder}/"], check=True)
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"folder: {len(files):,} files, {size:.0f} MB, {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
