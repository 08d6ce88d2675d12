"""Surprisal by word: the surprisal of each word of an item, with a line for each condition and a panel for each model."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from math import isfinite
from typing import Annotated, Any

import numpy as np
import polars as pl

from syntagm.core import UsageError, shown
from syntagm.models import between_blanks
from syntagm.runs import Run, chosen_suite, having
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.text import distinct
from syntagm.views.drawing.vega import Series, by_model, layer
from syntagm.views.options import Suite

SCHEMA: dict[str, Any] = {
    "model": pl.String, "suite": pl.String, "item": pl.String, "condition": pl.String, "column": pl.Int64,
    "word": pl.String, "bits": pl.Float64, "tokens": pl.Int64, "known": pl.Boolean,
}  # fmt: skip
END = "(end)"
_STEP, _LETTER = 46, 7


def table(
    run: Run,
    suite: str,
    item: str = "",
    conditions: Sequence[str] = (),
    model: str = "",
    sentences: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """List the words of each condition with the summed surprisals of their tokens in bits."""
    # Words are separated by white space; a token belongs to the word that contains its first visible character. A
    # scored end-of-text symbol is a separate word. The bits of a word are nan if they are unknown, as for a first token
    # that was scored without a start-of-text symbol.
    sentences = run.scored(suite) if sentences is None else sentences
    if not len(sentences):
        raise UsageError(f"suite={suite}", "no finished sentences in this run", "a suite that was run")
    chosen = item or str(sentences["item"][0])
    rows = sentences.filter(pl.col("item") == chosen).unique("condition", keep="first", maintain_order=True)
    if not len(rows):
        examples = ", ".join(sentences["item"].unique(maintain_order=True).head(5).to_list())
        raise UsageError(f"item={chosen}", f"no such item in {suite}", f"one of its ids: {examples}, ...")
    if unknown := [name for name in conditions if name not in rows["condition"]]:
        raise UsageError("conditions=", repr(unknown[0]), "one or more of " + ", ".join(rows["condition"]))
    kept = [row for row in rows.iter_rows(named=True) if not conditions or row["condition"] in conditions]
    sentences_of_item = [_words(row) for row in kept]
    aligned = columns([[word[0] for word in words] for words in sentences_of_item])
    cells = [
        (model or run.model, suite, chosen, row["condition"], column, *word)
        for row, words, places in zip(kept, sentences_of_item, aligned, strict=True)
        for word, column in zip(words, places, strict=True)
    ]
    return pl.DataFrame(cells, schema=SCHEMA, orient="row")


def _words(row: dict[str, Any]) -> list[tuple[str, float, int, bool]]:
    """Return the text, bits and number of tokens of each word, and whether it is in the model's vocabulary."""
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


def columns(sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    """Align sentences word by word; return the ascending column numbers (from 0) of each sentence's words.

    Each sentence is aligned with those before it. Equal words share a column. Differing words between them are
    paired from the end and share columns; if one sentence has more words there, the additional words get separate
    columns.

    >>> columns([["the", "dog", "barks"], ["the", "old", "dog", "bark"]])
    [[0, 2, 3], [0, 1, 2, 3]]
    >>> columns([["he", "was", "seen"], ["he", "left"]])
    [[0, 1, 2], [0, 2]]
    """
    order: list[int] = []  # numbers of columns from left to right
    words: dict[int, str] = {}
    placed = [_align(sentence, order, words) for sentence in sentences]
    places = {column: place for place, column in enumerate(order)}
    return [[places[column] for column in sentence_columns] for sentence_columns in placed]


def _align(sentence: Sequence[str], order: list[int], words: dict[int, str]) -> list[int]:
    """Return the columns of one sentence; new columns are inserted into `order`, and their words into `words`."""
    assigned: list[int] = []
    before = [words[column] for column in order]
    steps = SequenceMatcher(None, before, list(sentence), autojunk=False).get_opcodes()
    added = 0
    for _, low, high, first, last in steps:
        shared = min(high - low, last - first)
        # New columns come before the shared ones.
        place = high - shared + added
        for k in range(first, last - shared):
            column = len(words)
            words[column] = sentence[k]
            order.insert(place, column)
            assigned.append(column)
            place, added = place + 1, added + 1
        assigned += order[place : place + shared]
    return assigned


def draw_figure(
    runs: Sequence[Run],
    suite: Suite = "",
    item: Annotated[str, "id of an item; default: the first"] = "",
    conditions: Annotated[tuple[str, ...], "names of conditions, separated by commas; default: all"] = (),
) -> Figure:
    """Draw one item.

    Raises:
        UsageError: there is no such suite, item or condition, or the item has other sentences in some of the runs.
    """
    name = chosen_suite(runs, suite)
    chosen = [condition for condition in conditions if condition]
    (first, run), *others = having(runs, name)
    tables = [table(run, name, item, chosen, first)]
    item = tables[0]["item"][0]
    tables += [table(other, name, item, chosen, model) for model, other in others]
    sentences = {tuple(rows.filter(pl.col("word") != END).select("condition", "word").rows()) for rows in tables}
    if len(sentences) > 1:
        raise UsageError(
            f"suite={name}", f"item {item} with other sentences in some of the runs", "the same content in all"
        )
    return draw(tables, f"{name}, item {item}")


def draw(tables: Sequence[pl.DataFrame], title: str = "") -> Figure:
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
    series = Series("condition", list(conditions.values()), width, key=True)
    panel: Spec = {
        "width": width,
        "height": 230 if len(models) < 2 else 170,
        "layer": _layers(list(ticks.values()), series),
    }
    return Figure(finish(by_model(panel, values, len(models)), title, _subtitle(rows)), rows)


def _subtitle(rows: pl.DataFrame) -> list[str]:
    """Return the subtitle. With one model, it includes the sum of each condition; otherwise the table has the sums."""
    sums = rows.group_by("condition", maintain_order=True).agg(pl.col("bits").fill_nan(None).sum())
    texts = [f"{condition}: {bits:.1f} bits" for condition, bits in sums.rows()] if rows["model"].n_unique() < 2 else []
    skipped = int((~rows["bits"].is_finite()).sum())
    lines = ["; ".join(texts[start : start + 2]) for start in range(0, len(texts), 2)]
    lines += [] if rows["known"].all() else ["hollow: a word that is not in the model's vocabulary"]
    return [*lines, *([f"{skipped} words without a finite surprisal are not drawn"] if skipped else [])]


def _ticks(rows: pl.DataFrame, conditions: dict[str, str]) -> dict[int, str]:
    """Map each column to its words, one word per line; trailing spaces distinguish columns with the same words."""
    ticks: dict[int, str] = {}
    for (column,), cells in rows.sort("column", maintain_order=True).group_by("column", maintain_order=True):
        words = [shown(word) for word in cells["word"].unique(maintain_order=True)]
        text = "\n".join(words)
        while text in ticks.values():
            text += " "
        ticks[column] = text
    return ticks


def _value(row: Mapping[str, Any], condition: str, model: str, tick: str) -> dict[str, Any]:
    unknown = "" if row["known"] else ", not in the model's vocabulary"
    description = f"{condition}, {row['word']}: {row['bits']:.2f} bits{unknown}"
    return {
        "model": model, "condition": condition, "word": tick, "column": row["column"], "bits": row["bits"],
        "known": row["known"], "said": shown(description),
    }  # fmt: skip


def _layers(ticks: list[str], conditions: Series) -> list[Spec]:
    scale = {"type": "point", "domain": ticks, "padding": 0.5}
    place: Spec = {
        "x": vega.places("word", scale, grid=False, labelFontSize=12, ticks=False, labelPadding=6),
        "y": vega.quantity("bits", "surprisal (bits)", {"zero": True}),
        "color": conditions.colour,
    }
    # Where conditions agree, their marks overlap: earlier ones are larger, so that all can be seen.
    size = conditions.sizes([max(25, 150 // (k + 1)) for k in range(len(conditions.names))])
    point = place | {"shape": conditions.shape, "size": size, "description": {"field": "said"}}
    order = {"order": {"field": "column", "type": "quantitative"}}
    return [
        layer(vega.line(1.6, opacity=0.6), place | order),
        layer(vega.dot(), point, vega.equal("known", True)),
        layer(vega.dot(filled=False), point, vega.equal("known", False)),
    ]
