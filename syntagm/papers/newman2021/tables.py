"""The tables of Newman et al. 2021: MW, EW and TSE by construction, and which lemmas they rest on."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.papers.cited import cited
from syntagm.papers.newman2021.rows import PAIRED, published, rows, signatures
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.views.gaps import kept

Runs = Sequence[tuple[str, Run]]
MEASURES = {"MW": "model_weight", "EW": "equal_weight", "TSE": "tse", "MW - EW": PAIRED}


def table2(runs: Runs, found: Sequence[Estimate]) -> Table:
    """MW, EW and TSE of each model by construction, and how far MW is above EW; the paper's figures beside them.

    Arguments:
        found: as `of_rows` gives them.
    """
    quoted = cited("newman2021")["columns"]
    by_key = {(one.group["row"], one.group.model, one.group.measure): one for one in found}
    names = [row for row in _order(runs) if any((row, model, "tse") in by_key for model, _ in runs)]
    lines: list[tuple[Cell, ...]] = []
    for row in names:
        here = [(model, run) for model, run in runs if (row, model, "tse") in by_key]
        for number, (model, run) in enumerate(here):
            one = {name: by_key.get((row, model, measure)) for name, measure in MEASURES.items()}
            lines.append(
                (row, model, *_numbers(one), _eligible(run, rows(run)[row]), *_quoted(row, quoted, number == 0))
            )
    columns = ("construction", "model", *_columns(), "eligible lemmas", *quoted)
    title = "Table 2: model weight, equal weight and TSE by construction"
    return Table(
        title,
        columns,
        tuple(lines),
        tuple(quoted),
        _notes(runs),
    )


def _order(runs: Runs) -> list[str]:
    """Rows in the paper's order, then suites by name in the order of the runs."""
    ours = dict.fromkeys(row for _, run in runs for row in rows(run))
    known = [line["row"] for line in cited("newman2021")["table2"]]
    return [*(row for row in known if row in ours), *(row for row in ours if row not in known)]


def _columns() -> Iterator[str]:
    for name in MEASURES:
        yield from (name, f"{name} low", f"{name} high")
        if name in ("EW", "TSE"):
            yield "contexts" if name == "EW" else "items"


def _numbers(found: Mapping[str, Estimate | None]) -> Iterator[Cell]:
    for name, one in found.items():
        yield from _three(one)
        if name in ("EW", "TSE"):
            yield one.n if one else 0


def _three(one: Estimate | None) -> tuple[Cell, ...]:
    values = (one.value, one.low, one.high) if one else (float("nan"),) * 3
    return tuple(or_none(value) for value in values)


def _eligible(run: Run, suites: Sequence[str]) -> str:
    """The fewest and the most rows of the list that count in a context."""
    counts = pl.concat([kept.contexts(run, name).select("eligible") for name in suites])["eligible"].to_list()
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _quoted(row: str, columns: Sequence[str], first: bool) -> Iterator[Cell]:
    """MW / EW / TSE as printed, beside the first model only."""
    numbers = published(row) if first else {}
    for name in columns:
        yield " / ".join(f"{one:.2f}" for one in numbers[name]) if name in numbers else None


def _notes(runs: Runs) -> tuple[str, ...]:
    sizes = ", ".join(f"{name} {count:,}" for name, count in cited("newman2021")["eligible"].items())
    return (
        "MW, EW: means over distinct contexts; TSE: over items, ties count as wrong. MW - EW: paired by context.",
        "Intervals: 95 %, bootstrap over contexts, of TSE over items (10,000 draws, seed 1).",
        "Eligible lemmas: rows of the list that count; of different models they differ, and so the scores compare less.",
        f"The last columns: MW / EW / TSE, transcribed from {cited('newman2021')['source']} Its contexts are others, and of "
        f"{cited('newman2021')['lemmas']:,} lemmas it kept {sizes}.",
        *signatures(runs),
    )  # fmt: skip


def eligible(runs: Runs) -> Table:
    """What was asked of each model: contexts, rows of the word list that count, and what was left out and why."""
    lines: list[tuple[Cell, ...]] = []
    for model, run in runs:
        told, contexts = run.record["contexts"].values(), kept.contexts(run)
        counts = [*contexts.select(pl.col("eligible").min().alias("least"), pl.col("eligible").max().alias("most"),
                                   pl.col("ranked").max().alias("single")).row(0)]  # fmt: skip
        left_out = sum(count for one in told for count in one["left_out"].values())
        reasons: dict[str, int] = {}
        for one in told:
            for reason, count in one["left_out"].items():
                reasons[reason] = reasons.get(reason, 0) + count
        why = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.items())
        words = kept.words(run)
        lines.append((
            model, "left" if run.record["model"]["sees"] == "left" else "both sides", words.name, len(words.rows),
            *counts, contexts["context"].n_unique(), sum(one["items"] for one in told), left_out,
            sum(one["conflicts"] for one in told), why,
        ))  # fmt: skip
    columns = (
        "model", "sees", "list", "lemmas", "eligible, least", "eligible, most", "single tokens", "contexts", "items",
        "left out", "label conflicts", "why left out",
    )  # fmt: skip
    notes = (
        "Eligible: lemmas all of whose forms the model can be asked for, in the context with the fewest and with the most; "
        "single tokens: those that also count at cut-offs. Label conflicts: items whose context another item gave another label.",
        *signatures(runs),
    )  # fmt: skip
    return Table("What was asked", columns, tuple(lines), (), notes)
