"""Language models whose surprisals are computed by a program."""

import contextlib
import hashlib
import json
import os
import selectors
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import IO, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, ModelError, counted, hashing, how_to_give, json as strict_json
from syntagm.models.answers import Fill, Gap, Surprisals
from syntagm.models.contract import LanguageModel, refuse_best
from syntagm.models.family import Family
from syntagm.models.program import answers

# Bytes of an answer.
MAX_ANSWER = 64 * 2**20
# Lines of standard error that are shown for each start of the program, and characters of a line.
MAX_MESSAGES, MAX_MESSAGE = 1000, 500
_CHUNK = 1 << 16
# Seconds that a program gets to end by itself after its input or its output has ended.
_GRACE = 2.0


class Ended(Exception):
    """The program ended before it answered."""


class Process:
    """A program that is started when it is first asked, and again after it ended."""

    # The program is not trusted to answer, nor to answer what was asked. A request has a number, which the answer repeats;
    # so a line too many can't become the answer to the next request.

    def __init__(self, command: Sequence[str], folder: Path, name: str, seconds: float) -> None:
        self._command, self._folder, self._name, self._seconds = list(command), folder, name, seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._number = 0

    @property
    def running(self) -> bool:
        """Whether the program was started, and has not been seen to end."""
        return self._child is not None

    def ask(self, request: Mapping[str, Any], subject: str) -> dict[str, Any]:
        """Send a request, and return the answer without its number."""
        self._number += 1
        line = json.dumps({"id": self._number, **request}).encode("ascii") + b"\n"
        if self._child is None:
            self._start()
        try:
            answer = self._parsed(self._exchanged(line, subject))
        except BaseException:
            # After an interruption, too, its next line would answer another request.
            self.end()
            raise
        if (number := answer.pop("id", None)) != self._number or isinstance(number, bool):
            raise self.refused(
                f"an answer with the id {number!r:.40} to the request about {subject}", f"the id {self._number}",
                "The program must write exactly one line for each request, and repeat the request's id.",
            )  # fmt: skip
        if "error" in answer:
            message = " ".join(str(answer["error"]).split())[:MAX_MESSAGE]
            raise self.refused(f"the program reports: {message}", f"an answer to {subject}")
        return answer

    def refused(self, found: str, expected: str, cure: str = "") -> ModelError:
        """Return the error for an answer that is refused, and end the program."""
        self.end()
        return ModelError(self._name, found, expected, cure)

    def end(self) -> None:
        """Kill the program, unless it has ended."""
        if self._child is not None:
            self._selector.close()
            self._finalizer.detach()
            _end(self._child, 0.0)
            self._child = None

    def _start(self) -> None:
        try:
            # In a session of its own, Ctrl-C does not reach it, and it can be killed with the programs that it started.
            child = subprocess.Popen(
                self._command, bufsize=0, cwd=self._folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            found = f"the program {self._command[0]!r} can't be started ({reason})"
            raise ModelError(self._name, found, "a program") from None
        assert child.stdin is not None, "a pipe"
        assert child.stdout is not None, "a pipe"
        assert child.stderr is not None, "a pipe"
        self._child, self._finalizer = child, weakref.finalize(self, _end, child, _GRACE)
        self._received, self._messages = bytearray(), _Messages(self._name)
        self._in, self._out, self._err = child.stdin, child.stdout, child.stderr
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)
        os.set_blocking(self._in.fileno(), False)

    def _exchanged(self, line: bytes, subject: str) -> bytes:
        """Write a line and read a line, while messages on standard error are shown."""
        unsent, deadline = memoryview(line), time.monotonic() + self._seconds
        self._selector.register(self._in, selectors.EVENT_WRITE)
        searched, end = 0, -1
        while end < 0:
            if (wait := deadline - time.monotonic()) <= 0:
                raise self.refused(
                    f"no answer within {self._seconds:g} seconds", f"an answer to {subject}",
                    "If the program needs longer, set `seconds`; if it waits for more input, see that it writes its answers "
                    "at once.",
                )  # fmt: skip
            for key, _ in self._selector.select(wait):
                if key.fileobj is self._in:
                    unsent = self._sent(unsent)
                elif key.fileobj is self._err:
                    self._read_messages()
                elif not (chunk := os.read(self._out.fileno(), _CHUNK)):
                    raise self._ended()
                else:
                    self._received += chunk
            end = self._received.find(b"\n", searched)
            searched = len(self._received)
            if (searched if end < 0 else end) > MAX_ANSWER:
                cure = "Set `batch` to a smaller number, or see why the answer is so long."
                raise self.refused(f"a line of more than {MAX_ANSWER:,} bytes", f"an answer to {subject}", cure)
        if self._in in self._selector.get_map():
            raise self.refused(f"an answer before the request about {subject} was read", "an answer after it")
        answer = bytes(self._received[:end])
        del self._received[: end + 1]
        return answer

    def _sent(self, unsent: memoryview) -> memoryview:
        """Write as much as the program reads, and return the rest."""
        try:
            unsent = unsent[os.write(self._in.fileno(), unsent[:_CHUNK]) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError:
            # It may have ended, or have closed its input: its output tells.
            unsent = unsent[:0]
        if not unsent:
            self._selector.unregister(self._in)
        return unsent

    def _read_messages(self) -> None:
        if chunk := os.read(self._err.fileno(), _CHUNK):
            self._messages.add(chunk)
        else:
            self._selector.unregister(self._err)

    def _ended(self) -> Ended:
        """Read the last messages of a program whose output has ended, and end it."""
        child, deadline = self._child, time.monotonic() + _GRACE
        assert child, "a program that was started"
        self._selector.unregister(self._out)
        if self._in in self._selector.get_map():
            self._selector.unregister(self._in)
        while self._err in self._selector.get_map() and (wait := deadline - time.monotonic()) > 0:
            if self._selector.select(wait):
                self._read_messages()
        self._messages.add(b"\n")
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE)
        status = child.poll()
        reason = "its output" if status is None else f"exit status {status}" if status >= 0 else f"signal {-status}"
        last = f"; its last message: {self._messages.last}" if self._messages.last else ""
        return Ended(f"the program ended ({reason}{last})")

    def _parsed(self, line: bytes) -> dict[str, Any]:
        shown = repr(line[:60].decode("utf-8", "replace"))
        cure = "Only answers belong on standard output; messages belong on standard error."
        try:
            answer = strict_json.parsed(line.decode("utf-8"), Path("answer"))
        except UnicodeDecodeError:
            raise self.refused(f"an answer that is not UTF-8: {shown}", "a JSON object on a line", cure) from None
        except InputError as error:
            found = f"{error.place}, {shown}: {error.found}"
            raise self.refused(found, error.expected, error.cure or cure) from None
        if not isinstance(answer, dict):
            raise self.refused(f"the answer {shown}", "a JSON object on a line", cure)
        return answer


class _Messages:
    """The messages of a program on standard error: shown as they come, without anything that a terminal would execute."""

    def __init__(self, name: str) -> None:
        self._name, self._rest, self._left, self.last = name, b"", MAX_MESSAGES, ""

    def add(self, chunk: bytes) -> None:
        """Show the lines that are complete."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _CHUNK:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            text = line.decode("utf-8", "replace").expandtabs().rstrip()[:MAX_MESSAGE]
            if not text:
                continue
            self.last = "".join(character if character.isprintable() else "\ufffd" for character in text)
            if self._left > 0:
                print(f"{self._name}: {self.last}", file=sys.stderr)
            elif self._left == 0:
                print(f"{self._name}: further messages are not shown", file=sys.stderr)
            self._left -= 1


def _end(child: subprocess.Popen[bytes], grace: float) -> None:
    """End a program: close its input and output, and kill its process group if it is still there after `grace` seconds."""
    pipes: tuple[IO[bytes] | None, ...] = (child.stdin, child.stdout, child.stderr)
    for pipe in pipes:
        if pipe:
            pipe.close()
    try:
        child.wait(grace)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, SIGKILL)
        child.wait()


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

        def ask(batch: Sequence[str]) -> list[Surprisals]:
            answer = self._asked("score", {"texts": batch}, _batch(len(batch), "text", batch[0]))
            return answers.surprisals(answer, batch, self._about)

        return self._in_batches(texts, ask, done)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
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
    if not allow_exec:
        raise ModelError(
            place, "a program, which is not started without permission", "the permission",
            f"Give it if you trust its author. {how_to_give('allow_exec')}",
        )  # fmt: skip


def _batch(count: int, noun: str, first: str) -> str:
    return f"{counted(count, noun)}, the first {first[:60]!r}"
