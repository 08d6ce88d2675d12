"""Model reading times by surprisal: check and join tables, fit held-out regressions, predict effects in ms.

    syntagm reading check times.csv                                     what is wrong with a table
    syntagm reading join times.csv words.csv -o joined.csv              add surprisals, word by word
    syntagm reading table times.csv --model 'gpt2?boundary=word' --frequency wordfreq:en -o table.csv
    syntagm reading fit table.csv --response time --baseline length frequency --add bits --lags 2 -o gains.csv
    syntagm reading effects table.csv --response time --baseline length frequency --add bits --lags 2 \\
        --words words.csv --people people.csv --contrast ambiguous-unambiguous -o effects.csv

Each subcommand has its own help: syntagm reading fit --help.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _model
from syntagm.errors import InputError, UsageError
from syntagm.io.number import counted

if TYPE_CHECKING:
    import polars as pl

    from syntagm.models.contract import LanguageModel
    from syntagm.reading_times.alarms import Alarm
    from syntagm.reading_times.analyses import Analysis
    from syntagm.reading_times.effects import Contrast, Number, Slopes
    from syntagm.reading_times.fitting import Request
    from syntagm.reading_times.joining import Joined, Rules
    from syntagm.reading_times.tables import Readings, Source

# Options that are not among the settings in a record: it has the input files with their hashes.
_NOT_RECORDED = (
    "output", "force", "run", "what", "line", "config_source", "quiet", "config",
    "file", "scores", "words", "people",
)  # fmt: skip
# The figures of a fit.
_FIGURES = ("gain", "lag", "shape")
_CHECK = """Check a table of reading times, and sound alarms.

    syntagm reading check times.csv
    syntagm reading check trials.csv --columns text=CONSTRUCTION+item+AMBIG
    syntagm reading check times.csv --scores words.csv
    syntagm reading check --codes

FILE is CSV (commas or semicolons), TSV or Parquet, with a row for each participant and word, for each
word (means), or for each participant and region. Columns are found by their names; --columns says what
is not found. Nothing is changed. Exit code 1: an alarm rings, or words don't match their scores.
"""
_JOIN = """Join reading times with the surprisals of their words.

    syntagm reading join times.csv words.csv -o joined.csv
    syntagm reading join times.csv words.csv --tolerate quotes,dashes --accept peaked=peeked -o joined.csv
    syntagm reading join times.tsv tokens.csv --texts order -o joined.csv

SCORES has a row for each word, as `syntagm score --by word` writes it, or for each token, with all tokens
of a text. Words are joined by text and position, and must be equal. Words that differ have no surprisal
and are listed in OUT.mismatches.csv; exit code 1.
"""
_TABLE = """Make the table of predictors for regressions, here or in R.

    syntagm reading table times.csv --model 'gpt2?boundary=word' --model models/lstm -o table.csv
    syntagm reading table times.csv --scores words.csv --frequency wordfreq:en --spillover 2 -o table.parquet
    syntagm reading table times.csv --scores words.csv --exclude exclude.toml -o table.csv
    syntagm reading table times.csv --model gpt2 --entropy -o table.csv
    syntagm reading table meco.csv --model en=gpt2 --model du=models/dutch \\
        --frequency en=wordfreq:en --frequency du=wordfreq:nl -o table.csv

A row for each reading time has the surprisal of its word (bits; bits_LABEL of several models), its
length without punctuation, its frequency, the same of 1 to 3 words before, and its sentence. The texts
are made of the words that were shown. --frequency is wordfreq:LANGUAGE, ngram:FOLDER (an n-gram model of
order 1), or a table with the columns word and frequency. --entropy adds the entropy of the next token
before each word, from the same pass. In a table with a column for the language, LANGUAGE=MODEL and
LANGUAGE=SOURCE give each its own. The lines for lme4 are printed.
"""
_FIT = """Fit reading times on training folds, and compute the gain in log-likelihood on held-out folds.

    syntagm reading fit table.csv --response time --baseline length frequency --add bits --lags 2 -o gains.csv
    syntagm reading fit table.csv --response time --baseline length,frequency --add gpt2=bits_gpt2 --add lstm=bits_lstm
    syntagm reading fit table.csv --response time --baseline length --add bits --model mixed \\
        --random '(1 + bits | participant)' '(1 | item)' --folds participant:10
    syntagm reading fit table.csv --response time --baseline length --add bits --lags 1 --model smooth --figure shape=shape
    syntagm reading fit meco.csv --response time --baseline length frequency --add bits --lags 2 --by language -o gains.csv

The gain is the log-likelihood of held-out rows with the added columns minus that of the baseline, in nats
per observation. --add is given once for each model, or once for a table with a column `model`. Rows that
lack a value or a lag are dropped from both models and counted; then folds are cut: contiguous:K cuts rows
in their order as R's cut(1:n, K), sentence:K and participant:K whole ones. FILE.csv has a row for each
model and fold (model,fold,n,loglik_baseline,loglik,gain): sums over held-out rows, and the gain per row;
with --by COLUMN, before them the value of COLUMN, whose rows have a fit and folds of their own.
--missing frequency=inf counts such values as missing. `syntagm table|figure gain|lag|shape FILE.csv`,
`syntagm report FILE.csv` and `syntagm cite FILE.csv` show the results again.
Alarms about the table are printed beside the results.
"""
_EFFECTS = """Predict effects of suites in milliseconds from what a bit costs on a corpus, and compare them with people's.

    syntagm export runs/gpt2 --as words -o words.csv
    syntagm reading effects table.csv --response time --baseline length frequency --add bits --lags 2 \\
        --words words.csv --contrast ambiguous-unambiguous --people trials.csv -o effects.csv
    syntagm reading effects table.csv --response time --baseline position --add bits,length,frequency --lags 1 \\
        --model mixed --random '(1 + bits | participant)' '(1 | item)' \\
        --words words.csv --contrast ambiguous-unambiguous
    syntagm reading effects --ms-per-bit 2.1,1.3 --words words.csv --contrast ambiguous-unambiguous

The slopes of surprisal (of a word, and with --lags of the words before) are those of least squares on
TABLE, with cluster-robust uncertainty, or of a mixed-effects model. Further columns of --add have slopes,
too, and WORDS must have them. WORDS has the surprisals of suites word by word, PEOPLE reading
times by condition, item and region. Output: model, suite, contrast, region, the difference in bits, the
effect of people, the predicted one, and their ratio, with 95% intervals; `syntagm table|figure ms FILE.csv`
and `syntagm report FILE.csv` show them again.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = parser.add_subparsers(dest="what", metavar="check|join|table|fit|effects", required=True)

    def add(name: str, description: str) -> argparse.ArgumentParser:
        summary = description.partition("\n")[0]
        return commands.add_parser(
            name, help=summary, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )

    check = add("check", _CHECK)
    check.add_argument("file", metavar="FILE", type=Path, nargs="?", help="the table of reading times")
    check.add_argument("--codes", action="store_true", help="list the alarms, then stop")
    check.add_argument("--json", action="store_true", help="print one JSON object")
    _of_times(check)
    check.add_argument("--scores", metavar="FILE", type=Path, help="surprisals of the words that were shown")
    _of_join(check)
    _of_exclusions(check)

    join = add("join", _JOIN)
    join.add_argument("file", metavar="FILE", type=Path, help="the table of reading times")
    join.add_argument("scores", metavar="SCORES", type=Path, help="surprisals of words or tokens")
    _of_times(join)
    _of_join(join)
    _of_output(join, required=True)

    table = add("table", _TABLE)
    table.add_argument("file", metavar="FILE", type=Path, help="the table of reading times")
    _of_times(table)
    table.add_argument(
        "--model", metavar="MODEL", action="append", default=[],
        help="a language model; may be repeated. LANGUAGE=MODEL: that of a language of the table",
    )  # fmt: skip
    table.add_argument("--name", metavar="LABEL", action="append", default=[], help="a name for each --model, in order")
    table.add_argument(
        "--context", choices=["text", "sentence"], default="text", help="what precedes a word for a --model (text)"
    )
    _model.permissions(table)
    table.add_argument("--scores", metavar="FILE", type=Path, help="surprisals from a file instead of a --model")
    _of_join(table)
    table.add_argument(
        "--entropy", action="store_true", help="add the entropy of the next token before each word, in bits"
    )
    table.add_argument(
        "--frequency", metavar="SOURCE", action="append", default=[],
        help="wordfreq:LANGUAGE, ngram:FOLDER, or a table; LANGUAGE=SOURCE, once for each language of the table",
    )  # fmt: skip
    table.add_argument(
        "--spillover", metavar="N", type=int, default=2, help="predictors of so many words before, 0 to 3 (2)"
    )
    table.add_argument(
        "--form", choices=["columns", "long"], default="columns", help="a column for each model, or rows (columns)"
    )
    _of_exclusions(table)
    _of_output(table, required=True)

    fit = add("fit", _FIT)
    fit.add_argument("file", metavar="TABLE", type=Path, help="the table with times and predictors")
    _of_regression(fit)
    fit.add_argument(
        "--model", choices=["ols", "loglinear", "mixed", "smooth"], default="ols",
        help="least squares (ols, the default), of logarithms (loglinear), mixed-effects, or with penalised splines (smooth)",
    )  # fmt: skip
    _add_random(fit)
    fit.add_argument(
        "--by", metavar="COLUMN", default="", help="a fit for each value of a column, such as the language"
    )
    fit.add_argument(
        "--folds",
        metavar="KIND:K",
        default="contiguous:10",
        help="contiguous:K, sentence:K, text:K or participant:K (contiguous:10)",
    )
    fit.add_argument(
        "--figure",
        metavar="NAME=STEM",
        action="append",
        default=[],
        help="draw gain, lag or shape to STEM.png, STEM.svg ...",
    )
    fit.add_argument(
        "--against", metavar="FILE", type=Path, help="numbers of models for the figure gain: model, and one column"
    )
    fit.add_argument("--methods", action="store_true", help="print a methods paragraph with citations")
    _of_exclusions(fit)
    _of_output(fit)

    effects = add("effects", _EFFECTS)
    effects.add_argument(
        "file", metavar="TABLE", type=Path, nargs="?", help="the corpus or fillers: a table with times and predictors"
    )
    _of_regression(effects, required=False)
    effects.add_argument(
        "--model", choices=["ols", "mixed"], default="ols", help="least squares (ols, the default), or mixed-effects"
    )
    _add_random(effects)
    effects.add_argument(
        "--ms-per-bit", metavar="X,X,...", help="slopes of a word and of those before it, instead of a TABLE"
    )
    effects.add_argument("--words", metavar="FILE", type=Path, required=True, help="surprisals of suites, word by word")
    _add_roles(effects, "--word-columns", "what columns of --words mean")
    effects.add_argument("--people", metavar="FILE", type=Path, help="reading times of people for the suites")
    _add_roles(effects, "--people-columns", "what columns of --people mean")
    effects.add_argument("--contrast", metavar="A-B", required=True, help="the effect: condition A minus condition B")
    effects.add_argument("--by-item", action="store_true", help="a row for each item")
    _of_output(effects)


def _add_random(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--random",
        metavar="TERM",
        nargs="+",
        action="extend",
        default=[],
        help="random terms of a mixed model: '(1 | participant)'",
    )


def _add_roles(parser: argparse.ArgumentParser, flag: str, help: str) -> None:
    parser.add_argument(flag, metavar="ROLE=COLUMN", nargs="+", action="extend", default=[], help=help)


def _add_decimal(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--decimal", choices=["point", "comma"], default="point", help="the decimal mark of numbers (point)"
    )


def _of_times(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_roles(parser, "--columns", "what columns mean: time=RT text=story+part")
    add("--unit", choices=["ms", "s", "log-ms"], default="", help="the unit of the times (ms)")
    _add_decimal(parser)
    add("--layout", metavar="NAME", help="the columns of a public corpus: see `syntagm reading check --codes`")


def _of_join(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_roles(parser, "--score-columns", "what columns of the scores mean")
    add(
        "--texts",
        choices=["name", "order"],
        default="name",
        help="join texts by name (the default), or the n-th with the n-th",
    )
    add("--tolerate", metavar="WHAT", default="", help="differences between words: quotes,dashes,case")
    add(
        "--accept",
        metavar="SHOWN=SCORED",
        nargs="+",
        action="extend",
        default=[],
        help="two spellings that are one word",
    )


def _of_exclusions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--exclude", metavar="FILE", type=Path, help="a TOML file that says which rows are left out")


def _of_regression(parser: argparse.ArgumentParser, required: bool = True) -> None:
    add = parser.add_argument
    add("--response", metavar="COLUMN", required=required, help="the column of the times")
    add(
        "--baseline",
        metavar="COLUMN",
        nargs="+",
        action="extend",
        default=[],
        help="predictors of the baseline; terms such as length:frequency, too",
    )
    add(
        "--add",
        metavar="COLUMN",
        nargs="+",
        action="append",
        required=required,
        help="predictors that are added, [NAME=]COLUMN ...; once for each model",
    )
    add("--lags", metavar="N", type=int, default=0, help="the same columns of N words before are predictors, too (0)")
    add("--where", metavar="COLUMN=VALUE", nargs="+", action="extend", default=[], help="use only these rows")
    add(
        "--missing",
        metavar="COLUMN=NUMBER",
        nargs="+",
        action="extend",
        default=[],
        help="values that stand for missing ones: frequency=0 frequency=inf",
    )
    _add_roles(parser, "--columns", "the columns of text, sentence, participant and model")
    _add_decimal(parser)


def _of_output(parser: argparse.ArgumentParser, required: bool = False) -> None:
    _files.add_output(
        parser, "FILE", "the table to write, .csv or .parquet; a sealed record goes beside it", required=required
    )
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Carry out the subcommand; return the exit code."""
    if getattr(options, "output", None) is not None:
        _spare(options.output, options.force)
    return {"check": _check, "join": _join, "table": _table, "fit": _fit, "effects": _effects}[options.what](options)


def _spare(output: Path, force: bool) -> None:
    from syntagm.reading_times import record

    if output.suffix not in (".csv", ".parquet"):
        raise UsageError(f"-o {output}", f"the ending {output.suffix!r}", ".csv or .parquet")
    if not force and output.exists() and not record.is_ours(output):
        raise UsageError(
            str(output), "a file that syntagm did not write, or that was changed since", "a new name", _files.CURE
        )


def _check(options: argparse.Namespace) -> int:
    from syntagm.reading_times import alarms, exclusions, joining

    if options.codes:
        _list_codes()
        return 0
    if options.file is None:
        raise UsageError("reading check", "no file", "a table of reading times")
    times = _times(options)
    found, joined = alarms.alarms(times.frame), None
    if options.scores:
        try:
            joined = joining.join(times, _scores(options), _rules(options))
        except InputError as error:
            if not any(alarm.code == "words_differ" for alarm in found):
                raise
            print(f"scores were not joined: {error}", file=sys.stderr)
    if joined:
        found = alarms.alarms(joining.beside(times, joined))
    excluded: Mapping[str, int] = {}
    if options.exclude:
        excluded = exclusions.counts(
            exclusions.reasons(times.frame, exclusions.read(options.exclude), str(options.file))
        )
    if options.json:
        _print_check_as_json(times, found, joined, excluded)
    else:
        _print_check(times, found, joined, excluded)
    return 1 if found or (joined and joined.mismatches) else 0


def _list_codes() -> None:
    from syntagm.reading_times import alarms, layouts

    for code, summary in alarms.CODES.items():
        print(f"{code:<16}{summary}")
    print("\nlayouts of public corpora (--layout NAME):\n")
    for layout in layouts.LAYOUTS:
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
        _print_join(joined)
    _print_counts("excluded", excluded)
    for alarm in found:
        print(_said(alarm))
    print(f"{len(found)} alarm{'' if len(found) == 1 else 's'}")


def _print_check_as_json(
    times: "Readings", found: "Sequence[Alarm]", joined: "Joined | None", excluded: Mapping[str, int]
) -> None:
    import json
    from dataclasses import asdict

    content = {
        "rows": times.frame.height,
        "columns": {name: list(columns) for name, columns in times.chosen.items()},
        "notes": list(times.notes),
        "alarms": [asdict(alarm) for alarm in found],
        "mismatches": [asdict(one) for one in joined.mismatches] if joined else [],
        "excluded": dict(excluded),
    }
    print(json.dumps(content, ensure_ascii=False, indent=1))


def _said(alarm: "Alarm") -> str:
    place = f" (first in line {alarm.line})" if alarm.line else ""
    return f"alarm [{alarm.code}]: {alarm.message}{place}. {alarm.cure}"


def _print_counts(what: str, counts: Mapping[str, int]) -> None:
    if counts:
        print(f"{what}: " + "; ".join(f"{count:,} {reason}" for reason, count in counts.items()))


def _print_join(joined: "Joined") -> None:
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


def _join(options: argparse.Namespace) -> int:
    from syntagm.reading_times import joining

    times, scores = _times(options), _scores(options)
    joined = joining.join(times, scores, _rules(options))
    frame = joining.beside(times, joined)
    _print_notes(times.notes)
    _print_join(joined)
    inputs = {options.file: times.source.digest, options.scores: scores.source.digest}
    found = {
        "rows": frame.height,
        "notes": [*times.notes, *joined.notes],
        "results": {"words": joined.words.height, "joined": joined.matched, "mismatches": len(joined.mismatches)},
    }
    _save(options, frame, inputs, found, _mismatches(options, joined))
    return 1 if joined.mismatches else 0


def _mismatches(options: argparse.Namespace, joined: "Joined | None") -> dict[Path, bytes]:
    """Return the list of mismatches as a file beside the output; an earlier list is deleted if there are none."""
    from syntagm.io import csv
    from syntagm.reading_times.joining import listed

    path = options.output.with_name(options.output.name + ".mismatches.csv")
    if not joined or not joined.mismatches:
        path.unlink(missing_ok=True)
        return {}
    columns = listed(joined.mismatches)
    rows = zip(*([("" if cell is None else cell) for cell in column] for column in columns.values()), strict=True)
    print(f"all {len(joined.mismatches):,} mismatches: {path}")
    return {path: "".join(csv.lines(list(columns), rows)).encode()}


def _table(options: argparse.Namespace) -> int:
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
    times = _times(options)
    languages = predictors.languages_of(times)
    sources = _by_language("--frequency", options.frequency, languages)
    permissions = _model.given(options)
    of = {language: predictors.frequency(source, permissions) for language, source in sources.items()}
    left_out = exclusions.read(options.exclude) if options.exclude else None
    inputs = {options.file: times.source.digest}
    joined: Joined | None = None
    found: list[Alarm] = []
    notes = list(times.notes)
    if options.scores:
        scores = _scores(options)
        inputs[options.scores] = scores.source.digest
        joined = joining.join(times, scores, _rules(options))
        words = joined.words
        notes += joined.notes
    else:
        words, said, found = _score(options, times, languages)
        notes += said
    table = predictors.predictors(times, words, chosen, of or None)
    notes += table.notes
    excluded = exclusions.reasons(table.frame, left_out, str(options.file)) if left_out else None
    frame = table.frame if excluded is None else table.frame.filter(excluded.is_null())
    counts = exclusions.counts(excluded) if excluded is not None else {}
    with_bits = table.frame
    if "bits" not in with_bits.columns and table.bits:
        with_bits = with_bits.rename({table.bits[0]: "bits"})
    found = [*found, *alarms.alarms(with_bits)]
    _print_notes(notes)
    if joined:
        _print_join(joined)
    _print_counts("excluded", counts)
    for alarm in found:
        print(_said(alarm), file=sys.stderr)
    _save(
        options,
        frame,
        inputs,
        {
            "rows": table.frame.height,
            "dropped": counts,
            "notes": notes,
            "alarms": _plain(found),
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
    import functools

    from syntagm.reading_times import predictors

    if not any(_language_of(name, languages) for name in options.model):
        return predictors.score(times, _models(options), options.context, entropy=options.entropy)
    if options.name:
        raise UsageError(
            "--name", "with a model for each language", "no names", "Their surprisals are one column, bits."
        )
    chosen = _by_language("--model", options.model, languages)
    load = {language: functools.partial(_model.load, name, _model.given(options)) for language, name in chosen.items()}
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
    """Load the models: label -> model."""
    if options.name and len(options.name) != len(options.model):
        raise UsageError(
            "--name", f"{len(options.name)} names for {len(options.model)} models", "a name for each --model"
        )
    found: dict[str, LanguageModel] = {}
    for at, name in enumerate(options.model):
        model = _model.load(name, _model.given(options))
        label = options.name[at] if options.name else model.name
        if label in found:
            raise UsageError("--model", f"{label} twice", "different models, or a --name for each")
        found[label] = model
    return found


def _fit(options: argparse.Namespace) -> int:
    from syntagm.reading_times import analyses, fitting, tables

    drawn = [_figure(text) for text in options.figure]
    source = tables.open_table(options.file, options.decimal)
    request = _request(options, source)
    excluded = _excluded(options, source, request)
    outcome = fitting.fit(source, request, excluded)
    found, unasked = _alarms(source, request)
    _print_notes([*outcome.notes, *unasked])
    kept = outcome.rows - sum(outcome.dropped.values())
    print(f"rows: {kept:,} of {outcome.rows:,}")
    _print_counts("dropped", outcome.dropped)
    for line in fitting.lines(outcome):
        print(line)
    tests = (
        [test for label, rows in outcome.observations.items() for test in fitting.linearity(label, rows)]
        if request.model == "smooth"
        else []
    )
    for test in tests:
        print(
            f"{test.model}, {test.column}: linearity F({test.first}, {test.second}) = {test.f:.2f}, p = {test.p:.3g}; "
            f"effective degrees of freedom {test.edf:.2f}"
        )
    if tests and any("participants" in gain.clusters for gain in outcome.gains):
        print(fitting.DEPENDENT)
    for alarm in found:
        print(_said(alarm), file=sys.stderr)
    if options.methods:
        print(f"\n{fitting.methods(outcome)}")
    if drawn:
        _draw(analyses.of_outcome(outcome, found, tests), drawn, options.against, options.force)
    if options.output:
        content = analyses.of_fit(outcome, found, tests)
        _save(options, outcome.frame(), {options.file: source.digest}, content)
    return 0


def _figure(text: str) -> tuple[str, Path]:
    name, _, stem = text.partition("=")
    if name not in _FIGURES or not stem:
        raise UsageError(
            f"--figure {text}",
            "no figure of this name, or no STEM",
            f"NAME=STEM, with NAME one of {', '.join(_FIGURES)}",
        )
    return name, _files.stem(stem)


def _draw(analysis: "Analysis", drawn: Sequence[tuple[str, Path]], against: Path | None, force: bool) -> None:
    from syntagm.cli._saving import save
    from syntagm.reading_times import views

    for name, stem in drawn:
        given = {"against": str(against)} if against and name == "gain" else {}
        paths = save(views.figure(name, analysis, **given), stem, force=force)
        print(f"figure {name}: {', '.join(map(str, paths))}")


def _request(options: argparse.Namespace, source: "Source") -> "Request":
    from syntagm.reading_times import fitting, folds, roles

    return fitting.Request(
        response=options.response, baseline=tuple(options.baseline), added=fitting.read_added(options.add, source.names),
        lags=options.lags, model=getattr(options, "model", "ols"), folds=folds.read(getattr(options, "folds", "contiguous:10")),
        random=tuple(getattr(options, "random", ())), given=roles.read(options.columns, source.names, str(options.file)),
        where=tuple(options.where), by=getattr(options, "by", ""), missing=tuple(options.missing),
    )  # fmt: skip


def _excluded(options: argparse.Namespace, source: "Source", request: "Request") -> "pl.Series | None":
    from syntagm.reading_times import exclusions, tables

    if not options.exclude:
        return None
    times = tables.interpret(source, {**(request.given or {}), "time": (request.response,)})
    return exclusions.reasons(times.frame, exclusions.read(options.exclude), str(options.file))


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


def _plain(found: "Sequence[Alarm]") -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [asdict(alarm) for alarm in found]


def _effects(options: argparse.Namespace) -> int:
    from syntagm.drawing.table import Table
    from syntagm.reading_times import analyses, effects, roles, tables

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
    slopes, notes = _slopes(options, inputs)
    people = _effects_of_people(options, contrast, inputs) if options.people else {}
    models = words.frame["model"].unique(maintain_order=True).to_list() if "model" in words.frame.columns else [None]
    rows = []
    for one in slopes:
        model = one.model if one.model in models else models[0]
        if one.model not in models and len(models) > 1:
            raise UsageError(
                "--words",
                f"surprisals of {', '.join(map(str, models[:4]))}",
                f"those of {one.model}",
                "Name the model as there: --add NAME=COLUMN.",
            )
        rows += effects.effects(one, effects.region_amounts(words, model, one), contrast, people, options.by_item)
    columns = effects.COLUMNS if not options.by_item else (*effects.COLUMNS[:4], "item", *effects.COLUMNS[4:])
    cells = [row.row if not options.by_item else (*row.row[:4], row.item, *row.row[4:]) for row in rows]
    missing = sorted({(row.suite, row.region) for row in rows if row.people.value != row.people.value})
    if people and missing:
        notes.append(
            f"no times of people for {len(missing)} regions, for example {missing[0][1]} of {missing[0][0] or 'the suite'}"
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
            "columns": list(columns), "methods": effects.methods(slopes, contrast, bool(people)),
            "slopes": [row for one in slopes for row in analyses.of_slopes(one)],
        }  # fmt: skip
        frame = pl.DataFrame(cells, schema=list(columns), orient="row")
        _save(options, frame, inputs, {"rows": len(cells), "notes": notes, "results": results})
    title = f"Effects in ms: {contrast}"
    print(Table(title, tuple(columns), shown, notes=("Intervals: 95%.",)).markdown())  # type: ignore[arg-type]
    return 0


def _effects_of_people(
    options: argparse.Namespace, contrast: "Contrast", inputs: dict[Path, str]
) -> "dict[tuple[str, str, str], Number]":
    """Return the effects of people; their file is added to the inputs."""
    from syntagm.reading_times import effects, roles, tables

    source = tables.open_table(options.people)
    times = tables.interpret(source, roles.read(options.people_columns, source.names, str(options.people)))
    inputs[options.people] = source.digest
    if not (found := effects.of_people(times, contrast, options.by_item)):
        raise InputError(
            str(options.people),
            f"no times under both conditions of {contrast}",
            "conditions and regions named as in --words",
        )
    return found


def _slopes(options: argparse.Namespace, inputs: dict[Path, str]) -> "tuple[list[Slopes], list[str]]":
    """Fit the slopes on a table, or take those that the user gives; return them with sentences about them.

    A table is added to the inputs.
    """
    import numpy as np

    from syntagm.reading_times import effects, fitting, tables

    if bool(options.file) == bool(options.ms_per_bit):
        raise UsageError(
            "reading effects",
            "both TABLE and --ms-per-bit" if options.file else "neither TABLE nor --ms-per-bit",
            "one of the two",
        )
    if options.ms_per_bit:
        try:
            values = np.array([float(part) for part in options.ms_per_bit.split(",")])
        except ValueError:
            raise UsageError("--ms-per-bit", repr(options.ms_per_bit), "numbers, separated by commas") from None
        return [effects.given(values.tolist())], ["slopes are given, without uncertainty"]
    if bool(options.random) != (options.model == "mixed"):
        raise UsageError(
            f"--model {options.model}",
            "random terms" if options.random else "no random terms",
            "--random with --model mixed, and only there",
        )
    if not options.response or not options.add:
        raise UsageError("reading effects TABLE", "no --response or no --add", "both")
    source = tables.open_table(options.file, options.decimal)
    inputs[options.file] = source.digest
    request = _request(options, source)
    found, notes = [], []
    for label, rows in fitting.prepare(source, request).items():
        notes += [note for note in rows.notes if note not in notes]
        one = effects.slopes(label, rows, fitting.clusters(rows), request.random)
        found.append(one)
        for place, unit in zip(one.places, np.eye(len(one.values)), strict=True):
            number = one.predict(unit)
            what = "bit" if place.predictor == one.predictors[0] else "unit"
            notes.append(
                f"{label}, {place}: {number.value:.3f} ms per {what} [{number.ends[0]:.3f}, {number.ends[1]:.3f}], n = {one.n:,}"
            )
    found_alarms, unasked = _alarms(source, request)
    return found, [*notes, *unasked, *map(_said, found_alarms)]


def _times(options: argparse.Namespace) -> "Readings":
    from syntagm.reading_times import layouts, roles, tables

    source = tables.open_table(options.file, options.decimal)
    given = roles.read(options.columns, source.names, str(options.file))
    unit = options.unit
    if options.layout:
        layout = layouts.find(options.layout)
        given, unit = {**layout.columns, **given}, unit or layout.unit
        source.require([column for columns in given.values() for column in columns])
    return tables.interpret(source, given, unit)


def _scores(options: argparse.Namespace) -> "Readings":
    from syntagm.reading_times import roles, tables

    source = tables.open_table(options.scores)
    given = roles.read(options.score_columns, source.names, str(options.scores))
    return tables.interpret(source, given, unused=("time", "participant"))


def _rules(options: argparse.Namespace) -> "Rules":
    from syntagm.reading_times import joining

    tolerated = tuple(part.strip() for part in options.tolerate.split(",") if part.strip())
    return joining.Rules(tolerated, joining.accepted(options.accept), options.texts)


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        print(note, file=sys.stderr if note.startswith("warning:") else sys.stdout)


def _save(
    options: argparse.Namespace,
    frame: "pl.DataFrame",
    inputs: Mapping[Path, str],
    found: Mapping[str, Any],
    beside: Mapping[Path, bytes] | None = None,
) -> None:
    """Write a table as CSV or Parquet, with its record."""
    import io

    import polars as pl

    from syntagm.io import csv
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
