"""Check that runs, models, experiments and caches are unchanged.

    syntagm integrity runs/demo
    syntagm integrity models runs --json
    syntagm integrity ~/.cache/syntagm --all

A folder is searched for runs, models, experiments and caches, and for records that `syntagm
reading` writes beside its tables. Each of their files is one of these:

    whole      unchanged since it was written
    damaged    damaged, edited or missing; the message explains what to do
    foreign    not a file of this folder; Syntagm does not read it
    unchecked  written by Syntagm, but never read again: a report, a table, a lock

Damaged and foreign files are listed; with --all, every file is. Nothing is changed. Exit code
1: a file is damaged.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import DONE, FELL_SHORT
from syntagm.core import UsageError, shown_lines

if TYPE_CHECKING:
    from syntagm.core import Inspected

_WANTED = "a run, a model, an experiment or a cache, or a sealed record (FILE.reading.json)"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", type=Path, nargs="+", help="a folder, or a file in one")
    parser.add_argument("--all", action="store_true", help="also list the files that are whole or unchecked")
    parser.add_argument("--json", action="store_true", help="print every file as an object, and a summary")


def run(options: argparse.Namespace) -> int:
    inspected = [folder for place in options.paths for folder in _inspected(place)]
    counts = Counter[str](finding.state for folder in inspected for finding in folder.findings)
    lines = _json(inspected, counts) if options.json else _lines(inspected, options.all)
    for line in lines:
        print(shown_lines(line))
    return FELL_SHORT if counts["damaged"] else DONE


def _inspected(place: Path) -> "list[Inspected]":
    """Inspect a folder and all folders in it, or a file as part of its folder."""
    from syntagm.core import integrity

    if not place.exists():
        raise UsageError(str(place), "no such file or folder", _WANTED)
    inspected = list(integrity.of_file(place) if place.is_file() else integrity.of_folder(place))
    if not inspected:
        raise UsageError(str(place), "nothing that Syntagm reads again", _WANTED)
    return inspected


def _lines(inspected: "list[Inspected]", everything: bool) -> Iterator[str]:
    for folder in inspected:
        counts = Counter(finding.state for finding in folder.findings)
        states = ", ".join(f"{count:,} {state}" for state, count in sorted(counts.items()))
        yield f"{folder.path}: {folder.kind.name}: {states}"
        for finding in folder.findings:
            if finding.error:
                yield f"  {finding.state:<9}  {finding.error}"
            elif everything or finding.state == "foreign":
                yield f"  {finding.state:<9}  {finding.path}" + (f": {finding.kind}" if finding.kind else "")


def _json(inspected: "list[Inspected]", counts: Counter[str]) -> Iterator[str]:
    findings: list[dict[str, Any]] = [
        {
            "folder": folder.kind.name,
            "path": str(finding.path),
            "state": finding.state,
            "kind": finding.kind,
            "message": str(finding.error or ""),
        }
        for folder in inspected
        for finding in folder.findings
    ]
    yield json.dumps({"findings": findings, "summary": dict(sorted(counts.items()))}, indent=1)
