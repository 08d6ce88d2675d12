"""Faster layers on a CPU: the numbers of the original layers, and the same weights."""

from pathlib import Path

import masked_for_tests
import numpy as np
import pytest
import torch
import transformers
from models_for_tests import byte_level, transformer

from syntagm.models import names
from syntagm.models.causal import model as causal
from syntagm.models.hugging_face import loading
from syntagm.models.hugging_face.weights import hash_of_weights

TEXTS = ["The old gardener watered the roses.", "The old gardeners near the gate were waiting.", "Ten"]
needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch has no oneDNN")


@needs_onednn
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("shape", [(6, 12), (2, 3, 12), (0, 12)], ids=str)
def test_products_are_those_of_a_linear_layer(
    shape: tuple[int, ...], biased: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, inputs = torch.nn.Linear(12, 20, bias=biased), torch.randn(shape)
    with_gradients = loading.product(inputs, layer.weight, layer.bias)
    assert with_gradients.requires_grad
    # Without gradients, nothing is converted, and the numbers are the same to the last bit.
    monkeypatch.setattr(torch.Tensor, "to_mkldnn", None, raising=False)
    with torch.inference_mode():
        result = loading.product(inputs, layer.weight, layer.bias)
        np.testing.assert_allclose(result, layer(inputs), rtol=0, atol=1e-5)
    assert torch.equal(result, with_gradients)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_gelu_is_that_of_gpt2(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_BLOCK", 100)
    inputs = (torch.randn(7, 3, 40) * 4).to(dtype)
    with torch.inference_mode():
        result = loading.Gelu()(inputs.transpose(0, 1))
        expected = transformers.activations.NewGELUActivation()(inputs.double()).transpose(0, 1)
    assert result.dtype == dtype
    rounding = {torch.float32: 1e-6, torch.float64: 1e-14, torch.bfloat16: 0.04}
    np.testing.assert_allclose(result.double(), expected, rtol=0, atol=rounding[dtype])


@needs_onednn
def test_gradients_can_still_be_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "has_faster_products", lambda: True)
    plain, quick = (transformer("gpt2", byte_level()) for _ in range(2))
    loading.quicken(quick)
    for model in (plain, quick):
        model(input_ids=torch.tensor([[1, 2, 3]])).logits.logsumexp(-1).sum().backward()
    expected, found = (model.transformer.h[0].mlp.c_fc.weight.grad for model in (plain, quick))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@needs_onednn
@pytest.mark.parametrize(("kind", "layer"), [("gpt2", "Conv1D"), ("llama", "Linear"), ("gemma2", "Linear")])
def test_a_quickened_model_keeps_its_numbers_and_its_weights(
    kind: str, layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "has_faster_products", lambda: True)
    plain, quick = (transformer(kind, byte_level()) for _ in range(2))
    before = hash_of_weights(quick, byte_level())()
    assert loading.quicken(quick)
    assert layer in {
        type(module).__name__ for module in quick.modules() if type(module) in (loading.Linear, loading.Conv1D)
    }
    assert hash_of_weights(quick, byte_level())() == before
    one, other = (causal.from_transformers(model, byte_level(), kind) for model in (plain, quick))
    assert (one.forward.ways.tree, one.forward.ways.direct_head) == (
        other.forward.ways.tree,
        other.forward.ways.direct_head,
    )
    for expected, answer in zip(one.score(TEXTS), other.score(TEXTS), strict=True):
        np.testing.assert_allclose(answer.bits, expected.bits, rtol=0, atol=1e-4)


@needs_onednn
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_only_float32_layers_are_replaced(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "has_faster_products", lambda: True)
    assert not loading.quicken(transformer("gpt2", byte_level()).to(dtype))


@pytest.mark.slow
@needs_onednn
@pytest.mark.parametrize("family", ["causal", "masked"])
def test_the_record_says_so(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = byte_level() if family == "causal" else masked_for_tests.word_pieces()
    model = transformer("gpt2", tokenizer) if family == "causal" else masked_for_tests.transformer("bert", tokenizer)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    answers = []
    for faster in (True, False):
        monkeypatch.setattr(loading, "has_faster_products", lambda faster=faster: faster)
        loaded = names.load(f"{family}:{tmp_path}?device=cpu")
        assert ("linear layers" in loaded.record) == faster
        answers.append(np.concatenate([answer.bits for answer in loaded.score(TEXTS)]))
    np.testing.assert_allclose(*answers, rtol=0, atol=1e-4)
