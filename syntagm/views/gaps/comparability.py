"""Are fill runs comparable? Only if they were asked the same list, blanks and kind of rows, and the same rows counted.

Weights over different rows answer different questions, and so do those in different contexts: an item's context is what its
model sees, so several contexts of a model that sees both sides are one of a model that sees the left side. `tse` compares two
words of an item: neither matters to it, beyond the items that are left out.
"""

from collections.abc import Sequence

from syntagm.runs.store import Run
from syntagm.views.gaps import kept


def asked(run: Run) -> dict[str, str]:
    """What was asked: two runs are comparable if it is the same. Which list (its hash), which blanks, which kind of rows."""
    options = run.record["options"]
    return {"list": options["words"]["hash"], "blank": options["blank"], "eligible": options["eligible"]}


def same_rows(runs: Sequence[Run]) -> bool:
    """Did the same rows of the list count in every suite, and as many of them in every context, that several runs share?"""
    return all(not other_rows(one, other) for place, one in enumerate(runs) for other in runs[:place])


def other_rows(first: Run, second: Run) -> list[str]:
    """The suites with the same content in both runs in which other rows of the list counted."""
    return [suite for suite in _shared(first, second) if _differ(first, second, suite)]


def other_contexts(first: Run, second: Run) -> list[str]:
    """The suites with the same content in both runs in which the model that sees both sides has more contexts."""
    if _sees_left(first) == _sees_left(second):
        return []
    return [suite for suite in _shared(first, second) if _contexts(first, suite) != _contexts(second, suite)]


def _shared(first: Run, second: Run) -> list[str]:
    there = {(suite.name, suite.hash) for suite in second.suites}
    return [suite.name for suite in first.suites if (suite.name, suite.hash) in there]


def _sees_left(run: Run) -> bool:
    return bool(run.record["model"]["sees"] == "left")


def _contexts(run: Run, suite: str) -> int:
    """How many contexts the suite has, asked already or not."""
    return int(run.record["contexts"][suite]["contexts"])


def _differ(first: Run, second: Run, suite: str) -> bool:
    # A context is another for a model that sees both sides: what it shares with the other's is its left side.
    key = "context" if _sees_left(first) == _sees_left(second) else "left"
    counted = [_counted(run, suite, key) for run in (first, second)]
    both = counted[0].keys() & counted[1].keys()
    if any(counted[0][context] != counted[1][context] for context in both):
        return True
    # As many rows may be others; of a run that is not finished only those are known that it has come to.
    rows = [set(kept.lemmas(run, suite)["row"]) for run in (first, second)]
    return counted[0].keys() == counted[1].keys() and rows[0] != rows[1]


def _counted(run: Run, suite: str, key: str) -> dict[str, set[int]]:
    """How many rows count, by context or by its left side."""
    found: dict[str, set[int]] = {}
    for context, eligible in kept.contexts(run, suite).select(key, "eligible").iter_rows():
        found.setdefault(context, set()).add(eligible)
    return found


def differences(first: Run, second: Run) -> list[str]:
    """In a sentence, what was asked differently, of the first run (A) and of the second (B); none if the same was asked."""
    here, there = asked(first), asked(second)
    kinds = {"list": "word lists", "blank": "kinds of blanks", "eligible": "kinds of eligible rows"}
    shown = [
        f"{kinds[key]} (A: {_shown(first, key)}, B: {_shown(second, key)})" for key in here if here[key] != there[key]
    ]
    return [f"NOT COMPARABLE: the runs were asked different {', '.join(shown)}"] if shown else []


def _shown(run: Run, key: str) -> str:
    words = run.record["options"]["words"]
    return f"{words['name']}@{words['hash'][:8]}" if key == "list" else asked(run)[key]


def warnings(first: Run, second: Run, shares: bool) -> list[str]:
    """What a reader of a comparison of two fill runs must know before all else: a sentence each; of other runs nothing.

    Arguments:
        shares: is a measure over the rows of the list compared, and not `tse`?
    """
    if not (kept.over_gaps(first) and kept.over_gaps(second)):
        return []
    found = differences(first, second)
    if found or not shares:
        return found
    if suites := other_rows(first, second):
        counts = ", ".join(f"{side}: {_rows(run, suites)}" for side, run in (("A", first), ("B", second)))
        found.append(
            f"NOT COMPARABLE: the models know different rows of the word list in {', '.join(suites)} ({counts} of them)"
        )
    if suites := other_contexts(first, second):
        left, both = "AB" if _sees_left(first) else "BA"
        counts = ", ".join(
            f"{side}: {sum(_contexts(run, suite) for suite in suites):,}" for side, run in (("A", first), ("B", second))
        )
        found.append(
            f"NOT COMPARABLE: {left} sees the left side of a blank, {both} both sides, so that their contexts are others in "
            f"{', '.join(suites)} ({counts} of them); those of one first item are compared, the others are undefined"
        )
    return found


def _rows(run: Run, suites: Sequence[str]) -> str:
    found = [count for suite in suites for count in kept.contexts(run, suite)["eligible"]]
    low, high = min(found), max(found)
    return f"{low:,}" if low == high else f"{low:,}\u2013{high:,}"
