"""Context-blind baselines: what the frequency of words, or the length of sentences, would score on its own.

A baseline gives each sentence and region a cost and evaluates the predictions with these costs in place of bits:

    frequency     the sum of the unigram surprisals of the words, with add-one smoothing
    words         the number of words
    characters    the number of characters

Words are found by the rules of the suite's language, and their frequencies are those of that language: for English, counts
in public-domain books; for others, wordfreq's, if it is installed and has the language. Of a suite whose language is unknown,
words count as English if most of them are in the English list; otherwise it has no baseline of frequency.

So it prefers the sentence with more common words, fewer words, or fewer characters. A tie counts as the chance level of the
prediction, that is, as one half in a minimal pair. A prediction whose chance level is unknown has no baseline.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from syntagm.core import UsageError, csv, lines, utf8
from syntagm.evaluation import chance_level
from syntagm.suites import UNKNOWN, Finding, Formula, Item, Language, Suite, frequency, tags, words as words_of

KINDS = ("frequency", "words", "characters")
# The tag in which an author says why a contrast can't be matched: kind -> tag.
DECLARED_BY: Mapping[str, str] = {"frequency": "frequency_cue", "words": "length_cue", "characters": "length_cue"}
MARGIN = 0.05
_CODES = {"frequency": "W401", "words": "W402", "characters": "W403"}
_ALONE = {"frequency": "word frequency", "words": "the number of words", "characters": "the number of characters"}
BOOKS = Path(__file__).parents[1] / "suites" / "materials" / "lexicon" / "english" / "frequency.csv"

# Sums of the same numbers in another order differ by less.
_TOLERANCE = 1e-6
_ALL = "*"
# A word decides the pairs of a suite if it alone would score as much, of at least so many pairs.
SOLVED, LEAST = 0.95, 10

Cost = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Frequencies:
    counts: Mapping[str, int]  # word -> count. Words are looked up as they stand, and then in lower case.
    total: int  # the number of all words of the text
    about: str  # the source of the counts
    words: Callable[[str], Sequence[str]] = words_of.english  # from a text to its words
    text: Path | None = None  # the text of the user whose words were counted; None for a list
    others: dict[Language, "Frequencies"] = field(default_factory=dict)

    def bits(self, text: str) -> float:
        """Return the sum of the unigram surprisals of the words of a text, with add-one smoothing."""
        size = math.log2(self.total + len(self.counts) + 1)
        return sum(size - math.log2(self._count(word) + 1) for word in self.words(text))

    def unlisted(self, suite: Suite) -> set[str]:
        """Return the words of a suite that have no count."""
        return {word for word in _all_words(suite, self.words) if not self._count(word)}

    def _count(self, word: str) -> int:
        return self.counts.get(word) or self.counts.get(word.lower(), 0)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The score of a baseline on a prediction."""

    prediction: str  # the name of the prediction
    kind: str
    value: float  # the proportion of items for which the prediction holds; ties count as the chance level
    chance: float  # the chance level of the prediction
    n: int  # the number of items
    ties: int  # the number of ties
    declared: str  # what the suite's tag says about this cue; "" if the suite has no such tag

    @property
    def leaks(self) -> bool:
        """Whether the value is off chance by more than `MARGIN`."""
        # Where chance is 1/2, a value below chance is as bad: the opposite preference would score above chance. In
        # other predictions a context-blind model fails by design, so that only a value above chance gives the answer
        # away.
        off = self.value - self.chance
        return (abs(off) if self.chance == 0.5 else off) > MARGIN + 1e-9


@cache
def books() -> Frequencies:
    """Return the frequencies of the words of the lexicon `english`, in public-domain books."""
    counts = {word: int(count) for _, (word, count) in csv.under(("form", "count"), utf8.read(BOOKS), BOOKS)}
    return Frequencies({word: n for word, n in counts.items() if word != _ALL}, counts[_ALL], "public-domain books")


def counted(path: Path, language: Language = UNKNOWN) -> Frequencies:
    """Count the words of a text, gzipped or not, in lower case, by the rules of a language; the default is English."""
    words = _words(language)
    counts = Counter(tags.lower(word, language) for _, line in lines.prose(path) for word in words(line))
    return Frequencies(counts, counts.total(), path.name, words, path)


def fitting(suite: Suite, given: Frequencies) -> tuple[Frequencies | None, str]:
    """Return the word frequencies for a suite, and a remark about them."""
    # "" if they are in its own language for certain, and its words stand between spaces.
    language = suite.language
    if language.code == "en":
        return given, ""
    if language is not UNKNOWN:
        words = words_of.segmenter(language)
        note = f"words by {words.name}" if words.name != "spaces" else ""
        if given.text:
            if language not in given.others:
                given.others[language] = counted(given.text, language)
            return given.others[language], note
        if frequency.available(language):
            about = f"{frequency.about()}, {language.name}"
            return Frequencies(frequency.per_billion(language), frequency.TOTAL, about, words.words), note
        try:
            frequency.per_billion(language)
        except UsageError as error:
            none = f"no baseline of frequency: {error.found}. {error.cure}"
            return None, f"{note}; {none}" if note else none
    if given is not books():
        return given, ""
    found = _all_words(suite, given.words)
    listed = len(found) - len(given.unlisted(suite))
    if 10 * listed >= 9 * len(found):
        return given, ""
    if 2 * listed >= len(found):
        return (
            given,
            f"its language is not said; English, as {listed:,} of its {len(found):,} words are in {given.about}",
        )
    cure = "Name it: --language TAG, or FILE?language=TAG."
    known = f"its language is not said, and {listed:,} of its {len(found):,} words are English"
    return None, f"no baseline of frequency: {known}. {cure}"


def _all_words(suite: Suite, words: Callable[[str], Sequence[str]]) -> set[str]:
    texts = {sentence.text for item in suite.items for sentence in item.sentences.values()}
    return {word for text in texts for word in words(text)}


def _words(language: Language) -> Callable[[str], Sequence[str]]:
    return words_of.english if language is UNKNOWN else words_of.segmenter(language).words


def frequencies(wanted: bool, text: str | None) -> Frequencies | None:
    """Return the word frequencies that the options `--baselines` and `--unigrams` ask for; None without `--baselines`."""
    if text and not wanted:
        raise UsageError("--unigrams", "no --baselines", "both", "Add --baselines.")
    return None if not wanted else counted(Path(text)) if text else books()


def baselines(suite: Suite, frequencies: Frequencies | None, kinds: Sequence[str] = KINDS) -> list[Baseline]:
    """Compute the baselines of each prediction of a suite whose chance level is known."""
    words = _words(suite.language)
    known: dict[str, Cost] = {
        **({"frequency": frequencies.bits} if frequencies else {}),
        "words": lambda text: len(words(text)),
        "characters": len,
    }
    costs = {kind: cost for kind, cost in known.items() if kind in kinds}
    found = []
    for prediction in suite.predictions:
        level = chance_level.known(prediction.formula).value
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


def solved_by_a_word(suite: Suite, file: str = "") -> list[Finding]:
    """Return a warning if one word decides nearly all pairs: it is in all good sentences only, or in all bad ones only."""
    # A pair in which both sentences have the word, or neither has, counts as one half.
    words = _words(suite.language)
    pairs = [
        tuple(set(words(item.sentences[side].text)) for side in ("good", "bad"))
        for item in suite.items
        if {"good", "bad"} <= set(item.sentences)
    ]
    if len(pairs) < LEAST or suite.tags.get("word_cue"):
        return []
    only: dict[str, Counter[str]] = {"good": Counter(), "bad": Counter()}
    for good, bad in pairs:
        only["good"].update(good - bad)
        only["bad"].update(bad - good)
    best = max(
        ((side, word, count - other[word]) for side, counts, other in (
            ("good", only["good"], only["bad"]), ("bad", only["bad"], only["good"])) for word, count in counts.items()),
        key=lambda entry: entry[2], default=("", "", 0),
    )  # fmt: skip
    side, word, ahead = best
    value = 0.5 + ahead / (2 * len(pairs))
    if value < SOLVED:
        return []
    return [
        Finding(
            "W404", file, suite.name, "", "", "",
            f"one word decides {value:.2f} of {len(pairs):,} pairs: {word!r} is in the {side} sentence only",
            "Vary the words, or say in the tag word_cue why that can't be.",
        )
    ]  # fmt: skip


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
