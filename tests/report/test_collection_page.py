"""The page about a collection: what stands on it, and which pages `make docs` writes."""

import re
from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.evaluation import baselines
from syntagm.report import describe_collection, markdown
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, bundled_suites, collections, parse
from tools import collection_pages

KEYS = """
regions = "subject | verb"
[tags]
circuit = "Agreement"
phenomenon = "number"
contrast = "The verb agrees with its subject."
ungrammatical = "clash"
comment = "Written by hand."
[conditions]
fit = "The keys | {verb.pl}"
clash = "The keys | {verb.sg}"
[predictions]
paper = "(verb;%fit%) < (verb;%clash%)"
[items]
fill = "table"
rows = '''
verb.sg | verb.pl
rusts   | rust
shines  | shine
'''
"""


@pytest.mark.slow
def test_each_bundled_collection_has_a_page_with_all_its_suites(tmp_path: Path) -> None:
    collection_pages.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(collection_pages.NAMES)
    for collection in collections():
        text = (tmp_path / f"{collection}.md").read_text(encoding="utf-8")
        assert re.findall(r"^#### `(.+)`$", text, re.MULTILINE) >= bundled_suites(collection), collection
        assert ("Made by `syntagm describe warstadt2020 --baselines`." in text) == (collection == "warstadt2020")
    (old := tmp_path / "textbook.md").write_text("An old page.\n")
    others = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path != old}
    collection_pages.write(tmp_path)
    assert old.read_text(encoding="utf-8").startswith("# textbook\n")
    assert {path: path.stat().st_mtime_ns for path in others} == others


def test_the_index_lists_the_pages_of_all_collections() -> None:
    listed = (collection_pages.FOLDER / "index.md").read_text(encoding="utf-8").split("```")[1].splitlines()[3:]
    assert listed == sorted([*(name.removesuffix(".md") for name in collection_pages.NAMES), "solved"])


def test_what_stands_on_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "keys.toml").write_text(KEYS)
    assert main(["describe", str(tmp_path / "keys.toml"), "-o", str(tmp_path / "keys.md")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'keys.md'}\n"
    made = (tmp_path / "keys.md").read_text()
    assert made.startswith(f"# {tmp_path / 'keys.toml'}\n")
    assert "1 suite, 2 items." in made
    assert "| [`keys`](#keys) | Agreement | 2 | 1/2 |" in made
    assert "## Agreement\n\n### number\n\n#### `keys`\n\nThe verb agrees with its subject.\n" in made
    assert "| `fit` | The keys **rust** |\n| `clash` | \\*The keys **rusts** |" in made
    assert "the `verb` is less surprising in `fit` than in `clash`; chance 1/2." in made
    assert made.endswith("    (verb;%fit%) < (verb;%clash%)\n\nComment: Written by hand.\n")


@pytest.mark.slow
def test_baselines_are_those_of_the_language() -> None:
    pytest.importorskip("wordfreq")
    # The English verb "die" is rare; the German article is more frequent than "das".
    words = {"good": Sentence("die", (Region("v", 0, 3),)), "bad": Sentence("das", (Region("v", 0, 3),))}
    pair, compared = Item("1", words), (Prediction("p", parse("(v;%good%) < (v;%bad%)")),)
    suites = [Suite(tag, (pair,), compared, {"language": tag}) for tag in ("de", "grc")]
    made = describe_collection("two", suites, baselines.books())
    assert "(counted in wordfreq" in made
    assert ", German)" in made
    assert "| [`de`](#de) |  | 1 | 1/2 | **1.000** |" in made
    assert "| [`grc`](#grc) |  | 1 | 1/2 |  |" in made
    assert "* grc: no baseline of frequency: no word frequencies of Ancient Greek" in made


def test_a_page_never_replaces_its_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "keys.toml"
    suite.write_text(KEYS)
    (tmp_path / "linked.md").symlink_to(suite)
    for source, target in ((f"{suite}?n=1", suite), (str(tmp_path), suite), (str(suite), tmp_path / "linked.md")):
        assert main(["describe", source, "-o", str(target)]) == 2
        assert "the suite itself; expected another file. Write" in capsys.readouterr().err
    assert suite.read_text() == KEYS


def test_any_format_has_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pairs.tsv").write_text("good\tbad\nThe keys are here.\tThe keys is here.\n")
    assert main(["describe", str(tmp_path / "pairs.tsv")]) == 0
    made = capsys.readouterr().out
    # No circuit and no phenomenon: no headings but the suite's. The whole sentence is compared: nothing is bold.
    assert "\n## " not in made
    assert "\n### " not in made
    assert "| `good` | The keys are here. |\n| `bad` | \\*The keys is here. |" in made
    assert "the whole sentence is less surprising in `good` than in `bad`; chance 1/2." in made


def test_a_suite_without_items_or_predictions_has_a_page() -> None:
    assert describe_collection("empty", [Suite("none", (), ())]).endswith("#### `none`\n\n0 items.\n")


def test_an_unknown_chance_says_why() -> None:
    pair = Item("1", {"a": Sentence("b", (Region("v", 0, 1),))})
    made = describe_collection("one", [Suite("one", (pair,), (Prediction("p", parse("(v;%a%) > 2")),))])
    assert "| [`one`](#one) |  | 1 |  |" in made
    assert "is above 2 bits; no chance level: a comparison with a number" in made


def test_texts_are_shown_and_no_markup() -> None:
    pair = Item("1", {"good": Sentence("<script> *a* | [b](c)"), "bad": Sentence("- `d`\n# e")})
    made = describe_collection("odd", [Suite("odd", (pair,), (), {"contrast": "# no heading"})])
    assert "\\<script> \\*a\\* \\| \\[b\\](c) |" in made
    assert "| \\*\\- \\`d\\` # e |" in made
    assert "\n\\# no heading.\n" in made


def test_neighbouring_regions_are_one_bold_piece() -> None:
    regions = (Region("x", 0, 3), Region("y", 4, 7), Region("z", 7, 8))
    formula = parse("(x;%a%) + (y;%a%) + (z;%a%) < (x;%b%) + (y;%b%) + (z;%b%)")
    item = Item("1", {"a": Sentence("one two.", regions), "b": Sentence("two one.", regions)})
    made = describe_collection("t", [Suite("t", (item,), (Prediction("p", formula),))])
    # A mark of bold next to a full stop needs a tag; see markdown.bold.
    assert "| `a` | <b>one two.</b> |" in made
    assert markdown.bold("one two") == "**one two**"


def test_grouping_keeps_the_order_of_first_suites_and_puts_the_rest_last() -> None:
    circuits = {"d": {}, "a": {"circuit": "Y"}, "b": {"circuit": "X"}, "c": {"circuit": "Y"}}
    made = describe_collection("t", [Suite(name, (), (), tags) for name, tags in circuits.items()])
    order = [line for line in made.splitlines() if line.startswith("## ") or line.startswith("#### ")]
    assert order == ["## Y", "#### `a`", "#### `c`", "## X", "#### `b`", "## In no circuit", "#### `d`"]


@pytest.mark.slow
def test_the_collections_have_what_a_page_needs() -> None:
    for collection in ("hu2020", "marvin2018?n=1"):
        for suite in sg.read_suites(collection):
            assert suite.tags["contrast"], suite.name


def test_spellings_of_a_field_are_one_group() -> None:
    sentences = {"good": Sentence("a b"), "bad": Sentence("a c")}
    suites = [
        Suite(name, (Item("1", sentences),), (Prediction("p", parse("(*;%good%) < (*;%bad%)")),), {"field": field})
        for name, field in (("one", "syntax/semantics"), ("two", "morphology"), ("three", "syntax_semantics"))
    ]
    text = describe_collection("three", suites)
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## syntax/semantics", "## morphology"]
    assert text.index("`three`") < text.index("`two`")
