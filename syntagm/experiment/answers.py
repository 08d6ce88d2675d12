"""Answers of people: what a page sends for a trial, the check of it, and the rows of `answers.csv`."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from syntagm.core import InputError, counted
from syntagm.experiment.designs import HIGHEST, LOWEST, MOST
from syntagm.experiment.plan import Plan, Trial

# In ms: a day. No answer takes longer.
LONGEST = 86_400_000.0
# The kind of problem that people who leave cause.
MISSING = "missing answers"
UNLISTED = "people without a known list, to whom rules about finishing and about sides can't be applied"
UNASKED = "people without answers to the questions at the end, to whom rules about these can't be applied"
# Why such answers exclude a person, and person -> why.
ADMISSION, HIDDEN = "admission", "hidden question"
Why = Mapping[str, str] | None
# The most characters of an answer to a question at the end.
MAX_SAID = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer in one trial."""

    person: str  # the code of the person
    list: int | None  # the number of the person's list, from 0; None if it is not known
    trial: str  # the name of the trial
    choice: str = ""  # what was chosen, or the answer to the question after the sentence; "" if nothing was
    rating: float = math.nan  # the rating; nan if there is none
    ms: float = math.nan  # the time of the choice or rating in milliseconds; nan if it was not measured
    # For times: each region that was read to its end, with its time in ms, the sum over its words, and for a maze,
    # whether a distractor was chosen first.
    regions: tuple[tuple[str, float, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of answers.csv: an answer, or the time of one region."""

    person: str
    list: int | None
    trial: str
    suite: str
    item: str
    condition: str
    region: str
    choice: str
    rating: float
    ms: float
    excluded: str

    @property
    def cells(self) -> tuple[object, ...]:
        """The cells of the row; lists count from 1 for people, and a missing number is empty."""
        return (
            self.person, "" if self.list is None else self.list + 1, self.trial, self.suite, self.item, self.condition,
            self.region, self.choice, *("" if math.isnan(x) else x for x in (self.rating, self.ms)), self.excluded,
        )  # fmt: skip


COLUMNS = ("person", "list", "trial", "suite", "item", "condition", "region", "choice", "rating", "ms", "excluded")


def table(
    plan: Plan, answers: Sequence[Answer], refused: Why = None
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return the columns and rows of answers.csv; those of times say last that these are sums over the words of regions."""
    made = rows(plan, answers, apply(plan, answers, refused).excluded)
    if not plan.design.timed:
        return COLUMNS, [row.cells for row in made]
    return (*COLUMNS, "times"), [(*row.cells, "regions" if row.region else "") for row in made]


def checked(
    plan: Plan, trial: Trial, person: str, list_number: int | None, body: Mapping[str, Any], place: str
) -> Answer:
    known = {"trial", "choice", "rating", "ms", "times", "wrong"}
    if unknown := [key for key in body if key not in known]:
        raise InputError(place, f"the entry {unknown[0]!r}", "one of " + ", ".join(sorted(known)))
    choice, rating = body.get("choice", ""), body.get("rating")
    ms = _time(body["ms"], place) if body.get("ms") is not None else math.nan
    regions: tuple[tuple[str, float, bool], ...] = ()
    number = math.nan
    match plan.design.answer:
        case "choice":
            if choice not in trial.choices:
                raise InputError(place, f"the choice {str(choice)[:50]!r}", "one of " + ", ".join(trial.choices))
        case "rating":
            number, choice = _rating(plan, rating, place), ""
        case "times":
            regions = _regions(trial, *_times(plan, trial, body, place))
            if trial.question and choice not in ("yes", "no"):
                raise InputError(place, f"the answer {str(choice)[:50]!r} to the question", "yes or no")
            choice = choice if trial.question else ""
    return Answer(person, list_number, trial.id, choice, number, ms, regions)


def _time(value: Any, place: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= LONGEST:
        raise InputError(place, f"the time {str(value)[:50]}", "milliseconds, from 0 to a day")
    return float(value)


def _rating(plan: Plan, value: Any, place: str) -> float:
    magnitude = plan.design.name == "magnitude"
    low, high = (1 / MOST, MOST) if magnitude else (LOWEST, HIGHEST)
    whole = type(value) is int or (type(value) is float and (magnitude or value.is_integer()))
    if not whole or not low <= value <= high:
        expected = f"a number above 0, at most {MOST:g}" if magnitude else f"a whole number from {LOWEST} to {HIGHEST}"
        raise InputError(place, f"the rating {str(value)[:50]}", expected)
    return float(value)


def _times(plan: Plan, trial: Trial, body: Mapping[str, Any], place: str) -> tuple[tuple[float, ...], tuple[bool, ...]]:
    given, wrong = body.get("times"), body.get("wrong", [])
    if not isinstance(given, list) or not isinstance(wrong, list):
        raise InputError(place, "no list of times", f"one time for each of the {len(trial.words)} words")
    maze = plan.design.name == "maze"
    stops = maze and plan.options.get("errors") == "stop"
    if maze and (len(wrong) != len(given) or not all(isinstance(each, bool) for each in wrong)):
        raise InputError(place, "no list of mistakes", "true or false for each time")
    ended = stops and bool(wrong) and wrong[-1] is True and len(given) < len(trial.words)
    if len(given) != len(trial.words) and not ended:
        raise InputError(place, f"{len(given)} times", f"one for each of the {len(trial.words)} words")
    return tuple(_time(value, place) for value in given), tuple(wrong) if maze else ()


def rows(plan: Plan, answers: Iterable[Answer], excluded: Mapping[tuple[str, str], str]) -> Iterator[Row]:
    """Yield the rows of answers.csv: one for each answer, or one for each region and question."""
    trials, rules = plan.by_id, plan.exclusions
    for answer in answers:
        trial = trials[answer.trial]
        reason = excluded.get((answer.person, "")) or excluded.get((answer.person, answer.trial), "")
        head = (answer.person, answer.list, answer.trial, trial.suite, trial.item, trial.condition)
        if not plan.design.timed or (trial.question and answer.choice):
            yield Row(*head, "", answer.choice, answer.rating, answer.ms, reason)
        mistaken = False
        for region, ms, wrong in answer.regions:
            mistaken = mistaken or wrong
            mistake = "mistake" if mistaken and rules.errors else ""
            why = reason or mistake or _of_time(ms, rules.fastest, rules.slowest)
            choice = ("wrong" if wrong else "right") if plan.design.name == "maze" else ""
            yield Row(*head, region, choice, math.nan, ms, why)


def _regions(trial: Trial, times: Sequence[float], wrong: Sequence[bool]) -> tuple[tuple[str, float, bool], ...]:
    """Return the regions that were read to their end: the sum of the times of their words, and whether one was wrong."""
    found = []
    for region in trial.regions:
        places = [place for place, (_, name) in enumerate(trial.words) if name == region]
        if places[-1] < len(times):
            ms = math.fsum(times[place] for place in places)
            found.append((region, ms, any(wrong[place] for place in places) if wrong else False))
    return tuple(found)


def _of_time(ms: float, fastest: float, slowest: float) -> str:
    """Return why a time excludes an answer; "" if it doesn't."""
    if math.isnan(ms):
        return ""
    return "too fast" if fastest and ms < fastest else "too slow" if slowest and ms > slowest else ""


@dataclass(frozen=True, slots=True)
class Applied:
    """The exclusions that the declared rules give."""

    # (person, trial) -> reason; the trial is "" if the whole person is excluded.
    excluded: Mapping[tuple[str, str], str]
    people: Mapping[str, str]  # person -> reason, for excluded people


def apply(plan: Plan, answers: Sequence[Answer], refused: Why = None) -> Applied:
    """Apply the exclusion rules of a plan to all answers of the study; `refused` returns what those about questions give."""
    trials, rules = plan.by_id, plan.exclusions
    by_person: dict[str, list[Answer]] = {}
    for answer in answers:
        by_person.setdefault(answer.person, []).append(answer)
    excluded: dict[tuple[str, str], str] = {}
    people: dict[str, str] = {}
    for person, given in by_person.items():
        if reason := _of_person(plan, trials, given) or (refused or {}).get(person):
            excluded[person, ""] = people[person] = reason
        for answer in given:
            if not plan.design.timed and (why := _of_time(answer.ms, rules.fastest, rules.slowest)):
                excluded[person, answer.trial] = why
    return Applied(excluded, people)


def _of_person(plan: Plan, trials: Mapping[str, Trial], given: Sequence[Answer]) -> str:
    rules, list_number = plan.exclusions, given[0].list
    if rules.complete and list_number is not None and len(given) < len(plan.lists[list_number]):
        return "not finished"
    if (share := attention(plan, trials, given)) is not None and share < rules.catch:
        return "catch trials"
    # Only readers are asked, and tables of others may have times without answers.
    asked = [
        answer.choice == trials[answer.trial].answer
        for answer in given
        if plan.design.timed and trials[answer.trial].question and answer.choice
    ]
    if asked and sum(asked) / len(asked) < rules.questions:
        return "questions"
    # Which side of a pair was chosen is known only of people whose list is.
    sided = plan.design.shows == 2 and list_number is None
    if rules.sameness < 1 and not plan.design.timed and not sided:
        critical = [answer for answer in given if trials[answer.trial].role == "critical"]
        kinds = Counter(_side(plan, answer, list_number) for answer in critical)
        if critical and max(kinds.values()) / len(critical) > rules.sameness:
            return "the same answer"
    return ""


def refused(plan: Plan, said: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return why answers to the questions at the end exclude people: person -> reason; see `presets.Preset`."""
    return {
        person: ADMISSION if refusing else HIDDEN
        for person, texts in said.items()
        for (_, refusing), text in zip(plan.questions, texts, strict=False)
        if refuses(text, refusing)
    }


def refuses(text: str, refusing: str) -> bool:
    """Return whether an answer is, or begins with, the one that excludes; any is, to a hidden question."""
    pattern = rf"\W*({re.escape(refusing)}\b|{re.escape(refusing[:1])}\W*$)" if refusing else r"\s*\S"
    return re.match(pattern, text, re.IGNORECASE) is not None


def _side(plan: Plan, answer: Answer, list_number: int | None) -> object:
    """Return what a person who always answers the same repeats: the side of a pair, the choice, or the rating."""
    trial = plan.by_id[answer.trial]
    if len(trial.texts) == 2:
        assert list_number is not None
        first = next((first for number, first in plan.lists[list_number] if plan.trials[number].id == trial.id), True)
        return (answer.choice == trial.expected) == first
    return answer.choice or answer.rating


def attention(plan: Plan, trials: Mapping[str, Trial], given: Sequence[Answer]) -> float | None:
    """Return the share of a person's catch trials that were answered as expected; None without catch trials."""
    caught = [answer for answer in given if checks_attention(plan, trials[answer.trial])]
    if not caught:
        return None
    ratings = [answer.rating for answer in given if not math.isnan(answer.rating)]
    middle = median(ratings) if plan.design.name == "magnitude" and ratings else (LOWEST + HIGHEST) / 2
    return sum(right(trials[answer.trial], answer, middle) for answer in caught) / len(caught)


def checks_attention(plan: Plan, trial: Trial) -> bool:
    """Return whether a trial checks attention: a catch trial, or one of a suite that the protocol uses so."""
    return bool(trial.expected) and (trial.role == "catch" or trial.suite in plan.options.get("attention", ()))


def right(trial: Trial, answer: Answer, middle: float) -> bool:
    """Return whether an answer is as expected; a rating must lie on the expected side of the middle."""
    if trial.expected in ("high", "low"):
        return answer.rating > middle if trial.expected == "high" else answer.rating < middle
    return answer.choice == trial.expected


@dataclass(slots=True)
class Audit:
    """What a check of answers against the plan found: how often, with examples."""

    found: dict[str, list[str]] = field(default_factory=dict)  # kind of problem -> the places, in words
    refused: Why = None  # see `refused`; None if nobody's answers to the questions at the end are known

    def note(self, kind: str, place: str) -> None:
        self.found.setdefault(kind, []).append(place)

    def lines(self) -> Iterator[str]:
        """Yield each kind of problem with its count and its first example."""
        for kind, places in self.found.items():
            yield f"{kind}: {counted(len(places), 'time')}, for example {places[0]}"


def audited(plan: Plan, answers: Iterable[Answer], audit: Audit) -> list[Answer]:
    """Check answers against the plan, and return those that belong to it, each trial of a person once."""
    # Answers to trials that are not in the person's list, and second answers to a trial, are left out; they and missing
    # trials are noted. A person with answers under two lists is noted, and keeps those of the first.
    names = [{plan.trials[number].id for number, _ in shown} for shown in plan.lists]
    known: dict[str, dict[str, Answer]] = {}
    list_of: dict[str, int | None] = {}
    for answer in answers:
        given, place = known.setdefault(answer.person, {}), f"person {answer.person}, trial {answer.trial}"
        assigned = list_of.setdefault(answer.person, answer.list)
        if answer.list != assigned:
            audit.note("answers of a person under another list, left out", place)
        elif assigned is not None and answer.trial not in names[assigned]:
            audit.note("answers to trials that are not in the person's list, left out", place)
        elif answer.trial in given:
            audit.note("second answers to a trial, left out", place)
        else:
            given[answer.trial] = answer
    for person, given in known.items():
        assigned = list_of[person]
        if assigned is not None:
            for trial in sorted(names[assigned] - given.keys()):
                audit.note(MISSING, f"person {person}, trial {trial}")
        elif plan.exclusions.complete or (plan.exclusions.sameness < 1 and plan.design.shows == 2):
            audit.note(UNLISTED, f"person {person}")
        if plan.questions and audit.refused is None:
            audit.note(UNASKED, f"person {person}")
    return [answer for given in known.values() for answer in given.values()]
