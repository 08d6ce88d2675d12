"""Try mutated inputs on every reader: no traceback, no hang over 5 seconds, less than 1 GB of memory.

    python -m tests.fuzzing                                    # a million inputs
    python -m tests.fuzzing --inputs 5000 --reader arpa seal   # fewer, on some readers

With atheris (pip install -e '.[fuzz]', Linux only) the mutations follow the coverage of the code; without it, or with
--blind, they are drawn from a seed. Each reader has a process of its own. An input that fails is kept in FOLDER, and
`--reader NAME --again FILE` reads it once more. Exit code 1: an input failed.
"""

import argparse
import contextlib
import importlib.util
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
SECONDS, MEGABYTES = 5, 1024
TIMERS = (
    (signal.SIGPROF, signal.ITIMER_PROF, SECONDS),
    (signal.SIGALRM, signal.ITIMER_REAL, 10 * SECONDS),
)
sys.path.insert(0, str(HERE.parents[1]))
os.environ["HF_HUB_OFFLINE"] = "1"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="inputs for all readers together (1,000,000)")
    parser.add_argument("--reader", nargs="+", default=[], metavar="NAME", help="only these readers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blind", action="store_true", help="without coverage, even if atheris is there")
    parser.add_argument(
        "--failures", type=Path, default=Path("fuzz-failures"), metavar="FOLDER", help="where inputs that fail are kept"
    )
    parser.add_argument("--again", type=Path, metavar="FILE", help="read this input with the one reader named")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)  # in the process of one reader
    options = parser.parse_args()
    if options.again or options.alone:
        return _alone(options)
    from fuzzing.readers import READERS

    chosen = options.reader or list(READERS)
    unit = options.inputs / sum(1 / READERS[name].cost for name in chosen)
    guided = not options.blind and importlib.util.find_spec("atheris") is not None
    print(
        f"{len(chosen)} readers, {options.inputs:,} inputs, "
        + ("guided by coverage" if guided else "drawn from a seed")
    )
    failed, total = [], 0
    for name in chosen:
        inputs, began = max(1, round(unit / READERS[name].cost)), time.monotonic()
        command = [sys.executable, "-m", "tests.fuzzing", "--alone", "--reader", name, "--inputs", str(inputs)]
        command += ["--seed", str(options.seed), "--failures", str(options.failures)] + ["--blind"] * (not guided)
        # The fuzzer ends its process without cleaning up.
        with tempfile.TemporaryDirectory() as place:
            surroundings = {**os.environ, "TMPDIR": place}
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False, env=surroundings
            )
        total += inputs
        state = "FAILED" if done.returncode else "ok"
        print(f"{name:<22} {inputs:>8,} inputs  {time.monotonic() - began:>6.0f} s  {state}", flush=True)
        if done.returncode:
            failed.append(name)
            print("\n".join((done.stdout + done.stderr).splitlines()[-25:]), flush=True)
    print(f"{total:,} inputs, {len(failed)} readers failed" + (f": {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


def _alone(options: argparse.Namespace) -> int:
    [name] = options.reader
    if options.blind or options.again:
        from fuzzing.readers import READERS
    else:
        import atheris

        with atheris.instrument_imports(include=["syntagm"]):
            from fuzzing.readers import READERS
    reader = READERS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        seeds = reader.seeds(folder)
        path = folder / reader.file
        if options.again:
            print("read" if reader.survives(path, options.again.read_bytes()) else "refused")
            return 0
        # What is imported on first use takes seconds of its own.
        for content in seeds:
            reader.survives(path, content)
        options.failures.mkdir(parents=True, exist_ok=True)
        kept = f"{options.failures}/{name.replace(' ', '_')}-"
        if options.blind:
            chance = random.Random(f"{name} {options.seed}")
            for _ in range(options.inputs):
                _limited(reader, path, reader.mutant(chance, seeds), kept)
            return 0

        def mutate(content: bytes, longest: int, seed: int) -> bytes:
            chance = random.Random(seed)
            if chance.random() < 0.5:
                return bytes(atheris.Mutate(content, longest))
            return reader.mutant(chance, [content, content, *seeds])[:longest]

        inputs = folder / "inputs"
        inputs.mkdir()
        for number, content in enumerate(seeds):
            (inputs / str(number)).write_bytes(content)
        flags = [
            f"-runs={options.inputs}",
            f"-timeout={SECONDS}",
            f"-rss_limit_mb={MEGABYTES}",
            f"-seed={options.seed}",
        ]
        flags += [f"-artifact_prefix={kept}", "-max_len=30000", str(inputs)]
        atheris.Setup(
            [sys.argv[0], *flags], lambda content: reader.survives(path, content) and None, custom_mutator=mutate
        )
        atheris.Fuzz()  # ends the process
    return 0


def _limited(reader: Any, path: Path, content: bytes, kept: str) -> None:
    """Read an input within the limits of time and memory; keep it if it fails."""

    def late(*_: object) -> None:
        raise AssertionError(f"more than {SECONDS} seconds of the processor, or {10 * SECONDS} of the clock")

    # A busy machine makes a reader late by the clock, a reader that waits doesn't use the processor.
    for alarm, timer, seconds in TIMERS:
        signal.signal(alarm, late)
        signal.setitimer(timer, seconds)
    try:
        reader.survives(path, content)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
        assert used < MEGABYTES, f"{used:.0f} MB of memory"
    except BaseException:
        with contextlib.suppress(OSError):
            Path(f"{kept}failed").write_bytes(content)
        raise
    finally:
        for _, timer, _ in TIMERS:
            signal.setitimer(timer, 0)


if __name__ == "__main__":
    sys.exit(main())
