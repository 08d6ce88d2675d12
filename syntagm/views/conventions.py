"""Conventions: accuracy under each linking function and treatment, and the verdicts that depend on the choice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import polars as pl

from syntagm.core import UsageError, counted, shown
from syntagm.evaluation import (
    DEFAULT,
    LINKINGS,
    TREATMENTS,
    Case,
    Convention,
    Estimate,
    Judge,
    Tokens,
    Unigrams,
    convention,
    kind_of,
    linking,
    scored,
)
from syntagm.runs import Run, listed, named, pairs, titles, whole
from syntagm.stats import in_words, score
from syntagm.views.drawing.chart import INK, Figure, Spec, finish
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.drawing.vega import heading, layer
from syntagm.views.normalised import RESULTS, read_unigrams

# Margins are exactly 0 where the difference in bits is within the tolerance of the run.
TOLERANCE = 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where unigram probabilities and ratings come from, as options of a view say it."""

    unigrams: str = ""  # a text, or `ngram:...`; "" for none, and no convention that needs them
    ratings: str = ""  # a CSV file of ratings, for MORCELA; "" for none
    tokens: Tokens = "blanks"  # `tokens`, `case`: how words are found and looked up
    case: Case = "keep"

    def __post_init__(self) -> None:
        if self.ratings and not self.unigrams:
            raise UsageError("ratings=", "ratings without unigrams=", "both: MORCELA weighs the frequency of words")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The conventions of a run."""

    conventions: tuple[Convention, ...]  # the conventions, of which `bits` is the first
    unigrams: Unigrams | None  # the unigram model; None without one
    notes: tuple[str, ...] = ()  # what readers have to know, as sentences


def choose(run: Run, source: Source, names: Sequence[str] = ()) -> Chosen:
    unigrams = None
    if source.unigrams:
        unigrams = read_unigrams(source.unigrams, run, source.tokens, source.case)
    notes: tuple[str, ...] = ()
    if names:
        found = [Convention.parse(name) for name in dict.fromkeys((DEFAULT, *names))]
        if not unigrams and (lacking := next((each for each in found if each.unigrams), None)):
            raise UsageError("convention=", f"{lacking} without unigrams=", "unigrams=FILE, a text to count words in")
    else:
        found = [Convention(linking) for linking in LINKINGS if unigrams or not linking.unigrams]
        ended = run.record["model"]["policies"].get("eos") == "yes"
        found += [
            Convention(LINKINGS[0], (treatment,))
            for treatment in TREATMENTS
            if (ended or treatment.name != "without_end") and treatment.tie in (None, 1)
        ]
    if source.ratings and unigrams:
        fitted = _fitted(run, source, unigrams)
        found.append(Convention(fitted.linking))
        notes = (fitted.note,)
    return Chosen(tuple(found), unigrams, notes)


def _fitted(run: Run, source: Source, unigrams: Unigrams) -> linking.Fit:
    given = linking.read_ratings(source.ratings)
    first_scored = run.record["model"]["start"] is not None
    known = {}
    for suite in run.suites:
        for _, _, sentence, answer in run.answers(suite.name):
            if sentence.text in given and sentence.text not in known:
                known[sentence.text] = scored(
                    sentence.text, answer, first_scored, unigrams=unigrams, tokens=source.tokens
                )
    return linking.fit_ratings(known, given, source.ratings)


def results(run: Run, suite: str, chosen: Chosen, tokens: Tokens = "blanks") -> pl.DataFrame:
    """Judge the items of a suite under each convention: the columns of `RESULTS`, items in order within a convention."""
    judge = Judge(run.tolerance_in_bits, run.record["model"]["start"] is not None, chosen.unigrams, tokens)
    rows: list[list[tuple[object, ...]]] = [[] for _ in chosen.conventions]
    for item, good, bad in pairs(run, suite):
        size = len(good[1].bits) + len(bad[1].bits)
        for own, each, (value, margin) in zip(
            rows, chosen.conventions, judge.margins(good, bad, chosen.conventions), strict=True
        ):
            own.append((run.model, suite, item, str(each), value, margin, size))
    return pl.DataFrame([row for own in rows for row in own], schema=RESULTS, orient="row")


def all_results(run: Run, chosen: Chosen, tokens: Tokens = "blanks", suite: str = "") -> pl.DataFrame:
    """Judge the items of all suites that compare whole sentences, or of one."""
    if "parquet" not in run.tables:
        run.refuse("sentences, tokens or regions")
    names = [record.name for record in run.suites if not suite or record.name == suite]
    tables = [results(run, name, chosen, tokens) for name in names if whole(run, name)]
    if not tables:
        raise UsageError(
            "suite=" if suite else run.place, "no prediction that compares two whole sentences", "(*;%a%) < (*;%b%)"
        )
    return pl.concat(tables)


def other_aggregates(runs: Sequence[Run], suite: str = "") -> tuple[str, ...]:
    """Return a note on the suites of which runs judge by another aggregate of tokens than the sum, if there are any."""
    names = dict.fromkeys(
        record.name
        for run in runs
        for record in run.suites
        if record.aggregate != "sum" and suite in ("", record.name) and whole(run, record.name)
    )
    return (
        (f"{DEFAULT} is the sum here also for {listed([*names])}; runs judge by another aggregate.",) if names else ()
    )


def wide(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return, for each convention, the rows of its items; those of all conventions are in the same order."""
    return {str(name): own for (name,), own in rows.group_by("measure", maintain_order=True)}


def flips(one: pl.DataFrame, other: pl.DataFrame) -> int:
    """Count the items that two conventions judge differently, among those that are defined under both."""
    a, b = one["value"], other["value"]
    return int((a.is_not_nan() & b.is_not_nan() & (a != b)).sum())


COLUMNS = ("model", "suite", "convention", "n", "value", "low", "high", "flips")
MEANING = (
    "value: the share of pairs whose good sentence is preferred; ties count as failures unless the convention says "
    f"otherwise, and are decided in bits. flips: pairs whose verdict differs from that by {DEFAULT}, the default everywhere else."
)
UnigramText = Annotated[
    str, "a text to count words in, or `ngram:...`, a model of order 1; without it, no SLOR and the like"
]
Ratings = Annotated[str, "a CSV file text,rating, to which MORCELA is fitted"]
Names = Annotated[tuple[str, ...], "conventions to show, such as mean_token or bits+ties_as_hits; default: all"]
Suite = Annotated[str, "name of a suite; default: all"]
HowTokens = Annotated[Tokens, "how text is split into words: at white space, or as in the Penn Treebank"]
HowCase = Annotated[Case, "whether words are counted as they are, or in lower case"]


def make_table(
    runs: Sequence[Run],
    unigrams: UnigramText = "",
    ratings: Ratings = "",
    convention: Names = (),
    suite: Suite = "",
    tokens: HowTokens = "blanks",
    case: HowCase = "keep",
) -> Table:
    """Make one row for each model, suite and convention, and one for the mean over suites.

    Raises:
        UsageError: no suite compares two whole sentences, or a convention needs what is not given.
    """
    source = Source(unigrams, ratings, tokens, case)
    rows: list[tuple[Cell, ...]] = []
    methods: list[str] = []
    names = titles(runs)
    notes = [MEANING]
    shown: dict[str, None] = {}
    for model, run in named(runs):
        chosen = choose(run, source, convention)
        notes += [note for note in chosen.notes if note not in notes]
        shown |= dict.fromkeys(map(str, chosen.conventions))
        for row, method in _rows(run, model, chosen, tokens, suite, names):
            rows.append(row)
            methods.append(method)
    if not rows:
        raise UsageError("suite=", "no prediction that compares two whole sentences", "(*;%a%) < (*;%b%)")
    return Table(
        "Accuracy by convention",
        COLUMNS,
        tuple(rows),
        notes=(*notes, *other_aggregates(runs, suite), *describe(shown), *in_words.intervals(methods)),
    )


def _rows(
    run: Run, model: str, chosen: Chosen, tokens: Tokens, suite: str, names: dict[tuple[str, str], str]
) -> Iterator[tuple[tuple[Cell, ...], str]]:
    results = all_results(run, chosen, tokens, suite)
    suites = [record for record in run.suites if (not suite or record.name == suite) and whole(run, record.name)]
    by_suite = {str(name): wide(rows) for (name,), rows in results.group_by("suite", maintain_order=True)}
    totals = dict.fromkeys(map(str, chosen.conventions), 0)
    for record in suites:
        own = by_suite[record.name]
        for name, rows in own.items():
            [estimate] = score.accuracy(rows, kind_of, TOLERANCE)
            flipped = flips(own[DEFAULT], rows)
            totals[name] += flipped
            yield _row(model, names[record.name, record.hash], name, estimate, flipped), estimate.method
    if len(suites) > 1:
        predictions = {record.name: tuple(totals) for record in suites}
        for name, flipped in totals.items():
            [estimate] = score.score(results, predictions, kind_of(name), TOLERANCE, name)
            yield _row(model, f"mean of {len(suites)} suites", name, estimate, flipped), estimate.method


def _row(model: str, suite: str, convention: str, estimate: Estimate, flipped: int) -> tuple[Cell, ...]:
    numbers = (or_none(estimate.value), or_none(estimate.low), or_none(estimate.high))
    return (model, suite, convention, estimate.n, *numbers, flipped)


def describe(names: Sequence[str] | dict[str, None]) -> tuple[str, ...]:
    """Explain conventions, each linking function and treatment once."""
    parts = dict.fromkeys(part for name in names for part in name.split("+"))
    known = [linking.BY_NAME[part] for part in parts if part in linking.BY_NAME]
    treated = [convention.TREATMENT_BY_NAME[part] for part in parts if part in convention.TREATMENT_BY_NAME]
    functions = "; ".join(f"{each.name}: {each.formula}" for each in known)
    rules = "; ".join(f"{each.name}: {each.says}" for each in treated)
    symbols = (
        "b: surprisals in bits of the tokens or words of a sentence; u: those of its words under the unigram model"
    )
    return (f"{functions} ({symbols}).", *([f"{rules}."] if rules else []))


SCHEMA = {
    "model": pl.String, "suite": pl.String, "a": pl.String, "b": pl.String, "n": pl.Int64, "flips": pl.Int64,
    "accuracy_a": pl.Float64, "accuracy_b": pl.Float64,
}  # fmt: skip
SIDE = 30


def draw_figure(
    runs: Sequence[Run],
    unigrams: UnigramText = "",
    ratings: Ratings = "",
    convention: Names = (),
    suite: Suite = "",
    tokens: HowTokens = "blanks",
    case: HowCase = "keep",
) -> Figure:
    """Draw a panel for each model, in which each cell is a pair of conventions; its numbers are by suite.

    Raises:
        UsageError: as for the table.
    """
    source = Source(unigrams, ratings, tokens, case)
    titled = titles(runs)
    rows: list[tuple[object, ...]] = []
    for model, run in named(runs):
        results = all_results(run, choose(run, source, convention), tokens, suite)
        hashes = {record.name: record.hash for record in run.suites}
        for (name,), own in results.group_by("suite", maintain_order=True):
            rows += _pairs(model, titled[str(name), hashes[str(name)]], wide(own))
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return draw(table, "Verdicts that depend on the convention")


def _pairs(model: str, suite: str, by_name: Mapping[str, pl.DataFrame]) -> Iterator[tuple[object, ...]]:
    names = list(by_name)
    means = {name: rows["value"].fill_nan(None).mean() for name, rows in by_name.items()}
    for place, a in enumerate(names):
        for b in names[place:]:
            one, other = by_name[a], by_name[b]
            both = int((one["value"].is_not_nan() & other["value"].is_not_nan()).sum())
            yield model, suite, a, b, both, flips(one, other), means[a], means[b]


def draw(table: pl.DataFrame, title: str = "") -> Figure:
    models = table["model"].unique(maintain_order=True).to_list()
    suites = {model: counted(table.filter(model=model)["suite"].n_unique(), "suite") for model in models}
    panels = [
        _panel(table.filter(model=model), f"{model}, {suites[model]}" if len(models) > 1 else "", at == 0)
        for at, model in enumerate(models)
    ]
    over = f", in {suites[models[0]]}" if len(models) == 1 else ""
    judged = f"per cent of pairs that two conventions judge differently{over}"
    subtitle = [f"{judged}; on the diagonal, in italics: accuracy under one"]
    spec: Spec = {"hconcat": panels, "spacing": 24}
    return Figure(finish(spec, title, subtitle), table)


def _panel(rows: pl.DataFrame, title: str, labels: bool) -> Spec:
    summed = rows.group_by("a", "b", maintain_order=True).agg(
        pl.col("n").sum(), pl.col("flips").sum(), pl.col("accuracy_a").mean()
    )
    names = list(dict.fromkeys(shown(name) for name in summed["a"]))
    values = []
    for a, b, n, flipped, accuracy in summed.iter_rows():
        share = flipped / n if n else None
        own = a == b
        number = accuracy if own else share
        text = "" if number is None else f"{100 * number:.1f}" if not own or number < 1 else "100"
        said = (
            f"{shown(a)}: accuracy {text} per cent"
            if own
            else f"{shown(a)} and {shown(b)}: {flipped} of {n} pairs differ"
        )
        cell = {"row": shown(b), "column": shown(a), "share": None if own else share}
        values.append({**cell, "text": text, "said": said, "own": own})
    axis = {"title": None, "labelLimit": 240, "ticks": False, "domain": False}
    x = {"field": "column", "type": "nominal", "sort": names, "axis": {**axis, "labelAngle": -55, "orient": "bottom"}}
    y = {"field": "row", "type": "nominal", "sort": names, "axis": axis if labels else None}
    highest = max((value["share"] or 0 for value in values), default=0) or 1
    colour = {
        "field": "share", "type": "quantitative", "legend": None,
        "scale": {"domain": [0, highest], "range": ["#FFFFFF", "#E69F00"]},
    }  # fmt: skip
    cells = layer(
        {"type": "rect", "stroke": "#DDDDDD"}, {"x": x, "y": y, "color": colour, "description": {"field": "said"}}
    )
    texts = [
        layer(
            {"type": "text", "fontSize": 9, "color": INK, "fontStyle": style},
            {"x": x, "y": y, "text": {"field": "text"}},
        )
        | {"transform": [{"filter": f"datum.own == {flag}"}]}
        for style, flag in (("italic", "true"), ("normal", "false"))
    ]
    size = SIDE * len(names)
    panel: Spec = {"width": size, "height": size, "data": {"values": values}, "layer": [cells, *texts]}
    return panel | ({"title": heading(title)} if title else {})


__all__ = ["draw_figure", "make_table"]
