"""Benchmark of scoring on a GPU: ours compared with minicons, lm-eval and vLLM, and checks of the path that a GPU takes.

Everything takes at most eight minutes. With `--device cpu` it is a trial: does every program run?
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import ROOT, checkpoint, peers
from benchmarks.scoring import ONE_THREAD, Timing

PAIRS, MINUTES, REFERENCE = 30, 8, 400
# Batches of the peers, in sentences: much larger than on a CPU.
BATCH = 256
# Largest and mean difference from our float32 on the CPU, in nats.
BOUNDS = {"float32": (1e-3, 1e-4), "bfloat16": (1.0, 0.15)}


def gpu(rounds: int, cap: int | None, device: str, vllm: str | None) -> str:
    """Run the benchmark and return the results as Markdown.

    Arguments:
        rounds: the number of rounds; those that don't begin within the time are omitted.
        cap: largest number of pairs per paradigm.
        device: the device.
        vllm: a Python interpreter with vLLM; None for this one.
    """
    sentences = _sentences(min(PAIRS, cap or PAIRS))
    pythons, missing = _pythons(vllm)
    end = time.monotonic() + 60 * MINUTES
    reference = _timed(sys.executable, "syntagm", "float32", "cpu", sentences[:REFERENCE], end)
    timings: dict[tuple[str, str], list[Timing | str]] = {}
    for _ in range(rounds):
        for dtype in BOUNDS:
            for tool, python in pythons.items():
                if time.monotonic() < end:
                    timing = _timed(python, tool, dtype, device, sentences, end)
                    timings.setdefault((tool, dtype), []).append(timing)
    rounded = _timed(sys.executable, "syntagm", "float32", device, sentences[:REFERENCE], end, tf32=True)
    exact = _timed(sys.executable, "syntagm", "float32", device, sentences[:REFERENCE], end)
    return "\n".join([
        "## On a GPU", "",
        f"{len(sentences):,} sentences of the 67 paradigms of `warstadt2020`, GPT-2 small's shape, on {device}; "
        f"medians of at most {rounds} rounds; wall seconds of scoring.", "",
        "| | seconds | sentences / second | tokens evaluated | largest difference from the CPU, nats | mean | within bounds |",
        "|---|---|---|---|---|---|---|",
        *(_row(key, measured, len(sentences), reference) for key, measured in timings.items()), "",
        *(f"* {tool}: {reason}" for tool, reason in missing.items()),
        f"* the same numbers where the environment allows TF32: {_same(exact, rounded)}",
        *(f"* {name}: {result}" for name, result in _checks(device, end).items()), "",
    ])  # fmt: skip


def _sentences(pairs: int) -> list[str]:
    """Return the sentences of the first pairs of each paradigm, drawn by our own templates."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "syntagm", "make", "warstadt2020", "--as", "blimp", "-n", str(pairs), "-o"]
        subprocess.run([*command, f"{folder}/all"], check=True, capture_output=True, env={**os.environ, **ONE_THREAD})
        lines = [
            line for path in sorted(Path(folder).rglob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
        ]
    return [row[key] for row in map(json.loads, lines) for key in ("sentence_good", "sentence_bad")]


def _pythons(vllm: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return the interpreter of each tool, and why others are missing."""
    pythons, missing = {"syntagm": sys.executable}, {}
    try:
        pythons |= dict.fromkeys(("minicons", "lm_eval"), str(peers.python()))
    except (OSError, subprocess.CalledProcessError) as error:
        missing["minicons, lm_eval"] = f"not measured, their environment can't be built ({error})"
    candidate = vllm or sys.executable
    found = subprocess.run([candidate, "-c", "import importlib.util as i; exit(not i.find_spec('vllm'))"])
    if found.returncode:
        missing["vllm"] = "not measured, vLLM is not installed; name an interpreter that has it: --vllm PYTHON"
    else:
        pythons["vllm"] = candidate
    return pythons, missing


def _timed(
    python: str, tool: str, dtype: str, device: str, sentences: Sequence[str], end: float, tf32: bool = False
) -> Timing | str:
    """Run a timed program; return why there is no timing if it fails or the time is up."""
    settings = {
        "model": str(checkpoint.folder()), "dtype": dtype, "sentences": sentences, "device": device, "batch": BATCH,
    }  # fmt: skip
    result = _program(python, f"timed_{tool}.py", settings, end, tf32)
    if isinstance(result, str):
        print(f"{tool} {dtype}: {result}", flush=True)
        return result
    print(f"{tool} {dtype} on {device}: {result['wall']:.2f} s", flush=True)
    return Timing(**result)


def _program(python: str, name: str, settings: dict[str, Any], end: float, tf32: bool = False) -> dict[str, Any] | str:
    """Run a program with a file of settings; return its last line of output, or what went wrong."""
    environment = {**os.environ, **ONE_THREAD, "HF_HUB_OFFLINE": "1"}
    if tf32:
        environment["TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.json"
        task.write_text(json.dumps(settings), "utf-8")
        command = [python, str(ROOT / "benchmarks" / name), str(task)]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=max(1.0, end - time.monotonic())
            )
        except subprocess.TimeoutExpired:
            return f"not finished within {MINUTES} minutes"
    if done.returncode:
        return "failed: " + next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no message")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _row(key: tuple[str, str], measured: list[Timing | str], count: int, reference: Timing | str) -> str:
    tool, dtype = key
    timings = [timing for timing in measured if isinstance(timing, Timing)]
    if not timings:
        return f"| {tool} {dtype} | {measured[0]} | | | | | |"
    seconds = median(timing.wall for timing in timings)
    tokens = f"{timings[0].tokens:,}" if timings[0].tokens else ""
    line = f"| {tool} {dtype} | {seconds:.2f} | {count / seconds:,.0f} | {tokens} "
    if isinstance(reference, str):
        return line + f"| {reference} | | |"
    scores = timings[0].scores[: len(reference.scores)]
    differences = [abs(one - other) for one, other in zip(scores, reference.scores, strict=True)]
    largest, mean = max(differences), sum(differences) / len(differences)
    # The bounds are ours; peers in bfloat16 round more.
    within = all(found <= bound for found, bound in zip((largest, mean), BOUNDS[dtype], strict=True))
    verdict = ("yes" if within else "**no**") if tool == "syntagm" else ""
    return line + f"| {largest:.1e} | {mean:.1e} | {verdict} |"


def _same(exact: Timing | str, rounded: Timing | str) -> str:
    if isinstance(exact, str) or isinstance(rounded, str):
        return f"not measured ({exact if isinstance(exact, str) else rounded})"
    return "yes" if exact.scores == rounded.scores else "**no**"


def _checks(device: str, end: float) -> dict[str, str]:
    settings = {"model": str(checkpoint.folder()), "device": device}
    result = _program(sys.executable, "checked_device.py", settings, end)
    return {"checks": result} if isinstance(result, str) else result
