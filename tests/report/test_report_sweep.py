"""The report on many models: models as rows, in their groups, each compared with the first only."""

from pathlib import Path

import pytest
from report_examples import written
from toy_runs import agreement, pairs

from syntagm.core import UsageError
from syntagm.models import load
from syntagm.report import Sweep, chapter_of, group_models, report
from syntagm.report.sweep import MANY, tabulate_models
from syntagm.runs import Run, run_suites

SUITES = (agreement(), pairs("pairs", ("the dog barks", "the dog bark"), ("the cat bark", "the cat barks")))


def runs(folder: Path, count: int = MANY + 1) -> list[Run]:
    made = []
    for seed in range(count):
        model = load(f"random:?seed={seed}")
        model.label = f"{'Odd' if seed % 2 else 'Even'}: number {seed} with quite <b>a</b> long name-that_can/be.broken"
        made.append(run_suites(model, SUITES, folder / f"run{seed}"))
    return made


@pytest.mark.slow
def test_few_models_have_the_page_with_everything(tmp_path: Path) -> None:
    some = runs(tmp_path)
    assert not isinstance(chapter_of(some[:MANY]), Sweep)
    assert isinstance(chapter_of(some), Sweep)
    assert [name for name, _ in chapter_of(some).figures()] == ["scores"]


@pytest.mark.slow
def test_many_models_are_rows(tmp_path: Path) -> None:
    some = runs(tmp_path)
    page = written(tmp_path, *some)
    assert "13 models on 2 suites, 5 items" in page.text
    assert f"13 models have 78 pairs; only those with the first model, {some[0].name}, are compared here." in page.text
    content = (tmp_path / "report.html").read_text("utf-8")
    assert "<b>a</b>" not in content
    overview = content[content.index('id="overview"') : content.index('id="scores"')]
    # A row for each model, and a divider for each group; the groups are in the order of their first models.
    assert overview.count('<th scope="row">') == 13
    assert overview.index("<bdi>Even</bdi></th>") < overview.index("<bdi>Odd</bdi></th>")
    assert overview.count("the first</td>") == 1
    # Each suite's numbers, in a fold.
    assert content.count("13 models: accuracy by prediction") == 2
    estimate = chapter_of(some).columns[3].accuracies["agreement", "verb"]
    assert f"<b>{estimate.value:.3f}</b>" in content


@pytest.mark.slow
def test_scores_over_different_suites_say_over_how_many(tmp_path: Path) -> None:
    fewer = run_suites(load("random?seed=99"), SUITES[:1], tmp_path / "fewer")
    chapter = chapter_of([*runs(tmp_path, MANY), fewer])
    table = str(tabulate_models(chapter, group_models(chapter)))
    assert (table.count("<em>2 suites"), table.count("<em>1 suite")) == (
        MANY * len(chapter.overall),
        len(chapter.overall),
    )
    alike = chapter_of(runs(tmp_path / "alike"))
    assert "<em>2 suites" not in str(tabulate_models(alike, group_models(alike)))


@pytest.mark.slow
def test_the_figure_of_the_models_has_their_names(tmp_path: Path) -> None:
    [(_, figure)] = chapter_of(runs(tmp_path)).figures()
    assert figure.table.columns[:2] == ["model", "value"]
    assert len(figure.table) == 13
    assert figure.table["model"][0].startswith("Even: number 0")


@pytest.mark.slow
def test_two_models_are_rows_if_a_page_with_everything_is_too_large(tmp_path: Path) -> None:
    some = runs(tmp_path, 2)
    rows = report(some, tmp_path / "report.html", ceiling=110_000).read_text("utf-8")
    assert "2 models: accuracy by prediction" in rows
    with pytest.raises(UsageError, match="in its shortest form; expected at most 20,000"):
        report(some, tmp_path / "none.html", ceiling=20_000)


@pytest.mark.slow
def test_a_page_without_room_omits_the_numbers_of_suites(tmp_path: Path) -> None:
    some = runs(tmp_path)
    whole = report(some, tmp_path / "whole.html").stat().st_size
    text = report(some, tmp_path / "small.html", ceiling=whole - 1).read_text("utf-8")
    assert "The numbers of this suite are not shown" in text
    assert "accuracy by prediction" not in text


@pytest.mark.slow
def test_measures_of_many_models_have_no_verdicts(tmp_path: Path) -> None:
    some = [
        run_suites(
            load(f"random:?seed={seed}"),
            [agreement()],
            tmp_path / str(seed),
            measures=["surprisal(region=2, condition=good)"],
        )
        for seed in range(MANY + 1)
    ]
    page = written(tmp_path, *some)
    assert "above chance" not in page.text
    assert "are compared here" not in page.text
    with pytest.raises(StopIteration):
        next(chapter_of(some).figures())
