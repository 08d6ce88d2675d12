"""The tables of Newman et al. 2021: MW, EW and TSE by construction, and the eligible lemmas."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from syntagm.evaluation import Estimate
from syntagm.papers.newman2021.rows import PAIRED, has_all_suites, published_row, rows, signatures
from syntagm.papers.paper import cited
from syntagm.runs import Run
from syntagm.views import Cell, Table, kept, narrowed, or_none

Runs = Sequence[tuple[str, Run]]
MEASURES = {"MW": "model_weight", "EW": "equal_weight", "TSE": "tse", "MW - EW": PAIRED}


def table2(runs: Runs, estimates: Sequence[Estimate]) -> Table:
    """Make Table 2: MW, EW, TSE and MW minus EW of each model by construction, with the paper's numbers."""
    quoted = cited("newman2021")["columns"]
    by_key = {(each.group["row"], each.group.model, each.group.measure): each for each in estimates}
    names = [row for row in _order(runs) if any((row, model, "tse") in by_key for model, _ in runs)]
    lines: list[tuple[Cell, ...]] = []
    for row in names:
        with_row = [(model, run) for model, run in runs if (row, model, "tse") in by_key]
        whole = [model for model, run in with_row if has_all_suites(run, row)][:1]
        for model, run in with_row:
            of_row = {name: by_key.get((row, model, measure)) for name, measure in MEASURES.items()}
            lines.append(
                (row, model, *_numbers(of_row), _eligible(run, rows(run)[row]), *_quoted(row, quoted, model in whole))
            )
    columns = ("construction", "model", *_columns(), "eligible lemmas", *quoted)
    title = "Table 2: model weight, equal weight and TSE by construction"
    partly = [row for row in names if published_row(row) and not any(has_all_suites(run, row) for _, run in runs)]
    said = [f"The paper's numbers are over more suites than here, so not shown: {'; '.join(partly)}."] if partly else []
    table = Table(title, columns, tuple(lines), tuple(quoted), (*_notes(runs), *said))
    return narrowed(table, *quoted, *(name for name in columns if name.endswith((" low", " high"))))


def _order(runs: Runs) -> list[str]:
    """Return the rows in the paper's order, followed by other suites in the order of the runs."""
    ours = dict.fromkeys(row for _, run in runs for row in rows(run))
    known = [line["row"] for line in cited("newman2021")["table2"]]
    return [*(row for row in known if row in ours), *(row for row in ours if row not in known)]


def _columns() -> Iterator[str]:
    for name in MEASURES:
        yield from (name, f"{name} low", f"{name} high")
        if name in ("EW", "TSE"):
            yield "contexts" if name == "EW" else "items"


def _numbers(estimates: Mapping[str, Estimate | None]) -> Iterator[Cell]:
    for name, estimate in estimates.items():
        yield from _three(estimate)
        if name in ("EW", "TSE"):
            yield estimate.n if estimate else 0


def _three(estimate: Estimate | None) -> tuple[Cell, ...]:
    values = (estimate.value, estimate.low, estimate.high) if estimate else (float("nan"),) * 3
    return tuple(or_none(value) for value in values)


def _eligible(run: Run, suites: Sequence[str]) -> str:
    """Return the lowest and highest number of eligible lemmas in a context, as text."""
    counts = pl.concat([kept.contexts(run, name).select("eligible") for name in suites])["eligible"].to_list()
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _quoted(row: str, columns: Sequence[str], first: bool) -> Iterator[Cell]:
    """Yield MW / EW / TSE as printed, for the first model with all suites of the row only."""
    numbers = published_row(row) if first else {}
    for name in columns:
        yield " / ".join(f"{number:.2f}" for number in numbers[name]) if name in numbers else None


def _notes(runs: Runs) -> tuple[str, ...]:
    quoted = cited("newman2021")
    sizes = ", ".join(f"{name} {count:,}" for name, count in quoted["eligible"].items())
    return (
        "MW, EW: means over distinct contexts; TSE: over items, ties count as wrong. MW - EW: paired by context.",
        "Intervals: 95 %; of MW and EW for other contexts and lemmas, of TSE for other items.",
        "eligible lemmas: rows of the list that count. They differ between models, which limits comparisons of their scores.",
        f"{', '.join(quoted['columns'])}: MW / EW / TSE, transcribed from {quoted['source']} Contexts: from the "
        f"paper's templates; eligible lemmas, of {quoted['lemmas']:,}: {sizes}.",
        *signatures(runs),
    )  # fmt: skip


def eligible(runs: Runs) -> Table:
    """Make the table of each model's queries: contexts, eligible lemmas, and items left out with reasons."""
    lines: list[tuple[Cell, ...]] = []
    for model, run in runs:
        records, contexts = run.record["contexts"].values(), kept.contexts(run)
        counts = [*contexts.select(pl.col("eligible").min().alias("least"), pl.col("eligible").max().alias("most"),
                                   pl.col("ranked").max().alias("single")).row(0)]  # fmt: skip
        reasons: Counter[str] = Counter()
        for record in records:
            reasons.update(record["left_out"])
        why = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.items())
        words = kept.words(run)
        lines.append((
            model, "left" if run.record["model"]["sees"] == "left" else "both sides", words.name, len(words.rows),
            *counts, contexts["context"].n_unique(), sum(record["items"] for record in records), reasons.total(),
            sum(record["conflicts"] for record in records), why,
        ))  # fmt: skip
    only = [model for model, run in runs if run.record["options"]["eligible"] == "single-token"]
    single = f" (of {', '.join(only)}: as single tokens)" if only else ""
    columns = (
        "model", "sees", "list", "lemmas", "eligible, least", "eligible, most", "single tokens", "contexts", "items",
        "left out", "label conflicts", "why left out",
    )  # fmt: skip
    notes = (
        "eligible: lemmas whose forms the model can all predict, in the context with the fewest and with the most of them"
        f"{single}; single tokens: those that also count at cut-offs. label conflicts: items whose context has another label in "
        "another item.",
        *signatures(runs),
    )  # fmt: skip
    return Table("Contexts and eligible lemmas", columns, tuple(lines), (), notes)
