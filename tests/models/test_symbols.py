"""Start and end symbols that only a configuration names: ordinary words, and defaults of the library."""

import json
from pathlib import Path
from typing import Any

import masked_for_tests
import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from toy_runs import pairs

import syntagm as sg
from syntagm.models import CHECKS, failures, names
from syntagm.models.hugging_face import tokens
from syntagm.runs import run_suites

TEXT = "The old boats !"
SHAPES: dict[str, tuple[Any, Any, dict[str, int]]] = {
    "mamba": (transformers.MambaForCausalLM, transformers.MambaConfig, {"state_size": 4, "num_hidden_layers": 1}),
    "falcon": (transformers.FalconForCausalLM, transformers.FalconConfig, {"num_attention_heads": 2}),
    "opt": (
        transformers.OPTForCausalLM,
        transformers.OPTConfig,
        {"num_attention_heads": 2, "ffn_dim": 8, "word_embed_proj_dim": 8, "max_position_embeddings": 32},
    ),
    "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config, {"n_head": 2, "n_positions": 32}),
}
# The first of the visible characters, by which these vocabularies begin: "!" has number 0, '"' 1, "#" 2, and "," 11.
DEFAULTS = {"mamba": "!", "opt": "#", "falcon": ","}


def bare(**symbols: str) -> Any:
    """A byte-level tokenizer without special symbols, but those that are given."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([], trainers.BpeTrainer(initial_alphabet=alphabet, show_progress=False))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **symbols)


def network(kind: str, size: int = 256, **stated: int | None) -> Any:
    """A tiny network; unless they are stated, its symbols are those of its class."""
    of_models, of_settings, shape = SHAPES[kind]
    torch.manual_seed(1)
    shape = {"hidden_size": 8, "num_hidden_layers": 1, **shape}
    return of_models(of_settings(vocab_size=size, **shape, **stated)).eval()


def saved(folder: Path, kind: str, tokenizer: Any, *dropped: str, size: int = 256, **stated: int) -> str:
    """Save a checkpoint, without some lines of config.json."""
    network(kind, size, **stated).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({key: settings[key] for key in settings if key not in dropped}))
    return str(folder)


def load(name: str, **options: str) -> sg.LanguageModel:
    return names.load_permitted(name, names.Permissions(False, False, False), options)


def by_hand(model: Any, *before: int) -> list[float]:
    """The bits of the characters of `TEXT`, after some tokens."""
    ids = [*before, *bare()(TEXT)["input_ids"]]
    with torch.inference_mode():
        table = torch.log_softmax(model.module(input_ids=torch.tensor([ids])).logits[0].double(), -1)
    values = [-float(table[place, number]) / np.log(2) for place, number in enumerate(ids[1:])]
    return values[max(0, len(before) - 1) :]


@pytest.mark.parametrize("kind", ["opt", "falcon", pytest.param("mamba", marks=pytest.mark.slow)])
def test_an_ordinary_word_is_no_start_symbol_unless_it_is_demanded(tmp_path: Path, kind: str) -> None:
    name, word = saved(tmp_path, kind, bare()), DEFAULTS[kind]
    number = bare().convert_tokens_to_ids(word)
    plain, demanded = load(name), load(name, bos="yes")
    assert (plain.bos, plain.settings["bos"], demanded.bos, demanded.settings["bos"]) == (None, "no", word, "yes")
    [answer], [other] = plain.score([TEXT]), demanded.score([TEXT])
    assert np.isnan(answer.bits[0])
    assert answer.bits[1:].tolist() == pytest.approx(by_hand(plain), abs=1e-4)
    assert other.bits.tolist() == pytest.approx(by_hand(plain, number), abs=1e-4)
    said = f"The start symbol of the configuration, '{word}' (number {number}), is not special in the tokenizer, so "
    assert plain.warnings[0] == f"{said}nothing precedes a text."
    assert demanded.warnings[0] == f"{said}it precedes each text."
    assert plain.record["symbols"] == list(plain.warnings)


def test_what_config_json_does_not_say_is_a_default_of_the_library(tmp_path: Path) -> None:
    name = saved(tmp_path, "opt", bare(), "bos_token_id", "eos_token_id")
    assert load(name).bos is None
    for option in ("bos", "eos"):
        with pytest.raises(
            sg.UsageError, match=rf"option {option}=yes: .*'#' \(number 2\) is only a default of transf"
        ):
            load(name, **{option: "yes"})


def test_a_symbol_beyond_the_vocabulary_is_not_blamed_on_a_text(tmp_path: Path) -> None:
    name = saved(tmp_path, "gpt2", bare())
    assert load(name).bos is None
    with pytest.raises(sg.ModelError, match="the start symbol number 50256; expected a number below 256"):
        load(name, bos="yes")
    with pytest.raises(sg.ModelError, match=r"the end symbol '<end>' \(number 256\); expected a number below 256"):
        sg.from_transformers(network("gpt2"), bare(eos_token="<end>"), name="mine", eos="yes")


def test_a_symbol_that_the_class_of_a_tokenizer_adds_is_none(tmp_path: Path) -> None:
    name = saved(tmp_path, "gpt2", bare(), size=264)  # padded, as vocabularies often are
    (tmp_path / "tokenizer_config.json").unlink()  # so transformers takes the class by that of the model
    model = load(name)
    assert (model.tokenizer.bos_token_id, model.bos) == (256, None)  # type: ignore[attr-defined]
    assert "'<|endoftext|>' (number 256) is only a default of transformers" in model.warnings[0]


@pytest.mark.parametrize("declared", ["<begin>", ""])
def test_a_symbol_that_only_the_settings_of_a_tokenizer_or_the_configuration_name_is_no_default(
    tmp_path: Path, declared: str
) -> None:
    """The class of the tokenizer adds it to its vocabulary, under the number that it had when the model was trained."""
    name = saved(tmp_path, "gpt2", bare(), size=260, bos_token_id=256, eos_token_id=256)
    (tmp_path / "tokenizer_config.json").unlink()
    if declared:
        settings = {"tokenizer_class": "GPT2Tokenizer", "bos_token": declared}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert (load(name).bos, load(name, bos="yes").bos) == (declared or "<|endoftext|>",) * 2


def test_a_default_that_the_tokenizer_confirms_is_taken_in_memory_as_from_a_folder(tmp_path: Path) -> None:
    """Falcon's tokenizers declare the end symbol alone, whose number is the default of both in its class."""
    tokenizer = bare(eos_token=DEFAULTS["falcon"])
    assert load(saved(tmp_path, "falcon", tokenizer)).bos == ","
    model = sg.from_transformers(network("falcon"), tokenizer, name="mine")
    assert (model.bos, model.warnings) == (",", ())
    nameless = network("falcon", bos_token_id=None, eos_token_id=None)
    model = sg.from_transformers(nameless, bare(), name="mine")
    assert (model.bos, model.warnings) == (None, ())


@pytest.mark.parametrize("added", [False, True], ids=["declared", "special"])
def test_a_symbol_that_the_tokenizer_knows_is_taken(tmp_path: Path, added: bool) -> None:
    tokenizer = bare() if added else bare(bos_token="<end>", eos_token="<end>")
    if added:
        tokenizer.add_special_tokens({"additional_special_tokens": ["<end>"]})
    name = saved(tmp_path, "mamba", tokenizer, size=257, bos_token_id=256, eos_token_id=256)
    model = load(name, eos="yes")
    assert (model.bos, model.eos, model.warnings) == ("<end>", "<end>", ())
    assert "symbols" not in model.record


def test_one_start_symbol_beside_an_end_symbol_is_taken_where_it_is_demanded(tmp_path: Path) -> None:
    tokenizer = bare(eos_token="<end>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<begin>"]})
    name = saved(tmp_path, "mamba", tokenizer, size=258, bos_token_id=257, eos_token_id=256)
    assert (load(name).bos, load(name).warnings, load(name, bos="yes").bos) == (None, (), "<begin>")


def test_a_model_in_memory_has_what_is_no_default_of_its_class() -> None:
    tokenizer = bare()
    assert sg.from_transformers(network("opt"), tokenizer, name="mine").bos is None
    with pytest.raises(sg.UsageError, match="only a default of transformers"):
        sg.from_transformers(network("opt"), tokenizer, name="mine", bos="yes")
    stated = network("opt", bos_token_id=5, eos_token_id=5)
    assert sg.from_transformers(stated, tokenizer, name="mine").bos is None
    assert sg.from_transformers(stated, tokenizer, name="mine", bos="yes").bos == "&"


def test_no_word_ends_with_an_ordinary_word() -> None:
    stated = network("opt", bos_token_id=5, eos_token_id=5)
    with pytest.raises(sg.UsageError, match=r"boundary=word: no end symbol .*'&' \(number 5\), is not special"):
        sg.from_transformers(stated, bare(), name="mine", boundary="word")
    assert sg.from_transformers(stated, bare(), name="mine", eos="yes").eos == "&"


def test_conform_tells_an_ordinary_word_from_a_symbol() -> None:
    [check] = [check for check in CHECKS if check.name == "symbols"]
    stated = network("opt", bos_token_id=5, eos_token_id=5)
    found = failures(check, sg.from_transformers(stated, bare(), name="mine", bos="yes"), [])
    assert found == ["bos is '&', which is an ordinary token of 'a & b', too"]
    assert failures(check, sg.from_transformers(stated, bare(), name="mine"), []) == []
    declared = sg.from_transformers(network("opt", 257), bare(bos_token="<end>"), name="mine")
    assert (declared.bos, failures(check, declared, [])) == ("<end>", [])


class Stop(sg.Progress):
    def answered(self, suite: str, sentences: int) -> None:
        raise sg.Interrupted("enough")


def test_a_run_with_another_start_symbol_is_read_and_not_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated, suites = network("opt", bos_token_id=5, eos_token_id=5), [pairs("p", ("The dog barks", "The dog bark"))]
    with monkeypatch.context() as before:
        # As it was: whatever the configuration names.
        before.setattr(tokens, "special_symbols", lambda _: {5: "&"})
        old = sg.from_transformers(stated, bare(), name="mine")
    assert old.bos == "&"
    finished = run_suites(old, suites, tmp_path / "finished")
    with pytest.raises(sg.Interrupted):
        run_suites(old, suites, tmp_path / "unfinished", progress=Stop())
    new = sg.from_transformers(stated, bare(), name="mine")
    reason = (
        r"It was begun with the start symbol '&', by a version that took symbols by another rule\. The start symbol"
    )
    with pytest.raises(sg.RunError, match=reason):
        run_suites(new, suites, tmp_path / "unfinished")
    assert sg.open_run(tmp_path / "finished").results().equals(finished.results())


def test_a_mask_that_the_class_of_a_tokenizer_adds_is_none(tmp_path: Path) -> None:
    tokenizer = masked_for_tests.word_pieces()
    masked_for_tests.transformer("bert", tokenizer, rows=len(tokenizer) + 8).save_pretrained(tmp_path)
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    mask = content["model"]["vocab"].pop("[MASK]")
    content["model"]["vocab"]["mask-free"] = mask
    content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] != "[MASK]"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(sg.ModelError, match="a tokenizer without a mask symbol"):
        load(f"masked:{tmp_path}")
