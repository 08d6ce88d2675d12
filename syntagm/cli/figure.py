"""Draw a figure of runs, with the numbers behind it as CSV.

    syntagm figure --list
    syntagm figure scores --list
    syntagm figure scores runs/demo runs/gpt2 -o figures/scores
    syntagm figure regions runs/demo suite=mvrr -o mvrr --format svg,pdf

Writes STEM.csv and STEM.png, STEM.svg, ... as --format says; looking never computes with a model. Options of a figure are
given as key=value. A file that stands there is replaced only if STEM.csv beside it has the header of this figure; --force
replaces it all the same. Exit code 1: a run is not finished.
"""

import argparse
from pathlib import Path

from syntagm.cli import _files, _made, _of_runs
from syntagm.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _of_runs.arguments(parser, "figure")
    parser.add_argument("-o", "--output", metavar="STEM", help="where to, without the ending")
    parser.add_argument("--format", metavar="LIST", help="some of the formats, with commas between; all unless given")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Draw it, or list what there is; the exit code."""
    if options.list:
        print(*_of_runs.listed("figure", options.name), sep="\n")
        return 0
    if not options.output:
        raise UsageError("-o", "nothing", "-o STEM", "Say where the files go, without their ending.")
    from syntagm.drawing.chart import FORMATS
    from syntagm.drawing.save import endings

    formats = options.format.split(",") if options.format else []
    endings(FORMATS, formats)  # refused before anything is computed
    figure, runs = _of_runs.made("figure", options)
    print(*_made.save(figure, Path(options.output), formats, options.force), sep="\n")
    return _of_runs.exit_code(runs)
