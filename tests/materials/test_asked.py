"""Pairs asked in words: in a template, and by a question answered yes or no; extras, as suites of their own."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from models_for_tests import causal
from toy_runs import agreement, pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError
from syntagm.suites import asked, violations, write_suites

PAIRS = pairs("two", ("The dog barks.", "The dog bark."), ("She saw him.", "She saw he."), tags={"language": "en"})


def bits(model: object, before: str, text: str) -> float:
    """The bits of a text after another, from two scores of whole texts."""
    whole, shorter = (float(next(iter(model.score([each]))).bits.sum()) for each in (f"{before} {text}", before))  # type: ignore[attr-defined]
    return whole - shorter


def test_both_ways_against_scores_of_whole_texts() -> None:
    """The odds of yes and no have the order of p(yes) / (p(yes) + p(no))."""
    model = causal("gpt2")
    runs = {way: sg.evaluate(model, [asked.asked(PAIRS, way)]) for way in asked.WAYS}
    for place, item in enumerate(PAIRS.items):
        good, bad = (item.sentences[name].text for name in ("good", "bad"))
        in_template = [bits(model, asked.TEMPLATE, text) for text in (good, bad)]
        found = runs["in-template"].results()["margin"][place]
        assert found == pytest.approx(in_template[1] - in_template[0], abs=1e-3)
        shares = []
        for text in (good, bad):
            before = f"{asked.QUESTION} {text} {asked.ANSWER}"
            yes, no = (2 ** -bits(model, before, word) for word in ("Yes", "No"))
            shares.append(yes / (yes + no))
        odds = [math.log2(share / (1 - share)) for share in shares]
        assert runs["yes-no"].results()["margin"][place] == pytest.approx(odds[0] - odds[1], abs=1e-3)
        assert runs["yes-no"].results()["value"][place] == float(shares[0] > shares[1])
    assert "two_yes_no@" in str(runs["yes-no"].signature("two_yes_no", "yes_no"))


def test_a_suite_says_what_it_is() -> None:
    found = asked.asked(PAIRS, "in-template")
    assert (found.name, found.tags["region.2"], found.tags["language"]) == ("two_in_template", "sentence", "en")
    assert [prediction.name for prediction in found.predictions] == ["in_template"]
    assert found.items[0].sentences["good"].content("2") == "The dog barks."
    # Of several predictions, the first about whole sentences counts.
    assert len(asked.asked(agreement(), "yes-no").items) == 3


def test_what_can_not_be_asked() -> None:
    with pytest.raises(InputError, match="nothing to ask about"):
        asked.asked(sg.read_suites("hu2020/mvrr")[0], "yes-no")
    with pytest.raises(InputError, match="without blanks at their ends"):
        asked.asked(pairs("odd", (" a b", "a c")), "yes-no")
    lacking = replace(PAIRS.items[0], sentences={"good": PAIRS.items[0].sentences["good"]})
    with pytest.raises(InputError, match="no condition bad"):
        asked.asked(replace(PAIRS, items=(lacking,)), "in-template")


@pytest.mark.parametrize("way", list(asked.WAYS))
def test_the_command(way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_suites(PAIRS, tmp_path / "two.tsv", lossy=True)
    folder = tmp_path / "asked"
    command = ["convert", str(tmp_path / "two.tsv"), str(folder), "--as", way]
    assert main(command) == main(command) == 0
    assert "1 suite, 2 items" in capsys.readouterr().out
    [path] = folder.iterdir()
    [read] = sg.read_suites(str(path))
    made = asked.asked(PAIRS, way)
    assert read.name == made.name
    assert [[each.text for each in item.sentences.values()] for item in read.items] == [
        [each.text for each in item.sentences.values()] for item in made.items
    ]
    assert main(["run", "toy", "--suite", str(path), "-o", str(tmp_path / "run"), "--no-report", "-q"]) == 0
    path.write_text("mine")
    assert main(command) == 2
    assert path.read_text() == "mine"


@pytest.mark.parametrize("way", asked.WAYS)
def test_nothing_before_the_answer_is_taken_for_a_note(way: str) -> None:
    assert not [found for found in violations([asked.asked(PAIRS, way)]) if found.code == "W207"]
