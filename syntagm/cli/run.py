"""Evaluate a language model on suites, into a run directory.

SUITE is a file, a folder, a pattern, or a bundled collection (hu2020) or one suite of it (hu2020/mvrr). MODEL is a bundled
model (demo, toy), a folder, a name on the hub (gpt2, org/name@revision), or family:path?option=value&option=value.

Stop it with Ctrl-C, or kill it: the same command line continues. Given again after the end, it shows the results.

    syntagm run demo --suite hu2020 -o runs/demo
    syntagm run 'gpt2?bos=yes' --suite blimp/*.jsonl -o runs/gpt2
    syntagm run demo --suite marvin2018 -n 200 --seed 7 -o runs/ml
    syntagm run demo --suite hu2020/mvrr --measure 'surprisal(condition=reduced_ambig, region=disambiguator)' -o runs/bits
"""

import argparse
from pathlib import Path

from syntagm.cli import _model


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
    add(
        "--measure",
        metavar="MEASURE",
        action="append",
        help="judge items by NAME(option=value, ...) in place of the suites' predictions; may be given several times",
    )
    add("--cache", metavar="FILE", type=Path, help="where answers are kept across runs")
    add("--no-cache", action="store_true", help="keep no answers across runs, and use none")
    add("--no-report", action="store_true", help="write no HTML report")
    add("--dry-run", action="store_true", help="say what would be done, and stop")


def run(arguments: argparse.Namespace) -> int:
    """Run the suites, print the table, write the report."""
    from syntagm.cli._recorded import recorded, suites
    from syntagm.cli._screen import show_plan, show_run

    files = suites(arguments, arguments.suite)
    if arguments.dry_run:
        show_plan(arguments.model, files)
        return 0
    done = recorded(arguments, files, arguments.output)
    page = None if arguments.no_report else arguments.output / "report.html"
    if page:
        from syntagm.report.page import report

        report([done], page)
    show_run(done, page)
    return 0
