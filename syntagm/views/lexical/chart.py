"""Lexical: accuracy by lexical item against its frequency, a panel a suite, a dot a word with its interval.

A suite without a word of known frequency has a row a word instead.
"""

from collections.abc import Sequence
from math import isnan, log10

import polars as pl

from syntagm.drawing import dots
from syntagm.drawing.chart import INK, Figure, Spec, colours, distinct, finish, legend, shapes, shown
from syntagm.drawing.dots import proportion
from syntagm.drawing.table import or_none
from syntagm.runs.store import Run
from syntagm.views.lexical.table import Words, of_words, said

SCHEMA = {
    "model": pl.String, "suite": pl.String, "word": pl.String, "frequency": pl.Float64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT, COLUMNS = 250, 170, 3
# So many characters of a line fit above a panel, and so many lines of words without a frequency are told.
_LINE, _NAMED = 44, 4
# The height of a label, pixels.
_LETTERS = 12


def draw_figure(
    runs: Sequence[Run],
    by: str = "lemma",
    suite: str = "",
    measure: str = "first",
    words: str = "verbs",
    unigrams: str = "",
) -> Figure:
    """The figure; options and errors as of the table `lexical`."""
    return draw(of_words(runs, by, suite, measure, words, unigrams), f"Accuracy by {by}")


def draw(found: Sequence[Words], title: str = "") -> Figure:
    """The figure; words of unknown frequency are named above their panel.

    Arguments:
        found: as `views.lexical.table.of_words` gives them.
    """
    rows = [
        (one.model, one.suite, word, one.frequencies.get(word), estimate.value, estimate.low, estimate.high,
         estimate.n, estimate.ties, estimate.undefined, estimate.method)
        for one in found for word, estimate in one.accuracies.items()
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    models = distinct(table["model"])
    counts = table["frequency"].drop_nulls().to_list()
    suites = list(dict.fromkeys(one.suite for one in found))
    panels = [
        _panel(name, [one for one in found if one.suite == name], models, counts, at) for at, name in enumerate(suites)
    ]
    subtitle = [
        "bar: 95% interval, the word's items drawn anew; Spearman: rank correlation of accuracy and frequency, n words",
        f"frequency {found[0].about if found else ''}",
    ]
    spec: Spec = {"concat": panels, "columns": min(COLUMNS, max(1, len(panels))), "spacing": 26}
    made = finish(spec, title, subtitle)
    made |= {"title": made["title"] | {"offset": 14}} if title else {}
    return Figure(made, table)


def _panel(suite: str, found: Sequence[Words], models: dict[str, str], counts: Sequence[float], at: int) -> Spec:
    names = list(models.values())
    told = legend(names, WIDTH * 2) if at == 0 and len(names) > 1 else None
    values = [value for one in found for value in _values(one, models[one.model])]
    lines = [line for one in found for line in _lines(one, models[one.model] if len(names) > 1 else "")]
    title = {"text": shown(suite), "subtitle": lines, "fontSize": 12, "subtitleFontSize": 11, "anchor": "start"}
    if not values:
        return _rows(found, models) | {"title": title}
    _place(values, _domain(counts))
    return {
        "title": title, "width": WIDTH, "height": HEIGHT, "data": {"values": values},
        "layer": _layers(_across(counts), names, told),
    }  # fmt: skip


def _values(one: Words, model: str) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for word, estimate in one.accuracies.items():
        if word in one.frequencies and not isnan(estimate.value):
            ends = [or_none(end) for end in (estimate.low, estimate.high)]
            text = f"{word}, {model}: {estimate.value:.3f}, n={estimate.n}, frequency {one.frequencies[word]:,.0f}"
            made.append({
                "model": model, "word": shown(word), "frequency": one.frequencies[word], "value": estimate.value,
                "low": ends[0], "high": ends[1], "said": shown(text),
            })  # fmt: skip
    return made


def _lines(one: Words, model: str) -> list[str]:
    """What stands above a panel: the correlation, and the words without a frequency."""
    lines = [shown(f"{model}: " if model else "") + f"Spearman {said(one)}"]
    absent = [word for word in one.accuracies if word not in one.frequencies]
    if absent and one.frequencies:
        numbers = [f"{shown(word)} {one.accuracies[word].value:.2f}" for word in absent[:_NAMED]]
        rest = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        lines.append(f"frequency unknown: {', '.join(numbers)}{rest}")
    return [line for text in lines for line in _wrapped(text)]


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, _LINE)


def _rows(found: Sequence[Words], models: dict[str, str]) -> Spec:
    rows = [
        {"name": word, "series": models[one.model], "value": estimate.value, "low": estimate.low, "high": estimate.high,
         "n": estimate.n, "note": f"n={estimate.n}"}
        for one in found for word, estimate in one.accuracies.items()
    ]  # fmt: skip
    told: list[dict[str, object]] = [row | {"said": dots.said(row)} for row in rows]
    return dots.panel(told, proportion("accuracy"), series=list(models.values()), width=WIDTH)


def _place(values: list[dict[str, object]], domain: tuple[float, float]) -> None:
    """Give each label a height at which it touches no other label, as near to its dot as can be; in units of accuracy.

    Of several models a word is told once, at its highest dot.
    """
    taken: list[tuple[float, float, float]] = []
    highest = {value["word"]: value for value in sorted(values, key=lambda value: float(str(value["value"])))}
    for value in sorted(highest.values(), key=lambda value: float(str(value["value"])), reverse=True):
        across = log10(float(str(value["frequency"])) / domain[0]) / log10(domain[1] / domain[0]) * WIDTH
        ends = across + 7, across + 9 + 6 * len(str(value["word"]))
        upright = float(str(value["value"])) * HEIGHT
        heights = [upright + 4 + step * _LETTERS * sign for step in range(len(values)) for sign in (1, -1)]
        heights = [at for at in heights if 4 <= at <= HEIGHT + 5]
        free = [at for at in heights if not any(left < ends[1] and ends[0] < right and abs(at - other) < _LETTERS
                                                for left, right, other in taken)]  # fmt: skip
        taken.append((*ends, free[0] if free else upright))
        value["at"] = taken[-1][2] / HEIGHT


def _domain(counts: Sequence[float]) -> tuple[float, float]:
    return (min(counts) / 2, max(counts) * 6) if counts else (1.0, 10.0)


def _across(counts: Sequence[float]) -> Spec:
    low, high = _domain(counts)
    powers = range(int(log10(low)), int(log10(high)) + 1)
    ticks = [10**power for power in powers if low <= 10**power <= high]
    return {
        "field": "frequency", "type": "quantitative", "title": "frequency (logarithmic)",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"values": ticks, "format": "~s", "grid": False},
    }  # fmt: skip


def _layers(across: Spec, names: Sequence[str], told: Spec | None) -> list[Spec]:
    upright: Spec = {"type": "quantitative"} | proportion("accuracy")
    colour: Spec = {"field": "model", "type": "nominal", "scale": colours(names), "legend": told}
    shape: Spec = {"field": "model", "type": "nominal", "scale": shapes(names), "legend": told}
    place: Spec = {"x": across, "y": upright | {"field": "value"}}
    interval = {"x": across, "y": upright | {"field": "low"}, "y2": {"field": "high"}, "color": colour}
    label = {
        "type": "text",
        "align": "left",
        "dx": 7,
        "baseline": "middle",
        "fontSize": 10,
        "color": INK,
        "opacity": 0.75,
        "aria": False,
    }
    return [
        {
            "transform": [{"filter": {"field": "low", "valid": True}}],
            "mark": {"type": "rule", "strokeWidth": 1.4, "opacity": 0.5, "aria": False},
            "encoding": interval,
        },
        {
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 0.95},
            "encoding": place | {"color": colour, "shape": shape, "description": {"field": "said"}},
        },
        {
            "transform": [{"filter": {"field": "at", "valid": True}}],
            "mark": label,
            "encoding": place | {"y": upright | {"field": "at"}, "text": {"field": "word"}},
        },
    ]
