"""The rows of a regression: chosen columns with their lags, without rows that lack a value.

Lags are those of the row before in the same text and for the same participant, in the order of the file; they stop at
texts and participants. Rows that are left out were words before others nevertheless, unless they are taken for other
versions of the same words, as of another model (`_versions`). Rows that lack a value or a lag are dropped from all models,
and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

import numpy as np
import polars as pl

from syntagm.core import InputError, UsageError
from syntagm.reading_times import roles
from syntagm.reading_times.tables import Source, refuse_absurd
from syntagm.stats import Columns, Model, Sum, Term, Variable, factor_levels, formula, model_columns

# The line of a row in its file; tables may have a column `line` of their own.
LINE = ":line"
# The place of a row among the words that lags stop at, before rows are dropped: by positions, or else by rows.
ROW = ":row"
# The column of --by.
BY = ":by"
_KEYS = ("model", "language", "text", "sentence", "participant", "position", "region", "item")


@dataclass(frozen=True, slots=True)
class Added:
    """The columns that a model adds to the baseline.

    Arguments:
        label: the name of the model in results.
        columns: the columns, as the user wrote them.
    """

    label: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Observations:
    """The complete rows of a table for one or more regressions."""

    # The columns of all terms with their lags, and the roles `text`, `sentence`, `participant` if there are any, under
    # names that begin with a colon, and so `:line`, the line in the file.
    frame: pl.DataFrame
    response: str  # the name of the response
    baseline: tuple[Term, ...]  # the terms of the baseline, with their lags
    added: Mapping[str, tuple[Term, ...]]  # the terms that each model adds, with their lags
    rows: int  # the number of rows in the table
    # Reason -> the number of rows dropped for it; a row is counted once, for the first reason.
    dropped: Mapping[str, int]
    notes: tuple[str, ...]  # sentences about the rows

    def columns(self, terms: Sequence[Term]) -> Columns:
        """Return the intercept and the columns of some terms, in R's coding. Shape (rows, columns)."""
        chosen = Sum(True, tuple(terms))
        model = Model("", Variable(self.response), chosen, ())
        levels = factor_levels(model, self.frame, {})
        return model_columns(chosen, self.frame, levels)

    def label(self, role: str) -> list[str] | None:
        """Return the text, sentence or participant of each row; None if the table has no such column."""
        name = f":{role}"
        return self.frame[name].to_list() if name in self.frame.columns else None

    @property
    def times(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """The response. Shape (rows,)."""
        return self.frame[self.response].to_numpy()


def terms(columns: Sequence[str], names: Sequence[str], option: str) -> tuple[Term, ...]:
    """Read columns, or terms of a formula such as `log(frequency)` and `length:frequency`.

    Arguments:
        columns: what the user wrote: names of columns or terms, several joined by commas or not.
        names: the columns of the table; such a name is taken as it is, whatever characters it has.
        option: the option, for messages.

    Raises:
        FormulaError: a term can't be parsed.

    >>> [":".join(map(str, term)) for term in terms(["length,log(frequency)", "a-b"], ["length", "a-b"], "--baseline")]
    ['length', 'log(frequency)', 'a-b']
    """
    found: dict[frozenset[Variable], Term] = {}
    for written in columns:
        for part in [written] if written in names else written.split(","):
            part = part.strip()
            if not part:
                raise UsageError(option, repr(written), "names of columns")
            own = ((Variable(part),),) if part in names else _parsed(part, option)
            for term in own:
                found.setdefault(frozenset(term), term)
    return tuple(found.values())


def _parsed(text: str, option: str) -> tuple[Term, ...]:
    model = formula.parse(f"`:` ~ {text}")
    if model.bars or not model.fixed.intercept:
        raise UsageError(option, repr(text), "columns, or terms without random effects and with the intercept")
    return model.fixed.terms


def lagged(term: Term, lag: int) -> Term:
    """Return a term over the columns of an earlier word.

    >>> lagged((Variable("length"), Variable("frequency", "log")), 2)
    (Variable(column='length_2', function=''), Variable(column='frequency_2', function='log'))
    """
    return tuple(Variable(_lagged(variable.column, lag), variable.function) for variable in term)


def _lagged(column: str, lag: int) -> str:
    return f"{column}_{lag}" if lag else column


def observations(
    source: Source,
    response: str,
    baseline: Sequence[str],
    added: Sequence[Added],
    lags: int = 0,
    given: roles.Chosen | None = None,
    where: Sequence[str] = (),
    grouping: Sequence[str] = (),
    excluded: pl.Series | None = None,
    by: str = "",
    missing: Sequence[str] = (),
) -> Observations:
    if not 0 <= lags <= 10:
        raise UsageError("--lags", str(lags), "a number from 0 to 10")
    base = terms(baseline, source.names, "--baseline")
    sets = {each.label: terms(each.columns, source.names, "--add") for each in added}
    if len(sets) < len(added):
        raise UsageError("--add", "two models of one name", "a name for each: --add NAME=COLUMN")
    for label, own in sets.items():
        if shared := [term for term in own if set(term) in [set(other) for other in base]]:
            raise UsageError(
                "--add", f"{':'.join(map(str, shared[0]))} of {label}, which is in the baseline", "other columns"
            )
    variables = [*dict.fromkeys(v.column for term in (*base, *(t for own in sets.values() for t in own)) for v in term)]
    if response in variables:
        raise UsageError("--response", f"{response}, which is also a predictor", "another column")
    later = {_lagged(name, lag) for name in variables for lag in range(1, lags + 1)}
    if clash := sorted(later & set(variables)):
        cure = "Give --lags 0 if the table has the lags as columns."
        raise UsageError("--lags", f"the lag {clash[0]}, which is also a column that was named", "one of the two", cure)
    source.require([response, *variables, *grouping, *([by] if by else [])])
    absent = _absent(missing, (response, *variables))
    chosen = roles.choose(source.names, given or {}, _KEYS)
    frame = pl.DataFrame([source.numbers(response), *(_values(source, name) for name in variables)])
    blanked = [_blank(frame[name], numbers) for name, numbers in absent.items()]
    frame = frame.with_columns(column for column, _ in blanked)
    labels = {
        f":{role}": source.texts(columns)
        for role, columns in chosen.items()
        if role in ("model", "language", "participant")
    }
    # Names of texts may recur in other languages, and those of sentences in other texts.
    for role, within in (("text", ("language",)), ("sentence", ("language", "text"))):
        if role in chosen:
            joint = [column for name in (*within, role) for column in chosen.get(name, ())]
            labels[f":{role}"] = source.texts([*dict.fromkeys(joint)])
    frame = frame.with_columns(
        *(column.alias(name) for name, column in labels.items()),
        *(source.texts([name]).alias(f"({name})") for name in grouping),
        source.lines.alias(LINE),
        *([source.texts([by]).alias(BY)] if by else []),
        (excluded if excluded is not None else pl.Series([None] * frame.height, dtype=pl.String)).alias(":excluded"),
    )
    position = source.numbers(chosen["position"][0]) if "position" in chosen else None
    if position is not None:
        frame = frame.with_columns(position.alias(":position"))
    kept = meeting(source, where)
    notes = [f"rows that meet {' and '.join(where)}: {int(kept.sum()):,} of {len(kept):,}"] if where else []
    notes += [f"missing by --missing: {count:,} values of {column.name}" for column, count in blanked]
    if not (total := int(kept.sum())):
        raise InputError(str(source.path), f"no row with {' and '.join(where)}", "at least one")
    over: list[str] = [name for name in (":model", ":language", ":participant", ":text") if name in frame.columns]
    frame = frame.with_columns(kept.alias(":kept"))
    if lags and where and position is None:
        notes += _skipping(frame, over)
    asked = {condition: source.texts([condition.partition("=")[0]]) for condition in where}
    versions = []
    if by and _versions(frame, over, frame[BY]):
        over = [BY, *over]
        versions.append(by)
    chosen_versions = [each for each, column in asked.items() if _versions(frame, over, column)]
    versions += [each.partition("=")[0] for each in chosen_versions]
    if lags and versions:
        notes.append(f"lags stop at {' and '.join(versions)}, whose values are taken for versions of the same words")
    frame = frame.filter(meeting(source, chosen_versions))
    if lags:
        notes += _order(frame, over, chosen)
        for lag in range(1, lags + 1):
            shifted = [pl.col(name).shift(lag) for name in variables]
            frame = frame.with_columns(
                (each.over(over) if over else each).alias(_lagged(name, lag))
                for name, each in zip(variables, shifted, strict=True)
            )
    frame = frame.with_columns(_places(frame, over).alias(ROW)).filter(":kept").drop(":kept")
    frame, dropped = _complete(frame, response, variables, lags, grouping)
    if not frame.height:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
        raise InputError(str(source.path), f"no complete row ({reasons})", "rows with all values")
    spread = [*base, *(lagged(term, lag) for lag in range(1, lags + 1) for term in base)]
    all_added = {
        label: (*own, *(lagged(term, lag) for lag in range(1, lags + 1) for term in own)) for label, own in sets.items()
    }
    return Observations(frame, response, tuple(spread), all_added, total, dropped, tuple(notes))


def _absent(missing: Sequence[str], names: Sequence[str] | None = None) -> dict[str, list[float]]:
    """Read the option --missing: column -> numbers. Columns other than `names` are refused."""
    found: dict[str, list[float]] = {}
    for written in missing:
        name, equals, value = written.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not equals or number != number:
            raise UsageError(f"--missing {written}", repr(value), "COLUMN=NUMBER, such as frequency=0 or frequency=inf")
        if names is not None and name not in names:
            raise UsageError(f"--missing {written}", f"{name!r}, which is no predictor", f"one of {', '.join(names)}")
        found.setdefault(name, []).append(number)
    return found


def _blank(column: pl.Series, numbers: Sequence[float]) -> tuple[pl.Series, int]:
    """Return a column without the values that stand for missing ones, and their number."""
    if not column.dtype.is_numeric():
        raise UsageError("--missing", f"{column.name}, a factor", "a column of numbers")
    wrong = column.is_in(list(numbers)).fill_null(False)
    return pl.select(pl.when(~wrong).then(column)).to_series().alias(column.name), int(wrong.sum())


def without(frame: pl.DataFrame, missing: Sequence[str], chosen: roles.Chosen) -> pl.DataFrame:
    """Return a table with the names of roles without the values of its columns that stand for missing ones."""
    named = {columns[0]: role for role, columns in chosen.items() if len(columns) == 1}
    numbers = {named[name]: values for name, values in _absent(missing).items() if name in named}
    return frame.with_columns(_blank(frame[role], values)[0] for role, values in numbers.items())


def by_value(rows: Observations) -> dict[str, Observations]:
    """Divide the rows by the column of --by: value -> its rows, with the added columns named `VALUE/LABEL`."""
    parts = {}
    for (value,), frame in rows.frame.group_by(BY, maintain_order=True):
        if "/" in str(value):
            raise UsageError("--by", f"the value {value!r} with a slash", "values without, which are part of names")
        added = {f"{value}/{label}": terms for label, terms in rows.added.items()}
        parts[str(value)] = replace(rows, frame=frame, added=added)
    return parts


def by_model(rows: Observations, label: str, within: str = "") -> dict[str, Observations]:
    """Divide the rows of a table with a column for the model: model -> its rows, with the added columns named after it."""
    [own] = rows.added.values()
    parts = {}
    for (name,), frame in rows.frame.group_by(":model", maintain_order=True):
        parts[f"{within}{name}"] = replace(rows, frame=frame, added={f"{within}{name}": own})
    return parts if len(parts) > 1 or label == "" else {label: rows}


def _values(source: Source, name: str) -> pl.Series:
    """Return a predictor: numbers, or the levels of a factor if no cell that isn't missing is a number."""
    column = source.frame[name]
    if column.dtype == pl.String:
        text = source.texts([name])
        numbers = text.drop_nulls().str.replace(",", ".").cast(pl.Float64, strict=False)
        if numbers.null_count() == len(numbers) and len(numbers):
            return text.alias(name)
    return source.numbers(name).alias(name)


def meeting(source: Source, where: Sequence[str]) -> pl.Series:
    kept = pl.Series([True] * source.frame.height, dtype=pl.Boolean)
    for condition in where:
        name, equals, value = condition.partition("=")
        if not equals:
            raise UsageError("--where", repr(condition), "COLUMN=VALUE")
        value = normalize("NFC", value)
        source.require([name])
        column = source.texts([name])
        if value not in column:
            shown = ", ".join(map(str, column.drop_nulls().unique(maintain_order=True).head(10)))
            raise UsageError(f"--where {condition}", "no such value", f"one of {shown}")
        kept = kept & (column == value).fill_null(False)
    return kept


def _versions(frame: pl.DataFrame, over: Sequence[str], column: pl.Series) -> bool:
    """Return whether the values of a column are versions of the same words, such as those of several models."""
    # Else they are of different words, which are words before others even if they are left out. Versions have the
    # positions of a text in one order. Positions that start anew in each sentence recur with other values, too, but
    # those of one value then go back, in other places than those of another. Without positions, it can't be told, and
    # the rows of each value are taken for a text of their own.
    if ":position" not in frame.columns:
        return True
    text = [*over, *([":sentence"] if ":sentence" in frame.columns else [])]
    asked = frame.select([*text, ":position"]).with_columns(column.alias(":asked")).drop_nulls(":position")
    places = asked.group_by([*text, ":position"]).agg(several=pl.col(":asked").n_unique() > 1)
    if not places["several"].any():
        return False
    if not text:
        text, asked, places = [":all"], *(each.with_columns(pl.lit(0).alias(":all")) for each in (asked, places))
    shared = places.group_by(text).agg(pl.len().alias("places"), pl.col("several").sum()).filter(pl.col("several") > 0)
    orders = asked.group_by([*text, ":asked"], maintain_order=True).agg(
        back=(pl.col(":position").diff() < 0).any(), order=pl.col(":position").cast(pl.String).str.join(" ")
    )
    alike = orders.group_by(text).agg(alike=~pl.col("back").any() | (pl.col("order").n_unique() == 1))
    judged = shared.join(alike, on=text, nulls_equal=True)
    # Not a few rows that are doubled or out of order.
    versions = judged.filter("alike")["several"].sum()
    return bool(2 * versions > judged["several"].sum() and 10 * versions > judged["places"].sum())


def _skipping(frame: pl.DataFrame, over: Sequence[str]) -> list[str]:
    """Warn of rows whose lags are those of an earlier word, as the word before is left out and there are no positions."""
    before = pl.col(":kept").shift(1)
    count = frame.select(pl.col(":kept") & ~(before.over(over) if over else before)).to_series().sum()
    if not count:
        return []
    return [
        f"warning: {count:,} rows follow rows that --where leaves out; their lags are those of the row before that meets it. "
        "If a row left out was the word before, name the column of positions: --columns position=COLUMN"
    ]


def _order(frame: pl.DataFrame, over: Sequence[str], chosen: roles.Chosen) -> list[str]:
    """Say what lags stop at, and where rows don't follow each other as words do."""
    stops = [f"{name[1:]} ({' + '.join(chosen[name[1:]])})" for name in over if name != BY]
    notes = [
        f"lags stop at each {', '.join(stops)}" if stops else "lags stop nowhere: no column for texts or participants"
    ]
    if ":position" in frame.columns:
        step = frame.select(pl.col(":position").diff().over(over) if over else pl.col(":position").diff()).to_series()
        backwards, gaps = int((step <= 0).sum()), int((step > 1).sum())
        if backwards:
            notes.append(
                f"warning: {backwards:,} rows come after a row of the same or a later position ({chosen['position'][0]}): "
                "lags follow the order of rows. Unless positions start anew in sentences, sort the table, or name the columns of "
                "texts and participants"
            )
        if gaps:
            notes.append(f"{gaps:,} rows follow a gap in positions; their lags are those of the row before")
    return notes


def _places(frame: pl.DataFrame, over: Sequence[str]) -> pl.Series:
    """Return the place of each word: by its position where each word has one of its own, or else by the order of rows."""
    # Tables are often sorted by something else than the text, such as the words. Positions that count anew in each
    # sentence don't say in which order the words were read.
    rows = pl.int_range(pl.len())
    if ":position" in frame.columns:
        keys = [*over, ":position"]
        if not frame[":position"].null_count() and not frame.select(pl.struct(keys).is_duplicated().any()).item():
            rows = pl.col(":position").rank("ordinal").cast(pl.Int64) - 1
    return frame.select((rows.over(over) if over else rows).alias(ROW)).to_series()


def _complete(
    frame: pl.DataFrame, response: str, variables: Sequence[str], lags: int, grouping: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Drop rows that lack a value, and count them by reason."""
    later = [_lagged(name, lag) for lag in range(1, lags + 1) for name in variables]
    reasons: list[tuple[str, pl.Expr]] = [
        (f"without {response}", pl.col(response).is_null()),
        *((f"without {name}", pl.col(name).is_null()) for name in variables),
        *((f"without {name}", pl.col(f"({name})").is_null()) for name in grouping),
        *([("without the column of --by", pl.col(BY).is_null())] if BY in frame.columns else []),
        *([("without a word before", pl.any_horizontal(pl.col(name).is_null() for name in later))] if later else []),
    ]
    reason = pl.col(":excluded")
    for name, condition in reasons:
        reason = pl.coalesce(reason, pl.when(condition).then(pl.lit(name)))
    frame = frame.with_columns(reason.alias(":dropped"))
    counts = frame.filter(pl.col(":dropped").is_not_null())[":dropped"].value_counts(sort=True)
    kept = frame.filter(pl.col(":dropped").is_null())
    refuse_absurd(kept, (response, *variables, *later), kept[LINE])
    return kept.drop(":dropped", ":excluded"), dict(counts.iter_rows())
