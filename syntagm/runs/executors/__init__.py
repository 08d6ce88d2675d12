"""Executors: ways to start workers, one per file. The rest, from offering a unit to committing it, is the same for all."""

import pickle
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from syntagm import registry, settings
from syntagm.errors import RunError, UsageError, did_you_mean
from syntagm.io import regular
from syntagm.io.number import whole
from syntagm.permissions import NONE, Permissions, of_flags
from syntagm.settings import Setting, Whole

if TYPE_CHECKING:
    from syntagm.runs.worker import Session


PATIENCE = Setting(
    "patience", Whole(), "120", "seconds without a sign of life after which a worker counts as dead"
)


class Executor(ABC):
    """A way to start workers.

    Attributes:
        form: how it is written on the command line.
        options: its options. The constructor gets the values of those that were given.
        one_machine: whether the workers run on the machine of the driver, and can share its cache of answers.
        text: what the user wrote.
        count: the number of workers; known after `connect`.
        patience: the seconds without a sign of life after which a worker counts as dead.
        beat: the seconds between two signs of life.
        permissions: what the user permits. Workers get it as an argument, because files may come from others.
    """

    form: ClassVar[str]
    options: ClassVar[tuple[Setting, ...]] = ()
    one_machine: ClassVar[bool] = False

    def __init__(self, address: str, options: Mapping[str, Any]) -> None:
        self.text, self.count, self.permissions = "", 1, NONE
        self.be_patient(120.0)

    def be_patient(self, seconds: float) -> None:
        """Set the patience, in which twelve signs of life are due."""
        self.patience, self.beat = seconds, seconds / 12

    def connect(self) -> None:  # noqa: B027, most have nothing to do
        """Reach the place where workers will run. It comes before `start`, and is followed by `stop`.

        Raises:
            RunError: it can't be reached, or has no room for the workers.
        """

    @abstractmethod
    def start(self, workers: Sequence[str], session: "Session") -> None:
        """Start workers with these names, each of which calls `worker.serve(session, name, self.permissions)`.

        This must not wait for anything, since no unit is committed meanwhile. `ended` reports workers that can't be
        started.
        """

    @abstractmethod
    def ended(self) -> Mapping[str, str]:
        """Return the workers that have ended since the last call, each with the reason as far as it is known."""

    def refusal(self) -> RunError | None:
        """Return why workers that `ended` has just returned could not be started, if that is how they ended."""
        return None

    def evicted(self, worker: str) -> bool:
        """Return whether a worker that `ended` has just returned was ended from outside, through no fault of its work."""
        return False

    @abstractmethod
    def stop(self) -> None:
        """End all workers, without waiting for their work."""


def find(text: str) -> Executor:
    """Return the executor that the user names: `NAME[:ADDRESS][?option=value&...]`.

    Raises:
        UsageError: there is no such executor or option, or its library is not installed.

    >>> find("local:3").count
    3
    """
    address, options = settings.asked(text, "--executor")
    name, _, address = address.partition(":")
    if name not in (known := registry.names("runs.executors")):
        forms = [registry.find("runs.executors", each).EXECUTOR.form for each in known]
        cure = did_you_mean(name, known) or "Without --executor, models are evaluated in this process."
        raise UsageError("--executor", repr(text), "one of " + ", ".join(forms), cure)
    kind: type[Executor] = registry.find("runs.executors", name).EXECUTOR
    executor = kind(address, settings.read(kind.options, options, f"--executor {text}"))
    executor.text = text
    return executor


def program(module: str, session: "Session", permissions: Permissions) -> list[str]:
    """Return the beginning of the command of a process that calls `main(session, permissions, *words)`; words follow.

    Arguments:
        module: the module with this function.

    Like the command of the user, the process imports nothing from the current folder.
    """
    file = session.exchange / "session"
    if not file.exists():
        # A pickle, as Ray makes one: the folder was made for this command, and is deleted after it.
        file.write_bytes(pickle.dumps(session))
    place = str(Path(__file__).parents[3])
    code = (
        f"import sys; {place!r} in sys.path or sys.path.insert(0, {place!r}); from {module} import main; "
        "from syntagm.runs.executors import started; started(main, *sys.argv[1:])"
    )
    return [sys.executable, "-P", "-c", code, str(file), *permissions.flags]


def started(main: Callable[..., None], file: str, *words: str) -> None:
    """Call `main` in a process that was started with the command of `program`."""
    granted = of_flags(words)
    main(pickle.loads(regular.content(file)), granted, *words[len(granted.flags) :])


def first_line(error: Exception) -> str:
    """Return the first line of an error of a library, or its kind if it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def workers(executor: str, address: str) -> int:
    """Return the number of workers that an executor has as its address.

    Raises:
        UsageError: it is something else.
    """
    if not address:
        raise UsageError(f"--executor {executor}", "no number of workers", f"{executor}:N, for example {executor}:4")
    return whole(f"--executor {executor}:{address}", address)
