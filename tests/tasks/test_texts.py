"""Surprisals of texts as tables: rows of tokens and of words, what has no bits, and why."""

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from masked_for_tests import masked, word_pieces
from models_for_tests import TEXT, byte_level, causal, lstm, transformer

import syntagm as sg
from syntagm.cli import main
from syntagm.core import Progress
from syntagm.evaluation import perplexity
from syntagm.models import LanguageModel, Surprisals
from syntagm.models.causal.model import from_transformers

COLUMNS = ["text", "line", "index", "start", "end", "token", "bits", "known", "context"]


class Pieces(LanguageModel):
    """A model with tokens of given lengths, of which some may be unknown, and the bits 1, 2, 3 ..., or none."""

    name, fingerprint, bos = "pieces", "0" * 64, "<s>"

    def __init__(self, *lengths: int, missing: Sequence[int] = (), unknown: Sequence[int] = ()) -> None:
        self.lengths, self.missing, self.unknown = lengths, list(missing), list(unknown)
        self.settings, self.record = {"bos": "yes"}, {}

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for text in texts:
            starts = np.cumsum([0, *self.lengths[:-1]], dtype=np.int32)
            bits = np.arange(1.0, 1 + len(starts))
            bits[self.missing] = np.nan
            yield Surprisals(text, starts, bits, ~np.isin(np.arange(len(starts)), self.unknown))


def test_rows_of_tokens_are_slices_of_the_text() -> None:
    text = "The naïve café owner\nwaited 雪."
    frame = sg.score_text(causal("gpt2"), text)
    assert frame.columns == COLUMNS
    for line, rows in zip(text.splitlines(), frame.partition_by("text"), strict=True):
        assert "".join(rows["token"]) == line
        assert [line[start:end] for start, end in rows.select("start", "end").iter_rows()] == rows["token"].to_list()
        assert rows["index"].to_list() == rows["context"].to_list() == list(range(len(rows)))
    assert frame["line"].to_list() == [1 + number for number in frame["text"]]
    assert frame["bits"].is_finite().all()


def test_bits_of_words_are_sums_and_add_up_to_the_perplexity(tmp_path: Path) -> None:
    """The same file gives the same bits here and there."""
    model = causal("gpt2")
    (path := tmp_path / "text.txt").write_text("\n \t\n".join(f" {line}\t" for line in TEXT.splitlines()), "utf-8")
    tokens, words = (sg.score_text(model, path, by=by) for by in ("token", "word"))
    assert words["word"].to_list() == TEXT.split()
    assert words.select("text", "line").unique(maintain_order=True)["line"].to_list() == [1, 3, 5, 7, 9, 11, 13, 15]
    for frame in (tokens, words):
        assert frame["bits"].sum() == pytest.approx(perplexity(model, TEXT.splitlines(), ends=False).bits)
    first = tokens.filter((pl.col("text") == 1) & (pl.col("start") < 3))
    assert words.filter(pl.col("text") == 1)["bits"][0] == pytest.approx(first["bits"].sum())
    with gzip.open(tmp_path / "text.txt.gz", "wb") as file:
        file.write(path.read_bytes())
    assert sg.score_text(model, tmp_path / "text.txt.gz", by="word").equals(words)


def test_a_document_is_read_through_and_keeps_the_lines_of_its_words() -> None:
    model, text = lstm(), "The old gardener\n\nwatered the roses"
    frame = sg.score_text(model, text, by="word", context="document")
    assert frame["text"].to_list() == [0] * 6
    assert frame["line"].to_list() == [1, 1, 1, 3, 3, 3]
    assert frame["context"].to_list() == list(range(6))
    [answer] = model.score(["The old gardener watered the roses"])
    np.testing.assert_allclose(frame["bits"], answer.bits, rtol=0, atol=1e-6)
    assert frame["start"].to_list() == [0, 4, 8, 17, 25, 29]
    kept = sg.score_text(causal("gpt2"), text, context="document", line_ends="keep")
    assert "".join(kept["token"]) == text
    assert set(kept.filter(pl.col("start") >= text.index("watered"))["line"]) == {3}


def test_windows_are_said_and_nothing_is_missing() -> None:
    class Told(Progress):
        def __init__(self) -> None:
            self.warnings: list[str] = []
            self.characters = 0

        def warned(self, message: str) -> None:
            self.warnings.append(message)

        def answered(self, suite: str, questions: int) -> None:
            self.characters += questions

    model = from_transformers(transformer("gpt2", byte_level(), n_positions=24), byte_level(), "short")
    told = Told()
    frame = sg.score_text(model, TEXT, by="word", context="document", stride=6, progress=told)
    assert frame["bits"].is_finite().all()
    assert frame["context"].max() < 24
    assert told.characters == len(TEXT) - 1
    assert len(told.warnings) == 1
    assert told.warnings[0].startswith("1 of 1 texts longer than the model's window, scored in ")


def test_a_first_token_without_a_start_symbol_is_the_only_one_without_bits() -> None:
    model = causal("gpt2", bos="no")
    for by in ("token", "word"):
        frame = sg.score_text(model, "The old gate\nNo one", by=by)
        assert frame.filter(pl.col("bits").is_nan()).select("text", "index").rows() == [(0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"No," she said.', ['"', "No", ',"', "she", "said", "."]),
        ("the baker's well-known — U.S. shop...", ["the", "baker's", "well-known", "—", "U.S", ".", "shop", "..."]),
    ],
)
def test_punctuation_apart(text: str, expected: list[str]) -> None:
    model = causal("gpt2")
    apart = sg.score_text(model, text, by="word", punctuation="apart")
    assert apart["word"].to_list() == expected
    attached = sg.score_text(model, text, by="word")
    assert attached["word"].to_list() == text.split()
    assert apart["bits"].sum() == pytest.approx(attached["bits"].sum())


def test_punctuation_that_shares_a_token_with_its_word_stays_attached_and_is_counted() -> None:
    class Told(Progress):
        def warned(self, message: str) -> None:
            raise AssertionError(message)

    with pytest.raises(AssertionError, match="1 word with the punctuation attached"):
        sg.score_text(Pieces(4, 5, 1), "(he) said.", by="word", punctuation="apart", progress=Told())
    frame = sg.score_text(Pieces(4, 5, 1), "(he) said.", by="word", punctuation="apart")
    assert frame.select("word", "bits").rows() == [("(he)", 1.0), ("said", 2.0), (".", 3.0)]


def test_a_word_is_known_if_all_its_tokens_are() -> None:
    """Three words of one, two and three tokens, with none, one and two of them unknown."""
    frame = sg.score_text(Pieces(1, 2, 2, 2, 2, 2, unknown=[2, 3, 5]), "a beer outside", by="word")
    assert frame.select("word", "known").rows() == [("a", True), ("beer", False), ("outside", False)]
    frame = sg.score_text(Pieces(1, 2, 2, 2, 2, 2, unknown=[0]), "a beer outside", by="word")
    assert frame["known"].to_list() == [False, True, True]


def test_a_token_of_several_words_leaves_them_without_bits_and_is_named() -> None:
    with pytest.warns(UserWarning, match="2 of 3 words without bits: .* for example 'in front'"):
        frame = sg.score_text(Pieces(8, 2), "in front of", by="word")
    assert frame["bits"].is_nan().to_list() == [True, True, False]


def test_bits_that_are_not_numbers_are_counted() -> None:
    with pytest.warns(UserWarning, match="1 of 2 tokens without bits: the model's answer is not a number"):
        sg.score_text(Pieces(2, 3, missing=[1]), "a bee")
    with pytest.warns(UserWarning, match="1 of 2 words without bits: the model's answer is not a number"):
        sg.score_text(Pieces(1, 4, missing=[0]), "a bee", by="word")


def test_the_end_symbol_has_a_row_without_characters() -> None:
    frame = sg.score_text(sg.load_model("toy?eos=yes"), "the dog barks", by="word")
    assert frame.select("start", "end", "word").rows()[-1] == (13, 13, "")
    assert frame["bits"].to_list() == sg.score_text(sg.load_model("toy?eos=yes"), "the dog barks")["bits"].to_list()


@pytest.mark.parametrize("text", [" The dog", "  The dog ", "\tThe dog", "The dog \t", " The dog\n  The cats\n"])
@pytest.mark.parametrize("name", ["toy", "causal", "masked"])
def test_blanks_around_a_text_are_scored(name: str, text: str) -> None:
    models = {"causal": lambda: causal("gpt2"), "masked": lambda: masked("bert", word_pieces())}
    model = models[name]() if name in models else sg.load_model(name)
    frame = sg.score_text(model, text)
    joined = frame.group_by("text", maintain_order=True).agg(pl.col("token").str.join(""))
    assert joined["token"].to_list() == text.splitlines()
    bits = [answer.bits.tolist() for answer in model.score(text.splitlines())]
    assert frame["bits"].to_list() == pytest.approx([number for of_text in bits for number in of_text])


def test_python_and_the_command_line_score_the_same_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    toy = sg.load_model("toy")
    for text in (" The dog", "The dog  "):
        assert main(["score", "toy", "--json", text]) == 0
        shown = json.loads(capsys.readouterr().out)
        frame = sg.score_text(toy, text)
        assert [token["token"] for token in shown["tokens"]] == frame["token"].to_list()
        assert [token["bits"] for token in shown["tokens"]] == frame["bits"].to_list()
    # The blanks around the lines of a file are no part of its texts, on both sides.
    (file := tmp_path / "texts.txt").write_text("  The dog \n")
    assert main(["score", "toy", "--file", str(file), "-o", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split(",")[5] == "The"
    assert sg.score_text(toy, file)["token"].to_list() == ["The", " dog"]


def test_a_list_of_texts_is_scored_text_by_text() -> None:
    toy = sg.load_model("toy")
    frame = sg.score_text(toy, ["The dog", "", " The cats"], by="word")
    assert frame.select("text", "line", "word").rows() == [(0, 1, "The"), (0, 1, "dog"), (1, 3, "The"), (1, 3, "cats")]
    assert sg.score_text(toy, (text for text in ("The dog", " The cats")), by="word")["bits"].to_list() == (
        frame["bits"].to_list()
    )


def test_portions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = sg.score_text(sg.load_model("toy"), TEXT, by="word")
    monkeypatch.setattr("syntagm.evaluation.texts.CHARACTERS", 100)
    assert sg.score_text(sg.load_model("toy"), TEXT, by="word").equals(frame)


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    toy = sg.load_model("toy")
    (path := tmp_path / "of words").write_text("the dog")
    for name in (str(path), "sents.txt", "missing.tsv"):
        with pytest.raises(sg.UsageError, match=r"a text that looks like the name of a file.* Pass a pathlib.Path"):
            sg.score_text(toy, name)
    with pytest.raises(sg.InputError, match="no text"):
        sg.score_text(toy, " \n\t")
    with pytest.raises(sg.InputError, match="no such file"):
        sg.score_text(toy, tmp_path / "nowhere.txt")
    with pytest.raises(sg.UsageError, match="rows of words"):
        sg.score_text(toy, "the dog", punctuation="apart")
    with pytest.raises(sg.UsageError, match="boundary=word, whose words end only before white space"):
        sg.score_text(causal("gpt2", boundary="word"), "the dog", by="word", punctuation="apart")
    with pytest.raises(sg.UsageError, match=r"model: 'demo'; expected a LanguageModel.*syntagm\.load_model"):
        sg.score_text("demo", "the dog")  # type: ignore[arg-type]
    with pytest.raises(sg.UsageError, match="text, item 2: 3; expected text"):
        sg.score_text(toy, ["the dog", 3])  # type: ignore[list-item]
    with pytest.raises(sg.InputError, match="no text"):
        sg.score_text(toy, [])
    for name in ("by", "context", "punctuation", "line_ends"):
        with pytest.raises(sg.UsageError, match=f"{name}: 'words'; expected '"):
            sg.score_text(toy, "the dog", **{name: "words"})  # type: ignore[arg-type]


def test_many_tokens_that_cross_borders_take_no_time() -> None:
    """Words and tokens of two characters that overlap everywhere: nothing is compared with everything."""
    text = " ".join(["(ab)"] * 2_000)
    apart = sg.score_text(Pieces(*[2, 3] * 2_000), text, by="word", punctuation="apart")
    assert apart["word"].to_list() == text.split()
    with pytest.warns(UserWarning, match=r"2,000 of 2,000 words without bits: .* for example 'b\) \(a'"):
        sg.score_text(Pieces(2, *[5] * 2_000), text, by="word")
