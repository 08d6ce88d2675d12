"""Runs of a model that sees both sides: whole sentences are compared, parts only if asked for, and what is absent is said."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from masked_for_tests import masked

import syntagm as sg
from syntagm.core import Progress, RunError, UsageError
from syntagm.models import LanguageModel, Surprisals
from syntagm.report import report
from syntagm.runs import run_suites as run
from syntagm.suites import Suite
from syntagm.views import accuracies, compare, estimates

NAMES = (
    "adjunct_island",
    "causative",
    "distractor_agreement_relative_clause",
    "only_npi_scope",
    "principle_A_c_command",
)


def paradigms(n: int) -> list[Suite]:
    return [suite for name in NAMES for suite in sg.read_suites(f"warstadt2020/{name}?n={n}")]


class Hearing(Progress):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def warned(self, message: str) -> None:
        self.heard.append(message)


@pytest.mark.slow
def test_predictions_about_parts_are_absent_and_that_is_said(tmp_path: Path) -> None:
    suites = paradigms(2)
    hearing = Hearing()
    found = run(masked("distilbert"), suites, tmp_path / "m", progress=hearing)
    [heard] = hearing.heard
    parts = [suite.name for suite in suites if len(suite.predictions) > 1]
    assert heard.startswith(f"skipped in {len(parts)} of {len(suites)} suites: one_prefix, two_prefix. ")
    assert found.suite("only_npi_scope").left_out == ("two_prefix",)
    assert list(found.suite("only_npi_scope").predictions) == ["full_sentence"]
    assert set(found.results()["measure"]) == {"full_sentence"}
    assert len(accuracies(found)) == len(suites)
    [score] = estimates.scores(found)
    assert score.n == 2 * len(suites)
    assert json.loads((tmp_path / "m" / "run.json").read_text())["model"]["policies"]["masking"] == "token"
    # The same command again finds everything done, and says the same.
    run(masked("distilbert"), suites, tmp_path / "m", progress=hearing)
    assert hearing.heard == [heard, heard]


@pytest.mark.slow
def test_a_report_shows_what_is_absent_beside_a_model_that_has_it(tmp_path: Path) -> None:
    suites = [suite for suite in paradigms(2) if suite.name == "only_npi_scope"]
    both = [
        run(model, suites, tmp_path / name)
        for name, model in (("masked", masked("distilbert")), ("toy", sg.load_model("toy")))
    ]
    page = report(both, tmp_path / "report.html").read_text(encoding="utf-8").replace("<wbr>", "")
    assert "<b>Not computed</b> for <bdi>masked:tiny-distilbert?masking=token</bdi>: <bdi>two_prefix</bdi>" in page
    assert page.count("<b>Not computed</b>") == 1
    # The other model's number is there.
    assert accuracies(both[1], "two_prefix")[0].n == 2
    assert "two_prefix" in page.split("suite-by-suite", 2)[2]


@pytest.mark.slow
def test_a_suite_whose_first_prediction_is_not_computed_has_a_circuit_all_the_same(tmp_path: Path) -> None:
    [mixed] = [suite for suite in paradigms(2) if suite.name == "only_npi_scope"]
    other = replace(mixed, name="other", tags={"circuit": "Licensing"})
    # The same suite with its part first: of that a masked model is not asked.
    turned = tuple(sorted(mixed.predictions, key=lambda one: one.name != "two_prefix"))
    assert turned[0].name == "two_prefix"
    late = replace(mixed, name="late", tags={"circuit": "Licensing"}, predictions=turned)
    far = replace(late, name="far", tags={"circuit": "Far"})
    found = run(masked("distilbert"), [other, late, far], tmp_path / "m")
    page = report([found], tmp_path / "report.html").read_text(encoding="utf-8")
    # `late` and `far` are in no score; one line is left, Licensing, over `other` alone.
    assert "2 of 3 suites have a circuit but are in no row: the first prediction was not computed" in page
    assert "no circuit" not in page
    assert '<bdi>Licensing</bdi></th><td class="number" data-value="1">1</td>' in page


@pytest.mark.slow
def test_a_suite_of_parts_alone_is_refused_unless_they_are_asked_for(tmp_path: Path) -> None:
    [suite] = [suite for suite in sg.read_suites("hu2020?n=2") if suite.name == "mvrr"]
    with pytest.raises(UsageError, match="regions=yes"):
        run(masked("distilbert"), [suite], tmp_path / "no")
    found = run(masked("distilbert", regions="yes"), [suite], tmp_path / "yes")
    assert found.suite("mvrr").left_out == ()
    assert "regions:yes" in str(found.signature("mvrr", next(iter(found.suite("mvrr").predictions))))
    assert found.results().filter(pl.col("margin").is_nan()).is_empty()


@pytest.mark.slow
def test_a_left_to_right_model_loses_nothing(tmp_path: Path) -> None:
    hearing = Hearing()
    found = run(sg.load_model("toy"), paradigms(1), tmp_path / "toy", progress=hearing)
    assert hearing.heard == []
    assert all(suite.left_out == () for suite in found.suites)
    assert set(found.results()["measure"]) == {"full_sentence", "one_prefix", "two_prefix"}


@pytest.mark.slow
def test_a_suite_whose_first_prediction_is_absent_is_in_no_score_and_in_no_comparison(tmp_path: Path) -> None:
    suites = {suite.name: suite for suite in paradigms(2)}
    mixed, whole = suites["only_npi_scope"], suites["adjunct_island"]
    mixed = replace(mixed, predictions=mixed.predictions[::-1])
    assert [one.name for one in mixed.predictions] == ["two_prefix", "full_sentence"]
    hearing = Hearing()
    seen = run(masked("distilbert"), [mixed, whole], tmp_path / "m", progress=hearing)
    assert hearing.heard[1] == "no score includes 1 of 2 suites: their first prediction is skipped (only_npi_scope)"
    # Of two suites with two items each, one is left; its other prediction keeps its own number.
    [score] = estimates.scores(seen)
    assert (score.n, score.method) == (2, "Wilson; random: items; only 2 items")
    assert [one.group.suite for one in accuracies(seen, "all")] == ["adjunct_island"]
    assert accuracies(seen, "full_sentence")[0].n == 2
    toy = run(sg.load_model("toy"), [mixed, whole], tmp_path / "toy")
    [over] = estimates.scores(toy)
    assert over.n == 4
    for pair in ((seen, toy), (toy, seen)):
        found = compare(*pair)
        assert [one.group.suite for one in found.suites] == ["adjunct_island"]
        assert found.skipped == [f"suite only_npi_scope: measure first was not computed for {seen.model}"]
    assert "only_npi_scope" in report([seen, toy], tmp_path / "r.html").read_text(encoding="utf-8")
    assert "only_npi_scope" in report([seen], tmp_path / "r.html").read_text(encoding="utf-8")


class Counting:
    """A cache in memory that counts what it had and what it did not have."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], Surprisals] = {}
        self.missing = 0

    def get(self, model: LanguageModel, texts: Sequence[str]) -> dict[str, Surprisals]:
        known = {
            text: self.answers[model.fingerprint, text] for text in texts if (model.fingerprint, text) in self.answers
        }
        self.missing += len(texts) - len(known)
        return known

    def put(self, model: LanguageModel, answers: Iterable[Surprisals]) -> None:
        self.answers |= {(model.fingerprint, answer.text): answer for answer in answers}


@pytest.mark.slow
def test_predictions_about_parts_need_no_new_scores(tmp_path: Path) -> None:
    suites = [suite for suite in paradigms(2) if suite.name == "only_npi_scope"]
    cache = Counting()
    without = run(masked("distilbert"), suites, tmp_path / "no", cache=cache)
    scored = cache.missing
    assert scored
    parts = run(masked("distilbert", regions="yes"), suites, tmp_path / "yes", cache=cache)
    assert cache.missing == scored
    # But the units differ, because they have other results.
    assert without.suites[0].shards != parts.suites[0].shards
    assert set(parts.results()["measure"]) == {"full_sentence", "two_prefix"}
    assert without.results("only_npi_scope").height == 2
    # In one folder they would be one run with the settings of the other.
    with pytest.raises(RunError, match="regions"):
        run(masked("distilbert", regions="yes"), suites, tmp_path / "no", cache=cache)


@pytest.mark.slow
def test_a_model_that_knows_the_length_alone_skips_nothing(tmp_path: Path) -> None:
    class Length(type(sg.load_model("toy"))):  # type: ignore[misc]
        sees = "left and length"

    model = sg.load_model("toy")
    model.__class__ = Length
    hearing = Hearing()
    found = run(model, paradigms(1), tmp_path / "m", progress=hearing)
    assert hearing.heard == []
    assert found.record["model"]["sees"] == "left and length"
    assert set(found.results()["measure"]) == {"full_sentence", "one_prefix", "two_prefix"}
