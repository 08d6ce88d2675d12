"""Progress of long work: runs, trainings and experiments call the same few methods."""

from collections.abc import Mapping


class Progress:
    """Hear how long work goes on. This class ignores everything; a subclass overrides what it wants to show.

    Every method may raise `Interrupted` to stop the work; the same call continues it.
    """

    def began(self, line: str) -> None:
        """A part of the work begins: a model of an experiment, a corpus that is read."""

    def planned(self, total: int, done: int, suites: int) -> None:
        """A run is planned: `total` questions, `done` of them answered by an earlier start, in so many suites."""

    def answered(self, suite: str, questions: int) -> None:
        """A further number of questions of a suite, or texts of a corpus, is answered."""

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        """A training step is done.

        Arguments:
            loss: of this step, in nats per token.
            rate: the learning rate.
            tokens: learnt in this step.
            seconds: since the step before.
        """

    def evaluated(self, row: Mapping[str, float]) -> None:
        """A model in training was evaluated on held-out text; the row goes into its record."""

    def warned(self, message: str) -> None:
        """Something the user should know, in a sentence."""
