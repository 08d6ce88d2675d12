"""GGUF files: numbers within dequantisation, fingerprints, and what is refused."""

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from models_for_tests import byte_level, transformer

from syntagm.core import ModelError, UsageError
from syntagm.models import names, read_gguf
from syntagm.models.causal.model import from_transformers
from syntagm.models.hugging_face.quantised import refuse_unused

TEXTS = ["The old gardener watered the roses.", "Ten boats"]
_NAMES = {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm"}
_LAYERS = {
    "ln_1": "attn_norm", "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
    "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
}  # fmt: skip


def gpt2() -> Any:
    # transformers takes the number of positions of a GPT-2 from its class.
    return transformer("gpt2", byte_level(), n_positions=1024)


def write(file: Path, quantisation: gguf.GGMLQuantizationType) -> None:
    """Write the tiny GPT-2 as a GGUF file, with its matrices quantised."""
    model, tokenizer = gpt2(), byte_level()
    config, vocabulary = model.config, tokenizer.get_vocab()
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer = gguf.GGUFWriter(str(file), "gpt2")
    writer.add_context_length(config.n_positions)
    writer.add_embedding_length(config.n_embd)
    writer.add_block_count(config.n_layer)
    writer.add_head_count(config.n_head)
    writer.add_feed_forward_length(4 * config.n_embd)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(sorted(vocabulary, key=lambda token: vocabulary[token]))
    writer.add_token_types([3 if number == tokenizer.bos_token_id else 1 for number in range(len(vocabulary))])
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    for name, tensor in model.transformer.state_dict().items():
        module, _, part = name.rpartition(".")
        values = tensor.numpy()
        if module in _NAMES:
            writer.add_tensor(f"{_NAMES[module]}.{part}", values)
            continue
        _, layer, kind = module.split(".", 2)
        # GPT-2's matrices are transposed.
        values = np.ascontiguousarray(values.T)
        if values.ndim == 1:
            writer.add_tensor(f"blk.{layer}.{_LAYERS[kind]}.{part}", values)
        else:
            codes = gguf.quants.quantize(values, quantisation)
            writer.add_tensor(f"blk.{layer}.{_LAYERS[kind]}.{part}", codes, raw_dtype=quantisation)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gguf")
    for kind in (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q4_0):
        write(folder / f"tiny-{kind.name}.gguf", kind)
    return folder


@pytest.fixture
def file(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(saved / "tiny-Q8_0.gguf", tmp_path))


def dequantised(kind: gguf.GGMLQuantizationType) -> Any:
    """The tiny GPT-2 whose matrices went through the codes of gguf's own package."""
    model = gpt2()
    with torch.no_grad():
        for name, weights in model.transformer.h.named_parameters():
            if weights.dim() == 2:
                codes = gguf.quants.quantize(np.ascontiguousarray(weights.numpy().T), kind)
                weights.copy_(torch.from_numpy(gguf.quants.dequantize(codes, kind).T.copy()))
            assert name
    return model


@pytest.mark.parametrize(
    ("kind", "noise"),
    [
        ("Q8_0", 0.1),
        pytest.param("F32", 0.0, marks=pytest.mark.slow),
        pytest.param("Q4_0", 1.0, marks=pytest.mark.slow),
    ],
)
def test_the_numbers_are_those_of_the_dequantised_weights(saved: Path, kind: str, noise: float) -> None:
    model = names.load(f"causal:{saved}/tiny-{kind}.gguf", device="cpu")
    own = from_transformers(dequantised(gguf.GGMLQuantizationType[kind]), byte_level(), "own")
    floats = from_transformers(gpt2(), byte_level(), "floats")
    for answer, same, exact in zip(model.score(TEXTS), own.score(TEXTS), floats.score(TEXTS), strict=True):
        np.testing.assert_allclose(answer.bits, same.bits, rtol=0, atol=1e-4)
        difference = np.abs(answer.bits - exact.bits).mean()
        assert difference < 1e-5 if not noise else noise / 100 < difference < noise
    assert model.settings["quantised"] == ("gguf-F32" if kind == "F32" else f"gguf-F32+{kind}")
    assert model.name.startswith(f"causal:tiny-{kind}.gguf@")


@pytest.mark.slow
def test_file_and_folder_name_the_same_model(saved: Path, capfd: pytest.CaptureFixture[str]) -> None:
    one, other = names.load(f"{saved}/tiny-Q8_0.gguf"), names.load(f"{saved}?gguf=tiny-Q8_0.gguf")
    assert not any(capfd.readouterr())
    assert one.fingerprint == other.fingerprint
    assert other.name == one.name + "?gguf=tiny-Q8_0.gguf"
    record = one.record["quantisation"]
    assert isinstance(record, dict)
    assert record["types"] == "gguf-F32+Q8_0"
    assert "dequantised" in record["weights"]


@pytest.mark.slow
def test_a_byte_of_the_file_is_another_fingerprint(file: Path) -> None:
    one = names.load(str(file))
    content = bytearray(file.read_bytes())
    content[-40] ^= 1
    file.write_bytes(content)
    other = names.load(str(file))
    assert one.fingerprint != other.fingerprint
    assert one.name != other.name


@pytest.mark.parametrize(("kept", "message"), [(3, "no GGUF file"), (2_000, "damaged"), (60_000, "damaged")])
def test_damaged_files(file: Path, kept: int, message: str) -> None:
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ModelError, match=message):
        names.load(str(file))


def test_names_that_are_refused(file: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        names.load("nowhere/model.gguf")
    for name in ("other.gguf", f"../{file.parent.name}/{file.name}"):
        with pytest.raises(ModelError, match="no file"):
            names.load(f"{file.parent}?gguf={name}")
    with pytest.raises(UsageError, match="the path is a file, too"):
        names.load(f"{file}?gguf={file.name}")


def test_without_the_package(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syntagm.core.extras.installed", lambda module: module != "gguf")
    with pytest.raises(ModelError, match=r"a GGUF file, but no package gguf; .*pip install 'syntagm\[gguf\]'"):
        names.load(str(file))


def _key(kind: int, value: bytes) -> bytes:
    return struct.pack("<Q3sI", 3, b"key", kind) + value


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (struct.pack("<IQQ", 3, 0, 2**63), "a header of 9,223,372,036,854,775,808 values"),
        (struct.pack("<IQQ", 3, 2**63, 0), "a header of 9,223,372,036,854,775,808 values"),
        (struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62), "damaged or incomplete"),
        (
            struct.pack("<IQQ", 3, 0, 1) + _key(9, struct.pack("<IQ", 4, 2**60)),
            "a header of 1,152,921,504,606,846,977 values",
        ),
        (struct.pack("<IQQ", 3, 0, 1) + _key(9, struct.pack("<IQ", 8, 10**6)) + bytes(8000), "damaged or incomplete"),
        (struct.pack("<IQQ", 3, 0, 1) + _key(9, struct.pack("<IQ", 9, 1)), "damaged or incomplete"),
        (struct.pack("<IQQ", 3, 0, 1) + _key(77, b""), "damaged or incomplete"),
        (b"", "damaged or incomplete"),
    ],
)
def test_headers_without_end(tmp_path: Path, header: bytes, message: str) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF" + header)
    with pytest.raises(ModelError, match=message):
        names.load(str(tmp_path / "model.gguf"))


def test_a_file_with_more_weights_than_the_model(file: Path) -> None:
    head = read_gguf(file)
    refuse_unused("tiny", head, gpt2())
    with pytest.raises(ModelError, match=r"a GGUF file of .* numbers for a model of"):
        refuse_unused("tiny", head, transformer("gpt2", byte_level(), n_positions=16, n_layer=1))
