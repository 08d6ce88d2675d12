"""What the commands figure and table share: names that can be made of runs, run directories, and options after them."""

import argparse
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm import views
from syntagm.errors import UsageError

if TYPE_CHECKING:
    from syntagm.runs.store import Run

_OPTION = re.compile(r"([a-z_]+)=(.*)", re.DOTALL)


def arguments(parser: argparse.ArgumentParser, noun: str) -> None:
    """Declare the name, the runs, the options, and --list."""
    parser.add_argument("name", metavar="NAME", nargs="?", help=f"which {noun}; --list says what there is")
    parser.add_argument("runs", metavar="DIR", nargs="*", help="run directories, then options: key=value")
    parser.add_argument("--list", action="store_true", help=f"say what each {noun} shows")


def listed(kind: str) -> list[str]:
    """A line for each view with a table, or a figure: what it shows, and its options.

    >>> [line.split()[0] for line in listed("table")][:2]
    ['clustered', 'comparison']
    """
    import inspect

    lines = []
    for name in views.offering(kind):
        module = import_module(f"syntagm.views.{name}")
        options = [*inspect.signature(getattr(module, views.MAKERS[kind])).parameters][1:]
        shown = f" [{' '.join(f'{one}=' for one in options)}]" if options else ""
        summary = " ".join((module.__doc__ or "").split("\n\n")[0].split()).rstrip(".")
        lines.append(f"{name:<22}{summary.partition(': ')[2] or summary}{shown}")
    return lines


def made(kind: str, options: argparse.Namespace) -> Any:
    """The figure or table that the command line asks for, and its runs.

    Raises:
        UsageError: no such name, no runs, or an option that it does not take.
        RunError: a folder that is no run directory.
    """
    from syntagm.runs.several import called
    from syntagm.runs.store import open_run

    names = views.offering(kind)
    if options.name not in names:
        expected = "one of " + ", ".join(names)
        raise UsageError(f"{kind}s", f"no such name: {options.name!r}" if options.name else "no name", expected)
    folders, chosen = split(options.runs)
    runs = [open_run(one) for one in folders]
    maker = getattr(import_module(f"syntagm.views.{options.name}"), views.MAKERS[kind])
    return called(maker, runs, chosen, f"{kind} {options.name}"), runs


def split(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Folders, and options of the form key=value; a folder that is there is a folder whatever its name.

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
    """1 if a run is not finished, which is said."""
    import sys

    for one in runs:
        if not one.done:
            print(f"syntagm: run {one.folder} is not finished: only its finished shards count", file=sys.stderr)
    return 0 if all(one.done for one in runs) else 1
