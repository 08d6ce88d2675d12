"""A model in memory that is edited where a sample of its weights doesn't look: no answer is used or stored under its name."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import masked_for_tests
import numpy as np
import pytest
import torch
from models_for_tests import byte_level, lstm, rnng, transformer
from toy_runs import pairs

import syntagm as sg
from syntagm.models import Asking, checksum
from syntagm.runs import run_suites
from syntagm.runs.cache import AnswerCache

TEXTS = ["The old gardener watered the roses.", "Ten boats."]


def halve_a_row(network: Any) -> None:
    with torch.no_grad():
        network.transformer.wte.weight[byte_level().convert_tokens_to_ids("Ġthe")] *= 0.5


def write_through_a_view(network: Any) -> None:
    """No counter of PyTorch's sees this."""
    network.transformer.h[0].mlp.c_fc.weight.data.numpy()[3, 5:60] = 1.0


def turn_scaling_off(network: Any) -> None:
    network.transformer.h[1].attn.scaling = 1.0
    network.transformer.h[1].attn.scale_attn_weights = False  # before transformers 5


def replace_forward(network: Any) -> None:
    part = network.transformer.h[0].mlp
    before = part.forward
    part.forward = lambda hidden: before(hidden) * 3.0


EDITS = (halve_a_row, write_through_a_view, turn_scaling_off, replace_forward)


def sums(model: sg.LanguageModel) -> list[float]:
    return [float(answer.bits.sum()) for answer in model.score(TEXTS)]


class Editing(sg.Progress):
    """Edits a network when the first sentences are answered, as a callback of a user's may."""

    def __init__(self, edit: Callable[[], None]) -> None:
        self.edit = edit

    def answered(self, suite: str, sentences: int) -> None:
        self.edit()


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("when", ["before", "during"])
def test_nothing_is_stored_of_an_edited_model(edit: Callable[[Any], None], when: str, tmp_path: Path) -> None:
    network = transformer("gpt2", byte_level())
    model = sg.from_transformers(network, byte_level(), name="mine")
    cache, suite = AnswerCache(tmp_path / "answers.sqlite", print), pairs("p", (TEXTS[0], TEXTS[1]))
    progress = Editing(lambda: edit(network)) if when == "during" else sg.Progress()
    before = sums(model)
    if when == "before":
        edit(network)
    with pytest.raises(sg.ModelError, match=r"since the model was created|than when the model was created"):
        run_suites(model, [suite], tmp_path / "run", cache=cache, progress=progress)
    assert cache.get(sg.from_transformers(transformer("gpt2", byte_level()), byte_level(), name="mine"), TEXTS) == {}
    assert not list((tmp_path / "run").glob("shards/*"))
    edited = sg.from_transformers(network, byte_level(), name="mine")
    assert not np.allclose(sums(edited), before, atol=0.1)


def test_an_unedited_model_is_confirmed_and_shares_its_answers(tmp_path: Path) -> None:
    cache, suite = AnswerCache(tmp_path / "answers.sqlite", print), pairs("p", (TEXTS[0], TEXTS[1]))
    for hits in (0, 2):
        model = sg.from_transformers(transformer("gpt2", byte_level()), byte_level(), name="mine")
        run_suites(model, [suite], None, cache=cache)
        assert cache.hits == hits


def test_a_model_that_answers_nothing_is_verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a run whose answers are all cached doesn't read the weights again for each of its portions."""
    network = transformer("gpt2", byte_level())
    model, verified = sg.from_transformers(network, byte_level(), name="mine"), []
    before = model._confirm
    monkeypatch.setattr(model, "_confirm", lambda: verified.append(before()))
    asking = Asking(model)
    for expected in (1, 1):
        asking.confirm()
        assert len(verified) == expected
    list(asking.score(TEXTS))
    asking.confirm()
    assert len(verified) == 2
    halve_a_row(network)
    with pytest.raises(sg.ModelError, match="changed since the model was created"):
        Asking(model).confirm()


def edit_norms(model: Any) -> None:
    model.module.bert.encoder.layer[0].attention.output.LayerNorm.eps = 1.0


def edit_a_number(model: Any) -> None:
    with torch.no_grad():
        next(weights for weights in model.network.parameters() if weights.numel() > 64).view(-1)[13] += 5.0


@pytest.mark.parametrize(
    ("create", "edit"),
    [
        (lambda: lstm(), edit_a_number),
        (lambda: rnng(beam="5"), edit_a_number),
        (lambda: masked_for_tests.masked("bert"), edit_norms),
    ],
    ids=["lstm", "rnng", "masked"],
)
def test_other_families(create: Callable[[], Any], edit: Callable[[Any], None]) -> None:
    model = create()
    model._given_out()
    asking = Asking(model)
    assert len(list(asking.score(TEXTS))) == 2
    asking.confirm()
    edit(model)
    with pytest.raises(sg.ModelError, match="changed since the model was created"):
        Asking(model).confirm()


def one_off(place: int) -> Sequence[torch.Tensor]:
    tensors = [torch.ones(70_000), torch.arange(13, dtype=torch.int8), torch.tensor(2.0).bfloat16()]
    (tensors[0] if place < 70_000 else tensors[1])[place % 70_000] = 3
    return tensors


def test_a_checksum_is_of_every_number_and_its_place() -> None:
    places = [0, 1, 65_535, 65_536, 69_999, 70_000, 70_012]
    assert len({checksum(one_off(place)) for place in places}) == len(places)
    assert checksum(one_off(7)) == checksum(one_off(7))
    matrix = torch.arange(12.0).reshape(3, 4)
    assert checksum([matrix.t()]) == checksum([matrix.t().contiguous()]) != checksum([matrix])
    assert checksum([matrix.view(-1)[1:]]) == checksum([matrix.view(-1)[1:].clone()])
