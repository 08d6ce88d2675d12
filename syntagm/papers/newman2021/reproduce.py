"""Newman et al. 2021, "Refining targeted syntactic evaluation of language models": systematicity and likely behaviour.

A context is a sentence with a gap for its verb. TSE checks whether the verb of the good sentence is more probable there than
the verb of the bad one. Two further measures use a list of verbs. Equal weight (EW) is the proportion of lemmas whose
correct form is more probable. It shows whether the model is systematic. Model weight (MW) is the proportion of the
probability mass of all forms that goes to correct forms. It shows whether the model's likely output is correct. Both
are means over distinct contexts. Both can be restricted to a part of the model's distribution: the most probable
vocabulary entries (nucleus, top-p) or the least probable ones.

This works for the paper's templates, the suites of marvin2018 and any other suites with such gaps, and for other word lists.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isclose

import polars as pl

from syntagm.evaluation import PUBLISHED_BOTTOM, PUBLISHED_TOP, Cut, Estimate, Group
from syntagm.papers.newman2021 import confound
from syntagm.papers.newman2021.confound import Runs
from syntagm.papers.newman2021.rows import (
    PAIRED,
    cut_offs,
    estimate_difference,
    fill_runs,
    has_all_suites,
    of_rows,
    published_row,
    rows,
    signatures,
    with_tse,
)
from syntagm.papers.paper import Gaps, Paper, cited
from syntagm.runs import Run
from syntagm.stats import FALSE, HOLDS, OPEN, Range
from syntagm.views import Cell, Figure, Table, frequency_bands, gaps, lines, narrowed, nucleus, or_none

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
    counts = pl.concat([gaps.contexts(run, name).select("eligible") for name in suites])["eligible"].to_list()
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


def eligible_table(runs: Runs) -> Table:
    lines: list[tuple[Cell, ...]] = []
    for model, run in runs:
        records, contexts = run.record["contexts"].values(), gaps.contexts(run)
        counts = [*contexts.select(pl.col("eligible").min().alias("least"), pl.col("eligible").max().alias("most"),
                                   pl.col("ranked").max().alias("single")).row(0)]  # fmt: skip
        reasons: Counter[str] = Counter()
        for record in records:
            reasons.update(record["left_out"])
        why = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.items())
        words = gaps.words(run)
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


# The claimed range of a finding's number is the paper's direction; each number is a difference, paired by context, over all
# contexts of the run.
ABOVE, BELOW = Range(low=0.0), Range(high=0.0)
SHORT = {"model_weight": "MW", "equal_weight": "EW", "tse": "TSE"}
# Finding, where it stands in the paper, the two columns that are compared, and the claimed range of their difference.
COMPARED = (
    ("TSE overestimates systematicity: EW is below TSE", "abstract", "equal_weight", "tse", BELOW),
    ("TSE is below likely behaviour in some constructions: MW is above TSE", "", "model_weight", "tse", ABOVE),
    ("Models are better at verbs that they find likely: MW is above EW", "section 1", "model_weight", "equal_weight", ABOVE),
)  # fmt: skip
LIKELY = "Likely verbs are conjugated better than unlikely ones"
PLACE_OF_LIKELY = "abstract; Figures 1 and 2"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding in one run."""

    text: str  # the finding
    place: str  # where it stands in the paper, and in how many cells of Table 2 the numbers there agree with it
    model: str  # the name of the run's model
    number: str  # what is computed
    estimate: Estimate  # its value and interval; n counts contexts
    claimed: Range  # the range in which the paper says that the number is

    @property
    def verdict(self) -> str:
        return self.claimed.verdict(self.estimate.low, self.estimate.high)


def judged(runs: Runs) -> list[Finding]:
    """Return the findings in each run, finding by finding."""
    found = [finding for name, run in runs for finding in _of_run(name, run)]
    order = list(dict.fromkeys(finding.text for finding in found))
    return sorted(found, key=lambda finding: order.index(finding.text))


def _of_run(name: str, run: Run) -> Iterator[Finding]:
    table = with_tse(run, [suite for of_row in rows(run).values() for suite in of_row])
    for text, place, first, second, claimed in COMPARED:
        estimate = estimate_difference(Group(name), table, first, second)
        places = "; ".join(filter(None, (place, _in_table_2(first, second, claimed))))
        yield Finding(text, places, name, f"{SHORT[first]} - {SHORT[second]}", estimate, claimed)
    for measure, (top, bottom) in product(("equal_weight", "model_weight"), halves(run)):
        estimate = estimate_difference(Group(name), table, f"{measure}{top}", f"{measure}{bottom}")
        number = f"{SHORT[measure]}, top {top.top:g} - bottom {bottom.bottom:g}"
        yield Finding(LIKELY, PLACE_OF_LIKELY, name, number, estimate, ABOVE)


def _in_table_2(first: str, second: str, claimed: Range) -> str:
    """Say in how many cells of the paper's Table 2 the difference of two measures has the claimed sign."""
    columns, table = cited("newman2021")["columns"], cited("newman2021")["table2"]
    cells = [dict(zip(SHORT, line[model], strict=True)) for line in table for model in columns]
    agreeing = sum(claimed.low < cell[first] - cell[second] < claimed.high for cell in cells)
    return f"Table 2, {agreeing} of {len(cells)} cells"


def halves(run: Run) -> list[tuple[Cut, Cut]]:
    """Return the pairs of a top and a bottom cut-off of a run that together make up the whole probability mass."""
    tops, bottoms = ([cut for cut in cut_offs(run) if getattr(cut, end) < 1] for end in ("top", "bottom"))
    return [(top, bottom) for top, bottom in product(tops, bottoms) if isclose(top.top + bottom.bottom, 1)]


def findings_table(runs: Runs) -> Table:
    found = judged(runs)
    lines: list[tuple[Cell, ...]] = [
        (
            each.text, each.place, each.model, each.number, *map(or_none, each.estimate.numbers[:3]), each.estimate.n,
            str(each.claimed), each.verdict,
        )
        for each in found
    ]  # fmt: skip
    columns = ("finding", "in the paper", "model", "number", "value", "low", "high", "n", "claimed", "verdict")
    without = [name for name, run in runs if not halves(run)]
    notes = (
        f"{HOLDS}: the whole 95 % interval is in the claimed range; {FALSE}: it is outside; {OPEN}: neither.",
        "Numbers are means over contexts, of differences in the same context; TSE of a context: the mean over its items. n: "
        "contexts in which both numbers are defined. Intervals: for other contexts with the same words.",
        "in the paper: where the finding stands; in how many cells of Table 2 (models and constructions) the numbers agree with "
        "it. Table 2 compares the means of all contexts and items.",
        f"{LIKELY}: verbs within the most probable tokens (top) against those within the others (bottom), where the two "
        "cut-offs together make up the whole probability mass; single tokens only.",
        *([f"{LIKELY}: not tested for {', '.join(without)}, filled without such cut-offs, as `syntagm fill ... --top 0.5 "
           "--bottom 0.5` has them."] if without else []),
        *_counts(found),
        *signatures(runs),
    )  # fmt: skip
    return Table("Which of the paper's findings hold", columns, tuple(lines), (), notes)


def _counts(found: Sequence[Finding]) -> Iterator[str]:
    """Yield for each finding and number in how many runs it holds."""
    for text, number in dict.fromkeys((each.text, each.number) for each in found):
        verdicts = [each.verdict for each in found if (each.text, each.number) == (text, number)]
        counts = ", ".join(
            f"{verdict} in {verdicts.count(verdict)}" for verdict in (HOLDS, FALSE, OPEN) if verdict in verdicts
        )
        few = "; one run shows nothing about other models" if len(verdicts) == 1 else ""
        yield f"{text} ({number}): {counts} of {len(verdicts)} runs{few}."


SUITES = tuple(
    f"marvin2018/{name}"
    for name in (
        "simple_agrmt", "sent_comp", "vp_coord", "long_vp_coord", "prep_anim", "prep_inanim", "subj_rel", "obj_rel_across_anim",
        "obj_rel_across_inanim", "obj_rel_no_comp_across_anim", "obj_rel_no_comp_across_inanim", "obj_rel_within_anim",
        "obj_rel_within_inanim", "obj_rel_no_comp_within_anim", "obj_rel_no_comp_within_inanim",
    )
) + tuple(
    f"warstadt2020/{name}"
    for name in (
        "regular_plural_subject_verb_agreement_1", "irregular_plural_subject_verb_agreement_1",
        "distractor_agreement_relational_noun", "distractor_agreement_relative_clause",
    )
)  # fmt: skip
FIGURES = {
    "figure2_equal_weight": "equal_weight", "figure2_model_weight": "model_weight", "figure3_covered": "covered",
    "figure4_invalid": "invalid",
}  # fmt: skip


def of_runs(runs: Sequence[Run]) -> dict[str, Table | Figure]:
    """Make the tables and figures that the fill runs allow: file name -> table or figure.

    Raises:
        RunError: a run is not a fill run, or has no context.

    >>> of_runs([])
    {}
    """
    named_runs = fill_runs(runs)
    if not named_runs:
        return {}
    estimates = of_rows(named_runs)
    outputs: dict[str, Table | Figure] = {
        "table2": table2(named_runs, estimates),
        "eligible": eligible_table(named_runs),
        "findings": findings_table(named_runs),
    }
    outputs |= {
        name: figure for name, measure in FIGURES.items() for figure in _at_cut_offs(named_runs, estimates, measure)
    }
    optional = {
        "frequency_bands": _by_frequency(named_runs),
        "confound": confound.confound(named_runs),
        "right_contexts": confound.right_contexts(named_runs),
    }
    return outputs | {name: output for name, output in optional.items() if output is not None}


def _at_cut_offs(runs: Runs, numbers: Sequence[Estimate], measure: str) -> Iterator[Figure]:
    """Yield the figure of a measure, if there are cut-offs."""
    rows = [nucleus.row_of(each, each.group["row"], each.group.model, measure) for each in numbers]
    table = pl.DataFrame([row for row in rows if row], schema=nucleus.SCHEMA, orient="row")
    if not table["whole"].all():
        yield nucleus.draw(table, measure, nucleus.title(measure), nucleus.subtitle(measure, runs))


def _by_frequency(runs: Runs) -> Figure | None:
    """Draw the figure by frequency band; None if no lemma has a known band."""
    rows: list[tuple[object, ...]] = []
    notes = []
    for name, run in runs:
        known, note = confound.tags(run)
        rows += frequency_bands.rows_of(name, gaps.lemma_sums(run), known, gaps.words(run).labels)
        notes += [f"{name}: {note}"] if note else []
    table = pl.DataFrame(rows, schema=frequency_bands.SCHEMA, orient="row")
    subtitle = [*frequency_bands.SUBTITLE, *lines([*frequency_bands.differences(runs), *notes])]
    return frequency_bands.draw(table, subtitle) if rows else None


PAPER = Paper(SUITES, of_runs, gaps=Gaps("verbs", PUBLISHED_TOP, PUBLISHED_BOTTOM))
