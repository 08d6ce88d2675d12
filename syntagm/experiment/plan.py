"""The plan of an experiment: `plan.json`, which is sealed before anyone is asked.

It has the suites, every trial, the lists, the exclusion rules and the analyses. Lists and orders are the same for the
same plan, so that the pages, the simulation and the import agree without asking each other.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, Literal

from syntagm.core import InputError, RunError, Shape, record
from syntagm.experiment import designs
from syntagm.experiment.designs import Design
from syntagm.suites import AGGREGATES, Item, Prediction, Region, Sentence, Suite, parse, public_tags

NAME = "plan.json"
Role = Literal["critical", "filler", "catch", "practice"]
ROLES: tuple[Role, ...] = ("critical", "filler", "catch", "practice")

_SUITE: Shape = {
    "name": str,
    "aggregate": frozenset(AGGREGATES),
    "predictions": [[str]],
    "tags": {str: str},
    "items": [{"id": str, "tags": {str: str}, "sentences": {str: {"text": str, "regions": [[object]]}}}],
}
_TRIAL: Shape = {
    "id": str,
    "role": frozenset(ROLES),
    "suite": str,
    "item": str,
    "condition": str,
    "texts": [str],
    "choices": [str],
    "expected": str,
    "words": [[str]],
    "distractors": [str],
    "question": str,
    "answer": str,
}
_SHAPE: Shape = {
    "format": int,
    "design": frozenset(designs.DESIGNS),
    "participants": int,
    "seed": int,
    "preset": str,
    "suites": [_SUITE],
    "trials": [_TRIAL],
    "lists": [[[object]]],
    "exclusions": {str: object},
    "analyses": [str],
    "options": {str: object},
    "notes": [str],
    "renewed?": record.RENEWED,
}
PLAN = record.Form(
    name="the plan of an experiment",
    format=1,
    shape=_SHAPE,
    cure="A plan is not changed once people have been asked. If nobody was, `syntagm seal {folder}` renews the seal.",
)


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial."""

    id: str  # the name of the trial, unique in the plan
    role: Role
    # `suite`, `item`: what is asked about; a catch or practice trial has the name of its list of trials as suite
    suite: str
    item: str
    condition: str  # the condition; for a pair both, as FAVOURED/OTHER
    texts: tuple[str, ...]  # the sentence, or the two sentences of a pair, the favoured one first
    choices: tuple[str, ...] = ()  # what can be chosen; for a pair the conditions of the two sentences
    # The choice, or for ratings `high` or `low`, that the prediction or the attention check expects; or "".
    expected: str = ""
    words: tuple[tuple[str, str], ...] = ()  # for times: each word with the name of its region
    distractors: tuple[str, ...] = ()  # for a maze: the wrong word beside each word; "x-x-x" beside the first
    question: str = ""  # a question after the sentence, or ""
    answer: str = ""  # its answer, yes or no

    @property
    def regions(self) -> tuple[str, ...]:
        """The names of the regions that are timed, in order, each once."""
        return tuple(dict.fromkeys(region for _, region in self.words))


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The rules by which answers are excluded. They are declared before anyone is asked."""

    catch: float = 0.75  # people with a smaller share of correct catch trials are excluded; 0 for no such rule
    questions: float = 0.0  # people with a smaller share of correct answers to questions are excluded
    # Answers outside of these times in milliseconds, for times of each region, are excluded; 0 for no such rule.
    fastest: float = 0.0
    slowest: float = 0.0
    complete: bool = True  # whether people who did not finish are excluded
    # People who give the same answer (the same side, the same rating) in a larger share of the critical trials are
    # excluded; 1 for no such rule.
    sameness: float = 1.0
    errors: bool = True  # for a maze: whether the rest of a sentence after a mistake is excluded

    def sentences(self) -> Iterator[str]:
        if self.complete:
            yield "People who did not finish are excluded."
        if self.catch:
            yield f"People with less than {self.catch * 100:g}% correct catch trials are excluded."
        if self.questions:
            yield f"People with less than {self.questions * 100:g}% correct answers to questions are excluded."
        if self.sameness < 1:
            yield f"People who give the same answer in more than {self.sameness * 100:g}% of the critical trials are excluded."
        if self.fastest or self.slowest:
            yield f"Answers outside of {self.fastest:g} to {self.slowest or float('inf'):g} ms are excluded."


@dataclass(frozen=True)
class Plan:
    """The plan of an experiment."""

    design: Design
    participants: int  # the planned number of people
    seed: int  # the seed of everything that is random
    preset: str  # the protocol that the plan follows, or ""
    suites: tuple[Suite, ...]
    trials: tuple[Trial, ...]
    # For each list the trials, and for a pair whether the favoured sentence is shown first.
    lists: tuple[tuple[tuple[int, bool], ...], ...]
    exclusions: Exclusions
    analyses: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)  # further settings: those of the design, and of orders
    notes: tuple[str, ...] = ()  # what is not balanced or was left out, as sentences

    @cached_property
    def by_id(self) -> dict[str, Trial]:
        """The trials by name."""
        return {trial.id: trial for trial in self.trials}

    def suite(self, name: str) -> Suite:
        """Return the suite with a name."""
        return next(suite for suite in self.suites if suite.name == name)

    @property
    def questions(self) -> list[tuple[str, str]]:
        """The questions at the end whose answers exclude people: text and excluding answer, as in `presets.Preset`."""
        return [(text, refused) for text, refused in self.options.get("questions", ())]

    @property
    def rules(self) -> list[str]:
        """The exclusion rules in words; those only about which the design can have an answer."""
        rules = self.exclusions
        if not any(trial.role == "catch" for trial in self.trials) and not self.options.get("attention"):
            rules = replace(rules, catch=0.0)
        mistakes = ["The rest of a sentence after a mistake is excluded."]
        hidden = "a question that our server hides"
        asked = [f"People who answer {no or hidden} are excluded: {text}" for text, no in self.questions]
        return [*rules.sentences(), *(mistakes if self.design.name == "maze" and rules.errors else ()), *asked]

    def content(self) -> dict[str, Any]:
        """Return the content of plan.json."""
        return {
            "design": self.design.name,
            "participants": self.participants,
            "seed": self.seed,
            "preset": self.preset,
            "suites": [_of_suite(suite) for suite in self.suites],
            "trials": [asdict(trial) for trial in self.trials],
            "lists": [[[trial, first] for trial, first in trials] for trials in self.lists],
            "exclusions": asdict(self.exclusions),
            "analyses": list(self.analyses),
            "options": dict(self.options),
            "notes": list(self.notes),
        }


def write(plan: Plan, folder: Path) -> None:
    """Write and seal plan.json."""
    PLAN.write(folder / NAME, plan.content())


def digest(folder: Path) -> str:
    from syntagm.core import hashing

    return hashing.of_file(folder / NAME)[:16]


def read(folder: Path) -> Plan:
    path = folder / NAME
    if not path.exists():
        raise RunError(str(folder), f"no {NAME}", "the folder of an experiment", "`syntagm experiment make` makes one.")
    return of_content(PLAN.read(path), str(path))


def of_content(content: Mapping[str, Any], place: str) -> Plan:
    """Return the plan with a content that has the right shape."""
    trials = tuple(_trial(trial, place) for trial in content["trials"])
    names = [trial.id for trial in trials]
    if len(set(names)) < len(names):
        raise InputError(place, "two trials with the same name", "each name once")
    lists = tuple(tuple(_shown(entry, len(trials), place) for entry in trials_of) for trials_of in content["lists"])
    if not lists or not all(lists):
        raise InputError(place, "no list of trials", "at least one")
    known = Exclusions.__dataclass_fields__
    rules = content["exclusions"]
    if rules.keys() != known.keys() or not all(isinstance(rule, int | float) for rule in rules.values()):
        raise InputError(f"{place}, exclusions", ", ".join(rules), ", ".join(known))
    return Plan(
        designs.find(content["design"]), content["participants"], content["seed"], content["preset"],
        tuple(_suite(suite, place) for suite in content["suites"]), trials, lists, Exclusions(**rules),
        tuple(content["analyses"]), content["options"], tuple(content["notes"]),
    )  # fmt: skip


def _of_suite(suite: Suite) -> dict[str, Any]:
    return {
        "name": suite.name,
        "aggregate": suite.aggregate,
        "predictions": [[prediction.name, prediction.formula.text] for prediction in suite.predictions],
        "tags": public_tags(suite.tags),
        "items": [
            {
                "id": item.id,
                "tags": public_tags(item.tags),
                "sentences": {
                    condition: {
                        "text": sentence.text,
                        "regions": [[region.name, region.start, region.end] for region in sentence.regions],
                    }
                    for condition, sentence in item.sentences.items()
                },
            }
            for item in suite.items
        ],
    }


def _suite(content: Mapping[str, Any], place: str) -> Suite:
    try:
        items = tuple(
            Item(
                item["id"],
                {
                    condition: Sentence(sentence["text"], tuple(Region(*region) for region in sentence["regions"]))
                    for condition, sentence in item["sentences"].items()
                },
                item["tags"],
            )
            for item in content["items"]
        )
        predictions = tuple(Prediction(name, parse(formula)) for name, formula in content["predictions"])
    except (TypeError, ValueError) as error:
        raise InputError(f"{place}, suite {content['name']}", str(error), "a suite as it was written") from None
    return Suite(content["name"], items, predictions, content["tags"], content["aggregate"])


def _trial(content: Mapping[str, Any], place: str) -> Trial:
    tuples = {key: tuple(content[key]) for key in ("texts", "choices", "distractors")}
    words = tuple((word[0], word[1]) for word in content["words"] if len(word) == 2)
    if len(words) < len(content["words"]) or not content["texts"]:
        raise InputError(
            f"{place}, trial {content['id']}", "words without regions, or no text", "a trial as it was written"
        )
    return Trial(**{**content, **tuples, "words": words})


def _shown(entry: Sequence[Any], trials: int, place: str) -> tuple[int, bool]:
    if len(entry) != 2 or type(entry[0]) is not int or type(entry[1]) is not bool or not 0 <= entry[0] < trials:
        raise InputError(f"{place}, lists", str(entry), "the number of a trial, and true or false")
    return entry[0], entry[1]


Shown = tuple[int, bool]
# The favoured sentence is not on the same side more often than this in a row, where that can be avoided.
_RUN = 3


def ordered(plan: Plan, list_number: int, place: int) -> list[Shown]:
    # Practice comes first, in the order of the plan. Catch trials are spread: one falls into each of as many stretches
    # of equal length, and none is the first. Neighbours differ in suite or condition, and the side of the favoured
    # sentence does not stay the same more than three times, as far as that is possible.
    random = Random(f"{plan.seed} {list_number} {place}")
    shown = plan.lists[list_number]
    roles = {role: [entry for entry in shown if plan.trials[entry[0]].role == role] for role in ("practice", "catch")}
    rest = [entry for entry in shown if plan.trials[entry[0]].role in ("critical", "filler")]
    random.shuffle(rest)
    random.shuffle(roles["catch"])
    ordered = _constrained(plan.trials, rest)
    stretch = len(ordered) / (len(roles["catch"]) or 1)
    # From the end, so that places before stay what they are.
    for number, entry in reversed(list(enumerate(roles["catch"]))):
        low = max(int(number * stretch), 1)
        # Not at the very end of a stretch, where the next one may begin with another.
        ordered.insert(random.randint(low, max(low, int((number + 1) * stretch) - 1)), entry)
    return roles["practice"] + ordered


def _constrained(trials: Sequence[Trial], shuffled: Sequence[Shown]) -> list[Shown]:
    """Order shuffled trials so that the constraints hold as far as possible: the first trial that breaks fewest is next."""
    keys = {entry: _key(trials[entry[0]]) for entry in shuffled}
    left, counts = list(shuffled), Counter(keys.values())
    ordered: list[Shown] = []
    while left:
        last = keys[ordered[-1]] if ordered else None
        sides = {first for _, first in ordered[-_RUN:]} if len(ordered) >= _RUN else set()
        # A kind that makes up more than half of what is left must come now, or it can't be kept apart later.
        pressing, most = counts.most_common(1)[0]
        urgent = most > len(left) // 2 and pressing != last

        def broken(entry: Shown, last: object = last, sides: set[bool] = sides) -> int:
            paired = len(trials[entry[0]].texts) > 1
            return 2 * (keys[entry] == last) + (paired and sides == {entry[1]})

        among = [entry for entry in left if keys[entry] == pressing] if urgent else left
        chosen = min(among, key=broken)
        left.remove(chosen)
        counts[keys[chosen]] -= 1
        ordered.append(chosen)
    return ordered


def _key(trial: Trial) -> tuple[str, ...]:
    return (trial.role,) if trial.role == "filler" else (trial.suite, trial.condition)
