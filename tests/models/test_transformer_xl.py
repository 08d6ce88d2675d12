"""Transformer-XL: its numbers against transformers and against NumPy, its options, and its import."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from laboratory.transformer_xl import CONFIG, WORDS, Arrays, published, vocabulary, written
from models_for_tests import transformer_xl

from syntagm.cli import main
from syntagm.core import InputError, ModelError, UsageError
from syntagm.models import TransformerXlNetwork, checkpoints, names
from syntagm.models.transformer_xl.model import Size

TEXT = "w3 w7 w1 w11 w2 w9 w5 w8"
# By transformers 4.35.2, TransfoXLLMHeadModel: without `mems`, and with empty ones.
ZEROS = [2.180269, 7.960271, 3.196657, 3.053629, 2.309789, 6.420063, 4.893347, 9.913470]
EMPTY = [2.182864, 7.915045, 3.188002, 3.063386, 2.396119, 6.420334, 4.891123, 9.913563]


def imported(
    folder: Path,
    weights: Mapping[str, np.ndarray[Any, Any]],
    config: Mapping[str, object],
    words: object,
    tokens: str = "",
) -> str:
    """Write a checkpoint, import it, and return the name of the model's folder."""
    file, vocabulary = written(folder, weights, config, words)
    checkpoints.convert("transformer_xl", file, vocabulary, folder / "model", tokens, True)
    return str(folder / "model")


@pytest.mark.slow
def test_the_numbers_are_those_of_transformers(tmp_path: Path) -> None:
    folder = imported(tmp_path, published(), CONFIG, vocabulary(WORDS))
    for memory, expected in {"zeros": ZEROS, "empty": EMPTY}.items():
        [answer] = names.load(f"{folder}?memory={memory}").score([TEXT])
        np.testing.assert_allclose(answer.bits, expected, rtol=0, atol=2e-5)
    # A vocabulary as text gives the same model. Archives begin with P, too.
    (tmp_path / "vocab.txt").write_text("\n".join(["PK", "<eos>", *WORDS[2:]]))
    checkpoints.convert(
        "transformer_xl", tmp_path / "pytorch_model.bin", tmp_path / "vocab.txt", tmp_path / "other", "", True
    )
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    (tmp_path / "again").mkdir()
    checkpoints.convert(
        "transformer_xl", tmp_path / "pytorch_model.bin", tmp_path / "vocab.txt", tmp_path / "again" / "model", "", True
    )
    assert names.load(folder).fingerprint == names.load(str(tmp_path / "again" / "model")).fingerprint
    assert names.load(folder).settings == {
        "bos": "yes", "eos": "no", "dtype": "f32", "tokens": "wikitext", "memory": "zeros", "clusters": "in-order",
    }  # fmt: skip


@pytest.mark.slow
def test_the_whole_way_by_command_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, words = written(tmp_path, published(), CONFIG, vocabulary(WORDS))
    line = ["import", "transformer_xl", str(file), "--vocabulary", str(words), "-o", str(tmp_path / "xl")]
    assert main(line) == 2
    assert "a pickled checkpoint; expected the permission" in capsys.readouterr().err
    assert main([*line, "--allow-pickle"]) == 0
    assert "2 layers of 4, 3 clusters, 12 words, " in capsys.readouterr().out
    (tmp_path / "texts.txt").write_text(f"{TEXT}\n")
    assert main(["perplexity", str(tmp_path / "xl"), str(tmp_path / "texts.txt"), "--no-end", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bits"] == pytest.approx(sum(ZEROS), abs=1e-4)
    assert main(["conform", str(tmp_path / "xl")]) == 0
    assert "FAIL" not in capsys.readouterr().out


def oracle(weights: Arrays, ids: list[int], zeros: bool, reverse: bool) -> np.ndarray[Any, Any]:
    """Log-probabilities of all words after each word, from the equations, with the memory of zeros written out."""
    weights = {name.removeprefix("transformer."): value.astype(float) for name, value in weights.items()}
    bounds, memory = [0, 6, 9, 12], 5

    def softmax(values: Any) -> Any:
        powers = np.exp(values - values.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    def norm(values: Any, name: str) -> Any:
        centred = values - values.mean()
        scaled = centred / np.sqrt((centred**2).mean() + 1e-5)
        return scaled * weights[f"{name}.layer_norm.weight"] + weights[f"{name}.layer_norm.bias"]

    hidden = []
    for word in ids:
        [cluster] = [at for at in range(3) if bounds[at] <= word < bounds[at + 1]]
        row = weights[f"word_emb.emb_layers.{cluster}.weight"][word - bounds[cluster]]
        hidden.append(2 * weights[f"word_emb.emb_projs.{cluster}"] @ row)
    for layer in range(2):
        name = f"layers.{layer}.dec_attn"
        # Whatever the layer: the memory is of zeros.
        before = [np.zeros(4)] * (memory if zeros else 0)
        after = []
        for at, own in enumerate(hidden):
            attended = (before + hidden[: at + 1])[-memory:]
            query = (weights[f"{name}.qkv_net.weight"] @ own).reshape(3, 2, 2)[0]
            heads = []
            for head in range(2):
                scores, values = [], []
                for place, other in enumerate(attended):
                    _, key, value = (weights[f"{name}.qkv_net.weight"] @ other).reshape(3, 2, 2)[:, head]
                    distance = min(len(attended) - 1 - place, 3)
                    angles = distance / 10000 ** (np.arange(0, 4, 2) / 4)
                    position = weights[f"{name}.r_net.weight"] @ np.concatenate([np.sin(angles), np.cos(angles)])
                    content = (query[head] + weights[f"{name}.r_w_bias"][head]) @ key
                    relative = (query[head] + weights[f"{name}.r_r_bias"][head]) @ position.reshape(2, 2)[head]
                    scores.append((content + relative) / math.sqrt(2))
                    values.append(value)
                heads.append(softmax(np.array(scores)) @ np.array(values))
            middle = norm(own + weights[f"{name}.o_net.weight"] @ np.concatenate(heads), name)
            forward = f"layers.{layer}.pos_ff"
            inner = np.maximum(
                0, weights[f"{forward}.CoreNet.0.weight"] @ middle + weights[f"{forward}.CoreNet.0.bias"]
            )
            outer = weights[f"{forward}.CoreNet.3.weight"] @ inner + weights[f"{forward}.CoreNet.3.bias"]
            after.append(norm(middle + outer, forward))
        hidden = after
    rows = []
    for row in hidden:
        logits = []
        for at in range(3):
            inputs = weights[f"crit.out_projs.{at}"].T @ row
            logits.append(weights[f"crit.out_layers.{at}.weight"] @ inputs + weights[f"crit.out_layers.{at}.bias"])
        clusters = weights["crit.cluster_weight"] @ (weights["crit.out_projs.0"].T @ row) + weights["crit.cluster_bias"]
        head = softmax(np.concatenate([logits[0], clusters[::-1] if reverse else clusters]))
        rows.append(np.log(np.concatenate([head[:6], head[6] * softmax(logits[1]), head[7] * softmax(logits[2])])))
    return np.array(rows)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("zeros", [True, False])
def test_the_numbers_are_those_of_the_equations(zeros: bool, reverse: bool, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    weights = {name: random.normal(0, 1, value.shape).astype(np.float32) for name, value in published().items()}
    for at in range(3):
        weights[f"crit.out_layers.{at}.weight"] = weights[f"transformer.word_emb.emb_layers.{at}.weight"]
    folder = imported(tmp_path, weights, CONFIG, vocabulary(WORDS))
    options = f"memory={'zeros' if zeros else 'empty'}&clusters={'reversed' if reverse else 'in-order'}"
    for text in (TEXT, "w10", f"{TEXT} w6 w2 w2 unheard"):
        ids = [0, *(WORDS.index(word) if word in WORDS else 4 for word in text.split())]
        expected = oracle(weights, ids, zeros, reverse)
        np.testing.assert_allclose(np.exp(expected).sum(1), 1)
        [answer] = names.load(f"{folder}?{options}").score([text])
        wanted = -expected[np.arange(len(ids) - 1), ids[1:]] / math.log(2)
        np.testing.assert_allclose(answer.bits, wanted, rtol=1e-5, atol=1e-5)


def test_a_long_text_has_the_same_numbers_in_portions() -> None:
    text = " ".join(["The boat was new .", "No one knows who the painter admired ."] * 4)
    [whole] = transformer_xl().read([text])
    [parts] = transformer_xl(batch="7").read([text])
    np.testing.assert_allclose(parts.surprisals.bits, whole.surprisals.bits, rtol=0, atol=1e-5)
    # Two layers look back 7 words each.
    assert parts.context.tolist() == np.minimum(np.arange(len(parts.context)), 14).tolist()


def test_the_published_size() -> None:
    """The configuration of wt103."""
    size = Size((20000, 40000, 200000), 1024, 1024, 4, 16, 64, 4096, 18, 1600, 1000)
    with torch.device("meta"):
        network = TransformerXlNetwork(267_735, size)
    assert [tuple(weight.shape) for weight in network.embeddings] == [
        (20000, 1024), (20000, 256), (160000, 64), (67735, 16)
    ]  # fmt: skip
    # The projections of three clusters are stored twice.
    twice = sum(weight.numel() for weight in network.projections[1:])
    assert sum(weight.numel() for weight in network.parameters()) - twice == 285_205_322


def changed(**settings: object) -> dict[str, object]:
    return {name: value for name, value in (CONFIG | settings).items() if value is not None}


REFUSED = {
    "config.json, same_length: False; expected True": changed(same_length=False),
    "config.json, pre_lnorm: True; expected False": changed(pre_lnorm=True),
    "config.json, n_layer: None; expected a whole number above 0": changed(n_layer=None),
    "config.json, mem_len: 0; expected a whole number above 0": changed(mem_len=0),
    "config.json, div_val: 1; expected a whole number above 1": changed(div_val=1),
    r"config.json, cutoffs: \[\]; expected increasing numbers of words, below the 12 of": changed(cutoffs=[]),
    r"config.json, cutoffs: \[9, 6\]": changed(cutoffs=[9, 6]),
    r"config.json, cutoffs: \[6, 12\]": changed(cutoffs=[6, 12]),
    r"layers.0.dec_attn.r_w_bias of the shape \(2, 2\); expected \(1, 2\), with 12 words and the sizes": changed(
        n_head=1
    ),
    "layers.2.dec_attn.layer_norm.bias is missing; expected 56 weights": changed(n_layer=3),
    "layers.1.dec_attn.layer_norm.bias is unexpected": changed(n_layer=1),
    "pytorch_model.bin: 44 weights; expected those of 1,000,000 layers, as in config.json": changed(n_layer=1_000_000),
    "d_model = 5, d_embed = 4, 2 cutoffs; expected an even width": changed(d_model=5),
    "d_model = 4, d_embed = 4, 4 cutoffs; expected": changed(cutoffs=[6, 7, 8, 9]),
    "is the word 4; expected one of the first 3": changed(cutoffs=[3, 9]),
}


@pytest.mark.parametrize("cutoffs", [(50, 20), (500,)])
def test_clusters_that_no_vocabulary_has_are_refused(cutoffs: tuple[int, ...]) -> None:
    with pytest.raises(
        UsageError, match=r"cutoffs: .*; expected increasing numbers of words, below the 100 of the vocabulary"
    ):
        TransformerXlNetwork(100, Size(cutoffs, 4, 4, 1, 2, 2, 4, 1, 4, 4), False, False)


@pytest.mark.parametrize("found", REFUSED)
def test_other_configurations_are_refused(found: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=found):
        imported(tmp_path, published(), REFUSED[found], vocabulary(WORDS))
    assert not (tmp_path / "model").exists()


def test_untied_weights_and_odd_vocabularies_are_refused(tmp_path: Path) -> None:
    weights = published()
    weights["crit.out_layers.1.weight"] = weights["crit.out_layers.1.weight"] + 1
    with pytest.raises(
        InputError, match=r"crit.out_layers.1.weight differs from the embeddings; expected tied weights"
    ):
        imported(tmp_path, weights, CONFIG, vocabulary(WORDS))
    for words in ([1, 2], {"idx2sym": [1]}, {"sym2idx": {"a": 1}}):
        with pytest.raises(InputError, match="no list of words; expected a dictionary with the list idx2sym"):
            imported(tmp_path, published(), CONFIG, words)
    lower = vocabulary(WORDS) | {"lower_case": True}
    with pytest.raises(
        InputError, match=r"a lower-cased vocabulary; expected text in lower case\. Give --tokens moses-lower"
    ):
        imported(tmp_path, published(), CONFIG, lower)
    imported(tmp_path, published(), CONFIG, lower, "moses-lower")
    (tmp_path / "config.json").unlink()
    with pytest.raises(InputError, match=r"config.json: can't be read \(No such file"):
        checkpoints.convert(
            "transformer_xl", tmp_path / "pytorch_model.bin", tmp_path / "vocab.bin", tmp_path / "other", "", True
        )


def test_damaged_folders_and_wrong_options_are_refused(tmp_path: Path) -> None:
    folder = imported(tmp_path, published(), CONFIG, vocabulary(WORDS))
    with pytest.raises(UsageError, match="model option memory: 'full'; expected zeros or empty"):
        names.load(f"{folder}?memory=full")
    description = Path(folder, "model.json")
    description.write_text(re.sub(r'"heads": 2', '"heads": 3', description.read_text()))
    with pytest.raises(ModelError, match="damaged or edited"):
        names.load(folder)
