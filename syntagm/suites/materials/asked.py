"""Pairs asked in words: suites in which each sentence stands in a template, or after a question that is answered yes or no.

Ide et al. 2025 (arXiv 2408.09639) compare such judgments of large language models with the sums of sentences. Both are extras
that a user makes out of a suite: what they measure also depends on the template, and on whether a model follows it; of small
models they show little (Hu & Levy 2023). So they are suites of their own, whose names say what they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from syntagm.core import InputError
from syntagm.suites.formats.syntaxgym import assemble
from syntagm.suites.formula import compared, parse
from syntagm.suites.suite import Item, Prediction, Sentence, Suite, public_tags

# What stands before a sentence, and before the answer.
TEMPLATE = "The following sentence is grammatically acceptable:"
QUESTION, ANSWER = "Is the following sentence grammatically acceptable?", "Answer:"
_ANSWERS = {"yes": "Yes", "no": "No"}


@dataclass(frozen=True, slots=True)
class Way:
    """A way to ask."""

    name: str
    # From the better and the worse sentence to the sentences of an item: condition -> sentence.
    sentences: Callable[[str, str], dict[str, Sentence]]
    prediction: Prediction  # the prediction about each item
    regions: Mapping[str, str]  # the labels of the regions, by their numbers

    @property
    def ending(self) -> str:
        """What is added to the name of a suite."""
        return "_" + self.name.replace("-", "_")


def _in_template(good: str, bad: str) -> dict[str, Sentence]:
    return {"good": assemble([TEMPLATE, good]), "bad": assemble([TEMPLATE, bad])}


def _yes_no(good: str, bad: str) -> dict[str, Sentence]:
    return {
        f"{condition}_{answer}": assemble([QUESTION, text, ANSWER, word])
        for condition, text in (("good", good), ("bad", bad))
        for answer, word in _ANSWERS.items()
    }


# The odds of yes against no are larger for the good sentence, and so is p(yes) / (p(yes) + p(no)).
_ODDS = "((4;%good_no%) - (4;%good_yes%)) > ((4;%bad_no%) - (4;%bad_yes%))"
WAYS = {
    way.name: way
    for way in (
        Way(
            "in-template", _in_template, Prediction("in_template", parse("(2;%good%) < (2;%bad%)")),
            {"1": "template", "2": "sentence"},
        ),
        Way(
            "yes-no", _yes_no, Prediction("yes_no", parse(_ODDS)),
            {"1": "question", "2": "sentence", "3": "before the answer", "4": "answer"},
        ),
    )
}  # fmt: skip


def asked(suite: Suite, way: str) -> Suite:
    """Return a suite of pairs in which each sentence is asked about in words.

    Arguments:
        suite: a suite with a prediction that compares two whole sentences; the first such prediction counts.
        way: a key of `WAYS`. `in-template` compares the surprisals of the sentences after a template that announces an
            acceptable sentence; `yes-no` the odds of "Yes" against "No" after a question about each sentence.

    Raises:
        InputError: no prediction compares two whole sentences, or a sentence has blanks at its ends.

    >>> from syntagm.suites.materials.suite_files import make
    >>> [suite] = make("marvin2018/simple_agrmt", n=1)
    >>> found = asked(suite, "yes-no")
    >>> found.name, list(found.items[0].sentences), found.items[0].sentences["good_no"].text.split(": ")[-1]
    ('simple_agrmt_yes_no', ['good_yes', 'good_no', 'bad_yes', 'bad_no'], 'No')
    """
    chosen = WAYS[way]
    pair = next(filter(None, (compared(prediction.formula) for prediction in suite.predictions)), None)
    if pair is None:
        expected = "a prediction that compares two whole sentences, (*;%a%) < (*;%b%)"
        raise InputError(f"suite {suite.name}", "nothing to ask about", expected)
    items = tuple(_item(suite.name, item, pair, chosen) for item in suite.items)
    labels = {f"region.{number}": label for number, label in chosen.regions.items()}
    tags = {name: value for name, value in public_tags(suite.tags).items() if not name.startswith("region.")}
    return Suite(suite.name + chosen.ending, items, (chosen.prediction,), tags | labels)


def _item(suite: str, item: Item, pair: Sequence[str], way: Way) -> Item:
    place = f"suite {suite}, item {item.id}"
    if missing := [condition for condition in pair if condition not in item.sentences]:
        raise InputError(place, f"no condition {missing[0]}", "both conditions")
    good, bad = (item.sentences[condition].text for condition in pair)
    # Files of such suites join regions by single blanks.
    if odd := [text for text in (good, bad) if text != text.strip()]:
        raise InputError(place, repr(odd[0][:100]), "sentences without blanks at their ends")
    return Item(item.id, way.sentences(good, bad), public_tags(item.tags))
