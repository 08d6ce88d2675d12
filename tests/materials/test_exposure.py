"""Exposure: counts by hand, planted counts in a large text, the command, and the factor of a table."""

import csv
import random
from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError
from syntagm.suites import COLUMNS, Construction, Tree, Wanted, read_construction, segments, treebank

TEXT = """The cook is here. The cook is hard to please, and the cook is easy to see.
Both Anna and Ben slept; both the cook and the cook slept.
"""


def test_nothing_is_counted_across_punctuation_and_apostrophes_stay_inside_words() -> None:
    assert [*segments("Ruth's dog -- it wasn't well-fed -- 'slept' (late), O.K.?")] == [
        ["ruth", "'s", "dog"], ["it", "wasn't", "well-fed"], ["slept"], ["late"], ["o"], ["k"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "segment", "count"),
    [
        ("a b", "a b a b b a", 2),
        ("a a", "a a a", 2),  # overlapping
        ("a * b", "a b b x b", 1),
        ("a ... b", "a b", 1),
        ("a ... b", "a 1 2 3 4 5 b", 1),
        ("a ... b", "a 1 2 3 4 5 6 b", 0),
        ("a ... b", "a b b a b", 2),  # one for each place where it begins
        ("a/b c", "a c b c c", 2),
        ("* a", "a a", 1),
    ],
)
def test_constructions_by_hand(pattern: str, segment: str, count: int) -> None:
    assert Construction.read(pattern, "here").occurrences(segment.split()) == count


@pytest.mark.parametrize("pattern", ["", "* *", "... a", "a ...", "a, b", "a//b", " ".join("a" * 21)])
def test_other_constructions_are_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="here"):
        Construction.read(pattern, "here")


def test_the_command_writes_each_unit_of_each_item_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pairs.tsv").write_text("good\tbad\nThe cook is here.\tThe cook are here.\n")
    (tmp_path / "text.txt").write_text(TEXT)
    out = tmp_path / "new" / "exposure.csv"
    command = ["exposure", str(tmp_path / "pairs.tsv"), "--corpus", str(tmp_path / "text.txt"), "-o", str(out)]
    assert main([*command, "--construction", "is easy/hard to *", "--construction", "both ... and"]) == 0
    assert "counted in 29 words" in capsys.readouterr().err
    assert out.read_text().splitlines() == [
        ",".join(COLUMNS),
        *(f"pairs,0,word,{word},{n}" for word, n in [("the", 5), ("cook", 5), ("is", 3), ("here", 1), ("are", 0)]),
        *(
            f"pairs,0,bigram,{pair},{n}"
            for pair, n in [("the cook", 5), ("cook is", 3), ("is here", 1), ("cook are", 0), ("are here", 0)]
        ),
        "pairs,0,construction,is easy/hard to *,2",
        "pairs,0,construction,both ... and,2",
    ]
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    assert main([*command[:-1], str(tmp_path / "mine.csv")]) == 2
    assert (tmp_path / "mine.csv").read_text() == "a,b\n1,2\n"


def test_a_suite_names_its_construction_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("good,bad,construction\nThe cook slept.,The cook sleep.,the * slept\n")
    [suite] = sg.read_suites(file)
    (tmp_path / "text.txt").write_text(TEXT)
    wanted = Wanted()
    wanted.add(suite)
    wanted.count([tmp_path / "text.txt"])
    assert [row[2:] for row in wanted.rows(suite)][-1] == ("construction", "the * slept", 1)
    file.write_text("good,bad,construction\nThe cook slept.,The cook sleep.,... slept\n")
    with pytest.raises(InputError, match=r"suite pairs, item 0: the construction '\.\.\. slept'"):
        Wanted().add(sg.read_suites(file)[0])


def test_planted_counts_are_exact(tmp_path: Path) -> None:
    """In a text of other words, sentences are planted a known number of times; the slow test has a million words."""
    _planted(tmp_path, 20_000)


@pytest.mark.slow
def test_planted_counts_are_exact_in_a_million_words(tmp_path: Path) -> None:
    _planted(tmp_path, 1_000_000)


def _planted(folder: Path, size: int) -> None:
    rng = random.Random(5)
    planted = {"the wug sleeps here": 137, "the wug near the dax sleeps": 29, "no dax ever sleeps": 1}
    texts = [text for text, n in planted.items() for _ in range(n)]
    noise = [" ".join(rng.choices(["x", "y", "z", "dax-like", "wuggish"], k=10)) for _ in range(size // 10)]
    both = texts + noise
    rng.shuffle(both)
    (folder / "text.txt").write_text("\n".join(f"{text.capitalize()}." for text in both))
    (folder / "p.tsv").write_text("good\tbad\nThe wug near the dax sleeps here.\tNo dax ever sleep here.\n")
    [suite] = sg.read_suites(folder / "p.tsv")
    wanted = Wanted([Construction.read("the wug ... sleeps", "here")])
    wanted.add(suite)
    wanted.count([folder / "text.txt"])
    counts = {text: n for _, _, _, text, n in wanted.rows(suite)}
    assert counts == {
        "the": 137 + 2 * 29, "wug": 166, "near": 29, "dax": 30, "sleeps": 167, "here": 137, "no": 1, "ever": 1,
        "sleep": 0, "the wug": 166, "wug near": 29, "near the": 29, "the dax": 29, "dax sleeps": 29,
        "sleeps here": 137, "no dax": 1, "dax ever": 1, "ever sleep": 0, "sleep here": 0, "the wug ... sleeps": 166,
    }  # fmt: skip
    assert wanted.total == 137 * 4 + 29 * 6 + 4 + len(noise) * 10


SENTENCE = "A wug gave the daxes some books."
ROWS = """1	A	a	DET	_	_	2	det	_	_
2	wug	wug	NOUN	_	Number=Sing	3	nsubj	_	_
3	gave	give	VERB	_	VerbForm=Fin	0	root	_	_
4	the	the	DET	_	_	5	det	_	_
5	daxes	dax	NOUN	_	Number=Plur	3	iobj	_	_
6	some	some	DET	_	_	7	det	_	_
7	books	book	NOUN	_	Number=Plur	3	obj	_	SpaceAfter=No
8	.	.	PUNCT	_	_	3	punct	_	_
"""


@pytest.mark.parametrize(
    ("construction", "count"),
    [
        ("VERB >nsubj NOUN", 1),
        ("VERB[VerbForm=Fin, lemma=give] >nsubj NOUN[Number=Sing] >obj NOUN[form=Books]", 1),
        ("VERB >nsubj NOUN[Number=Plur]", 0),
        ("NOUN >det DET", 3),
        ("* >det DET[form=the]", 1),
        ("VERB >obj NOUN >obj NOUN", 0),  # two objects, not one twice
        ("NOUN >det DET >det DET", 0),
        ("VERB >nsubj:pass NOUN", 0),
    ],
)
def test_constructions_over_trees_by_hand(construction: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(f"# text = {SENTENCE}\n{ROWS}\n")
    [sentence] = treebank.sentences(tmp_path / "t.conllu")
    assert Tree.read(construction, "here").occurrences(sentence) == count


def test_a_relation_stands_for_its_subtypes(tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(f"# text = {SENTENCE}\n{ROWS.replace('nsubj', 'nsubj:outer')}\n")
    [sentence] = treebank.sentences(tmp_path / "t.conllu")
    assert Tree.read("VERB >nsubj NOUN", "here").occurrences(sentence) == 1


def test_dependents_of_a_long_list_are_assigned_at_once() -> None:
    """All assignments of seven conjuncts among thirty would take hours."""
    words = [treebank.Word(1, "w", "w", "NOUN", {}, 0, "root", 0)]
    words += [treebank.Word(place, "w", "w", "NOUN", {}, 1, "conj", 0) for place in range(2, 31)]
    words.append(treebank.Word(31, "w", "w", "ADJ", {}, 1, "conj", 0))
    sentence = treebank.Parsed("1", "w", tuple(words))
    assert Tree.read("NOUN" + " >conj *" * 7 + " >obj *", "here").occurrences(sentence) == 0
    # The only adjective is left to the dependent that must be one, whatever the order.
    for text in ("NOUN >conj * >conj NOUN >conj ADJ", "NOUN >conj ADJ >conj NOUN >conj *"):
        assert Tree.read(text, "here").occurrences(sentence) == 1
    few = treebank.Parsed("1", "w", (words[0], words[1], words[-1]))
    assert Tree.read("NOUN >conj ADJ >conj *", "here").occurrences(few) == 1
    assert Tree.read("NOUN >conj * >conj ADJ", "here").occurrences(few) == 1
    assert Tree.read("NOUN >conj ADJ >conj ADJ", "here").occurrences(few) == 0


@pytest.mark.parametrize(
    "text",
    [
        "VERB >",
        "> nsubj NOUN",
        "verb >nsubj NOUN",
        "VERB >nsubj",
        "VERB[x] >obj *",
        "VERB >obj * x",
        "V >a *" + " >a *" * 8,
    ],
)
def test_other_constructions_over_trees_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="here"):
        read_construction(text, "here")


def test_a_construction_over_trees_needs_a_treebank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.tsv").write_text("good\tbad\nA wug gave books.\tA wug give books.\n")
    (tmp_path / "t.txt").write_text(SENTENCE)
    (tmp_path / "t.conllu").write_text(f"# text = {SENTENCE}\n{ROWS}\n")
    command = [
        "exposure",
        str(tmp_path / "p.tsv"),
        "--construction",
        "VERB >iobj *",
        "-o",
        str(tmp_path / "e.csv"),
        "--corpus",
    ]
    assert main([*command, str(tmp_path / "t.conllu"), str(tmp_path / "t.txt")]) == 2
    assert "t.txt: no trees, for the construction 'VERB >iobj *'" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "e.csv").exists()
    assert main([*command, str(tmp_path / "t.conllu")]) == 0
    rows = (tmp_path / "e.csv").read_text().splitlines()
    assert rows[-1] == "p,0,construction,VERB >iobj *,1"
    assert "p,0,bigram,a wug,1" in rows


def test_planted_trees_are_counted_exactly(tmp_path: Path) -> None:
    _planted_trees(tmp_path, 4_000)


@pytest.mark.slow
def test_planted_trees_are_counted_exactly_in_a_million_words(tmp_path: Path) -> None:
    _planted_trees(tmp_path, 1_000_000)


def _planted_trees(folder: Path, size: int) -> None:
    rng = random.Random(7)
    other = ROWS.replace("iobj", "obl").replace("give", "carry").replace("gave", "carried")
    kinds = [ROWS] * 113 + [other] * (size // 7 - 113)
    rng.shuffle(kinds)
    with (folder / "t.conllu").open("w") as file:
        for rows in kinds:
            text = SENTENCE if rows is ROWS else SENTENCE.replace("gave", "carried")
            file.write(f"# text = {text}\n{rows}\n")
    (folder / "p.tsv").write_text("good\tbad\nA wug gave books.\tA wug give books.\n")
    [suite] = sg.read_suites(folder / "p.tsv")
    wanted = Wanted(
        [read_construction(text, "here") for text in ("VERB >iobj NOUN >obj NOUN", "VERB >nsubj NOUN", "gave the *")]
    )
    wanted.add(suite)
    wanted.count([folder / "t.conllu"])
    counts = {text: n for _, _, _, text, n in wanted.rows(suite)}
    assert counts == {
        "a": len(kinds), "wug": len(kinds), "gave": 113, "books": len(kinds), "give": 0, "a wug": len(kinds),
        "wug gave": 113, "gave books": 0, "wug give": 0, "give books": 0,
        "VERB >iobj NOUN >obj NOUN": 113, "VERB >nsubj NOUN": len(kinds), "gave the *": 113,
    }  # fmt: skip
    assert wanted.total == 7 * len(kinds)


def test_accuracy_by_exposure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.tsv").write_text(
        "good\tbad\nThe cook is here.\tThe cook is hard.\nThe cook slept.\tBen slept cook.\n"
    )
    (tmp_path / "text.txt").write_text(TEXT * 12)
    run, file = str(tmp_path / "run"), str(tmp_path / "e.csv")
    assert main(["run", "random?seed=1", "--suite", str(tmp_path / "p.tsv"), "-o", run, "--no-report"]) == 0
    assert main(["exposure", str(tmp_path / "p.tsv"), "--corpus", str(tmp_path / "text.txt"), "-o", file]) == 0
    capsys.readouterr()
    assert main(["table", "factors", run, f"by=exposure:{file}", "-o", str(tmp_path / "t")]) == 0
    # The rarest bigram of item 1 is "is here" (12), that of item 2 "slept cook" (none).
    with (tmp_path / "t.csv").open() as table:
        assert [row["level"] for row in csv.DictReader(table)] == ["0", "10"]
