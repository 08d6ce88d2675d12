"""Surprisal by word: the sentences of one item, word by word, a line a condition and a panel a model."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import polars as pl

from syntagm.drawing.chart import Figure, Spec, colours, distinct, finish, legend, shapes, shown
from syntagm.errors import UsageError
from syntagm.models.words.words import between_blanks
from syntagm.runs.several import chosen_suite, named
from syntagm.runs.store import Run
from syntagm.views.words.columns import columns

SCHEMA: dict[str, Any] = {
    "model": pl.String, "suite": pl.String, "item": pl.String, "condition": pl.String, "column": pl.Int64,
    "word": pl.String, "bits": pl.Float64, "tokens": pl.Int64, "known": pl.Boolean,
}  # fmt: skip
END = "(end)"
_STEP, _LETTER = 46, 7


def draw_figure(runs: Sequence[Run], suite: str = "", item: str = "", conditions: str = "") -> Figure:
    """The figure of one item.

    Arguments:
        suite: its name; may be left out where there is one only.
        item: its id; the first unless given.
        conditions: some of them, with commas between; all unless given.

    Raises:
        UsageError: no such suite, item or condition.
    """
    name = chosen_suite(runs, suite)
    wanted = [one for one in conditions.split(",") if one]
    tables = [
        table(run, name, item, wanted, model)
        for model, run in named(runs)
        if any(one.name == name for one in run.suites)
    ]
    return draw(tables, f"{name}, item {tables[0]['item'][0]}")


def table(run: Run, suite: str, item: str = "", conditions: Sequence[str] = (), model: str = "") -> pl.DataFrame:
    """A row a word of each condition: the summed bits of its tokens.

    Words are what stands between blanks; a token belongs to the word with its first visible character. An end symbol
    that was scored is a word of its own. A word whose bits are not known (a first token that nothing stands before) has nan.

    Arguments:
        item: its id; the first of the suite unless given. Of an id that occurs twice, the first.
        model: what to call the model.

    Raises:
        UsageError: no such item or condition.
    """
    sentences = run.sentences(suite)
    if not len(sentences):
        raise UsageError(f"suite={suite}", "no finished sentences in this run", "a suite that was run")
    chosen = item or str(sentences["item"][0])
    rows = sentences.filter(pl.col("item") == chosen).unique("condition", keep="first", maintain_order=True)
    if not len(rows):
        examples = ", ".join(sentences["item"].unique(maintain_order=True).head(5).to_list())
        raise UsageError(f"item={chosen}", f"no such item in {suite}", f"one of its ids: {examples}, ...")
    if odd := [one for one in conditions if one not in rows["condition"]]:
        raise UsageError("conditions=", repr(odd[0]), "some of " + ", ".join(rows["condition"]))
    kept = [row for row in rows.iter_rows(named=True) if not conditions or row["condition"] in conditions]
    found = [_words(row) for row in kept]
    made = [
        (model or run.model, suite, chosen, row["condition"], column, *word)
        for row, words, places in zip(kept, found, columns([[word[0] for word in one] for one in found]), strict=True)
        for word, column in zip(words, places, strict=True)
    ]
    return pl.DataFrame(made, schema=SCHEMA, orient="row")


def _words(row: dict[str, Any]) -> list[tuple[str, float, int, bool]]:
    """Word, bits, number of tokens, and whether the model knows it."""
    text, starts = row["text"], np.array(row["starts"], np.int32)
    home = between_blanks(text, starts)[0]
    bits, known = np.array(row["bits"], np.float64), np.array(row["known"], bool)
    words = text.split()
    names = [*words, END] if (starts >= len(text)).any() and len(text) else words
    return [
        (name, float(bits[home == k].sum()) if (home == k).any() else float("nan"), int((home == k).sum()),
         bool(known[home == k].all()))
        for k, name in enumerate(names)
    ]  # fmt: skip


def draw(tables: Sequence[pl.DataFrame], title: str = "") -> Figure:
    """The figure.

    Arguments:
        tables: from `table`, one a model, of the same item.
    """
    rows = pl.concat(tables) if tables else pl.DataFrame(schema=SCHEMA)
    conditions, models = distinct(rows["condition"]), distinct(rows["model"])
    ticks = _ticks(rows, conditions)
    values = [
        _value(row, conditions[row["condition"]], models[row["model"]], ticks[row["column"]])
        for row in rows.iter_rows(named=True)
        if isfinite(row["bits"])
    ]
    longest = max((len(line) for tick in ticks.values() for line in tick.split("\n")), default=1)
    width = max(max(_STEP, longest * _LETTER + 8) * len(ticks), 160)
    layers = _layers(list(ticks.values()), list(conditions.values()), width)
    panel: Spec = {"width": width, "height": 230 if len(models) < 2 else 170, "layer": layers}
    return Figure(finish(_panels(panel, values, list(models.values())), title, _subtitle(rows)), rows)


def _subtitle(rows: pl.DataFrame) -> list[str]:
    """The sums of one model, a few a line; of several they are in the table behind the figure."""
    sums = rows.group_by("condition", maintain_order=True).agg(pl.col("bits").fill_nan(None).sum())
    told = [f"{condition}: {bits:.1f} bits" for condition, bits in sums.rows()] if rows["model"].n_unique() < 2 else []
    left_out = int((~rows["bits"].is_finite()).sum())
    lines = ["; ".join(told[start : start + 2]) for start in range(0, len(told), 2)]
    lines += [] if rows["known"].all() else ["hollow: a word that the model does not know"]
    return [*lines, *([f"{left_out} words without a finite number are not drawn"] if left_out else [])]


def _ticks(rows: pl.DataFrame, conditions: dict[str, str]) -> dict[int, str]:
    """Column -> the words that stand in it, a line each; a blank at the end tells columns of the same words apart."""
    found: dict[int, str] = {}
    for (column,), part in rows.sort("column", maintain_order=True).group_by("column", maintain_order=True):
        words = [shown(word) for word in part["word"].unique(maintain_order=True)]
        text = "\n".join(words)
        while text in found.values():
            text += " "
        found[int(str(column))] = text
    return found


def _value(row: dict[str, Any], condition: str, model: str, tick: str) -> dict[str, Any]:
    unknown = "" if row["known"] else ", unknown to the model"
    said = f"{condition}, {row['word']}: {row['bits']:.2f} bits{unknown}"
    return {
        "model": model, "condition": condition, "word": tick, "column": row["column"], "bits": row["bits"],
        "known": row["known"], "said": shown(said),
    }  # fmt: skip


def _layers(ticks: list[str], conditions: list[str], width: int) -> list[Spec]:
    told = legend(conditions, width)
    axis = {"title": None, "labelAngle": 0, "grid": False, "labelFontSize": 12, "ticks": False, "labelPadding": 6}
    place: Spec = {
        "x": {
            "field": "word",
            "type": "ordinal",
            "scale": {"type": "point", "domain": ticks, "padding": 0.5},
            "axis": axis,
        },
        "y": {"field": "bits", "type": "quantitative", "title": "surprisal (bits)", "scale": {"zero": True}},
        "color": {"field": "condition", "type": "nominal", "scale": colours(conditions), "legend": told},
    }
    shape = {"field": "condition", "type": "nominal", "scale": shapes(conditions), "legend": told}
    # Where conditions agree their marks lie on each other: the first is the largest.
    sizes = {"domain": conditions, "range": [max(25, 150 // (k + 1)) for k in range(len(conditions))]}
    size = {"field": "condition", "type": "nominal", "scale": sizes, "legend": None}
    point = place | {"shape": shape, "size": size, "description": {"field": "said"}}
    full, hollow = ([{"filter": {"field": "known", "equal": known}}] for known in (True, False))
    line = {"type": "line", "strokeWidth": 1.6, "opacity": 0.6, "aria": False}
    return [
        {"mark": line, "encoding": place | {"order": {"field": "column", "type": "quantitative"}}},
        {"transform": full, "mark": {"type": "point", "filled": True, "opacity": 1}, "encoding": point},
        {"transform": hollow, "mark": {"type": "point", "filled": False, "opacity": 1}, "encoding": point},
    ]


def _panels(panel: Spec, values: list[dict[str, Any]], models: list[str]) -> Spec:
    if len(models) < 2:
        return {"data": {"values": values}, **panel}
    facet = {"field": "model", "type": "nominal", "sort": models, "header": {"title": None}}
    return {"data": {"values": values}, "facet": {"row": facet}, "spec": panel}
