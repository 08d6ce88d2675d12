"""Write a run, or several side by side, as one HTML page that opens offline.

The page holds every number with its interval and signature, the models compared, a plot of surprisal by region for each suite,
up to 50 items a suite token by token, and the data behind it as CSV; of runs of `syntagm fill`, the weights against cut-offs and
by lemma, with a few lemmas and contexts of each suite. It is one file of at most 10 MB that loads nothing. Looking
never computes with a model.

    syntagm report runs/demo
    syntagm report runs/demo runs/gpt2 -o both.html
    syntagm report runs/demo --figures figures --format svg,pdf

A file that stands there is replaced only if it is such a page, and figures only if they have their CSV beside them; --force
replaces any. Exit code 1: the page is written, but a run is not finished; the page says so.
"""

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path

from syntagm.cli import _files
from syntagm.errors import UsageError

MARKS = ('name="generator" content="syntagm', '<p class="kicker">syntagm report</p>')


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
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Write the page, and the figures if asked; print where they are."""
    if not options.output and len(options.folders) > 1:
        raise UsageError("report", f"{len(options.folders)} runs and no -o", "-o FILE", "Say where their page goes.")
    output = Path(options.output or Path(options.folders[0]) / "report.html")

    _files.spare(output, MARKS, options.force)
    from syntagm.report.drawings import save
    from syntagm.report.page import report
    from syntagm.runs.store import open_run

    runs = [open_run(folder) for folder in options.folders]
    print(report(runs, output))
    if options.figures:
        formats = options.format.split(",")
        spare = functools.partial(_spare, endings=formats, force=options.force)
        for path in save(runs, Path(options.figures), formats, spare):
            print(path)
    return 0 if all(one.done for one in runs) else 1


def _spare(stem: Path, columns: Sequence[str], endings: Sequence[str], force: bool) -> None:
    _files.spare_set(stem, endings, columns, force)
