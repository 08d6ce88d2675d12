"""RNNGs from plain text: trees of a program that prints brackets, or of a model, with their record."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from models_for_tests import TEXT
from training_for_tests import learn

from syntagm.cli import main
from syntagm.core import NONE, InputError, ModelError, Permissions, Progress, RunError, UsageError, hashing
from syntagm.models import load
from syntagm.training import corpus, parsing

SENTENCES = "The dog (a terrier) barks.\nThe cats sleep.\n"
ALLOWED = Permissions(allow_exec=True)
# A verb phrase of all but the first two words. Each start leaves a line in a file.
FLAT = """
import sys
open("starts", "a").write("started\\n")
for line in sys.stdin:
    tagged = [f"(T {word})" for word in line.split()]
    print(f"(ROOT (S (NP {' '.join(tagged[:2])})\\n  (VP {' '.join(tagged[2:])})))")
"""


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], str]:
    """Write a parser; return its name."""

    def write(program: str) -> str:
        (tmp_path / "parser.py").write_text(program)
        (tmp_path / "parser.toml").write_text(f"command = [{sys.executable!r}, 'parser.py']\n")
        return f"exec:{tmp_path / 'parser.toml'}"

    (tmp_path / "text.txt").write_text(SENTENCES)
    return write


def parsed(place: Path, parser: str, permissions: Permissions = ALLOWED) -> list[str]:
    path = parsing.parse([str(place / "text.txt")], parser, place / "corpus", "treebank", permissions)
    assert path == str(place / "corpus.trees")
    return Path(path).read_text().splitlines()


def test_trees_of_a_program(made: Callable[[str], str], tmp_path: Path) -> None:
    name = made(FLAT)
    assert parsed(tmp_path, name) == [
        "(ROOT (S (NP (T The) (T dog)) (VP (T -LRB-) (T a) (T terrier) (T -RRB-) (T barks) (T .))))",
        "(ROOT (S (NP (T The) (T cats)) (VP (T sleep) (T .))))",
    ]
    record = json.loads((tmp_path / "corpus.parsed.json").read_text())
    assert (record["parser"], record["tokens"], record["sentences"], record["skipped"]) == (
        "exec:parser.toml", "treebank", 2, 0,
    )  # fmt: skip
    assert record["text"] == corpus.record([tmp_path / "text.txt"])
    assert record["sha256"] == hashing.of_file(tmp_path / "corpus.trees")
    # The second time, the program isn't started.
    parsed(tmp_path, name)
    assert (tmp_path / "starts").read_text() == "started\n"


def test_other_text_another_parser_and_damage_are_refused(made: Callable[[str], str], tmp_path: Path) -> None:
    parsed(tmp_path, made(FLAT))
    with pytest.raises(RunError, match="trees by another parser, or of another text, with fingerprint"):
        parsed(tmp_path, made(FLAT + "\n# changed"))
    name = made(FLAT)
    (tmp_path / "corpus.trees").write_text("(S (T dogs))\n")
    with pytest.raises(RunError, match=r"corpus\.trees: damaged or edited; expected the trees as they were written\."):
        parsed(tmp_path, name)
    # A kill can leave the record alone.
    (tmp_path / "corpus.trees").unlink()
    assert len(parsed(tmp_path, name)) == 2
    (tmp_path / "corpus.parsed.json").unlink()
    with pytest.raises(RunError, match=r"corpus\.trees: trees without their record"):
        parsed(tmp_path, name)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit(3)", "the program ended with the code 3"),
        (
            "print('(S (T The) (T dog))')",
            "parser.toml, tree 1: the words 'The dog'; expected 'The dog -LRB- a terrier -RRB- ",
        ),
        ("", "parser.toml: 0 trees; expected 2: one for each sentence"),
        (FLAT + "print('(S (T more))')", "more than 2 trees; expected one for each sentence"),
        ("print('(S (T The)')", "its output, line 1: the tree that begins here lacks 1 closing bracket"),
    ],
)
def test_programs_that_are_no_parsers(made: Callable[[str], str], tmp_path: Path, program: str, message: str) -> None:
    with pytest.raises((InputError, ModelError)) as caught:
        parsed(tmp_path, made(program))
    assert message in str(caught.value)
    assert not (tmp_path / "corpus.trees").exists()


def test_nothing_is_started_without_permission(made: Callable[[str], str], tmp_path: Path) -> None:
    name = made(FLAT)
    with pytest.raises(ModelError, match=r"a program, which is not started without permission.*--allow-exec"):
        parsed(tmp_path, name, NONE)
    assert not (tmp_path / "starts").exists()
    with pytest.raises(UsageError, match="permission 'allow_exec' in a name"):
        parsed(tmp_path, "demo?allow_exec=yes")


@pytest.mark.slow
def test_a_model_is_a_parser_too(made: Callable[[str], str], tmp_path: Path) -> None:
    made("")
    (tmp_path / "train.txt").write_text(TEXT, encoding="utf-8")
    learn("rnng", tmp_path / "model", tmp_path / "train.txt")
    lines = parsed(tmp_path, str(tmp_path / "model"), NONE)
    model = load(str(tmp_path / "model"), tokens="blanks")
    sentences = ["The dog -LRB- a terrier -RRB- barks .", "The cats sleep ."]
    for line, sentence, answer in zip(lines, sentences, model.parse(sentences), strict=True):
        words = [part.rstrip(")") for part in line.split() if not part.startswith("(")]
        assert " ".join(words) == sentence
        # Without the tags, it is the tree that the model gives.
        assert re.sub(r"\(X (\S+?)\)", r"\1", line) == answer[-1]
    with pytest.raises(ModelError, match="toy: this model can't parse"):
        parsing.parse([str(tmp_path / "text.txt")], "toy", tmp_path / "other", "blanks", NONE, Progress())


def test_training_on_text(made: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, text, out = made(FLAT), str(tmp_path / "text.txt"), tmp_path / "out"
    line = ["train", "rnng", "--corpus", text, "--valid", text, "-o", str(out), "--parser", name]
    line += ["--hidden", "4", "--embedding", "4", "--layers", "1", "--epochs", "1"]
    assert main(line) == 2
    assert "--allow-exec" in capsys.readouterr().err
    assert not out.exists()
    for _ in range(2):
        assert main([*line, "--allow-exec"]) == 0
    assert (tmp_path / "starts").read_text() == "started\n" * 2  # corpus and held-out text, once each
    training = json.loads((out / "training.json").read_text())
    assert training["corpus"] == corpus.record([out / "corpus.trees"])
    assert load(str(out)).can == {"score", "parse"}
    assert (
        main([*line, "--allow-exec", "--corpus", str(out / "corpus.trees"), "--valid", str(out / "valid.trees")]) == 2
    )
    assert "--parser: given, and all files are trees" in capsys.readouterr().err
