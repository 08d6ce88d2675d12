"""Run the benchmarks: `make bench`, or `python -m benchmarks --help`."""

import argparse
import platform
from datetime import date
from pathlib import Path

from benchmarks import DATA, ROOT, STORE
from benchmarks.analyses import analyses
from benchmarks.fill import fill
from benchmarks.lstm import CORPUS, lstm
from benchmarks.ngram import ngram
from benchmarks.pll import pll
from benchmarks.samples import SAMPLES
from benchmarks.scoring import DTYPES, race
from benchmarks.spine import PAIRS, spine
from benchmarks.table import table

PARTS = [*SAMPLES, "spine", "analyses", "lstm", "ngram", "pll", "fill"]
RESULTS = ROOT / "benchmarks" / "results.md"


def main() -> None:
    asked = _arguments()
    parts = [_machine(asked)]
    for name in asked.only:
        print(part := _part(name, asked), flush=True)
        parts.append(part)
    STORE.mkdir(exist_ok=True)
    for place in [STORE / "last.md", *([RESULTS] if asked.record else [])]:
        place.write_text("\n".join(parts), "utf-8")
        print(f"Written to {place.relative_to(ROOT)}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=3, help="rounds a sample, interleaved (default 3)")
    parser.add_argument("--cap", type=int, help="at most so many pairs a paradigm or file: a trial, not a measurement")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--lmplz", metavar="PATH", help="KenLM's estimator, to measure beside ours")
    parser.add_argument("--record", action="store_true", help="also write benchmarks/results.md; refuses with --cap")
    asked = parser.parse_args()
    if asked.rounds < 1 or (asked.cap is not None and asked.cap < 1):
        parser.error("--rounds and --cap are at least 1")
    if asked.record and asked.cap:
        parser.error("a capped run is no measurement, so it is not recorded")
    if "float32" not in asked.dtypes:
        parser.error("--dtypes needs float32, which the others are compared with")
    return asked


def _part(name: str, asked: argparse.Namespace) -> str:
    if name == "spine":
        return spine(min(PAIRS, asked.cap or PAIRS))
    if name == "analyses":
        return analyses(min(PAIRS, asked.cap or PAIRS))
    if name == "ngram":
        return ngram(asked.rounds, asked.lmplz)
    if name == "pll":
        return pll(asked.rounds, asked.cap)
    if name == "fill":
        return fill(asked.rounds, asked.cap)
    if name == "lstm" and CORPUS.exists():
        return lstm(asked.rounds, asked.cap)
    if not (DATA / name).is_dir():
        return (
            f"## {name}\n\nSkipped: the published data is not at {Path('..') / DATA.relative_to(ROOT.parent) / name}.\n"
        )
    return table(race(SAMPLES[name](asked.cap), asked.rounds, asked.dtypes))


def _machine(asked: argparse.Namespace) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor() or "unknown processor"
    capped = f" CAPPED at {asked.cap} pairs: a trial, not a measurement." if asked.cap else ""
    return (
        f"# Benchmark results\n\n{date.today()}, {processor}, one thread, Python {platform.python_version()}.{capped}\n"
    )


if __name__ == "__main__":
    main()
