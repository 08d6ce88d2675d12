"""Items on a page: the example of a suite, the choice of its most informative items, and sentences token by token."""

import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import polars as pl
from markupsafe import Markup, escape

from syntagm.core import FormulaError, finite
from syntagm.evaluation import SuiteRecord, align
from syntagm.models import Surprisals
from syntagm.report.collection_page import UNGRAMMATICAL
from syntagm.report.html import isolate, join
from syntagm.report.in_words import in_words
from syntagm.report.numbers import Subject
from syntagm.runs import Run
from syntagm.stats import matching
from syntagm.suites import Formula, Reference, Region, Sentence, parse

_NAME = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class ExampleSentence:
    condition: str
    starred: bool  # whether the sentence is ungrammatical
    pieces: tuple[tuple[str, bool], ...]  # the sentence in pieces: (text, whether the first prediction compares it)


def example(record: SuiteRecord, sentences: pl.DataFrame) -> tuple[str, tuple[ExampleSentence, ...]]:
    """Return the id of the first item and its sentences, or "" and () if the suite has no items."""
    if not len(sentences):
        return "", ()
    item = sentences["item"][0]
    regions = _by_condition(record)
    starred = record.tags.get(UNGRAMMATICAL, "bad").split()
    lines: dict[str, ExampleSentence] = {}
    for row in sentences.head(4 * max(1, len(record.conditions))).filter(pl.col("item") == item).iter_rows(named=True):
        name = row["condition"]
        lines.setdefault(name, ExampleSentence(name, name in starred, _pieces(row, regions.get(name, set()))))
    return str(item), tuple(lines.values())


def prediction_in_words(record: SuiteRecord, measure: str) -> Markup:
    """Return a prediction in words, as HTML; "" if the formula can't be parsed."""
    formula = _formula(record.predictions.get(measure, ""))
    return Markup("") if formula is None else formula_in_words(formula, record.region_labels)


def formula_in_words(formula: Formula, labels: Mapping[str, str] | None = None) -> Markup:
    return Markup(_NAME.sub(r"<code><bdi>\1</bdi></code>", str(escape(in_words(formula, labels)))))


def _formula(text: str) -> Formula | None:
    try:
        return parse(text)
    except FormulaError:  # the record may be of another version or damaged
        return None


def find_compared(record: SuiteRecord) -> tuple[Reference, ...]:
    """Return the regions and conditions that the first prediction compares."""
    formula = _formula(next(iter(record.predictions.values()), ""))
    return tuple(dict.fromkeys(formula.references())) if formula else ()


def _by_condition(record: SuiteRecord) -> dict[str, set[str]]:
    """Return the regions that the first prediction compares in each condition."""
    regions: dict[str, set[str]] = {}
    for reference in find_compared(record):
        regions.setdefault(reference.condition, set()).add(reference.region)
    return regions


def _pieces(row: Mapping[str, Any], compared: set[str]) -> tuple[tuple[str, bool], ...]:
    text, at = row["text"], 0
    pieces: list[tuple[str, bool]] = []
    for name, start, end in zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True):
        if name in compared and at <= start < end:
            pieces += [(text[at:start], False), (text[start:end], True)]
            at = end
    return tuple(piece for piece in (*pieces, (text[at:], False)) if piece[0])


LIMIT, SEED = 50, 1
SHARES = {"flip": 15, "undefined": 5, "tie": 10, "extreme": 10}
Key = tuple[str, int]
_KEY = ("item", "occurrence")
_VERDICT = ("measure", "value", "margin")


@dataclass(frozen=True, slots=True)
class Shown:
    ranks: tuple[int, ...]  # the ranks of the items, in the order of the suite; 0 is the most informative
    total: int  # the number of items in the suite
    regions: tuple[str, ...]  # the names of all regions
    keys: tuple[Key, ...]  # `keys`, `reasons`: the items, and the reason why each is shown, by rank
    reasons: tuple[str, ...]
    # `verdicts`, `sentences`: the rows of the items with their ranks in the column `shown`, one table per model
    verdicts: tuple[pl.DataFrame, ...]
    sentences: tuple[pl.DataFrame, ...]
    conditions: Mapping[str, int]  # condition -> its index

    def items(self, first: int, last: int) -> dict[int, dict[str, Any]]:
        """Return the items from rank `first` up to but not including `last`, with every token, by rank."""
        # Each is {id, why, rank, verdicts: [[column, measure, value, margin]], sentences: [[column, condition, [region
        # of each token], [token], [bits]]]}, and with unknown tokens also [index of each]. Columns, conditions and
        # regions are indices; region -1 means no region. nan is None; the end-of-text symbol is an empty token.
        items: dict[int, dict[str, Any]] = {
            rank: {"id": self.keys[rank][0], "why": self.reasons[rank], "rank": rank, "verdicts": [], "sentences": []}
            for rank in range(first, min(last, len(self.keys)))
        }
        places = {name: place for place, name in reversed(list(enumerate(self.regions)))}
        # Models that divide a sentence into the same tokens share the work.
        cut = cache(partial(cut_tokens, places))
        within = pl.col("shown").is_between(first, last, closed="left")
        for index, (verdicts, table) in enumerate(zip(self.verdicts, self.sentences, strict=True)):
            for rank, measure, value, margin in verdicts.filter(within).select("shown", *_VERDICT).iter_rows():
                items[rank]["verdicts"].append([index, measure, _number(value), _margin(margin)])
            for row in table.filter(within).iter_rows(named=True):
                if row["condition"] in self.conditions:
                    spans = zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True)
                    homes, tokens = cut(row["text"], tuple(spans), tuple(row["starts"]))
                    bits = _numbers(row["bits"])
                    sentence = [index, self.conditions[row["condition"]], homes, tokens, bits]
                    unknown = [place for place, known in enumerate(row["known"]) if not known]
                    items[row["shown"]]["sentences"].append([*sentence, *([unknown] if unknown else [])])
        return items


# No items, for a page that shows them elsewhere.
NOTHING = Shown((), 0, (), (), (), (), (), {})


def choose(
    order: Sequence[Key], verdicts: Sequence[pl.DataFrame], tolerance: float, name: str, limit: int = LIMIT
) -> dict[Key, str]:
    """Choose at most `limit` items, beginning with the most informative, and return them with the reason for each."""
    # These are items that models judge differently, undefined items, ties, extreme margins, and a random sample of the
    # others. If all items fit, all are returned; those without such a reason are "shown".
    table = pl.concat(_number_rows(results).with_columns(model=pl.lit(index)) for index, results in enumerate(verdicts))
    all_fit = len(order) <= limit
    reasons: dict[Key, str] = {}
    for reason, keys in _candidates(table, tolerance).items():
        fresh = [key for key in keys if key not in reasons]
        # If all items fit, none is shown because it is extreme; extreme items only come earlier.
        named = "shown" if all_fit and reason == "extreme" else reason
        reasons |= dict.fromkeys(fresh if all_fit else fresh[: SHARES[reason]], named)
    remaining = [key for key in order if key not in reasons]
    if all_fit:
        return reasons | dict.fromkeys(remaining, "shown")
    sample = random.Random(f"{SEED} {name}").sample(remaining, max(0, min(len(remaining), limit - len(reasons))))
    return dict(list((reasons | dict.fromkeys(sample, "sample")).items())[:limit])


def _candidates(table: pl.DataFrame, tolerance: float) -> dict[str, list[Key]]:
    """Return the items for each reason, beginning with the most informative."""
    defined, tied = table.filter(pl.col("value").is_not_nan()), pl.col("margin").abs() <= tolerance
    # Only verdicts: numbers nearly always differ between models.
    judged = defined.filter(pl.col("value").is_in([0.0, 1.0]))
    differing = judged.group_by(*_KEY, "measure", maintain_order=True).agg(
        discordant=pl.col("value").n_unique() > 1, spread=pl.col("margin").max() - pl.col("margin").min()
    )
    discordant = differing.filter("discordant").sort("spread", descending=True, maintain_order=True)
    first = table.filter((pl.col("measure") == pl.col("measure").first()) & (pl.col("model") == 0))
    ranked = first.filter(pl.col("margin").is_finite()).sort("margin", maintain_order=True).select(_KEY).rows()
    # Lowest, highest, second lowest, second highest ...
    extremes = [key for pair in zip(ranked, reversed(ranked), strict=True) for key in pair][: SHARES["extreme"]]
    candidates = {
        "flip": discordant.select(_KEY).rows(),
        "undefined": table.filter(pl.col("value").is_nan()).select(_KEY).rows(),
        "tie": defined.filter(tied).select(_KEY).rows(),
        "extreme": extremes,
    }
    return {
        reason: list(dict.fromkeys((str(item), int(at)) for item, at in rows)) for reason, rows in candidates.items()
    }


def pick(subject: Subject[Run], limit: int = LIMIT, sentences: Sequence[pl.DataFrame] | None = None) -> Shown:
    verdicts = [_number_rows(column.run.results(subject.name)) for column in subject.columns]
    tables = sentences or [column.run.sentences(subject.name) for column in subject.columns]
    sentences = [_sentences(table) for table in tables]
    order = _order(sentences)
    tolerance = max(column.run.tolerance for column in subject.columns)
    reasons = choose(order, verdicts, tolerance, subject.name, limit)
    ranks = {key: rank for rank, key in enumerate(reasons)}
    named = pl.concat(table["region_names"].explode().drop_nulls() for table in sentences)
    return Shown(
        tuple(ranks[key] for key in order if key in ranks),
        len(order),
        tuple(named.unique(maintain_order=True).to_list()),
        tuple(reasons),
        tuple(reasons.values()),
        tuple(_select(table, ranks) for table in verdicts),
        tuple(_select(table, ranks) for table in sentences),
        {name: place for place, name in enumerate(subject.record.conditions)},
    )


def cut_tokens(
    regions: Mapping[str, int], text: str, spans: tuple[tuple[str, int, int], ...], starts: tuple[int, ...]
) -> tuple[list[int], list[str]]:
    """Return the region of each token of a sentence (-1 for none), and the tokens."""
    sentence = Sentence(text, tuple(Region(*span) for span in spans))
    nothing = np.zeros(len(starts))
    answer = Surprisals(text, np.array(starts, np.int32), nothing, nothing == 0)
    # For display only: a token that crosses a border is shown in the region where it starts, whatever the rule of the run.
    home = align(sentence, answer, "start").tolist()
    homes = [regions[sentence.regions[place].name] if place >= 0 else -1 for place in home]
    return homes, [text[start:end] for start, end in pairwise([*starts, len(text)])]


def _number_rows(table: pl.DataFrame) -> pl.DataFrame:
    return matching.numbered(table, "measure")


def _sentences(table: pl.DataFrame) -> pl.DataFrame:
    return matching.numbered(table, "condition")


def _order(sentences: Sequence[pl.DataFrame]) -> list[Key]:
    keys = pl.concat(table.select(pl.col("item"), pl.col("occurrence").cast(pl.Int64)) for table in sentences)
    return [(str(item), int(at)) for item, at in keys.unique(maintain_order=True).iter_rows()]


def _select(table: pl.DataFrame, ranks: Mapping[Key, int]) -> pl.DataFrame:
    rows = [(*key, rank) for key, rank in ranks.items()]
    schema = {"item": pl.String, "occurrence": pl.Int64, "shown": pl.Int64}
    return table.join(pl.DataFrame(rows, schema=schema, orient="row"), on=list(_KEY), maintain_order="left")


def _number(value: float) -> float | None:
    number: float | None = finite(round(value, 3))
    return number


def _margin(value: float) -> float | None:
    # A small one that were rounded to 0 would be shown as a tie, above all in bits per byte.
    small: float | None = finite(float(f"{value:.6g}"))
    return small if abs(value) < 0.01 else _number(value)


def _numbers(values: Sequence[float]) -> list[float | None]:
    # The sum is finite only if all values are, which is the usual case.
    if math.isfinite(sum(values)):
        return [round(value, 3) for value in values]
    return [_number(value) for value in values]


# Bits of a step of colour, and the number of steps; differences of two models have smaller steps.
STEP, STEPS = 2.0, 8
STEP_OF_DIFFERENCE, STEPS_OF_DIFFERENCE = 1.0, 5


def strip(row: Mapping[str, Any], regions: Mapping[str, int], labels: Sequence[str]) -> Markup:
    """Return a sentence token by token, below the names of its regions."""
    spans = tuple(zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True))
    homes, tokens = cut_tokens(regions, row["text"], spans, tuple(row["starts"]))
    parts = []
    cut = zip(homes, tokens, row["bits"], row["known"], strict=True)
    for home, members in groupby(cut, key=lambda member: member[0]):
        name = Markup('<span class="region-name">%s</span>') % (labels[home] if home >= 0 else "") if labels else ""
        cells = join((token(text, bits, known) for _, text, bits, known in members), "")
        outside = " outside" if home < 0 else ""
        parts.append(Markup(f'<span class="region{outside}">%s<span class="run">%s</span></span>') % (name, cells))
    return join(parts, "")


def token(text: str, bits: float, known: bool) -> Markup:
    """Return a token with its bits; the stronger its colour, the more surprising it is. Unknown ones are marked `unk`."""
    level = 0 if math.isnan(bits) else max(0, min(STEPS, math.floor(min(bits, 1e6) / STEP)))
    return _cell(text, f"h{level}", "none" if math.isnan(bits) else f"{bits:.2f}", known)


def word_strip(words: Iterable[tuple[str, float, bool]]) -> Markup:
    """Return words with the difference of their bits under two models, which of them it surprises more, and if both know it."""
    return join((_difference(*word) for word in words), "")


def _difference(text: str, bits: float, known: bool) -> Markup:
    if math.isnan(bits):
        return _cell(text, "h0", "none", known)
    step = min(STEPS_OF_DIFFERENCE, math.floor(min(abs(bits), 1e6) / STEP_OF_DIFFERENCE))
    return _cell(text, f"{'up' if bits > 0 else 'down'}{step}", f"{bits:+.2f}", known)


def _cell(text: str, name: str, number: str, known: bool) -> Markup:
    shown = "end" if text == "" else text.strip() or "\u2423"
    mark = ("", "") if known else (" unknown", " unk")
    cell = Markup('<span class="token %s%s">%s<small>%s%s</small></span>')
    return cell % (name, mark[0], isolate(shown, False), escape(number), mark[1])
