"""What limits a number stands beside it: in each table, figure caption, page and JSON that shows the number."""

import json
from pathlib import Path

import pytest
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.cli import main
from syntagm.evaluation import IN_BRIEF, unseen
from syntagm.runs import Run

# The toy model knows that dogs bark, the other model that cats and birds do, too. Two suites have a bird among the dogs.
OTHER = "the dog barks\nthe bird barks\nthe cat barks\n"
SUITES = (
    *(agreement(f"dogs_{k:02}", ("dog", "dog", "dog", "bird" if k < 3 else "dog")) for k in range(1, 12)),
    agreement("cats", ("cat",) * 4),
)
# Without the cats, the toy model has 42 of 44 items right.
SCORE, DIFFERENCE = "without cats: 0.955 [", "without cats: 0.045 ["


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("limits")
    (folder / "other.txt").write_text(OTHER)
    models = {"toy-1": "toy", "toy-2": f"toy:{folder / 'other.txt'}"}
    runs = [toy_run(folder / name, *SUITES, model=model) for name, model in models.items()]
    for run, name in zip(runs, models, strict=True):
        run.name = name
    return runs


def caption(figure: sg.Figure) -> str:
    title = figure.spec["title"]
    return " ".join(title["subtitle"])


@pytest.mark.slow
def test_one_suite_that_decides_is_in_every_table_of_scores(runs: list[Run]) -> None:
    for name in ("scores", "groups", "classes"):
        notes = " ".join(sg.table(name, runs[0]).notes)
        assert SCORE in notes, name
        assert unseen("suites") in notes, name
    [score] = [found for found in sg.estimate(runs[0]) if found.group.rule and not found.group.labels]
    assert score.remarks[0].startswith(SCORE)
    assert score.method == f"{score.design}; {score.remarks[0]}"


@pytest.mark.parametrize("name", ["circuits", "classes", "phenomena", "trajectory"])
def test_one_suite_that_decides_is_in_the_caption_of_every_figure_of_scores(runs: list[Run], name: str) -> None:
    options = {"phenomena": {"tag": "circuit"}, "trajectory": {"x": "1,2"}}.get(name, {})
    shown = caption(sg.figure(name, runs if name == "trajectory" else runs[:1], **options))
    assert SCORE in shown
    assert IN_BRIEF[unseen("suites")] in shown


@pytest.mark.slow
@pytest.mark.parametrize("name", ["comparison", "equivalence"])
def test_one_suite_that_decides_is_in_every_table_of_differences(runs: list[Run], name: str) -> None:
    notes = " ".join(sg.table(name, runs, **({"bound": "0.1"} if name == "equivalence" else {})).notes)
    assert f"mean of 12: {DIFFERENCE}" in notes
    assert unseen("suites") in notes
    assert DIFFERENCE in str(sg.compare(*runs))


def test_fixed_suites_need_no_such_remark(runs: list[Run]) -> None:
    fixed = sg.Resampling(suites="fixed")
    for name, options in {
        "scores": {},
        "groups": {},
        "comparison": {},
        "classes": {},
        "equivalence": {"bound": 0.1},
    }.items():
        notes = " ".join(sg.table(name, runs, fixed, **options).notes)
        assert "for other suites" not in notes, name
        assert "without cats" not in notes
        assert unseen("suites") not in notes
    assert IN_BRIEF[unseen("suites")] not in caption(sg.figure("circuits", runs, fixed))


@pytest.mark.slow
def test_the_command_line_and_the_page_say_it_too(
    runs: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(run.folder) for run in runs]
    assert main(["compare", *folders]) == 0
    shown = capsys.readouterr().out
    assert f"mean of 12: {DIFFERENCE}" in shown
    assert unseen("suites") in shown
    assert main(["compare", *folders, "--json", "--effects"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["overall"]["difference"]["remarks"][0].startswith(DIFFERENCE)
    assert any(unseen("suites") in note for note in found["notes"])
    assert unseen("items") in found["notes"]
    assert "only 4 items" in found["suites"][0]["difference"]["remarks"]
    assert main(["report", folders[0], "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text("utf-8").replace("&#39;", "'")
    assert SCORE in page
    assert unseen("suites") in page
    assert unseen("items") in page


@pytest.mark.slow
def test_effects_and_regions_say_what_their_intervals_do_not_know(runs: list[Run]) -> None:
    assert unseen("items") in sg.table("effects", runs[0]).notes
    assert unseen("items") in sg.table("effects", runs, paired="yes").notes
    for name, options in (("effects", {}), ("regions", {"suite": "cats"})):
        shown = caption(sg.figure(name, runs[:1], **options))
        assert IN_BRIEF[unseen("items")] in shown
        assert "only 4 items" in shown
