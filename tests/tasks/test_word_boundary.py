"""The word-boundary correction against the definition, computed apart in float64.

    log p(w | x) = sum_j log p(t_j | x, t_<j) + log B(x, w) - log B(x)

B(x) is the probability that a token which begins a word, or the end symbol, comes after x; for the first word of a text the
denominator is B0(x), the probability of a token that can begin a text.
"""

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from models_for_tests import byte_level, sentencepiece_like, transformer, words
from tokenizers import AddedToken

from syntagm.core import UsageError
from syntagm.models import Causal
from syntagm.models.causal.model import from_transformers
from syntagm.models.hugging_face.tokens import word_borders

TEXTS = [
    "The old gardener watered the roses before the rain came.",
    "The gardeners near the gate were waiting for the baker's daughter.",
    "What did the teacher say?",
    "Zyzzyva",
    "one line\nand another",
    "  two  blanks",
    " one blank before",
]
MADE = {"byte-level": (byte_level, "Ġ"), "sentencepiece-like": (sentencepiece_like, "▁")}


def build(kind: str, **options: str) -> Causal:
    tokenizer = MADE[kind][0]()
    return from_transformers(transformer("gpt2", tokenizer, sharpen=5.0), tokenizer, kind, **options)


def by_definition(model: Causal, kind: str, text: str, end: bool) -> list[tuple[int, float]]:
    """(number of tokens, bits) of each word, and of the end symbol if asked for, straight from the formula."""
    tokenizer, mark = model.tokenizer, MADE[kind][1]
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    special = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id}
    begins = {number for number, piece in enumerate(pieces) if piece[0] == mark and number not in special}
    begins |= {number for number, piece in enumerate(pieces) if piece in ("Ċ", "ĉ", "č", "\n", "\t", "\r")}
    begins |= {number for number, piece in enumerate(pieces) if piece in ("<0x20>", "<0x0A>", "<0x09>", "<0x0D>")}
    others = {number for number in range(len(pieces)) if number not in begins | special}
    after = begins | {tokenizer.eos_token_id}
    first = after if kind == "sentencepiece-like" else others | {tokenizer.eos_token_id}
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    body = model.forward.model
    with torch.no_grad():
        whole = torch.tensor([[tokenizer.bos_token_id, *ids]])
        spread = body.double()(input_ids=whole).logits[0].softmax(-1).numpy()
    body.float()

    def mass(position: int, members: set[int]) -> float:
        return float(spread[position, sorted(members)].sum())

    heads = [place for place, number in enumerate(ids) if place == 0 or number in begins]
    found = []
    for head, tail in zip(heads, [*heads[1:], len(ids)], strict=True):
        logs = sum(math.log2(spread[place, ids[place]]) for place in range(head, tail))
        opening = after if ids[head] in begins else first
        found.append((tail - head, -(logs + math.log2(mass(tail, after)) - math.log2(mass(head, opening)))))
    if end:
        found.append((1, -math.log2(spread[len(ids), tokenizer.eos_token_id] / mass(len(ids), after))))
    return found


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("eos", ["no", "yes"])
def test_words_by_the_definition(kind: str, eos: str) -> None:
    model = build(kind, boundary="word", eos=eos)
    for text, answer in zip(TEXTS, model.score(TEXTS), strict=True):
        at = 0
        expected = by_definition(model, kind, text, eos == "yes")
        assert sum(tokens for tokens, _ in expected) == len(answer.bits)
        for tokens, bits in expected:
            assert answer.bits[at : at + tokens].sum() == pytest.approx(bits, abs=1e-4), (text, at)
            at += tokens


@pytest.mark.parametrize("kind", MADE)
def test_inner_terms_cancel(kind: str) -> None:
    """sum_w log p(w) = L(s) + log B(b, s) - log B0(b): only the ends of the sentence differ from the plain sum."""
    plain, corrected = build(kind), build(kind, boundary="word")
    for text, one, other in zip(TEXTS, plain.score(TEXTS), corrected.score(TEXTS), strict=True):
        ids = plain.tokenizer(text, add_special_tokens=False)["input_ids"]
        rows = corrected.forward.surprisals([[plain.bos_id, *ids]], lambda _: None)[0]  # type: ignore[list-item]
        opening = rows.begin[0] if corrected._borders.begins[ids[0]] else rows.first  # type: ignore[union-attr]
        assert other.bits.sum() == pytest.approx(one.bits.sum() + rows.begin[-1] - opening, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
def test_words_of_one_prefix_sum_to_at_most_one(kind: str) -> None:
    """Uncorrected, single-token words after `The` may sum to more or less; corrected, they and nothing else fill the 1."""
    model = build(kind, boundary="word")
    tokenizer = model.tokenizer
    words_after = [
        tokenizer.convert_tokens_to_string([piece]).strip()
        for piece in tokenizer.get_vocab()
        if piece[0] == MADE[kind][1] and piece[1:].isalpha() and piece[1:].isascii()
    ]
    texts = [f"The {word}" for word in sorted(set(words_after)) if word]
    answers = [answer for answer in model.score(texts) if len(answer.bits) == len(next(model.score(["The"])).bits) + 1]
    assert len(answers) > 10
    total = sum(2.0 ** -answer.bits[-1] for answer in answers)
    assert 0 < total < 1


def test_nothing_before_the_text() -> None:
    """Under bos=no the first token stays undefined; later words are corrected as ever."""
    plain, corrected = build("byte-level", bos="no"), build("byte-level", bos="no", boundary="word")
    text = TEXTS[0]
    one, other = next(plain.score([text])), next(corrected.score([text]))
    assert np.isnan(other.bits[0])
    assert np.isfinite(other.bits[1:]).all()
    ids = plain.tokenizer(text, add_special_tokens=False)["input_ids"]
    begin = corrected.forward.surprisals([ids], lambda _: None)[0].begin
    heads = [place for place, number in enumerate(ids) if place == 0 or corrected._borders.begins[number]]  # type: ignore[union-attr]
    expected = one.bits.copy()
    for head, tail in zip(heads, [*heads[1:], len(ids)], strict=True):
        if head:
            expected[head] -= begin[head - 1]
        expected[tail - 1] += begin[tail - 1]
    np.testing.assert_allclose(other.bits, expected, rtol=0, atol=1e-4)


def test_a_text_beyond_the_positions() -> None:
    tokenizer = byte_level()
    short = from_transformers(transformer("gpt2", tokenizer, n_positions=8), tokenizer, "short", boundary="word")
    long = from_transformers(transformer("gpt2", tokenizer, n_positions=8), tokenizer, "short")
    [answer], [plain] = short.score([TEXTS[0]]), long.score([TEXTS[0]])
    assert np.isfinite(answer.bits[:7]).all()
    assert np.isnan(answer.bits[8:]).all()
    assert np.isfinite(plain.bits[:8]).all()


def test_a_tokenizer_without_blanks_is_refused() -> None:
    tokenizer: Any = words()
    with pytest.raises(UsageError, match="does not mark word starts"):
        from_transformers(transformer("gpt2", tokenizer), tokenizer, "words", boundary="word")


def test_white_space_among_added_tokens_begins_words() -> None:
    tokenizer = copy.deepcopy(byte_level())
    tokenizer.add_tokens([AddedToken("    ", normalized=False, special=False)])
    number = tokenizer.convert_tokens_to_ids("    ")
    borders = word_borders(tokenizer, len(tokenizer), tokenizer.eos_token_id)
    assert borders.begins[number]
    assert not borders.first[number]


def test_another_end_of_words_is_another_fingerprint() -> None:
    # Which symbol ends a text stands beside the vocabulary, not in it; without eos=yes only the correction uses it.
    other, made = copy.deepcopy(byte_level()), transformer("gpt2", byte_level())
    other.eos_token = other.convert_ids_to_tokens(5)
    one, two = (from_transformers(made, tokenizer, "m", boundary="word") for tokenizer in (byte_level(), other))
    assert abs(next(one.score(TEXTS)).bits - next(two.score(TEXTS)).bits).max() > 1e-3
    assert one.fingerprint != two.fingerprint
