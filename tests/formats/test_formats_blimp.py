"""BLiMP and its kin: JSON lines with sentence_good and sentence_bad."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from syntagm.core import InputError, UsageError
from syntagm.suites import Suite, read_suite_file
from syntagm.suites.formats import _pair, blimp

HERE = Path(__file__).parents[1] / "data" / "blimp"
PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "blimp"


def one(name: str) -> Suite:
    (suite,) = read_suite_file(HERE / name)
    return suite


def row(**fields: object) -> str:
    return json.dumps({"sentence_good": "The kites fly.", "sentence_bad": "The kites flies.", **fields}) + "\n"


def read(tmp_path: Path, text: str, options: str = "") -> list[Suite]:
    path = tmp_path / "made.jsonl"
    path.write_text(text, encoding="utf-8")
    return read_suite_file(f"{path}{options}")


class TestReading:
    def test_one_prefix(self) -> None:
        suite = one("lantern_agreement.jsonl")
        good, bad = suite.items[1].sentences["good"], suite.items[1].sentences["bad"]
        assert good.text == "This kite by the tents is stuck."
        assert [good.content(name) for name in ("prefix", "critical", "rest")] == [
            "This kite by the tents",
            "is",
            "stuck.",
        ]
        assert [bad.content(name) for name in ("prefix", "critical", "rest")] == [
            "This kite by the tents",
            "are",
            "stuck.",
        ]

    def test_a_critical_string_of_two_words_and_a_stop_at_once_behind_it(self) -> None:
        sentence = one("lantern_agreement.jsonl").items[2].sentences["good"]
        # "Ida" 0-3, "saw us" 4-10, "." 10-11
        assert [(region.start, region.end) for region in sentence.regions] == [(0, 3), (4, 10), (10, 11)]

    def test_two_prefix_with_a_leading_blank_in_the_word(self) -> None:
        first, second = one("kite_subjects.jsonl").items
        assert [sentence.content("prefix") for sentence in first.sentences.values()] == ["Ruben", "The soup"]
        assert [sentence.content("critical") for sentence in first.sentences.values()] == ["steered", "steered"]
        assert [sentence.content("critical") for sentence in second.sentences.values()] == ["have painted"] * 2

    def test_predictions(self) -> None:
        names = {
            name: [prediction.name for prediction in one(name).predictions]
            for name in ("lantern_agreement.jsonl", "kite_subjects.jsonl", "gate_order.jsonl")
        }
        assert names == {
            "lantern_agreement.jsonl": ["full_sentence", "one_prefix"],
            "kite_subjects.jsonl": ["full_sentence", "two_prefix"],
            "gate_order.jsonl": ["full_sentence"],
        }
        formulas = [str(prediction.formula) for prediction in one("kite_subjects.jsonl").predictions]
        assert formulas == ["(*;%good%) < (*;%bad%)", "(critical;%good%) < (critical;%bad%)"]

    def test_constant_fields_are_tags_of_the_suite_and_varying_ones_of_the_item(self) -> None:
        suite = one("lantern_agreement.jsonl")
        assert (suite.name, suite.tags["linguistics_term"], suite.tags["one_prefix_method"]) == (
            "lantern_agreement",
            "toy_agreement",
            "true",
        )
        assert [item.tags["dependency_length"] for item in suite.items] == ["2", "5", "1"]
        assert [item.id for item in suite.items] == ["0", "1", "2"]

    def test_both_spellings_of_a_field_stay(self) -> None:
        assert [item.tags["field"] for item in one("gate_order.jsonl").items] == [
            "syntax/semantics",
            "syntax_semantics",
        ]

    def test_the_hub_copy_has_several_paradigms_a_file_and_no_prefix_fields(self) -> None:
        suites = read_suite_file(HERE / "hub_copy.jsonl")
        assert [(suite.name, suite.items[0].id, len(suite.predictions)) for suite in suites] == [
            ("creaking", "0", 1),
            ("squeaking", "0", 1),
        ]

    def test_two_sentences_and_nothing_else(self) -> None:
        suite = one("turns.jsonl")
        assert suite.name == "turns"
        assert "\n" in suite.items[0].sentences["good"].text

    def test_the_field_paradigm_names_the_suite_too_and_any_other_on_request(self, tmp_path: Path) -> None:
        assert one("sling_like.jsonl").name == "order"
        suites = read(tmp_path, row(phenomenon_id=4) + row(phenomenon_id=9), "?suite=phenomenon_id")
        assert [suite.name for suite in suites] == ["4", "9"]

    def test_the_case_of_the_field_does_not_matter(self, tmp_path: Path) -> None:
        rows = [
            {"sentence_good": "Ida sings.", "sentence_bad": "Ida sing.", key: "x"} for key in ("Paradigm", "paradigm")
        ]
        (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
        (suite,) = read_suite_file(tmp_path / "a.jsonl")
        assert (suite.name, len(suite.items)) == ("x", 2)

    def test_a_name_in_some_lines_only_is_refused(self, tmp_path: Path) -> None:
        pair = {"sentence_good": "Ida sings.", "sentence_bad": "Ida sing."}
        (tmp_path / "a.jsonl").write_text(f"{json.dumps(pair | {'UID': 'x'})}\n{json.dumps(pair)}\n")
        with pytest.raises(InputError, match="line 2: UID or paradigm in some lines only; expected the same in all"):
            read_suite_file(tmp_path / "a.jsonl")

    def test_a_language_without_blanks(self, tmp_path: Path) -> None:
        fields = {"one_prefix_prefix": "他有三", "one_prefix_word_good": "把", "one_prefix_word_bad": "头"}
        (suite,) = read(
            tmp_path, json.dumps({"sentence_good": "他有三把伞。", "sentence_bad": "他有三头伞。", **fields})
        )
        assert suite.items[0].sentences["good"].content("critical") == "把"


class TestWriting:
    @pytest.mark.parametrize("path", sorted(HERE.glob("*.jsonl")), ids=lambda path: path.stem)
    def test_byte_for_byte(self, tmp_path: Path, path: Path) -> None:
        blimp.write(read_suite_file(path), tmp_path / "out.jsonl")
        assert (tmp_path / "out.jsonl").read_bytes() == path.read_bytes()

    @pytest.mark.slow
    def test_the_published_files(self, tmp_path: Path) -> None:
        if not PUBLISHED.is_dir():
            pytest.skip("the published paradigms are not here")
        files = [path for path in sorted(PUBLISHED.glob("*.jsonl")) if path.stem != "models_summary"]
        assert len(files) == 13
        identical: Counter[str] = Counter()
        for path in files:
            suites = read_suite_file(path)
            blimp.write(suites, tmp_path / "out.jsonl")
            assert (tmp_path / "out.jsonl").read_bytes() == path.read_bytes(), path.name
            assert (suites[0].name, len(suites[0].items)) == (path.stem, 1000)
            identical[path.stem] += sum(item.sentences["good"] == item.sentences["bad"] for item in suites[0].items)
        # passive_1: 324, 810; principle_A_case_2: 105, 287, 372, 816, 967.
        assert +identical == {"passive_1": 2, "principle_A_case_2": 5}

    def test_pairs_made_by_hand_get_a_name_and_an_id(self, tmp_path: Path) -> None:
        (suite,) = read(tmp_path, row())
        suite = replace(suite, name="kites", items=tuple(replace(item, tags={}) for item in suite.items), tags={})
        blimp.write([suite], tmp_path / "out.jsonl")
        assert json.loads((tmp_path / "out.jsonl").read_text()) == {
            "sentence_good": "The kites fly.", "sentence_bad": "The kites flies.", "UID": "kites", "pairID": "0",
        }  # fmt: skip

    def test_a_changed_tag_is_written(self, tmp_path: Path) -> None:
        (suite,) = read(tmp_path, row(difficulty=3, pairID="0"))
        blimp.write([replace(suite, tags={**suite.tags, "difficulty": "hard"})], tmp_path / "out.jsonl")
        assert json.loads((tmp_path / "out.jsonl").read_text())["difficulty"] == "hard"

    def test_a_suite_of_four_conditions_is_refused(self, tmp_path: Path) -> None:
        suites = read_suite_file(HERE.parent / "syntaxgym" / "lanterns.json")
        with pytest.raises(InputError, match="the predictions of minimal pairs"):
            blimp.write(suites, tmp_path / "out.jsonl")


ONE = {"one_prefix_prefix": "The kites", "one_prefix_word_good": "fly", "one_prefix_word_bad": "flies"}
TWO = {"two_prefix_prefix_good": "The kites", "two_prefix_prefix_bad": "The kites", "two_prefix_word": "fly"}


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (row() + '{"sentence_good": "a"}\n', "line 2: no 'sentence_bad'"),
            (row() + "[]\n", "line 2: a list; expected an object"),
            (row() + "{\n", "line 2, column 2: not valid JSON"),
            (row(sentence_bad=None), "line 1, sentence_bad: null; expected a string"),
            (row(sentence_bad="x" * 10_001), "line 1, sentence_bad: 10001 characters"),
            (row() + row(**ONE), "line 2: the fields of one_prefix; expected the same fields as in line 1"),
            (row(**ONE) + row(**{**ONE, "one_prefix_word_bad": "flew"}),
             "line 2: the sentence 'The kites flies.'; expected .* 'The kites flew'"),
            (row(**{**ONE, "one_prefix_word_bad": " "}), "a critical word that is not empty"),
            (row(**{key: ONE[key] for key in list(ONE)[:2]}), "no 'one_prefix_word_bad'; expected all fields of one_prefix"),
            (row(**ONE, **TWO), "the fields of both prefix methods"),
            (row(**{"json:fields": "x"}), "doesn't begin with json:"),
            ('{"sentence_bad": "b", "sentence_good": "", "sentence_bad": "c"}',
             "line 1: the key \"sentence_bad\" twice"),
        ],
    )  # fmt: skip
    def test_the_message_names_the_line(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message) as caught:
            read(tmp_path, text)
        assert str(caught.value).startswith(str(tmp_path / "made.jsonl"))

    def test_no_lines(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no pairs"):
            read(tmp_path, "\n", "?format=blimp")

    def test_no_such_field(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no field 'topic'; expected one of sentence_good, sentence_bad"):
            read(tmp_path, row(), "?suite=topic")


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8).filter(
    lambda text: text.strip() == text != ""
)
values = (
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
    | st.integers(-99, 99)
    | st.booleans()
    | st.none()
)
keys = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8).filter(
    lambda key: not key.startswith("json:")
)


@pytest.mark.slow
@settings(max_examples=100)
@given(
    prefix=words,
    good=words,
    bad=words,
    rest=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
    fields=st.lists(st.dictionaries(keys, values, max_size=4), min_size=1, max_size=3),
)
def test_any_pair_and_any_fields_come_back(
    prefix: str,
    good: str,
    bad: str,
    rest: str,
    fields: list[dict[str, object]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rows = []
    for extra in fields:
        pair = {"sentence_good": f"{prefix} {good}{rest}", "sentence_bad": f"{prefix} {bad}{rest}"}
        pair |= {"one_prefix_prefix": prefix, "one_prefix_word_good": good, "one_prefix_word_bad": f" {bad}"}
        rows.append({**extra, **pair})
    path = tmp_path_factory.mktemp("any") / "any.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    suites = read_suite_file(f"{path}?format=blimp")
    blimp.write(suites, path)
    written = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    # Lines of one suite stand together when written; within it their order stays.
    assert sorted(map(json.dumps, written)) == sorted(map(json.dumps, rows))
    for suite in suites:
        for item in suite.items:
            assert item.sentences["good"].content("critical") == good


def test_split_prefers_a_blank_between_prefix_and_word() -> None:
    sentence = _pair.split("ab a b", "ab", "a", "here")
    assert [(region.name, region.start, region.end) for region in sentence.regions] == [
        ("prefix", 0, 2),
        ("critical", 3, 4),
        ("rest", 5, 6),
    ]
