"""What is not the fault of a file or of an argument is not blamed on one, and ends in one line."""

import argparse
import copy
import io
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import masked_for_tests
import numpy as np
import polars
import pytest
import torch
import transformers
from models_for_tests import byte_level, lstm, transformer

import syntagm as sg
from syntagm import cli
from syntagm.models import names
from syntagm.models.hugging_face.unsafe import one_error
from syntagm.models.masked import forward
from syntagm.runs.cache import AnswerCache


def fnet() -> Any:
    """A masked model without attention."""
    tokenizer = masked_for_tests.word_pieces()
    torch.manual_seed(1)
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "max_position_embeddings": 32}
    config = transformers.FNetConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **size)
    return transformers.FNetForMaskedLM(config).eval(), tokenizer


def test_a_layer_without_attention_is_computed_by_the_model_itself() -> None:
    network, tokenizer = fnet()
    [answer] = sg.from_transformers(network, tokenizer, name="mine", masked=True).score(["boats"])
    ids = tokenizer("boats")["input_ids"]
    masked = torch.tensor([[tokenizer.mask_token_id if place == 1 else number for place, number in enumerate(ids)]])
    with torch.inference_mode():
        expected = -torch.log_softmax(network(input_ids=masked).logits[0, 1].double(), -1)[ids[1]] / np.log(2)
    assert answer.bits[0] == pytest.approx(float(expected), abs=1e-4)


def test_our_own_mistake_is_blamed_on_no_file() -> None:
    with pytest.raises(sg.ModelError, match=r"config\.json"), one_error("model", "a model", "See config.json."):
        torch.nn.Linear(2, 2)(torch.ones(3))  # PyTorch refuses it
    # An attribute that our code asks for, and that PyTorch looks up and lacks.
    layer, ids = fnet()[0].fnet.encoder.layer[0], torch.zeros(1, 2, dtype=torch.long)
    asked = forward.once(layer, ids)
    with pytest.raises(AttributeError, match="no attribute 'attention'"), one_error("model", "a model"), asked:
        pass


def test_a_cache_is_not_set_aside_for_what_is_wrong_with_a_model(tmp_path: Path) -> None:
    class Broken(type(names.load("toy"))):  # type: ignore[misc]
        @property
        def fingerprint(self) -> str:
            raise sg.ModelError("toy", "weights that have changed")

        @fingerprint.setter
        def fingerprint(self, _: str) -> None: ...

    toy = names.load("toy")
    broken = copy.copy(toy)
    broken.__class__ = Broken
    Broken.worth_caching = True
    cache = AnswerCache(tmp_path / "answers.sqlite", print)
    with pytest.raises(sg.ModelError, match="have changed"):
        cache.get(broken, ["The dog barks"])
    assert [path.name for path in tmp_path.iterdir() if "damaged" in path.name] == []


@pytest.mark.parametrize("do", [copy.deepcopy, pickle.dumps])
def test_a_model_of_transformers_is_not_copied(do: Callable[[Any], Any]) -> None:
    model = sg.from_transformers(transformer("gpt2", byte_level()), byte_level(), name="mine")
    with pytest.raises(sg.ModelError, match="causal:mine: a loaded model that is copied or pickled"):
        do(model)
    assert do(lstm())


def test_models_without_weights_or_a_head() -> None:
    network = transformer("gpt2", byte_level())
    with pytest.raises(
        sg.ModelError, match="a GPT2Model, which has no head for words; expected a model with a causal head"
    ):
        sg.from_transformers(network.transformer, byte_level(), name="mine")
    classes = transformers.GPT2ForSequenceClassification(network.config).eval()
    with pytest.raises(sg.ModelError, match="a GPT2ForSequenceClassification, which has no head for words"):
        sg.from_transformers(classes, byte_level(), name="mine")
    tokenizer = masked_for_tests.word_pieces()
    with pytest.raises(
        sg.ModelError, match="a BertModel, which has no head for words; expected a model with a masked head"
    ):
        sg.from_transformers(masked_for_tests.transformer("bert", tokenizer).bert, tokenizer, name="mine", masked=True)
    with pytest.raises(sg.ModelError, match="a model on the device meta, which has no weights"):
        sg.from_transformers(network.to("meta"), byte_level(), name="mine")


def test_a_forked_process_is_refused() -> None:
    names.load("toy")
    assert polars.Series([3, 1]).sort().to_list() == [1, 3]
    if not (child := os.fork()):
        try:
            names.load("toy")
        except sg.UsageError as error:
            os._exit(7 if "a process forked from one that has computed" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert names.load("toy").name == "toy:12-sentences"


@pytest.mark.parametrize("line", [["models"], ["score", "toy", "The dog barks"], ["score", "toy", "a", "--json"]])
def test_a_closed_standard_output_is_one_line(
    line: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert cli.main(line) == 2
    assert capsys.readouterr().err == "syntagm: standard output: it is closed; expected to read or write it\n"


@pytest.mark.parametrize("command", ["score", "parse"])
def test_a_closed_standard_input_is_one_line(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", None)
        assert cli.main([command, "toy", "-"]) == 2
    assert capsys.readouterr().err.startswith("syntagm: standard input: it is closed")


def test_a_closed_standard_error_is_none(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        assert cli.main(["score", "toy", "The dog barks"]) == 0
        assert cli.main(["models", "no-such-family"]) == 2
    assert "bits" in capsys.readouterr().out


def test_a_reader_that_has_seen_enough_of_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", io.StringIO())
        patch.setattr(sys, "stdout", open(writing, "w"))  # noqa: SIM115
        assert cli.main(["score", "toy", "The dog barks"]) == 0
        cli._drop_output()
        sys.stdout.close()


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:114] DefaultCPUAllocator: not enough memory: you tried to allocate"
        ),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        RuntimeError("could not create a primitive"),
    ],
)
def test_too_little_memory_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: argparse.Namespace) -> int:
        with one_error("causal:mine", "a model", "Compare config.json."):
            raise error

    class Parser(argparse.ArgumentParser):
        def parse_args(self, *_: object) -> argparse.Namespace:  # type: ignore[override]
            return argparse.Namespace(run=run, command="models")

    monkeypatch.setattr(cli, "_parser", Parser)
    assert cli.main([]) == 2
    assert capsys.readouterr().err.startswith("syntagm: out of memory; expected ")
