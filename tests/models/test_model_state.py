"""A model in memory that is changed after it was given, by other things than its weights."""

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import masked_for_tests
import numpy as np
import pytest
import torch
from models_for_tests import byte_level, transformer

import syntagm as sg

TEXTS = ["The old gardener watered the roses.", "Ten boats."]


def made(network: Any = None, tokenizer: Any = None) -> sg.LanguageModel:
    return sg.from_transformers(network or transformer("gpt2", byte_level()), tokenizer or byte_level(), name="mine")


def sums(model: sg.LanguageModel) -> list[float]:
    return [float(answer.bits.sum()) for answer in model.score(TEXTS)]


def scaled(factor: float, _module: Any, _inputs: Any, output: Any) -> Any:
    return (output[0] * factor, *output[1:]) if isinstance(output, tuple) else output * factor


@pytest.mark.parametrize("part", ["transformer.h.0", "lm_head"])
def test_a_hook_is_part_of_the_model_or_refused(part: str) -> None:
    network = transformer("gpt2", byte_level())
    plain = made(network)
    hook = network.get_submodule(part).register_forward_hook(partial(scaled, 0.5))
    with pytest.raises(sg.ModelError, match="hooks, changed since the model was created"):
        sums(plain)
    halved, again = made(network), made(network)
    hook.remove()
    network.get_submodule(part).register_forward_hook(partial(scaled, 2.0))
    doubled = made(network)
    assert not np.allclose(sums(doubled), sums(made()))
    assert len({plain.fingerprint, doubled.fingerprint, made(network).fingerprint}) == 2
    with pytest.raises(sg.ModelError, match="hooks"):
        _ = halved.fingerprint, again.fingerprint
    assert doubled.record["hooks"] == [f"{part}: partial"]
    assert "hooks" not in plain.record


def test_hooks_are_told_apart_by_what_they_do() -> None:
    prints = []
    for factor in (0.5, 2.0, 0.5):
        network = transformer("gpt2", byte_level())
        network.transformer.h[0].register_forward_hook(partial(scaled, factor))
        prints.append(made(network).fingerprint)
    assert prints[0] == prints[2] != prints[1]


def test_hooks_of_a_model_with_few_positions() -> None:
    found = []
    for factor in (0.5, 0.5, 2.0):
        network = transformer("gpt2", byte_level(), n_positions=8)
        network.transformer.h[0].register_forward_hook(partial(scaled, factor))
        found.append(made(network).fingerprint)
    assert found[0] == found[1] != found[2]


def test_hooks_of_transformers_itself_are_no_change() -> None:
    network = transformer("llama", byte_level())
    model = made(network)
    before = sums(model)
    network(input_ids=torch.tensor([[1, 2]]), output_hidden_states=True)
    assert any(module._forward_hooks for module in network.modules())
    assert sums(model) == before


@pytest.mark.slow  # to import peft takes as long as all else that is imported
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_adapters_that_are_switched_are_other_models() -> None:
    peft = pytest.importorskip("peft")
    settings = {"r": 2, "target_modules": ["c_attn"], "init_lora_weights": False, "fan_in_fan_out": True}
    network = peft.get_peft_model(transformer("gpt2", byte_level()), peft.LoraConfig(**settings))
    network.add_adapter("other", peft.LoraConfig(**settings, lora_alpha=32))
    network.eval()
    first = made(network)
    prints, numbers = [first.fingerprint], [sums(first)]
    network.set_adapter("other")
    with pytest.raises(sg.ModelError, match="adapters that are on, changed"):
        sums(first)
    second = made(network)
    prints.append(second.fingerprint)
    numbers.append(sums(second))
    with network.disable_adapter():
        prints.append(made(network).fingerprint)
        numbers.append(sums(made(network)))
        with pytest.raises(sg.ModelError, match="adapters that are on, changed"):
            sums(second)
    assert sums(second) == numbers[1]
    assert len(set(prints)) == 3
    assert not np.allclose(numbers[0], numbers[1])
    assert numbers[2] == sums(made())
    assert "other" in str(second.record["adapters"])


@pytest.mark.parametrize("masked", [False, True])
def test_a_part_in_training_mode_is_refused(masked: bool) -> None:
    if masked:
        tokenizer = masked_for_tests.word_pieces()
        network = masked_for_tests.transformer("bert", tokenizer)
    else:
        tokenizer, network = byte_level(), transformer("gpt2", byte_level())
    model = sg.from_transformers(network, tokenizer, name="mine", masked=masked)
    part = "bert.encoder" if masked else "transformer.h.0"
    network.get_submodule(part).train()
    with pytest.raises(sg.UsageError, match=f"a model whose part {part} is in training mode"):
        list(model.score(["a"]))
    with pytest.raises(sg.UsageError, match="training mode"):
        sg.from_transformers(network, tokenizer, name="mine", masked=masked)


def add_a_token(_: Any, tokenizer: Any) -> None:
    tokenizer.add_tokens(["gardener"])


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("a tokenizer", add_a_token),
        ("an attention implementation", lambda network, _: network.set_attn_implementation("eager")),
    ],
)
def test_other_changes(part: str, change: Callable[[Any, Any], None]) -> None:
    # There is room for the token among the rows of the embedding.
    network, tokenizer = transformer("gpt2", byte_level(), rows=410), copy.deepcopy(byte_level())
    model = made(network, tokenizer)
    change(network, tokenizer)
    with pytest.raises(sg.ModelError, match=f"{part}, changed since the model was created"):
        sums(model)
    assert sums(made(network, tokenizer))


def test_autocast_around_a_call_changes_nothing() -> None:
    model = made()
    before = sums(model)
    with torch.autocast("cpu", torch.bfloat16):
        assert sums(model) == before
        assert torch.is_autocast_enabled("cpu")
        assert (torch.ones(1, 1) @ torch.ones(1, 1)).dtype == torch.bfloat16
    assert not torch.is_autocast_enabled("cpu")


def test_tensors_of_a_default_device_are_not_mixed_in() -> None:
    model = made()
    with torch.device("meta"):
        inside = sums(model)
    assert inside == sums(model)


def test_truncation_and_padding_have_no_effect_and_are_left() -> None:
    tokenizer = copy.deepcopy(byte_level())
    model, backend = made(tokenizer=tokenizer), tokenizer.backend_tokenizer
    before = sums(model)
    backend.enable_truncation(3, direction="left")
    backend.enable_padding(length=5, direction="left", pad_id=7)
    given = backend.truncation, backend.padding
    assert sums(model) == before
    assert (backend.truncation, backend.padding) == given


@pytest.mark.parametrize("name", ["", " ", "a\nb", "mine?bos=no"])
def test_names_that_would_mislead(name: str, tmp_path: Path) -> None:
    network, tokenizer = transformer("gpt2", byte_level()), byte_level()
    with pytest.raises(sg.UsageError, match="the name of a model"):
        sg.from_transformers(network, tokenizer, name=name)
    with pytest.raises(sg.UsageError, match="the name of a model"):
        sg.Trajectory(tmp_path, sg.make("marvin2018/simple_agrmt", n=2), tokenizer, name=name)


def test_what_a_model_in_memory_is_not() -> None:
    network = transformer("gpt2", byte_level())
    network._original_forward = network.forward  # as accelerate does
    with pytest.raises(sg.UsageError, match=r"mixed precision.*unwrap_model"):
        made(network)
