"""The options of evaluations, the `Evaluation` that they ask for, and its progress on the screen."""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _options
from syntagm.core import SyntagmError, UsageError, atomic, counted, whole

if TYPE_CHECKING:
    from syntagm.cli._screen import Screen, WorkersScreen
    from syntagm.evaluation import Task
    from syntagm.runs import Evaluation, Job, Run
    from syntagm.suites import Draw

_TEMPLATE_OPTIONS = {"n": "-n", "seed": "--seed", "style": "--style"}


def arguments(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add the arguments that name the model, the suites and the run directory."""
    add = parser.add_argument
    _options.add_models(parser, several)
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
    add(
        "--exclude",
        metavar="FILE",
        type=Path,
        help="leave out the items of a list, CSV with the columns suite and item, as check --exclude-list writes it",
    )
    add(
        "--language",
        metavar="TAG",
        help="the language of all suites (BCP 47, such as de or zh-Hant); known of published datasets",
    )
    add("--seed", metavar="S", help="random seed for the items that -n generates or --limit draws (1)")
    add(
        "--style",
        choices=["natural", "published"],
        help="natural: with an initial capital and a full stop; published: without them (natural)",
    )
    executor(parser)


def executor(parser: argparse.ArgumentParser) -> None:
    """Add --executor, --quiet and --verbose."""
    from syntagm.runs import executors

    parser.add_argument(
        "--executor", metavar="EXECUTOR", default="", help=f"compute in other processes: {executors.described()}"
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


@dataclass(frozen=True, slots=True)
class Display:
    """How much of the progress is printed."""

    quiet: bool  # whether to print warnings only
    verbose: bool  # whether to print details, too

    def screen(self, noun: str, following: tuple[int, int] = (0, 0)) -> "Screen":
        from syntagm.cli._screen import Screen

        return Screen(noun, self.quiet, self.verbose, following)

    def of_workers(self, asked: "Evaluation", finished: Set[str] = frozenset()) -> "WorkersScreen":
        from syntagm.cli._screen import WorkersScreen

        return WorkersScreen(len(asked.jobs), asked.task.noun, self.quiet, self.verbose, finished)


@dataclass(frozen=True, slots=True)
class Generation:
    """How items are generated, as the command line says it; None for an option that is not given."""

    n: str | None = None
    seed: str | None = None
    style: str | None = None


def given_fields(record: type[Any], options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that have the names of fields of a record. So an option needs a flag and a field only."""
    return {each.name: getattr(options, each.name) for each in fields(record) if hasattr(options, each.name)}


def given(
    options: argparse.Namespace, task: "Task[Any]", jobs: "Sequence[Job]", suites: Sequence[str], output: Path
) -> "Evaluation":
    from syntagm.runs import Evaluation
    from syntagm.suites import SuiteFiles, excluded, expand, find, with_options

    permissions, draw = _options.given_permissions(options), given_draw(options)
    known = {"task": task, "suites": (), "jobs": tuple(jobs), "draw": draw, "permissions": permissions}
    known |= {"output": output, "cache": given_cache(options, task), "command": shlex.join(options.line)}
    asked = Evaluation(**given_fields(Evaluation, options) | known)
    skipped: list[str] = []
    named = with_template_options(suites, given_generation(options))
    if language := getattr(options, "language", None):
        named = [with_options(name, {"language": find(language).tag}) for name in named]
    files = expand(named, skipped)
    if not options.quiet:
        _files.note_skipped(skipped)
        _files.note_columns(files)
    read = SuiteFiles(files, permissions.allow_pickle)
    if draw.exclude:
        excluded.refuse_unknown(draw.exclude, read)
        if not options.quiet:
            print(f"{counted(len(draw.exclude), 'item')} excluded by {options.exclude}", file=sys.stderr)
    return replace(asked, suites=read)


def given_draw(options: argparse.Namespace) -> "Draw":
    from syntagm.suites import Draw, excluded

    chosen = given_fields(Draw, options)
    if listed := chosen.pop("exclude", None):
        chosen["exclude"] = excluded.read(listed)
    if (limit := chosen.get("limit")) is not None and limit < 1:
        raise UsageError("--limit", str(limit), "at least 1")
    seed = chosen.pop("seed", None)
    # Otherwise, it is the seed of generated items, which need not be drawn again.
    if seed is not None and _draws(chosen):
        chosen["seed"] = whole("--seed", seed, least=0)
    return Draw(**chosen)


def given_generation(options: argparse.Namespace) -> Generation:
    from syntagm.suites import Draw

    generation = Generation(**given_fields(Generation, options))
    # With a sample, the seed is that of the sample, unless items are generated. Files that are not templates have no seed.
    sampled = _draws(given_fields(Draw, options)) and generation.n is None
    return replace(generation, seed=None) if sampled else generation


def _draws(draw: dict[str, Any]) -> bool:
    return any(draw.get(name) is not None for name in ("limit", "stop_at"))


def given_cache(options: argparse.Namespace, task: "Task[Any]") -> Path | None:
    from syntagm.runs import default_path, find

    file: Path | None = getattr(options, "cache", None)
    executor = find(options.executor) if options.executor else None
    if task.needs != "score":
        return None
    if options.no_cache:
        if file:
            raise UsageError("--cache", "given with --no-cache", "one of the two")
        return None
    if executor and not executor.one_machine:
        if file:
            cure = "Omit --cache: finished units are not computed again in any case."
            raise UsageError("--cache", f"given with --executor {options.executor}", "workers on one machine", cure)
        # SQLite's log works between processes of one machine only.
        return None
    return file or default_path()


def with_template_options(names: Sequence[str], generation: Generation) -> list[str]:
    """Return names of suites with -n, --seed and --style as their options."""
    from syntagm.suites import expand, option_names, recognised, with_options

    chosen = {key: value for key, value in asdict(generation).items() if value is not None}
    for file in expand(names):
        path, module, _ = recognised(file)
        if other := next((key for key in chosen if key not in option_names(module)), None):
            cure = "--limit N draws N items of any suite." if other != "style" else ""
            expected = "templates and bundled collections"
            raise UsageError(
                _TEMPLATE_OPTIONS[other], f"given for {path}, whose items are not generated", expected, cure
            )
    return [with_options(name, chosen) for name in names]


def one_label(labels: Sequence[str]) -> str:
    """Return the label of the only model of a command; "" if it has none."""
    if len(labels) > 1:
        raise UsageError("--name", f"{len(labels)} names", "one for the model")
    return next(iter(labels), "")


def carry_out(asked: "Evaluation", display: Display) -> "Run":
    """Evaluate the only model of an evaluation, or resume its run, and show the progress; see `runs.carrying_out`."""
    from syntagm.runs import refuse_unable

    if not asked.executor:
        return carry_out_here(asked, asked.job, display)
    # The model itself may be where the workers are, and not here.
    refuse_unable(asked, asked.job)
    [(_, result)] = carry_out_by_workers(asked, display)
    if isinstance(result, SyntagmError):
        raise result
    return result


def carry_out_here(
    asked: "Evaluation", job: "Job", display: Display, following: tuple[int, int] = (0, 0), before: "Run | None" = None
) -> "Run":
    """Evaluate one of the models in this process, and show the progress."""
    from syntagm.runs import carrying_out
    from syntagm.suites import SuiteFiles

    if isinstance(asked.suites, SuiteFiles):
        asked.suites.hold()
    with display.screen(asked.task.noun, following) as shown:
        return carrying_out.carry_out(asked, job, shown, before)


def after_pilots_here(asked: "Evaluation", display: Display) -> "Evaluation":
    """Return the evaluation with the number of items that pilots of all models choose; itself without --stop-at."""
    from syntagm.runs import carrying_out

    def began(number: int, job: "Job") -> None:
        if not display.quiet:
            print(f"{job.shown} ({number} of {len(asked.jobs)}): pilot", file=sys.stderr)

    if not asked.draw.needs_pilot:
        return asked
    with display.screen(asked.task.noun) as shown:
        return carrying_out.after_pilots(asked, carrying_out.pilots(asked, shown, began), shown)


def carry_out_by_workers(
    asked: "Evaluation", display: Display, finished: Set[str] = frozenset()
) -> "Iterator[tuple[Job, Run | SyntagmError]]":
    """Evaluate the models with workers, and show the progress. Yield each model when it is finished or has failed."""
    from syntagm.runs import carrying_out

    assert asked.output, "a command has a folder"
    with atomic.used_folder(asked.output):
        if asked.draw.needs_pilot:
            with display.of_workers(asked) as shown:
                asked = carrying_out.after_pilots(asked, carrying_out.pilots_of_workers(asked, shown), shown)
        with display.of_workers(asked, finished) as shown:
            yield from carrying_out.with_workers(asked, shown)
