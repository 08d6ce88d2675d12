"""What the items of a run are tagged with: a label an item, from a tag or from the words of a region."""

import json

import polars as pl

from syntagm.errors import RunError
from syntagm.runs.store import Run

REGION = "region:"


def tags_of(run: Run, suite: str) -> list[str]:
    """The tags of the first item of a suite, and `region:NAME` for each of its regions."""
    first = run.sentences(suite).head(1)
    if not len(first):
        return []
    regions = [REGION + name for name in first["region_names"][0].to_list()]
    return [*json.loads(first["tags"][0]), *regions]


def labels(run: Run, suite: str, by: str) -> list[str | None]:
    """The label of each item of a suite, in order; None where it has none.

    Arguments:
        by: a tag of the items, or `region:NAME`: the words of that region in the first condition, in lower case, without
            punctuation around them.
    """
    record = run.suite(suite)
    table = run.sentences(suite)
    if not len(table):
        return []
    first = table.filter(pl.col("condition") == record.conditions[0])
    if not by.startswith(REGION):
        return [_text(json.loads(text).get(by)) for text in first["tags"]]
    name = by.removeprefix(REGION)
    columns = ("text", "region_names", "region_starts", "region_ends")
    return [_content(name, *row) for row in first.select(columns).iter_rows()]


def labelled(run: Run, suite: str, results: pl.DataFrame, by: str) -> pl.DataFrame | None:
    """Results of one suite and measure with the column `label`; items without a label are left out. None: none has one.

    Raises:
        RunError: results and sentences are not of the same items.
    """
    found = labels(run, suite, by)
    if not any(found):
        return None
    if len(found) != len(results):
        place = f"{run.folder}, suite {suite}"
        raise RunError(place, f"{len(results)} results of {len(found)} items", "one an item and measure")
    return results.with_columns(label=pl.Series(found, dtype=pl.String)).filter(pl.col("label").is_not_null())


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def _content(name: str, text: str, names: list[str], starts: list[int], ends: list[int]) -> str | None:
    if name not in names:
        return None
    place = names.index(name)
    return text[starts[place] : ends[place]].strip(" .,;:?!").lower() or None
