"""Adapters of PEFT: the numbers of peft itself, fingerprints of base and adapter, and what is refused."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from models_for_tests import byte_level, transformer, words
from safetensors.torch import load_file, save_file

from syntagm.core import ModelError, UsageError
from syntagm.models import LanguageModel, names

# peft asks a model of transformers for an attribute that is deprecated there.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning"),
    pytest.mark.slow,  # to import peft takes as long as all else that is imported
]
TEXTS = ["The old gardener watered the roses.", "Ten boats"]


def lora() -> Any:
    import peft

    return peft.LoraConfig(
        r=4, lora_alpha=8, target_modules=["c_attn", "c_fc"], task_type="CAUSAL_LM", init_lora_weights=False,
        fan_in_fan_out=True,
    )  # fmt: skip


def save(folder: Path, kind: str, tokenizer: Any, config: Any) -> Path:
    """Save a base model and an adapter for it in `folder/base` and `folder/adapter`."""
    import peft

    model = transformer(kind, tokenizer) if kind == "gpt2" else masked_bert(tokenizer)
    model.save_pretrained(folder / "base")
    tokenizer.save_pretrained(folder / "base")
    torch.manual_seed(3)
    tuned = peft.get_peft_model(model, config)
    with torch.no_grad():
        for name, weights in tuned.named_parameters():
            if weights.requires_grad and "lora" not in name:
                weights.add_(torch.randn_like(weights) * 0.3)
    tuned.peft_config["default"].base_model_name_or_path = str(folder / "base")
    tuned.save_pretrained(folder / "adapter")
    return folder


def masked_bert(tokenizer: Any) -> Any:
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2
    )
    return BertForMaskedLM(config).eval()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("lora"), "gpt2", byte_level(), lora())


@pytest.fixture
def pair(saved: Path, tmp_path: Path) -> Path:
    """A copy of base and adapter, to spoil."""
    folder = Path(shutil.copytree(saved, tmp_path / "pair"))
    settings(folder, base_model_name_or_path=str(folder / "base"))
    return folder


def settings(folder: Path, **changes: Any) -> None:
    path = folder / "adapter" / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def expected(folder: Path, text: str) -> np.ndarray[Any, Any]:
    """The bits that transformers and peft give without Syntagm."""
    import peft
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(folder / "base", dtype=torch.float32)
    model = peft.PeftModel.from_pretrained(base, str(folder / "adapter")).eval()
    tokenizer = byte_level()
    ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(text).input_ids]])
    with torch.inference_mode():
        rows = torch.log_softmax(model(input_ids=ids[:, :-1]).logits[0].double(), -1)
    return -rows[torch.arange(ids.shape[1] - 1), ids[0, 1:]].numpy() / np.log(2)


def bits(model: LanguageModel) -> list[np.ndarray[Any, Any]]:
    return [answer.bits for answer in model.score(TEXTS)]


@pytest.mark.parametrize("name", ["causal:{}/adapter", "{}/adapter", "{}/base+{}/adapter", "{}/adapter?adapter=merged"])
def test_the_numbers_are_those_of_peft(saved: Path, name: str) -> None:
    model = names.load(name.replace("{}", str(saved)), device="cpu")
    for text, answer in zip(TEXTS, bits(model), strict=True):
        np.testing.assert_allclose(answer, expected(saved, text), rtol=0, atol=1e-4)
    alone = names.load(f"{saved}/base", device="cpu")
    assert abs(bits(alone)[0] - bits(model)[0]).max() > 0.1
    assert "+adapter@" in model.name
    assert "base@" in model.name
    assert model.settings["adapter"] == ("merged" if "merged" in name else "separate")
    assert "adapter" not in alone.settings
    record = model.record["adapter"]
    assert isinstance(record, dict)
    assert record["base weights"] == alone.record["weights"]


def test_base_and_adapter_are_in_the_fingerprint(pair: Path) -> None:
    def fingerprints() -> list[str]:
        return [names.load(f"{pair}/adapter", adapter=value).fingerprint for value in ("separate", "merged")]

    every = fingerprints()
    for path in (pair / "base" / "model.safetensors", pair / "adapter" / "adapter_model.safetensors"):
        content = bytearray(path.read_bytes())
        content[-4] ^= 1  # the lowest bit of a number
        path.write_bytes(content)
        every += fingerprints()
    settings(pair, lora_alpha=16)
    every += fingerprints()
    assert len(set(every)) == len(every) == 8


def test_a_token_of_the_adapters_tokenizer_with_a_number_beyond_any_vocabulary(pair: Path) -> None:
    path = pair / "adapter" / "tokenizer.json"
    shutil.copy(pair / "base" / "tokenizer.json", path)
    content = json.loads(path.read_text())
    content["model"]["vocab"]["m"] = 2**31
    path.write_text(json.dumps(content))
    with pytest.raises(ModelError, match=r"tokenizer\.json: a token with the number 2147483648"):
        names.load(f"{pair}/adapter")


def test_adapter_and_base_may_move(saved: Path, tmp_path: Path) -> None:
    one = names.load(f"{saved}/adapter")
    shutil.copytree(saved, tmp_path / "elsewhere")
    other = names.load(f"{tmp_path}/elsewhere/base+{tmp_path}/elsewhere/adapter")
    assert (one.name, one.fingerprint) == (other.name, other.fingerprint)


def test_a_masked_model(tmp_path: Path) -> None:
    import peft
    from transformers import AutoModelForMaskedLM

    tokenizer = words(unknown="[UNK]")
    tokenizer.add_special_tokens({"mask_token": "[MASK]", "cls_token": "[CLS]", "sep_token": "[SEP]"})
    config = peft.LoraConfig(r=4, target_modules=["query", "value"], init_lora_weights=False)
    save(tmp_path, "bert", tokenizer, config)
    model = names.load(f"masked:{tmp_path}/adapter", device="cpu")
    [answer] = model.score(["The old gardener"])
    base = AutoModelForMaskedLM.from_pretrained(tmp_path / "base", dtype=torch.float32)
    tuned = peft.PeftModel.from_pretrained(base, str(tmp_path / "adapter")).eval()
    ids = tokenizer("The old gardener").input_ids
    first = ids.index(tokenizer.convert_tokens_to_ids("old"))
    masked = torch.tensor([[*ids[:first], tokenizer.mask_token_id, *ids[first + 1 :]]])
    with torch.inference_mode():
        row = torch.log_softmax(tuned(input_ids=masked).logits[0, first].double(), -1)
    assert answer.bits[1] == pytest.approx(-float(row[ids[first]]) / np.log(2), abs=1e-4)


def test_another_kind_of_adapter(tmp_path: Path) -> None:
    import peft

    config = peft.IA3Config(
        target_modules=["c_attn", "mlp.c_proj"], feedforward_modules=["mlp.c_proj"], task_type="CAUSAL_LM",
        fan_in_fan_out=True, init_ia3_weights=False,
    )  # fmt: skip
    save(tmp_path, "gpt2", byte_level(), config)
    answers = bits(names.load(f"{tmp_path}/adapter", device="cpu"))
    np.testing.assert_allclose(answers[0], expected(tmp_path, TEXTS[0]), rtol=0, atol=1e-4)


def drop(folder: Path) -> None:
    path = folder / "adapter" / "adapter_model.safetensors"
    tensors = load_file(path)
    del tensors[min(tensors)]
    save_file(tensors, path)


def add(folder: Path) -> None:
    path = folder / "adapter" / "adapter_model.safetensors"
    save_file(load_file(path) | {"base_model.model.other.lora_A.weight": torch.ones(2)}, path)


def pickled(folder: Path) -> None:
    path = folder / "adapter" / "adapter_model.safetensors"
    torch.save(load_file(path), path.with_suffix(".bin"))
    path.unlink()


def smaller(folder: Path) -> None:
    shutil.rmtree(folder / "base")
    transformer("gpt2", byte_level(), n_embd=16).save_pretrained(folder / "base")
    byte_level().save_pretrained(folder / "base")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda pair: shutil.rmtree(pair / "base"), r"the base model '.*', which is not here; .*BASE\+ADAPTER"),
        (lambda pair: settings(pair, base_model_name_or_path=None), r"no base model in adapter_config.json"),
        (lambda pair: settings(pair, base_model_name_or_path="nobody/nothing"), "causal:nobody/nothing: no such folder"),
        (smaller, r"does not fit the base model: .*size mismatch.*; expected an adapter of /\S+/base\. Name the base model"),
        (lambda pair: settings(pair, target_modules=["q_proj"]), "does not fit the base model: Target modules"),
        (lambda pair: settings(pair, peft_type="TELEPATHY"), "peft_type 'TELEPATHY'; expected one of .*LORA"),
        (lambda pair: settings(pair, peft_type="PREFIX_TUNING"), "depends on tokens before the text"),
        (lambda pair: settings(pair, task_type="SEQ_CLS"), "an adapter for SEQ_CLS"),
        (drop, "1 weights that .* lacks"),
        (add, "1 weights that .* has no place for"),
        (pickled, r"only pickled weights \(adapter_model.bin\)"),
        (
            lambda pair: (pair / "adapter" / "adapter_model.safetensors").unlink(),
            r"no adapter_model.safetensors; .* Download or copy adapter_model.safetensors again\.$",
        ),
        (
            lambda pair: os.truncate(pair / "adapter" / "adapter_model.safetensors", 100),
            r"/adapter_model.safetensors: truncated: the header alone has .* copy adapter_model.safetensors again\.$",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(pair: Path, spoil: Callable[[Path], object], message: str) -> None:
    spoil(pair)
    with pytest.raises(ModelError, match=message):
        names.load(f"{pair}/adapter", device="cpu")


def test_an_adapter_that_names_no_base_model_and_does_not_fit(pair: Path) -> None:
    smaller(pair)
    settings(pair, base_model_name_or_path=None)
    with pytest.raises(
        ModelError, match=r"size mismatch.*; expected an adapter of this base model\. Name the base model"
    ):
        names.load(f"{pair}/base+{pair}/adapter", device="cpu")


def test_names_that_are_refused(saved: Path) -> None:
    with pytest.raises(ModelError, match=r"no adapter_config.json in '.*base'; expected BASE\+ADAPTER"):
        names.load(f"{saved}/base+{saved}/base")
    with pytest.raises(ModelError, match=r"no adapter 'nobody/it@v1' .* hf download nobody/it --revision v1$"):
        names.load(f"{saved}/base+nobody/it@v1")
    with pytest.raises(ModelError, match="an adapter as the base model"):
        names.load(f"{saved}/adapter+{saved}/adapter")
    with pytest.raises(UsageError, match="no adapter in"):
        names.load(f"{saved}/base?adapter=merged")


def test_without_peft(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(
        ModelError, match=r"an adapter, and the package peft is not installed\. .*pip install 'syntagm\[peft\]'"
    ):
        names.load(f"{saved}/adapter")


def test_a_check_asks_no_hub_for_an_adapter(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its weights would be downloaded."""
    asked: list[str] = []
    monkeypatch.setattr("syntagm.core.io.hub.is_reachable", lambda _: True)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda name, *_, **__: asked.append(name))
    names.check(f"causal:{pair / 'base'}+org/adapter")
    (pair / "base" / "model.safetensors").rename(pair / "base" / "pytorch_model.bin")
    for path in (pair / "adapter", f"{pair / 'base'}+org/adapter", f"{pair / 'base'}+{pair / 'adapter'}"):
        with pytest.raises(ModelError, match="only pickled weights"):
            names.check(f"causal:{path}")
    assert asked == []
