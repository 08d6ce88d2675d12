"""Masked models and odd Unicode: every token in the region of its own word, or a clear refusal; never a shift."""

import random
from typing import Any

import numpy as np
import pytest
import torch
from masked_for_tests import byte_pieces, masked, sentence_pieces, word_pieces
from test_causal_tokens import ODD

from syntagm.core import AlignmentError, ModelError, UsageError
from syntagm.evaluation import align
from syntagm.models import Gap, Surprisals, frame
from syntagm.suites import Region, Sentence

TOKENIZERS = {
    "BERT": word_pieces(), "BERT, lower case": word_pieces(lower=True), "DeBERTa": sentence_pieces(),
    "RoBERTa": byte_pieces(),
}  # fmt: skip
# A word that begins with the sign for a blank is another word to DeBERTa when it stands alone.
SIGNS = [sign for sign in ODD if sign not in (" ", "▁")]
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # three people joined by ZWJ
NFC, NFD, HEBREW, PERSIAN = "café", "cafe\u0301", "שלום", "می\u200cخواهم"


def odd_words(chance: random.Random) -> list[str]:
    words = ["".join(chance.choices(SIGNS, k=chance.randint(1, 6))).strip() for _ in range(chance.randint(1, 5))]
    return [word for word in words if word] or ["a"]


def by_word(tokenizer: Any, words: list[str]) -> list[list[int]]:
    """The tokens in the region of each word of the text."""
    text, regions, at = " ".join(words), [], 0
    for number, word in enumerate(words):
        regions.append(Region(str(number), at, at + len(word)))
        at += len(word) + 1
    [framed] = frame(tokenizer, [text], "a model")
    ids = framed.tokens.ids
    answer = Surprisals(text, framed.tokens.starts, np.ones(len(ids)), np.ones(len(ids), bool))
    homes = align(Sentence(text, tuple(regions)), answer)
    return [[token for token, home in zip(ids, homes, strict=True) if home == number] for number in range(len(words))]


def alone(tokenizer: Any, word: str, first: bool) -> list[int]:
    blank = "" if first or tokenizer is not byte_pieces() else " "
    ids: list[int] = tokenizer.backend_tokenizer.encode(blank + word, add_special_tokens=False).ids
    return ids


def check(name: str, count: int, seed: int) -> None:
    tokenizer, chance, accepted = TOKENIZERS[name], random.Random(seed), 0
    for _ in range(count):
        words = odd_words(chance)
        try:
            found = by_word(tokenizer, words)
        except (ModelError, AlignmentError) as error:
            assert "drops" in str(error) or "crosses the region border" in str(error)
            continue
        accepted += 1
        assert found == [alone(tokenizer, word, place == 0) for place, word in enumerate(words)], words
    assert accepted > count / 4


@pytest.mark.parametrize("name", TOKENIZERS)
def test_words_keep_their_tokens(name: str) -> None:
    check(name, 200, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOKENIZERS)
def test_many_words_keep_their_tokens(name: str) -> None:
    check(name, 10_000, seed=6)


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("word", [NFC, NFD, HEBREW, PERSIAN, FAMILY, "\U0001f44d\U0001f3fd", "ﬁne", "가", "a" * 5_000])
def test_an_odd_word_leaves_its_neighbours_alone(name: str, word: str) -> None:
    tokenizer = TOKENIZERS[name]
    try:
        before, _, after = by_word(tokenizer, ["The", word, "rain"])
    except ModelError as error:
        # A mark that the tokenizer takes off its letter, or composes with it.
        assert word == NFD
        assert "U+0301" in str(error)
        return
    assert (before, after) == (alone(tokenizer, "The", True), alone(tokenizer, "rain", False))


@pytest.mark.parametrize("name", TOKENIZERS)
def test_half_a_character_is_refused_in_texts_and_gaps(name: str) -> None:
    with pytest.raises(ModelError, match="half a character"):
        list(frame(TOKENIZERS[name], ["The a\ud83d rain"], "a model"))
    with pytest.raises(UsageError, match="lone surrogate"):
        list(masked("bert").fill([Gap("The ", " rain came.", ("gate", "a\ud83d"))]))


@pytest.mark.parametrize("sign", ["\u200d", "\u202e", "\u200b", "\ufeff"])
def test_an_invisible_sign_on_its_own_is_named(sign: str) -> None:
    for text in (sign, f"{sign}The rain", f"The {sign} rain"):
        with pytest.raises(ModelError, match=rf"drops .*U\+{ord(sign):04X}"):
            list(frame(word_pieces(), [text], "a model"))


def test_bits_of_a_word_are_those_of_its_tokens_whatever_stands_before_it() -> None:
    """The bits of `rain` come from its own mask, also where the word before it has many tokens or none that is known."""
    for kind, tokenizer in (("bert", word_pieces()), ("roberta", byte_pieces())):
        model = masked(kind, tokenizer)
        for word in (NFC, NFD, HEBREW, FAMILY):
            text = f"The {word} rain"
            [answer] = model.score([text])
            [framed] = frame(tokenizer, [text], "a model")
            row, place = framed.inputs.copy(), int(framed.places[-1])
            assert tokenizer.convert_ids_to_tokens(int(row[place])).endswith("rain")
            target, row[place] = row[place], tokenizer.mask_token_id

            with torch.no_grad():
                logits = model.module(input_ids=torch.tensor(row[None])).logits[0, place].double()
            expected = -float(torch.log_softmax(logits, -1)[target]) / np.log(2)
            assert answer.bits[-1] == pytest.approx(expected, abs=1e-4)
            assert int(answer.starts[-1]) == len(text) - len(" rain")


def test_candidates_in_odd_unicode() -> None:
    words = ("gate", NFC, HEBREW, FAMILY, "a" * 5_000)
    [fill] = masked("bert").fill([Gap("The ", " rain came.", words)])
    assert fill.in_vocabulary.tolist() == [True, True, False, False, False]
    [fill] = masked("roberta", byte_pieces()).fill([Gap("The ", " rain came.", words)])
    # Several tokens each, so undefined with one mask.
    assert np.isnan(fill.bits).tolist() == [False, True, True, True, True]
