"""Progress callbacks for runs, training and experiments."""

from collections.abc import Mapping


class Progress:
    """Progress callbacks. The methods of this class do nothing; a subclass overrides those that it needs.

    Every method may raise `Interrupted` to stop the work; making the same call again resumes it.
    """

    def began(self, line: str) -> None:
        """Report the start of a stage, such as a model of an experiment or reading a corpus.

        Arguments:
            line: one line that describes the stage.
        """

    def planned(self, total: int, done: int, suites: int) -> None:
        """Report the size of a planned run.

        Arguments:
            total: number of questions.
            done: number of questions that were already answered, if a run is resumed.
            suites: number of suites.
        """

    def answered(self, suite: str, questions: int) -> None:
        """Report answered questions.

        Arguments:
            suite: name of the suite or corpus.
            questions: number of questions, or texts of a corpus, answered since the last call.
        """

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        """Report a finished training step.

        Arguments:
            step: number of the step.
            steps: total number of steps.
            loss: loss of this step, in nats per token.
            rate: learning rate.
            tokens: number of tokens in this step.
            seconds: time since the last step.
        """

    def evaluated(self, row: Mapping[str, float]) -> None:
        """Report an evaluation on held-out text during training.

        Arguments:
            row: the row for the training record: column -> value.
        """

    def simulated(self, done: int, total: int, left: float) -> None:
        """Report a simulated response of a parametric bootstrap, to which models were fitted.

        Arguments:
            done: number of finished responses, with those of an earlier process.
            total: number of all responses.
            left: about how many seconds the others take, at most.
        """

    def failed(self, left: int | None) -> None:
        """Report that one of several models failed, and that the others go on.

        Arguments:
            left: number of its questions that stay unanswered; None if they were not planned yet.
        """

    def noted(self, line: str) -> None:
        """Report a detail of a run: what was computed by whom, and how long it took.

        Arguments:
            line: the detail, in one line.
        """

    def warned(self, message: str) -> None:
        """Report a warning.

        Arguments:
            message: the warning, as a sentence.
        """
