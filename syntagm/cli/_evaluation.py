"""Evaluation steps that several commands share: find the suites, lock the folder, load the model, run it."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _model

if TYPE_CHECKING:
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.runs.engine import Cache
    from syntagm.runs.store import Run
    from syntagm.tasks.task import Task

_TEMPLATE_OPTIONS = ("n", "seed", "style")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name the model, the suites and the run directory."""
    add = parser.add_argument
    _model.arguments(parser)
    add(
        "--suite",
        metavar="SUITE",
        nargs="+",
        required=True,
        action="extend",
        help="files, folders, patterns, bundled collections",
    )
    _files.add_output(parser, "DIR", "the run directory, new or unfinished", required=True)
    add("-n", metavar="N", help="make N items of each suite, from templates and bundled collections")
    add("--seed", metavar="S", help="random seed for the items that are made (1)")
    add(
        "--style",
        choices=["natural", "published"],
        help="natural: with a capital and a full stop; published: without (natural)",
    )


def suites(options: argparse.Namespace, names: Sequence[str]) -> "SuiteFiles":
    """Find suites by name, with -n, --seed and --style of the command line as their options.

    Arguments:
        names: files, folders, patterns, bundled collections.

    Raises:
        UsageError: a name is none of these.
    """
    from syntagm.materials.finding import expand
    from syntagm.materials.reading import with_options
    from syntagm.materials.suite_files import SuiteFiles

    chosen = {key: value for key in _TEMPLATE_OPTIONS if (value := getattr(options, key, None)) is not None}
    return SuiteFiles(expand([with_options(name, chosen) for name in names], allow_pickle=options.allow_pickle))


def evaluate(options: argparse.Namespace, files: "SuiteFiles", folder: Path) -> "Run":
    """Evaluate the model of the command line on the suites, in the run directory `folder`, or continue the run there.

    Raises:
        RunError: the folder is in use or can't be written; raised before the model is loaded.
        UsageError, ModelError: a measure does not exist, or the model can't be loaded.
        Interrupted: the user asked to stop.
    """
    from syntagm.cli._screen import Screen
    from syntagm.runs.cache import AnswerCache, default_path
    from syntagm.tasks import measures
    from syntagm.tasks.measured import Measures
    from syntagm.tasks.predictions.task import Predictions

    align, calls = vars(options).get("align", "strict"), vars(options).get("measure") or []
    task = Measures(tuple(map(measures.parse, calls)), align) if calls else Predictions(align)
    with Screen() as screen:
        path = getattr(options, "cache", None) or default_path()
        cache = None if options.no_cache else AnswerCache(path, screen.warned)
        return _execute(options, task, files, folder, cache, screen)


def fill(
    options: argparse.Namespace,
    files: "SuiteFiles",
    folder: Path,
    words: str,
    top: Sequence[float],
    bottom: Sequence[float],
) -> "Run":
    """Ask the model of the command line for words in the gaps of the suites, in `folder`, or continue the run there.

    Arguments:
        words: the word list: a bundled name or a file.
        top, bottom: nucleus cut-offs, as `runs.evaluate.fill` takes them.

    Raises:
        RunError: the folder is in use or can't be written; raised before the model is loaded.
        UsageError, InputError, ModelError: the word list or the model can't be loaded.
        Interrupted: the user asked to stop.
    """
    from syntagm import word_list
    from syntagm.cli._screen import Screen
    from syntagm.tasks.gaps.task import Gaps

    chosen = vars(options)
    eligible, shared = chosen.get("eligible", "all"), chosen.get("blank") == "shared"
    task = Gaps(word_list.read(words), eligible, tuple(top), tuple(bottom), shared)
    with Screen("context") as screen:
        return _execute(options, task, files, folder, None, screen)


def _execute(
    options: argparse.Namespace,
    task: "Task[Any]",
    files: "SuiteFiles",
    folder: Path,
    cache: "Cache | None",
    screen: Any,
) -> "Run":
    from syntagm.runs.engine import execute
    from syntagm.runs.ledger import locked

    with locked(folder):
        pass
    command = shlex.join(["syntagm", *sys.argv[1:]])
    return execute(task, _model.load(options), files, folder, cache=cache, progress=screen, command=command)
