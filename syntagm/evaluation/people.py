"""The task `people`: the answers of people to the sentences of suites, judged item by item.

What people do takes the place of surprisals, so that the suites' own predictions are judged:

* of pairs, each comparison of the first prediction has as margin the log odds, in bits, of the favoured sentence;
  half an answer is added on both sides (Haldane 1956), so that it is finite. The verdict is that of the majority, and a tie
  doesn't hold. `agreement` is the share of answers that favour it.
* of sentences that are accepted or not, the log odds of rejection, in bits, are the value of a sentence;
* of ratings, the mean rating with its sign changed; of magnitudes, the mean of their logarithms to the base 2;
* of times, the mean time in ms over people, in each region; that of the whole sentence is the sum over its regions.

A value is nan if an answer is missing. Excluded answers count for nothing.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from syntagm.core import InputError, Shape
from syntagm.evaluation import items
from syntagm.evaluation.items import slices
from syntagm.evaluation.result import Kind, Result
from syntagm.evaluation.task import RESULTS, Judged, Options, Plan, Schema, Task, Unit, suite_record
from syntagm.models import Fill, LanguageModel, Query, Surprisals
from syntagm.suites import Binary, Formula, Item, Node, Sentence, Suite

ANSWERS: Schema = {
    "person": pl.String(),
    "list": pl.Int32(),
    "trial": pl.String(),
    "suite": pl.String(),
    "item": pl.String(),
    "condition": pl.String(),
    "region": pl.String(),
    "choice": pl.String(),
    "rating": pl.Float64(),
    "ms": pl.Float64(),
    "excluded": pl.String(),
}
TABLE = "answers.parquet"
Asks = Literal["pairs", "verdicts", "ratings", "magnitudes", "times"]
ASKS: tuple[Asks, ...] = ("pairs", "verdicts", "ratings", "magnitudes", "times")
AGREEMENT = "agreement"
# The units of margins, if they are not log odds in bits; magnitudes are compared by their logarithms to the base 2.
_UNITS: Mapping[str, str] = {"ratings": "points", "magnitudes": "log2", "times": "ms"}


@dataclass(frozen=True, slots=True)
class Answered:
    """Items of a suite with the answers about them."""

    model: str  # the name of the people
    suite: str
    items: Sequence[Item]
    asks: Asks
    formulas: Mapping[str, Formula]  # prediction -> formula, of those that are judged
    measures: Sequence[str]  # the further measures
    answers: pl.DataFrame  # rows with the columns of `ANSWERS`, of these items


@dataclass(frozen=True, slots=True)
class People(Task[Answered]):
    """Judge items by the answers of people."""

    name: ClassVar[str] = "people"
    needs: ClassVar[Literal["score", "fill"]] = "score"
    portion: ClassVar[int] = items.PORTION
    conjoins: ClassVar[bool] = True
    surprisals: ClassVar[bool] = False
    recorded: ClassVar[Mapping[str, Shape]] = {
        "options": {
            "tolerance": float,
            "asks": frozenset(ASKS),
            "design": str,
            "plan": str,
            "exclusions": [str],
            "measures": {str: frozenset(kind.name for kind in Kind)},
        },
        "people": {str: int},
    }

    asks: Asks
    answers: Mapping[str, pl.DataFrame]  # suite -> its rows, with the columns of `ANSWERS`
    # What the record of the run says of the experiment: "design", "plan" (a hash) and "exclusions" (sentences).
    about: Mapping[str, Any]
    counts: Mapping[str, int]  # what was counted when the answers were read: kind -> number

    @property
    def queries(self) -> tuple[Query, ...]:
        """Nothing: people have answered already."""
        return ()

    def options(self, model: LanguageModel, tolerance: float, recorded: Options) -> dict[str, Any]:
        """Return the design, the plan and its exclusions, and the further measures with their kinds."""
        return {"tolerance": tolerance, "asks": self.asks, **self.about, "measures": {}}

    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        """Cut each suite into slices; the measures are recorded with their kinds."""
        records, units = [], []
        for suite in suites:
            formulas, further = _formulas(suite, self.asks), _further(suite, self.asks)
            options["measures"].update({name: kind.name for name, kind in further.items()})
            rows = self.answers[suite.name]
            digest = hashlib.sha256(rows.write_csv().encode()).hexdigest()
            about = {key: value for key, value in options.items() if key != "measures"}
            found, suite_units = slices(suite, json.dumps([model.fingerprint, about, digest]))
            names = {name: formula.text for name, formula in formulas.items()} | dict.fromkeys(further, "")
            left_out = tuple(prediction.name for prediction in suite.predictions if prediction.name not in formulas)
            records.append(suite_record(suite, found, names, suite_units, left_out))
            units += suite_units
        return Plan(tuple(records), tuple(units), {"people": dict(self.counts)})

    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Answered]]:
        rows = self.answers[suite.name]
        formulas, further = _formulas(suite, self.asks), tuple(_further(suite, self.asks))
        for unit in units:
            chosen = suite.items[unit.first : unit.last]
            about = rows.filter(pl.col("item").is_in([item.id for item in chosen]))
            yield unit, Answered(model.name, suite.name, chosen, self.asks, formulas, further, about)

    def ask(self, content: Answered) -> list[str]:
        """Return nothing: people have answered already."""
        return []

    def judge(self, content: Answered, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        undefined: Counter[str] = Counter()
        values = _values(content)
        results = [result for item in content.items for result in _of_item(content, item, values, undefined)]
        tables = {
            "parquet": _sentences(content.items),
            "results.parquet": items.results_table(results),
            TABLE: content.answers.select(*ANSWERS),
        }
        return Judged(tables, undefined)

    @classmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        return {"parquet": items.SENTENCES, "results.parquet": RESULTS, TABLE: ANSWERS}

    @classmethod
    def signature_parts(cls, options: Options) -> tuple[str, ...]:
        return (f"design:{options['design']}", f"plan:{options['plan'][:8]}")

    @classmethod
    def unit_of_margins(cls, options: Options) -> str:
        """Return the unit of what people were asked for; log odds are in bits."""
        return _UNITS.get(options["asks"], "bits")

    @classmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        """Return the kind of a measure: a verdict for predictions."""
        return Kind[options["measures"][measure]] if measure in options["measures"] else Kind.VERDICT


def _formulas(suite: Suite, asks: Asks) -> dict[str, Formula]:
    """Return the predictions that can be judged: of pairs only the first, whose comparisons are asked."""
    if not suite.predictions:
        raise InputError(f"suite {suite.name}", "no prediction", "at least one")
    chosen = suite.predictions[:1] if asks == "pairs" else suite.predictions
    return {prediction.name: prediction.formula for prediction in chosen}


def item_values(answers: pl.DataFrame, chosen: Sequence[str], asks: str, formula: Formula) -> list[float]:
    """Return what people do with items: of pairs the share of answers as predicted, else the margin of a formula."""
    kind = next(each for each in ASKS if each == asks)
    content = Answered("", "", [Item(item, {}) for item in chosen], kind, {"": formula}, (), answers)
    values = _values(content)
    if kind != "pairs":
        return [_margin(content, item, formula, values)[0] for item in content.items]
    shares: dict[str, list[float]] = {}
    for (item, _, _), (share, _) in values.items():
        shares.setdefault(item, []).append(share)
    return [math.fsum(found) / len(found) if (found := shares.get(item)) else math.nan for item in chosen]


def _further(suite: Suite, asks: Asks) -> dict[str, Kind]:
    """Return the measures besides the predictions."""
    if asks == "pairs":
        return {AGREEMENT: Kind.SHARE}
    conditions = tuple(suite.items[0].sentences) if suite.items else ()
    name, kind = {
        "verdicts": ("accepted", Kind.SHARE),
        "ratings": ("rating", Kind.NUMBER),
        "magnitudes": ("log_rating", Kind.NUMBER),
        "times": ("ms", Kind.MS),
    }[asks]
    if asks != "times":
        return {f"{name}(condition={condition})": kind for condition in conditions}
    wanted = dict.fromkeys(
        (reference.condition, reference.region)
        for prediction in suite.predictions
        for reference in prediction.formula.references()
    )
    return {f"{name}(condition={condition},region={region})": kind for condition, region in wanted}


_Values = Mapping[tuple[str, str, str], tuple[float, int]]


def log_odds(favoured: float, other: float) -> float:
    """Return the log odds in bits, with half an answer added on both sides.

    >>> log_odds(10, 10), round(log_odds(19, 1), 3)
    (0.0, 3.7)
    """
    return math.log2((favoured + 0.5) / (other + 0.5))


def _values(content: Answered) -> _Values:
    """Return number and count for each item, condition and region; the region is "" for whole sentences and pairs."""
    kept = content.answers.filter(pl.col("excluded") == "")
    found: dict[tuple[str, str, str], tuple[float, int]] = {}
    keys = ("item", "condition", "region")
    match content.asks:
        case "pairs":
            named = kept.filter(pl.col("region") == "").with_columns(
                yes=pl.col("choice") == pl.col("condition").str.split("/").list.first()
            )
            value = pl.col("yes").mean()
        case "verdicts":
            named = kept.filter(pl.col("region") == "").with_columns(yes=pl.col("choice") == "yes")
            value = pl.col("yes").mean()
        case "ratings":
            named, value = kept.filter(pl.col("rating").is_not_nan()), pl.col("rating").mean()
        case "magnitudes":
            named, value = kept.filter(pl.col("rating").is_not_nan()), pl.col("rating").log(2).mean()
        case "times":
            named, value = kept.filter(pl.col("region") != ""), pl.col("ms").mean()
    grouped = named.group_by(keys, maintain_order=True).agg(value.alias("value"), pl.len().alias("n"))
    for item, condition, region, number, count in grouped.iter_rows():
        found[item, condition, region] = (number, count)
    if content.asks == "times":
        # Without a region of which no time counts, the sum over a sentence would be that of a shorter one.
        for key in _timed(content) - found.keys():
            found[key] = (math.nan, 0)
    return found


def _timed(content: Answered) -> set[tuple[str, str, str]]:
    """Return item, condition and region of all times that could have been measured, or were."""
    measured = content.answers.filter(pl.col("region") != "").select("item", "condition", "region").unique()
    return {
        *measured.iter_rows(),
        *(
            (item.id, condition, region)
            for item in content.items
            for condition, sentence in item.sentences.items()
            for _, region in timed_words(sentence)
        ),
    }


def _of_item(content: Answered, item: Item, values: _Values, undefined: Counter[str]) -> Iterator[Result]:
    for name, formula in content.formulas.items():
        margin, n = _margin(content, item, formula, values)
        verdict = math.nan if math.isnan(margin) else float(margin > 1e-4)
        if math.isnan(margin):
            items.count_reason(undefined, "no answer that counts", lambda: f"item {item.id} of {content.suite}")
        yield Result(content.model, content.suite, item.id, name, verdict, n, margin)
    for name in content.measures:
        number, n = _measured(content, item, name, values)
        if math.isnan(number):
            items.count_reason(undefined, "no answer that counts", lambda: f"item {item.id} of {content.suite}")
        yield Result(content.model, content.suite, item.id, name, number, n, math.nan)


def _margin(content: Answered, item: Item, formula: Formula, values: _Values) -> tuple[float, int]:
    """Return the margin of an item, and the number of answers that it depends on."""
    if content.asks == "pairs":
        pairs = [values.get((item.id, pair, "")) for pair in map(_pair, formula.comparisons())]
        odds = [math.nan if pair is None else log_odds(pair[0] * pair[1], (1 - pair[0]) * pair[1]) for pair in pairs]
        counts = {pair: found for pair, found in zip(map(_pair, formula.comparisons()), pairs, strict=True) if found}
        return _joined(formula.tree, iter(odds)), sum(count for _, count in counts.values())
    used: dict[tuple[str, str], int] = {}

    def value(region: str, condition: str) -> float:
        number, used[condition, region] = _of_sentence(content, item, condition, region, values)
        return number

    margin = float(formula.margin(value))
    by_sentence: dict[str, int] = {}
    for (condition, _), count in used.items():
        by_sentence[condition] = max(by_sentence.get(condition, 0), count)
    return margin, sum(by_sentence.values())


def _pair(comparison: Formula) -> str:
    """Return the condition of a pair's trial: FAVOURED/OTHER."""
    signs = {sign: reference.condition for sign, reference in comparison.terms()}
    return f"{signs.get(-1, '')}/{signs.get(1, '')}"


def _joined(node: Node, margins: Iterator[float]) -> float:
    """Return the margin of a formula from those of its comparisons, in order."""
    if isinstance(node, Binary) and node.operator in ("&", "|"):
        left, right = _joined(node.left, margins), _joined(node.right, margins)
        if math.isnan(left) or math.isnan(right):
            return math.nan
        return min(left, right) if node.operator == "&" else max(left, right)
    return next(margins)


def _of_sentence(content: Answered, item: Item, condition: str, region: str, values: _Values) -> tuple[float, int]:
    """Return what takes the place of the surprisal of a region, and the number of answers."""
    if content.asks == "times":
        if region != "*":
            return values.get((item.id, condition, region), (math.nan, 0))
        regions = [found for (name, of, _), found in values.items() if name == item.id and of == condition]
        return (
            (math.fsum(number for number, _ in regions), min(count for _, count in regions))
            if regions
            else (math.nan, 0)
        )
    number, n = values.get((item.id, condition, ""), (math.nan, 0))
    if content.asks == "verdicts" and n:
        return log_odds((1 - number) * n, number * n), n
    return -number, n


def timed_words(sentence: Sentence) -> tuple[tuple[str, str], ...]:
    """Return the words of a sentence, each with the name of the region in which it begins, or with its number.

    A word is what stands between spaces, with its punctuation.

    >>> from syntagm.suites import Region
    >>> timed_words(Sentence("The keys are here.", (Region("subject", 0, 8), Region("verb", 9, 12), Region("rest", 13, 18))))
    (('The', 'subject'), ('keys', 'subject'), ('are', 'verb'), ('here.', 'rest'))
    >>> timed_words(Sentence("It rains."))
    (('It', '1'), ('rains.', '2'))
    """
    found = []
    for number, match in enumerate(re.finditer(r"\S+", sentence.text), 1):
        inside = [region.name for region in sentence.regions if region.start <= match.start() < region.end]
        found.append((match[0], inside[0] if inside else str(number) if not sentence.regions else f"word {number}"))
    return tuple(found)


def _measured(content: Answered, item: Item, name: str, values: _Values) -> tuple[float, int]:
    if name == AGREEMENT:
        pairs = [found for (of, _, _), found in values.items() if of == item.id]
        n = sum(count for _, count in pairs)
        return (sum(share for share, _ in pairs) / len(pairs), n) if pairs else (math.nan, 0)
    options = dict(option.split("=", 1) for option in name.partition("(")[2].rstrip(")").split(","))
    if content.asks == "times":
        return _of_sentence(content, item, options["condition"], options["region"], values)
    return values.get((item.id, options["condition"], ""), (math.nan, 0))


def _sentences(chosen: Sequence[Item]) -> pl.DataFrame:
    """Return the table of sentences, for their tags and regions. People have no surprisals: there is one token of nan bits."""
    columns = items.sentence_columns(chosen)
    one_token = {"starts": [0], "bits": [math.nan], "known": [True]}
    n = len(columns["item"])
    return pl.DataFrame(columns | {name: [token] * n for name, token in one_token.items()}, schema=items.SENTENCES)
