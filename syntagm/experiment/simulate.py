"""Simulated participants with known effects, so that the analysis of an experiment exists before its data.

The effect of the first prediction of each suite is known: the expected difference between the two sides of each of its
comparisons, in the unit of the design. People and items vary around it, people lapse, and some leave. Who doesn't lapse
sees through attention checks, whatever the effect. A language model may answer instead: its surprisals take the place of
the effects.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from syntagm.core import RunError, atomic, regular
from syntagm.experiment import answers, database, plan, texts
from syntagm.experiment.designs import HIGHEST, LOWEST
from syntagm.experiment.plan import Plan, Trial
from syntagm.experiment.store import Study
from syntagm.models import Asking, LanguageModel
from syntagm.suites import Formula

# The effects by default: log odds (natural), points of the scale, natural logarithms of magnitudes, ms.
EFFECTS: Mapping[str, float] = {
    "forced-choice": 2.0, "acceptability": 1.5, "yes-no": 2.0, "magnitude": 0.5, "self-paced": 60.0, "maze": 120.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of simulated people."""

    # The effect of the first prediction of each suite: for choices the difference of log odds (for a pair, the log odds
    # of the favoured sentence), for ratings the difference of their means before they are rounded to the scale, for
    # magnitudes that of natural logarithms, for times that of ms in the compared regions.
    effect: float
    people: float = 0.3  # the standard deviation of the effects of people, as a share of the effect
    items: float = 0.3  # the standard deviation of the effects of items, as a share of the effect
    lapse: float = 0.05  # the share of answers at random
    dropout: float = 0.0  # the share of people who leave, each before a random trial


class Simulated:
    def __init__(
        self, plan: Plan, truth: Truth, seed: int, judge: "Mapping[str, Sequence[float]] | None" = None
    ) -> None:
        self.plan, self.truth, self.seed, self.judge = plan, truth, seed, judge
        formulas = {suite.name: suite.predictions[0].formula for suite in plan.suites if suite.predictions}
        self.shares = {name: _shares(formula, plan.design.timed) for name, formula in formulas.items()}

    def person(self, number: int) -> "SimulatedPerson":
        return SimulatedPerson(self, Random(f"{self.seed} person {number}"))

    def item_effect(self, trial: Trial) -> float:
        """Return the effect of an item, the same for all people."""
        random = Random(f"{self.seed} item {trial.suite} {trial.item}")
        return self.truth.effect * (1 + self.truth.items * random.gauss(0, 1))

    def share(self, trial: Trial, region: str = "") -> float:
        """Return the share of the effect that a sentence has, for times in a region: positive if it should be less acceptable."""
        # Summed over each comparison with its signs, the shares give 1. An attention check has two, one for each side.
        if trial.role != "critical":
            easy = {"bad": 2.0, "no": 2.0, "low": 2.0, "good": -2.0, "yes": -2.0, "high": -2.0}
            return easy.get(trial.expected or trial.condition, 0.0)
        return self.shares.get(trial.suite, {}).get((trial.condition, region), 0.0)


class SimulatedPerson:
    """A simulated person, who answers trials one after the other."""

    def __init__(self, among: Simulated, random: Random) -> None:
        self.among, self._random = among, random
        self._own = among.truth.effect * among.truth.people * random.gauss(0, 1)
        self._bias, self._speed = random.gauss(0, 0.3), random.gauss(0, 0.2)
        self._leaves = random.random() < among.truth.dropout
        self._leaving = random.random()

    def stays_until(self, trials: int) -> int:
        """Return how many of the trials the person answers."""
        return int(self._leaving * trials) if self._leaves else trials

    def answer(self, trial: Trial) -> dict[str, Any]:
        """Answer a trial, as a page would send it."""
        random, design = self._random, self.among.plan.design
        body: dict[str, Any] = {"trial": trial.id}
        lapse = random.random() < self.among.truth.lapse
        ms = round(1000 * math.exp(random.gauss(0.6 + self._speed, 0.4)), 1)
        # Practice and attention checks are easy for everybody, whatever the effect.
        easy = trial.role in ("practice", "catch") or answers.checks_attention(self.among.plan, trial)
        effect = EFFECTS[design.name] if easy else self.among.item_effect(trial) + self._own
        if self.among.judge is not None:
            easy, effect, share = False, 1.0, self._judged(trial)
        else:
            share = self.among.share(trial)
        match design.name:
            case "forced-choice":
                chance = 0.5 if lapse else 1.0 if easy else _logistic(effect if self.among.judge is None else share)
                body |= {"choice": trial.choices[random.random() >= chance], "ms": ms}
            case "yes-no":
                chance = float(share < 0) if easy and share else _logistic(0.3 + self._bias - effect * share)
                chance = 0.5 if lapse else chance
                body |= {"choice": "yes" if random.random() < chance else "no", "ms": ms}
            case "acceptability":
                latent = (LOWEST + HIGHEST) / 2 + self._bias - effect * share + random.gauss(0, 1.0)
                rating = random.randint(LOWEST, HIGHEST) if lapse else min(HIGHEST, max(LOWEST, round(latent)))
                body |= {"rating": rating, "ms": ms}
            case "magnitude":
                latent = self._bias - (0 if lapse else effect * share) + random.gauss(0, 0.3)
                body |= {"rating": max(1, round(100 * math.exp(latent))), "ms": ms}
            case _:
                body |= self._times(trial, effect)
        if trial.question:
            right = random.random() >= self.among.truth.lapse
            body["choice"] = trial.answer if right else {"yes": "no", "no": "yes"}[trial.answer]
        return body

    def _times(self, trial: Trial, effect: float) -> dict[str, Any]:
        maze = self.among.plan.design.name == "maze"
        base, bits = (700 if maze else 320) * math.exp(self._speed), self.among.judge
        times, wrong = [], []
        begun: set[str] = set()
        for place, (word, region) in enumerate(trial.words):
            ms = (base + 12 * len(word)) * math.exp(self._random.gauss(0, 0.25) - 0.03125)
            if bits is not None:
                ms += 15 * bits[trial.texts[0]][place]
            elif trial.role == "critical":
                ms += effect * self.among.share(trial, region) if region not in begun else 0
                ms += effect * self.among.share(trial, "*") if place == len(trial.words) - 1 else 0
            begun.add(region)
            times.append(round(max(ms, 50.0), 1))
            wrong.append(maze and place > 0 and self._random.random() < self.among.truth.lapse / 3)
            if wrong[-1] and self.among.plan.options.get("errors") == "stop":
                break
        return {"times": times, **({"wrong": wrong} if maze else {})}

    def _judged(self, trial: Trial) -> float:
        """Return what a language model's surprisals make of a trial: for a pair the difference of bits."""
        assert self.among.judge is not None
        totals = [math.fsum(self.among.judge[text]) for text in trial.texts]
        if len(totals) == 2:
            return (totals[1] - totals[0]) * math.log(2)
        return (totals[0] / max(1, len(self.among.judge[trial.texts[0]])) - 8.0) / 3


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def _shares(formula: Formula, timed: bool) -> dict[tuple[str, str], float]:
    """Return the share of the effect of each condition, for times in each region: (condition, region or "") -> share."""
    # They are the smallest (by the sum of squares) with which each comparison has the whole effect, and an equality
    # beside others none; if that is impossible, as for a < b & b < c & a < c, the nearest to it.
    comparisons, signs = formula.comparisons(), list[dict[tuple[str, str], int]]()
    for comparison in comparisons:
        signs.append({})
        for sign, reference in comparison.terms():
            # Several regions of one condition have its effect once.
            signs[-1].setdefault((reference.condition, reference.region if timed else ""), sign)
    keys = list(dict.fromkeys(key for own in signs for key in own))
    # The time of a whole sentence has the effects of all its regions.
    matrix = [[own.get(key, own.get((key[0], "*"), 0)) for key in keys] for own in signs]
    effects = [float(comparison.tree.operator != "=" or len(comparisons) == 1) for comparison in comparisons]
    found = np.linalg.lstsq(np.array(matrix, np.float64), np.array(effects), rcond=None)[0]
    return {key: round(float(share), 12) for key, share in zip(keys, found, strict=True)}


def judged(plan: Plan, model: LanguageModel) -> dict[str, tuple[float, ...]]:
    """Return the bits of each word of all sentences of a plan under a model: text -> bits."""
    texts = sorted({text for trial in plan.trials for text in trial.texts})
    asking, found = Asking(model), {}
    for answer in asking.score(texts):
        spans = [match.span() for match in re.finditer(r"\S+", answer.text)]
        bits = [0.0] * len(spans)
        for number, start in enumerate(answer.starts.tolist()):
            end = answer.starts[number + 1] if number + 1 < len(answer.starts) else len(answer.text)
            first = start + len(answer.text[start:end]) - len(answer.text[start:end].lstrip())
            place = next((place for place, (low, high) in enumerate(spans) if low <= first < high), len(spans) - 1)
            value = float(answer.bits[number])
            bits[place] += 0.0 if math.isnan(value) else value
        found[answer.text] = tuple(bits)
    asking.confirm()
    return found


# Seconds between two answers on the clock of simulated people.
_PACE = 6.0


class _Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def copy(folder: Path, target: Path) -> None:
    """Copy an experiment without its answers."""
    made = plan.read(folder)
    if database.begun(target):
        raise RunError(str(target), "answers", "a new folder", "Choose another folder.")
    with atomic.used_folder(target):
        atomic.write(target / plan.NAME, regular.content(folder / plan.NAME))
        atomic.make_folder(target / texts.FOLDER)
        texts.read(folder, made.design)
        for path in sorted((folder / texts.FOLDER).glob("*.md")):
            atomic.write(target / texts.FOLDER / path.name, regular.content(path))
        atomic.write(target / texts.SETTINGS, regular.content(folder / texts.SETTINGS))


def fill(folder: Path, people: Simulated) -> Study:
    """Let simulated people answer until every list has as many complete ones as planned."""
    # People come one after the other; those who leave are replaced after the time-out, as on the pages.
    clock = _Clock()
    study = Study(folder, clock)
    study.mark_simulated()
    number = 0
    while (admitted := study.admit(code=f"s{number + 1:04}")) is not None or study.progress().totals[1]:
        if admitted is None:
            # Those who left hold their places until the time-out.
            clock.now += 60 * study.settings.timeout + 1
            continue
        person, simulated = admitted[0], people.person(number)
        number += 1
        shown = study.trials_of(person)
        stays = simulated.stays_until(len(shown))
        for trial, _ in shown[:stays]:
            clock.now += _PACE
            study.answer(person, simulated.answer(people.plan.trials[trial]))
        if stays == len(shown):
            study.finish(person, ["yes" if refused else "" for _, refused in people.plan.questions])
    return study
