"""One number has one interval, wherever it stands: in all tables, in the export, in the report and in Python."""

import re
from pathlib import Path

import pytest
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.cli import main
from syntagm.runs import Run
from syntagm.stats import Suites
from syntagm.views.export import scores as scores_csv

NOUNS = ("dog", "cat", "bird", "dog", "cat")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suites = [agreement(f"s{k}", NOUNS[k % 5 :] + NOUNS[:k]) for k in range(3)]
    tagged = [
        sg.Suite(suite.name, suite.items, suite.predictions[:1], tags={"circuit": "Agreement"}) for suite in suites
    ]
    return toy_run(tmp_path_factory.mktemp("run"), *tagged)


def numbers(row: dict[str, object], names: tuple[str, ...] = ("score", "low", "high")) -> tuple[str, ...]:
    return tuple(f"{row[name]:.12f}" for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("suites", ["random", "fixed"])
def test_every_table_and_page_has_the_same_interval(run: Run, suites: Suites, tmp_path: Path) -> None:
    setting = sg.Resampling(suites=suites)
    estimates = {str(one.group): one for one in sg.estimate(run, setting)}
    [over] = [one for name, one in estimates.items() if "suite" not in name and "circuit" not in name]
    [circuit] = [one for name, one in estimates.items() if "circuit=Agreement" in name]
    expected = tuple(f"{number:.12f}" for number in (over.value, over.low, over.high))
    assert tuple(f"{number:.12f}" for number in (circuit.value, circuit.low, circuit.high)) == expected
    assert ("fixed: suites" in over.method) == (suites == "fixed")

    scores = sg.table("scores", run, setting).to_frame().rows(named=True)
    assert numbers(scores[-1]) == expected
    groups = sg.table("groups", run, setting, by="circuit").to_frame().rows(named=True)
    assert numbers(groups[0]) == expected
    for figure, names in (("classes", ("value", "low", "high")), ("circuits", ("value", "low", "high"))):
        assert numbers(sg.figure(figure, run, setting).to_frame().rows(named=True)[0], names) == expected
    comparison = sg.table("comparison", [run, run], setting).to_frame().rows(named=True)[-1]
    assert numbers(comparison, ("score A", "low A", "high A")) == expected
    trajectory = sg.table("trajectory", run, setting, x="1").to_frame().rows(named=True)[0]
    assert numbers(trajectory, ("score at the end", "low", "high")) == expected
    page = sg.write_report([run], tmp_path / "report.html", resampling=setting).read_text()
    assert f"[{over.low:.3f}, {over.high:.3f}]" in page

    single = {one.group.suite: one for one in estimates.values() if one.group.suite}
    for row in scores[:-1]:
        one = single[str(row["suite"])]
        assert numbers(row) == tuple(f"{number:.12f}" for number in (one.value, one.low, one.high))
    curves = sg.table("trajectory", run, setting, x="1", by="suite").to_frame().rows(named=True)
    for row in curves:
        one = single[str(row["group"])]
        assert numbers(row, ("score at the end", "low", "high")) == tuple(
            f"{number:.12f}" for number in (one.value, one.low, one.high)
        )


def test_the_export_has_the_interval_of_python(run: Run) -> None:
    rows = [line.rstrip("\n").split(",") for line in scores_csv.EXPORT.lines(run)]
    exported = {tuple(row[5:7]) for row in rows[1:]}
    assert exported == {(repr(one.low), repr(one.high)) for one in sg.estimate(run)}


def test_no_view_names_a_bootstrap_that_it_does_not_use(run: Run, tmp_path: Path) -> None:
    page = sg.write_report([run], tmp_path / "report.html").read_text()
    assert not re.search("bootstrap|resampl", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL), re.IGNORECASE)


@pytest.fixture(scope="module")
def seeds(run: Run, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("seeds")
    (folder / "text.txt").write_text("the dog barks\nthe bird bark\nthe cats bark\nthe cat barks\n")
    suites = [
        sg.Suite(suite.name, suite.items, suite.predictions[:1], tags={"circuit": "Agreement"})
        for suite in (agreement(f"s{k}", NOUNS[k % 5 :] + NOUNS[:k]) for k in range(3))
    ]
    return [run, toy_run(folder / "two", *suites, model=f"toy:{folder / 'text.txt'}")]


@pytest.mark.parametrize("suites", ["random", "fixed"])
def test_every_view_of_several_models_has_the_same_interval(seeds: list[Run], suites: Suites) -> None:
    setting = sg.Resampling(suites=suites)
    # The mean of two seeds: in the table of classes, along a trajectory and in a learning curve.
    [of_class] = sg.table("classes", seeds, setting, classes="toy,toy").to_frame().rows(named=True)
    [along] = sg.table("trajectory", seeds, setting, x="1,1", series="a,a").to_frame().rows(named=True)
    assert numbers(along, ("score at the end", "low", "high", "sd")) == numbers(
        of_class, ("score", "low", "high", "sd")
    )
    drawn = sg.figure("trajectory", seeds, setting, x="1,1", series="a,a").to_frame().rows(named=True)[0]
    assert numbers(drawn, ("value", "low", "high", "sd")) == numbers(of_class, ("score", "low", "high", "sd"))
    learnt = sg.figure("learning_curve", seeds, setting, tag="circuit", words="1,1").to_frame().rows(named=True)
    assert [row["model"] for row in learnt][2:] == ["mean of 2"]
    assert numbers(learnt[2], ("value", "low", "high")) == numbers(of_class)


@pytest.mark.parametrize("suites", ["random", "fixed"])
def test_every_comparison_of_two_models_has_the_same_interval(seeds: list[Run], suites: Suites) -> None:
    setting = sg.Resampling(suites=suites)
    pairing = sg.compare(*seeds, resampling=setting)
    over = pairing.overall.difference
    expected = tuple(f"{number:.12f}" for number in (over.value, over.low, over.high, pairing.overall.p))
    names = ("B - A", "low", "high")
    compared = sg.table("comparison", seeds, setting).to_frame().rows(named=True)
    assert numbers(compared[-1], (*names, "p")) == expected
    equivalent = sg.table("equivalence", seeds, setting, bound="0.2").to_frame().rows(named=True)
    assert numbers(equivalent[-1], (*names, "p different")) == expected
    classes = sg.table("classes", seeds, setting, classes="a,b").to_frame().rows(named=True)
    assert numbers(classes[-1], ("score", "low", "high", "p")) == expected
    [single] = [one for one in pairing.suites if one.group.suite == "s1"]
    for table in (compared, equivalent):
        [row] = [row for row in table if row["suite"] == "s1"]
        assert numbers(row, names) == tuple(
            f"{number:.12f}" for number in (single.difference.value, single.difference.low, single.difference.high)
        )


@pytest.mark.slow
def test_every_view_of_effects_has_the_same_interval(seeds: list[Run], tmp_path: Path) -> None:
    names = ("effect_bits", "low", "high")
    table = [numbers(row, names) for row in sg.table("effects", seeds[0]).to_frame().rows(named=True)]
    assert [numbers(row, names) for row in sg.figure("effects", seeds[0]).to_frame().rows(named=True)] == table
    paired = sg.table("effects", seeds, paired=True).to_frame().rows(named=True)
    assert [numbers(row, ("effect A",)) for row in paired] == [row[:1] for row in table]
    assert main(["compare", *(str(run.folder) for run in seeds), "--effects", "--json"]) == 0
