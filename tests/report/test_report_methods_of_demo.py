"""What the methods paragraph says of a bundled model's training."""

import re
from pathlib import Path

import pytest
from toy_runs import pairs

import syntagm as sg
from syntagm.report import methods_text

PAIR = pairs("pair", ("the dogs bark", "the dogs barks"))


@pytest.mark.slow
def test_the_paragraph_says_how_the_demo_was_taught() -> None:
    taught = "taught number agreement by 148,242 clauses chosen for that purpose"
    assert taught in str(methods_text([sg.evaluate(sg.load_model("demo"), [PAIR])]))
    assert "taught" not in str(methods_text([sg.evaluate(sg.load_model("toy"), [PAIR])]))


def test_models_that_were_asked_in_the_same_way_share_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("the dogs bark\nthe dog barks\n")
    names = ("toy", f"toy:{tmp_path / 'own.txt'}", "toy?eos=yes")
    words = str(methods_text([sg.evaluate(sg.load_model(name), [PAIR]) for name in names]))
    plain = re.sub(r"<[^>]*>", "", words)
    assert re.search(r"For toy:12-sentences and toy:own\.txt\S* &lt;s&gt; preceded each text and no", plain), plain
    assert words.count("preceded each text") == 2
