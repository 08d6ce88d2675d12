"""Make a table of runs for a paper: Markdown, CSV or LaTeX.

    syntagm table --list
    syntagm table scores --list
    syntagm table scores runs/demo runs/gpt2 wide=yes --format latex
    syntagm table comparison runs/demo runs/gpt2 -o tables/comparison

Without -o the table is printed, as Markdown unless --format says otherwise. With -o it goes to STEM.csv, STEM.md and STEM.tex,
or to the one of them that --format names. Options of a table are given as key=value. CSV has all digits. A file that stands
there is replaced only if STEM.csv beside it has the header of this table; --force replaces it all the same. Exit code 1: a run
is not finished.
"""

import argparse
import sys
from pathlib import Path

from syntagm.cli import _files, _made, _of_runs
from syntagm.drawing.table import FORMATS


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _of_runs.arguments(parser, "table")
    parser.add_argument("-o", "--output", metavar="STEM", help="where to, without the ending; printed unless given")
    parser.add_argument("--format", choices=[*FORMATS], help="one of them only")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Make it, or list what there is; the exit code."""
    if options.list:
        print(*_of_runs.listed("table", options.name), sep="\n")
        return 0
    table, runs = _of_runs.made("table", options)
    for sentence in table.warnings:
        print(f"syntagm: {sentence}", file=sys.stderr)
    formats = [options.format] if options.format else []
    if options.output:
        print(*_made.save(table, Path(options.output), formats, options.force), sep="\n")
    else:
        print(table.content(options.format or "md").decode(), end="")
    return _of_runs.exit_code(runs)
