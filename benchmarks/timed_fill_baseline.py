"""Program that times a plain version of Newman et al. 2021's procedure; it gets a file {"kind", "model", "contexts"}.

Batches of 64 contexts, padded; logits of every position; a softmax over the whole vocabulary; a full sort of it from the top
and one from the bottom; a Python loop over lemmas for each of 12 top and 7 bottom cut-offs, before and after the token that
crosses the cut-off. Only lemmas with two forms of one token each. It is faster than a literal version: each distinct context
is computed once, probabilities and ranks are Python numbers before the loop, and p = 1 is not searched for.
"""

import csv
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

VERBS = Path(__file__).resolve().parents[1] / "syntagm" / "suites" / "materials" / "lexicon" / "verbs.csv"
TOP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0)
BOTTOM = (0.5, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6)
BATCH = 64


def main() -> None:
    torch.set_num_threads(1)
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    kinds: dict[str, Any] = {"gpt2": transformers.AutoModelForCausalLM, "bert": transformers.AutoModelForMaskedLM}
    tokenizer = transformers.AutoTokenizer.from_pretrained(settings["model"])
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = kinds[settings["kind"]].from_pretrained(settings["model"]).eval()
    pairs, listed = lemmas(tokenizer, settings["kind"])
    contexts = settings["contexts"]
    distributions(model, tokenizer, settings["kind"], contexts[:4])
    seconds = {"model": 0.0, "cpu": 0.0}
    start = time.process_time()
    for first in range(0, len(contexts), BATCH):
        batch = contexts[first : first + BATCH]
        begin = time.process_time()
        both = [both_ends(row) for row in distributions(model, tokenizer, settings["kind"], batch)]
        seconds["model"] += time.process_time() - begin
        for (_, _, label), ends in zip(batch, both, strict=True):
            scores(ends, pairs if label == "singular" else [(bad, good) for good, bad in pairs])
    seconds["cpu"] = time.process_time() - start
    print(json.dumps(seconds | {"contexts": len(contexts), "lemmas": len(pairs), "listed": listed}))


def lemmas(tokenizer: Any, kind: str) -> tuple[list[tuple[int, int]], int]:
    """Return the tokens of both forms of each eligible lemma, and the number of all lemmas."""
    with open(VERBS, encoding="utf-8", newline="") as file:
        rows = [(row["form:singular"], row["form:plural"]) for row in csv.DictReader(file)]
    space = " " if kind == "gpt2" else ""
    encoded = [[tokenizer.encode(space + form, add_special_tokens=False) for form in row] for row in rows]
    unknown = tokenizer.unk_token_id if kind == "bert" else None
    single = [
        (singular[0], plural[0])
        for singular, plural in encoded
        if len(singular) == len(plural) == 1 and unknown not in (singular[0], plural[0])
    ]
    return single, len(rows)


@torch.no_grad()
def distributions(model: Any, tokenizer: Any, kind: str, batch: Sequence[tuple[str, str, str]]) -> torch.Tensor:
    """Return the distributions in the gaps, shape (contexts, vocabulary)."""
    if kind == "gpt2":
        inputs = tokenizer([left.rstrip() for left, _, _ in batch], return_tensors="pt", padding=True)
        places = inputs["attention_mask"].sum(1) - 1
    else:
        texts = [f"{left}{tokenizer.mask_token}{right}" for left, right, _ in batch]
        inputs = tokenizer(texts, return_tensors="pt", padding=True)
        places = (inputs["input_ids"] == tokenizer.mask_token_id).int().argmax(1)
    logits = model(**inputs).logits
    probabilities: torch.Tensor = logits[torch.arange(len(batch)), places].softmax(-1)
    return probabilities


def both_ends(probabilities: torch.Tensor) -> dict[str, tuple[list[float], torch.Tensor, list[int]]]:
    """Return the probabilities, their cumulative sums and the rank of each entry, for top and bottom."""
    ends = {}
    for end in ("top", "bottom"):
        ranked, order = probabilities.sort(descending=end == "top")
        ranks = torch.empty_like(order)
        ranks[order] = torch.arange(len(order))
        ends[end] = (probabilities.tolist(), ranked.cumsum(0).clamp(max=1.0), ranks.tolist())
    return ends


def scores(ends: dict[str, tuple[list[float], torch.Tensor, list[int]]], pairs: Sequence[tuple[int, int]]) -> list[Any]:
    """Return equal weight, model weight and probability mass at each cut-off, before and after the entry that crosses it."""
    results = []
    for end, cutoffs in (("top", TOP), ("bottom", BOTTOM)):
        shares, sums, ranks = ends[end]
        for cutoff in cutoffs:
            border = len(shares) - 1 if cutoff == 1 else int((sums >= cutoff).nonzero()[0])
            results += [_at(shares, ranks, pairs, limit, end == "top") for limit in (border, border + 1)]
    return results


def _at(
    shares: list[float], ranks: list[int], pairs: Sequence[tuple[int, int]], limit: int, top: bool
) -> tuple[float, float, float]:
    won = rows = 0
    right = wrong = covered = 0.0
    for good, bad in pairs:
        in_good, in_bad = ranks[good] < limit, ranks[bad] < limit
        if (in_good or in_bad) if top else (in_good and in_bad):
            rows += 1
            won += shares[good] > shares[bad]
            covered += shares[good] + shares[bad]
            right += shares[good] if in_good else 0.0
            wrong += shares[bad] if in_bad else 0.0
    return (won / rows if rows else float("nan")), (right / (right + wrong) if right + wrong else float("nan")), covered


if __name__ == "__main__":
    main()
