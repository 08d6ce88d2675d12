"""Benchmark of scoring: our scorer and its peers on the same sentences, each in a process of its own, in interleaved rounds."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import ROOT, checkpoint, peers
from benchmarks.samples import Sample, unique_prefixes

DTYPES = ("float32", "bfloat16")
TOOLS = ("syntagm", "minicons", "lm_eval")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True, slots=True)
class Timing:
    """The result of one program on a sample: seconds of scoring, tokens through the model, nats of each sentence."""

    cpu: float
    wall: float
    tokens: int
    scores: list[float]


@dataclass(frozen=True, slots=True)
class Race:
    """All rounds over one sample.

    Attributes:
        sample: the sentences.
        inputs: the number of distinct proper prefixes with the start symbol, which is the least that must be computed.
        flops: the floating-point operations of computing each of them once.
        rates: the machine's matrix-multiply rate before each round, by dtype, in FLOP per CPU-second.
        rounds: the timings of each round, by (tool, dtype).
    """

    sample: Sample
    inputs: int
    flops: int
    rates: list[dict[str, float]] = field(default_factory=list)
    rounds: list[dict[tuple[str, str], Timing]] = field(default_factory=list)


def race(sample: Sample, rounds: int, dtypes: Sequence[str] = DTYPES) -> Race:
    """Let all tools score a sample in interleaved rounds; each round begins with another tool."""
    inputs, lengths = unique_prefixes(_encode(sample.sentences))
    flops = inputs * (checkpoint.BODY_FLOPS + checkpoint.HEAD_FLOPS) + lengths * checkpoint.ATTENTION_FLOPS
    result = Race(sample, inputs, flops)
    entrants = [(tool, dtype) for dtype in dtypes for tool in TOOLS]
    for number in range(rounds):
        result.rates.append({dtype: _rate(dtype) for dtype in dtypes})
        shift = number % len(entrants)
        result.rounds.append({})
        for tool, dtype in entrants[shift:] + entrants[:shift]:
            timing = _score(tool, dtype, sample)
            print(f"{sample.name}, round {number + 1}: {tool} {dtype} {timing.cpu:.1f} CPU-seconds", flush=True)
            result.rounds[-1][tool, dtype] = timing
    return result


def _encode(sentences: Sequence[str]) -> list[list[int]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(checkpoint.folder() / "tokenizer.json"))
    [start] = tokenizer.encode("<|endoftext|>", add_special_tokens=False).ids
    return [[start, *encoding.ids] for encoding in tokenizer.encode_batch(list(sentences), add_special_tokens=False)]


def _score(tool: str, dtype: str, sample: Sample) -> Timing:
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.json"
        settings = {"model": str(checkpoint.folder()), "dtype": dtype, "sentences": sample.sentences}
        task.write_text(json.dumps(settings), "utf-8")
        return Timing(**program(f"timed_{tool}.py", str(task), peer=tool != "syntagm"))


def _rate(dtype: str) -> float:
    shape = map(str, (checkpoint.WIDTH, checkpoint.LAYERS, checkpoint.VOCABULARY))
    return float(program("timed_matmul.py", dtype, *shape)["rate"])


def program(name: str, *arguments: str, peer: bool = False) -> dict[str, Any]:
    """Run one of the timed programs and return its last line of output, parsed as JSON."""
    python = str(peers.python()) if peer else sys.executable
    environment = {**os.environ, **ONE_THREAD, "HF_HUB_OFFLINE": "1"}
    command = [python, str(ROOT / "benchmarks" / name), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-4000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
