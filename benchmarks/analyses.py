"""Benchmark of analyses and report: six models on 67 paradigms of 1,000 pairs, analysed as in Warstadt et al. 2020.

The models are `random` with six seeds, because the source of the numbers does not affect the time. Goal: 30 CPU-seconds for
analyses and report together.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.spine import PAIRS, measure, write
from syntagm.papers import published

MODELS, SECONDS = 6, 30
_SYNTAGM = [sys.executable, "-m", "syntagm"]


def analyses(pairs: int = PAIRS) -> str:
    """Run the benchmark and return the results as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "suites").mkdir()
        for number, paradigm in enumerate(published()):
            write(folder / "suites" / f"{paradigm}.jsonl", number, pairs)
        runs = [_run(folder, seed) for seed in range(1, MODELS + 1)]
        words = "words=" + ",".join(str(1000 * 2**k) for k in range(MODELS))
        paper = ["reproduce", "warstadt2020", "--set", words, "-o", f"{folder}/out", "--from-run"]
        taken = {
            "reproduce warstadt2020": measure([*_SYNTAGM, *paper, *runs]),
            "report": measure([*_SYNTAGM, "report", *runs, "-o", f"{folder}/report.html"]),
        }
    total = sum(cpu for _, cpu, _ in taken.values())
    return "\n".join([
        "## Analyses and report of six models", "",
        f"{len(published())} paradigms, {pairs:,} pairs each, {MODELS} runs; the start of each program included.", "",
        *(f"* `syntagm {what}`: {cpu:.1f} CPU-seconds, {peak:.2f} GB at most" for what, (_, cpu, peak) in taken.items()),
        f"* together {total:.1f} CPU-seconds; goal {SECONDS}: {'reached' if total <= SECONDS else '**missed**'}", "",
    ])  # fmt: skip


def _run(folder: Path, seed: int) -> str:
    output = f"{folder}/run{seed}"
    suites = ["--suite", f"{folder}/suites", "--no-report", "--no-cache"]
    measure([*_SYNTAGM, "run", f"random:?seed={seed}", *suites, "-o", output])
    return output
