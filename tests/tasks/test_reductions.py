"""Entropies and ranks of the distributions before tokens: by pencil, in every path of a family, in runs, caches and exports."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from masked_for_tests import masked
from models_for_tests import FAMILIES, causal, lstm, ngram, rnng
from toy_runs import agreement

import syntagm as sg
from syntagm.cli import main
from syntagm.core import ModelError, RunError, UsageError
from syntagm.models import LanguageModel, Reductions, Surprisals, Toy, possible
from syntagm.models.devices import reduce
from syntagm.runs import Run, open_run, run_suites
from syntagm.runs.cache import AnswerCache

RANK, ENTROPY = "rank(condition=good,region=2)", "entropy(condition=good,region=2)"
TEXTS = ["The old gardener watered the roses.", "The old boat", "", "The old gardener"]


def reductions(model: LanguageModel, texts: Sequence[str] = TEXTS) -> list[Reductions]:
    found = [answer.reductions for answer in model.reduce(texts)]
    assert None not in found
    return [each for each in found if each is not None]


def test_the_toy_by_pencil() -> None:
    """After `dog`: barks twice, near and saw are seen... each of 24 words has (count + 1) / (5 + 24)."""
    model = sg.load_model("toy")
    [answer] = model.reduce(["the dog barks"])
    assert isinstance(model, Toy)
    counts = [model._pairs["dog", word] for word in model.vocabulary]
    shares = [(count + 1) / (sum(counts) + 24) for count in counts]
    assert answer.reductions is not None
    assert answer.reductions.entropy[2] == pytest.approx(-sum(p * math.log2(p) for p in shares))
    assert answer.reductions.rank[2] == 1 + sum(count > model._pairs["dog", "barks"] for count in counts)
    assert answer.bits.tolist() == next(iter(model.score(["the dog barks"]))).bits.tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_rows_against_scipy_free_arithmetic(dtype: torch.dtype) -> None:
    logits = torch.randn(700, 501, generator=torch.Generator().manual_seed(1)).to(dtype)
    logits[0, :500] = -math.inf
    logits[1] = 0.0
    rows, targets = torch.arange(700), torch.arange(700) % 501
    targets[0] = 500
    entropy, rank = reduce(logits, rows, targets).numpy()
    wide = logits.double().numpy()
    shares = np.exp(wide - wide.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    terms = np.where(shares > 0, -shares * np.log2(np.maximum(shares, 1e-300)), 0.0)
    np.testing.assert_allclose(entropy, terms.sum(1), atol=1e-10)
    assert rank.tolist() == [1 + int((row > row[target]).sum()) for row, target in zip(wide, targets, strict=True)]
    assert (entropy[0], rank[0], rank[1]) == (0, 1, 1)
    assert entropy[1] == pytest.approx(math.log2(501))


def brute_force(model: object, texts: Sequence[str]) -> list[tuple[list[float], list[int]]]:
    """Entropies and ranks of GPT-2-like tokens from the model's own logits, one text at a time."""
    found = []
    for text in texts:
        ids = [model.bos_id, *model.tokenizer(text)["input_ids"]]  # type: ignore[attr-defined]
        logits = model.module(torch.tensor([ids])).logits[0].double()  # type: ignore[attr-defined]
        logs = logits.log_softmax(-1)
        entropy = -(logs.exp() * logs).sum(-1) / math.log(2)
        ranks = [1 + int((row > row[target]).sum()) for row, target in zip(logits, ids[1:], strict=False)]
        found.append((entropy[:-1].tolist(), ranks))
    return found


@pytest.mark.parametrize("how", ["tree", "padded", "hook"])
def test_every_path_of_a_causal_model(how: str) -> None:
    model = causal("gpt2", sharing="auto" if how == "tree" else "no")
    if how == "hook":
        model.forward.ways = replace(model.forward.ways, direct_head=False)
    texts = [text for text in TEXTS if text]
    with torch.no_grad():
        expected = brute_force(model, texts)
    for reduced, (entropy, ranks) in zip(reductions(model, texts), expected, strict=True):
        np.testing.assert_allclose(reduced.entropy, entropy, atol=1e-4)
        assert np.abs(reduced.rank - ranks).max() <= 1


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_bits_are_the_same_bytes_with_and_without_reductions(family: str) -> None:
    model = FAMILIES[family]()
    if "reduce" not in model.can:
        with pytest.raises(ModelError, match="can't tell the entropy and the rank"):
            list(model.reduce(TEXTS))
        return
    for plain, reduced in zip(model.score(TEXTS), model.reduce(TEXTS), strict=True):
        assert plain.bits.tobytes() == reduced.bits.tobytes()
        assert plain.reductions is None


def test_an_unscored_first_word_has_no_distribution() -> None:
    reduced = reductions(lstm(bos="no"))[0]
    assert np.isnan([reduced.entropy[0], reduced.rank[0]]).all()
    assert not np.isnan(reduced.entropy[1:]).any()


def test_words_corrected_for_their_ends_have_no_rank() -> None:
    with pytest.raises(ModelError, match="expected another value than boundary=word"):
        causal("gpt2", boundary="word").reduce(TEXTS)


def test_an_n_gram_model_by_its_own_candidates() -> None:
    """The ranks of all words after a history, from `fill`, are those in a text."""
    model = ngram()
    [answer] = model.reduce(["The old gardener"])
    [fill] = model.fill([sg.Gap("The old ", "", ("gardener",), best=10**6)])
    bits = np.array([entry.bits for entry in fill.best])
    assert answer.reductions is not None
    assert answer.reductions.entropy[2] == pytest.approx(float((bits * 2.0**-bits).sum()), abs=1e-5)
    assert answer.reductions.rank[2] == 1 + (bits < answer.bits[2]).sum()


def evaluated(folder: Path | None = None, cache: AnswerCache | None = None, model: str = "demo") -> Run:
    return run_suites(sg.load_model(model), [agreement()], folder, measures=[RANK, ENTROPY], cache=cache)


@pytest.mark.slow
def test_a_run_keeps_what_was_asked_for(tmp_path: Path) -> None:
    run = evaluated(tmp_path / "run")
    rows, tokens = run.distributions("agreement"), run.tokens("agreement")
    assert rows["probability"].to_numpy() == pytest.approx(2.0 ** -tokens["bits"].to_numpy())
    assert (run.kind(RANK).value, run.kind(ENTROPY).value) == ("rank", "bits")
    regions = run.regions("agreement")
    values = dict(run.results("agreement").filter(measure=RANK).select("item", "value").iter_rows())
    assert set(values) == set(regions["item"])
    for item, value in values.items():
        own = rows.filter(item=item, condition="good")["rank"].to_list()
        assert value in own
        assert value >= 1
    assert main(["export", str(tmp_path / "run"), "--as", "distributions", "-o", str(tmp_path / "d.csv")]) == 0
    header, first, *rest = (tmp_path / "d.csv").read_text().splitlines()
    assert header == "model,suite,item,condition,index,entropy,rank,probability"
    assert len(rest) + 1 == len(rows)
    assert float(first.split(",")[5]) == rows["entropy"][0]


def test_a_run_without_reductions_is_as_before(tmp_path: Path) -> None:
    run = run_suites(sg.load_model("toy"), [agreement()], tmp_path, measures=["surprisal(condition=good)"])
    assert "reductions" not in run.record["options"]
    assert "entropy" not in run.sentences("agreement").columns
    with pytest.raises(RunError, match="a run without entropies and ranks"):
        run.distributions("agreement")
    assert main(["export", str(tmp_path), "--as", "distributions", "-o", str(tmp_path / "d.csv")]) == 2


@pytest.mark.slow
def test_the_cache_has_answers_of_both_kinds(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "c.sqlite", pytest.fail)
    model = sg.load_model("demo")
    plain = run_suites(model, [agreement()], None, cache=cache)
    assert cache.hits == 0
    first = evaluated(cache=cache)
    assert cache.hits == 0
    again = evaluated(tmp_path / "again", cache)
    assert cache.hits == len({*plain.sentences("agreement")["text"]})
    assert again.distributions("agreement").equals(first.distributions("agreement"))
    assert open_run(tmp_path / "again").results().equals(first.results())


def test_a_model_that_cant_is_refused_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("random", "exec:nothing", "openai:http://localhost:1/v1?model=m", "demo?boundary=word"):
        command = ["run", name, "--suite", "hu2020/mvrr", "--measure", RANK, "-o", str(tmp_path / "x"), "--allow-exec"]
        assert main(command) == 2
        assert "can't tell the entropy and the rank of tokens" in capsys.readouterr().err
    with pytest.raises(ModelError, match="can't tell the entropy"):
        list(rnng().reduce(TEXTS))


def test_odd_numbers_are_refused() -> None:
    ones = np.ones(1)
    with pytest.raises(UsageError, match="shapes"):
        Reductions(ones, np.ones(2))
    with pytest.raises(UsageError, match="reductions of the shape"):
        Surprisals("a", np.zeros(1, np.int32), ones, ones > 0, Reductions(np.ones(2), np.ones(2)))
    for odd in (Reductions(-ones, ones), Reductions(ones, 0 * ones)):
        answer = Surprisals("a", np.zeros(1, np.int32), ones, ones > 0, odd)
        assert possible.fault(answer, sg.load_model("toy")) is not None


@pytest.mark.slow
def test_the_numbers_that_stand_for_a_region() -> None:
    run = run_suites(
        sg.load_model("demo"), [agreement()], None,
        measures=[f"entropy(condition=good,region=*{of})" for of in ("", ",of=mean", ",of=max")],
    )  # fmt: skip
    rows = run.distributions("agreement").filter(condition="good")
    item = rows["item"][0]
    own = rows.filter(item=item)["entropy"].to_numpy()
    found = run.results("agreement").filter(item=item)["value"].to_list()
    assert found == pytest.approx([own[0], own.mean(), own.max()])


REDUCTION, WHOLE = (f"entropy_reduction(condition=good,region={region})" for region in ("2", "*"))


def reducing(model: LanguageModel, folder: Path | None = None) -> Run:
    return run_suites(model, [agreement()], folder, measures=[REDUCTION, WHOLE])


@pytest.mark.parametrize("eos", ["no", "yes"])
def test_entropy_reductions_against_the_logits(eos: str) -> None:
    """max(0, H_t-1 - H_t) with H over the next token, from the model's own logits, one sentence at a time."""
    model = causal("gpt2", eos=eos)
    run = reducing(model)
    found = run.distributions("agreement")
    texts = {(item, condition): sentence.text for item, condition, sentence, _ in run.answers("agreement")}
    compared = 0
    for (item, condition), rows in found.group_by("item", "condition", maintain_order=True):
        ids = [model.bos_id, *model.tokenizer(texts[str(item), str(condition)])["input_ids"]]  # type: ignore[attr-defined]
        with torch.no_grad():
            logs = model.module(torch.tensor([ids])).logits[0].double().log_softmax(-1)  # type: ignore[attr-defined]
        # The entropy before each token, and the one after the last.
        entropy = (-(logs.exp() * logs).sum(-1) / math.log(2)).tolist()
        expected = [max(0.0, before - after) for before, after in pairwise(entropy)]
        shown = rows["entropy_reduction"].to_list()
        # What follows the last token is known only if the end of the text is scored; nothing follows this.
        assert shown[: len(expected) - (eos == "no")] == pytest.approx(
            expected[: None if eos == "yes" else -1], abs=1e-5
        )
        assert math.isnan(shown[-1])
        compared += len(expected)
        if condition == "good":
            # The whole sentence ends before the end-of-text symbol.
            [value] = run.results("agreement").filter(item=item, measure=WHOLE)["value"]
            step = max(0.0, entropy[0] - entropy[-1]) if eos == "yes" else math.nan
            assert value == pytest.approx(step, abs=1e-5, nan_ok=True)
    assert compared > 20
    assert found["entropy_reduction"].drop_nans().min() == 0  # type: ignore[comparison-overlap]


def test_the_entropy_reduction_of_a_region_is_one_step(tmp_path: Path) -> None:
    """From before its first token to after its last one, which of several tokens is not the sum of their reductions."""
    run = reducing(causal("gpt2"), tmp_path / "run")
    entropy = {}
    for (item, condition), rows in run.distributions("agreement").group_by("item", "condition"):
        entropy[item, condition] = rows["entropy"].to_list()
    values = run.results("agreement").filter(measure=REDUCTION).select("item", "value").rows()
    for item, condition, sentence, answer in run.answers("agreement"):
        if condition == "good":
            region = next(region for region in sentence.regions if region.name == "2")
            inside = [k for k, start in enumerate(answer.starts) if region.start - 1 <= start < region.end]
            before, after = entropy[item, condition][inside[0]], ([*entropy[item, condition], math.nan])[inside[-1] + 1]
            assert dict(values)[item] == pytest.approx(float(np.maximum(before - after, 0)), nan_ok=True)
    # Nothing follows the whole sentence.
    whole = run.results("agreement").filter(measure=WHOLE)
    assert whole["value"].is_nan().all()
    assert run.undefined
    file = tmp_path / "distributions.csv"
    export = ["export", str(tmp_path / "run"), "--as", "distributions", "-o", str(file)]
    assert main(export) == main(export) == 0
    header, *lines = file.read_text().splitlines()
    assert header == "model,suite,item,condition,index,entropy,rank,probability,entropy_reduction"
    assert len({line.count(",") for line in [header, *lines]}) == 1


@pytest.mark.slow
def test_an_entropy_reduction_needs_a_reader_from_left_to_right() -> None:
    with pytest.raises(UsageError, match="a model that reads from left to right"):
        reducing(masked("bert"))
    assert "entropy_reduction" not in evaluated().distributions("agreement").columns
