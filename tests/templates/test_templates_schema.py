"""Lexicons in folders: what they mean, and that everything in them is checked."""

import re
from pathlib import Path

import pytest
from lexicon_for_tests import FILES

from syntagm.cli import main
from syntagm.core import InputError
from syntagm.suites import read_suite_file, schema

TEMPLATE = """
lexicon = "words"
[slots]
verb = "verb[frame = transitive, frames != intransitive]"
object = "item[kind = verb.object]"
[conditions]
good = "They {verb.past} {the(object)}."
[items]
fill = "cross"
"""


def folder(place: Path, **changed: str) -> Path:
    (place / "words").mkdir(exist_ok=True)
    for name, text in FILES.items():
        (place / "words" / name).write_text(changed.get(name.partition(".")[0], text), encoding="utf-8")
    return place / "words"


def test_a_lexicon_is_read(tmp_path: Path) -> None:
    lexicon = schema.read(folder(tmp_path))
    nouns = {word.forms["sg"]: word.forms for word in lexicon.classes["noun"].words}
    # A closed feature brings the more general values along.
    assert nouns["knife"]["kind"] == "weapon/tool/thing"
    assert nouns["cook"]["kind"] == "job/person"
    verbs = lexicon.classes["verb"]
    assert verbs.columns == ("base", "past", "aspect", "frame", "object", "frames")
    assert [(word.forms["past"], word.forms["frame"], word.forms["frames"]) for word in verbs.words] == [
        ("cut", "transitive", "transitive"),
        ("ate", "transitive", "transitive/intransitive"),
        ("ate", "intransitive", "transitive/intransitive"),
        ("slept", "intransitive", "intransitive"),
    ]
    assert verbs.words[1].entry == verbs.words[2].entry != verbs.words[0].entry
    assert verbs.words[1].forms["object"] == "food"


def test_marginal_uses_count_but_are_not_drawn(tmp_path: Path) -> None:
    place = folder(
        tmp_path, schema=FILES["schema.toml"].replace('uses = "verb_use"', 'uses = "verb_use"\nusual = "object"')
    )
    with pytest.raises(InputError, match=r"verb\.csv, line 3: sleep, which has no use with a value of object"):
        schema.read(place)
    uses = FILES["verb_use.csv"].replace("sleep,intransitive,-", "sleep,intransitive,food")
    (place / "verb_use.csv").write_text(uses)
    verbs = schema.read(place).classes["verb"]
    assert verbs.columns[-2:] == ("frames", "usual_frames")
    assert [(word.forms["past"], word.forms["frames"], word.forms["usual_frames"]) for word in verbs.words] == [
        ("cut", "transitive", "transitive"),
        ("ate", "transitive/intransitive", "transitive"),
        ("slept", "intransitive", "intransitive"),
    ]
    (tmp_path / "t.toml").write_text(TEMPLATE.replace("frames != intransitive", "usual_frames != intransitive"))
    [suite] = read_suite_file(tmp_path / "t.toml")
    assert {item.sentences["good"].text for item in suite.items} == {"They cut the bread.", "They ate the bread."}


def test_a_template_uses_it_with_its_phrases(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "t.toml").write_text(TEMPLATE)
    [suite] = read_suite_file(tmp_path / "t.toml")
    assert [item.sentences["good"].text for item in suite.items] == ["They cut the bread."]


def test_another_entry_is_not_another_use(tmp_path: Path) -> None:
    folder(tmp_path)
    text = TEMPLATE.replace("frame = transitive, frames != intransitive", "aspect = event")
    text = text.replace("item[kind = verb.object]", "verb[!= verb]").replace("{the(object)}", "and {object.past}")
    (tmp_path / "t.toml").write_text(text)
    [suite] = read_suite_file(tmp_path / "t.toml")
    found = {item.sentences["good"].text for item in suite.items}
    assert found == {"They cut and ate.", "They ate and cut.", "They cut and slept.", "They ate and slept."}


def test_an_unknown_value_of_the_schema_is_refused_even_if_no_word_could_have_it(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "t.toml").write_text(TEMPLATE.replace("frames != intransitive", "frames != intransitve"))
    with pytest.raises(InputError, match=r"no value of frames 'intransitve'.*Did you mean intransitive\?"):
        read_suite_file(tmp_path / "t.toml")
    # A value that the schema has and no word is none, but no error.
    (tmp_path / "t.toml").write_text(TEMPLATE.replace("kind = verb.object", "kind != tool"))
    assert read_suite_file(tmp_path / "t.toml")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("noun", "count,job", "cont,job", "noun.csv, line 2, count: no value of count 'cont'.*Did you mean count?"),
        ("noun", "weapon,", "wepon,", "noun.csv, line 4, kind: no value of kind 'wepon'.*Did you mean weapon?"),
        ("noun", "mass,food", "mass,", "noun.csv, line 3, kind: ''; expected values with / between them. Write -"),
        ("noun", "weapon,", "tool//thing,", "line 4, kind: 'tool//thing'"),
        ("noun", "weapon,", "tool/tool,", "line 4, kind: a value twice in 'tool/tool'"),
        ("noun", "mass,food,x y", "mass,food", "noun.csv, line 3: 4 cells; expected 5"),
        ("noun", "sg,pl,count", "sg,plural,count", "noun.csv, line 1: sg,plural,count,kind,note; expected sg,pl,count"),
        ("noun", "bread,-", "cook,cooks", None),
        ("noun", "bread,-,mass,food,x y", "cook,cooks,count,food,-", "line 3: a second entry 'cook'.*the first is in"),
        ("noun", "bread,-", "-,-", "line 3: no form"),
        ("noun", "bread,-", "rye  bread,-", "noun.csv, line 3, sg: 'rye  bread'"),
        ("verb_use", "cut,transitive", "cutt,transitive", "verb_use.csv, line 2, verb: no verb 'cutt'.*Did you mean cut?"),
        ("verb_use", "cut,transitive", "cut,-", "verb_use.csv, line 2, frame: no value"),
        ("verb_use", "sleep,intransitive,-\n", "", "verb.csv, line 3: sleep, which has no use.*List its uses"),
        ("verb", "eat,ate", "cut,cut", "verb.csv, line 4: a second entry 'cut'"),
        ("schema", 'job = "person"', 'job = "persn"', "kind] job: no value 'persn'.*Did you mean person?"),
        ("schema", 'person = ""', 'person = "job"', "a value that is its own ancestor"),
        ("schema", '{ tree = "kind" }', '{ tree = "knd" }', "no tree 'knd'"),
        ("schema", "closed = true", 'closed = "yes"', "closed: 'yes'; expected true or false"),
        ("schema", 'note = { about = "anything" }', "note = { closed = true }", "closed without a tree"),
        ("schema", 'values = ["state", "event"]', 'values = ["state", "a/b"]', "the value 'a/b'"),
        ("schema", 'uses = "verb_use"\n', "", "only one of uses and use_features"),
        ("schema", 'uses = "verb_use"', 'uses = "verb_use"\nusual = "objct"', "no feature 'objct'.*Did you mean object?"),
        ("schema", 'forms = ["sg", "pl"]', "forms = []", "0 forms"),
        ("schema", 'forms = ["sg", "pl"]', 'forms = ["sg", "count"]', "two columns called count"),
        ("schema", "[classes.noun]\nabout", "[classes.noun]\nabuot", "the unknown key 'abuot'"),
        ("schema", "[classes.verb]", "[classes.spare]\nforms = ['x']\n[classes.verb]", "spare.csv: no such file"),
        ("phrases", "item =", "noun =", "phrases.toml, [classes] noun: a class of the schema"),
        ("phrases", "[classes]", "[clases]", "phrases.toml: the unknown key 'clases'"),
    ],
)  # fmt: skip
def test_mistakes_are_refused(file: str, old: str, new: str, said: str | None, tmp_path: Path) -> None:
    name = next(one for one in FILES if one.partition(".")[0] == file)
    assert old in FILES[name]
    place = folder(tmp_path, **{file: FILES[name].replace(old, new, 1)})
    if said is None:
        assert schema.read(place)
        return
    pattern = ".*".join(re.escape(part) for part in said.split(".*"))
    with pytest.raises(InputError, match=pattern):
        schema.read(place)


def test_check_reads_lexicons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(folder(tmp_path))]) == 0
    assert "words and uses: 3 of noun, 4 of verb" in capsys.readouterr().out
    place = folder(tmp_path, noun=FILES["noun.csv"].replace("weapon", "wepon"))
    assert main(["check", str(place)]) == 1
    assert "E001 noun.csv, line 4, kind: no value of kind 'wepon'" in capsys.readouterr().out


def test_check_counts_what_a_template_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path)
    text = TEMPLATE.replace('"cross"', '"sample"\nn = 1')
    (tmp_path / "t.toml").write_text(
        text.replace("[slots]", "[vary]\ntense = ['past', 'base']\n[slots]").replace(".past", ".$tense")
    )
    main(["check", str(tmp_path / "t.toml"), "--counts"])
    printed = capsys.readouterr().out
    assert "    tense = past: 1 combination of words\n" in printed
    assert "    slot object: 1 entry\n" in printed
