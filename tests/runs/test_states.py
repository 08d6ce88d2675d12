"""The states of a model: every order of what workers, their deaths, their doubles and their damage can bring about.

A small world stands for the driver's loop and two workers. All sequences of its events up to a length are tried, and longer ones
at random; after each event, what `states` promises must hold.
"""

import copy
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, settings, strategies as st

from syntagm.core import ModelError, RunError, SyntagmError
from syntagm.evaluation import Unit
from syntagm.runs import OPEN, Arrival, states
from syntagm.runs.pieces import RESULTS, Piece
from syntagm.runs.states import TRIES, State

UNITS = (Unit("a", "first", 0, 1, 2), Unit("b", "second", 0, 1, 1))
WORKERS = ("w1", "w2")
# How many events the enumeration goes. A run on two units needs all of them if nothing happens to it.
LENGTH = 13


@dataclass(frozen=True, slots=True)
class Token(Arrival):
    """An outcome without content."""

    number: int = 0

    def settle(self) -> bool:
        raise AssertionError("the states look into no outcome")

    remove = settle  # type: ignore[assignment]


class World:
    """What surrounds a model: offers, workers with pieces, outcomes that are being accepted."""

    def __init__(self, units: tuple[Unit, ...] = UNITS, complete: bool = False) -> None:
        self.model = states.Model(0, "m")
        self.units, self.complete = units, complete
        self.offers: list[Piece] = []
        # What workers have; the driver takes some of it for lost.
        self.held: dict[str, tuple[Piece, bool]] = {}
        self.pending: list[states.Effect] = []
        self.accepted = Counter[str]()
        self.unsettled: set[int] = set()
        self.arrived = 0
        self.closed: list[SyntagmError | None] = []
        # Errors about pieces that the model waits for, and about those that are being accepted.
        self.errors: list[SyntagmError] = []
        self.withheld: list[str] = []
        self.happens(states.Begin())

    def moves(self) -> list[tuple[str, ...]]:
        """All that can happen next."""
        moves: list[tuple[str, ...]] = []
        # Which of two idle workers takes a piece makes no difference.
        if self.offers and (idle := next((each for each in WORKERS if each not in self.held), None)):
            moves.append(("take", idle))
        for worker, (_, lost) in self.held.items():
            moves += [(what, worker) for what in ("deliver", "twice", "refuse")]
            moves += [(what, worker) for what in ("die", "evict", "silence")] if not lost else [("vanish", worker)]
        for number, effect in enumerate(self.pending):
            outcomes = ("done", "fails") if isinstance(effect, states.Lock) else ("done", "damaged", "fails")
            moves += [(what, str(number)) for what in outcomes]
        return moves

    def move(self, what: str, who: str) -> None:
        """Let something happen, and check what must hold."""
        match what:
            case "take":
                self.held[who] = (self.offers.pop(0), False)
            case "vanish":
                del self.held[who]
            case "done" | "damaged" | "fails":
                self._settle(what, self.pending.pop(int(who)))
            case "silence":
                piece, _ = self.held[who]
                self.held[who] = (piece, True)
                self.happens(states.Gone(piece, f"worker {who}: silent", True))
            case "die" | "evict":
                piece, _ = self.held.pop(who)
                self.happens(states.Gone(piece, f"worker {who}: dead", what == "die"))
            case _:
                piece, _ = self.held[who]
                if what != "twice":
                    del self.held[who]
                self.arrived += 1
                self.unsettled.add(self.arrived)
                arrival = Token(piece, who, {}, {}, {}, (0, 0), self.arrived)
                if what != "refuse":
                    self.happens(states.Delivered(arrival))
                else:
                    error = ModelError("m", f"error {self.arrived}", "none")
                    counts = self.model.awaits(piece) and piece.name not in self.model.accepting
                    if counts:
                        self.errors.append(error)
                    elif piece.name in self.model.accepting:
                        self.withheld.append(str(error))
                    self.happens(states.Refused(arrival, error))
        self.check()

    def _settle(self, what: str, effect: states.Effect) -> None:
        """Carry out an effect, in one of the ways in which it can end."""
        if what == "fails":
            error = RunError("m", f"effect failed after {self.arrived}", "none")
            if self.model.state is not State.FAILED:
                self.errors.append(error)
            piece = effect.arrival.piece if isinstance(effect, states.Accept) else None
            if isinstance(effect, states.Accept):
                self.unsettled.discard(effect.arrival.number)  # type: ignore[attr-defined]
            self.happens(states.Failed(piece, error))
        elif isinstance(effect, states.Lock):
            self.happens(states.Locked())
        else:
            assert isinstance(effect, states.Accept)
            arrival = effect.arrival
            if what == "damaged":
                self.happens(states.Damaged(arrival))
                return
            self.unsettled.discard(arrival.number)  # type: ignore[attr-defined]
            self.accepted[arrival.piece.name] += 1
            opened = states.Opened(self.units, self.complete)
            self.happens(opened if arrival.piece.name == OPEN else states.Accepted(arrival.piece))

    def happens(self, event: states.Event) -> None:
        """Hand an event to the model, and note its effects."""
        assert not self.closed or isinstance(event, states.Delivered | states.Refused | states.Gone)
        for effect in self.model.handle(event):
            match effect:
                case states.Offer(piece):
                    assert not self.closed
                    # As the folder of the exchange does: an offer that nobody took is not doubled.
                    if piece not in self.offers:
                        self.offers.append(piece)
                case states.Lock() | states.Accept():
                    self.pending.append(effect)
                case states.Remove(arrival):
                    self.unsettled.remove(arrival.number)  # type: ignore[attr-defined]
                case states.Withdraw():
                    self.offers.clear()
                case states.Close(error):
                    self.closed.append(error)

    def check(self) -> None:
        """Check what must hold after each event."""
        model = self.model
        accepting = Counter(each.arrival.piece.name for each in self.pending if isinstance(each, states.Accept))
        # No unit is committed twice, and none while another outcome of it is being committed.
        assert all(count == 1 for count in self.accepted.values())
        assert all(count == 1 and not self.accepted[name] for name, count in accepting.items())
        assert set(accepting) == model.accepting
        # Every piece that the model waits for is with a worker, offered, or being accepted.
        for piece in (Piece(0, 0, OPEN), Piece(0, 1, "a"), Piece(0, 2, "b"), Piece(0, 0, RESULTS)):
            if model.awaits(piece) and piece.name not in accepting:
                assert piece in self.offers or (piece, False) in self.held.values()
        # Every outcome is accepted, being accepted, or removed.
        assert len(self.unsettled) == accepting.total()
        # A model ends once, with its run or with the first error; and nothing of it is offered any more.
        ended = model.state in (State.DONE, State.FAILED) and not self.pending
        assert len(self.closed) == ended
        if ended:
            assert not self.offers
        if self.closed and model.state is State.DONE:
            assert self.closed == [None]
            assert all(self.accepted[unit.name] for unit in self.units)
            assert not self.errors
        if self.closed and model.state is State.FAILED:
            [error] = self.closed
            reasons = (f"lost {TRIES} workers in a row", *self.withheld)
            assert error is self.errors[0] if self.errors else any(reason in str(error) for reason in reasons)
        # No error is lost: a model that went on after one would end as done.
        if self.errors:
            assert model.state is State.FAILED
        # Whatever waits for nothing has ended.
        if not self.moves():
            assert ended

    def key(self) -> tuple[object, ...]:
        """All that the future depends on."""
        model = self.model
        return (
            model.state,
            tuple(model.missing or ()) if model.missing is not None else None,
            tuple(sorted(model._awaited)),
            tuple(sorted(model._accepting)),
            tuple(sorted(model._withheld)),
            tuple(sorted(model._lost.items())),
            tuple(self.offers),
            tuple(sorted((piece.name, lost) for piece, lost in self.held.values())),
            tuple(
                sorted(
                    effect.arrival.piece.name if isinstance(effect, states.Accept) else "" for effect in self.pending
                )
            ),
            bool(self.closed),
        )


def reached(world: World, length: int) -> Counter[State]:
    """Try all sequences of events up to a length; return the states in which the model was. Equal worlds are tried once."""
    seen, worlds, found = {world.key()}, [world], Counter[State]()
    for _ in range(length):
        following = []
        for before in worlds:
            for move in before.moves():
                after = copy.deepcopy(before)
                after.move(*move)
                found[after.model.state] += 1
                if (key := after.key()) not in seen:
                    seen.add(key)
                    following.append(after)
        worlds = following
    return found


@pytest.mark.parametrize(
    ("units", "complete", "length"),
    [
        (UNITS[:1], False, 8),
        (UNITS, True, 6),
        pytest.param(UNITS, False, LENGTH, marks=pytest.mark.slow),
    ],
    ids=["one unit", "results are there", "two units"],
)
def test_all_orders_of_events_up_to_a_length(units: tuple[Unit, ...], complete: bool, length: int) -> None:
    found = reached(World(units, complete), length)
    assert found[State.COMPUTING]
    assert found[State.FAILED]
    assert found[State.WRITING] or length < 8


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_walks_to_the_end(data: st.DataObject) -> None:
    world = World(UNITS, data.draw(st.booleans()))
    for _ in range(200):
        if not (moves := world.moves()):
            break
        world.move(*moves[data.draw(st.integers(0, len(moves) - 1))])


@pytest.mark.parametrize("fair", [True, False], ids=["nothing happens", "each piece is lost twice"])
def test_a_model_reaches_its_end(fair: bool) -> None:
    world, lost = World(), Counter[str]()
    seen = [world.model.state]
    while moves := world.moves():
        chosen = moves[0]
        if chosen[0] == "deliver" and not fair:
            piece, _ = world.held[chosen[1]]
            lost[piece.name] += 1
            chosen = ("die", chosen[1]) if lost[piece.name] < TRIES else chosen
        world.move(*chosen)
        seen += [world.model.state] * (world.model.state is not seen[-1])
    assert seen == [State.OPENING, State.COMPUTING, State.WRITING, State.DONE]
    assert world.accepted == Counter({OPEN: 1, "a": 1, "b": 1, RESULTS: 1})


def opened() -> World:
    """A model whose two units are with two workers."""
    world = World()
    for move in (("done", "0"), ("take", "w1"), ("deliver", "w1"), ("done", "0"), ("take", "w1"), ("take", "w2")):
        world.move(*move)
    return world


def test_units_that_are_being_committed_are_committed_before_an_error_closes_the_run() -> None:
    world = opened()
    world.move("deliver", "w1")
    world.move("refuse", "w2")
    assert world.model.state is State.FAILED
    assert not world.closed
    world.move("done", "0")
    assert world.accepted["a"] == 1
    assert [str(error) for error in world.closed] == ["m: error 3; expected none"]


@pytest.mark.parametrize(("settled", "closed"), [("done", 0), ("damaged", 1)])
def test_an_error_about_a_unit_that_is_being_committed_counts_if_it_is_damaged(settled: str, closed: int) -> None:
    world = opened()
    world.move("silence", "w1")
    world.move("twice", "w1")
    world.move("refuse", "w1")
    world.move(settled, "0")
    assert len(world.closed) == closed


def test_an_evicted_worker_counts_for_nothing() -> None:
    world = opened()
    for _ in range(TRIES + 1):
        world.move("evict", "w1")
        world.move("take", "w1")
    for _ in range(TRIES - 1):
        world.move("die", "w1")
        world.move("take", "w1")
    assert not world.closed
    world.move("die", "w1")
    [error] = world.closed
    assert str(error).startswith("m, suite first, unit a: lost 3 workers in a row, the last one with worker w1: dead")
