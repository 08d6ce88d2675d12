"""Causal transformers: the numbers, however they are computed."""

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from models_for_tests import ALIKE, BEFORE_5, CAUSAL, END, byte_level, causal, sentencepiece_like, transformer, words
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError
from syntagm.models import Causal, Forward, Surprisals, names
from syntagm.models.causal.model import from_transformers

TEXTS = [
    "The old gardener watered the roses.",
    "The old gardener watered the boats.",
    "The old gardeners near the gate were waiting.",
    "The old gardeners near the gate was waiting.",
    "What did the teacher say?",
    "She knows who the painter admired, but he does not.",
    "Ten",
]


def reference(model: Causal, text: str) -> NDArray[np.float64]:
    """Bits of each token by one plain forward pass of the same model in float64."""
    body, tokenizer = model.forward.model, model.tokenizer
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    whole = [*([] if model.bos is None else [model.bos_id]), *ids, *([] if model.eos is None else [model.eos_id])]
    if len(whole) == 1:
        return np.array([math.nan])
    was = body.dtype
    with torch.no_grad():
        spread = body.double()(input_ids=torch.tensor([whole[:-1]])).logits[0].log_softmax(-1)
    body.to(was)
    bits = [-float(row[token]) / math.log(2) for row, token in zip(spread, whole[1:], strict=True)]
    return np.array([math.nan, *bits] if model.bos is None else bits)


# The options change what is done here, not what an architecture does: all with all in the slow lane.
@pytest.mark.parametrize(
    ("family", "options"),
    [
        pytest.param(
            family, options, marks=[pytest.mark.slow] * bool(options and family in ALIKE), id=f"{options}-{family}"
        )
        for options in ({}, {"bos": "no"}, {"eos": "yes"}, {"sharing": "no"}, {"batch": "7"})
        for family in CAUSAL
    ],
)
def test_bits_are_those_of_one_sentence_at_a_time_in_float64(family: str, options: dict[str, str]) -> None:
    if BEFORE_5 and family == "mpt":
        pytest.skip("before transformers 5, MPT can't compute in float64")
    tokenizer = CAUSAL[family]().tokenizer
    model = from_transformers(transformer(family, tokenizer), tokenizer, family, **options)
    for text, answer in zip(TEXTS, model.score(TEXTS), strict=True):
        np.testing.assert_allclose(answer.bits, reference(model, text), rtol=0, atol=1e-4)


@pytest.mark.slow
def test_what_the_probe_finds_out() -> None:
    found = {
        name: (model.forward.ways.tree, model.forward.ways.direct_head) for name in CAUSAL for model in [causal(name)]
    }
    # Are prefixes shared, and is the head applied outside? ALiBi and recurrence can't share; capping needs the model's own pass.
    assert found == {
        "gpt2": (True, True),
        "llama": (True, True),
        "neox": (True, True),
        "mamba": (False, True),
        "bloom": (False, True),
        "mpt": (False, True),
        "gemma2": (True, False),
    }


def test_sharing_computes_fewer_tokens_and_no_other_numbers() -> None:
    shared, apart = causal("gpt2"), causal("gpt2", sharing="no")
    for one, other in zip(shared.score(TEXTS), apart.score(TEXTS), strict=True):
        np.testing.assert_allclose(one.bits, other.bits, rtol=0, atol=1e-4)
    assert shared.forward.evaluated < apart.forward.evaluated
    assert shared.name == apart.name
    assert shared.fingerprint == apart.fingerprint


def test_a_device_is_waited_for_once_a_batch_and_while_the_next_one_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = causal("gpt2", batch="24")
    expected = [answer.bits for answer in model.score(TEXTS)]
    # A row of the vocabulary at a time, so that a batch has many blocks.
    model.forward.head._block = 1
    events, fetch, batch = [], torch.Tensor.cpu, model.forward.batch
    monkeypatch.setattr(model.forward, "batch", lambda *given: (events.append("begun"), batch(*given))[1])
    monkeypatch.setattr(torch.Tensor, "cpu", lambda tensor: (events.append("fetched"), fetch(tensor))[1])
    encoded = model.tokenizer(TEXTS, add_special_tokens=False)["input_ids"]
    rows = model.forward.surprisals([[model.bos_id, *ids] for ids in encoded], lambda _: None)
    assert len(events) > 6
    assert events == ["begun", *["begun", "fetched"] * (len(events) // 2 - 1), "fetched"]
    for row, bits in zip(rows, expected, strict=True):
        np.testing.assert_allclose(row.bits, bits, rtol=0, atol=1e-4)


@pytest.mark.parametrize("family", CAUSAL)
def test_probabilities_of_the_next_token_sum_to_one(family: str) -> None:
    model = CAUSAL[family]()
    context = model.tokenizer("The old", add_special_tokens=False)["input_ids"]
    everything = range(model.forward.head.vocabulary)
    rows = model.forward.surprisals([[model.bos_id, *context, token] for token in everything], lambda _: None)
    assert sum(2.0 ** -row.bits[-1] for row in rows) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_that_looks_ahead_is_refused(dtype: torch.dtype) -> None:
    masked = transformer("bert", words()).to(dtype)
    with pytest.raises(ModelError, match="changes with what follows it"):
        from_transformers(masked, words(), "masked")


@pytest.mark.parametrize("sharpen", [1.0, 8.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_capped_logits_are_seen_in_any_type(dtype: torch.dtype, sharpen: float) -> None:
    model = from_transformers(transformer("gemma2", byte_level(), sharpen).to(dtype), byte_level(), "capped")
    assert not model.forward.ways.direct_head


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("sharpen", [1.0, 4.0])
def test_layers_that_ignore_the_tree_mask_are_seen_in_any_type(dtype: torch.dtype, sharpen: float) -> None:
    torch.manual_seed(0)
    config = transformers.Lfm2Config(
        vocab_size=len(byte_level()), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, layer_types=["conv", "full_attention"], block_ff_dim=64, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    convolutional = transformers.Lfm2ForCausalLM(config).eval()
    with torch.no_grad():
        for weights in convolutional.parameters():
            if weights.dim() > 1:
                weights.mul_(sharpen)
    model = from_transformers(convolutional.to(dtype), byte_level(), "convolutional")
    assert not model.forward.ways.tree
    assert causal("gpt2").forward.ways.tree


class TestOutOfMemory:
    """A fake allocator: more than so many tokens at a time can't be held."""

    @pytest.fixture
    def limited(self, monkeypatch: pytest.MonkeyPatch) -> tuple[Causal, dict[str, int]]:
        model = causal("gpt2", batch="64")
        room = {"tokens": 20, "refused": 0, "calls": 0}
        forward = type(model.forward.model).base_model.fget(model.forward.model).forward

        def scarce(*arguments: Any, **inputs: Any) -> Any:
            room["calls"] += 1
            if inputs["input_ids"].numel() > room["tokens"]:
                room["refused"] += 1
                raise torch.OutOfMemoryError("not so much")
            return forward(*arguments, **inputs)

        monkeypatch.setattr(model.forward.model.base_model, "forward", scarce)
        return model, room

    def test_batches_are_halved_and_the_numbers_stay(self, limited: tuple[Causal, dict[str, int]]) -> None:
        model, room = limited
        plenty = list(causal("gpt2").score(TEXTS))
        for one, other in zip(model.score(TEXTS), plenty, strict=True):
            np.testing.assert_allclose(one.bits, other.bits, rtol=0, atol=1e-4)
        # 64 -> 32 -> 16: two refusals, one more at most where a batch was smaller than the budget.
        assert 1 <= room["refused"] <= 3
        assert model.forward.budget.tokens <= 20

    def test_it_remembers(self, limited: tuple[Causal, dict[str, int]]) -> None:
        model, room = limited
        list(model.score(TEXTS))
        refused = room["refused"]
        list(model.score(TEXTS))
        assert room["refused"] == refused

    def test_each_text_is_reported_once(self, limited: tuple[Causal, dict[str, int]]) -> None:
        told: list[int] = []
        list(limited[0].score(TEXTS, told.append))
        assert sum(told) == len(TEXTS)

    def test_a_single_sentence_that_does_not_fit_is_an_error(self, limited: tuple[Causal, dict[str, int]]) -> None:
        limited[1]["tokens"] = 3
        with pytest.raises(ModelError, match="out of memory for a single sentence"):
            list(limited[0].score(TEXTS))

    def test_no_room_for_one_token_ends_too(self, limited: tuple[Causal, dict[str, int]]) -> None:
        # Both texts need the start symbol only, so they are one tree of one token, which can't be halved.
        limited[1]["tokens"] = 0
        with pytest.raises(ModelError, match="out of memory"):
            list(limited[0].score(["a", "b"]))

    def test_other_errors_are_not_swallowed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        model = causal("gpt2")

        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr(model.forward.model.base_model, "forward", broken)
        with pytest.raises(RuntimeError, match="a bug"):
            list(model.score(TEXTS))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_weights_that_are_not_numbers_are_refused(number: float, tmp_path: Path) -> None:
    broken = transformer("gpt2", byte_level())
    with torch.no_grad():
        broken.transformer.h[1].mlp.c_fc.weight[3, 4] = number
    said = "1 of 4,096 weights of transformer.h.1.mlp.c_fc.weight are not numbers"
    with pytest.raises(ModelError, match=said):
        from_transformers(broken, byte_level(), "broken")
    broken.save_pretrained(tmp_path)
    byte_level().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=said):
        names.load(str(tmp_path))


def test_numbers_that_overflow_give_answers_that_are_not() -> None:
    broken = transformer("gpt2", byte_level())
    with torch.no_grad():
        broken.transformer.h[1].mlp.c_fc.weight.fill_(3e38)
    model = from_transformers(broken, byte_level(), "broken")
    for answer in model.score(TEXTS):
        assert np.isnan(answer.bits).all()


@pytest.mark.parametrize("family", ["gpt2", "gemma2"])
@pytest.mark.parametrize(("bos", "scored"), [("yes", 8), ("no", 9)])
def test_beyond_its_positions_a_model_says_nan(family: str, bos: str, scored: int) -> None:
    size = {"n_positions": 8} if family == "gpt2" else {"max_position_embeddings": 8}
    model = from_transformers(transformer(family, byte_level(), **size), byte_level(), "short", bos=bos)
    text = TEXTS[5]
    short, long = model.score(["The old", text])
    assert np.isfinite(short.bits[bos == "no" :]).all()
    # 8 inputs foretell 8 tokens; under bos=no the first token is an input and has no surprisal itself.
    assert len(long.bits) > 9
    assert np.isfinite(long.bits[bos == "no" : scored]).all()
    assert np.isnan(long.bits[scored:]).all()
    np.testing.assert_allclose(long.bits[:scored], reference_of_beginning(model, text, scored), rtol=0, atol=1e-4)


@pytest.mark.parametrize("positions", [1, 2, 3])
def test_hardly_any_positions(positions: int) -> None:
    model = from_transformers(transformer("gpt2", byte_level(), n_positions=positions), byte_level(), "tiny")
    for answer in model.score(TEXTS[:2]):
        assert np.isfinite(answer.bits[:positions]).all()
        assert np.isnan(answer.bits[positions:]).all()


def reference_of_beginning(model: Causal, text: str, tokens: int) -> NDArray[np.float64]:
    starts = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return reference(model, text[: starts[tokens - 1][1]])


def test_one_token_without_anything_before_it() -> None:
    for sharing in ("auto", "no"):
        model = causal("gpt2", bos="no", sharing=sharing)
        for answer in model.score(["T", "h", "e"]):
            assert answer.starts.tolist() == [0]
            assert np.isnan(answer.bits).all()


def test_a_long_text_goes_beside_short_ones() -> None:
    model = causal("gpt2", batch="16")
    long = " ".join(TEXTS[:2])
    for text, answer in zip([*TEXTS, long], model.score([*TEXTS, long]), strict=True):
        np.testing.assert_allclose(answer.bits, reference(model, text), rtol=0, atol=1e-4)


def test_sequences_beyond_a_sliding_window_are_padded_not_packed() -> None:
    tokenizer = sentencepiece_like()
    made = transformers.MistralForCausalLM(
        transformers.MistralConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            sliding_window=50,
            bos_token_id=tokenizer.bos_token_id,
        )
    ).eval()
    model = from_transformers(made, tokenizer, "windowed")
    assert model.forward.ways.tree
    long = " ".join(TEXTS)
    assert len(tokenizer(long)["input_ids"]) > 50
    for text, answer in zip([long, *TEXTS], model.score([long, *TEXTS]), strict=True):
        np.testing.assert_allclose(answer.bits, reference(model, text), rtol=0, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "close"),
    [
        ("f64", 1e-9),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (("f32", 1e-4), ("bf16", 0.5), ("f16", 0.05))),
    ],
)
def test_types(dtype: str, close: float) -> None:
    model = names.load(f"demo?dtype={dtype}&device=cpu")
    assert model.settings["dtype"] == dtype
    exact = list(names.load("demo?dtype=f64").score(TEXTS))
    for one, other in zip(model.score(TEXTS), exact, strict=True):
        np.testing.assert_allclose(one.bits, other.bits, rtol=0, atol=close)


def test_rows_beyond_the_tokenizer_take_part_in_the_softmax() -> None:
    wide = from_transformers(transformer("gpt2", byte_level(), rows=len(byte_level()) + 50), byte_level(), "wide")
    assert wide.forward.head.vocabulary == len(byte_level()) + 50
    for text, answer in zip(TEXTS, wide.score(TEXTS), strict=True):
        np.testing.assert_allclose(answer.bits, reference(wide, text), rtol=0, atol=1e-4)


def test_tokens_beyond_the_rows_are_refused() -> None:
    narrow = from_transformers(transformer("gpt2", byte_level(), rows=300), byte_level(), "narrow")
    assert list(narrow.score(["zz"]))
    with pytest.raises(ModelError, match=r"number \d+\) of 'The old gardener.*a number below 300"):
        list(narrow.score(TEXTS))


class TestWrap:
    """A live model."""

    def test_it_follows_the_model_it_is_made_of(self) -> None:
        live = transformer("gpt2", byte_level())
        before: list[Surprisals] = list(from_transformers(live, byte_level(), "live").score(TEXTS))
        with torch.no_grad():
            live.transformer.wte.weight.mul_(0.5)
        after = from_transformers(live, byte_level(), "live")
        assert abs(next(after.score(TEXTS)).bits - before[0].bits).max() > 0.01

    def test_a_model_that_was_trained_on_is_refused(self) -> None:
        live = transformer("gpt2", byte_level())
        model = from_transformers(live, byte_level(), "live")
        assert list(model.score(TEXTS))
        live(input_ids=torch.arange(9)[None], labels=torch.arange(9)[None]).loss.backward()
        torch.optim.AdamW(live.parameters(), lr=1e-3, fused=True).step()
        with pytest.raises(ModelError, match="weights that have changed"):
            list(model.score(TEXTS))

    def test_a_model_in_training_is_refused(self) -> None:
        live = transformer("gpt2", byte_level())
        model = from_transformers(live, byte_level(), "live")
        live.train()
        with pytest.raises(UsageError, match="training mode"):
            from_transformers(live, byte_level(), "live")
        # Dropout would change the numbers.
        with pytest.raises(UsageError, match="training mode"):
            list(model.score(TEXTS))

    @pytest.mark.parametrize("option", ["dtype", "device", "gguf", "adapter", "boss"])
    def test_options_that_would_do_nothing_are_refused(self, option: str) -> None:
        with pytest.raises(UsageError, match=option):
            from_transformers(transformer("gpt2", byte_level()), byte_level(), "live", **{option: "no"})

    @pytest.mark.slow
    def test_the_fingerprint_is_of_weights_vocabulary_and_policies(self) -> None:
        def made(seed: int = 1, **options: str) -> str:
            return from_transformers(
                transformer("gpt2", byte_level(), seed=seed), byte_level(), "live", **options
            ).fingerprint

        assert made() == made() == made(batch="9") == made(sharing="no")
        assert len({made(), made(seed=2), made(bos="no"), made(eos="yes"), made(boundary="word")}) == 5

    def test_how_a_tokenizer_last_cut_or_padded_changes_nothing(self) -> None:
        live, tokenizer = transformer("gpt2", byte_level()), copy.deepcopy(byte_level())
        backend = tokenizer.backend_tokenizer
        backend.no_truncation()
        plain = from_transformers(live, tokenizer, "live")
        expected = [answer.bits for answer in plain.score(TEXTS)]
        backend.enable_truncation(3)
        backend.enable_padding(length=50)
        again = from_transformers(live, tokenizer, "live")
        assert again.fingerprint == plain.fingerprint
        for bits, answer in zip(expected, again.score(TEXTS), strict=True):
            np.testing.assert_array_equal(bits, answer.bits)


@pytest.mark.parametrize(
    ("option", "value"), [("bos", "maybe"), ("dtype", "f8"), ("batch", "0"), ("batch", "many"), ("device", "moon:3")]
)
def test_options_that_cannot_be_taken(option: str, value: str) -> None:
    with pytest.raises(UsageError, match=option):
        names.load(f"demo?{option}={value}")


@pytest.mark.slow
def test_the_start_symbol() -> None:
    assert names.load("demo").bos == END
    assert names.load("demo?bos=no").bos is None
    # A tokenizer without one: auto takes nothing, yes is refused; where model and tokenizer share the end symbol, that.
    bare = words(bos=None)
    model = transformer("llama", bare)
    model.config.bos_token_id = None
    assert from_transformers(model, bare, "bare").bos is None
    assert from_transformers(model, bare, "bare").settings["bos"] == "no"
    with pytest.raises(UsageError, match="no start symbol"):
        from_transformers(model, bare, "bare", bos="yes")
    model.config.bos_token_id = model.config.eos_token_id
    assert from_transformers(model, bare, "bare").bos == "</s>"


def test_the_probe_leaves_no_trace() -> None:
    assert isinstance(causal("gpt2").forward, Forward)
    assert causal("gpt2").forward.evaluated == 0
