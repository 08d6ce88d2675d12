"""Bracketed trees: read from lines and files, with the place of what is wrong."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from syntagm.core import InputError
from syntagm.training import Tree, trees

LABEL = st.text("ABNPSX-=0'é\u00a0", min_size=1, max_size=4)
LEAF = st.builds(lambda label, word: Tree(label, (word,)), LABEL, st.text("abc-'.\u00a0é", min_size=1, max_size=4))
TREE = st.recursive(LEAF, lambda below: st.builds(Tree, LABEL, st.lists(below, min_size=1, max_size=4).map(tuple)))


def only(*lines: str) -> Tree:
    [tree] = trees.parse(lines)
    return tree


def test_a_tree_and_its_words() -> None:
    tree = only("(S (NP (DT the) (NNS dogs)) (VP (VBP bark)) (. .))")
    assert tree.label == "S"
    assert [child.label for child in tree.children if isinstance(child, Tree)] == ["NP", "VP", "."]
    assert tree.children[1] == Tree("VP", (Tree("VBP", ("bark",)),)) != Tree("VP", (Tree("VBZ", ("bark",)),))
    assert trees.words(tree) == ["the", "dogs", "bark", "."]
    assert repr(tree) == "<Tree (S (NP (DT the) (NNS dogs)) (VP (VBP bark)) (. .))>"


@pytest.mark.parametrize("root", ["(S1 ", "(ROOT ", "( ", "(", "(TOP "])
def test_roots(root: str) -> None:
    tree = only(f"{root}(S (NP (PRP it)) (VP (VBZ rains))))")
    assert tree.label == root.strip("( ")
    assert str(tree.children[0]) == "(S (NP (PRP it)) (VP (VBZ rains)))"


def test_many_on_a_line_and_one_on_many() -> None:
    lines = ["(A (B c)) (D", "", "  (E", "\tf ) ", ")(G h)", "( (S", "(I j)", "))"]
    assert [str(tree) for tree in trees.parse(lines)] == ["(A (B c))", "(D (E f))", "(G h)", "( (S (I j)))"]


def test_traces_go_and_brackets_stay() -> None:
    tree = only("( (S (NP-SBJ-1 (-NONE- *T*-2) ) (VP (-LRB- -LRB-) (VB go) (X (-NONE- 0) (-NONE- *)) (-RRB- -RRB-))))")
    assert trees.words(tree) == ["-LRB-", "go", "-RRB-"]


def test_a_word_beside_a_node() -> None:
    assert trees.words(only("(NP the (NN dog) now)")) == ["the", "dog", "now"]


@pytest.mark.slow
@given(st.lists(TREE, max_size=3), st.sampled_from([" ", "\n", "", "\r\n"]))
def test_printed_and_read(found: list[Tree], between: str) -> None:
    text = between.join(map(str, found))
    assert list(trees.parse(text.split("\n"))) == found
    # With every blank between brackets a line end.
    assert list(trees.parse(text.replace(" (", "\n(").split("\n"))) == found


@pytest.mark.slow
def test_deeper_than_python_recurses() -> None:
    depth = 50_000
    tree = only("(A " * depth + "(B c)" + ")" * depth)
    assert trees.words(tree) == ["c"]
    assert str(tree).count("(A") == depth
    assert tree == only("(A\n" * depth + "(B c)" + ")" * depth)
    assert hash(tree)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["(A (B c))", "(A (B c)"], r"trees, line 2: the tree that begins here lacks 1 closing bracket at the end"),
        (["", "(A", "(B (C d)"], r"trees, line 2: the tree that begins here lacks 2 closing brackets at the end"),
        (["(A (B c)))"], r"trees, line 1: a closing bracket without an opening one"),
        (["(A (B c))", "", ")"], r"trees, line 3: a closing bracket"),
        (["The dog barks ."], r"trees, line 1: 'The' outside brackets"),
        (["(A (B c)) d"], r"trees, line 1: 'd' outside brackets"),
        (["(A", "(B))"], r"trees, line 2: a node without children: \(B\)"),
        (["()"], r"trees, line 1: a node without children: \(\)"),
        (["( dog)"], r"trees, line 1: the word 'dog' in a node without a label"),
        (["(", "S (B c))"], r"trees, line 2: the word 'S' in a node without a label"),
    ],
)
def test_what_is_wrong_and_where(lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        list(trees.parse(lines))
    assert caught.value.cure


def test_trees_before_the_fault_are_given() -> None:
    found = trees.parse(["(A b)", ")"])
    assert str(next(found)) == "(A b)"


@pytest.mark.slow
def test_a_bracket_left_open_is_found_before_memory_is_full() -> None:
    def lines() -> Iterator[str]:
        yield "(A (B c)"
        while True:
            yield "(A (B c))" * 20_000

    with pytest.raises(InputError, match=r"line 1: .* lacks 1 closing bracket after 1,000,000 characters"):
        list(trees.parse(lines()))


def test_files(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf(A b)\r\n\n(A (B \xc3\xa9))"
    (tmp_path / "a.mrg").write_bytes(content)
    (tmp_path / "b.mrg.gz").write_bytes(gzip.compress(content))
    for name in ("a.mrg", "b.mrg.gz"):
        assert [str(tree) for tree in trees.read(tmp_path / name)] == ["(A b)", "(A (B é))"]
    (tmp_path / "a.mrg").write_bytes(content + b"\n)")
    with pytest.raises(InputError, match="a closing bracket") as caught:
        list(trees.read(tmp_path / "a.mrg"))
    assert caught.value.place == f"{tmp_path / 'a.mrg'}, line 4"


@pytest.mark.parametrize(
    ("name", "counts", "root", "words"),
    [
        ("ptb_sample", (3563, 167, 184), "", 94_084),
        pytest.param("gum", (12_304, 1222, 1071), "ROOT", 251_725, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_published_trees(shared: Path, name: str, counts: tuple[int, ...], root: str, words: int) -> None:
    total = 0
    for part, count in zip(("train", "valid", "test"), counts, strict=True):
        found = list(trees.read(shared / f"data/corpora/{name}.{part}.trees"))
        assert len(found) == count
        assert {tree.label for tree in found} == {root}
        total += sum(len(trees.words(tree)) for tree in found)
    # Without traces, as counted by others.
    assert total == words
