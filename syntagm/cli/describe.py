"""Describe suites on one Markdown page.

The page has the contrast, an example, the predictions in words, the chance level and the
source of each suite. PATH is a file in any format, a folder, a pattern, a bundled
collection (distance, frontier, german, hu2020, islands, marvin2018, textbook,
warstadt2020), or one suite of a collection. No model is needed. The same suites always give the same page.

    syntagm describe hu2020 -o hu2020.md
    syntagm describe my_suite.toml
    syntagm describe "blimp/*.jsonl" -o blimp.md
    syntagm describe warstadt2020 --baselines     also what word frequency or length alone would score

Some tags of a suite are used only here: `contrast` describes what the suite tests,
`ungrammatical` lists the conditions that get a star, separated by spaces, `frequency_cue`
and `length_cue` say why a baseline is off chance, `word_cue` which word gives a pair away,
and `closed_class` why a slot has few words.
"""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from syntagm.cli import DONE, _files
from syntagm.core import UsageError, atomic


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files, folders, patterns, bundled collections")
    parser.add_argument(
        "--baselines",
        action="store_true",
        help="also what word frequency, the number of words and the number of characters alone would score",
    )
    parser.add_argument(
        "--unigrams", metavar="TEXT", help="the text in which --baselines counts words (if omitted: as in check)"
    )
    _files.add_output(parser, "FILE", "the file to write; if omitted, the page is printed")
    parser.add_argument(
        "--allow-pickle", action="store_true", help="read pickled suites without running any code in them"
    )


def run(arguments: argparse.Namespace) -> int:
    from syntagm.evaluation import frequencies
    from syntagm.report import describe_collection
    from syntagm.suites import SuiteFiles, expand

    skipped: list[str] = []
    files = expand(arguments.paths, skipped)
    if arguments.output:
        _refuse(arguments.output, files)
    _files.note_skipped(skipped)
    _files.note_columns(files)
    counts = frequencies(arguments.baselines, arguments.unigrams)
    given = " --baselines" * arguments.baselines + (f" --unigrams {arguments.unigrams}" if arguments.unigrams else "")
    text = describe_collection(shlex.join(arguments.paths), SuiteFiles(files, arguments.allow_pickle), counts, given)
    if arguments.output:
        atomic.write(arguments.output, text.encode())
        print(arguments.output)
    else:
        print(text, end="")
    return DONE


def _refuse(output: Path, files: Sequence[str]) -> None:
    """Refuse to replace a suite by its page, and an extension with which a browser would execute text from the suites."""
    from syntagm.suites import options_of

    if output.resolve() in {Path(options_of(file)[0]).resolve() for file in files}:
        raise UsageError(f"-o {output}", "the file of the suite itself", "another file", f"Write {output.stem}.md.")
    if output.suffix.lower() not in ("", ".md", ".markdown", ".txt"):
        cure = f"Write {output.stem}.md; with another extension, a browser could execute text from the suites."
        raise UsageError(f"-o {output}", f"the extension {output.suffix}", "a Markdown file", cure)
