"""The declared edit of a pair: each type on sentences that obey it and sentences that don't, and the flags of BLiMP."""

import json
from pathlib import Path

import pytest

from syntagm.core import InputError
from syntagm.suites import read_suite_file
from syntagm.suites.formats import blimp

TEMPLATE = """
[tags]
UID = "pairs"
field = "syntax"
[conditions]
good = "{good}"
bad = "{bad}"
[predictions]
full_sentence = "(*;%good%) < (*;%bad%)"
[edit]
EDIT
[items]
fill = "table"
rows = '''
good | bad
GOOD | BAD
'''
"""


def pair(place: Path, edit: str, good: str, bad: str) -> Path:
    text = TEMPLATE.replace("EDIT", edit).replace("GOOD", good).replace("BAD", bad)
    (place / "pairs.toml").write_text(text, encoding="utf-8")
    return place / "pairs.toml"


GOOD = [
    ("substitution", "", "The dog barks.", "The dog bark."),
    ("substitution", "2 -> 1", "The dog has barked.", "The dog barks."),
    ("substitution", "1-2 -> 1", "The dog has barked.", "The dog barks."),
    # The article follows the noun.
    ("substitution", "", "She ate an apple.", "She ate a pear."),
    ("permutation", "", "Has the cook ever lied?", "The cook has ever lied."),
    ("insertion", "", "Which gate opened?", "Which gate it opened?"),
    ("insertion", "0 -> 2", "Which gate opened?", "Which gate did it opened?"),
    ("deletion", "", "The cook relied on it.", "The cook relied it."),
]
BAD = [
    ("substitution", "", "The dog barks.", "The dog barks."),
    ("substitution", "", "The dog barks.", "The dogs bark."),
    ("substitution", "", "The dog barks.", "The dog has barked."),
    ("permutation", "", "The dog barks.", "The dog barks."),
    ("permutation", "", "The dog barks.", "The dog bark."),
    ("insertion", "", "The dog barks.", "The dog."),
    ("insertion", "", "The dog barks.", "The dog has barked."),
    ("deletion", "", "The dog barks.", "Dog."),
]


def declared(kind: str, words: str) -> str:
    return f'type = "{kind}"' + (f'\nwords = "{words}"' if words else "")


@pytest.mark.parametrize(("kind", "words", "good", "bad"), GOOD)
def test_pairs_that_obey(kind: str, words: str, good: str, bad: str, tmp_path: Path) -> None:
    [suite] = read_suite_file(pair(tmp_path, declared(kind, words), good, bad))
    assert suite.tags["edit"] == kind
    assert suite.tags["lexically_identical"] == ("true" if kind == "permutation" else "false")


@pytest.mark.parametrize(("kind", "words", "good", "bad"), BAD)
def test_pairs_that_do_not(kind: str, words: str, good: str, bad: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"pairs.toml, \[edit\], item 1: .* -> .*; expected a {kind}"):
        read_suite_file(pair(tmp_path, declared(kind, words), good, bad))


@pytest.mark.parametrize(
    ("kind", "words"),
    [("substitution", "0 -> 1"), ("insertion", "1 -> 2"), ("deletion", "1 -> 1"), ("permutation", "1 -> 1"),
     ("substitution", "one -> 1"), ("substitution", "1")],
)  # fmt: skip
def test_numbers_of_words_fit_the_type(kind: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\[edit\], words: "):
        read_suite_file(pair(tmp_path, declared(kind, words), "The dog barks.", "The dog bark."))


def test_blimp_files_have_its_flags(tmp_path: Path) -> None:
    suites = read_suite_file(pair(tmp_path, declared("permutation", ""), "Has the cook lied?", "The cook has lied."))
    blimp.write(suites, tmp_path / "pairs.jsonl")
    row = json.loads((tmp_path / "pairs.jsonl").read_text())
    assert row["UID"] == "pairs"
    assert row["pairID"] == "1"
    flags = ("simple_LM_method", "one_prefix_method", "two_prefix_method", "lexically_identical")
    assert [row[name] for name in flags] == [True, False, False, True]
    [again] = read_suite_file(tmp_path / "pairs.jsonl")
    assert again.items[0].sentences == suites[0].items[0].sentences
    blimp.write([again], tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "pairs.jsonl").read_bytes()
