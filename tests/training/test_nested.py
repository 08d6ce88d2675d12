"""Nested parts of a corpus: by size, drawn by seed, in the order of the corpus."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from syntagm.core import UsageError
from syntagm.training import corpus, nested


@pytest.mark.slow
@given(st.lists(st.integers(1, 30), min_size=3, max_size=60), st.data(), st.integers(0, 9))
def test_nested_and_no_larger_than_needed(lengths: list[int], data: st.DataObject, seed: int) -> None:
    total = sum(lengths)
    wanted = sorted(data.draw(st.sets(st.integers(1, total), min_size=1, max_size=3)))
    try:
        parts = nested.subset(lengths, wanted, seed)
    except UsageError as error:
        # Two sizes within one sentence of each other.
        assert min(np.diff(wanted)) < max(lengths), error
        return
    sizes = [int(np.array(lengths)[part].sum()) for part in parts]
    for size, goal in zip(sizes, wanted, strict=True):
        assert goal <= size < goal + max(lengths)
    for small, large in pairwise(parts):
        assert (small <= large).all()
        assert small.sum() < large.sum()


def test_a_size_draws_the_same_part_whatever_stands_beside_it() -> None:
    lengths = [3, 1, 4, 1, 5, 9, 2, 6] * 10
    _, middle, _ = nested.subset(lengths, [20, 80, 200], seed=1)
    [alone] = nested.subset(lengths, [80], seed=1)
    assert alone.tolist() == middle.tolist()
    [other] = nested.subset(lengths, [80], seed=2)
    assert other.tolist() != middle.tolist()


def test_the_draw_never_changes() -> None:
    # numpy.random.default_rng(1).permutation(6) is 3 4 2 1 5 0: the first three have 6 words.
    order = np.random.default_rng(1).permutation(6).tolist()
    [part] = nested.subset([2] * 6, [6], seed=1)
    assert np.flatnonzero(part).tolist() == sorted(order[:3])


@pytest.mark.parametrize(
    ("lengths", "words", "message"),
    [
        ([3, 3], [], "none; expected numbers of words"),
        ([3, 3], [0, 4], "0, 4; expected numbers of words, ascending"),
        ([3, 3], [4, 4], "4, 4; expected"),
        ([3, 3], [5, 4], "5, 4; expected"),
        ([3, 3], [7], "7 words; expected at most the 6 of the corpus"),
        ([], [1], "1 words; expected at most the 0 of the corpus"),
        ([3, 3], [1, 2], "1 and 2 words give the same subset"),
    ],
)
def test_sizes_that_cannot_be(lengths: list[int], words: list[int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        nested.subset(lengths, words, seed=1)


def test_a_seed_below_0_is_refused() -> None:
    with pytest.raises(UsageError, match="seed of the nested subsets: -1; expected at least 0"):
        nested.subset([3, 3], [2], seed=-1)


def test_written_in_the_order_of_the_corpus(tmp_path: Path) -> None:
    lines = [f"line {number} ." for number in range(100)]
    (tmp_path / "a.txt").write_text("\n".join(lines[:50]), encoding="utf-8")
    (tmp_path / "b.txt").write_text("\n\n".join(lines[50:]), encoding="utf-8")
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    written = nested.write(paths, {"md": 300, "xs": 30, "sm": 61}, tmp_path / "parts", seed=3)
    assert written == {name: tmp_path / "parts" / f"{name}.txt" for name in ("md", "xs", "sm")}
    xs, sm, md = (list(corpus.texts([written[name]])) for name in ("xs", "sm", "md"))
    # Three words a line: 30 words in 10 lines, 61 in 21, 300 in all 100.
    assert (len(xs), len(sm), md) == (10, 21, lines)
    assert set(xs) < set(sm)
    assert xs == [line for line in lines if line in xs]
    assert sm == [line for line in lines if line in sm]
    before = {name: path.read_bytes() for name, path in written.items()}
    assert nested.write(paths, {"xs": 30}, tmp_path / "again", seed=3)["xs"].read_bytes() == before["xs"]
    assert nested.write(paths, {"xs": 30}, tmp_path / "other", seed=4)["xs"].read_bytes() != before["xs"]


def test_words_as_the_treebank_counts_them(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It rains.\nIt snows!\n", encoding="utf-8")
    # Two words a line by blanks, three by the Treebank.
    with pytest.raises(UsageError, match="at most the 4"):
        nested.write([tmp_path / "a.txt"], {"all": 6}, tmp_path / "parts", seed=1)
    written = nested.write([tmp_path / "a.txt"], {"all": 6}, tmp_path / "parts", seed=1, tokens="treebank")
    assert written["all"].read_text(encoding="utf-8") == "It rains.\nIt snows!\n"


def test_names(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\n", encoding="utf-8")
    for name in ("", "../a", "b/c"):
        with pytest.raises(UsageError, match="expected a file name without folders"):
            nested.write([tmp_path / "a.txt"], {name: 1}, tmp_path, seed=1)
    with pytest.raises(UsageError, match=r"a\.txt belongs to the corpus and would be overwritten"):
        nested.write([tmp_path / "a.txt"], {"a": 1}, tmp_path, seed=1)
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "one two\n"


def test_a_subset_of_trees_consists_of_trees(tmp_path: Path) -> None:
    trees = [
        "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))",
        "(S (NP (-NONE- *)))",
        "( (S\n (NP (NNS dogs))\n (VP (VBP bark))))",
    ]
    (tmp_path / "a.trees").write_text("\n".join(trees * 5))
    written = nested.write([tmp_path / "a.trees"], {"xs": 5, "sm": 25}, tmp_path / "parts", seed=1)
    assert [path.name for path in written.values()] == ["xs.trees", "sm.trees"]
    lines = written["sm"].read_text().splitlines()
    # Trees without words are no sentences.
    assert lines == [trees[0], "( (S (NP (NNS dogs)) (VP (VBP bark))))"] * 5
    place = iter(lines)
    assert all(line in place for line in written["xs"].read_text().splitlines())
    assert sum(len(text.split()) for text in corpus.texts([written["sm"]])) == 25
    # Of a corpus that has text as well, only the text is known.
    (tmp_path / "b.txt").write_text("It barks .\n")
    mixed = nested.write([tmp_path / "a.trees", tmp_path / "b.txt"], {"all": 28}, tmp_path / "mixed", seed=1)
    assert mixed["all"].name == "all.txt"
    assert mixed["all"].read_text().splitlines()[-2:] == ["dogs bark", "It barks ."]


DOCUMENTS = "a b c\nd e\n\n\nf g\n"
NUMBERED = [
    ("blank", [0, 0, 1, 2, 3, 3]),
    ("file", [0, 0, 0, 1, 1, 1]),
    # The line `<doc 2>` is no sentence; the file begins a section anyway.
    ("<doc", [0, 0, 0, 1, -1, 2]),
]


@pytest.mark.parametrize(("mark", "numbers"), NUMBERED)
def test_sections_of_text(tmp_path: Path, mark: str, numbers: list[int]) -> None:
    (tmp_path / "a.txt").write_text(DOCUMENTS)
    (tmp_path / "b.txt").write_text("\nh\n \n<doc 2>\ni j k l\n")
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert list(corpus.texts(paths)) == ["a b c", "d e", "f g", "h", "<doc 2>", "i j k l"]
    assert list(corpus.sections(paths, mark)) == numbers


def test_sections_of_trees_are_files(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.trees").write_text("(S (X a) (X b))\n\n(S (X c))\n")
    paths = [tmp_path / "a.trees", tmp_path / "b.trees"]
    assert list(corpus.sections(paths)) == list(corpus.sections(paths, "file")) == [0, 0, 1, 1]
    with pytest.raises(UsageError, match=r"a\.trees: trees, with the section mark '<doc'; expected a text"):
        list(corpus.sections(paths, "<doc"))


def test_parts_of_whole_sections_are_nested(tmp_path: Path) -> None:
    # 30 documents of 2 to 4 sentences of 5 words, with a mark before each.
    documents = [[f"document {number} sentence {at} ." for at in range(2 + number % 3)] for number in range(30)]
    text = "".join(f"<doc {number}>\n" + "\n".join(lines) + "\n\n" for number, lines in enumerate(documents))
    (tmp_path / "a.txt").write_text(text)
    sizes = {"md": 300, "xs": 31, "sm": 100}
    written = nested.write([tmp_path / "a.txt"], sizes, tmp_path / "parts", seed=3, sections="<doc")
    parts = {name: path.read_text().splitlines() for name, path in written.items()}
    assert set(parts["xs"]) < set(parts["sm"]) < set(parts["md"])
    for name, lines in parts.items():
        whole = [document for document in documents if document[0] in lines]
        assert lines == [line for document in whole for line in document]
        # Without its last document, of 20 words at most, it would be too small.
        assert sizes[name] <= 5 * len(lines) < sizes[name] + 20
    alone = nested.write([tmp_path / "a.txt"], {"sm": 100}, tmp_path / "again", seed=3, sections="<doc")
    assert alone["sm"].read_text().splitlines() == parts["sm"]
    with pytest.raises(UsageError, match="differ by more than a section"):
        nested.write([tmp_path / "a.txt"], {"a": 31, "b": 32}, tmp_path / "parts", seed=3, sections="<doc")
