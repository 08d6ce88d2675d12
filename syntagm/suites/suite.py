"""Suites: a suite has items, an item has sentences, a sentence has named regions; random samples of items.

A region is a span of the sentence's text, in characters (code points). So a sentence is never rebuilt by joining words,
and tokens are aligned with regions by comparing positions.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from random import Random
from typing import Literal, get_args

from syntagm.core import InputError, UsageError, public, shown
from syntagm.suites.formula import Formula
from syntagm.suites.languages import tags
from syntagm.suites.languages.tags import Language

Aggregate = Literal["sum", "mean", "median", "range", "max", "min"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
# The tag that `without` gives to a suite.
EXCLUSION = "exclusion"
_EXCLUSION = re.compile(r"(\d+) of (\d+) items, ([0-9a-f]{8})")
# The tags that say the language of a suite.
LANGUAGES = ("language", "lang")
# The tag of a suite whose language its file doesn't say, but the dataset that it belongs to.
DERIVED = "json:language"
# The tag that says by which convention the authors of a dataset score it; see `evaluation.conventions`.
SCORED = "json:scored"
# The tag that `sampled` gives to a suite.
_SAMPLE = re.compile(r"(\d+) of (\d+) items, seed (-?\d+)(?:, for a half-width of ([\d.e-]+))?")


@dataclass(frozen=True, slots=True)
@public
class Region:
    """A named span of a sentence, from character `start` up to but not including `end`."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
@public
class Sentence:
    """A text and its regions, in order and without overlap.

    Raises:
        InputError: a region lies outside the text, or starts before the previous one ends.

    >>> Sentence("The keys are here", (Region("subject", 0, 8), Region("verb", 9, 12))).content("verb")
    'are'
    """

    text: str
    regions: tuple[Region, ...] = ()

    def __post_init__(self) -> None:
        last = 0
        for region in self.regions:
            if not last <= region.start <= region.end <= len(self.text):
                raise InputError(
                    f"region {region.name!r} of {self.text!r}",
                    f"characters {region.start} to {region.end}",
                    f"a span between {last} and {len(self.text)}",
                )
            last = region.end

    def content(self, name: str) -> str:
        """Return the text of the first region called `name`; KeyError if there is none."""
        for region in self.regions:
            if region.name == name:
                return self.text[region.start : region.end]
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
@public
class Item:
    """An item: one sentence per condition.

    Arguments:
        id: id of the item.
        sentences: condition -> sentence.
        tags: further information about the item: name -> value.
    """

    id: str
    sentences: Mapping[str, Sentence]
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
@public
class Prediction:
    """A named formula that should hold for each item."""

    name: str
    formula: Formula


@dataclass(frozen=True, slots=True, repr=False)
@public(cure="Use syntagm.read_suites(name).")
class Suite:
    """A test suite: items and the predictions about them.

    Arguments:
        name: name of the suite.
        items: the items.
        predictions: the predictions about each item.
        tags: further information about the suite: name -> value.
        aggregate: how the bits of a region's tokens are combined into the value of the region.
    """

    name: str
    items: tuple[Item, ...]
    predictions: tuple[Prediction, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    aggregate: Aggregate = "sum"

    def __post_init__(self) -> None:
        if self.aggregate not in AGGREGATES:
            raise InputError(f"suite {self.name}", f"aggregate {self.aggregate!r}", "one of " + ", ".join(AGGREGATES))

    @property
    def language(self) -> Language:
        """The language of the sentences, by the tag `language` or `lang`; `languages.tags.UNKNOWN` if no tag says it."""
        return language_of(self.tags)

    def __repr__(self) -> str:
        predictions = ", ".join(prediction.name for prediction in self.predictions)
        return shown(f"<Suite {self.name}: {len(self.items)} items; predictions {predictions}>")

    def _repr_html_(self) -> str:
        sentences = [
            (item.id, condition, sentence.text)
            for item in self.items[:3]
            for condition, sentence in item.sentences.items()
        ]
        rows = "".join("<tr>" + "".join(f"<td>{_html(cell)}</td>" for cell in row) + "</tr>" for row in sentences)
        predictions = "".join(
            f"<li>{_html(prediction.name)}: {_html(prediction.formula.text)}</li>" for prediction in self.predictions
        )
        caption = f"<caption>{_html(self.name)}: the first of {len(self.items)} items</caption>"
        head = "<thead><tr><th>item</th><th>condition</th><th>sentence</th></tr></thead>"
        return f"<table>{caption}{head}<tbody>{rows}</tbody></table><ul>{predictions}</ul>"


def language_of(of_suite: Mapping[str, str]) -> Language:
    """Return the language that the tags of a suite say; `languages.tags.UNKNOWN` if they say none."""
    for name in LANGUAGES:
        if tag := of_suite.get(name, ""):
            try:
                return tags.find(tag)
            except UsageError:
                continue
    return tags.UNKNOWN


def _html(text: str) -> str:
    return escape(shown(text))


def sampled(suite: Suite, limit: int | None, seed: int = 1, reach: float | None = None) -> Suite:
    """Draw a random sample of a suite's items, and keep their original order."""
    # The sample depends on the seed and the suite's name. The tag `sample` describes it. Without a limit, or if no item
    # exceeds it, return the suite itself.
    if limit is not None and limit < 1:
        raise UsageError("limit", str(limit), "at least 1")
    if limit is None or limit >= len(suite.items):
        return suite
    # Only a sample of all items begins with the same items, however many are taken.
    drawn = Random(f"{seed} {suite.name}").sample(range(len(suite.items)), limit if reach is None else len(suite.items))
    places = sorted(drawn[:limit])
    chosen = "" if reach is None else f", for a half-width of {reach:g}"
    tags = {**suite.tags, "sample": f"{limit} of {len(suite.items)} items, seed {seed}{chosen}"}
    return replace(suite, items=tuple(suite.items[place] for place in places), tags=tags)


def without(suite: Suite, excluded: Collection[str]) -> Suite:
    """Leave items out of a suite. The tag `exclusion` says how many, and has a hash of their ids."""
    kept = tuple(item for item in suite.items if item.id not in excluded)
    if len(kept) == len(suite.items):
        return suite
    if not kept:
        raise UsageError("--exclude", f"all items of the suite {suite.name}", "at least one that is left")
    gone = [item.id for item in suite.items if item.id in excluded]
    digest = hashlib.sha256("\0".join(gone).encode()).hexdigest()[:8]
    return replace(
        suite, items=kept, tags={**suite.tags, EXCLUSION: f"{len(gone)} of {len(suite.items)} items, {digest}"}
    )


def exclusion_of(tags: Mapping[str, str]) -> tuple[int, int, str] | None:
    """Return how many items were left out, of how many, and the hash of their ids, as a suite's tags say it; else None.

    >>> exclusion_of({"exclusion": "3 of 150 items, 0a1b2c3d"})
    (3, 150, '0a1b2c3d')
    """
    match = _EXCLUSION.fullmatch(tags.get(EXCLUSION, ""))
    return (int(match[1]), int(match[2]), match[3]) if match else None


@dataclass(frozen=True, slots=True)
class Draw:
    """Which items of each suite are evaluated.

    Arguments:
        limit: the largest number of items; a mapping has one for each suite. None for all.
        seed: the seed of the random draw.
        stop_at: the half-width of the interval for which a pilot chooses the limit, or has chosen it; see `sampled`.
        exclude: suite and id of the items that are left out before the others are drawn; see `without`.
    """

    limit: int | Mapping[str, int] | None = None
    seed: int = 1
    stop_at: float | None = None
    exclude: tuple[tuple[str, str], ...] = ()

    @property
    def needs_pilot(self) -> bool:
        return self.stop_at is not None and self.limit is None

    def of(self, suites: Iterable[Suite]) -> "Sampled":
        return Sampled(suites, self)


ALL_ITEMS = Draw()


class Sampled:
    """Suites with the items that are drawn, which are the same in each pass; see `sampled`."""

    def __init__(self, suites: Iterable[Suite], draw: Draw) -> None:
        self.suites = list(suites) if isinstance(suites, Iterator) else suites
        self.draw = draw

    def __iter__(self) -> Iterator[Suite]:
        limits = self.draw.limit
        excluded: dict[str, set[str]] = {}
        for name, item in self.draw.exclude:
            excluded.setdefault(name, set()).add(item)
        for suite in self.suites:
            suite = without(suite, excluded.get(suite.name, ()))
            limit = limits[suite.name] if isinstance(limits, Mapping) else limits
            yield sampled(suite, limit, self.draw.seed, self.draw.stop_at)


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a suite's items: how many were drawn, of how many, with which seed, and for which half-width, if any."""

    items: int
    of: int
    seed: int
    reach: float | None = None


def sample_of(tags: Mapping[str, str]) -> Sample | None:
    """Return the sample that the tags of a suite describe; None if the suite has all its items.

    >>> sample_of({"sample": "8 of 10 items, seed 1"}), sample_of({"sample": "spoken"})
    (Sample(items=8, of=10, seed=1, reach=None), None)
    """
    match = _SAMPLE.fullmatch(tags.get("sample", ""))
    if not match:
        return None
    items, of, seed = map(int, match.groups()[:3])
    return Sample(items, of, seed, float(match[4]) if match[4] else None)


def published(suite: Suite) -> Suite:
    """Return a suite as its file has it, without what was derived from the dataset: its language, and its convention."""
    derived = {SCORED, DERIVED, *(["language"] if DERIVED in suite.tags else [])}
    if derived.isdisjoint(suite.tags):
        return suite
    return replace(suite, tags={name: tag for name, tag in suite.tags.items() if name not in derived})


def public_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags without those that only preserve details of a file format.

    >>> public_tags({"circuit": "Agreement", "json:meta": "{}"})
    {'circuit': 'Agreement'}
    """
    return {key: value for key, value in tags.items() if not key.startswith("json:")}


# With fewer words than this, and as many items of each, little is said about other words.
_MANY = 10
# Fewer words than this are levels of a factor, such as "who" and "what", if they aren't lemmas.
_LEVELS = 4


def shared_words(items: Sequence[tuple[Mapping[str, str], str]]) -> dict[str, list[str]]:
    """Find the words that items share: the values of `lemma`, and of tags with four or more values that stand in the sentences.

    Other tags, such as `number`, a source's own keys and a template's `np(subject)`, are of the design.

    Arguments:
        items: the tags and a sentence of each item.

    Returns:
        The name of each tag that has fewer values than items -> the value of each item, "" for none. `lemma` is the first,
        then come the tags with the most values.

    >>> verbs = [({"lemma": verb, "number": "sg"}, f"The dog {verb}s.") for verb in ("bark", "run", "bark")]
    >>> shared_words(verbs)
    {'lemma': ['bark', 'run', 'bark']}
    """
    found, texts = dict[str, list[str]](), [f" {text.lower()} " for _, text in items]
    for name in dict.fromkeys(name for of_item, _ in items for name in public_tags(of_item) if "(" not in name):
        values, lemmas = [of_item.get(name, "") for of_item, _ in items], name == "lemma"
        # Of a short value, such as `m`, only the whole word counts; a longer one may have an ending.
        words = [f" {value.lower()}{' ' * (len(value) < 3)}" for value in values]
        said = sum(word in text for word, text in zip(words, texts, strict=True) if word.strip())
        count, tagged = len({*values} - {""}), sum(map(bool, values))
        if (2 if lemmas else _LEVELS) <= count < tagged and (lemmas or 2 * said >= tagged):
            found[name] = values
    return dict(sorted(found.items(), key=lambda tag: (tag[0] != "lemma", -len({*tag[1]}))))


def few_words(shared: Mapping[str, Iterable[str]]) -> str:
    """Return the first of the tags if it has few words and many items: fewer than ten, with ten items each; "" otherwise.

    Words of the other tags may be few by design.

    >>> few_words({"lemma": ["bark", "run"] * 10}), few_words({"lemma": ["bark", "run"] * 9}), few_words({})
    ('lemma', '', '')
    """
    name, values = next(iter(shared.items()), ("", ()))
    count = len({*values} - {""})
    return name if count < _MANY and sum(map(bool, values)) >= _MANY * count else ""
