"""Results from the raw data of Hu et al. 2020: figures, tables, regressions, and differences from the printed paper."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from syntagm.evaluation import Kind
from syntagm.papers.cited import cited
from syntagm.papers.hu2020 import (
    claims_of_items,
    claims_of_numbers,
    completeness,
    figures,
    findings,
    regressions,
    tables,
)
from syntagm.papers.hu2020.findings import Check, Findings
from syntagm.papers.hu2020.models import label
from syntagm.papers.hu2020.preparation import SUITES, WORDS, build_study
from syntagm.papers.hu2020.raw import Raw
from syntagm.papers.hu2020.regressions import Regressions
from syntagm.papers.hu2020.study import Study
from syntagm.stats import cluster_intervals
from syntagm.views import UNITS, Cell, Figure, Table

CLAIMS: list[Check] = [*claims_of_items.CLAIMS, *claims_of_numbers.CLAIMS]


def outputs(raw: Raw, suites: str, ngram: str, intervals: str) -> Iterator[tuple[str, Table | Figure]]:
    """Yield every figure and table as soon as it is computed, with the name of its file."""
    yield "completeness", completeness.table(raw)
    study = build_study(raw, suites, ngram)
    everything = build_study(raw, "34", ngram)
    yield from figures.figures(study, intervals)
    yield from ((name, table) for name, table in tables.tables(study) if not name.startswith("suite"))
    yield "suites", with_note(tables.suites(everything), suites)
    yield "suite_intervals", with_note(tables.suite_intervals(everything), suites)
    yield "suite_sets", suite_sets(raw, ngram)
    if study.perplexity.height:
        yield "table4", table4(study)
    yield "withdrawn", withdrawn(study)
    found = Findings(raw, study if (suites, ngram) == ("31", "vote") else build_study(raw))
    if any(study.items["corpus"]):
        yield from regressions.tables(found.regressions if found.study is study else Regressions(study))
    differences = findings.table(CLAIMS, found)
    yield "differences", differences
    yield "counts", findings.counts(differences, found.judged)
    yield from findings.verdicts(found.rows(), found.study)


def with_note(table: Table, suites: str) -> Table:
    """Add a note about the excluded suites to a table."""
    excluded = ", ".join(SUITES[suites])
    return replace(table, notes=(*table.notes, f"Excluded from all means: {excluded}.")) if excluded else table


def suite_sets(raw: Raw, ngram: str) -> Table:
    """Make the table of the scores of model classes over 31, 33 and 34 suites."""
    studies = {suites: build_study(raw, suites, ngram) for suites in SUITES}
    parts = [
        cluster_intervals.means(
            figures.labelled(study, study.scores()), ["model"], "score", Kind.SHARE, UNITS
        ).with_columns(suites=pl.lit(int(suites)))
        for suites, study in studies.items()
    ]
    rows = (
        pl.concat(parts)
        .select("suites", "model", "value", "low", "high", "n")
        .sort("suites", "value", descending=[False, True])
    )
    excluded = "; ".join(f"{count} without {', '.join(names)}" for count, names in SUITES.items() if names)
    columns = ("suites", "model", "score", "low", "high", "n")
    absent = "; ".join(study.counted for study in studies.values() if len(study.suites) < study.published)
    notes = (
        f"Suites: {excluded}.",
        *([f"These data have only {absent}."] if absent else []),
        "n: suite scores; intervals: for other suites, and other models of the class where there are several.",
    )
    return Table("SG score by set of suites", columns, tuple(rows.iter_rows()), (), notes)


def table4(study: Study) -> Table:
    """Make Table 4: computed perplexities next to the printed ones."""
    printed = cited("hu2020")["table4"]
    ppl = pl.col("perplexity")
    keys = ["model", "corpus"]
    means = study.perplexity.group_by(keys, maintain_order=True).agg(
        ppl.mean(), pl.len().alias("seeds"), ppl.min().alias("least"), ppl.max().alias("most")
    )
    numbers = {(label(row["model"]), row["corpus"]): row for row in means.iter_rows(named=True)}
    rows: list[tuple[Cell, ...]] = []
    for model, values in printed.items():
        for corpus, value in values.items():
            row = numbers.get((model, corpus), {})
            rows.append((model, corpus, *(row.get(key) for key in ("perplexity", "seeds", "least", "most")), value))
    columns = ("model", "corpus", "perplexity", "seeds", "least", "most", "paper")
    notes = (
        "Per word, on the test set: mean, lowest and highest over seeds. GPT-2 sums over the tokens of a word.",
        f"paper: {cited('hu2020')['source']} Table 4.",
    )
    return Table("Table 4: perplexity", columns, tuple(rows), ("paper",), notes)


def withdrawn(study: Study) -> Table:
    """Make the table of the GPT-2 models that the authors withdrew, and of their replacements, from the raw data."""
    quoted = cited("hu2020")["withdrawn"]
    instances = study.instances().filter((pl.col("model") == "gpt-2") & (pl.col("corpus") != ""))
    known = {(row["corpus"], row["seed"]): row for row in instances.iter_rows(named=True)}
    withdrawn_instances = {(model["corpus"], model["seed"]) for model in quoted["instances"]}
    rows: list[tuple[Cell, ...]] = []
    for status, models in (("withdrawn", quoted["instances"]), ("retrained", quoted["retrained"])):
        for model in models:
            row = known.get((model["corpus"], model["seed"]), {})
            rows.append(
                (
                    model["corpus"],
                    str(model["seed"]),
                    status,
                    row.get("score"),
                    row.get("perplexity"),
                    model["score"],
                    model["perplexity"],
                )
            )
    remaining = [row for key, row in known.items() if key not in withdrawn_instances]
    order = sorted(remaining, key=lambda row: -WORDS.get(row["corpus"], 0.0))
    rows += [(row["corpus"], str(row["seed"]), "kept", row["score"], row["perplexity"], None, None) for row in order]
    columns = ("corpus", "seed", "status", "score", "perplexity", "cited score", "cited perplexity")
    notes = (
        f"score: mean of {study.counted}, one model per row. Cited, over 31 suites: {quoted['source']}",
        "The table of verdicts shows which claims depend on the withdrawn models.",
    )
    published = ("cited score", "cited perplexity")
    return Table(f"{label('gpt-2')} models that the authors withdrew", columns, tuple(rows), published, notes)
