"""The published files of BLiMP under the validator: it must find the defects that are known and counted."""

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("lemminflect")

from . import material, pairs

# Of the thirteen paradigms whose files the folder of shared data has.
DEFECTS = {
    "anaphor_gender_agreement": {"emphatic do (good)": 26},
    "animate_subject_trans": {"two_prefix: outer spaces": 387, "unequal length": 785 + 22},
    "coordinate_structure_constraint_complex_left_branch": {"two_prefix: outer spaces": 747},
    "determiner_noun_agreement_1": {"subject and verb": 2},  # "Students stuns".
    "distractor_agreement_relative_clause": {"emphatic do (good)": 136},
    "ellipsis_n_bar_1": {"of without complement (good)": 103},
    "existential_there_object_raising": {"emphatic do (good)": 30},
    "irregular_past_participle_verbs": {},
    "only_npi_scope": {"doubled word (good)": 19},
    "passive_1": {"same sentence": 2, "unequal length": 98 + 73},
    "principle_A_case_2": {"same sentence": 5, "field field: syntax/semantics": 1000},
    "superlative_quantifiers_2": {"doubled word (good)": 11},
    "wh_vs_that_with_gap": {"doubled word (bad)": 75, "bad word: examined is in CAN_DROP": 3},
}


@pytest.mark.slow
def test_the_counted_defects_of_the_published_files_are_found(shared: Path) -> None:
    folder = shared / "data" / "blimp"
    if not folder.is_dir():
        pytest.skip("no published files here")
    total = Counter[str]()
    for uid, expected in DEFECTS.items():
        records = material.read(folder / f"{uid}.jsonl")
        found = Counter(finding.rule for finding in pairs.faults(uid, records))
        assert (uid, {rule: found[rule] for rule in expected}) == (uid, expected)
        total += found
    # All 1,134 critical words with a leading space and all 7 pairs of the same sentence are in these files.
    assert total["two_prefix: outer spaces"] == 1134
    assert total["same sentence"] == 7
    # "A" and "an" are right everywhere.
    assert {rule for rule in total if rule.startswith("article")} == set()
