"""Alarms: people who may be machines. They inform; the declared rules decide who is excluded.

Each alarm rings on evidence, not on its absence: that times vary less than anybody's, that they are shown not to grow with
length, or not to fall in the course of the study, that choices agree with a language model where other people don't, or
that two people wrote the same. How often they ring for real people is measured in `benchmarks/people_alarms.py`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.core import RunError
from syntagm.experiment.answers import Answer
from syntagm.experiment.plan import Plan
from syntagm.experiment.store import Study
from syntagm.runs import Run, having, items_by_sentences

# With fewer times, or fewer choices, there is no alarm.
LEAST_TIMES, LEAST_CHOICES = 20, 20
# The least standard deviation of the logarithms (natural) of a person's times.
REGULAR = 0.1
# A correlation of times with length that is shown to be below this is not a person's; nor one with position above that.
GROWS, SLOWS = 0.1, 0.4
# How unlikely an agreement with a model must be, by the choices of others.
CLOSE = 0.001
# Shorter texts are the same by chance, such as "yes".
LEAST_TEXT = 25
# The margins of a model: (suite, item) -> bits.
Margins = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Alarm:
    person: str
    kind: str  # "regular", "length", "order", "model" or "text"
    sentence: str


def of_study(study: Study, models: Sequence[Margins]) -> list[Alarm]:
    given = study.answers()
    return [*of_answers(study.plan, given, models), *of_texts(study.said())]


def of_answers(made: Plan, given: Sequence[Answer], models: Sequence[Margins] = ()) -> Iterator[Alarm]:
    """Yield the alarms about the times and choices of all people."""
    trials = made.by_id
    by_person: dict[str, list[Answer]] = {}
    for answer in given:
        if trials[answer.trial].role != "practice":
            by_person.setdefault(answer.person, []).append(answer)
    for person, answers in by_person.items():
        times: list[tuple[float, float, float]] = []
        for place, answer in enumerate(answers):
            trial = trials[answer.trial]
            for region, ms, _ in answer.regions:
                words = [word for word, name in trial.words if name == region]
                times.append((ms, sum(map(len, words)), place))
            if not answer.regions and not math.isnan(answer.ms):
                times.append((answer.ms, sum(map(len, trial.texts)), place))
        if times:
            for kind, sentence in of_times(*zip(*times, strict=True)):
                yield Alarm(person, kind, sentence)
    for margins in models:
        yield from _of_choices(made, by_person, margins)


def of_times(ms: ArrayLike, lengths: ArrayLike, positions: ArrayLike) -> Iterator[tuple[str, str]]:
    """Yield the kinds and sentences of the alarms about a person's times.

    Arguments:
        ms: times in milliseconds. Shape (times,).
        lengths: the number of characters of what was read. Shape (times,).
        positions: the place of the trial in the course of the study. Shape (times,).

    >>> [kind for kind, _ in of_times([500.0 + i % 3 for i in range(30)], [i % 7 for i in range(30)], range(30))]
    ['regular']
    """
    times, characters, places = (np.asarray(values, np.float64) for values in (ms, lengths, positions))
    usable = times > 0
    times, characters, places = times[usable], characters[usable], places[usable]
    if len(times) < LEAST_TIMES:
        return
    logs = np.log(times)
    spread = float(logs.std(ddof=1))
    if spread < REGULAR:
        yield "regular", f"times vary by {spread:.1%} only (standard deviation of {len(times)} logarithms)"
    low, high = _limits(logs, characters)
    if high < GROWS:
        yield "length", f"times don't grow with length: the correlation is below {high:.2f}, with 97.5% confidence"
    low, high = _limits(logs, places)
    if low > SLOWS:
        yield (
            "order",
            f"times grow in the course of the study: the correlation is above {low:.2f}, with 97.5% confidence",
        )


def _limits(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95% interval of a correlation (Fisher 1921); all numbers if one of them is constant."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return -1.0, 1.0
    z = math.atanh(float(np.clip(np.corrcoef(x, y)[0, 1], -1 + 1e-12, 1 - 1e-12)))
    reach = 1.959964 / math.sqrt(len(x) - 3)
    return math.tanh(z - reach), math.tanh(z + reach)


def margins_of(run: Run, made: Plan) -> Margins:
    """Return the margins of a run, by the first prediction of each suite, for the items of a plan."""
    found: dict[tuple[str, str], float] = {}
    for suite in (suite for suite in made.suites if having([run], suite.name)):
        first = next(iter(run.suite(suite.name).predictions_for("first")), "")
        margins = dict(run.results(suite.name).filter(measure=first).select("item", "margin").iter_rows())
        items = items_by_sentences(run, suite.name)
        for item in suite.items:
            said = frozenset((name, sentence.text) for name, sentence in item.sentences.items())
            if math.isfinite(margin := margins.get(items.get(said, ""), math.nan)):
                found[suite.name, item.id] = margin
    if not found:
        raise RunError(run.place, "no item of the study", "a run of the items that people see")
    return found


def _of_choices(made: Plan, by_person: Mapping[str, Sequence[Answer]], margins: Margins) -> Iterator[Alarm]:
    trials = made.by_id
    choices = {
        person: {
            (trial.suite, trial.item): answer.choice == trial.expected
            for answer in given
            for trial in [trials[answer.trial]]
            if trial.role == "critical" and len(trial.texts) == 2
        }
        for person, given in by_person.items()
    }
    for person, p, agreed, count in close(choices, margins):
        if p < CLOSE:
            said = f"agrees with a model on {agreed} of {count} items on which most others don't (p = {p:.1g})"
            yield Alarm(person, "model", said)


def close(
    choices: Mapping[str, Mapping[tuple[str, str], bool]], margins: Margins
) -> Iterator[tuple[str, float, int, int]]:
    """Yield each person with enough choices, and how likely so much agreement with a model is by the choices of others."""
    # Only items count on which most other people disagree with the model: whoever is right where a model is right, is
    # only careful. The chance that a choice agrees is the share of the other people whose choice agrees (half an answer
    # is added on both sides); p is the probability of at least as many agreements, as of independent choices.
    counts: dict[tuple[str, str], list[int]] = {}
    for given in choices.values():
        for item, right in given.items():
            totals = counts.setdefault(item, [0, 0])
            totals[0] += right == (margins.get(item, 0) > 0)
            totals[1] += 1
    for person, given in choices.items():
        agreed, known, chances = 0, 0, []
        for item, right in given.items():
            if item in margins and counts[item][1] > 1:
                own = right == (margins[item] > 0)
                chance = (counts[item][0] - own + 0.5) / counts[item][1]
                known += 1
                if chance < 0.5:
                    agreed += own
                    chances.append(chance)
        if known >= LEAST_CHOICES:
            yield person, at_least(agreed, chances), agreed, len(chances)


def at_least(successes: int, chances: Sequence[float]) -> float:
    """Return the probability of at least so many successes in independent trials with different chances.

    >>> round(at_least(2, [0.5, 0.5]), 3), at_least(0, [0.1])
    (0.25, 1.0)
    """
    distribution = np.array([1.0])
    for chance in chances:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return float(min(1.0, distribution[successes:].sum()))


def of_texts(said: Mapping[str, Sequence[str]]) -> Iterator[Alarm]:
    """Yield an alarm for each person who wrote the same long text as another."""
    writers: dict[str, list[str]] = {}
    for person, texts in said.items():
        for text in texts:
            plain = " ".join(text.lower().split())
            if len(plain) >= LEAST_TEXT:
                writers.setdefault(plain, []).append(person)
    for text, people in writers.items():
        for person in people if len(set(people)) > 1 else ():
            yield Alarm(person, "text", f"wrote the same as another person: {text[:60]!r}")
