"""What is loaded from disk or the hub, and what is refused with a reason."""

import hashlib
import json
import os
import re
import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from huggingface_hub import constants
from models_for_tests import BEFORE_5, byte_level, transformer, words
from safetensors.torch import load_file, save_file

from syntagm.core import ModelError, UsageError
from syntagm.models import hash_folder, names
from syntagm.models.causal.model import from_transformers
from syntagm.models.families import bundled
from syntagm.models.hugging_face import unsafe
from syntagm.models.hugging_face.weights import hash_of_weights
from syntagm.models.names import Name

TEXTS = ["The old gardener watered the roses.", "Ten boats"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "tiny"
    transformer("gpt2", byte_level()).save_pretrained(folder)
    byte_level().save_pretrained(folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy of the checkpoint, to spoil."""
    return Path(shutil.copytree(saved, tmp_path / "tiny"))


def refused(folder: Path, match: str, options: str = "", allow_pickle: bool = False) -> str:
    with pytest.raises(ModelError, match=match) as error:
        names.load(f"causal:{folder}{options}", allow_pickle=allow_pickle)
    assert "Traceback" not in str(error.value)
    return str(error.value)


def settings(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_folder_gives_the_numbers_of_the_model_that_was_saved(saved: Path) -> None:
    live = from_transformers(transformer("gpt2", byte_level()), byte_level(), "live")
    loaded = names.load(f"causal:{saved}?device=cpu")
    for one, other in zip(live.score(TEXTS), loaded.score(TEXTS), strict=True):
        np.testing.assert_allclose(one.bits, other.bits, rtol=0, atol=1e-5)


def test_scoring_does_not_hash_weights_and_the_hash_is_that_of_the_weights_as_loaded(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    eager = hash_of_weights(transformers.AutoModelForCausalLM.from_pretrained(saved).eval(), byte_level())()
    one, other = (names.load(f"causal:{saved}?device=cpu") for _ in range(2))
    hashed: list[str] = []
    names_of = transformers.GPT2LMHeadModel.state_dict
    monkeypatch.setattr(
        transformers.GPT2LMHeadModel,
        "state_dict",
        lambda *given, **named: hashed.append("") or names_of(*given, **named),
    )
    assert list(one.score(TEXTS))
    assert not hashed
    assert one.record["weights"] == eager
    assert one.fingerprint == other.fingerprint
    assert len(hashed) == 4  # for each, to verify the weights and to hash them


def rwkv() -> Any:
    size = {"hidden_size": 16, "attention_hidden_size": 16, "num_hidden_layers": 4, "context_length": 64}
    config = transformers.RwkvConfig(
        vocab_size=len(byte_level()), rescale_every=2, bos_token_id=0, eos_token_id=0, **size
    )
    return transformers.RwkvForCausalLM(config).eval()


def test_weights_that_a_model_changes_as_it_computes_are_hashed_as_loaded(tmp_path: Path) -> None:
    """RWKV halves the weights of later layers at the first forward pass."""
    made = rwkv()
    byte_level().save_pretrained(tmp_path / "tiny")
    made.save_pretrained(tmp_path / "tiny")
    before = hash_of_weights(made, byte_level())()
    model: Any = names.load(f"causal:{tmp_path / 'tiny'}?device=cpu")
    halved, stored = (each.rwkv.blocks[2].feed_forward.value.weight for each in (model.module, made))
    assert torch.equal(halved, stored / 2)
    assert model.record["weights"] == hash_of_weights(model.module, byte_level())() == before
    live = from_transformers(made, byte_level(), "live")
    # Whether it has computed before makes no difference.
    again = from_transformers(made, byte_level(), "live")
    assert made.rwkv.layers_are_rescaled
    assert live.fingerprint == again.fingerprint == model.fingerprint


def test_weights_that_a_model_has_changed_for_ever_are_refused() -> None:
    made = rwkv().to(torch.float16)
    made(torch.tensor([[1, 2]]))
    with pytest.raises(ModelError, match="architecture rwkv: weights that its first computation has divided"):
        from_transformers(made, byte_level(), "live")


def test_weights_that_changed_before_they_were_hashed_are_refused(saved: Path) -> None:
    model: Any = names.load(f"causal:{saved}?device=cpu")
    with torch.no_grad():
        model.module.lm_head.weight.add_(0.5)
    with pytest.raises(ModelError, match="changed since the model was created"):
        _ = model.fingerprint


@pytest.mark.slow
def test_a_name_is_folder_and_content_and_no_path(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = names.load(f"causal:{saved}")
    shutil.copytree(saved, tmp_path / "elsewhere" / "tiny")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for spelled in ("causal:./tiny", "./tiny", "causal:tiny", "tiny"):
        other = names.load(spelled)
        assert (other.name, other.fingerprint) == (one.name, one.fingerprint)
    assert one.name.startswith("causal:tiny@")


def test_shards_give_the_same_fingerprint(saved: Path, tmp_path: Path) -> None:
    parts = tmp_path / "tiny"
    transformer("gpt2", byte_level()).save_pretrained(parts, max_shard_size="20KB")
    byte_level().save_pretrained(parts)
    assert len(list(parts.glob("*.safetensors"))) > 1
    assert names.load(f"causal:{parts}").fingerprint == names.load(f"causal:{saved}").fingerprint


def test_settings_saved_with_a_tokenizer_do_not_cut_texts(folder: Path) -> None:
    expected = [answer.bits for answer in names.load(f"causal:{folder}").score(TEXTS)]
    path = folder / "tokenizer.json"
    cut = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    pad = {
        "strategy": {"Fixed": 30}, "direction": "Right", "pad_to_multiple_of": None,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "<|endoftext|>",
    }  # fmt: skip
    path.write_text(json.dumps(json.loads(path.read_text()) | {"truncation": cut, "padding": pad}))
    for bits, answer in zip(expected, names.load(f"causal:{folder}").score(TEXTS), strict=True):
        np.testing.assert_array_equal(bits, answer.bits)


def test_no_such_folder() -> None:
    refused(Path("/nowhere/at/all"), "no such folder")
    with pytest.raises(ModelError, match="no such folder"):
        names.load("./nowhere")


def test_a_folder_of_checkpoints_says_how_to_name_them(tmp_path: Path) -> None:
    for step in (100, 1000):
        (tmp_path / f"step{step}").mkdir()
        (tmp_path / f"step{step}" / "config.json").touch()
    said = refused(tmp_path, "no config.json")
    assert said.endswith(f"Name a model in it, such as {tmp_path}/step100, or all: '{tmp_path}/step*'.")


@pytest.mark.parametrize("name", ["runs/training/step1", "training/step{1..3"])
def test_a_name_that_nothing_on_the_hub_can_have_is_a_folder(name: str) -> None:
    with pytest.raises(
        ModelError, match=r"no such folder; expected a folder with config\.json and model\.safetensors$"
    ):
        names.load(f"causal:{name}")


def test_a_file_is_no_name_on_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.bin").touch()
    with pytest.raises(ModelError, match=r"causal:model.bin: a file; expected a folder with config.json"):
        names.check("causal:model.bin")


def test_an_empty_folder(tmp_path: Path) -> None:
    refused(tmp_path, "no config.json")


def test_a_file_that_is_written_over_changes_no_model_that_was_loaded(folder: Path) -> None:
    model = names.load(f"causal:{folder}")
    [before] = model.score(["The dog barks."])
    with open(folder / "model.safetensors", "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size // 2)
        file.write(bytes(size - size // 2))
    [after] = model.score(["The dog barks."])
    assert after.bits.tolist() == before.bits.tolist()


def test_missing_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert "safetensors" in refused(folder, "causal:")


def test_a_missing_tensor(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    del tensors["transformer.h.1.mlp.c_fc.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    refused(
        folder, r"1 weights that are missing or have another shape, among them transformer\.h\.1\.mlp\.c_fc\.weight"
    )


def test_a_tensor_of_another_shape(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["transformer.ln_f.weight"] = torch.ones(7)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    refused(folder, "weights whose shape differs from the configuration")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_layer": 1}, r"among them transformer\.h\.1\..*; n_layer is 1; expected n_layer = 2 in config\.json"),
        ({"n_layer": 3}, "12 weights that are missing or have another shape"),
        ({"vocab_size": 10}, "whose shape differs from the configuration"),
        ({"n_layer": 10**7}, "n_layer = 10000000; expected at most 1,000"),
        ({"num_labels": 10**8}, "num_labels = 100000000; expected at most"),
        ({"text_config": {"num_hidden_layers": 10**7}}, "num_hidden_layers = 10000000"),
    ],
)
def test_a_configuration_of_another_model_than_the_weights(folder: Path, changes: dict[str, Any], message: str) -> None:
    settings(folder, **changes)
    refused(folder, message)


def added(folder: Path, *names: str) -> None:
    tensors = load_file(folder / "model.safetensors") | {name: torch.ones(2) for name in names}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    "name", ["lm_head.bias", "transformer.h.0.attn.c_attn.scale", "transformer.wse.weight", "other.weight"]
)
def test_weights_of_layers_embeddings_and_head_without_a_place_are_refused(folder: Path, name: str) -> None:
    added(folder, name)
    refused(folder, rf"1 weights that the configuration has no place for, among them {name}; expected a configuration")


def test_constants_and_heads_of_other_tasks_are_recorded(folder: Path) -> None:
    before = names.load(f"causal:{folder}")
    assert before.record["unused weights"] == []
    added(folder, *(f"transformer.h.{layer}.attn.masked_bias" for layer in range(2)), "v_head.summary.weight")
    after = names.load(f"causal:{folder}")
    assert after.record["unused weights"] == [
        *([] if BEFORE_5 else ["transformer.h.*.attn.masked_bias"]),  # dropped by transformers itself
        "v_head.summary.weight",
    ]
    assert after.fingerprint == before.fingerprint


def cut(name: str, kept: int) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:kept])


def of_a_shard(spoil: Callable[[Path], object]) -> Callable[[Path], object]:
    """Spoil the second of several weight files."""

    def change(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        transformer("gpt2", byte_level()).save_pretrained(folder, max_shard_size="100KB")
        spoil(folder / "model-00002-of-00002.safetensors")

    return change


@pytest.mark.parametrize(
    ("name", "spoil", "found"),
    [
        ("model.safetensors", cut("model.safetensors", 0), "not a safetensors file, or truncated (0 bytes)"),
        (
            "model.safetensors",
            cut("model.safetensors", 200),
            "truncated: the header alone has ",
        ),
        (
            "model.safetensors",
            cut("model.safetensors", -8),
            "truncated: by its header it has {:,} bytes, but it has ",
        ),
        (
            "model.safetensors",
            lambda folder: os.truncate(folder / "model.safetensors", (folder / "model.safetensors").stat().st_size + 4),
            "too long: by its header it has {:,} bytes, but it has ",
        ),
        (
            "model.safetensors",
            lambda folder: (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n"),
            "a pointer of Git LFS instead of the weights",
        ),
        ("model-00002-of-00002.safetensors", of_a_shard(lambda path: cut(path.name, -8)(path.parent)), "truncated: by"),
        (
            "model-00002-of-00002.safetensors",
            of_a_shard(Path.unlink),
            "no such file, which model.safetensors.index.json names",
        ),
        (
            "model.safetensors.index.json",
            of_a_shard(lambda path: (path.parent / "model.safetensors.index.json").unlink()),
            "no such file, beside weights in several files (model-00001-of-00002.safetensors, ...)",
        ),
        ("config.json", cut("config.json", 100), "no JSON (Unterminated string"),
        ("tokenizer.json", cut("tokenizer.json", 300), "no tokenizer (EOF while parsing"),
        ("tokenizer_config.json", cut("tokenizer_config.json", 60), "no JSON (Expecting property name"),
    ],
)
def test_a_damaged_or_missing_file_is_named(
    folder: Path, name: str, spoil: Callable[[Path], object], found: str
) -> None:
    found = found.format((folder / "model.safetensors").stat().st_size)
    spoil(folder)
    message = refused(folder, re.escape(f"{folder / name}: {found}"))
    assert message.endswith(f" Download or copy {name} again.")


def test_two_tensors_of_one_name(folder: Path) -> None:
    path = folder / "model.safetensors"
    content = path.read_bytes()
    [size] = struct.unpack("<Q", content[:8])
    head = content[8 : 8 + size].decode().rstrip()
    entry = head[head.index('"transformer.ln_f.bias"') : head.index("}", head.index('"transformer.ln_f.bias"')) + 1]
    doubled = (head[:-1] + "," + entry + "}").encode()
    path.write_bytes(struct.pack("<Q", len(doubled)) + doubled + content[8 + size :])
    refused(folder, "'transformer.ln_f.bias' twice")


@pytest.mark.parametrize("name", ["model-2.safetensors", "vocab.json", "added.txt"])
def test_a_device_or_a_pipe_in_the_folder_is_not_opened(folder: Path, name: str) -> None:
    os.mkfifo(folder / name)
    refused(folder, "a device or a pipe")
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    refused(folder, "a device or a pipe")


def test_pickles_are_not_opened(folder: Path) -> None:
    canary = folder / "canary"

    class Malicious:
        def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
            return Path.touch, (canary,)

    (folder / "model.safetensors").unlink()
    torch.save({"x": Malicious()}, folder / "pytorch_model.bin")
    refused(folder, r"only pickled weights \(pytorch_model.bin\)")
    # Even when they are allowed, only tensors are unpickled.
    refused(folder, "causal:", allow_pickle=True)
    assert not canary.exists()


def test_pickled_tensors_load_when_allowed(folder: Path, saved: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    allowed = names.load(f"causal:{folder}", allow_pickle=True)
    for one, other in zip(allowed.score(TEXTS), names.load(f"causal:{saved}").score(TEXTS), strict=True):
        np.testing.assert_array_equal(one.bits, other.bits)


def test_code_of_its_own_is_not_run(folder: Path) -> None:
    canary = folder / "canary"
    (folder / "modeling.py").write_text(f"open({str(canary)!r}, 'w')\nclass Mine: pass\n")
    settings(folder, auto_map={"AutoModelForCausalLM": "modeling.Mine"}, model_type="mine")
    refused(folder, "auto_map")
    assert not canary.exists()


def test_other_code_is_another_fingerprint(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    settings(folder, auto_map={"AutoModelForCausalLM": "modeling.Mine"}, architectures=["Mine"])
    found = []
    for scale in (1.0, 0.25):  # of another length: the same second and size would mean the same bytecode
        (folder / "modeling.py").write_text(
            "from transformers import GPT2LMHeadModel\n\n\nclass Mine(GPT2LMHeadModel):\n"
            "    def forward(self, *args, **kwargs):\n        found = super().forward(*args, **kwargs)\n"
            f"        found.logits = {scale} * found.logits\n        return found\n"
        )
        model = names.load(f"causal:{folder}", trust_remote_code=True)
        found.append((model.fingerprint, next(model.score(TEXTS)).bits))
    assert abs(found[0][1] - found[1][1]).max() > 0.1
    assert found[0][0] != found[1][0]


@pytest.mark.parametrize("content", ["", "[]", "{", "[1]", '{"model_type": "nonsense"}', "{}"])
def test_a_spoiled_configuration(folder: Path, content: str) -> None:
    (folder / "config.json").write_text(content)
    refused(folder, "config.json|causal:")


def test_a_missing_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()
    refused(
        folder, "expected (a causal model .*with a fast tokenizer|tokenizer.json next to the weights. Save it there)"
    )


def test_a_token_with_a_number_beyond_any_vocabulary(folder: Path) -> None:
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    content["model"]["vocab"]["m"] = 2**31
    path.write_text(json.dumps(content))
    refused(folder, "tokenizer.json: a token with the number 2147483648")
    content["model"]["vocab"]["m"], content["added_tokens"][0]["id"] = 1, 2**31
    path.write_text(json.dumps(content))
    refused(folder, "tokenizer.json: a token with the number 2147483648")
    path.unlink()
    (folder / "vocab.json").write_text(json.dumps({"a": 0, "m": 2**31}))
    refused(folder, "vocab.json: a token with the number 2147483648")


@pytest.mark.parametrize(
    "content", ['{"a": ', "[1]", "7", '{"model": {"vocab": [1]}, "added_tokens": [7, {"id": "x"}]}']
)
def test_damaged_vocabularies_are_left_to_the_library(folder: Path, content: str) -> None:
    (folder / "tokenizer.json").write_text(content)
    refused(folder, r"tokenizer\.json: no tokenizer \(")


def test_another_head(tmp_path: Path) -> None:
    config = transformers.GPT2Config(
        vocab_size=len(byte_level()), n_positions=32, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )
    transformers.GPT2ForSequenceClassification(config).save_pretrained(tmp_path / "judge")
    byte_level().save_pretrained(tmp_path / "judge")
    refused(tmp_path / "judge", "GPT2ForSequenceClassification")


def test_a_masked_model(tmp_path: Path) -> None:
    tokenizer = words()
    transformer("bert", tokenizer).save_pretrained(tmp_path / "masked")
    tokenizer.save_pretrained(tmp_path / "masked")
    refused(tmp_path / "masked", "changes with what follows it")


@pytest.mark.parametrize("revision", ["", "step1000"])
def test_a_model_that_is_not_in_the_cache_of_the_hub(cache: Path, revision: str) -> None:
    at, option = (f"@{revision}", f" --revision {revision}") if revision else ("", "")
    for name in (f"causal:nobody/nothing-at-all{at}", f"no-such-model{at}"):
        with pytest.raises(ModelError) as error:
            names.load(name)
        repository = name.removeprefix("causal:").removesuffix(at)
        what = f"this revision of {repository}" if revision else "a model of that name"
        assert str(error.value).startswith(
            f"causal:{repository}{at}: no such folder; the hub can't be reached, and its cache"
        )
        assert f"{cache} does not contain {what}; expected config.json, model.safetensors" in str(error.value)
        assert str(error.value).endswith(f"Where there is a network: hf download {repository}{option}")


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, which can't be reached."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def store(cache: Path, files: Path) -> Path:
    """Put a model into the cache of the hub as org/name@step1000; return the folder of its files."""
    model = cache / "models--org--name"
    (snapshot := model / "snapshots" / COMMIT).mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "step1000").write_text(COMMIT)
    (model / "blobs").mkdir()
    for file in files.iterdir():
        blob = model / "blobs" / hashlib.sha256(file.read_bytes()).hexdigest()
        shutil.copy(file, blob)
        (snapshot / file.name).symlink_to(blob)
    return snapshot


@pytest.mark.parametrize(
    ("name", "spoil", "found"),
    [
        ("", lambda snapshot: (snapshot / "model.safetensors").unlink(), "no weights; expected model.safetensors"),
        ("model.safetensors", cut("model.safetensors", -8), "truncated: by its header it has"),
        ("model.safetensors", lambda snapshot: (snapshot / "model.safetensors").resolve().unlink(), "can't be read"),
        ("tokenizer.json", cut("tokenizer.json", 300), "no tokenizer (EOF while parsing"),
    ],
)
def test_a_damaged_or_missing_file_in_the_cache_of_the_hub_is_named(
    saved: Path, cache: Path, name: str, spoil: Callable[[Path], object], found: str
) -> None:
    snapshot = store(cache, saved)
    spoil(snapshot)
    blob = (snapshot / name).resolve()
    with pytest.raises(ModelError) as error:
        names.load("org/name@step1000")
    message = str(error.value)
    assert message.startswith(f"{'' if name else 'causal:'}{snapshot / name}: {found}")
    assert (f" Delete {blob}. Where" in message) == blob.is_file()
    file = f" {name}" if name else ""
    assert message.endswith(f"Where there is a network: hf download org/name{file} --revision {COMMIT}")


def test_the_files_of_a_folder_are_checked_once(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read a large tokenizer.json takes a second."""
    checked: list[Path] = []
    monkeypatch.setattr(unsafe, "refuse_endless_tokenizer", checked.append)
    names.load(f"causal:{saved}")
    assert checked == [saved]


def test_the_base_model_in_a_folder_of_an_adapter_on_the_hub(folder: Path, cache: Path, tmp_path: Path) -> None:
    (adapter := tmp_path / "adapter").mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(folder)}))
    store(cache, adapter)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"only pickled weights \(pytorch_model.bin\)"):
        names.load("org/name@step1000")


def test_a_model_without_a_tokenizer_in_the_cache_of_the_hub(saved: Path, cache: Path) -> None:
    snapshot = store(cache, saved)
    for file in snapshot.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(ModelError, match=r"org/name@step1000: .*hf download org/name --revision step1000$"):
        names.load("org/name@step1000")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpt2", Name("causal", "gpt2", {})),
        ("org/name@main?bos=no", Name("causal", "org/name@main", {"bos": "no"})),
        ("causal:./a folder?bos=no&dtype=bf16", Name("causal", "./a folder", {"bos": "no", "dtype": "bf16"})),
        ("demo", Name(*bundled()["demo"], {})),
        ("causal:demo?eos=yes", Name(*bundled()["demo"], {"eos": "yes"})),
        ("toy", Name("toy", "", {})),
        ("toy:lines.txt", Name("toy", "lines.txt", {})),
        ("recorded:a:b.csv", Name("recorded", "a:b.csv", {})),
    ],
)
def test_names(text: str, expected: Name) -> None:
    assert names.parse(text) == expected


def test_a_misspelt_family_is_not_looked_for_on_the_hub() -> None:
    with pytest.raises(UsageError, match=r"no family 'recoded'; expected one of causal, .*recorded, .*toy"):
        names.parse("recoded:tokens.csv")


@pytest.mark.parametrize(
    "text", ["demo?bos", "demo?bos=no&bos=yes", "demo?=", "demo?bos=no&&", "causal:", "demo?bso=no"]
)
def test_names_that_cannot_be_read(text: str) -> None:
    with pytest.raises((UsageError, ModelError)):
        names.load(text)


@pytest.mark.slow
def test_names_of_results_say_what_changes_numbers_and_nothing_else() -> None:
    model = names.load("demo?device=cpu&batch=99&sharing=no&eos=yes&bos=no")
    assert model.name == "causal:demo?bos=no&eos=yes"


def test_a_folder_has_one_name_in_every_type(tmp_path: Path) -> None:
    """The name says which files; the fingerprint says which numbers."""
    tokenizer = words()
    transformer("gpt2", tokenizer).save_pretrained(tmp_path / "here")
    tokenizer.save_pretrained(tmp_path / "here")
    one, other = (names.load(f"causal:{tmp_path / 'here'}", dtype=dtype) for dtype in ("f32", "f64"))
    assert one.name.partition("?")[0] == other.name.partition("?")[0]
    assert one.fingerprint != other.fingerprint
    path = tmp_path / "here" / "model.safetensors"
    assert one.name.partition("?")[0].endswith(f"here@{hash_folder(path.parent)[:8]}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("weights.bin", "A pickle can run any code|arbitrary code"),
        ("../elsewhere/model.safetensors", "a file in the same folder"),
        ("/etc/passwd", "a file in the same folder"),
        ("..", "a file in the same folder"),
    ],
)
def test_an_index_names_no_pickle_and_no_file_elsewhere(folder: Path, name: str, message: str) -> None:
    """Nothing is unpickled: the pickle here would write a file."""
    mark = folder.parent / "unpickled"
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    save_file(weights, folder / "model-00001-of-00001.safetensors", {"format": "pt"})

    class Writes:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (mark,)

    torch.save({"a": Writes()}, folder / "weights.bin")
    (folder.parent / "elsewhere").mkdir()
    save_file(weights, folder.parent / "elsewhere" / "model.safetensors", {"format": "pt"})
    index = {"metadata": {}, "weight_map": dict.fromkeys(weights, name)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(folder, message)
    assert not mark.exists()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": [name]}))
    refused(folder, "no weight_map of file names")
    index["weight_map"] = dict.fromkeys(weights, "model-00001-of-00001.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    names.load(f"causal:{folder}")
