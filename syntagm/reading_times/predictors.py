"""The table of predictors: a row for each reading time, with surprisals, length, frequency, spillover and position.

Predictors of earlier words are those of the words that were shown before in the same text, whether or not anybody's time for
them is known. They are computed before rows are excluded.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import polars as pl

from syntagm.core import InputError, Permissions, UsageError, extras
from syntagm.evaluation import Text, texts
from syntagm.models import Asking, LanguageModel, names
from syntagm.reading_times import alarms, joining, tables
from syntagm.reading_times.alarms import Alarm
from syntagm.reading_times.tables import Readings

SPILLOVER = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Frequency:
    # Words without punctuation, in lower case -> their numbers; null where there is none.
    of: Callable[[Sequence[str]], list[float | None]]
    about: str  # the source and the unit


def frequency(source: str, permissions: Permissions) -> Frequency:
    if source.startswith("wordfreq:"):
        return _wordfreq(source.partition(":")[2])
    if source.startswith("ngram:"):
        return _ngram(source, permissions)
    table = tables.interpret(tables.open_table(Path(source)), {})
    table.require("word", "frequency")
    # Files of some systems have letters and their accents as separate characters.
    frame = table.frame.select(pl.col("word").str.to_lowercase().str.normalize("NFC"), "frequency").drop_nulls()
    twice = frame.filter(pl.col("word").is_duplicated())
    if twice.height and twice.n_unique() > twice["word"].n_unique():
        raise InputError(
            source,
            f"{twice['word'][0]!r} with several frequencies",
            "each word once, in lower case",
            "Add up the counts.",
        )
    known = dict(frame.iter_rows())
    return Frequency(
        lambda words: [known.get(normalize("NFC", word)) for word in words], f"{Path(source).name}, as given"
    )


def _wordfreq(language: str) -> Frequency:
    with extras.needed("--frequency wordfreq", alternative="give a table"):
        import wordfreq
    if language not in wordfreq.available_languages():
        listed = ", ".join(sorted(wordfreq.available_languages()))
        raise UsageError(f"--frequency wordfreq:{language}", "no such language", f"one of {listed}")
    return Frequency(
        lambda words: [float(wordfreq.zipf_frequency(word, language)) or None for word in words],
        f"wordfreq, {language}: log10 of occurrences per billion words; missing for words it does not know",
    )


def _ngram(source: str, permissions: Permissions) -> Frequency:
    model = names.load_permitted(f"{source}{'&' if '?' in source else '?'}tokens=blanks", permissions)
    if model.record.get("order") != 1:
        raise UsageError(
            f"--frequency {source}",
            f"a model of order {model.record.get('order')}",
            "a model of order 1",
            "Train one: syntagm train ngram --order 1.",
        )

    def of(words: Sequence[str]) -> list[float | None]:
        asked = [word for word in dict.fromkeys(words) if word]
        asking = Asking(model)
        answers = asking.score(asked)
        found = {word: -float(answer.bits.sum()) for word, answer in zip(asked, answers, strict=True)}
        asking.confirm()
        return [found.get(word) for word in words]

    return Frequency(of, f"{model.name}: log2 of the probability")


@dataclass(frozen=True, slots=True)
class Options:
    """What a table of predictors has."""

    spillover: int = 2  # the number of earlier words whose predictors a row has, 0 to 3
    form: str = "columns"  # `columns`, a column of bits for each model; or `long`, rows for each model
    context: str = "text"  # whether a model sees the whole `text` before a word, or its `sentence` only

    def __post_init__(self) -> None:
        if self.spillover not in (0, *SPILLOVER):
            raise UsageError("--spillover", str(self.spillover), "0, 1, 2 or 3")
        if self.form not in ("columns", "long"):
            raise UsageError("--form", repr(self.form), "columns or long")


@dataclass(frozen=True, slots=True)
class Predictors:
    frame: pl.DataFrame  # a row per reading time
    bits: tuple[str, ...]  # the columns with surprisals
    names: tuple[str, ...]  # the predictors of a word, without those of earlier words
    notes: tuple[str, ...]  # sentences about the table
    alarms: tuple[Alarm, ...] = ()  # alarms about the models
    entropies: tuple[str, ...] = ()  # the columns with entropies


def score(
    times: Readings,
    models: Mapping[str, LanguageModel],
    context: str,
    progress: Callable[[int], None] | None = None,
    entropy: bool = False,
) -> tuple[pl.DataFrame, list[str], list[Alarm]]:
    """Score the words that were shown: a column of bits and of `known` for each model."""
    # A text is its words, joined by blanks. The bits of a word with blanks in it are those of its parts.
    able = {label for label, model in models.items() if "reduce" in model.can}
    if entropy and not able:
        cure = "Under boundary=word, a model can't: give it once more without, as a further --model."
        raise UsageError("--entropy", f"{', '.join(models)}, which can't tell entropies", "a model that can", cure)
    shown = joining.shown_words(times)
    by = ["text"]
    if context == "sentence":
        if "sentence" not in shown.columns:
            times.require("sentence")
        by.append("sentence")
    parts = [part for _, part in shown.group_by(by, maintain_order=True)]
    shown = pl.concat(parts)
    written = [part["word"].str.strip_chars().to_list() for part in parts]
    for part, words in zip(parts, written, strict=True):
        if "" in words:
            raise InputError(
                times.source.place_of_line(part["line"][words.index("")]), "a word that is blank", "a word"
            )
    lines = [" ".join(words) for words in written]
    endings = joining.columns_of_models(list(models)) if len(models) > 1 else dict.fromkeys(models, "")
    notes, found = list[str](), list[Alarm]()
    for label, model in models.items():
        asked = entropy and label in able
        if entropy and not asked:
            notes.append(f"{label}: no entropies, as it can't tell them ({_why_unable(model)})")
        numbers, said = _score(model, lines, written, progress, asked)
        notes += [f"{label}: {note}" for note in said]
        shown = shown.with_columns(
            pl.Series(f"{name}{endings[label]}", values, kind, nan_to_null=True)
            for name, kind, values in zip(
                ("bits", "known", "entropy"), (pl.Float64, pl.Boolean, pl.Float64), numbers, strict=False
            )
        )
        if uncorrected(model):
            found.append(uncorrected_alarm(label))
    return shown, notes, found


def uncorrected(model: LanguageModel) -> bool:
    """Return whether a model counts the end of a word into the next one: its tokens begin with a blank, and it says so."""
    return model.settings.get("boundary") == "token"


def uncorrected_alarm(label: str) -> Alarm:
    """Return the alarm about word boundaries (Oh & Schuler 2024; Pimentel & Meister 2024)."""
    return Alarm(
        "word_boundaries",
        f"{label}: the probability that a word ends is counted into the next word",
        "Use the option boundary=word of the model.",
    )


def _why_unable(model: LanguageModel) -> str:
    return "boundary=word" if model.settings.get("boundary") == "word" else "its family"


def _score(
    model: LanguageModel,
    lines: Sequence[str],
    words: Sequence[Sequence[str]],
    progress: Callable[[int], None] | None,
    entropy: bool,
) -> tuple[tuple[list[Any], ...], list[str]]:
    """Return bits, whether words are known, and entropies if they are wanted, of all words; and sentences about them."""
    # The entropy of a word with blanks in it is that of its first part.
    total = texts.Count()
    asked = ("text", "start", "bits", "known", "word", *(("entropy",) if entropy else ()))
    rows: dict[int, list[tuple[int, float, bool, float]]] = {number: [] for number in range(len(lines))}
    for frame, count in texts.text_tables(
        model, (Text(line) for line in lines), "word", done=progress, entropy=entropy
    ):
        total += count
        for text, start, value, known, word, *rest in frame.select(asked).iter_rows():
            if word:
                rows[text].append((start, value, known, rest[0] if rest else nan))
    bits: list[float] = []
    in_vocabulary: list[bool] = []
    entropies: list[float] = []
    for number, shown in enumerate(words):
        start, at, own = 0, 0, rows[number]
        for word in shown:
            end, sum_of, all_known, first = start + len(word), 0.0, True, nan
            while at < len(own) and own[at][0] < end:
                first = own[at][3] if own[at][0] == start else first
                sum_of, all_known, at = sum_of + own[at][1], all_known and own[at][2], at + 1
            bits.append(sum_of)
            in_vocabulary.append(all_known)
            entropies.append(first)
            start = end + 1
    said = [*total.notes(model, "word"), *total.problems("word")]
    return (bits, in_vocabulary, *((entropies,) if entropy else ())), said


def score_languages(
    times: Readings,
    load: Mapping[str, Callable[[], LanguageModel]],
    context: str,
    progress: Callable[[int], None] | None = None,
    entropy: bool = False,
) -> tuple[pl.DataFrame, list[str], list[Alarm]]:
    """Score the words of several languages, each with a model of its own, one after another."""
    times.require("language")
    frame = times.frame
    refuse_other_languages(times, load, "--model")
    parts, notes, found = [], list[str](), list[Alarm]()
    for language, loader in load.items():
        own = replace(times, frame=frame.filter(pl.col("language") == language))
        if not own.frame.height:
            continue
        model = loader()
        words, said, ringing = score(own, {model.label or model.name: model}, context, progress, entropy)
        parts.append(words)
        notes += [f"{language}, {note}" for note in said]
        found += [replace(alarm, message=f"{language}, {alarm.message}") for alarm in ringing]
    return pl.concat(parts), notes, found


def languages_of(times: Readings) -> list[str]:
    """List the languages of a table, in the order of their first rows; empty if it has no column for them."""
    if not times.has("language"):
        return []
    return times.frame["language"].drop_nulls().unique(maintain_order=True).to_list()


def refuse_other_languages(times: Readings, given: Collection[str], option: str) -> None:
    """Refuse a table with languages for which nothing is given, or with rows without a language."""
    frame = times.frame
    if missing := frame["language"].null_count():
        place = times.source.place_of_line(frame.filter(pl.col("language").is_null())["line"][0])
        raise InputError(place, f"no language, and {missing - 1:,} more such rows", "a language in each row")
    if others := [language for language in languages_of(times) if language not in given]:
        raise UsageError(option, f"none for {', '.join(others[:5])}", "one for each language of the table")


def frequencies(times: Readings, words: pl.DataFrame, of: Mapping[str, Frequency]) -> tuple[pl.Series, list[str]]:
    bare = alarms.bare(words["word"]).str.to_lowercase()
    if "" in of:
        numbers = pl.Series("frequency", of[""].of(bare.to_list()), pl.Float64)
        return numbers, [f"frequency: {of[''].about}; {numbers.null_count():,} of {words.height:,} words have none"]
    refuse_other_languages(times, of, "--frequency")
    found = np.full(words.height, nan)
    notes = []
    for language, frequency in of.items():
        own = (words["language"] == language).to_numpy()
        values = pl.Series(frequency.of(bare.filter(pl.Series(own)).to_list()), dtype=pl.Float64)
        found[own] = values.fill_null(nan).to_numpy()
        notes.append(
            f"frequency, {language}: {frequency.about}; {values.null_count():,} of {len(values):,} words have none"
        )
    return pl.Series("frequency", found).fill_nan(None), notes


def predictors(
    times: Readings, words: pl.DataFrame, options: Options, of: Frequency | Mapping[str, Frequency] | None
) -> Predictors:
    notes = []
    bits = tuple(name for name in words.columns if name == "bits" or name.startswith("bits_"))
    entropies = tuple(name for name in words.columns if name == "entropy" or name.startswith("entropy_"))
    words = words.with_columns(length=alarms.letters(words["word"]).cast(pl.Int64))
    if of:
        column, said = frequencies(times, words, {"": of} if isinstance(of, Frequency) else of)
        words = words.with_columns(column)
        notes += said
    elif times.has("frequency"):
        own = times.frame.select(
            "text" if "text" in times.frame.columns else pl.lit("").alias("text"), "position", "frequency"
        ).unique(["text", "position"], keep="first")
        words = words.join(own, on=["text", "position"], how="left", maintain_order="left")
        notes.append("frequency: as in the table of times")
    if "sentence" not in words.columns:
        ends = alarms.final(words).alias(":ends")
        before = pl.col(":ends").shift(1, fill_value=False).cast(pl.Int64)
        words = words.with_columns(ends).with_columns(sentence=before.over("text")).drop(":ends")
        words = words.with_columns((pl.col("sentence").cum_sum().over("text") + 1).cast(pl.String))
        notes.append("sentence: counted by final punctuation marks, as there is no column for it")
    words = words.with_columns(
        word_in_sentence=pl.int_range(1, pl.len() + 1).over("text", "sentence"), final=alarms.final(words),
    )  # fmt: skip
    chosen = ("length", *(("frequency",) if "frequency" in words.columns else ()), *bits, *entropies)
    later = {f"{name}_{lag}": (name, lag) for lag in range(1, options.spillover + 1) for name in chosen}
    if clash := [name for name in later if name in words.columns]:
        name, lag = later[clash[0]]
        raise UsageError(
            "models", f"the column {clash[0]}, of a model and of {name} {lag} before", "names that don't end like lags",
            "Give other names: --name, or --spillover 0.",
        )  # fmt: skip
    words = words.with_columns(pl.col(name).shift(lag).over("text").alias(new) for new, (name, lag) in later.items())
    frame = joining.with_texts(times)
    new = [name for name in words.columns if name not in ("language", "text", "position", "word", "line", "region")]
    kept = [name for name in frame.columns if name not in new]
    if replaced := [name for name in new if name in frame.columns and name not in ("sentence", "frequency")]:
        notes.append(f"warning: replaced columns of the table of times: {', '.join(replaced)}")
    joined = frame.select(kept).join(
        words.select("text", "position", *new), on=["text", "position"], how="left", maintain_order="left"
    )
    first = [
        name
        for name in (
            "participant",
            "list",
            "language",
            "suite",
            "text",
            "item",
            "condition",
            "sentence",
            "region",
            "position",
            "word_in_sentence",
            "word",
            "time",
        )
        if name in joined.columns
    ]
    joined = joined.select(
        *first,
        *(name for name in new if name not in first),
        *(name for name in joined.columns if name not in (*first, *new)),
    )
    names_of = tuple(chosen)
    if options.form == "long":
        own_bits = bits
        joined, bits = _long(joined, bits, options.spillover), ("bits",)
        scored = ("bits", *(("entropy",) if entropies else ()))
        names_of = (*(name for name in chosen if name not in (*own_bits, *entropies)), *scored)
        entropies = scored[1:]
    return Predictors(joined, bits, names_of, tuple(notes), entropies=entropies)


def _long(frame: pl.DataFrame, bits: Sequence[str], spillover: int) -> pl.DataFrame:
    """Turn the columns of several models into rows, with a column `model`. A model without entropies has none in its rows."""
    lagged = ["", *(f"_{lag}" for lag in range(1, spillover + 1))]
    endings = [column.removeprefix("bits") for column in bits]

    def columns(ending: str) -> dict[str, str]:
        named = {f"{name}{lag}": f"{name}{ending}{lag}" for name in ("bits", "entropy") for lag in lagged}
        return {"known": f"known{ending}", **named}

    own = {old for ending in endings for old in columns(ending).values()}
    shared = [name for name in frame.columns if name not in own]
    parts = [
        frame.select(
            pl.lit(ending.removeprefix("_")).alias("model"),
            *shared,
            *(pl.col(old).alias(new) for new, old in columns(ending).items() if old in frame.columns),
        )
        for ending in endings
    ]
    return pl.concat(parts, how="diagonal")


def lmer(found: Predictors, path: str, spillover: int) -> str:
    base = [name for name in found.names if name not in (*found.bits, *found.entropies)]
    every = [f"{name}_{lag}" if lag else name for name in base for lag in range(spillover + 1)]
    several = [
        name
        for name in ("participant", "item", "text")
        if name in found.frame.columns and found.frame[name].n_unique() > 1
    ]
    if {"item", "text"} <= set(several):
        several.remove("text")
    crossed = [f"(1 | {name})" for name in several]
    first = found.bits[0]
    surprisal = " + ".join(f"{first}_{lag}" if lag else first for lag in range(spillover + 1))
    used = ", ".join(
        f'"{name}"'
        for name in ["time", *every, *([f"{first}_{lag}" if lag else first for lag in range(spillover + 1)])]
    )
    reader = f'as.data.frame(arrow::read_parquet("{path}"))' if path.endswith(".parquet") else f'read.csv("{path}")'
    model = "lmer" if crossed else "lm"
    extra = ", REML = FALSE" if crossed else ""
    return "\n".join([
        *(["library(lme4)"] if crossed else []),
        f"d <- {reader}",
        f"d <- d[complete.cases(d[c({used})]), ]",
        f"without <- {model}(time ~ {' + '.join([*every, *crossed])}, d{extra})",
        f"with <- update(without, . ~ . + {surprisal})",
        "anova(without, with)",
    ])  # fmt: skip
