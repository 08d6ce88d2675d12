"""Benchmark of a document in overlapping windows: ours compared with a plain sliding window of transformers.

Both have the same windows, of the model's positions with half of them as context. Goal: at least as many tokens per
CPU-second, equal within 1e-4 nats.
"""

import json
import tempfile
from pathlib import Path
from statistics import median

from benchmarks import checkpoint
from benchmarks.scoring import Timing, program

WORDS, GOAL, NEAR = 3_000, 1.0, 1e-4
PROGRAMS = ("timed_text_baseline", "timed_text")


def text(rounds: int, cap: int | None) -> str:
    """Run the benchmark and return the results as Markdown."""
    from syntagm.training import BUNDLED

    words = BUNDLED["excerpt"].read_text("utf-8").split()[: min(WORDS, cap * 10 if cap else WORDS)]
    lines = [
        "## A document in windows", "",
        f"{len(words):,} words of the bundled text, float32; medians of {rounds} rounds.", "",
        "| model | | tokens / CPU-second | tokens evaluated | largest difference, nats | times the plain window |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    reached = True
    for name, folder in (("demo", checkpoint.DEMO), ("GPT-2 small's shape", checkpoint.folder())):
        timings = [_round(folder, " ".join(words), number) for number in range(rounds)]
        plain = timings[0][PROGRAMS[0]]
        for tool in PROGRAMS:
            speed = median(len(plain.scores) / timing[tool].cpu for timing in timings)
            ratios = sorted(timing[PROGRAMS[0]].cpu / timing[tool].cpu for timing in timings)
            far = max(abs(a - b) for a, b in zip(timings[0][tool].scores, plain.scores, strict=True))
            spread = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            lines.append(f"| {name} | {tool} | {speed:,.0f} | {timings[0][tool].tokens:,} | {far:.1e} | {spread} |")
        reached &= median(ratios) >= GOAL and far < NEAR
    return "\n".join([*lines, "", f"Goal {GOAL:g}, within {NEAR:g} nats: {'reached' if reached else '**missed**'}", ""])


def _round(folder: Path, document: str, number: int) -> dict[str, Timing]:
    settings = {"model": str(folder), "dtype": "float32", "sentences": [document]}
    timings = {}
    with tempfile.TemporaryDirectory() as place:
        task = Path(place) / "task.json"
        task.write_text(json.dumps(settings), "utf-8")
        # Each round begins with the other program.
        for name in PROGRAMS[number % 2 :] + PROGRAMS[: number % 2]:
            timings[name] = Timing(**program(f"{name}.py", str(task)))
            print(f"{folder.name}, round {number + 1}: {name} {timings[name].cpu:.1f} CPU-seconds", flush=True)
    return timings
