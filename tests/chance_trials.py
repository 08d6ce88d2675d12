"""What an item comes down to if each word costs an independent draw: on which draws its verdict rests, how likely it is."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from syntagm.evaluation import align, chance_level
from syntagm.models import LanguageModel, Surprisals
from syntagm.models.random.model import DEVIATION, MEAN, Random
from syntagm.suites import Formula, Item, Reference, Sentence

_WORD = re.compile(r"\w+|[^\w\s]")
Draws = Mapping[str, int]


def event(item: Item, formula: Formula, model: Random) -> chance_level.Event:
    """What the formula says of the item, with the draws of words in place of regions."""
    conditions = dict.fromkeys(reference.condition for reference in formula.references())
    values = {
        Reference(region, condition): drawn
        for condition in conditions
        for region, drawn in _regions(item.sentences[condition], model).items()
    }
    return _in_draws(chance_level.event_of(formula.tree), values)


def draws(found: chance_level.Event) -> frozenset[str]:
    """The draws that a verdict rests on; what stands on both sides of a comparison has cancelled out."""
    return frozenset(reference.region for one in chance_level.inequalities(found) for reference, _ in one.terms)


def probability(found: chance_level.Event) -> float:
    """How likely the event is under the distribution of the random model, exactly.

    A comparison of different numbers of words must stand alone.
    """
    if isinstance(found, chance_level.Inequality):
        mean = MEAN * sum(times for _, times in found.terms)
        return 1 - NormalDist(mean, DEVIATION * (found @ found) ** 0.5).cdf(0)
    assert not any(sum(times for _, times in one.terms) for one in chance_level.inequalities(found)), (
        "different numbers of words"
    )
    return float(chance_level.probability(found)[0])


def independent(found: Iterable[chance_level.Event]) -> list[int]:
    """The places of events that share no draw with one before them: their verdicts are independent."""
    used: set[str] = set()
    places = []
    for place, one in enumerate(found):
        if used.isdisjoint(draws(one)):
            used |= draws(one)
            places.append(place)
    return places


def _regions(sentence: Sentence, model: Random) -> dict[str, Draws]:
    """Region -> the draws that its value is the sum of. The random model names a draw by what it hashes."""
    [answer] = model.score([sentence.text])
    unigram = model.settings["unigram"] == "yes"
    bounds = pairwise([*answer.starts.tolist(), len(sentence.text)])
    words = [
        sentence.text[start:end].strip().lower() if unigram else sentence.text[:end].rstrip() for start, end in bounds
    ]
    home = align(sentence, answer)
    regions = {
        region.name: Counter(word for word, place in zip(words, home, strict=True) if place == number)
        for number, region in enumerate(sentence.regions)
    }
    return regions | {"*": Counter(words)}


def _in_draws(found: chance_level.Event, values: Mapping[Reference, Draws]) -> chance_level.Event:
    if isinstance(found, bool):
        return found
    if not isinstance(found, chance_level.Inequality):
        return chance_level.joined_events(found.every, [_in_draws(part, values) for part in found.parts])
    total: Counter[str] = Counter()
    for reference, times in found.terms:
        for draw, count in values[reference].items():
            total[draw] += times * count
    terms = {Reference(draw, ""): times for draw, times in total.items() if times}
    # 0 > 0, a tie, does not hold.
    return bool(terms) and chance_level.Inequality(
        tuple(sorted(((k, v // math.gcd(*terms.values())) for k, v in terms.items()), key=str))
    )


class Counted(LanguageModel):
    """A context-blind model with the frequencies of real words: add-one unigrams, in lower case."""

    name, fingerprint, start = "counted", "counted", "<s>"
    settings, record = {"bos": "yes"}, {}

    def __init__(self, text: str) -> None:
        counts = Counter(_WORD.findall(text.lower()))
        # One more for unknown words.
        total = counts.total() + len(counts) + 1
        self.bits = {word: math.log2(total / (count + 1)) for word, count in counts.items()}
        self.unknown = math.log2(total)

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for text in texts:
            found = list(_WORD.finditer(text))
            words = [one[0].lower() for one in found]
            # White space belongs to the token after it.
            starts = np.array([0, *(one.end() for one in found[:-1])][: len(found)], np.int32)
            bits = np.array([self.bits.get(word, self.unknown) for word in words], np.float64)
            yield Surprisals(text, starts, bits, np.array([word in self.bits for word in words], bool))
