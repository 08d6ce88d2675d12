"""A small corpus whose 5-gram is known digit by digit, and a slow estimator that follows the equations."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from syntagm.models import BackOff
from syntagm.models.ngram import model as ngram
from syntagm.training import NgramSettings, changed
from syntagm.training.ngram.train import train

# Estimated with KenLM's lmplz, whose numbers the tests hold; the 15th line is empty.
TOY = """\
the author near the guards laughs
the author near the guards laughs .
the authors near the guard laugh .
the guard that the author likes laughs .
the guards that the author likes laugh .
no author has ever laughed .
no authors have ever laughed .
the author laughs .
the author laughs and the guards laugh .
the guards laugh and the author laughs .
the guard likes the authors .
the guards like the author near the door .
the door near the guards opened .

the doors near the guard opened .
the author said that the guards like the doors .
the guard said that the author opened the door .
the author said no guard has ever opened the doors .
"""
FALLBACK = (0.5, 1.0, 1.5)
Gram = tuple[str, ...]


def trained(folder: Path, text: str = TOY, order: int = 3, eos: str = "yes", **options: object) -> BackOff:
    """A model of `text`, every word kept unless told otherwise."""
    corpus = folder / "corpus.txt"
    corpus.write_text(text, encoding="utf-8")
    chosen = {"order": order, "tokens": "blanks", "classes": "none", "discount_fallback": order > 4, **options}
    train([str(corpus)], [], folder / "model", changed(NgramSettings(), chosen))
    model = ngram.load(str(folder / "model"), eos=eos)
    assert isinstance(model, BackOff)
    return model


def suffix_key(gram: Gram, numbers: Mapping[str, int]) -> list[int]:
    return [numbers[word] for word in reversed(gram)]


class Slow:
    """Modified Kneser-Ney in dictionaries and float64, n-gram by n-gram."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int, quirk: bool, prune: Sequence[int] = ()) -> None:
        self.order = order
        padded = [["<s>"] * (order - 1) + list(words) + ["</s>"] for words in sentences]
        raw: list[Counter[Gram]] = [Counter() for _ in range(order + 1)]
        for words in padded:
            for end in range(order - 1, len(words)):
                for size in range(1, order + 1):
                    gram = tuple(words[end - size + 1 : end + 1])
                    if len(gram) == size and "<s>" not in gram[1:]:
                        raw[size][gram] += 1
        self.raw = raw
        self.words = ["<unk>", "<s>", "</s>", *dict.fromkeys(word for words in sentences for word in words)]
        numbers = {word: number for number, word in enumerate(self.words)}
        longest = {tuple(words[end - order + 1 : end + 1]) for words in padded for end in range(order - 1, len(words))}
        last = max(longest, key=lambda gram: suffix_key(gram, numbers))
        self.adjusted: list[dict[Gram, int]] = [{}]
        self.discounts: list[tuple[float, ...]] = [()]
        for size in range(1, order + 1):
            before: defaultdict[Gram, set[str]] = defaultdict(set)
            for gram in raw[size + 1] if size < order else ():
                before[gram[1:]].add(gram[0])
            adjusted = {
                gram: count if size == order or gram[0] == "<s>" else len(before[gram])
                for gram, count in raw[size].items()
            }
            counted = dict(adjusted)
            if quirk and size < order and last[-size:] in counted:
                counted[last[-size:]] = raw[size][last[-size:]]
            self.adjusted.append(adjusted)
            self.discounts.append(discounts(list(counted.values())))
        given = [*(prune or [0])]
        self.limits = [0, *given, *[given[-1]] * (order - len(given))]

    def kept(self, gram: Gram) -> bool:
        special = len(gram) == 1 and gram[0] in ("<unk>", "<s>", "</s>")
        return special or self.raw[len(gram)].get(gram, 0) > self.limits[len(gram)]

    def after(self, history: Gram) -> dict[Gram, int]:
        size = len(history) + 1
        return {gram: count for gram, count in self.adjusted[size].items() if gram[:-1] == history}

    def probability(self, word: str, history: Gram) -> float:
        """p(word | history) by interpolation, words longer than the order cut, unseen contexts left out."""
        history = history[max(0, len(history) - self.order + 1) :]
        size = len(history) + 1
        follow = self.after(history)
        if not follow:
            return self.probability(word, history[1:])
        total = sum(follow.values())
        amounts = (0.0, *self.discounts[size])
        share = sum(amounts[min(count, 3)] if self.kept(gram) else count for gram, count in follow.items()) / total
        gram = (*history, word)
        count = follow.get(gram, 0) if self.kept(gram) else 0
        own = (count - amounts[min(count, 3)]) / total
        if history:
            return own + share * self.probability(word, history[1:])
        kept = [word for word in self.words if self.kept((word,))]
        return own + share / (len(kept) - 1)


def discounts(counts: Sequence[int]) -> tuple[float, ...]:
    # In the 32-bit arithmetic of lmplz: its rounding decides whether a discount of exactly 0 is valid.
    n = [np.float32(counts.count(number)) for number in range(5)]
    if all(n[1:4]):
        y = n[1] / (n[1] + 2 * n[2])
        found = tuple(float(np.float32(j) - np.float32(j + 1) * y * n[j + 1] / n[j]) for j in (1, 2, 3))
        if all(0 <= amount <= j for j, amount in enumerate(found, 1)):
            return found
    return FALLBACK
