"""Each rule has its files in data/check, named after its code; and 500 damaged suites."""

import copy
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syntagm.core import InputError
from syntagm.suites import (
    RULES,
    Finding,
    Item,
    Prediction,
    Region,
    Sentence,
    Suite,
    apart,
    expand,
    foreign,
    parse,
    read_suite_file,
    repeated,
    unescaped,
    violations,
)

DATA = Path(__file__).parents[1] / "data"
FILES = sorted((DATA / "check").iterdir())
LANTERNS = DATA / "syntaxgym" / "lanterns.json"
# An empty sentence also lacks its stop, and a missing condition makes an item differ from the first.
COMPANIONS = {"E202-1": {"W201"}, "E204-0": {"W305"}}


def codes(findings: list[Finding]) -> set[str]:
    return {finding.code for finding in findings}


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_each_file_breaks_its_rule_and_no_other(path: Path) -> None:
    code = path.stem.partition("-")[0]
    if code == "E001":
        with pytest.raises(InputError):
            read_suite_file(path)
        return
    expected = set() if code in ("fine", "E103") else {code}
    assert codes(list(violations(read_suite_file(path)))) == expected | COMPANIONS.get(path.stem, set())


def test_every_rule_has_a_file_or_a_test_here() -> None:
    shown = {path.stem.partition("-")[0] for path in FILES} - {"fine", "E001", "E103"}
    # No format can hold these two, only a suite made in Python: see the next test.
    assert set(RULES) - shown == {"E104", "E206"}


def test_what_only_a_suite_made_in_python_can_have() -> None:
    sentence = Sentence("a b", (Region("x", 0, 1), Region("x", 2, 3)))
    twice = Prediction("p", parse("(*;%a%) > 1"))
    suite = Suite("s", (Item("1", {"a": sentence}),), (twice, twice))
    assert [(finding.code, finding.region, finding.message) for finding in violations([suite])] == [
        ("E104", "", "two predictions with the same name: 'p'"),
        ("E206", "x", "two regions with the same name in one sentence"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Read https://kites.org/caf%C3%A9%20bleu?a=1&b=2 at 100 %.",
        "AT&T; R&D; Q&A;",
        "The board is 5'' long, and f''(x) > 0.",
        "Kites~! Go to ~/kites, ~5 kites.",
        "List<String> kites, vector<int> a, a<b and c>d",
        "Ġorġ Ġanni jorqod.",
    ],
)
def test_texts_without_symbols(text: str) -> None:
    assert foreign(text) == []
    assert unescaped(text) == text


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("ĠThe Ġkite Ġrose", ["ĠThe"]),
        ("TheĠkite rose", ["Ġkite"]),
        ("Kites<eos> fly</s>", ["<eos>", "</s>"]),
        ("Kites fly~.", ["~"]),
        ("In 1990 ''", ["''"]),
        ("https://kites.org/%20a</s>", ["</s>"]),
    ],
)
def test_symbols_of_models_beside_letters(text: str, symbols: list[str]) -> None:
    assert foreign(text) == symbols


@pytest.mark.parametrize(
    "text",
    [
        "Sie fand 's schön.",
        "Hij was 's nachts wakker.",
        "'s Maandags slaapt zij.",
        "Le film « The Kite » dort !",
        "Elle dit : what is this ?",
        "Qui dort ? Il est 5 h : non !",
        "They call print ( x ) :)",
    ],
)
def test_texts_with_blanks_of_their_language(text: str) -> None:
    assert apart(text) == ""


def test_names_that_were_not_told_apart() -> None:
    one, other = (read_suite_file(DATA / "check" / f"E103-{number}.tsv") for number in (0, 1))
    found = list(repeated({"a.tsv": one, "b.tsv": other + other}))
    assert [(finding.code, finding.file, finding.message) for finding in found] == [
        ("E103", "b.tsv", "a second suite called 'kites', the first is in a.tsv")
    ] * 2
    assert list(repeated({"a.tsv": one})) == []


def test_a_finding_says_file_item_condition_region_code_message_and_cure() -> None:
    (finding,) = violations(read_suite_file(DATA / "check" / "W203-0.json"), "kites.json")
    assert finding.error is False
    assert str(finding) == (
        "kites.json, item 2, condition b, region 2: W203 a compared region is empty and counts as 0 bits. "
        "Check that this is intended."
    )


def test_a_wrong_name_in_a_formula_is_one_finding() -> None:
    texts = {name: Sentence("The kite flies", (Region("noun", 0, 8), Region("verb", 9, 14))) for name in ("a", "b")}
    items = tuple(Item(str(number), texts) for number in range(3))
    wrong = Prediction("p", parse("(verbs;%a%) < (verb;%c%)"))
    errors = [finding for finding in violations([Suite("s", items, (wrong,))]) if finding.error]
    assert [(finding.code, finding.item, finding.condition, finding.region) for finding in errors] == [
        ("E202", "", "c", ""), ("E203", "", "a", "verbs"),
    ]  # fmt: skip
    assert errors[0].message.endswith(": no item has it; there are a, b")
    assert errors[1].message.endswith(": no item has it; there are noun, verb")


def test_docstrings_are_messages_with_a_cure() -> None:
    for code, rule in RULES.items():
        message, stop, cure = " ".join((rule.__doc__ or "").split()).partition(". ")
        assert message[0].islower(), code
        assert stop, code
        assert cure[0].isupper(), code
        assert cure.endswith("."), code


class TestRules:
    def test_a_tie_is_certain_only_if_all_before_it_is_the_same_too(self) -> None:
        formula = "(2;%a%) + (2;%b%) < (2;%b%) + (2;%a%)"
        assert self.ties(formula, "The kite flies", "The kites fly") == 1
        assert self.ties("(2;%a%) < (2;%b%)", "The kite flies", "The kites flies") == 0
        assert self.ties("(2;%a%) - (2;%b%) > 0", "The kite flies", "The kite flies") == 1
        assert self.ties("(2;%a%) = (2;%b%)", "The kite flies", "The kite flies") == 0
        assert self.ties("(2;%a%) < (2;%b%) & (1;%a%) > (1;%b%)", "The kite flies", "The kite flies") == 2

    def ties(self, formula: str, a: str, b: str) -> int:
        def sentence(text: str) -> Sentence:
            end = text.rindex(" ")
            return Sentence(text, (Region("1", 0, end), Region("2", end + 1, len(text))))

        suite = Suite("s", (Item("1", {"a": sentence(a), "b": sentence(b)}),), (Prediction("p", parse(formula)),))
        return sum(finding.code == "W204" for finding in violations([suite]))

    @pytest.mark.parametrize(
        ("formula", "findings"),
        [
            ("(2;%was_key%) > (2;%were_key%)", 0),  # the words differ
            ("(2;%was_key%) > (2;%was_keys%)", 0),  # what stands before them differs
            ("(2;%was_keys%) > (2;%were_key%)", 1),  # both
            ("(2;%was_keys%) - (2;%were_key%) > 0", 1),
            # A 2x2 design: each region has a partner on the other side that differs in one way.
            ("(2;%was_keys%) - (2;%were_keys%) > (2;%was_key%) - (2;%were_key%)", 0),
            ("(2;%was_keys%) + (3;%was_keys%) > (2;%were_keys%) + (3;%were_keys%)", 0),  # one stretch of text
            ("(2;%was_keys%) + (3;%was_keys%) > (2;%were_key%) + (3;%were_key%)", 1),
            ("(2;%was_keys%) - (2;%were_key%) > (3;%was_keys%) - (3;%was_key%)", 1),
            ("(*;%was_keys%) > (*;%were_key%)", 0),
            ("(2;%was_keys%) = (2;%were_key%)", 0),
        ],
    )
    def test_words_and_contexts_may_not_differ_at_once(self, formula: str, findings: int) -> None:
        def sentence(noun: str, verb: str) -> Sentence:
            parts = (noun, verb, "lost")
            starts = (0, len(noun) + 1, len(noun) + len(verb) + 2)
            spans = zip("123", parts, starts, strict=True)
            return Sentence(" ".join(parts), tuple(Region(name, at, at + len(part)) for name, part, at in spans))

        sentences = {
            f"{verb}_{noun}": sentence(f"The {noun}", verb) for noun in ("key", "keys") for verb in ("was", "were")
        }
        suite = Suite("s", (Item("1", sentences),), (Prediction("p", parse(formula)),))
        found = [finding for finding in violations([suite]) if finding.code == "W205"]
        assert len(found) == findings
        if findings:
            assert "conditions was_key" in str(found[0])

    @pytest.mark.slow
    def test_the_known_faults_of_the_published_files_and_no_errors(self, shared: Path) -> None:
        found: Counter[tuple[str, str, str]] = Counter()
        for file in expand([str(shared / "data" / "syntaxgym"), str(shared / "data" / "blimp")]):
            for finding in violations(read_suite_file(file), Path(file).stem):
                found[finding.file, finding.item, finding.code] += 1
        # Item 5 of the garden paths compares a sentence with itself in two of three comparisons; seven pairs of BLiMP
        # are one sentence twice, five of them in a paradigm with two predictions.
        assert found == {
            **{(suite, "5", "W204"): 2 for suite in ("mvrr", "mvrr_mod")},
            **{("passive_1", item, "W204"): 1 for item in ("324", "810")},
            **{("principle_A_case_2", item, "W204"): 2 for item in ("105", "287", "372", "816", "967")},
        }

    def test_a_thousand_items_that_are_all_the_same(self) -> None:
        (suite,) = read_suite_file(LANTERNS)
        items = tuple(Item(str(number), suite.items[0].sentences) for number in range(1000))
        found = list(violations([Suite("s", items, suite.predictions, suite.tags)]))
        # All but the first are the same as the first.
        assert Counter(finding.code for finding in found) == {"W202": 999}


Path_ = tuple[Any, ...]


def places(value: Any, here: Path_ = ()) -> list[Path_]:
    """The path to every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, part in inner for path in [(*here, key), *places(part, (*here, key))]]


def parent(whole: Any, path: Path_) -> Any:
    for key in path[:-1]:
        whole = whole[key]
    return whole


def delete(whole: Any, path: Path_, chance: random.Random) -> None:
    del parent(whole, path)[path[-1]]


def duplicate(whole: Any, path: Path_, chance: random.Random) -> None:
    holder = parent(whole, path)
    value = copy.deepcopy(holder[path[-1]])
    if isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), value)
    else:
        holder[f"{path[-1]} copy"] = value


def swap(whole: Any, path: Path_, chance: random.Random) -> None:
    holder = parent(whole, path)
    other = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[path[-1]], holder[other] = holder[other], holder[path[-1]]


def rename(whole: Any, path: Path_, chance: random.Random) -> None:
    holder = parent(whole, path)
    if isinstance(holder, dict):
        holder[chance.choice(["name", "items", "x", "", str(path[-1])[:-1], str(path[-1]).upper()])] = holder.pop(
            path[-1]
        )


def replace(whole: Any, path: Path_, chance: random.Random) -> None:
    values = [
        None,
        True,
        0,
        -1,
        3.5,
        "",
        " ",
        "x",
        [],
        {},
        "é\u202e",
        "sing",
        "(9;%sing%) > 0",
        "a\n b",
        "..",
        "sum",
        2,
    ]
    parent(whole, path)[path[-1]] = chance.choice(values)


MUTATIONS: list[Callable[[Any, Path_, random.Random], None]] = [delete, duplicate, swap, rename, replace]


def outcome(path: Path) -> str:
    """What becomes of a suite: refused, found wrong, or meaningful: read, and every formula can be evaluated."""
    try:
        suites = read_suite_file(path)
    except InputError as refusal:
        assert str(refusal).startswith(str(path))
        return "refused"
    if any(finding.error for finding in violations(suites)):
        return "found"
    for suite in suites:
        assert suite.items
        for item in suite.items:
            for prediction in suite.predictions:
                for reference in prediction.formula.references():
                    sentence = item.sentences[reference.condition]
                    assert reference.region == "*" or isinstance(sentence.content(reference.region), str)
    return "meaningful"


def mutate(seed: int) -> Any:
    chance = random.Random(seed)
    whole = json.loads(LANTERNS.read_text())
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if paths := places(whole):
            chance.choice(MUTATIONS)(whole, chance.choice(paths), chance)
    return whole


def outcomes(tmp_path: Path, seeds: range) -> Counter[str]:
    path = tmp_path / "mutant.json"
    found: Counter[str] = Counter()
    for seed in seeds:
        path.write_text(json.dumps(mutate(seed)))
        try:
            found[outcome(path)] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {path.read_text()}") from error
    return found


@pytest.mark.slow
def test_500_damaged_suites(tmp_path: Path) -> None:
    found = outcomes(tmp_path, range(500))
    assert sum(found.values()) == 500
    # The damage is real: most of it is refused or found.
    assert found["refused"] + found["found"] > 250
    assert min(found["meaningful"], found["found"]) > 10


@pytest.mark.slow
def test_8_000_damaged_suites(tmp_path: Path) -> None:
    assert sum(outcomes(tmp_path, range(500, 8_500)).values()) == 8_000
