"""Write a run, or several side by side, as one HTML page that opens offline.

The page holds every number with its interval and signature, a plot of surprisal by region for each suite, and up to 50 items
a suite token by token. It is one file of at most 10 MB that loads nothing. Looking never computes with a model.

    syntagm report runs/demo
    syntagm report runs/demo runs/gpt2 -o both.html
    syntagm report runs/demo --figures figures --format svg,pdf

Exit code 1: the page is written, but a run is not finished; the page says so.
"""

import argparse
from pathlib import Path

from syntagm.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a run directory")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where the page goes; DIR/report.html unless there are several"
    )
    parser.add_argument("--figures", metavar="FOLDER", help="also write each figure, with its numbers as CSV, here")
    parser.add_argument(
        "--format", metavar="LIST", default="png,svg,pdf", help="of the figures: png,svg,pdf (default) or some of them"
    )


def run(options: argparse.Namespace) -> int:
    """Write the page, and the figures if asked; print where they are."""
    if not options.output and len(options.folders) > 1:
        raise UsageError("report", f"{len(options.folders)} runs and no -o", "-o FILE", "Say where their page goes.")
    output = Path(options.output or Path(options.folders[0]) / "report.html")

    from syntagm.report.drawings import save
    from syntagm.report.page import report
    from syntagm.run import open_run

    runs = [open_run(folder) for folder in options.folders]
    print(report(runs, output))
    if options.figures:
        for path in save(runs, Path(options.figures), options.format.split(",")):
            print(path)
    return 0 if all(one.done for one in runs) else 1
