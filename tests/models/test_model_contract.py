"""What every family of language models promises, asked of each of them."""

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from masked_for_tests import MASKED
from models_for_tests import FAMILIES

from syntagm.answers import Gap
from syntagm.io import csv
from syntagm.models import names
from syntagm.models.contract import LanguageModel
from syntagm.suite import Region, Sentence
from syntagm.tasks.align import align

TEXTS = [
    "The dog near the cats barks",
    "The dog near the cats bark",
    "the dog near the cat barks",
    "No dog ever barks .",
    "What did she say that the teachers had read in the library?",
    "The naïve café owner paid 12 euros for a crème brûlée.",
    "Porto",
    "  two  blanks,\tone tab\nand a line ",
    "☃ 雪人 קרח \U0001f468‍\U0001f469‍\U0001f467 é",
]
PREFIXES = {
    "The dog near the cats barks": "The dog near",
    "No dog ever barks .": "No dog",
    "What did she say that the teachers had read in the library?": "What did she say that the teachers",
}
ASKED = [*TEXTS, *PREFIXES.values()]
WORDS = ("gardener", "boats", "the", "unheard-of")
BLANKS = [Gap("The old ", " watered the roses.", WORDS), Gap("The ", " near the gate", WORDS[:2])]
# Nats a sentence, in bits.
CLOSE = 1e-4 / math.log(2)


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy model's answers as `syntagm export --as tokens` writes them."""
    rows = []
    for answer in names.load("toy").score(ASKED):
        ends = [*answer.starts[1:], len(answer.text)]
        for index, (start, end) in enumerate(zip(answer.starts, ends, strict=True)):
            rows.append(
                (index, int(start), answer.text[start:end], answer.bits[index], bool(answer.in_vocabulary[index]))
            )
    path = tmp_path_factory.mktemp("recorded") / "tokens.csv"
    path.write_text("".join(csv.lines(["index", "start", "token", "bits", "known"], rows)), encoding="utf-8")
    return path


@cache
def _made(family: str) -> LanguageModel:
    made: dict[str, Callable[[], LanguageModel]] = (
        FAMILIES
        | MASKED
        | {
            "toy": lambda: names.load("toy"),
            "toy-eos": lambda: names.load("toy?eos=yes"),
            "random": lambda: names.load("random?seed=1"),
            "random-unigram": lambda: names.load("random?seed=1&unigram=yes"),
            "demo": lambda: names.load("demo"),
            "demo-eos": lambda: names.load("demo?eos=yes"),
            "demo-bare": lambda: names.load("demo?bos=no"),
            "demo-words": lambda: names.load("demo?boundary=word"),
            "demo-apart": lambda: names.load("demo?sharing=no"),
        }
    )
    return made[family]()


EXTRA = ["toy", "toy-eos", "random", "random-unigram", "demo", "demo-eos", "demo-bare", "demo-words", "demo-apart"]


@pytest.fixture(params=["recorded", *EXTRA, *FAMILIES, *MASKED])
def model(request: pytest.FixtureRequest, recording: Path) -> LanguageModel:
    return names.load(f"recorded:{recording}") if request.param == "recorded" else _made(request.param)


def test_answers_come_in_the_order_of_the_texts(model: LanguageModel) -> None:
    assert [answer.text for answer in model.score(ASKED)] == ASKED


def test_tokens_partition_the_text(model: LanguageModel) -> None:
    for answer in model.score(TEXTS):
        text, starts = answer.text, answer.starts
        assert starts[0] == 0
        assert (np.diff(starts) >= 0).all()
        ended = model.eos is not None
        assert (starts[: len(starts) - ended] < len(text)).all()
        assert not ended or starts[-1] == len(text)
        bounds = [*starts.tolist(), len(text)]
        assert "".join(text[left:right] for left, right in pairwise(bounds)) == text


def test_white_space_belongs_to_the_token_after_it(model: LanguageModel) -> None:
    for answer in model.score(TEXTS):
        bounds = [*answer.starts.tolist(), len(answer.text)]
        for left, right in pairwise(bounds):
            token = answer.text[left:right]
            if token.strip() and right < len(answer.text.rstrip()):
                assert not token[-1].isspace(), (answer.text, token)


def test_types_and_shapes(model: LanguageModel) -> None:
    for answer in model.score(TEXTS):
        assert answer.starts.dtype == np.int32
        assert answer.bits.dtype == np.float64
        assert answer.in_vocabulary.dtype == np.bool_
        assert answer.starts.shape == answer.bits.shape == answer.in_vocabulary.shape


def test_every_visible_character_has_a_token_and_a_region_gets_it(model: LanguageModel) -> None:
    for answer in model.score(TEXTS):
        whole = Sentence(answer.text, (Region("all", 0, len(answer.text)),))
        owners = align(whole, answer)
        assert (owners[answer.starts < len(answer.text)] == 0).all()


def test_bits_are_numbers_except_where_nothing_stands_before(model: LanguageModel) -> None:
    for answer in model.score(TEXTS):
        bare = model.bos is None
        assert np.isnan(answer.bits[0]) == bare
        assert np.isfinite(answer.bits[bare:]).all()
        # A corrected word may cost less than 0 bits a token, never less than 0 in all, rounding aside.
        assert answer.bits[bare:].sum() > -1e-3
        if model.settings.get("boundary") != "word":
            assert (answer.bits[bare:] >= 0).all()


def test_answers_do_not_depend_on_company_order_or_repeats(model: LanguageModel) -> None:
    alone = {text: next(iter(model.score([text]))) for text in TEXTS}
    for texts in (TEXTS, TEXTS[::-1], [TEXTS[3], *TEXTS, TEXTS[3], TEXTS[0]]):
        for text, answer in zip(texts, model.score(texts), strict=True):
            assert answer.text == text
            assert answer.starts.tolist() == alone[text].starts.tolist()
            assert answer.in_vocabulary.tolist() == alone[text].in_vocabulary.tolist()
            assert abs(np.nansum(answer.bits) - np.nansum(alone[text].bits)) < CLOSE
            np.testing.assert_allclose(answer.bits, alone[text].bits, rtol=0, atol=CLOSE)


def test_repeats_get_the_very_same_numbers(model: LanguageModel) -> None:
    one, _, two = model.score([TEXTS[0], TEXTS[1], TEXTS[0]])
    assert one.bits.tolist() == two.bits.tolist() or np.isnan(one.bits[0])
    np.testing.assert_array_equal(one.bits, two.bits)


def test_the_bits_of_a_prefix_are_the_first_bits_of_the_text(model: LanguageModel) -> None:
    for text, prefix in PREFIXES.items():
        longer, shorter = model.score([text, prefix])
        if model.sees != "left":
            # What follows counts, too.
            kept = len(shorter.starts)
            assert np.abs(shorter.bits - longer.bits[:kept]).max() > CLOSE
            continue
        kept = len(shorter.starts) - (model.eos is not None)
        assert shorter.starts[:kept].tolist() == longer.starts[:kept].tolist()
        np.testing.assert_allclose(shorter.bits[:kept], longer.bits[:kept], rtol=0, atol=CLOSE)


def test_done_is_told_of_every_text_once(model: LanguageModel) -> None:
    texts = [TEXTS[0], TEXTS[1], TEXTS[0]]
    told: list[int] = []
    assert len(list(model.score(texts, told.append))) == 3
    assert sum(told) == 3


def test_it_says_what_stands_before_and_after(model: LanguageModel) -> None:
    assert model.settings["bos"] == ("no" if model.bos is None else "yes")
    assert model.bos is None or model.bos
    assert model.settings.get("eos", "no") == ("no" if model.eos is None else "yes")
    assert model.name
    assert len(model.fingerprint) == 64
    assert 0 <= model.numerical_error < 1e-3
    assert "score" in model.can


def test_nothing_asked_nothing_answered(model: LanguageModel) -> None:
    assert list(model.score([])) == []


def test_the_empty_text(model: LanguageModel) -> None:
    if model.name.startswith("recorded"):
        pytest.skip("a recording holds what was recorded")
    [answer] = model.score([""])
    assert answer.text == ""
    # No tokens, but for the end symbol where it is listed, and a lone blank that some tokenizers put before all.
    assert len(answer.starts) >= (model.eos is not None)
    assert (answer.starts == 0).all()
    assert np.isfinite(answer.bits).all()
    assert len(list(model.score(["", "", TEXTS[0]]))) == 3


def test_blanks_are_answered_in_order_and_alike_in_any_company(model: LanguageModel) -> None:
    if "fill" not in model.can:
        pytest.skip("fills no blanks")
    told: list[int] = []
    one, two, three = model.fill([*BLANKS, BLANKS[0]], told.append)
    assert sum(told) == 3
    assert (len(one.bits), len(two.bits)) == (4, 2)
    [alone] = model.fill(BLANKS[1:])
    for fill, again in ((one, three), (two, alone)):
        np.testing.assert_allclose(fill.bits, again.bits, rtol=0, atol=CLOSE)
        np.testing.assert_allclose(fill.above, again.above, rtol=0, atol=CLOSE)
        assert fill.in_vocabulary.tolist() == again.in_vocabulary.tolist()


def test_candidates_with_a_rank_are_shares_of_one(model: LanguageModel) -> None:
    if "fill" not in model.can:
        pytest.skip("fills no blanks")
    for fill in model.fill(BLANKS):
        assert (fill.bits[~np.isnan(fill.bits)] >= -1e-9).all()
        ranked = ~np.isnan(fill.above)
        assert (ranked == ~np.isnan(fill.below)).all()
        # A word's entry is what its likelier and less likely ones leave; its bits may count where it ends, too.
        left = 1 - fill.above[ranked] - fill.below[ranked]
        assert ((left > -1e-9) & (left < 1 + 1e-9)).all()
        assert np.isfinite(fill.bits[ranked]).all()
