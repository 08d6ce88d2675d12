"""The steps of an evaluation that commands share: find the suites, take the folder, load the model, run or fill."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _model

if TYPE_CHECKING:
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.runs.gap_run import FillRun
    from syntagm.runs.store import Run

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
    """Run the model of the command line on the suites into `place`, or go on with the run that is there.

    Raises:
        RunError: the folder can't be had; said before the model is loaded.
        UsageError, ModelError: the model can't be loaded.
        Interrupted: the user asked to stop.
    """
    from syntagm.cli._screen import Screen
    from syntagm.runs import engine as recording
    from syntagm.runs.cache import AnswerCache, default_path

    with recording.claim(place):
        pass
    model = _model.load(options)
    command, align = shlex.join(["syntagm", *sys.argv[1:]]), vars(options).get("align", "strict")
    with Screen() as screen:
        where = getattr(options, "cache", None) or default_path()
        cache = None if options.no_cache else AnswerCache(where, screen.warned)
        return recording.run(model, files, place, align=align, cache=cache, progress=screen, command=command)


def filled(
    options: argparse.Namespace,
    files: "SuiteFiles",
    place: Path,
    named: str,
    top: Sequence[float],
    bottom: Sequence[float],
) -> "FillRun":
    """Fill the blanks of the suites with the model of the command line into `place`, or go on with the run that is there.

    Arguments:
        named: the word list, bundled or a file.
        top, bottom: cut-offs, as `runs.gap_recording.fill` takes them.

    Raises:
        RunError: the folder can't be had; said before the model is loaded.
        UsageError, InputError, ModelError: the word list or the model can't be had.
        Interrupted: the user asked to stop.
    """
    from syntagm import word_list
    from syntagm.cli._screen import Screen
    from syntagm.runs import gap_recording as recording
    from syntagm.runs.ledger import claim

    words = word_list.read(named)
    with claim(place):
        pass
    model = _model.load(options)
    command, chosen = shlex.join(["syntagm", *sys.argv[1:]]), vars(options)
    eligible, shared = chosen.get("eligible", "all"), chosen.get("blank") == "shared"
    limits = {"top": top, "bottom": bottom}
    with Screen("context") as screen:
        return recording.fill(
            model, files, words, place, eligible=eligible, shared=shared, progress=screen, command=command, **limits
        )
