"""What the studio survives: kills while it saves and scores, conflicting saves, hostile suites, and readers beside a job.

python -m benchmarks.studio [saves] [jobs] [conflicts] [hostile] [readers] [-o benchmarks/studio.md]
"""

import argparse
import http.client
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import processor

sys.path += [
    str(Path(__file__).resolve().parents[1] / "tests"),
    str(Path(__file__).resolve().parents[1] / "tests/studio"),
]

SAVES, JOBS, CONFLICTS, READERS, SECONDS = 35, 15, 100, 50, 12.0
# Attributes that a browser follows.
_ADDRESSES = ("href", "src", "action", "formaction")
SUITE = "item\tcondition\tsubject\tverb\n#prediction\tp\t(verb;%a%) < (verb;%b%)\t\n"


def suite(items: int, word: str = "here") -> str:
    """Return a suite of so many items."""
    rows = (f"{k}\ta\tThe dog {k}\tbarks {word}\n{k}\tb\tThe dog {k}\tbark {word}\n" for k in range(items))
    return SUITE + "".join(rows)


def _forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    return child


def _kill(child: int, after: float) -> None:
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def saves() -> str:
    """Kill processes that save: the file is what it was before the last save, or what was saved last."""
    from syntagm.studio import Store

    draw, whole = random.Random(1), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before, known = "", 0
        for _ in range(SAVES):

            def save() -> None:
                store = Store(folder)
                base = store.read("own.tsv").digest if store.names() else ""
                for number in range(100_000):
                    base = store.save("own.tsv", suite(50, f"w{os.getpid()}x{number}"), base).digest

            _kill(_forked(save), draw.uniform(0.005, 0.25))
            store = Store(folder)
            versions = store.versions("own.tsv")
            texts = [store.version("own.tsv", version.number).text for version in versions]
            now = store.read("own.tsv").text if store.names() else ""
            # The texts that this process has saved, the last one first, and the one that it began with.
            whole += now in [*texts[: len(texts) - known], before][:2]
            before, known = now, len(texts)
    return (
        f"{whole} of {SAVES} kills while saving left the old or the new suite, whole; all {known} versions of the history are "
        "as they were saved"
    )


def jobs() -> str:
    """Kill servers whose job is at work."""
    from syntagm.core import of_folder
    from syntagm.studio import Jobs, Studio

    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder, text = Path(name) / "own", suite(3000)
        number = Jobs(folder, {"random": "random", "toy": "toy"}).add("own.tsv", text, ["random", "toy"], None)
        for _ in range(JOBS):

            def work() -> None:
                with Studio(["random", "toy"], folder):
                    time.sleep(600)

            _kill(_forked(work), draw.uniform(0.5, 9.0))
        with Studio(["random", "toy"], folder) as studio:
            assert studio.jobs
            job, end = studio.jobs.find(number), time.monotonic() + 400
            while studio.jobs.state(job) in ("waiting", "running") and time.monotonic() < end:
                time.sleep(0.5)
            state = studio.jobs.ended(job)
        same = []
        for model in ("random", "toy"):
            line = [
                sys.executable,
                "-m",
                "syntagm",
                "run",
                model,
                "--suite",
                str(job.file),
                "--name",
                model,
                "-o",
                f"{name}/{model}",
            ]
            subprocess.run([*line, "--no-report", "--quiet", "--no-cache"], check=True, stdout=subprocess.DEVNULL)
            same.append(
                (job.run_folder(model) / "results.csv").read_bytes() == Path(name, model, "results.csv").read_bytes()
            )
        damaged = [one for inspected in of_folder(folder) for one in inspected.findings if one.state == "damaged"]
    return (
        f"after {JOBS} kills of a server whose job was at work, the job is {state[0]} {state[1]}; results.csv of "
        f"{sum(same)} of 2 models has the bytes of `syntagm run`; {len(damaged)} damaged files"
    )


def conflicts() -> str:
    """Let two editors save 100 times each, always from the version that they last saw."""
    from studio_for_tests import Visitor

    with tempfile.TemporaryDirectory() as name:
        visitor = Visitor(Path(name) / "own")
        refused, sent = [0], list[str]()

        def edit(who: str) -> None:
            base = ""
            for number in range(CONFLICTS):
                text = suite(2, f"{who}{number}")
                sent.append(text)
                answer = visitor.post("/write", do="save", name="own", text=text, base=base)
                if answer.status == 409:
                    refused[0] += 1
                    base = answer.text.partition('name="base" value="')[2].partition('"')[0]
                else:
                    assert answer.status == 303, answer.text
                    base = visitor.get("/write/own.tsv").text.partition('name="base" value="')[2].partition('"')[0]

        threads = [threading.Thread(target=edit, args=(who,)) for who in ("Ada", "Ben")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        store = visitor.studio.store
        assert store
        kept = {store.version("own.tsv", version.number).text for version in store.versions("own.tsv")}
        lost = len(set(sent) - kept)
        return f"{len(sent)} saves of two editors, {refused[0]} refused with both versions shown; {lost} texts lost"


def hostile() -> str:
    """Send 100 hostile suites to all routes; the browser is in the slow tests."""
    from html.parser import HTMLParser

    from studio_for_tests import ATTACKS, Visitor, attacked

    class Scripts(HTMLParser):
        found = 0

        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            values = dict(attributes)
            if tag == "script" and not str(values.get("src", "")).startswith("/"):
                self.found += 1
            run = [key for key, value in attributes if key in _ADDRESSES and str(value).startswith("javascript:")]
            self.found += len([*run, *(key for key in values if key.startswith("on"))])
            self.found += tag in ("iframe", "object", "embed", "base", "img")

    scripts, answers, largest = 0, list[int](), 0
    with tempfile.TemporaryDirectory() as name:
        visitor = Visitor(Path(name) / "own")
        others = [
            "../" * 5 + "etc/passwd", "\x00", "a" * 900_000, "item\t" + "\t".join(f"c:{k}" for k in range(50_000)),
            '"' * 10_001, "item\tcondition\tv\n#prediction\tp\t" + "(" * 5000 + "\n", "\ud7ff\ufffe\u202e" * 1000,
            "item\tcondition\tv\n" + "1\ta\tx\n" * 20_000, "\r" * 1000, "[[suite]]\n" * 5000,
        ]  # fmt: skip
        texts = [
            (text, way) for way in (".tsv", ".toml", ".json", ".csv") for text in (*map(attacked, ATTACKS), *others)
        ]
        for number, (text, ending) in enumerate(random.Random(1).sample(texts, 100)):
            name_of = ([*ATTACKS, "../../x", "/etc/x", ".ssh", "a/b", f"ok{number}"])[number % (len(ATTACKS) + 5)]
            sent = {"text": text.encode("utf-8", "replace").decode()}
            written = {**sent, "ending": ending if ending in (".tsv", ".toml") else ".tsv"}
            for answer in (
                visitor.post("/write", do="preview", name=name_of, **written),
                visitor.post("/write", do="save", name=name_of, **written),
                visitor.post("/write", do="score", name=name_of, model="toy", **written),
                visitor.post("/write/check", **written),
                visitor.post("/write/open", kind=ending, **sent),
                visitor.get("/try", model="toy", text=text[:3000].encode("utf-8", "replace").decode()),
            ):
                answers.append(answer.status)
                if answer.headers.get("content-type", "").startswith("text/html"):
                    parser = Scripts()
                    parser.feed(answer.text)
                    scripts += parser.found
                    largest = max(largest, len(answer.body))
        outside = [path for path in Path(name).rglob("*") if "own" not in path.relative_to(name).parts]
    wrong = sum(status >= 500 for status in answers)
    return (
        f"100 hostile suites in {len(answers)} requests: {scripts} scripts or handlers in pages, {len(outside)} files outside "
        f"of the folder, {wrong} answers of 500 or more; the largest page has {largest:,} bytes"
    )


def readers() -> str:
    """Let 50 readers look at pages, alone and beside a job."""
    with tempfile.TemporaryDirectory() as name:
        line = [
            sys.executable,
            "-m",
            "syntagm",
            "serve",
            "--model",
            "demo",
            "--write",
            f"{name}/own",
            "--suites",
            "hu2020/mvrr",
        ]
        server = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout
            address = server.stdout.readline().strip()
            host = address.split("/")[2]
            connection = http.client.HTTPConnection(host)
            connection.request(
                "GET",
                "/" + address.partition("/?")[0].partition("//")[2].partition("/")[2] + "?" + address.partition("?")[2],
            )
            cookie = str(connection.getresponse().getheader("set-cookie")).partition(";")[0]

            def look() -> float:
                times, end = list[float](), time.monotonic() + SECONDS

                def read() -> None:
                    own = http.client.HTTPConnection(host, timeout=60)
                    while time.monotonic() < end:
                        began = time.monotonic()
                        own.request("GET", "/suite/mvrr", headers={"cookie": cookie})
                        own.getresponse().read()
                        times.append(time.monotonic() - began)
                        time.sleep(1.5)  # a person looks at a page for longer

                threads = [threading.Thread(target=read) for _ in range(READERS)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                return statistics.median(times)

            look()
            alone = look()
            from urllib.parse import urlencode

            body = urlencode({"do": "score", "name": "own", "text": suite(6000), "model": "demo"})
            headers = {
                "cookie": cookie,
                "origin": f"http://{host}",
                "content-type": "application/x-www-form-urlencoded",
            }
            connection = http.client.HTTPConnection(host)
            connection.request("POST", "/write", body, headers)
            place = connection.getresponse().getheader("location")
            assert place
            for _ in range(200):
                connection = http.client.HTTPConnection(host)
                connection.request("GET", f"{place}/state", headers={"cookie": cookie})
                state = connection.getresponse().read().decode()
                if '"total": 0' not in state:
                    break
                time.sleep(0.3)
            beside = look()
            connection = http.client.HTTPConnection(host)
            connection.request("GET", f"{place}/state", headers={"cookie": cookie})
            after = connection.getresponse().read().decode()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()
    return (
        f"{READERS} readers: a page takes {1000 * alone:.0f} ms in the median alone, {1000 * beside:.0f} ms beside a job "
        f"({beside / alone:.2f} times; the job before: {state}, after: {after})"
    )


def main() -> None:
    """Do what is asked, and print a line for each."""
    parts = {"saves": saves, "jobs": jobs, "conflicts": conflicts, "hostile": hostile, "readers": readers}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="all by default")
    parser.add_argument("-o", "--output", type=Path, help="a file for the results")
    options = parser.parse_args()
    lines = [f"* {name}: {parts[name]()}" for name in options.parts or parts]
    print(*lines, sep="\n")
    if options.output:
        made = f"Made by `python -m benchmarks.studio -o benchmarks/studio.md` on {processor()}."
        head = f"# What the studio survives\n\n{made}\n\n"
        options.output.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
