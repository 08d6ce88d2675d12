"""The signature of a number: what it rests on, in a line that is enough to repeat it."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Signature:
    """What a number of a run rests on.

    Arguments:
        model: the model's name and family, its weights, its scoring settings, e.g. ("gpt2", "causal", "bos:yes").
        asked: how it was asked, e.g. ("align:strict", "tie:0.0001").
        suite: the suite with the beginning of its hash, or how many suites.
        measure: the name of the measure, or of a rule.
        aggregate: how tokens make a region.
        version: of this package.

    >>> one = Signature(("toy", "toy"), ("align:strict",), "mvrr@1f6ce5a9", "0", "sum", "0.1.0")
    >>> print(one)
    toy|toy|align:strict|mvrr@1f6ce5a9|0|sum|syntagm:0.1.0
    >>> print(one.over(34))
    toy|toy|align:strict|34 suites|0|sum|syntagm:0.1.0
    """

    model: tuple[str, ...]
    asked: tuple[str, ...]
    suite: str
    measure: str
    aggregate: str
    version: str

    def over(self, suites: int) -> "Signature":
        """Return the signature of a number over so many suites."""
        return replace(self, suite=f"{suites} suites")

    def __str__(self) -> str:
        parts = (*self.model, *self.asked, self.suite, self.measure, self.aggregate, f"syntagm:{self.version}")
        return "|".join(parts)
