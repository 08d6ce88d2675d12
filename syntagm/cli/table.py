"""Make a table from runs for a paper, as Markdown, CSV or LaTeX.

    syntagm table --list                                      all tables
    syntagm table scores --list                               the options of one table
    syntagm table scores runs/demo runs/gpt2 wide=yes --name Demo --name GPT-2 --format latex
    syntagm table comparison runs/demo runs/gpt2 -o tables/comparison
    syntagm table gain gains.csv                              of a file of `syntagm reading fit`

Without -o, the table is printed, as Markdown unless --format names another format. With -o,
it is written to STEM.csv, STEM.md and STEM.tex, or only in the format that --format names.
Options of a table are given as key=value. CSV has full precision. Existing files are
replaced only if STEM.csv next to them has the header of this table or of the figure of the
same name, or if they have the title of this table; --force replaces any file. A wide table
has fewer columns in LaTeX: --columns names others, or `all`. Exit code 1: a run is not
finished.
"""

import argparse
import sys

from syntagm.cli import _files, _streams, _views
from syntagm.views import Table


def arguments(parser: argparse.ArgumentParser) -> None:
    _views.arguments(parser, "table")
    _files.add_output(parser, "STEM", "path of the files, without extension; if omitted, the table is printed")
    parser.add_argument("--format", choices=[*Table.FORMATS], help="write only this format")
    parser.add_argument(
        "--columns", metavar="NAMES",
        help="columns of the LaTeX table, separated by commas, or `all`; by default those that fit on a page",
    )  # fmt: skip
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    if options.list:
        print(*_views.lines("table", options.name), sep="\n")
        return 0
    table, runs = _views.given("table", options)
    if options.columns:
        table = table.chosen(options.columns)
    for sentence in table.warnings:
        print(f"syntagm: {sentence}", file=sys.stderr)
    formats = [options.format] if options.format else []
    if options.output:
        _views.save("table", options.name, table, options.output, formats, options.force)
    else:
        stream = _streams.data() if options.format == "csv" else sys.stdout
        print(table.content(options.format or "md").decode(), end="", file=stream)
    return _views.exit_code(runs)
