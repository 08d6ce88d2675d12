"""Frequency bands: how often the right form of a lemma wins, by how frequent the lemma is, and by the label of the context."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from syntagm.drawing import axes, layers, panels
from syntagm.drawing.chart import INK, Figure, Spec, finish
from syntagm.drawing.layers import layer
from syntagm.drawing.series import Series
from syntagm.drawing.text import numbers, shown, spoken
from syntagm.errors import UsageError
from syntagm.runs.store import Run
from syntagm.views.gaps import kept, lemma_groups
from syntagm.views.gaps.filled import filled

SCHEMA = {
    "label": pl.String, "model": pl.String, "band": pl.Int64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT = 270, 190
ALL = "all labels, each counting the same"
TAG = "band"
SUBTITLE = (
    "share of contexts in which the right form is the likelier one, mean over lemmas; bar: 95% interval over lemmas",
    "band: digits of the lemma's frequency in a corpus, 0 for none; upright numbers: lemmas that the model can be asked for",
)  # fmt: skip


def rows_of(
    model: str, lemmas: pl.DataFrame, tags: Mapping[str, Mapping[str, str]], labels: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    """Rows as in `SCHEMA`: of all contexts, then of each label; bands without a lemma, and lemmas without a band, left out.

    Arguments:
        lemmas: as `views.gaps.kept.lemmas` gives them.
    """
    for label in (ALL, *labels):
        here = lemma_groups.by_lemma(lemmas.filter(pl.col("label") == label))
        here = lemma_groups.balanced(lemmas, labels) if label == ALL else here
        table = lemma_groups.tagged(here, tags, [TAG])
        for band in sorted(int(one) for one in table[TAG].unique() if one.isdecimal()):
            part = table.filter(pl.col(TAG).cast(pl.Int64, strict=False) == band)
            one = lemma_groups.share(part, "equal_weight", f"{model}/{label}/{band}")
            yield label, model, band, one.value, one.low, one.high, one.n, one.method


def differences(runs: Iterable[tuple[str, Run]]) -> list[str]:
    """What keeps runs with these names from being compared, a line each: other suites, or another word list.

    >>> differences([])
    []
    """
    lists, suites = {}, {}
    for name, run in runs:
        words = run.record["options"]["words"]
        lists[name] = f"{words['name']} ({words['hash'][:8]})"
        suites[name] = frozenset((one.name, one.hash) for one in run.suites)
    said = []
    if len(set(suites.values())) > 1:
        shared = len(frozenset.intersection(*suites.values()))
        counts = ", ".join(f"{name} {len(of)}" for name, of in suites.items())
        said.append(f"models were asked in different suites ({counts}; {shared} in common): their contexts differ")
    if len(set(lists.values())) > 1:
        each = ", ".join(f"{name} {of}" for name, of in lists.items())
        said.append(f"models were asked for the words of different lists ({each}): their lemmas differ")
    return said


def draw_figure(runs: Sequence[Run]) -> Figure:
    """Draw the bands of the lemmas of some fill runs, all suites together.

    Raises:
        RunError: one is no fill run.
        UsageError: no word list has the column `band`.
    """
    rows: list[tuple[object, ...]] = []
    for name, run in filled(runs):
        rows += rows_of(
            name, kept.lemmas(run), {row.lemma: row.tags for row in kept.words(run).rows}, kept.words(run).labels
        )
    if not rows:
        raise UsageError("the word list", f"no column {TAG}", f"`{TAG}`: a number for each lemma, as in the list verbs")
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return draw(table, [*SUBTITLE, *differences(filled(runs))])


def draw(
    table: pl.DataFrame, subtitle: Sequence[str] = (), title: str = "Accuracy by frequency of the lemma"
) -> Figure:
    """Draw a panel a label, a dot a model and band with its interval, and how many lemmas there are.

    Arguments:
        table: columns as in `SCHEMA`; `band` is the number of digits of the frequency, 0 for lemmas that don't occur.
    """
    models, labels = (list(dict.fromkeys(table[name])) for name in ("model", "label"))
    bands = sorted(set(table["band"]))
    parts = [_panel(table.filter(pl.col("label") == one), one, models, bands, at) for at, one in enumerate(labels)]
    made = finish(panels.grid(parts, 3, 18), title, subtitle, offset=14)
    return Figure(made, table.select(list(SCHEMA)))


def _panel(rows: pl.DataFrame, label: str, models: Sequence[str], bands: Sequence[int], at: int) -> Spec:
    told = Series("model", [shown(one) for one in models], WIDTH * 3, at == 0 and len(models) > 1)
    across = axes.places("band", {"domain": list(bands)}, "frequency band", ticks=False)
    upright = axes.proportion("accuracy" if at == 0 else "", ticks=(0, 0.25, 0.5, 0.75, 1), format=".2f")
    place: Spec = {"x": across, "xOffset": told.place}
    interval = place | axes.spread(upright) | {"color": told.colour}
    dot = place | {"y": upright, "color": told.colour, "shape": told.shape, "description": {"field": "said"}}
    # Counts stand above the panel, upright, where nothing is in their way.
    count = place | {"y": {"value": -5}, "text": {"field": "n"}}
    small = {"type": "text", "angle": 270, "align": "left", "fontSize": 9, "color": INK, "opacity": 0.8, "aria": False}
    return {
        "title": panels.heading(label if label == ALL else f"contexts that want: {label}", offset=6),
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": [_value(row) for row in rows.iter_rows(named=True)]},
        "layer": [
            layer(layers.rule(strokeWidth=1.6), interval, layers.defined("low")),
            layer(layers.dot(45), dot),
            layer(small, count),
        ],
    }


def _value(row: Mapping[str, object]) -> dict[str, object]:
    value, low, high = (float(str(row[key])) for key in ("value", "low", "high"))
    said = f"{row['model']}, {row['label']}, band {row['band']}: {spoken(value, low, high)}, n={row['n']}"
    return {
        "model": shown(str(row["model"])), "band": row["band"], "value": row["value"], **numbers(row, "low", "high"),
        "n": str(row["n"]), "said": shown(said),
    }  # fmt: skip
