"""Learning curves: accuracy against the words of the training text, a panel a phenomenon, a point a model, a line a family."""

import json
from collections.abc import Mapping, Sequence
from math import isnan, log2, nan

import polars as pl

from syntagm.drawing.chart import INK, Figure, Spec, colours, finish, legend, shapes, shown
from syntagm.drawing.table import or_none
from syntagm.errors import UsageError
from syntagm.io.number import LARGEST, whole
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.views.learning_curve import compute as learning
from syntagm.views.scores import compute as estimates

SCHEMA = {
    "phenomenon": pl.String, "family": pl.String, "model": pl.String, "words": pl.Int64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT, COLUMNS = 200, 150, 3


def draw(table: pl.DataFrame, humans: Mapping[str, float] | None = None, title: str = "") -> Figure:
    """The figure; under each name stands the gain of each family for a doubling of the text.

    Arguments:
        table: a row a phenomenon and model, columns as in `SCHEMA`.
        humans: phenomenon -> what people score.
    """
    families = list(dict.fromkeys(table["family"]))
    slopes = learning.slopes(table)
    phenomena = list(dict.fromkeys(table["phenomenon"]))
    words = sorted(set(table["words"]))
    panels = [
        _panel(table, slopes, one, families, words, (humans or {}).get(one, nan), at)
        for at, one in enumerate(phenomena)
    ]
    subtitle = "bar: 95% interval, items drawn anew; line: least squares, with its gain for each doubling of the text"
    subtitle += "; dashed: people" if humans else ""
    spec: Spec = {"concat": panels, "columns": COLUMNS, "spacing": 20}
    made = finish(spec, title, subtitle)
    # Titles of panels stand close under that of the figure.
    made |= {"title": made["title"] | {"offset": 14}} if title else {}
    return Figure(made, table.select(list(SCHEMA)))


def draw_figure(
    runs: Sequence[Run], tag: str = "linguistics_term", measure: str = "full_sentence", words: str = ""
) -> Figure:
    """The curves of models that were trained on texts of known sizes.

    Arguments:
        words: of the training texts, numbers (1000000 or 1e6) with commas between in the order of the runs, `-` where none is
            known. Without:
            what the experiment says in whose folder the run lies.

    Raises:
        UsageError: not a number a run, no size is known, or no suite has the tag and the measure.
    """
    rows = []
    for (name, run), size in zip(named(runs), training_words(runs, words), strict=True):
        rows += [
            (one.group[tag], family(run), name, size, one.value, one.low, one.high, one.n, one.method)
            for one in estimates.scores(run, measure, tag)
            if size is not None
        ]
    if not rows:
        cure = "Give the sizes in the order of the runs: words=1000000,5000000"
        raise UsageError("learning_curve", "no size of a training text, or no suite to go by", "both", cure)
    return draw(pl.DataFrame(rows, schema=SCHEMA, orient="row"), title="Accuracy and training text")


def family(run: Run) -> str:
    """What kind of model a run is of: what stands before the colon in its name."""
    return run.model.partition(":")[0]


def training_words(runs: Sequence[Run], words: str = "") -> list[int | None]:
    """How many words each run's model was trained on; None where it isn't known.

    Raises:
        UsageError: not a number a run.
    """
    if not words:
        return [_of_experiment(run) for run in runs]
    given = [_in_digits(one.strip().replace("_", "")) for one in words.split(",")]
    if len(given) != len(runs):
        raise UsageError("words", repr(words), f"{len(runs)} whole numbers, with commas between, or - for unknown")
    return [None if one == "-" else whole("words", one, also="- for unknown") for one in given]


def _in_digits(text: str) -> str:
    """A whole number with a point or an exponent in digits, all else as it stands.

    >>> _in_digits("1e6"), _in_digits("2.5E3"), _in_digits("1.5"), _in_digits("-")
    ('1000000', '2500', '1.5', '-')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if not text.isdecimal() and number.is_integer() and number <= LARGEST else text


def _of_experiment(run: Run) -> int | None:
    """What stands in the folder of a controlled experiment, beside its runs."""
    path = run.folder.resolve().parent.parent / "perplexity" / f"{run.folder.resolve().name}.json"
    try:
        found = json.loads(path.read_bytes())["training_words"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) and found > 0 else None


def _panel(
    table: pl.DataFrame, slopes: pl.DataFrame, name: str, families: Sequence[str], words: Sequence[int], human: float, at: int
) -> Spec:  # fmt: skip
    rows = table.filter(pl.col("phenomenon") == name)
    lines = slopes.filter(pl.col("phenomenon") == name)
    names = [shown(one) for one in families]
    told = legend(names, WIDTH * COLUMNS) if at == 0 and len(names) > 1 else None
    colour: Spec = {"field": "family", "type": "nominal", "scale": colours(names), "legend": told}
    across = _across(words)
    layers = [
        *_points([_value(row) for row in rows.iter_rows(named=True)], across, colour, names, told),
        *_lines(lines, words, across, colour),
        *([] if isnan(human) else [_people(human)]),
    ]
    title = {
        "text": shown("all suites" if name == "all" else name.replace("_", " ")),
        "subtitle": _gains(lines),
        "fontSize": 12,
        "subtitleFontSize": 11,
    }
    return {"title": title, "width": WIDTH, "height": HEIGHT, "layer": layers}


def _gains(lines: pl.DataFrame) -> list[str]:
    """The slope of each family, with its standard error, in words; a line a family."""
    return [
        shown(f"{row['family']}: ")
        + ("no slope" if isnan(row["slope"]) else f"{row['slope']:+.4f}")
        + ("" if isnan(row["se"]) else f" (SE {row['se']:.4f})")
        + f", {row['n']} model{'' if row['n'] == 1 else 's'}"
        for row in lines.iter_rows(named=True)
    ]


def _across(words: Sequence[int]) -> Spec:
    ticks = list(words) if len(words) <= 6 else [words[round(k * (len(words) - 1) / 4)] for k in range(5)]
    low, high = (words[0] / 1.3, words[-1] * 1.3) if words else (1, 2)
    return {
        "field": "words", "type": "quantitative", "title": "words of training text (logarithmic)",
        "scale": {"type": "log", "base": 2, "domain": [low, high], "nice": False},
        "axis": {"values": ticks, "format": ".2~s", "grid": False},
    }  # fmt: skip


_UPRIGHT: Spec = {
    "type": "quantitative", "title": "accuracy", "scale": {"domain": [0, 1]},
    "axis": {"format": ".1f", "values": [0, 0.2, 0.4, 0.6, 0.8, 1], "tickCount": 6},
}  # fmt: skip


def _value(row: Mapping[str, object]) -> dict[str, object]:
    numbers = {key: or_none(row[key]) for key in ("value", "low", "high")}
    said = "undefined" if numbers["value"] is None else f"{row['value']:.3f}, n={row['n']}"
    said = f"{row['model']}, {row['words']:,} words: {said}"
    return {"family": shown(str(row["family"])), "words": row["words"], **numbers, "said": shown(said)}


def _points(
    values: list[dict[str, object]], across: Spec, colour: Spec, names: Sequence[str], told: Spec | None
) -> list[Spec]:
    kept = [one for one in values if one["value"] is not None]
    shape = {"field": "family", "type": "nominal", "scale": shapes(names), "legend": told}
    interval = {"x": across, "y": _UPRIGHT | {"field": "low"}, "y2": {"field": "high"}, "color": colour}
    dot = {
        "x": across,
        "y": _UPRIGHT | {"field": "value"},
        "color": colour,
        "shape": shape,
        "description": {"field": "said"},
    }
    mark = {"type": "rule", "opacity": 0.4, "aria": False}
    return [
        {"data": {"values": [one for one in kept if one["low"] is not None]}, "mark": mark, "encoding": interval},
        {"data": {"values": kept}, "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.9}, "encoding": dot},
    ]  # fmt: skip


def _lines(lines: pl.DataFrame, words: Sequence[int], across: Spec, colour: Spec) -> list[Spec]:
    values = [
        {"family": shown(row["family"]), "words": at, "value": row["intercept"] + row["slope"] * log2(at)}
        for row in lines.iter_rows(named=True)
        for at in (words[0], words[-1])
        if not isnan(row["slope"])
    ]
    mark = {"type": "line", "strokeWidth": 1.6, "clip": True, "aria": False}
    channels = {"x": across, "y": _UPRIGHT | {"field": "value"}, "color": colour}
    return [{"data": {"values": values}, "mark": mark, "encoding": channels}]


def _people(human: float) -> Spec:
    mark = {"type": "rule", "strokeDash": [4, 3], "color": INK, "opacity": 0.6, "aria": False}
    return {"data": {"values": [{"at": human}]}, "mark": mark, "encoding": {"y": _UPRIGHT | {"field": "at"}}}
