"""Writing suites: the text, the builder, checks, previews, exports, conflicts, and what hostile texts do."""

import json
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from studio_for_tests import ATTACKS, TWO_BY_TWO, Visitor, attacked

from syntagm.core import InputError
from syntagm.studio import drafts
from syntagm.studio.store import digest_of
from syntagm.suites import Prediction, parse


@pytest.fixture
def visitor(tmp_path: Path) -> Visitor:
    return Visitor(tmp_path / "own")


def test_the_builder_makes_predictions_and_says_them_in_words(visitor: Visitor) -> None:
    built = {"region": "verb", "relation": "<", "first": "ss", "second": "sp", "prediction": "agree"}
    page = visitor.post("/write", do="predict", text=TWO_BY_TWO, **built).text
    assert "the <code><bdi>verb</bdi></code> is less surprising in <code><bdi>ss</bdi></code>" in page
    assert "#prediction\tagree\t(verb;%ss%) &lt; (verb;%sp%)" in page
    crossed = {**built, "third": "ps", "fourth": "pp"}
    assert "rises by less from" in visitor.post("/write", do="predict", text=TWO_BY_TWO, **crossed).text
    wrong = visitor.post("/write", do="predict", text=TWO_BY_TWO, **built, formula="(verb;%ss%) <")
    assert wrong.status == 400
    assert "expected a region, a number or an opening bracket" in wrong.text
    with pytest.raises(InputError, match="four for an interaction"):
        drafts.comparison("verb", "<", "a", "b", "c")
    with pytest.raises(InputError, match="rename"):
        drafts.comparison("a verb", "<", "a", "b")


def test_what_is_chosen_stays_until_it_is_used(visitor: Visitor) -> None:
    chosen = {"region": "verb", "first": "sp", "second": "ss", "formula": "(verb;%ss%) <", "limit": "7", "model": "toy"}
    page = visitor.post("/write", do="predict", text=TWO_BY_TWO, relation=">", **chosen).text
    assert 'name="formula" value="(verb;%ss%) &lt;"' in page
    for kept in ("verb", "sp"):
        assert f"<option selected>{kept}</option>" in page
    assert '<option value="&gt;" selected>' in page
    added = visitor.post("/write", do="predict", text=TWO_BY_TWO, relation=">", **{**chosen, "formula": ""}).text
    assert '<option value="&gt;" selected>' not in added
    assert 'name="limit" value="7"' in added
    # The script asks what would be added, before it is.
    asked = {**chosen, "relation": ">", "formula": ""}
    told = json.loads(visitor.post("/write/check", text=TWO_BY_TWO, **asked).text)
    assert told["built"] == "the verb is more surprising in sp than in ss: (verb;%sp%) > (verb;%ss%)"
    assert told["conditions"] == ["ss", "sp", "ps", "pp"]
    assert (
        "four for an interaction"
        in json.loads(visitor.post("/write/check", text=TWO_BY_TWO, **asked, third="pp").text)["built"]
    )


def test_a_suite_is_saved_under_another_name(visitor: Visitor) -> None:
    visitor.post("/write", do="save", name="own", text=TWO_BY_TWO)
    base = digest_of(TWO_BY_TWO.encode())
    opened = {"do": "save", "was": "own.tsv", "base": base, "text": TWO_BY_TWO.replace("dog", "fox")}
    assert visitor.post("/write", name="other", **opened).status == 303
    # A suite of that name is not overwritten.
    assert visitor.post("/write", name="other", **{**opened, "text": TWO_BY_TWO}).status == 409
    assert visitor.studio.store
    assert visitor.studio.store.read("own.tsv").text == TWO_BY_TWO
    assert "fox" in visitor.studio.store.read("other.tsv").text


def test_leaving_a_text_that_is_not_saved_is_asked_about(visitor: Visitor) -> None:
    assert "data-unsaved" in visitor.post("/write", do="preview", text=TWO_BY_TWO).text
    visitor.post("/write", do="save", name="own", text=TWO_BY_TWO)
    for path in ("/write/own.tsv", "/write/own.tsv?version=1", "/write?new=table"):
        assert "data-unsaved" not in visitor.get(path).text


def test_predictions_are_replaced_and_removed(visitor: Visitor) -> None:
    text = drafts.with_prediction(TWO_BY_TWO, "x.tsv", Prediction("p", parse("(verb;%ss%) < 1")))
    text = drafts.with_prediction(text, "x.tsv", Prediction("p", parse("(verb;%ss%) < 2")))
    assert [one.formula.text for one in drafts.suite(text, "x.tsv").predictions] == ["(verb;%ss%) < 2"]
    page = visitor.post("/write", drop="p", text=text).text
    assert "#prediction" not in page.partition("<textarea")[2].partition("</textarea>")[0]


def test_both_layouts_are_the_same_suite() -> None:
    by_sentence = drafts.layout(TWO_BY_TWO, "x.tsv", by_item=False)
    assert by_sentence.startswith("item\tcondition\tsubject\tverb\n")
    again = drafts.layout(by_sentence, "x.tsv", by_item=True)
    assert drafts.suite(again, "x.tsv") == drafts.suite(TWO_BY_TWO, "x.tsv")
    assert drafts.is_by_item(again)
    assert not drafts.is_by_item(by_sentence)
    with pytest.raises(InputError, match="other regions"):
        drafts.layout("item\tcondition\tregion\tcontent\n1\ta\tx\tb\n2\ta\ty\tb\n", "x.tsv", by_item=True)


def test_findings_tell_their_places(visitor: Visitor) -> None:
    text = TWO_BY_TWO + "#prediction\tp\t(noun;%ss%) < (verb;%sp%)\t\t\t\t\t\t\n"
    found = json.loads(visitor.post("/write/check", text=text).text)
    [first] = found["findings"]
    assert (first["code"], first["condition"], first["region"], first["error"]) == ("E203", "ss", "noun", True)
    assert found["compared"] == [["noun", "ss"], ["verb", "sp"]]
    [unread] = json.loads(visitor.post("/write/check", text="item\tcondition\tv\n1\ta\n1\ta\tx\n").text)["findings"]
    assert unread["code"] == "E001"
    assert unread["message"].startswith("line 2")


def test_a_preview_has_counts_chance_baselines_and_near_duplicates(visitor: Visitor) -> None:
    text = TWO_BY_TWO + "#prediction\tp\t(verb;%ss%) < (verb;%sp%)\t\t\t\t\t\t\n"
    text += "3\tA small dog\tbarks here\tA dog\tbark\tSome dogs\tbarks\tSome dogs\tbark\n"
    text += "4\tA small cat\tbarks here\tOne fish\tbark\tTwo fish\tbarks\tTen fish\tbark\n"
    page = visitor.post("/write", do="preview", text=text).text
    assert "4 items, 4 conditions, 16 sentences" in page
    # No blank comes between a marked region and what follows it.
    dotted = "item\tcondition\tverb\tend\n1\ta\tbarks\t~.\n1\tb\tbark\t~.\n#prediction\tp\t(verb;%a%) < (verb;%b%)\t\n"
    assert "<mark>barks</mark>.<" in visitor.post("/write", do="preview", text=dotted).text
    assert '<td class="number">0.500</td>' in page
    # Two items tie by the number of words, which counts as one half, and two have a word more where the verb should be less
    # surprising: 2 / 2 / 4 = 0.25. In all of them the verb has more letters there.
    assert "words 0.25" in page
    assert "characters 0.00" in page
    assert "item <bdi>4</bdi> (ss) and item <bdi>3</bdi> (ss) differ by at most one word" in page


def test_a_conflict_shows_both_versions_and_saving_again_replaces_the_one_that_was_shown(visitor: Visitor) -> None:
    own = visitor.studio.folder
    assert own
    assert visitor.post("/write", do="save", name="own", text=TWO_BY_TWO).status == 303
    mine = TWO_BY_TWO.replace("barks", "howls")
    page = visitor.post("/write", do="save", name="own", text=mine, base="")
    assert page.status == 409
    assert "<bdi>1\tThe dog\tbarks" in page.text
    assert "howls" in page.text
    assert (own / "own.tsv").read_text() == TWO_BY_TWO
    assert json.loads(visitor.get("/write/own.tsv/digest").text) == digest_of(TWO_BY_TWO.encode())
    base = page.text.partition('name="base" value="')[2].partition('"')[0]
    assert visitor.post("/write", do="save", name="own", text=mine, base=base).status == 303
    assert (own / "own.tsv").read_text() == mine
    assert visitor.get("/write/own.tsv/version/1").text == TWO_BY_TWO
    assert (
        "howls"
        not in visitor.get("/write/own.tsv", version="1").text.partition("<textarea")[2].partition("</textarea>")[0]
    )


def test_text_stays_character_by_character(visitor: Visitor) -> None:
    # Everywhere else on a page, characters that hide or reorder text are replaced by their codes.
    text = "item\tcondition\tv\n1\ta\tمی\u200cروم\u202ex\n"
    assert visitor.post("/write", do="save", name="own", text=text.replace("\n", "\r\n")).status == 303
    assert visitor.studio.folder
    assert (visitor.studio.folder / "own.tsv").read_text() == text
    field = visitor.get("/write/own.tsv").text.partition("<textarea")[2].partition("</textarea>")[0]
    assert "\u202e" in field
    assert "\u202e" not in visitor.get("/write/own.tsv").text.partition("</textarea>")[2]


def test_suites_are_exported_and_losses_are_told_first(visitor: Visitor) -> None:
    text = TWO_BY_TWO + "#prediction\tp\t(verb;%ss%) < (verb;%sp%)\t\t\t\t\t\t\n"
    visitor.post("/write", do="save", name="own", text=text)
    assert json.loads(visitor.get("/write/own.tsv/export", **{"as": "syntaxgym", "lossy": "1"}).text)["items"]
    told = visitor.get("/write/own.tsv/export", **{"as": "syntaxgym"})
    assert told.status == 400
    assert "lossy=1" in told.text
    assert visitor.get("/write/own.tsv/export", **{"as": "none"}).status == 400


def test_an_experiment_is_planned(visitor: Visitor) -> None:
    text = TWO_BY_TWO + "#prediction\tp\t(verb;%ss%) < (verb;%sp%)\t\t\t\t\t\t\n"
    answer = visitor.post("/write", do="experiment", name="own", text=text, design="forced-choice", people="4")
    assert answer.status == 303
    assert "syntagm serve --experiment" in visitor.get(answer.headers["location"]).text
    assert visitor.studio.folder
    assert (visitor.studio.folder / "experiments" / "own-forced-choice" / "plan.json").is_file()


def test_a_template_is_checked_and_previewed(visitor: Visitor) -> None:
    page = visitor.get("/write?new=template").text
    assert "<textarea" in page
    found = json.loads(visitor.post("/write/check", text="[conditions\n", ending=".toml").text)["findings"]
    assert found[0]["error"]


def test_a_file_of_any_format_is_opened_as_a_copy(visitor: Visitor) -> None:
    page = visitor.post(
        "/write/open", kind=".csv", text="item,condition,subject,verb\n1,good,The dog,barks\n1,bad,The dog,bark\n"
    )
    assert "item\tgood:subject\tgood:verb\tbad:subject\tbad:verb" in page.text
    assert visitor.post("/write/open", kind=".pickle", text="x").status == 400
    assert visitor.post("/write/open", kind=".json", text="[" * 100_000).status == 400


def test_hostile_texts_write_nothing_outside_and_limits_hold(visitor: Visitor) -> None:
    own = visitor.studio.folder
    assert own
    for attack in (*ATTACKS, "../../x", ".ssh", "a/b"):
        saved = visitor.post("/write", do="save", name=attack, text=attacked(attack))
        assert saved.status == 400
        # Only the scripts of the page itself are left as markup.
        assert saved.text.count("<script") == 2
        assert "<svg" not in saved.text
        assert "<img" not in saved.text
    assert [path for path in own.parent.rglob("*") if path.is_file()] == []
    assert visitor.post("/write", do="save", name="own", text="x" * 1_000_000).status == 413
