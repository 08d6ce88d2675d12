"""Ray's transport: the hub with actors of this process, models that are sent, and a cluster whose machines share nothing."""

import hashlib
import importlib.util
import random
import threading
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing import connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from laboratory import machines
from laboratory.clusters import Clusters

from syntagm.core import NONE, RunError, UsageError
from syntagm.evaluation import Predictions
from syntagm.models import load
from syntagm.runs import OPEN, Session, executors
from syntagm.runs.computing import Work, versions
from syntagm.runs.executors import ray
from syntagm.runs.pieces import RESULTS, Answered, Begun, Ended, Lost, Piece, Warned

installed = pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="ray is not installed")


class RayActorError(Exception):
    """As Ray's."""


class ActorUnavailableError(RayActorError):
    """As Ray's."""


class Call:
    """A call of an actor: what it was given, and its outcome, which a test decides."""

    def __init__(self, actor: str, method: str, words: tuple[Any, ...]) -> None:
        self.actor, self.method, self.words, self.outcome = actor, method, words, Future[Any]()

    def future(self) -> Future[Any]:
        return self.outcome


class FakeRay:
    """What the hub needs of Ray."""

    exceptions = SimpleNamespace(RayActorError=RayActorError, ActorUnavailableError=ActorUnavailableError)

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.killed: list[str] = []
        self.alive = True
        self.new = threading.Condition()

    def remote(self, **_: object) -> Callable[[type], Any]:
        return lambda _: SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self.actor))

    def actor(self, name: str, *_: object) -> Any:
        methods = {each: self.method(name, each) for each in ("node", "compute", "answered")}
        return SimpleNamespace(name=name, **methods)

    def method(self, actor: str, name: str) -> Any:
        def remote(*words: object) -> Call:
            with self.new:
                self.calls.append(call := Call(actor, name, words))
                self.new.notify_all()
            return call

        return SimpleNamespace(remote=remote, options=lambda **_: SimpleNamespace(remote=remote))

    def put(self, value: object) -> object:
        return value

    def nodes(self) -> list[dict[str, object]]:
        return [{"NodeID": "here", "Alive": self.alive}]

    def kill(self, actor: Any, no_restart: bool = True) -> None:
        self.killed.append(actor.name)

    def call(self, method: str) -> Call:
        """Return the next call of a method, waiting for it."""
        with self.new:
            found = lambda: next((call for call in self.calls if call.method == method), None)  # noqa: E731
            assert self.new.wait_for(found, 20), f"no call of {method}; {[call.method for call in self.calls]}"
            call = found()
            assert call
            self.calls.remove(call)
            return call


class Hub:
    """A hub in a thread of this process, with actors that a test plays."""

    def __init__(self, folder: Path, patience: float = 1000.0, beat: float = 1000.0) -> None:
        self.ray = FakeRay()
        self.driver, other = connection.Pipe()
        self.hub = ray._Hub(other, self.ray)
        work = Work(Predictions(), [])
        session = Session(work, folder, folder, versions(), beat, patience)
        self.driver.send(("host", session, NONE, {"CPU": 1.0, "GPU": 0.0, "memory": 0.0}, False))
        self.thread = threading.Thread(target=self.hub.run)
        self.thread.start()
        self.order = {"model": "toy", "label": "", "folder": str(folder / "run"), "options": {}}

    def start(self, *names: str) -> None:
        self.driver.send(("start", list(names)))
        for _ in names:
            self.ray.call("node").outcome.set_result("here")

    def offer(self, *pieces: Piece, fingerprint: str | None = None) -> None:
        self.driver.send(("describe", 0, self.order | ({} if fingerprint is None else {"fingerprint": fingerprint})))
        for piece in pieces:
            self.driver.send(("offer", piece))

    def told(self, kind: type) -> Any:
        """Return the next message of a kind."""
        while self.driver.poll(20):
            if isinstance(message := self.driver.recv(), kind):
                return message
        raise AssertionError(f"no {kind.__name__}")

    def close(self) -> None:
        self.driver.close()
        self.thread.join(20)
        assert not self.thread.is_alive()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    hubs: list[Hub] = []

    def make(**words: float) -> Hub:
        hubs.append(Hub(tmp_path, **words))
        return hubs[-1]

    yield make
    for each in hubs:
        each.close()


OPENING, FIRST, SECOND = Piece(0, 0, OPEN), Piece(0, 1, "a"), Piece(0, 2, "b")


def outcome(call: Call, **head: object) -> None:
    piece = call.words[0]
    call.outcome.set_result(ray._Sent(piece, call.actor, head, {}, {}, (0.5, 0.5)))


def test_the_worker_that_planned_a_run_waits_for_the_driver(hub: Callable[..., Hub]) -> None:
    here = hub()
    here.start("w1")
    here.offer(OPENING, Piece(1, 0, OPEN))
    here.driver.send(("describe", 1, here.order))
    call = here.ray.call("compute")
    assert call.words[0] == OPENING
    assert call.words[1] == {"model": "toy", "label": "", "options": {}, "finished": None}
    assert here.told(Begun) == Begun(OPENING, "w1")
    outcome(call, steady=True)
    assert here.told(ray._Sent).piece == OPENING
    # Its own units come before the other model, as soon as they are complete.
    here.driver.send(("offer", FIRST))
    here.driver.send(("describe", 0, here.order | {"fingerprint": "f"}))
    assert here.ray.call("compute").words[0] == FIRST


def test_a_plan_that_is_damaged_or_late_holds_up_no_worker(hub: Callable[..., Hub]) -> None:
    here = hub()
    here.start("w1")
    here.offer(OPENING)
    outcome(here.ray.call("compute"))
    here.driver.send(("offer", OPENING))
    late = here.ray.call("compute")
    assert late.words[0] == OPENING
    here.offer(FIRST, fingerprint="f")
    outcome(late)
    assert here.ray.call("compute").words[0] == FIRST


def test_a_dead_worker_costs_its_piece_and_is_started_again(hub: Callable[..., Hub]) -> None:
    here = hub()
    here.start("w1")
    here.offer(FIRST, fingerprint="f")
    here.ray.call("compute").outcome.set_exception(RayActorError("The actor died.\nWorker exit detail: SIGKILL."))
    lost = here.told(Lost)
    assert (lost.piece, lost.blamed) == (FIRST, True)
    assert lost.reason == "worker w1: RayActorError: SIGKILL."
    here.ray.call("node").outcome.set_exception(ActorUnavailableError("is starting"))
    here.offer(FIRST, fingerprint="f")
    here.ray.call("node").outcome.set_result("here")
    assert here.ray.call("compute").words[0] == FIRST


def test_a_worker_whose_machine_is_gone_is_not_to_blame(hub: Callable[..., Hub]) -> None:
    here = hub()
    here.start("w1")
    here.offer(FIRST, fingerprint="f")
    call = here.ray.call("compute")
    here.ray.alive = False
    call.outcome.set_exception(RayActorError("The node died."))
    assert not here.told(Lost).blamed
    here.ray.call("node").outcome.set_exception(RayActorError("The actor is dead."))
    assert here.told(Ended) == Ended("w1", "RayActorError: The actor is dead.", evicted=True)


def test_a_bug_in_a_worker_is_a_lost_piece_and_the_worker_goes_on(hub: Callable[..., Hub]) -> None:
    here = hub()
    here.start("w1")
    here.offer(FIRST, SECOND, fingerprint="f")
    here.ray.call("compute").outcome.set_exception(ZeroDivisionError("division by zero"))
    assert here.told(Lost).reason == "worker w1: ZeroDivisionError: division by zero"
    assert here.ray.call("compute").words[0] == SECOND


def test_signs_of_life(hub: Callable[..., Hub]) -> None:
    here = hub(patience=0.05, beat=0.01)
    here.start("w1")
    here.offer(FIRST, fingerprint="f")
    computing = here.ray.call("compute")
    here.ray.call("answered").outcome.set_result(7)
    assert here.told(Answered) == Answered(FIRST, 7)
    # The next sign doesn't come: the worker is killed, and Ray says so.
    here.ray.call("answered")
    while not here.ray.killed:
        pass
    computing.outcome.set_exception(RayActorError("killed"))
    assert here.told(Lost).piece == FIRST
    # Until it runs again, nobody can take the piece, and the user is told.
    here.offer(FIRST, fingerprint="f")
    assert "Ray has no machine with room for one" in here.told(Warned).message


def test_a_withdrawn_model_is_not_handed_out(hub: Callable[..., Hub]) -> None:
    here = hub()
    here.offer(OPENING)
    here.driver.send(("withdraw", 0))
    here.driver.send(("offer", OPENING))
    here.driver.send(("offer", OPENING))  # an offer that nobody has taken is not doubled
    here.start("w1")
    assert here.ray.call("compute").words[0] == OPENING
    here.driver.send(("start", ["w2"]))
    here.ray.call("node").outcome.set_result("here")
    here.offer(Piece(0, 0, RESULTS))
    # There is no run in the folder: that is the error of this piece.
    assert isinstance(here.ray.call("compute").words[1]["error"], RunError)


def test_a_model_that_is_sent_is_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from syntagm.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("The dog barks.\nThe dogs bark.\n" * 5)
    assert main(["train", "ngram", "--corpus", "text.txt", "--order=2", "--discount-fallback", "-o", "a {model}"]) == 0
    there = load("a {model}?eos=yes")
    sent = ray._local_model("a {model}?eos=yes")
    assert sent
    actor = object.__new__(ray._Actor)
    actor._placed = (-1, "", None)
    name = actor._name_of(0, sent)
    assert str(tmp_path) not in name
    here = load(name)
    assert (here.name, here.fingerprint) == (there.name, there.fingerprint)
    assert actor._name_of(0, sent) == name
    actor._name_of(1, sent)
    assert actor._placed[2]
    actor._placed[2].cleanup()
    assert not Path(name.partition(":")[2].partition("?")[0]).exists()


def test_what_is_not_here_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ray._local_model("gpt2") is None
    assert ray._local_model("toy") is None
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"12345")
    monkeypatch.setattr(ray, "_MOST_SHIPPED", 4)
    with pytest.raises(
        UsageError, match=r"model causal:model: 5 bytes; expected at most 4 to send\. Copy it to a place"
    ):
        ray._local_model("causal:model")


def test_damaged_and_unwritable_outcomes(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"table").hexdigest()
    (folder := tmp_path / "files").mkdir()

    def arrival(content: bytes) -> ray._SentArrival:
        return ray._Sent(FIRST, "w1", {}, {"parquet": content}, {"parquet": digest}, (0, 0)).arrival(folder)

    assert not arrival(b"tabel").settle()
    assert not list(folder.iterdir())
    whole = arrival(b"table")
    assert whole.settle()
    assert [path.read_bytes() for path in folder.iterdir()] == [b"table"]
    whole.remove()
    folder.rmdir()
    with pytest.raises(RunError, match="No such file"):
        arrival(b"table").settle()


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        ("ray?gpus=1.5", "--executor ray?gpus=1.5, gpus=: '1.5'; expected a whole number, or a part of 1"),
        ("ray?gpus=-1", "'-1'; expected a whole number, or a part of 1"),
        ("ray?gpus=nan", "'nan'; expected a whole number, or a part of 1"),
        ("ray?resources=tpu", "resources=: 'tpu'; expected NAME:AMOUNT,NAME:AMOUNT"),
        ("ray?resources=tpu:many", "resources=tpu:: 'many'; expected a whole number, or a part of 1"),
        ("ray?resources=GPU:1", "Processors, GPUs and memory have options of their own: cpus, gpus, memory."),
        ("ray?ship=all", "ship=: 'all'; expected one of models"),
        ("ray?cpus=0", "'0'; expected a whole number from 1 to"),
    ],
)
@installed
def test_wrong_options(executor: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        executors.find(executor)
    assert message in str(refused.value)


@installed
def test_room_in_a_cluster() -> None:
    cluster = executors.find("ray:10.0.0.5:6379?workers=3&gpus=0.5&resources=tpu:2")
    assert isinstance(cluster, ray.Ray)
    machine = {"CPU": 8.0, "GPU": 1.0, "tpu": 4.0, "memory": 2.0**34}
    cluster._count([machine, {"CPU": 64.0}])
    assert cluster.count == 3
    # One of them waits for another machine, and the user is told.
    [warned] = cluster._notes
    assert warned == Warned(
        "--executor ray:10.0.0.5:6379?workers=3&gpus=0.5&resources=tpu:2: room for 2 workers with 1 processor, 0.5 GPUs and 2 "
        "tpu, not for 3. There are 72 processors, 1 GPU and 4 tpu on 2 machines, and each worker runs on one. The others start "
        "when machines join."
    )
    here = executors.find("ray?workers=3")
    assert isinstance(here, ray.Ray)
    with pytest.raises(RunError, match="room for 2 workers with 1 processor and 0 GPUs, not for 3; expected at most 2"):
        here._count([{"CPU": 2.0}])


@installed
@pytest.mark.slow
def test_machines_that_share_nothing(tmp_path: Path) -> None:
    """Models are sent, an actor and a machine are killed, and then the head; another executor goes on."""
    if reason := machines.forbidden():
        pytest.skip(reason)
    clusters = Clusters(
        tmp_path, ("random?seed=1,2", "toy"), ("hu2020/mvrr", "hu2020/cleft", "islands", "--limit", "3"), 1, 2
    )
    with clusters.cluster() as cluster:
        assert list(clusters.killed(cluster, "killed", 2, random.Random(1))) == []
        assert list(clusters.without_head(cluster, "headless")) == []
    assert list(clusters.here("headless", "local:2")) == []
