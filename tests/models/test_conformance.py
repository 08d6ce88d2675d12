"""The checks of `syntagm conform`: a model that breaks one promise fails one check, and the command says so."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models_for_tests import rnng

from syntagm.cli import main
from syntagm.core import ModelError
from syntagm.models import CHECKS, TEXTS, Fill, Gap, LanguageModel, Reductions, Surprisals, Toy, failures, names
from syntagm.models.conformance import prefixes
from syntagm.models.possible import fault_in_tokens
from syntagm.models.toy.family import FAMILY
from syntagm.models.toy.model import SENTENCES

Done = Callable[[int], None] | None
AGREEMENT = f"python:{Path(__file__).resolve().parents[2] / 'examples' / 'agreement.py'}"


def toy(eos: str = "yes") -> Toy:
    return Toy(SENTENCES, "toy:12-sentences", FAMILY.scoring_settings({"eos": eos}))


class Broken(LanguageModel):
    """The toy model, with a change in its answers."""

    can = frozenset({"score", "fill"})

    def __init__(self, change: Callable[[int, Surprisals], Surprisals] | None = None, **attributes: object) -> None:
        self.toy, self._change, self._asked = toy(), change or (lambda _, answer: answer), 0
        stated = ("name", "fingerprint", "bos", "eos", "settings", "record")
        self.__dict__ |= {name: getattr(self.toy, name) for name in stated} | attributes

    def score(self, texts: Sequence[str], done: Done = None) -> Iterator[Surprisals]:
        for index, answer in enumerate(self.toy.score(texts, done)):
            self._asked += 1
            yield self._change(index, answer)

    def fill(self, gaps: Sequence[Gap], done: Done = None) -> Iterator[Fill]:
        return self.toy.fill(gaps, done)


def changed(**arrays: Callable[[Surprisals], object]) -> Callable[[int, Surprisals], Surprisals]:
    return lambda _, answer: replace(answer, **{name: change(answer) for name, change in arrays.items()})


class Lagging(Broken):
    """Each answer is to the text before."""

    def score(self, texts: Sequence[str], done: Done = None) -> Iterator[Surprisals]:
        answers = [*super().score(texts, done)]
        return iter([*answers[1:], *answers[:1]])


class Silent(Broken):
    def score(self, texts: Sequence[str], done: Done = None) -> Iterator[Surprisals]:
        return super().score(texts)


class Random(Broken):
    """Each computation gives other numbers, but repeated texts in a list are computed once."""

    def score(self, texts: Sequence[str], done: Done = None) -> Iterator[Surprisals]:
        known: dict[str, Surprisals] = {}
        for answer in super().score(texts, done):
            known.setdefault(answer.text, replace(answer, bits=answer.bits + self._asked / 100))
            yield known[answer.text]


class Afraid(Broken):
    """It has no answer to the empty text."""

    def score(self, texts: Sequence[str], done: Done = None) -> Iterator[Surprisals]:
        if "" in texts:
            raise ModelError("afraid", "an empty text", "a text")
        return super().score(texts, done)


class Confused(Broken):
    """Candidates in gaps have other bits than in texts."""

    def fill(self, gaps: Sequence[Gap], done: Done = None) -> Iterator[Fill]:
        return (replace(fill, bits=fill.bits + 1) for fill in super().fill(gaps, done))


class Mixed(Broken):
    """The candidates of all gaps are one list."""

    def fill(self, gaps: Sequence[Gap], done: Done = None) -> Iterator[Fill]:
        words = tuple(word for gap in gaps for word in gap.words)
        return super().fill([Gap(gap.left, gap.right, words) for gap in gaps], done)


def _later(answer: Surprisals) -> np.ndarray:
    """Starts of words without the white space before them."""
    starts = [start + (answer.text[start : start + 1] == " ") for start in answer.starts]
    return np.array(starts, np.int32)


def _merged(_: int, answer: Surprisals) -> Surprisals:
    """The first two words are one token."""
    kept = np.arange(len(answer.starts)) != 1
    if len(answer.text.split()) < 2:
        return answer
    return Surprisals(answer.text, answer.starts[kept], answer.bits[kept], answer.in_vocabulary[kept])


class Reducing(Broken):
    """The toy model with other entropies or ranks."""

    can = frozenset({"score", "reduce", "fill", "best"})

    def __init__(self, **arrays: Callable[[Reductions], object]) -> None:
        super().__init__()
        self._arrays = arrays

    def reduce(self, texts: Sequence[str], done: Done = None) -> Iterator[Surprisals]:
        for answer in self.toy.reduce(texts, done):
            assert answer.reductions is not None
            odd = {name: change(answer.reductions) for name, change in self._arrays.items()}
            yield replace(answer, reductions=replace(answer.reductions, **odd))


# The name of the only check that fails, what it says, and the model.
BROKEN: list[tuple[str, str, LanguageModel]] = [
    ("identity", "the fingerprint 'v1'; expected a SHA-256", Broken(fingerprint="v1")),
    ("identity", "the setting bos is 'no'; expected 'yes'", Broken(settings={"bos": "no", "eos": "yes"})),
    ("identity", "an approximate model without settings", Broken(exact=False)),
    ("progress", "`done` was told of 0 texts; expected 18", Silent()),
    ("tokens", "token 1 begins at 4, after white space; expected 3", Broken(changed(starts=_later))),
    ("alignment", "the token 'The dog' is in several words", Broken(_merged, can=frozenset({"score"}))),
    ("bits", "-2 bits of token 0, 'The'; expected at least 0", Broken(changed(bits=lambda answer: -answer.bits))),
    ("prefixes", "'The dog near': token 0, 'The', has 12.0000 bits, but 27.0000 in 'The dog near the",
     Broken(changed(bits=lambda answer: len(answer.text) + 0.0 * answer.bits))),
    ("empty", "afraid: an empty text; expected a text", Afraid()),
    ("sums", "after '', the 2 words and '</s>' have the probability 0.305556 in all", Broken(words=("the", "dog"))),
    ("agreement", "'gardener' has 5.5850 bits in 'The old ___ watered the roses.', and 4.5850", Confused()),
    ("gaps", "10 answers to 4 candidates", Mixed()),
    ("reductions", "an entropy of 4.6", Reducing(entropy=lambda reduced: reduced.entropy + 0.1)),
    ("reductions", "so its rank can't be 9", Reducing(rank=lambda reduced: 0 * reduced.rank + 9)),
    ("reductions", "expected nan where the bits are", Reducing(rank=lambda reduced: np.nan * reduced.rank)),
    ("reductions", "expected an entropy of at least 0", Reducing(entropy=lambda reduced: -reduced.entropy)),
]  # fmt: skip
# Some faults can't but break several promises.
TOGETHER = {"bits": {"agreement"}, "prefixes": {"agreement"}, "gaps": {"agreement"}}


def broken(model: LanguageModel) -> dict[str, list[str]]:
    found = {check.name: failures(check, model, TEXTS) for check in CHECKS if not check.exempt(model)}
    return {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(("name", "said", "model"), BROKEN, ids=lambda value: str(value)[:20])
def test_a_broken_promise_fails_its_check(name: str, said: str, model: LanguageModel) -> None:
    found = broken(model)
    assert found.keys() - TOGETHER.get(name, set()) == {name}
    assert said in found[name][0]
    assert all("\n" not in line for lines in found.values() for line in lines)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Lagging(), {"order", "company", "repeats", "prefixes", "agreement"}),
        (Random(), {"determinism", "company", "prefixes", "agreement"}),
        (
            Broken(lambda i, answer: replace(answer, bits=answer.bits + i)),
            {"company", "repeats", "prefixes", "agreement"},
        ),
        (
            Broken(lambda _, answer: answer[0]),
            {check.name for check in CHECKS} - {"identity", "sums", "gaps", "reductions"},
        ),  # type: ignore[index]
    ],
    ids=["lagging", "random", "by index", "raising"],
)
def test_deeper_faults_break_several_promises(model: LanguageModel, expected: set[str]) -> None:
    assert broken(model).keys() == expected


def test_rounding_breaks_no_promise() -> None:
    assert broken(Broken(changed(bits=lambda answer: answer.bits * 0 - 1e-7), can=frozenset({"score"}))) == {}


def test_an_approximate_model_is_exempt_from_sums_and_from_nothing_else() -> None:
    exempt = {check.name for check in CHECKS if check.exempt(rnng())}
    assert exempt == {"sums", "gaps", "agreement", "reductions"}


def test_a_model_that_sees_both_sides_is_exempt_from_prefixes() -> None:
    model = Broken(sees="both")
    assert {check.name for check in CHECKS if check.exempt(model)} == {"prefixes", "sums", "agreement", "reductions"}


def test_prefixes_end_with_a_word() -> None:
    assert prefixes(TEXTS)["  two  blanks,\tone tab\nand a line "] == "  two  blanks,\tone tab"
    assert "Porto" not in prefixes(TEXTS)


@pytest.mark.parametrize(
    ("text", "starts", "ended", "found"),
    [
        ("a b", [0, 1], False, None),
        ("a b ", [0, 1], False, None),
        ("a \n\n b", [0, 1, 2, 4], False, None),
        ("é", [0, 0], False, None),
        ("", [], False, None),
        (" ", [], False, None),
        ("a", [0, 1], True, None),
        ("", [0], True, None),
        ("a", [], False, "no tokens"),
        ("a", [0], True, "no token at the end of the text"),
        ("a b", [1, 2], False, "token 0 begins at 1"),
        ("a b c", [0, 3, 1], False, "token 2 begins at 1, before token 1 at 3"),
        ("a b", [0, 3], False, "token 1 begins at 3, beyond the text of 3 characters"),
        ("a b", [0, 2], False, "token 1 begins at 2, after white space"),
    ],
)
def test_tokens_partition_a_text(text: str, starts: list[int], ended: bool, found: str | None) -> None:
    answer = Surprisals(text, np.array(starts, np.int32), np.ones(len(starts)), np.ones(len(starts), bool))
    problem = fault_in_tokens(answer, ended)
    assert (problem and problem.found) == found


def test_the_command_has_a_line_for_each_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "toy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "toy:12-sentences   bos:yes eos:no   exact, sees: left"
    assert [line.split()[1] for line in lines[1:]] == [check.name for check in CHECKS]
    assert "-     sums         not promised: the model lists no words" in lines


def test_the_command_fails_in_plain_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = Broken(changed(bits=lambda answer: len(answer.text) + 0.0 * answer.bits), can=frozenset({"score"}))
    monkeypatch.setattr(names, "load_permitted", lambda *_, **__: broken)
    (tmp_path / "texts.txt").write_text("".join(f"the dog {verb} here\n" for verb in "abcde"))
    assert main(["conform", "toy", "--file", str(tmp_path / "texts.txt")]) == 1
    shown = capsys.readouterr()
    assert "FAIL  prefixes     A prefix has the same bits" in shown.out
    assert " " * 19 + "'the dog': token 0, 'the', has 7.0000 bits, but 14.0000 in 'the dog a here'\n" in shown.out
    assert " " * 19 + "and 2 more\n" in shown.out
    assert shown.err == "syntagm: 1 of 16 promises are broken\n"
    (tmp_path / "empty.txt").write_text("\n")
    assert main(["conform", "toy", "--file", str(tmp_path / "empty.txt")]) == 2
    assert "no sentences" in capsys.readouterr().err


def test_the_example_in_python_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", AGREEMENT, "--allow-exec"]) == 0
    assert "ok    sums " in capsys.readouterr().out
    good, bad = names.load(AGREEMENT, allow_exec=True).score(
        ["The dog near the cats barks", "The dog near the cats bark"]
    )
    # 22 words; a tenth of the probability is shared by all, the rest by the three articles.
    assert good.bits[0] == pytest.approx(-np.log2(0.9 / 3 + 0.1 / 22), abs=1e-12)
    assert good.bits[:5].tolist() == bad.bits[:5].tolist()
    assert bad.bits[5] - good.bits[5] > 4


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here")
def test_the_example_in_javascript_is_the_toy_model() -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "bigram.toml"
    bigram = names.load(f"exec:{path}", allow_exec=True)
    for answer, expected in zip(bigram.score(TEXTS), toy().score(TEXTS), strict=True):
        assert answer.starts.tolist() == expected.starts.tolist()
        assert answer.in_vocabulary.tolist() == expected.in_vocabulary.tolist()
        np.testing.assert_allclose(answer.bits, expected.bits, rtol=0, atol=1e-12)
