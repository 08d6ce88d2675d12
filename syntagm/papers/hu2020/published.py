"""Everything that the raw data of Hu et al. 2020 give: figures, tables, regressions, and where the printed paper differs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.drawing.table import Cell, Table
from syntagm.papers.cited import cited
from syntagm.papers.hu2020 import claims, claims_of_circuits, claims_of_numbers, figures, findings, regressions, tables
from syntagm.papers.hu2020.findings import Check, Findings
from syntagm.papers.hu2020.models import label
from syntagm.papers.hu2020.preparation import SUITES, WORDS, prepared
from syntagm.papers.hu2020.raw import Raw, read
from syntagm.papers.hu2020.study import Study
from syntagm.stats import clustered

CLAIMS: list[Check] = [
    *claims.CLAIMS,
    *claims_of_circuits.CLAIMS,
    *claims_of_numbers.CLAIMS,
]


def made(folder: Path, suites: str, ngram: str) -> Iterator[tuple[str, Table | Figure]]:
    """Every figure and table, as soon as it is made, by the names of their files.

    Arguments:
        folder: `data/raw` of the authors' repository.
        suites: how many suites count: "31", "33" or "34".
        ngram: the tie-breaking seeds of the n-gram become one model by "vote" or "mean".

    Raises:
        InputError: the files are not what they should be.
        UsageError: another choice.
    """
    raw = read(folder)
    study = prepared(raw, suites, ngram)
    everything = prepared(raw, "34", ngram)
    yield from figures.figures(study)
    yield from ((name, one) for name, one in tables.tables(study) if not name.startswith("suite"))
    yield "suites", aside(tables.suites(everything), suites)
    yield "suite_intervals", aside(tables.suite_intervals(everything), suites)
    yield "suite_sets", suite_sets(raw, ngram)
    if study.perplexity.height:
        yield "table4", table4(study)
    yield "withdrawn", withdrawn(study)
    if any(study.items["corpus"]):
        yield from regressions.tables(study)
    yield "differences", findings.table(CLAIMS, Findings(raw, prepared(raw)))


def aside(table: Table, suites: str) -> Table:
    """The table with a note on the suites that don't count."""
    left = ", ".join(SUITES[suites])
    return replace(table, notes=(*table.notes, f"Left out of all means: {left}.")) if left else table


def suite_sets(raw: Raw, ngram: str) -> Table:
    """The scores of model classes over 31, 33 and 34 suites."""
    parts = [
        clustered.means(figures.labelled(study, study.scores()), ["model"], "score").with_columns(
            suites=pl.lit(int(suites))
        )
        for suites in SUITES
        for study in [prepared(raw, suites, ngram)]
    ]
    rows = (
        pl.concat(parts)
        .select("suites", "model", "value", "low", "high", "n")
        .sort("suites", "value", descending=[False, True])
    )
    left = "; ".join(f"{count} without {', '.join(names)}" for count, names in SUITES.items() if names)
    columns = ("suites", "model", "score", "low", "high", "n")
    notes = (f"Suites: {left}.", "n: suite scores, which are redrawn.")
    return Table("SG score by set of suites", columns, tuple(rows.iter_rows()), (), notes)


def table4(study: Study) -> Table:
    """Perplexities beside the printed ones."""
    printed = cited("hu2020")["table4"]
    ppl = pl.col("perplexity")
    keys = ["model", "corpus"]
    found = study.perplexity.group_by(keys, maintain_order=True).agg(
        ppl.mean(), pl.len().alias("seeds"), ppl.min().alias("least"), ppl.max().alias("most")
    )
    numbers = {(label(row["model"]), row["corpus"]): row for row in found.iter_rows(named=True)}
    rows: list[tuple[Cell, ...]] = []
    for model, values in printed.items():
        for corpus, value in values.items():
            row = numbers.get((model, corpus), {})
            rows.append((model, corpus, *(row.get(key) for key in ("perplexity", "seeds", "least", "most")), value))
    columns = ("model", "corpus", "perplexity", "seeds", "least", "most", "paper")
    notes = (
        "Per word, on the test set: mean over seeds, and the least and most of a seed. GPT-2 sums its pieces over words.",
        f"paper: {cited('hu2020')['source']} Table 4.",
    )
    return Table("Table 4: perplexity", columns, tuple(rows), ("paper",), notes)


def withdrawn(study: Study) -> Table:
    """The GPT-2 models that the authors withdrew and those that replaced them, beside what the raw data say."""
    quoted = cited("hu2020")["withdrawn"]
    instances = study.instances().filter((pl.col("model") == "gpt-2") & (pl.col("corpus") != ""))
    known = {(row["corpus"], row["seed"]): row for row in instances.iter_rows(named=True)}
    left = {(one["corpus"], one["seed"]) for one in quoted["instances"]}
    rows: list[tuple[Cell, ...]] = []
    for status, several in (("withdrawn", quoted["instances"]), ("retrained", quoted["retrained"])):
        for one in several:
            row = known.get((one["corpus"], one["seed"]), {})
            rows.append(
                (
                    one["corpus"],
                    str(one["seed"]),
                    status,
                    row.get("score"),
                    row.get("perplexity"),
                    one["score"],
                    one["perplexity"],
                )
            )
    kept = [row for key, row in known.items() if key not in left]
    order = sorted(kept, key=lambda row: -WORDS.get(row["corpus"], 0.0))
    rows += [(row["corpus"], str(row["seed"]), "kept", row["score"], row["perplexity"], None, None) for row in order]
    columns = ("corpus", "seed", "status", "score", "perplexity", "cited score", "cited perplexity")
    notes = (
        f"score: mean of {len(study.suites)} suites, one model a row. Cited, over 31 suites: {quoted['source']}",
        "What the paper says of GPT-2 trained on BLLIP (comparable to Transformer-XL, equal to pre-trained GPT-2, the best "
        "perplexity on MD and LG) rests on the withdrawn models; what it says of class against size does not.",
    )
    published = ("cited score", "cited perplexity")
    return Table(f"{label('gpt-2')} models that the authors withdrew", columns, tuple(rows), published, notes)
