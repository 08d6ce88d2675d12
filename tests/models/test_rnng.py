"""The RNNG: its numbers against a plain decoder, its settings, its folder."""

from pathlib import Path

import numpy as np
import pytest
import torch
from models_for_tests import TEXT, rnng
from toy_runs import agreement
from training_for_tests import learn

from benchmarks.plain_rnng import PlainDecoder
from syntagm.cli import main
from syntagm.core import Progress, UsageError
from syntagm.models import OPEN, REDUCE, SHIFT, NetworkGrammar, Rnng, RnngNetwork, Sizes, load, search
from syntagm.runs import run_suites

SENTENCES = ["The boat was new .", "The boat was sold .", "The boat", "No one knows who the painter admired ."]


@pytest.mark.slow
@pytest.mark.parametrize("parts", ["all", "stack"])
@pytest.mark.parametrize("root", ["drop", "mask"])
def test_numbers_are_those_of_the_plain_decoder(parts: str, root: str) -> None:
    model = rnng(parts, beam="6", word_beam="3", fast_track="1", root=root)
    plain = PlainDecoder(model.network)
    for answer in model.score(SENTENCES[1:3]):
        expected = plain.surprisals(model.vocabulary.ids(answer.text.split()), model.sizes)
        np.testing.assert_allclose(answer.bits, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, []),
        ({"beam": "30", "word_beam": "10", "fast_track": "10"}, []),
        ({"beam": "29", "word_beam": "10", "fast_track": "1"}, ["word_beam=10"]),
        ({"beam": "20"}, ["word_beam=10"]),
        ({"beam": "10", "word_beam": "3", "fast_track": "4"}, ["fast_track=4"]),
        ({"beam": "10"}, ["word_beam=10", "fast_track=5"]),
    ],
)
def test_beams_that_end_the_search_too_early_are_warned_of(options: dict[str, str], named: list[str]) -> None:
    assert [warning.split(" is ")[0] for warning in rnng(**options).warnings] == named


@pytest.mark.slow
def test_loading_runs_and_commands_show_the_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    learn("rnng", tmp_path / "model", tmp_path / "text.txt")
    name = f"{tmp_path / 'model'}?beam=9&word_beam=4&fast_track=1"
    expected = "word_beam=4 is more than a third of beam=9"
    with pytest.warns(UserWarning, match=expected):
        model = load(name)
    told: list[str] = []
    progress = Progress()
    progress.warned = told.append  # type: ignore[method-assign]
    run_suites(model, [agreement()], None, progress=progress)
    assert told[0].startswith(f"{model.name}: {expected}")
    assert main(["score", name, "The boat was new ."]) == 0
    assert capsys.readouterr().err.count(expected) == 1


def test_the_score_of_a_tree_is_the_sum_over_its_actions() -> None:
    network = rnng().network
    plain, grammar = PlainDecoder(network), NetworkGrammar(network)
    words, actions = [3, 4, 5, 6], [OPEN, OPEN + 1, SHIFT, SHIFT, REDUCE, OPEN + 1, SHIFT, REDUCE, SHIFT, REDUCE]
    item, state, total = plain.start(), np.array([grammar.start()]), 0.0
    remaining = iter(words)
    for action in actions:
        word = next(remaining) if action == SHIFT else 0
        logits = grammar.actions(state)[0]
        valid = list(plain.scores(item, word))
        total += logits[action] - np.log(np.exp(logits[valid]).sum())
        if action == SHIFT:
            total += float(grammar.words(state, np.array([word]))[0])
        item = plain.after(item, action, word, plain.scores(item, word)[action])
        state = grammar.advance(state, np.array([action]), np.array([word]))
    assert abs(item.score - total) < 1e-5


@pytest.mark.slow
def test_no_other_text_changes_a_single_bit_of_a_number() -> None:
    torch.manual_seed(1)
    network = RnngNetwork(300, 9, 64, 96, 2).eval()
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(3.0)
    drawn = np.random.default_rng(1).integers(0, 300, (5, 4)).tolist()
    grammar = NetworkGrammar(network)
    for sentence, reading in zip(drawn, search(grammar, drawn, Sizes(30, 6, 3)), strict=True):
        [alone] = search(grammar, [sentence], Sizes(30, 6, 3))
        np.testing.assert_array_equal(reading.masses, alone.masses)


def test_the_probabilities_of_all_words_sum_to_one() -> None:
    network = rnng().network
    grammar = NetworkGrammar(network)
    states = grammar.advance(np.array([grammar.start()]), np.array([OPEN]), np.zeros(1, np.int64))
    words = np.arange(network.word.out_features)
    logs = grammar.words(states.repeat(len(words)), words)
    assert abs(np.exp(logs).sum() - 1) < 1e-5


def test_no_word_is_more_probable_than_its_upper_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syntagm.models.rnng.grammar.FREQUENT", 3)
    network = rnng().network
    grammar = NetworkGrammar(network)
    states = grammar.advance(np.repeat(grammar.start(), 2), np.array([OPEN, OPEN + 1]), np.zeros(2, np.int64))
    words = np.arange(network.word.out_features)
    for state in states:
        logs, bounds = grammar.words(state.repeat(len(words)), words), grammar.at_most(state.repeat(len(words)), words)
        assert (logs < bounds).all()
        # The difference is the probability of all words but the first three.
        np.testing.assert_allclose(logs - bounds + 1e-3, np.log(np.exp(logs[:3]).sum()), atol=1e-5)


def test_sizes_stand_in_the_signature_and_the_search_is_not_exact() -> None:
    model = rnng(beam="50", root="mask")
    assert not model.exact
    sizes = {name: model.settings[name] for name in ("beam", "word_beam", "fast_track", "root")}
    assert sizes == {"beam": "50", "word_beam": "10", "fast_track": "5", "root": "mask"}
    assert model.name == "rnng:tiny?beam=50&root=mask"
    assert model.fingerprint != rnng(root="mask").fingerprint
    assert rnng(batch="1").fingerprint == rnng().fingerprint


@pytest.mark.slow
def test_a_shared_prefix_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    added: list[int] = []
    add = NetworkGrammar._add
    monkeypatch.setattr(NetworkGrammar, "_add", lambda self, *parts: added.append(len(parts[0])) or add(self, *parts))
    [*_] = rnng().score(["The boat was"])
    alone = sum(added)
    added.clear()
    [*_] = rnng().score(["The boat", "The", "The boat was", "The boat was"])
    assert sum(added) == alone


def test_parses_have_the_words_and_the_labels() -> None:
    model = rnng()
    text = "The (old) boat"
    for tree in next(iter(model.parse([text, ""]))):
        assert tree.count("(") == tree.count(")")
        assert tree.startswith(("(S ", "(NP "))
    assert tree.replace("(S", "").replace("(NP", "").replace(")", "").split() == ["The", "-LRB-old-RRB-", "boat"]
    assert [*model.parse([""])] == [()]


@pytest.mark.slow
def test_a_word_that_the_beam_does_not_reach_has_no_surprisal() -> None:
    sizes = {"beam": "1", "word_beam": "1", "fast_track": "0"}
    model = rnng(**sizes)
    with torch.no_grad():
        # After a word, the next action is REDUCE, which closes the root.
        model.network.action.bias[REDUCE] = 50.0
        model.network.action.weight[REDUCE] = 0.0
    [answer] = Rnng(model.network, model.vocabulary, model.labels, "blanks", "greedy", sizes).score(["The boat was"])
    assert np.isnan(answer.bits).tolist() == [False, True, True]


@pytest.mark.slow
def test_the_end_symbol_closes_the_tree() -> None:
    sizes = {"beam": "20", "word_beam": "8", "fast_track": "2"}
    [words, nothing], [whole, empty] = (
        [*rnng("stack", **sizes, **end).score(["The boat was new .", ""])] for end in ({}, {"eos": "yes"})
    )
    np.testing.assert_array_equal(whole.bits[:-1], words.bits)
    assert (whole.starts[-1], whole.in_vocabulary[-1]) == (len(whole.text), True)
    [reading] = search(
        NetworkGrammar((model := rnng("stack", **sizes)).network),
        [model.vocabulary.ids(whole.text.split())],
        model.sizes,
        ends=True,
    )
    assert whole.bits.sum() == pytest.approx(-reading.closed / np.log(2))
    # The probability of no words at all is 0: a tree has a word.
    assert len(nothing.bits) == 0
    assert np.isnan(empty.bits).tolist() == [True]
    with pytest.raises(UsageError, match="eos=yes with root=mask"):
        rnng(eos="yes", root="mask")


def dynet(inputs: int, hidden: int) -> int:
    """Return by how many parameters a layer of DyNet's LSTM, with peepholes and coupled gates, differs from PyTorch's."""
    return (3 * inputs + 5 * hidden + 3) * hidden - 4 * hidden * (inputs + hidden + 2)


@pytest.mark.parametrize(("words", "millions"), [(24_000 + 68, 22.9), (170_000 + 74, 135.2)])
def test_parameter_counts_are_those_of_hu_et_al(words: int, millions: float) -> None:
    with torch.device("meta"):
        network = RnngNetwork(words, 27, 256, 256, 2)
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count == 2 * words * 256 + words + 4_315_133
    # The published counts include a table of pretrained embeddings, as large as that of the words, which has no use in the
    # generative model. They are those of DyNet's cells: the first layer over the actions has inputs of width 16, and the
    # other layers of stack, actions, words and both directions of the composition have inputs of width 256.
    unused, cells = words * 256, dynet(16, 256) + 7 * dynet(256, 256)
    assert round((count + unused + cells) / 1e6, 1) == millions
