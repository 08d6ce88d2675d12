"""Draw a figure of runs, and save the numbers in it as CSV.

    syntagm figure --list                                     all figures
    syntagm figure scores --list                              the options of one figure
    syntagm figure scores runs/demo runs/gpt2 -o figures/scores
    syntagm figure regions runs/demo suite=mvrr -o mvrr --format svg,pdf
    syntagm figure gain gains.csv -o gain                     of a file of `syntagm reading fit`

Writes STEM.csv and, for each format, STEM.png, STEM.svg, ... Options of a figure are given
as key=value. No model is needed. Existing files are replaced only if STEM.csv next to them
has the header of this figure or of the table of the same name; --force replaces any file.
Exit code 1: a run is not finished.
"""

import argparse

from syntagm.cli import _files, _views
from syntagm.core import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    _views.arguments(parser, "figure")
    _files.add_output(parser, "STEM", "path of the files, without extension")
    parser.add_argument("--format", metavar="LIST", help="formats, separated by commas; all by default")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    if options.list:
        print(*_views.lines("figure", options.name), sep="\n")
        return 0
    if not options.output:
        raise UsageError("-o", "missing", "-o STEM", "Give the path of the files, without extension.")
    from syntagm.views import Figure, endings

    formats = options.format.split(",") if options.format else []
    endings(Figure.FORMATS, formats)  # an unknown format is refused before anything is computed
    figure, runs = _views.given("figure", options)
    _views.save("figure", options.name, figure, options.output, formats, options.force)
    return _views.exit_code(runs)
