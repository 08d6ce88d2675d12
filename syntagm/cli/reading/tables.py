"""`syntagm reading check`, `join` and `table`: from reading times and words to a table for regressions."""

import argparse
import functools
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _options
from syntagm.core import InputError, UsageError, csv

if TYPE_CHECKING:
    import polars as pl

    from syntagm.models import LanguageModel
    from syntagm.reading_times import Alarm, Joined, Readings, Rules

# Options that are not among the settings in a record: it has the input files with their hashes.
_NOT_RECORDED = (
    "output", "force", "run", "what", "line", "config_source", "quiet", "config",
    "file", "scores", "words", "people",
)  # fmt: skip


def times_of(options: argparse.Namespace) -> "Readings":
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
    from syntagm.reading_times import roles, tables

    source = tables.open_table(options.scores)
    given = roles.read(options.score_columns, source.names, str(options.scores))
    return tables.interpret(source, given, unused=("time", "participant"))


def rules_of(options: argparse.Namespace) -> "Rules":
    from syntagm.reading_times import joining

    tolerated = tuple(part.strip() for part in options.tolerate.split(",") if part.strip())
    return joining.Rules(tolerated, joining.accepted(options.accept), options.texts)


def said(alarm: "Alarm") -> str:
    place = f" (first in line {alarm.line})" if alarm.line else ""
    return f"alarm [{alarm.code}]: {alarm.message}{place}. {alarm.cure}"


def print_counts(what: str, counts: Mapping[str, int]) -> None:
    """Print how many rows have which reason."""
    if counts:
        print(f"{what}: " + "; ".join(f"{count:,} {reason}" for reason, count in counts.items()))


def print_join(joined: "Joined") -> None:
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


def save_table(
    options: argparse.Namespace,
    frame: "pl.DataFrame",
    inputs: Mapping[Path, str],
    found: Mapping[str, Any],
    beside: Mapping[Path, bytes] | None = None,
) -> None:
    """Write a table as CSV or Parquet, with its record."""
    import polars as pl

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


def check(options: argparse.Namespace) -> int:
    """Print what is wrong with a table; return 1 if an alarm rings, or words differ."""
    from syntagm.reading_times import alarms, exclusions, joining

    if options.codes:
        _list_codes()
        return 0
    if options.file is None:
        raise UsageError("reading check", "no file", "a table of reading times")
    times = times_of(options)
    if not {"time", "word", "token", "bits", "logprob"} & times.chosen.keys():
        times.require("time")
    found, joined = alarms.alarms(times.frame), None
    if options.scores:
        try:
            joined = joining.join(times, scores_of(options), rules_of(options))
        except InputError as error:
            if not any(alarm.code == "words_differ" for alarm in found):
                raise
            print(f"scores were not joined: {error}", file=sys.stderr)
    if joined:
        found = alarms.alarms(joining.beside(times, joined))
    excluded: Mapping[str, int] = {}
    if options.exclude:
        left_out = exclusions.read(options.exclude)
        excluded = exclusions.counts(exclusions.reasons(times.frame, left_out, str(options.file)))
        times = replace(times, notes=(*times.notes, *exclusions.notes(times.frame, left_out)))
    if options.json:
        _print_check_as_json(times, found, joined, excluded)
    else:
        _print_check(times, found, joined, excluded)
    return 1 if found or (joined and joined.mismatches) else 0


def _list_codes() -> None:
    from syntagm.reading_times import alarms, roles

    for code, summary in alarms.CODES.items():
        print(f"{code:<16}{summary}")
    print("\nlayouts of public corpora (--layout NAME):\n")
    for layout in roles.LAYOUTS:
        checked = f"columns checked against: {layout.checked}" if layout.checked else "columns not checked"
        print(f"{layout.name:<22}{layout.file}; {checked}")


def _print_check(
    times: "Readings", found: "Sequence[Alarm]", joined: "Joined | None", excluded: Mapping[str, int]
) -> None:
    import polars as pl

    frame = times.frame
    for note in times.notes:
        print(note)
    sizes = [f"{frame.height:,} rows"]
    for name in ("participant", "text", "item"):
        if name in times.chosen:
            # Names of texts may recur in other languages.
            within = ["language"] if name == "text" and "language" in times.chosen else []
            sizes.append(f"{frame.select(*within, name).n_unique():,} {name}s")
    print(", ".join(sizes))
    if "time" in frame.columns and (known := frame["time"].drop_nulls()).len():
        low, middle, high = (float(known.quantile(share) or 0) for share in (0.01, 0.5, 0.99))
        print(f"times: median {middle:.0f} ms, 1st percentile {low:.0f}, 99th {high:.0f}")
    if "correct" in frame.columns:
        share = frame.select(pl.col("correct").mean()).item()
        print(f"right answers: {share:.1%} of rows" if share is not None else "right answers: none known")
    if joined:
        print_join(joined)
    print_counts("excluded", excluded)
    for alarm in found:
        print(said(alarm))
    print(f"{len(found)} alarm{'' if len(found) == 1 else 's'}")


def _print_check_as_json(
    times: "Readings", found: "Sequence[Alarm]", joined: "Joined | None", excluded: Mapping[str, int]
) -> None:
    content = {
        "rows": times.frame.height,
        "columns": {name: list(columns) for name, columns in times.chosen.items()},
        "notes": list(times.notes),
        "alarms": [asdict(alarm) for alarm in found],
        "mismatches": [asdict(one) for one in joined.mismatches] if joined else [],
        "excluded": dict(excluded),
    }
    print(json.dumps(content, ensure_ascii=False, indent=1))


def join(options: argparse.Namespace) -> int:
    """Join reading times with surprisals; return 1 if words differ."""
    from syntagm.reading_times import joining

    times, scores = times_of(options), scores_of(options)
    joined = joining.join(times, scores, rules_of(options))
    frame = joining.beside(times, joined)
    print_notes(times.notes)
    print_join(joined)
    inputs = {options.file: times.source.digest, options.scores: scores.source.digest}
    found = {
        "rows": frame.height,
        "notes": [*times.notes, *joined.notes],
        "results": {"words": joined.words.height, "joined": joined.matched, "mismatches": len(joined.mismatches)},
    }
    save_table(options, frame, inputs, found, _mismatches(options, joined))
    return 1 if joined.mismatches else 0


def _mismatches(options: argparse.Namespace, joined: "Joined | None") -> dict[Path, bytes]:
    """Return the list of mismatches as a file beside the output; an earlier list is deleted if there are none."""
    from syntagm.reading_times import listed

    path = options.output.with_name(options.output.name + ".mismatches.csv")
    if not joined or not joined.mismatches:
        path.unlink(missing_ok=True)
        return {}
    columns = listed(joined.mismatches)
    rows = zip(*([("" if cell is None else cell) for cell in column] for column in columns.values()), strict=True)
    print(f"all {len(joined.mismatches):,} mismatches: {path}")
    return {path: "".join(csv.lines(list(columns), rows)).encode()}


def table(options: argparse.Namespace) -> int:
    """Write the table of predictors; return 1 if words differ."""
    from syntagm.reading_times import alarms, exclusions, joining, predictors

    if bool(options.model) == bool(options.scores):
        raise UsageError(
            "reading table",
            "both --model and --scores" if options.model else "neither --model nor --scores",
            "one of the two",
        )
    chosen = predictors.Options(options.spillover, options.form, options.context)
    if options.entropy and options.scores:
        cure = "A column `entropy` of --scores is taken along without the option."
        raise UsageError("--entropy", "with --scores", "with --model", cure)
    times = times_of(options)
    languages = predictors.languages_of(times)
    sources = _by_language("--frequency", options.frequency, languages)
    permissions = _options.given_permissions(options)
    of = {language: predictors.frequency(source, permissions) for language, source in sources.items()}
    left_out = exclusions.read(options.exclude) if options.exclude else None
    inputs = {options.file: times.source.digest}
    joined: Joined | None = None
    found: list[Alarm] = []
    notes = list(times.notes)
    if options.scores:
        scores = scores_of(options)
        inputs[options.scores] = scores.source.digest
        joined = joining.join(times, scores, rules_of(options))
        words = joined.words
        notes += joined.notes
    else:
        words, of_scoring, found = _score(options, times, languages)
        notes += of_scoring
    table = predictors.predictors(times, words, chosen, of or None)
    notes += table.notes
    excluded = exclusions.reasons(table.frame, left_out, str(options.file)) if left_out else None
    frame = table.frame if excluded is None else table.frame.filter(excluded.is_null())
    counts = exclusions.counts(excluded) if excluded is not None else {}
    notes += exclusions.notes(table.frame, left_out) if left_out else []
    with_bits = table.frame
    if "bits" not in with_bits.columns and table.bits:
        with_bits = with_bits.rename({table.bits[0]: "bits"})
    found = [*found, *alarms.alarms(with_bits)]
    print_notes(notes)
    if joined:
        print_join(joined)
    print_counts("excluded", counts)
    for alarm in found:
        print(said(alarm), file=sys.stderr)
    save_table(
        options,
        frame,
        inputs,
        {
            "rows": table.frame.height,
            "dropped": counts,
            "notes": notes,
            "alarms": [asdict(alarm) for alarm in found],
            "results": {"rows": frame.height, "mismatches": len(joined.mismatches) if joined else 0},
        },
        _mismatches(options, joined),
    )
    print(f"{options.output}: {frame.height:,} rows of {table.frame.height:,}\n")
    print(predictors.lmer(table, str(options.output), options.spillover))
    return 1 if joined and joined.mismatches else 0


def _score(
    options: argparse.Namespace, times: "Readings", languages: Sequence[str]
) -> "tuple[pl.DataFrame, list[str], list[Alarm]]":
    """Score the words with the models, or those of each language with its model."""
    from syntagm.reading_times import predictors

    if not any(_language_of(name, languages) for name in options.model):
        return predictors.score(times, _models(options), options.context, entropy=options.entropy)
    if options.name:
        raise UsageError(
            "--name", "with a model for each language", "no names", "Their surprisals are one column, bits."
        )
    chosen = _by_language("--model", options.model, languages)
    load = {
        language: functools.partial(_options.load, name, _options.given_permissions(options))
        for language, name in chosen.items()
    }
    return predictors.score_languages(times, load, options.context, entropy=options.entropy)


def _by_language(option: str, given: Sequence[str], languages: Sequence[str]) -> dict[str, str]:
    """Divide what is given for languages: language -> its value; "" -> a single value for all."""
    found: dict[str, str] = {}
    for written in given:
        language = _language_of(written, languages)
        value = written[len(language) + 1 :] if language else written
        if language in found or (found and "" in {language, *found}):
            expected = (
                "one for each language, LANGUAGE=..." if languages else "one, as the table has no column for languages"
            )
            raise UsageError(option, f"{written} beside {', '.join(found.values())}", expected)
        found[language] = value
    return found


def _language_of(written: str, languages: Sequence[str]) -> str:
    language, equals, _ = written.partition("=")
    return language if equals and language in languages else ""


def _models(options: argparse.Namespace) -> "dict[str, LanguageModel]":
    if options.name and len(options.name) != len(options.model):
        raise UsageError(
            "--name", f"{len(options.name)} names for {len(options.model)} models", "a name for each --model"
        )
    found: dict[str, LanguageModel] = {}
    for at, name in enumerate(options.model):
        model = _options.load(name, _options.given_permissions(options))
        label = options.name[at] if options.name else model.name
        if label in found:
            raise UsageError("--model", f"{label} twice", "different models, or a --name for each")
        found[label] = model
    return found
