"""Distractors of mazes: words that a language model finds unlikely, matched in length and frequency.

As in A-Maze (Boyce, Futrell & Levy 2020), the same place has the same distractor in all conditions of an item, as far as
the conditions have as many words, and the first word stands beside x-x-x.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from syntagm.core import InputError, UsageError, csv, utf8
from syntagm.experiment.plan import Trial
from syntagm.models import Asking, LanguageModel

FIRST = "x-x-x"
# A distractor should have at least so many bits more than the word beside it.
GAP = 3.0
_CANDIDATES = 16
_WORD = re.compile(r"[^\W\d_]+")
_LEXICON = Path(__file__).resolve().parents[1] / "suites" / "materials" / "lexicon" / "english" / "frequency.csv"


@dataclass(frozen=True, slots=True)
class Distracted:
    trials: tuple[Trial, ...]
    # The places whose distractor is not `GAP` bits less likely than the word in every condition, in words.
    weak: tuple[str, ...]


@cache
def lexicon(path: Path | None = None) -> Mapping[str, float]:
    """Return words with their frequencies, from a CSV file with the columns form and count, or the English lexicon."""
    file = path or _LEXICON
    words: dict[str, float] = {}
    for line, row in csv.records(utf8.read(file), file, ("form", "count")):
        word, count = row["form"], row["count"]
        try:
            number = float(count)
        except ValueError:
            raise InputError(f"{file}, line {line}", f"the count {count!r}", "a number") from None
        if _WORD.fullmatch(word) and word.islower() and number > 0:
            words[word] = number
    if len(words) < _CANDIDATES:
        raise InputError(str(file), f"{len(words)} words in lower case", f"at least {_CANDIDATES}")
    return words


def distracted(
    trials: Sequence[Trial],
    model: LanguageModel,
    seed: int,
    words: Mapping[str, float],
    done: Callable[[int], None] | None = None,
) -> Distracted:
    # Of 16 candidates that match the word in length and frequency, the one is taken that is least likely in that
    # condition in which it is most likely.
    if model.sees != "left":
        raise UsageError("--model", model.name, "a model that sees only what precedes a word")
    by_length = _by_length(words)
    items: dict[tuple[str, str, str], list[int]] = {}
    for number, trial in enumerate(trials):
        items.setdefault((trial.role, trial.suite, trial.item), []).append(number)
    found = list(trials)
    weak: list[str] = []
    asking = Asking(model)
    for (_, suite, item), numbers in items.items():
        random = Random(f"{seed} maze {suite} {item}")
        chosen = _of_item([trials[number] for number in numbers], asking, random, words, by_length)
        for number in numbers:
            trial = trials[number]
            wrong = [FIRST]
            for place in range(1, len(trial.words)):
                word, enough = chosen[_place(trial, place)]
                wrong.append(_spelled(word, trial.words[place][0]))
                if not enough:
                    weak.append(f"{suite}, item {item}, {trial.condition}: {trial.words[place][0]} or {word}")
            found[number] = replace(trial, distractors=tuple(wrong))
        if done:
            done(1)
    return Distracted(tuple(found), tuple(weak))


_Key = tuple[int, int]


def _place(trial: Trial, place: int) -> _Key:
    """The place of a word: sentences with the same number of words share distractors."""
    return len(trial.words), place


def _of_item(
    trials: Sequence[Trial],
    asking: Asking,
    random: Random,
    words: Mapping[str, float],
    by_length: Mapping[int, Sequence[tuple[float, str]]],
) -> dict[_Key, tuple[str, bool]]:
    """Return the distractor of each place, and whether it is unlikely enough in all conditions."""
    wanted: dict[_Key, list[tuple[str, str]]] = {}
    for trial in trials:
        shown = [word for word, _ in trial.words]
        for place in range(1, len(shown)):
            wanted.setdefault(_place(trial, place), []).append((" ".join(shown[:place]), shown[place]))
    candidates = {}
    for key, places in wanted.items():
        own = {word.lower().strip(_MARKS) for trial in trials for word, _ in trial.words}
        candidates[key] = _candidates(places[0][1], own, random, words, by_length)
    texts = {before for places in wanted.values() for before, _ in places}
    texts |= {
        f"{before} {word}"
        for key, places in wanted.items()
        for before, right in places
        for word in (_bare(right), *candidates[key])
    }
    bits = {answer.text: float(np.nansum(answer.bits)) for answer in asking.score(sorted(texts))}
    asking.confirm()
    found: dict[_Key, tuple[str, bool]] = {}
    used: set[str] = set()
    for key, places in wanted.items():

        def likeliest(word: str, places: Sequence[tuple[str, str]] = places) -> float:
            return min(bits[f"{before} {word}"] - bits[before] for before, _ in places)

        word = max((word for word in candidates[key] if word not in used), key=likeliest, default=candidates[key][0])
        used.add(word)
        enough = all(bits[f"{before} {word}"] - bits[f"{before} {_bare(right)}"] >= GAP for before, right in places)
        found[key] = word, enough
    return found


_MARKS = ".,;:!?\"'()[]"


def _bare(word: str) -> str:
    return word.strip(_MARKS) or word


def _by_length(words: Mapping[str, float]) -> dict[int, list[tuple[float, str]]]:
    by_length: dict[int, list[tuple[float, str]]] = {}
    for word, count in words.items():
        by_length.setdefault(len(word), []).append((math.log(count), word))
    return {length: sorted(found) for length, found in by_length.items()}


def _candidates(
    right: str,
    own: set[str],
    random: Random,
    words: Mapping[str, float],
    by_length: Mapping[int, Sequence[tuple[float, str]]],
) -> list[str]:
    """Return candidates that match a word: of the same length, or as near as there are, and of the nearest frequencies."""
    bare = _bare(right).lower()
    pool = [pair for length in _nearest(len(bare), by_length) for pair in by_length[length] if pair[1] not in own]
    frequency = math.log(words.get(bare, 1.0))
    # Twice as many as are scored, so that items differ in which they use.
    near = sorted(pool, key=lambda pair: (abs(len(pair[1]) - len(bare)), abs(pair[0] - frequency), pair[1]))
    some = [word for _, word in near[: 2 * _CANDIDATES]]
    return random.sample(some, min(_CANDIDATES, len(some)))


def _nearest(length: int, by_length: Mapping[int, Sequence[tuple[float, str]]]) -> Iterator[int]:
    """Yield lengths, the nearest first, until there are enough words."""
    count = 0
    for found in sorted(by_length, key=lambda other: (abs(other - length), other)):
        if count >= 4 * _CANDIDATES:
            return
        count += len(by_length[found])
        yield found


def _spelled(word: str, right: str) -> str:
    """Spell a distractor like the word beside it: with its capital and its punctuation."""
    bare = _bare(right)
    before, after = right[: right.find(bare)], right[right.find(bare) + len(bare) :]
    return before + (word.capitalize() if bare[:1].isupper() else word) + after
