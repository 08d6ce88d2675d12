"""Runs that filled gaps, told from others."""

from collections.abc import Sequence

from syntagm.errors import RunError
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.views.gaps import kept


def filled(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Return the runs with their models' names as in `runs.several.named`.

    Raises:
        RunError: one is no fill run.
    """
    found = []
    for name, run in named(runs):
        if not kept.over_gaps(run):
            raise RunError(run.place, "a run of `syntagm run`", "a fill run", "Make one with `syntagm fill`.")
        found.append((name, run))
    return found
