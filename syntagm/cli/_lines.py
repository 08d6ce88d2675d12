"""Progress of training and experiments as lines of text, and their warnings on standard error."""

import sys
import time
from collections.abc import Mapping

from syntagm.core import Progress
from syntagm.views import shown_duration

_INTERVAL = 10.0


class Lines(Progress):
    """Progress callbacks that print lines. After Ctrl-C, the same command resumes from the last saved state."""

    def __init__(self) -> None:
        self._printed_at = time.monotonic()
        self._start: tuple[int, float] | None = None
        self._done = 0

    def began(self, line: str) -> None:
        """Print the line, and restart the clock for the next model."""
        print(line, flush=True)
        self._start, self._printed_at = None, time.monotonic()

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        """Print a line every ten seconds."""
        if self._start is None:
            # The seconds of a resumed training may be those of another machine.
            self._start = (0, 0.0) if step == 1 else (tokens, seconds)
        if tokens == self._start[0] or not self._is_due():
            return
        speed = (tokens - self._start[0]) / max(seconds - self._start[1], 1e-9)
        seconds_left = (steps - step) * (tokens / step) / max(speed, 1e-9)
        progress = f"step {step:,} of {steps:,}, loss {loss:.3f}, rate {rate:.3g}, {speed:,.0f} tokens/s, "
        print(f"{progress}{seconds_left / 60:,.0f} min left at most", flush=True)

    def evaluated(self, row: Mapping[str, float]) -> None:
        print(
            f"epoch {row['epoch']}, step {row['step']:,}: training loss {row['loss']:.4f} nats per token, "
            f"held-out text {row['bits_per_word']:.4f} bits per word, perplexity {row['perplexity']:.2f}"
            + (f", {row['tag_accuracy']:.1%} of tags correct" if "tag_accuracy" in row else ""),
            flush=True,
        )

    def planned(self, total: int, done: int, suites: int) -> None:
        self._done = done
        print(f"{suites} suites, {total:,} sentences", flush=True)

    def answered(self, suite: str, questions: int) -> None:
        """Print a line every ten seconds."""
        self._done += questions
        if self._is_due():
            print(f"{suite}: {self._done:,} sentences", flush=True)

    def simulated(self, done: int, total: int, left: float) -> None:
        """Print a line every ten seconds, with the time that is left."""
        if self._is_due():
            print(f"{done:,} of {total:,} simulated responses, {shown_duration(left)} left", flush=True)

    def warned(self, message: str) -> None:
        print(f"warning: {message}", file=sys.stderr, flush=True)

    def _is_due(self) -> bool:
        """Return whether ten seconds have passed since the last line of this kind."""
        if time.monotonic() - self._printed_at < _INTERVAL:
            return False
        self._printed_at = time.monotonic()
        return True
