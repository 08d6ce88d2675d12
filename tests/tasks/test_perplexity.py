"""Perplexity: by pencil, across tokenisations, with unknown words and undefined bits; and the command."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from syntagm.cli import main
from syntagm.cli.perplexity import _unlike
from syntagm.core import InputError, Progress, UsageError
from syntagm.evaluation import Perplexity, division, perplexities, perplexity
from syntagm.evaluation.text_perplexity import PORTION
from syntagm.models import LanguageModel, Surprisals, load
from syntagm.models.ngram import model as ngram
from syntagm.papers import Cell, Design
from syntagm.papers.experiment.experiment import measure_perplexity
from syntagm.training import corpus


class Fixed(LanguageModel):
    """Gives the tokens that `tokens` says: (start, bits, known) each."""

    def __init__(self, tokens: Callable[[str], list[tuple[int, float, bool]]], end: str | None = None) -> None:
        self.name, self.fingerprint, self.settings, self.eos = "fixed", "fixed", {}, end
        self._tokens = tokens
        self.asked: list[int] = []

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        self.asked.append(len(texts))
        for text in texts:
            rows = self._tokens(text)
            starts, bits, known = (np.array([row[i] for row in rows]) for i in range(3))
            yield Surprisals(text, starts.astype(np.int32), bits.astype(float), known.astype(bool))
            if done:
                done(1)


def of(*tokens: tuple[int, float, bool], text: str, end: str | None = None) -> Perplexity:
    return perplexity(Fixed(lambda _: list(tokens), end), [text], end is not None)


def test_by_pencil() -> None:
    # "the dog barks": 9/36, 5/39, 3/29 and the end (3 + 1)/(4 + 24) after "barks"; "dogs bark": dogs after <s> (0 + 1)/(12 + 24),
    # bark after dogs (2 + 1)/(3 + 24), the end after bark (2 + 1)/(3 + 24).
    found = perplexity(load("toy", eos="yes"), ["the dog barks", "dogs bark"])
    shares = [9 / 36, 5 / 39, 3 / 29, 4 / 28, 1 / 36, 3 / 27, 3 / 27]
    assert (found.texts, found.words, found.unknown, found.undefined) == (2, 7, 0, 0)
    assert found.bits == pytest.approx(-sum(map(math.log2, shares)))
    assert found.perplexity == found.perplexity_known == pytest.approx(math.prod(shares) ** (-1 / 7))
    # 13 and 9 characters, and an end for each.
    assert found.bits_per_character == pytest.approx(found.bits / 24)


def test_the_words_that_all_models_know() -> None:
    """Of a, b, c and the end, one model doesn't know b, and the other has no bits of a: both have those of c and of the end."""
    one = Fixed(lambda _: [(0, 1.0, True), (1, 2.0, False), (3, 4.0, True), (5, 0.5, True)], "end")
    other = Fixed(lambda _: [(0, math.nan, True), (1, 5.0, True), (3, 7.0, True), (5, 1.5, True)], "end")
    first, second = perplexities([one, other], ["a b c"])
    assert (first.known, second.known, first.shared, second.shared) == (3, 3, 2, 2)
    assert first.perplexity_shared == 2 ** ((4 + 0.5) / 2)
    assert second.perplexity_shared == 2 ** ((7 + 1.5) / 2)
    # Alone, each is as before, and shares all that it knows.
    for model, among in ((one, first), (other, second)):
        alone = perplexity(model, ["a b c"])
        assert (alone.perplexity, alone.perplexity_known) == (among.perplexity, among.perplexity_known)
        assert alone.perplexity_shared == alone.perplexity_known


def test_the_command_compares_models_over_what_all_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The toy's words are known to `random`, which knows every word; *zebra* is unknown to the toy alone."""
    (tmp_path / "known.txt").write_text("the dog barks\n")
    (tmp_path / "zebra.txt").write_text("the zebra barks\n")
    words = ["perplexity", "toy", str(tmp_path / "zebra.txt"), "--json", "--no-end"]
    assert main([*words, "--model", "random"]) == 0
    shown = capsys.readouterr()
    toy, random = map(json.loads, shown.out.splitlines())
    assert [*toy][-1] == "perplexity_shared"
    assert (toy["unknown"], random["unknown"]) == (1, 0)
    assert toy["perplexity_shared"] == toy["perplexity_known"]
    assert random["perplexity_shared"] != random["perplexity_known"] == random["perplexity"]
    assert "33.3%" in shown.err
    assert "compare the one over the 2 words that all models know" in shown.err
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "perplexity_shared" not in shown.out
    assert "can be compared with those of models that know other words" in shown.err
    assert main([*words[:2], str(tmp_path / "known.txt"), "--no-end", "--model", "random"]) == 0
    shown = capsys.readouterr()
    assert "warning" not in shown.err
    assert shown.out.count("... of shared words") == 2
    assert main([*words, "--model", "toy"]) == 2


def test_words_without_bits_are_said_beside_unknown_ones() -> None:
    """Both models know all 12 words; the one without a start symbol has no bits for the first words of 3 texts."""
    results = [
        (SimpleNamespace(name=name), Perplexity(texts=3, words=12, undefined=undefined, shared=9))
        for name, undefined in (("none", 3), ("start", 0))
    ]
    said = _unlike(results)  # type: ignore[arg-type]
    assert "unknown words: none 0.0% (and 3 words without bits), start 0.0%. " in said
    assert "over the 9 words" in said


def test_unknown_words_are_left_out_with_their_bits_only() -> None:
    # "zebra" after "the" (0 + 1)/(15 + 24), "barks" after an unknown word (0 + 1)/(0 + 24): bits of known words stay as they are.
    found = perplexity(load("toy", eos="yes"), ["the zebra barks"])
    shares = [9 / 36, 1 / 39, 1 / 24, 4 / 28]
    assert (found.words, found.unknown) == (4, 1)
    assert found.perplexity == pytest.approx(math.prod(shares) ** (-1 / 4))
    assert found.perplexity_known == pytest.approx((9 / 36 * 1 / 24 * 4 / 28) ** (-1 / 3))


def test_the_same_bits_in_other_tokens_are_the_same_perplexity() -> None:
    text = "un happy  dogs bark "
    words = of((0, 3.0, True), (2, 4.0, True), (8, 5.0, True), (14, 6.0, True), text=text)
    pieces = of(
        (0, 1.0, True), (1, 2.0, True), (2, 4.0, True), (8, 0.5, True), (9, 0.0, True), (11, 4.5, True), (14, 6.0, True),
        (19, 0.0, True), text=text,
    )  # fmt: skip
    one = of((0, 18.0, True), text=text)
    for found in (words, pieces, one):
        # 3 + 4 + 5 + 6 = 18 bits over 4 words and 20 characters, blanks among them.
        assert (found.words, found.bits_per_word, found.bits_per_character) == (4, 4.5, 18 / 20)


def test_a_word_is_unknown_if_one_of_its_tokens_is() -> None:
    # "dogs," has 2 + 7 bits and one unknown token, "bark" 3 bits, "." 4: one of 2 words is unknown, and 3 + 4 = 7 bits are left.
    found = of((0, 2.0, False), (4, 7.0, True), (5, 3.0, True), (10, 4.0, True), text="dogs, bark.")
    assert (found.words, found.unknown, found.bits, found.bits_unknown) == (2, 1, 16.0, 9.0)
    assert found.perplexity == 2**8
    assert found.perplexity_known == 2**7


def test_undefined_bits_are_left_out_and_counted() -> None:
    # The first word has no bits for one of its two tokens; the second 5, the end 1: (5 + 1) / 2 = 3 bits over 5 + 1 characters.
    tokens = ((0, math.nan, True), (2, 9.0, True), (3, 5.0, True), (8, 1.0, True))
    found = of(*tokens, text="The dogs", end="</s>")
    assert (found.words, found.undefined, found.bits) == (3, 1, 6.0)
    assert (found.bits_per_word, found.perplexity, found.bits_per_character) == (3.0, 8.0, 1.0)


def test_an_unknown_word_without_bits_is_not_taken_off_twice() -> None:
    # Of three words the first is unknown and has no bits: both perplexities are of the other two, 2 and 4 bits.
    found = of((0, math.nan, False), (1, 2.0, True), (3, 4.0, True), text="a b c")
    assert (found.words, found.unknown, found.undefined) == (3, 1, 1)
    assert found.perplexity == found.perplexity_known == 2**3


def test_ends() -> None:
    toy = load("toy")
    with pytest.raises(UsageError, match="no end-of-text symbol is scored"):
        perplexity(toy, ["the dog barks"])
    ended = load("toy", eos="yes")
    without = perplexity(toy, ["the dog barks"], ends=False)
    assert without == perplexity(ended, ["the dog barks"], ends=False)
    assert (without.words, without.bits) == (3, pytest.approx(-math.log2(9 / 36 * 5 / 39 * 3 / 29)))
    # An empty text is its end alone: (0 + 1)/(12 + 24).
    assert perplexity(ended, [""]).perplexity == pytest.approx(36)


def test_nothing_and_white_space() -> None:
    nothing = perplexity(load("toy", eos="yes"), [])
    assert nothing == Perplexity()
    assert math.isnan(nothing.perplexity)
    assert math.isnan(nothing.bits_per_character)
    with pytest.raises(InputError, match="only white space"):
        of((0, 1.0, True), text="  ")


def test_the_name_of_a_file_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("the dog barks\n", encoding="utf-8")
    for name in (str(tmp_path / "text"), "corpus.txt"):
        with pytest.raises(UsageError, match="A text or a file"):
            perplexity(load("toy", eos="yes"), name)


def test_no_probability_at_all_is_infinite() -> None:
    assert of((0, math.inf, True), text="a").perplexity == math.inf


def test_texts_are_asked_in_portions() -> None:
    model = Fixed(lambda text: [(0, 1.0, True)])
    heard: list[int] = []
    found = perplexity(model, (str(n) for n in range(PORTION + 3)), False, heard.append)
    assert model.asked == [PORTION, 3]
    assert (found.texts, sum(heard)) == (PORTION + 3, PORTION + 3)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("The dog barks.\nThe zebra barks.\n")
    return path


def test_the_command(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perplexity", "toy", str(text), str(text), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # Each line 3 words and an end; the full stop is a token that the toy doesn't know, so "barks." is unknown, as is "zebra".
    assert {name: found[name] for name in ("texts", "words", "unknown", "undefined")} == {
        "texts": 4,
        "words": 16,
        "unknown": 6,
        "undefined": 0,
    }
    assert found["perplexity"] == pytest.approx(2 ** found["bits_per_word"])
    assert main(["perplexity", "toy", str(text)]) == 0
    assert "8, including 2 ends of sentences" in capsys.readouterr().out


@pytest.mark.slow
def test_the_bundled_model_has_the_same_words(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perplexity", "demo", str(text), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["words"] == 8
    # Without a start symbol the first word of each line has no bits: that falls short, and is said.
    assert main(["perplexity", "demo?bos=no", str(text), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["undefined"] == 2


def test_models_that_score_no_end(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for model in ("random", "toy?eos=no"):
        assert main(["perplexity", model, str(text)]) == 2
        assert "--no-end" in capsys.readouterr().err
        assert main(["perplexity", model, str(text), "--no-end"]) == 0
        assert "6, without ends of sentences" in capsys.readouterr().out
    assert main(["perplexity", "toy?nonsense=1", str(text)]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_a_text_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perplexity", "no-such-model", str(tmp_path / "none.txt")]) == 2
    assert "none.txt" in capsys.readouterr().err


@pytest.mark.slow
def test_an_n_gram_on_brown_has_the_perplexity_that_kenlm_gives(shared: Path, tmp_path: Path) -> None:
    from syntagm.training import NgramSettings, Words
    from syntagm.training.ngram import train as ngram

    texts = shared / "data" / "corpora"
    ngram.train(
        [str(texts / "brown.train.txt")], [], tmp_path / "model", NgramSettings(words=Words("blanks", classes="none"))
    )
    found = perplexity(load(str(tmp_path / "model"), eos="yes"), corpus.texts([texts / "brown.test.txt"]))
    # 58,248 words and 2,841 ends.
    assert (found.words, found.unknown) == (61_089, 2_300)
    assert found.perplexity == pytest.approx(429.28, abs=0.005)
    assert found.perplexity_known == pytest.approx(313.09, abs=0.005)


# One of three sentences has a dash that stands alone: the text as a whole is not divided into words.
PROSE = ["The dog -- a hound -- barked.", "The cat didn't bark.", "The dog can't sleep, said the cat."]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["ngram", "lstm"])
def test_held_out_perplexity_in_training_is_that_of_the_command(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (corpus_file := tmp_path / "text.txt").write_text("\n".join(PROSE * 4) + "\n")
    (valid := tmp_path / "valid.txt").write_text("\n".join([*PROSE, "A zebra barked."]) + "\n")
    options = ["--corpus", str(corpus_file), "--valid", str(valid), "-o", str(tmp_path / "model")]
    small = {
        "ngram": ["--discount-fallback"],
        "lstm": ["--epochs", "1", "--embedding", "8", "--hidden", "8", "--batch", "2"],
    }
    assert main(["train", family, *options, *small[family]]) == 0
    [row] = json.loads((tmp_path / "model" / "training.json").read_text())["history"]
    capsys.readouterr()
    assert main(["perplexity", str(tmp_path / "model"), str(valid), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # 7, 4, 7 and 3 words between blanks and four ends, though the Treebank also divides did n't, ca n't and marks.
    assert (found["words"], found["unknown"], found["policies"]["tokens"]) == (25, 2, "treebank")
    assert main(["perplexity", f"{tmp_path / 'model'}?tokens=auto", str(valid), "--json"]) == 0
    # Asked for by name it is decided text by text, and "barked." is a word where a dash stands alone.
    assert json.loads(capsys.readouterr().out)["unknown"] == 3
    names = ["words", "unknown", "perplexity", "perplexity_known"] if family == "ngram" else ["perplexity"]
    assert [row[name] for name in names] == pytest.approx([found[name] for name in names], rel=1e-5)


def test_a_text_is_judged_as_a_whole_everywhere_and_the_model_loaded_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (text := tmp_path / "text.txt").write_text("\n".join(PROSE * 4) + "\n")
    (held := tmp_path / "held.txt").write_text("\n".join([*PROSE, "A zebra barked."]) + "\n")
    place = tmp_path / "models" / "ngram-xs"
    assert main(["train", "ngram", "--corpus", str(text), "--discount-fallback", "-o", str(place)]) == 0
    assert division(str(place), [held]) == {"tokens": "treebank"}
    assert division(f"{place}?tokens=auto", [held]) == division("toy", [held]) == {}
    # The words of trees are not split again.
    fixed, trees = tmp_path / "fixed", tmp_path / "held.trees"
    trees.write_text("(S (NNP AT&T) (VBZ barks))\n")
    main(["train", "ngram", "--corpus", str(text), "--discount-fallback", "--tokens", "treebank", "-o", str(fixed)])
    assert (division(str(fixed), [trees]), division(str(fixed), [held])) == ({"tokens": "blanks"}, {})
    assert perplexity(load(str(fixed), eos="yes", tokens="blanks"), ["AT&T barks"]).words == 3
    with pytest.raises(UsageError, match="'moses'; expected treebank or blanks"):
        load(str(fixed), tokens="moses")
    loaded = []
    load_once = ngram.load
    monkeypatch.setattr(ngram, "load", lambda path, **options: loaded.append(options) or load_once(path, **options))
    capsys.readouterr()
    assert main(["perplexity", str(place), str(held), "--json"]) == 0
    assert loaded == [{"eos": "yes", "tokens": "treebank"}]
    printed = capsys.readouterr()
    assert "the text is divided into words as in the Penn Treebank" in printed.err
    found = json.loads(printed.out)
    design = Design(tmp_path, [str(text)], [str(held)], [str(held)], {"xs": 50}, [1], {"ngram": {}})
    measure_perplexity(design, Cell("ngram", "xs", 0), 50, Progress())
    noted = json.loads((tmp_path / "perplexity" / "ngram-xs.json").read_text())
    # "barked." is known where it is `barked` and `.`.
    assert (noted["unknown"], found["unknown"]) == (2, 2)
    assert {name: noted[name] for name in ("model", "policies", "bits")} == {
        name: found[name] for name in ("model", "policies", "bits")
    }
