"""Making suites: regions cover the text, tags say the configuration, and the bytes stay the same for a seed."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from grammar_for_tests import CROSS, SAMPLE, TABLE, made, one, texts

import syntagm
from syntagm.cli import main
from syntagm.core import InputError, UsageError
from syntagm.suites import claimed, read_suite_file, template
from syntagm.suites.templates import make, pattern

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "templates.md"
BLOCK = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
EXAMPLES = [block for block in BLOCK.findall(DOCS.read_text(encoding="utf-8")) if "[items]" in block]
LEXICON = '[classes]\nnoun = """\nsg  | pl   | kind\nox  | oxen | animal\njug | jugs | thing\nelm | elms | plant\n"""\n'


def written(folder: Path, text: str, name: str = "here.toml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_streams_are_independent() -> None:
    words = 'n = 10\nstream = "{}"'
    one_stream, again, other = (texts(*made(SAMPLE.replace("n = 10", words.format(name)))) for name in ("a", "a", "b"))
    assert one_stream == again != other
    assert texts(*made(SAMPLE)) not in (one_stream, other)


@pytest.mark.parametrize("text", [TABLE, CROSS, SAMPLE, *EXAMPLES])
def test_regions_cover_the_sentence_but_for_blanks(text: str) -> None:
    for suite in made(text):
        for item in suite.items:
            for sentence in item.sentences.values():
                assert sentence.text == " ".join(sentence.text.split())
                if sentence.regions:
                    left = list(sentence.text)
                    for region in sentence.regions:
                        left[region.start : region.end] = " " * (region.end - region.start)
                    assert not "".join(left).strip()


def test_the_examples_of_the_documentation() -> None:
    sizes = [[(suite.name, len(suite.items)) for suite in made(text)] for text in EXAMPLES]
    assert sizes == [[("here", 2)], [("here", 48)], [("here", 5)], [("here", 2)], [("number", 3), ("number_mod", 3)]]
    assert texts(one(EXAMPLES[0]))[0] == "The miller beside the carts waits for the rain to stop."


def test_a_region_that_is_empty_stays() -> None:
    [_, item] = one(TABLE).items
    sentence = item.sentences["good"]
    assert sentence.text == "The dog barks."
    assert [(region.name, sentence.content(region.name)) for region in sentence.regions] == [
        ("subject", "The dog"),
        ("verb", "barks"),
        ("rest", "."),
    ]
    emptied = one(TABLE.replace("{rest}.", "{rest}")).items[1].sentences["good"]
    assert (emptied.text, emptied.content("rest")) == ("The dog barks", "")


def test_the_column_of_the_slot_itself_is_its_first_form() -> None:
    text = TABLE.replace("head | verb.sg", "head.pl | head").replace("{verb.sg}", "{head.pl}")
    assert texts(one(text))[0] == "The sleeps cat all day."


def test_pieces_that_touch_a_slot() -> None:
    text = TABLE.replace('"The {head}', '\'The "{head}s", un{head}').replace('{rest}."', "{rest}.'")
    assert texts(one(text))[0] == 'The "cats", uncat sleeps all day.'


@pytest.mark.parametrize(
    ("text", "format", "n", "expected"),
    [
        (TABLE, "syntaxgym", [], "5521bd732df110f9707bc4293e727e916a0cf40849018f8c825960ef233aad20"),
        (CROSS, "tsv", ["-n", "7"], "f504596088ba4ac026f8c5d54a6a7ed01fa5cbd9a5c949e51f6837d215ac0436"),
        (SAMPLE, "blimp", ["--style", "published"], "b6a0f0a34ece6a329946ef01ca72a85a6865fdc1972f518c92f9250e03a17826"),
    ],
)
def test_the_bytes_of_a_seed_never_change(text: str, format: str, n: list[str], expected: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    assert main(["make", str(path), "-o", str(tmp_path / "out"), "--seed", "5", "--as", format, *n]) == 0
    [file] = (tmp_path / "out").iterdir()
    assert hashlib.sha256(file.read_bytes()).hexdigest() == expected


@pytest.mark.slow
@pytest.mark.parametrize("hashing", ["0", "1", "12345"])
def test_the_bytes_do_not_hang_on_the_order_of_sets(hashing: str, tmp_path: Path) -> None:
    path = written(tmp_path, SAMPLE.replace("[!= noun]", "[!= noun, kind = animal/thing/plant]"))
    here, there = tmp_path / "here", tmp_path / "there"
    assert main(["make", str(path), "-o", str(here), "--as", "blimp"]) == 0
    command = [sys.executable, "-m", "syntagm", "make", str(path), "-o", str(there), "--as", "blimp"]
    subprocess.run(
        command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": hashing, "LC_ALL": "C"}
    )
    assert (here / "here.jsonl").read_bytes() == (there / "here.jsonl").read_bytes()


def test_a_lexicon_stands_beside_the_template(tmp_path: Path) -> None:
    written(tmp_path, LEXICON, "words.toml")
    text = "lexicon = 'words'\n" + CROSS.replace(CROSS[CROSS.index("noun =") : CROSS.index("verb =")], "")
    path = written(tmp_path, text)
    [suite] = read_suite_file(path)
    assert suite.items == one(CROSS).items
    assert [file.name for file in tmp_path.iterdir() if claimed(file)] == ["here.toml"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none", "no none.toml and no folder none beside the template, and no bundled lexicon"),
        ("../words", "'../words'; expected a name of letters"),
        ("/etc/passwd", "'/etc/passwd'; expected a name of letters"),
        ("words.toml", "without .toml"),
        ("folder", "no folder.toml and no folder folder beside"),
        ("here", "here.toml: the unknown key 'lexicon'; expected one of classes"),
        ("loop", "no loop.toml and no folder loop beside"),
    ],
)
def test_lexicons_that_are_none(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    path = written(tmp_path, f"lexicon = {json.dumps(name)}\n{CROSS}")
    with pytest.raises(InputError, match=re.escape(said)):
        read_suite_file(path)


def test_a_class_of_the_template_stands_before_that_of_the_lexicon(tmp_path: Path) -> None:
    written(tmp_path, LEXICON.replace("ox  |", "yak |"), "words.toml")
    [suite] = read_suite_file(written(tmp_path, f"lexicon = 'words'\n{CROSS}"))
    assert suite.items == one(CROSS).items


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("n=0", "n: '0'; expected a whole number from 1"),
        ("n=x", "n: 'x'"),
        ("n=1e3", "n: '1e3'"),
        ("n=٣", "n: '٣'"),
        ("seed=-1", "seed: '-1'; expected a whole number from 0"),
        ("style=loud", "style: 'loud'; expected natural or published"),
        ("suite=other", "no suite 'other'; expected one of here"),
        ("good=x", "no option 'good' in template; expected one of format, n, seed, style, suite"),
    ],
)
def test_options_that_mean_nothing(options: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        read_suite_file(f"{written(tmp_path, SAMPLE)}?{options}")


def test_options(tmp_path: Path) -> None:
    path = written(tmp_path, SAMPLE)
    [suite] = read_suite_file(f"{path}?n=3&seed=9&style=published&suite=here")
    assert (len(suite.items), dict(suite.tags)) == (3, {"seed": "9", "style": "published"})
    assert all(re.fullmatch("[a-z ]+", text) for text in texts(suite))


def test_a_template_is_known_by_its_sections(tmp_path: Path) -> None:
    words = "\n".join(f"word{number} | words{number}" for number in range(9000))
    late = f'[classes]\nspare = """\na | b\n{words}\n"""\n{TABLE[TABLE.index("[conditions]") :]}'
    for text, claims in [
        *((text, True) for text in (TABLE, late, "[ conditions ]", "[[suite]]", "[suite.items]")),
        *((text, False) for text in ("[tool.x]\na = 1", LEXICON, "", "x = '[items]'")),
    ]:
        path = written(tmp_path, text)
        assert template.claims(path, text[:1000]) is claims
    assert not template.claims(tmp_path / "x.json", TABLE)


def test_a_template_runs(tmp_path: Path) -> None:
    suites = syntagm.read_suites(str(written(tmp_path, TABLE)))
    run = syntagm.run_suites(syntagm.load_model("toy"), suites, tmp_path / "run")
    assert run.results().height == 2


def test_check_names_file_and_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, TABLE)
    assert main(["check", str(path)]) == 0
    written(tmp_path, TABLE.replace("{rest}", "{rset}", 1))
    capsys.readouterr()
    assert main(["check", str(path)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith(f"{path}: E001 [conditions] good: no slot 'rset'; expected one of: head, verb, rest")
    written(tmp_path, SAMPLE.replace("n = 10", "n = 99") + "[[suite]]\nname = 'first'\n")
    assert main(["check", str(path)]) == 1
    assert f"{path}: E001 suite first: 24 different items and then" in capsys.readouterr().out


def test_sentences_have_a_limit() -> None:
    long = CROSS.replace("The {noun.$number}", "{noun.$number} " * 300).replace("ox  | oxen", f"{'x' * 50}  | oxen")
    with pytest.raises(InputError, match=r"good, item 2: 15,\d\d\d characters; expected at most 10,000 in a sentence"):
        made(long)


def test_all_sentences_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "MAX_TEXT", 100)
    with pytest.raises(InputError, match="more than 100 characters in all items"):
        made(TABLE.replace("all day", "all day " * 9))


def test_patterns_without_words() -> None:
    parsed = pattern.parse(" a  {x.y}{ $z },  b{w.!v} ", "here")
    shown = [(p.glued, p.literal, p.slot, p.how, p.form, p.variable) for p in parsed.pieces()]
    assert shown == [
        (False, "a", "", "", "", ""),
        (False, "", "x", "", "y", ""),
        (True, "", "", "", "", "z"),
        (True, ", b", "", "", "", ""),
        (True, "", "w", "!", "v", ""),
    ]


def test_tags_and_what_all_suites_draw_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    long = CROSS.replace("[predictions]", f"[item_tags]\nt = '{{noun}} {'y ' * 200}'\n[predictions]")
    monkeypatch.setattr(make, "MAX_TEXT", 2000)
    # Two sentences of about 25 characters and a tag of 401 or 402 in each: the fifth item is the seventh combination,
    # for in the first two `other` is `noun`.
    with pytest.raises(InputError, match=r"\[item_tags\] t, item 7: more than 2,000 characters in all items"):
        made(long)
    # 10 items of two sentences of about 25 characters are about 500 characters, those of two suites 1,000.
    monkeypatch.setattr(make, "MAX_TEXT", 800)
    made(SAMPLE)
    shared = SAMPLE + "".join(f"[[suite]]\nname = 's{number}'\n" for number in range(2))
    with pytest.raises(InputError, match="more than 800 characters in the sentences drawn for all suites"):
        made(shared)
