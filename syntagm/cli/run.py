"""Evaluate a language model on suites, into a run directory.

SUITE is a file, a folder, a pattern, or a bundled collection (hu2020) or one suite of it (hu2020/mvrr). MODEL is a bundled
model (demo, toy), a folder, a name on the hub (gpt2, org/name@revision), or family:path?option=value&option=value.

Stop it with Ctrl-C, or kill it: the same command line continues. Given again after the end, it shows the results.

    syntagm run demo --suite hu2020 -o runs/demo
    syntagm run 'gpt2?bos=yes' --suite blimp/*.jsonl -o runs/gpt2
    syntagm run demo --suite marvin2018 -n 200 --seed 7 -o runs/ml
"""

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _model

if TYPE_CHECKING:
    from syntagm.cli._screen import Screen
    from syntagm.evaluate import Cache


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    _model.arguments(parser)
    add(
        "--suite",
        metavar="SUITE",
        nargs="+",
        required=True,
        action="extend",
        help="files, folders, patterns, collections",
    )
    add("-o", "--output", metavar="DIR", required=True, type=Path, help="the run directory, new or to go on with")
    add("-n", metavar="N", help="of templates and collections: N items of each suite")
    add("--seed", metavar="S", help="of what is drawn (1)")
    add("--style", choices=["natural", "published"], help="of templates: capital and full stop, or neither (natural)")
    add(
        "--align",
        choices=["strict", "start"],
        default="strict",
        help="a token over a region border: refuse it, or leave it where it starts, as SyntaxGym does",
    )
    add("--cache", metavar="FILE", type=Path, help="where answers are kept across runs")
    add("--no-cache", action="store_true", help="keep no answers across runs, and use none")
    add("--no-report", action="store_true", help="write no HTML report")
    add("--dry-run", action="store_true", help="say what would be done, and stop")


def run(arguments: argparse.Namespace) -> int:
    """Run the suites, print the table, write the report."""
    from syntagm.cli._screen import Screen, show_plan, show_run
    from syntagm.formats._many import SuiteFiles
    from syntagm.formats._read import expand, with_options

    drawn = {key: value for key in ("n", "seed", "style") if (value := getattr(arguments, key)) is not None}
    named = [with_options(suite, drawn) for suite in arguments.suite]
    suites = SuiteFiles(expand(named, allow_pickle=arguments.allow_pickle))
    if arguments.dry_run:
        show_plan(arguments.model, suites)
        return 0
    from syntagm import recording

    # Refused before the model is loaded, if the folder can't be had.
    with recording.claim(arguments.output):
        pass
    model = _model.load(arguments)
    with Screen() as screen:
        cache = _cache(arguments, screen)
        command = shlex.join(["syntagm", *sys.argv[1:]])
        done = recording.run(
            model, suites, arguments.output, align=arguments.align, cache=cache, progress=screen, command=command
        )
    page = None if arguments.no_report else arguments.output / "report.html"
    if page:
        from syntagm.report.page import report

        report([done], page)
    show_run(done, page)
    return 0


def _cache(arguments: argparse.Namespace, screen: "Screen") -> "Cache | None":
    from syntagm.cache import AnswerCache, default_path

    return None if arguments.no_cache else AnswerCache(arguments.cache or default_path(), screen.warned)
