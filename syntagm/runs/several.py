"""Several runs side by side: distinct names for models and suites, what they share, and whether they can be compared."""

from collections.abc import Sequence
from itertools import combinations

from syntagm.core import UsageError
from syntagm.evaluation import People
from syntagm.runs.store import Run
from syntagm.suites import sample_of


def named(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Return the runs with distinct names."""
    # The name is the label of the model, or else its canonical name, with the name of the folder if two runs have the
    # same name, and with a number if that is not enough.
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [f"{run.name} ({run.label})" for run in runs]
    if len(set(names)) < len(names):
        names = [f"{name} #{index + 1}" for index, name in enumerate(names)]
    return list(zip(names, runs, strict=True))


def group_of(name: str) -> str:
    """Return the group of a model, which stands before a colon and a space in its name; "" if there is none.

    >>> group_of("Pythia: 70m, step 1000"), group_of("causal:gpt2")
    ('Pythia', '')
    """
    group, colon, _ = name.partition(": ")
    return group if colon else ""


def titles(runs: Sequence[Run]) -> dict[tuple[str, str], str]:
    """Return distinct titles for suites: (name, hash) -> name, followed by the hash if several suites share the name."""
    suites = dict.fromkeys((suite.name, suite.hash) for run in runs for suite in run.suites)
    names = [name for name, _ in suites]
    return {(name, hash): name if names.count(name) == 1 else f"{name} @{hash[:8]}" for name, hash in suites}


def items_by_sentences(run: Run, suite: str) -> dict[frozenset[tuple[str, str]], str]:
    """Return the items of a suite by condition and text of their sentences; empty for a run that doesn't keep these."""
    if "parquet" not in run.tables:
        return {}
    rows = run.sentences(suite).group_by("item", maintain_order=True).agg("condition", "text")
    return {frozenset(zip(names, texts, strict=True)): item for item, names, texts in rows.iter_rows()}


def same_items(run: Run, suite: str, other: Run) -> dict[str, str]:
    """Match the items of a suite with those of another run that say the same: item -> item; empty if one is missing there."""
    # People see some items of a suite, so their suite has another hash.
    if suite not in {own.name for own in other.suites}:
        return {}
    own, theirs = items_by_sentences(run, suite), items_by_sentences(other, suite)
    return {item: theirs[said] for said, item in own.items()} if own.keys() <= theirs.keys() else {}


def comparable(first: Run, second: Run) -> list[str]:
    """Return the suites with the same content in both runs or, if one is of people, with all their items in the other."""
    hashes = {suite.name: suite.hash for suite in second.suites}
    asked = [(run, other) for run, other in ((first, second), (second, first)) if run.task is People]
    shared = [suite for suite in first.suites if suite.name in hashes]
    return [
        suite.name
        for suite in shared
        if suite.hash == hashes[suite.name] or any(same_items(run, suite.name, other) for run, other in asked)
    ]


def comparable_pairs(runs: Sequence[tuple[str, Run]]) -> dict[tuple[str, str], list[str]]:
    return {(a, b): comparable(first, second) for (a, first), (b, second) in combinations(runs, 2)}


def listed(suites: Sequence[str]) -> str:
    """Name suites: at most three of them, and how many more there are.

    >>> listed(["mvrr"]), listed(["a", "b", "c", "d", "e"])
    ('suite mvrr', 'suites a, b, c and 2 more')
    """
    more = f" and {len(suites) - 3} more" if len(suites) > 3 else ""
    return f"suite{'' if len(suites) == 1 else 's'} {', '.join(suites[:3])}{more}"


def different_content(runs: Sequence[Run]) -> str:
    """Return a sentence about the suites that have one name but different content in several runs; "" if there are none."""
    # It says for one of these suites which content each run has: a sample of items, or otherwise the hash. The items of
    # people are not different if a model has them.
    by_name: dict[str, dict[str, str]] = {}
    models = [run for run in runs if run.task is not People]
    for run in runs:
        for suite in run.suites:
            if run.task is People and any(same_items(run, suite.name, model) for model in models):
                continue
            sample = sample_of(suite.tags)
            content = suite.tags["sample"] if sample else suite.hash[:8]
            by_name.setdefault(suite.name, {}).setdefault(suite.hash, f"{content} in {run.place}")
    conflicting = [name for name, contents in by_name.items() if len(contents) > 1]
    if not conflicting:
        return ""
    example = f" (of {conflicting[0]})" if len(conflicting) > 1 else ""
    contents = ", ".join(by_name[conflicting[0]].values())
    return f"{listed(conflicting)}: DIFFERENT CONTENT under one name, {contents}{example}"


def numbers_of_suites(runs: Sequence[Run]) -> str:
    """Return how many suites each run has, if their suites or the content of these differ; otherwise ""."""
    suites = {name: frozenset((suite.name, suite.hash) for suite in run.suites) for name, run in named(runs)}
    if len(set(suites.values())) < 2:
        return ""
    counts = [f"{name} {len(own)}" for name, own in suites.items()]
    more = f", and {len(counts) - 5} more models" if len(counts) > 5 else ""
    shared = len(frozenset.intersection(*suites.values()))
    return f"{', '.join(counts[:5])}{more}; {shared} with the same content in all"


def unequal(runs: Sequence[Run]) -> list[str]:
    """Return a note for means beside each other of runs that have different suites."""
    counts = numbers_of_suites(runs)
    return [f"Different suites ({counts}): each mean is over the model's own."] if counts else []


def not_asked(runs: Sequence[Run]) -> list[str]:
    """Return a note for each run in which some suites have no context; no mean includes such suites."""
    by_run = {name: [suite.name for suite in run.suites if not suite.asked] for name, run in named(runs)}
    return [
        f"{name}: no context for the word list in {', '.join(suites)}, so no mean includes them."
        for name, suites in by_run.items()
        if suites
    ]


def having(runs: Sequence[Run], suite: str) -> list[tuple[str, Run]]:
    return [(name, run) for name, run in named(runs) if any(record.name == suite for record in run.suites)]


def tags(runs: Sequence[Run]) -> list[str]:
    """Return the names of the tags of all suites, in the order of first appearance."""
    return list(dict.fromkeys(key for run in runs for suite in run.suites for key in suite.tags))


def chosen_suite(runs: Sequence[Run], name: str) -> str:
    """Return the suite that an option names, or the only suite if the option is empty."""
    names = list(dict.fromkeys(suite.name for run in runs for suite in run.suites))
    if not name and len(names) == 1:
        return names[0]
    if name not in names:
        shown = ", ".join(names[:40]) + (" ..." if len(names) > 40 else "")
        raise UsageError("suite", repr(name) if name else "several suites, and no name", f"suite=NAME, one of {shown}")
    return name
