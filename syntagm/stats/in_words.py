"""Intervals in words: what the notes of a table say of how its intervals were computed, and what they are for."""

from collections.abc import Iterable

from syntagm import result
from syntagm.stats import bootstrap

# The beginning of the name of an interval of one suite in `Interval.method`, and what notes call it.
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
    listed, several = list(methods), False
    alone: dict[str, dict[str, str]] = {}
    for method in listed:
        of_suites = "random: suites" in method or "fixed: suites" in method
        several = several or of_suites
        name, _, random = method.partition("; random: ")
        called = next((called for start, called in _CALLED.items() if name.startswith(start)), "")
        if called and random and not of_suites:
            of_units = alone.setdefault(random.partition("; ")[0].removesuffix(", paired"), {})
            of_units[called] = " (where skewed also Hall's)" if "Hall" in name else of_units.get(called, "")
    of_each = [
        f"{', '.join(map(''.join, names.items()))}, for other {units}{' of the kind' if units == 'items' else ''}"
        for units, names in alone.items()
    ]
    one = [f"Intervals are 95%: {'; '.join(of_each)}."] if alone else []
    items = [note for note in result.unseen_of(listed) if note == result.unseen("items")]
    return (*one, *items, *([over_suites()] if several else []))


def over_suites() -> str:
    """Return what intervals over suites are for, which depends on whether suites are random."""
    if bootstrap.current().suites == "fixed":
        return "Intervals over suites are for other items of the same suites (suites=fixed)."
    over = "Intervals over suites are for other suites and their items; --suites fixed: for these suites alone."
    return f"{over} {result.unseen('suites')}"
