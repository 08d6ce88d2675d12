"""Progress of trainings and experiments on a command line, a line now and then."""

import time
from collections.abc import Mapping

from syntagm.progress import Progress

_SAY_EVERY = 10.0


class Lines(Progress):
    """Print how trainings and experiments go on. Ctrl-C stops them; the last state stays, and the same command goes on."""

    def __init__(self) -> None:
        self._said = time.monotonic()
        self._before: tuple[int, float] | None = None
        self._done = 0

    def began(self, line: str) -> None:
        """Print the line; whatever is trained next is timed anew."""
        print(line, flush=True)
        self._before, self._said = None, time.monotonic()

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        """Print a line every ten seconds."""
        if self._before is None or not self._is_time():
            self._before = self._before or (tokens, seconds)
            return
        speed = (tokens - self._before[0]) / max(seconds - self._before[1], 1e-9)
        left = (steps - step) * (tokens / step) / max(speed, 1e-9)
        shown = f"step {step:,} of {steps:,}, loss {loss:.3f}, rate {rate:.3g}, {speed:,.0f} tokens/s, "
        print(f"{shown}{left / 60:,.0f} min left at most", flush=True)

    def evaluated(self, row: Mapping[str, float]) -> None:
        """Print a line for each evaluation."""
        print(
            f"epoch {row['epoch']}, step {row['step']:,}: training loss {row['loss']:.4f} nats a token, "
            f"held out {row['bits_per_word']:.4f} bits a word, perplexity {row['perplexity']:.2f}",
            flush=True,
        )

    def planned(self, total: int, done: int, suites: int) -> None:
        """Print what there is to score."""
        self._done = done
        print(f"{suites} suites, {total:,} sentences", flush=True)

    def answered(self, suite: str, questions: int) -> None:
        """Print a line every ten seconds."""
        self._done += questions
        if self._is_time():
            print(f"{suite}: {self._done:,} sentences", flush=True)

    def warned(self, message: str) -> None:
        """Print the warning."""
        print(f"warning: {message}", flush=True)

    def _is_time(self) -> bool:
        """Have ten seconds passed since the last line of this kind?"""
        if time.monotonic() - self._said < _SAY_EVERY:
            return False
        self._said = time.monotonic()
        return True
