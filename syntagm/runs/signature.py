"""Signatures of numbers: one line with everything needed to reproduce a number."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Signature:
    """Everything that a number of a run depends on.

    Arguments:
        model: name and family of the model, its weights and its scoring settings, e.g. ("gpt2", "causal", "bos:yes").
        asked: the options of the task, e.g. ("align:strict", "tie:0.0001").
        suite: the suite with the beginning of its hash, or the number of suites.
        measure: the name of the measure, or of a scoring rule.
        aggregate: the function that turns the bits of a region's tokens into its value.
        version: the version of Syntagm.

    >>> signature = Signature(("toy", "toy"), ("align:strict",), "mvrr@1f6ce5a9", "0", "sum", "0.1.0")
    >>> print(signature)
    toy|toy|align:strict|mvrr@1f6ce5a9|0|sum|syntagm:0.1.0
    >>> print(signature.over(34))
    toy|toy|align:strict|34 suites|0|sum|syntagm:0.1.0
    """

    model: tuple[str, ...]
    asked: tuple[str, ...]
    suite: str
    measure: str
    aggregate: str
    version: str

    def over(self, suites: int) -> "Signature":
        """Return the signature of a number over several suites."""
        return replace(self, suite=f"{suites} suites")

    def __str__(self) -> str:
        parts = (*self.model, *self.asked, self.suite, self.measure, self.aggregate, f"syntagm:{self.version}")
        return "|".join(parts)
