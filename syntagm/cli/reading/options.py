"""What the subcommands of `syntagm reading` share: their tables, what they print, and how they write."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from syntagm.reading_times import Alarm, Joined, Readings, Rules

# Options that are not among the settings in a record: it has the input files with their hashes.
_NOT_RECORDED = (
    "output", "force", "run", "what", "line", "config_source", "quiet", "config",
    "file", "scores", "words", "people",
)  # fmt: skip


def times_of(options: argparse.Namespace) -> "Readings":
    """Return the table of reading times of a command line."""
    from syntagm.reading_times import roles, tables

    source = tables.open_table(options.file, options.decimal)
    given = roles.read(options.columns, source.names, str(options.file))
    unit = options.unit
    if options.layout:
        layout = roles.find_layout(options.layout)
        given, unit = {**layout.columns, **given}, unit or layout.unit
        source.require([column for columns in given.values() for column in columns])
    return tables.interpret(source, given, unit)


def scores_of(options: argparse.Namespace) -> "Readings":
    """Return the table of surprisals of a command line."""
    from syntagm.reading_times import roles, tables

    source = tables.open_table(options.scores)
    given = roles.read(options.score_columns, source.names, str(options.scores))
    return tables.interpret(source, given, unused=("time", "participant"))


def rules_of(options: argparse.Namespace) -> "Rules":
    """Return the rules by which words are joined."""
    from syntagm.reading_times import joining

    tolerated = tuple(part.strip() for part in options.tolerate.split(",") if part.strip())
    return joining.Rules(tolerated, joining.accepted(options.accept), options.texts)


def said(alarm: "Alarm") -> str:
    """Return an alarm in words."""
    place = f" (first in line {alarm.line})" if alarm.line else ""
    return f"alarm [{alarm.code}]: {alarm.message}{place}. {alarm.cure}"


def print_counts(what: str, counts: Mapping[str, int]) -> None:
    """Print how many rows have which reason."""
    if counts:
        print(f"{what}: " + "; ".join(f"{count:,} {reason}" for reason, count in counts.items()))


def print_join(joined: "Joined") -> None:
    """Print how many words were joined, and the first mismatches."""
    for note in joined.notes:
        print(note)
    print(f"words joined: {joined.matched:,} of {joined.words.height:,}")
    for one in joined.mismatches[:10]:
        print(f"mismatch: {_where(one)}: shown {one.shown!r}, scored {one.scored!r}")
    if len(joined.mismatches) > 10:
        print(f"... and {len(joined.mismatches) - 10:,} more")


def _where(one: Any) -> str:
    place = "" if one.position is None else f", position {one.position:g}"
    return f"text {one.text}{place}" + (f" (line {one.line})" if one.line else "")


def print_notes(notes: Sequence[str]) -> None:
    """Print notes; warnings go to the standard error."""
    for note in notes:
        print(note, file=sys.stderr if note.startswith("warning:") else sys.stdout)


def plain(found: "Sequence[Alarm]") -> list[dict[str, Any]]:
    """Return alarms as records."""
    from dataclasses import asdict

    return [asdict(alarm) for alarm in found]


def save_table(
    options: argparse.Namespace,
    frame: "pl.DataFrame",
    inputs: Mapping[Path, str],
    found: Mapping[str, Any],
    beside: Mapping[Path, bytes] | None = None,
) -> None:
    """Write a table as CSV or Parquet, with its record."""
    import io

    import polars as pl

    from syntagm.core import csv
    from syntagm.reading_times import record

    if options.output.suffix == ".parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer, compression="zstd")
        content = buffer.getvalue()
    else:
        # A missing value is NA, which R reads as one.
        plain = frame.with_columns(pl.col(pl.Boolean).cast(pl.Int8)).iter_rows()
        rows = (tuple("NA" if cell is None else cell for cell in row) for row in plain)
        content = "".join(csv.lines(frame.columns, rows)).encode()
    settings = {
        name: value
        for name, value in vars(options).items()
        if name not in _NOT_RECORDED and value not in (None, [], "", False)
    }
    settings = {name: str(value) if isinstance(value, Path) else value for name, value in settings.items()}
    record.write(options.output, content, f"reading {options.what}", inputs, settings, found, beside)
