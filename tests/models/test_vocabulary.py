"""The classes of unknown words, and vocabularies: built, asked, written and read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from syntagm.core import InputError, ModelError, UsageError
from syntagm.models import Vocabulary, build, read, unknown_class, vocabulary as _vocabulary
from syntagm.training import corpus

# Values of the program behind the published numbers, with quickly and well-known as the words it knows.
CLASSES = """
walked=UNK-LC-ed Walked=UNK-INITC-ed WALKED=UNK-CAPS-ed walking=UNK-LC-ing Wilson=UNK-INITC Wilson's=UNK-INITC-s
nation=UNK-LC-ion NATION=UNK-CAPS-ion Quickly=UNK-INITC-KNOWNLC-ly city=UNK-LC ability=UNK-LC-ity baby=UNK-LC final=UNK-LC-al
tests=UNK-LC-s glass=UNK-LC basis=UNK-LC bus=UNK-LC gas=UNK-LC-s is=UNK-LC 80s=UNK-LC-NUM-s 1990s=UNK-LC-NUM-s 1997=UNK-NUM
3.5=UNK-NUM 1,000=UNK-NUM 10-K=UNK-CAPS-NUM-DASH mid-1990s=UNK-LC-NUM-DASH-s F-16=UNK-INITC-NUM-DASH twenty-one=UNK-LC-DASH
Well-Known=UNK-CAPS-DASH so-called=UNK-LC-DASH U.S.=UNK-CAPS IBM=UNK-CAPS IBMs=UNK-CAPS-s McDonald's=UNK-CAPS-s A=UNK-INITC
a=UNK-LC !=UNK --=UNK-DASH -LRB-=UNK-CAPS-DASH $=UNK ed=UNK-LC bed=UNK-LC based=UNK-LC-ed longest=UNK-LC-est tester=UNK-LC-er
Élan=UNK-INITC ÉLAN=UNK-CAPS état=UNK-LC x2y=UNK-LC-NUM X2ed=UNK-INITC-NUM 42nd=UNK-LC-NUM 42ND=UNK-CAPS-NUM
e-mails=UNK-LC-DASH-s 3-D=UNK-CAPS-NUM-DASH n't=UNK-LC
"""
SENTENCES = [["The", "dogs", "barked", "."], ["The", "dogs", "slept", "!"], ["the", "dogs", "."]]


def test_classes_as_published() -> None:
    published = dict(case.rsplit("=", 1) for case in CLASSES.split())
    assert {word: unknown_class(word, {"quickly", "well-known"}) for word in published} == published


def test_nothing_has_the_widest_class() -> None:
    assert unknown_class("", set()) == unknown_class("  ", set()) == "UNK"


@given(st.text())
def test_every_text_has_a_class_that_is_known_for_one(text: str) -> None:
    name = unknown_class(text, {text.lower()})
    assert _vocabulary._is_class(name, "berkeley")


def test_built_by_hand() -> None:
    # dogs 3; The . 2; barked slept ! the 1, so unknown: -LC-ed, -LC (slept, the), ! UNK. By count, then as they came.
    vocabulary = build(SENTENCES)
    assert vocabulary.words == ("</s>", "<unk>", "UNK", "UNK-LC", "UNK-LC-ed", "dogs", "The", ".")
    assert (len(vocabulary), vocabulary.threshold, vocabulary.classes) == (8, 2, "berkeley")
    assert vocabulary.ids(["The", "dogs", "barked", "!"]) == [6, 5, 4, 2]
    assert vocabulary.known("The")
    assert "the" not in vocabulary
    assert not any(map(vocabulary.known, ["</s>", "<unk>", "UNK-LC", "the", ""]))


def test_one_class_and_none() -> None:
    single = build(SENTENCES, classes="single")
    assert single.words == ("</s>", "<unk>", "UNK", "dogs", "The", ".")
    assert single.ids(["the", "UNK", "."]) == [2, 2, 5]
    none = build(SENTENCES, threshold=7, classes="none")
    assert none.words == ("</s>", "<unk>", "dogs", "The", ".", "barked", "slept", "!", "the")
    assert none.threshold == 1
    assert none.ids(["the", "UNK", "</s>", "<unk>"]) == [8, 1, 1, 1]


@pytest.mark.parametrize(
    ("word", "kept", "expected"),
    [
        # Without the word in lower case, then without the ending, the dash, the number; at last the unknown word.
        ("Barkly", ["UNK", "UNK-INITC", "UNK-INITC-ly", "barkly"], "UNK-INITC-ly"),
        ("Barkly", ["UNK", "UNK-INITC", "UNK-LC-ly", "barkly"], "UNK-INITC"),
        ("mid-1990s", ["UNK", "UNK-LC", "UNK-LC-NUM", "UNK-LC-NUM-DASH"], "UNK-LC-NUM-DASH"),
        ("mid-1990s", ["UNK", "UNK-LC", "UNK-LC-NUM", "UNK-LC-DASH"], "UNK-LC-NUM"),
        ("mid-1990s", ["UNK", "UNK-LC", "UNK-LC-DASH"], "UNK-LC"),
        ("mid-1990s", ["UNK", "UNK-CAPS"], "UNK"),
        ("mid-1990s", ["UNK-CAPS"], "<unk>"),
    ],
)
def test_a_class_that_never_occurred_gives_way_to_a_wider_one(word: str, kept: list[str], expected: str) -> None:
    vocabulary = Vocabulary(("</s>", "<unk>", *kept))
    [number] = vocabulary.ids([word])
    assert vocabulary.words[number] == expected


def test_names_of_classes_in_the_text_are_classes() -> None:
    # A text may come with its unknown words replaced. UNK-x is no class, so a word like others.
    vocabulary = build([["UNK-LC", "dog"], ["UNK-LC", "dog", "cat", "UNK-x", "UNK-x", "<unk>"]])
    assert vocabulary.words == ("</s>", "<unk>", "UNK-LC", "dog", "UNK-x")
    assert vocabulary.ids(["UNK-LC", "UNK-LC-ed", "cat", "UNK-x", "<unk>"]) == [2, 2, 2, 4, 1]
    assert not vocabulary.known("UNK-LC")


def test_the_end_symbol_in_a_text_is_never_the_end() -> None:
    with pytest.raises(InputError, match="the end symbol </s> as a word"):
        build([["a", "</s>"]])
    assert 0 not in build([["a", "b"], ["a"]]).ids(["</s>", "a"])


def test_a_limit_keeps_the_most_frequent_words_and_gives_the_others_a_class() -> None:
    texts = [["the", "dogs", "barked"], ["the", "dogs", "slept"], ["the", "cats", "slept"]]
    assert build(texts, limit=3).words[-3:] == ("the", "dogs", "slept")
    limited = build(texts, 1, limit=2)
    assert limited.words == ("</s>", "<unk>", "UNK-LC", "UNK-LC-ed", "UNK-LC-s", "the", "dogs")
    assert limited.ids(["the", "cats", "barked", "slept"]) == [5, 4, 3, 2]
    # Of equally frequent words, the first ones are kept; the threshold still holds.
    assert build(texts, 3, "single", limit=2).words == ("</s>", "<unk>", "UNK", "the")
    assert build(texts, 1, "single", limit=6) == build(texts, 1, "single")


def test_refusals() -> None:
    with pytest.raises(UsageError, match="size of the vocabulary: -1 words; expected a number of words and a class"):
        build(SENTENCES, limit=-1)
    with pytest.raises(UsageError, match="50,000 words, and no class for the others; expected"):
        build(SENTENCES, classes="none", limit=50_000)
    with pytest.raises(InputError, match="no words"):
        build([[]])
    with pytest.raises(UsageError, match="'stanford'; expected one of berkeley, single, none"):
        build(SENTENCES, classes="stanford")
    with pytest.raises(UsageError, match="0; expected at least 1"):
        build(SENTENCES, threshold=0)
    with pytest.raises(ModelError, match="'a' twice"):
        Vocabulary(("</s>", "<unk>", "a", "a"))
    with pytest.raises(ModelError, match=r"expected </s> and <unk>"):
        Vocabulary(("a", "b"))


WORDS = st.text(min_size=1).filter(lambda word: word not in ("</s>", "<unk>"))


@settings(max_examples=50)
@given(st.lists(WORDS, unique=True), st.sampled_from(["berkeley", "single", "none"]))
def test_written_and_read(tmp_path_factory: pytest.TempPathFactory, words: list[str], classes: str) -> None:
    odd = ["a b", "\\u{61}", "line\nfeed", "\u2028", "\ud800", "\\"]
    path = tmp_path_factory.mktemp("vocabulary") / "vocabulary.txt"
    vocabulary = Vocabulary(("</s>", "<unk>", *dict.fromkeys([*words, *odd])), 3, classes)
    vocabulary.write(path)
    assert read(path) == vocabulary
    assert len(path.read_bytes().split(b"\n")) == len(vocabulary) + 2


def test_the_file_is_text(tmp_path: Path) -> None:
    build(SENTENCES, classes="single").write(tmp_path / "vocabulary.txt")
    head = '{"words": 6, "threshold": 2, "classes": "single"}'
    assert (tmp_path / "vocabulary.txt").read_text() == f"{head}\n</s>\n<unk>\nUNK\ndogs\nThe\n.\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-1], "5 words; expected 6"),
        (lambda text: text + "more\n", "7 words; expected 6"),
        (lambda text: text.replace("The\n", "dogs\n"), "'dogs' twice"),
        (lambda text: text.replace("single", "one"), "'one'; expected one of"),
        (lambda text: text.split("\n", 1)[1], "not a readable vocabulary"),
        (lambda text: "", "not a readable vocabulary"),
        (lambda text: "[" * 100_000 + text, "not a readable vocabulary"),
        (lambda text: text.replace('"words": 6', '"words": 1e999'), "not a readable vocabulary"),
        (lambda text: text.replace("The\n", "\\u{110000}\n"), "no such character"),
    ],
)
def test_damaged_files(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    path = tmp_path / "vocabulary.txt"
    build(SENTENCES, classes="single").write(path)
    path.write_text(change(path.read_text()))
    with pytest.raises(ModelError, match=message) as caught:
        read(path)
    assert caught.value.place == str(path)


@pytest.mark.slow
def test_brown(shared: Path) -> None:
    # 28,635 words of n-grams with words seen once as one class, less that class: 28,634 words seen twice or more.
    vocabulary = build(corpus.sentences([shared / "data/corpora/brown.train.txt"]))
    classes = [word for word in vocabulary.words[2:] if not vocabulary.known(word)]
    assert len(classes) == 60
    assert len(vocabulary) == 2 + 60 + 28_634
    assert set(vocabulary.words[62:65]) == {",", "the", "."}
