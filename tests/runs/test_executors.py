"""Runs that workers compute: the same bytes as in one process, whoever is killed, and clear errors.

Most tests use `executor_for_tests.Here`, whose workers can die at any point that a test wants.
"""

import errno
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from executor_for_tests import Here
from laboratory import kills

from syntagm.cli import main
from syntagm.core import InputError, Interrupted, ModelError, Progress, RunError, SyntagmError, atomic
from syntagm.evaluation import Gaps, Predictions
from syntagm.models import load
from syntagm.runs import Job, Run, Session, SharedFolder, computing, driver, executors, run_suites, worker
from syntagm.runs.computing import Work
from syntagm.runs.driver import drive
from syntagm.runs.exchange import Exchange, Pulse
from syntagm.runs.pieces import RESULTS, Outcome, Piece, refusal
from syntagm.runs.worker import Worker
from syntagm.suites import read_word_list
from syntagm.suites.materials import suite_files

SUITES = ("first", "second", "third")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for number, name in enumerate(SUITES, 1):
        rows = [f"The dog {word}s.\tThe dog {word}.\n" for word in ("bark", "sleep", "run")[:number]]
        (tmp_path / f"{name}.tsv").write_text("good\tbad\n" + "".join(rows))
    return [str(tmp_path / f"{name}.tsv") for name in SUITES]


def work(files: Sequence[str]) -> Work:
    return Work(Predictions(), files)


def jobs(folder: Path, models: Sequence[str] = ("toy", "random", "random?seed=2")) -> list[Job]:
    return [Job(model, f"m{number}", folder / f"m{number}") for number, model in enumerate(models)]


def drive_all(
    folder: Path,
    files: Sequence[str],
    executor: executors.Executor,
    models: Sequence[str] = ("toy", "random", "random?seed=2"),
) -> dict[str, Run | SyntagmError]:
    folder.mkdir(exist_ok=True)
    return {job.label: result for job, result in drive(jobs(folder, models), work(files), folder, executor, Progress())}


@pytest.fixture
def expected(tmp_path: Path, files: list[str]) -> dict[str, str]:
    from syntagm.suites import SuiteFiles

    for job in jobs(tmp_path / "expected"):
        run_suites(load(job.model), SuiteFiles(files), job.folder)
    return kills.files(tmp_path / "expected")


class TestBytes:
    @pytest.mark.parametrize("count", [5, pytest.param(1, marks=pytest.mark.slow)])
    def test_workers_give_the_same_bytes_as_one_process(
        self, tmp_path: Path, files: list[str], expected: dict[str, str], count: int
    ) -> None:
        results = drive_all(tmp_path / "out", files, Here(count))
        assert all(isinstance(result, Run) and result.done for result in results.values())
        assert kills.files(tmp_path / "out") == expected
        # Nothing is left of the exchange.
        assert sorted(os.listdir(tmp_path / "out")) == ["m0", "m1", "m2"]

    @pytest.mark.parametrize("fate", ["killed", "killed late"])
    @pytest.mark.parametrize("every", [3, pytest.param(5, marks=pytest.mark.slow)])
    def test_killed_workers_change_nothing(
        self, tmp_path: Path, files: list[str], expected: dict[str, str], fate: str, every: int
    ) -> None:
        drive_all(tmp_path / "out", files, Here(2, lambda step: fate if step % every == 0 else ""))
        assert kills.files(tmp_path / "out") == expected

    @pytest.mark.parametrize("step", [4, *(pytest.param(step, marks=pytest.mark.slow) for step in (1, 2, 7, 10))])
    def test_the_same_command_goes_on_after_a_stop(
        self, tmp_path: Path, files: list[str], expected: dict[str, str], step: int
    ) -> None:
        def stop(now: int) -> str:
            if now == step:
                raise Interrupted
            return ""

        with pytest.raises(Interrupted):
            drive_all(tmp_path / "out", files, Here(2, stop))
        assert not list((tmp_path / "out").glob(".work*"))
        drive_all(tmp_path / "out", files, Here(3))
        assert kills.files(tmp_path / "out") == expected

    def test_a_run_begun_in_one_process_goes_on_with_workers_and_back(self, tmp_path: Path, files: list[str]) -> None:
        arguments = ["run", "toy", "--suite", *files, "--no-report", "--no-cache", "-o", str(tmp_path / "out")]
        assert main(arguments) == 0
        before = kills.files(tmp_path / "out")
        results = list(drive([Job("toy", "", tmp_path / "out")], work(files), tmp_path, Here(), Progress()))
        assert isinstance(results[0][1], Run)
        assert kills.files(tmp_path / "out") == before

    def test_a_unit_delivered_twice_is_committed_once(self, tmp_path: Path, files: list[str]) -> None:
        class Twice(Here):
            def ended(self) -> Mapping[str, str]:
                ended = super().ended()
                for path in [*self.session.exchange.glob("files/*.w*"), *self.session.exchange.glob("outcomes/*.w*")]:
                    shutil.copy(path, re.sub(r"\.(w\d+)", r".\1again", str(path)))
                return ended

        drive_all(tmp_path / "out", files, Twice())
        assert (tmp_path / "out" / "m0" / "ledger.jsonl").read_text().count("\n") == len(SUITES)

    def test_a_file_that_the_file_system_damages_is_computed_again(
        self, tmp_path: Path, files: list[str], expected: dict[str, str]
    ) -> None:
        """Of each kind of piece one is damaged: an opening has no files, so it is a table, and results."""
        damaged: set[str] = set()

        class Damaging(Here):
            def ended(self) -> Mapping[str, str]:
                ended = super().ended()
                for path in self.session.exchange.glob("files/*"):
                    kind = "results" if ".results.w" in path.name else "unit"
                    if kind not in damaged:
                        damaged.add(kind)
                        path.write_bytes(path.read_bytes()[:-1] + b"?")
                return ended

        said: list[str] = []

        class Told(Progress):
            def warned(self, warning: str) -> None:
                said.append(warning)

        (tmp_path / "out").mkdir()
        for _ in drive(jobs(tmp_path / "out"), work(files), tmp_path / "out", Damaging(), Told()):
            pass
        assert kills.files(tmp_path / "out") == expected
        assert damaged == {"unit", "results"}
        assert [warning.partition(": lost with worker w")[2][1:] for warning in said] == [
            ": a damaged file; it is computed again"
        ] * 2

    def test_a_damaged_plan_is_made_again_by_the_only_worker(
        self, tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It has planned the run, and would wait for the driver's answer."""

        class Threads(SharedFolder):
            damaged = 0

            def start(self, workers: Sequence[str], session: Session) -> None:
                self.place = session.exchange
                for name in workers:
                    threading.Thread(target=worker.serve, args=(session, name, self.permissions), daemon=True).start()

            def ended(self) -> Mapping[str, str]:
                if not self.damaged and list(self.place.glob("outcomes/*.open.w1")):
                    for path in self.place.glob("files/*.open.w1.*"):
                        self.damaged += 1
                        path.write_bytes(b"?")
                return {}

            def stop(self) -> None:
                pass

        class Quiet:
            def __init__(self, *_: object) -> None:
                pass

            def renew(self, lease: Path | None) -> None:
                pass

        monkeypatch.setattr(worker, "_Heart", Quiet)
        (tmp_path / "words.csv").write_text("lemma,form:singular,form:plural\nbark,barks,bark\nsleep,sleeps,sleep\n")
        task = Gaps(read_word_list(str(tmp_path / "words.csv")), "all", (), (), False)
        (out := tmp_path / "out").mkdir()
        executor = Threads("", {})
        [(_, result)] = drive([Job("toy", "", out / "toy")], Work(task, files), out, executor, Progress())
        assert isinstance(result, Run)
        assert executor.damaged

    def test_a_piece_that_is_offered_again_may_be_delivered_at_once(
        self, tmp_path: Path, files: list[str], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """By the same worker, while the driver is still busy with its damaged outcome."""
        offered: list[Piece] = []
        offer = Exchange.offer

        def offering(exchange: Exchange, piece: Piece) -> None:
            offer(exchange, piece)
            if piece in offered:
                executor.workers["w1"].step()
            offered.append(piece)

        class Damaging(Here):
            def ended(self) -> Mapping[str, str]:
                assert self._steps < 100, "the piece is lost"
                ended = super().ended()
                for path in self.session.exchange.glob("files/*") if self._steps == 2 else ():
                    path.write_bytes(b"?")
                return ended

        monkeypatch.setattr(Exchange, "offer", offering)
        executor = Damaging(1)
        drive_all(tmp_path / "out", files, executor, ("toy",))
        assert len(offered) > len(set(offered))
        assert kills.files(tmp_path / "out") == {
            name: content for name, content in expected.items() if name.startswith("m0/")
        }

    @pytest.mark.slow
    def test_units_that_arrive_together_are_committed_together(
        self, tmp_path: Path, files: list[str], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        appended: list[int] = []
        append = atomic.append

        def counting(path: Path, *lines: str) -> None:
            appended.append(len(lines))
            append(path, *lines)

        class Quick(Here):
            def ended(self) -> Mapping[str, str]:
                for _ in range(3):
                    super().ended()
                return {}

        monkeypatch.setattr(atomic, "append", counting)
        drive_all(tmp_path / "out", files, Quick(2))
        assert kills.files(tmp_path / "out") == expected
        assert max(appended) > 1
        assert sum(appended) == 9


class TestBalance:
    def test_a_worker_loads_no_model_whose_units_others_finish_sooner(self, tmp_path: Path) -> None:
        (exchange := Exchange(tmp_path)).create()
        for place in range(6):
            exchange.offer(Piece(0, place, f"unit{place}"))
        session = Session(work([]), tmp_path, tmp_path, {}, 10.0, 120.0)
        new, old, other = (Worker(session, name) for name in ("w1", "w2", "w3"))
        old.pace.loading, old.pace.units = 10.0, [1.0, 3.0]
        # Nobody works on the model, or the worker knows nothing of loading: it helps.
        assert old._taken() == Piece(0, 0, "unit0")
        assert new._taken() == Piece(0, 1, "unit1")
        # 4 units for 2 workers take 4 seconds.
        assert old._taken() is None
        old.pace.loading = 3.9
        assert old._taken() == Piece(0, 2, "unit2")
        assert other._taken() == Piece(0, 3, "unit3")
        # Results are nobody's work yet.
        exchange.offer(Piece(1, 0, RESULTS))
        old.pace.loading = 1000.0
        assert old._taken() == Piece(1, 0, RESULTS)

    def test_what_loading_and_units_took_is_recorded(self, tmp_path: Path, files: list[str]) -> None:
        executor = Here(1)
        recorded = []

        def stop() -> None:
            recorded.extend((each.pace.loading, len(each.pace.units)) for each in executor.workers.values())

        executor.stop = stop  # type: ignore[method-assign]
        drive_all(tmp_path / "out", files, executor, ("toy",))
        [(loading, units)] = recorded
        assert loading > 0
        assert units == len(SUITES)


class TestRefusals:
    def test_a_full_disk_is_named(self, tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        write = Exchange._write_file

        def full(exchange: Exchange, path: Path, parts: Iterable[bytes]) -> str:
            if ".results.w" in path.name:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(exchange, path, parts)

        monkeypatch.setattr(Exchange, "_write_file", full)
        result = drive_all(tmp_path / "out", files, Here(), ("toy",))["m0"]
        assert isinstance(result, RunError)
        assert "no space" in str(result)
        assert "Free some disk space and run the same command again" in str(result)

    @pytest.mark.slow
    def test_a_unit_that_kills_its_workers_is_named_and_the_others_are_done(
        self, tmp_path: Path, files: list[str], expected: dict[str, str]
    ) -> None:
        class Deadly(Here):
            def ended(self) -> Mapping[str, str]:
                ended = {}
                exchange = Exchange(self.session.exchange)
                for name, each in list(self.workers.items()):
                    offers = exchange.offers_of(1)
                    if offers and offers[0].place == 1:
                        exchange.lease(offers[0], name)
                        ended[name] = "killed by SIGKILL"
                        del self.workers[name]
                    else:
                        each.step()
                return ended

        results = drive_all(tmp_path / "out", files, Deadly())
        error = results["m1"]
        assert isinstance(error, RunError)
        assert str(error).startswith("m1, suite third, unit ")
        assert "lost 3 workers in a row, the last one with worker w" in str(error)
        assert {name: content for name, content in kills.files(tmp_path / "out").items() if "m1/" not in name} == {
            name: content for name, content in expected.items() if "m1/" not in name
        }

    def test_a_model_that_fails_to_load_is_named_and_the_others_are_done(
        self, tmp_path: Path, files: list[str]
    ) -> None:
        results = drive_all(tmp_path / "out", files, Here(), ("toy", f"lstm:{tmp_path}/nowhere", "random"))
        assert isinstance(results["m1"], ModelError)
        assert "nowhere" in str(results["m1"])
        assert [type(results[name]) for name in ("m0", "m2")] == [Run, Run]

    def test_a_checkpoint_that_changes_during_the_run(self, tmp_path: Path, files: list[str]) -> None:
        """As if a worker loaded the model again, and found other weights."""

        def change(_: int) -> str:
            for each in executor.workers.values():
                if each.loaded and "fingerprint" in Exchange(executor.session.exchange).order(0):
                    each.loaded.model.fingerprint = "of another checkpoint"
            return ""

        executor = Here(1, change)
        result = drive_all(tmp_path / "out", files, executor, ("toy",))["m0"]
        assert isinstance(result, ModelError)
        assert "toy: changed during the run: its fingerprint is of anoth; expected " in str(result)
        drive_all(tmp_path / "out", files, Here(), ("toy",))

    @pytest.mark.parametrize("most_bytes", [0, suite_files.MOST_BYTES], ids=["read again", "held in memory"])
    def test_suites_that_change_during_the_run(
        self,
        most_bytes: int,
        tmp_path: Path,
        files: list[str],
        expected: dict[str, str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(suite_files, "MOST_BYTES", most_bytes)

        def change(step: int) -> str:
            if step == 3:
                for file in files:
                    Path(file).write_text("good\tbad\nA dog.\tDog a.\n")
            return ""

        out = tmp_path / "out"
        result = drive_all(out, files, Here(1, change), ("toy",))["m0"]
        if most_bytes:
            # What the numbers are of is recorded, so the same command notices the change.
            found = {name: content for name, content in kills.files(out).items() if name.startswith("m0")}
            assert found == {name: content for name, content in expected.items() if name.startswith("m0")}
            result = drive_all(out, files, Here(1), ("toy",))["m0"]
            assert "a run on other suites" in str(result)
        else:
            assert isinstance(result, InputError)
            assert "has changed since the run began" in str(result)

    @pytest.mark.slow
    def test_an_error_about_a_unit_that_another_worker_has_computed_is_ignored(
        self, tmp_path: Path, files: list[str], expected: dict[str, str]
    ) -> None:
        """A worker that was silent for long, so that its units were given to others, wakes up without its files."""

        class Late(Here):
            def ended(self) -> Mapping[str, str]:
                for line in sorted((tmp_path / "out").glob("*/ledger.jsonl")):
                    unit = json.loads(line.read_text().splitlines()[0])["shard"]
                    piece = Piece(int(line.parent.name[1:]), 1, unit)
                    error = ModelError("toy", "no such folder", "a folder")
                    Exchange(self.session.exchange).deliver(piece, "late", refusal(error, fatal=False))
                return super().ended()

        drive_all(tmp_path / "out", files, Late())
        assert kills.files(tmp_path / "out") == expected

    def test_a_worker_of_another_version_ends_the_command(
        self, tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(driver, "versions", lambda: computing.versions() | {"syntagm": "9.9"})
        with pytest.raises(RunError, match=r"worker w1 on .*: syntagm \S+; expected 9.9, as where the command runs"):
            drive_all(tmp_path / "out", files, Here())

    def test_workers_that_end_at_once_are_an_error(self, tmp_path: Path, files: list[str]) -> None:
        class Broken(Here):
            def ended(self) -> Mapping[str, str]:
                ended, self.workers = dict.fromkeys(self.workers, "exit code 1"), {}
                return ended

        with pytest.raises(RunError, match="3 workers ended without any work, the last one with exit code 1"):
            drive_all(tmp_path / "out", files, Broken(1))

    def test_workers_that_end_together_after_their_work_are_replaced(self, tmp_path: Path, files: list[str]) -> None:
        """As those of a cluster that reach their time limit, or are cancelled, while they have nothing to do."""
        results = drive_all(tmp_path / "out", files, Here(4, lambda _: "killed late"))
        assert all(isinstance(result, Run) and result.done for result in results.values())

    def test_a_run_that_another_process_holds_is_refused_and_the_others_are_done(
        self, tmp_path: Path, files: list[str]
    ) -> None:
        from syntagm.runs.ledger import locked

        with locked(tmp_path / "out" / "m1"):
            results = drive_all(tmp_path / "out", files, Here())
        assert "in use by process" in str(results["m1"])
        assert [type(results[name]) for name in ("m0", "m2")] == [Run, Run]

    @pytest.mark.parametrize(
        ("executor", "message"),
        [
            ("cluster:3", "--executor: 'cluster:3'; expected one of local:N, ray[:ADDRESS], slurm:N"),
            ("lcoal:3", "Did you mean local?"),
            ("local", "--executor local: no number of workers; expected local:N, for example local:4"),
            ("local:two", "--executor local:two: 'two'; expected a whole number from 1 to"),
            ("local:0", "'0'; expected a whole number from 1 to"),
            ("local:2?x=1", "no option 'x'; expected no options"),
            ("local:2?x", "--executor local:2?x: options 'x'; expected option=value&option=value"),
        ],
    )
    def test_unknown_executors(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], executor: str, message: str
    ) -> None:
        assert main(["run", "toy", "--suite", "hu2020/mvrr", "--executor", executor, "-o", str(tmp_path / "out")]) == 2
        assert message in capsys.readouterr().err


class TestLeases:
    def test_one_of_many_gets_a_piece(self, tmp_path: Path) -> None:
        exchange = Exchange(tmp_path)
        exchange.create()
        piece = Piece(0, 1, "unit")
        exchange.offer(piece)
        assert [exchange.lease(piece, f"w{number}") for number in range(3)] == [True, False, False]
        assert list(exchange.leases()) == [(piece, "w0")]

    @pytest.mark.parametrize("jump", [-3600.0, 0.0, 3600.0])
    def test_only_the_observer_s_own_time_counts(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float
    ) -> None:
        """The clocks of the file server and of the worker may jump: a file that changes is alive, one that rests is not."""
        now = [1000.0]
        monkeypatch.setattr("time.monotonic", lambda: now[0])
        path = tmp_path / "lease"
        path.touch()
        pulse = Pulse(path, 120.0)
        assert pulse.beats()
        for _ in range(5):
            now[0] += 100
            os.utime(path, (path.stat().st_mtime + jump + 1,) * 2)
            assert pulse.beats()
        now[0] += 119
        assert pulse.beats()
        now[0] += 2
        assert not pulse.beats()

    @pytest.mark.slow
    def test_the_work_of_a_silent_worker_is_done_by_another(
        self, tmp_path: Path, files: list[str], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A machine that is cut off: its worker never ends, as far as the driver can see. Later it delivers, too."""

        class Silent(Here):
            late = ()

            def ended(self) -> Mapping[str, str]:
                if len(self.workers) == 2 and self.workers["w1"].loaded:
                    cut_off = self.workers["w1"]
                    if piece := cut_off._taken():
                        self.late = (cut_off, piece)
                        del self.workers["w1"]
                elif self.late and self._steps == 12:
                    cut_off, piece = self.late
                    exchange = Exchange(self.session.exchange)
                    outcome = cut_off.outcome(piece, exchange.order(piece.model))
                    exchange.deliver(piece, "w1", outcome)
                return super().ended()

        executor = Silent()
        executor.be_patient(0.02)
        drive_all(tmp_path / "out", files, executor)
        assert executor.late
        assert kills.files(tmp_path / "out") == expected


class Full(Here):
    """A place that twice takes no worker beyond the first ones, which is known only after a while."""

    def __init__(self, count: int, before: Callable[[int], str]) -> None:
        super().__init__(count, before)
        self.refused: list[str] = []
        self._due: list[str] = []
        self._refusal: RunError | None = None

    def start(self, workers: Sequence[str], session: Session) -> None:
        if "w1" in workers or len(self.refused) == 2:
            super().start(workers, session)
        else:
            self._due += workers

    def ended(self) -> Mapping[str, str]:
        refused, self._due, self._refusal = self._due, [], None
        if not refused:
            return super().ended()
        self.refused += refused
        self._refusal = RunError("--executor here", "too many jobs", "fewer")
        return dict.fromkeys(refused, "too many jobs")

    def refusal(self) -> RunError | None:
        return self._refusal


class TestReplacement:
    def test_idle_workers_may_end_when_there_is_no_work_for_them(self, tmp_path: Path, files: list[str]) -> None:
        """As jobs do at their time limit, while the last units are computed."""

        class Tired(Here):
            def ended(self) -> Mapping[str, str]:
                ended = dict.fromkeys(list(self.workers)[len(SUITES) :], "timeout")
                self.workers = {name: each for name, each in self.workers.items() if name not in ended}
                return ended | dict(super().ended())

        assert isinstance(drive_all(tmp_path / "out", files, Tired(7), ("toy",))["m0"], Run)

    def test_workers_that_were_evicted_are_not_counted(self, tmp_path: Path, files: list[str]) -> None:
        class Preempting(Here):
            def evicted(self, worker: str) -> bool:
                return True

        executor = Preempting(1, lambda step: "killed" if step <= driver.TRIES + 1 else "")
        assert isinstance(drive_all(tmp_path / "out", files, executor, ("toy",))["m0"], Run)

    def test_to_replace_a_worker_is_tried_again(self, tmp_path: Path, files: list[str]) -> None:
        executor = Full(2, lambda step: "killed" if step == 2 else "")
        executor.be_patient(0.01)
        warnings: list[str] = []

        class Warned(Progress):
            def warned(self, message: str) -> None:
                warnings.append(message)

        (out := tmp_path / "out").mkdir()
        results = [result for _, result in drive(jobs(out), work(files), out, executor, Warned())]
        assert all(isinstance(result, Run) for result in results)
        assert executor.refused == ["w3", "w4"]
        # The same reason is not printed every two minutes.
        assert [message for message in warnings if "tried again" in message] == [
            "--executor here: too many jobs; the other workers go on, and it is tried again"
        ]

    def test_without_any_worker_a_refusal_is_an_error(self, tmp_path: Path, files: list[str]) -> None:
        with pytest.raises(RunError, match="too many jobs"):
            drive_all(tmp_path / "out", files, Full(1, lambda _: "killed"))

    def test_a_unit_can_be_taken_before_it_is_known_how_the_run_was_opened(
        self, tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (exchange := Exchange(tmp_path / "exchange")).folder.mkdir()
        exchange.create()
        order = {"model": "toy", "label": "", "folder": str(tmp_path / "out"), "options": {}}
        exchange.describe(0, order)
        exchange.offer(Piece(0, 0, "open"))
        each = Worker(Session(work(files), exchange.folder, tmp_path, computing.versions(), 10.0, 120.0), "w1")
        each.step()
        [opened] = exchange.arrivals()
        record = opened.head["record"]
        exchange.offer(Piece(0, 1, opened.head["units"][0][0]))
        described = order | {"options": record["options"], "fingerprint": record["model"]["fingerprint"]}
        monkeypatch.setattr("time.sleep", lambda _: exchange.describe(0, described))
        each.step()
        assert [arrival.error() for arrival in exchange.arrivals()] == [None]

    def test_a_worker_that_has_a_unit_of_a_model_that_was_given_up_can_read_what_it_needs(
        self, tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        described: list[Mapping[str, Any]] = []
        describe = Exchange.describe

        def noting(exchange: Exchange, model: int, order: Mapping[str, Any]) -> None:
            described.append(order)
            describe(exchange, model, order)

        monkeypatch.setattr(Exchange, "describe", noting)
        drive_all(tmp_path / "out", files, Here(1), (f"lstm:{tmp_path}/nowhere",))
        before, after = described
        assert after == before | {"fingerprint": ""}


class TestProgress:
    @pytest.mark.slow
    def test_progress_inside_a_unit_is_reported_once(self, tmp_path: Path, files: list[str]) -> None:
        """A worker is killed after 4 of 6 sentences; what the next one computes counts from the fifth on."""
        said: list[tuple[str, int]] = []

        class Told(Progress):
            def answered(self, suite: str, questions: int) -> None:
                said.extend([(suite, questions)] * (questions != 0))

        class Scripted(Here):
            looks = iter(["w1", 3, 4, "killed", "w2", 2, 5, 99, "offered again"])

            def ended(self) -> Mapping[str, str]:
                exchange = Exchange(self.session.exchange)
                self.unit = self.unit or next((offer for offer in exchange.offers_of(0) if offer.place == 1), None)
                if (piece := self.unit) is None:
                    return super().ended()
                match look := next(self.looks, None):
                    case None:
                        return super().ended()
                    case "killed":
                        return {"w1": "killed by SIGKILL"}
                    case "offered again":
                        exchange.release(piece, self.worker)
                        exchange.offer(piece)
                    case int():
                        exchange.renew(exchange.lease_of(piece, self.worker), look)
                    case _:
                        self.worker = look
                        assert exchange.lease(piece, look)
                return {}

            unit: Piece | None = None
            worker = ""

        executor = Scripted(1)
        executor.beat = 0.0
        (tmp_path / "out").mkdir()
        list(drive(jobs(tmp_path / "out", ["toy"]), work(files), tmp_path / "out", executor, Told()))
        assert said[:4] == [("third", 3), ("third", 1), ("third", 1), ("third", 1)]
        assert sum(count for _, count in said) == 12
        assert next(executor.looks, None) is None

    def test_a_worker_tells_how_far_it_is_through_its_lease(
        self, tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: list[list[int]] = []
        deliver = Exchange.deliver

        def telling(exchange: Exchange, piece: Piece, name: str, outcome: Outcome) -> None:
            lease = exchange.lease_of(piece, name)
            exchange.renew(lease, executor.workers[name].answered.count)
            told.append([piece.place, lease.stat().st_size])
            deliver(exchange, piece, name, outcome)

        monkeypatch.setattr(Exchange, "deliver", telling)
        executor = Here(1)
        drive_all(tmp_path / "out", files, executor, ["toy"])
        # The opening, the units and the results.
        assert told == [[0, 0], [1, 6], [2, 4], [3, 2], [0, 0]]

    def test_what_failed_models_leave_is_told(self, tmp_path: Path, files: list[str]) -> None:
        left = []

        class Told(Progress):
            def failed(self, questions: int | None) -> None:
                left.append(questions)

        # The first model can't be loaded. All workers are killed with the second unit of the other one, after 6 sentences.
        (tmp_path / "out").mkdir()
        executor = Here(1, lambda step: "killed" if step >= 4 else "")
        results = dict(
            drive(jobs(tmp_path / "out", ["nosuch:x", "toy"]), work(files), tmp_path / "out", executor, Told())
        )
        assert not any(isinstance(result, Run) for result in results.values())
        assert left == [None, 6]

    def test_details_tell_who_did_what(self, tmp_path: Path, files: list[str]) -> None:
        said: list[str] = []

        class Told(Progress):
            def noted(self, line: str) -> None:
                said.append(re.sub(r"\d+\.\d+ s", "T", line))

        executor = Here(1, lambda step: "killed" if step == 3 else "")
        executor.beat = 0.0
        (tmp_path / "out").mkdir()
        [(_, result)] = drive(jobs(tmp_path / "out", ["toy"]), work(files), tmp_path / "out", executor, Told())
        assert isinstance(result, Run)
        first, second, third = (suite.shards[0][:8] for suite in result.suites)
        assert said == [
            "workers started: w1",
            "w1: m0, loading: loaded and planned in T",
            f"w1: m0, suite third, unit {third}: 6 sentences in T, committed in T",
            f"w1: m0, suite second, unit {second}: begun",
            "w1: ended with killed by SIGKILL",
            "workers started: w2",
            f"w2: m0, suite second, unit {second}: loaded and planned in T, 4 sentences in T, committed in T",
            f"w2: m0, suite first, unit {first}: 2 sentences in T, committed in T",
            "w2: m0, results: written",
            "the workers took T to load and plan models, T to compute units; units were committed in T",
        ]

    def test_a_lease_that_was_given_to_another_worker_is_not_created_again(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            Exchange(tmp_path).renew(tmp_path / "lease", 3)
        assert not list(tmp_path.iterdir())


class TestCachingFileSystems:
    """What one machine does to a file, others may see late."""

    def test_a_lease_that_is_listed_still_is_not_lost(
        self, tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        leases, exists, said = Exchange.leases, Path.exists, []

        def listed(exchange: Exchange) -> Iterable[tuple[Piece, str]]:
            return [*leases(exchange), (Piece(0, 0, RESULTS), "w9")]

        class Told(Progress):
            def warned(self, warning: str) -> None:
                said.append(warning)

        monkeypatch.setattr(Exchange, "leases", listed)
        monkeypatch.setattr(Path, "exists", lambda path: path.parent.name == "leases" or exists(path))
        (executor := Here(1)).be_patient(0.01)
        (tmp_path / "out").mkdir()
        list(drive(jobs(tmp_path / "out", ["toy"]), work(files), tmp_path / "out", executor, Told()))
        assert said == []

    def test_what_was_taken_can_be_offered_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        touch = Path.touch

        def touching(path: Path) -> None:
            if path.parent.parent.name == "offers":
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
            touch(path)

        (exchange := Exchange(tmp_path)).create()
        monkeypatch.setattr(Path, "touch", touching)
        exchange.offer(piece := Piece(0, 1, "unit"))
        assert exchange.offers() == {0: [piece]}

    def test_an_error_of_the_file_system_is_no_death(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def stale(*_: object) -> None:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

        (tmp_path / "pulse").touch()
        long, short = Pulse(tmp_path / "pulse", 100.0), Pulse(tmp_path / "pulse", 0.0)
        monkeypatch.setattr("syntagm.runs.exchange.open", stale, raising=False)
        assert long.beats()
        assert not short.beats()
        assert short.exists

    def test_a_worker_says_that_it_takes_the_command_for_dead(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (exchange := Exchange(tmp_path)).create()
        each = Worker(session := Session(work([]), tmp_path, tmp_path, {}, 0.01, 0.02), "w1")
        codes: list[int] = []
        monkeypatch.setattr("threading.Thread.start", lambda _: None)
        monkeypatch.setattr("os._exit", codes.append)
        worker._Heart(session, each.answered)._run()
        exchange.pulse.unlink()
        worker._Heart(session, each.answered)._run()
        assert codes == [0, 0]
        assert capsys.readouterr().err == "no sign of life of the command for 0 seconds\n"
