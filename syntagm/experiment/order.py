"""The order in which a person sees the trials of a list: random, within constraints, and the same for the same plan."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from syntagm.experiment.plan import Plan, Trial

Shown = tuple[int, bool]
# The favoured sentence is not on the same side more often than this in a row, where that can be avoided.
_RUN = 3


def of_person(plan: Plan, list_number: int, place: int) -> list[Shown]:
    """Return the trials of a person in order."""
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
