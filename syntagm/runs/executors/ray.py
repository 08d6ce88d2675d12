"""Workers as actors of Ray, started on this machine or on a cluster that runs already. No file system is shared.

    driver <- a connection -> hub, a process of this machine <- Ray -> actors

Work goes out and outcomes come back as objects of Ray: orders and suites to the actors, tables as bytes to the driver, which
writes and commits them. The hub hands out pieces, so that no actor waits while the driver commits. It is a process of its own
because Ray ends the process that is connected to it, without an error, when Ray's processes on its machine end, or its head is
gone.
"""

import contextlib
import hashlib
import importlib
import math
import os
import queue
import socket
import subprocess
import sys
import tempfile
import time
from bisect import insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import connection
from pathlib import Path
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any, ClassVar

from syntagm.core import (
    Choice,
    Permissions,
    RunError,
    Setting,
    SyntagmError,
    UsageError,
    Value,
    Values,
    Whole,
    atomic,
    counted,
    extras,
    regular,
)
from syntagm.runs.executors import PATIENCE, Executor, first_line
from syntagm.runs.pieces import (
    OPEN,
    RESULTS,
    Answered,
    Arrival,
    Begun,
    Ended,
    Event,
    Lost,
    Outcome,
    Pace,
    Piece,
    Warned,
    refusal,
)

if TYPE_CHECKING:
    from syntagm.runs.worker import Session
    from syntagm.suites import Suite

# How often Ray itself starts an actor again whose process has died.
_RESTARTS = 3
# The most bytes of a model that is sent to the workers.
_MOST_SHIPPED = 2**31
# The seconds after which an actor that is being started again is asked again.
_AGAIN = 0.5
# The most messages that the driver takes before it looks at what they bring.
_AT_ONCE = 256


class _Amount(Values):
    """An amount of GPUs or of another resource: a whole number, or a part of one."""

    def read(self, place: str, text: str) -> float:
        with contextlib.suppress(ValueError):
            amount = float(text)
            if 0 <= amount < 1e6 and (amount < 1 or amount.is_integer()):
                return amount
        raise UsageError(place, repr(text), "a whole number, or a part of 1")


class _Resources(Values):
    """The cluster's own resources that a worker needs.

    >>> _Resources().read("resources=", "tpu:2,disk:0.5")
    {'tpu': 2.0, 'disk': 0.5}
    """

    def read(self, place: str, text: str) -> dict[str, float]:
        pairs = [part.rpartition(":") for part in text.split(",") if part]
        for name, _, amount in pairs:
            if not name or name in ("CPU", "GPU", "memory"):
                cure = "Processors, GPUs and memory have options of their own: cpus, gpus, memory."
                raise UsageError(place, repr(name or amount), "NAME:AMOUNT,NAME:AMOUNT", cure)
        return {name: _Amount().read(f"{place}{name}:", amount) for name, _, amount in pairs}


class Ray(Executor):
    """Actors, each of which keeps its model loaded. Ray chooses their machines by the resources that they ask for."""

    form: ClassVar[str] = "ray[:ADDRESS]"
    summary: ClassVar[str] = "actors of Ray, here or on a cluster, which share no folder"
    options: ClassVar[tuple[Setting, ...]] = (
        Setting("workers", Whole(), "", "the number of workers; as many as fit into the cluster now if not given"),
        Setting("cpus", Whole(), "1", "processors per worker, and its threads"),
        Setting("gpus", _Amount(), "0", "GPUs per worker, or a part of one"),
        Setting("memory", Whole(0), "", "gigabytes that Ray reserves per worker"),
        Setting("resources", _Resources(), "", "the cluster's own resources per worker: NAME:AMOUNT,NAME:AMOUNT"),
        Setting(
            "ship", Choice((Value("models"),)), "", "`models` to send local models to the workers, up to 2 GB each"
        ),
        PATIENCE,
    )

    def __init__(self, address: str, options: Mapping[str, Any]) -> None:
        super().__init__(address, options)
        self._address, self._given = address, dict(options)
        self.be_patient(float(self._given.get("patience", self.patience)))
        self._needed = {"CPU": float(self._given.get("cpus", 1)), "GPU": self._given.get("gpus", 0.0)}
        self._needed |= {"memory": float(self._given.get("memory", 0) << 30), **self._given.get("resources", {})}
        if not extras.installed("ray"):
            raise extras.missing("ray", "--executor ray")
        self._hub: _HubProcess | None = None
        self._notes: list[Event] = []
        self._error: SyntagmError | None = None

    def connect(self) -> None:
        """Start Ray on this machine, or connect to a cluster."""
        cure = (
            "`ray start --head` starts one, and prints its address. Without an address, Ray is started on this machine."
        )
        try:
            _refuse_unreachable(self._address)
            self._hub = _HubProcess(self.text)
            machines = self._hub.ask("connect", self._address)
            self._count(machines)
        except (OSError, _RayError) as error:
            self.stop()
            raise RunError(
                f"--executor {self.text}", first_line(error), "the address of a running Ray cluster", cure
            ) from error
        except BaseException:
            self.stop()
            raise

    def _count(self, machines: Sequence[Mapping[str, float]]) -> None:
        """Set the number of workers."""
        fit = sum(_room(machine, self._needed) for machine in machines)
        self.count = self._given.get("workers", fit)
        if 1 <= self.count <= fit:
            return
        found = f"room for {counted(fit, 'worker')} with {_shown(self._needed)}"
        if self.count:
            found += f", not for {self.count:,}"
        asked = [name for name, amount in self._needed.items() if amount or name in ("CPU", "GPU")]
        has = {name: sum(machine.get(name, 0) for machine in machines) for name in asked}
        there = f"There are {_shown(has)} on {counted(len(machines), 'machine')}, and each worker runs on one."
        # Machines may join a cluster later, if its owner or its autoscaler adds some.
        if not self._address or not self.count:
            expected = f"at most {fit:,}" if fit else "room for one"
            raise RunError(f"--executor {self.text}", found, expected, there)
        self._notes.append(Warned(f"--executor {self.text}: {found}. {there} The others start when machines join."))

    @contextlib.contextmanager
    def hosting(self, session: "Session") -> Iterator[None]:
        """Hand the hub what all workers have in common."""
        self._place = session.exchange / "files"
        try:
            self._place.mkdir()
        except OSError as error:
            raise atomic.refusal(session.exchange.parent, error, 0) from error
        sent = replace(session, work=replace(session.work, cache=None))
        self._send("host", sent, self.permissions, self._needed, "ship" in self._given)
        yield

    def start(self, workers: Sequence[str], session: "Session") -> None:
        self._send("start", list(workers))

    def describe(self, model: int, order: Mapping[str, Any]) -> None:
        self._send("describe", model, dict(order))

    def offer(self, piece: Piece) -> None:
        self._send("offer", piece)

    def withdraw(self, model: int) -> None:
        self._send("withdraw", model)

    def events(self, wait: float) -> Sequence[Event]:
        assert self._hub
        if self._error:
            raise self._error
        events, self._notes = self._notes, []
        for message in self._hub.messages(wait):
            if isinstance(message, SyntagmError):
                # What came before it is handled first.
                self._error = message
                break
            events.append(message.arrival(self._place) if isinstance(message, _Sent) else message)
        return events

    def stop(self) -> None:
        """Kill the actors, and leave the cluster; one that was started here ends."""
        if self._hub:
            self._hub.close()
        self._hub = None

    def _send(self, *words: Any) -> None:
        assert self._hub
        self._hub.send(*words)


class _RayError(Exception):
    """An error of Ray, as text."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """An outcome as an actor sends it: an `Arrival` with the content of its files."""

    piece: Piece
    worker: str
    head: Mapping[str, Any]
    content: Mapping[str, bytes]
    hashes: Mapping[str, str]
    seconds: Sequence[float]

    def arrival(self, place: Path) -> "_SentArrival":
        """Return the arrival; its files will be written into a folder of the driver."""
        files = {name: place / f"{self.piece}.{self.worker}.{name}" for name in self.content}
        return _SentArrival(self.piece, self.worker, self.head, files, self.hashes, self.seconds, self.content)


@dataclass(frozen=True, slots=True)
class _SentArrival(Arrival):
    """An outcome whose files the driver writes."""

    content: Mapping[str, bytes] = field(default_factory=dict)

    def settle(self) -> bool:
        """Write the files durably, if they are those that the worker sent."""
        if any(hashlib.sha256(content).hexdigest() != self.hashes[name] for name, content in self.content.items()):
            return False
        for name, content in self.content.items():
            try:
                with (path := self.files[name]).open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise atomic.refusal(path.parent.parent, error, len(content)) from error
        return True

    def remove(self) -> None:
        """Delete those files that were not moved."""
        for path in self.files.values():
            path.unlink(missing_ok=True)


class _HubProcess:
    """The process of the hub, as the driver sees it."""

    def __init__(self, executor: str) -> None:
        self._executor = executor
        self._connection, other = connection.Pipe()
        # A folder in which Python finds this package, and nothing else that would take the place of a module: Ray adds the
        # current folder to those in which workers look for modules.
        place = Path(__file__).parents[3]
        code = (
            f"import sys; {str(place)!r} in sys.path or sys.path.insert(0, {str(place)!r}); "
            f"from {__name__} import main; main(int(sys.argv[1]))"
        )
        self._log = tempfile.TemporaryFile()  # noqa: SIM115, closed with the connection
        # Ray warns of a future default otherwise, and reports each of its starts to its makers.
        environment = {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_USAGE_STATS_ENABLED": "0"} | dict(os.environ)
        # In a session of its own, Ctrl-C in the terminal reaches the driver only.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, str(other.fileno())], stdin=subprocess.DEVNULL, stdout=self._log,
            stderr=self._log, pass_fds=[other.fileno()], cwd=place, env=environment, start_new_session=True,
        )  # fmt: skip
        other.close()

    def send(self, *words: Any) -> None:
        """Send a command; if the hub has ended, the next message tells that."""
        with contextlib.suppress(OSError):
            self._connection.send(words)

    def ask(self, *words: Any) -> Any:
        self.send(*words)
        while not (messages := self.messages(1.0)):
            pass
        if isinstance(messages[0], Exception):
            raise messages[0]
        return messages[0]

    def messages(self, wait: float) -> list[Any]:
        """Return the messages that have come, waiting so many seconds for the first one at most."""
        messages: list[Any] = []
        try:
            while len(messages) < _AT_ONCE and self._connection.poll(0 if messages else wait):
                messages.append(self._connection.recv())
        except (EOFError, OSError):
            if not messages:
                raise self._lost() from None
        return messages

    def _lost(self) -> RunError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        why = next((line for line in lines if "Failed to connect to GCS" in line), "")
        reason = "its head does not answer" if why else "its processes on this machine have ended"
        cure = (
            "Finished work is kept: start the cluster again, and run the same command again, or use another executor."
        )
        return RunError(
            f"--executor {self._executor}", f"the connection to Ray is lost: {reason}", "a cluster that runs", cure
        )

    def close(self) -> None:
        """End the hub, and with it the actors."""
        # It ends by itself when the connection does.
        self._connection.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


def main(descriptor: int) -> None:
    """Be the hub until the connection ends."""
    hub = _Hub(connection.Connection(descriptor), importlib.import_module("ray"))
    try:
        hub.run()
    except SyntagmError as error:
        hub.tell(error)
    except Exception as error:  # an error of any kind of Ray
        hub.tell(RunError("--executor ray", first_line(error), "a cluster that works", "Run the same command again."))
    finally:
        hub.close()


@dataclass
class _Hand:
    """A worker, as the hub sees it."""

    name: str
    actor: Any
    pace: Pace = field(default_factory=Pace)
    piece: Piece | None = None  # what it computes
    loaded: int | None = None  # the number of its model
    awaits: int | None = None  # the model that it has planned, if the driver has not answered yet
    asked: float | None = None  # when it was asked for a sign of life that it has not given yet
    node: str = ""  # the machine on which it runs


class _Hub:
    """Hands out pieces to actors. Everything happens in one thread, which takes messages from a queue."""

    def __init__(self, driver: connection.Connection, ray: Any) -> None:
        self._ray, self._driver = ray, driver
        self._queue = queue.SimpleQueue[tuple[Any, ...]]()
        # All workers, and those that run and have no piece; and how many have one of each model.
        self._hands: dict[str, _Hand] = {}
        self._idle: dict[str, _Hand] = {}
        self._busy = Counter[int]()
        self._orders: dict[int, dict[str, Any]] = {}
        self._offers: dict[int, list[Piece]] = {}
        self._unsteady: set[int] = set()
        self._shipped: dict[int, Any] = {}
        self._beat, self._patience, self._ships = 1.0, math.inf, False
        # Since when no worker runs.
        self._alone = time.monotonic()

    def tell(self, message: Any) -> None:
        """Tell the driver something; if it has ended, nothing."""
        with contextlib.suppress(OSError):
            self._driver.send(message)

    def run(self) -> None:
        """Do what the driver says, and tell it what happens, until it ends."""
        Thread(target=self._listen, daemon=True).start()
        looked = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                words = self._queue.get(timeout=self._beat)
                while words:
                    if words[0] == "end":
                        return
                    getattr(self, f"_{words[0]}")(*words[1:])
                    words = self._queue.get_nowait()
            self._hand_out()
            if time.monotonic() - looked >= self._beat:
                looked = time.monotonic()
                self._listen_for_life()

    def close(self) -> None:
        for hand in self._hands.values():
            with contextlib.suppress(Exception):
                self._ray.kill(hand.actor)
        with contextlib.suppress(Exception):
            self._ray.shutdown()

    def _listen(self) -> None:
        try:
            while True:
                self._queue.put(self._driver.recv())
        except (EOFError, OSError):
            self._queue.put(("end",))

    # What the driver says.

    def _connect(self, address: str) -> None:
        try:
            self._ray.init(
                address or "local",
                include_dashboard=None if address else False,
                log_to_driver=False,
                logging_level="error",
            )
        except (OSError, RuntimeError, ValueError) as error:
            self.tell(_RayError(first_line(error)))
            return
        # Ray would wait without end for a machine that has all that a worker needs.
        self.tell([machine["Resources"] for machine in self._ray.nodes() if machine["Alive"]])

    def _host(self, session: "Session", permissions: Permissions, needed: Mapping[str, float], ships: bool) -> None:
        from syntagm.suites import SuiteFiles

        os.chdir(session.directory)
        self._beat, self._patience, self._ships = session.beat, session.patience, ships
        options: dict[str, Any] = {"num_cpus": needed["CPU"], "num_gpus": needed["GPU"]}
        options |= {"memory": int(needed["memory"])} if needed["memory"] else {}
        options["resources"] = {name: value for name, value in needed.items() if name not in ("CPU", "GPU", "memory")}
        # What an actor has to do and the signs of life have a thread each.
        kind = self._ray.remote(concurrency_groups={"signs": 1})(_Actor)
        self._kind = kind.options(max_restarts=_RESTARTS, **options)
        files = SuiteFiles(session.work.files, permissions.allow_pickle)
        suites = {file: self._ray.put(files.read(file)) for file in session.work.files}
        self._common = self._ray.put((session, permissions)), suites

    def _start(self, workers: Sequence[str]) -> None:
        for worker in workers:
            self._hands[worker] = hand = _Hand(worker, self._kind.remote(worker, *self._common))
            self._wait_for_start(hand)

    def _describe(self, model: int, order: dict[str, Any]) -> None:
        self._orders[model] = order
        if "fingerprint" in order:
            self._answered(model)

    def _answered(self, model: int) -> None:
        """Let the worker go on that has planned a model."""
        for hand in self._hands.values():
            hand.awaits = None if hand.awaits == model else hand.awaits

    def _offer(self, piece: Piece) -> None:
        if piece.name == OPEN:
            self._answered(piece.model)  # the plan was damaged
        pieces = self._offers.setdefault(piece.model, [])
        if piece not in pieces:
            insort(pieces, piece)

    def _withdraw(self, model: int) -> None:
        self._offers.pop(model, None)
        self._shipped.pop(model, None)

    # What Ray says.

    def _came(self, hand: _Hand, future: Any) -> None:
        """The process of an actor runs, or never will."""
        try:
            hand.node = future.result()
            self._idle[hand.name] = hand
        except self._ray.exceptions.ActorUnavailableError:
            # Ray starts it again.
            Timer(_AGAIN, self._queue.put, [("wait_for_start", hand)]).start()
        except Exception as error:
            del self._hands[hand.name]
            self.tell(Ended(hand.name, _reason(error), evicted=self._evicted(hand, error)))

    def _computed(self, hand: _Hand, piece: Piece, future: Any) -> None:
        """An actor has delivered a piece, or died with it."""
        hand.piece, hand.asked = None, None
        self._busy[piece.model] -= 1
        try:
            sent: _Sent = future.result()
        except Exception as error:
            blamed = not self._evicted(hand, error)
            self.tell(Lost(piece, hand.name, f"worker {hand.name}: {_reason(error)}", blamed))
            if isinstance(error, self._ray.exceptions.RayActorError):
                hand.loaded = hand.awaits = None
                self._wait_for_start(hand)
            else:
                self._idle[hand.name] = hand
            return
        self._idle[hand.name] = hand
        hand.pace.note(piece, sent.seconds)
        if piece.name == OPEN and "error" not in sent.head:
            # Unless another worker was quicker.
            hand.awaits = None if "fingerprint" in self._orders[piece.model] else piece.model
            if not sent.head.get("steady", True):
                self._unsteady.add(piece.model)
        self.tell(sent)

    def _lives(self, hand: _Hand, piece: Piece, future: Any) -> None:
        """An actor gives a sign of life, which is the number of answered questions."""
        if hand.piece == piece:
            hand.asked = None
            with contextlib.suppress(Exception):
                self.tell(Answered(piece, future.result()))

    # What the hub does by itself.

    def _wait_for_start(self, hand: _Hand) -> None:
        self._then(hand.actor.node.remote(), "came", hand)

    def _then(self, reference: Any, what: str, *words: Any) -> None:
        """Put a message into the queue when a call of an actor has ended."""
        reference.future().add_done_callback(lambda future: self._queue.put((what, *words, future)))

    def _hand_out(self) -> None:
        for hand in list(self._idle.values()) if any(self._offers.values()) else ():
            if hand.awaits is None and (piece := self._choose(hand)):
                del self._idle[hand.name]
                self._busy[piece.model] += 1
                hand.piece = piece
                if piece.name != RESULTS:
                    hand.loaded = piece.model
                self.tell(Begun(piece, hand.name))
                self._then(hand.actor.compute.remote(piece, *self._equipment(piece)), "computed", hand, piece)

    def _choose(self, hand: _Hand) -> Piece | None:
        """Take a piece for an idle worker: of its model if there is one, else of the model where it helps most."""
        if hand.loaded is not None and self._has_work(hand.loaded):
            return self._offers[hand.loaded].pop(0)
        offers = {model: pieces for model, pieces in self._offers.items() if self._has_work(model)}
        model = next(hand.pace.worth_loading(offers, self._busy), None)
        return None if model is None else offers[model].pop(0)

    def _has_work(self, model: int) -> bool:
        """Return whether a piece of a model can be given to a worker. Units are offered before all is known of them."""
        pieces = self._offers.get(model, [])
        return bool(pieces) and (pieces[0].name in (OPEN, RESULTS) or "fingerprint" in self._orders[model])

    def _equipment(self, piece: Piece) -> tuple[dict[str, Any], Any]:
        """Return the order of a piece for a worker that doesn't see the run directory, and the model if it is sent."""
        from syntagm.runs import ledger, store

        order = dict(self._orders[piece.model])
        folder = Path(order.pop("folder"))
        try:
            if piece.name == OPEN:
                order["finished"] = ledger.finished(folder)
            elif piece.name == RESULTS:
                order["files"] = _files_for_results(folder)
            else:
                unsteady = piece.model in self._unsteady
                order["answer"] = store.open_run(folder).first_answer() if unsteady else None
            if self._ships and piece.name != RESULTS:
                if piece.model not in self._shipped:
                    self._shipped[piece.model] = self._ray.put(_local_model(order["model"]))
                return order, self._shipped[piece.model]
        # The worker refuses the piece with it, so that it goes the way of all errors.
        except SyntagmError as error:
            order["error"] = error
        except OSError as error:
            found = f"{error.filename}: can't be read ({error.strerror})"
            order["error"] = RunError(str(folder), found, "the files of a run, or of a model to send")
        return order, None

    def _listen_for_life(self) -> None:
        """Ask busy workers for a sign of life, and kill those that have given none for too long; Ray starts them again."""
        now = time.monotonic()
        if self._idle or self._busy.total() or not any(self._offers.values()):
            self._alone = now
        elif now - self._alone > self._patience:
            self._alone = math.inf
            self.tell(
                Warned("no worker runs: Ray has no machine with room for one. The command waits; Ctrl-C ends it.")
            )
        for hand in self._hands.values():
            if hand.piece is None:
                continue
            if hand.asked is None:
                hand.asked = now
                sign = hand.actor.answered.options(concurrency_group="signs").remote()
                self._then(sign, "lives", hand, hand.piece)
            elif now - hand.asked > self._patience:
                hand.asked = now
                self._ray.kill(hand.actor, no_restart=False)

    def _evicted(self, hand: _Hand, error: Exception) -> bool:
        """Return whether a worker ended because its machine did, or was given to others."""
        if getattr(error, "preempted", False):
            return True
        return hand.node != "" and not any(node["NodeID"] == hand.node and node["Alive"] for node in self._ray.nodes())


class _Actor:
    """A worker, in a process of Ray."""

    def __init__(self, name: str, common: "tuple[Session, Permissions]", suites: Mapping[str, Any]) -> None:
        import ray

        from syntagm.runs.computing import Computer
        from syntagm.suites import SuiteFiles

        session, permissions = common

        class Sent(SuiteFiles):
            """The suites that the hub has read."""

            def __init__(self) -> None:
                super().__init__(session.work.files)
                self._names = {}  # suites of the same name are told apart already

            def _suites(self, file: str) -> "list[Suite]":
                suites_of_file: list[Suite] = ray.get(suites[file])
                return suites_of_file

        with contextlib.suppress(OSError):  # another machine need not have this folder
            os.chdir(session.directory)
        self._name, self._node = name, str(ray.get_runtime_context().get_node_id())
        self._computer = Computer(session.work, name, Sent(), session.versions, permissions)
        self._placed: tuple[int, str, tempfile.TemporaryDirectory[str] | None] = (-1, "", None)

    def node(self) -> str:
        return self._node

    def answered(self) -> int:
        return self._computer.answered.count

    def compute(self, piece: Piece, order: dict[str, Any], model: "_Model | None") -> _Sent:
        self._computer.answered.count = 0
        if error := order.pop("error", None):
            return self._sent(piece, refusal(error, fatal=False))
        with tempfile.TemporaryDirectory(prefix="syntagm-") as place:
            if model:
                order["model"] = self._name_of(piece.model, model)
            if "files" in order:
                order["folder"] = place
                _write(Path(place), order["files"])
            sent: _Sent = self._computer.deliver(piece, order, lambda outcome: self._sent(piece, outcome))
            return sent

    def _sent(self, piece: Piece, outcome: Outcome) -> _Sent:
        content = {name: b"".join(parts) for name, parts in outcome.files.items()}
        hashes = {name: hashlib.sha256(each).hexdigest() for name, each in content.items()}
        return _Sent(piece, self._name, outcome.head, content, hashes, outcome.seconds)

    def _name_of(self, number: int, model: "_Model") -> str:
        """Return the name of a model that was sent, which is written into a folder of this machine until another one is."""
        if self._placed[0] != number:
            if last := self._placed[2]:
                last.cleanup()
            self._placed = (-1, "", None)
            place = tempfile.TemporaryDirectory(prefix="syntagm-model-")
            _write(Path(place.name), model.files)
            self._placed = (number, model.name.format(place.name), place)
        return self._placed[1]


@dataclass(frozen=True, slots=True)
class _Model:
    """A local model that is sent to workers."""

    name: str  # its name, in which "{}" stands for the folder that has the files
    files: Mapping[str, bytes]  # the files, by their paths in that folder


def _local_model(text: str) -> _Model | None:
    """Return the files of a model that lies on this machine; None if it doesn't."""
    from syntagm.models import names

    address, question, options = text.partition("?")
    name = names.parse(text)
    path = Path(name.path)
    if not name.path or not address.endswith(name.path) or not path.exists():
        return None
    path = path.absolute()
    paths = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    if (size := sum(each.stat().st_size for each in paths)) > _MOST_SHIPPED:
        cure = "Copy it to a place that all machines see, and name it there."
        raise UsageError(f"model {text}", f"{size:,} bytes", f"at most {_MOST_SHIPPED:,} to send", cure)
    # The name of the folder is part of the name of the model. Braces in it or in options are none of ours.
    shown = f"{path.name}{question}{options}".replace("{", "{{").replace("}", "}}")
    files = {each.relative_to(path.parent).as_posix(): regular.content(each, _MOST_SHIPPED) for each in paths}
    return _Model(f"{name.family}:{{}}/{shown}", files)


def _files_for_results(folder: Path) -> dict[str, bytes]:
    from syntagm.runs.files import LEDGER

    paths = [folder / "run.json", folder / LEDGER, *sorted((folder / "shards").glob("*.results.parquet"))]
    return {path.relative_to(folder).as_posix(): regular.content(path) for path in paths}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (path := folder / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _reason(error: Exception) -> str:
    """Return why a worker ended, as Ray tells it: its longer explanations have the reason at the end of a line."""
    lines = str(error).strip().splitlines()
    detail = next((line.partition("detail: ")[2] for line in lines if "detail: " in line), "")
    return f"{type(error).__name__}: {detail or next(iter(lines), '')}"[:300]


def _room(machine: Mapping[str, float], needed: Mapping[str, float]) -> int:
    """Return the number of workers that fit into a machine."""
    return min(int(machine.get(name, 0) // amount) for name, amount in needed.items() if amount)


def _shown(resources: Mapping[str, float]) -> str:
    """Return resources in words.

    >>> _shown({"CPU": 2.0, "GPU": 0, "memory": 8 << 30, "disk": 1.0})
    '2 processors, 0 GPUs, 8 GB of memory and 1 disk'
    """
    gpus = resources.get("GPU", 0)
    parts = [
        counted(int(resources["CPU"]), "processor"),
        counted(int(gpus), "GPU") if gpus % 1 == 0 else f"{gpus:g} GPUs",
    ]
    if memory := int(resources.get("memory", 0)) >> 30:
        parts.append(f"{memory:,} GB of memory")
    parts += [f"{amount:g} {name}" for name, amount in resources.items() if name not in ("CPU", "GPU", "memory")]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _refuse_unreachable(address: str) -> None:
    """Raise OSError if nothing listens at [ray://]HOST:PORT, for which Ray would wait without an end."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.removeprefix("ray://").strip("[]"), int(port)), timeout=10).close()


EXECUTOR = Ray
