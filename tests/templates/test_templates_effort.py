"""Hostile templates are refused, or cost little: the work is counted, since seconds depend on the machine."""

from dataclasses import replace
from typing import Any

import pytest
from grammar_for_tests import CROSS, SAMPLE, made, read

from syntagm.core import InputError
from syntagm.suites import Index, counts, find, spelling as of_language
from syntagm.suites.templates import count, expand, lexicon, make, sample, spelling, template


def calls(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[int]:
    """Count the calls of a function: the length of the list."""
    counted: list[int] = []
    function = getattr(owner, name)

    def wrapped(*arguments: Any) -> Any:
        counted.append(1)
        return function(*arguments)

    monkeypatch.setattr(owner, name, wrapped)
    return counted


def circle(slots: int, words: int) -> str:
    """A template with slots in a circle, each of which shares a value with the next."""
    rows = "\n".join(f"w{number} | a{number % 7}/b{number % 11}/c{number % 2}" for number in range(words))
    listed = "\n".join(f's{number} = "word[kind = s{(number + 1) % slots}.kind]"' for number in range(slots))
    pattern = " ".join(f"{{s{number}.sg}}" for number in range(slots))
    return f'''
[classes]
word = """
sg | kind
{rows}
"""
[slots]
{listed}
[conditions]
good = "the {pattern}"
bad = "a {pattern}"
[items]
fill = "sample"
n = 3
'''


def test_slots_with_the_same_words_and_condition_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = calls(monkeypatch, Index, "meeting")
    assert len(made(circle(40, 100))[0].items) == 3
    # Slot by slot and case by case, there would be 7,900 comparisons.
    assert len(compared) < 1_000


def test_the_pairs_of_words_in_all_conditions_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "COMPARED", 5_000)
    monkeypatch.setattr(expand, "COMPARED_PER_ITEM", 10)
    expected = "between slots that compare more than 5,030 pairs of words; expected fewer. Remove slots or conditions"
    with pytest.raises(InputError, match=expected):
        made(circle(40, 100))
    crossed = CROSS.replace('"noun"', '"noun[!= other]"').replace("noun[!= noun]", "noun[!= noun, kind = noun.kind]")
    monkeypatch.setattr(expand, "COMPARED", 20)
    with pytest.raises(InputError, match="more than 20 pairs of words"):
        made(crossed)
    with pytest.raises(InputError, match="more than 20 pairs of words"):
        made(crossed, n=3)


def test_conditions_have_a_limit() -> None:
    def required(texts: list[str]) -> str:
        return f"require = {texts!r}\n{SAMPLE}"

    twice = read(required(["number = sg or number = pl"] * 3_000))[0]
    assert len(twice.require) == 1
    with pytest.raises(InputError, match=r"require: 51 conditions; expected at most 50\. Join or remove some"):
        read(required([f"number != x{number}" for number in range(51)]))
    for text in (" or ".join(["number = sg"] * 1_000), "number = sg" + "/sg" * 4_000):
        with pytest.raises(InputError, match=r"require: conditions of 1\d,\d\d\d characters; expected at most 10,000"):
            read(required([text]))
        with pytest.raises(InputError, match=r"\[slots\] other: conditions of 1\d,\d\d\d characters"):
            read(SAMPLE.replace("noun[!= noun]", f"noun[{text}]"))


def many_variables() -> str:
    """Variables of one value behind one of many values."""
    variables = f"[vary]\na = {[str(number) for number in range(400)]}\n"
    variables += "".join(f"v{number} = ['x']\n" for number in range(190))
    used = "by{$a}" + "".join(f"{{$v{number}}}" for number in range(190))
    return SAMPLE.replace("[vary]", variables).replace("by", used)


def many_configurations() -> str:
    return CROSS.replace("[vary]", f"[vary]\na = {[str(number) for number in range(50)]}").replace('."', '. {$a}"')


def many_regions() -> str:
    """Regions without pieces."""
    return many_configurations().replace('{$a}"', "{$a}" + "|" * 200 + '"')


def many_slots() -> str:
    """Slots that only conditions name."""
    chain = "".join(f's{number} = "noun[sg = jug, kind = s{number + 1}.kind]"\n' for number in range(80))
    return many_configurations().replace('"noun[!= noun]"', f'"noun[kind = s0.kind]"\n{chain}s80 = "noun[sg = jug]"')


def many_rules(number: int = 60) -> str:
    """Two alternatives of each of some rules, but no words that meet the conditions."""
    names = [f"r{rule}" for rule in range(number)]
    text = SAMPLE.replace("noun[!= noun]", "noun[!= noun, kind = verb.sg]")
    text = text.replace("{other.sg}", "{other.sg}" + "".join(f"{{{name}}}" for name in names))
    return text + "[rules]\n" + "".join(f"{name} = ['a', 'b']\n" for name in names)


@pytest.mark.parametrize("text", [many_variables(), many_regions(), many_slots(), many_rules()])
def test_configurations_have_a_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "PLANNED", 8_000)
    monkeypatch.setattr(expand, "PLANNED_PER_SUITE", 10)
    monkeypatch.setattr(expand, "PLANNED_PER_ITEM", 10)
    expected = "slots, texts and comparisons in all configurations; expected fewer. Remove variables, rules"
    with pytest.raises(InputError, match=expected):
        made(text)


def test_cells_have_a_limit() -> None:
    rules = "[rules]\n" + "".join(f"r{number} = ['a']\n" for number in range(300))
    listed = f"cells = {[f'r{number}' for number in range(300)]}"
    [own] = read(SAMPLE.replace("n = 10", f"n = 10\n{listed}") + rules)
    with pytest.raises(InputError, match=r"\[items\], cells: 301 variables and rules; expected at most 200"):
        counts(own)
    assert made(
        SAMPLE.replace("n = 10", "n = 3\ncells = ['r', 'r']").replace("by", "{r}") + "[rules]\nr = ['by', 'of']\n"
    )


def test_entries_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "MAX_ENTRIES", 60)
    assert read(SAMPLE)
    with pytest.raises(InputError, match=r"here.toml: \d\d names, texts and values; expected at most 60"):
        read(SAMPLE + "[rules]\n" + "".join(f"r{number} = ['a']\n" for number in range(15)))
    shared = SAMPLE + "".join(f"[[suite]]\nname = 's{number}'\n" for number in range(5))
    with pytest.raises(InputError, match=r"\d\d names, texts and values that 5 suites share; expected at most 12"):
        read(shared)


def test_an_item_is_tried_for_a_limited_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MAX_TRIED", 5_000)
    monkeypatch.setattr(sample, "TRIES", 20)
    with pytest.raises(InputError, match=r"0 different items and then none in \d draws"):
        made(circle(8, 9).replace('s0 = "word[', 's0 = "word[sg = s1.kind or sg = s2.kind, '))


def test_a_few_reasons_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "TRIES", 100)
    with pytest.raises(InputError, match=r"other reasons: \d\d") as caught:
        made(many_rules(8))
    assert len(str(caught.value)) < 2_500


@pytest.mark.slow
def test_sets_of_words_are_made_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made_sets = calls(monkeypatch, lexicon, "mask_of")
    words = Index([{"form": f"w{number}", "kind": f"k{number % 2}"} for number in range(1_000)])
    assert words.any("form", ["w7", "w9", "other"]) == 1 << 7 | 1 << 9
    assert words.any("kind", ["k0", "k1"]) == words.any("kind", ["k1", "k0"]) == words.full
    assert len(made_sets) == 3
    # A set for each of a thousand forms would need much memory.
    assert len(words._masks) == 2


def test_a_long_chain_of_slots_in_a_phrase_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = calls(monkeypatch, make._Reached, "choice")
    slots = "".join(f's{number} = "noun[kind = s{number + 1}.kind]"\n' for number in range(200))
    text = (
        SAMPLE.replace("by the", "{p} the")
        + f"""
[phrases.p]
a = "by"
b = {{ text = "of {{s0.sg}}", when = "number = sg" }}
[phrases.p.slots]
{slots}s200 = "noun"
"""
    )
    make.refuse_unused(read(text))
    assert 200 < len(followed) < 1_000


@pytest.mark.slow
def test_words_of_many_configurations_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "PLANNED", 4_000)
    monkeypatch.setattr(expand, "PLANNED_PER_SUITE", 0)
    monkeypatch.setattr(expand, "PLANNED_PER_ITEM", 0)

    def template(words: int) -> str:
        rows = "".join(f"w{number} | w | k{number % 50}\n" for number in range(words))
        text = many_configurations().replace("elm | elms | plant/thing\n", f"elm | elms | plant/thing\n{rows}")
        values = str([str(number) for number in range(50)]), str([f"k{number}" for number in range(50)])
        return text.replace('"noun[!= noun]"', '"noun[kind != $a]"').replace(*values)

    assert made(template(50), n=3)
    with pytest.raises(InputError, match="slots, texts and comparisons in all configurations"):
        made(template(1_000), n=3)


def test_a_long_chain_of_phrases_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "".join(f'p{number} = "{{p{number + 1}}}"\n' for number in range(300))
    text = (
        SAMPLE.replace("{other.sg}", "{other.sg} {r}") + f'[rules]\nr = ["a", "{{p0}}"]\n[phrases]\n{chain}p300 = "b"\n'
    )
    visited: list[int] = []
    names = make._Reached._names

    def counted(reached: make._Reached) -> list[tuple[str, bool]]:
        visited.append(len(found := names(reached)))
        return found

    monkeypatch.setattr(make._Reached, "_names", counted)
    with pytest.raises(InputError, match="rules nested more than 20 deep"):
        made(text, n=9)
    assert 300 < sum(visited) < 1_000


def test_many_articles_are_found_at_once() -> None:
    searched = 0
    [article] = of_language.of(find("en")).dependents

    class Pattern:
        def finditer(self, text: str) -> Any:
            nonlocal searched
            searched += 1
            return article.pattern.finditer(text)

    own = of_language.Spelling((replace(article, pattern=Pattern()),))
    assert spelling.sentence(["a(n) " * 500 + "egg"], own)[0] == "An " + "an " * 499 + "egg"
    assert searched == 2


def test_a_text_is_not_spelled_if_it_is_much_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "MAX_SENTENCE", 20)
    spelled = calls(monkeypatch, spelling, "sentence")
    long = CROSS.replace("ox  | oxen", f"{'x' * 500}  | oxen")
    with pytest.raises(InputError, match=r"item \d+: 5\d\d characters; expected at most 20 in a sentence or tag"):
        made(long)
    assert len(spelled) < 5


def test_members_of_sparse_and_dense_sets() -> None:
    for size in (1, 7, 64, 1_000):
        for chosen in (0, 1, (1 << size) - 1, 1 << (size - 1)):
            assert list(count.members(chosen, size)) == [number for number in range(size) if chosen >> number & 1]
