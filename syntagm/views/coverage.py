"""Coverage: how much of the text of each suite a model's vocabulary has: unknown tokens, and parts of characters."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any
from weakref import WeakKeyDictionary

import polars as pl

from syntagm.core import FormulaError, UsageError, counted
from syntagm.evaluation import SuiteRecord, differing
from syntagm.runs import Run, named, titles
from syntagm.suites import main_script, parse
from syntagm.views.drawing.table import Table
from syntagm.views.drawing.text import short_names

COLUMNS = (
    *("model", "suite", "language", "script", "tokens", "unknown", "parts", "characters per token"),
    *("items", "unknown compared"),
)
# From this share of tokens that are unknown or parts of characters, a model can hardly know the script.
HARDLY = 0.5
NOTE = (
    "unknown: the share of tokens that are not in the vocabulary. parts: the share of tokens that are a part of a character "
    "only (byte fallback): another token starts at the same place. Where both together are "
    f"{HARDLY:g} or more, the model has hardly seen the script, and its scores say little about the language. unknown "
    "compared: the number of items in which a prediction compares an unknown token, that is, one in a compared region, "
    "or among the words in which the compared sentences differ. Suites with the largest share of unknown tokens come first."
)
SCORED = "In place of an unknown token, a class of words is scored."
# The suites and tokens, and the models, that a sentence about unknown tokens names.
_NAMED, _SAID = 5, 2
# The unknown tokens of each suite of a run, and how many items compare one. A run that was opened never changes.
_found: "WeakKeyDictionary[Run, dict[str, tuple[Counter[str], int]]]" = WeakKeyDictionary()


def make_table(runs: Sequence[Run]) -> Table:
    """Make one row for each model and suite.

    Raises:
        UsageError: no run has sentences.
    """
    names = titles(runs)
    rows, warnings = [], []
    for model, run in named(runs):
        for record in run.suites if "parquet" in run.tables else ():
            title, language = names[record.name, record.hash], record.tags.get("language", "")
            total, unknown, parts, characters = shares(sentences := run.sentences(record.name))
            if not total:
                continue
            script = main_script("".join(sentences["text"].head(100)))
            of_items = sentences["item"].n_unique(), _compared(record, sentences)
            rows.append((model, title, language, script, total, unknown, parts, characters, *of_items))
            if unknown + parts >= HARDLY:
                warnings.append(_remark(model, title, unknown + parts))
    if not rows:
        raise UsageError("runs", "no sentences", "runs of suites")
    rows = [row for model, _ in named(runs) for row in sorted(rows, key=lambda row: -row[5]) if row[0] == model]
    return Table("Coverage of suites by vocabularies", COLUMNS, tuple(rows), notes=(NOTE,), warnings=tuple(warnings))


def shares(sentences: pl.DataFrame) -> tuple[int, float, float, float]:
    """Return the number of tokens of sentences, the shares of unknown ones and of parts of characters, and their length."""
    tokens = sentences.with_row_index("sentence").filter(pl.col("starts").list.len() > 0).explode(["starts", "known"])
    if not len(tokens):
        return 0, 0.0, 0.0, 0.0
    same = pl.len().over("sentence", "starts") > 1
    unknown, parts = tokens.select((~pl.col("known").cast(pl.Boolean)).mean().alias("u"), same.mean().alias("p")).row(0)
    return len(tokens), float(unknown), float(parts), float(sentences["text"].str.len_chars().sum()) / len(tokens)


def remarks(runs: Sequence[Run]) -> list[str]:
    """Return a sentence for each suite in another script than Latin that a model hardly knows, by its first sentences."""
    return [
        _remark(model, record.name, share)
        for model, run in named(runs)
        for record in (run.suites if "parquet" in run.tables else ())
        if (share := unfamiliar(run.sentences(record.name))) >= HARDLY
    ]


def unfamiliar(sentences: pl.DataFrame) -> float:
    """Return the share of tokens that are unknown or parts of characters in the first sentences that a run has of a suite."""
    # It is 0 for suites in Latin script, of whose words a small vocabulary may lack many.
    if main_script("".join(sentences["text"].head(20))) in ("", "Latn"):
        return 0.0
    _, unknown, parts, _ = shares(sentences.head(100))
    return unknown + parts


@dataclass(frozen=True, slots=True)
class Unknown:
    """The unknown tokens of a model: in words, the same with tokens and suites, the items that compare one, and their share."""

    model: str
    short: str
    in_full: str
    compared: int
    share: float


def unknown(runs: Sequence[Run], suites: Collection[str] = ()) -> Iterator[Unknown]:
    """Yield what is said of each run that has unknown tokens in some suites, or in any."""
    for model, run in named(runs):
        records = {record.name: record for record in run.suites if not suites or record.name in suites}
        found = {name: run.in_vocabulary(name) for name in records}
        shares = {name: 1 - known / total for name, (known, total) in found.items() if known < total}
        if not shares:
            continue
        of_suites = [_of_suite(run, records[name]) for name in shares]
        words, compared = sum((own for own, _ in of_suites), Counter[str]()), sum(number for _, number in of_suites)
        tokens, items = sum(total for _, total in found.values()), sum(each.items for each in records.values())
        short = f"{model}: {words.total():,} of {tokens:,} tokens unknown ({words.total() / tokens:.1%})"
        short += f", compared in {compared:,} of {counted(items, 'item')}" if compared else ""
        listed = [f"{word} ({count:,})" for word, count in sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))]
        most = [f"{name} {share:.0%}" for name, share in sorted(shares.items(), key=lambda pair: -pair[1])]
        lists = f" Most in {', '.join(most[:_NAMED])}; table coverage lists all." if len(records) > 1 else ""
        in_full = f"{short}: {', '.join(listed[:_NAMED])}. {SCORED}{lists}"
        yield Unknown(model, short, in_full, compared, words.total() / tokens)


def describe(runs: Sequence[Run], short: bool = False) -> str:
    """Return a sentence about the unknown tokens of runs, "" if there are none; if short, for the subtitle of a figure."""
    found, scored = list(unknown(runs)), "" if short else f" {SCORED}"
    if len(found) > _SAID:
        shares = [each.share for each in found]
        span = " to ".join(dict.fromkeys(f"{share:.1%}" for share in (min(shares), max(shares))))
        return f"{len(found)} of {len(runs)} models: {span} of tokens unknown (table coverage).{scored}"
    names = short_names([each.model for each in found]) if short else {}
    said = (names.get(each.model, each.model) + each.short.removeprefix(each.model) for each in found)
    return f"{'; '.join(said)}.{scored}" if found else ""


def _of_suite(run: Run, record: SuiteRecord) -> tuple[Counter[str], int]:
    """Return the unknown tokens of a suite with their numbers, and the number of items that compare one."""
    known = _found.setdefault(run, {})
    if record.name not in known:
        words = run.tokens(record.name).filter(~pl.col("known"))["token"].str.strip_chars()
        known[record.name] = Counter(words), _compared(record, run.sentences(record.name))
    return known[record.name]


def _compared(record: SuiteRecord, sentences: pl.DataFrame) -> int:
    """Return the number of items in which a prediction of a suite compares an unknown token."""
    regions: dict[str, set[str]] = {}
    for formula in filter(None, record.predictions.values()):
        with suppress(FormulaError):  # records are untrusted input
            for reference in parse(formula).references():
                regions.setdefault(reference.condition, set()).add(reference.region)
    some = sentences.filter((~pl.col("known").list.all()).any().over("item"))
    rows = some.filter(pl.col("condition").is_in(list(regions))).iter_rows(named=True)
    return sum(_compares(list(of_item), regions) for _, of_item in groupby(rows, itemgetter("item")))


def _compares(rows: Sequence[Mapping[str, Any]], regions: Mapping[str, set[str]]) -> bool:
    """Return whether an unknown token of an item is compared; `rows` are its sentences in conditions that are compared."""
    for row in rows:
        spans = zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True)
        if any(_unknown(row, start, end) for name, start, end in spans if name in regions[row["condition"]]):
            return True
    places = ((first, second, *differing(first["text"], second["text"])) for first, second in pairwise(rows))
    return any(_unknown(first, *here) != _unknown(second, *there) for first, second, here, there in places)


def _unknown(row: Mapping[str, Any], start: int, end: int) -> list[str]:
    """Return the unknown tokens of a sentence that have characters between two places."""
    borders = [*row["starts"], len(row["text"])]
    tokens = [(row["text"][a:b], b) for (a, b), known in zip(pairwise(borders), row["known"], strict=True) if not known]
    return [text.strip() for text, last in tokens if last > start and last - len(text.lstrip()) < end]


def _remark(model: str, suite: str, share: float) -> str:
    return f"{model} hardly knows the script of {suite}: {share:.0%} of its tokens are unknown or parts of characters."
