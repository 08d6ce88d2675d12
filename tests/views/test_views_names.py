"""Names in options of views, in groups and in labels: refused if no run has them, and never cut."""

import re
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
from toy_runs import agreement, pairs, toy_run

from syntagm.cli import main
from syntagm.core import InputError, UsageError, settings
from syntagm.evaluation import Estimate, Group
from syntagm.runs import Run, open_run
from syntagm.stats import Comparison
from syntagm.suites import Item, Region, Sentence, sampled
from syntagm.views import by_name, estimates, mean_name, methods
from syntagm.views.quantity import labels

DECLARED = [
    (kind, name, option.name)
    for kind in by_name.MAKERS
    for name in by_name.offering(kind)
    for option in settings.of_parameters(by_name.find(kind, name))
]
WITH_MEASURE = [(kind, name) for kind, name, option in DECLARED if option == "measure"]
GROUPED = [(kind, name) for kind, name, option in DECLARED if option == "tag"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("names")
    return [toy_run(folder / model, agreement(), agreement("other"), model=model) for model in ("toy", "random")]


@pytest.mark.parametrize(("kind", "name"), WITH_MEASURE)
def test_a_measure_that_no_suite_has_is_refused_by_every_view(kind: by_name.Kind, name: str, runs: list[Run]) -> None:
    make = by_name.table if kind == "table" else by_name.figure
    with pytest.raises(UsageError, match=r"measure=: 'nonsense'.*; expected one of"):
        make(name, runs, measure="nonsense")


@pytest.mark.parametrize(("kind", "name"), [pair for pair in GROUPED if pair[1] != "methods"])
def test_a_tag_that_no_suite_has_is_refused_by_every_view(kind: by_name.Kind, name: str, runs: list[Run]) -> None:
    make = by_name.table if kind == "table" else by_name.figure
    with pytest.raises(UsageError, match="tag=: 'nonsense', which no suite has; expected one of circuit"):
        make(name, runs, tag="nonsense")


def test_correlation_is_over_first_predictions_and_refuses_models_with_fewer_than_three_common_suites(
    tmp_path: Path, runs: list[Run]
) -> None:
    three = [agreement(), agreement("other"), pairs("pairs", ("the dog barks", "the dog bark"))]
    many = [toy_run(tmp_path / model, *three, model=model) for model in ("toy", "random")]
    assert by_name.figure("correlation", many).table["n"].to_list() == [3, 3]
    with pytest.raises(UsageError, match="2 suites with the measure in two of the runs; expected at least 3"):
        by_name.figure("correlation", runs)
    others = toy_run(tmp_path / "others", pairs("pairs", ("the dog barks", "the dog bark")), model="random?seed=2")
    with pytest.raises(UsageError, match="0 suites with the measure in two of the runs; expected at least 3"):
        by_name.figure("correlation", [runs[0], others])


def test_samples_that_differ_are_said_once_with_the_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suites = [agreement(f"suite{number}") for number in range(5)]
    folders = []
    for size in (1, 2):
        folders.append(str(tmp_path / f"sample{size}"))
        toy_run(Path(folders[-1]), *(sampled(suite, size, 1) for suite in suites))
    assert main(["table", "scores", *folders]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "syntagm: suites suite0, suite1, suite2 and 2 more: DIFFERENT CONTENT under one name, "
        f"1 of 3 items, seed 1 in {folders[0]}, 2 of 3 items, seed 1 in {folders[1]} (of suite0)"
    )
    with pytest.warns(UserWarning, match="suites suite0, suite1, suite2 and 2 more: DIFFERENT CONTENT"):
        by_name.table("scores", [open_run(folder) for folder in folders])
    assert main(["compare", *folders]) == 2
    assert capsys.readouterr().err.count("DIFFERENT CONTENT") == 1


def test_a_tag_that_repeats_groups_of_another_is_left_out(tmp_path: Path) -> None:
    likes = {"circuit": "islands", "linguistics_term": "islands"}
    suites = [agreement(), pairs("pairs", ("the dog barks", "the dog bark"), tags=likes)]
    assert estimates.grouping_tags([toy_run(tmp_path / "same", *suites)]) == ["circuit"]
    suites[1] = replace(suites[1], tags=likes | {"linguistics_term": "island effects"})
    assert estimates.grouping_tags([toy_run(tmp_path / "other", *suites)]) == ["circuit", "linguistics_term"]


def test_learning_curve_names_what_is_missing(runs: list[Run]) -> None:
    with pytest.raises(UsageError, match="tag=: 'linguistics_term', which no suite has; expected one of circuit"):
        by_name.figure("learning_curve", runs, words="1000,2000")
    with pytest.raises(UsageError, match=r"no size of a training text; expected .*words=1000000,5000000"):
        by_name.figure("learning_curve", runs, tag="circuit")
    assert by_name.figure("learning_curve", runs, tag="circuit", words="1000,2000").table.height == 2


@pytest.mark.slow
def test_lexical_offers_only_what_it_accepts(tmp_path: Path) -> None:
    def item(number: str) -> Item:
        good = Sentence("dogs bark", (Region("empty", 0, 0), Region("verb", 5, 9)))
        return Item(number, {"good": good, "bad": replace(good, text="dogs lark")}, {"noun": "dog", "none": ""})

    suite = replace(agreement(), items=(item("1"), item("2")), predictions=pairs("p").predictions)
    run = toy_run(tmp_path / "run", suite)
    with pytest.raises(UsageError) as caught:
        by_name.table("lexical", run, by="region:empty")
    offered = caught.value.expected.removeprefix("one of ").split(", ")
    assert offered == ["circuit", "noun", "region:verb"]
    for by in offered:
        assert any(labels(run, suite.name, by))
        assert by_name.table("lexical", run, by=by).rows


def test_options_may_stand_anywhere(runs: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, stem = str(runs[0].folder), str(tmp_path / "x")
    orders = (
        ["scores", run, "-o", stem, "measure=verb"],
        ["-o", stem, "scores", run, "measure=verb"],
        ["scores", "--format", "svg", run, "measure=verb", "-o", stem],
    )
    for order in orders:
        assert main(["figure", *order, "--force"]) == 0
        assert "agreement,verb" in (tmp_path / "x.csv").read_text()
    with pytest.raises(SystemExit):
        main(["figure", "scores", run, "--bogus", "-o", stem])
    assert "unrecognized arguments: --bogus" in capsys.readouterr().err


def test_labels_of_methods_are_whole() -> None:
    names = ["determiner noun agreement: two prefixes, one word", "filler gap dependency: one prefix, two words"]
    groups = [Group("m", labels=(("contrast", name),)) for name in names]
    comparisons = [Comparison(group, Estimate(group, 0.1, 0.0, 0.2, 12_345, "made up")) for group in groups]
    drawn = methods.draw(comparisons, "Whole sentences or critical words").svg()
    assert not re.search("…<", drawn)
    assert all(f">{name} (n = 12,345)<" in drawn for name in names)


class TestGroups:
    @pytest.fixture
    def blimp(self, tmp_path: Path) -> Run:
        def suite(name: str, field: str, term: str) -> object:
            tags = {"field": field, "linguistics_term": term}
            return pairs(name, ("the dog barks", "the dog bark"), ("the dogs bark", "the dogs barks"), tags=tags)

        suites = [
            suite("a", "syntax/semantics", "binding"), suite("b", "syntax_semantics", "npi"), suite("c", "syntax", "npi"),
        ]  # fmt: skip
        return toy_run(tmp_path / "blimp", *suites)  # type: ignore[arg-type]

    def test_two_spellings_of_a_field_are_one_group(self, blimp: Run) -> None:
        rows = by_name.table("groups", blimp).to_frame().select("by", "group", "suites").rows()
        assert rows == [
            ("field", "syntax_semantics", 2), ("field", "syntax", 1),
            ("linguistics_term", "binding", 1), ("linguistics_term", "npi", 2),
        ]  # fmt: skip
        frame = by_name.figure("phenomena", blimp, tag="field").table
        assert frame.select("phenomenon", "paradigms").rows() == [("syntax_semantics", 2), ("syntax", 1)]

    def test_factors_have_the_groups_of_suites(self, blimp: Run) -> None:
        rows = by_name.table("factors", blimp, by="field").to_frame().select("suite", "level").rows()
        assert rows == [("a", "syntax_semantics"), ("b", "syntax_semantics"), ("c", "syntax")]
        with pytest.raises(UsageError, match="one of field, linguistics_term, row"):
            by_name.table("factors", blimp, by="term")

    def test_phenomena_have_ticks_for_people(self, blimp: Run, tmp_path: Path) -> None:
        path = tmp_path / "people.csv"
        path.write_text("phenomenon,accuracy\nnpi,0.81\nother,1\n")
        drawn = by_name.figure("phenomena", blimp, humans=path)
        assert drawn.table.select("phenomenon", "humans").fill_nan(None).rows() == [("binding", None), ("npi", 0.81)]
        assert "black tick: human accuracy" in str(drawn.spec["title"])
        assert "tick" not in str(by_name.figure("phenomena", blimp).spec["title"])
        path.write_text("phenomenon,accuracy\nother,1\n")
        with pytest.raises(UsageError, match="humans=: other; expected phenomena among binding, npi"):
            by_name.figure("phenomena", blimp, humans=path)
        path.write_text("phenomenon,accuracy\nnpi,81\n")
        with pytest.raises(InputError, match="line 2, accuracy: '81'; expected a number from 0 to 1"):
            by_name.figure("phenomena", blimp, humans=path)

    def test_a_tag_that_repeats_another_is_left_out(self, tmp_path: Path) -> None:
        tags = {"circuit": "Agreement", "linguistics_term": "Agreement"}
        run = toy_run(tmp_path / "r", pairs("a", ("the dog barks", "the dog bark"), tags=tags))
        assert set(by_name.table("groups", run).to_frame()["by"]) == {"circuit"}

    def test_only_suites_in_circuits_have_an_sg_score(self, blimp: Run, runs: list[Run]) -> None:
        assert [mean_name(run) for run in (blimp, runs[0])] == ["mean accuracy", "SG score"]


def test_an_estimate_of_one_item_has_no_interval_in_a_notebook() -> None:
    shown = Estimate(Group("m", "s"), 1.0, nan, nan, 1, "made up")._repr_html_()
    assert "1.000 no interval, n=1" in shown


def test_one_suite_is_singular(runs: list[Run], tmp_path: Path) -> None:
    assert "on 2 suites," in repr(runs[0])
    assert "on 1 suite," in repr(toy_run(tmp_path / "one", agreement()))
