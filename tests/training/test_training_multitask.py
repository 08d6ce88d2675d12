"""The second task: readers of tagged text, categories from trees, steps, and tagging of held-out text."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from models_for_tests import TEXT
from torch import nn
from training_for_tests import LSTM, bracketed, learn

from syntagm.cli import main
from syntagm.core import InputError, ModelError, UsageError, seal
from syntagm.models import UNKNOWN, names, tag
from syntagm.training import (
    Multitask,
    MultitaskSettings,
    Size,
    Steps,
    Tagging,
    Words,
    categories,
    tagged_sentences,
    trees,
)

AUTO = """\
ID=wsj_0001.1 PARSER=GOLD NUMPARSE=1
(<T S[dcl] 0 2> (<T NP 0 1> (<L N NNS NNS Dogs N>) ) (<T S[dcl]\\NP 0 1> (<L S[dcl]\\NP VBP VBP bark S[dcl]\\NP_1>) ) )
ID=wsj_0001.2 PARSER=GOLD NUMPARSE=1
(<T NP 0 1> (<L N/N NNP NNP )x N_3/N_3>) (<L N NN NN a|b N>) )
"""


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("rows.txt", "Dogs|N bark|S\\NP\n\n  a|b|N \n", [[("Dogs", "N"), ("bark", "S\\NP")], [("a|b", "N")]]),
        ("columns.txt", "\nDogs\tN\nbark\tS\\NP\n\n\n.\t.\n", [[("Dogs", "N"), ("bark", "S\\NP")], [(".", ".")]]),
        ("x.auto", AUTO, [[("Dogs", "N"), ("bark", "S[dcl]\\NP")], [(")x", "N/N"), ("a|b", "N")]]),
        ("x.trees", "(NP (DT the) (NN dog))\n(S (-NONE- *))\n", [[("the", "NP/N"), ("dog", "N")]]),
    ],
)
def test_layouts_of_tagged_text(tmp_path: Path, name: str, content: str, expected: object) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert list(tagged_sentences([tmp_path / name])) == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.txt", "Dogs|N bark\n", r"x.txt, line 1: 'bark'; expected word\|tag. Correct it"),
        ("x.txt", "Dogs|N\n|N\n", r"x.txt, line 2: '\|N'; expected word\|tag"),
        ("x.txt", "Dogs|\n", r"line 1: 'Dogs\|'; expected word\|tag"),
        ("x.txt", "Dogs\tN\nbark S\n", "x.txt, line 2: 'bark S'; expected a word, a tab and a tag. Correct it"),
        ("x.txt", "Dogs\tN\tN\n", r"line 1: 'Dogs\\tN\\tN'; expected a word, a tab and a tag"),
        ("x.txt", "Dogs\t\n", "line 1: 'Dogs"),
        ("x.txt", "The dogs\tN\n", "line 1: 'The dogs"),
        ("x.txt", "\n \n", "x.txt: no tagged words; expected word|tag"),
        ("x.auto", "", "x.auto: no tagged words"),
        ("x.auto", "Dogs bark\n", "x.auto, line 1: 'Dogs bark'; expected a line with ID=, or a derivation"),
        ("x.auto", "(<L N NNS Dogs N>)\n", "line 1: '<L N NNS Dogs N>.'; expected <L category tag tag word category>"),
        ("x.auto", "(<T NP 0 1> (<L N NNS NNS Dogs N>)\n", "line 1: 2 opening and 1 closing brackets"),
        ("x.trees", "(S (NP dog (NN x)))\n", "x.trees, tree 1: the word 'dog' without a tag"),
        ("x.trees", "(A " * 120 + "(B b)" + ")" * 120 + "\n", "tree 1: more than 100 open constituents"),
        ("x.trees", "(S (NP (NN dog))\n", "x.trees, line 1: the tree that begins here lacks 1 closing bracket"),
    ],
)
def test_bad_tags_are_refused_with_their_place(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(tagged_sentences([tmp_path / name]))
    with pytest.raises(InputError, match="no such file"):
        list(tagged_sentences([tmp_path / "other.txt"]))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (
            "( (S (NP-SBJ (NP (NNP Pierre) (NNP Vinken)) (, ,) (ADJP (NP (CD 61) (NNS years)) (JJ old)) (, ,)) "
            "(VP (MD will) (VP (VB join) (NP (DT the) (NN board)) (PP-CLR (IN as) (NP (DT a) (NN director))) "
            "(NP-TMP (NNP Nov.)))) (. .)))",
            r"N/N N , N/N N NP\NP , (S[dcl]\NP)/(S[b]\NP) ((S[b]\NP)/PP)/NP NP/N N PP/NP NP/N N N .",
        ),
        (
            "(S (NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (NP (-NONE- *T*)) (VP (VBD came) (CC and) (VBD saw) "
            "(NP (PRP it)))))) (VP (VBZ says) (SBAR (IN that) (S (NP (NP (NNP Kim) (POS 's)) (NN dog)) (VP (VBZ wants) "
            "(S (VP (TO to) (VP (VB sleep) (ADVP (RB late)) (SBAR (IN because) (S (NP (PRP it)) (VP (VBZ is) "
            "(ADJP (RB very) (JJ old)))))))))))))",
            r"NP/N N (NP\NP)/(S[dcl]\NP) (S[dcl]\NP)/NP conj (S[dcl]\NP)/NP NP (S[dcl]\NP)/S[em] S[em]/S[dcl] N (NP/N)\NP N "
            r"(S[dcl]\NP)/(S[to]\NP) (S[to]\NP)/(S[b]\NP) S[b]\NP (S\NP)\(S\NP) ((S\NP)\(S\NP))/S[dcl] NP "
            r"(S[dcl]\NP)/(S[adj]\NP) (S\NP)/(S\NP) S[adj]\NP",
        ),
        # A ditransitive verb; an adverbial clause before the subject; a particle; words without rules.
        (
            "(S (SBAR (IN If) (S (NP (PRP we)) (VP (VBP can)))) (, ,) (NP (PRP we)) (VP (VBP give) (PRT (RP up)) "
            "(NP (NNS dogs)) (NP (NNS bones))))",
            r"(S/S)/S[dcl] NP S[dcl]\NP , NP (((S[dcl]\NP)/NP)/NP)/PR PR N N",
        ),
        ("(FRAG (RB Not) (NP (NN now)))", "S/S N"),
        ("(ROOT (NN Help))", "N"),
    ],
)
def test_categories_of_trees(tree: str, expected: str) -> None:
    [parsed] = trees.parse([tree])
    assert [category for _, category in categories.tagged(parsed)] == expected.split()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "text.trees").write_text(bracketed(TEXT * 2), encoding="utf-8")
    return tmp_path / "text.trees"


def learner(corpus: Path, **tagging: object) -> Multitask:
    settings = MultitaskSettings(
        Size(8, 8, 1, 0.0), Tagging(**tagging), Words(), Steps(2, 7), LSTM  # type: ignore[arg-type]
    )  # fmt: skip
    torch.manual_seed(1)
    return Multitask([str(corpus)], [str(corpus)], settings)


@pytest.mark.parametrize(("head", "weight"), [("linear", 1.0), ("linear", 0.25), ("shared", 1.0)])
def test_a_loss_is_the_sum_of_both(corpus: Path, head: str, weight: float) -> None:
    model = learner(corpus, head=head, tag_weight=weight)
    network = model.module
    step = model.batches(0, 0, 1)[1]
    assert step.text is not None
    assert step.words is not None
    loss, tokens, after = model.loss(step, model.carried())
    outputs, _ = network(step.text[:-1], network.fresh(2))
    wanted = nn.functional.cross_entropy(network.decoder(outputs).flatten(0, 1), step.text[1:].flatten())
    # The tag of a word is predicted when the word has been read; the end of a sentence has none.
    outputs, (hidden, _) = network(step.words[:-1], network.fresh(2))
    layer = network.decoder if head == "shared" else network.tagger
    logits, tags = layer(outputs).flatten(0, 1), step.tags[:-1].flatten()
    assert (tags == UNKNOWN).any()
    wanted = wanted + weight * nn.functional.cross_entropy(logits, tags, ignore_index=UNKNOWN)
    torch.testing.assert_close(loss, wanted)
    assert tokens == step.text[1:].numel()
    torch.testing.assert_close(after["tags.000"], hidden.detach())
    network.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    ours = {name: parameter.grad for name, parameter in network.named_parameters()}
    network.zero_grad()
    wanted.backward()
    for name, parameter in network.named_parameters():
        found, expected = ours[name], parameter.grad
        assert found is not None
        assert expected is not None
        torch.testing.assert_close(found.to_dense(), expected.to_dense(), rtol=1e-4, atol=1e-6)


def test_windows_of_both_texts(corpus: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("a|A b|B c|A\n" * 12, encoding="utf-8")
    model = learner(corpus, tags=str(short))
    assert model.tags == ["A", "B"]
    equal = model.batches(0, 0, 1)
    assert len(equal) == len(equal.texts) > len(equal.words) > 1
    assert [step for _, step in equal.steps] == [index % len(equal.words) for index in range(len(equal))]
    # The next epoch goes on where this one stopped.
    assert model.batches(1, 0, 1).steps[0][1] == len(equal) % len(equal.words)
    mixed = learner(corpus, tags=str(short), mixing="size").batches(0, 0, 1)
    assert len(mixed) == len(mixed.texts) + len(mixed.words)
    for place, number in ((0, len(mixed.texts)), (1, len(mixed.words))):
        assert [step[place] for step in mixed.steps if step[place] is not None] == list(range(number))
    assert [step[0] is None for step in mixed.steps] != sorted(step[0] is None for step in mixed.steps)


def test_the_vocabulary_is_that_of_the_text(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("newcomer|N newcomer|N newcomer|N boat|N\n" * 9, encoding="utf-8")
    assert learner(corpus, tags=str(tmp_path / "more.txt")).vocabulary == learner(corpus).vocabulary


def test_sentences_are_tagged_alike_alone_and_together(corpus: Path) -> None:
    model = learner(corpus)
    network = model.module.eval()
    given = [*model._held_out[:5], ([3, 4], [UNKNOWN, 0])]
    together = dict(tag(network, given, len(model.tags), 20))
    for index, (words, tags) in enumerate(given):
        with torch.no_grad():
            outputs, _ = network(torch.tensor([0, *words])[:, None], network.fresh(1))
            logs = network.tagger(outputs[1:, 0]).log_softmax(1)
        assert together[index].best.tolist() == logs.argmax(1).tolist()
        wanted = [-float(row[number]) if number != UNKNOWN else np.nan for row, number in zip(logs, tags, strict=True)]
        np.testing.assert_allclose(together[index].nats, wanted, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"head": "shared", "mixing": "size"}])
def test_training_tells_the_accuracy_and_the_model_scores(
    corpus: Path, tmp_path: Path, options: dict[str, str]
) -> None:
    line = ["train", "multitask", "--corpus", str(corpus), "--valid", str(corpus), "-o", str(tmp_path / "m")]
    size = ["--embedding", "8", "--hidden", "8", "--layers", "1", "--batch", "2", "--window", "7", "--epochs", "2"]
    more = [part for name, value in options.items() for part in (f"--{name}", value)]
    assert main([*line, *size, *more]) == 0
    made = json.loads((tmp_path / "m" / "training.json").read_text())
    assert [set(row) >= {"tag_bits", "tag_accuracy", "perplexity"} for row in made["history"]] == [True, True]
    assert 0 <= made["history"][-1]["tag_accuracy"] <= 1
    assert made["tagging"]["tags"][0]["name"] == "text.trees"
    # Words of trees are used as they are.
    model = names.load(f"{tmp_path / 'm'}?eos=yes&tokens=blanks")
    assert model.record["tags"] == made["tags"]
    answers = list(model.score(TEXT.splitlines() * 2))
    bits = sum(float(answer.bits.sum()) for answer in answers) / sum(len(answer.text.split()) + 1 for answer in answers)
    assert min(abs(bits - row["bits_per_word"]) for row in made["history"]) < 1e-5


def test_what_can_not_be_trained_is_refused(corpus: Path, tmp_path: Path) -> None:
    text = tmp_path / "plain.txt"
    text.write_text(TEXT, encoding="utf-8")
    with pytest.raises(UsageError, match=r"tags: none given, and .*plain.txt has no trees; expected a tagged text"):
        learner(text)
    with pytest.raises(UsageError, match="tag_weight: 0; expected more than 0"):
        Tagging(tag_weight=0)
    many = tmp_path / "many.txt"
    many.write_text(" ".join(f"a|T{number}" for number in range(500)), encoding="utf-8")
    with pytest.raises(InputError, match=r"head: 500 tags for \d+ words; expected no more tags than words"):
        learner(corpus, tags=str(many), head="shared")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("head", "two", "head = 'two'"),
        ("head", "shared", "missing or unexpected"),
        ("tags", [], r"tags = \[\]"),
        ("tags", ["N", ""], "tags = "),
        ("tags", ["N"], "of shape"),
        ("family", "lstm", "another family"),
    ],
)
def test_wrong_folders_are_refused(corpus: Path, tmp_path: Path, key: str, value: object, message: str) -> None:
    corpus.with_suffix(".txt").write_text(TEXT, encoding="utf-8")
    learn("multitask", tmp_path / "m", corpus.with_suffix(".txt"), replace(LSTM, epochs=1, every=0))
    shown = json.loads((tmp_path / "m" / "model.json").read_text()) | {key: value}
    (tmp_path / "m" / "model.json").write_text(json.dumps(shown))
    seal.write(tmp_path / "m")
    with pytest.raises(ModelError, match=message):
        names.load(f"multitask:{tmp_path / 'm'}")
