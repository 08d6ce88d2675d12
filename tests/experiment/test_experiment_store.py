"""The file of a study: places, answers, and what is left of a person."""

import sqlite3
from pathlib import Path

import pytest

from syntagm.core import InputError, RunError
from syntagm.experiment import KEY, NAME, Study
from tests.experiment_for_tests import Clock, filled, pairs, planned, study

MADE = planned([pairs()], "forced-choice", 4)


def answer_all(of: Study, code: str, until: int | None = None) -> None:
    person = of.by_code(code)
    assert person
    for number, _ in of.trials_of(person)[:until]:
        of.answer(person, {"trial": of.plan.trials[number].id, "choice": "good", "ms": 900})


def test_lists_are_balanced_over_those_who_finish(tmp_path: Path) -> None:
    clock = Clock()
    of = study(MADE, tmp_path, clock)
    codes = []
    for _ in range(4):
        admitted = of.admit()
        assert admitted
        codes.append(admitted[0].code)
    assert of.admit() is None, "every place is taken"
    for code in codes[:3]:
        answer_all(of, code)
        person = of.by_code(code)
        assert person
        assert of.finish(person)
    clock.now += 31 * 60
    late = of.admit()
    assert late, "a time-out frees the place of the fourth"
    gone = of.by_code(codes[3])
    assert gone
    assert not gone.live
    assert of.resume(gone) is None, "whose place is taken"
    answer_all(of, late[0].code)
    assert of.finish(late[0])
    assert [done for done, _, _ in of.progress().lists] == [2, 2]


def test_thirty_per_cent_who_leave_don_t_unbalance_the_lists(tmp_path: Path) -> None:
    of = filled(planned([pairs()], "forced-choice", 20), tmp_path, dropout=0.3)
    progress = of.progress()
    assert [done for done, _, _ in progress.lists] == [10, 10]
    assert progress.totals[2] > 0
    assert of.simulated


def test_answers_are_stored_once(tmp_path: Path) -> None:
    of = study(MADE, tmp_path)
    person = of.admit()[0]  # type: ignore[index]
    trial = of.plan.trials[of.trials_of(person)[0][0]].id
    assert of.answer(person, {"trial": trial, "choice": "good"})
    assert not of.answer(person, {"trial": trial, "choice": "bad"})
    assert [answer.choice for answer in of.answers()] == ["good"]
    assert not of.finish(person), "three answers are missing"


@pytest.mark.parametrize(
    "body",
    [
        {"trial": "elsewhere", "choice": "good"},
        {"trial": None},
        {"choice": "good"},
        {"trial": "0.0", "choice": "neither"},
        {"trial": "0.0", "choice": "good", "ms": -1},
        {"trial": "0.0", "choice": "good", "ms": True},
        {"trial": "0.0", "choice": "good", "more": 1},
    ],
)
def test_impossible_answers_are_refused(tmp_path: Path, body: dict[str, object]) -> None:
    of = study(MADE, tmp_path)
    with pytest.raises(InputError):
        of.answer(of.admit()[0], body)  # type: ignore[index]
    assert of.answers() == []


def test_ids_of_a_panel_are_hashed_and_lead_back_to_the_same_place(tmp_path: Path) -> None:
    of = study(MADE, tmp_path)
    first, second = of.admit("panel-id-5678"), of.admit("panel-id-5678")
    assert first
    assert second
    assert first[0].code == second[0].code
    assert of.person(second[1]) == second[0]
    assert of.person(first[1]) is None, "a new browser takes over"
    of.close()
    content = b"".join(path.read_bytes() for path in tmp_path.glob(f"{NAME}*"))
    assert b"panel-id-5678" not in content
    assert second[1].encode() not in content


def test_what_is_forgotten_leaves_nothing(tmp_path: Path) -> None:
    of = study(MADE, tmp_path)
    person = of.admit("someone")[0]  # type: ignore[index]
    answer_all(of, person.code)
    assert of.forget("someone") == 4
    assert of.by_code(person.code) is None
    with pytest.raises(InputError, match="no such person"):
        of.forget(person.code)
    with pytest.raises(InputError, match="deleted"):
        of.answer(person, {"trial": "0.0", "choice": "good"})
    of.close()
    assert person.code.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob(f"{NAME}*"))


def test_the_key_is_thrown_away_and_not_made_again(tmp_path: Path) -> None:
    of = study(MADE, tmp_path)
    _, secret = of.admit("someone")  # type: ignore[misc]
    assert (tmp_path / KEY).stat().st_mode & 0o077 == 0
    of.set_state("closed", forget_key=True)
    assert of.state() == "closed"
    assert not (tmp_path / KEY).exists()
    assert of.person(secret) is None
    with pytest.raises(RunError, match="thrown away"):
        of.admit("someone")
    with pytest.raises(RunError, match="thrown away"):
        of.set_state("open")
    assert of.state() == "closed"


def test_a_lost_key_is_not_replaced(tmp_path: Path) -> None:
    of = study(MADE, tmp_path)
    _, secret = of.admit("someone")  # type: ignore[misc]
    (tmp_path / KEY).unlink()
    for ask in (lambda: of.person(secret), lambda: of.admit("someone")):
        with pytest.raises(RunError, match="missing"):
            ask()
    assert not (tmp_path / KEY).exists()


def test_somebody_who_is_deleted_meanwhile_is_told(tmp_path: Path) -> None:
    of = study(MADE, tmp_path)
    person = of.admit()[0]  # type: ignore[index]
    of.forget(person.code)
    for ask in (of.resume, of.finish):
        with pytest.raises(InputError, match="deleted"):
            ask(person)


@pytest.mark.parametrize("change", ["list = 77", "said = 'x{'"])
def test_edited_people_are_refused(tmp_path: Path, change: str) -> None:
    of = study(MADE, tmp_path)
    of.admit()
    of.connect().execute(f"UPDATE people SET {change}")
    with pytest.raises(RunError, match="damaged or edited"):
        of.progress(), of.said()


def test_a_damaged_file_is_not_called_whole(tmp_path: Path) -> None:
    from syntagm.core import integrity

    of = study(MADE, tmp_path)
    of.path.write_text("no database" * 100)
    with pytest.raises(RunError, match=r"damaged .*Put the file back"):
        of.connect()
    # A cache has a file of the same name, and may be deleted; this one not.
    assert [inspected.kind.name for inspected in integrity.of_folder(tmp_path)][:1] == ["human experiment"]
    assert "cache" not in {inspected.kind.name for inspected in integrity.of_folder(tmp_path)}


def test_a_file_of_another_plan_is_refused(tmp_path: Path) -> None:
    of = study(MADE, tmp_path / "a")
    of.admit()
    of.close()
    other = study(planned([pairs()], "forced-choice", 6), tmp_path / "b")
    (tmp_path / "b" / NAME).write_bytes((tmp_path / "a" / NAME).read_bytes())
    with pytest.raises(RunError, match="another plan"):
        other.connect()


@pytest.mark.parametrize("kind", ["link", "folder", "text"])
def test_what_is_no_file_of_a_study_is_refused(tmp_path: Path, kind: str) -> None:
    of = study(MADE, tmp_path / "study")
    path = tmp_path / "study" / NAME
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("no database" * 100)
    with pytest.raises(RunError):
        of.connect()
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    of = study(planned([pairs()], "forced-choice", 5000), tmp_path)
    person = of.admit()[0]  # type: ignore[index]
    assert of.answer(person, {"trial": "0.0", "choice": "good"})
    pages = of.connect().execute("PRAGMA page_count").fetchone()[0]
    of.connect().execute(f"PRAGMA max_page_count={pages}")
    of.connect().execute("PRAGMA synchronous=OFF")
    of._data.synced = False
    with pytest.raises(RunError, match="room on the disk"):
        any(of.admit() is None for _ in range(1000))
    found = of.by_code(person.code)
    assert found
    assert found.answered == {"0.0"}
    of.connect().execute("PRAGMA max_page_count=100000")
    assert of.answer(person, {"trial": "0.1", "choice": "good"})
    assert of.admit()


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    first = study(MADE, tmp_path)
    second = Study(tmp_path, Clock())
    codes = {admitted[0].code for each in (first, second, first, second) if (admitted := each.admit())}
    assert len(codes) == 4
    assert first.admit() is None
    assert second.admit() is None
    with sqlite3.connect(tmp_path / NAME) as connection:
        assert connection.execute("SELECT count(DISTINCT list || '.' || place) FROM people").fetchone() == (4,)


def test_an_answer_that_was_edited_is_refused(tmp_path: Path) -> None:
    of = filled(MADE, tmp_path)
    of.connect().execute("UPDATE answers SET body = replace(body, 'good', 'bad')")
    with pytest.raises(RunError, match="does not fit its seal"):
        of.answers()
