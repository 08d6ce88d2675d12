"""Quantised checkpoints and models spread over devices: loaded as stored, recorded, and refused with a reason."""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from models_for_tests import BEFORE_5, sentencepiece_like, transformer

from syntagm.errors import ModelError, UsageError
from syntagm.models import names
from syntagm.models.causal.model import from_transformers

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
    if importlib.util.find_spec(kind.partition("-")[0]) is None:
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
    own = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = sentencepiece_like()
    floats = from_transformers(tiny(), tokenizer, "floats")
    for answer, exact in zip(model.score(TEXTS), floats.score(TEXTS), strict=True):
        ids = tokenizer(answer.text, return_tensors="pt").input_ids
        with torch.inference_mode():
            rows = torch.log_softmax(own(input_ids=ids[:, :-1]).logits[0].double(), -1)
        bits = -rows[torch.arange(ids.shape[1] - 1), ids[0, 1:]].numpy() / np.log(2)
        np.testing.assert_allclose(answer.bits, bits, rtol=0, atol=max(1e-4, model.numerical_error))
        assert np.abs(answer.bits - exact.bits).max() > 1e-3
    assert model.settings["quantised"] == shown
    assert isinstance(model.record["quantisation"], dict)
    assert model.fingerprint == names.load(f"causal:{folder}", device="cpu").fingerprint
    if kind.startswith("torchao"):
        # Here the dtype of the other weights can be chosen.
        assert model.fingerprint != names.load(f"causal:{folder}", device="cpu", dtype="bf16").fingerprint
    else:
        with pytest.raises(ModelError, match=r"a computation in torch.float32; expected torch.bfloat16"):
            names.load(f"causal:{folder}", device="cpu", dtype="bf16")
    assert len(list(model.fill([]))) == 0


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
    monkeypatch.setattr("syntagm.models.hugging_face.quantised._installed", lambda module: module == "accelerate")
    claim(folder, quant_method=method, bits=4)
    with pytest.raises(ModelError, match=f"quantised as {method}, but no package {package}; .*pip install {package}"):
        names.load(f"causal:{folder}")


@pytest.mark.parametrize(
    "settings", [{"quant_method": "fp8", "weight_block_size": [16, 16]}, {"quant_method": "telepathy"}]
)
def test_what_transformers_would_dequantise_is_refused(folder: Path, settings: dict[str, Any]) -> None:
    claim(folder, **settings)
    with pytest.raises(ModelError, match=f"(?i)causal:.*({settings['quant_method']}|weights)"):
        names.load(f"causal:{folder}", device="cpu")


def test_a_model_spread_over_devices(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr("syntagm.models.hugging_face.quantised._installed", lambda module: False)
    with pytest.raises(ModelError, match=r"device=spread, but no package accelerate; .*pip install accelerate"):
        names.load(f"causal:{plain}", device="spread")
