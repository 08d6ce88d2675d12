"""The bundled word lists: forms, spelling, frequencies, and the suites that they fit."""

import csv
import gzip
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import syntagm
import syntagm.suites.materials
from syntagm.evaluation.gaps.context import Context, Labels, chosen, contexts
from syntagm.suites import Suite, WordRow, read_lexicon, read_word_list, word_list

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "recipes" / "verbs"
LEXICON = Path(syntagm.suites.materials.__file__).parent / "lexicon"
PAGE = (ROOT / "docs" / "guide" / "verbs.md").read_text(encoding="utf-8")
MODALS = {"can", "could", "may", "might", "must", "shall", "should", "will", "would", "ought"}


@cache
def verbs() -> tuple[WordRow, ...]:
    return read_word_list("verbs").rows


def words(name: str) -> list[str]:
    text = (RECIPE / name).read_text(encoding="utf-8")
    return [word for line in text.splitlines() if line[:1] not in ("#", "[") for word in line.split()]


def exceptions() -> dict[str, str]:
    with (RECIPE / "exceptions.csv").open(encoding="utf-8", newline="") as file:
        return {row["lemma"]: row["singular"] for row in csv.DictReader(file)}


def rule(lemma: str) -> str:
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return f"{lemma[:-1]}ies"
    return f"{lemma}es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{lemma}s"


@pytest.mark.parametrize("name", word_list.bundled())
def test_a_list_is_read_and_is_on_the_page(name: str) -> None:
    found = read_word_list(name)
    assert all(re.fullmatch("[a-z]+", form) for row in found.rows for form in row.forms)
    assert f"| `{name}` | {', '.join(found.labels)} | {len(found.rows):,} |" in PAGE


@pytest.mark.slow
def test_enough_verbs_in_order_with_the_base_as_plural() -> None:
    lemmas = [row.lemma for row in verbs()]
    assert len(lemmas) >= 3562
    assert lemmas == sorted(set(lemmas))
    assert [row.lemma for row in verbs() if row.forms[1] != row.lemma] == ["be"]
    assert not MODALS & set(lemmas)


def test_third_persons_follow_the_rule_or_are_exceptions_on_the_page() -> None:
    wrong = {row.lemma: row.forms[0] for row in verbs() if row.forms[0] != rule(row.lemma)}
    assert wrong == exceptions()
    table = PAGE.split("These are exceptions:")[1].split("All were checked")[0]
    assert all(re.search(rf"\b{lemma}\b", table) for lemma in wrong)


@pytest.mark.slow
def test_differences_from_lemminflect_are_on_the_page() -> None:
    lemminflect = pytest.importorskip("lemminflect", reason="a check of the recipe, in development")
    in_dictionary, by_rules = lemminflect.getAllInflections, lemminflect.getAllInflectionsOOV
    table = PAGE.split("| verbs | here | lemminflect | why |")[1].split("\n\n")[0]
    listed = set(re.findall("[a-z]+", " ".join(line.split("|")[1] for line in table.splitlines()[2:])))
    differing = set()
    for row in verbs():
        # A verb that the dictionary lacks is inflected by lemminflect's rules.
        theirs = [ask(row.lemma, upos="VERB").get("VBZ") for ask in (in_dictionary, by_rules)]
        differing |= {row.lemma} if (theirs[0] or theirs[1]) != (row.forms[0],) else set()
    assert differing == listed


def test_some_forms_that_a_rule_gets_wrong() -> None:
    found = {row.lemma: row.forms for row in verbs()}
    wanted = "be:is have:has do:does go:goes quiz:quizzes try:tries stay:stays buy:buys stomach:stomachs woo:woos veto:vetoes"
    for lemma, singular in (pair.split(":") for pair in wanted.split()):
        assert found[lemma][0] == singular


def test_verbs_that_other_lists_lack_are_here() -> None:
    wanted = "smile smell score lack associate wake swim admire have be do go"
    assert set(wanted.split()) <= {row.lemma for row in verbs()}


def test_frequency_and_band() -> None:
    frequencies = [int(row.tags["frequency"]) for row in verbs()]
    bands = [int(row.tags["band"]) for row in verbs()]
    # 10^(band - 1) <= frequency < 10^band
    assert all(10 ** (band - 1) <= n < 10**band if n else band == 0 for n, band in zip(frequencies, bands, strict=True))
    assert sum(map(bool, frequencies)) / len(frequencies) >= 0.9
    for band, number in Counter(bands).items():
        assert re.search(rf"^\| {band} \|.*\| {number:,} \|$", PAGE, re.MULTILINE)


def test_tags_have_the_values_and_numbers_that_the_page_says() -> None:
    for tag, values in {
        "transitivity": ("transitive", "intransitive", "both", ""),
        "noun": ("yes", ""),
        "past": ("yes", ""),
    }.items():
        counted = Counter(row.tags[tag] for row in verbs())
        assert set(counted) == set(values)
        said = PAGE.split(f"**{tag}**")[1].split("\n\n")[0]
        assert all(f"({number:,})" in said for value, number in counted.items() if value)


def test_what_was_left_out_is_not_there_and_one_spelling_of_each_verb_is() -> None:
    lemmas = {row.lemma for row in verbs()}
    assert not lemmas & set(words("left_out.txt"))
    assert set(words("taken_in.txt")) <= lemmas
    for line in (RECIPE / "spellings.txt").read_text(encoding="utf-8").splitlines():
        assert line.startswith("#") or not lemmas & set(line.partition(":")[2].split())
    assert not {lemma for lemma in lemmas if lemma.endswith("ise") and lemma[:-3] + "ize" in lemmas}
    for name in ("left_out.txt", "taken_in.txt"):
        assert f"`{name}` | {len(set(words(name)))} " in PAGE


def test_verbs_of_the_bundled_templates_are_in_the_list() -> None:
    found = read_lexicon((LEXICON / "marvin2018.toml").read_text(encoding="utf-8"), "marvin2018").classes
    rows = {row.forms for row in verbs()}
    for word in (word for table in ("mv", "iv", "ev", "lmv") for word in found[table].words):
        forms = word.forms
        assert (forms.get("sg") or forms["sing"], forms.get("pl") or forms["plur"]) in rows


def labels(suite: Suite, name: str) -> Counter[str]:
    known = Labels(read_word_list(name))
    made = (one for item in suite.items for one in contexts(item, chosen(suite, known), known))
    return Counter(one.label for one in made if isinstance(one, Context))


@pytest.mark.slow
def test_the_suites_that_the_page_names_have_contexts() -> None:
    # 28 items, two contexts each.
    for suite in syntagm.read_suites("hu2020"):
        if suite.name.startswith("reflexive_"):
            assert labels(suite, "reflexives") == {"singular": 28, "plural": 28}
    for suite in syntagm.read_suites("marvin2018?n=20"):
        if "reflexive" in suite.name:
            assert sum(labels(suite, "reflexives").values()) == 20


def test_pairs_for_negative_polarity_items(tmp_path: Path) -> None:
    text = PAGE.split("Write pairs instead:\n\n")[1]
    path = tmp_path / "npis.tsv"
    path.write_text("".join(line[4:] for line in text.splitlines(True)), encoding="utf-8")
    [suite] = syntagm.read_suites(str(path))
    assert labels(suite, "npis") == {"licensed": 1, "unlicensed": 1}


@pytest.mark.slow
def test_frequencies_are_those_of_the_books(shared: Path) -> None:
    # Forms that are nothing but verbs: all of them count, except with a capital inside a line.
    found = {row.lemma: int(row.tags["frequency"]) for row in verbs()}
    pattern = re.compile(r"(?<![A-Za-z'’])arriv(?:e|es|ed|ing)(?![A-Za-z])")
    start = re.compile(r"^[^A-Za-z]*Arriv(?:e|es|ed|ing)(?![A-Za-z])", re.MULTILINE)
    total = 0
    for path in sorted((shared / "data" / "corpora").glob("classics.[123].txt*")):
        text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
        total += len(pattern.findall(text)) + len(start.findall(text))
    assert found["arrive"] == total


def test_how_much_of_the_published_list_is_here(shared: Path) -> None:
    with (shared / "data" / "refining_tse" / "combined_verb_list.csv").open(encoding="utf-8", newline="") as file:
        published = [(row["sing"], row["plur"]) for row in csv.DictReader(file)]
    here = {row.forms for row in verbs()}
    assert f"{sum(pair in here for pair in published):,} of its rows are in this list unchanged" in " ".join(
        PAGE.split()
    )
