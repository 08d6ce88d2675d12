"""Several runs side by side: distinct names for models and suites, and the runs that include a suite."""

from collections.abc import Sequence

from syntagm.errors import UsageError
from syntagm.runs.store import Run


def named(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Return the runs with distinct names.

    The name is the label of the model, or else its canonical name, with the name of the folder if two runs have the same
    name, and with a number if that is not enough.
    """
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [f"{run.name} ({run.label})" for run in runs]
    if len(set(names)) < len(names):
        names = [f"{name} #{index + 1}" for index, name in enumerate(names)]
    return list(zip(names, runs, strict=True))


def titles(runs: Sequence[Run]) -> dict[tuple[str, str], str]:
    """Return distinct titles for suites: (name, hash) -> name, followed by the hash if several suites share the name."""
    suites = dict.fromkeys((suite.name, suite.hash) for run in runs for suite in run.suites)
    names = [name for name, _ in suites]
    return {(name, hash): name if names.count(name) == 1 else f"{name} @{hash[:8]}" for name, hash in suites}


def not_asked(runs: Sequence[Run]) -> list[str]:
    """Return a note for each run in which some suites have no context; no mean includes such suites."""
    by_run = {name: [suite.name for suite in run.suites if not suite.asked] for name, run in named(runs)}
    return [
        f"{name}: no context for the word list in {', '.join(suites)}, so no mean includes them."
        for name, suites in by_run.items()
        if suites
    ]


def having(runs: Sequence[Run], suite: str) -> list[tuple[str, Run]]:
    """Return the runs that include a suite, with their names as in `named`."""
    return [(name, run) for name, run in named(runs) if any(record.name == suite for record in run.suites)]


def tags(runs: Sequence[Run]) -> list[str]:
    """Return the names of the tags of all suites, in the order of first appearance."""
    return list(dict.fromkeys(key for run in runs for suite in run.suites for key in suite.tags))


def chosen_suite(runs: Sequence[Run], name: str) -> str:
    """Return the suite that an option names, or the only suite if the option is empty.

    Raises:
        UsageError: there is no such suite, or the option is empty although there are several suites.
    """
    names = list(dict.fromkeys(suite.name for run in runs for suite in run.suites))
    if not name and len(names) == 1:
        return names[0]
    if name not in names:
        shown = ", ".join(names[:40]) + (" ..." if len(names) > 40 else "")
        raise UsageError("suite", repr(name) if name else "several suites, and no name", f"suite=NAME, one of {shown}")
    return name
