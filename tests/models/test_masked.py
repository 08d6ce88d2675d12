"""Masked models: the arithmetic of pseudo-log-likelihoods, rows shared and bounded, blanks."""

import copy
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from masked_for_tests import byte_pieces, masked, sentence_pieces, transformer, word_pieces

from syntagm.core import ModelError, UsageError
from syntagm.models import Fill, Gap, Masked, MaskedForward, names
from syntagm.models.masked import forward
from syntagm.models.masked.model import from_transformers

TEXT = "The old gardener watered the roses before the rain came."
PAIR = ["The old gardener watered the roses.", "The old gate watered the roses."]


def by_hand(model: Masked, text: str, words: bool) -> list[float]:
    """Bits of each token, one row at a time, with the tokenizer's and the model's own calls."""
    tokenizer: Any = model.tokenizer
    encoding = tokenizer(text, return_special_tokens_mask=True)
    ids, word_of = encoding["input_ids"], encoding.word_ids()
    bits = []
    for place, special in enumerate(encoding["special_tokens_mask"]):
        if special:
            continue
        row = list(ids)
        for later in range(place, len(ids)):
            if later == place or (words and word_of[later] == word_of[place]):
                row[later] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model.module(input_ids=torch.tensor([row])).logits[0, place].double()
        bits.append(-float(torch.log_softmax(logits, -1)[ids[place]]) / math.log(2))
    return bits


@pytest.mark.parametrize("masking", ["token", "word"])
@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta", "modernbert", "distilbert", "electra", "albert"])
def test_bits_are_those_of_rows_made_by_hand(kind: str, masking: str) -> None:
    tokenizer = {"roberta": byte_pieces(), "deberta": sentence_pieces()}.get(kind, word_pieces())
    model = masked(kind, tokenizer, masking=masking)
    assert model.forward.direct_head
    assert (model.forward.last is not None) == (kind in ("bert", "roberta", "electra"))
    assert (model.forward.first is not None) == (kind in ("bert", "roberta", "electra"))
    for text in (TEXT, "unbelievable, naïve rain"):
        [answer] = model.score([text])
        np.testing.assert_allclose(answer.bits, by_hand(model, text, masking == "word"), rtol=0, atol=2e-5)


def test_the_two_maskings_differ_within_words_of_several_tokens_only() -> None:
    tokenizer, text = word_pieces(), "The unbelievable gardeners waited."
    token, word = (next(masked("bert", tokenizer, masking=kind).score([text])) for kind in ("token", "word"))
    pieces = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).word_ids
    # A token with a later one of its own word.
    inside = np.array([word == after for word, after in zip(pieces, [*pieces[1:], None], strict=True)])
    assert inside.any()
    assert (np.abs(token.bits - word.bits) > 1e-5)[inside].all()
    np.testing.assert_allclose(token.bits[~inside], word.bits[~inside], rtol=0, atol=1e-5)


def test_a_pair_shares_the_row_of_the_word_that_differs() -> None:
    tokenizer = word_pieces()
    model = masked("bert", tokenizer)
    lengths = [len(tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids) for text in PAIR]
    assert lengths[0] == lengths[1]
    together = list(model.score(PAIR))
    assert model.forward.evaluated == 2 * lengths[0] - 1
    for text, answer in zip(PAIR, together, strict=True):
        np.testing.assert_allclose(answer.bits, next(model.score([text])).bits, rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False])
def test_a_long_sentence_goes_through_in_batches_of_the_budget(direct: bool) -> None:
    words = TEXT.rstrip(".").split()
    text = " ".join(words[number % len(words)] for number in range(350))
    made = transformer("distilbert", byte_pieces(), max_position_embeddings=1200)
    model = from_transformers(made, byte_pieces(), "long", batch="2400")
    model.forward.direct_head = direct
    [answer] = model.score([text])
    assert len(answer.bits) > 350
    assert np.isfinite(answer.bits).all()
    # A few rows a batch, never the whole sentence's; rows that repeat are one.
    assert len(answer.bits) / 2 < model.forward.evaluated <= len(answer.bits)
    assert 1200 < model.forward.widest <= 2400


def test_running_out_of_memory_halves_the_batch_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    model = masked("bert", batch="1000")
    expected = next(model.score([TEXT])).bits
    whole = MaskedForward.batch

    def narrow(self: MaskedForward, rows: list[Any]) -> torch.Tensor:
        if sum(len(row.inputs) for row in rows) > 60:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return whole(self, rows)

    monkeypatch.setattr(MaskedForward, "batch", narrow)
    np.testing.assert_allclose(next(model.score([TEXT])).bits, expected, rtol=0, atol=1e-5)
    assert model.forward.budget <= 120

    def none(*_: Any) -> torch.Tensor:
        raise MemoryError

    monkeypatch.setattr(MaskedForward, "batch", none)
    with pytest.raises(ModelError, match="single row"):
        next(model.score([TEXT]))


def test_an_architecture_whose_rows_see_each_other_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = transformer("bert", word_pieces())
    embed = type(made.bert.embeddings).forward

    def mixed(self: Any, *given: Any, **named: Any) -> torch.Tensor:
        hidden = embed(self, *given, **named)
        return hidden + hidden.mean(0, keepdim=True)

    monkeypatch.setattr(type(made.bert.embeddings), "forward", mixed)
    with pytest.raises(ModelError, match="batched scoring differs"):
        from_transformers(made, word_pieces(), "mixed")


def test_a_head_that_sees_more_than_its_place_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    made = transformer("bert", word_pieces())
    head = type(made.cls).forward

    def mixed(self: Any, hidden: torch.Tensor) -> torch.Tensor:
        return head(self, hidden + hidden[:, :1])

    monkeypatch.setattr(type(made.cls), "forward", mixed)
    model = from_transformers(made, word_pieces(), "mixed")
    assert not model.forward.direct_head
    np.testing.assert_allclose(next(model.score([TEXT])).bits, by_hand(model, TEXT, False), rtol=0, atol=2e-5)


def test_a_first_layer_that_is_given_more_than_a_token_and_its_place_is_not_shared() -> None:
    made = transformer("bert", word_pieces())

    def neighbours(_: Any, __: Any, hidden: torch.Tensor) -> torch.Tensor:
        return hidden + hidden.roll(1, 1)

    made.bert.embeddings.register_forward_hook(neighbours)
    model = from_transformers(made, word_pieces(), "mixed")
    assert model.forward.first is None
    assert model.forward.last is not None
    np.testing.assert_allclose(next(model.score([TEXT])).bits, by_hand(model, TEXT, False), rtol=0, atol=2e-5)


def test_one_layer_is_the_last_and_not_the_first_too() -> None:
    model = from_transformers(transformer("bert", word_pieces(), num_hidden_layers=1), word_pieces(), "one")
    assert (model.forward.first, model.forward.last is None) == (None, False)
    np.testing.assert_allclose(next(model.score([TEXT])).bits, by_hand(model, TEXT, False), rtol=0, atol=2e-5)


def test_special_symbols_inside_a_text_are_refused() -> None:
    for text in ("The [MASK] barks", "[CLS] The dog", "[SEP]"):
        with pytest.raises(ModelError, match="special symbol"):
            next(masked("bert").score([text]))


def test_weights_that_are_not_numbers_are_refused() -> None:
    broken = transformer("bert", word_pieces())
    with torch.no_grad():
        broken.bert.embeddings.LayerNorm.bias[1] = math.nan
    with pytest.raises(ModelError, match=r"1 of 32 weights of bert\.embeddings\.LayerNorm\.bias are not numbers"):
        from_transformers(broken, word_pieces(), "broken")


def test_a_text_beyond_the_positions_is_undefined_and_others_are_not() -> None:
    model = masked("bert")
    long = " ".join(["rain"] * 63)
    short, beyond = model.score(["rain " * 61 + "rain", long])
    # 62 words and two symbols fill the 64 positions.
    assert np.isfinite(short.bits).all()
    assert np.isnan(beyond.bits).all()
    assert len(beyond.bits) == 63
    # RoBERTa counts its positions from two: 130 in the table are 128.
    assert masked("roberta", byte_pieces()).forward.limit == 128
    # A vocabulary of as many entries as positions, with padding among them, is no table of positions.
    rows = len(word_pieces())
    equal = transformer("distilbert", word_pieces(), max_position_embeddings=rows)
    assert from_transformers(equal, word_pieces(), "equal").forward.limit == rows


def test_name_policies_and_fingerprint_say_how_it_was_masked() -> None:
    token, word = masked("bert"), masked("bert", masking="word")
    assert token.name == "masked:tiny-bert?masking=token"
    assert word.settings["masking"] == "word"
    assert token.fingerprint != word.fingerprint
    assert token.sees == "both"
    assert (token.bos, token.eos) == ("[CLS]", None)
    with pytest.raises(UsageError, match="masking"):
        masked("bert", masking="sentence")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "tokenizer"), [("bert", word_pieces()), ("roberta", byte_pieces()), ("deberta", sentence_pieces())]
)
def test_a_candidate_of_one_token_costs_what_it_costs_in_the_sentence(kind: str, tokenizer: Any) -> None:
    model = masked(kind, tokenizer)
    words = ("gardener", "the", "rain", "gate", "boats", "roses", "came")
    checked = 0
    for left, right in (("The old ", " watered the roses."), ("", " old rain came"), ("the old ", ".")):
        [fill] = model.fill([Gap(left, right, words)])
        for word, bits, above, below in zip(words, fill.bits, fill.above, fill.below, strict=True):
            [answer] = model.score([left + word + right])
            begin, end = len(left), len(left) + len(word)
            inside = [i for i, start in enumerate(answer.starts) if max(begin - 1, 0) <= start < end]
            if len(inside) > 1:
                assert np.isnan([bits, above, below]).all()
                continue
            checked += 1
            assert bits == pytest.approx(answer.bits[inside[0]], abs=1e-5)
            # The entry's own share is what the others leave.
            assert 1 - above - below == pytest.approx(2**-bits, abs=1e-6)
    assert checked >= 3


@pytest.mark.slow
def test_a_word_of_several_tokens_is_unmasked_from_left_to_right() -> None:
    several, by_word = masked("bert", masks="several"), masked("bert", masking="word")
    blank = Gap("The old ", " watered the roses.", ("gardener", "unbelievable", "gate"))
    [fill] = several.fill([blank])
    [one] = masked("bert").fill([blank])
    assert np.isnan(one.bits).tolist() == np.isnan(one.above).tolist() == [False, True, False]
    assert np.isnan(fill.above).tolist() == [False, True, False]
    # The same masks as within-word left-to-right masking has.
    [answer] = by_word.score([blank.left + "unbelievable" + blank.right])
    inside = (answer.starts >= 7) & (answer.starts < 7 + len(" unbelievable"))
    assert inside.sum() > 1
    assert fill.bits[1] == pytest.approx(answer.bits[inside].sum(), abs=1e-5)
    np.testing.assert_allclose(fill.bits[[0, 2]], one.bits[[0, 2]], rtol=0, atol=1e-6)


@pytest.mark.slow
def test_contexts_are_asked_once_and_candidates_tokenised_once_a_kind_of_context(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = masked("bert")
    words = ("gardener", "gate", "rain", "unheard")
    blanks = [Gap(left, " watered the roses.", words) for left in ("The old ", "No ", "The old ", "The ")]
    placed: list[int] = []
    places = model.filler.places
    place = places.place
    monkeypatch.setattr(places, "place", lambda blank, words: (placed.append(len(words)), place(blank, words))[1])
    fills = list(model.fill(blanks))
    assert model.forward.evaluated == 3
    # All four in the first context, then the first and the last word of one token.
    assert placed == [4, 2, 2]
    np.testing.assert_array_equal(fills[0].bits, fills[2].bits)
    for blank, fill in zip(blanks, fills, strict=True):
        same(fill, next(masked("bert").fill([blank])))


def same(one: Fill, other: Fill) -> None:
    for name in ("bits", "above", "below"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-5)


def test_unknown_candidates_are_marked() -> None:
    [fill] = masked("bert").fill([Gap("The old ", " came.", ("gardener", "☃"))])
    assert fill.in_vocabulary.tolist() == [True, False]


@pytest.mark.parametrize("masks", ["one", "several"])
@pytest.mark.parametrize(
    "blank",
    [
        Gap("The old ", " came.", ("gardener", "zyx")),  # a candidate of one token
        Gap("The old ", " came.", ("gardener", "rosezyx")),  # one of several
        Gap("The zyx ", " came.", ("gardener",)),
        Gap("The old ", " zyx.", ("gardener",)),
    ],
)
def test_tokens_beyond_the_rows_are_refused_in_blanks_as_in_texts(blank: Gap, masks: str) -> None:
    tokenizer = copy.deepcopy(word_pieces())
    made = transformer("bert", tokenizer)
    tokenizer.add_tokens("zyx")
    model = from_transformers(made, tokenizer, "bert", masks=masks)
    for ask in (lambda: list(model.fill([blank])), lambda: list(model.score([blank.left + "zyx" + blank.right]))):
        with pytest.raises(ModelError, match=r"the token 'zyx' \(number \d+\); expected a number below \d+"):
            ask()


def test_the_very_beginning_of_a_text_is_another_place_for_bytes() -> None:
    model = masked("roberta", byte_pieces())
    words = ("The", "the")
    first, later = model.fill([Gap("", " rain came", words), Gap("before ", " rain came", words)])
    tokenizer = byte_pieces().backend_tokenizer
    single = [len(tokenizer.encode(text, add_special_tokens=False).ids) == 1 for text in ("The", "the", " The", " the")]
    assert np.isfinite([*first.bits, *later.bits]).tolist() == single


def test_a_blank_in_the_middle_of_a_word_is_what_the_tokens_are_there() -> None:
    model = masked("bert", masks="several")
    # "the" before "s": the pieces of "thes" are those of no word "the" and an "s" unless the tokenizer divides it so.
    blank = Gap("before ", "s came", ("the", "rose"))
    [fill] = model.fill([blank])
    for word, bits in zip(blank.words, fill.bits, strict=True):
        starts = next(model.score([blank.left + word + blank.right])).starts.tolist()
        assert np.isfinite(bits) == (len(blank.left + word) in starts)


@pytest.mark.slow
def test_a_saved_checkpoint_is_the_live_model(tmp_path: Path) -> None:
    tokenizer = word_pieces()
    made = transformer("bert", tokenizer)
    made.save_pretrained(tmp_path / "m")
    tokenizer.save_pretrained(tmp_path / "m")
    loaded = names.load(f"masked:{tmp_path / 'm'}", masking="word")
    live = from_transformers(made, tokenizer, "live", masking="word")
    np.testing.assert_allclose(next(loaded.score([TEXT])).bits, next(live.score([TEXT])).bits, rtol=0, atol=1e-6)
    assert loaded.name.startswith("masked:m@")
    assert json.dumps(loaded.record["options"]) == '{"masking": "word"}'
    low = names.load(f"masked:{tmp_path / 'm'}", dtype="bf16")
    assert low.settings["dtype"] == "bf16"
    assert next(low.score([TEXT])).bits.sum() == pytest.approx(next(live.score([TEXT])).bits.sum(), rel=0.1)


def test_a_model_without_a_masked_head_is_refused(tmp_path: Path) -> None:
    from models_for_tests import byte_level, transformer as causal_transformer

    causal_transformer("gpt2", byte_level()).save_pretrained(tmp_path)
    byte_level().save_pretrained(tmp_path)
    with pytest.raises(
        ModelError, match=r"a model of the architecture GPT2; expected a masked model\. `causal:` loads"
    ):
        names.load(f"masked:{tmp_path}")


def pretrained(folder: Path, layers: int | None = None) -> Path:
    """A BERT as it is published, with the heads of pretraining; `layers` in its configuration edited."""
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(word_pieces()), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=64, pad_token_id=0,
    )  # fmt: skip
    transformers.BertForPreTraining(config).save_pretrained(folder)
    word_pieces().save_pretrained(folder)
    if layers is not None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"num_hidden_layers": layers}))
    return folder


def test_the_other_heads_of_a_published_checkpoint_are_recorded(tmp_path: Path) -> None:
    loaded = names.load(f"masked:{pretrained(tmp_path / 'm')}")
    heads = [f"{head}.{kind}" for head in ("bert.pooler.dense", "cls.seq_relationship") for kind in ("bias", "weight")]
    assert loaded.record["unused weights"] == heads


def test_layers_beyond_those_of_the_configuration_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"bert\.encoder\.layer\.1\..*; num_hidden_layers is 1; expected .* = 2 in"):
        names.load(f"masked:{pretrained(tmp_path / 'm', layers=1)}")


def test_a_changed_model_is_refused() -> None:
    made = transformer("bert", word_pieces())
    model = from_transformers(made, word_pieces(), "live")
    with torch.no_grad():
        made.bert.embeddings.word_embeddings.weight.add_(1.0)
    with pytest.raises(ModelError, match="changed"):
        next(model.score([TEXT]))


def test_texts_are_planned_so_many_tokens_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model = masked("bert")
    texts = [*PAIR, TEXT, "rain", "", "roses"]
    expected = [answer.bits for answer in model.score(texts)]
    monkeypatch.setattr("syntagm.models.masked.model._TOKENS", 10)
    told: list[int] = []
    for bits, answer in zip(expected, model.score(texts, told.append), strict=True):
        np.testing.assert_allclose(bits, answer.bits, rtol=0, atol=1e-5)
    assert sum(told) == len(texts)
    assert forward._HELD > 0
