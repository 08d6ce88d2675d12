"""Conventions: a linking function with treatments, by name, and the verdict on a pair of sentences under one."""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

import numpy as np
from numpy.typing import NDArray

from syntagm.core import UsageError, did_you_mean
from syntagm.evaluation.conventions import linking
from syntagm.evaluation.conventions.linking import Linking, margin
from syntagm.evaluation.conventions.scored import Kept, Scored, Tokens, Unigrams, differing, scored
from syntagm.evaluation.result import Kind
from syntagm.models import Surprisals
from syntagm.suites import Formula, compared

# Only what can be computed from surprisals that are already known is here. Whether the model has a start-of-text symbol
# (`bos`) and what the text is (case, blanks) decide the surprisals themselves: they are options of models, and other
# texts.


@dataclass(frozen=True, slots=True)
class Treatment:
    name: str  # its name, after a plus sign behind that of a linking function
    says: str  # what it does, as a phrase
    kept: Kept | None = None  # which tokens count; None for all
    # The value of a tie: 1 for a hit, 0.5 for half of one; None if the treatment is not about ties, which are failures.
    tie: float | None = None
    used: str = ""  # papers and tools with this treatment


def _after_first(text: str, answer: Surprisals) -> NDArray[np.bool_]:
    return np.arange(len(answer.starts)) > 0


def _before_final_marks(text: str, answer: Surprisals) -> NDArray[np.bool_]:
    """Keep all tokens but those that are only punctuation, or blanks, at the end of the text."""
    visible = text.rstrip()
    while visible and unicodedata.category(visible[-1]).startswith("P"):
        visible = visible[:-1].rstrip()
    # The end-of-text symbol starts at the end of the text.
    return (answer.starts < len(visible)) | (answer.starts >= len(text))


def _without_end(text: str, answer: Surprisals) -> NDArray[np.bool_]:
    return answer.starts < len(text)


TREATMENTS = (
    Treatment(
        "without_first", "the first token does not count, but is read", _after_first,
        used="minicons and BabyLM for models whose tokenizer adds no start symbol, but for the context",
    ),
    Treatment("without_final_mark", "punctuation at the end does not count", _before_final_marks),
    Treatment("without_end", "a scored end-of-text symbol does not count", _without_end),
    Treatment(
        "ties_as_hits", "a tie is a hit", tie=1.0,
        used="lm-evaluation-harness (argmax), BabyLM before April 2026 (torch.max): the good sentence comes first",
    ),
    Treatment(
        "ties_as_half", "a tie is half a hit", tie=0.5,
        used="BabyLM since April 2026, on average: it breaks ties by chance",
    ),
)  # fmt: skip
TREATMENT_BY_NAME: Mapping[str, Treatment] = {treatment.name: treatment for treatment in TREATMENTS}


DEFAULT = "bits"
# Instead of a name: the convention of each suite's authors.
PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Convention:
    """A linking function with treatments.

    Arguments:
        linking: the linking function.
        treatments: the treatments, each at most once.

    >>> str(Convention.parse("mean_byte+ties_as_hits"))
    'mean_byte+ties_as_hits'
    """

    linking: Linking
    treatments: tuple[Treatment, ...] = ()

    def __str__(self) -> str:
        return "+".join([self.linking.name, *(treatment.name for treatment in self.treatments)])

    @classmethod
    def parse(cls, text: str, *others_known: str) -> Self:
        """Parse LINKING or LINKING+TREATMENT+...

        Arguments:
            others_known: what else the user may say there, for the message about an unknown name.

        Raises:
            UsageError: there is no such linking function or treatment, a treatment is given twice, or two are about ties.
        """
        name, *others = text.split("+")
        if name not in linking.BY_NAME:
            known = [*linking.BY_NAME, *others_known]
            raise UsageError("convention", repr(name), "one of " + ", ".join(known), did_you_mean(name, known))
        for other in others:
            if other not in TREATMENT_BY_NAME or others.count(other) > 1:
                expected = "each once: " + ", ".join(TREATMENT_BY_NAME)
                raise UsageError(f"convention {text}", repr(other), expected, did_you_mean(other, TREATMENT_BY_NAME))
        chosen = tuple(TREATMENT_BY_NAME[other] for other in others)
        if len(ties := [treatment.name for treatment in chosen if treatment.tie is not None]) > 1:
            raise UsageError(f"convention {text}", " and ".join(ties), "one treatment of ties")
        return cls(linking.BY_NAME[name], chosen)

    @classmethod
    def parse_of_sentences(cls, text: str) -> Self:
        """Parse a convention whose costs are those of single sentences, whatever they are compared with.

        Raises:
            UsageError: as for `parse`, or the costs depend on the partner.
        """
        convention = cls.parse(text)
        if convention.linking.of_pairs:
            expected = "a cost of whole sentences, such as bits, mean_token or slor"
            raise UsageError("convention=", f"{text}, which depends on the partner", expected)
        return convention

    @property
    def unigrams(self) -> bool:
        """Whether it needs a unigram model."""
        return self.linking.unigrams

    @property
    def tie(self) -> float:
        """The value of a tie: 0 for a failure, 1 for a hit, 0.5 for half a hit."""
        return next((treatment.tie for treatment in self.treatments if treatment.tie is not None), 0.0)

    @property
    def kind(self) -> Kind:
        """The kind of values: verdicts, or shares if a tie is half a hit."""
        return Kind.VERDICT if self.tie in (0, 1) else Kind.SHARE

    @property
    def kept(self) -> Kept | None:
        """Which tokens count; None for all."""
        kept = [treatment.kept for treatment in self.treatments if treatment.kept]
        if not kept:
            return None
        return lambda text, answer: reduce(lambda one, other: one & other, (each(text, answer) for each in kept))


@dataclass(frozen=True, slots=True)
class Judge:
    """What judges pairs of sentences."""

    tolerance: float  # differences within it are ties; in bits
    first_scored: bool  # False if the model has no start-of-text symbol
    unigrams: Unigrams | None = None  # a unigram model; None without one
    tokens: Tokens = "blanks"  # how sentences are divided into words

    def margins(
        self, good: tuple[str, Surprisals], bad: tuple[str, Surprisals], conventions: Sequence[Convention]
    ) -> list[tuple[float, float]]:
        """Return the value and the margin of a pair under each convention."""
        # The margin is the cost of the bad sentence minus that of the good one, in bits or in bits per unit, and
        # exactly 0 for a tie: a difference that is within the tolerance in bits.
        prepared: dict[tuple[str, ...], tuple[Scored, Scored]] = {}
        spans, differs = differing(good[0], bad[0]), good[0] != bad[0]
        found = []
        for convention in conventions:
            key = tuple(treatment.name for treatment in convention.treatments if treatment.kept)
            if key not in prepared:
                one, other = (
                    replace(
                        scored(text, answer, self.first_scored, convention.kept, self.unigrams, self.tokens),
                        differing=span,
                        differs=differs,
                    )
                    for (text, answer), span in zip((good, bad), spans, strict=True)
                )
                prepared[key] = one, other
            lesser, greater = (convention.linking.cost(sentence) for sentence in prepared[key])
            difference = margin(lesser, greater, self.tolerance)
            found.append((value(difference, convention.tie), difference))
        return found


def value(difference: float, tie: float) -> float:
    """Return the value of a margin: 1 above 0, 0 below it, that of a tie at 0, and nan for nan."""
    if math.isnan(difference):
        return difference
    return tie if difference == 0 else float(difference > 0)


def recorded(name: str) -> Convention | None:
    """Return a convention by its name in a record, which is untrusted input; None if there is none."""
    try:
        return Convention.parse(name)
    except UsageError:
        return None


def kind_of(name: str) -> Kind:
    """Return the kind of values under a convention; verdicts under one that is fitted, as `morcela`.

    >>> kind_of("bits+ties_as_half")
    <Kind.SHARE: 'share'>
    """
    return convention.kind if (convention := recorded(name)) else Kind.VERDICT


def canonical(asked: str) -> str:
    """Return a convention as it is recorded, or `published`."""
    return asked if asked == PUBLISHED else str(Convention.parse(asked, PUBLISHED))


def of_suite(asked: str, suite: str, scored: str, formulas: Iterable[Formula]) -> Convention:
    if asked == PUBLISHED and not scored:
        expected = "a suite of a dataset whose authors' convention is known (docs/reference/datasets.md)"
        raise UsageError(
            "--convention published", f"the suite {suite}", expected, "Name one, as in --convention mean_token."
        )
    convention = Convention.parse(scored if asked == PUBLISHED else asked)
    if str(convention) != DEFAULT and not any(map(compared, formulas)):
        found = f"the suite {suite}, no prediction of which compares two whole sentences"
        raise UsageError(f"--convention {asked}", found, "predictions like (*;%a%) < (*;%b%)")
    return convention
