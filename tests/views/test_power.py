"""Power of planned studies as a table, a figure and a command: sizes, pilots of models and people, and what is refused."""

import csv
from pathlib import Path

import pytest
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.cli import main
from syntagm.runs import Run
from syntagm.stats import planning


@pytest.fixture(autouse=True)
def fewer_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "STUDIES", 50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "other.txt").write_text("the dog barks\nthe bird bark\nthe cats bark\nthe cat barks\n")
    suites = (agreement("s"), agreement("t", ("cat",) * 5), agreement("u", ("bird", "dog")))
    for name, model in (("a", "toy"), ("b", f"toy:{folder / 'other.txt'}"), ("c", "random"), ("d", "random?seed=2")):
        toy_run(folder / name, *suites, model=model)
    toy_run(folder / "one", suites[0])
    toy_run(folder / "two", suites[0], model="random")
    return folder


def runs(folder: Path, names: str) -> list[Run]:
    return [sg.open_run(folder / name) for name in names]


@pytest.mark.slow
def test_two_models_are_planned_for_suites_and_items(folder: Path) -> None:
    rows = sg.table("power", runs(folder, "ab"), suites="3,5", items="10").to_frame().rows(named=True)
    assert [(row["suites"], row["items"], row["models"]) for row in rows] == [(3, 10, 1), (5, 10, 1)]
    assert all(row["low"] < row["power"] < row["high"] or row["power"] in (0, 1) for row in rows)
    assert rows[0]["B - A"] == rows[0]["pilot B - A"]
    stated = (
        sg.table("power", runs(folder, "ab"), suites="3", items="10", difference="0.9").to_frame().row(0, named=True)
    )
    assert stated["B - A"] == 0.9
    assert stated["power"] > rows[0]["power"]


def test_classes_are_planned_for_models(folder: Path) -> None:
    table = sg.table("power", runs(folder, "abcd"), classes="toy,toy,random,random", models="2,4")
    rows = table.to_frame().rows(named=True)
    assert [(row["A"], row["B"], row["models"], row["suites"]) for row in rows] == [
        ("toy", "random", 2, 3), ("toy", "random", 4, 3),
    ]  # fmt: skip
    assert "toy: 2 models in the pilot." in table.notes
    figure = sg.figure("power", runs(folder, "abcd"), classes="toy,toy,random,random", models="2,4")
    assert figure.to_frame()["models"].to_list() == [2, 4]
    assert "models of each class" in figure.svg()
    assert "suites: 3" in figure.svg()


def test_a_pilot_of_one_suite_plans_items(folder: Path) -> None:
    pilots = [sg.open_run(folder / name) for name in ("one", "two")]
    assert sg.table("power", pilots, items="20").to_frame()["suites"].to_list() == [1]
    with pytest.raises(sg.UsageError, match="how suites differ"):
        sg.table("power", pilots, suites="10")


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ("ab", {"suites": "0"}, "whole numbers"),
        ("a", {}, "one run"),
        ("ab", {"models": "3"}, "no classes"),
        ("ab", {"classes": "x"}, "1 names for 2 runs"),
        ("ab", {"classes": "x,x"}, "one class"),
        ("ab", {"classes": "x,y"}, "at least two of each"),
        ("abcd", {"classes": "x,x,y,y", "models": "1"}, "2 or more"),
        ("abcd", {"classes": "x,x,y,y", "suites": "1"}, "2 or more"),
        ("ab", {"difference": "0"}, "other than 0"),
        ("ab", {"difference": "1.5"}, "between -1 and 1"),
    ],
)
def test_what_can_not_be_planned_is_refused(folder: Path, names: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(sg.UsageError, match=message):
        sg.table("power", runs(folder, names), **options)


@pytest.mark.slow
def test_fixed_suites_are_those_of_the_pilot(folder: Path) -> None:
    fixed = sg.Resampling(suites="fixed")
    assert sg.table("power", runs(folder, "ab"), fixed, items="10").to_frame()["suites"].to_list() == [3]
    with pytest.raises(sg.UsageError, match="those of the pilot"):
        sg.table("power", runs(folder, "ab"), fixed, suites="10")


@pytest.mark.slow
def test_the_command_prints_the_table_or_writes_it_with_the_curves(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["power", str(folder / "a"), str(folder / "b"), "suites=3", "items=10,20"]
    assert main(given) == 0
    printed = capsys.readouterr().out
    expected = sg.table("power", runs(folder, "ab"), suites="3", items="10,20")
    assert printed == expected.content("md").decode()
    assert main([*given, "-o", str(tmp_path / "plan")]) == 0
    with (tmp_path / "plan.csv").open() as file:
        assert [row["items"] for row in csv.DictReader(file)] == ["10", "20"]
    assert (tmp_path / "plan-curve.svg").exists()


@pytest.mark.slow
def test_a_run_of_a_model_is_no_pilot_of_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["power", "--people", str(folder / "one")]) == 2
    assert "Runs of models plan studies of models: `syntagm power DIR DIR`" in capsys.readouterr().err


def test_people_are_planned_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    rows = [(f"p{k // 6}", f"i{k % 8}", k % 5 > 0, "ab"[(k // 6 + k) % 2]) for k in range(48)]
    path.write_text("person,item,value\n" + "".join(f"{p},{i},{int(v)}\n" for p, i, v, _ in rows))
    assert main(["power", "--people", str(path), "items=12", "judgements=2,4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]][4:7] == ["items", "judgements", "people"]
    assert [[cell.strip() for cell in line.split("|")[5:8]] for line in lines[4:6]] == [
        ["12", "2", "4"],
        ["12", "4", "8"],
    ]
    assert any(line.startswith("- Pilot: mean 0.792 [") for line in lines)
    assert main(["power", "--people", str(path), "suites=3"]) == 2
    assert "no option 'suites' for people" in capsys.readouterr().err
    assert main(["power", "--people", str(path), "--against", "high"]) == 2
    assert main(["power", "runs/a", "--against", "0.5"]) == 2
    assert main(["power", "--people", str(path), "items=1"]) == 2
    path.write_text("person,item,condition,value\n" + "".join(f"{p},{i},{c},{int(v)}\n" for p, i, v, c in rows))
    assert main(["power", "--people", str(path), "items=12", "judgements=4", "difference=0.3"]) == 0
    assert main(["power", "--people", str(path), "--against", "0.5"]) == 2
    path.write_text("person,item,value\n" + "".join(f"{p},{i},{int(v) + 3.5}\n" for p, i, v, _ in rows))
    assert main(["power", "--people", str(path)]) == 2
    assert "missing for ratings" in capsys.readouterr().err
