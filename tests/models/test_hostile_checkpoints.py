"""Files of checkpoints made to hang, crash or deceive the libraries that read them: one error each, within limits."""

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models_for_tests import byte_level, sentencepiece_like, transformer

from syntagm.core import ModelError
from syntagm.models import names
from syntagm.models.hugging_face import unsafe
from syntagm.models.hugging_face.tokens import starts_of

pytestmark = pytest.mark.filterwarnings("ignore")
Spoil = Callable[[Path], object]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    for kind, tokenizer in (("gpt2", byte_level()), ("llama", sentencepiece_like())):
        transformer(kind, tokenizer).save_pretrained(folder / kind)
        tokenizer.save_pretrained(folder / kind)
    return folder


def edited(file: str, **changes: Any) -> Spoil:
    def spoil(folder: Path) -> None:
        settings = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps(settings | changes))

    return spoil


def vocabulary(**changes: Any) -> Spoil:
    def spoil(folder: Path) -> None:
        settings = json.loads((folder / "tokenizer.json").read_text())
        settings["model"] |= changes
        (folder / "tokenizer.json").write_text(json.dumps(settings))

    return spoil


def split(pattern: str) -> Spoil:
    divide = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return edited("tokenizer.json", pre_tokenizer=divide)


def added(**changes: Any) -> Spoil:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return edited("tokenizer.json", added_tokens=[{"id": 400, "content": "zz", **flags, **changes}])


def header(change: Callable[[dict[str, Any]], object]) -> Spoil:
    """Change the description of each tensor."""

    def spoil(folder: Path) -> None:
        content = (folder / "model.safetensors").read_bytes()
        [length] = struct.unpack("<Q", content[:8])
        entries = json.loads(content[8 : 8 + length])
        for entry in (entry for name, entry in entries.items() if name != "__metadata__"):
            change(entry)
        written = json.dumps(entries).encode()
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(written)) + written + content[8 + length :])

    return spoil


def one_number(folder: Path) -> None:
    """Give three words the number of the start symbol."""
    settings = json.loads((folder / "tokenizer.json").read_text())
    settings["model"]["vocab"] |= dict.fromkeys("abc", 0)
    (folder / "tokenizer.json").write_text(json.dumps(settings))


def refused(saved: Path, tmp_path: Path, spoil: Spoil, kind: str = "gpt2", options: str = "") -> str:
    folder = Path(shutil.copytree(saved / kind, tmp_path / "tiny"))
    spoil(folder)
    with pytest.raises(ModelError) as error:
        names.load(f"causal:{folder}{options}")
    assert error.value.place
    assert error.value.expected
    return str(error.value).replace(f"{folder}", "tiny")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (split("(unclosed["), "tiny/tokenizer.json: "),
        (added(content="y" * 10_001), "tiny/tokenizer.json: an added token of 10,001 characters"),
        (added(id=10**12), "tiny/tokenizer.json: a token with the number 1000000000000"),
        (vocabulary(type="Evil"), "tiny/tokenizer.json: no tokenizer ("),
        (vocabulary(vocab={}, merges=[]), ""),
        (one_number, "'<|endoftext|>' and 'a' and 'b', which have the number 0, that of the start symbol"),
        (vocabulary(dropout=0.5), "a tokenizer that drops 0.5 of its merges at random"),
        (edited("tokenizer.json", normalizer={"type": "Precompiled", "precompiled_charsmap": "EAAAAP//////"}), ""),
        (edited("tokenizer_config.json", tokenizer_class=5), ""),
        (edited("tokenizer_config.json", bos_token=["x"]), ""),
    ],
)
def test_tokenizers(saved: Path, tmp_path: Path, spoil: Spoil, message: str) -> None:
    assert message in refused(saved, tmp_path, spoil)


def test_a_panic_over_a_text(saved: Path, tmp_path: Path) -> None:
    """Where only a text makes a regular expression give up, the panic is one error."""
    folder = Path(shutil.copytree(saved / "gpt2", tmp_path / "tiny"))
    split(r"((a+)+)+$x")(folder)
    model = names.load(f"causal:{folder}")
    with pytest.raises(ModelError, match=r"the tokenizer of .*: PanicException: .*; expected the tokens of 1 texts"):
        list(model.score(["a" * 200]))


def test_files_larger_than_any_published_one(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsafe, "_MOST_ADDED", 0)
    assert "1 added tokens; expected at most 0." in refused(saved, tmp_path / "added", lambda folder: None)
    monkeypatch.setattr(unsafe, "_MOST_VALUES", 10)
    assert "values; expected at most 10." in refused(saved, tmp_path / "values", lambda folder: None)
    monkeypatch.setattr(unsafe, "_LARGEST", 1000)
    assert "tokenizer.json: " in (message := refused(saved, tmp_path / "bytes", lambda folder: None))
    assert "bytes; expected at most 1,000" in message


CONTENT = "{{ messages[0]['content'] }}"


def template(text: str) -> Spoil:
    return lambda folder: (folder / "chat_template.jinja").write_text(text + CONTENT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% for i in range(1000000000) %}{% endfor %}", "a chat template that fails (Range too big."),
        ("{{ 'a' * 1000000 }}", "a chat template that writes 1,000,014 characters; expected at most 100,000"),
        ("{{ cycler.__init__.__globals__.os.getcwd() }}", "a chat template that fails (access to attribute '__init__'"),
        ("{% include '/etc/passwd' %}", "a chat template that fails ("),
        ("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", "a chat template that fails (maximum recursion depth"),
        ("{#" + "x" * 100_000 + "#}", "a chat template of 100,0"),
    ],
)
def test_chat_templates(saved: Path, tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(saved, tmp_path, template(text), options="?chat=user")


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("gpt2", {"vocab_size": 10**12}, "weights"),
        ("gpt2", {"vocab_size": -5}, ""),
        ("gpt2", {"n_embd": 10**9}, ""),
        ("gpt2", {"n_embd": 0}, ""),
        ("gpt2", {"n_layer": 10**9}, "n_layer = 1000000000; expected at most 1,000"),
        ("gpt2", {"n_layer": -1}, ""),
        ("gpt2", {"n_layer": "2"}, ""),
        ("gpt2", {"n_head": 0}, ""),
        ("gpt2", {"n_inner": 10**11}, "weights"),
        ("gpt2", {"text_config": {"n_layer": 10**9}}, "n_layer = 1000000000; expected at most 1,000"),
        ("llama", {"num_key_value_heads": 0}, ""),
        ("llama", {"hidden_size": 10**10}, ""),
    ],
)
def test_configurations(saved: Path, tmp_path: Path, kind: str, changes: dict[str, Any], message: str) -> None:
    assert message in refused(saved, tmp_path, edited("config.json", **changes), kind)


@pytest.mark.parametrize(
    "settings",
    [
        {"quant_method": "bitsandbytes", "load_in_8bit": True},
        {"quant_method": "gptq", "bits": 4},
        {"quant_method": "awq", "bits": 4},
        {"quant_method": "fp8"},
        {"quant_method": "mxfp4"},
        {"quant_method": "torchao", "quant_type": "int8_weight_only"},
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"all": {"targets": ["Linear"], "weights": {"num_bits": 8}}},
        },
        {"quant_method": "evil"},
        {"quant_method": 5},
        {},
    ],
)
def test_plain_weights_that_are_described_as_quantised(saved: Path, tmp_path: Path, settings: dict[str, Any]) -> None:
    refused(saved, tmp_path, edited("config.json", quantization_config=settings), "llama")


def test_tokens_that_go_back() -> None:
    assert starts_of("ab cd", [(0, 2), (3, 5)], "tiny").tolist() == [0, 2]
    with pytest.raises(ModelError, match="tokens that go back, from character 3 to 0 of 'ab cd'"):
        starts_of("ab cd", [(0, 2), (3, 5), (0, 2)], "tiny")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensor: tensor.update(shape=[-n for n in tensor["shape"]]), "a damaged header (the shape ["),
        (lambda tensor: tensor.update(data_offsets=["0", "4"]), "a damaged header ("),
        (lambda tensor: tensor["data_offsets"].reverse(), ""),
        (lambda tensor: tensor.update(shape=[2**62, 4]), ""),
        (lambda tensor: tensor.update(dtype="I32"), "weights of the type I32"),
        (lambda tensor: tensor.update(dtype=[1]), ""),
    ],
)
def test_headers_of_weights(saved: Path, tmp_path: Path, change: Callable[[Any], object], message: str) -> None:
    assert message in refused(saved, tmp_path, header(change))
