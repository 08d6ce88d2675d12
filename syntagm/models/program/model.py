"""Language models whose surprisals are computed by a program."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, ModelError, counted, hashing, how_to_give
from syntagm.models.answers import Fill, Gap, Surprisals
from syntagm.models.contract import LanguageModel, refuse_best
from syntagm.models.family import Family
from syntagm.models.program import answers
from syntagm.models.program.process import Ended, Process

PROTOCOL = 1
# The longest time for an answer, and the largest number of texts in a request, unless others are chosen.
SECONDS, BATCH = 600.0, 16


@dataclass(frozen=True, slots=True)
class Start:
    """How a program is started and asked."""

    command: Sequence[str]  # the program and its arguments
    folder: Path  # the folder in which it is started
    options: Mapping[str, Any] = field(default_factory=dict)  # what it is told at the start
    seconds: float = SECONDS  # the longest time for an answer
    batch: int = BATCH  # the largest number of texts or gaps in a request


class Answering(Protocol):
    """What answers requests; `Process` explains the methods."""

    @property
    def running(self) -> bool:
        """Whether it can be asked without introducing itself again."""

    def ask(self, request: Mapping[str, Any], subject: str) -> dict[str, Any]:
        """Return the answer to a request."""

    def refused(self, found: str, expected: str, cure: str = "") -> ModelError:
        """Return the error for an answer that is refused."""


class ProgramModel(LanguageModel):
    """A model that asks a program; created by `load` of the families that start programs."""

    steady: ClassVar[bool] = False

    def __init__(
        self, family: Family, place: str, start: Start, sources: str, process: Answering | None = None
    ) -> None:
        self._process: Answering = process or Process(start.command, start.folder, place, start.seconds)
        self._batch, self._place = start.batch, place
        self._hello = {"do": "hello", "protocol": PROTOCOL, "options": dict(start.options)}
        about = self._introduced()
        self._about, self._words = about, frozenset(about.words)
        self.sees, self.exact, self.bos, self.eos = about.sees, about.exact, about.bos, about.eos
        self.can, self.words, self.numerical_error = about.can, about.words or None, about.numerical_error
        symbols = {name: "yes" if symbol else "no" for name, symbol in (("bos", self.bos), ("eos", self.eos))}
        self.settings = symbols | dict(about.settings)
        stated = asdict(about) | {"can": sorted(about.can)}
        if not about.numerical_error:
            # Programs had their fingerprints before they could state it.
            del stated["numerical_error"]
        described = json.dumps(stated, sort_keys=True)
        self.fingerprint = hashlib.sha256(f"program {PROTOCOL}|{sources}|{described}".encode()).hexdigest()
        self.name = family.canonical(f"{about.name}@{self.fingerprint[:8]}", {})
        self.record = {"hash": sources, "stated": about.fingerprint}

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Ask the program for the surprisals of each text; see `LanguageModel.score`."""

        def ask(batch: Sequence[str]) -> list[Surprisals]:
            answer = self._asked("score", {"texts": batch}, _batch(len(batch), "text", batch[0]))
            return answers.surprisals(answer, batch, self._about)

        return self._in_batches(texts, ask, done)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """Ask the program for the surprisal of each candidate in each gap; see `LanguageModel.fill`."""
        if "fill" not in self.can:
            return super().fill(gaps, done)
        refuse_best(self, max((gap.best for gap in gaps), default=0))

        def ask(batch: Sequence[Gap]) -> list[Fill]:
            questions = [{"left": gap.left, "right": gap.right, "words": gap.words} for gap in batch]
            answer = self._asked("fill", {"gaps": questions}, _batch(len(batch), "gap", batch[0].left))
            return answers.fills(answer, batch, self._about)

        return self._in_batches(gaps, ask, done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        if "fill" not in self.can:
            return super().single(words)
        return np.array([word in self._words for word in words], bool)

    def _in_batches(
        self, items: Sequence[Any], ask: Callable[[Sequence[Any]], list[Any]], done: Callable[[int], None] | None
    ) -> Iterator[Any]:
        for begin in range(0, len(items), self._batch):
            batch = items[begin : begin + self._batch]
            yield from self._retried(batch, ask)
            if done:
                done(len(batch))

    def _retried(self, batch: Sequence[Any], ask: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
        """Ask in one request. If the program ends, start it again and ask for each item separately, twice at most."""
        try:
            return self._checked(batch, ask)
        except Ended as ended:
            print(f"{self._place}: {ended}; it is started again", file=sys.stderr)
        if len(batch) > 1:
            return [answer for item in batch for answer in self._retried([item], ask)]
        try:
            return self._checked(batch, ask)
        except Ended as ended:
            item = batch[0].left if isinstance(batch[0], Gap) else batch[0]
            found = f"{ended} twice when asked about {item[:60]!r}"
            raise ModelError(self._place, found, "an answer") from None

    def _checked(self, batch: Sequence[Any], ask: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
        try:
            return ask(batch)
        except InputError as error:
            raise self._process.refused(f"{error.place}: {error.found}", error.expected, error.cure) from None

    def _asked(self, do: str, items: Mapping[str, Any], subject: str) -> dict[str, Any]:
        if not self._process.running and self._introduced() != self._about:
            raise self._process.refused("after a restart, another answer to hello than before", "the same answer")
        return self._process.ask({"do": do, **items}, subject)

    def _introduced(self) -> answers.Hello:
        """Start the program, and ask what it says of its model."""
        try:
            return answers.hello(self._process.ask(self._hello, "hello"))
        except Ended as ended:
            raise ModelError(self._place, str(ended), "an answer to hello") from None
        except InputError as error:
            raise self._process.refused(f"{error.place}: {error.found}", error.expected, error.cure) from None


def sources(start: Start) -> str:
    """Return a hash of a program's command and options. Files count with their content, wherever they are."""
    paths = {word: start.folder / word for word in start.command}
    files = {word: [path.name, hashing.of_file(path)] for word, path in paths.items() if path.is_file()}
    described = json.dumps([[files.get(word, word) for word in start.command], start.options], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def refuse_unless_allowed(place: str, allow_exec: bool) -> None:
    """Refuse to start a program without permission."""
    if not allow_exec:
        raise ModelError(
            place, "a program, which is not started without permission", "the permission",
            f"Give it if you trust its author. {how_to_give('allow_exec')}",
        )  # fmt: skip


def _batch(count: int, noun: str, first: str) -> str:
    return f"{counted(count, noun)}, the first {first[:60]!r}"
