"""Intervals in words: what the notes of a table say of how its intervals were computed, and what they are for."""

import re
from collections.abc import Iterable

from syntagm.evaluation import result
from syntagm.stats import bootstrap

# The beginning of `Interval.method` of one suite, and what notes call it.
_OF_ONE = re.compile(r"(Wilson|Tango|t\()[^;]*?( and Hall)?; random: ([^;]*?)(?:, paired)?(?:;|$)")
_CALLED = {"Wilson": "Wilson's score interval", "Tango": "Tango's", "t(": "Student's t"}


def intervals(methods: Iterable[str]) -> tuple[str, ...]:
    """Describe intervals for the notes of a table, from how they were computed: those of one suite, and over several.

    Arguments:
        methods: `Interval.method` or `Estimate.method` of each interval.

    >>> intervals(["Wilson; random: items", "t(9); random: items", "t(27) and Hall; random: items; one of 28 items ..."])[0]
    "Intervals are 95%: Wilson's score interval, Student's t (where skewed also Hall's), for other items of the kind."
    >>> len(intervals(["mean of 31 suites; Wilson with t(30); random: suites, items"]))
    1
    """
    listed = list(methods)
    alone = [method for method in listed if "random: suites" not in method and "fixed: suites" not in method]
    by_units: dict[str, dict[str, str]] = {}
    for start, hall, units in (found.groups() for found in map(_OF_ONE.match, alone) if found):
        names = by_units.setdefault(units, {})
        names[_CALLED[start]] = " (where skewed also Hall's)" if hall else names.get(_CALLED[start], "")
    of_each = "; ".join(
        f"{', '.join(map(''.join, names.items()))}, for other {units}{' of the kind' if units == 'items' else ''}"
        for units, names in by_units.items()
    )
    return (
        *([f"Intervals are 95%: {of_each}."] if of_each else []),
        *result.unseen_of(alone),
        *([over_suites()] if len(alone) < len(listed) else []),
    )


def over_suites() -> str:
    """Return what intervals over suites are for, which depends on whether suites are random."""
    if bootstrap.current().suites == "fixed":
        return "Intervals over suites are for other items of the same suites (suites=fixed)."
    over = "Intervals over suites are for other suites and their items; --suites fixed: for these suites alone."
    return f"{over} {result.unseen('suites')}"
