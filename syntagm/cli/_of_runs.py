"""What the commands figure and table share: views, run directories, and options after them."""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm import views

if TYPE_CHECKING:
    from syntagm.runs.store import Run

_OPTION = re.compile(r"([a-z_]+)=(.*)", re.DOTALL)


def arguments(parser: argparse.ArgumentParser, kind: views.Kind) -> None:
    """Declare the name, the runs, the options, and --list."""
    parser.add_argument("name", metavar="NAME", nargs="?", help=f"which {kind}; --list says what there is")
    parser.add_argument("runs", metavar="DIR", nargs="*", help="run directories, then options: key=value")
    parser.add_argument(
        "--list", action="store_true", help=f"say what each {kind} shows; after a NAME, what its options mean"
    )


def listed(kind: views.Kind, name: str | None = None) -> Iterator[str]:
    """Yield a line for each view with a table, or a figure: what it shows, and its options; of one view, a line an option.

    >>> [line.split()[0] for line in listed("table")][:2]
    ['clustered', 'comparison']
    >>> print(*list(listed("table", "scores"))[1:], sep="\\n")
      measure=first         name of a prediction, `first`, `all`, or `each` for all predictions one by one
      wide=no               one column for each model: yes or no
    """
    from syntagm.views.options import options

    for view in [name] if name else views.offering(kind):
        declared = options(views.find(kind, view))
        shown = f" [{' '.join(f'{one.name}=' for one in declared)}]" if declared and not name else ""
        yield f"{view:<22}{views.summary(view)}{shown}"
        for one in declared if name else ():
            values = f": {' or '.join(one.values)}" if one.values else ""
            yield f"  {f'{one.name}={one.default}':<21} {one.help}{values}"


def made(kind: views.Kind, options: argparse.Namespace) -> "tuple[Any, list[Run]]":
    """Make the figure or table that the command line asks for; return its runs, too.

    Raises:
        UsageError: no such name, no runs, or an option that it does not take.
        RunError: a folder that is no run directory.
    """
    from syntagm.runs.store import open_run
    from syntagm.views.options import call

    maker = views.find(kind, options.name or "")
    folders, chosen = split(options.runs)
    runs = [open_run(one) for one in folders]
    return call(maker, runs, chosen, f"{kind} {options.name}"), runs


def split(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Tell folders from options of the form key=value; a folder that is there is a folder whatever its name.

    >>> split(["runs/demo", "measure=all"])
    (['runs/demo'], {'measure': 'all'})
    """
    folders, chosen = [], {}
    for word in words:
        option = _OPTION.fullmatch(word)
        if option and not Path(word).exists():
            chosen[option[1]] = option[2]
        else:
            folders.append(word)
    return folders, chosen


def exit_code(runs: "Sequence[Run]") -> int:
    """Return 1 if a run is not finished, which is said, else 0."""
    import sys

    for one in runs:
        if not one.done:
            print(f"syntagm: run {one.place} is not finished: only its finished shards count", file=sys.stderr)
    return 0 if all(one.done for one in runs) else 1
