"""Several runs in one table: names that tell models and suites apart, and options that a maker of tables or figures takes."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from syntagm.errors import UsageError
from syntagm.runs.store import Run


def named(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """The runs, each with its model's name; with that of its folder where two have the same, and a number if need be."""
    names = [run.model for run in runs]
    if len(set(names)) < len(names):
        names = [f"{run.model} ({run.folder.name})" for run in runs]
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


def yes(name: str, value: str) -> bool:
    """An option that is `yes` or `no`.

    Raises:
        UsageError: it is neither.
    """
    if value not in ("yes", "no"):
        raise UsageError(f"{name}=", repr(value), "yes or no")
    return value == "yes"


def called(make: Callable[..., Any], runs: Sequence[Run], options: Mapping[str, str], place: str) -> Any:
    """What `make(runs, **options)` gives.

    Arguments:
        place: what is made, for the message.

    Raises:
        UsageError: no runs, or an option that it does not take.
    """
    if not runs:
        raise UsageError(place, "no runs", "at least one run directory")
    parameters = [*inspect.signature(make).parameters.values()][1:]
    known = {one.name for one in parameters}
    if odd := [name for name in options if name not in known]:
        expected = "one of " + ", ".join(f"{name}=" for name in sorted(known)) if known else "no options"
        raise UsageError(place, f"no option {odd[0]!r}", expected)
    if lacking := [one.name for one in parameters if one.default is one.empty and one.name not in options]:
        raise UsageError(place, f"no {lacking[0]}=", f"{lacking[0]}=VALUE")
    return make(runs, **options)
