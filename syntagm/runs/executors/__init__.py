"""Executors: ways to have units computed by workers, one per file. What is committed, and when, is the same for all."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from syntagm.core import NONE, Setting, UsageError, Whole, did_you_mean, registry, settings, whole
from syntagm.runs.pieces import Event, Piece

if TYPE_CHECKING:
    from syntagm.runs.worker import Session


PATIENCE = Setting("patience", Whole(), "120", "seconds without a sign of life after which a worker counts as dead")


class Executor(ABC):
    """A way to have pieces of work computed.

    The driver offers pieces and handles events, in one thread; whatever the executor does with a piece, it ends with an
    `Arrival`, or with `Lost`, or the driver withdraws the model. More than one arrival of a piece does no harm. Executors
    whose workers see the folder of the driver only start processes: see `runs.shared_folder`.

    Attributes:
        form: how it is written on the command line.
        summary: what it is, in a few words for help.
        options: its options. The constructor gets the values of those that were given.
        one_machine: whether the workers run on the machine of the driver, and can share its cache of answers.
        text: what the user wrote.
        count: the number of workers; known after `connect`.
        patience: the seconds without a sign of life after which a worker counts as dead.
        beat: the seconds between two signs of life.
        permissions: what the user permits. Workers get it as an argument, because files may come from others.
    """

    form: ClassVar[str]
    summary: ClassVar[str] = ""
    options: ClassVar[tuple[Setting, ...]] = ()
    one_machine: ClassVar[bool] = False

    def __init__(self, address: str, options: Mapping[str, Any]) -> None:
        self.text, self.count, self.permissions = "", 1, NONE
        self.be_patient(120.0)

    def be_patient(self, seconds: float) -> None:
        """Set the patience, in which twelve signs of life are due."""
        self.patience, self.beat = seconds, seconds / 12

    def connect(self) -> None:  # noqa: B027, most have nothing to do
        """Reach the place where workers will run. It comes before all that follows, and is followed by `stop`.

        Raises:
            RunError: it can't be reached, or has no room for the workers.
        """

    def hosting(self, session: "Session") -> contextlib.AbstractContextManager[None]:
        """Return what must be there while a command runs; `session.exchange` is an empty folder for it."""
        return contextlib.nullcontext()

    @abstractmethod
    def start(self, workers: Sequence[str], session: "Session") -> None:
        """Start workers with these names. This must not wait for anything, since no unit is committed meanwhile."""

    @abstractmethod
    def describe(self, model: int, order: Mapping[str, Any]) -> None:
        """Tell the workers what they have to know of a model (see `computing.Computer`), before and after it is opened.

        The first time, it has no `fingerprint`; after the opening it has, or "" if no unit follows.
        """

    @abstractmethod
    def offer(self, piece: Piece) -> None:
        """Offer a piece. Units are offered before the model is described with its fingerprint."""

    @abstractmethod
    def withdraw(self, model: int) -> None:
        """Take back the offers of a model. Pieces of it that workers have need not be reported any more."""

    @abstractmethod
    def events(self, wait: float) -> Sequence[Event]:
        """Return what has happened, waiting so many seconds for it at most.

        Raises:
            RunError: no worker will ever do anything.
        """

    @abstractmethod
    def stop(self) -> None:
        """End all workers, without waiting for their work."""


def kinds() -> dict[str, type[Executor]]:
    """Return all executors by name, including those of other packages.

    >>> kinds()["local"].form
    'local:N'
    """
    return {name: registry.find("executors", name).EXECUTOR for name in registry.names("executors")}


def described() -> str:
    """Return what executors there are, for help."""
    return ", ".join(f"{kind.form} ({kind.summary})" if kind.summary else kind.form for kind in kinds().values())


def find(text: str) -> Executor:
    """Return the executor that the user names: `NAME[:ADDRESS][?option=value&...]`.

    Raises:
        UsageError: there is no such executor or option, or its library is not installed.

    >>> find("local:3").count
    3
    """
    address, options = settings.asked(text, "--executor")
    name, _, address = address.partition(":")
    if name not in (known := registry.names("executors")):
        cure = did_you_mean(name, known) or "Without --executor, models are evaluated in this process."
        raise UsageError("--executor", repr(text), "one of " + ", ".join(kind.form for kind in kinds().values()), cure)
    kind = kinds()[name]
    executor = kind(address, settings.read(kind.options, options, f"--executor {text}"))
    executor.text = text
    return executor


def first_line(error: Exception) -> str:
    """Return the first line of an error of a library, or its kind if it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def workers(executor: str, address: str) -> int:
    """Return the number of workers that an executor has as its address."""
    if not address:
        raise UsageError(f"--executor {executor}", "no number of workers", f"{executor}:N, for example {executor}:4")
    return whole(f"--executor {executor}:{address}", address)
