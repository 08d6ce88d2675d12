"""Command line of the benchmarks: `make bench`, or `python -m benchmarks --help`."""

import argparse
import platform
from datetime import date
from pathlib import Path

from benchmarks import DATA, ROOT, STORE, processor
from benchmarks.analyses import analyses
from benchmarks.collection import collection
from benchmarks.executors import executors
from benchmarks.fill import fill
from benchmarks.gpu import gpu
from benchmarks.in_training import in_training
from benchmarks.lstm import CORPUS, lstm
from benchmarks.ngram import ngram
from benchmarks.pll import pll
from benchmarks.rnng import rnng
from benchmarks.samples import SAMPLES
from benchmarks.scoring import DTYPES, race
from benchmarks.spine import PAIRS, spine
from benchmarks.table import table
from benchmarks.text import text

PARTS = [
    *SAMPLES,
    "collection",
    "spine",
    "analyses",
    "lstm",
    "ngram",
    "pll",
    "fill",
    "text",
    "rnng",
    "in_training",
    "executors",
]
# Not among the parts that run by default.
ON_REQUEST = ["gpu"]
RESULTS = ROOT / "benchmarks" / "results.md"


def main() -> None:
    arguments = _arguments()
    parts = [_machine(arguments)]
    for name in arguments.only:
        print(part := _part(name, arguments), flush=True)
        parts.append(part)
    STORE.mkdir(exist_ok=True)
    for path in [STORE / "last.md", *([RESULTS] if arguments.record else [])]:
        path.write_text("\n".join(parts), "utf-8")
        print(f"Written to {path.relative_to(ROOT)}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*PARTS, *ON_REQUEST], default=PARTS)
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds per sample (default 3)")
    parser.add_argument(
        "--cap", type=int, help="largest number of pairs per paradigm or file: a trial, not a measurement"
    )
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--lmplz", metavar="PATH", help="KenLM's estimator, for comparison with ours")
    parser.add_argument("--device", default="cuda", help="device of the part gpu (default cuda); cpu is a trial")
    parser.add_argument("--vllm", metavar="PYTHON", help="an interpreter with vLLM, for the part gpu")
    parser.add_argument("--record", action="store_true", help="also write benchmarks/results.md; not with --cap")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or (arguments.cap is not None and arguments.cap < 1):
        parser.error("--rounds and --cap must be at least 1")
    if arguments.record and arguments.cap:
        parser.error("a run with --cap is no measurement and can't be recorded")
    if "float32" not in arguments.dtypes:
        parser.error("--dtypes must include float32, which the others are compared with")
    return arguments


def _part(name: str, arguments: argparse.Namespace) -> str:
    if name == "collection":
        return collection(min(PAIRS, arguments.cap or PAIRS))
    if name == "spine":
        return spine(min(PAIRS, arguments.cap or PAIRS))
    if name == "analyses":
        return analyses(min(PAIRS, arguments.cap or PAIRS))
    if name == "ngram":
        return ngram(arguments.rounds, arguments.lmplz)
    if name == "pll":
        return pll(arguments.rounds, arguments.cap)
    if name == "fill":
        return fill(arguments.rounds, arguments.cap)
    if name == "text":
        return text(arguments.rounds, arguments.cap)
    if name == "rnng":
        return rnng(arguments.rounds, arguments.cap)
    if name == "in_training":
        return in_training(arguments.cap)
    if name == "gpu":
        return gpu(arguments.rounds, arguments.cap, arguments.device, arguments.vllm)
    if name == "executors":
        return executors(arguments.rounds, arguments.cap)
    if name == "lstm" and CORPUS.exists():
        return lstm(arguments.rounds, arguments.cap)
    if not (DATA / name).is_dir():
        return (
            f"## {name}\n\nSkipped: the published data is not at {Path('..') / DATA.relative_to(ROOT.parent) / name}.\n"
        )
    return table(race(SAMPLES[name](arguments.cap), arguments.rounds, arguments.dtypes))


def _machine(arguments: argparse.Namespace) -> str:
    capped = f" CAPPED at {arguments.cap} pairs: a trial, not a measurement." if arguments.cap else ""
    return f"# Benchmark results\n\n{date.today()}, {processor()}, one thread, Python {platform.python_version()}.{capped}\n"


if __name__ == "__main__":
    main()
