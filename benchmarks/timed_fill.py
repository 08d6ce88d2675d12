"""Program that times our gaps; it gets a file {"model", "eligible", "contexts"}.

The time covers everything from the contexts to equal weight, model weight and probability mass at all published cut-offs.
"""

import json
import sys
import time
from dataclasses import replace

import torch

from syntagm.evaluation import PUBLISHED_BOTTOM, PUBLISHED_TOP, Candidates, candidates, canonical_cuts, shares
from syntagm.models import Gap, LanguageModel, load
from syntagm.suites import WordList, read_word_list


def main() -> None:
    torch.set_num_threads(1)
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    model, verbs = load(settings["model"]), read_word_list("verbs")
    chosen = candidates(verbs)
    if settings["eligible"] == "single-token":
        chosen = _single(model, verbs)
    warm = Gap("The dog ", ".", chosen.words if settings["eligible"] == "single-token" else chosen.words[:16])
    list(model.fill([warm] * 2))
    ends = canonical_cuts(PUBLISHED_TOP, PUBLISHED_BOTTOM)
    start = time.process_time()
    gaps = [Gap(left, right, chosen.words) for left, right, _ in settings["contexts"]]
    lemmas = 0
    for (_, _, label), answer in zip(settings["contexts"], model.fill(gaps), strict=True):
        lemmas = int(shares(answer, chosen, label, ends, settings["eligible"]).eligible.sum())
    print(json.dumps({"cpu": time.process_time() - start, "contexts": len(gaps), "lemmas": lemmas}))


def _single(model: LanguageModel, verbs: WordList) -> Candidates:
    """Return the rows whose forms are all single tokens; other rows must not cost time."""
    everything = candidates(verbs)
    if model.sees == "left":
        is_single = model.single(everything.words)
    else:
        [answer] = model.fill([Gap("The dog ", ".", everything.words)])
        is_single = ~(answer.above != answer.above)
    rows = tuple(row for row, forms in zip(verbs.rows, everything.forms, strict=True) if is_single[forms].all())
    return candidates(replace(verbs, rows=rows))


if __name__ == "__main__":
    main()
