"""Several runs side by side: names that tell models and suites apart, and the runs that have a suite."""

from collections.abc import Sequence

from syntagm.errors import UsageError
from syntagm.runs.store import Run


def named(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """The runs, each with its model's name; with that of its folder where two have the same, and a number if need be."""
    names = [run.model for run in runs]
    if len(set(names)) < len(names):
        names = [f"{run.model} ({run.label})" for run in runs]
    if len(set(names)) < len(names):
        names = [f"{name} #{index + 1}" for index, name in enumerate(names)]
    return list(zip(names, runs, strict=True))


def titles(runs: Sequence[Run]) -> dict[tuple[str, str], str]:
    """(name, hash) of every suite -> what to call it: its name, with the hash where contents differ under one name."""
    found = dict.fromkeys((suite.name, suite.hash) for run in runs for suite in run.suites)
    names = [name for name, _ in found]
    return {(name, hash): name if names.count(name) == 1 else f"{name} @{hash[:8]}" for name, hash in found}


def not_asked(runs: Sequence[Run]) -> list[str]:
    """A note a run with suites that make no context, which are in none of its means."""
    found = {name: [suite.name for suite in run.suites if not suite.asked] for name, run in named(runs)}
    return [
        f"{name}: no context for the word list in {', '.join(suites)}, so in no mean."
        for name, suites in found.items()
        if suites
    ]


def having(runs: Sequence[Run], suite: str) -> list[tuple[str, Run]]:
    """Pick the runs that have a suite of that name, each with its model's name as in `named`."""
    return [(name, run) for name, run in named(runs) if any(one.name == suite for one in run.suites)]


def tags(runs: Sequence[Run]) -> list[str]:
    """List the tags that suites of the runs have, in the order of first appearance."""
    return list(dict.fromkeys(key for run in runs for suite in run.suites for key in suite.tags))


def chosen_suite(runs: Sequence[Run], name: str) -> str:
    """The suite that an option names; the only one, if it names none.

    Raises:
        UsageError: there is no such suite, or none is named and there are several.
    """
    known = list(dict.fromkeys(suite.name for run in runs for suite in run.suites))
    if not name and len(known) == 1:
        return known[0]
    if name not in known:
        shown = ", ".join(known[:40]) + (" ..." if len(known) > 40 else "")
        raise UsageError(
            "suite", repr(name) if name else "several suites and none named", f"suite=NAME, one of {shown}"
        )
    return name
