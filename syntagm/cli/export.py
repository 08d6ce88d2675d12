"""Export a run or a model to files for other tools: CSV, lm-evaluation-harness, ARPA.

    syntagm export --list
    syntagm export runs/gpt2 --as tokens -o tokens.csv
    syntagm export runs/gpt2 --as lm-eval -o results.json
    syntagm export runs/gpt2 --as every-eval-ever -o record.json
    syntagm export models/trigram --as arpa -o model.arpa

CSV files are UTF-8 with a header; bits, values and margins have full precision; `nan`
means undefined. What is judged by another convention than bits says so, in a signature or in a
message. `-o -` writes CSV to standard output. An existing file is replaced only if
it is of the same kind, an ARPA file only if its content is the same; --force replaces any
file. Exit code 1: a part of the run could not be exported; a message names it.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _files
from syntagm.core import atomic, registry

if TYPE_CHECKING:
    from syntagm.views import Export, Outcome


def arguments(parser: argparse.ArgumentParser) -> None:
    kinds = [name.replace("_", "-") for name in registry.names("export")]
    parser.add_argument("folder", metavar="DIR", help="a run directory; for arpa, a model folder")
    parser.add_argument(
        "--as", dest="kind", required=True, choices=kinds, help="what to export; --list describes each kind"
    )
    _files.add_output(parser, "FILE", "the file to write; - for standard output", required=True)
    parser.add_argument("--list", action=_List, help="list the kinds and their columns, then stop")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    kind: Export = registry.find("export", options.kind.replace("-", "_")).EXPORT
    output = None if options.output == Path("-") else options.output
    if output:
        _spare(kind, output, options.force)
    outcome = _write(kind, options.folder, output, options.force)
    for sentence in outcome.notes:
        print(sentence, file=sys.stdout if output else sys.stderr)
    for sentence in outcome.missing:
        print(f"syntagm: {sentence}", file=sys.stderr)
    return 1 if outcome.missing else 0


def _spare(kind: "Export", output: Path, force: bool) -> None:
    """Refuse to replace a file of another kind."""
    if kind.columns:
        _files.spare_csv(output, kind.columns, force, (*kind.columns, *kind.further))
    elif kind.marks:
        _files.spare(output, kind.marks, force)


def _write(kind: "Export", source: str, output: Path | None, force: bool) -> "Outcome":
    """Write the file. If files of its kind can't be recognised, an existing file must have the same content."""
    if not output or force or kind.columns or kind.marks or not output.exists():
        return kind.write(source, output)

    with atomic.replacing(output) as written:
        outcome = kind.write(source, written)
        _files.spare_other(output, written)
    return replace(outcome, notes=tuple(note.replace(str(written), str(output)) for note in outcome.notes))


class _List(argparse.Action):
    """The --list option. It loads the kinds only when it is given."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        names = registry.names("export")
        for name in names:
            summary = (registry.find("export", name).__doc__ or "").partition("\n")[0]
            print(f"{name.replace('_', '-'):<{max(map(len, names))}}  {summary}")
        parser.exit()
