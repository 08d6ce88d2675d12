"""Describe suites on one Markdown page: contrast, examples, predictions in words, chance, source.

PATH is a file in any format, a folder, a pattern, or a bundled collection (hu2020, marvin2018, blimp_like) or one suite of it.
No model is asked. The same suites give the same page.

    syntagm describe hu2020 -o hu2020.md
    syntagm describe my_suite.toml
    syntagm describe "blimp/*.jsonl" -o blimp.md

In the tags of a suite, `contrast` says what it tests, and `ungrammatical` which conditions get a star, separated by blanks.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files, folders, patterns, bundled collections")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="where the page goes; else it is printed")
    parser.add_argument(
        "--allow-pickle", action="store_true", help="read suites that are pickles, without running them"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page, or print it."""
    from syntagm.cli import DONE
    from syntagm.io import atomic
    from syntagm.materials.finding import expand
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.report.collection_page import page

    files = expand(arguments.paths, allow_pickle=arguments.allow_pickle)
    if arguments.output:
        _refuse_source(arguments.output, files)
    made = page(" ".join(arguments.paths), SuiteFiles(files))
    if arguments.output:
        atomic.write(arguments.output, made.encode())
        print(arguments.output)
    else:
        print(made, end="")
    return DONE


def _refuse_source(output: Path, files: Sequence[str]) -> None:
    """A page may be written anew, but never over the suite that it describes."""
    from syntagm.errors import UsageError
    from syntagm.materials.reading import options_of

    if output.resolve() in {Path(options_of(file)[0]).resolve() for file in files}:
        raise UsageError(f"-o {output}", "the suite itself", "another file", f"Write {output.stem}.md.")
