"""Blanks: contexts per CPU-second with all verbs, against the procedure of Newman et al. 2021 written out plainly.

Their code can't be had here; `timed_fill_baseline.py` is written from its description. Goal: three times its contexts, with all
lemmas of our list, those of several tokens included, where the procedure takes single tokens only.
"""

import json
import os
import tempfile
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import DATA, STORE, checkpoint, pll
from benchmarks.scoring import program

GOAL = 3.0
NOUNS = ("author", "pilot", "surgeon", "farmers", "managers", "customers", "teacher", "senators")
PREPOSITIONS = ("next to", "behind", "in front of", "near")
OTHERS = ("guard", "chefs", "architect", "skaters", "ministers", "dancer")
# Contexts of each variant: as many as take seconds, not minutes.
MANY, FEW = 128, 1
CAUSAL = {
    "single tokens, fill=token": ("causal:{}?fill=token", "single-token", MANY),
    "all lemmas, fill=token": ("causal:{}?fill=token", "all", FEW),
    "all lemmas, with the ends of words": ("causal:{}", "all", FEW),
    "the same in bfloat16": ("causal:{}?dtype=bf16", "all", FEW),
}
MASKED = {
    "single tokens": ("masked:{}", "single-token", MANY),
    "all lemmas, masks=several": ("masked:{}?masks=several", "all", FEW),
}


def fill(rounds: int, cap: int | None) -> str:
    """Measure, and say what came of it as Markdown."""
    lines = _shape("GPT-2 small", "gpt2", _gpt2(), CAUSAL, rounds, cap)
    return "\n".join([*lines, *_shape("BERT small", "bert", pll.folder(), MASKED, rounds, cap)])


def _gpt2() -> Path:
    """GPT-2's checkpoint with a tokenizer of Brown's words, so that as many verbs are single tokens as in GPT-2's own."""
    weights, place = checkpoint.folder(), STORE / "gpt2-small-shape-brown"
    if not (corpus := DATA / "corpora" / "brown.train.txt").exists():
        return weights
    if not place.exists():
        from tokenizers import ByteLevelBPETokenizer

        made = ByteLevelBPETokenizer()
        made.train([str(corpus)], checkpoint.VOCABULARY, special_tokens=["<|endoftext|>"], show_progress=False)
        draft = place.with_name(f"{place.name}.{os.getpid()}")
        draft.mkdir()
        made.save(str(draft / "tokenizer.json"))
        for name in ("config.json", "model.safetensors", "tokenizer_config.json"):
            (draft / name).symlink_to(weights / name)
        draft.rename(place)
    return place


def contexts() -> list[tuple[str, str, str]]:
    """What stands before and after the verb, and its label: agreement across a prepositional phrase, sentences of our own."""
    return [
        (f"The {noun} {preposition} the {other} ", ".", "plural" if noun.endswith("s") else "singular")
        for noun, preposition, other in product(NOUNS, PREPOSITIONS, OTHERS)
    ]


def _shape(
    shape: str, kind: str, place: Path, variants: dict[str, tuple[str, str, int]], rounds: int, cap: int | None
) -> list[str]:
    asked = contexts()[: min(MANY, cap or MANY)]
    plain = [_timed("timed_fill_baseline.py", kind=kind, model=str(place), contexts=asked) for _ in range(rounds)]
    speed = median(one["contexts"] / one["cpu"] for one in plain)
    lines = [
        f"## Blanks, {shape}'s shape", "",
        f"Our verbs: {plain[0]['listed']:,} lemmas, of which {plain[0]['lemmas']:,} have two forms that are single tokens "
        f"here; all 19 cut-offs; medians of {rounds} rounds.", "",
        "| | lemmas | contexts | CPU-seconds a context | contexts / CPU-second | times the plain procedure |",
        "|---|---|---|---|---|---|",
        f"| plain procedure, single tokens | {plain[0]['lemmas']:,} | {len(asked)} | {1 / speed:.4f} | {speed:.2f} | 1 |",
        f"| of it, up to sorted distributions | | | {median(one['model'] / one['contexts'] for one in plain):.4f} | | |",
    ]  # fmt: skip
    reached = {}
    for name, (model, eligible, number) in variants.items():
        some = asked[:number]
        model = model.format(place)
        found = [_timed("timed_fill.py", model=model, eligible=eligible, contexts=some) for _ in range(rounds)]
        ours = median(one["contexts"] / one["cpu"] for one in found)
        reached[name] = ours / speed
        lines.append(
            f"| {name} | {found[0]['lemmas']:,} | {len(some)} | {1 / ours:.4f} | {ours:.3g} | {ours / speed:.3g} |"
        )
    verdicts = (f"{name}: {'reached' if ratio >= GOAL else '**missed**'}" for name, ratio in reached.items())
    return [*lines, "", f"Goal {GOAL:g}: " + "; ".join(verdicts), ""]


def _timed(name: str, **asked: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.json"
        task.write_text(json.dumps(asked), "utf-8")
        found = program(name, str(task))
    print(f"{name} {asked['model']}: {found['contexts'] / found['cpu']:.3g} contexts / CPU-second", flush=True)
    return found
