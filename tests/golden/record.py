"""Run the steps through the command line of a checkout, and keep what they print and write."""

import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

from . import inputs, normal
from .compare import digest, renames
from .steps import STEPS, Step, plain

_LIBRARIES = ("numpy", "polars", "scipy", "tokenizers", "torch", "transformers", "vl-convert-python")


class Views:
    """What the checkout calls the views; here they go by their new names."""

    def __init__(self, command: "Command") -> None:
        self.old = {row.new: row.old for row in renames() if row.where == "view"}
        listed = {kind: command(f"{kind} --list").stdout.splitlines() for kind in ("table", "figure")}
        self.there = {kind: {line.split()[0] for line in lines if line.strip()} for kind, lines in listed.items()}

    def called(self, kind: str, name: str) -> str:
        """The name of a view in the checkout."""
        old = self.old.get(name, name)
        return old if name not in self.there[kind] and old in self.there[kind] else name

    def unasked(self) -> list[Step]:
        """A step for each view of the checkout that no step in the list asks for."""
        asked = {(kind, self.called(kind, name)) for one in STEPS for kind, name in one.views}
        return [
            plain(kind, name) for kind in self.there for name in sorted(self.there[kind]) if (kind, name) not in asked
        ]


class Command:
    """`python -m syntagm` of a checkout, in a folder, always in the same surroundings.

    Arguments:
        package: the checkout; None for what is installed.
        python: the interpreter.
    """

    def __init__(self, package: Path | None, work: Path, python: str = sys.executable) -> None:
        self.python = python
        fixed = {
            "PYTHONPATH": str(package or ""),
            "SYNTAGM_CACHE": str(work / "cache.sqlite"),
            "OMP_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "HF_HUB_OFFLINE": "1",
            "COLUMNS": "160",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }
        self.work, self.surroundings = work, os.environ | fixed
        listed = self._run(["train", "--help"]).stdout.partition("  FAMILY\n")[2]
        families = re.findall(r"^    (\w+)(?: |$)", listed, re.MULTILINE)
        helps = [self._run(["train", family, "--help"]).stdout for family in families]
        self.helps: dict[str, str] = {}
        options = {word.strip(",") for text in helps for word in text.split()}
        self.options = {row.new: row.old for row in renames() if row.where == "option" and row.new not in options}

    def __call__(self, words: str, asks: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run it with the options as the checkout calls them; the exit code and what was printed.

        Arguments:
            words: what stands behind `syntagm`; `[--option value]` is left out where the checkout has no such option.
            asks: what a server is asked before it is stopped: file for the answer -> address.
        """
        known = re.sub(r" \[(--\S+)([^]]*)\]", partial(self._optional, words), words)
        listed = [self.options.get(word, word) for word in shlex.split(known)]
        return self._serve(listed, asks) if asks else self._run(listed)

    def _optional(self, words: str, option: re.Match[str]) -> str:
        """An option with its value, if the checkout knows it."""
        name = " ".join(re.findall(r"^(?:reading|experiment) \S+|^\S+", words))
        if name not in self.helps:
            self.helps[name] = self._run([*name.split(), "--help"]).stdout
        return f" {option[1]}{option[2]}" if re.search(rf"{option[1]}\b", self.helps[name]) else ""

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        line = [self.python, "-m", "syntagm", *words]
        return subprocess.run(line, cwd=self.work, env=self.surroundings, capture_output=True, text=True, check=False)

    def _serve(self, words: list[str], asks: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Start a server, ask it on the address that it prints, and end it as Ctrl-C does; 1 if it refused to answer."""
        line = [self.python, "-m", "syntagm", *words]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            line, cwd=self.work, env=self.surroundings, stdout=pipe, stderr=pipe, text=True
        ) as server:
            assert server.stdout
            try:
                refused = self._ask(server.stdout.readline().strip(), asks)
            finally:
                server.send_signal(signal.SIGINT)
                said, errors = server.communicate()
        return subprocess.CompletedProcess(line, server.returncode or min(1, refused), said, errors)

    def _ask(self, start: str, asks: Mapping[str, str]) -> int:
        """Keep each answer, or the code with which it was refused; how many were."""
        if not start:
            return 1
        visitor = build_opener(ProxyHandler({}), HTTPCookieProcessor())
        visitor.open(start).close()
        refused = 0
        for name, address in asks.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with visitor.open(urljoin(start, address)) as answer:
                    path.write_bytes(answer.read())
            except HTTPError as error:
                refused += 1
                path.with_name(f"{path.name}.refused.txt").write_text(f"{error.code}\n")
        return refused


def record(
    out: Path,
    package: Path | None,
    shared: Path | None,
    quick: bool = False,
    resume: bool = False,
    chosen: Sequence[Step] = (),
    python: str = sys.executable,
) -> int:
    """Record the package of a checkout into the new folder `out`; the number of steps that ended otherwise than they should.

    Arguments:
        package: the checkout; None for what is installed in the environment of `python`.
        shared: the folder of published data; without it the steps that need it are left out, which is said.
        resume: go on with the record that stands there, of the same checkout: steps that it has are not made again.
        chosen: the only steps; all, and those of views that no step asks for, unless given.
        python: the interpreter.
    """
    work = out.resolve() / "work"
    package = package.resolve() if package else None
    if package and not (package / "syntagm").is_dir():
        raise SystemExit(f"{package}: no checkout with a folder syntagm")
    done = _done(out / "done.jsonl") if resume else {}
    if not done:
        for old in (out / "kept", work):
            shutil.rmtree(old, ignore_errors=True)
        (out / "done.jsonl").unlink(missing_ok=True)
        inputs.prepare(work, shared)
    command = Command(package, work, python)
    views = Views(command)
    steps = [one for one in chosen or STEPS if (one.quick or not quick) and (shared or not one.shared)]
    if left := [one.out for one in chosen or STEPS if (one.quick or not quick) and one not in steps]:
        print(f"no folder of published data (--shared): {len(left)} steps are left out: {', '.join(left)}", flush=True)
    if not chosen:
        steps += views.unasked()
    places = {str(work): "WORK"} | ({str(package): "PACKAGE"} if package else {})
    odd = 0
    for number, one in enumerate(steps, 1):
        if done.get(one.out, {}).get("command") == one.command:
            continue
        began = time.monotonic()
        files, code = _kept(one, command, views, places)
        for name, text in files.items():
            path = out / "kept" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        seconds = round(time.monotonic() - began, 1)
        done[one.out] = {"step": one.out, "command": one.command, "seconds": seconds, "digest": digest(files)}
        with (out / "done.jsonl").open("a") as file:
            file.write(json.dumps(done[one.out]) + "\n")
        wrong = f"  EXIT {code}, not {one.exit}: {command.work / one.out}.said" if code != one.exit else ""
        odd += bool(wrong)
        print(f"{number:4}/{len(steps)} {seconds:6.1f} s  {one.out}{wrong}", flush=True)
    about: dict[str, Any] = {
        "surroundings": surroundings(python),
        "quick": quick,
        "without_shared": [one.out for one in steps if not one.shared],
        "seconds": {one.out: done[one.out]["seconds"] for one in steps},
        "digests": {one.out: done[one.out]["digest"] for one in steps},
    }
    (out / "record.json").write_text(json.dumps(about, indent=1) + "\n")
    print(f"{len(steps)} steps, {sum(about['seconds'].values()):.0f} s: {out}", flush=True)
    return odd


def _done(path: Path) -> dict[str, dict[str, Any]]:
    entries = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {one["step"]: one for one in entries}


def surroundings(python: str = sys.executable) -> dict[str, str]:
    """What floats depend on beside the code, for an interpreter."""
    program = f"""
import json, platform
from importlib.metadata import PackageNotFoundError, version
def found(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
print(json.dumps({{"python": platform.python_version()}} | {{name: found(name) for name in {_LIBRARIES!r}}}))
"""
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    versions: dict[str, str] = json.loads(done.stdout)
    return {
        "machine": platform.machine(),
        "platform": platform.platform(),
        "processor": _processor(),
        **versions,
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", path.read_text()) if path.exists() else None
    return found[1] if found else platform.processor()


def _kept(one: Step, command: Command, views: Views, places: dict[str, str]) -> tuple[normal.Kept, int]:
    """What is kept of a step: what was printed, and all files whose names begin with the step's."""
    named = re.sub(
        r"^(table|figure) (\S+)", lambda words: f"{words[1]} {views.called(words[1], words[2])}", one.command
    )
    stem = command.work / one.out
    (stem if "{out}/" in one.command else stem.parent).mkdir(parents=True, exist_ok=True)
    # What a record that was broken off left there.
    for path in _files(stem):
        path.unlink()
    asks = {f"{one.out}/{name}": address for name, address in one.asks}
    done = command(named.replace("{out}", one.out), asks)
    said = f"exit {done.returncode}\n--- output\n{done.stdout}--- errors\n{done.stderr}"
    stem.with_name(stem.name + ".said").write_text(said)
    found = normal.kept(_files(stem), command.work, places)
    if not one.said:
        found = {name: text for name, text in found.items() if not name.startswith(f"{one.out}.said")}
    back = {old: new for new, old in views.old.items()}
    return {_renamed(name, back): text for name, text in found.items()}, done.returncode


def _files(stem: Path) -> list[Path]:
    """Files called like the stem and an ending, or in a folder called like it."""
    beside = [path for path in stem.parent.glob("*") if re.fullmatch(re.escape(stem.name) + r"(\..*)?", path.name)]
    return [path for one in beside for path in ([one] if one.is_file() else one.rglob("*")) if path.is_file()]


def _renamed(name: str, views: dict[str, str]) -> str:
    folder, slash, last = name.rpartition("/")
    stem, dot, ending = last.partition(".")
    for old, new in views.items():
        stem = new if stem == old else stem.replace(f"{old}_", f"{new}_") if "_" in old else stem
    return folder + slash + stem + dot + ending
