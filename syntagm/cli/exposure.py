"""Count the words, bigrams and constructions of suites in a training text.

For each item of the suites, the file has a row for each of its words, for each pair of
neighbouring words, and for its constructions: suite, item, unit (word, bigram,
construction), text, count. Words are counted in lower case; nothing is counted across
punctuation or line ends. Counts are exact; the text is read once, line by line, gzipped or
not.

    syntagm exposure frontier --corpus train.txt -o exposure.csv
    syntagm exposure 'warstadt2020/causative?n=200' --corpus a.txt.gz b.txt.gz -o exposure.csv
    syntagm exposure my_suite.toml --corpus train.txt --construction "is easy/hard to *" -o exposure.csv
    syntagm exposure my_suite.toml --corpus train.conllu --construction "VERB >nsubj NOUN[Number=Plur]" -o exposure.csv
    syntagm table factors runs/m by=exposure:exposure.csv       accuracy by exposure

A construction is a sequence of words, in which * is any word, a/b one of two, and ... none
to five words. One with > is a word and its dependents, counted in a treebank (.conllu). A
suite or an item can name its own in the tag `construction`.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import DONE, _files
from syntagm.core import atomic, counted, csv

if TYPE_CHECKING:
    from syntagm.suites import SuiteFiles, Wanted


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="SUITE", nargs="+", help="files, folders, patterns, bundled collections")
    parser.add_argument(
        "--corpus", metavar="FILE", nargs="+", required=True, help="the training text, as it was given to the model"
    )
    parser.add_argument(
        "--construction",
        metavar="PATTERN",
        action="append",
        default=[],
        help="also count this construction, for every item; can be repeated",
    )
    _files.add_output(parser, "FILE", "the CSV file to write", required=True)
    parser.add_argument(
        "--allow-pickle", action="store_true", help="read pickled suites without running any code in them"
    )
    _files.add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    from syntagm.core import lines
    from syntagm.suites import COLUMNS, SuiteFiles, Wanted, expand, read_construction

    _files.spare_csv(arguments.output, COLUMNS, arguments.force)
    texts = [Path(file) for file in arguments.corpus]
    for text in texts:
        lines.check(text)
    wanted = Wanted([read_construction(pattern, "--construction") for pattern in arguments.construction])
    skipped: list[str] = []
    files = expand(arguments.paths, skipped)
    _files.note_skipped(skipped)
    suites = SuiteFiles(files, arguments.allow_pickle)
    for suite in suites:
        wanted.add(suite)
    wanted.count(texts)
    with _files.place(arguments.output):
        atomic.write_parts(arguments.output, _csv(wanted, suites))
    print(f"{arguments.output}: counted in {counted(wanted.total, 'word')}", file=sys.stderr)
    return DONE


def _csv(wanted: "Wanted", suites: "SuiteFiles") -> Iterator[bytes]:
    """Format the rows. Suites are read a second time, so that no more than one is in memory."""
    from syntagm.suites import COLUMNS

    yield from (line.encode() for line in csv.lines(COLUMNS, []))
    for suite in suites:
        yield from (line.encode() for line in list(csv.lines(COLUMNS, wanted.rows(suite)))[1:])
