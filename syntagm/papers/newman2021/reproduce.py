"""Newman et al. 2021, "Refining targeted syntactic evaluation of language models": is a model systematic, and is it likely right?

A context is a sentence with a blank for its verb. TSE asks whether the verb of the good sentence has more probability there than
that of the bad one. Two questions go beyond it, over a list of verbs: of how many is the right form the likelier one (equal
weight, EW: is the model systematic?), and how much of the probability of all forms is on right ones (model weight, MW: is what
the model would say right?). Both are means over distinct contexts, and both can look at part of a model's distribution only:
at the likeliest entries of its vocabulary, or at the least likely.

The paper's templates, the suites of marvin2018 and any other suites with such a blank go through this; so do other word lists.
"""

from collections.abc import Iterator, Sequence

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.drawing.table import Table
from syntagm.papers.newman2021 import confound, tables
from syntagm.papers.newman2021.rows import fill_runs, of_rows
from syntagm.papers.paper import Gaps, Paper
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.tasks.gaps.nucleus import PUBLISHED_BOTTOM, PUBLISHED_TOP
from syntagm.views import frequency_bands, nucleus
from syntagm.views.gaps import kept

SUITES = tuple(
    f"marvin2018/{name}"
    for name in (
        "simple_agrmt", "sent_comp", "vp_coord", "long_vp_coord", "prep_anim", "prep_inanim", "subj_rel", "obj_rel_across_anim",
        "obj_rel_across_inanim", "obj_rel_no_comp_across_anim", "obj_rel_no_comp_across_inanim", "obj_rel_within_anim",
        "obj_rel_within_inanim", "obj_rel_no_comp_within_anim", "obj_rel_no_comp_within_inanim",
    )
)  # fmt: skip
FIGURES = {
    "figure2_equal_weight": "equal_weight", "figure2_model_weight": "model_weight", "figure3_covered": "covered",
    "figure4_invalid": "invalid",
}  # fmt: skip


def of_runs(runs: Sequence[Run]) -> dict[str, Table | Figure]:
    """The tables and figures that some fill runs can give, by the names of their files.

    Raises:
        RunError: one is no fill run, or has no context.

    >>> of_runs([])
    {}
    """
    found = fill_runs(runs)
    if not found:
        return {}
    numbers = of_rows(found)
    made: dict[str, Table | Figure] = {"table2": tables.table2(found, numbers), "eligible": tables.eligible(found)}
    made |= {name: figure for name, measure in FIGURES.items() for figure in _at_cut_offs(numbers, measure)}
    optional = {
        "figure_frequency": _by_frequency(found),
        "confound": confound.confound(found),
        "right_contexts": confound.right_contexts(found),
    }
    return made | {name: one for name, one in optional.items() if one is not None}


def _at_cut_offs(numbers: Sequence[Estimate], measure: str) -> Iterator[Figure]:
    """One figure, if there are cut-offs."""
    rows = [nucleus.row_of(one, one.group["row"], one.group.model, measure) for one in numbers]
    table = pl.DataFrame([row for row in rows if row], schema=nucleus.SCHEMA, orient="row")
    if not table["whole"].all():
        yield nucleus.draw(table, measure, nucleus.title(measure), nucleus.subtitle(measure))


def _by_frequency(runs: confound.Runs) -> Figure | None:
    """The figure, if the frequency band of any lemma is known."""
    rows: list[tuple[object, ...]] = []
    notes = []
    for name, run in runs:
        known, note = confound.tags(run)
        rows += frequency_bands.rows_of(name, kept.lemmas(run), known, kept.words(run).labels)
        notes += [f"{name}: {note}"] if note else []
    table = pl.DataFrame(rows, schema=frequency_bands.SCHEMA, orient="row")
    said = [*frequency_bands.SUBTITLE, *frequency_bands.differences(runs), *notes]
    return frequency_bands.draw(table, said) if rows else None


PAPER = Paper(SUITES, of_runs, gaps=Gaps("verbs", PUBLISHED_TOP, PUBLISHED_BOTTOM))
