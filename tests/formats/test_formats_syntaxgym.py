"""SyntaxGym suites, JSON and CSV: what is read, what is written, what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from syntagm.core import InputError, UsageError
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse, read_suite_file, syntaxgym
from syntagm.suites.formats import syntaxgym_csv

HERE = Path(__file__).parents[1] / "data" / "syntaxgym"
PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "syntaxgym"
LANTERNS = HERE / "lanterns.json"


def one(path: Path, options: str = "") -> Suite:
    (suite,) = read_suite_file(f"{path}{options}")
    return suite


def edited(tmp_path: Path, *keys: str | int, value: object) -> Path:
    """A copy of the fixture with one value replaced; `...` deletes it."""
    whole = place = json.loads(LANTERNS.read_text())
    for key in keys[:-1]:
        place = place[key]
    if value is ...:
        del place[keys[-1]]
    else:
        place[keys[-1]] = value
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(whole))
    return path


class TestReading:
    def test_sentence_is_the_stripped_contents_joined_by_one_space(self) -> None:
        sentence = one(LANTERNS).items[0].sentences["sing"]
        assert sentence.text == "The lantern by the gates , glows softly ."
        assert [sentence.content(name) for name in "12345"] == ["The lantern", "by the gates", ",", "glows", "softly ."]

    def test_blank_regions_have_no_length_and_end_where_the_content_before_them_ends(self) -> None:
        sentence = one(LANTERNS).items[1].sentences["plur"]
        # "A sailor" is 8 characters long, "whistle" stands at 9 to 16.
        expected = [("1", 0, 8), ("2", 8, 8), ("3", 8, 8), ("4", 9, 16), ("5", 16, 16)]
        assert [(region.name, region.start, region.end) for region in sentence.regions] == expected

    def test_a_blank_first_region_stands_at_the_beginning(self) -> None:
        regions = syntaxgym.assemble(["", "The man", "left"]).regions
        assert [(region.start, region.end) for region in regions] == [(0, 0), (0, 7), (8, 12)]

    def test_predictions_are_named_by_index_and_keep_their_spelling(self) -> None:
        suite = one(LANTERNS)
        assert [prediction.name for prediction in suite.predictions] == ["0", "1"]
        assert suite.predictions[0].formula == parse("((4;%sing%) < (4;%plur%)) & ((*;%sing%) < (*;%plur%))")
        assert suite.predictions[0].formula.text.startswith("[(4;")

    def test_tags(self) -> None:
        suite = one(LANTERNS)
        shown = {key: value for key, value in suite.tags.items() if not key.startswith("json:")}
        assert shown.pop("comment").startswith("#Prediction")
        assert shown == {
            "region.1": "subject", "region.2": "modifier", "region.3": "comma", "region.4": "verb", "region.5": "end",
        }  # fmt: skip

    def test_further_texts_of_meta_are_tags(self, tmp_path: Path) -> None:
        assert one(edited(tmp_path, "meta", "circuit", value="Agreement")).tags["circuit"] == "Agreement"

    def test_conditions_keep_their_order_in_each_item(self) -> None:
        assert [list(item.sentences) for item in one(LANTERNS).items] == [["sing", "plur"], ["plur", "sing"]]

    @pytest.mark.parametrize("metric", ["mean", "median", "range", "max", "min"])
    def test_metric_is_the_aggregate(self, tmp_path: Path, metric: str) -> None:
        assert one(edited(tmp_path, "meta", "metric", value=metric)).aggregate == metric

    def test_joined_as_on_the_hub(self) -> None:
        sentence = one(LANTERNS, "?joined=hub").items[0].sentences["sing"]
        assert sentence.text == "The lantern by the gates, glows softly."
        assert [sentence.content(name) for name in "12345"] == ["The lantern", "by the gates", ",", "glows", "softly."]

    def test_unknown_way_of_joining(self) -> None:
        with pytest.raises(UsageError, match="main or hub"):
            one(LANTERNS, "?joined=tight")


class TestWriting:
    @pytest.mark.parametrize("options", ["", "?joined=hub"])
    def test_a_published_file_comes_back_byte_for_byte(self, tmp_path: Path, options: str) -> None:
        syntaxgym.write([one(LANTERNS, options)], tmp_path / "out.json")
        assert (tmp_path / "out.json").read_bytes() == LANTERNS.read_bytes()

    @pytest.mark.slow
    @pytest.mark.parametrize("options", ["", "?joined=hub"])
    def test_all_published_files_come_back_byte_for_byte(self, tmp_path: Path, options: str) -> None:
        if not PUBLISHED.is_dir():
            pytest.skip("the published suites are not here")
        files = sorted(PUBLISHED.glob("*.json"))
        assert len(files) == 12
        for file in files:
            syntaxgym.write([one(file, options)], tmp_path / "out.json")
            assert (tmp_path / "out.json").read_bytes() == file.read_bytes(), file.name

    def test_what_the_types_cannot_hold_comes_back(self, tmp_path: Path) -> None:
        odd = {
            "note": [1, None, {"deep": 0.5}],
            "items": [
                {
                    "extra": 3, "lexeme": "glow", "item_number": "7", "none": None,
                    "conditions": [{"regions": [{"content": " a", "region_number": 1, "oovs": []}], "condition_name": "x"}],
                }
            ],
            "predictions": [{"formula": "(1;%x%) > 2", "type": "formula", "by": "hand"}],
            "region_meta": {"2": "b", "1": "a"},
            "meta": {"metric": "sum", "year": 2020, "name": "odd", "paper": "P", "region.1": "trap", "json:x": "trap", "n": None},
        }  # fmt: skip
        path = tmp_path / "odd.json"
        path.write_text(json.dumps(odd))
        suite = one(path)
        assert (suite.tags["paper"], suite.items[0].tags["lexeme"], suite.items[0].id) == ("P", "glow", "7")
        assert suite.tags["region.1"] == "a"
        syntaxgym.write([suite], path)
        # Compared as text: key order counts.
        assert path.read_text() == json.dumps(odd, indent=4)
        assert one(path) == suite

    def test_escaped_letters_stay_escaped_and_plain_ones_plain(self, tmp_path: Path) -> None:
        for ascii_only in (True, False):
            whole = json.loads(LANTERNS.read_text())
            whole["items"][0]["conditions"][0]["regions"][0]["content"] = "Häuser"
            (tmp_path / "in.json").write_text(json.dumps(whole, indent=4, ensure_ascii=ascii_only), encoding="utf-8")
            syntaxgym.write([one(tmp_path / "in.json")], tmp_path / "out.json")
            assert (tmp_path / "out.json").read_bytes() == (tmp_path / "in.json").read_bytes()

    def test_a_suite_made_by_hand(self, tmp_path: Path) -> None:
        made = {"a": syntaxgym.assemble(["The kite", "flies"]), "b": syntaxgym.assemble(["The kite", "fly"])}
        suite = Suite(
            "kites",
            (Item("1", made, {"noun": "kite"}),),
            (Prediction("0", parse("(2;%a%) < (2;%b%)")),),
            {"region.2": "verb"},
        )
        syntaxgym.write([suite], tmp_path / "kites.json")
        assert one(tmp_path / "kites.json") == suite

    def test_a_changed_sentence_is_written_not_the_remembered_one(self, tmp_path: Path) -> None:
        suite = one(LANTERNS)
        changed = {
            **suite.items[0].sentences,
            "sing": syntaxgym.assemble(["A torch", "by the gates", ",", "glows", "softly ."]),
        }
        suite = replace(suite, items=(replace(suite.items[0], sentences=changed), *suite.items[1:]))
        syntaxgym.write([suite], tmp_path / "out.json")
        regions = json.loads((tmp_path / "out.json").read_text())["items"][0]["conditions"][0]["regions"]
        assert regions[0] == {"region_number": 1, "content": "A torch"}

    @pytest.mark.parametrize(
        ("sentence", "name", "tags", "message"),
        [
            (Sentence("a b", (Region("subject", 0, 1),)), "0", {}, "must cover the sentence"),
            (Sentence("a  b", (Region("1", 0, 1), Region("2", 3, 4))), "0", {}, "single spaces"),
            (Sentence("a b", (Region("1", 0, 1),)), "0", {}, "must cover the sentence"),
            (syntaxgym.assemble(["a"]), "0", {"conditions": "x"}, "a tag called 'conditions'"),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, tmp_path: Path, sentence: Sentence, name: str, tags: dict[str, str], message: str
    ) -> None:
        suite = Suite("s", (Item("1", {"a": sentence}, tags),), (Prediction(name, parse("(*;%a%) > 1")),))
        with pytest.raises(InputError, match=message):
            syntaxgym.write([suite], tmp_path / "out.json")
        assert not (tmp_path / "out.json").exists()

    def test_names_become_numbers_and_stay_as_labels(self, tmp_path: Path) -> None:
        regions = Region("subject", 0, 8), Region("pause", 8, 9), Region("verb", 10, 15)
        made = {"a": Sentence("The kite, flies", regions), "b": Sentence("The kite, sings", regions)}
        formula = parse("[(verb;%a%) < (verb;%b%)] & (*;%a%) > (pause;%b%)")
        syntaxgym.write([Suite("kites", (Item("1", made),), (Prediction("paper", formula),))], tmp_path / "kites.json")
        again = one(tmp_path / "kites.json")
        assert again.predictions[0] == Prediction("0", parse("((3;%a%) < (3;%b%)) & (*;%a%) > (2;%b%)"))
        assert {again.tags[f"region.{number}"] for number in "123"} == {"subject", "pause", "verb"}
        assert again.tags["prediction.0"] == "paper"
        # The comma follows without a blank; the file says so, and is read so.
        assert again.tags["joined"] == "hub"
        assert [one.text for one in again.items[0].sentences.values()] == ["The kite, flies", "The kite, sings"]
        assert one(tmp_path / "kites.json", "?joined=main").items[0].sentences["a"].text == "The kite , flies"

    def test_a_sentence_without_regions_becomes_one(self, tmp_path: Path) -> None:
        suite = Suite("s", (Item("1", {"a": Sentence("a b")}),), (Prediction("0", parse("(*;%a%) > 1")),))
        syntaxgym.write([suite], tmp_path / "out.json")
        assert one(tmp_path / "out.json").items[0].sentences["a"] == Sentence("a b", (Region("1", 0, 3),))

    def test_different_regions_have_no_numbers(self, tmp_path: Path) -> None:
        made = {"a": Sentence("a b", (Region("x", 0, 3),)), "b": Sentence("a b", (Region("y", 0, 3),))}
        suite = Suite("s", (Item("1", made),), (Prediction("0", parse("(*;%a%) > 1")),))
        with pytest.raises(InputError, match="different regions: x in item 1, condition a; y in item 1, condition b"):
            syntaxgym.write([suite], tmp_path / "out.json")

    def test_one_suite_a_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="2 suites"):
            syntaxgym.write([one(LANTERNS)] * 2, tmp_path / "out.json")


REFUSED = [
    (("meta",), ..., "no 'meta'"),
    (("meta",), [], "meta: a list; expected an object"),
    (("meta", "name"), ..., "no 'name'"),
    (("meta", "name"), 5, "meta, name: 5; expected a string"),
    (("meta", "metric"), "all", "metric 'all'; expected one of sum"),
    (("meta", "metric"), ["sum"], "metric: a list"),
    (("predictions",), ..., "no 'predictions'"),
    (("predictions",), {}, "predictions: an object"),
    (("predictions", 0, "type"), "model", "type 'model'"),
    (("predictions", 1, "formula"), "(4;%sing%) <", "prediction 1, formula, character 13: the end"),
    (("predictions", 0, "formula"), None, "prediction 0, formula: null"),
    (("region_meta",), ..., "no 'region_meta'"),
    (("region_meta", "one"), "x", "the key 'one'; expected a region number"),
    (("region_meta", "1"), 1, "region_meta, 1: 1; expected a string"),
    (("items",), ..., "no 'items'"),
    (("items", 0), "x", r"items\[0\]: \"x\"; expected an object"),
    (("items", 0, "item_number"), ..., r"items\[0\]: no item_number"),
    (("items", 0, "item_number"), True, "item_number true"),
    (("items", 0, "item_number"), 1.0, "item_number 1.0"),
    (("items", 1, "conditions"), ..., r"items\[1\] \(item 2\): no 'conditions'"),
    (("items", 1, "conditions", 0, "condition_name"), "sing", "item 2.*the condition 'sing' twice"),
    (("items", 1, "conditions", 0, "condition_name"), ..., r"item 2\), conditions\[0\]: no 'condition_name'"),
    (("items", 1, "conditions", 0, "regions"), [], "item 2.*condition plur: regions none"),
    (
        ("items", 1, "conditions", 0, "regions", 1, "region_number"),
        3,
        "condition plur, region 2: region_number 3; expected 2",
    ),
    (
        ("items", 1, "conditions", 0, "regions", 1, "region_number"),
        "2",
        'region 2, region_number: "2"; expected an integer',
    ),
    (("items", 1, "conditions", 0, "regions", 1, "content"), None, "region 2, content: null; expected a string"),
    (("items", 1, "conditions", 0, "regions", 1, "content"), "x" * 10_001, "condition plur: 100.. characters"),
]


class TestRefusals:
    @pytest.mark.parametrize(("keys", "value", "message"), REFUSED)
    def test_the_message_names_the_place(
        self, tmp_path: Path, keys: tuple[str | int, ...], value: object, message: str
    ) -> None:
        with pytest.raises(InputError, match=message) as caught:
            one(edited(tmp_path, *keys, value=value), "?format=syntaxgym")
        assert str(caught.value).startswith(str(tmp_path / "edited.json"))

    def test_a_misspelt_key_is_recognised(self, tmp_path: Path) -> None:
        whole = json.loads(LANTERNS.read_text())
        whole["prediction"] = whole.pop("predictions")
        (tmp_path / "typo.json").write_text(json.dumps(whole))
        with pytest.raises(InputError, match="Did you mean prediction"):
            one(tmp_path / "typo.json")


class TestCsv:
    def test_the_items_are_those_of_the_json_form(self) -> None:
        suite = one(HERE / "lanterns.csv")
        assert suite.items == one(LANTERNS).items
        assert (suite.name, suite.predictions, suite.tags["region.4"]) == ("lanterns", (), "verb")

    def test_written_exactly_from_either_form(self, tmp_path: Path) -> None:
        for source in (HERE / "lanterns.csv", LANTERNS):
            syntaxgym_csv.write([one(source)], tmp_path / "out.csv")
            assert (tmp_path / "out.csv").read_bytes() == (HERE / "lanterns.csv").read_bytes()

    def test_the_published_file(self, tmp_path: Path) -> None:
        if not PUBLISHED.is_dir():
            pytest.skip("the published suites are not here")
        suite = one(PUBLISHED / "number_prep.csv")
        syntaxgym_csv.write([suite], tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_bytes() == (PUBLISHED / "number_prep.csv").read_bytes()
        assert suite.items == one(PUBLISHED / "number_prep.json").items

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("1,a,2,x,The", "region 1: region_number 2; expected 1"),
            ("1,a,x,x,The", "line 2: region_number 'x'"),
            ("1,a,1,x", "line 2: 4 cells; expected 5"),
            ('1,a,1,x,"The', "line 2: a row that can't be read"),
            ("1,a,1,x,The\n1,b,1,y,The", "line 3: region 1 is called 'y'; expected 'x'"),
            ("1,a,1,x,The\n1,b,1,x,The\n1,a,1,x,The", "the condition 'a' twice"),
        ],
    )
    def test_refusals(self, tmp_path: Path, row: str, message: str) -> None:
        path = tmp_path / "bad.csv"
        path.write_text(",".join(syntaxgym_csv.COLUMNS) + "\n" + row + "\n")
        with pytest.raises(InputError, match=message):
            one(path)


contents = st.lists(st.text(max_size=12), min_size=1, max_size=6)


@pytest.mark.slow
@given(contents, st.sampled_from(["main", "hub"]))
def test_regions_lie_in_order_and_hold_their_contents(parts: list[str], joined: str) -> None:
    sentence = syntaxgym.assemble(parts, joined)
    # Sentence itself refuses regions that overlap or lie outside.
    held = [sentence.content(str(number)) for number in range(1, len(parts) + 1)]
    if joined == "main":
        assert held == [part.strip() for part in parts]
    assert "".join("".join(held).split()) == "".join(sentence.text.split()) == "".join("".join(parts).split())


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def has_nul_or_surrogate(value: object) -> bool:
    shown = json.dumps(value, ensure_ascii=False)
    return "\\u0000" in shown or any("\ud800" <= character <= "\udfff" for character in shown)


@pytest.mark.slow
@settings(max_examples=150)
@given(extra=st.dictionaries(st.text(), JSON, max_size=3), parts=contents, where=st.integers(0, 4))
def test_any_foreign_keys_come_back(
    extra: dict[str, object], parts: list[str], where: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = json.loads(LANTERNS.read_text())
    regions = [{"region_number": number, "content": part} for number, part in enumerate(parts, 1)]
    whole["items"][0]["conditions"][0]["regions"] = regions
    place = [whole, whole["meta"], whole["predictions"][0], whole["items"][0], whole["items"][0]["conditions"][0]][
        where
    ]
    place |= {key: value for key, value in extra.items() if key not in place}
    if has_nul_or_surrogate(whole):
        return
    path = tmp_path_factory.mktemp("foreign") / "suite.json"
    path.write_text(json.dumps(whole))
    suite = one(path, "?format=syntaxgym")
    syntaxgym.write([suite], path)
    assert json.dumps(json.loads(path.read_text())) == json.dumps(whole)
    assert one(path, "?format=syntaxgym").items == suite.items
