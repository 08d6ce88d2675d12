"""Draft a methods paragraph and the BibTeX entries to cite, from the records of runs.

    syntagm cite runs/demo
    syntagm cite runs/demo runs/gpt2 -o paper/syntagm            writes paper/syntagm.md and paper/syntagm.bib
    syntagm cite runs/demo --format latex -o paper/syntagm       writes paper/syntagm.tex and paper/syntagm.bib
    syntagm cite gains.csv effects.csv                           about files of `syntagm reading`

The BibTeX has entries for suites, methods, models and software. Citations are written as
[@key] in Markdown, for Pandoc, and as \\citep{key} in LaTeX, for natbib. A warning on
standard error names each suite without a source, or with a source that is not in the
bibliography: please add these by hand.

An existing file is replaced only if this command wrote it; --force replaces any file. Exit
code 1: the source of a suite is not known, or a run is not finished.
"""

import argparse
import sys
from pathlib import Path

from syntagm.cli import _files, _views
from syntagm.core import extras

MARK = "Written by syntagm cite"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "folders", metavar="DIR|FILE", nargs="+", help="a run directory, or a file of `syntagm reading`"
    )
    _files.add_output(parser, "STEM", "path of the files, without extension; if omitted, the text is printed")
    parser.add_argument("--format", choices=["md", "latex"], default="md", help="format of the paragraph (md)")
    parser.add_argument(
        "--also",
        metavar="KEYS",
        default="",
        help="keys of further entries, separated by commas, such as bates-etal-2015-fitting",
    )
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Write or print the paragraph and the bibliography; return the exit code."""
    from syntagm.core import UsageError
    from syntagm.reading_times import cited, open_analyses
    from syntagm.report import methods, references

    also = [key for key in options.also.split(",") if key]
    if missing := [key for key in also if key not in references.entries()]:
        raise UsageError("--also", repr(missing[0]), "one or more of " + ", ".join(references.entries()))
    folders, files = _views.divide(options.folders)
    runs = _views.open_runs(folders, [])
    reading = open_analyses(files) if files else []
    if silent := [one.name for one in reading if not one.methods]:
        expected = "one of `syntagm reading fit` or `reading effects`"
        raise UsageError(silent[0], "an analysis without a methods paragraph", expected)
    paragraphs = [*(methods.paragraphs(runs) if runs else []), *(one.methods for one in reading)]
    if options.format == "latex":
        paragraphs = [methods.latex(paragraph) for paragraph in paragraphs]
    bibliography = references.bibtex([*methods.keys(runs), *cited(reading), *also], runs, extras.version("syntagm"))
    text = "\n\n".join(paragraphs) + "\n"
    if options.output:
        _write(text, bibliography, options.output, options.format == "latex", options.force)
    else:
        print(f"{text}\n{bibliography}", end="")
    unknown = methods.list_unknown_sources(runs)
    for sentence in unknown:
        print(f"syntagm: {sentence}", file=sys.stderr)
    return max(_views.exit_code(runs), 1 if unknown else 0)


def _write(text: str, bibliography: str, stem: Path, latex: bool, force: bool) -> None:
    from syntagm.core import atomic

    contents = {
        stem.with_name(f"{stem.name}.{'tex' if latex else 'md'}"): (f"% {MARK}\n" if latex else f"<!-- {MARK} -->\n")
        + text,
        stem.with_name(f"{stem.name}.bib"): f"% {MARK}\n\n{bibliography}",
    }
    for path in contents:
        _files.spare(path, [MARK], force)
    atomic.make_folder(stem.parent)
    atomic.write_all({path: content.encode() for path, content in contents.items()})
    print(*contents, sep="\n")
