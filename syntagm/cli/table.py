"""Make a table of runs for a paper: Markdown, CSV or LaTeX.

    syntagm table --list
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
from typing import TYPE_CHECKING

from syntagm.cli import _files, _of_runs

if TYPE_CHECKING:
    from syntagm.drawing.table import Table

ENDINGS = {"csv": "csv", "md": "md", "latex": "tex"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _of_runs.arguments(parser, "table")
    parser.add_argument("-o", "--output", metavar="STEM", help="where to, without the ending; printed unless given")
    parser.add_argument("--format", choices=[*ENDINGS], help="one of them only")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Make it, or list what there is; the exit code."""
    if options.list:
        print("\n".join(_of_runs.listed("table")))
        return 0
    table, runs = _of_runs.made("table", options)
    for sentence in table.warnings:
        print(f"syntagm: {sentence}", file=sys.stderr)
    if options.output:
        _write(table, Path(options.output), options)
    else:
        print(_text(table, options.format or "md"), end="")
    return _of_runs.exit_code(runs)


def _write(table: "Table", stem: Path, options: argparse.Namespace) -> None:
    from syntagm.io import atomic

    formats = [options.format] if options.format else list(ENDINGS)
    _files.spare_set(stem, [ENDINGS[one] for one in formats], table.columns, options.force)
    stem.parent.mkdir(parents=True, exist_ok=True)
    for one in formats:
        path = stem.with_name(f"{stem.name}.{ENDINGS[one]}")
        atomic.write(path, _text(table, one).encode())
        print(path)


def _text(table: "Table", format: str) -> str:
    return {"csv": table.csv, "md": table.markdown, "latex": table.latex}[format]()
