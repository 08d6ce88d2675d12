"""Texts of any length: overlapping windows, the context of each token, the state that an LSTM carries."""

import math
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
import transformers
from masked_for_tests import masked, transformer as masked_transformer, word_pieces
from models_for_tests import TEXT, byte_level, causal, lstm, ngram, transformer
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from syntagm.cli import main
from syntagm.core import ModelError, UsageError
from syntagm.models import Causal, LanguageModel, names
from syntagm.models.causal.model import from_transformers
from syntagm.models.masked.model import from_transformers as from_masked
from syntagm.training import BUNDLED

DOCUMENT = " ".join(TEXT.split())
CLOSE = 1e-4


def short(positions: int = 24, **options: str) -> Causal:
    """A causal model with few positions."""
    return from_transformers(transformer("gpt2", byte_level(), n_positions=positions), byte_level(), "short", **options)


def sliding(
    network: Any, ids: list[int], bos: int | None, positions: int, overlap: int
) -> tuple[NDArray[np.float64], list[int]]:
    """Bits and contexts by a plain sliding window, one at a time, with transformers only."""
    bits, contexts, scored = [], [], 0
    start = [] if bos is None else [bos]
    while scored < len(ids):
        begin = scored - overlap if scored else 0
        window = [*start, *ids[begin:]][: positions + 1]
        with torch.no_grad():
            logits = network(input_ids=torch.tensor([window[:-1]])).logits[0].double().log_softmax(-1)
        values = [-float(row[token]) / math.log(2) for row, token in zip(logits, window[1:], strict=True)]
        values = values if start else [math.nan, *values]
        bits += values[scored - begin :]
        contexts += range(scored - begin, len(values))
        scored = begin + len(values)
    return np.array(bits), contexts


def ids_of(model: Any, text: str) -> list[int]:
    ids: list[int] = model.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
    return ids


@pytest.mark.parametrize("bos", ["yes", "no"])
@pytest.mark.parametrize("overlap", [None, 1, 5, 23])
def test_windows_are_those_of_a_plain_sliding_window(bos: str, overlap: int | None) -> None:
    model = short(bos=bos)
    [answer] = model.read([DOCUMENT], overlap)
    expected, contexts = sliding(
        model.module, ids_of(model, DOCUMENT), model.bos_id, 24, 12 if overlap is None else overlap
    )
    np.testing.assert_allclose(answer.surprisals.bits, expected, rtol=0, atol=CLOSE)
    assert answer.context.tolist() == contexts
    assert answer.windows > 3
    assert np.isnan(answer.surprisals.bits).sum() == (bos == "no")
    later = answer.context[24:]
    assert later.min() == (12 if overlap is None else overlap)


def test_a_text_that_fits_has_the_numbers_of_score() -> None:
    model = short()
    texts = ["The old gate.", DOCUMENT, "", "The old gate."]
    answers = list(model.read(texts))
    assert [answer.surprisals.text for answer in answers] == texts
    assert [answer.windows for answer in answers] == [1, answers[1].windows, 1, 1]
    [plain] = model.score(texts[:1])
    np.testing.assert_allclose(answers[0].surprisals.bits, plain.bits, rtol=0, atol=1e-6)
    assert answers[0].context.tolist() == list(range(len(plain.bits)))
    # Those beyond the positions are undefined for `score`, and the first of them are the same for both.
    [cut] = model.score([DOCUMENT])
    assert np.isnan(cut.bits[24:]).all()
    np.testing.assert_allclose(answers[1].surprisals.bits[:24], cut.bits[:24], rtol=0, atol=CLOSE)


def test_the_end_symbol_is_the_last_token_of_the_last_window() -> None:
    model = short(eos="yes")
    [answer] = model.read([DOCUMENT])
    expected, _ = sliding(model.module, [*ids_of(model, DOCUMENT), model.eos_id or 0], model.bos_id, 24, 12)
    np.testing.assert_allclose(answer.surprisals.bits, expected, rtol=0, atol=CLOSE)


@pytest.mark.parametrize(
    "make",
    [short, lambda: masked("bert", word_pieces()), lambda: lstm(batch="16"), ngram, lambda: names.load("toy")],
    ids=["causal", "masked", "lstm", "ngram", "toy"],
)
def test_progress_is_told_of_every_character_once(make: Callable[[], LanguageModel]) -> None:
    told: list[int] = []
    texts = [DOCUMENT, "The old gate.", DOCUMENT]
    list(make().read(texts, done=told.append))
    assert sum(told) == sum(map(len, texts))


def test_a_model_without_a_limit_reads_at_once_and_takes_no_stride() -> None:
    model = causal("mamba")
    [answer] = model.read([DOCUMENT])
    [plain] = model.score([DOCUMENT])
    np.testing.assert_allclose(answer.surprisals.bits, plain.bits, rtol=0, atol=CLOSE)
    assert (answer.windows, answer.context[-1]) == (1, len(plain.bits) - 1)
    for unlimited in (model, lstm(), ngram(), names.load("random?seed=1")):
        with pytest.raises(UsageError, match=r"stride of .*: a stride of 5, but .*; expected no stride"):
            list(unlimited.read([DOCUMENT], 5))


@pytest.mark.parametrize(
    ("options", "overlap", "said"), [({}, 24, "from 0 to 23"), ({"bos": "no"}, 0, "from 1 to 24"), ({}, -1, "from 0")]
)
def test_windows_that_would_not_advance_are_refused(options: dict[str, str], overlap: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        list(short(**options).read([DOCUMENT], overlap))


def test_recorded_surprisals_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tokens.csv").write_text("index,start,token,bits\n0,0,The,1.5\n")
    with pytest.raises(ModelError, match="recorded surprisals, whose contexts are not known"):
        list(names.load(f"recorded:{tmp_path / 'tokens.csv'}").read(["The"]))


@pytest.mark.slow
def test_an_lstm_carries_its_state_through_a_long_text() -> None:
    text = " ".join(TEXT.split() * 8)
    for options in ({}, {"bos": "no"}, {"eos": "yes"}):
        [whole] = lstm(**options).score([text])
        short_answer, answer, again = lstm(batch="64", **options).read(["The old gate", text, "The old gate"])
        np.testing.assert_allclose(answer.surprisals.bits, whole.bits, rtol=0, atol=CLOSE)
        assert answer.context.tolist() == list(range(len(whole.bits)))
        np.testing.assert_array_equal(short_answer.surprisals.bits, again.surprisals.bits)


def test_the_context_of_ngrams_is_their_order() -> None:
    for model, memory in ((ngram(), 2), (names.load("toy"), 1), (names.load("random?unigram=yes"), 0)):
        [answer] = model.read(["The old gardener watered the roses"])
        assert answer.context.tolist() == np.minimum(np.arange(6), memory).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("masking", ["token", "word"])
def test_masked_windows_are_rows_made_by_hand(masking: str) -> None:
    tokenizer = word_pieces()
    network = masked_transformer("bert", tokenizer, max_position_embeddings=18)
    model = from_masked(network, tokenizer, "short", masking=masking)
    text = " ".join(DOCUMENT.split()[:40])
    encoding = tokenizer(text, add_special_tokens=False)
    ids, word_of = encoding["input_ids"], encoding.word_ids()
    size, overlap = 16, 6
    assert len(ids) > 2 * size
    [answer] = model.read([text], overlap)
    for index, token in enumerate(ids):
        # The window in which the token is furthest from both ends, which only the ends of the text may limit.
        begins = [*range(0, len(ids) - size, size - overlap), len(ids) - size]
        margins = [
            min(
                math.inf if begin == 0 else index - begin,
                math.inf if begin + size == len(ids) else begin + size - 1 - index,
            )
            for begin in begins
        ]
        assert max(margins) >= overlap // 2
        assert answer.context[index] <= size - 1
        chosen = [begin for begin, margin in zip(begins, margins, strict=True) if margin >= max(margins) - 1]
        found = []
        for begin in chosen:
            row = [tokenizer.cls_token_id, *ids[begin : begin + size], tokenizer.sep_token_id]
            hidden = [
                at for at in range(index, begin + size)
                if at == index or (masking == "word" and word_of[at] == word_of[index])
            ]  # fmt: skip
            for at in hidden:
                row[1 + at - begin] = tokenizer.mask_token_id
            with torch.no_grad():
                logits = network(input_ids=torch.tensor([row])).logits[0, 1 + index - begin].double()
            found.append((-float(logits.log_softmax(-1)[token]) / math.log(2), size - len(hidden)))
        assert any(
            abs(answer.surprisals.bits[index] - bits) < CLOSE and answer.context[index] == seen for bits, seen in found
        ), index


class TestWordBoundaries:
    """All words of a tiny vocabulary, so that probabilities can be summed."""

    SIZE, OVERLAP = 12, 6

    @staticmethod
    @cache
    def model(**options: str) -> Causal:
        """A model of the tokens a, b, space and a, space and b, and the end symbol."""
        vocabulary = {"a": 0, "b": 1, "Ġ": 2, "Ġa": 3, "Ġb": 4, "<e>": 5}
        tokenizer = Tokenizer(models.BPE(vocabulary, [("Ġ", "a"), ("Ġ", "b")]))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<e>", eos_token="<e>")
        network = transformer("gpt2", fast, n_positions=TestWordBoundaries.SIZE, tie_word_embeddings=False)
        network.lm_head = torch.nn.Linear(network.config.n_embd, 6)
        with torch.no_grad():
            network.lm_head.weight.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(3))
            # No text has a lone space.
            network.lm_head.bias[2] = -1e9
        return from_transformers(network.eval(), fast, "letters", boundary="word", **options)

    @classmethod
    def following(cls, model: Causal, text: str) -> NDArray[np.float64]:
        """Probabilities of all tokens after a text, in the window of the next token."""
        ids, size = ids_of(model, text), cls.SIZE - 1
        at = len(ids)
        begin = 0 if at < size else size - cls.OVERLAP + (at - size) // (size - cls.OVERLAP) * (size - cls.OVERLAP)
        with torch.no_grad():
            logits = model.module(input_ids=torch.tensor([[model.bos_id, *ids[begin:]]])).logits[0, -1]
        probabilities: NDArray[np.float64] = logits.double().softmax(-1).numpy()
        return probabilities

    @pytest.mark.parametrize("words_before", [0, 1, 3, 30, 31, 32, 33, 34])
    def test_probabilities_of_all_words_sum_to_one(self, words_before: int) -> None:
        model = self.model()
        before = " ".join((["ab", "a", "bb", "b", "aba"] * 9)[:words_before])
        stem = before + " " * bool(before)
        words = ["".join(word) for length in (1, 2, 3) for word in product("ab", repeat=length)]
        total = 0.0
        for word, answer in zip(words, model.read([stem + word for word in words], self.OVERLAP), strict=True):
            assert (answer.windows > 1) == (words_before >= 30)
            last = answer.surprisals.bits[answer.surprisals.starts >= len(before)]
            assert len(last) == len(word)
            ended = self.following(model, stem + word)[[3, 4, 5]].sum()
            # A word of three letters stands for all words that begin with it.
            total += 2.0 ** -last.sum() / (ended if len(word) == 3 else 1.0)
        # No word follows at all.
        probabilities = self.following(model, before)
        total += probabilities[5] / probabilities[[3, 4, 5] if before else [0, 1, 5]].sum()
        assert total == pytest.approx(1.0, abs=1e-5)

    def test_first_words_after_a_space_are_a_distribution_of_their_own(self) -> None:
        model, total = self.model(), 0.0
        words = ["".join(word) for length in (1, 2, 3) for word in product("ab", repeat=length)]
        for word, answer in zip(words, model.score([f" {word}" for word in words]), strict=True):
            ended = self.following(model, f" {word}")[[3, 4, 5]].sum()
            total += 2.0 ** -answer.bits.sum() / (ended if len(word) == 3 else 1.0)
        start = self.following(model, "")
        assert total + start[5] / start[[3, 4, 5]].sum() == pytest.approx(1.0, abs=1e-5)

    def test_the_end_symbol_shares_the_rest_with_the_words(self) -> None:
        model, text = self.model(eos="yes"), " ".join(["ab", "a", "bb", "b", "aba"] * 6)
        [answer] = model.read([text], self.OVERLAP)
        probabilities = self.following(model, text)
        expected = -math.log2(probabilities[5] / probabilities[[3, 4, 5]].sum())
        assert answer.surprisals.bits[-1] == pytest.approx(expected, abs=1e-4)

    def test_the_correction_moves_bits_between_words_only(self) -> None:
        """Summed over a text, all terms cancel but those of its two ends, whatever the windows."""
        model, text = self.model(), " ".join(["ab", "a", "bb", "b", "aba"] * 6)
        [answer] = model.read([text], self.OVERLAP)
        # The same windows: a window of `boundary=word` holds a token less.
        plain, _ = sliding(model.module, ids_of(model, text), model.bos_id, self.SIZE - 1, self.OVERLAP)
        first, end = self.following(model, "")[[0, 1, 5]].sum(), self.following(model, text)[[3, 4, 5]].sum()
        expected = plain.sum() - (-math.log2(first)) + -math.log2(end)
        assert answer.surprisals.bits.sum() == pytest.approx(expected, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("context", ["lines", "document"])
def test_the_recipe_has_the_numbers_of_transformers_alone(context: str, tmp_path: Path) -> None:
    """On 200 sentences, and on a document of 3,000 words: `syntagm score`, beside a plain sliding window."""
    lines = [line for line in BUNDLED["excerpt"].read_text(encoding="utf-8").splitlines() if line]
    if context == "lines":
        texts = lines = lines[:200]
    else:
        words = " ".join(lines).split()[:3000]
        lines = [" ".join(words[first : first + 25]) for first in range(0, 3000, 25)]
        texts = [" ".join(words)]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for by in ("token", "word"):
        command = ["score", "demo", "--file", str(tmp_path / "text.txt"), "--context", context, "--by", by]
        assert main([*command, "-o", str(tmp_path / f"{by}.csv")]) == 0
    tokens, words_table = (
        pl.read_csv(tmp_path / f"{by}.csv", schema_overrides={"bits": pl.Float64}) for by in ("token", "word")
    )
    folder = Path(names.__file__).with_name("_demo")
    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for number, text in enumerate(texts):
        expected, contexts = sliding(network, tokenizer(text)["input_ids"], tokenizer.bos_token_id, 256, 128)
        rows = tokens.filter(pl.col("text") == number)
        np.testing.assert_allclose(rows["bits"], expected, rtol=0, atol=CLOSE)
        assert rows["context"].to_list() == contexts
        assert words_table.filter(pl.col("text") == number)["word"].to_list() == text.split()
    assert words_table["bits"].sum() == pytest.approx(tokens["bits"].sum())
