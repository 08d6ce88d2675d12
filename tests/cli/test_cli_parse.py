"""`syntagm parse`: trees of sentences and prefixes, and how they agree with a treebank."""

import io
from pathlib import Path

import pytest
from models_for_tests import TEXT
from training_for_tests import bracketed, learn

from syntagm.cli import main
from syntagm.training import brackets, trees


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rnng")
    (place / "text.txt").write_text(TEXT, encoding="utf-8")
    learn("rnng", place / "model", place / "text.txt")
    return place / "model"


@pytest.mark.slow
def test_a_line_per_sentence_or_per_prefix(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["parse", str(folder), "The boat was new .", "The boat"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [trees.words(tree) for tree in trees.parse(lines)] == [["The", "boat", "was", "new", "."], ["The", "boat"]]
    monkeypatch.setattr("sys.stdin", io.StringIO("The boat was new .\n"))
    assert main(["parse", str(folder), "--prefixes", "-"]) == 0
    prefixes = capsys.readouterr().out.splitlines()
    assert [len(trees.words(tree)) for tree in trees.parse(prefixes)] == [1, 2, 3, 4, 5]
    assert prefixes[-1] == lines[0]


@pytest.mark.slow
def test_the_trees_of_a_file_are_compared(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "some.trees").write_text(bracketed("The boat was new .\nThe cannot boat sank\n"), encoding="utf-8")
    assert main(["parse", str(folder), "--file", str(tmp_path / "some.trees")]) == 0
    shown = capsys.readouterr()
    parsed = [*trees.parse(shown.out.splitlines())]
    assert [len(trees.words(tree)) for tree in parsed] == [5, 4]
    agreement = brackets.Agreement()
    for tree, n in zip(parsed, (5, 4), strict=True):
        agreement.add([("NP", 0, 2), ("VP", 2, n), ("S", 0, n)], brackets.of_tree(tree), n)
    precision, recall, f1 = brackets.precision_recall_f1(*agreement.labelled)
    assert f"labelled: precision {precision:.4f}, recall {recall:.4f}, F1 {f1:.4f}" in shown.err


def test_agreement_by_hand() -> None:
    gold = [("NP", 0, 2), ("NP", 3, 4), ("VP", 2, 4), ("S", 0, 4)]
    parsed = [("NP", 0, 2), ("VP", 1, 4), ("PP", 2, 4), ("S", 0, 4)]
    agreement = brackets.Agreement()
    agreement.add(gold, parsed, 4)
    # The NP and S; without labels, 0-2 and 2-4 of the gold spans, and of the parsed ones also 1-4.
    assert agreement.labelled == [4, 4, 2]
    assert agreement.unlabelled == [2, 3, 2]


@pytest.mark.slow
def test_a_sentence_without_a_tree_has_an_empty_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", str(folder), "", "The boat"]) == 1
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == ""
    assert "1 of 2 sentences have no tree" in shown.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            ["toy", "The boat"],
            "toy: this model can't parse; expected a model of a family that can: onlstm, rnng",
        ),
        (["toy"], "no text; expected TEXT, - or --file FILE"),
        (["toy", "The boat", "--file", "x.txt"], "TEXT and --file; expected TEXT, - or --file FILE"),
    ],
)
def test_what_can_not_be_parsed_is_refused(line: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", *line]) == 2
    assert message in capsys.readouterr().err
