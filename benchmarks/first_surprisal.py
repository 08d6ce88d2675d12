"""CPU-seconds and memory until the first surprisal is printed: `syntagm score` beside a plain script of transformers.

python -m benchmarks.first_surprisal [--rounds N]

The models are the bundled one, and one with random weights that is made for this: a GPT-2 of 12 layers and 768 dimensions
with the vocabulary of the bundled model. The two programs take turns; the table has the medians.
"""

import argparse
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
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_surprisal", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each program runs (3)")
    rounds = parser.parse_args().rounds
    print("| model | program | CPU-s | MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for label, folder in (("demo", DEMO), ("random GPT-2", made(Path(name) / "gpt2"))):
            size = sum(path.stat().st_size for path in folder.glob("*.safetensors")) / 1e6
            programs = {
                "transformers": [sys.executable, "-c", PLAIN, str(folder), TEXT],
                "syntagm score": [sys.executable, "-m", "syntagm", "score", f"{folder}?device=cpu", TEXT],
            }
            found: dict[str, list[tuple[float, float]]] = {program: [] for program in programs}
            for _ in range(rounds):
                for program, command in programs.items():
                    found[program].append(measured(command))
            for program, pairs in found.items():
                cpu, memory = (statistics.median(values) for values in zip(*pairs, strict=True))
                print(f"| {label}, {size:.0f} MB | {program} | {cpu:.1f} | {memory:.0f} |", flush=True)


def measured(command: list[str]) -> tuple[float, float]:
    """Return the CPU-seconds and the largest resident memory in MB of a program."""
    done = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True)
    cpu, memory = map(float, done.stdout.split())
    # Linux counts in KiB, macOS in bytes.
    return cpu, memory / (1000 if sys.platform == "linux" else 1e6)


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
