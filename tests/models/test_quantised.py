"""Quantised checkpoints and models spread over devices: loaded as stored, recorded, and refused with a reason."""

import json
import math
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
import transformers
from models_for_tests import BEFORE_5, sentencepiece_like, transformer
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError
from syntagm.models import names
from syntagm.models.causal.model import from_transformers
from syntagm.models.hugging_face.loading import quicken
from syntagm.models.hugging_face.weights import refuse_nan

pytestmark = pytest.mark.filterwarnings("ignore")
TEXTS = ["The old gardener watered the roses.", "Ten boats"]


def tiny() -> Any:
    # bitsandbytes quantises blocks of 64 numbers of a row.
    return transformer("llama", sentencepiece_like(), hidden_size=64)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quantised") / "plain"
    tiny().save_pretrained(folder)
    sentencepiece_like().save_pretrained(folder)
    return folder


def quantised(plain: Path, kind: str) -> Path:
    """Quantise the tiny model as its users do, and save it."""
    if find_spec(kind.partition("-")[0]) is None:
        pytest.skip(f"no package {kind.partition('-')[0]} here")
    config: Any
    if kind.startswith("torchao"):
        from torchao.quantization import Int8WeightOnlyConfig

        config = transformers.TorchAoConfig(Int8WeightOnlyConfig())
    elif kind.endswith("nf4"):
        config = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float32
        )
    else:
        config = transformers.BitsAndBytesConfig(load_in_8bit=True)
    folder = plain.with_name(kind)
    if not folder.exists():
        model = transformers.AutoModelForCausalLM.from_pretrained(
            plain, quantization_config=config, dtype=torch.float32
        )
        model.save_pretrained(folder)
        sentencepiece_like().save_pretrained(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("bitsandbytes-nf4", "bitsandbytes-nf4-float32"),
        ("bitsandbytes-int8", "bitsandbytes-int8"),
        ("torchao-int8", "torchao-Int8WeightOnlyConfig"),
    ],
)
def test_the_numbers_are_those_of_the_quantised_weights(plain: Path, kind: str, shown: str) -> None:
    folder = quantised(plain, kind)
    model = names.load(f"causal:{folder}", device="cpu")
    floats = from_transformers(tiny(), sentencepiece_like(), "floats")
    for answer, exact, bits in zip(model.score(TEXTS), floats.score(TEXTS), bits_of(folder, TEXTS), strict=True):
        np.testing.assert_allclose(answer.bits, bits, rtol=0, atol=max(1e-4, model.numerical_error))
        assert np.abs(answer.bits - exact.bits).max() > 1e-3
    assert model.settings["quantised"] == shown
    own = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, device_map="cpu").eval()
    assert from_transformers(own, sentencepiece_like(), "own").settings["quantised"] == shown
    assert isinstance(model.record["quantisation"], dict)
    assert model.fingerprint == names.load(f"causal:{folder}", device="cpu").fingerprint
    if kind.startswith("torchao"):
        # Here the dtype of the other weights can be chosen.
        assert model.fingerprint != names.load(f"causal:{folder}", device="cpu", dtype="bf16").fingerprint
    else:
        with pytest.raises(ModelError, match=r"a computation in torch.float32; expected torch.bfloat16"):
            names.load(f"causal:{folder}", device="cpu", dtype="bf16")
    assert len(list(model.fill([]))) == 0


def bits_of(folder: Path, texts: Sequence[str]) -> list[NDArray[np.float64]]:
    """The bits of tokens by transformers alone."""
    own = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, device_map="cpu").eval()
    answers = []
    for text in texts:
        ids = sentencepiece_like()(text, return_tensors="pt").input_ids
        with torch.inference_mode():
            rows = torch.log_softmax(own(input_ids=ids[:, :-1]).logits[0].double(), -1)
        answers.append(-rows[torch.arange(ids.shape[1] - 1), ids[0, 1:]].numpy() / np.log(2))
    return answers


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("compressed_tensors"), reason="no package compressed-tensors here")
@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ("int-quantized", {"num_bits": 8, "type": "int", "strategy": "channel"}),
        ("pack-quantized", {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}),
        ("float-quantized", {"num_bits": 8, "type": "float", "strategy": "channel"}),
    ],
)
def test_compressed_tensors(plain: Path, kind: str, weights: dict[str, Any]) -> None:
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import QuantizationConfig, apply_quantization_config

    group = {"targets": ["Linear"], "weights": weights | {"symmetric": True}}
    config = {"config_groups": {"group_0": group}, "quant_method": "compressed-tensors", "format": kind}
    network = tiny()
    apply_quantization_config(network, QuantizationConfig(**config, ignore=["lm_head"], quantization_status="frozen"))
    largest = 448.0 if weights["type"] == "float" else 2.0 ** (weights["num_bits"] - 1) - 1
    for layer in network.modules():
        if hasattr(layer, "weight_scale"):
            sections = layer.weight.detach().reshape(*layer.weight_scale.shape, -1)
            layer.weight_scale.data = sections.abs().amax(-1) / largest
            if hasattr(layer, "weight_zero_point"):
                layer.weight_zero_point.data.zero_()
    compressor = ModelCompressor.from_pretrained_model(network, quantization_format=kind)
    compressor.compress_model(network)
    folder = Path(shutil.copytree(plain, plain.with_name(kind)))
    compressor.update_config(folder)
    safetensors.torch.save_file(network.state_dict(), folder / "model.safetensors", {"format": "pt"})
    model, reference = names.load(f"causal:{folder}", device="cpu"), names.load(f"causal:{plain}", device="cpu")
    assert model.settings["quantised"] == f"compressed-tensors-{kind}"
    assert names.load(f"causal:{folder}", device="cpu").fingerprint == model.fingerprint
    for answer, exact, bits in zip(model.score(TEXTS), reference.score(TEXTS), bits_of(folder, TEXTS), strict=True):
        np.testing.assert_allclose(answer.bits, bits, rtol=0, atol=1e-4)
        assert np.abs(answer.bits - exact.bits).max() > 1e-3


def packed(codes: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """Codes of 4 bits, eight in a number, along the last dimension."""
    codes = codes.reshape(*codes.shape[:-1], -1, 8)[..., list(order)]
    numbers = (codes << (4 * torch.arange(8))).sum(-1)
    return torch.where(numbers >= 2**31, numbers - 2**32, numbers).to(torch.int32).contiguous()


@pytest.mark.slow
@pytest.mark.skipif(
    not (find_spec("gptqmodel") and find_spec("optimum")), reason="no package gptqmodel or optimum here"
)
@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_weights_of_4_bits(plain: Path, method: str) -> None:
    """As the packages write them: GPTQ packs inputs of a product, AWQ outputs in another order. Products are in bfloat16."""
    size, stored = 32, dict[str, torch.Tensor]()
    for name, weights in safetensors.torch.load_file(plain / "model.safetensors").items():
        if "_proj" not in name:
            stored[name] = weights
            continue
        sections = weights.reshape(len(weights), -1, size)
        scales = (sections.abs().amax(-1) / 7).half()
        codes = (torch.round(sections / scales[..., None]) + 8).clamp(0, 15).long().reshape(weights.shape)
        layer, zeros = name.removesuffix("weight"), torch.full(scales.T.shape, 8)
        if method == "gptq":
            stored[f"{layer}qweight"] = packed(codes, range(8)).T
            stored[f"{layer}qzeros"] = packed(zeros - 1, range(8))
            stored[f"{layer}g_idx"] = torch.arange(weights.shape[1], dtype=torch.int32) // size
        else:
            stored[f"{layer}qweight"], stored[f"{layer}qzeros"] = (
                packed(table, [0, 2, 4, 6, 1, 3, 5, 7]) for table in (codes.T, zeros)
            )
        stored[f"{layer}scales"] = scales.T
    folder = Path(shutil.copytree(plain, plain.with_name(method)))
    more = {"gptq": {"sym": True, "desc_act": False}, "awq": {"zero_point": True, "version": "gemm"}}
    claim(folder, quant_method=method, bits=4, group_size=size, **more[method])
    contiguous = {name: table.contiguous() for name, table in stored.items()}
    safetensors.torch.save_file(contiguous, folder / "model.safetensors", {"format": "pt"})
    model, reference = names.load(f"causal:{folder}", device="cpu"), names.load(f"causal:{plain}", device="cpu")
    assert model.settings["quantised"] == f"{method}-4bit"
    for answer, exact, bits in zip(model.score(TEXTS), reference.score(TEXTS), bits_of(folder, TEXTS), strict=True):
        np.testing.assert_allclose(answer.bits, bits, rtol=0, atol=0.05)
        assert 0.05 < np.abs(answer.bits - exact.bits).max() < 5


def test_layers_without_weights_and_8_bit_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """As compressed-tensors keeps packed weights, and FP8."""
    monkeypatch.setattr("syntagm.models.hugging_face.loading.has_faster_products", lambda: True)
    packed_layer = torch.nn.Linear(4, 4)
    del packed_layer.weight
    assert not quicken(torch.nn.Sequential(packed_layer))
    layer = torch.nn.Linear(4, 4).requires_grad_(False)
    layer.weight.data = layer.weight.data.to(torch.float8_e4m3fn)
    refuse_nan(layer, "tiny")
    layer.weight.data = torch.full((4, 4), math.nan).to(torch.float8_e4m3fn)
    with pytest.raises(ModelError, match="16 of 16 weights"):
        refuse_nan(layer, "tiny")


@pytest.mark.skipif(BEFORE_5, reason="series 4 loads HQQ")
def test_hqq_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syntagm.core.extras.installed", lambda module: True)
    claim(folder, quant_method="hqq", quant_config={"weight_quant_params": {"nbits": 4, "group_size": 64}})
    with pytest.raises(ModelError, match=r"quantised as hqq, which transformers 5.* can't load; .*dequantised copy"):
        names.load(f"causal:{folder}")


@pytest.mark.slow
def test_an_adapter_of_a_quantised_model(plain: Path, tmp_path: Path) -> None:
    import peft

    folder = quantised(plain, "bitsandbytes-nf4")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    config = peft.LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM", init_lora_weights=False)
    tuned = peft.get_peft_model(model, config).eval()
    tuned.save_pretrained(tmp_path / "adapter")
    loaded = names.load(f"{folder}+{tmp_path}/adapter", device="cpu")
    ids = torch.tensor([[1, 5, 9, 20]])
    with torch.inference_mode():
        torch.testing.assert_close(loaded.module(ids).logits, tuned(input_ids=ids).logits)  # type: ignore[attr-defined]
    assert (loaded.settings["adapter"], loaded.settings["quantised"]) == ("separate", "bitsandbytes-nf4-float32")
    with pytest.raises(UsageError, match="merged, but the weights of the base model are quantised"):
        names.load(f"{folder}+{tmp_path}/adapter?adapter=merged", device="cpu")


@pytest.fixture
def folder(plain: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(plain, tmp_path / "plain"))


def claim(folder: Path, **settings: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"quantization_config": settings}))


@pytest.mark.parametrize(
    ("method", "package"),
    [("gptq", "gptqmodel"), ("awq", "gptqmodel"), ("compressed-tensors", "compressed-tensors"), ("hqq", "hqq")],
)
def test_a_missing_package(folder: Path, monkeypatch: pytest.MonkeyPatch, method: str, package: str) -> None:
    monkeypatch.setattr("syntagm.core.extras.installed", lambda module: module == "accelerate")
    claim(folder, quant_method=method, bits=4)
    with pytest.raises(ModelError, match=f"quantised as {method}, but no package {package}; .*pip install .*{package}"):
        names.load(f"causal:{folder}")


@pytest.mark.parametrize(
    "settings", [{"quant_method": "fp8", "weight_block_size": [16, 16]}, {"quant_method": "telepathy"}]
)
def test_what_transformers_would_dequantise_is_refused(folder: Path, settings: dict[str, Any]) -> None:
    claim(folder, **settings)
    with pytest.raises(ModelError, match=f"(?i)causal:.*({settings['quant_method']}|weights)"):
        names.load(f"causal:{folder}", device="cpu")


def test_a_loaded_model_whose_weights_are_not_quantised_is_refused(folder: Path) -> None:
    """Transformers ignores methods that it doesn't know, with a warning; weights quantised on loading are stored as floats."""
    claim(folder, quant_method="telepathy", quantization_mode="online")
    with pytest.raises(ModelError, match="quantised as telepathy, which transformers dequantises on this machine"):
        names.load(f"causal:{folder}", device="cpu")


@pytest.mark.slow
def test_a_model_spread_over_devices(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not torch.accelerator.is_available():
        with pytest.raises(UsageError, match=r"model option device: 'spread'; expected a machine with GPUs"):
            names.load(f"causal:{plain}", device="spread")
        # The layers are placed by the same code on the CPU alone.
        monkeypatch.setattr("torch.accelerator.is_available", lambda: True)
    one, other = names.load(f"causal:{plain}", device="cpu"), names.load(f"causal:{plain}", device="spread")
    assert one.fingerprint == other.fingerprint
    assert one.name == other.name
    for first, second in zip(one.score(TEXTS), other.score(TEXTS), strict=True):
        np.testing.assert_allclose(first.bits, second.bits, rtol=0, atol=1e-5)
    assert "cpu" in str(other.record["devices"]) or "cuda" in str(other.record["devices"])
    # Where memory is short, accelerate puts layers on the disk.
    monkeypatch.setattr("accelerate.utils.modeling.get_max_memory", lambda *_: {"cpu": 60_000})
    loading = "transformers.modeling_utils" if BEFORE_5 else "transformers.integrations.accelerate"
    monkeypatch.setattr(f"{loading}.get_max_memory", lambda *_: {"cpu": 60_000})
    with pytest.raises(ModelError, match=r"parts of the model, which don.t fit into the memory|device disk is invalid"):
        names.load(f"causal:{plain}", device="spread")
    monkeypatch.setattr("syntagm.core.extras.installed", lambda module: False)
    with pytest.raises(ModelError, match=r"device=spread, but no package accelerate; .*pip install accelerate"):
        names.load(f"causal:{plain}", device="spread")
