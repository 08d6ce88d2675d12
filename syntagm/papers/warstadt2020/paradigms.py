"""The 67 paradigms of BLiMP, with their category, field and human agreement, and the paper's contrasts between them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import nan
from types import MappingProxyType

from syntagm.evaluation import SuiteRecord, group_of
from syntagm.papers.paper import cited
from syntagm.runs import Run, items_by_sentences

_ADJACENT = (
    ("determiner_noun_agreement_1", "determiner_noun_agreement_with_adjective_1"),
    ("determiner_noun_agreement_2", "determiner_noun_agreement_with_adj_2"),
    ("determiner_noun_agreement_irregular_1", "determiner_noun_agreement_with_adj_irregular_1"),
    ("determiner_noun_agreement_irregular_2", "determiner_noun_agreement_with_adj_irregular_2"),
)
_PLAIN = "regular_plural_subject_verb_agreement_1"
_NOUN, _CLAUSE = "distractor_agreement_relational_noun", "distractor_agreement_relative_clause"
_DETERMINERS = (
    ("determiner_noun_agreement_1", "determiner_noun_agreement_irregular_1"),
    ("determiner_noun_agreement_2", "determiner_noun_agreement_irregular_2"),
    ("determiner_noun_agreement_with_adjective_1", "determiner_noun_agreement_with_adj_irregular_1"),
    ("determiner_noun_agreement_with_adj_2", "determiner_noun_agreement_with_adj_irregular_2"),
)
_VERBS = tuple(
    (f"regular_plural_subject_verb_agreement_{k}", f"irregular_plural_subject_verb_agreement_{k}") for k in (1, 2)
)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A contrast between paradigms: the mean difference over pairs of paradigms."""

    description: str  # a readable description, with the easier kind minus the harder kind
    pairs: tuple[tuple[str, str], ...]  # pairs of an easier and a harder paradigm
    printed: str = ""  # the name of the contrast in `cited/warstadt2020.toml`; "" if the paper gives no number


CONTRASTS = (
    Contrast("determiner next to noun − adjective between", _ADJACENT, "locality"),
    Contrast("verb: no attractor − relational noun between", ((_PLAIN, _NOUN),)),
    Contrast("verb: no attractor − relative clause between", ((_PLAIN, _CLAUSE),)),
    Contrast("verb: no attractor − mean of both", ((_PLAIN, _NOUN), (_PLAIN, _CLAUSE)), "attractor"),
    Contrast("determiners: regular − irregular nouns", _DETERMINERS),
    Contrast("verbs: regular − irregular nouns", _VERBS),
    Contrast("regular − irregular nouns, all", (*_DETERMINERS, *_VERBS), "irregular"),
)


@dataclass(frozen=True, slots=True)
class Paradigm:
    """The category and field of a suite of minimal pairs, and the proportion of people who agree (nan if unknown)."""

    phenomenon: str
    field: str
    human: float


@cache
def published() -> Mapping[str, Paradigm]:
    """Return the paradigms of the paper by name.

    >>> published()["wh_island"]
    Paradigm(phenomenon='island_effects', field='syntax', human=0.73)
    """
    return MappingProxyType(
        {
            row["paradigm"]: Paradigm(row["phenomenon"], row["field"], row["human"])
            for row in cited("warstadt2020")["paradigms"]
        }
    )


def paradigms(suites: Sequence[SuiteRecord]) -> dict[str, Paradigm]:
    """Return the category, field and human agreement of each suite, from the paper or, for other suites, from their tags."""
    known = published()
    return {suite.name: known.get(suite.name) or _of_tags(suite.tags) for suite in suites}


def has_pairs_judged(run: Run, suite: str) -> bool:
    """Return whether a suite begins with the five pairs of a paradigm that people judged for the paper."""
    said = [text for pair in list(items_by_sentences(run, suite))[:5] for _, text in pair]
    digest = hashlib.sha256("\n".join(sorted(set(said))).encode()).hexdigest()[:8]
    return any(row["pairs"] == digest for row in cited("warstadt2020")["paradigms"] if row["paradigm"] == suite)


def of_paper(name: str) -> set[str]:
    """Return the paradigms in a category or field of the paper, or in "all"; none if it doesn't exist."""
    return {suite for suite, each in published().items() if name in ("all", each.phenomenon, each.field)}


def _of_tags(tags: Mapping[str, str]) -> Paradigm:
    phenomenon = tags.get("linguistics_term", tags.get("phenomenon", "others"))
    # The published files use this name for two paradigms of argument structure, and two spellings of one field.
    phenomenon = "argument_structure" if phenomenon == "s-selection" else phenomenon
    return Paradigm(phenomenon, group_of("field", tags) or "others", nan)
