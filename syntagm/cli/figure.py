"""Draw a figure of runs, with the numbers behind it as CSV.

    syntagm figure --list
    syntagm figure scores runs/demo runs/gpt2 -o figures/scores
    syntagm figure regions runs/demo suite=mvrr -o mvrr --format svg,pdf

Writes STEM.csv and STEM.png, STEM.svg, ... as --format says; looking never computes with a model. Options of a figure are
given as key=value. A file that stands there is replaced only if STEM.csv beside it has the header of this figure; --force
replaces it all the same. Exit code 1: a run is not finished.
"""

import argparse
from pathlib import Path

from syntagm.cli import _files, _of_runs
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
        print("\n".join(_of_runs.listed("figure")))
        return 0
    if not options.output:
        raise UsageError("-o", "nothing", "-o STEM", "Say where the files go, without their ending.")
    from syntagm.drawing.save_chart import FORMATS, save

    formats = options.format.split(",") if options.format else list(FORMATS)
    if odd := [one for one in formats if one not in FORMATS]:
        raise UsageError("--format", repr(odd[0]), "some of " + ",".join(FORMATS))
    figure, runs = _of_runs.made("figure", options)
    stem = Path(options.output)
    _files.spare_set(stem, formats, figure.table.columns, options.force)
    stem.parent.mkdir(parents=True, exist_ok=True)
    for path in save(figure, stem, formats):
        print(path)
    return _of_runs.exit_code(runs)
