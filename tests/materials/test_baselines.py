"""What word frequency or length alone would score: by hand, over predictions of other shapes, and on the command line."""

import gzip
import re
from pathlib import Path

import pytest
from toy_runs import pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.evaluation import Baseline, Frequencies, baselines
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, collections, parse
from tools import balance

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "chance.md"
# 100 words, 2 of them different: a word with a count of 7 has the probability 8 / 103.
COUNTS = Frequencies({"the": 60, "dog": 7, "Rose": 3, "rose": 1}, 100, "a text")


def values(suite: Suite) -> dict[str, float]:
    return {one.kind: one.value for one in baselines.baselines(suite, COUNTS)}


def test_the_bits_of_a_text_are_those_of_its_words() -> None:
    # (100 + 4 + 1) / (60 + 1), / (7 + 1), / 1 for a word without a count.
    assert 2 ** COUNTS.bits("The dog!") == pytest.approx(105 / 61 * 105 / 8)
    assert 2 ** COUNTS.bits("cat") == pytest.approx(105)
    # A name is looked up as it stands first, another word at the beginning of a sentence in lower case.
    assert 2 ** COUNTS.bits("Rose") == pytest.approx(105 / 4)
    assert 2 ** COUNTS.bits("rose") == pytest.approx(105 / 2)
    # The name before a possessive 's is as common as without it.
    assert COUNTS.bits("Rose's dog") == pytest.approx(COUNTS.bits("Rose") + COUNTS.bits("cat") + COUNTS.bits("dog"))


def test_each_baseline_prefers_the_commoner_or_shorter_sentence_and_a_tie_counts_half() -> None:
    suite = pairs(
        "p",
        ("The dog.", "The wombat."),  # commoner, as many words, fewer characters
        ("The cat.", "The fox."),  # unlisted both, all tie
        ("The wombat.", "The dog."),
        ("The old dog.", "The dog."),  # an additional word costs in all three
    )
    assert values(suite) == {"frequency": 1.5 / 4, "words": 1.5 / 4, "characters": 1.5 / 4}
    assert [one.ties for one in baselines.baselines(suite, COUNTS)] == [1, 3, 1]


def test_kinds_are_computed_one_by_one_as_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = pairs("p", ("The dog.", "The wombat."), ("The old dog.", "The dog."), ("The cats.", "The dog."))
    together = baselines.baselines(suite, COUNTS)
    assert [one for kind in baselines.KINDS for one in baselines.baselines(suite, COUNTS, [kind])] == together
    # What a writer of paradigms is shown: two lists of words, and characters once.
    for module, name in ((balance, "today"), (baselines, "books")):
        monkeypatch.setattr(module, name, lambda: COUNTS)
    found, leaking = balance.balance(suite)
    assert [*found] == ["books", "today", "characters"]
    assert found["characters"] == together[2].value == 1 / 3
    assert "characters" in leaking


def test_the_same_words_in_another_order_tie_in_spite_of_rounding() -> None:
    found = baselines.baselines(pairs("p", ("Rose saw the dog eat.", "The dog saw Rose eat.")), COUNTS)
    assert [(one.value, one.ties) for one in found] == [(0.5, 1)] * 3


def test_regions_count_and_a_tie_is_worth_the_chance_of_the_formula() -> None:
    def region(verb: str) -> Sentence:
        return Sentence(f"The dog {verb}", (Region("verb", 8, 8 + len(verb)),))

    item = Item("1", {name: region(verb) for name, verb in [("a", "the"), ("b", "dog"), ("c", "dog")]})
    once = Prediction("once", parse("(verb;%a%) < (verb;%b%)"))
    twice = Prediction("twice", parse("(verb;%b%) < (verb;%c%) & (verb;%a%) < (verb;%c%)"))
    number = Prediction("number", parse("(verb;%a%) > 3"))
    lacks = Item("2", {"a": region("the")})
    found = baselines.baselines(Suite("s", (item, lacks), (once, twice, number)), COUNTS)
    # Nothing is known of a comparison with a number; item 2 has no other conditions.
    assert [(one.prediction, one.kind, one.value, one.n) for one in found] == [
        ("once", "frequency", 1.0, 1),
        ("once", "words", 0.5, 1),
        ("once", "characters", 0.5, 1),
        ("twice", "frequency", pytest.approx(1 / 3), 1),
        ("twice", "words", pytest.approx(1 / 3), 1),
        ("twice", "characters", pytest.approx(1 / 3), 1),
    ]


def test_off_chance_on_either_side_leaks_in_pairs_and_above_it_in_other_formulas() -> None:
    def leaks(value: float, chance: float) -> bool:
        return Baseline("p", "words", value, chance, 100, 0, "").leaks

    assert [leaks(value, 0.5) for value in (0.44, 0.45, 0.55, 0.56)] == [True, False, False, True]
    assert [leaks(value, 0.25) for value in (0.0, 0.30, 0.31)] == [False, False, True]


def test_a_declared_cue_is_no_warning() -> None:
    leaking = ("The dog.", "The wombat.")
    found = [
        [warning.code for warning in baselines.warnings(suite, baselines.baselines(suite, COUNTS))]
        for suite in (
            pairs("p", leaking),
            pairs("p", leaking, tags={"frequency_cue": "wombats are rare"}),
            pairs("p", leaking, tags={"length_cue": "wombats have long names", "frequency_cue": "and are rare"}),
        )
    ]
    assert found == [["W401", "W403"], ["W403"], []]


def test_check_prints_the_baselines_and_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pairs.tsv").write_text("good\tbad\nThe dog barks.\tThe dog zorgles.\n")
    assert main(["check", str(tmp_path / "pairs.tsv"), "--baselines"]) == 0
    printed = capsys.readouterr().out
    assert "chance 0.500; frequency 1.000 (0 ties), words 0.500 (1 ties), characters 1.000 (0 ties)" in printed
    assert "1 word without a count in public-domain books: zorgles" in printed
    assert "W401 full_sentence holds for 1.00 of 1 items by word frequency alone; chance is 0.50." in printed
    assert printed.endswith("0 errors, 2 warnings\n")


def test_words_are_counted_in_a_text_of_the_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pairs.tsv").write_text("good\tbad\nDer Hund bellt.\tDer Hund bellen.\n")
    with gzip.open(tmp_path / "text.gz", "wt") as text:
        text.write("Alle Hunde bellen.\nBellen der Hund?\n")
    arguments = ["check", str(tmp_path / "pairs.tsv"), "--unigrams", str(tmp_path / "text.gz")]
    assert main([*arguments, "--baselines"]) == 0
    assert "frequency 0.000 (0 ties)" in capsys.readouterr().out
    assert main(arguments) == 2
    assert "--unigrams: no --baselines" in capsys.readouterr().err


def test_a_page_quotes_the_names_in_its_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my pairs.csv"
    path.write_text("gut,schlecht\nDer Hund bellt.,Der Hund bellen.\n")
    assert main(["describe", f"{path}?good=gut&bad=schlecht"]) == 0
    assert f"Made by `syntagm describe '{path}?good=gut&bad=schlecht'`." in capsys.readouterr().out


def test_a_page_has_the_baselines_and_the_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = '{"sentence_good": "The dog barks.", "sentence_bad": "The dog zorgles.", "length_cue": "zorgles is long"}\n'
    (tmp_path / "pairs.jsonl").write_text(row)
    assert main(["describe", str(tmp_path / "pairs.jsonl"), "--baselines"]) == 0
    printed = capsys.readouterr().out
    assert f"Made by `syntagm describe {tmp_path / 'pairs.jsonl'} --baselines`." in printed
    assert "| items | chance | frequency | words | characters |" in printed
    assert "| 1 | 1/2 | **1.000** | 0.500 | **1.000** |" in printed
    assert "Length is a cue: zorgles is long." in printed
    assert main(["describe", str(tmp_path / "pairs.jsonl")]) == 0
    printed = capsys.readouterr().out
    assert "| items | chance |\n" in printed
    assert "--baselines" not in printed


LISTED = re.compile(r"^\| (`[^|]*`) \| `(\w+)` \| ([\d. |]+) \|$", re.MULTILINE)


def listed_leaks() -> dict[tuple[str, str, str], str]:
    """What the page about chance lists: (suite, prediction, kind) -> value."""
    section = PAGE.read_text(encoding="utf-8").partition("\n## Frequency and length\n")[2].partition("\n## ")[0]
    return {
        (suite, prediction, kind): value.strip()
        for suites, prediction, values in LISTED.findall(section)
        for suite in re.findall(r"`([\w-]+)`", suites)
        for kind, value in zip(baselines.KINDS, values.split("|"), strict=True)
        if value.strip()
    }


@pytest.mark.slow
@pytest.mark.parametrize("collection", collections())
def test_what_leaks_in_a_bundled_collection_is_declared_or_listed_on_the_page(collection: str) -> None:
    found, names = {}, set()
    for suite in sg.read_suites(collection):
        names.add(suite.name)
        for one in baselines.baselines(suite, baselines.books()):
            if one.leaks and not one.declared:
                found[suite.name, one.prediction, one.kind] = f"{one.value:.2f}"
    assert found == {key: value for key, value in listed_leaks().items() if key[0] in names}


def test_the_page_lists_leaks() -> None:
    assert listed_leaks()["simple_npi_anim", "intrusive_ungrammatical", "characters"] == "0.75"
    assert len(listed_leaks()) == 17


def test_every_word_of_a_form_has_a_count() -> None:
    counts = baselines.books().counts
    assert all(counts[word] > 1000 for word in ("a", "an", "least", "than", "the", "himself"))
