"""Suites from a spreadsheet: three layouts, exact round trips, and what is refused."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from syntagm.cli import main
from syntagm.core import InputError
from syntagm.suites import (
    AGGREGATES,
    Item,
    Prediction,
    Region,
    Sentence,
    Suite,
    claimed,
    parse,
    read_suite_file,
    spreadsheet,
    unscored_columns,
    write_suites,
)

DATA = Path(__file__).parents[1] / "data" / "spreadsheet"
AGREEMENT = Prediction("agreement", parse("(verb;%match%) < (verb;%mismatch%)"))


def read(tmp_path: Path, text: str, name: str = "kites.csv") -> Suite:
    (tmp_path / name).write_text(text)
    (suite,) = read_suite_file(tmp_path / name)
    return suite


def test_one_sentence_per_row() -> None:
    (suite,) = read_suite_file(DATA / "kites.csv")
    assert (suite.name, suite.predictions, suite.tags) == ("kites", (AGREEMENT,), {"circuit": "Agreement"})
    first, second = suite.items
    assert first.sentences["match"].text == "The kites by the gate are"
    assert first.sentences["mismatch"].content("verb") == "is"
    # An empty cell is a region without text.
    assert second.sentences["match"] == Sentence(
        "The lantern glows", (Region("subject", 0, 11), Region("modifier", 11, 11), Region("verb", 12, 17))
    )
    assert (first.tags, second.tags) == ({"noun": "kite"}, {"noun": "lantern"})


class TestNumberedRegions:
    """The header of many tables of stimuli: `item_id`, `CONDITION`, `Region01` ..., and columns of notes."""

    TABLE = "item_id, CONDITION,story,Region01,Region02,answer\n1,A,oars,The oars,sink,y\n1,B,oars,The oars,sinks,n\n"

    def test_only_they_are_regions(self, tmp_path: Path) -> None:
        suite = read(tmp_path, self.TABLE)
        [item] = suite.items
        assert (item.id, item.tags) == ("1", {})
        assert {name: sentence.text for name, sentence in item.sentences.items()} == {
            "A": "The oars sink",
            "B": "The oars sinks",
        }
        assert item.sentences["A"].content("Region02") == "sink"
        assert unscored_columns(tmp_path / "kites.csv") == ["story", "answer"]

    def test_the_column_of_items_in_other_spellings(self, tmp_path: Path) -> None:
        for name in ("Item ID", "itemId", "ITEM_NUMBER"):
            assert read(tmp_path, self.TABLE.replace("item_id", name)).items[0].id == "1"

    def test_other_names_among_them_are_regions_as_ever(self, tmp_path: Path) -> None:
        suite = read(tmp_path, "item,condition,region1,verb,region3\n1,a,The oars,sink,here\n1,b,The oar,sink,here\n")
        assert suite.items[0].sentences["a"].text == "The oars sink here"

    def test_a_suite_of_both_is_written_without_a_loss(self, tmp_path: Path) -> None:
        spans = (Region("region1", 0, 3), Region("verb", 4, 8))
        pair = {name: Sentence(f"{text} sink", spans) for name, text in (("a", "Oar"), ("b", "Oak"))}
        suite = Suite("kites", (Item("1", pair),), (Prediction("p", parse("(verb;%a%) < (verb;%b%)")),))
        write_suites([suite], tmp_path / "kites.csv")
        assert read_suite_file(tmp_path / "kites.csv") == [suite]

    @pytest.mark.parametrize("columns", ["good,bad", "sentence,rating", "verb,object"])
    def test_ids_and_conditions_alone_do_not_make_a_table_of_regions(self, tmp_path: Path, columns: str) -> None:
        (tmp_path / "a.csv").write_text(
            f"item_id,condition,{columns}\n1,a,Ida sings.,Ida sing.\n2,b,Bo hums.,Bo hum.\n"
        )
        assert spreadsheet not in claimed(tmp_path / "a.csv")


def test_one_item_per_row() -> None:
    (suite,) = read_suite_file(DATA / "wide.tsv")
    (item,) = suite.items
    assert {name: sentence.text for name, sentence in item.sentences.items()} == {
        "match": "The kites glow.", "mismatch": "The kites glows.",
    }  # fmt: skip
    assert item.sentences["match"].content("end") == "."
    assert suite.predictions == (AGREEMENT,)


def test_one_region_per_row_with_semicolons() -> None:
    (suite,) = read_suite_file(DATA / "long.csv")
    assert (suite.aggregate, [prediction.name for prediction in suite.predictions]) == ("mean", ["whole"])
    assert [sentence.text for sentence in suite.items[0].sentences.values()] == ["The kites glow", "Glows the kites"]


def test_the_three_layouts_of_the_page_are_one_suite(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
    examples = re.findall(r"```csv\n(item,.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    first, *others = [read(tmp_path, example) for example in examples]
    assert others == [first, first]
    assert first.predictions == (AGREEMENT,)
    assert first.items[0].sentences["match"].text == "The keys to the cabinet are"


def test_what_spreadsheet_programs_write_is_read(tmp_path: Path) -> None:
    plain = read(tmp_path, "item,condition,verb\n#prediction,p,(*;%a%) > 1\n1,a,glow\n")
    others = (
        "\ufeffItem,Condition,verb\r\n#prediction,p,(*;%a%) > 1\r\n1,a,glow\r\n",
        '"item";"condition";"verb"\n"#prediction";"p";"(*;%a%) > 1"\n1;a; glow \n;;\n',
        "item,condition,verb\n#prediction,p,(*;%a%) > 1,,,\n1,a,glow,,\n,,\n",
    )
    for text in others:
        assert read(tmp_path, text) == plain


def test_a_workbook_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a workbook; .*Save the sheet as CSV"):
        read(tmp_path, "item,condition,verb\n1,a,glow\n", "kites.ods")


def test_a_whole_sentence_without_regions(tmp_path: Path) -> None:
    suite = read(tmp_path, "item,condition,sentence\n1,good,Kites fly.\n1,bad,Kites flies.\n")
    assert suite.items[0].sentences == {"good": Sentence("Kites fly."), "bad": Sentence("Kites flies.")}


def test_a_condition_without_text_is_absent_from_its_item(tmp_path: Path) -> None:
    suite = read(tmp_path, "item,a:sentence,b:sentence\n1,Kites fly.,Lanterns glow.\n2,,Gates creak.\n")
    assert [list(item.sentences) for item in suite.items] == [["a", "b"], ["b"]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("item,condition,verb\n#predictions,x,y\n", "line 2: '#predictions'; expected an item, or one of #prediction"),
        ("item,condition,verb\n#prediction,(1;%a%) < 2,\n", "line 2, #prediction: 1 cells; expected two cells after it"),
        ("item,condition,verb\n#prediction,x,(1;%a%\n", "line 2, prediction x, formula, character"),
        ("item,condition,verb\n#metric,total,\n", "line 2, #metric: 'total'; expected one of sum"),
        ("item,condition,verb\n1,,glow\n", "line 2, condition: an empty cell; expected a name. Fill in the condition"),
        ("item,condition,verb\n,match,glow\n", "line 2, item: an empty cell; expected the id of an item"),
        ("item,condition,verb\n1,match,glow\n1,match,glows\n", "line 3: a second sentence for 'match', item 1"),
        ("item,condition,verb\n1,match,glow,more\n", "line 2: 4 cells; expected 3 as in the header"),
        ("item,condition,noun,verb\n1,match,kites glow\n", "line 2: 3 cells; expected 4 as in the header. A delimiter"),
        ("item,condition,verb,verb\n1,match,glow,glow\n", "the column 'verb' twice"),
        ("item,condition,verb,sentence\n1,match,glow,Kites glow\n", "the region 'sentence' together with others"),
        ("item,a:verb,note\n1,glow,x\n", "line 1: the column 'note'; expected CONDITION:REGION or tag.NAME"),
        ("item,condition,region,content\n1,a,verb,glow\n1,a,verb,glows\n", "line 3: a second region 'verb'"),
        ("item,condition,region,content,note\n", "the column 'note'; expected item,condition,region,content and tag.NAME"),
        ("item,condition,region,contents\n", "line 1: the column 'region' alone; expected region and content"),
        ("item,condition,verb\n#tag,x,1\n#tag,x,2\n", "line 3: a second #tag x; expected one"),
        ("item,condition,verb\n#metric,sum,\n#metric,mean,\n", "line 3: a second #metric; expected one"),
        ("item,condition,verb\n#prediction,x,(*;%a%) > 1\n#prediction,x,(*;%a%) > 2\n", "a second #prediction x"),
        ("item,condition,verb,tag.x\n1,a,glow,2\n1,b,glows,3\n", "line 3, tag.x: '3'; expected '2' as above in item 1"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, rows)
    assert message in str(caught.value)


NAMES = st.text(st.sampled_from('abπ:;,~"\t.#é '), max_size=3)
WORDS = st.text(st.sampled_from('ab ~,"\t.字\n'), max_size=4)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    text, spans = "", []
    for name in draw(st.lists(st.one_of(st.sampled_from(["subject", "verb"]), NAMES), max_size=3)):
        text += draw(st.sampled_from(["", " "]))
        content = draw(WORDS)
        spans.append(Region(name, len(text), len(text + content)))
        text += content
    return Sentence(text or draw(WORDS), tuple(spans))


@st.composite
def suites(draw: st.DrawFn) -> Suite:
    conditions = draw(
        st.lists(st.one_of(st.sampled_from(["match", "mismatch"]), NAMES), min_size=1, max_size=2, unique=True)
    )
    items = [
        Item(
            name,
            {condition: draw(sentences()) for condition in conditions},
            draw(st.dictionaries(NAMES, WORDS, max_size=1)),
        )
        for name in draw(st.lists(st.one_of(st.sampled_from("12"), NAMES), max_size=2))
    ]
    predictions = draw(st.sampled_from([(), (AGREEMENT,), (AGREEMENT, Prediction("b", parse("(*;%match%) > 1")))]))
    tags = draw(st.dictionaries(NAMES, WORDS, max_size=2))
    name = draw(st.one_of(st.just("kites"), NAMES))
    return Suite(name, tuple(items), predictions, tags, draw(st.sampled_from(AGGREGATES)))


class TestRoundTrip:
    @pytest.mark.slow
    @settings(max_examples=150)
    @given(suite=suites(), ending=st.sampled_from([".csv", ".tsv"]))
    def test_what_is_written_is_read_back_exactly_or_refused(
        self, tmp_path_factory: pytest.TempPathFactory, suite: Suite, ending: str
    ) -> None:
        path = tmp_path_factory.getbasetemp() / f"round{ending}"
        try:
            spreadsheet.write([suite], path)
        except InputError:
            return
        (reread,) = read_suite_file(path)
        assert reread == suite

    @pytest.mark.slow
    @settings(max_examples=50)
    @given(
        cells=st.lists(
            st.lists(st.text(st.sampled_from("ab,;'\"字.~"), min_size=1, max_size=5), min_size=3, max_size=3),
            min_size=1, max_size=4,
        )
    )  # fmt: skip
    def test_ordinary_suites_are_never_refused(
        self, tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]
    ) -> None:
        items = []
        for number, (first, second, third) in enumerate(cells):
            middle = f"x{first} y{second}"
            regions = (Region("subject", 0, 1 + len(first)), Region("verb", 2 + len(first), len(middle)))
            attached = Region("end", len(middle), len(middle) + 1 + len(third))
            sentence = Sentence(f"{middle}z{third}", (*regions, attached))
            items.append(Item(str(number), {"match": sentence, "mismatch": sentence}))
        suite = Suite("kites", tuple(items), (AGREEMENT,))
        path = tmp_path_factory.getbasetemp() / "ordinary.csv"
        spreadsheet.write([suite], path)
        assert read_suite_file(path) == [suite]

    def test_suites_with_different_regions_are_written_one_region_per_row(self, tmp_path: Path) -> None:
        items = (
            Item("1", {"a": Sentence("glow", (Region("x", 0, 4),)), "b": Sentence("glows", (Region("y", 0, 5),))}),
        )
        spreadsheet.write([suite := Suite("s", items, ())], tmp_path / "s.csv")
        assert (tmp_path / "s.csv").read_text().startswith("item,condition,region,content\n")
        assert read_suite_file(tmp_path / "s.csv") == [suite]

    @pytest.mark.parametrize("ending", [".csv", ".tsv"])
    def test_a_bundled_suite_loses_nothing(self, tmp_path: Path, ending: str) -> None:
        assert main(["convert", "hu2020/number_prep", str(tmp_path / f"a{ending}")]) == 0
        assert main(["convert", str(tmp_path / f"a{ending}"), str(tmp_path / f"b{ending}")]) == 0
        assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
        assert write_suites(read_suite_file(tmp_path / f"a{ending}"), tmp_path / "c.csv", "spreadsheet") == []
