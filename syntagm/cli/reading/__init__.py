"""Model reading times by surprisal: check and join tables, fit held-out regressions, predict effects in ms.

    syntagm reading check times.csv                                     what is wrong with a table
    syntagm reading join times.csv words.csv -o joined.csv              add surprisals, word by word
    syntagm reading table times.csv --model 'gpt2?boundary=word' --frequency wordfreq:en -o table.csv
    syntagm reading fit table.csv --response time --baseline length frequency --add bits --lags 2 -o gains.csv
    syntagm reading effects table.csv --response time --baseline length frequency --add bits --lags 2 \\
        --words words.csv --people people.csv --times regions --contrast ambiguous-unambiguous -o effects.csv

Each subcommand has its own help: syntagm reading fit --help.
"""

import argparse
from pathlib import Path

from syntagm.cli import _files, _options
from syntagm.cli.reading import fits, tables
from syntagm.core import UsageError

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
What a bit costs, of the word and with --lags of the words before, comes from the same model fitted to all
rows; --slopes writes it (model,predictor,back,slope,se,low,high,unit). Errors of slopes are cluster-robust,
those of mixed models are the model's.
--missing frequency=inf counts such values as missing. `syntagm table|figure gain|lag|shape FILE.csv`,
`syntagm report FILE.csv` and `syntagm cite FILE.csv` show the results again.
Alarms about the table are printed beside the results.
"""
_EFFECTS = """Predict effects of suites in milliseconds from what a bit costs on a corpus, and compare them with people's.

    syntagm export runs/gpt2 --as words -o words.csv
    syntagm reading effects table.csv --response time --baseline length frequency --add bits --lags 2 \\
        --words words.csv --contrast ambiguous-unambiguous --people trials.csv --times regions -o effects.csv
    syntagm reading effects table.csv --response time --baseline position --add bits,length,frequency --lags 1 \\
        --model mixed --random '(1 + bits | participant)' '(1 | item)' \\
        --words words.csv --contrast ambiguous-unambiguous --times words
    syntagm reading effects --ms-per-bit 2.1,1.3 --words words.csv --contrast ambiguous-unambiguous --times words

The slopes of surprisal (of a word, and with --lags of the words before) are those of least squares on
TABLE, with cluster-robust uncertainty, or of a mixed-effects model. Further columns of --add have slopes,
too, and WORDS must have them. WORDS has the surprisals of suites word by word, PEOPLE reading
times by condition, item and region: of words, or of whole regions (--times; exports of self-paced experiments
have a column that says so). Output: model, suite, contrast, region, the difference in bits, the
effect of people, the predicted one, and their ratio, with 95% intervals; `syntagm table|figure ms FILE.csv`
and `syntagm report FILE.csv` show them again.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
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
    _options.add_permissions(table)
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
        "--folds", metavar="KIND:K", default="contiguous:10",
        help="contiguous:K, sentence:K, text:K or participant:K (contiguous:10)",
    )  # fmt: skip
    fit.add_argument(
        "--figure", metavar="NAME=STEM", action="append", default=[],
        help="draw gain, lag or shape to STEM.png, STEM.svg ...",
    )  # fmt: skip
    fit.add_argument(
        "--against", metavar="FILE", type=Path, help="numbers of models for the figure gain: model, and one column"
    )
    fit.add_argument(
        "--slopes", metavar="CSV", type=Path, help="write what a unit of each added column costs, from all rows"
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
    effects.add_argument(
        "--times", choices=["words", "regions"], default="",
        help="what people's times are: of words (means over a region), or of whole regions (sums); "
        "needed unless a column `times` of --people says so",
    )  # fmt: skip
    effects.add_argument("--by-item", action="store_true", help="a row for each item")
    _of_output(effects)


def _add_random(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--random", metavar="TERM", nargs="+", action="extend", default=[],
        help="random terms of a mixed model: '(1 | participant)'",
    )  # fmt: skip


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
        "--texts", choices=["name", "order"], default="name",
        help="join texts by name (the default), or the n-th with the n-th",
    )  # fmt: skip
    add("--tolerate", metavar="WHAT", default="", help="differences between words: quotes,dashes,case")
    add(
        "--accept", metavar="SHOWN=SCORED", nargs="+", action="extend", default=[],
        help="two spellings that are one word",
    )  # fmt: skip


def _of_exclusions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--exclude", metavar="FILE", type=Path, help="a TOML file that says which rows are left out")


def _of_regression(parser: argparse.ArgumentParser, required: bool = True) -> None:
    add = parser.add_argument
    add("--response", metavar="COLUMN", required=required, help="the column of the times")
    add(
        "--baseline", metavar="COLUMN", nargs="+", action="extend", default=[],
        help="predictors of the baseline; terms such as length:frequency, too",
    )  # fmt: skip
    add(
        "--add", metavar="COLUMN", nargs="+", action="append", required=required,
        help="predictors that are added, [NAME=]COLUMN ...; once for each model",
    )  # fmt: skip
    add("--lags", metavar="N", type=int, default=0, help="the same columns of N words before are predictors, too (0)")
    add("--where", metavar="COLUMN=VALUE", nargs="+", action="extend", default=[], help="use only these rows")
    add(
        "--missing", metavar="COLUMN=NUMBER", nargs="+", action="extend", default=[],
        help="values that stand for missing ones: frequency=0 frequency=inf",
    )  # fmt: skip
    _add_roles(parser, "--columns", "the columns of text, sentence, participant and model")
    _add_decimal(parser)


def _of_output(parser: argparse.ArgumentParser, required: bool = False) -> None:
    _files.add_output(
        parser, "FILE", "the table to write, .csv or .parquet; a sealed record goes beside it", required=required
    )
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    if getattr(options, "output", None) is not None:
        _spare(options.output, options.force)
    actions = {
        "check": tables.check, "join": tables.join, "table": tables.table,
        "fit": fits.fit, "effects": fits.effects,
    }  # fmt: skip
    return actions[options.what](options)


def _spare(output: Path, force: bool) -> None:
    from syntagm.reading_times import record

    if output.suffix not in (".csv", ".parquet"):
        raise UsageError(f"-o {output}", f"the ending {output.suffix!r}", ".csv or .parquet")
    if not force and output.exists() and not record.is_ours(output):
        raise UsageError(
            str(output), "a file that syntagm did not write, or that was changed since", "a new name", _files.CURE
        )
