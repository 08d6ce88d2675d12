"""Warstadt et al. 2020, "BLiMP: The Benchmark of Linguistic Minimal Pairs for English": accuracy by paradigm and category.

A model is correct on a minimal pair if the good sentence is more probable; a tie counts as wrong. The accuracy on a
paradigm is the proportion of correct pairs; that on a category is the unweighted mean of its paradigms; overall
accuracy is the mean of all paradigms. Further analyses follow the paper: correlations between models and people;
surface predictors of correct answers; the effects of distance, attractors and irregular nouns; the effect of more
training text; and a comparison of scoring methods.

This works for any suites of minimal pairs, in BLiMP's or any other format. Analyses of the paper's own paradigms use
those that the runs have, and list them.

Runs of people (`syntagm experiment import`) stand beside the models where the paper has its people: the score of a pair is
the share of people who chose the good sentence, and `table_people` has the paper's validation of each paradigm.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, isnan, nan
from pathlib import Path
from statistics import mean

import polars as pl

from syntagm.core import RunError, counted
from syntagm.evaluation import Estimate, Kind, People
from syntagm.papers import people
from syntagm.papers.paper import Experiment, Paper, cited
from syntagm.papers.people import about, divided
from syntagm.papers.warstadt2020 import study, tables
from syntagm.papers.warstadt2020.paradigms import Paradigm, has_pairs_judged, paradigms, published
from syntagm.papers.warstadt2020.raw import (
    PEOPLE,
    differing,
    model_samples,
    people_samples,
    people_table,
    printed_table,
    read_judgements,
    read_summary,
)
from syntagm.papers.warstadt2020.tables import Known
from syntagm.runs import Run, comparable_pairs, listed, named, titles
from syntagm.stats import Key, Sample, cluster_intervals, correlations, score
from syntagm.views import (
    PROPERTIES,
    Cell,
    Figure,
    Table,
    agreement_over,
    correlation,
    dots,
    learning_curve,
    methods,
    or_none,
    phenomena,
    surface,
)

# The share of the pairs of an accepted paradigm that are won by a majority: four of five in the paper.
_ACCEPTED = 4 / 5
PAPER_PEOPLE, WON, JUDGEMENTS = "people (paper)", "won (paper)", "judgements (paper)"


def samples_of_people(name: str, run: Run) -> dict[Key, Sample]:
    """Return the share of people who chose the good sentence of each pair: (name, paradigm) -> sample."""
    return {
        (name, suite.name): score.of_values(suite.name, Kind.SHARE, people.rates(run, suite.name)["rate"])
        for suite in run.suites
    }


def validation(groups: Sequence[tuple[str, Run]], known: Known) -> dict[str, Table]:
    """Make the table of the validation by paradigm, and that of the numbers over all paradigms."""
    printed = {row["paradigm"]: row for row in cited("warstadt2020")["paradigms"]}
    numbers = cited("warstadt2020")["validation"]
    rows: list[tuple[Cell, ...]] = []
    totals: list[tuple[Cell, ...]] = []
    for name, run in groups:
        kept = judgements = 0
        for suite in sorted(run.suites, key=lambda suite: (known[suite.name].phenomenon, suite.name)):
            found = agreement_over(run, [suite], name, suite.name)
            accepted = found.won >= ceil(_ACCEPTED * found.majority.n) and found.majority.n > 0
            kept, judgements = kept + accepted, judgements + found.answers
            theirs = printed.get(suite.name, {})
            rows.append((
                known[suite.name].phenomenon, suite.name, name, *people.cells(found), "yes" if accepted else "no",
                found.people, found.answers, or_none(known[suite.name].human), theirs.get("won"), theirs.get("judgements"),
            ))  # fmt: skip
        everything = agreement_over(run, run.suites, name, "all")
        total, individual = everything.majority, everything.individual
        complete = {suite.name for suite in run.suites} == printed.keys()
        share = (None, None, None) if individual is None else (individual.value, individual.low, individual.high)
        won = everything.won / total.n if total.n else nan
        lines: list[tuple[str, Cell, Cell, Cell, int, float]] = [
            ("pairs that a majority judged as predicted, %", *_percent(won, total.low, total.high), total.n,
             numbers["majority"]),
            ("single judgements as predicted, mean of paradigms, %", *_percent(*share), judgements,
             numbers["individual"]),
            ("accepted paradigms", kept, None, None, len(run.suites), numbers["kept"]),
            ("judgements", judgements, None, None, len(run.suites), numbers["judgements"]),
        ]  # fmt: skip
        totals += [(what, name, *cells, published if complete else None) for what, *cells, published in lines]
    source = f"{PAPER_PEOPLE}, {WON}, {JUDGEMENTS}: of the published pairs, transcribed from {cited('warstadt2020')['source']}"
    quoted = (PAPER_PEOPLE, WON, JUDGEMENTS)
    columns = ("category", "paradigm", "model", *people.COLUMNS, "accepted", "people", "judgements", *quoted)
    rule = "accepted: at least four fifths of the pairs are won, as four of five are in the paper."
    groups_notes = [line for name, run in groups for line in people.about(run, name)]
    explained = (*people.NOTES, rule, source, *groups_notes)
    by_paradigm = Table("People, by paradigm", columns, tuple(rows), quoted, explained)
    notes = (
        "n: pairs, judgements, or paradigms. Intervals: 95 %, of pairs for other pairs, of judgements for other people and other "
        "pairs.",
        f"paper: its {numbers['kept']} published paradigms; {numbers['tested']} were tested. It is shown beside people who saw "
        "all of these paradigms.",
        *groups_notes,
    )
    over_all = Table(
        "Validation by people", ("what", "model", "ours", "low", "high", "n", "paper"), tuple(totals), ("paper",), notes
    )
    return {"table_people": by_paradigm, "table_validation": over_all}


def _percent(*shares: float | None) -> tuple[Cell, ...]:
    return tuple(None if share is None else or_none(100 * share) for share in shares)


SUITES = ("warstadt2020",)
MEASURE = methods.WHOLE
Outputs = dict[str, Table | Figure]


def of_runs(runs: Sequence[Run], *, words: str = "") -> Outputs:
    """Make the tables and figures that the runs allow: file name -> table or figure.

    Arguments:
        runs: the runs, one per model or group of people.
        words: the numbers of words of the training texts, for the learning curves: comma-separated, in the order of the
            runs of models, `-` for unknown. By default, they come from the record of the experiment to which a run belongs.

    Raises:
        RunError: a run has no suite of minimal pairs, or people were asked for something else than choices.
        UsageError: `words` does not have one number per run of a model.

    >>> of_runs([])
    {}
    """
    samples: dict[score.Key, Sample] = {}
    known: dict[str, Paradigm] = {}
    models, groups = divided(runs)
    for name, run in named(models):
        suites = [suite for suite in run.suites if MEASURE in suite.predictions]
        if not suites:
            cure = "Run suites of minimal pairs, for instance the collection warstadt2020."
            raise RunError(run.place, f"no suite with the prediction {MEASURE}", "at least one", cure)
        known |= paradigms(suites)
        results = run.results().with_columns(model=pl.lit(name))
        by_suite = score.of_results(results, MEASURE, run.kind(MEASURE), run.tolerance)
        samples |= {key: sample for key, sample in by_suite.items() if key[1] in known}
    for name, run in named(groups):
        known |= paradigms(run.suites)
        samples |= samples_of_people(name, run)
    if not samples:
        return {}
    notes = _notes(models, groups)
    means = tables.means(samples, known)
    humans = {key: value for key, value in tables.people(samples, known, means).items() if not isnan(value)}
    outputs: Outputs = {
        "table3": tables.table3(samples, known, means, notes),
        "table_paradigms": tables.by_paradigm(samples, known, notes[-2:]),
        **_accuracy(means, humans),
        **_correlations_of_runs(tables.accuracies(samples), [*named(models), *named(groups)], known),
        **_contrasts(tables.contrasts(samples)),
        **_materials(models, samples, known),
        **(validation(named(groups), known) if groups else {}),
    }
    if not models:
        return outputs
    return outputs | _shallow(models) | _methods(models, known) | _learning(samples, known, models, words)


def from_raw(folder: Path) -> Outputs:
    """Make the tables and figures from the published accuracies and judgements: file name -> table or figure."""
    judged = read_judgements(folder / "human_responses.csv")
    samples = model_samples(folder / "models_summary.jsonl") | people_samples(judged)
    suites = {suite for _, suite in samples}
    known = {suite: paradigm for suite, paradigm in published().items() if suite in suites}
    samples = {key: sample for key, sample in samples.items() if key[1] in known}
    means = tables.means(samples, known)
    contrast_estimates = tables.contrasts(samples)
    correlated = correlations(tables.accuracies(samples))
    differing_paradigms = differing(judged, read_summary(folder / "human_validation_summary.csv"))
    notes = (
        "Models: counts of 1,000 pairs of each paradigm, as published.",
        f"{PEOPLE}: n counts pairs, five per paradigm; a pair's value is the share of some 20 people who chose the good "
        "sentence.",
        f"Human judgements were counted again; in {len(differing_paradigms)} paradigms the authors' summary differs by about "
        "one judgement: "
        + ", ".join(differing_paradigms) + ".",
    )  # fmt: skip
    contrasted = {
        name: tables.without_counts(output) if isinstance(output, Table) else output
        for name, output in _contrasts(contrast_estimates).items()
    }
    return {
        "table3": tables.without_counts(tables.table3(samples, known, means, notes, published=False)),
        "table_paradigms": tables.without_counts(tables.by_paradigm(samples, known, notes, published=False)),
        "table_printed": printed_table(means, correlated, contrast_estimates, judged),
        "table_people": people_table(samples, judged),
        **_accuracy(means, {}, "TXL: Transformer-XL"),
        **_correlations(correlated, notes[:2]),
        **contrasted,
    }


def _accuracy(estimates: Sequence[Estimate], humans: Mapping[tuple[str, str], float], remark: str = "") -> Outputs:
    shown = [estimate for estimate in estimates if estimate.group["over"] != "field"]
    # All paradigms first, then categories from easy to hard, by the mean of the models.
    values: dict[str, list[float]] = {}
    for each in shown:
        values.setdefault(each.group["phenomenon"], []).append(each.value)
    rank = {
        name: mean([value for value in accuracies if not isnan(value)] or [0.0]) for name, accuracies in values.items()
    }
    shown.sort(key=lambda each: (each.group["over"] != "all", -rank[each.group["phenomenon"]]))
    figure = phenomena.draw(shown, humans, "Accuracy by category of paradigms", remark=remark)
    return {"phenomena": figure}


def _correlations(table: pl.DataFrame, notes: Sequence[str]) -> Outputs:
    if table.is_empty():
        return {}
    names = list(dict.fromkeys([*table["a"], *table["b"]]))
    figure = correlation.draw(table, names, "Do models find the same paradigms hard?")
    return {"table_correlations": tables.correlation_table(table, notes), "correlation": figure}


def _correlations_of_runs(
    accuracies: Mapping[str, Mapping[str, float]], runs: Sequence[tuple[str, Run]], known: Known
) -> Outputs:
    """Correlate runs over the paradigms of which both have the same pairs, and with the people of the paper over all."""
    said: dict[str, list[str]] = {}
    shared = comparable_pairs(runs)
    for (a, first), (b, second) in combinations(runs, 2):
        for line in _pairs_of(first, second, shared[a, b]) if second.task is People else ():
            said.setdefault(f"and {b}: {line}", []).append(a)
    parts, judged = [correlation.of_pairs(accuracies, shared)], f"{PEOPLE} (published)"
    human = {suite: paradigm.human for suite, paradigm in known.items() if not isnan(paradigm.human)}
    for name, run in runs if human else ():
        parts.append(correlations({name: accuracies[name], judged: human}))
        pairs = [has_pairs_judged(run, suite.name) for suite in run.suites if suite.name in human]
        rest = "" if all(pairs) else ", elsewhere other pairs under the same name"
        line = f"and {judged}: the judged pairs themselves in {sum(pairs)} of {counted(len(pairs), 'paradigm')}{rest}"
        said.setdefault(line, []).append(name)
    notes = [f"{', '.join(names)} {line}." for line, names in said.items()]
    if human:
        notes.append(f"{judged}: transcribed, of the first five published pairs of each paradigm.")
    order = {name: place for place, (name, _) in enumerate(runs)}
    table = pl.concat(parts).sort(pl.col("a").replace_strict(order, return_dtype=pl.Int64), maintain_order=True)
    return _correlations(table, notes)


def _pairs_of(run: Run, people: Run, same: Sequence[str]) -> Iterator[str]:
    """Say over how many pairs a run is correlated with people, and where it isn't; same: the suites where it is."""
    names = {suite.name for suite in people.suites}
    if same:
        fewer, more = sorted(sum(each.suite(suite).items for suite in same) for each in (run, people))
        yield f"{fewer:,} pairs in both" + (f", {more:,} in the larger set" if more > fewer else "")
    if different := [suite.name for suite in run.suites if suite.name in names and suite.name not in same]:
        yield f"not correlated over {listed(different)}, where pairs that people saw are missing"


def _contrasts(estimates: Sequence[Estimate]) -> Outputs:
    if not estimates:
        return {}
    subtitle = [
        "accuracy on the first kind of paradigm minus that on the second; n: pairs of both",
        "attractor: a noun of the other number between subject and verb; 95% interval, for other pairs of the same paradigms",
    ]
    if any(each.group.model == PEOPLE for each in estimates):
        subtitle.append("people: 5 pairs per paradigm; TXL: Transformer-XL")
    title, axis = "Effects of distance, attractors and irregular nouns", "difference of accuracies"
    figure = dots.draw_contrasts(estimates, title, axis, subtitle)
    return {"table_contrasts": tables.contrast_table(estimates), "contrasts": figure}


def _materials(runs: Sequence[Run], samples: tables.Samples, known: Known) -> Outputs:
    """Compare the runs of the same model on suites with the same names but different content."""
    rows: list[tables.Materials] = []
    for (first, run), (second, other) in combinations(named(runs), 2):
        if run.model == other.model:
            hashes = {suite.name: suite.hash for suite in other.suites}
            suites = [suite.name for suite in run.suites if hashes.get(suite.name, suite.hash) != suite.hash]
            pairs = {
                suite: (samples[first, suite], samples[second, suite])
                for suite in suites
                if (first, suite) in samples and (second, suite) in samples
            }
            if pairs:
                rows.append(tables.Materials(run.model, first, second, pairs))
    return {"table_materials": tables.materials_table(rows, known)} if rows else {}


def _shallow(runs: Sequence[Run]) -> Outputs:
    shown, tables_of_pairs = titles(runs), []
    for name, run in named(runs):
        titled = pl.col("suite").replace({suite.name: shown[suite.name, suite.hash] for suite in run.suites})
        tables_of_pairs.append(surface.pairs(name, run, MEASURE).with_columns(titled))
    pairs = pl.concat(tables_of_pairs)
    # The first n-gram model of each order among the runs; a unigram model stands for word frequencies.
    ngrams: dict[object, str] = {}
    for name, run in named(runs):
        if learning_curve.family(run) == "ngram":
            ngrams.setdefault(run.record["model"]["record"].get("order"), name)
    predictors = list(surface.PREDICTORS)
    for name in ngrams.values():
        pairs = surface.with_margin_of(pairs, name)
        predictors.append(surface.margin_of(name))
    others = [name for name, run in named(runs) if learning_curve.family(run) != "ngram"]
    # The margin under an n-gram model does not count as a surface predictor for other n-gram models.
    other = pl.col("model").is_in(others)
    parts = [(other, predictors), (~other, surface.PREDICTORS)]
    table = pl.concat([surface.regressions(pairs.filter(models), chosen) for models, chosen in parts])
    curves = cluster_intervals.means_in_bins(pairs, surface.SHOWN)
    return {
        "table_shallow": tables.shallow_table(table, PROPERTIES),
        "surface": surface.draw(curves, "Which pairs are easy? Accuracy by length, surprisal and confidence"),
    }


def _methods(runs: Sequence[Run], known: Known) -> Outputs:
    labels = {suite: paradigm.phenomenon for suite, paradigm in known.items()}
    models = [(run.results().with_columns(model=pl.lit(name)), run.tolerance, labels) for name, run in named(runs)]
    differences = [found for model in models for found in methods.differences(*model)]
    if not differences:
        return {}
    title = "Comparison of scoring methods"
    return {
        "table_methods": tables.method_table(differences),
        "table_method_means": methods.means(models, "phenomenon"),
        "methods": methods.draw(differences, title),
    }


def _learning(samples: tables.Samples, known: Known, runs: Sequence[Run], words: str) -> Outputs:
    """Draw curves over the paradigms that all models of known size have, since a line over others would compare paradigms."""
    sizes = learning_curve.training_words(runs, words)
    by_model = {
        name: (learning_curve.family(run), name, n) for (name, run), n in zip(named(runs), sizes, strict=True) if n
    }
    if len({size for *_, size in by_model.values()}) < 2:
        return {}
    shared, said = learning_curve.in_all([{suite for owner, suite in samples if owner == name} for name in by_model])
    chosen = {key: sample for key, sample in samples.items() if key[0] in by_model and key[1] in shared}
    estimates = tables.means(chosen, known)
    rows = [
        (each.group["phenomenon"], *by_model[each.group.model], *each.numbers[:4], each.method)
        for each in estimates
        if each.group["over"] != "field"
    ]
    table = pl.DataFrame(rows, schema=learning_curve.SCHEMA, orient="row")
    slopes = tables.slope_table(learning_curve.slopes(table), chosen, known, said)
    if not shared:
        return {"table_slopes": slopes}
    humans = tables.people_of_all(chosen, known)
    figure = learning_curve.draw(table, humans, "Accuracy by amount of training text", notes=said)
    return {"table_slopes": slopes, "learning_curve": figure}


def _notes(runs: Sequence[Run], groups: Sequence[Run]) -> tuple[str, ...]:
    signatures = [line for name, run in named(groups) for line in about(run, name)]
    for name, run in named(runs):
        suites = [suite for suite in run.suites if MEASURE in suite.predictions]
        line = run.signature(suites[0].name, MEASURE)
        signatures.append(f"Signature of {name}: {line.over(len(suites)) if len(suites) > 1 else line}")
    other = sorted({title for title in titles(runs).values() if " @" in title})
    return (
        *signatures,
        *(f"The run of {name} is not finished: items without results are excluded." for name, run in named(runs) if not run.done),
        *([f"Same name but different content in different runs, so not correlated: {', '.join(other[:6])}."] if other else []),
        "people, 5-gram, LSTM, TXL, GPT-2: transcribed from the paper, on its own pairs; the models' numbers are shown for "
        "categories with all their paradigms.",
        "Chance is 1/2 for independent draws.",
    )  # fmt: skip


PAPER = Paper(
    SUITES,
    of_runs,
    from_raw,
    experiment=Experiment(study.SIZES, study.SEEDS, study.experiment, study.outputs, (), study.SAMPLES, *study.PAPER),
)
