"""Evaluation steps that several commands share: find the suites, lock the folder, load the model and run it."""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _model

if TYPE_CHECKING:
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.models.contract import LanguageModel
    from syntagm.runs.store import Run

_TEMPLATE_OPTIONS = ("n", "seed", "style")


def arguments(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add the arguments that name the model, the suites and the run directory.

    Arguments:
        several: whether there may be several models.
    """
    add = parser.add_argument
    _model.arguments(parser, several)
    add(
        "--name",
        metavar="LABEL",
        action="append",
        default=[],
        help="a short name of the model for tables and figures"
        + ("; once for each model, in order" if several else ""),
    )
    add(
        "--suite",
        metavar="SUITE",
        nargs="+",
        required=True,
        action="extend",
        help="files, folders, patterns, bundled collections",
    )
    _files.add_output(parser, "DIR", "the run directory, new or unfinished", required=True)
    add("-n", metavar="N", help="generate N items per suite, from templates and bundled collections")
    add("--limit", metavar="N", type=int, help="evaluate at most N items of each suite, drawn at random")
    add("--seed", metavar="S", help="random seed for the items that -n generates or --limit draws (1)")
    add(
        "--style",
        choices=["natural", "published"],
        help="natural: with an initial capital and a full stop; published: without them (natural)",
    )


def suites(options: argparse.Namespace, names: Sequence[str]) -> "SuiteFiles":
    """Find suites by name, passing on -n, --seed and --style as their options.

    Arguments:
        names: files, folders, patterns, bundled collections.

    Raises:
        UsageError: a name is none of these.
    """
    from syntagm.materials.finding import expand
    from syntagm.materials.reading import with_options
    from syntagm.materials.suite_files import SuiteFiles

    chosen = {key: value for key in _TEMPLATE_OPTIONS if (value := getattr(options, key, None)) is not None}
    if (options.limit is not None or stop_at(options) is not None) and options.n is None:
        # Then the seed is that of the sample. Files that are not templates have no seed.
        chosen.pop("seed", None)
    return SuiteFiles(expand([with_options(name, chosen) for name in names], allow_pickle=options.allow_pickle))


def evaluate(options: argparse.Namespace, files: "SuiteFiles", folder: Path) -> "Run":
    """Evaluate the model of the command line on the suites, in the run directory `folder`, or resume the run there.

    Raises:
        RunError: the folder is in use or can't be written; raised before the model is loaded.
        UsageError, ModelError: a measure does not exist, or the model can't be loaded.
        Interrupted: the user requested a stop.
    """
    from syntagm.cli._screen import Screen
    from syntagm.runs.cache import AnswerCache, default_path
    from syntagm.runs.evaluate import run_suites
    from syntagm.tasks import measures

    sample = limits(options)
    calls = [measures.parse(call) for call in options.measure or []]
    with Screen() as screen:
        path = options.cache or default_path()
        cache = None if options.no_cache else AnswerCache(path, screen.warned)
        model = _load(options, folder)
        return run_suites(
            model, files, folder, measures=calls, **sample, stop_at=stop_at(options), align=options.align, cache=cache,
            progress=screen, command=_command(options),
        )  # fmt: skip


def fill(
    options: argparse.Namespace,
    files: "SuiteFiles",
    folder: Path,
    words: str,
    top: Sequence[float],
    bottom: Sequence[float],
) -> "Run":
    """Score words in the gaps of the suites with the model of the command line, in `folder`, or resume the run there.

    Arguments:
        words: the word list: a bundled name or a file.
        top, bottom: nucleus cut-offs, as for `runs.evaluate.fill`.

    Raises:
        RunError: the folder is in use or can't be written; raised before the model is loaded.
        UsageError, InputError, ModelError: the word list or the model can't be loaded.
        Interrupted: the user requested a stop.
    """
    from syntagm import word_list
    from syntagm.cli._screen import Screen
    from syntagm.runs.evaluate import fill

    sample, listed = limits(options), word_list.read(words)
    with Screen("context") as screen:
        model = _load(options, folder)
        return fill(
            model, files, listed, folder, **sample, eligible=options.eligible, top=tuple(top), bottom=tuple(bottom),
            shared=options.blank == "shared", progress=screen, command=_command(options),
        )  # fmt: skip


def limits(options: argparse.Namespace) -> dict[str, Any]:
    """Return the limit and the seed of the sample of items.

    Raises:
        UsageError: one of them is not an integer, or the limit is below 1.
    """
    from syntagm.errors import UsageError
    from syntagm.io.number import whole

    if options.limit is not None and options.limit < 1:
        raise UsageError("--limit", str(options.limit), "at least 1")
    sampling = (options.limit is not None or stop_at(options) is not None) and options.seed is not None
    return {"limit": options.limit, "seed": whole("--seed", options.seed, least=0) if sampling else 1}


def stop_at(options: argparse.Namespace) -> float | None:
    """Return the half-width of --stop-at; None if it isn't given, or no option of the command."""
    value: float | None = getattr(options, "stop_at", None)
    return value


def _load(options: argparse.Namespace, folder: Path) -> "LanguageModel":
    """Load the model, after checking that the run directory can be locked and written."""
    from syntagm.errors import UsageError
    from syntagm.runs.ledger import locked

    if len(options.name) > 1:
        raise UsageError("--name", f"{len(options.name)} names", "one for the model")
    with locked(folder):
        pass
    model = _model.load(options)
    model.label = next(iter(options.name), "")
    return model


def _command(options: argparse.Namespace) -> str:
    """Return the command line, with the options of a configuration file written out."""
    return shlex.join(options.line)
