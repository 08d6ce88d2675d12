"""Our side of the race in blanks; started as a program with {"model", "eligible", "contexts"}.

Timed is everything from the contexts to equal weight, model weight and covered mass at all published cut-offs.
"""

import json
import sys
import time
from dataclasses import replace

import torch

from syntagm import word_list
from syntagm.answers import Gap
from syntagm.models.contract import LanguageModel
from syntagm.models.names import load
from syntagm.tasks.gaps.candidates import Candidates, candidates
from syntagm.tasks.gaps.nucleus import PUBLISHED_BOTTOM, PUBLISHED_TOP, cuts
from syntagm.tasks.gaps.shares import shares


def main() -> None:
    torch.set_num_threads(1)
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    model, verbs = load(asked["model"]), word_list.read("verbs")
    chosen = candidates(verbs)
    if asked["eligible"] == "single-token":
        chosen = _single(model, verbs)
    warm = Gap("The dog ", ".", chosen.words if asked["eligible"] == "single-token" else chosen.words[:16])
    list(model.fill([warm] * 2))
    ends = cuts(PUBLISHED_TOP, PUBLISHED_BOTTOM)
    start = time.process_time()
    blanks = [Gap(left, right, chosen.words) for left, right, _ in asked["contexts"]]
    lemmas = 0
    for (_, _, label), answer in zip(asked["contexts"], model.fill(blanks), strict=True):
        lemmas = int(shares(answer, chosen, label, ends, asked["eligible"]).eligible.sum())
    print(json.dumps({"cpu": time.process_time() - start, "contexts": len(blanks), "lemmas": lemmas}))


def _single(model: LanguageModel, verbs: word_list.WordList) -> Candidates:
    """The rows whose forms are all single tokens: what is not asked for costs nothing."""
    every = candidates(verbs)
    if model.sees == "left":
        alone = model.single(every.words)
    else:
        [answer] = model.fill([Gap("The dog ", ".", every.words)])
        alone = ~(answer.above != answer.above)
    rows = tuple(row for row, forms in zip(verbs.rows, every.forms, strict=True) if alone[forms].all())
    return candidates(replace(verbs, rows=rows))


if __name__ == "__main__":
    main()
