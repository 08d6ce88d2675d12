"""Who is told how an experiment goes: what the training loop and the recording of runs tell, and a line now and then."""

from collections.abc import Mapping
from typing import Protocol

from syntagm.progress import Progress


class Told(Protocol):
    """Who is told. Each of its methods may raise `Interrupted` to stop; the same experiment goes on."""

    def said(self, line: str) -> None:
        """Something begins."""

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        """As in `training.loop`."""

    def evaluated(self, row: Mapping[str, float]) -> None:
        """As in `training.loop`."""

    def planned(self, sentences: int, done: int, suites: int) -> None:
        """As in `recording`."""

    def answered(self, suite: str, sentences: int) -> None:
        """As in `recording`."""

    def warned(self, message: str) -> None:
        """As in `recording`."""


class Nobody(Progress):
    """Nobody is told."""

    def said(self, line: str) -> None:
        """Nothing."""

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        """Nothing."""

    def evaluated(self, row: Mapping[str, float]) -> None:
        """Nothing."""
