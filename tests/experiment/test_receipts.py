"""The database of a study and its receipts: damage to one loses nothing, damage to both is said."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from syntagm.cli import main
from syntagm.core import RunError, integrity
from syntagm.experiment import Study, database
from tests.experiment_for_tests import Clock, filled, pairs, planned, study, written

MADE = planned([pairs()], "forced-choice", 4)
WAL = f"{database.NAME}-wal"


def begun(folder: Path, people: int = 2, participants: int = 4, **shown: int) -> Study:
    """A study in which people have answered four trials each; its files are those that a kill would leave."""
    of = study(planned([pairs()], "forced-choice", participants), folder)
    for number in range(people):
        person, _ = of.admit(f"panel {number}")  # type: ignore[misc]
        for trial, _ in of.trials_of(person):
            of.answer(person, {"trial": of.plan.trials[trial].id, "choice": "good", "ms": 900 + trial})
    return of


def again(folder: Path) -> tuple[Study, list[str]]:
    said: list[str] = []
    return Study(folder, Clock(), said.append), said


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize("gone", [[database.NAME], [WAL], [database.RECEIPTS], [database.NAME, WAL]])
def test_each_file_has_what_the_other_lacks(tmp_path: Path, gone: list[str], writes: bool) -> None:
    of = begun(tmp_path / "study")
    shutil.copytree(tmp_path / "study", tmp_path / "copy")
    for name in gone:
        (tmp_path / "copy" / name).unlink()
    found, said = again(tmp_path / "copy")
    if writes:
        found.connect()
    assert found.answers() == of.answers()
    assert len(of.answers()) == 8
    assert found.progress() == of.progress()
    assert len(said) == 1
    found.close()
    found, said = again(tmp_path / "copy")
    assert found.answers() == of.answers()
    assert len(said) == (0 if writes else 1), "what writes has mended the files"


@pytest.mark.parametrize("change", ["answers SET person='b' || person", "people SET said='x'", "answers SET body='{}'"])
def test_a_changed_row_is_as_in_its_receipt(tmp_path: Path, change: str) -> None:
    of = begun(tmp_path)
    given, progress = of.answers(), of.progress()
    of.connect().execute(f"UPDATE {change}")
    of.close()
    for writes in (False, True, False):
        found, said = again(tmp_path)
        if writes:
            found.connect()
        assert (found.answers(), found.progress(), found.lost) == (given, progress, 0)
        found.close()
    assert said == []


def test_a_change_of_a_killed_process_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    of = begun(tmp_path)
    rows = [("study", "state", "paused")]
    number = max(database.read_receipts(tmp_path / database.RECEIPTS).lines)
    line = database.line_of(number + 1, rows)
    of.close()
    with (tmp_path / database.RECEIPTS).open("ab") as file:
        file.write(line[:-20].encode())
    found, said = again(tmp_path)
    assert (found.state(), said) == ("open", []), "it was never acknowledged"
    with (tmp_path / database.RECEIPTS).open("ab") as file:
        file.write(f"{line[-20:]}\n".encode())
    found, said = again(tmp_path)
    assert (found.state(), said) == ("paused", [])


def test_what_a_killed_process_left_of_a_line_damages_no_later_one(tmp_path: Path) -> None:
    begun(tmp_path, people=1).close()
    with (tmp_path / database.RECEIPTS).open("ab") as file:
        file.write(b'{"n": 7, "rows": [["answ')
    found, said = again(tmp_path)
    person, _ = found.admit()  # type: ignore[misc]
    assert found.answer(person, {"trial": found.plan.trials[found.trials_of(person)[0][0]].id, "choice": "bad"})
    found.close()
    (tmp_path / database.NAME).unlink()
    found, said = again(tmp_path)
    assert (len(found.answers()), found.lost) == (5, 0)
    assert said == [f"{found.path}: missing; receipts.jsonl has 5 answers"]


@pytest.mark.parametrize("left", [b"", b"damaged\n", b'{"n": 1, "rows'])
def test_files_without_a_row_are_no_new_study(tmp_path: Path, left: bytes) -> None:
    begun(tmp_path, people=1).close()
    (tmp_path / database.RECEIPTS).write_bytes(left)
    (tmp_path / database.NAME).unlink()
    before = files(tmp_path)
    refused(tmp_path)
    assert files(tmp_path) == before
    (tmp_path / database.NAME).write_bytes(b"")
    refused(tmp_path)
    refused(tmp_path)


def refused(folder: Path) -> None:
    for ask in (lambda found: found.progress(), lambda found: found.connect()):
        with pytest.raises(RunError, match="though the study had begun"):
            ask(again(folder)[0])


def test_damage_to_both_is_counted_and_stays_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun(tmp_path).close()
    path = tmp_path / database.RECEIPTS
    lines = path.read_bytes().splitlines(keepends=True)
    # The plan, a person, four answers, a person, four answers.
    assert len(lines) == 11
    path.write_bytes(b"".join([*lines[:3], lines[3].replace(b"good", b"goof"), *lines[4:]]))
    (tmp_path / database.NAME).unlink()
    assert main(["experiment", "status", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert "7 answers" in said.out
    assert "1 can be read in neither file" in said.err
    assert main(["experiment", "export", str(tmp_path), "-o", str(tmp_path / "out.csv")]) == 1
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 8
    assert main(["experiment", "close", str(tmp_path)]) == 1
    found, warned = again(tmp_path)
    assert len(found.answers()) == 7
    assert found.lost == 1
    assert "1 can be read in neither file" in warned[0]
    assert main(["experiment", "import", str(tmp_path), "-o", str(tmp_path / "run")]) == 1
    assert "receipts that can't be read any more: 1 time" in capsys.readouterr().err


def test_what_is_forgotten_is_in_no_file(tmp_path: Path) -> None:
    of = begun(tmp_path)
    serving = Study(tmp_path, Clock())
    other, _ = serving.admit("someone else")  # type: ignore[misc]
    code = of.admit("panel 0")[0].code  # type: ignore[index]
    (tmp_path / database.DAMAGED).write_text(code)
    last = max(database.read_receipts(tmp_path / database.RECEIPTS).lines)
    assert of.forget("panel 0") == 4
    assert serving.answer(other, {"trial": of.plan.trials[of.trials_of(other)[0][0]].id, "choice": "good"})
    of.close()
    serving.close()
    assert not [name for name, content in files(tmp_path).items() if code.encode() in content]
    assert min(database.read_receipts(tmp_path / database.RECEIPTS).lines) == last + 1
    found, said = again(tmp_path)
    assert (len(found.answers()), said) == (5, [])


def test_an_older_file_brings_nobody_back_who_was_deleted(tmp_path: Path) -> None:
    of = begun(tmp_path)
    of.connect().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    older = (tmp_path / database.NAME).read_bytes()
    of.forget("panel 0")
    of.close()
    (tmp_path / database.NAME).write_bytes(older)
    found, said = again(tmp_path)
    assert {answer.person for answer in found.answers()} == {answer.person for answer in of.answers()}
    assert len(found.answers()) == 4
    assert len(said) == 1


def test_a_receipt_that_cannot_be_written_is_no_answer(tmp_path: Path) -> None:
    of = begun(tmp_path, people=1)
    person, _ = of.admit()  # type: ignore[misc]
    trial = of.plan.trials[of.trials_of(person)[0][0]].id
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(tmp_path / database.RECEIPTS) + 20, before[1]))
    try:
        with pytest.raises(RunError, match="no space"):
            of.answer(person, {"trial": trial, "choice": "good"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(of.answers()) == 4
    assert of.answer(person, {"trial": trial, "choice": "good"})
    of.close()
    found, said = again(tmp_path)
    assert (len(found.answers()), said) == (5, [])


class Full:
    """A connection to a disk without room for the end of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)

    def execute(self, query: str, *more: Any) -> Any:
        if query == "COMMIT" and self.connection.total_changes > self.before:
            raise sqlite3.OperationalError("database or disk is full")
        self.before = self.connection.total_changes if query.startswith("BEGIN") else self.before
        return self.connection.execute(query, *more)


def test_a_change_that_does_not_fit_on_the_disk_leaves_no_receipt(tmp_path: Path) -> None:
    of = begun(tmp_path, people=1)
    before = (tmp_path / database.RECEIPTS).read_bytes()
    whole = of.connect()
    of._data._file = Full(whole)  # type: ignore[assignment]
    for _ in range(2):
        with pytest.raises(RunError, match="full"):
            of.admit()
    assert (tmp_path / database.RECEIPTS).read_bytes() == before
    of._data._file = whole
    assert of.admit()
    found, said = again(tmp_path)
    assert (sum(found.progress().totals), said) == (2, [])


def test_a_locked_database_is_not_taken_for_a_damaged_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_TIMEOUT", 0.01)
    of = begun(tmp_path)
    of.connect().execute("BEGIN IMMEDIATE")
    for ask in (lambda found: found.progress(), lambda found: found.connect()):
        with pytest.raises(RunError, match="locked"):
            ask(again(tmp_path)[0])
    of.connect().execute("ROLLBACK")
    assert not (tmp_path / database.DAMAGED).exists()
    assert len(again(tmp_path)[0].answers()) == 8


def test_a_damaged_database_is_set_aside_and_made_anew(tmp_path: Path) -> None:
    of = begun(tmp_path)
    given = of.answers()
    of.close()
    (tmp_path / database.NAME).write_bytes(b"no database" * 1000)
    found, said = again(tmp_path)
    assert found.answers() == given
    assert not (tmp_path / database.DAMAGED).exists(), "what only reads changes nothing"
    found.connect()
    assert (found.answers(), found.lost) == (given, 0)
    assert (tmp_path / database.DAMAGED).read_bytes().startswith(b"no database")
    assert len(said) >= 2


def test_two_processes_write_receipts_in_turn(tmp_path: Path) -> None:
    first = begun(tmp_path, people=0)
    second = Study(tmp_path, Clock())
    people = [of.admit()[0] for of in (first, second)]  # type: ignore[index]
    for place in range(4):
        for of, person in zip((second, first), people, strict=True):
            assert of.answer(person, {"trial": of.plan.trials[of.trials_of(person)[place][0]].id, "choice": "bad"})
    found, said = again(tmp_path)
    assert (len(found.answers()), said) == (8, [])
    assert sorted(database.read_receipts(tmp_path / database.RECEIPTS).lines) == list(range(1, 12))


def test_reading_creates_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(MADE, tmp_path / "study")
    before = files(folder)
    assert main(["experiment", "status", str(folder), "--alarms"]) == 0
    assert "0 answers" in capsys.readouterr().out
    assert main(["experiment", "export", str(folder), "-o", str(tmp_path / "out.csv")]) == 0
    assert main(["experiment", "import", str(folder), "-o", str(tmp_path / "run")]) == 2
    assert main(["experiment", "forget", str(folder), "nobody"]) == 2
    assert files(folder) == before


def test_a_study_whose_answers_are_gone_is_no_new_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "study"
    filled(MADE, folder).close()
    (folder / database.NAME).unlink()
    assert main(["experiment", "status", str(folder)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("open (simulated people): 4 of 4 finished")
    assert "answers.sqlite: missing; receipts.jsonl has 16 answers" in said.err
    assert not (folder / database.NAME).exists()
    (folder / database.RECEIPTS).unlink()
    before = files(folder)
    for line in (
        ["status"],
        ["export", "-o", str(tmp_path / "out.csv")],
        ["import", "-o", str(tmp_path / "run")],
        ["close"],
    ):
        assert main(["experiment", line[0], str(folder), *line[1:]]) == 2
        assert "though the study had begun" in capsys.readouterr().err
    assert files(folder) == before


def test_an_older_study_without_receipts_opens_as_before_and_gets_them(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "data/old/0.1-formats/answered", tmp_path / "study")
    found, said = again(tmp_path / "study")
    given = found.answers()
    assert found.simulated
    assert not (tmp_path / "study" / database.RECEIPTS).exists()
    found.close()
    found.connect()
    found.close()
    (tmp_path / "study" / database.NAME).unlink()
    assert (found.answers(), len(said)) == (given, 1)


def test_integrity_names_the_damaged_file(tmp_path: Path) -> None:
    begun(tmp_path).close()
    path = tmp_path / database.RECEIPTS
    path.write_bytes(path.read_bytes().replace(b"good", b"goof", 1))
    [inspected] = integrity.of_folder(tmp_path)
    assert [finding.path for finding in inspected.findings if finding.state == "damaged"] == [path]


def damaged(content: bytes, numbers: random.Random) -> bytes:
    """Flip a bit, cut the end off, or fill a sector with zeros."""
    place = numbers.randrange(len(content))
    match numbers.randrange(4):
        case 0:
            return content[:place]
        case 1:
            return content[:place] + bytes(len(content[place : place + 512])) + content[place + 512 :]
    return content[:place] + bytes([content[place] ^ 1 << numbers.randrange(8)]) + content[place + 1 :]


@pytest.mark.slow
def test_whichever_file_is_damaged_nothing_is_lost(tmp_path: Path) -> None:
    of = begun(tmp_path / "study", people=10, participants=12)
    of.connect().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for person in {answer.person: of.by_code(answer.person) for answer in of.answers()}.values():
        assert person
        of.finish(person, ["yes"])
    given, progress, before = of.answers(), of.progress(), files(tmp_path / "study")
    numbers = random.Random(1)
    for trial in range(45):
        name = (database.NAME, WAL, database.RECEIPTS)[trial % 3]
        copy = tmp_path / f"copy{trial}"
        shutil.copytree(tmp_path / "study", copy)
        (copy / name).write_bytes(damaged(before[name], numbers))
        for writes in (False, True, False):
            found, said = again(copy)
            if writes:
                found.connect()
            assert (found.answers(), found.progress(), found.lost) == (given, progress, 0), (name, said)
            found.close()
        assert said == [], "what writes has mended the files"


_ANSWERING = """
import sys, time
from pathlib import Path
from syntagm.experiment import Study
of = Study(Path(sys.argv[1]))
while (admitted := of.admit()):
    for trial, _ in of.trials_of(admitted[0]):
        of.answer(admitted[0], {"trial": of.plan.trials[trial].id, "choice": "good"})
        print("receipt", flush=True)
"""


@pytest.mark.slow
def test_a_kill_and_a_flipped_bit_in_the_log_lose_no_receipt(tmp_path: Path) -> None:
    folder = written(planned([pairs()], "forced-choice", 4000), tmp_path / "study")
    command = [sys.executable, "-c", _ANSWERING, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        acknowledged = [process.stdout.readline() for _ in range(152)]
        process.send_signal(signal.SIGKILL)
        acknowledged += process.stdout.readlines()
    log = (folder / WAL).read_bytes()
    for place in range(100, len(log), len(log) // 5):
        shutil.copytree(folder, copy := tmp_path / str(place))
        (copy / WAL).write_bytes(log[:place] + bytes([log[place] ^ 4]) + log[place + 1 :])
        found, _ = again(copy)
        assert len(acknowledged) <= len(found.answers()) <= len(acknowledged) + 1
