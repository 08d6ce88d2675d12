"""Frequency bands: the proportion of contexts in which a lemma's correct form is preferred, by lemma frequency and label."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from syntagm.core import UsageError, shown
from syntagm.runs import Run
from syntagm.views import gaps
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import INK, Figure, Spec, finish
from syntagm.views.drawing.text import lines
from syntagm.views.drawing.vega import Row, Series, estimated, layer, point

SCHEMA = {
    "label": pl.String, "model": pl.String, "band": pl.Int64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT = 270, 190
ALL = "all labels, each counting the same"
TAG = "band"
SUBTITLE = (
    "proportion of contexts in which the correct form is more probable, mean over lemmas; bar: 95% interval over lemmas",
    "band: number of digits of the lemma's corpus frequency, 0 if it doesn't occur; vertical numbers: eligible lemmas",
)  # fmt: skip


def rows_of(
    model: str, lemmas: pl.DataFrame, tags: Mapping[str, Mapping[str, str]], labels: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    """Yield rows with the columns of `SCHEMA`: first over all labels, then for each label."""
    # Bands without a lemma and lemmas without a band are skipped.
    for label in (ALL, *labels):
        chosen = gaps.by_lemma(lemmas.filter(pl.col("label") == label))
        chosen = gaps.balance_labels(lemmas, labels) if label == ALL else chosen
        table = gaps.add_tags(chosen, tags, [TAG])
        for band in sorted(int(text) for text in table[TAG].unique() if text.isdecimal()):
            in_band = table.filter(pl.col(TAG).cast(pl.Int64, strict=False) == band)
            estimate = gaps.lemma_share(in_band, "equal_weight")
            yield label, model, band, estimate.value, estimate.low, estimate.high, estimate.n, estimate.method


def differences(runs: Iterable[tuple[str, Run]]) -> list[str]:
    """Return sentences that explain why the runs are not fully comparable: different suites, or different word lists.

    Arguments:
        runs: pairs of model name and run.

    >>> differences([])
    []
    """
    lists, suites, eligible = {}, {}, {}
    for name, run in runs:
        words = run.record["options"]["words"]
        lists[name] = f"{words['name']} ({words['hash'][:8]})"
        eligible[name] = run.record["options"]["eligible"]
        suites[name] = frozenset((suite.name, suite.hash) for suite in run.suites)
    reasons = []
    if len(set(suites.values())) > 1:
        shared = len(frozenset.intersection(*suites.values()))
        counts = ", ".join(f"{name} {len(members)}" for name, members in suites.items())
        reasons.append(f"the runs have different suites ({counts}; {shared} in common), so that their contexts differ")
    for kind, settings in (("word lists", lists), ("eligible rows", eligible)):
        if len(set(settings.values())) > 1:
            names = ", ".join(f"{name} {setting}" for name, setting in settings.items())
            reasons.append(f"the runs have different {kind} ({names}), so that their lemmas differ")
    return reasons


def draw_figure(runs: Sequence[Run]) -> Figure:
    """Draw the frequency bands of fill runs, over all suites.

    Raises:
        RunError: a run is not a fill run.
        UsageError: no word list has the column `band`.
    """
    rows: list[tuple[object, ...]] = []
    for name, run in gaps.filled(runs):
        rows += rows_of(
            name, gaps.lemma_sums(run), {row.lemma: row.tags for row in gaps.words(run).rows}, gaps.words(run).labels
        )
    if not rows:
        raise UsageError("the word list", f"no column {TAG}", f"`{TAG}`: a number for each lemma, as in the list verbs")
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return draw(table, [*SUBTITLE, *lines(differences(gaps.filled(runs)))])


def draw(
    table: pl.DataFrame, subtitle: Sequence[str] = (), title: str = "Accuracy by frequency of the lemma"
) -> Figure:
    """Draw one panel for each label, with a dot and an interval for each model and band, and the number of lemmas."""
    models, labels = (list(dict.fromkeys(table[name])) for name in ("model", "label"))
    bands = sorted(set(table["band"]))
    plots = [
        _panel(table.filter(pl.col("label") == label), label, models, bands, at) for at, label in enumerate(labels)
    ]
    spec = finish(vega.grid(plots, 3, 18), title, subtitle, offset=14)
    return Figure(spec, table.select(list(SCHEMA)))


def _panel(rows: pl.DataFrame, label: str, models: Sequence[str], bands: Sequence[int], at: int) -> Spec:
    series = Series("model", [shown(model) for model in models], WIDTH * 3, at == 0 and len(models) > 1)
    across = vega.places("band", {"domain": list(bands)}, "frequency band", ticks=False)
    upright = vega.proportion("accuracy" if at == 0 else "", ticks=(0, 0.25, 0.5, 0.75, 1), format=".2f")
    place: Spec = {"x": across, "xOffset": series.place}
    interval = place | vega.spread(upright) | {"color": series.colour}
    dot = place | {"y": upright, "color": series.colour, "shape": series.shape, "description": {"field": "said"}}
    # Counts are written vertically above the panel, where they overlap nothing.
    count = place | {"y": {"value": -5}, "text": {"field": "n"}}
    small = {"type": "text", "angle": 270, "align": "left", "fontSize": 9, "color": INK, "opacity": 0.8, "aria": False}
    return {
        "title": vega.heading(label if label == ALL else f"contexts that want: {label}", offset=6),
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": [_point(row) for row in rows.iter_rows(named=True)]},
        "layer": [
            layer(vega.rule(strokeWidth=1.6), interval, vega.defined("low")),
            layer(vega.dot(45), dot),
            layer(small, count),
        ],
    }


def _point(row: Row) -> dict[str, object]:
    said = f"{row['model']}, {row['label']}, band {row['band']}: {estimated(row)}"
    return {**point(row, said, "model", "band"), "n": str(row["n"])}
