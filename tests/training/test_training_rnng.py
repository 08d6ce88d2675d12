"""Training of RNNGs: trees as actions, the loss of batches, and what is refused."""

import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from models_for_tests import BFLOAT16, TEXT
from torch import nn
from training_for_tests import bracketed, learn

from benchmarks.plain_rnng import PlainDecoder
from syntagm.cli import main
from syntagm.core import InputError, ModelError, UsageError, seal
from syntagm.models import SHIFT, RnngNetwork, build, names
from syntagm.training import (
    Encoded,
    OnePass,
    Rnng,
    RnngSettings,
    Size,
    TreeSteps,
    Words,
    batch,
    nats,
    oracle,
    trees as _trees,
)
from syntagm.training.rnng.batch import run

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))",
    "(S (NP (NP (DT the) (NN dog)) (PP (IN near) (NP (NP (DT the) (NNS cats)) (PP (IN of) (NP (NNP Ann)))))) (VP (VBZ barks)))",
    "(NP (NN dog))",
    "(S (NP (NP (NP (NN dog)))) (VP (VBZ barks) (ADVP (RB now)) (ADVP (RB here)) (S (VP (TO to) (VP (VB eat))))))",
]


def actions(tree: str) -> str:
    """Write a derivation in one line: w for a word."""
    [parsed] = _trees.parse([tree])
    return " ".join(action or "w" for action in oracle.derivation(parsed).actions)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (TREES[0], "S NP w w ) VP w ) w )"),
        ("( (S-TPC-1 (NP=2 (NN a)) (PRT|ADVP (RP b))))", "S NP w ) PRT w ) )"),
        ("(ROOT (S (VP (VB go))))", "S VP w ) )"),
        ("(S1 (S (VB go)))", "S w )"),
        ("(ROOT (NP (NN a)) (NP (NN b)))", "ROOT NP w ) NP w ) )"),
        ("( (NP (NN a)) (. .))", "ROOT NP w ) w )"),
        ("(ROOT (UH yes))", "ROOT w )"),
        ("(UH yes)", "ROOT w )"),
        ("(S (NP (-NONE- *)) (VP (VB go) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))))", "S VP w ) )"),
        ("(S (NP (-NONE- *)))", ""),
        ("(S (X (-LRB- -LRB-) (NN a)))", "S X w w ) )"),
    ],
)
def test_trees_are_simplified_by_rule(tree: str, expected: str) -> None:
    assert actions(tree) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP the dog))", r"tree 1: the word 'the' without a tag; expected \(TAG word\)\. Add tags"),
        ("(S (NP (DT the) dog))", r"tree 1: the word 'dog' without a tag"),
        (
            "(S (DT a))\n" + "(S " * 101 + "(DT a)" + ")" * 101,
            r"tree 2: more than 100 open constituents; expected at most",
        ),
        ("(S (NP (-NONE- *)))", r"no tree with a word; expected bracketed trees"),
        ("(S (DT the)", r"line 1: the tree that begins here lacks 1 closing bracket"),
        ("(S (DT the)))", r"line 1: a closing bracket without an opening one"),
        ("(S (NP ()))", r"line 1: a node without children"),
        ("", r"no trees; expected bracketed trees"),
    ],
)
def test_bad_trees_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    file, good = tmp_path / "bad.trees", tmp_path / "good.trees"
    file.write_text(text)
    good.write_text(TREES[0])
    for corpus, valid in ((file, good), (good, file)):
        with pytest.raises(InputError, match=message) as error:
            Rnng([str(corpus)], [str(valid)], RnngSettings(Size(4, 4, 1)))
        assert "bad.trees" in str(error.value)
    assert main(["train", "rnng", "--corpus", str(file), "--valid", str(good), "-o", str(tmp_path / "m")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_text_without_trees_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    with pytest.raises(UsageError, match=r"not the name of a tree file; expected a name that ends in \.trees"):
        Rnng([str(tmp_path / "text.txt")], [str(tmp_path / "text.txt")], RnngSettings(Size(4, 4, 1)))


def encoded(texts: Sequence[str] = TREES) -> tuple[list[Encoded], int, int]:
    """Return trees as numbers, and the numbers of words and labels."""
    found = [oracle.derivation(tree) for tree in _trees.parse(texts)]
    vocabulary, labels = build([tree.words for tree in found], 1), oracle.labels(found)
    return [oracle.encoded(tree, vocabulary, labels) for tree in found], len(vocabulary), len(labels)


def test_an_unknown_label_is_counted_as_x() -> None:
    trees = [oracle.derivation(tree) for tree in _trees.parse(["(S (NP (NN a)))", "(S (RRC (NN a)))"])]
    labels, vocabulary = oracle.labels(trees[:1]), build([("a",)], 1)
    assert labels == ["NP", "S", "X"]
    assert [oracle.encoded(tree, vocabulary, labels).actions[1] - 2 for tree in trees] == [0, 2]


@pytest.mark.parametrize("parts", ["all", "stack"])
def test_the_loss_of_a_batch_is_that_of_the_plain_decoder(parts: str) -> None:
    trees, words, labels = encoded()
    torch.manual_seed(1)
    network = RnngNetwork(words, labels, 6, 7, 2, parts).eval()
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(3.0)
    plain, expected = PlainDecoder(network), 0.0
    for tree in trees:
        item, remaining = plain.start(), iter(tree.words.tolist())
        for action in tree.actions.tolist():
            word = next(remaining) if action == SHIFT else 0
            item = plain.after(item, action, word, plain.scores(item, word)[action])
        expected -= item.score
    for softmax in (None, OnePass(network.word)):
        found = sum(nats(network, batch(trees, labels), softmax), torch.zeros(()))
        assert math.isclose(float(found.detach()), expected, rel_tol=1e-5)
    alone = [sum(part.item() for part in nats(network, batch([tree], labels), None)) for tree in trees]
    assert math.isclose(sum(alone), expected, rel_tol=1e-5)


def test_the_gradients_of_a_forest_are_those_of_automatic_differentiation() -> None:
    torch.manual_seed(1)
    levels = [torch.tensor([0, 0, 1]), torch.tensor([2, 0, 0, 0, 1]), torch.tensor([4, 3])]
    gates, start = torch.randn(10, 12, requires_grad=True), torch.randn(2, 2, 3, requires_grad=True)
    cell = nn.LSTMCell(12, 3, bias=False)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.eye(12))
    hidden, state, expected, first = start[0], start[1], [], 0
    for below in levels:
        hidden, state = cell(gates[first : first + len(below)], (hidden[below], state[below]))
        expected.append(hidden)
        first += len(below)
    found = run(gates, cell.weight_hh, levels, *start)
    assert torch.allclose(found, torch.cat(expected), atol=1e-6)
    weights, inputs = torch.randn(10, 3), [gates, start, cell.weight_hh]
    for ours, theirs in zip(
        torch.autograd.grad((found * weights).sum(), inputs),
        torch.autograd.grad((torch.cat(expected) * weights).sum(), inputs),
        strict=True,
    ):
        assert torch.allclose(ours, theirs, atol=1e-5)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model's folder."""
    place = tmp_path_factory.mktemp("rnng")
    (place / "text.txt").write_text(TEXT, encoding="utf-8")
    history = learn("rnng", place / "model", place / "text.txt")
    assert history[-1]["bits_per_word"] < history[0]["bits_per_word"]
    return place / "model"


@pytest.mark.slow
def test_a_trained_model_scores_and_parses(trained: Path) -> None:
    model = names.load(str(trained))
    [answer] = model.score([TEXT.splitlines()[0]])
    assert np.isfinite(answer.bits).all()
    [trees] = model.parse(["The boat"])
    assert len(trees) == 2
    assert model.record["labels"] == ["NP", "S", "VP", "X"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("family", "lstm", "a model of another family"),
        ("format", 99, "format 99"),
        ("parts", "some", "parts = 'some'"),
        ("parts", "stack", "missing or unexpected"),
        ("labels", [], r"labels = \[\]"),
        ("labels", ["NP", 1], "labels = "),
        ("labels", ["NP", "S"], "of shape"),
        ("layers", 10**5, "the arrays of 100000 layers"),
        ("hidden", 10**6, "of shape"),
    ],
)
def test_wrong_folders_are_refused(trained: Path, tmp_path: Path, key: str, value: object, message: str) -> None:
    place = tmp_path / "copy"
    shutil.copytree(trained, place)
    description = json.loads((place / "model.json").read_text()) | {key: value}
    (place / "model.json").write_text(json.dumps(description))
    seal.write(place)
    with pytest.raises(ModelError, match=message):
        names.load(f"rnng:{place}")


def test_every_tree_is_read_once_in_an_epoch_by_one_of_all_processes(tmp_path: Path) -> None:
    (tmp_path / "text.trees").write_text(bracketed(TEXT) * 5, encoding="utf-8")
    corpus = [str(tmp_path / "text.trees")]
    learner = Rnng(corpus, corpus, RnngSettings(Size(4, 4, 1), words=Words(threshold=1), steps=TreeSteps(3)))
    for world in (1, 2):
        epochs = [[learner.batches(epoch, rank, world) for rank in range(world)] for epoch in (0, 0, 1)]
        read = [[sorted(n for one in ranks for group in one.groups for n in group)] for ranks in epochs]
        assert read[0] == read[1]
        assert read[0][0] == list(range(40))
        assert len({len(one) for one in epochs[0]}) == 1
    assert [list(map(int, group)) for group in epochs[0][0].groups] == [
        list(map(int, group)) for group in epochs[1][0].groups
    ]
    assert [list(map(int, group)) for group in epochs[0][0].groups] != [
        list(map(int, group)) for group in epochs[2][0].groups
    ]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f32", pytest.param("bf16", marks=BFLOAT16)])
def test_any_words_can_be_in_trees(tmp_path: Path, dtype: str) -> None:
    words = [
        "\u96ea\u4eba",
        "\u05e7\u05e8\u05d7",
        "e\u0301",
        "\U0001f468\u200d\U0001f469",
        "a\u00a0b",
        "UNK-LC",
        "<unk>",
    ]
    (tmp_path / "odd.trees").write_text(f"(S {' '.join(f'(X {word})' for word in words)})\n" * 3, encoding="utf-8")
    corpus = str(tmp_path / "odd.trees")
    small = ["--embedding", "4", "--hidden", "4", "--epochs", "1", "--batch", "2", "--dtype", dtype, "--threshold", "1"]
    assert main(["train", "rnng", "--corpus", corpus, "--valid", corpus, *small, "-o", str(tmp_path / "model")]) == 0
    [answer] = names.load(f"{tmp_path / 'model'}?tokens=blanks").score([" ".join(words[:4])])
    assert answer.in_vocabulary.all()
    assert np.isfinite(answer.bits).all()
