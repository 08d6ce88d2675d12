"""Paradigms in the manner of BLiMP: what each pair must keep so that it is about its contrast and nothing else."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from math import prod
from pathlib import Path

import pytest

import syntagm.materials
from syntagm.formats import _pair, blimp, pairs, template
from syntagm.suite import Item, Suite
from syntagm.templates.expression import values
from syntagm.templates.template import read_lexicon

FOLDER = Path(syntagm.materials.__file__).parent / "blimp_like"
LEXICON = read_lexicon(
    (FOLDER.parent / "lexicon" / "blimp_like.toml").read_text(encoding="utf-8"), "blimp_like.toml"
).classes
# sha256 of the sentences of 20 pairs, seed 1, a line each.
GOLDEN = {
    "adjunct_island": "aef3cbdd0f736d9612a17871b75e4d1a5534a415568fc049becfba64d65566b0",
    "causative": "2b26808581c3658a93ae16eaa65ecf3d394f472572670ee4aff12c5d85197218",
    "distractor_agreement_relative_clause": "09ef6ee6bd77a261f55c14826c4aa26fd5f64e1dd5670d1d6ab0dce50e9ee741",
    "ellipsis_n_bar_1": "a0aa8ee44a70abccb3143877ccf24ece2f33a7ae6402fc2086df284b547e84fc",
    "only_npi_scope": "4d3bedfda113ff32250b51691f9eb6bb64bac58d868ba0f9d1d26bb2a68ac883",
    "principle_A_c_command": "55e6384b7303523b389d887b17aa50499e55d9bc254009e04aab3721127c059b",
}

every_paradigm = pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def suite(name: str, n: int = 1000, seed: int = 1) -> Suite:
    return next(template.read(FOLDER / f"{name}.toml", n=str(n), seed=str(seed)))


def method(name: str) -> str | None:
    return _pair.method(suite(name))


def texts(item: Item) -> tuple[str, str]:
    return item.sentences["good"].text, item.sentences["bad"].text


def words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text)


def contents(item: Item, region: str) -> tuple[str, str]:
    return item.sentences["good"].content(region), item.sentences["bad"].content(region)


def row(name: str, column: str, form: str) -> Mapping[str, str]:
    """The one row of a class that has this form in a column."""
    (found,) = [word.forms for word in LEXICON[name].words if word.forms[column] == form]
    return found


def share(one: str, other: str) -> bool:
    return bool(values(one) & values(other))


def test_all_are_there() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(GOLDEN)


@pytest.mark.slow
@every_paradigm
def test_a_thousand_different_pairs(name: str) -> None:
    made = next(template.read(FOLDER / f"{name}.toml"))
    assert len(made.items) == len({texts(item) for item in made.items}) == 1000
    # No good sentence and no bad one twice either, and none that is both.
    for side in (0, 1):
        assert len({texts(item)[side] for item in made.items}) == 1000
    assert not {texts(item)[0] for item in made.items} & {texts(item)[1] for item in made.items}


@every_paradigm
@pytest.mark.slow
def test_same_seed_same_bytes(name: str) -> None:
    said = "".join(line + "\n" for item in suite(name, 20).items for line in texts(item))
    assert sha256(said.encode()).hexdigest() == GOLDEN[name]
    assert [texts(item) for item in suite(name).items[:20]] == [texts(item) for item in suite(name, 20).items]


@every_paradigm
def test_another_seed_other_pairs(name: str) -> None:
    first, second = ({texts(item) for item in suite(name, 100, seed).items} for seed in (1, 2))
    # Of 100 and 100 pairs, out of many thousands, hardly one is the same.
    assert len(first & second) <= 2


@every_paradigm
def test_configurations_are_balanced(name: str) -> None:
    (made,) = template.templates(FOLDER / f"{name}.toml")
    variables = {name: len(variable.values) for name, variable in made.variables.items()}
    counts = Counter(tuple(item.tags[one] for one in variables) for item in suite(name).items)
    assert [len({key[place] for key in counts}) for place in range(len(variables))] == list(variables.values())
    assert len(counts) == prod(variables.values())
    assert max(counts.values()) - min(counts.values()) <= 1


@every_paradigm
def test_tags_say_what_the_paradigm_is(name: str) -> None:
    made = suite(name)
    assert made.tags["UID"] == name == made.name
    assert made.tags["circuit"] == made.tags["linguistics_term"]
    assert {"field", "phenomenon", "contrast", "paper", "author", "licence", "seed"} <= set(made.tags)
    assert all(value for item in made.items for value in item.tags.values())


def test_predictions_are_those_of_minimal_pairs() -> None:
    assert {method(name) for name in GOLDEN} == {None, "one_prefix", "two_prefix"}


@every_paradigm
def test_sentences_are_written_well(name: str) -> None:
    for item in suite(name).items:
        for text in texts(item):
            assert re.fullmatch(r"[A-Z][A-Za-z',]*( [A-Za-z',]+)*[.?]", text)
            assert not re.search(r"\b(\w+) \1\b", text.lower())
            assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", text)


@every_paradigm
def test_pairs_differ_as_designed(name: str) -> None:
    kinds = set()
    for item in suite(name).items:
        good, bad = map(words, texts(item))
        assert len(good) == len(bad)
        if sum(one != other for one, other in zip(good, bad, strict=True)) == 1:
            kinds.add("one word differs")
        else:
            assert Counter(word.lower() for word in good) == Counter(word.lower() for word in bad)
            assert good != bad
            kinds.add("the same words in another order")
    assert len(kinds) == 1


@every_paradigm
def test_the_critical_word_carries_the_contrast(name: str) -> None:
    for item in suite(name, 200).items:
        if method(name):
            parts = {region: contents(item, region) for region in ("prefix", "critical", "rest")}
            differs = [region for region, (good, bad) in parts.items() if good != bad]
            assert differs == ["critical" if method(name) == "one_prefix" else "prefix"]
            assert all(len(words(text)) == 1 for text in parts["critical"])
        else:
            assert not any(sentence.regions for sentence in item.sentences.values())


def test_the_verb_agrees_with_the_head_and_not_with_the_attractor() -> None:
    other = {"sg": "pl", "pl": "sg"}
    for item in suite("distractor_agreement_relative_clause").items:
        number, said = item.tags["number"], words(item.sentences["good"].text)
        head, attractor = (row("noun", "sg", item.tags[one]) for one in ("head", "attractor"))
        assert said[:2] == ["The", head[number]]
        assert attractor[other[number]] in said[2:]
        good, bad = contents(item, "critical")
        (finite,) = [
            word.forms for word in LEXICON["auxiliary"].words
            if (word.forms["pl"], word.forms["tense"]) == (item.tags["finite"], "present")
        ]  # fmt: skip
        assert (good, bad) == (finite[number], finite[other[number]])
        assert good != bad


def test_the_reflexive_agrees_with_the_head_and_not_with_the_attractor() -> None:
    forms = {"f": "herself", "m": "himself"}
    for item in suite("principle_A_c_command").items:
        attractor = item.tags["attractor"].removeprefix("the ")
        of_class, column = ("noun", "sg") if item.tags["other"] == "noun" else ("name", "name")
        genders = row("noun", "sg", item.tags["head"])["gender"], row(of_class, column, attractor)["gender"]
        assert genders[0] == item.tags["gender"]
        assert set(genders) == {"f", "m"}
        assert contents(item, "critical") == (forms[genders[0]], forms[genders[1]])
        assert row("verb", "base", item.tags["lemma"])["reflexive"] == "yes"


def test_the_object_of_the_causative_could_be_the_subject_of_either_verb() -> None:
    for item in suite("causative").items:
        good, bad = (row("verb", "base", item.tags[one]) for one in ("lemma", "lemma_bad"))
        kind = row("noun", "sg", item.tags["object"])["kind"]
        assert share(good["frame"], "causative")
        assert share(good["object"], kind)
        assert good["frame"] != bad["frame"] == "intransitive"
        assert share(bad["subject"], kind)
        differ = [pair for pair in zip(*map(words, texts(item)), strict=True) if pair[0] != pair[1]]
        assert differ == [(good[item.tags["form"]], bad[item.tags["form"]])]


def test_both_verbs_of_an_adjunct_island_need_an_object_of_this_kind() -> None:
    for item in suite("adjunct_island").items:
        noun = row("noun", "sg", item.tags["object"])
        assert share(noun["kind"], "person") == (item.tags["wh"] == "who")
        verbs = [row("verb", "base", item.tags[one]) for one in ("lemma", "lemma_adjunct")]
        for verb in verbs:
            assert share(verb["object"], noun["kind"])
            assert not share(verb["frame"], "intransitive")
        # Good: the object follows the verb of the adjunct; bad: the verb of the main clause.
        good, bad = texts(item)
        assert good.endswith(f"{verbs[1]['ing']} the {noun['sg']}?")
        assert f"{verbs[0][item.tags['form']]} the {noun['sg']} {item.tags['connective']}" in bad


def test_only_has_scope_over_ever_in_the_good_sentence_alone() -> None:
    for item in suite("only_npi_scope").items:
        good, bad = contents(item, "prefix")
        assert contents(item, "critical") == ("ever", "ever")
        assert good.startswith("Only the ")
        assert " only " not in good
        assert f" that only {item.tags['attractor']} " in bad
        assert bad.split()[-1] == good.split()[-1]


def test_the_ellipsis_follows_a_quantifier_or_an_adjective() -> None:
    for item in suite("ellipsis_n_bar_1").items:
        good, bad = texts(item)
        noun, adjective = row("noun", "sg", item.tags["noun"]), row("adjective", "adjective", item.tags["adjective"])
        assert share(noun["kind"], adjective["kind"])
        assert share(row("verb", "base", item.tags["lemma"])["object"], noun["kind"])
        assert f" {item.tags['quantifier']} {item.tags['adjective']} {noun['pl']} " in good
        assert good.endswith(f" {item.tags['remnant']}.")
        assert item.tags["remnant"] != item.tags["quantifier"]
        assert bad.endswith(f" {item.tags['remnant']} {item.tags['adjective']}.")


def _said(made: Suite) -> Iterator[tuple[str, dict[str, object], dict[str, str]]]:
    for item in made.items:
        tags = {**made.tags, **item.tags}
        yield item.id, dict(item.sentences), {key: tags[key] for key in tags if not key.startswith("json:")}


@every_paradigm
@pytest.mark.parametrize("form", ["blimp", "pairs"])
def test_written_and_read_it_is_the_same(name: str, form: str, tmp_path: Path) -> None:
    made = suite(name, 40)
    path = tmp_path / (f"{name}.jsonl" if form == "blimp" else f"{name}.tsv")
    (blimp if form == "blimp" else pairs).write([made], path)
    (again,) = (blimp if form == "blimp" else pairs).read(path)
    assert again.name == made.name
    assert again.predictions == made.predictions
    assert list(_said(again)) == list(_said(made))
