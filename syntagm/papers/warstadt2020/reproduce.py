"""Warstadt et al. 2020, "BLiMP: The Benchmark of Linguistic Minimal Pairs for English": which paradigms a model masters.

A model is given minimal pairs and is right if the good sentence has more probability; a tie is not. The accuracy of a
paradigm is the share of its pairs, that of a category the unweighted mean of its paradigms, and the overall accuracy that of all
paradigms. From there the paper asks: whom do models resemble, models or people; what is shallow about pairs that are easy;
what do distance, attractors and irregular nouns cost; what does more text bring; and does it matter how a pair is asked.

Any suites of minimal pairs go through this, those of BLiMP's format and our own; what only makes sense for the paper's
paradigms is made of those that are there, and says of which.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import mean

import polars as pl

from syntagm.drawing import contrasts
from syntagm.drawing.chart import Figure
from syntagm.drawing.table import Table
from syntagm.errors import RunError
from syntagm.papers.paper import Paper
from syntagm.papers.warstadt2020 import tables
from syntagm.papers.warstadt2020.paradigms import Paradigm, paradigms, published
from syntagm.papers.warstadt2020.printed import differing, people_table, printed
from syntagm.papers.warstadt2020.raw import PEOPLE, judgements, models, people, summary
from syntagm.papers.warstadt2020.tables import Known
from syntagm.result import Estimate
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run
from syntagm.stats import binned, suite_means
from syntagm.stats.correlation import correlations
from syntagm.stats.paired import Comparison
from syntagm.views import correlation, learning_curve, methods, phenomena, surface
from syntagm.views.surface import PROPERTIES

SUITES = ("blimp_like",)
MEASURE = methods.WHOLE
Made = dict[str, Table | Figure]


def of_runs(runs: Sequence[Run], *, words: str = "") -> Made:
    """The tables and figures that some runs can give, by the names of their files.

    Arguments:
        words: of the training texts, for the learning curves: numbers with commas between in the order of the runs, `-` for
            unknown. Without: what the experiment says in whose folder a run lies.

    Raises:
        RunError: a run has no suite of minimal pairs.
        UsageError: `words` are not a number a run.

    >>> of_runs([])
    {}
    """
    drawn: dict[suite_means.Key, suite_means.Redrawn] = {}
    known: dict[str, Paradigm] = {}
    for name, run in named(runs):
        suites = [one for one in run.suites if MEASURE in one.predictions]
        if not suites:
            cure = "Run suites of minimal pairs, for instance the collection blimp_like."
            raise RunError(run.place, f"no suite with the prediction {MEASURE}", "at least one", cure)
        known |= paradigms(suites)
        results = run.results().with_columns(model=pl.lit(name))
        found = suite_means.of_results(results, MEASURE, run.tolerance)
        drawn |= {key: one for key, one in found.items() if key[1] in known}
    if not drawn:
        return {}
    notes = _notes(runs)
    found_means = tables.means(drawn, known)
    humans = _humans(found_means, tables.people(drawn, known, found_means))
    made: Made = {
        "table3": tables.table3(drawn, known, found_means, notes),
        "table_paradigms": tables.by_paradigm(drawn, known, notes[-2:]),
        **_accuracy(found_means, humans),
        **_correlations(_told_apart(tables.accuracies(drawn), runs) | _published_people(known), notes[-2:-1]),
        **_contrasts(tables.contrasts(drawn)),
    }
    return made | _shallow(runs) | _methods(runs, known) | _learning(found_means, runs, words, humans)


def from_raw(folder: Path) -> Made:
    """The tables and figures that the published accuracies and judgements can give, by the names of their files.

    Arguments:
        folder: with `models_summary.jsonl` and, for people, `human_responses.csv` and `human_validation_summary.csv`.

    Raises:
        InputError: a file is not what was published.
    """
    found = judgements(folder / "human_responses.csv")
    drawn = models(folder / "models_summary.jsonl") | people(found)
    known = {suite: one for suite, one in published().items() if any(suite == of for _, of in drawn)}
    drawn = {key: one for key, one in drawn.items() if key[1] in known}
    means = tables.means(drawn, known)
    made_contrasts = tables.contrasts(drawn)
    correlated = correlations(tables.accuracies(drawn))
    odd = differing(found, summary(folder / "human_validation_summary.csv"))
    notes = (
        "Models: counts of 1,000 pairs of each paradigm, as published; intervals redraw pairs.",
        f"{PEOPLE}: n counts pairs, five of each paradigm; a pair's value is the share of some 20 people who chose the good "
        "sentence. Intervals redraw pairs, and five are few.",
        f"People's judgements were counted again; in {len(odd)} paradigms the authors' summary is a judgement or so apart: "
        + ", ".join(odd) + ".",
    )  # fmt: skip
    return {
        "table3": tables.table3(drawn, known, means, notes, published=False),
        "table_paradigms": tables.by_paradigm(drawn, known, notes, published=False),
        "table_printed": printed(means, correlated, made_contrasts, found),
        "table_people": people_table(drawn, found),
        **_accuracy(means, {}, "TXL: Transformer-XL; people: n is 5 a suite"),
        **_correlations(tables.accuracies(drawn), notes[:2]),
        **_contrasts(made_contrasts),
    }


def _accuracy(found: Sequence[Estimate], humans: Mapping[str, float], remark: str = "") -> Made:
    shown = [one for one in found if one.group["over"] != "field"]
    held: dict[str, int] = {}
    for one in shown:
        held[one.group["phenomenon"]] = max(one.group.count("paradigms"), held.get(one.group["phenomenon"], 0))
    # All paradigms first, and then from easy to hard, by the mean of the models.
    values = {name: [one.value for one in shown if one.group["phenomenon"] == name] for name in held}
    rank = {name: mean([one for one in several if not isnan(one)] or [0.0]) for name, several in values.items()}
    shown.sort(key=lambda one: (one.group["over"] != "all", -rank[one.group["phenomenon"]]))
    figure = phenomena.draw(shown, held, humans, "Accuracy by category of paradigms", remark=remark)
    return {"phenomenon_accuracy": figure}


def _humans(found: Sequence[Estimate], people: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Category -> what people score on the paradigms of the model that has most of them."""
    most: dict[str, int] = {}
    made: dict[str, float] = {}
    for one in found:
        model, name, count = one.group.model, one.group["phenomenon"], one.group.count("paradigms")
        if count > most.get(name, 0):
            most[name], made[name] = count, people[model, name]
    return {name: value for name, value in made.items() if not isnan(value)}


def _names(runs: Sequence[Run]) -> dict[str, dict[str, str]]:
    """model -> suite -> its name, with its hash where another run has other content under the name."""
    shown = titles(runs)
    return {name: {one.name: shown[one.name, one.hash] for one in run.suites} for name, run in named(runs)}


def _told_apart(accuracies: Mapping[str, Mapping[str, float]], runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    """Accuracies by suite, such that only suites with the same content have the same name."""
    shown = _names(runs)
    return {
        model: {shown[model][suite]: value for suite, value in found.items()} for model, found in accuracies.items()
    }


def _published_people(known: Known) -> dict[str, dict[str, float]]:
    judged = {suite: one.human for suite, one in known.items() if one.human == one.human}
    return {f"{PEOPLE} (published)": judged} if judged else {}


def _correlations(accuracies: Mapping[str, Mapping[str, float]], notes: Sequence[str]) -> Made:
    if len(accuracies) < 2:
        return {}
    table = correlations(accuracies)
    figure = correlation.draw(table, list(accuracies), "Do models find the same paradigms hard?")
    return {"table_correlations": tables.correlation_table(table, notes), "model_correlation": figure}


def _contrasts(found: Sequence[Estimate]) -> Made:
    if not found:
        return {}
    subtitle = [
        "accuracy on the first kind of paradigm less that on the second; n: pairs of both",
        "attractor: a noun of the other number between subject and verb; 95% interval: pairs drawn anew within paradigms",
    ]
    if any(one.group.model == PEOPLE for one in found):
        subtitle.append("people: 5 pairs a paradigm; TXL: Transformer-XL")
    title, axis = "What distance, attractors and irregular nouns cost", "difference of accuracies"
    figure = contrasts.draw(found, title, axis, subtitle)
    return {"table_contrasts": tables.contrast_table(found), "contrasts": figure}


def _shallow(runs: Sequence[Run]) -> Made:
    shown = _names(runs)
    pairs = pl.concat(
        [
            surface.pairs(name, run, MEASURE).with_columns(pl.col("suite").replace(shown[name]))
            for name, run in named(runs)
        ]
    )
    # One model of n-grams for each order, the first of the runs; a unigram is as good as the frequencies of words.
    counting: dict[object, str] = {}
    for name, run in named(runs):
        if learning_curve.family(run) == "ngram":
            counting.setdefault(run.record["model"]["record"].get("order"), name)
    predictors = list(surface.PREDICTORS)
    for name in counting.values():
        pairs = surface.with_margin_of(pairs, name)
        predictors.append(surface.margin_of(name))
    others = [name for name, run in named(runs) if learning_curve.family(run) != "ngram"]
    # What n-grams say of n-grams is not a shallow property of pairs.
    tables_of = [
        surface.regressions(pairs.filter(pl.col("model").is_in(others)), predictors),
        surface.regressions(pairs.filter(~pl.col("model").is_in(others)), surface.PREDICTORS),
    ]
    table = pl.concat(tables_of)
    curves = binned.curves(pairs, surface.SHOWN)
    return {
        "table_shallow": tables.shallow_table(table, PROPERTIES),
        "length_effect": surface.draw(curves, "Which pairs are easy? Accuracy by length, surprisal and confidence"),
    }


def _methods(runs: Sequence[Run], known: Known) -> Made:
    labels = {suite: one.phenomenon for suite, one in known.items()}
    found: list[Comparison] = []
    for name, run in named(runs):
        results = run.results().with_columns(model=pl.lit(name))
        found += methods.differences(results, run.tolerance, labels)
    if not found:
        return {}
    title = "Does it matter how a pair is asked?"
    return {"table_methods": tables.method_table(found), "method_comparison": methods.draw(found, title)}


def _learning(found: Sequence[Estimate], runs: Sequence[Run], words: str, humans: Mapping[str, float]) -> Made:
    sizes = learning_curve.training_words(runs, words)
    of_model = {name: (run, size) for (name, run), size in zip(named(runs), sizes, strict=True) if size}
    if len({size for _, size in of_model.values()}) < 2:
        return {}
    rows = [
        (
            one.group["phenomenon"],
            learning_curve.family(of_model[name][0]),
            name,
            of_model[name][1],
            *tables.numbers(one)[:4],
            one.method,
        )
        for one in found
        if one.group["over"] != "field" and (name := one.group.model) in of_model
    ]
    table = pl.DataFrame(rows, schema=learning_curve.SCHEMA, orient="row")
    figure = learning_curve.draw(table, humans, "What more text brings")
    return {"table_slopes": tables.slope_table(learning_curve.slopes(table), humans), "learning_curve": figure}


def _notes(runs: Sequence[Run]) -> tuple[str, ...]:
    """What the numbers of runs rest on."""
    signatures = []
    for name, run in named(runs):
        suites = [one for one in run.suites if MEASURE in one.predictions]
        line = run.signature(suites[0].name, MEASURE)
        signatures.append(f"Signature of {name}: {line.over(len(suites)) if len(suites) > 1 else line}")
    other = sorted({title for title in titles(runs).values() if " @" in title})
    return (
        *signatures,
        *(f"The run of {name} is not finished: items without results are left out." for name, run in named(runs) if not run.done),
        *([f"Different content under one name in different runs, not correlated: {', '.join(other[:6])}."] if other else []),
        "people, and 5-gram, LSTM, TXL, GPT-2: the paper's, transcribed, on its own pairs; the models' stand beside categories "
        "with all their paradigms.",
        "Chance is 1/2 for independent draws.",
    )  # fmt: skip


PAPER = Paper(SUITES, of_runs, from_raw)
