"""What the methods paragraph says of a bundled model's training."""

from toy_runs import pairs

import syntagm as sg
from syntagm.report.paragraph import methods_text

PAIR = pairs("pair", ("the dogs bark", "the dogs barks"))


def test_the_paragraph_says_how_the_demo_was_taught() -> None:
    taught = "taught number agreement by 148,242 clauses chosen for that purpose"
    assert taught in str(methods_text([sg.evaluate(sg.load_model("demo"), [PAIR])]))
    assert "taught" not in str(methods_text([sg.evaluate(sg.load_model("toy"), [PAIR])]))
