"""Transformer-XL: its numbers against transformers and against NumPy, its options, and its import."""

import json
import math
import re
from collections import Counter, OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from models_for_tests import transformer_xl

from syntagm import checkpoints
from syntagm.errors import InputError, ModelError, UsageError
from syntagm.models import names
from syntagm.models.transformer_xl.network import Network, Size

CONFIG = {
    "model_type": "transfo-xl", "cutoffs": [6, 9], "d_model": 4, "d_embed": 4, "n_head": 2, "d_head": 2, "d_inner": 5,
    "div_val": 2, "n_layer": 2, "mem_len": 5, "clamp_len": 3, "same_length": True, "untie_r": True, "attn_type": 0,
    "pre_lnorm": False, "adaptive": True, "layer_norm_epsilon": 1e-5, "vocab_size": 12,
}  # fmt: skip
WORDS = ["<eos>", "w1", "w2", "w3", "<unk>", *(f"w{number}" for number in range(5, 12))]
TEXT = "w3 w7 w1 w11 w2 w9 w5 w8"
# By transformers 4.35.2, TransfoXLLMHeadModel: without `mems`, and with empty ones.
ZEROS = [2.180269, 7.960271, 3.196657, 3.053629, 2.309789, 6.420063, 4.893347, 9.913470]
EMPTY = [2.182864, 7.915045, 3.188002, 3.063386, 2.396119, 6.420334, 4.891123, 9.913563]

Arrays = dict[str, np.ndarray[Any, Any]]


def published() -> Arrays:
    """The weights of the check values: the i-th number of the k-th weight is ((7i + 3k) mod 11 - 5) / 5."""
    shapes: dict[str, tuple[int, ...]] = {"crit.cluster_weight": (2, 4), "crit.cluster_bias": (2,)}
    for at, (words, width) in enumerate([(6, 4), (3, 2), (3, 1)]):
        shapes[f"transformer.word_emb.emb_layers.{at}.weight"] = (words, width)
        shapes[f"transformer.word_emb.emb_projs.{at}"] = shapes[f"crit.out_projs.{at}"] = (4, width)
        shapes[f"crit.out_layers.{at}.bias"] = (words,)
    for layer in range(2):
        shapes |= {
            f"transformer.layers.{layer}.{name}": shape
            for name, shape in {
                "dec_attn.qkv_net.weight": (12, 4), "dec_attn.o_net.weight": (4, 4), "dec_attn.r_net.weight": (4, 4),
                "dec_attn.r_w_bias": (2, 2), "dec_attn.r_r_bias": (2, 2), "pos_ff.CoreNet.0.weight": (5, 4),
                "pos_ff.CoreNet.0.bias": (5,), "pos_ff.CoreNet.3.weight": (4, 5), "pos_ff.CoreNet.3.bias": (4,),
                **{f"{part}.layer_norm.{name}": (4,) for part in ("dec_attn", "pos_ff") for name in ("weight", "bias")},
            }.items()
        }  # fmt: skip
    weights = {
        name: (((7 * np.arange(math.prod(shapes[name])) + 3 * at) % 11 - 5) / 5)
        .reshape(shapes[name])
        .astype(np.float32)
        for at, name in enumerate(sorted(shapes))
    }
    for at in range(3):
        weights[f"crit.out_layers.{at}.weight"] = weights[f"transformer.word_emb.emb_layers.{at}.weight"]
        if at:
            weights[f"crit.out_projs.{at}"] = weights[f"transformer.word_emb.emb_projs.{at}"]
    return weights | {"transformer.pos_emb.inv_freq": np.ones(2, np.float32)}


def vocabulary(words: list[str]) -> dict[str, object]:
    return {
        "counter": Counter(words), "special": ["<eos>"], "min_freq": 0, "max_size": None, "lower_case": False,
        "idx2sym": words, "sym2idx": OrderedDict((word, at) for at, word in enumerate(words)), "unk_idx": 4,
    }  # fmt: skip


def imported(
    folder: Path,
    weights: Mapping[str, np.ndarray[Any, Any]],
    config: Mapping[str, object],
    words: object,
    tokens: str = "",
) -> str:
    """Write a checkpoint, import it, and return the name of the model's folder."""
    torch.save({name: torch.from_numpy(value) for name, value in weights.items()}, folder / "pytorch_model.bin")
    (folder / "config.json").write_text(json.dumps(config))
    torch.save(words, folder / "vocab.bin")
    checkpoints.convert(
        "transformer_xl", folder / "pytorch_model.bin", folder / "vocab.bin", folder / "model", tokens, True
    )
    return str(folder / "model")


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
        network = Network(267_735, size)
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
    with pytest.raises(UsageError, match="model option memory: 'full'; expected one of zeros, empty"):
        names.load(f"{folder}?memory=full")
    description = Path(folder, "model.json")
    description.write_text(re.sub(r'"heads": 2', '"heads": 3', description.read_text()))
    with pytest.raises(ModelError, match="damaged or edited"):
        names.load(folder)
