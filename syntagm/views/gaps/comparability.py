"""Comparability of fill runs: they need the same word list, the same kind of gap and the same eligible rows.

Weights over different rows are not comparable, nor are weights in different contexts. The context of an item is what
its model sees: several contexts of a masked model, which sees both sides of a gap, can be one context of a causal
model, which only sees the left side. Neither matters for `tse`, which compares two words of an item, except that
different items may be skipped.
"""

from collections.abc import Sequence

from syntagm.runs import Run
from syntagm.views.gaps import kept


def settings(run: Run) -> dict[str, str]:
    """Return the settings that comparable runs must share: hash of the word list, kinds of gap and eligible rows."""
    options = run.record["options"]
    return {"list": options["words"]["hash"], "blank": options["blank"], "eligible": options["eligible"]}


def same_rows(runs: Sequence[Run]) -> bool:
    """Return whether all runs have the same eligible rows in every suite, and the same number of them in every context."""
    return all(not other_rows(first, second) for place, first in enumerate(runs) for second in runs[:place])


def other_rows(first: Run, second: Run) -> list[str]:
    """List the suites with the same content in both runs for which different rows of the list are eligible."""
    return [suite for suite in _shared(first, second) if _differ(first, second, suite)]


def other_contexts(first: Run, second: Run) -> list[str]:
    """List the suites with the same content in both runs that have more contexts under the masked model."""
    if _sees_left(first) == _sees_left(second):
        return []
    return [suite for suite in _shared(first, second) if _contexts(first, suite) != _contexts(second, suite)]


def _shared(first: Run, second: Run) -> list[str]:
    suites = {(suite.name, suite.hash) for suite in second.suites}
    return [suite.name for suite in first.suites if (suite.name, suite.hash) in suites]


def _sees_left(run: Run) -> bool:
    return bool(run.record["model"]["sees"] == "left")


def _contexts(run: Run, suite: str) -> int:
    """Return the number of contexts of a suite, including those not computed yet."""
    return int(run.record["contexts"][suite]["contexts"])


def _differ(first: Run, second: Run, suite: str) -> bool:
    # Contexts of a causal and of a masked model have only the left side in common.
    key = "context" if _sees_left(first) == _sees_left(second) else "left"
    counted = [_counted(run, suite, key) for run in (first, second)]
    both = counted[0].keys() & counted[1].keys()
    if any(counted[0][context] != counted[1][context] for context in both):
        return True
    # The same number of rows may be different rows. Of an unfinished run only the rows computed so far are known.
    rows = [set(kept.lemmas(run, suite)["row"]) for run in (first, second)]
    return counted[0].keys() == counted[1].keys() and rows[0] != rows[1]


def _counted(run: Run, suite: str, key: str) -> dict[str, set[int]]:
    """Return the numbers of eligible rows by context, or by left side of a context."""
    eligible_rows: dict[str, set[int]] = {}
    for context, eligible in kept.contexts(run, suite).select(key, "eligible").iter_rows():
        eligible_rows.setdefault(context, set()).add(eligible)
    return eligible_rows


def differences(first: Run, second: Run) -> list[str]:
    """Return a list with a sentence about the settings in which two runs (A and B) differ; it is empty if they agree."""
    settings_a, settings_b = settings(first), settings(second)
    kinds = {"list": "word lists", "blank": "kinds of gaps", "eligible": "kinds of eligible rows"}
    shown = [
        f"{kinds[key]} (A: {_shown(first, key)}, B: {_shown(second, key)})"
        for key in settings_a
        if settings_a[key] != settings_b[key]
    ]
    return [f"NOT COMPARABLE: the runs have different {', '.join(shown)}"] if shown else []


def _shown(run: Run, key: str) -> str:
    words = run.record["options"]["words"]
    return f"{words['name']}@{words['hash'][:8]}" if key == "list" else settings(run)[key]


def warnings(first: Run, second: Run, shares: bool) -> list[str]:
    """Return one sentence for each reason why two fill runs are not comparable; an empty list for other runs."""
    if not (kept.over_gaps(first) and kept.over_gaps(second)):
        return []
    reasons = differences(first, second)
    if reasons or not shares:
        return reasons
    if suites := other_rows(first, second):
        counts = ", ".join(f"{side}: {_rows(run, suites)}" for side, run in (("A", first), ("B", second)))
        reasons.append(
            f"NOT COMPARABLE: different rows of the word list are eligible in {', '.join(suites)} ({counts} rows)"
        )
    if suites := other_contexts(first, second):
        left, both = "AB" if _sees_left(first) else "BA"
        counts = ", ".join(
            f"{side}: {sum(_contexts(run, suite) for suite in suites):,}" for side, run in (("A", first), ("B", second))
        )
        reasons.append(
            f"NOT COMPARABLE: {left} sees the left side of a gap, {both} both sides, so that their contexts differ in "
            f"{', '.join(suites)} ({counts} contexts). Contexts with the same first item are compared, others are undefined"
        )
    return reasons


def _rows(run: Run, suites: Sequence[str]) -> str:
    counts = [count for suite in suites for count in kept.contexts(run, suite)["eligible"]]
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,}\u2013{high:,}"
