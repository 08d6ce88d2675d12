"""Newman et al. 2021, "Refining targeted syntactic evaluation of language models": systematicity and likely behaviour.

A context is a sentence with a gap for its verb. TSE checks whether the verb of the good sentence is more probable there than
the verb of the bad one. Two further measures use a list of verbs. Equal weight (EW) is the proportion of lemmas whose
correct form is more probable. It shows whether the model is systematic. Model weight (MW) is the proportion of the
probability mass of all forms that goes to correct forms. It shows whether the model's likely output is correct. Both
are means over distinct contexts. Both can be restricted to a part of the model's distribution: the most probable
vocabulary entries (nucleus, top-p) or the least probable ones.

This works for the paper's templates, the suites of marvin2018 and any other suites with such gaps, and for other word lists.
"""

from collections.abc import Iterator, Sequence

import polars as pl

from syntagm.evaluation import PUBLISHED_BOTTOM, PUBLISHED_TOP, Estimate
from syntagm.papers.newman2021 import confound, findings, tables
from syntagm.papers.newman2021.rows import fill_runs, of_rows
from syntagm.papers.paper import Gaps, Paper
from syntagm.runs import Run
from syntagm.views import Figure, Table, frequency_bands, gaps, lines, nucleus

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
        "table2": tables.table2(named_runs, estimates),
        "eligible": tables.eligible(named_runs),
        "findings": findings.table(named_runs),
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


def _at_cut_offs(runs: confound.Runs, numbers: Sequence[Estimate], measure: str) -> Iterator[Figure]:
    """Yield the figure of a measure, if there are cut-offs."""
    rows = [nucleus.row_of(each, each.group["row"], each.group.model, measure) for each in numbers]
    table = pl.DataFrame([row for row in rows if row], schema=nucleus.SCHEMA, orient="row")
    if not table["whole"].all():
        yield nucleus.draw(table, measure, nucleus.title(measure), nucleus.subtitle(measure, runs))


def _by_frequency(runs: confound.Runs) -> Figure | None:
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
