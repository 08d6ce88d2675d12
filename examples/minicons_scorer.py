"""Use a model of Syntagm in programs written for minicons (0.3): n-grams, LSTMs, RNNGs, masked models, programs.

    syntagm train ngram --corpus excerpt --discount-fallback -o runs/5gram
    python examples/minicons_scorer.py runs/5gram "The keys are here." "The keys is here."

It needs the package minicons. `Scorer` has the methods `token_score`, `sequence_score` and `conditional_score` with minicons'
arguments and results. The numbers are Syntagm's surprisals; so whether the first token is scored follows from the model's name
(`runs/lstm?bos=no`), and not from `bos_token=`, which is refused. A first token without a score counts 0 in `token_score`, as in
minicons, and is left out of sums and means.
"""

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from minicons.scorer import LMScorer

import syntagm as sg


class Scorer(LMScorer):  # type: ignore[misc]
    """A model of Syntagm as a scorer of minicons.

    Arguments:
        name: the name of the model, with its options.
    """

    def __init__(self, name: str) -> None:
        self.model, self.device = sg.load_model(name), "cpu"

    def token_score(
        self,
        batch: str | Sequence[str],
        surprisal: bool = False,
        prob: bool = False,
        base_two: bool = False,
        **others: Any,
    ) -> list[list[tuple[str, float]]]:
        """Return the tokens of each text with their log-probabilities, surprisals or probabilities."""
        _refuse(others)
        if prob and (surprisal or base_two):
            raise ValueError("a probability is no surprisal, and has no base")
        found = []
        for answer in self.model.score(_listed(batch)):
            ends = [*map(int, answer.starts[1:]), len(answer.text)]
            tokens = [answer.text[start:end] for start, end in zip(answer.starts, ends, strict=True)]
            scores = torch.tensor(answer.bits, dtype=torch.float64) * (1 if base_two else math.log(2))
            scores = torch.exp2(-torch.tensor(answer.bits)) if prob else scores if surprisal else -scores
            found.append(list(zip(tokens, scores.nan_to_num(0.0).tolist(), strict=True)))
        return found

    def sequence_score(
        self,
        batch: str | Sequence[str],
        reduction: Callable[[torch.Tensor], Any] = lambda scores: scores.mean(0).item(),
        prob: bool = False,
        base_two: bool = False,
        **others: Any,
    ) -> list[Any]:
        """Return the reduced log-probabilities of each text; by default their mean over tokens, as in minicons."""
        return self.conditional_score("", batch, "", reduction, prob, base_two, **others)

    def conditional_score(
        self,
        prefix: str | Sequence[str],
        stimuli: str | Sequence[str],
        separator: str = " ",
        reduction: Callable[[torch.Tensor], Any] = lambda scores: scores.mean(0).item(),
        prob: bool = False,
        base_two: bool = False,
        **others: Any,
    ) -> list[Any]:
        """Return the reduced log-probabilities of each stimulus after its prefix."""
        _refuse(others)
        texts = _listed(stimuli)
        prefixes = [prefix] * len(texts) if isinstance(prefix, str) else list(prefix)
        whole = [first + separator + second for first, second in zip(prefixes, texts, strict=True)]
        scores = []
        for first, answer in zip(prefixes, self.model.score(whole), strict=True):
            # White space belongs to the token after it.
            if first and len(first) not in answer.starts:
                raise ValueError(f"no token begins behind the prefix {first!r}")
            bits = torch.tensor(answer.bits)[torch.tensor(answer.starts) >= len(first)]
            bits = bits[1:] if not first and bits[:1].isnan().any() else bits
            scores.append(reduction(torch.exp2(-bits) if prob else -bits * (1 if base_two else math.log(2))))
        return scores


def _listed(batch: str | Sequence[str]) -> list[str]:
    return [batch] if isinstance(batch, str) else list(batch)


def _refuse(others: dict[str, Any]) -> None:
    if given := [name for name, value in others.items() if value]:
        raise TypeError(
            f"{given[0]}: an option of minicons' own models; options of this one follow its name, as in NAME?bos=no"
        )


def main(name: str, *texts: str) -> list[float]:
    """Return the sums of log-probabilities of texts, in bits."""
    return Scorer(name).sequence_score(texts, reduction=lambda scores: scores.sum(0).item(), base_two=True)


if __name__ == "__main__":
    print(*main(*sys.argv[1:]), sep="\n")
