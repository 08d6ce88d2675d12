"""Sentences limited to the words of a model or of a list."""

from pathlib import Path

import pytest
from grammar_for_tests import SAMPLE
from ngrams_for_tests import trained

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError, UsageError
from syntagm.models import load, vocabulary
from syntagm.models.words.splitting import split
from syntagm.suites import Suite
from syntagm.suites.formats.template import treebank, words_of

# All words of SAMPLE but *jugs*, *elm* and *elms*; *the* also with a capital.
TRAINING = """The ox by the jug falls .
The oxen by the ox fall .
The jug by the ox is by the oxen .
The oxen are by the jug .
"""
LIST = "\n".join(["the", "ox", "oxen", "jug", "by", "falls", "fall", "is", "are"])
NOUNS = SAMPLE.replace("[items]", "[item_tags]\nnoun = '{noun.sg}'\n[items]")


def made(folder: Path, text: str, vocabulary: Path, n: int = 4) -> Suite:
    (folder / "nouns.toml").write_text(text)
    [suite] = sg.read_suites(f"{folder / 'nouns.toml'}?n={n}&vocabulary={vocabulary}")
    return suite


def listed(folder: Path, text: str = LIST) -> Path:
    (folder / "words.txt").write_text(text)
    return folder / "words.txt"


def test_the_words_of_a_list(tmp_path: Path) -> None:
    suite = made(tmp_path, NOUNS, listed(tmp_path))
    words = {
        word.strip(".").lower() for item in suite.items for one in item.sentences.values() for word in one.text.split()
    }
    assert words <= set(LIST.split())
    # *jugs* isn't listed: jugs are singular only.
    assert {item.tags["noun"] for item in suite.items if item.tags["number"] == "pl"} == {"ox"}
    assert {item.tags["noun"] for item in suite.items if item.tags["number"] == "sg"} == {"ox", "jug"}
    assert suite.tags["vocabulary"].startswith("words.txt ")
    # Of three nouns elms are unknown; both verbs are known.
    assert suite.tags["vocabulary"].endswith(", 9 words; 4 of 5 words")


def model_of(folder: Path, text: str = TRAINING) -> Path:
    trained(folder, text, order=1, tokens="auto", discount_fallback=True)
    return folder / "model"


def test_the_model_knows_every_word_that_it_is_asked(tmp_path: Path) -> None:
    folder = model_of(tmp_path)

    def unknown(suite: Suite) -> int:
        texts = [one.text for item in suite.items for one in item.sentences.values()]
        return sum(int((~answer.in_vocabulary).sum()) for answer in load(f"ngram:{folder}").score(texts))

    (tmp_path / "all.toml").write_text(NOUNS)
    [everything] = sg.read_suites(f"{tmp_path / 'all.toml'}?n=8")
    assert unknown(everything) > 0
    suite = made(tmp_path, NOUNS, folder)
    assert len(suite.items) == 4
    assert unknown(suite) == 0
    assert suite.tags["vocabulary"].startswith("model ")


@pytest.mark.slow
def test_what_cannot_be_reached_is_refused_with_the_number(tmp_path: Path) -> None:
    words = listed(tmp_path)
    with pytest.raises(InputError, match=r"\d+ different items and then none .*expected 50 .*larger vocabulary"):
        made(tmp_path, NOUNS, words, 50)
    with pytest.raises(InputError, match="no word of slot noun is in the vocabulary"):
        made(tmp_path, NOUNS, listed(tmp_path, "the\nby\nfalls\nfall"))
    with pytest.raises(InputError, match="by is not in the vocabulary"):
        made(tmp_path, NOUNS, listed(tmp_path, LIST.replace("by\n", "")))


def test_rows_and_combinations_with_unknown_words_are_left_out(tmp_path: Path) -> None:
    cross = made(tmp_path, NOUNS.replace('fill = "sample"\nn = 10', 'fill = "cross"'), listed(tmp_path), 100)
    assert cross.tags["vocabulary"].endswith("4 of 5 words; 6 of 6 items")
    table = '[conditions]\na = "The {noun}."\n[items]\nfill = "table"\nrows = """\nnoun\nox\nelk\n"""\n'
    assert made(tmp_path, table, listed(tmp_path)).tags["vocabulary"].endswith(", 9 words; 1 of 2 items")


def test_a_capital_is_unknown_to_a_model_and_known_to_a_list(tmp_path: Path) -> None:
    text = (
        NOUNS.replace("by the {other.sg} ", "").replace('other = "noun[!= noun]"\n', "").replace('"sg", "pl"', '"sg"')
    )
    text = text.replace("{verb.!number}", "{verb.pl}")
    with pytest.raises(InputError, match="The is not in the vocabulary"):
        made(tmp_path, text, model_of(tmp_path, "the ox falls .\nthe ox fall ."), 1)
    assert len(made(tmp_path, text, listed(tmp_path), 1).items) == 1


def test_the_command_skips_what_it_cannot_reach(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = listed(tmp_path)
    (tmp_path / "few.toml").write_text(NOUNS)
    (tmp_path / "many.toml").write_text(NOUNS.replace("n = 10", "n = 4"))
    arguments = ["make", str(tmp_path / "few.toml"), str(tmp_path / "many.toml"), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--vocabulary", str(words)]) == 1
    out, err = capsys.readouterr()
    assert "many.json: 4 items, vocabulary words.txt" in out
    assert out.endswith("1 of 2 suites, 4 items\n")
    assert "skipped: " in err
    assert "few.toml" in err


@pytest.mark.parametrize(("content", "message"), [("a dog\n", "several words in a line"), ("\n", "no words")])
def test_damaged_lists(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        made(tmp_path, NOUNS, listed(tmp_path, content))


def test_other_vocabularies_are_refused(tmp_path: Path) -> None:
    for place in (tmp_path / "nothing", tmp_path):
        with pytest.raises(UsageError, match="expected the folder of a word-level model"):
            made(tmp_path, NOUNS, place)


@pytest.mark.slow
def test_sentences_are_split_as_models_split_them() -> None:
    odd = [
        "It's herself that cannot go.",
        "They've said he'd come, and won't.",
        "A mother-in-law's dog isn't O'Brien's.",
    ]
    suites = sg.read_suites(
        "warstadt2020/sentential_subject_island?n=10", "hu2020/number_prep", "marvin2018/simple_agrmt?n=9"
    )
    for text in odd + [one.text for suite in suites for item in suite.items for one in item.sentences.values()]:
        assert treebank(text) == split(text, "treebank")


def test_the_vocabulary_of_a_model_is_read_as_the_model_reads_it(tmp_path: Path) -> None:
    folder = model_of(tmp_path, TRAINING + "caf\u00e9 \\u{61} back\\slash \u2028sep\u2028\n")
    own, ours = vocabulary.read(folder / "vocabulary.txt"), words_of(str(folder))
    assert all(ours.known(word) for word in own.words)
    assert ours.about.endswith(f", {len(own):,} words")
    assert not ours.known("elm")
