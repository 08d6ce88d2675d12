"""Questions to a model whose answers are used: possible numbers only, and none of a model that has changed meanwhile.

Weights in this process change only if a user's code holds the model; then they are verified. A server, a program, or the
engine of another package may change: it is restarted with another checkpoint, or a process behind it is. So such a model
(`steady` is False) is asked again what it has answered before: the texts that it was asked about when it was loaded, the
first question of the command, and an answer of an earlier command that is used in this one. Whoever asks calls `confirm`
before the answers since the last call are used or stored, so that nothing depends on what a changed model answered.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError
from syntagm.models import possible
from syntagm.models.answers import Fill, Gap, InContext, Surprisals, frozen
from syntagm.models.conformance import CLOSE
from syntagm.models.contract import LanguageModel

# A model that has not changed may answer with so many times its numerical error, which is the largest of a few differences.
_MARGIN = 5.0
# Longer texts are not asked about again.
_LONGEST = 1000
_Answer = TypeVar("_Answer", Surprisals, InContext)


class Asking:
    """A model with what it has answered."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self._first: Surprisals | None = None
        self._recalled: Surprisals | None = None
        self._gap: tuple[Gap, Fill] | None = None
        # Whether the weights are to be verified: at first, and after each answer.
        self._unverified = True

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        return self._checked(texts, self.model.score(texts, done), lambda answer: answer)

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Score texts with entropies and ranks; see `LanguageModel.reduce`, and `score` for errors."""
        return self._checked(texts, self.model.reduce(texts, done), lambda answer: answer)

    def read(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        """Score texts of any length; see `LanguageModel.read`, and `score` for errors."""
        return self._checked(texts, self.model.read(texts, overlap, done), lambda answer: answer.surprisals)

    def read_reduced(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        """Score texts of any length with entropies and ranks; see `LanguageModel.read_reduced`, and `score` for errors."""
        return self._checked(texts, self.model.read_reduced(texts, overlap, done), lambda answer: answer.surprisals)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """Fill gaps; see `LanguageModel.fill`, and `score` for errors."""
        for gap, fill in zip(gaps, self.model.fill(gaps, done), strict=True):
            self._unverified, answer = True, frozen(fill, self.model)
            possible.refuse_in_gap(self.model, gap, answer)
            if self._gap is None and not self.model.steady:
                self._gap = gap, answer
            yield answer

    def recall(self, answer: Surprisals) -> None:
        """Note an answer that the model gave to an earlier command, and that is used in this one."""
        possible.refuse(self.model, answer)
        if _repeatable(answer):
            self._recalled = answer

    def confirm(self) -> None:
        """Ask the model again; of one in this process that a user's code holds, verify the weights."""
        if self._unverified:
            self.model._confirm()
            self._unverified = False
        known = [*self.model.probes, *filter(None, (self._first, self._recalled))]
        if self.model.steady or not (known or self._gap):
            return
        for before, now in zip(known, self.model.score([answer.text for answer in known]), strict=True):
            if before.starts.tolist() != now.starts.tolist():
                raise self._changed(f"{before.text[:100]!r} had {len(before.starts)} tokens, other ones than now")
            # Errors of single tokens may cancel in the sum.
            self._compare(
                f"{before.text[:100]!r}", np.append(before.bits, np.nansum(before.bits)),
                np.append(now.bits, np.nansum(now.bits)),
            )  # fmt: skip
        if self._gap:
            gap, before_fill = self._gap
            [fill] = self.model.fill([gap])
            self._compare(f"a candidate in the gap after {gap.left[-60:]!r}", before_fill.bits, fill.bits)

    def _checked(
        self, texts: Sequence[str], answers: Iterator[_Answer], surprisals: Callable[[_Answer], Surprisals]
    ) -> Iterator[_Answer]:
        """Yield the answers, which must be those to the texts, in their order."""
        name, remaining = self.model.name, iter(texts)
        for given in answers:
            self._unverified, answer = True, frozen(given, self.model)
            found = surprisals(answer)
            if (text := next(remaining, None)) is None:
                raise ModelError(name, f"more than {len(texts):,} answers", "one to each text")
            if text != found.text:
                problem = f"an answer to {found.text[:100]!r} in the place of that to {text[:100]!r}"
                raise ModelError(name, problem, "answers in the order of the texts")
            self._keep(found)
            yield answer
        if (text := next(remaining, None)) is not None:
            raise ModelError(name, f"no answer to {text[:100]!r}", f"{len(texts):,} answers, one to each text")

    def _keep(self, answer: Surprisals) -> None:
        possible.refuse(self.model, answer)
        if self._first is None and not self.model.steady and _repeatable(answer):
            self._first = answer

    def _compare(self, subject: str, before: NDArray[np.float64], now: NDArray[np.float64]) -> None:
        tolerance = max(CLOSE, _MARGIN * self.model.numerical_error)
        if (apart := ~np.isclose(before, now, rtol=0, atol=tolerance, equal_nan=True)).any():
            at = -1 if apart[-1] else int(apart.argmax())
            raise self._changed(f"{subject} had {before[at]:.4f} bits, and now has {now[at]:.4f}", f"{tolerance:.2g}")

    def _changed(self, found: str, tolerance: str = "") -> ModelError:
        expected = "the same answer" + (f", within {tolerance} bits" if tolerance else "")
        return ModelError(
            self.model.name, f"another answer than before: {found}", expected,
            "The model has changed, or its numbers are random, which `syntagm conform` tells. Its last answers are not used; "
            "what is finished was confirmed. Restore the model and run the same command again, or choose another folder.",
        )  # fmt: skip


def _repeatable(answer: Surprisals) -> bool:
    """Return whether to ask about a text again tells something, and costs little."""
    return len(answer.text) <= _LONGEST and not np.isnan(answer.bits).all()
