"""Exclusions: which rows of a table of reading times are left out, declared in a file, and counted.

The file is TOML with one table, for example

    [exclude]
    first_words = true            # of a text
    last_words = true             # of a text
    sentence_first = true
    sentence_last = true
    punctuation = true            # words with a punctuation mark
    numbers = true                # words with a digit
    unknown = true                # words that a model does not know
    times = { below = 100, above = 3000 }
    wrong_answers = true          # rows whose question was answered wrongly
    accuracy_below = 0.8          # participants with a smaller share of right answers
    participants = ["p07"]

A row is counted once, for the first of these reasons. Excluded words still count as words before others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from syntagm.core import InputError, counted, name_of, toml, utf8
from syntagm.reading_times.alarms import final
from syntagm.reading_times.tables import keys

_SWITCHES = {
    "first_words": "first word of a text",
    "last_words": "last word of a text",
    "sentence_first": "first word of a sentence",
    "sentence_last": "last word of a sentence",
    "punctuation": "word with punctuation",
    "numbers": "word with a digit",
    "unknown": "unknown word",
    "wrong_answers": "wrong answer",
}
_OTHERS = ("times", "accuracy_below", "participants")
# What a question may be about, the largest first.
_ASKED = ("text", "item", "sentence")


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What is excluded.

    Arguments:
        switches: the names of reasons, as in the file.
        below, above: the limits of times in milliseconds; None for none.
        accuracy: participants with a smaller share of right answers are excluded; None for none.
        participants: names of participants.
    """

    switches: tuple[str, ...] = ()
    below: float | None = None
    above: float | None = None
    accuracy: float | None = None
    participants: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def read(path: Path) -> Exclusions:
    place = str(path)
    content = toml.read(utf8.read(path), place)
    toml.known(content, ("exclude",), place)
    chosen = toml.table(content, "exclude", place)
    toml.known(chosen, (*_SWITCHES, *_OTHERS), f"{place}, [exclude]")
    for name in _SWITCHES:
        if not isinstance(chosen.get(name, False), bool):
            raise InputError(f"{place}, {name}", repr(chosen[name]), "true or false")
    times = chosen.get("times", {})
    if not isinstance(times, dict):
        raise InputError(f"{place}, times", repr(times), "limits, for example { below = 100, above = 3000 }")
    toml.known(times, ("below", "above"), f"{place}, times")
    numbers = [times.get("below"), times.get("above"), chosen.get("accuracy_below")]
    for name, number in zip(("times.below", "times.above", "accuracy_below"), numbers, strict=True):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            raise InputError(f"{place}, {name}", repr(number), "a number")
    people = chosen.get("participants", [])
    if not isinstance(people, list) or not all(isinstance(person, str) for person in people):
        raise InputError(f"{place}, participants", repr(people)[:100], "a list of names in quotation marks")
    switches = tuple(name for name in _SWITCHES if chosen.get(name))
    below, above, accuracy = (None if number is None else float(number) for number in numbers)
    return Exclusions(switches, below, above, accuracy, tuple(map(name_of, people)), chosen)


def reasons(frame: pl.DataFrame, exclusions: Exclusions, place: str) -> pl.Series:
    """Return why each row is excluded; null for rows that stay."""
    conditions: list[tuple[str, pl.Expr]] = []
    over = keys(frame, "participant", "language", "text") or None

    def need(reason: str, *names: str) -> None:
        for name in names:
            if name not in frame.columns:
                raise InputError(
                    place,
                    f"no column for {name}, which [exclude] {reason} needs",
                    "such a column",
                    f"Name it: --columns {name}=COLUMN.",
                )

    for name in exclusions.switches:
        # A table of several models has a column for each.
        if name != "unknown" or not any(column.startswith("known_") for column in frame.columns):
            need(name, *_NEEDS[name])
        conditions.append((_SWITCHES[name], _condition(name, over, keys(frame, "language", "text"))))
    if exclusions.below is not None:
        need("times", "time")
        conditions.append((f"time below {exclusions.below:g} ms", pl.col("time") < exclusions.below))
    if exclusions.above is not None:
        need("times", "time")
        conditions.append((f"time above {exclusions.above:g} ms", pl.col("time") > exclusions.above))
    if exclusions.accuracy is not None:
        need("accuracy_below", "participant", "correct")
        if not keys(frame, *_ASKED):
            raise InputError(
                place,
                "no column for text, item or sentence, which [exclude] accuracy_below needs",
                "what each question is about, so that it counts once",
                "Name it: --columns item=COLUMN.",
            )
        careless = (
            _accuracies(frame).filter(pl.col("accuracy") < exclusions.accuracy)["participant"].drop_nulls().to_list()
        )
        conditions.append(
            (f"participant with accuracy below {exclusions.accuracy:g}", pl.col("participant").is_in(careless))
        )
    if exclusions.participants:
        need("participants", "participant")
        if unknown := [person for person in exclusions.participants if person not in frame["participant"]]:
            raise InputError(
                f"{place}, participants", f"no participant {unknown[0]!r} in the table", "names as in the table"
            )
        conditions.append(("participant", pl.col("participant").is_in(exclusions.participants)))
    table = frame
    if "sentence_last" in exclusions.switches:
        table = table.with_columns(final(frame.with_columns(text=_joint(frame))).alias(":final"))
    reason: pl.Expr = pl.lit(None, pl.String)
    for said, condition in conditions:
        reason = pl.coalesce(reason, pl.when(condition).then(pl.lit(said)))
    return table.select(reason.alias("excluded")).to_series()


def notes(frame: pl.DataFrame, exclusions: Exclusions) -> list[str]:
    """Say what the accuracies of participants are shares of, and how many answers contradict themselves."""
    if exclusions.accuracy is None:
        return []
    found = _accuracies(frame).drop_nulls("participant")
    if not found.height:
        return ["accuracy_below: no answers of participants"]
    counts = found.group_by("unit", maintain_order=True).len().rows()
    listed = ", ".join(f"{name} ({counted(count, 'participant')})" for name, count in counts)
    said = [f"accuracy_below: one answer for each {listed}"]
    if several := int(found["several"].sum()):
        said.append(
            f"warning: accuracy_below: rows of {counted(several, 'answer')} of {found['answers'].sum():,} contradict one "
            "another; such an answer counts as the share of its rows that are right"
        )
    return said


def _accuracies(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the accuracy of each participant: the columns participant, accuracy, answers, several and unit."""
    # Each question counts once, however many words the text, item or sentence has that it is about. Questions of a
    # participant are about the smaller units if these explain why the answers of a larger one differ. Where answers of
    # a question differ nevertheless (`several`), the question counts as the share of its rows that are right.
    answered = frame.filter(pl.col("correct").is_not_null()).with_columns(pl.col("correct").cast(pl.Float64))
    within = keys(answered, "participant", "language", "suite", "condition")
    units = keys(answered, *_ASKED)
    large = [*within, units[0]]
    agree, right = pl.col("correct").n_unique() == 1, pl.col("correct").mean()
    small = answered.group_by([*within, *units], maintain_order=True).agg(right, agree=agree)
    whole = answered.group_by(large, maintain_order=True).agg(right, agree=agree)
    parts = small.group_by(large, maintain_order=True).agg(explained=pl.col("agree").all())
    explained = whole.join(parts, on=large, nulls_equal=True).filter(~pl.col("agree") & pl.col("explained"))
    finer = pl.col("participant").is_in(explained["participant"].unique().to_list())
    questions = pl.concat([
        whole.filter(~finer).select("participant", "correct", "agree", unit=pl.lit(units[0])),
        small.filter(finer).select("participant", "correct", "agree", unit=pl.lit(units[-1])),
    ])  # fmt: skip
    return questions.group_by("participant", maintain_order=True).agg(
        pl.col("unit").first(), accuracy=pl.col("correct").mean(), answers=pl.len(), several=(~pl.col("agree")).sum()
    )


def _joint(frame: pl.DataFrame) -> pl.Expr:
    names = keys(frame, "participant", "language", "text")
    return pl.concat_str([pl.col(name).cast(pl.String) for name in names], separator="\t") if names else pl.lit("")


_NEEDS = {
    "first_words": ("text", "position"),
    "last_words": ("text", "position"),
    "sentence_first": ("sentence",),
    "sentence_last": (),
    "punctuation": ("word",),
    "numbers": ("word",),
    "unknown": ("known",),
    "wrong_answers": ("correct",),
}


def _condition(name: str, over: list[str] | None, text: list[str]) -> pl.Expr:
    match name:
        case "first_words":
            return pl.col("position") == pl.col("position").min().over(text)
        case "last_words":
            return pl.col("position") == pl.col("position").max().over(text)
        case "sentence_first":
            before = pl.col("sentence").shift(1)
            return (before.over(over) if over else before).ne_missing(pl.col("sentence"))
        case "sentence_last":
            return pl.col(":final")
        case "punctuation":
            return pl.col("word").str.contains(r"\p{P}")
        case "numbers":
            return pl.col("word").str.contains(r"\p{N}")
        case "unknown":
            return pl.any_horizontal(pl.col("^known.*$").not_())
        case _:
            return pl.col("correct").not_()


def counts(excluded: pl.Series) -> dict[str, int]:
    """Count the excluded rows by reason, the most frequent first."""
    return dict(excluded.drop_nulls().value_counts(sort=True).iter_rows())
