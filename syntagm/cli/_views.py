"""Arguments shared by the commands figure and table: the name of a view, run directories, and options of the view."""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _options
from syntagm.core import UsageError, settings
from syntagm.views import by_name

if TYPE_CHECKING:
    from syntagm.runs import Run

READING = "reading_times.views"
# The rooms of views: of runs, and of analyses of reading times.
ROOMS = ("views", READING)
_OPTION = re.compile(r"([a-z_]+)=(.*)", re.DOTALL)


def arguments(parser: argparse.ArgumentParser, kind: by_name.Kind) -> None:
    """Add NAME, DIR, the options of views, and --list."""
    parser.add_argument("name", metavar="NAME", nargs="?", help=f"the name of the {kind}; --list shows all names")
    parser.add_argument(
        "runs",
        metavar="DIR|FILE",
        nargs="*",
        help=f"run directories, or files of `syntagm reading`; then options of the {kind}: key=value",
    )
    add_names(parser)
    add_convention(parser)
    parser.add_argument(
        "--list", action="store_true", help=f"list all names and what each {kind} shows; after a NAME, list its options"
    )
    _options.add_intervals(parser)


def add_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--name",
        dest="labels",
        metavar="LABEL",
        action="append",
        default=[],
        help="a short name of the model, once for each DIR, in order; by default that given to `syntagm run`",
    )


def add_convention(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--convention",
        metavar="NAME",
        type=_convention,
        help="judge predictions about whole sentences by another number than the run was: bits, mean_token, mean_byte+"
        "ties_as_hits ... (docs/reference/conventions.md), or `published`, that of each dataset's authors; computed from the "
        "stored tokens, and named in signatures",
    )


def _convention(text: str) -> str:
    """Return the name of a convention, or `published`; "" is not the same as none."""
    from syntagm.evaluation import canonical

    return canonical(text)


def open_runs(folders: Sequence[str], names: Sequence[str]) -> "list[Run]":
    """Open run directories, and those in a folder of several, and name their models as --name says."""
    from syntagm.runs import open_run, run_folders

    found = [path for folder in folders for path in run_folders(folder)]
    if names and len(names) != len(found):
        raise UsageError("--name", f"{len(names)} for {len(found)} runs", "one for each run, in order, or none")
    runs = [open_run(folder) for folder in found]
    for run, name in zip(runs, names, strict=False):
        run.name = name
    return runs


def lines(kind: by_name.Kind, name: str | None = None) -> Iterator[str]:
    """Yield the lines that --list prints: one for each table or figure or, with a name, one for each option of that view.

    >>> [line.split()[0] for line in lines("table")][:2]
    ['auc', 'ceiling']
    >>> print(*list(lines("table", "scores"))[1:], sep="\\n")
      measure=first         name of a prediction, `first`, `all`, or `each` for all predictions one by one
      wide=no               one column for each model: yes or no
    """
    listed = [(each, room) for room in ROOMS for each in by_name.offering(kind, room)]
    for view, room in [(name, room_of(kind, name))] if name else listed:
        declared = settings.of_parameters(by_name.find(kind, view, room))
        shown = f" [{' '.join(f'{option.name}=' for option in declared)}]" if declared and not name else ""
        yield f"{view:<22}{by_name.summary(view, room)}{shown}"
        for option in declared if name else ():
            values = f": {' or '.join(option.values.texts)}" if option.values.texts else ""
            yield f"  {f'{option.name}={option.default}':<21} {option.help}{values}"


def given(kind: by_name.Kind, options: argparse.Namespace) -> "tuple[Any, list[Run]]":
    from syntagm.views import called

    room = room_of(kind, options.name or "")
    maker = by_name.find(kind, options.name or "", room)
    if room == READING:
        if options.convention:
            raise UsageError("--convention", f"{options.convention} with analyses of reading times", "runs")
        return _of_analyses(maker, options.runs, options.labels, f"{kind} {options.name}"), []
    from syntagm.runs import different_content
    from syntagm.stats import bootstrap

    folders, chosen = split(options.runs)
    runs = open_runs(folders, options.labels)
    if options.convention:
        _refuse_convention(options.convention, options.name, maker)
        runs = rejudged(runs, options.convention)
    if different := different_content(runs):
        print(f"syntagm: {different}", file=sys.stderr)
    with bootstrap.using(_options.given_resampling(options)):
        made, judged = called(maker, runs, chosen, f"{kind} {options.name}")
    if options.convention:
        if not judged:
            found = f"{options.convention} with {options.name}, which shows neither verdicts nor margins"
            cure = "Leave it out: no convention changes these numbers."
            raise UsageError("--convention", found, "another view", cure)
        warn_of_bits(runs, options.convention)
    return made, runs


def _refuse_convention(convention: str, name: str, maker: Any) -> None:
    """Raise UsageError if a view computes conventions itself."""
    if any(option.name == "convention" for option in settings.of_parameters(maker)):
        cure = f"Use its option: syntagm table {name} RUN convention={convention}"
        raise UsageError(
            "--convention", f"{convention} with {name}, which shows conventions itself", "another view", cure
        )


def rejudged(runs: "Sequence[Run]", convention: str) -> "list[Run]":
    from syntagm.runs import Rejudged

    return [Rejudged(run, convention) for run in runs]


def under(runs: "list[Run]", convention: str | None) -> "list[Run]":
    """Return the runs judged by a convention if one is given, and warn about predictions that it leaves in bits."""
    if not convention:
        return runs
    judged = rejudged(runs, convention)
    warn_of_bits(judged, convention)
    return judged


def warn_of_bits(runs: "Sequence[Run]", convention: str) -> None:
    """Warn about predictions of runs judged by a convention that are judged in bits nevertheless."""
    from syntagm.evaluation import warnings_of_convention
    from syntagm.runs import Rejudged

    judged = [run for run in runs if isinstance(run, Rejudged)]
    warnings = [each for run in judged for each in warnings_of_convention(run.in_bits, len(run.suites), convention)]
    for warning in dict.fromkeys(warnings):
        print(f"syntagm: {warning}", file=sys.stderr)


def save(kind: by_name.Kind, name: str, made: Any, stem: Path, formats: Sequence[str], force: bool) -> None:
    """Save the table or the figure of a view, and print the paths; arguments and errors as for `_files.save`."""
    print(*_files.save(made, stem, formats, force, by_name.headers(name, room_of(kind, name))), sep="\n")


def divide(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide paths into run directories and files of `syntagm reading`, which have a record beside them."""
    from syntagm.reading_times import is_analysis

    found = [path for path in paths if Path(path).is_file() and is_analysis(path)]
    return [path for path in paths if path not in found], found


def _of_analyses(maker: Any, words: Sequence[str], labels: Sequence[str], place: str) -> Any:
    from syntagm.reading_times import open_analyses
    from syntagm.views import call

    paths, chosen = split(words)
    if labels:
        raise UsageError(
            "--name", "with analyses of reading times", "no names", "Their names are those of their files."
        )
    return call(maker, open_analyses(paths), chosen, place)


def room_of(kind: by_name.Kind, name: str) -> str:
    """Return the room of a view: that of views of runs, unless only the other one has it."""
    return READING if name in by_name.offering(kind, READING) else "views"


def split(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Separate folders from options of the form key=value; the name of an existing folder is never treated as an option.

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
    """Return 1 and print a message if a run is not finished; else return 0."""
    for run in runs:
        if not run.done:
            print(f"syntagm: run {run.place} is not finished: only its finished shards are used", file=sys.stderr)
    return 0 if all(run.done for run in runs) else 1
