"""Selection and naming of fill runs; other runs are refused."""

from collections.abc import Sequence

from syntagm.core import RunError
from syntagm.runs import Run, named
from syntagm.views.gaps import kept


def filled(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Return fill runs with the names of their models, as in `runs.several.named`."""
    pairs = []
    for name, run in named(runs):
        if not kept.over_gaps(run):
            raise RunError(run.place, "a run of `syntagm run`", "a fill run", "Make one with `syntagm fill`.")
        pairs.append((name, run))
    return pairs
