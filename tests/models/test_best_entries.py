"""The most probable vocabulary entries in gaps: those of the library alone, and of full distributions."""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from masked_for_tests import byte_pieces, masked, sentence_pieces, word_pieces
from models_for_tests import FAMILIES, byte_level, filling, lstm, ngram, sentencepiece_like, transformer, words
from test_causal_fill import word_pieces as marked_pieces
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from syntagm.core import ModelError, UsageError
from syntagm.models import Entries, Entry, Gap, LanguageModel, Masked, likeliest, load
from syntagm.models.causal.model import from_transformers
from syntagm.models.words.vocabulary import END

LEFTS = (
    "The old ",
    "The old gardener watered the ",
    "No one who has met the ",
    "The boats near the gate ",
    "The rain ",
)
WORDS = ("roses", "gardener", "rain", "the")
RIGHTS = (" .", " came.", " watered the roses.", "", " before the rain came.")


def refuse_others(best: tuple[Entry, ...], logits: torch.Tensor, tokenizer: Any, mark: str) -> None:
    """Compare a list with the library's own sorting and decoding."""
    highest = logits.double().log_softmax(-1).topk(len(best))
    assert len(best) == 10
    assert [entry.bits for entry in best] == pytest.approx((-highest.values / math.log(2)).tolist(), abs=1e-3)
    for entry, number in zip(best, highest.indices.tolist(), strict=True):
        [token], decoded = tokenizer.convert_ids_to_tokens([number]), tokenizer.decode([number])
        if number in tokenizer.all_special_ids or token.startswith("<0x"):
            assert not entry.begins
            assert entry.text in (token, decoded)
        else:
            assert entry.text == (decoded.strip().removeprefix("##") or decoded)
            spaced = token.startswith(mark) and token != mark
            assert entry.begins == (not token.startswith("##") if mark in ("##", "") else spaced)


@pytest.mark.parametrize(
    ("mark", "tokenizer"), [("Ġ", byte_level), ("▁", sentencepiece_like), ("##", marked_pieces), ("", words)]
)
@pytest.mark.parametrize("fill", ["word", "token"])
def test_causal_models_list_what_transformers_alone_finds(mark: str, tokenizer: Callable[[], Any], fill: str) -> None:
    """Five gaps with each of four tokenizers: twenty, under either number of a candidate."""
    made = tokenizer()
    module = transformer("gpt2", made, sharpen=5.0)
    model = from_transformers(module, made, "tiny", fill=fill)
    fills = model.fill([Gap(left, " .", WORDS, 10) for left in LEFTS])
    for left, answer in zip(LEFTS, fills, strict=True):
        ids = made(left.rstrip(), add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logits = module(input_ids=torch.tensor([[made.bos_token_id, *ids]])).logits[0, -1]
        refuse_others(answer.best, logits, made, mark)


@pytest.mark.parametrize(
    ("kind", "mark", "tokenizer"),
    [
        ("bert", "##", word_pieces()),
        ("roberta", "Ġ", byte_pieces()),
        ("deberta", "▁", sentence_pieces()),
        ("distilbert", "##", word_pieces()),
    ],
)
def test_masked_models_list_what_transformers_alone_finds(kind: str, mark: str, tokenizer: Any) -> None:
    """Five gaps with each of four models: twenty."""
    model = masked(kind, tokenizer)
    assert isinstance(model, Masked)
    gaps = [Gap(left, right, WORDS, 10) for left, right in zip(LEFTS, RIGHTS, strict=True)]
    for gap, answer in zip(gaps, model.fill(gaps), strict=True):
        text = f"{gap.left}{tokenizer.mask_token}{gap.right}"
        ids = tokenizer(text.replace(f" {tokenizer.mask_token}", tokenizer.mask_token) if mark != "##" else text)
        row = torch.tensor([ids["input_ids"]])
        [place] = (row[0] == tokenizer.mask_token_id).nonzero().flatten().tolist()
        with torch.no_grad():
            logits = model.module(input_ids=row).logits[0, place]
        refuse_others(answer.best, logits, tokenizer, mark)


@pytest.mark.parametrize("family", [*filling(), "toy"])
def test_models_of_words_list_the_words_of_the_full_distribution(family: str) -> None:
    """Each word's own answer as a candidate, sorted, against the list."""
    model: LanguageModel = load("toy") if family == "toy" else FAMILIES[family]()
    known = [word for word in model.vocabulary.words if model.vocabulary.known(word)] if family != "toy" else [
        word for word in model.vocabulary if word not in ("</s>", "<unk>")  # type: ignore[attr-defined]
    ]  # fmt: skip
    for left in LEFTS[:3]:
        [every] = model.fill([Gap(left, "", tuple(known), 10_000)])
        costs = dict(zip(known, every.bits.tolist(), strict=True))
        listed = {entry.text: entry.bits for entry in every.best if entry.begins}
        assert listed.keys() == costs.keys()
        # Some models look up candidates in lower case.
        alike = [word for word in known if model.settings.get("case") != "lower" or word == word.lower()]
        assert [listed[word] for word in alike] == pytest.approx([costs[word] for word in alike], abs=1e-5)
        assert len(alike) >= 11
        assert [entry.bits for entry in every.best] == sorted(entry.bits for entry in every.best)
        # With the classes of unknown words and the end symbol, they are all that can follow.
        assert math.fsum(2.0**-entry.bits for entry in every.best) == pytest.approx(1, abs=1e-5)
        assert END in {entry.text for entry in every.best if not entry.begins}
        [few] = model.fill([Gap(left, "", tuple(known[:2]), 4)])
        assert few.best == every.best[:4]


@pytest.mark.parametrize("family", ["gpt2", "llama", "mamba", *filling(), "bert"])
def test_lists_change_no_other_number_and_depend_on_no_other_gap(family: str) -> None:
    model = masked("bert") if family == "bert" else FAMILIES[family]()
    plain = list(model.fill([Gap(left, " .", WORDS) for left in LEFTS]))
    wanted = [0, 3, 5, 3, 1]
    mixed = list(model.fill([Gap(left, " .", WORDS, best) for left, best in zip(LEFTS, wanted, strict=True)]))
    again = list(model.fill([Gap(LEFTS[1], " .", WORDS), Gap(LEFTS[1], " .", WORDS, 3)]))
    assert [len(fill.best) for fill in mixed] == wanted
    assert [len(fill.best) for fill in again] == [0, 3]
    for before, after in zip([*plain, *[plain[1]] * 2], [*mixed, *again], strict=True):
        assert before.best == ()
        for name in ("bits", "above", "below"):
            np.testing.assert_allclose(getattr(before, name), getattr(after, name), rtol=0, atol=1e-4)
    assert [entry.text for entry in again[1].best] == [entry.text for entry in mixed[1].best]


def test_the_rank_of_a_candidate_is_its_place_in_the_list() -> None:
    """What `above` sums is what is listed before the candidate."""
    for model in (FAMILIES["gpt2"](), masked("bert"), lstm(), ngram()):
        [fill] = model.fill([Gap("The old ", " came.", WORDS, 10_000)])
        costs = {entry.text: entry.bits for entry in fill.best if entry.begins}
        ranked = 0
        for word, above, known in zip(WORDS, fill.above, fill.in_vocabulary, strict=True):
            if known and not math.isnan(above):
                before = math.fsum(2.0**-entry.bits for entry in fill.best if entry.bits < costs[word] - 1e-9)
                assert above == pytest.approx(before, abs=1e-5)
                ranked += 1
        assert ranked


def test_where_nothing_is_scored_nothing_is_listed() -> None:
    """Beyond the positions, and before the first word of a model that nothing precedes."""
    model = from_transformers(transformer("gpt2", byte_level(), n_positions=8), byte_level(), "short")
    assert [fill.best for fill in model.fill([Gap("a " * 20, "", WORDS, 3)])] == [()]
    assert [fill.best for fill in lstm(bos="no").fill([Gap("", "", WORDS, 3)])] == [()]
    assert [fill.best for fill in masked("bert").fill([Gap("the " * 80, "", WORDS, 3)])] == [()]


def test_entries_of_equal_probability_are_in_the_order_of_the_vocabulary() -> None:
    logits = np.array([0.0, 2.0, 1.0, 2.0, -np.inf, 1.0])
    assert likeliest(logits, 3).tolist() == [1, 3, 2]
    assert likeliest(logits, 10).tolist() == [1, 3, 2, 5, 0]
    assert likeliest(logits, 0).tolist() == []


class Of:
    """Entries with their probability by number, the first the most probable."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer, self.entries = tokenizer, Entries(tokenizer)

    def __call__(self, left: str, *tokens: str) -> list[tuple[str, bool]]:
        logits = np.full(len(self.tokenizer) + 2, -np.inf)
        for rank, token in enumerate(tokens):
            logits[
                len(self.tokenizer) + 1 if token == "beyond" else self.tokenizer.convert_tokens_to_ids(token)
            ] = -rank
        return [(entry.text, entry.begins) for entry in self.entries.best(logits, left, len(tokens))]


def test_how_entries_are_spelled_and_whether_they_begin_a_word() -> None:
    spelled = Of(byte_level())
    mixed = ("Ġfor", "for", "Ġ", "<|endoftext|>", "beyond", "Ã")
    assert spelled("The old ", *mixed) == [
        ("for", True), ("for", False), (" ", False), ("<|endoftext|>", False), (f"<{len(byte_level()) + 1}>", False),
        ("\ufffd", False),
    ]  # fmt: skip
    # Symbols of a chat are no words, either.
    chat = copy.deepcopy(byte_level())
    chat.add_tokens(AddedToken("<|turn|>", special=True))
    assert Of(chat)("", "<|turn|>", "Ġfor") == [("<|turn|>", False), ("for", True)]
    # Nothing is before the gap; a mark is; a letter is, so that nothing begins a word there.
    assert spelled("", "Ġfor", "for") == [("for", True), ("for", True)]
    assert spelled('She said "', "Ġfor", "for") == [("for", False), ("for", True)]
    assert spelled("The ga", "Ġfor", "for") == [("for", False), ("for", False)]
    spelled = Of(sentencepiece_like())
    assert spelled("The old ", "▁to", "e", "<0x0A>", "</s>") == [
        ("to", True), ("e", False), ("\n", False), ("</s>", False),
    ]  # fmt: skip


def test_endings_of_words_are_no_part_of_their_text() -> None:
    """As in the first GPT: a mark at the last token of each word."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>", unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.BPEDecoder()
    trainer = trainers.BpeTrainer(
        vocab_size=60, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    tokenizer.train_from_iterator(["the dog barks"] * 9, trainer)
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    assert Of(made)("the ", "dog</w>", "d") == [("dog", True), ("d", True)]


def test_what_can_not_be_listed_is_refused() -> None:
    with pytest.raises(ModelError, match=r"random.*can't list the most probable entries of its vocabulary"):
        list(load("random").fill([Gap("The ", "", ("dog",), 3)]))
    with pytest.raises(UsageError, match="Gap, best: -1; expected 0 or more"):
        Gap("The ", "", ("dog",), -1)
    with pytest.raises(UsageError, match="Gap, words: no candidates"):
        Gap("The ", "", (), 1)
