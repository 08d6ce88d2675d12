"""A random checkpoint of GPT-2 small's shape, with the tokenizer of the bundled demo model.

The cost of a forward pass does not depend on the values of the weights, so the real weights are not needed. The 50,257 rows of
the vocabulary cost as much as GPT-2's, although the tokenizer uses only the first 8,192.
"""

import os
import shutil
from pathlib import Path

from benchmarks import ROOT, STORE

LAYERS, WIDTH, HEADS, VOCABULARY, POSITIONS, SEED = 12, 768, 12, 50_257, 1_024, 20
DEMO = ROOT / "syntagm" / "models" / "_demo"
BODY_FLOPS = LAYERS * 2 * 12 * WIDTH * WIDTH
HEAD_FLOPS = 2 * WIDTH * VOCABULARY
# Queries by keys and attention by values, for each token attended to.
ATTENTION_FLOPS = LAYERS * 4 * WIDTH


def folder() -> Path:
    """Return the checkpoint's folder; write it on the first call, always with the same weights."""
    place = STORE / f"gpt2-small-shape-{SEED}"
    if not (place / "model.safetensors").exists():
        draft = place.with_name(f"{place.name}.{os.getpid()}")
        _write(draft)
        draft.rename(place)
    return place


def _write(place: Path) -> None:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(SEED)
    shape = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=POSITIONS,
        n_embd=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(shape)
    with torch.no_grad():
        # With the usual standard deviation of 0.02, predictions are almost uniform, which would hide errors.
        for name, weights in model.named_parameters():
            if weights.dim() == 2 and "wpe" not in name:
                weights.mul_(3.0 if "wte" in name else 2.0)
    model.save_pretrained(place)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(DEMO / name, place / name)
