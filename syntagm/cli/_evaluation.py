"""Evaluation steps that several commands share: find the suites, lock the folder, load the model and run it."""

import argparse
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _model
from syntagm.errors import SyntagmError, UsageError

if TYPE_CHECKING:
    from syntagm.cli._screen import Screen
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.models.contract import LanguageModel
    from syntagm.progress import Progress
    from syntagm.runs.cache import AnswerCache
    from syntagm.runs.driver import Job
    from syntagm.runs.executors import Executor
    from syntagm.runs.store import Run
    from syntagm.runs.worker import Work
    from syntagm.suite import Suite
    from syntagm.tasks.task import Task

_TEMPLATE_OPTIONS = {"n": "-n", "seed": "--seed", "style": "--style"}


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
        help="files, folders, patterns, bundled collections, data sets of the hub (hf:ORG/NAME)",
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
    executor(parser)


def executor(parser: argparse.ArgumentParser) -> None:
    """Add --executor, --quiet and --verbose."""
    parser.add_argument(
        "--executor",
        metavar="EXECUTOR",
        help="compute in other processes: local:N (N of this machine), slurm:N (N jobs), ray[:ADDRESS]",
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print no progress: only results with notes on them, warnings and errors",
    )
    amount.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also print, for each unit, who computed it and how long that took, and the times for loading and committing",
    )


def screen(options: argparse.Namespace, noun: str = "sentence", following: tuple[int, int] = (0, 0)) -> "Screen":
    """Return the progress display of the command line; see `Screen`."""
    from syntagm.cli._screen import Screen

    return Screen(noun, options.quiet, options.verbose, following)


def suites(options: argparse.Namespace, names: Sequence[str]) -> "SuiteFiles":
    """Find suites by name, passing on -n, --seed and --style as their options; see `with_template_options`."""
    from syntagm.materials.finding import expand
    from syntagm.materials.suite_files import SuiteFiles

    skipped: list[str] = []
    files = expand(with_template_options(options, names), skipped)
    if not options.quiet:
        _files.note_skipped(skipped)
        _files.note_columns(files)
    return SuiteFiles(files, options.allow_pickle)


def with_template_options(options: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """Return names of suites with -n, --seed and --style as their options.

    Arguments:
        names: files, folders, patterns, bundled collections.

    Raises:
        UsageError: a name is none of these, a file has no such option, or one of the three is given for other suites than
            templates.
    """
    from syntagm.materials.finding import expand
    from syntagm.materials.reading import option_names, recognised, with_options

    chosen = {key: value for key in _TEMPLATE_OPTIONS if (value := getattr(options, key, None)) is not None}
    if (options.limit is not None or stop_at(options) is not None) and options.n is None:
        # Then the seed is that of the sample. Files that are not templates have no seed.
        chosen.pop("seed", None)
    for file in expand(names):
        path, module, _ = recognised(file)
        if other := next((key for key in chosen if key not in option_names(module)), None):
            cure = "--limit N draws N items of any suite." if other != "style" else ""
            expected = "templates and bundled collections"
            raise UsageError(
                _TEMPLATE_OPTIONS[other], f"given for {path}, whose items are not generated", expected, cure
            )
    return [with_options(name, chosen) for name in names]


def evaluate(
    options: argparse.Namespace,
    files: "SuiteFiles",
    folder: Path,
    sizes: Mapping[str, int] | None = None,
    following: tuple[int, int] = (0, 0),
    before: "Run | None" = None,
) -> "Run":
    """Evaluate the model of the command line on the suites, in the run directory `folder`, or resume the run there.

    Arguments:
        sizes: the number of items of each suite, if it is chosen already; see `sizes_here`.
        following: the numbers of unfinished and of finished models that follow it.
        before: a run of this command on the same suites; see `runs.engine.execute`.

    Raises:
        RunError: the folder is in use or can't be written; raised before the model is loaded.
        UsageError, ModelError: a measure does not exist, or the model can't be loaded.
        Interrupted: the user requested a stop.
    """
    from syntagm.runs.engine import execute
    from syntagm.runs.evaluate import drawn
    from syntagm.suite import Sampled

    task = predictions(options)
    if options.executor:
        return _one(options, files, task, folder)
    files.hold()
    with screen(options, following=following) as shown:
        model, sample, reach = _load(options, task, files, folder, shown), limits(options), stop_at(options)
        cache = _answers(options, shown)
        if sizes:
            items = Sampled(files, sizes, sample["seed"], reach)
        else:
            items = drawn(task, model, files, **sample, stop_at=reach, cache=cache, progress=shown)
        command = _command(options)
        return execute(task, model, items, folder, cache=cache, progress=shown, command=command, before=before)


def sizes_here(
    options: argparse.Namespace, files: "SuiteFiles", models: Sequence[tuple[str, str, Path]]
) -> dict[str, int] | None:
    """Return the number of items of each suite that pilots of all models choose for --stop-at; None without this option.

    Arguments:
        models: the models, with their labels and folders.

    Raises:
        SyntagmError: a pilot failed.
    """
    from syntagm.models import names
    from syntagm.runs.evaluate import pilot, sizes_after

    if (reach := stop_at(options)) is None:
        return None
    task, sample = predictions(options), limits(options)

    def runs(shown: "Screen") -> "Iterator[Run]":
        for number, (name, label, _) in enumerate(models, 1):
            if not options.quiet:
                print(f"{label} ({number} of {len(models)}): pilot", file=sys.stderr)
            try:
                task.refuse_unasked(files, names.declared(name))
                model = names.load_permitted(name, _model.granted(options), queries=task.queries)
                yield pilot(task, model, files, sample["seed"], reach, _answers(options, shown), shown)
            except SyntagmError as error:
                raise _of_pilot(f"{label}, pilot", error) from error

    with screen(options) as shown:
        return sizes_after(runs(shown), reach, shown)


def _of_pilot(label: str, error: SyntagmError) -> SyntagmError:
    """Return the error of a model's pilot, without which no model can be evaluated."""
    error.place = f"{label}: {error.place}" if error.place else label
    error.cure = f"{error.cure} --stop-at needs a pilot of each model, so none was evaluated.".lstrip()
    return error


def predictions(options: argparse.Namespace) -> "Task[Any]":
    """Return the task of `syntagm run`: the predictions of the suites, or measures.

    Raises:
        UsageError: a measure does not exist.
    """
    from syntagm.runs.evaluate import task_of

    return task_of(options.measure or (), options.align)


def check(options: argparse.Namespace, task: "Task[Any]") -> None:
    """Refuse options with which no model can be evaluated. No model is loaded, and nothing is written.

    Raises:
        UsageError: there is no such executor, its library is not installed, or options exclude each other.
    """
    from syntagm.runs.evaluate import refuse_beside_stop_at

    if (reach := stop_at(options)) is not None:
        refuse_beside_stop_at(task, options.limit, reach)
    if options.executor:
        _executor(options, task)
    else:
        _cache(options)


def _executor(options: argparse.Namespace, task: "Task[Any]") -> "tuple[Executor, Path | None]":
    """Return the executor of the command line, and the file in which its workers cache answers; None for none."""
    from syntagm.runs.executors import find

    executor = find(options.executor)
    executor.permissions = _model.granted(options)
    cache = _cache(options) if task.needs == "score" else None
    if cache and not executor.one_machine:
        if options.cache:
            cure = "Omit --cache: finished units are not computed again in any case."
            raise UsageError("--cache", f"given with --executor {options.executor}", "workers on one machine", cure)
        # SQLite's log works between processes of one machine only.
        cache = None
    return executor, cache


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
    from syntagm.runs.engine import execute
    from syntagm.suite import Sampled
    from syntagm.tasks.gaps.task import Gaps

    listed, shared = word_list.read(words), options.blank == "shared"
    task = Gaps(listed, options.eligible, tuple(top), tuple(bottom), shared, options.most_probable)
    if options.executor:
        return _one(options, files, task, folder)
    files.hold()
    with screen(options, task.noun) as shown:
        model, sample = _load(options, task, files, folder, shown), Sampled(files, **limits(options))
        return execute(task, model, sample, folder, progress=shown, command=_command(options))


def _one(options: argparse.Namespace, files: "SuiteFiles", task: "Task[Any]", folder: Path) -> "Run":
    """Evaluate one model with the workers of --executor."""
    from syntagm.models import families, names
    from syntagm.runs.driver import Job

    _refuse_several_names(options)
    # The model itself may be where the workers are, and not here.
    declared = names.declared(options.model)
    task.refuse_unasked(files, declared)
    families.refuse_unable(declared, task.queries)
    label = next(iter(options.name), "")
    [(_, result)] = with_workers(options, files, task, [Job(options.model, label, folder)], folder)
    if isinstance(result, SyntagmError):
        raise result
    return result


def with_workers(
    options: argparse.Namespace,
    files: "SuiteFiles",
    task: "Task[Any]",
    jobs: "Sequence[Job]",
    folder: Path,
    finished: Set[str] = frozenset(),
) -> "Iterator[tuple[Job, Run | SyntagmError]]":
    """Evaluate models with the workers of --executor. Yield each model when it is finished or has failed.

    Arguments:
        folder: the folder in which workers and this process exchange files.
        finished: the labels of the models whose runs are finished already.

    Raises:
        UsageError: there is no such executor.
        RunError: the workers can't be started, or have other versions.
        Interrupted: the user requested a stop.
    """
    from syntagm.cli._screen import WorkersScreen
    from syntagm.io import atomic
    from syntagm.runs.driver import drive
    from syntagm.runs.evaluate import sizes_after
    from syntagm.runs.worker import Work

    (executor, cache), sample, reach = _executor(options, task), limits(options), stop_at(options)
    work = Work(task, files.files, sample["limit"], sample["seed"], cache, _command(options), reach)
    amount = (len(jobs), task.noun, options.quiet, options.verbose)
    with atomic.used_folder(folder):
        if reach is not None:
            with WorkersScreen(*amount) as shown:
                work = replace(work, limit=sizes_after(_pilots(jobs, work, folder, executor, shown), reach, shown))
            executor, _ = _executor(options, task)  # the first one has ended with the pilots
        with WorkersScreen(*amount, finished) as shown:
            yield from drive(jobs, work, folder, executor, shown)


def _pilots(
    jobs: "Sequence[Job]", work: "Work", folder: Path, executor: "Executor", progress: "Progress"
) -> "Iterator[Run]":
    """Compute the pilots of --stop-at with workers, in a temporary folder."""
    from syntagm.io import atomic
    from syntagm.runs.driver import drive
    from syntagm.stats import precision

    with atomic.scratch(folder / "pilots") as place:
        pilots = [
            replace(job, label=f"{job.label or job.model}, pilot", folder=place / str(number))
            for number, job in enumerate(jobs)
        ]
        for job, result in drive(pilots, replace(work, limit=precision.PILOT), place, executor, progress):
            if isinstance(result, SyntagmError):
                raise _of_pilot(job.label, result)
            yield result


def _answers(options: argparse.Namespace, progress: "Progress") -> "AnswerCache | None":
    """Open the cache of answers; None for none."""
    from syntagm.runs.cache import AnswerCache

    return AnswerCache(path, progress.warned) if (path := _cache(options)) else None


def _cache(options: argparse.Namespace) -> Path | None:
    """Return the file that caches answers; None for none.

    Raises:
        UsageError: there are both --cache and --no-cache.
    """
    from syntagm.runs.cache import default_path

    if options.no_cache and options.cache:
        raise UsageError("--cache", "given with --no-cache", "one of the two")
    return None if options.no_cache else options.cache or default_path()


def limits(options: argparse.Namespace) -> dict[str, Any]:
    """Return the limit and the seed of the sample of items.

    Raises:
        UsageError: one of them is not an integer, or the limit is below 1.
    """
    from syntagm.io.number import whole

    if options.limit is not None and options.limit < 1:
        raise UsageError("--limit", str(options.limit), "at least 1")
    sampling = (options.limit is not None or stop_at(options) is not None) and options.seed is not None
    return {"limit": options.limit, "seed": whole("--seed", options.seed, least=0) if sampling else 1}


def stop_at(options: argparse.Namespace) -> float | None:
    """Return the half-width of --stop-at; None if it isn't given, or no option of the command."""
    value: float | None = getattr(options, "stop_at", None)
    return value


def refuse_unable(model: str, options: argparse.Namespace, task: "Task[Any]", files: "Iterable[Suite]") -> None:
    """Refuse a model as far as its name tells that it can't do the task. No weights are read.

    Raises:
        UsageError, ModelError: as for `models.names.check` and `Task.refuse_unasked`.
    """
    from syntagm.models import names

    task.refuse_unasked(files, names.declared(model))
    names.check(model, _model.granted(options), task.queries)


def _load(
    options: argparse.Namespace, task: "Task[Any]", files: "SuiteFiles", folder: Path, progress: "Progress"
) -> "LanguageModel":
    """Load the model, after checking that it can do the task, and that the run directory can be locked and written."""
    from syntagm.models import names
    from syntagm.runs.ledger import locked

    _refuse_several_names(options)
    task.refuse_unasked(files, names.declared(options.model))
    with locked(folder):
        pass
    began = time.monotonic()
    # The engine shows the model's warnings, as it does for workers.
    model = names.load_permitted(options.model, _model.granted(options), queries=task.queries)
    progress.noted(f"loaded in {time.monotonic() - began:.2f} s")
    model.label = next(iter(options.name), "")
    return model


def _refuse_several_names(options: argparse.Namespace) -> None:
    if len(options.name) > 1:
        raise UsageError("--name", f"{len(options.name)} names", "one for the model")


def _command(options: argparse.Namespace) -> str:
    """Return the command line, with the options of a configuration file written out."""
    return shlex.join(options.line)
