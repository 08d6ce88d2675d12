"""Models in vLLM, with an object of its interface in its place: `LLM`, `SamplingParams` and what they return."""

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars
import polars.testing
import pytest
import torch
import transformers
from models_for_tests import byte_level, transformer
from served_for_tests import network

from syntagm.core import ModelError, UsageError
from syntagm.models import CHECKS, TEXTS, failures, names
from syntagm.models.causal.model import from_transformers

# What vLLM is told when it loads a model.
LOADED: list[dict[str, Any]] = []


@dataclass
class SamplingParams:
    temperature: float
    max_tokens: int
    prompt_logprobs: int
    detokenize: bool


class Engine:
    """A transformers model behind the interface of `vllm.LLM`."""

    def __init__(self, model: str, max_model_len: int | None, **arguments: Any) -> None:
        LOADED.append(arguments)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
        size = max_model_len or self.model.config.max_position_embeddings
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=size))

    def generate(self, prompts: list[dict[str, list[int]]], sampling: SamplingParams, use_tqdm: bool) -> list[Any]:
        assert (sampling.prompt_logprobs, sampling.max_tokens, use_tqdm) == (0, 1, False)
        return [self.output(prompt["prompt_token_ids"]) for prompt in prompts]

    def output(self, ids: list[int]) -> Any:
        assert len(ids) < self.llm_engine.model_config.max_model_len
        with torch.inference_mode():
            table = torch.log_softmax(self.model(input_ids=torch.tensor([ids])).logits[0].float(), -1)
        entries = [
            {number: SimpleNamespace(logprob=float(row[number]))} for row, number in zip(table, ids[1:], strict=False)
        ]
        return SimpleNamespace(prompt_token_ids=ids, prompt_logprobs=[None, *entries])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vllm") / "tiny"
    for part in network("llama", "bytes"):
        part.save_pretrained(path)
    return path


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    program: Any = ModuleType("vllm")
    program.LLM, program.SamplingParams, program.__version__ = Engine, SamplingParams, "0.0"
    monkeypatch.setitem(sys.modules, "vllm", program)
    return program  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "?bos=no", "?eos=yes"])
def test_numbers_are_those_of_the_same_model(folder: Path, options: str) -> None:
    model = names.load(f"vllm:{folder}{options}")
    pairs = dict(pair.split("=") for pair in options[1:].split("&") if pair)
    reference = from_transformers(*network("llama", "bytes"), "same", **pairs)
    assert model.name.startswith("vllm:tiny@")
    assert (model.bos, model.eos) == (reference.bos, reference.eos)
    for own, other in zip(model.score(TEXTS), reference.score(TEXTS), strict=True):
        assert own.starts.tolist() == other.starts.tolist()
        assert own.bits == pytest.approx(other.bits, abs=1e-5, nan_ok=True)
    assert [f for check in CHECKS if not check.exempt(model) for f in failures(check, model, TEXTS)] == []


def test_vllm_loads_safetensors_without_a_cache_of_prefixes(folder: Path) -> None:
    names.load(f"vllm:{folder}?dtype=bf16&gpus=2")
    expected = {
        "dtype": "bfloat16",
        "tensor_parallel_size": 2,
        "load_format": "safetensors",
        "enable_prefix_caching": False,
    }
    assert {key: LOADED[-1][key] for key in expected} == expected


def test_the_memory_that_vllm_reserves_can_be_chosen(folder: Path) -> None:
    names.load(f"vllm:{folder}?memory=25")
    assert LOADED[-1]["gpu_memory_utilization"] == 0.25
    names.load(f"vllm:{folder}")
    assert "gpu_memory_utilization" not in LOADED[-1]


def test_vllm_prints_to_standard_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    monkeypatch.delenv("VLLM_LOGGING_STREAM", raising=False)
    names.load(f"vllm:{folder}")
    assert (os.environ["VLLM_LOGGING_LEVEL"], os.environ["VLLM_LOGGING_STREAM"]) == ("DEBUG", "ext://sys.stderr")


def test_an_engine_that_dies_is_one_clear_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = names.load(f"vllm:{folder}")

    def dies(*_: object, **__: object) -> None:
        raise RuntimeError("EngineCore encountered an issue.")

    monkeypatch.setattr(Engine, "generate", dies)
    with pytest.raises(ModelError, match=r"an issue\.; expected log-probabilities\. vLLM's own"):
        list(model.score(["No dog barks"]))


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("vllm"), reason="no vLLM here")
def test_numbers_of_vllm(tmp_path: Path) -> None:
    """In a process of its own, which vLLM changes in many ways. On a CPU, heads have 32 dimensions or more."""
    tokenizer = byte_level()
    for part in (transformer("gpt2", tokenizer, n_embd=64), tokenizer):
        part.save_pretrained(tmp_path / "tiny")
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in TEXTS if text.strip() and "\n" not in text))
    tables = []
    for model in (f"causal:{tmp_path}/tiny?device=cpu", f"vllm:{tmp_path}/tiny?memory=20"):
        command = [sys.executable, "-m", "syntagm", "score", model, "--file", tmp_path / "texts.txt", "-o"]
        done = subprocess.run([*command, tmp_path / "table.csv"], capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, done.stderr[-2000:]
        tables.append(polars.read_csv(tmp_path / "table.csv"))
        (tmp_path / "table.csv").unlink()
    polars.testing.assert_frame_equal(*tables, abs_tol=1e-4)


def test_long_texts_are_read_in_windows(folder: Path) -> None:
    model = names.load(f"vllm:{folder}?positions=40")
    text = "The gardeners near the gate were waiting. " * 6
    [short] = model.score([text])
    assert np.isnan(short.bits).sum() == len(short.bits) - 38
    [whole] = model.read([text])
    assert whole.windows > 1
    assert np.isfinite(whole.surprisals.bits).all()
    assert whole.surprisals.bits[:38] == pytest.approx(short.bits[:38])
    assert whole.context[38:].min() >= 20


def test_other_answers_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = names.load(f"vllm:{folder}")
    output = Engine.output
    monkeypatch.setattr(Engine, "output", lambda self, ids: output(self, ids[:-1]))
    with pytest.raises(ModelError, match="other tokens"):
        list(model.score(["No dog barks"]))
    infinite = {number: SimpleNamespace(logprob=-float("inf")) for number in range(400)}
    monkeypatch.setattr(
        Engine, "output", lambda _, ids: SimpleNamespace(prompt_token_ids=ids, prompt_logprobs=[infinite] * len(ids))
    )
    with pytest.raises(ModelError, match="the log-probability -inf of the token"):
        list(model.score(["No dog barks"]))


def test_without_vllm_the_cure_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModelError, match="pip install vllm"):
        names.load(f"vllm:{folder}")
    with pytest.raises(UsageError, match="no path"):
        names.load("vllm:")
