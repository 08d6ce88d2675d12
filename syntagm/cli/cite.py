"""Write what to cite: a methods paragraph from the record of runs, and BibTeX of suites, methods, models and software.

    syntagm cite runs/demo
    syntagm cite runs/demo runs/gpt2 -o paper/syntagm            writes paper/syntagm.md and paper/syntagm.bib
    syntagm cite runs/demo --format latex -o paper/syntagm       writes paper/syntagm.tex and paper/syntagm.bib

Markdown cites as Pandoc reads it ([@key]), LaTeX by natbib's \\citep. Suites that name no source, or one that is not in the
bibliography, are named on the standard error: their authors want to be cited, too. A file that stands there is replaced only
if this command wrote it; --force replaces any. Exit code 1: a suite's source is not known, or a run is not finished.
"""

import argparse
import sys
from pathlib import Path

from syntagm.cli import _files, _of_runs

MARK = "Written by syntagm cite"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a run directory")
    parser.add_argument("-o", "--output", metavar="STEM", help="where to, without the ending; printed unless given")
    parser.add_argument("--format", choices=["md", "latex"], default="md", help="of the paragraph (md)")
    parser.add_argument(
        "--also", metavar="KEYS", default="", help="further entries, with commas between: bates-etal-2015-fitting"
    )
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Do it; the exit code."""
    from importlib.metadata import version

    from syntagm.errors import UsageError
    from syntagm.report import methods, references
    from syntagm.runs.store import open_run

    also = [key for key in options.also.split(",") if key]
    if odd := [key for key in also if key not in references.entries()]:
        raise UsageError("--also", repr(odd[0]), "some of " + ", ".join(references.entries()))
    runs = [open_run(folder) for folder in options.folders]
    said = methods.paragraphs(runs)
    if options.format == "latex":
        said = [methods.latex(one) for one in said]
    bibliography = references.bibtex([*methods.keys(runs), *also], runs, version("syntagm"))
    _give("\n\n".join(said) + "\n", bibliography, options)
    lacking = methods.unknown(runs)
    for one in lacking:
        print(f"syntagm: {one}", file=sys.stderr)
    return max(_of_runs.exit_code(runs), 1 if lacking else 0)


def _give(text: str, bibliography: str, options: argparse.Namespace) -> None:
    """Print both, or write them."""
    from syntagm.io import atomic

    if not options.output:
        print(f"{text}\n{bibliography}", end="")
        return
    stem = Path(options.output)
    latex = options.format == "latex"
    contents = {
        stem.with_name(f"{stem.name}.{'tex' if latex else 'md'}"): (f"% {MARK}\n" if latex else f"<!-- {MARK} -->\n")
        + text,
        stem.with_name(f"{stem.name}.bib"): f"% {MARK}\n\n{bibliography}",
    }
    for path in contents:
        _files.spare(path, [MARK], options.force)
    stem.parent.mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        atomic.write(path, content.encode())
        print(path)
