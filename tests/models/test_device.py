"""Computing on a GPU, tested without one: tensors of the device `meta` have no values, so waiting for one is an error."""

import copy
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import masked_for_tests
import numpy as np
import pytest
import torch
from models_for_tests import CAUSAL

from syntagm.models import (
    Forward,
    FullPrecision,
    Head,
    LstmNetwork,
    MaskedForward,
    Pack,
    Row,
    devices,
    names,
    plan,
    read_in_portions,
)
from syntagm.models.causal import model as causal
from syntagm.models.hugging_face.weights import sample
from syntagm.models.masked import model as masked
from syntagm.runs.executors import local

SEQUENCES = [[1, 2, 3, 4, 5], [1, 2, 3, 7, 8, 9], [1, 2], [4, 5, 6, 7]]
# Where prefixes aren't shared, transformers itself waits in most architectures: it looks for sequences joined by their positions.
TREES = [("gpt2", True), ("mamba", False)]


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of what is copied to the device."""
    copied: list[tuple[int, ...]] = []
    move = torch.Tensor.to

    def to(tensor: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
        result = move(tensor, *arguments, **options)
        if result.is_meta and not tensor.is_meta:
            copied.append(tuple(tensor.shape))
        return result

    monkeypatch.setattr(torch.Tensor, "to", to)
    return copied


def packs(tree: bool) -> list[Pack]:
    if tree:
        return list(plan(SEQUENCES, 6))
    return [pack for index in range(len(SEQUENCES)) for pack in plan(SEQUENCES, 1, among=[index])]


def on_device(family: str) -> Forward:
    known = CAUSAL[family]().forward
    return Forward(copy.deepcopy(known.model).to("meta"), 64, lambda _: known.ways)


@pytest.mark.parametrize(("family", "tree"), TREES)
def test_a_batch_is_begun_without_waiting(family: str, tree: bool, copies: list[tuple[int, ...]]) -> None:
    forward = on_device(family)
    copies.clear()
    with torch.inference_mode():
        finish = forward.batch(SEQUENCES, packs(tree), tree)
    # Tokens; rows and targets; rows of the head. A tree also has a mask and positions.
    assert len(copies) == (6 if tree else 4)
    with pytest.raises((NotImplementedError, RuntimeError), match="meta"):
        finish()


def test_gaps_wait_where_they_are_read_only() -> None:
    forward = on_device("gpt2")
    read: list[torch.Tensor] = []

    def keep(_: range, logits: Iterator[tuple[int, torch.Tensor]]) -> None:
        read.extend(part for _, part in logits)

    forward.visit(packs(True), [np.arange(len(pack.tokens)) for pack in packs(True)], True, keep)
    assert sum(len(part) for part in read) == sum(len(pack.tokens) for pack in packs(True))


def test_a_batch_of_a_masked_model_is_begun_without_waiting(copies: list[tuple[int, ...]]) -> None:
    known = masked_for_tests.transformer("bert", masked_for_tests.word_pieces())
    forward = MaskedForward(known.to("meta"), 4, 4096)
    assert forward.first is None
    rows = [Row(np.arange(5, 11), np.array([place]), place) for place in range(6)]

    def read(batch: list[int], logits: torch.Tensor) -> torch.Tensor:
        indices = torch.arange(len(batch), device=logits.device)
        return masked._nats(logits, indices, indices)

    copies.clear()
    [(batch, nats)] = forward.visit(rows, read)
    assert (len(batch), nats.shape, len(copies)) == (6, (6,), 2)


def test_memory_may_run_out_where_results_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    model, fetch, told = CAUSAL["gpt2"](), torch.Tensor.cpu, []
    expected = model.forward.surprisals(SEQUENCES, lambda _: None)
    model.forward.budget.tokens, failures = 6, iter([False, True])

    def scarce(tensor: torch.Tensor) -> torch.Tensor:
        if next(failures, False):
            raise torch.OutOfMemoryError("not so much")
        return fetch(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", scarce)
    rows = model.forward.surprisals(SEQUENCES, told.extend)
    assert sorted(told) == list(range(len(SEQUENCES)))
    assert model.forward.budget.tokens < 6
    for row, other in zip(rows, expected, strict=True):
        np.testing.assert_allclose(row.bits, other.bits, rtol=0, atol=1e-4)


def test_memory_may_run_out_in_the_softmax_of_a_masked_model(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, nats = masked_for_tests.word_pieces(), masked._nats
    model = masked.from_transformers(masked_for_tests.transformer("bert", tokenizer), tokenizer, "m")
    [expected] = model.score(["The old gardener watered the roses."])

    def scarce(logits: torch.Tensor, *targets: torch.Tensor) -> torch.Tensor:
        if len(logits) > 3:
            raise torch.OutOfMemoryError("not so much")
        return nats(logits, *targets)

    monkeypatch.setattr(masked, "_nats", scarce)
    [answer] = model.score(["The old gardener watered the roses."])
    np.testing.assert_allclose(answer.bits, expected.bits, rtol=0, atol=1e-4)


def test_a_change_of_weights_is_looked_for_with_one_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    model, fetch, fetched = CAUSAL["gpt2"]().forward.model, torch.Tensor.cpu, []
    monkeypatch.setattr(torch.Tensor, "cpu", lambda tensor: (fetched.append(1), fetch(tensor))[1])
    sample(model)
    assert len(fetched) == 1


def test_a_device_without_float64_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what `cpu` has fetched may become float64; Apple's GPUs don't have it."""
    head, draw = Head(torch.nn.Linear(8, 50), torch.float32), np.random.default_rng(0)
    logits, targets = torch.randn(6, 50), draw.integers(0, 50, 4)
    places = np.array([3, 0, 0, 5])
    expected = -torch.log_softmax(logits.double(), -1)[places, targets] / np.log(2)
    sets = (torch.arange(50)[:, None] < torch.tensor([10, 20])).float()
    masses = -(torch.softmax(logits.double(), -1) @ sets.double()).log2()
    monkeypatch.setattr(torch.Tensor, "double", lambda tensor: pytest.fail("float64 on the device"))
    finish = head.read(iter([(0, logits[:4].clone()), (4, logits[4:].clone())]), 6, places, targets, sets)
    monkeypatch.undo()
    bits, found, *_ = finish()
    np.testing.assert_allclose(bits, expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found, masses, rtol=0, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("options", ["", "&sharing=no", "&boundary=word", "&batch=64"])
def test_a_gpu_gives_the_numbers_of_the_cpu(options: str) -> None:
    texts = ["The old gardener watered the roses.", "The old gardeners near the gate were waiting.", "Ten"]
    on_cpu, on_gpu = (names.load(f"demo?device={place}{options}") for place in ("cpu", "cuda:0"))
    for expected, answer in zip(on_cpu.score(texts), on_gpu.score(texts), strict=True):
        np.testing.assert_allclose(answer.bits, expected.bits, rtol=0, atol=1e-3)


def precisions() -> list[Any]:
    return devices._precisions()


class TestFullPrecision:
    """Settings of PyTorch by which it rounds factors, as trainers and containers leave them."""

    @pytest.fixture(autouse=True)
    def _rounding(self) -> Iterator[None]:
        before = precisions()
        torch.set_float32_matmul_precision("high")
        yield
        torch.set_float32_matmul_precision("highest")
        devices._set_precisions(before)

    def test_it_holds_inside_and_nowhere_else(self) -> None:
        before = precisions()
        with FullPrecision(), FullPrecision():
            assert set(precisions()) <= {"ieee", "highest", False}
            assert not torch.is_grad_enabled()
        assert precisions() == before
        assert torch.get_float32_matmul_precision() == "high"

    def test_the_last_thread_restores(self) -> None:
        before, inside, leave = precisions(), threading.Event(), threading.Event()

        def other() -> None:
            with FullPrecision():
                inside.set()
                leave.wait()

        thread = threading.Thread(target=other)
        with FullPrecision():
            thread.start()
            inside.wait()
        assert precisions() != before
        leave.set()
        thread.join()
        assert precisions() == before

    @pytest.mark.parametrize("kind", ["causal", "masked", "lstm"])
    def test_models_compute_with_it(self, kind: str) -> None:
        seen: list[Sequence[Any]] = []

        def note(*_: Any) -> None:
            seen.append(precisions())

        if kind == "lstm":
            network = LstmNetwork(20, 8, 8, 1).eval()
            network.register_forward_hook(note)
            list(read_in_portions(network, [1, 2, 3], 2))
        elif kind == "masked":
            model, tokenizer = (
                masked_for_tests.transformer("bert", masked_for_tests.word_pieces()),
                masked_for_tests.word_pieces(),
            )
            model.get_input_embeddings().register_forward_hook(note)
            masked.from_transformers(model, tokenizer, "m")
        else:
            known = CAUSAL["gpt2"]()
            known.module.get_input_embeddings().register_forward_hook(note)
            list(causal.from_transformers(known.module, known.tokenizer, "m").score(["Ten boats."]))
        assert seen
        assert all(set(values) <= {"ieee", "highest", False} for values in seen)


@pytest.mark.parametrize("name", ["lstm", "rnng", "transformer_xl"])
def test_defaults_that_a_program_has_set_change_no_weights(name: str) -> None:
    folder = Path(__file__).parents[1] / "data" / "old" / "0.1" / "models" / name

    def numbers() -> list[float]:
        model = names.load(str(folder))
        return [float(bits) for answer in model.score(["the dog barks"]) for bits in answer.bits]

    state = torch.random.get_rng_state()
    expected = numbers()
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"):
            found = numbers()
    finally:
        torch.set_default_dtype(torch.float32)
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_masked_model_is_scored_whatever_the_default_device_is() -> None:
    model = masked.from_transformers(
        masked_for_tests.transformer("bert", masked_for_tests.word_pieces()), masked_for_tests.word_pieces(), "m"
    )
    expected = [answer.bits.sum() for answer in model.score(["a b", "b a"])]
    with torch.device("meta"):
        assert [answer.bits.sum() for answer in model.score(["a b", "b a"])] == expected


def test_gpus_of_a_container_are_numbered_from_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(local.glob, "glob", lambda _: ["/dev/nvidia3", "/dev/nvidia5"])
    assert local._devices() == ["0", "1"]
