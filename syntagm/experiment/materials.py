"""Trials out of suites: pairs out of predictions, sentences out of conditions, and the words that are timed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from syntagm.core import InputError
from syntagm.evaluation import timed_words
from syntagm.experiment.designs import Design
from syntagm.experiment.plan import Role, Trial
from syntagm.suites import Formula, Item, Sentence, Suite

# Practice and attention checks for English, written for Syntagm: a sentence, and one that nobody should prefer.
PRACTICE = (
    ("The baker closed the shop early on Monday.", "The baker closed shop the Monday early on."),
    ("Two students were waiting outside the library.", "Two students was waiting outside the library."),
    ("My neighbour sold his old car last week.", "My neighbour sold him old car last week."),
    ("We could not find the key to the garden.", "We could not finding the key to the garden."),
)
CATCH = (
    ("The children ate their soup before the film began.", "Children the soup their ate film the before began."),
    ("A tall man opened the door for us.", "A man tall door the for us opened."),
    ("The nurse wrote the name of the patient on a card.", "The wrote nurse of name the patient card a on."),
    ("Nobody in the village remembered the old song.", "In nobody village the song remembered old the."),
    ("The train to the coast leaves at nine.", "Train the coast to nine leaves the at."),
    ("She put the letters into a small wooden box.", "She the letters into put wooden a box small."),
)


def of_suite(design: Design, suite: Suite, role: Role, prefix: str) -> list[Trial]:
    """Return the trials of a suite: for each item, one for each condition, or for each pair of the first prediction."""
    if not suite.items:
        raise InputError(f"suite {suite.name}", "no items", "at least one")
    if repeated := [name for name, count in Counter(item.id for item in suite.items).items() if count > 1]:
        raise InputError(f"suite {suite.name}", f"two items with the id {repeated[0]}", "each id once")
    make = _pairs if design.shows == 2 else _sentences
    trials: list[Trial] = []
    for item in suite.items:
        trials += make(design, suite, item, role, f"{prefix}{len(trials)}")
    return [_numbered(trial, f"{prefix}{number}") for number, trial in enumerate(trials)]


def pairs(suite: Suite) -> list[tuple[str, str]]:
    """Return the pairs of conditions that the first prediction compares: the favoured one, then the other."""
    # A comparison of one condition with another is a pair: the sentence with the smaller surprisal is favoured.
    if not suite.predictions:
        raise InputError(f"suite {suite.name}", "no prediction", "a prediction that compares two conditions")
    found = []
    for comparison in suite.predictions[0].formula.comparisons():
        pair = pair_of(comparison)
        if pair is None:
            raise InputError(
                f"suite {suite.name}", f"the comparison {comparison}", "one that compares two conditions",
                "A forced choice asks each comparison of the first prediction as a pair of sentences. For a difference of "
                "differences, use --design acceptability, or put a prediction with pairs first.",
            )  # fmt: skip
        found.append(pair)
    return list(dict.fromkeys(found))


def pair_of(comparison: Formula) -> tuple[str, str] | None:
    """Return the favoured and the other condition of a comparison; None if it isn't one of two conditions.

    >>> from syntagm.suites import parse
    >>> pair_of(parse("(verb;%good%) < (verb;%bad%)")), pair_of(parse("(1;%a%) - (1;%b%) < (1;%c%) - (1;%d%)"))
    (('good', 'bad'), None)
    """
    sides: dict[int, set[str]] = {1: set(), -1: set()}
    for sign, reference in comparison.terms():
        sides[sign].add(reference.condition)
    if comparison.tree.operator == "=" or len(sides[1]) != 1 or len(sides[-1]) != 1 or sides[1] == sides[-1]:
        return None
    return sides[-1].pop(), sides[1].pop()


def _pairs(design: Design, suite: Suite, item: Item, role: Role, name: str) -> Iterator[Trial]:
    question, answer = _question(item)
    for good, bad in pairs(suite):
        if missing := {good, bad} - item.sentences.keys():
            raise InputError(
                f"suite {suite.name}, item {item.id}", f"no condition {missing.pop()!r}", "both of the pair"
            )
        texts = (item.sentences[good].text, item.sentences[bad].text)
        if texts[0] == texts[1]:
            raise InputError(f"suite {suite.name}, item {item.id}", "two equal sentences", "a choice", "Leave it out.")
        yield Trial(
            name, role, suite.name, item.id, f"{good}/{bad}", texts, (good, bad), good, question=question, answer=answer
        )


def _sentences(design: Design, suite: Suite, item: Item, role: Role, name: str) -> Iterator[Trial]:
    conditions = tuple(suite.items[0].sentences)
    if set(conditions) != set(item.sentences):
        raise InputError(
            f"suite {suite.name}, item {item.id}", "other conditions than the first item", ", ".join(conditions),
            "A Latin square needs the same conditions in all items.",
        )  # fmt: skip
    expected = _expected(design, suite) if role == "catch" else {}
    question, answer = _question(item)
    for condition in conditions:
        sentence = item.sentences[condition]
        yield Trial(
            name, role, suite.name, item.id, condition, (sentence.text,), design.choices, expected.get(condition, ""),
            timed_words(sentence) if design.timed else (), question=question, answer=answer,
        )  # fmt: skip


def _question(item: Item) -> tuple[str, str]:
    """Return the question after an item's sentence and its answer, which are tags of the item."""
    question, answer = item.tags.get("question", ""), item.tags.get("answer", "").lower()
    if question and answer not in ("yes", "no"):
        raise InputError(f"item {item.id}, tag answer", repr(answer), "yes or no, for the tag question")
    return question, answer if question else ""


def _expected(design: Design, suite: Suite) -> dict[str, str]:
    """Return what is expected of the conditions of an attention check."""
    good, bad = pairs(suite)[0]
    return dict(zip((good, bad), ("yes", "no") if design.answer == "choice" else ("high", "low"), strict=True))


def built_in(design: Design, pairs_of: Sequence[tuple[str, str]], role: Role) -> list[Trial]:
    """Return practice or catch trials out of pairs of sentences; every second one shows the bad sentence alone."""
    trials = []
    for number, texts in enumerate(pairs_of):
        name, item, good = f"{role[0]}{number}", str(number + 1), number % 2 == 0
        if design.shows == 2:
            trials.append(Trial(name, role, role, item, "good/bad", texts, ("good", "bad"), "good"))
            continue
        shown = texts[0] if good or design.timed else texts[1]
        expected = ("yes" if good else "no") if design.answer == "choice" else ("high" if good else "low")
        trials.append(
            Trial(
                name, role, role, item, "good" if good or design.timed else "bad", (shown,), design.choices,
                "" if design.timed or role == "practice" else expected,
                timed_words(Sentence(shown)) if design.timed else (),
            )
        )  # fmt: skip
    return trials


def _numbered(trial: Trial, name: str) -> Trial:
    return replace(trial, id=name)
