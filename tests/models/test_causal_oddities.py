"""Causal models with an odd habit each: what they do must be seen, and no number may be wrong without a word."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from models_for_tests import byte_level, causal, transformer

from syntagm.core import ModelError, lacks_memory
from syntagm.models import Causal, Head, Surprisals, names
from syntagm.models.causal import forward
from syntagm.models.causal.model import from_transformers

DRAW = np.random.default_rng(7)
WORDS = ["gardener", "watered", "roses", "boats", "near", "the", "gate", "waiting", "No", "one"]
TEXTS = ["The old gardener " + " ".join(DRAW.choice(WORDS, 12)) for _ in range(40)]


def furthest(one: list[Surprisals], other: list[Surprisals]) -> float:
    return max(float(np.abs(a.bits - b.bits).max()) for a, b in zip(one, other, strict=True))


def local(attention: list[str], window: int, positions: int) -> Any:
    """GPT-Neo, whose layers look back a window counted in places, whatever mask they are given."""
    torch.manual_seed(1)
    made = transformers.GPTNeoForCausalLM(
        transformers.GPTNeoConfig(
            vocab_size=len(byte_level()),
            hidden_size=32,
            num_layers=2,
            num_heads=2,
            attention_types=[[attention, 1]],
            window_size=window,
            max_position_embeddings=positions,
            intermediate_size=64,
            bos_token_id=0,
            eos_token_id=0,
        )
    ).eval()
    with torch.no_grad():
        for weights in made.parameters():
            if weights.dim() > 1:
                weights.mul_(8)
    return made


@pytest.mark.parametrize(
    ("attention", "window", "positions"),
    [(["global", "local"], 112, 512), (["global", "global"], 256, 112)],
    ids=["window", "table of positions"],
)
def test_packs_are_no_wider_than_what_layers_reach(attention: list[str], window: int, positions: int) -> None:
    made = local(attention, window, positions)
    shared, apart = (from_transformers(made, byte_level(), "local", sharing=choice) for choice in ("auto", "no"))
    assert shared.forward.ways.tree
    assert furthest(list(shared.score(TEXTS)), list(apart.score(TEXTS))) < 1e-3


class Deviant(transformers.GPT2LMHeadModel):
    """GPT-2 whose own forward pass does something to the body's input or output that scoring must not lose."""

    habit = ""

    def forward(self, input_ids: Any = None, use_cache: Any = None, **named: Any) -> Any:
        if self.habit == "places":
            named.setdefault("position_ids", torch.arange(input_ids.shape[1])[None] + 1)
        hidden = self.transformer(input_ids, use_cache=use_cache, **named)[0]
        if self.habit == "scaled in place":
            hidden.mul_(1.01)
        if self.habit == "twice":
            hidden = hidden + 0.1 * self.transformer(input_ids, use_cache=use_cache, **named)[0]
        logits = self.lm_head(hidden) * (1.01 if self.habit == "scaled after" else 1)
        return transformers.modeling_outputs.CausalLMOutput(logits=logits)


def deviant(habit: str, dtype: torch.dtype) -> Any:
    made = transformer("gpt2", byte_level()).to(dtype)
    made.__class__ = type("Deviant", (Deviant,), {"habit": habit})
    return from_transformers(made, byte_level(), "deviant")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("habit", ["places", "scaled in place", "twice", "scaled after"])
def test_what_a_model_does_around_its_body_is_seen_in_any_type(habit: str, dtype: torch.dtype) -> None:
    assert deviant("", dtype).forward.ways.direct_head
    assert not deviant(habit, dtype).forward.ways.direct_head


class Layer(torch.nn.Module):
    """A layer to whose output at each place is added what `add` makes of the outputs at all places."""

    def __init__(self, inner: Any, add: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.inner, self.add = inner, add

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        plain: torch.Tensor = self.inner(inputs)
        return plain + self.add(plain)


def next_after(place: int, plain: torch.Tensor) -> torch.Tensor:
    shifted = plain.roll(-1, 1)
    return torch.where(torch.arange(plain.shape[1])[:, None] >= place, shifted, 0.0)


def in_blocks(size: int, plain: torch.Tensor) -> torch.Tensor:
    means = [part.mean(1, keepdim=True).expand_as(part) for part in plain.split(size, 1)]
    return torch.cat(means, 1)


@pytest.mark.parametrize(
    "add",
    [
        pytest.param(partial(next_after, 0), id="the next token"),
        pytest.param(partial(next_after, 6), id="the next token, from the seventh on"),
        pytest.param(lambda plain: plain.mean(1, keepdim=True), id="all tokens"),
        pytest.param(lambda plain: plain * plain.shape[1] / 50, id="the number of tokens"),
        *(pytest.param(partial(in_blocks, size), id=f"blocks of {size}") for size in (2, 3, 4, 5, 8, 16)),
    ],
)
def test_whatever_a_layer_sees_ahead_is_refused(add: Callable[[torch.Tensor], torch.Tensor]) -> None:
    made = transformer("gpt2", byte_level())
    made.transformer.h[0].mlp = Layer(made.transformer.h[0].mlp, add).eval()
    with pytest.raises(ModelError, match="changes with what follows it"):
        from_transformers(made, byte_level(), "ahead")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("positions", [2, 3, 5, 8])
def test_a_model_with_few_positions_that_looks_ahead_is_refused(positions: int, dtype: torch.dtype) -> None:
    masked = transformer("bert", byte_level(), max_position_embeddings=positions).to(dtype)
    with pytest.raises(ModelError, match="changes with what follows it"):
        from_transformers(masked, byte_level(), "masked")


def test_a_body_whose_arguments_cannot_be_compared_is_run_again() -> None:
    made, calls = transformer("gpt2", byte_level()), []
    forward_of = made.transformer.forward
    made.transformer.forward = lambda *given, **named: (calls.append(1), forward_of(*given, **named))[1]
    model = from_transformers(made, byte_level(), "open")
    assert model.forward.ways.direct_head
    assert len(calls) == 9


def test_the_probe_runs_the_body_seven_times() -> None:
    """Four sequences alone; all of them in a batch, and twice in a tree. Then some tokens, to know the model again."""
    made, calls = transformer("gpt2", byte_level()), []
    made.transformer.register_forward_hook(lambda *_: calls.append(1))
    from_transformers(made, byte_level(), "counted")
    assert len(calls) == 7 + 1
    assert len(made.transformer._forward_hooks) == 1


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("stored")
    transformer("gpt2", byte_level()).save_pretrained(folder)
    byte_level().save_pretrained(folder)
    return str(folder)


def test_one_text_is_computed_as_the_model_itself_does_before_batches_are_probed(
    stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward.Forward, "batch", None)
    model = names.load(stored)
    one = [*model.score(TEXTS[:1]), *model.score(TEXTS[1:2]), *model.reduce(TEXTS[:1])]
    monkeypatch.undo()
    assert furthest(one, list(model.score([TEXTS[0], TEXTS[1], TEXTS[0]]))) < 1e-4
    assert isinstance(model, Causal)
    # The probe isn't counted: three texts alone, and two of them in a tree.
    inputs = [len(model.tokenizer(text)["input_ids"]) for text in TEXTS[:2]]
    assert 2 * inputs[0] + inputs[1] < model.forward.evaluated <= 3 * inputs[0] + 2 * inputs[1]
    before = model.forward.evaluated
    list(model.score(TEXTS[:1]))
    assert model.forward.evaluated == before + inputs[0]


def test_a_model_whose_seal_was_renewed_is_neither_hashed_nor_probed_when_it_is_loaded() -> None:
    demo = names.load("demo")
    assert isinstance(demo, Causal)
    assert not {"record", "_weights"} & vars(demo).keys()
    assert demo.forward._ways is None
    assert list(demo.record)[-1] == "seal renewed"


def test_what_depends_on_the_probe_asks_for_it(stored: str) -> None:
    """What rounding the probe finds is up to the processor, and to where the memory of a copy of the weights begins."""
    model = names.load(stored)
    assert isinstance(model, Causal)
    assert model.forward._ways is None
    assert 0 < model.numerical_error < 1e-4
    assert model.forward._ways
    assert names.load(stored).record["prefixes"] == "shared (packed trees)"


def test_a_probe_that_fails_or_is_interrupted_says_so_each_time(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = names.load(stored), forward.Forward.batch

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(forward.Forward, "batch", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            list(model.score(TEXTS))
    monkeypatch.setattr(forward.Forward, "batch", lambda *_: 1 / 0)
    for _ in range(2):
        with pytest.raises(ModelError, match="batched scoring differs"):
            list(model.score(TEXTS))
    monkeypatch.setattr(forward.Forward, "batch", batch)
    assert furthest(list(model.score(TEXTS)), list(causal("gpt2").score(TEXTS))) < 1e-4


@pytest.mark.parametrize("masked", [-float("inf"), torch.finfo(torch.float32).min, -1e9])
def test_rows_that_a_model_masks(masked: float) -> None:
    """Rows beyond the tokenizer, which the model itself never says: the probe meets them, the texts don't."""
    size = len(byte_level())
    made = transformer("gpt2", byte_level(), rows=size + 50)
    plain = made.lm_head

    def head(hidden: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(hidden, plain.weight).index_fill_(-1, torch.arange(size, size + 50), masked)

    expected = list(from_transformers(made, byte_level(), "plain", sharing="no").score(TEXTS))
    made.lm_head.forward = head
    model = from_transformers(made, byte_level(), "masked")
    answers = list(model.score(TEXTS))
    assert model.numerical_error < 1e-3
    # Fewer rows share the probability, so no token has more bits than before.
    assert all((a.bits < b.bits + 1e-4).all() for a, b in zip(answers, expected, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gpt2", "gemma2"])
def test_threads_do_not_disturb_each_other(family: str) -> None:
    model = causal(family)
    expected, found = list(model.score(TEXTS)), []

    def work() -> None:
        found.extend(furthest(expected, list(model.score(TEXTS))) for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 9
    assert max(found) == 0.0


def test_an_interrupt_leaves_no_hook_on_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_self: Head, chunks: Any, *_: Any, **_named: Any) -> Any:
        next(chunks)
        raise KeyboardInterrupt

    model = causal("gemma2")
    assert not model.forward.ways.direct_head
    monkeypatch.setattr(Head, "read", read)
    # The exception is held on to, as an interactive session does: what it refers to is not cleared away.
    with pytest.raises(KeyboardInterrupt) as _held:
        list(model.score(TEXTS))
    assert not model.forward.head.layer._forward_pre_hooks


def test_where_the_head_needs_the_whole_model_a_batch_is_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    # 400 rows of the head and room for 80,000 numbers: 200 tokens at a time, though a batch may have 512.
    monkeypatch.setattr("syntagm.models.causal.forward._HELD", 80_000)
    made, calls, batches = transformer("gemma2", byte_level()), [], []
    made.register_forward_hook(lambda *_: calls.append(1))
    model = from_transformers(made, byte_level(), "gemma2", sharing="no")
    calls.clear()
    batch = model.forward.batch
    monkeypatch.setattr(forward.Forward, "batch", lambda _, *given: (batches.append(1), batch(*given))[1])
    assert list(model.score(TEXTS))
    assert len(calls) == len(batches) > 1


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("MPS backend out of memory (MPS allocated: 9 GB)", True),
        ("CUDA error: out of memory", True),
        ("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes", True),
        ("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes", True),
        ("std::bad_alloc", True),
        ("The size of tensor a (128) must match the size of tensor b (189)", False),
    ],
)
def test_what_is_out_of_memory(message: str, expected: bool) -> None:
    assert lacks_memory(RuntimeError(message)) is expected


def limited(monkeypatch: pytest.MonkeyPatch, tokens: int) -> None:
    """A device with memory for so many tokens at a time."""
    batch = forward.Forward.batch

    def narrow(self: Any, sequences: Any, packs: Any, *others: Any) -> Any:
        if sum(len(pack.tokens) for pack in packs) > tokens:
            raise RuntimeError("CUDA error: out of memory")
        return batch(self, sequences, packs, *others)

    monkeypatch.setattr(forward.Forward, "batch", narrow)


def test_out_of_memory_inside_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = list(causal("gpt2").score(TEXTS[:4]))
    # Sequences of the probe have 47 inputs, all of them in one tree twice as many.
    limited(monkeypatch, 60)
    assert furthest(expected, list(causal("gpt2").score(TEXTS[:4]))) < 1e-3


def test_no_memory_for_a_sentence_of_the_probe_is_said_to_be_that(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, 10)
    with pytest.raises(ModelError, match="out of memory for a single sentence of 15 tokens"):
        causal("gpt2")
