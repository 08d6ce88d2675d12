"""Alarms: mistakes in tables of reading times that change numbers in silence, each with a code.

An alarm says what it saw, and how to look into it. Nothing is changed or dropped because of an alarm. The thresholds were
chosen so that an alarm rings in at most 2% of sound data sets, spillover included, and in at least 95% of damaged ones
(`benchmarks/reading_alarms.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.reading_times.regressions import independent, least_squares, normal
from syntagm.reading_times.tables import LARGEST, keys
from syntagm.suites import apart, foreign

Numbers = NDArray[np.float64]
# A partial effect of a word counts if it is more than 0 with p < .001.
T = 3.2905
# Fewer rows don't admit the regressions.
LEAST = 100
# Times in milliseconds have medians of 150 and more; seconds and logarithms are far below.
SECONDS, LOGARITHMS = (0.02, 3.0), (4.0, 12.0)
SLOWEST = 20_000.0
# A time of more than a day, and a surprisal beyond this, are none.
DAY, HIGHEST = 86_400_000.0, 10_000.0
# Fewer different times than this may recur by chance.
_TIMES = 4
# Final words ring if their gain exceeds that of other words by so many standard errors, is so many times their share of the
# words, and makes the gain of all words so many times that of the others.
_APART, _SHARE, _LARGER = 3.3, 4.0, 1.25
_ENDS = r"[.!?]['\"”’)\]]*$"


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something in a table that is probably wrong."""

    code: str  # the name of the alarm, as in `CODES`
    message: str  # what was seen
    cure: str
    count: int = 0  # the number of rows that it is about; 0 if it is about the table
    line: int = 0  # an example: a line of the file; 0 if there is none


CODES: Mapping[str, str] = {
    "units": "times in seconds or logarithms, or times of several units",
    "columns": "columns that were probably swapped: length, frequency, bits or time have values of another",
    "lag": "times that belong to the next word",
    "final_words": "a gain in likelihood that comes from sentence-final words",
    "first_words": "surprisals of first words that are placeholders, such as -1 or 0",
    "frequency_zero": "words of frequency 0, or its logarithm",
    "two_regions": "a word that belongs to two regions",
    "same_text": "the same text twice under two names",
    "doubled": "a word that a participant read twice",
    "symbols": "symbols and escapes of other programs in words, or punctuation and parts of words that are words of their own",
    "words_differ": "different words at one place of a text",
    "missing_words": "positions that a text lacks",
    "word_boundaries": "surprisals that count the end of a word into the next one",
}

Rule: TypeAlias = Callable[[pl.DataFrame], list[Alarm]]


def alarms(frame: pl.DataFrame, skip: Sequence[str] = ()) -> list[Alarm]:
    """Return the alarms that ring for a table whose columns are named by their roles."""
    found = [alarm for rule in _TABLE for alarm in rule(frame)]
    if any(alarm.code == "units" for alarm in found):
        return [alarm for alarm in found if alarm.code not in skip]
    models = frame["model"].unique(maintain_order=True).to_list() if "model" in frame.columns else [None]
    for model in models:
        own = frame if model is None else frame.filter(pl.col("model") == model)
        words = word_means(own)
        if words is None:
            continue
        for rule in _WORDS:
            for alarm in rule(words):
                named = f"{model}: {alarm.message}" if model is not None and len(models) > 1 else alarm.message
                found.append(Alarm(alarm.code, named, alarm.cure, alarm.count, alarm.line))
    return [alarm for alarm in found if alarm.code not in skip]


def word_means(frame: pl.DataFrame) -> pl.DataFrame | None:
    """Return a row per word of each text in the order of positions, with its mean time; None without times."""
    # The length is that of the word without punctuation, unless the table has a column for it.
    if "time" not in frame.columns or not ({"word", "length", "bits"} & set(frame.columns)):
        return None
    frame = _of_languages(frame.filter(pl.col("time").is_not_null()))
    by = keys(frame, "text", "position")
    if "position" in by and frame.height:
        kept = [name for name in ("word", "bits", "length", "frequency", "sentence", "region") if name in frame.columns]
        frame = (
            frame.filter(pl.col("position").is_not_null())
            .group_by(by, maintain_order=True)
            .agg(pl.col("time").mean(), *(pl.col(name).first() for name in kept), pl.col("line").first())
            .sort(by, maintain_order=True)
        )
    if "text" not in frame.columns:
        frame = frame.with_columns(text=pl.lit(""))
    if "word" in frame.columns:
        frame = frame.with_columns(letters=letters(frame["word"]))
        if "length" not in frame.columns:
            frame = frame.with_columns(length=pl.col("letters").cast(pl.Float64))
    return frame


def _of_languages(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table in which texts of several languages have different names."""
    if not {"language", "text"} <= set(frame.columns):
        return frame
    return frame.with_columns(text=pl.concat_str("language", "text", separator="/"))


def bare(words: pl.Series) -> pl.Series:
    """Return words without the punctuation around them."""
    return words.fill_null("").str.replace_all(r"^[\p{P}\p{S}]+|[\p{P}\p{S}]+$", "")


def letters(words: pl.Series) -> pl.Series:
    """Return the number of characters of each word, without punctuation around it; a letter with its accents is one."""
    return bare(words).str.normalize("NFC").str.len_chars()


def final(words: pl.DataFrame) -> pl.Series:
    """Return whether each word is the last of its sentence: by the column `sentence`, or else by its punctuation."""
    if "sentence" in words.columns:
        following = pl.col("sentence").shift(-1).over("text")
        return words.select(following.ne_missing(pl.col("sentence"))).to_series()
    if "word" in words.columns:
        return words["word"].fill_null("").str.contains(_ENDS)
    return pl.Series([False] * words.height)


def _units(frame: pl.DataFrame) -> list[Alarm]:
    if "time" not in frame.columns or not len(times := frame["time"].drop_nulls()):
        return []
    median = float(np.median(times.to_numpy()))
    message = cure = ""
    if SECONDS[0] <= median <= SECONDS[1]:
        message, cure = f"a median time of {median:.3g}: seconds?", "Give --unit s."
    elif LOGARITHMS[0] <= median <= LOGARITHMS[1] and float(np.std(times.to_numpy())) < 2:
        message, cure = f"a median time of {median:.3g}: logarithms of milliseconds?", "Give --unit log-ms."
    elif median < 50 or median > SLOWEST:
        message = f"a median time of {median:.3g} ms"
        cure = "Times are in milliseconds: is it the right column? (--columns time=COLUMN, --unit)"
    if message:
        return [Alarm("units", message, cure, len(times))]
    time = pl.col("time")
    small = f"times below 15 ms beside a median of {median:.0f} ms: several units?"
    exclude = "Correct those rows, or exclude them: [exclude] times."
    kinds = (
        ((time > 0) & (time < 15), max(2, 0.002 * len(times)), small, exclude),
        (time <= 0, 0, "times of 0 or less", "Are they missing values? Exclude them."),
        (time > DAY, 0, "times of more than a day", "Are they missing values? Make them NA."),
    )
    return [
        Alarm("units", f"{wrong.height:,} {what}", cure, wrong.height, wrong["line"][0])
        for condition, most, what, cure in kinds
        if (wrong := frame.filter(condition)).height > most
    ]


def _doubled(frame: pl.DataFrame) -> list[Alarm]:
    by = keys(frame, "language", "participant", "suite", "text", "condition", "position", "model")
    # A number of rows is no position.
    if not {"position", "text"} <= {*by} or frame["position"].n_unique() == frame.height:
        return _identical(frame)
    if "participant" not in by and "time" not in frame.columns:
        return []
    present = frame.filter(pl.all_horizontal(pl.col(name).is_not_null() for name in by))
    counts = present.group_by(by, maintain_order=True).agg(pl.len().alias("rows"), pl.col("line").last())
    twice = counts.filter(pl.col("rows") > 1)
    if not twice.height or _two_regions(frame):
        return []
    cure = "Delete doubled rows, or name the columns that tell them apart: --columns text=A+B participant=C."
    return [_of_words("doubled", "twice", cure, twice, by)]


def _of_words(code: str, what: str, cure: str, words: pl.DataFrame, by: Sequence[str]) -> Alarm:
    row = words.row(0, named=True)
    message = f"{words.height:,} words {what}, for example {', '.join(f'{name} {_short(row[name])}' for name in by)}"
    return Alarm(code, message, cure, words.height, row["line"])


def _identical(frame: pl.DataFrame) -> list[Alarm]:
    """Find repeated rows of tables without positions: all rows, or all those of a participant, a text or a sentence."""
    # Single rows recur by chance, as of a word that is read twice in one time; not every row.
    if "time" not in frame.columns or not {"word", "length", "bits"} & {*frame.columns}:
        return []
    known = frame.filter(pl.col("time").is_not_null())
    # Numbers of rows tell copies apart.
    same = [name for name in known.columns if name == "time" or known[name].n_unique() < known.height]
    known = known.with_columns(copies=pl.len().over(same), table=pl.lit(""))
    within = keys(known, "table", "language", "participant", "suite", "text", "sentence", "item", "condition")
    for count in range(1, len(within) + 1):
        by = within[:count]
        parts = known.group_by(by, maintain_order=True).agg(
            pl.len().alias("rows"), pl.col("line").last(), pl.col("copies").min(), pl.col("time").n_unique()
        )
        copied = parts.filter((pl.col("copies") > 1) & (pl.col("time") >= _TIMES))
        if copied.height:
            rows, row = int(copied["rows"].sum()), copied.row(0, named=True)
            where = ", ".join(f"{name} {_short(row[name])}" for name in by[1:])
            message = f"{rows:,} rows that recur with all their cells{f', for example of {where}' if where else ''}"
            cure = "Delete doubled rows. If they are different words, add a column of their positions."
            return [Alarm("doubled", message, cure, rows, row["line"])]
    return []


def _two_regions(frame: pl.DataFrame) -> list[Alarm]:
    by = keys(frame, "language", "suite", "text", "condition", "position")
    if "region" not in frame.columns or not {"position", "text"} <= {*by}:
        return []
    both = frame.group_by(by, maintain_order=True).agg(pl.col("line").last(), regions=pl.col("region").n_unique())
    both = both.filter(pl.col("regions") > 1)
    if not both.height:
        return []
    cure = "Give each word to one region, or name the columns that tell texts apart: --columns text=A+B."
    return [_of_words("two_regions", "in two regions", cure, both, by)]


def _words_differ(frame: pl.DataFrame) -> list[Alarm]:
    by = keys(frame, "language", "suite", "text", "condition", "position")
    if "word" not in frame.columns or "position" not in by or "text" not in by:
        return []
    places = frame.filter(pl.col("word").is_not_null()).group_by(by, maintain_order=True)
    several = places.agg(pl.col("line").last(), words=pl.col("word").unique(maintain_order=True))
    several = several.filter(pl.col("words").list.len() > 1)
    if not several.height:
        return []
    row = several.row(0, named=True)
    where = ", ".join(f"{name} {_short(row[name])}" for name in by)
    message = f"different words at {several.height:,} places, for example {where}: {' / '.join(row['words'][:3])}"
    cure = "Are these different texts? Name the columns that tell them apart: --columns text=A+B."
    return [Alarm("words_differ", message, cure, several.height, row["line"])]


def _symbols(frame: pl.DataFrame) -> list[Alarm]:
    if "word" not in frame.columns:
        return []
    counts = dict(frame.drop_nulls("word").group_by("word", maintain_order=True).agg(pl.len()).iter_rows())
    # Words that are read have their punctuation; tables of surprisals may have the tokens of a treebank.
    timed, before = "time" in frame.columns, "the" if {"the", "The"} & counts.keys() else "x"
    wrong = [word for word in counts if foreign(word) or (timed and apart(f"{before} {word}"))]
    if not wrong:
        return []
    rows = frame.filter(pl.col("word").is_in(wrong))
    listed = ", ".join(f"{word!r} {counts[word]:,}" for word in wrong[:5]) + (" ..." if len(wrong) > 5 else "")
    message = f"{rows.height:,} words with symbols of another program, or cut as in a treebank: {listed}"
    cure = "Write words as people read them, with the characters that were meant and the punctuation."
    return [Alarm("symbols", message, cure, rows.height, rows["line"][0])]


def _missing_words(frame: pl.DataFrame) -> list[Alarm]:
    by = keys(frame, "language", "suite", "text", "condition")
    if "position" not in frame.columns or "text" not in by or "region" in frame.columns:
        return []
    places = frame.filter(pl.col("position").is_not_null()).select(*by, "position").unique().sort(*by, "position")
    gaps = places.with_columns(gap=pl.col("position").diff().over(by) - 1).filter(pl.col("gap") > 0)
    texts = places.select(by).n_unique()
    # Tables of chosen words, such as target regions, lack most positions.
    if not gaps.height or gaps["gap"].sum() > 0.3 * places.height or texts == places.height:
        return []
    row = gaps.row(0, named=True)
    where = ", ".join(f"{name} {_short(row[name])}" for name in by)
    example = f"for example before {where}, position {row['position']:g}"
    message = f"{int(gaps['gap'].sum()):,} positions without a word, {example}"
    cure = "Surprisals need the whole text: add rows without a time for words that are missing."
    return [Alarm("missing_words", message, cure, int(gaps["gap"].sum()))]


def _same_text(frame: pl.DataFrame) -> list[Alarm]:
    if "word" not in frame.columns or "text" not in frame.columns:
        return []
    by = keys(frame, "language", "suite", "text", "condition")
    ordered = frame.filter(pl.col("word").is_not_null() & pl.all_horizontal(pl.col(name).is_not_null() for name in by))
    if "position" in frame.columns:
        ordered = ordered.unique([*by, "position"], maintain_order=True).sort("position", maintain_order=True)
    elif "participant" in frame.columns:
        ordered = ordered.filter(pl.col("participant") == pl.col("participant").first().over(by))
    texts = ordered.group_by(by, maintain_order=True).agg(words=pl.col("word").str.join(" "), rows=pl.len())
    # Items in which a word or two are known may be alike; whole texts may not.
    whole = texts.filter(pl.col("rows") > 4).group_by("words", maintain_order=True)
    same = whole.agg(texts=pl.concat_str(*by, separator="/")).filter(pl.col("texts").list.len() > 1)
    if not same.height:
        return []
    names = same["texts"][0].to_list()
    example = f"for example {_short(names[0])} and {_short(names[1])}"
    message = f"the same words under two names ({same.height:,} texts), {example}"
    return [Alarm("same_text", message, "Give them one name, or delete the repetition.", same.height)]


def _first_words(frame: pl.DataFrame) -> list[Alarm]:
    if "bits" not in frame.columns:
        return []
    found: list[Alarm] = []
    negative = frame.filter(pl.col("bits") < 0)
    if negative.height:
        message = f"{negative.height:,} surprisals below 0, for example {negative['bits'][0]:g}"
        cure = "They are placeholders, as for first words: make them missing (NA)."
        return [Alarm("first_words", message, cure, negative.height, negative["line"][0])]
    if "text" not in frame.columns:
        return found
    by = keys(frame, "language", "text", "model")
    once = frame.filter(pl.col("bits").is_not_null())
    order = keys(frame, "position") or ["line"]
    firsts = once.sort(order, maintain_order=True).group_by(by, maintain_order=True).first()
    values = firsts["bits"]
    if (firsts.height > 2 and values.n_unique() == 1 and once["bits"].n_unique() > 3) or (
        (values == 0).any() and (values == 0).sum() >= 0.5 * firsts.height
    ):
        message = f"the first words of {firsts.height:,} texts have the surprisal {values[0]:g}"
        cure = "If the model didn't score them, make them missing (NA), or exclude first words."
        found.append(Alarm("first_words", message, cure, firsts.height, firsts["line"][0]))
    return found


def _frequency_zero(frame: pl.DataFrame) -> list[Alarm]:
    if "frequency" not in frame.columns or not len(values := frame["frequency"].drop_nulls()):
        return []
    infinite = values.is_infinite()
    lowest = float(values.filter(~infinite).min() or 0.0) if not infinite.all() else 0.0  # type: ignore[arg-type]
    zeros = infinite | (values == 0) if lowest == 0 else infinite
    if not zeros.any() or zeros.all():
        return []
    which = frame.filter(pl.col("frequency").is_not_null()).filter(zeros)
    message = f"{int(zeros.sum()):,} rows of frequency {which['frequency'][0]:g}"
    cure = "A word that was never counted isn't infinitely rare: add 1 to all counts, or use a smoothed model."
    return [Alarm("frequency_zero", message, cure, int(zeros.sum()), which["line"][0])]


def _columns(frame: pl.DataFrame) -> list[Alarm]:
    """Find swapped columns: lengths that aren't those of the words, and predictors with the values of another."""
    found = []
    if "word" in frame.columns and "length" in frame.columns:
        characters = frame["word"].fill_null("").str.len_chars().cast(pl.Float64)
        plausible = (frame["length"] <= characters + 2) & (frame["length"] >= 0) & (frame["length"] >= characters - 5)
        wrong = int((~plausible.fill_null(True)).sum())
        if wrong > 0.2 * frame.height:
            message = f"{wrong:,} lengths that aren't those of the words"
            found.append(Alarm("columns", message, "Name the column: --columns length=COLUMN.", wrong))
    if "bits" in frame.columns and "time" in frame.columns:
        bits = frame["bits"].drop_nulls().to_numpy()
        if len(bits) and (np.median(bits) > 60 or bits.max() > HIGHEST):
            message = f"a median surprisal of {np.median(bits):.0f} bits, and at most {bits.max():.3g}"
            found.append(Alarm("columns", message, "Name the column: --columns bits=COLUMN.", len(bits)))
    for name in keys(frame, "length", "frequency"):
        large = frame.filter(pl.col(name).is_finite() & (pl.col(name).abs() > LARGEST))
        if large.height:
            message = f"{large.height:,} numbers beyond {LARGEST:g} in the {name}, such as {large[name][0]:g}"
            cure = "Are they missing values? Make them NA."
            found.append(Alarm("columns", message, cure, large.height, large["line"][0]))
    if found:
        return found
    lengths: pl.Series | None = None
    if "word" in frame.columns:
        lengths = letters(frame["word"]).cast(pl.Float64)
    elif "length" in frame.columns:
        lengths = frame["length"]
    if lengths is not None and {"bits", "frequency"} <= set(frame.columns):
        table = pl.DataFrame({"l": lengths, "b": frame["bits"], "f": frame["frequency"]}).drop_nulls()
        if table.height >= LEAST:
            # A constant column has no correlation.
            with np.errstate(invalid="ignore", divide="ignore"):
                of_bits, of_frequency = (float(np.corrcoef(table["l"], table[name])[0, 1]) for name in ("b", "f"))
            limit = T / np.sqrt(table.height)
            if of_bits < -limit and of_frequency > limit:
                rs = f"(r = {of_bits:.2f}) and a higher frequency (r = {of_frequency:.2f})"
                message = f"longer words have fewer bits {rs}"
                cure = "Were bits and frequency swapped? --columns bits=COLUMN frequency=COLUMN."
                found.append(Alarm("columns", message, cure))
    if {"time", "position", "text"} <= set(frame.columns):
        per_text = (
            frame.drop_nulls(["time", "position"])
            .group_by(keys(frame, "language", "text"))
            .agg(pl.corr("time", "position", method="spearman").alias("r"), pl.len().alias("n"))
            .filter(pl.col("n") > 5)
        )
        if per_text.height and float(per_text["r"].fill_nan(0).median() or 0) > 0.99:  # type: ignore[arg-type]
            cure = "They are moments, not durations: subtract the one before."
            found.append(Alarm("columns", "times that rise with the position in every text", cure))
    return found


def _regression(words: pl.DataFrame, names: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the coefficients and t values of some columns; None if there are too few rows."""
    table = words.select("time", *names).drop_nulls()
    table = table.filter(pl.all_horizontal(pl.all().is_finite()))
    if table.height < max(LEAST, 5 * len(names)):
        return None
    columns = np.column_stack([np.ones(table.height), table.select(names).to_numpy()])
    if not independent(columns).all() or float(np.ptp(table["time"].to_numpy())) == 0:
        return None
    line = least_squares(columns, table["time"].to_numpy())
    errors = np.sqrt(np.diagonal(np.linalg.inv(columns.T @ columns)) * line.variance)
    return line.coefficients[1:], line.coefficients[1:] / errors[1:]


def _lag(words: pl.DataFrame) -> list[Alarm]:
    """Ask whether the next word predicts the time of a word better than the word before does."""
    # Times spill over to later words, never to earlier ones. So a positive effect of the next word, beside those of the
    # word itself and of the one before, means that times stand in the row before theirs.
    names = [name for name in ("bits", "length") if name in words.columns]
    shifted = [
        pl.col(name).shift(lag).over("text").alias(f"{name} {label}")
        for name in names
        for lag, label in ((1, "before"), (-1, "next"))
    ]
    table = words.with_columns(shifted)
    found = _regression(table, [*names, *(f"{name} {label}" for name in names for label in ("before", "next"))])
    if found is None:
        return []
    _, t = found
    effects = {name: t[len(names) + 2 * place : len(names) + 2 * place + 2] for place, name in enumerate(names)}
    ringing = [name for name, (before, after) in effects.items() if after > T and after > before]
    if not ringing:
        return []
    said = "; ".join(f"{name}: next t = {effects[name][1]:.1f}, before t = {effects[name][0]:.1f}" for name in ringing)
    cure = "Do times belong to the word after their row? Compare the words with the file of the experiment."
    return [Alarm("lag", f"the next word predicts times better than the word before ({said})", cure)]


def _final_words(words: pl.DataFrame) -> list[Alarm]:
    """Compare the gain in likelihood of all words with that of words that don't end a sentence."""
    if "bits" not in words.columns:
        return []
    with_gain = gains(words)
    if with_gain is None:
        return []
    gain, ends = with_gain
    if ends.sum() < 10 or (~ends).sum() < LEAST:
        return []
    inner = gains(words.filter(~final(words)))
    if inner is None:
        return []
    whole, without = float(gain.mean()), float(inner[0].mean())
    final_gain, other = gain[ends], gain[~ends]
    error = float(np.hypot(final_gain.std() / np.sqrt(len(final_gain)), other.std() / np.sqrt(len(other))))
    apart = float(final_gain.mean() - other.mean()) > _APART * error
    share, size = float(final_gain.sum() / gain.sum()) if gain.sum() > 0 else 0.0, float(ends.mean())
    if not (apart and share > _SHARE * size and whole > _LARGER * max(without, 0.0)):
        return []
    message = f"the gain is {whole:.5f} nats per word with sentence-final words, and {without:.5f} without them"
    cure = "Do their surprisals include the full stop? Exclude them: [exclude] sentence_last = true."
    return [Alarm("final_words", message, cure, int(ends.sum()))]


def gains(words: pl.DataFrame) -> tuple[Numbers, NDArray[np.bool_]] | None:
    """Return the gain of each word by its bits, and whether the word ends a sentence; None if there are too few words."""
    # The gain is that of least squares on all words: the baseline has the lengths and frequencies of the word and of
    # the one before.
    names = [name for name in ("length", "frequency") if name in words.columns]
    before = [pl.col(name).shift(1).over("text").alias(f"{name} before") for name in (*names, "bits")]
    table = words.with_columns(*before, end=final(words))
    base = [*names, *(f"{name} before" for name in names)]
    table = table.select("time", "bits", "bits before", *base, "end").drop_nulls()
    table = table.filter(pl.all_horizontal(pl.col(name).is_finite() for name in table.columns if name != "end"))
    if table.height < LEAST:
        return None
    times = table["time"].to_numpy()
    if float(times.std()) == 0:
        return None
    log: list[Numbers] = []
    for columns in (base, [*base, "bits", "bits before"]):
        matrix = np.column_stack([np.ones(table.height), *(table[name].to_numpy() for name in columns)])
        line = least_squares(matrix, times)
        log.append(normal(times - matrix @ line.coefficients, line.variance))
    return log[1] - log[0], table["end"].to_numpy().astype(np.bool_)


def _short(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


_TABLE: tuple[Rule, ...] = (
    _units, _columns, _doubled, _two_regions, _words_differ, _symbols, _missing_words, _same_text, _first_words,
    _frequency_zero,
)  # fmt: skip
_WORDS: tuple[Rule, ...] = (_lag, _final_words)
