"""Whether raw data are all that Hu et al. 2020 published (models, suites, items, perplexities), and whose answers are copies."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import comb, log

import polars as pl

from syntagm.papers.hu2020.models import label
from syntagm.papers.hu2020.preparation import of_the_study, with_one_ngram
from syntagm.papers.hu2020.raw import Raw
from syntagm.papers.paper import cited
from syntagm.views import INSTANCE, Cell, Table

# If the probability that any two models agree on all items is above this, models with the same answers are not called copies.
BY_CHANCE = 0.001
_CELL = ["model", "corpus"]


def table(raw: Raw) -> Table:
    """Make the table of what the publication has and what these data have, with a row per kind of thing."""
    rows: list[tuple[Cell, ...]] = [
        (kind, sum(expected.values()), sum(found.values()), "; ".join(remarks))
        for kind, expected, found, remarks in _compared(raw)
    ]
    columns = ("kind", "published", "here", "differences")
    notes = (
        "The seeds of the n-gram model that only break ties count as one model. The answers of the random model are not checked.",
    )
    return Table("Are the data complete?", columns, tuple(rows), (), notes)


def lacking(raw: Raw) -> list[str]:
    """List what the publication has and these data lack, or the reverse; empty if they are complete."""
    return [f"{kind}: {remark}" for kind, _, _, remarks in _compared(raw) for remark in remarks]


def models_like_others(raw: Raw) -> list[str]:
    """List the models that answer every item as another one does, unless two of them may well do so by chance."""
    # Copies look like training runs that agree, and make intervals too narrow.
    items = with_one_ngram(of_the_study(raw.items)).sort(*INSTANCE, "suite", "item")
    right = items.group_by("suite", "item").agg(pl.col("value").mean())["value"]
    # Two models that answer independently, each item as often correctly as all models do.
    agreement = float((right**2 + (1 - right) ** 2).log().sum())
    pairs = comb(items.select(INSTANCE).n_unique(), 2)
    if not pairs or log(pairs) + agreement > log(BY_CHANCE):
        return []
    models: dict[bytes, list[str]] = {}
    for (model, corpus, seed), rows in items.group_by(INSTANCE, maintain_order=True):
        name = f"{label(str(model))} on {corpus}, seed {seed}" if corpus else label(str(model))
        models.setdefault(rows["value"].to_numpy().tobytes(), []).append(name)
    return [f"the same answers: {' = '.join(names)}" for names in models.values() if len(names) > 1]


def _compared(raw: Raw) -> Iterator[tuple[str, Mapping[str, int], Mapping[str, int], list[str]]]:
    """Yield each kind of thing with the published and the present numbers, and how these differ."""
    for kind, expected, found in _kinds(raw):
        yield (
            kind,
            expected,
            found,
            _differences(expected, found) + (models_like_others(raw) if kind == "models" else []),
        )


def _kinds(raw: Raw) -> list[tuple[str, Mapping[str, int], Mapping[str, int]]]:
    """Return each kind of thing with the published and the present numbers: name -> number."""
    published = cited("hu2020")
    items = with_one_ngram(of_the_study(raw.items))
    models = items.select(*_CELL, "seed").unique(maintain_order=True)
    measured = of_the_study(raw.perplexity).select(*_CELL, "seed").unique(maintain_order=True)
    trained = {
        f"{model} on {size}": count for model, sizes in published["trained"].items() for size, count in sizes.items()
    }
    shelf = dict.fromkeys(published["off_the_shelf"], 1)
    present = raw.items.select("suite", "item").unique(maintain_order=True)
    by_suite: dict[str, int] = dict(present.group_by("suite", maintain_order=True).len().iter_rows())
    expected: dict[str, int] = published["items"]
    return [
        ("models", trained | shelf, _counts(models)),
        ("perplexities", trained, {name: n for name, n in _counts(measured).items() if name not in shelf}),
        ("suites", dict.fromkeys(expected, 1), dict.fromkeys(by_suite, 1)),
        # Of suites that are missing altogether, the row of suites says so.
        ("items", {suite: n for suite, n in expected.items() if suite in by_suite}, by_suite),
    ]


def _counts(models: pl.DataFrame) -> dict[str, int]:
    names = [f"{label(model)} on {size}" if size else label(model) for model, size in models.select(_CELL).iter_rows()]
    return dict(Counter(names))


def _differences(expected: Mapping[str, int], found: Mapping[str, int]) -> list[str]:
    """Describe what is missing and what is there in addition, with numbers where only part of it is."""
    absent = [_of(name, found.get(name, 0), count) for name, count in expected.items() if found.get(name, 0) < count]
    surplus = [
        _of(name, count, expected.get(name, 0)) for name, count in found.items() if count > expected.get(name, 0)
    ]
    named = (("missing", absent), ("not published", surplus))
    return [f"{text}: {', '.join(names)}" for text, names in named if names]


def _of(name: str, found: int, expected: int) -> str:
    return name if {found, expected} == {0, 1} else f"{name} ({found} of {expected})"
