"""The plan, progress and results of a run. Progress and warnings go to standard error, results to standard output."""

import math
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from pathlib import Path
from types import FrameType
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, Progress as Bar, TextColumn
from rich.table import Table
from rich.text import Text

from syntagm.cli._text import Printer, plain
from syntagm.core import Interrupted, Progress, counted, shown
from syntagm.evaluation import Estimate, interval
from syntagm.runs import Run, named
from syntagm.suites import Suite, sample_of
from syntagm.views import (
    accuracies,
    chance_of,
    estimates,
    limits,
    mean_name,
    shared_words,
    shown_duration,
    ties_of_pairs,
)

# Seconds between lines of progress, and from the first answer to the first line, which has an estimate of the time.
_INTERVAL, _FIRST = 10.0, 2.0
# The fewest further answers, and seconds of processor time, that tell how long the rest takes; and the fewest seconds to say.
_MEASURED, _SECONDS, _LONG = 2, 2.0, 60.0
# Seconds between two pictures of the bar.
_DRAWN = 0.05
# The width that the words beside the bar may need.
_WORDS = 100
CAPTION = (
    "score: accuracy, or the unweighted mean over suites; interval: 95%, for other items (of a mean: other suites); "
    "chance: the score expected of random surprisals"
)


class Screen(Progress):
    """Progress callbacks that show a bar on a terminal; elsewhere a line two seconds after the first answer, then every ten."""

    # What takes more than a CPU-minute is announced after a few answers, on which the duration is measured. Ctrl-C stops
    # the run after the current batch; pressing it twice stops the run at once.

    def __init__(
        self, unit: str = "sentence", quiet: bool = False, verbose: bool = False, following: tuple[int, int] = (0, 0)
    ) -> None:
        self._unit, self._quiet, self._verbose, self._following = unit, quiet, verbose, following
        self._stopping = self._estimated = False
        self._console = Printer(stderr=True, soft_wrap=False)
        # On a narrow terminal the numbers need the place.
        bar = [BarColumn(min(40, room))] if (room := self._console.width - _WORDS) > 5 else []
        self._bar = Bar(
            TextColumn("{task.description}"),
            *bar,
            TextColumn("{task.fields[count]}"),
            TextColumn("{task.fields[pace]}"),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, count="", pace="")
        self._total = self._done = 0
        # The questions answered by this command, and the time and the number of the first ones.
        self._answered, self._first = 0, (0.0, 0)
        # The processor time at the first answer; None before it, and after the duration was announced.
        self._processor: float | None = None
        self._created = self._start_time = self._printed_at = time.monotonic()
        self._drawn_at = 0.0

    def __enter__(self) -> "Screen":
        self._handler = signal.signal(signal.SIGINT, self._interrupt)
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        signal.signal(signal.SIGINT, self._handler)

    def _interrupt(self, _: int, __: FrameType | None) -> None:
        self._stopping = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._console.print("stopping after this batch; press Ctrl-C again to stop now")

    def planned(self, total: int, done: int, suites: int, noun: str = "suite") -> None:
        """Print the number of sentences to score, and of the units they come in (`noun`)."""
        self._total, self._done, self._answered, self._first = total, done, 0, (0.0, 0)
        self._start_time = self._printed_at = time.monotonic()
        self._bar.update(self._task, total=total, completed=done, count=self._count())
        self._say(f"{counted(suites, noun)}, {self._size(total, done)}")

    def _size(self, total: int, done: int) -> str:
        return counted(total, self._unit) + (f", {done:,} of them already finished" if done else "")

    def _count(self) -> str:
        return f"{self._done:,}/{self._total:,} {self._unit}s"

    def _say(self, line: str) -> None:
        if not self._quiet:
            self._console.print(plain(line), soft_wrap=True)

    def answered(self, suite: str, questions: int) -> None:
        """Advance the bar; raise `Interrupted` if Ctrl-C was pressed."""
        now = time.monotonic()
        if questions and not self._answered:
            self._first, self._printed_at, self._processor = (now, questions), now, time.process_time()
        self._done += questions
        self._answered += questions
        if self._processor is not None:
            self._announce(time.process_time() - self._processor)
        # A fast model answers thousands of questions between two pictures of the bar.
        if now - self._drawn_at > _DRAWN or self._done >= self._total:
            self._drawn_at = now
            self._bar.update(
                self._task,
                completed=self._done,
                description=escape(shown(self._now(suite))),
                count=self._count(),
                pace=self._speed(now),
            )
        interval = _FIRST if self._answered and not self._estimated else _INTERVAL
        if self._total and not self._console.is_terminal and now - self._printed_at > interval:
            self._printed_at, self._estimated = now, bool(self._answered)
            self._say(f"{self._done:,} of {self._total:,} {self._unit}s, {self._speed(now)}")
        if self._stopping:
            raise Interrupted

    def _announce(self, seconds: float) -> None:
        """Print how much processor time the rest needs, once enough is answered; the slow first answer doesn't count."""
        measured, left = self._answered - self._first[1], self._total - self._done
        if measured < _MEASURED or seconds < _SECONDS:
            return
        self._processor = None
        if (needed := seconds / measured * left) > _LONG:
            minutes = f"{needed / 60:,.{0 if needed > 600 else 1}f} CPU-minutes"
            each = f"{seconds / measured:.2g} CPU-seconds each, measured on {measured:,}"
            self._say(f"about {minutes} for the other {left:,} {self._unit}s ({each})")

    def _speed(self, now: float) -> str:
        """Return the speed, and the time left for this model and, if others follow, for all."""
        # The first answer takes longer than its share: it is timed only as long as there is no other one.
        since, before = self._first if self._answered > self._first[1] else (self._start_time, 0)
        done, seconds, left = self._answered - before, now - since, self._total - self._done
        speed = pace(done, left, seconds)
        if not (done and any(self._following)):
            return speed
        unfinished, finished = self._following
        rest = unfinished * (since - self._created + seconds / done * self._total)
        rest += finished * (self._start_time - self._created)
        return f"{speed}, {shown_duration(seconds / done * left + rest)} for all models"

    def _now(self, suite: str) -> str:
        """Return the text before the bar: the name of the current suite, cut to 30 characters, if there is room."""
        return suite[:30] if self._console.width > _WORDS else ""

    def noted(self, line: str) -> None:
        """Print a detail, if they are wanted."""
        if self._verbose:
            self._console.print(plain(line), soft_wrap=True)

    def warned(self, message: str) -> None:
        self._console.print(plain(f"warning: {message}"), soft_wrap=True)


class WorkersScreen(Screen):
    """The progress of several models at once."""

    def __init__(
        self, models: int, unit: str, quiet: bool, verbose: bool = False, finished: Set[str] = frozenset()
    ) -> None:
        super().__init__(unit, quiet, verbose)
        self._finished, self._models = finished, models - len(finished)
        self._opened, self._sizes, self._dropped, self._label = 0, 0, 0, ""
        self._say(f"{counted(models, 'model')}, waiting for workers")

    def began(self, line: str) -> None:
        """Remember the model whose run is opened next."""
        self._label = line

    def answered(self, suite: str, questions: int) -> None:
        """Advance the bar once a run is open; raise `Interrupted` if Ctrl-C was pressed."""
        if self._opened or self._stopping:
            super().answered(suite, questions)

    def _now(self, suite: str) -> str:
        """Return the text before the bar: the number of models whose runs are open or done."""
        return f"{self._opened:,}/{counted(self._models, 'model')} begun"

    def planned(self, total: int, done: int, suites: int, noun: str = "suite") -> None:
        """Print the size of a model's run. Models that nobody has opened count as those that were."""
        damaged = self._label in self._finished and done < total
        if damaged or self._label not in self._finished:
            if not self._opened:
                self._start_time = self._printed_at = time.monotonic()
            self._models += damaged
            self._opened += 1
            self._sizes += total
            self._done += done
            self._estimate()
        self._say(f"{self._label}: {counted(suites, noun)}, {self._size(total, done)}")

    def _announce(self, seconds: float) -> None:
        """Print nothing: other processes compute."""
        self._processor = None

    def failed(self, left: int | None) -> None:
        """Take what a model leaves unanswered from the total."""
        if left is None:
            self._models = max(self._opened, self._models - 1)
        else:
            self._dropped += left
        if self._opened:
            self._estimate()

    def _estimate(self) -> None:
        self._total = round(self._sizes / self._opened * self._models) - self._dropped
        self._bar.update(self._task, total=self._total, completed=self._done, count=self._count())


def pace(done: int, left: int, seconds: float) -> str:
    """Return the speed, per second or (if slow) per minute, and the time left.

    >>> pace(200, 100, 10), pace(3, 10, 20), pace(0, 10, 20)
    ('20 per second, 5 s left', '9.0 per minute, 67 s left', 'none yet')
    >>> pace(200, 12_000, 10), pace(200, 200_000, 10)
    ('20 per second, 10 min left', '20 per second, 2.8 h left')
    """
    if not done:
        return "none yet"
    rate = done / max(seconds, 1e-9)
    speed = f"{rate:,.0f} per second" if rate >= 1 else f"{rate * 60:,.1f} per minute"
    return f"{speed}, {shown_duration(left / rate)} left"


def size_of(suites: Iterable[Suite]) -> tuple[str, int]:
    """Return the size of suites in words, and the number of their sentences."""
    items = sentences = count = 0
    distinct: set[int] = set()
    for suite in suites:
        count += 1
        items += len(suite.items)
        for item in suite.items:
            sentences += len(item.sentences)
            distinct.update(hash(sentence.text) for sentence in item.sentences.values())
    size = f"{counted(count, 'suite')}, {counted(items, 'item')}, {counted(sentences, 'sentence')}"
    return f"{size}, {len(distinct):,} of them distinct", sentences


def show_run(run: Run, page: Path | None) -> None:
    from syntagm.report import methods

    console = Printer(width=None if sys.stdout.isatty() else 160)
    # Numbered predictions of a suite are also judged together; named ones are alternative methods, and are not.
    several = {suite.name for suite in run.suites if len(suite.predictions) > 1 and "1" in suite.predictions}
    all_hold = accuracies(run, "all") if several else []
    rows = [*accuracies(run), *(estimate for estimate in all_hold if estimate.group.suite in several)]
    judged = run.task.conjoins
    console.print(
        _table(run, rows, estimates.scores(run), estimates.scores(run, tag="circuit")) if judged else _means(run, rows)
    )
    for line in shared_words.of_runs([run]):
        console.print(plain(line))
    errors = Printer(stderr=True)
    for reason, names in _without_chance(run, rows).items() if judged else ():
        listed = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        errors.print(plain(f"note: {reason} ({listed})"))
    for reason, count in run.undefined.items():
        errors.print(plain(f"warning: {counted(count, 'result')} undefined: {reason}"))
    first = run.suites[0]
    if first.predictions:
        console.print(plain(f"signature of the first line: {run.signature(first.name, next(iter(first.predictions)))}"))
    if ties := ties_of_pairs(run):
        console.print(plain(f"ties: {ties}"))
    if any((sample := sample_of(suite.tags)) and sample.reach is not None for suite in run.suites):
        console.print(plain(f"items: {methods.describe_sample(run.suites)}"))
    console.print(plain(f"run: {run.place}"))
    if page:
        console.print(plain(f"report: {page}"))


def show_runs(runs: Sequence[Run], page: Path | None) -> None:
    """Print a line for each model, with its score over all suites, and the paths of the runs' folder and the report."""
    console = Printer(width=None if sys.stdout.isatty() else 160)
    table, rows = _empty(("model", "measure"), _SCORES), list[tuple[str, Estimate]]()
    for name, run in named(runs):
        measures = dict.fromkeys(key for suite in run.suites for key in suite.predictions)
        for rule in ["first"] if run.task.conjoins else measures:
            for estimate in estimates.scores(run, rule):
                table.add_row(*_cells(name, mean_name(run) if rule == "first" else rule, run, estimate))
                rows.append((name, estimate))
    table.caption = caption(CAPTION, rows)
    console.print(table)
    for line in shared_words.of_runs(runs, "first") if len(runs[0].suites) == 1 else ():
        console.print(plain(line))
    errors = Printer(stderr=True)
    # Runs of one command have the same suites.
    suites = [suite for suite in runs[0].suites if runs[0].task.conjoins]
    if several := sum(len(suite.predictions) + len(suite.left_out) > 1 for suite in suites):
        have = "has" if several == 1 else "have"
        first = f"note: scores are by the first prediction of each suite; {several:,} of {counted(len(suites), 'suite')} {have}"
        errors.print(f"{first} more, which `syntagm table scores DIR measure=each` shows")
    for name, run in named(runs):
        for reason, count in run.undefined.items():
            errors.print(plain(f"warning: {name}: {counted(count, 'result')} undefined: {reason}"))
        if ties := ties_of_pairs(run):
            console.print(plain(f"ties: {name}: {ties}"))
    for parent, count in Counter(str(run.folder.parent) if run.folder else run.place for run in runs).items():
        console.print(plain(f"runs: {parent}, {counted(count, 'folder')}"))
    if page:
        console.print(plain(f"report: {page}"))


def _without_chance(run: Run, rows: Iterable[Estimate]) -> dict[str, list[str]]:
    """Return a mapping from reasons why chance is unknown to the suites concerned."""
    suites: dict[str, list[str]] = {}
    for estimate in rows:
        chance = chance_of(run, estimate)
        if math.isnan(chance.value):
            suites.setdefault(chance.method, []).append(estimate.group.suite)
    return suites


_SCORES = ("score", "interval", "chance", "n", "ties", "undefined")


def _empty(texts: Sequence[str], numbers: Sequence[str], title: str = "") -> Table:
    table = Table(title=plain(title) if title else None, title_justify="left", caption_justify="left")
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _table(run: Run, by_suite: list[Estimate], overall: list[Estimate], by_circuit: list[Estimate]) -> Table:
    table = _empty(("suite", "prediction"), _SCORES, run.title)
    order = {suite.name: number for number, suite in enumerate(run.suites)}
    for estimate in sorted(by_suite, key=lambda estimate: order[estimate.group.suite]):
        table.add_row(*_cells(estimate.group.suite, estimate.group.measure, run, estimate))
    table.add_section()
    means = [(estimate.group["circuit"], estimate, "") for estimate in by_circuit]
    means += [("all suites", estimate, "bold") for estimate in overall]
    for name, estimate, style in means:
        table.add_row(*_cells(name, mean_name(run), run, estimate), style=style)
    of_suites = [(estimate.group.suite, estimate) for estimate in by_suite]
    table.caption = caption(CAPTION, [*of_suites, *((name, estimate) for name, estimate, _ in means)])
    return table


def _means(run: Run, by_suite: list[Estimate]) -> Table:
    """Return a table of means, by suite and over suites, for measures whose values are not verdicts."""
    meaning = "mean: of the values, or the unweighted mean over suites; interval: 95%, for other items (of a mean: other suites)"
    table = _empty(("suite", "measure"), ("mean", "interval", "n", "undefined"), run.title)
    measures = list(dict.fromkeys(estimate.group.measure for estimate in by_suite))
    overall = [("all suites", measure, estimate) for measure in measures for estimate in estimates.scores(run, measure)]
    rows = [(estimate.group.suite, estimate.group.measure, estimate) for estimate in by_suite]
    for name, measure, mean in [*rows, *overall]:
        numbers = (f"{mean.value:.3f}", interval(mean.low, mean.high), f"{mean.n:,}", f"{mean.undefined:,}")
        table.add_row(plain(name), plain(measure), *map(plain, numbers))
    table.caption = caption(meaning, [(name, mean) for name, _, mean in [*rows, *overall]])
    return table


def caption(meaning: str, rows: Iterable[tuple[str, Estimate]]) -> Text:
    """Return the caption of a table: what its columns mean, and what limits its intervals."""
    return plain("\n".join([meaning, *limits(rows)]))


def _cells(name: str, measure: str, run: Run, estimate: Estimate) -> list[Any]:
    chance = chance_of(run, estimate).value
    expected = "" if math.isnan(chance) else f"{chance:.3f}"
    counts = [f"{count:,}" for count in (estimate.n, estimate.ties, estimate.undefined)]
    score = f"{estimate.value:.3f}", interval(estimate.low, estimate.high)
    return [*map(plain, (name, measure, *score, expected, *counts))]
