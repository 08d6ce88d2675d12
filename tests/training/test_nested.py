"""Nested parts of a corpus: by size, drawn by seed, in the order of the corpus."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagm.errors import UsageError
from syntagm.training.corpora import corpus, nested


@settings(deadline=None)
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
