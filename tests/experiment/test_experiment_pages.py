"""The pages of a hosted study: who is let in, what they are told, and hostile input."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from asking import HOST, Answer, ask, opened

from syntagm.cli import main
from syntagm.core import InputError, UsageError
from syntagm.experiment import Study, deployed, hosted as hosted_pages, jspsych, make, pcibex
from syntagm.report import Application
from tests.experiment_for_tests import filled, pairs, planned, written

HOSTILE = "<script>alert(1)</script>\"'&"


@pytest.fixture
def hosted(tmp_path: Path) -> tuple[Application, dict[str, str], Study]:
    study = Study(written(planned([pairs(items=2)], "forced-choice", 2), tmp_path))
    application, known = opened(hosted_pages.Hosted(study).routes())
    return application, known, study


def post(application: Application, path: str, body: bytes, kind: str = "application/json", **headers: str) -> Answer:
    sent = {"origin": f"http://{HOST}", "content_type": kind, **headers}
    return ask(application, path, "POST", body, **sent)


def begin(application: Application, panel: str = "") -> str:
    return post(application, "/take", f"id={panel}".encode(), "application/x-www-form-urlencoded").headers["location"]


def send(application: Application, place: str, body: Any) -> Answer:
    return post(application, f"{place}/answer", json.dumps(body).encode())


def test_somebody_takes_part_without_a_login(hosted: tuple[Application, dict[str, str], Study]) -> None:
    application, _, study = hosted
    assert ask(application, "/take").status == 200
    assert study.progress().totals == (0, 0, 0), "looking takes no place"
    place = begin(application, "someone")
    assert ask(application, place).status == 200
    state = json.loads(ask(application, f"{place}/state").body)
    assert [trial["n"] for trial in state["trials"]] == [0, 1]
    told = json.dumps(state)
    assert "good" not in told
    assert "expected" not in told
    for trial in state["trials"]:
        right = 1 + trial["texts"].index(next(text for text in trial["texts"] if " sleeps " in text))
        assert json.loads(send(application, place, {"n": trial["n"], "choice": right, "ms": 512.5}).body) == {
            "stored": True, "new": True,
        }  # fmt: skip
    assert json.loads(send(application, place, {"n": 0, "choice": 1}).body) == {"stored": True, "new": False}
    assert [answer.choice for answer in study.answers()] == ["good", "good"]
    done = json.loads(post(application, f"{place}/finish", b'{"said": ["yes"]}').body)
    assert done["finished"]
    assert study.by_code(done["code"])
    assert json.loads(ask(application, f"{place}/state").body)["finished"]["code"] == done["code"]


def test_a_hidden_question_is_told_to_the_page_only(tmp_path: Path) -> None:
    made = planned([pairs(items=2)], "forced-choice", 2)
    made = replace(made, options={**made.options, "questions": [["Here?", "no"], ["7 + 4?", ""]]})
    application, _ = opened(hosted_pages.Hosted(Study(written(made, tmp_path))).routes())
    state = json.loads(ask(application, f"{begin(application)}/state").body)
    assert (state["ask"][:2], state["hidden"]) == (["Here?", "7 + 4?"], [1])
    # Pages without a server ask no hidden question.
    assert deployed.data(tmp_path)["ask"][:2] == ["Here?", ""]
    assert "7 + 4" not in pcibex.script(deployed.data(tmp_path), "")


def test_the_experimenter_s_pages_need_a_login(hosted: tuple[Application, dict[str, str], Study]) -> None:
    application, known, study = hosted
    for path in ("/experiment", "/experiment/answers.csv", "/experiment/preview/1", "/experiment/state/1"):
        assert ask(application, path).status == 403
        assert ask(application, path, **known).status == 200
    form = "application/x-www-form-urlencoded"
    assert post(application, "/experiment", b"state=closed", form).status == 403
    assert post(application, "/experiment", b"state=closed", form, sec_fetch_site="cross-site", **known).status == 403
    assert study.state() == "open"
    assert post(application, "/experiment", b"state=paused", form, **known).status == 303
    assert "paused" in ask(application, "/take").text
    assert post(application, "/experiment", b"state=else", form, **known).status == 400
    for number in ("9", "0", "000000001999", "x"):
        assert ask(application, f"/experiment/preview/{number}", **known).status == 404
        assert ask(application, f"/experiment/state/{number}", **known).status == 404
    assert study.progress().answers == 0, "a preview records nothing"


@pytest.mark.parametrize(
    "body", [{}, [], 1, "x", {"n": -1}, {"n": 2}, {"n": True, "choice": 1}, {"n": 0}, {"n": 0, "choice": "good"},
             {"n": 0, "choice": 3}, {"n": 0, "choice": 1, "ms": "\ud800"},
             {"n": 0, "choice": 1, "trial": "0.1"}, {"n": 0, "choice": 1, "x": HOSTILE}],
)  # fmt: skip
def test_impossible_answers_are_refused(hosted: tuple[Application, dict[str, str], Study], body: Any) -> None:
    application, _, study = hosted
    place = begin(application)
    found = send(application, place, body)
    if body == {"n": 0, "choice": 1, "trial": "0.1"}:
        # The trial is the one at this place, whatever else is said.
        assert found.status == 200
        [stored] = study.answers()
        [person] = [study.by_code(stored.person)]
        assert person
        assert stored.trial == study.plan.trials[study.trials_of(person)[0][0]].id
    else:
        assert found.status == 400
        assert "<script>" not in found.text or found.headers["content-type"] == "application/json"
    assert len(study.answers()) <= 1


def test_bodies_that_are_no_json_and_forged_addresses(hosted: tuple[Application, dict[str, str], Study]) -> None:
    application, _, study = hosted
    place = begin(application)
    for content in (
        b"",
        b"{",
        b"NaN",
        b'{"n": NaN}',
        b'{"n": 1, "n": 1}',
        b'{"said": ["\\ud800"]}',
        b"\xff",
        b"[" * 5000,
        b"1" * 60_000,
    ):
        assert post(application, f"{place}/answer", content).status == 400
    assert post(application, f"{place}/answer", b"{}", "text/plain").status == 400
    for secret in ("x", "..%2F..%2Fplan.json", "%00", "a" * 5000, HOSTILE.replace("/", "%2F").replace('"', "%22")):
        assert ask(application, f"/study/{secret}").status == 404
        assert ask(application, f"/study/{secret}/state").status == 404
        assert post(application, f"/study/{secret}/answer", b"{}").status == 404
    assert study.answers() == []


def test_hostile_ids_and_texts_stay_text(tmp_path: Path) -> None:
    folder = written(planned([pairs(items=2)], "forced-choice", 2), tmp_path)
    (folder / "texts/consent.md").write_text(f"# {HOSTILE}\n\n{HOSTILE} **bold**")
    settings = folder / "study.toml"
    settings.write_text(settings.read_text().replace("Reading sentences", "<script>alert(2)</script>"))
    application, _ = opened(hosted_pages.Hosted(Study(folder)).routes())
    shown = ask(application, f"/take?id={HOSTILE.replace('&', '%26').replace('/', '%2F')}").text
    assert "<script>alert" not in shown
    assert "<strong>bold</strong>" in shown
    assert ask(application, f"/take?id={'x' * 300}").status == 400


def test_a_closed_study_takes_no_answers_and_a_full_one_nobody(
    hosted: tuple[Application, dict[str, str], Study],
) -> None:
    application, _, study = hosted
    place = begin(application)
    begin(application)
    assert post(application, "/take", b"id=", "application/x-www-form-urlencoded").status == 503
    study.set_state("closed")
    assert json.loads(send(application, place, {"n": 0, "choice": 1}).body).keys() == {"stop"}
    assert study.answers() == []
    study.set_state("closed", forget_key=True)
    assert json.loads(send(application, place, {"n": 0, "choice": 1}).body) == {"stop": hosted_pages._CLOSED}


def test_strangers_are_told_nothing_of_files(
    hosted: tuple[Application, dict[str, str], Study], capsys: pytest.CaptureFixture[str]
) -> None:
    application, _, study = hosted
    place = begin(application)
    (study.folder / "key").unlink()
    for answer in (ask(application, place), post(application, "/take", b"id=x", "application/x-www-form-urlencoded")):
        assert answer.status == 503
        assert str(study.folder) not in answer.text
    assert "the key with which people began" in capsys.readouterr().err


def test_people_are_asked_only_if_they_can_reach_somebody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = planned([pairs(items=2)], "forced-choice", 2)
    make.write(made, folder := tmp_path / "study")
    before = sorted(folder.iterdir())
    assert main(["serve", "--experiment", str(folder)]) == 2
    assert "study.toml, contact: the example name@example.org; expected an address" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before
    assert main(["experiment", "deploy", str(folder), "--as", "pcibex", "-o", str(tmp_path / "pages")]) == 0
    assert "warning: " in capsys.readouterr().err
    settings = (folder / "study.toml").read_text()
    for contact, found in (("Lab@Example.COM", "the example Lab@Example.COM"), (" ", "nothing")):
        (folder / "study.toml").write_text(settings.replace("name@example.org", contact))
        with pytest.raises(InputError, match=f"study.toml, contact: {found}; expected an address"):
            hosted_pages.of_folder(folder)
    # The setting is not shown if the texts name somebody themselves; and simulated people reach nobody.
    for name in ("consent", "debriefing"):
        text = folder / "texts" / f"{name}.md"
        text.write_text(text.read_text().replace("CONTACT", "lab@university.example"))
    assert hosted_pages.of_folder(folder).study.state() == "open"
    hosted_pages.of_folder(filled(made, tmp_path / "rehearsal").folder)


def test_markup_of_texts() -> None:
    assert str(deployed.html("a_b_c and _so_")) == "<p>a_b_c and <em>so</em></p>"
    assert str(deployed.html("")) == ""


def test_a_project_of_pcibex(tmp_path: Path) -> None:
    folder = written(planned([pairs(items=2)], "forced-choice", 4), tmp_path / "plan")
    list(pcibex.write(folder, tmp_path / "project"))
    rows = (tmp_path / "project/chunk_includes/trials.csv").read_text().splitlines()
    assert rows[0].startswith("Group,order,list,trial,first,second")
    assert len(rows) == 1 + 4 * 2
    script = (tmp_path / "project/data_includes/main.js").read_text()
    assert script.count("(") == script.count(")")
    assert "newSelector" in script


def test_without_packages_and_npm_the_pages_of_jspsych_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jspsych, "LIBRARY", tmp_path / "none")
    monkeypatch.setattr("shutil.which", lambda name: None)
    folder = written(planned([pairs(items=2)], "forced-choice", 2), tmp_path / "plan")
    with pytest.raises(UsageError, match="no npm"):
        list(jspsych.write(folder, tmp_path / "pages"))
    assert not (tmp_path / "pages").exists()
