"""Evaluate a language model on suites, and write the results to a run directory.

SUITE is a file, a folder, a pattern, a bundled collection (hu2020), or one suite of a
collection (hu2020/mvrr). MODEL is a bundled model (demo, toy), a folder, a name on the
Hugging Face hub (gpt2, org/name@revision), or family:path?option=value&option=value;
`syntagm models` lists the families.

    syntagm run demo --suite hu2020 -o runs/demo
    syntagm run 'gpt2?bos=yes' --suite blimp/*.jsonl -o runs/gpt2
    syntagm run demo --suite marvin2018 -n 200 --seed 7 -o runs/ml
    syntagm run demo --suite hu2020/mvrr --measure 'surprisal(condition=reduced_ambig, region=disambiguator)' -o runs/bits

If you stop the command with Ctrl-C, or kill it, run it again to resume. After the end,
running it again only shows the results.
"""

import argparse
from pathlib import Path

from syntagm.cli import _evaluation


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    add = parser.add_argument
    _evaluation.arguments(parser)
    add(
        "--align",
        choices=["strict", "start"],
        default="strict",
        help="a token that crosses a region border makes the item undefined (strict, the default), or belongs to the region "
        "in which it starts (start), as in SyntaxGym",
    )
    add(
        "--measure",
        metavar="MEASURE",
        action="append",
        help="compute NAME(option=value, ...) for each item instead of the suites' predictions; may be repeated",
    )
    add("--cache", metavar="FILE", type=Path, help="the file that caches surprisals across runs")
    add("--no-cache", action="store_true", help="neither read nor write the cache of surprisals")
    add("--no-report", action="store_true", help="write no HTML report")
    add("--dry-run", action="store_true", help="print what would be scored, then stop")


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the model, write the report, and print the results."""
    from syntagm.cli._evaluation import evaluate, suites
    from syntagm.cli._screen import show_plan, show_run

    files = suites(arguments, arguments.suite)
    if arguments.dry_run:
        show_plan(arguments.model, files)
        return 0
    finished = evaluate(arguments, files, arguments.output)
    page = None if arguments.no_report else arguments.output / "report.html"
    if page:
        from syntagm.report.page import report

        report([finished], page)
    show_run(finished, page)
    return 0
