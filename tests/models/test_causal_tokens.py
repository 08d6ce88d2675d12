"""Tokens and characters: total coverage or refusal, never a shift; and the symbols that stand around a text."""

import copy
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import pytest
from models_for_tests import byte_level, causal, pieces, sentencepiece_like, transformer, words
from tokenizers import AddedToken, normalizers

from syntagm.core import ModelError, UsageError
from syntagm.models import Encoded, encode, names
from syntagm.models.causal.model import from_transformers

ODD = [
    *"abcDEF .,'\"-?!\n\t\r 019_~^",
    *"éüßøñçÅİıſ",
    "e\u0301", "a\u0323\u0307", "\u0301", "\u20dd",  # combining marks, one of them alone
    "☃", "—", "…", "“", "™", "ﬁ", "①", "Ⅷ", "㎏", "＜", "▁", "Ġ",
    "雪", "人", "日本語", "한국", "ไทย", "हिन्दी",
    "עברית", "العربية", "\u200f", "\u202e",
    "\u200b", "\u200d", "\ufeff", "\u00a0", "\u2003", "\u3000", "\u2028", "\x85", "\x1f", "\x00",
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1f5\U0001f1f9", "\U0001f44d\U0001f3fd", "\U00010348",
]  # fmt: skip


def odd_texts(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(ODD, k=draw.randint(0, 25))) for _ in range(count)]


def one(tokenizer: Any, text: str) -> Encoded:
    return next(encode(tokenizer, [text], "a model"))


def spelled_in_bytes(tokenizer: Any, ids: list[int]) -> list[bytes]:
    """The bytes of each token of a byte-level tokenizer, by GPT-2's table of printable stand-ins."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    stand_in = {chr(byte): byte for byte in printable}
    stand_in |= {chr(256 + rank): byte for rank, byte in enumerate(sorted(set(range(256)) - set(printable)))}
    return [bytes(stand_in[character] for character in token) for token in tokenizer.convert_ids_to_tokens(ids)]


def spelled_in_pieces(tokenizer: Any, ids: list[int]) -> list[bytes]:
    """The bytes of each token of the SentencePiece-like tokenizer; the blank put before the text is taken off."""
    tokens = tokenizer.convert_ids_to_tokens(ids)
    found = [bytes([int(token[3:5], 16)]) if token.startswith("<0x") else token.encode() for token in tokens]
    assert not found or found[0].startswith("▁".encode())
    return [found[0].removeprefix("▁".encode()), *found[1:]] if found else []


def check_coverage(text: str, found: Encoded, spelled: list[bytes], spelling: str) -> None:
    """The visible characters of each token, counted in bytes, are those that its start gives it."""
    assert b"".join(spelled) == spelling.encode()
    first_byte = [0, *accumulate(len(character.encode()) for character in spelling)]
    starts = found.starts.tolist()
    assert starts == sorted(starts)
    at = 0
    touched: dict[int, set[int]] = {}
    for start, token in zip(starts, spelled, strict=True):
        left = bisect_right(first_byte, at) - 1
        at += len(token)
        right = bisect_left(first_byte, at)
        touched.setdefault(start, set()).update(k for k in range(left, right) if token and not text[k].isspace())
    bounds = [*touched, len(text)]
    for start, stop in pairwise(bounds):
        assert touched[start] == {k for k in range(start, stop) if not text[k].isspace()}, (text, start, stop)


def check_texts(count: int, seed: int) -> None:
    kinds: list[tuple[Any, Callable[[Any, list[int]], list[bytes]], Callable[[str], str]]] = [
        (names.load("demo").tokenizer, spelled_in_bytes, str),  # type: ignore[attr-defined]  # the demo is causal
        (byte_level(), spelled_in_bytes, str),
        (sentencepiece_like(), spelled_in_pieces, lambda text: text.replace(" ", "▁")),
    ]
    texts = odd_texts(count, seed)
    for tokenizer, spell, spelling in kinds:
        for text, found in zip(texts, encode(tokenizer, texts, "a model"), strict=True):
            check_coverage(text, found, spell(tokenizer, found.ids), spelling(text))
            assert found.in_vocabulary.all()


@pytest.mark.slow
def test_many_odd_texts() -> None:
    check_texts(1_000, seed=1)


@pytest.mark.slow
def test_thirty_thousand_odd_texts() -> None:
    for seed in range(2, 32):
        check_texts(1_000, seed)


@pytest.mark.parametrize(
    "normalizer",
    [
        normalizers.NFKC(),
        normalizers.NFD(),
        normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]),
        normalizers.BertNormalizer(),
    ],
    ids=repr,
)
def test_normalizers_cover_or_refuse(normalizer: Any) -> None:
    tokenizer, covered = words(normalizer), 0
    for text in odd_texts(300, seed=7):
        try:
            found = one(tokenizer, text)
        except ModelError as error:
            assert "drops" in str(error)
            continue
        covered += 1
        starts = [*found.starts.tolist(), len(text)]
        assert starts == sorted(starts)
        assert not text.strip() or starts[0] == 0
    assert covered > 20


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (
            "The ﬁne İstanbul rain",
            [0, 3, 7, 16],
        ),  # NFKC makes two letters of the ligature, lower case two of the dotted I
        ("THE CAFÉ rain", [0, 3, 8]),
    ],
)
def test_a_normalizer_does_not_shift(text: str, starts: list[int]) -> None:
    tokenizer = words(normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]))
    assert one(tokenizer, text).starts.tolist() == starts


def test_a_character_that_the_tokenizer_drops_is_named() -> None:
    with pytest.raises(ModelError, match=r"drops '\\u200b' \(U\+200B, near character 3\)"):
        one(words(normalizers.BertNormalizer()), "the\u200b rain")


def test_a_mark_that_a_normalizer_joins_to_its_letter_is_refused_rather_than_misplaced() -> None:
    # NFKC composes e and the accent, and says that the result stands for the e alone.
    with pytest.raises(ModelError, match=r"U\+0301, near character 4"):
        one(words(normalizers.NFKC()), "cafe\u0301 rain")


def test_unknown_words_are_marked() -> None:
    found = one(words(), "The zebra watered the zebra's roses.")
    #                      The   zebra  watered the  zebra  '     s     roses .
    assert found.in_vocabulary.tolist() == [True, False, True, True, False, True, True, True, True]
    assert found.starts.tolist() == [0, 3, 9, 17, 21, 27, 28, 29, 35]


def test_unknown_words_where_one_symbol_is_both_unknown_and_start() -> None:
    tokenizer = words(bos="<s>", unknown="<s>")
    assert tokenizer.unk_token_id == tokenizer.bos_token_id
    assert one(tokenizer, "The zebra").in_vocabulary.tolist() == [True, False]
    tokenizer.backend_tokenizer.add_special_tokens([AddedToken("<s>", special=True)])
    with pytest.raises(ModelError, match="special symbol '<s>' inside"):
        one(tokenizer, "The <s> zebra")


@pytest.mark.parametrize("text", ["a<|endoftext|>", "<|endoftext|>", "a <|endoftext|> b"])
def test_a_special_symbol_in_the_text_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match=r"special symbol '<\|endoftext\|>' inside"):
        list(causal("gpt2").score([text]))


def test_a_special_symbol_that_only_the_vocabulary_knows_is_refused() -> None:
    tokenizer = words()
    tokenizer.backend_tokenizer.add_special_tokens([AddedToken("<|turn|>", special=True)])
    with pytest.raises(ModelError, match="special symbol"):
        one(tokenizer, "The <|turn|> roses")


def test_a_special_symbol_that_a_normalizer_would_make_is_refused() -> None:
    # Full-width brackets become <s> after the place where special symbols are looked for; the pieces then hold <s>.
    tokenizer = pieces([("▁", -2.0), ("a", -3.0), ("b", -3.0)], normalizers.NFKC())
    found = tokenizer("a\uff1cs\uff1eb", add_special_tokens=False)["input_ids"]
    assert tokenizer.bos_token_id in found
    with pytest.raises(ModelError, match="special symbol '<s>' inside"):
        one(tokenizer, "a\uff1cs\uff1eb")


def test_half_a_character_is_refused() -> None:
    with pytest.raises(UsageError, match="lone surrogate"):
        list(causal("gpt2").score(["fine", "a\ud800b"]))


@pytest.mark.parametrize("tokenizer", [byte_level, sentencepiece_like])
@pytest.mark.parametrize(("bos", "before"), [("auto", 1), ("yes", 1), ("no", 0)])
@pytest.mark.parametrize(("eos", "after"), [("yes", 1), ("no", 0)])
def test_exactly_one_start_and_end_symbol(
    tokenizer: Callable[[], Any], bos: str, before: int, eos: str, after: int
) -> None:
    made = tokenizer()
    model = from_transformers(transformer("llama", made), made, "counted", bos=bos, eos=eos)
    seen: list[list[int]] = []
    surprisals = model.forward.surprisals
    model.forward.surprisals = lambda sequences, done, skipped, reducing: (  # type: ignore[method-assign]  # to look at what goes in
        seen.extend(map(list, sequences)) or surprisals(sequences, done, skipped)  # type: ignore[func-returns-value]
    )
    [answer] = model.score(["The old gardener"])
    [sequence] = seen
    ids = made("The old gardener", add_special_tokens=False)["input_ids"]
    assert sequence == [made.bos_token_id] * before + ids + [made.eos_token_id] * after
    assert len(answer.bits) == len(ids) + after
    assert (model.eos is not None) == bool(after)


def test_saved_cutting_and_padding_do_nothing() -> None:
    tokenizer = copy.deepcopy(byte_level())
    plain = one(tokenizer, "The old gardener watered the roses.").ids
    tokenizer.backend_tokenizer.enable_truncation(3)
    tokenizer.backend_tokenizer.enable_padding(length=40)
    assert one(tokenizer, "The old gardener watered the roses.").ids == plain
    assert len(plain) > 3


def test_one_symbol_more_does_not_make_two() -> None:
    """The tokenizer adds <s> by itself when it is asked to; it never is."""
    tokenizer = sentencepiece_like()
    assert tokenizer("The")["input_ids"][0] == tokenizer.bos_token_id
    assert tokenizer.bos_token_id not in one(tokenizer, "The").ids
