"""Zorro (Huebner et al. 2021): one sentence per line, with the bad sentence of a pair before the good one.

Nothing in the lines says which of two is good. So a file is recognised by the name of a published paradigm, if its lines
are pairs, too; under another name, the format must be named: `agreement.txt?format=zorro`.
"""

from collections.abc import Iterator
from pathlib import Path

from syntagm.suites.check.alike import alike, mostly
from syntagm.suites.formats import _pair
from syntagm.suites.suite import Suite

ENDINGS = (".txt",)
PARADIGMS = (
    "agreement_determiner_noun-across_1_adjective", "agreement_determiner_noun-between_neighbors",
    "agreement_subject_verb-across_prepositional_phrase", "agreement_subject_verb-across_relative_clause",
    "agreement_subject_verb-in_question_with_aux", "agreement_subject_verb-in_simple_question",
    "anaphor_agreement-pronoun_gender", "argument_structure-dropped_argument", "argument_structure-swapped_arguments",
    "argument_structure-transitive", "binding-principle_a", "case-subjective_pronoun", "ellipsis-n_bar",
    "filler-gap-wh_question_object", "filler-gap-wh_question_subject", "irregular-verb", "island-effects-adjunct_island",
    "island-effects-coordinate_structure_constraint", "local_attractor-in_question_with_aux",
    "npi_licensing-matrix_question", "npi_licensing-only_npi_licensor", "quantifiers-existential_there",
    "quantifiers-superlative",
)  # fmt: skip


def claims(path: Path, head: str) -> bool:
    """Return whether the file has the name of a published paradigm, and its lines are pairs."""
    return path.suffix in ENDINGS and path.stem in PARADIGMS and mostly(alike(*two) for two in _pair.neighbours(head))


def read_as(path: Path, head: str, **options: str) -> str:
    return "alternating lines, the bad sentence of each pair first" + (
        ", as in the published file of this name" if path.stem in PARADIGMS else ""
    )


def read(path: Path) -> Iterator[Suite]:
    """Read the suite in a file. The suite is named after the file, and pairs are numbered from 0.

    The part of the name before a hyphen, as in `agreement_subject_verb-across_prepositional_phrase`, becomes the tag
    `phenomenon`.

    Raises:
        InputError: a line is empty, or the number of lines is odd.
    """
    yield from _pair.alternating(path, "bad")
