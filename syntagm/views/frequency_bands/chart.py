"""Frequency bands: how often the right form of a lemma wins, by how frequent the lemma is, and by the label of the context."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from syntagm.drawing.chart import INK, Figure, Spec, colours, finish, legend, shapes, shown
from syntagm.drawing.table import or_none
from syntagm.errors import RunError, UsageError
from syntagm.runs.gap_run import FillRun
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.views.frequency_bands import compute as lemma_groups

SCHEMA = {
    "label": pl.String, "model": pl.String, "band": pl.Int64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT = 270, 190
ALL = "all labels, each counting the same"
TAG = "band"


def draw(
    table: pl.DataFrame, subtitle: Sequence[str] = (), title: str = "Accuracy by frequency of the lemma"
) -> Figure:
    """The figure: a panel a label, a dot a model and band with its interval, and how many lemmas there are.

    Arguments:
        table: columns as in `SCHEMA`; `band` is the number of digits of the frequency, 0 for lemmas that don't occur.
    """
    models, labels = (list(dict.fromkeys(table[name])) for name in ("model", "label"))
    bands = sorted(set(table["band"]))
    panels = [_panel(table.filter(pl.col("label") == one), one, models, bands, at) for at, one in enumerate(labels)]
    made = finish({"concat": panels, "columns": 3, "spacing": 18}, title, subtitle)
    made |= {"title": made["title"] | {"offset": 14}} if title else {}
    return Figure(made, table.select(list(SCHEMA)))


def draw_figure(runs: Sequence[Run]) -> Figure:
    """The bands of the lemmas of some fill runs, all suites together.

    Raises:
        RunError: one is no fill run.
        UsageError: no word list has the column `band`.
    """
    rows: list[tuple[object, ...]] = []
    for name, run in named(runs):
        if not isinstance(run, FillRun):
            raise RunError(str(run.folder), "a run of `syntagm run`", "a fill run", "Make one with `syntagm fill`.")
        rows += rows_of(name, run.lemmas(), {row.lemma: row.tags for row in run.words.rows}, run.words.labels)
    if not rows:
        raise UsageError("the word list", f"no column {TAG}", f"`{TAG}`: a number for each lemma, as in the list verbs")
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return draw(table, [*SUBTITLE, *differences(named(runs))])


SUBTITLE = (
    "share of contexts in which the right form is the likelier one, mean over lemmas; bar: 95% interval over lemmas",
    "band: digits of the lemma's frequency in a corpus, 0 for none; upright numbers: lemmas that the model can be asked for",
)  # fmt: skip


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


def rows_of(
    model: str, lemmas: pl.DataFrame, tags: Mapping[str, Mapping[str, str]], labels: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    """Rows as in `SCHEMA`: of all contexts, then of each label; bands without a lemma, and lemmas without a band, left out.

    Arguments:
        lemmas: as `FillRun.lemmas` gives them.
    """
    for label in (ALL, *labels):
        here = lemma_groups.by_lemma(lemmas.filter(pl.col("label") == label))
        here = lemma_groups.balanced(lemmas, labels) if label == ALL else here
        table = lemma_groups.tagged(here, tags, [TAG])
        for band in sorted(int(one) for one in table[TAG].unique() if one.isdecimal()):
            part = table.filter(pl.col(TAG).cast(pl.Int64, strict=False) == band)
            one = lemma_groups.share(part, "equal_weight", f"{model}/{label}/{band}")
            yield label, model, band, one.value, one.low, one.high, one.n, one.method


def _panel(rows: pl.DataFrame, label: str, models: Sequence[str], bands: Sequence[int], at: int) -> Spec:
    names = [shown(one) for one in models]
    told = legend(names, WIDTH * 3) if at == 0 and len(names) > 1 else None
    across: Spec = {
        "field": "band", "type": "ordinal", "title": "frequency band", "scale": {"domain": list(bands)},
        "axis": {"labelAngle": 0, "ticks": False},
    }  # fmt: skip
    upright: Spec = {
        "type": "quantitative", "title": "accuracy" if at == 0 else "", "scale": {"domain": [0, 1]},
        "axis": {"format": ".2f", "values": [0, 0.25, 0.5, 0.75, 1]},
    }  # fmt: skip
    colour: Spec = {"field": "model", "type": "nominal", "scale": colours(names), "legend": told}
    shape: Spec = {"field": "model", "type": "nominal", "scale": shapes(names), "legend": told}
    place: Spec = {"x": across, "xOffset": {"field": "model", "type": "nominal", "scale": {"domain": names}}}
    interval = place | {"y": upright | {"field": "low"}, "y2": {"field": "high"}, "color": colour}
    dot = place | {"y": upright | {"field": "value"}, "color": colour, "shape": shape, "description": {"field": "said"}}
    # Counts stand above the panel, upright, where nothing is in their way.
    count = place | {"y": {"value": -5}, "text": {"field": "n"}}
    small = {"type": "text", "angle": 270, "align": "left", "fontSize": 9, "color": INK, "opacity": 0.8, "aria": False}
    values = [_value(row) for row in rows.iter_rows(named=True)]
    return {
        "title": {"text": shown(label if label == ALL else f"contexts that want: {label}"), "fontSize": 12, "offset": 6},
        "width": WIDTH, "height": HEIGHT, "data": {"values": values},
        "layer": [
            {"transform": [{"filter": {"field": "low", "valid": True}}],
             "mark": {"type": "rule", "strokeWidth": 1.6, "aria": False}, "encoding": interval},
            {"mark": {"type": "point", "filled": True, "size": 45, "opacity": 1}, "encoding": dot},
            {"mark": small, "encoding": count},
        ],
    }  # fmt: skip


def _value(row: Mapping[str, object]) -> dict[str, object]:
    low, high = (or_none(row[key]) for key in ("low", "high"))
    spread = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    said = f"{row['model']}, {row['label']}, band {row['band']}: {row['value']:.3f}{spread}, n={row['n']}"
    return {
        "model": shown(str(row["model"])), "band": row["band"], "value": row["value"], "low": low, "high": high,
        "n": str(row["n"]), "said": shown(said),
    }  # fmt: skip
