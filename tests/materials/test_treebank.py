"""Pairs from a treebank: by hand, what is left out and why, faulty rules and treebanks, and the command."""

from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError
from syntagm.suites import treebank

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "ud" / "de_gsd-ud-dev.conllu"


def word(n: int, form: str, lemma: str, upos: str, features: str, head: int, relation: str, misc: str = "_") -> str:
    return "\t".join([str(n), form, lemma, upos, "_", features, str(head), relation, "_", misc])


FIN = "Mood=Ind|Number={}|Person=3|Tense=Pres|VerbForm=Fin"
SING, PLUR = FIN.format("Sing"), FIN.format("Plur")


def clause(name: str, det: str, noun: str, lemma: str, number: str, verb: str, base: str) -> str:
    return "\n".join([
        f"# sent_id = {name}",
        f"# text = {det} {noun} {verb}.",
        word(1, det, "der", "DET", f"Number={number}", 2, "det"),
        word(2, noun, lemma, "NOUN", f"Number={number}", 3, "nsubj"),
        word(3, verb, base, "VERB", FIN.format(number), 0, "root", "SpaceAfter=No"),
        word(4, ".", ".", "PUNCT", "_", 3, "punct"),
    ])  # fmt: skip


TREEBANK = "\n\n".join([
    clause("a", "Die", "Frau", "Frau", "Sing", "schläft", "schlafen"),
    clause("b", "Die", "Kinder", "Kind", "Plur", "schlafen", "schlafen"),
    clause("c", "Der", "Hund", "Hund", "Sing", "bellt", "bellen"),  # no other form is known
    clause("d", "Der", "Lehrer", "Lehrer", "Sing", "schläft", "schlafen"),  # the noun is a plural, too
    clause("e", "Die", "Lehrer", "Lehrer", "Plur", "schlafen", "schlafen"),
    clause("a2", "Die", "Frau", "Frau", "Sing", "schläft", "schlafen"),
])  # fmt: skip


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    (tmp_path / "bank.conllu").write_text(TREEBANK + "\n", encoding="utf-8")
    return tmp_path / "bank.conllu"


def test_a_pair_has_the_other_form_its_regions_and_its_origin(bank: Path) -> None:
    made, left_out = treebank.suite(bank, treebank.Rule.read("verb_number"))
    first, second = made.items
    assert {name: sentence.text for name, sentence in first.sentences.items()} == {
        "good": "Die Frau schläft.", "bad": "Die Frau schlafen.",
    }  # fmt: skip
    bad = first.sentences["bad"]
    assert [bad.content(name) for name in ("prefix", "critical", "rest")] == ["Die Frau", "schlafen", "."]
    assert first.tags == {
        "sentence": "a", "lemma": "schlafen", "related": "Frau", "change": "Number=Sing -> Plur", "distance": "0",
    }  # fmt: skip
    assert second.sentences["bad"].text == "Die Kinder schläft."
    assert left_out == {
        "no form with the other value is known": 1,
        "the two words agree under another reading": 2,
        "the sentence has a pair already": 1,
    }
    assert made.tags["treebank"] == "bank.conllu"
    assert [str(finding) for finding in sg.check_suites([made])] == []


def test_a_lexicon_has_further_forms_and_may_make_them_ambiguous(bank: Path, tmp_path: Path) -> None:
    lexicon = tmp_path / "deu.tsv"
    lexicon.write_text("bellen\tbellen\tV;IND;PRS;3;PL\nFrau\tFrauen\tN;NOM;PL\n", encoding="utf-8")
    made, _ = treebank.suite(bank, treebank.Rule.read("verb_number"), lexicon)
    assert made.items[-1].sentences["bad"].text == "Der Hund bellen."
    lexicon.write_text("bellen\tbellen\tV;IND;PRS;3;PL\nbellen\tbelln\tV;IND;PRS;3;PL\n", encoding="utf-8")
    made, left_out = treebank.suite(bank, treebank.Rule.read("verb_number"), lexicon)
    assert (len(made.items), left_out["several forms have the other value"]) == (2, 1)
    lexicon.write_text("bellen\tbellt\tV;IND;PRS;3;PL\n", encoding="utf-8")
    made, left_out = treebank.suite(bank, treebank.Rule.read("verb_number"), lexicon)
    assert (len(made.items), left_out["the form is the same for both values"]) == (2, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3\tschläft", "x\tschläft", "line 5: id 'x'"),
        ("\tDET\t", " DET ", "line 3: 8 columns"),
        ("# text = Die Frau", "# text = Der Mann", "line 3: 'Die'"),
    ],
)
def test_a_faulty_treebank_is_refused_with_its_line(bank: Path, old: str, new: str, message: str) -> None:
    bank.write_text(TREEBANK.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        treebank.suite(bank, treebank.Rule.read("verb_number"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["Sing", "Plur"]', '["Sing"]', "two different values"),
        ('is = "dependent"', 'is = "child"', "dependent or head"),
        ("[change]", "[changes]", "the key changes"),
        ('upos = ["NOUN"]', 'upos = "NOUN"', "a list of strings"),
        ("distinct = true", "distinct = 1", "true or false"),
        ('feature = "Number"', "feature = 1", "the name of a feature"),
    ],
)
def test_a_faulty_rule_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (treebank.RULES / "verb_number.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "rule.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        treebank.Rule.read(str(tmp_path / "rule.toml"))


def test_the_command(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "make",
        "--ud",
        str(bank),
        "--rule",
        "verb_number",
        "-o",
        str(tmp_path / "pairs"),
        "--as",
        "tsv",
        "-n",
        "1",
    ]
    assert main(command) == 0
    assert (tmp_path / "pairs" / "verb_number.tsv").read_text(encoding="utf-8").count("\n") == 2
    capsys.readouterr()
    for wrong in (
        ["make", "-o", str(tmp_path / "p")],
        ["make", "hu2020", "--rule", "verb_number", "-o", str(tmp_path / "p")],
        [*command, "--seed", "2"],
        ["make", "--ud", str(bank), "-o", str(tmp_path / "p")],
        ["make", "--ud", str(bank), "--rule", "no_such", "-o", str(tmp_path / "p")],
    ):
        assert main(wrong) == 2
    assert "one of article_case, article_gender, verb_number" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the sample of a treebank is absent")
@pytest.mark.parametrize(("rule", "least"), [("verb_number", 60), ("article_gender", 250), ("article_case", 80)])
def test_the_bundled_rules_on_a_german_treebank(rule: str, least: int) -> None:
    made, _ = treebank.suite(SHARED, treebank.Rule.read(rule))
    assert len(made.items) >= least
    for item in made.items:
        good, bad = item.sentences["good"], item.sentences["bad"]
        assert good.content("prefix") == bad.content("prefix")
        assert good.content("rest") == bad.content("rest")
        assert good.content("critical").lower() != bad.content("critical").lower()
