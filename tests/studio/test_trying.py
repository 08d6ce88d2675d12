"""Trying sentences: what is scored, shown, refused and kept."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from toy_runs import agreement

pytest.importorskip("starlette")

from asking import ask, opened
from studio_for_tests import Visitor

from syntagm.core import NONE, InputError, RunError, UsageError
from syntagm.models.names import load_permitted
from syntagm.report import routes
from syntagm.runs.evaluate import evaluate
from syntagm.studio import Studio, trying
from syntagm.studio.trying import Bench
from syntagm.suites import Item, Region, Sentence, Suite


def test_regions_in_one_line_are_read_and_written_back() -> None:
    for line in ("The keys | to the cabinet | are |~.", "No regions here.", "An empty | | region", "a|b is no border"):
        assert trying.in_one_line(trying.read_sentence(line, "")) == line
    assert trying.read_sentence("The keys | are |~.", "").text == "The keys are."
    with pytest.raises(InputError, match="empty"):
        trying.read_sentence("  ", "")
    with pytest.raises(InputError, match="at most 2,000"):
        trying.read_sentence("a" * 2001, "")


def test_a_sentence_and_its_edited_form_are_scored_with_two_models() -> None:
    visitor = Visitor(models=("toy", "random"))
    fields = [("model", "toy"), ("model", "random"), ("pinned", "The dog | barks"), ("text", "The dog | bark")]
    page = visitor.get(f"/try?{urlencode(fields)}").text
    original, edited = page.split('id="edited"')
    # "barks" was seen twice after "dog", "bark" never; with one added to each, "bark" has log2(3 / 1) = 1.585 bits more.
    first = float(original.partition("barks</bdi><small>")[2].partition("<")[0])
    second = float(edited.partition("bark</bdi><small>")[2].partition("<")[0])
    assert second - first == pytest.approx(1.585, abs=0.011)
    assert "Difference of two models" in original


def test_two_sentences_make_a_pair_that_is_judged() -> None:
    page = (
        Visitor().get(f"/try?{urlencode([('model', 'toy'), ('text', 'The dog barks'), ('text', 'The dog bark')])}").text
    )
    assert "holds" in page
    assert "+1.58" in page


def test_an_item_of_a_suite_brings_conditions_regions_and_predictions() -> None:
    visitor = Visitor(suites=[agreement()])
    fields = [("suite", "agreement"), ("item", "2"), ("model", "toy")]
    fields += [("condition", "good"), ("text", "The dog | barks"), ("condition", "bad"), ("text", "The cat | bark")]
    page = visitor.get(f"/try?{urlencode(fields)}")
    assert page.status == 200
    assert 'class="pinned"><span>original</span> <bdi>The cat | barks</bdi>' in page.text
    assert page.text.count('class="side"') == 2
    assert visitor.get("/try?suite=agreement&item=9").status == 404
    assert visitor.get("/try?suite=none").status == 404
    wrong = visitor.get(f"/try?{urlencode([*fields[:4], ('text', 'The dog'), *fields[5:]])}")
    assert wrong.status == 400
    assert "0 regions; expected 2" in wrong.text
    # What was written is still there.
    assert ">\nThe dog</textarea>" in wrong.text
    assert ">\nThe cat | bark</textarea>" in wrong.text


def test_what_is_kept_is_what_was_tried_character_by_character(tmp_path: Path) -> None:
    # A double blank, a no-break space, a joiner that is not seen elsewhere on the page, and a border inside of a region.
    texts = {"a": "The\u00a0dog  barks", "b": "\u0645\u06cc\u200c\u0631\u0648\u0645 so", "c": "this | that"}
    regions = {name: (Region("x", 0, len(text)),) for name, text in texts.items()}
    sentences = {name: Sentence(text, regions[name]) for name, text in texts.items()}
    visitor = Visitor(tmp_path, suites=[Suite("odd", (Item("1", sentences),), ())])
    page = unescape(visitor.get("/try?suite=odd").text)
    fields = re.findall(r'name="(condition \d|text \d)" value="([^"]*)"', page)
    assert dict(fields) == {
        f"{kind} {number}": value
        for number, pair in enumerate(texts.items(), 1)
        for kind, value in zip(("condition", "text"), pair, strict=True)
    }
    assert [field.lstrip("\n") for field in re.findall("<textarea[^>]*>([^<]*)</textarea>", page)] == [*texts.values()]
    visitor.post("/try/keep", name="own", **{"from": "odd", "item": "1"}, **dict(fields))
    assert visitor.studio.library.suite("own.tsv").items[0].sentences == sentences
    # What was typed is scored as it was typed.
    typed = visitor.get(f"/try?{urlencode([('text', texts['a'])])}").text
    assert texts["a"] in unescape(typed)
    # A sentence that the field can't hold can't be edited there, and the field keeps what was sent.
    edited = [("suite", "odd"), ("item", "1"), *(("condition", name) for name in "abc")]
    edited += [("text", text) for text in ("The\u00a0dog bark", "x", "this | these")]
    wrong = visitor.get(f"/try?{urlencode(edited)}")
    assert wrong.status == 400
    assert "a sentence that one line can&#39;t hold" in wrong.text
    assert ">\nthis | these</textarea>" in wrong.text


def test_an_item_of_a_run_leads_to_its_trial() -> None:
    run = evaluate(load_permitted("toy", NONE), agreement())
    studio = Studio(["toy"], runs=[run])
    application, header = opened([*studio.routes(), *routes([run], trial=studio.trial)])
    page = ask(application, "/suite/agreement/2", **header).text
    [address] = re.findall(r'href="(/try[^"]*)">Try this item', page)
    trial = ask(application, unescape(address), **header)
    assert trial.status == 200
    assert "Try: agreement, item 2" in trial.text
    assert ask(application, "/try?suite=results:0:agreement", **header).status == 404
    assert "Try this item" not in ask(opened(routes([run]))[0], "/suite/agreement/2", **header).text


def test_a_model_that_was_not_named_is_refused() -> None:
    page = Visitor().get("/try?model=random&text=x")
    assert page.status == 400
    assert "expected toy" in page.text
    with pytest.raises(UsageError, match="twice"):
        Bench(["toy", "toy"])
    assert "no second" not in Visitor(models=()).get("/try").text


def test_while_two_wait_for_a_model_others_are_told_so_at_once() -> None:
    bench = Bench(["toy"])
    with bench._places, bench._places, pytest.raises(RunError, match="busy"):
        bench.score("toy", agreement())
    assert bench.score("toy", agreement()).done


def test_what_was_tried_is_kept_as_an_item_of_a_suite(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path, suites=[agreement()])
    kept = {"condition 1": "good", "text 1": "The dog | barks", "condition 2": "bad", "text 2": "The dog | bark"}
    answer = visitor.post("/try/keep", name="own", **kept)
    assert (answer.status, answer.headers["location"]) == (303, "/write/own.tsv?saved=1")
    visitor.post("/try/keep", name="own.tsv", **{**kept, "text 1": "The cat | sleeps"})
    text = (tmp_path / "own.tsv").read_text()
    assert text.splitlines()[0] == "item\tgood:1\tgood:2\tbad:1\tbad:2"
    assert text.splitlines()[-1] == "2\tThe cat\tsleeps\tThe dog\tbark"
    assert "#prediction\tfull_sentence\t(*;%good%) < (*;%bad%)" in text
    visitor.post("/try/keep", name="copy", **{**kept, "from": "agreement", "item": "1"})
    assert "#prediction\tverb\t(2;%good%) < (2;%bad%)" in (tmp_path / "copy.tsv").read_text()
    for name in ("../outside", "a/b", ".hidden", ""):
        assert visitor.post("/try/keep", name=name, **kept).status == 400
    assert {path.name for path in tmp_path.iterdir()} == {"own.tsv", "copy.tsv", "history"}
