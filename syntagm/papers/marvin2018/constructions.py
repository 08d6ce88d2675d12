"""The constructions of Marvin and Linzen 2018, and accuracies by construction."""

import json
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from syntagm.core import RunError
from syntagm.evaluation import Estimate
from syntagm.papers.paper import cited
from syntagm.runs import Run
from syntagm.stats import score

MEASURE = "full_sentence"
# The comparison that the paper's numbers probably belong to: for models, for people.
PROBABLE = {
    "NPI: simple": ("grammatical_ungrammatical", "grammatical_intrusive"),
    "NPI: across a relative clause": ("grammatical_intrusive", "grammatical_intrusive"),
}


def probable(construction: str) -> str:
    """Return the comparison that the paper's numbers for models probably belong to.

    >>> probable("Simple"), probable("NPI: simple")
    ('full_sentence', 'grammatical_ungrammatical')
    """
    return PROBABLE.get(construction, (MEASURE, MEASURE))[0]


def constructions(run: Run) -> dict[str, list[str]]:
    known = {line["construction"] for line in cited("marvin2018")["table1"]}
    by_construction: dict[str, list[str]] = {}
    for suite in run.suites:
        if (name := suite.tags.get("construction", "")) in known:
            by_construction.setdefault(name, []).append(suite.name)
    if not by_construction:
        cure = "Run the collection marvin2018 or the published pickles."
        raise RunError(run.place, "no suite with a construction of the paper", "at least one", cure)
    return by_construction


def by_construction(run: Run, suites: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], Estimate]:
    """Compute accuracies over the items of all suites of a construction: (construction, measure) -> accuracy."""
    names = {suite: construction for construction, members in suites.items() for suite in members}
    rows = run.results().filter(pl.col("suite").is_in(list(names)))
    pooled = rows.with_columns(pl.col("suite").replace_strict(names, return_dtype=pl.String))
    estimates_of_groups = score.accuracy(pooled, run.kind, run.tolerance)
    return {(estimate.group.suite, estimate.group.measure): estimate for estimate in estimates_of_groups}


def main_and_embedded(run: Run, suite: str) -> dict[str, tuple[str, str]]:
    """Return the grammatical numbers of the main and of the embedded subject: item -> (main, embedded)."""
    numbers = {}
    for item, tags in _tags(run, suite):
        tested, other = tags["number"], tags["attractor"]
        numbers[item] = (other, tested) if "within" in suite else (tested, other)
    return numbers


def _tags(run: Run, suite: str) -> Iterator[tuple[str, dict[str, str]]]:
    for item, text in run.sentences(suite).select("item", "tags").unique(maintain_order=True).iter_rows():
        tags = json.loads(text)
        if not {"number", "attractor"} <= tags.keys():
            place = f"{run.place}, suite {suite}, item {item}"
            raise RunError(
                place,
                "no tag `number` or no tag `attractor`",
                "both tags",
                "Run the suites of marvin2018, or the published pickles.",
            )
        yield item, tags
