"""The steps of an evaluation that commands share: find the suites, take the folder, load the model, run or fill."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _model

if TYPE_CHECKING:
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.runs.engine import Cache
    from syntagm.runs.store import Run
    from syntagm.tasks.task import Task

_DRAWN = ("n", "seed", "style")


def suites(options: argparse.Namespace, named: Sequence[str]) -> "SuiteFiles":
    """The suites that are named, with what the command line says of drawing and spelling them.

    Raises:
        UsageError: a name means nothing.
    """
    from syntagm.materials.finding import expand
    from syntagm.materials.reading import with_options
    from syntagm.materials.suite_files import SuiteFiles

    asked = {key: value for key in _DRAWN if (value := getattr(options, key, None)) is not None}
    return SuiteFiles(expand([with_options(one, asked) for one in named], allow_pickle=options.allow_pickle))


def recorded(options: argparse.Namespace, files: "SuiteFiles", place: Path) -> "Run":
    """Run the model of the command line on the suites into `place`, or continue the run that is there.

    Raises:
        RunError: the folder can't be had; said before the model is loaded.
        UsageError, ModelError: a measure or the model can't be had.
        Interrupted: the user asked to stop.
    """
    from syntagm.cli._screen import Screen
    from syntagm.runs.cache import AnswerCache, default_path
    from syntagm.tasks import measures
    from syntagm.tasks.measured import Measures
    from syntagm.tasks.predictions.task import Predictions

    align, named = vars(options).get("align", "strict"), vars(options).get("measure") or []
    task = Measures(tuple(map(measures.parse, named)), align) if named else Predictions(align)
    with Screen() as screen:
        where = getattr(options, "cache", None) or default_path()
        cache = None if options.no_cache else AnswerCache(where, screen.warned)
        return _executed(options, task, files, place, cache, screen)


def filled(
    options: argparse.Namespace,
    files: "SuiteFiles",
    place: Path,
    named: str,
    top: Sequence[float],
    bottom: Sequence[float],
) -> "Run":
    """Fill the gaps of the suites with the model of the command line into `place`, or continue the run that is there.

    Arguments:
        named: the word list, bundled or a file.
        top, bottom: cut-offs, as `runs.evaluate.fill` takes them.

    Raises:
        RunError: the folder can't be had; said before the model is loaded.
        UsageError, InputError, ModelError: the word list or the model can't be had.
        Interrupted: the user asked to stop.
    """
    from syntagm import word_list
    from syntagm.cli._screen import Screen
    from syntagm.tasks.gaps.task import Gaps

    chosen = vars(options)
    eligible, shared = chosen.get("eligible", "all"), chosen.get("blank") == "shared"
    task = Gaps(word_list.read(named), eligible, tuple(top), tuple(bottom), shared)
    with Screen("context") as screen:
        return _executed(options, task, files, place, None, screen)


def _executed(
    options: argparse.Namespace,
    task: "Task[Any]",
    files: "SuiteFiles",
    place: Path,
    cache: "Cache | None",
    screen: Any,
) -> "Run":
    from syntagm.runs.engine import execute
    from syntagm.runs.ledger import locked

    with locked(place):
        pass
    command = shlex.join(["syntagm", *sys.argv[1:]])
    return execute(task, _model.load(options), files, place, cache=cache, progress=screen, command=command)
