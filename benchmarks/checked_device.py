"""Program that checks what a model promises on a device: conformance, one wait a batch, and halving when memory runs out."""

import json
from typing import Any

import stopwatch
import torch

from syntagm.models import CHECKS, TEXTS, Causal, batches, failures
from syntagm.models.causal.model import load

ONLY_CUDA = "looked at on a CUDA device only"


def main() -> None:
    settings = stopwatch.options()
    device = settings["device"]
    demo = load("demo", device=device)
    promises = [check for check in CHECKS if not check.exempt(demo)]
    broken = [failure for check in promises for failure in failures(check, demo, TEXTS)]
    results = {"conformance of the demo model": "; ".join(broken) or f"{len(promises)} promises kept"}
    on_cuda = demo.module.device.type == "cuda"
    model = load(settings["model"], device=device)
    results["waiting between the beginning of a batch and its results"] = _waits(model) if on_cuda else ONLY_CUDA
    results["with 1 GiB beside the weights"] = _scarce(settings["model"], device, model) if on_cuda else ONLY_CUDA
    print(json.dumps(results))


def _waits(model: Causal) -> str:
    """Begin a batch while PyTorch makes an error of each wait for the device."""
    sequences = [[0, *ids] for ids in model.tokenizer(list(TEXTS), add_special_tokens=False)["input_ids"]]
    forward = model.forward
    [batch] = batches(forward._packs(sequences, range(len(sequences)), forward.tree), forward.budget)
    with torch.inference_mode():
        forward.batch(sequences, batch, forward.tree)()
        torch.cuda.set_sync_debug_mode("error")
        try:
            finish = forward.batch(sequences, batch, forward.tree)
        except RuntimeError as error:
            return f"**yes**: {str(error).splitlines()[0]}"
        finally:
            torch.cuda.set_sync_debug_mode("default")
        finish()
    return "none"


def _scarce(path: str, device: str, plenty: Causal) -> str:
    """Score with batches that don't fit into memory."""
    texts = [f"{text} {number}" for number in range(20_000) for text in TEXTS[:1]]
    expected = [float(answer.bits.sum()) for answer in plenty.score(texts[:200])]
    model = load(path, device=device, batch=str(1 << 20))
    total = torch.cuda.get_device_properties(model.module.device).total_memory
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(min(1.0, (torch.cuda.memory_allocated() + (1 << 30)) / total))
    scores = [float(answer.bits.sum()) for answer in model.score(texts)]
    furthest: Any = max(abs(one - other) for one, other in zip(scores, expected, strict=False))
    return f"batches of {model.forward.budget.tokens:,} tokens instead of {1 << 20:,}; bits differ by {furthest:.1e} at most"


if __name__ == "__main__":
    main()
