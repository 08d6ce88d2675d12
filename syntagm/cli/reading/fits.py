"""`syntagm reading fit` and `effects`: what a bit costs in ms, and what that predicts for suites."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _files
from syntagm.cli.reading.tables import print_counts, print_notes, said, save_table
from syntagm.core import InputError, UsageError, atomic, counted, csv

if TYPE_CHECKING:
    import polars as pl

    from syntagm.reading_times import Alarm, Analysis, Contrast, Readings, Request, Slopes, Source

# The figures of a fit.
FIGURES = ("gain", "lag", "shape")


def fit(options: argparse.Namespace) -> int:
    """Fit reading times, and print gains on held-out folds and slopes; return 1 if --slopes lacks those of a model."""
    from syntagm.reading_times import analyses, fitting, slopes, tables

    drawn = [_figure(text) for text in options.figure]
    source = tables.open_table(options.file, options.decimal)
    request = _request(options, source)
    if options.slopes:
        if request.model == "smooth":
            expected = "another --model, or --figure shape=STEM"
            raise UsageError("--slopes", "--model smooth, whose effects are curves", expected)
        _files.spare_csv(options.slopes, [*([request.by] if request.by else []), *slopes.COLUMNS], options.force)
    excluded, of_exclusions = _excluded(options, source, request)
    outcome = fitting.fit(source, request, excluded)
    outcome = replace(outcome, notes=(*outcome.notes, *of_exclusions))
    found, unasked = _alarms(source, request)
    print_notes([*outcome.notes, *unasked])
    kept = outcome.rows - sum(outcome.dropped.values())
    print(f"rows: {kept:,} of {outcome.rows:,}")
    print_counts("dropped", outcome.dropped)
    for line in fitting.lines(outcome):
        print(line)
    if options.slopes:
        frame = outcome.slope_frame()
        atomic.write(options.slopes, "".join(csv.lines(frame.columns, frame.iter_rows())).encode())
        print(f"slopes: {options.slopes}")
    smooth = outcome.observations.items() if request.model == "smooth" else ()
    tests = [test for label, rows in smooth for test in fitting.linearity(label, rows)]
    for test in tests:
        print(
            f"{test.model}, {test.column}: linearity F({test.first}, {test.second}) = {test.f:.2f}, p = {test.p:.3g}; "
            f"effective degrees of freedom {test.edf:.2f}"
        )
    if tests and any("participants" in gain.clusters for gain in outcome.gains):
        print(fitting.DEPENDENT)
    for alarm in found:
        print(said(alarm), file=sys.stderr)
    if options.methods:
        print(f"\n{fitting.methods(outcome)}")
    if drawn:
        _draw(analyses.of_outcome(outcome, found, tests), drawn, options.against, options.force)
    if options.output:
        content = analyses.of_fit(outcome, found, tests)
        save_table(options, outcome.frame(), {options.file: source.digest}, content)
    return 1 if options.slopes and outcome.left_out else 0


def _figure(text: str) -> tuple[str, Path]:
    name, _, stem = text.partition("=")
    if name not in FIGURES or not stem:
        expected = f"NAME=STEM, with NAME one of {', '.join(FIGURES)}"
        raise UsageError(f"--figure {text}", "no figure of this name, or no STEM", expected)
    return name, _files.stem(stem)


def _draw(analysis: "Analysis", drawn: Sequence[tuple[str, Path]], against: Path | None, force: bool) -> None:
    from syntagm.reading_times import views

    for name, stem in drawn:
        given = {"against": str(against)} if against and name == "gain" else {}
        paths = _files.save(views.figure(name, analysis, **given), stem, force=force)
        print(f"figure {name}: {', '.join(map(str, paths))}")


def effects(options: argparse.Namespace) -> int:
    """Print predicted effects in ms; return 0."""
    from syntagm.reading_times import analyses, effects, roles, tables
    from syntagm.views import Table

    words_source = tables.open_table(options.words)
    unused = ("time", "text", "sentence", "participant")
    words = tables.interpret(
        words_source, roles.read(options.word_columns, words_source.names, str(options.words)), unused=unused
    )
    words.require("condition", "item", "region", "bits")
    contrast = effects.read_contrast(
        options.contrast, words.frame["condition"].unique(maintain_order=True).drop_nulls().to_list()
    )
    inputs = {options.words: words_source.digest}
    times = _times_of_people(options, contrast, inputs) if options.people else None
    unit = effects.unit_of(options.times, times)
    slopes, notes = _slopes(options, inputs)
    if times:
        included = effects.included(times)
        if lost := times.frame.height - included.frame.height:
            notes.append(
                f"{lost:,} of {times.frame.height:,} rows of --people left out: their column excluded has a reason"
            )
        times = effects.of_regions(included, unit)
    models = words.frame["model"].unique(maintain_order=True).to_list() if "model" in words.frame.columns else [None]
    rows = []
    for one in slopes:
        model = one.model if one.model in models else models[0]
        if one.model not in models and len(models) > 1:
            found = f"surprisals of {', '.join(map(str, models[:4]))}"
            cure = "Name the model as there: --add NAME=COLUMN."
            raise UsageError("--words", found, f"those of {one.model}", cure)
        amounts = effects.region_amounts(words, model, one, unit)
        items = None
        # Rows of items are about the same items anyway.
        if times is not None and not options.by_item:
            amounts, items, left_out = effects.shared(amounts, times, contrast)
            notes += [left_out] if left_out and left_out not in notes else []
        people = effects.of_people(times, contrast, options.by_item, items) if times is not None else {}
        rows += effects.effects(one, amounts, contrast, people, options.by_item, unit)
    columns = effects.COLUMNS if not options.by_item else (*effects.COLUMNS[:4], "item", *effects.COLUMNS[4:])
    cells = [row.row if not options.by_item else (*row.row[:4], row.item, *row.row[4:]) for row in rows]
    missing = sorted({(row.suite, row.region) for row in rows if row.people.value != row.people.value})
    if times is not None and missing:
        notes.append(
            f"no times of people for items of {counted(len(missing), 'region')}, for example {missing[0][1]} of "
            f"{missing[0][0] or 'the suite'}"
        )
    if undefined := words.frame["bits"].fill_nan(None).null_count():
        notes.append(
            f"{counted(undefined, 'word')} of --words without bits: items are left out of regions that need them"
        )
    if not rows:
        raise InputError(str(options.words), "no item with bits of all words of a region", "items with both conditions")
    for line in notes:
        print(line, file=sys.stderr)
    shown = tuple(tuple(None if isinstance(cell, float) and cell != cell else cell for cell in row) for row in cells)
    if options.output:
        import polars as pl

        results = {
            "columns": list(columns), "methods": effects.methods(slopes, contrast, times is not None, unit),
            "slopes": [row for one in slopes for row in analyses.of_slopes(one)],
        }  # fmt: skip
        frame = pl.DataFrame(cells, schema=list(columns), orient="row")
        save_table(options, frame, inputs, {"rows": len(cells), "notes": notes, "results": results})
    title = f"Effects in ms: {contrast}"
    print(Table(title, tuple(columns), shown, notes=(effects.UNITS[unit], "Intervals: 95%.")).markdown())  # type: ignore[arg-type]
    return 0


def _times_of_people(options: argparse.Namespace, contrast: "Contrast", inputs: dict[Path, str]) -> "Readings":
    """Return the times of people under both conditions; their file is added to the inputs."""
    from syntagm.reading_times import effects, roles, tables

    source = tables.open_table(options.people)
    times = tables.interpret(source, roles.read(options.people_columns, source.names, str(options.people)))
    inputs[options.people] = source.digest
    if not effects.compared(times, contrast, options.by_item).height:
        found = f"no times under both conditions of {contrast}"
        raise InputError(str(options.people), found, "conditions and regions named as in --words")
    return times


def _slopes(options: argparse.Namespace, inputs: dict[Path, str]) -> "tuple[list[Slopes], list[str]]":
    """Fit the slopes on a table, or take those that the user gives; return them with sentences about them."""
    # A table is added to the inputs.
    from syntagm.reading_times import effects, fitting, slopes, tables

    if bool(options.file) == bool(options.ms_per_bit):
        given = "both TABLE and --ms-per-bit" if options.file else "neither TABLE nor --ms-per-bit"
        raise UsageError("reading effects", given, "one of the two")
    if options.ms_per_bit:
        try:
            values = [float(part) for part in options.ms_per_bit.split(",")]
        except ValueError:
            values = []
        if not values or not all(abs(value) <= tables.LARGEST for value in values):
            raise UsageError("--ms-per-bit", repr(options.ms_per_bit), "numbers up to 1e15, separated by commas")
        return [slopes.given(values)], ["slopes are given, without uncertainty"]
    if bool(options.random) != (options.model == "mixed"):
        given = "random terms" if options.random else "no random terms"
        raise UsageError(f"--model {options.model}", given, "--random with --model mixed, and only there")
    if not options.response or not options.add:
        raise UsageError("reading effects TABLE", "no --response or no --add", "both")
    source = tables.open_table(options.file, options.decimal)
    inputs[options.file] = source.digest
    request = _request(options, source)
    found, notes = [], []
    for label, rows in fitting.prepare(source, request).items():
        notes += [note for note in rows.notes if note not in notes]
        found.append(effects.slopes(label, rows, fitting.clusters(rows), request.random))
    found_alarms, unasked = _alarms(source, request)
    return found, [*notes, *slopes.lines(found), *unasked, *map(said, found_alarms)]


def _request(options: argparse.Namespace, source: "Source") -> "Request":
    from syntagm.reading_times import fitting, roles

    return fitting.Request(
        response=options.response, baseline=tuple(options.baseline), added=fitting.read_added(options.add, source.names),
        lags=options.lags, model=getattr(options, "model", "ols"),
        folds=fitting.read_folds(getattr(options, "folds", "contiguous:10")),
        random=tuple(getattr(options, "random", ())), given=roles.read(options.columns, source.names, str(options.file)),
        where=tuple(options.where), by=getattr(options, "by", ""), missing=tuple(options.missing),
    )  # fmt: skip


def _excluded(
    options: argparse.Namespace, source: "Source", request: "Request"
) -> "tuple[pl.Series | None, list[str]]":
    """Return why each row is excluded, and sentences about it."""
    from syntagm.reading_times import exclusions, tables

    if not options.exclude:
        return None, []
    times = tables.interpret(source, {**(request.given or {}), "time": (request.response,)})
    chosen = exclusions.read(options.exclude)
    return exclusions.reasons(times.frame, chosen, str(options.file)), exclusions.notes(times.frame, chosen)


def _alarms(source: "Source", request: "Request") -> "tuple[list[Alarm], list[str]]":
    """Return the alarms that ring for the table of a fit; a sentence if they could not be asked."""
    from syntagm.reading_times import alarms, observations, tables

    given = {**(request.given or {}), "time": (request.response,)}
    first = request.added[0].columns[0]
    if first in source.names:
        given["bits"] = (first,)
    try:
        times = tables.interpret(source, given, unused=("known", "correct", "list", "token", "logprob"))
    except InputError as error:
        return [], [f"alarms were not asked: {error}"]
    # Values that stand for missing ones were dealt with.
    frame = observations.without(times.frame, request.missing, times.chosen)
    return alarms.alarms(frame.filter(observations.meeting(source, request.where))), []
