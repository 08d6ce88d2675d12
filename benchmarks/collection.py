"""Benchmark of drawing: the 67 paradigms of warstadt2020, 1,000 pairs each, from the templates to files.

Goals: 20 CPU-seconds, and memory that doesn't grow with the number of pairs beyond those of one paradigm.
"""

import sys
import tempfile

from benchmarks.spine import PAIRS, PARADIGMS, measure

SECONDS, GROWTH = 20, 1.2


def collection(pairs: int = PAIRS) -> str:
    """Run the benchmark and return the results as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        make = [sys.executable, "-m", "syntagm", "make", "warstadt2020", "--as", "blimp"]
        _, cpu, peak = measure([*make, "-n", str(pairs), "-o", f"{folder}/all"])
        _, _, some = measure([*make, "-n", str(max(1, pairs // 10)), "-o", f"{folder}/some"])
        one = [*make[:4], "warstadt2020/causative", *make[5:], "-n", str(pairs)]
        _, _, single = measure([*one, "-o", f"{folder}/one"])
    return "\n".join([
        "## Drawing warstadt2020", "",
        f"{PARADIGMS} paradigms, {PARADIGMS * pairs:,} pairs, written in BLiMP's format; the start of the program included.", "",
        f"* {cpu:.1f} CPU-seconds; goal {SECONDS}: {'reached' if cpu <= SECONDS else '**missed**'}",
        f"* {peak:.2f} GB at most; with a tenth of the pairs {some:.2f} GB, with one paradigm {single:.2f} GB; goal: at most "
        f"{GROWTH} times that of a tenth: {'reached' if peak <= GROWTH * some else '**missed**'}", "",
    ])  # fmt: skip
