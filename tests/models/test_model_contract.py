"""What every family of language models promises, asked of each of them."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from masked_for_tests import MASKED
from models_for_tests import ALIKE, CAUSAL, FAMILIES, PLAIN
from test_causal_tokens import odd_texts

from syntagm.core import csv
from syntagm.evaluation import align
from syntagm.models import CHECKS, TEXTS, Check, LanguageModel, failures, families, names
from syntagm.models.conformance import CLOSE, prefixes
from syntagm.suites import Region, Sentence

ASKED = [*TEXTS, *prefixes(TEXTS).values()]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


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
            "exec": lambda: names.load(f"exec:{EXAMPLES / 'bigram.toml'}", allow_exec=True),
            "python": lambda: names.load(f"python:{EXAMPLES / 'agreement.py'}", allow_exec=True),
        }
    )
    return made[family]()


EXTRA = [
    *("toy", "toy-eos", "random", "random-unigram", "demo"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("demo-words", "demo-eos", "demo-bare", "demo-apart")),
    pytest.param("exec", marks=pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here")),
    "python",
]


def _param(family: str) -> Any:
    # A beam search asks each promise of hundreds of states; fast tests of RNNGs are in test_rnng.py. Of a network, the fast
    # lane asks one variant.
    kind, variant, _ = family.partition("-")
    return pytest.param(
        family, marks=pytest.mark.slow if kind in (*ALIKE, "rnng") or (variant and kind != "ngram") else ()
    )


@pytest.fixture(params=["recorded", *EXTRA, *map(_param, [*FAMILIES, *MASKED])])
def model(request: pytest.FixtureRequest, recording: Path) -> LanguageModel:
    return names.load(f"recorded:{recording}") if request.param == "recorded" else _made(request.param)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_family_keeps_its_promises(model: LanguageModel, check: Check) -> None:
    if check.name == "empty" and model.name.startswith("recorded"):
        pytest.skip("a recording holds what was recorded")
    assert check.exempt(model) or failures(check, model, TEXTS) == []


# Families of servers, which have tests of their own: `test_openai.py`, `test_vllm.py`.
SERVED = {"openai", "vllm"}


def test_every_family_is_asked_for_its_promises() -> None:
    asked = {"recorded", "toy", "random", "exec", "python", *PLAIN}
    assert asked | {"causal", "masked"} | SERVED == set(families.names())


# Models of words, and programs. Hugging Face's tokenizers refuse some characters, and have tests of their own.
WORDED = [family for family in FAMILIES if family not in CAUSAL]
PROGRAMS = EXTRA[-2:]


def check_odd_texts(family: str, count: int, seed: int) -> None:
    model, texts = _made(family), odd_texts(count, seed)
    for check in CHECKS:
        # Rules for text that is not split yet see the end of a text: only there, a full stop is a word of its own.
        skipped = check.name == "prefixes" and model.settings.get("tokens", "blanks") != "blanks"
        if not (skipped or check.exempt(model)):
            assert failures(check, model, texts) == []


@pytest.mark.slow
@pytest.mark.parametrize("family", [*PLAIN, *PROGRAMS])
def test_odd_texts(family: str) -> None:
    check_odd_texts(family, 6, seed=8)


@pytest.mark.slow
@pytest.mark.parametrize("family", [*WORDED, *PROGRAMS])
def test_many_odd_texts(family: str) -> None:
    check_odd_texts(family, 100, seed=9)


def test_a_region_gets_every_visible_character(model: LanguageModel) -> None:
    for answer in model.score(TEXTS):
        whole = Sentence(answer.text, (Region("all", 0, len(answer.text)),))
        owners = align(whole, answer)
        assert (owners[answer.starts < len(answer.text)] == 0).all()


@pytest.mark.parametrize("family", MASKED)
def test_what_follows_counts_for_a_model_that_sees_both_sides(family: str) -> None:
    model = _made(family)
    assert model.sees == "both"
    for text, prefix in prefixes(TEXTS).items():
        longer, shorter = model.score([text, prefix])
        assert np.abs(shorter.bits - longer.bits[: len(shorter.bits)]).max() > CLOSE
