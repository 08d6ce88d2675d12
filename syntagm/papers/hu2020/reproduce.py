"""Hu et al. 2020, "A systematic assessment of syntactic generalization in neural language models": the controlled experiment.

Model classes are trained on nested corpora, with several seeds where the seed matters, and scored on the test suites.
The perplexity of all models is measured on the same test text. The questions are whether perplexity and score are
related, and whether the model class or the amount of text matters more.

An item is correct if the suite's first prediction holds for it. A suite's score is the proportion of correct items. The
SG score is the mean over suites, both over the 31 suites of the paper's figures and over all 34. Perplexity is per
whitespace-separated word for all model classes; each sentence is scored separately, and its end counts as a word.

The paper's figures can be drawn from its own raw data (`from_raw`, with the regressions and a list of the differences from the
printed paper), from an experiment (`of_experiment`), and in part from off-the-shelf models (`of_runs`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from syntagm.core import Progress
from syntagm.evaluation import Kind
from syntagm.papers.experiment.design import (
    Design,
    cell_of,
    distinguishing_keys,
    finished_models,
    perplexities,
    requested_sizes,
    simulations,
)
from syntagm.papers.experiment.experiment import carry_out
from syntagm.papers.hu2020 import figures, findings, printed, raw, regressions, study as _study, tables
from syntagm.papers.hu2020.findings import Findings
from syntagm.papers.hu2020.raw import SUITES as LEFT_OUT, WORDS, Raw, build_study, completeness_table, read
from syntagm.papers.hu2020.regressions import Regressions
from syntagm.papers.hu2020.study import Study, label
from syntagm.papers.paper import Experiment, Paper, cited
from syntagm.runs import Run
from syntagm.stats import Planned, cluster_intervals, score
from syntagm.suites import read_suites
from syntagm.views import UNITS, Cell, Figure, Table, estimates

SUITES = ("hu2020",)
# The paper's analysis excludes these of the 34 suites from every mean.
ASIDE = LEFT_OUT["31"]
SIZES = {"xs": 100_000, "sm": 1_000_000}
PAPER_SIZES = {corpus.lower(): round(words * 1e6) for corpus, words in WORDS.items()}
SEEDS = (1, 2)

# Key of a perplexity record -> column of the table.
SUMS = {
    "perplexity": "perplexity", "perplexity_known": "perplexity_known", "bits_per_word": "bits_per_word",
    "bits_per_character": "bits_per_character", "words": "test_words", "unknown": "unknown_words",
    "undefined": "undefined_words",
}  # fmt: skip
SCORE = ("score", "low", "high", "n", "ties", "undefined_items", "score_all")


def experiment(design: Design, progress: Progress | None = None) -> Table:
    """Carry out the experiment, or resume it; for the errors see `carry_out`."""
    return carry_out(design, results, progress, _short)


def from_raw(
    raw: Raw, *, suites: str = "31", ngram: str = "vote", intervals: str = "crossed"
) -> Iterator[tuple[str, Table | Figure]]:
    """Make Figures 1 to 6, Table 4, the regressions and further tables from the paper's own raw data."""
    yield "completeness", completeness_table(raw)
    study = build_study(raw, suites, ngram)
    everything = build_study(raw, "34", ngram)
    yield from figures.figures(study, intervals)
    yield from ((name, table) for name, table in tables.tables(study) if not name.startswith("suite"))
    yield "suites", with_note(tables.suites(everything), suites)
    yield "suite_intervals", with_note(tables.suite_intervals(everything), suites)
    yield "suite_sets", suite_sets(raw, ngram)
    if study.perplexity.height:
        yield "table4", table4(study)
    yield "withdrawn", withdrawn_table(study)
    found = Findings(raw, study if (suites, ngram) == ("31", "vote") else build_study(raw))
    if any(study.items["corpus"]):
        yield from regressions.tables(found.regressions if found.study is study else Regressions(study))
    differences = findings.table(printed.CLAIMS, found)
    yield "differences", differences
    yield "counts", findings.counts(differences, found.judged)
    yield from findings.verdicts(found.rows(), found.study)


def with_note(table: Table, suites: str) -> Table:
    excluded = ", ".join(LEFT_OUT[suites])
    return replace(table, notes=(*table.notes, f"Excluded from all means: {excluded}.")) if excluded else table


def suite_sets(raw: Raw, ngram: str) -> Table:
    """Make the table of the scores of model classes over 31, 33 and 34 suites."""
    studies = {suites: build_study(raw, suites, ngram) for suites in LEFT_OUT}
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
    excluded = "; ".join(f"{count} without {', '.join(names)}" for count, names in LEFT_OUT.items() if names)
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


def withdrawn_table(study: Study) -> Table:
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


def of_runs(runs: Sequence[Run]) -> Iterator[tuple[str, Table | Figure]]:
    """Make Figures 1, 5 and 6 and their tables from off-the-shelf models, over the included suites."""
    study = _study.of_runs(runs, ASIDE)
    yield from figures.figures(study)
    yield from tables.tables(study)


def of_experiment(folder: Path) -> Iterator[tuple[str, Table | Figure]]:
    """Make Figures 1 to 6 and their tables from all finished models of an experiment."""
    # If there are several classes and several sizes, the regressions are added, and the verdicts on those of the
    # paper's claims that are about such models.
    study = _studied(folder)
    yield from figures.figures(study)
    yield from tables.tables(study)
    if _is_compared(study):
        found = regressions.Regressions(study, simulations(folder))
        yield from regressions.tables(found)
        if rows := [row for claim in findings.judge_claims(study.as_published(), None, found) for row in claim.rows]:
            yield from findings.verdicts(rows, study)


def tests(design: Design, finished: bool) -> list[Planned]:
    """Plan the likelihood-ratio tests that the results of an experiment will contain."""
    folder = design.folder
    if finished:
        study = _studied(folder)
    else:
        began = design.record().exists()
        # The results are those of all models of the folder.
        cells = dict.fromkeys(map(cell_of, perplexities(folder) if began else []))
        sizes = (requested_sizes(folder) if began else {}) | dict(design.sizes)
        cells |= dict.fromkeys(design.cells())
        study = _study.planned(cells, read_suites(*design.suites), _millions(sizes), ASIDE)
    return regressions.plan_tests(study, simulations(folder)) if _is_compared(study) else []


def _studied(folder: Path) -> Study:
    return _study.of_experiment(list(finished_models(folder)), _millions(requested_sizes(folder)), ASIDE)


def _millions(sizes: Mapping[str, int]) -> dict[str, float]:
    return {size: words / 1e6 for size, words in sizes.items()}


def _is_compared(study: Study) -> bool:
    """Return whether there are several classes and several sizes, so that there are regressions."""
    return study.items["model"].n_unique() > 1 and study.items["corpus"].n_unique() > 1


def _short(table: Table, folder: Path) -> Table:
    """Return the table of results without the scores of single suites."""
    width = table.columns.index(SCORE[-1]) + 1 + len(_circuits(list(finished_models(folder))))
    return replace(table, columns=table.columns[:width], rows=tuple(row[:width] for row in table.rows))


def results(folder: Path) -> Table:
    finished = list(finished_models(folder))
    circuits = _circuits(finished)
    suites = list(dict.fromkeys(suite.name for _, run in finished for suite in run.suites if suite.predictions))
    keys = distinguishing_keys(finished)
    rows = [
        (*(model[key] for key in (*keys, "training_words", *SUMS)), *_scores(run, circuits, suites))
        for model, run in finished
    ]
    columns = (*keys, "words", *SUMS.values(), *SCORE, *circuits, *suites)
    return Table("Controlled experiment", columns, tuple(rows), (), _notes([run for _, run in finished]))


def _circuits(finished: Sequence[tuple[Mapping[str, object], Run]]) -> list[str]:
    counted = (suite for _, run in finished for suite in run.suites if suite.name not in ASIDE)
    return sorted({suite.tags["circuit"] for suite in counted if "circuit" in suite.tags})


def _scores(run: Run, circuits: Sequence[str], suites: Sequence[str]) -> tuple[Cell, ...]:
    """Return the SG score with its interval, and the scores of circuits and suites (None for suites that were not run)."""
    table, predictions = run.results(), estimates.predictions(run, "first")
    counted = {name: indices for name, indices in predictions.items() if name not in ASIDE}
    labels = {suite.name: suite.tags["circuit"] for suite in run.suites if "circuit" in suite.tags}
    kind = run.kind("first")
    overall = score.score(table, counted, kind, run.tolerance)
    everything = score.score(table, predictions, kind, run.tolerance)
    by_circuit = score.score(table, counted, kind, run.tolerance, tag="circuit", labels=labels)
    values = {estimate.group["circuit"]: estimate.value for estimate in by_circuit}
    values |= {estimate.group.suite: estimate.value for estimate in estimates.accuracies(run, "first")}
    return (
        *(overall[0].numbers if overall else [None] * (len(SCORE) - 1)),
        everything[0].value if everything else None,
        *(values.get(name) for name in (*circuits, *suites)),
    )


def _notes(runs: Sequence[Run]) -> tuple[str, ...]:
    signatures = [
        f"Signature of {run.model}: {run.signature(suite.name, next(iter(suite.predictions)))}"
        for run in runs[:1]
        for suite in run.suites[:1]
        if suite.predictions
    ]
    bounded = list(dict.fromkeys(run.model.partition(":")[0] for run in runs if not run.record["model"]["exact"]))
    bounds = f"The perplexities of {', '.join(bounded)} are upper bounds: the search leaves derivations out."
    return (
        "words: words of the training text. Perplexity: on the test text, per whitespace-separated word, sentence ends "
        "included; perplexity_known: without unknown words.",
        *([bounds] if bounded else []),
        f"score: the mean over suites without {', '.join(ASIDE)}, as in the paper's figures, and likewise for circuits; "
        "score_all: over all suites.",
        "Intervals: 95 %, for other suites and their items; they don't cover the variation between seeds. "
        "Ties count as wrong.",
        *signatures,
    )


PAPER = Paper(
    SUITES,
    of_runs,
    from_raw,
    read,
    raw.lacking,
    ratio_tests=True,
    experiment=Experiment(SIZES, SEEDS, experiment, of_experiment, paper_sizes=PAPER_SIZES, tests=tests),
)
