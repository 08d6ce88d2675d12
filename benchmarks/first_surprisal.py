"""CPU-seconds and memory until the first surprisal is printed: `syntagm score` beside a plain script of transformers.

python -m benchmarks.first_surprisal [--rounds N]

The models are the bundled one, and one with random weights that is made for this: a GPT-2 of 12 layers and 768 dimensions
with the vocabulary of the bundled model. The two programs take turns; the table has the medians.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import syntagm

TEXT = "The keys to the cabinet are here."
PLAIN = """
import math, sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
tokens = [tokenizer.bos_token_id, *tokenizer(sys.argv[2], add_special_tokens=False)["input_ids"]]
with torch.no_grad():
    rows = torch.log_softmax(model(torch.tensor([tokens])).logits[0, :-1].float(), -1)
print((-rows.gather(1, torch.tensor(tokens[1:])[:, None]) / math.log(2)).flatten().tolist())
"""
DEMO = Path(syntagm.__file__).parent / "models" / "_demo"
MEASURED = """
import os, resource, subprocess, sys
from pathlib import Path
with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
    program.stdout.readline()
    status = Path(f"/proc/{program.pid}/stat")
    fields = status.read_text().rpartition(") ")[2].split() if status.exists() else []
    printed = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else float("nan")
    program.stdout.read()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(printed, used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(program.returncode)
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_surprisal", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each program runs (3)")
    rounds = parser.parse_args().rounds
    print("| model | program | CPU-s until it is printed | in all | MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for label, folder in (("demo", DEMO), ("random GPT-2", made(Path(name) / "gpt2"))):
            size = sum(path.stat().st_size for path in folder.glob("*.safetensors")) / 1e6
            programs = {
                "transformers": [sys.executable, "-c", PLAIN, str(folder), TEXT],
                "syntagm score": [sys.executable, "-m", "syntagm", "score", "--json", f"{folder}?device=cpu", TEXT],
            }
            found: dict[str, list[tuple[float, float, float]]] = {program: [] for program in programs}
            for _ in range(rounds):
                for program, command in programs.items():
                    found[program].append(measured(command))
            for program, numbers in found.items():
                printed, cpu, memory = (statistics.median(values) for values in zip(*numbers, strict=True))
                print(f"| {label}, {size:.0f} MB | {program} | {printed:.2f} | {cpu:.2f} | {memory:.0f} |", flush=True)


def measured(command: list[str]) -> tuple[float, float, float]:
    """Return a program's CPU-seconds until its first line (nan without /proc) and in all, and its most memory in MB."""
    # Lines are not kept back until the program ends.
    surroundings = os.environ | {"PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True, env=surroundings
    )
    printed, cpu, memory = map(float, done.stdout.split())
    # Linux counts in KiB, macOS in bytes.
    return printed, cpu, memory / (1000 if sys.platform == "linux" else 1e6)


def made(folder: Path) -> Path:
    """Write a GPT-2 with random weights, and the tokenizer of the bundled model; return its folder."""
    import torch
    import transformers

    torch.manual_seed(1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(DEMO)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_layer=12, bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main()
