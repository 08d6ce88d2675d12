"""Context-blind baselines: what the frequency of words, or the length of sentences, would score on its own.

A baseline gives each sentence and region a cost and evaluates the predictions with these costs in place of bits:

    frequency     the sum of the unigram surprisals of the words, with add-one smoothing
    words         the number of words
    characters    the number of characters

So it prefers the sentence with more common words, fewer words, or fewer characters. A tie counts as the chance level of the
prediction, that is, as one half in a minimal pair. A prediction whose chance level is unknown has no baseline.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from syntagm.check import Finding
from syntagm.errors import UsageError
from syntagm.formula import Formula
from syntagm.io import csv, lines, utf8
from syntagm.stats.chance import chance
from syntagm.suite import Item, Suite

KINDS = ("frequency", "words", "characters")
# The tag in which an author says why a contrast can't be matched: kind -> tag.
DECLARED_BY: Mapping[str, str] = {"frequency": "frequency_cue", "words": "length_cue", "characters": "length_cue"}
MARGIN = 0.05
_CODES = {"frequency": "W401", "words": "W402", "characters": "W403"}
_ALONE = {"frequency": "word frequency", "words": "the number of words", "characters": "the number of characters"}
BOOKS = Path(__file__).parent / "lexicon" / "english" / "frequency.csv"

# Sums of the same numbers in another order differ by less.
_TOLERANCE = 1e-6
_ALL = "*"
# A possessive 's is a word of its own: the name before it is as common with it as without.
_WORD = re.compile(r"'s\b|[^\W_]+(?:(?!'s\b)['-][^\W_]+)*")

Cost = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Word frequencies.

    Arguments:
        counts: word -> count. Words are looked up as they stand, and then in lower case.
        total: the number of all words of the text.
        about: the source of the counts.
    """

    counts: Mapping[str, int]
    total: int
    about: str

    def bits(self, text: str) -> float:
        """Return the sum of the unigram surprisals of the words of a text, with add-one smoothing."""
        size = math.log2(self.total + len(self.counts) + 1)
        return sum(size - math.log2(self._count(word) + 1) for word in words(text))

    def unlisted(self, suite: Suite) -> set[str]:
        """Return the words of a suite that have no count."""
        texts = {sentence.text for item in suite.items for sentence in item.sentences.values()}
        return {word for text in texts for word in words(text) if not self._count(word)}

    def _count(self, word: str) -> int:
        return self.counts.get(word) or self.counts.get(word.lower(), 0)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The score of a baseline on a prediction.

    Arguments:
        prediction: the name of the prediction.
        kind: one of `KINDS`.
        value: the proportion of items for which the prediction holds; ties count as the chance level.
        chance: the chance level of the prediction.
        n: the number of items.
        ties: the number of ties.
        declared: what the suite's tag says about this cue; "" if the suite has no such tag.
    """

    prediction: str
    kind: str
    value: float
    chance: float
    n: int
    ties: int
    declared: str

    @property
    def leaks(self) -> bool:
        """Whether the value is off chance by more than `MARGIN`.

        Where chance is 1/2, a value below chance is as bad: the opposite preference would score above chance. In other
        predictions a context-blind model fails by design, so that only a value above chance gives the answer away.
        """
        off = self.value - self.chance
        return (abs(off) if self.chance == 0.5 else off) > MARGIN + 1e-9


@cache
def books() -> Frequencies:
    """Return the frequencies of the words of the lexicon `english`, in public-domain books."""
    counts = {word: int(count) for _, (word, count) in csv.under(("form", "count"), utf8.read(BOOKS), BOOKS)}
    return Frequencies({word: n for word, n in counts.items() if word != _ALL}, counts[_ALL], "public-domain books")


def counted(path: Path) -> Frequencies:
    """Count the words of a text, gzipped or not, in lower case."""
    counts = Counter(word.lower() for _, line in lines.read(path) for word in words(line))
    return Frequencies(counts, counts.total(), path.name)


def frequencies(wanted: bool, text: str | None) -> Frequencies | None:
    """Return the word frequencies that the options `--baselines` and `--unigrams` ask for; None without `--baselines`.

    Raises:
        UsageError: there is a text, but `--baselines` is not given.
        InputError: the text can't be read.
    """
    if text and not wanted:
        raise UsageError("--unigrams", "no --baselines", "both", "Add --baselines.")
    return None if not wanted else counted(Path(text)) if text else books()


def words(text: str) -> Sequence[str]:
    """Return the words of a text, without punctuation.

    >>> list(words("The cook's dog wasn't well-fed."))
    ['The', 'cook', "'s", 'dog', "wasn't", 'well-fed']
    """
    return _WORD.findall(text.replace("’", "'"))


def baselines(suite: Suite, frequencies: Frequencies) -> list[Baseline]:
    """Compute the baselines of each prediction of a suite whose chance level is known."""
    costs: dict[str, Cost] = {
        "frequency": frequencies.bits,
        "words": lambda text: len(words(text)),
        "characters": len,
    }
    found = []
    for prediction in suite.predictions:
        level = chance.known(prediction.formula).value
        if math.isnan(level):
            continue
        for kind, cost in costs.items():
            margins = [
                margin for item in suite.items if (margin := _margin(item, prediction.formula, cost)) is not None
            ]
            ties = sum(abs(margin) <= _TOLERANCE for margin in margins)
            held = sum(margin > _TOLERANCE for margin in margins)
            value = (held + ties * level) / len(margins) if margins else math.nan
            declared = suite.tags.get(DECLARED_BY[kind], "")
            found.append(Baseline(prediction.name, kind, value, level, len(margins), ties, declared))
    return found


def warnings(suite: Suite, found: Iterable[Baseline], file: str = "") -> list[Finding]:
    """Return a warning for each baseline of a suite that leaks although the suite declares no such cue."""
    return [
        Finding(
            _CODES[one.kind], file, suite.name, "", "", "",
            f"{one.prediction} holds for {one.value:.2f} of {one.n:,} items by {_ALONE[one.kind]} alone; "
            f"chance is {one.chance:.2f}",
            f"Match the two sides, or say in the tag {DECLARED_BY[one.kind]} why that can't be.",
        )
        for one in found
        if one.leaks and not one.declared
    ]  # fmt: skip


def _margin(item: Item, formula: Formula, cost: Cost) -> float | None:
    """Return the margin of a formula with costs in place of bits; None if the item lacks a condition or a region."""

    def value(region: str, condition: str) -> float:
        sentence = item.sentences[condition]
        return cost(sentence.text if region == "*" else sentence.content(region))

    try:
        return float(formula.margin(value))
    except KeyError:
        return None
