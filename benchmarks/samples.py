"""The fixed samples of sentences: pairs of BLiMP, and Marvin & Linzen's files as published."""

import io
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import DATA

PARADIGMS = (
    "anaphor_gender_agreement", "animate_subject_trans", "coordinate_structure_constraint_complex_left_branch",
    "determiner_noun_agreement_1", "distractor_agreement_relative_clause", "ellipsis_n_bar_1",
    "existential_there_object_raising", "irregular_past_participle_verbs", "only_npi_scope", "principle_A_case_2",
)  # fmt: skip
PAIRS = 200
CONSTRUCTIONS = (
    "prep_inanim", "sent_comp", "simple_agrmt", "simple_npi_anim", "simple_reflexives", "vp_coord",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sample:
    """Sentences in the order of their files, and the compared pairs (good, bad) as indices."""

    name: str
    sentences: list[str]
    pairs: list[tuple[int, int]]


def blimp(cap: int | None = None) -> Sample:
    """Return the first 200 pairs of each of ten paradigms, or the first `cap`."""
    groups = []
    for name in PARADIGMS:
        lines = (DATA / "blimp" / f"{name}.jsonl").read_text("utf-8").splitlines()[: min(PAIRS, cap or PAIRS)]
        groups += [(row["sentence_good"], row["sentence_bad"]) for row in map(json.loads, lines)]
    return _sample("BLiMP", groups)


def marvin_linzen(cap: int | None = None) -> Sample:
    """Return whole files, or the first `cap` pairs or triples of each."""
    groups = []
    for name in CONSTRUCTIONS:
        cases = _unpickle(DATA / "marvin_linzen" / f"{name}.pickle")
        groups += [group for case in cases.values() for group in case][:cap]
    return _sample("Marvin & Linzen", groups)


SAMPLES: dict[str, Callable[[int | None], Sample]] = {"blimp": blimp, "marvin_linzen": marvin_linzen}


def unique_prefixes(sequences: list[list[int]]) -> tuple[int, int]:
    """Return the number of distinct proper prefixes, each of which must be computed once, and the sum of their lengths.

    >>> unique_prefixes([[7, 1, 2], [7, 1, 3], [7, 4]])  # 7; 7 1
    (2, 3)
    """
    prefixes = {tuple(sequence[:end]) for sequence in sequences for end in range(1, len(sequence))}
    return len(prefixes), sum(map(len, prefixes))


def _sample(name: str, groups: list[Any]) -> Sample:
    sentences: list[str] = []
    pairs = []
    for good, *others in groups:
        first = len(sentences)
        sentences += [good, *others]
        pairs += [(first, first + 1 + index) for index in range(len(others))]
    return Sample(name, sentences, pairs)


class _Plain(pickle.Unpickler):
    """An unpickler of lists, tuples, dictionaries, strings and numbers that refuses anything that would run code."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} in a file that should hold only lists, dictionaries and strings")

    def persistent_load(self, identifier: object) -> Any:
        raise pickle.UnpicklingError(f"an outside object {identifier!r} in a file that should hold none")


def _unpickle(path: Path) -> dict[str, list[tuple[str, ...]]]:
    cases: dict[str, list[tuple[str, ...]]] = _Plain(io.BytesIO(path.read_bytes())).load()
    return cases
