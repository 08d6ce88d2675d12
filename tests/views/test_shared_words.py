"""Items that share words: what tables, pages, the terminal and `check` say of intervals for other items."""

import random
from pathlib import Path

import numpy as np
import pytest
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.cli import main
from syntagm.evaluation import Kind
from syntagm.runs import Run
from syntagm.stats import Alike, alike, evident
from syntagm.suites import few_words, shared_words, violations
from syntagm.views.shared_words import remark

# Under the toy model all items with "dog" hold, and no others: .75 and three times .25 from the mean of 40 items. Leaving a
# noun out moves the mean by a third of its deviation, which gives the variance (3 / 4) (.75**2 + 3 * .25**2) / 9 = .0625.
# That of 40 independent verdicts is .25 * .75 / 40 = .0046875. Under the other model, which knows the cats, too, the
# differences are 1 for cats and 0 for others: numbers, whose variance is that of the sample, .25 * .75 / 39.
EFFECT, OF_DIFFERENCES = (f"(4 values of noun, design effect {effect})" for effect in (13.3, 13.0))
NOUNS = ("dog", "cat", "bird", "cow")
COMMAND = "`syntagm table clustered RUN by=noun`"
OTHER = "the dog barks\nthe cat barks\nthe cat barks\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("words")
    (folder / "other.txt").write_text(OTHER)
    suite = agreement("dogs_and_cats", NOUNS * 10)
    return [
        toy_run(folder / name, suite, model=model) for name, model in (("A", "toy"), ("B", f"toy:{folder}/other.txt"))
    ]


def test_a_table_of_scores_says_it_once(runs: list[Run]) -> None:
    [note] = [note for note in sg.table("scores", runs[0]).notes if "share words" in note]
    assert note.startswith(f"Items share words: dogs_and_cats {EFFECT}. ")
    assert note.endswith(f": {COMMAND}.")


@pytest.mark.slow
def test_tables_of_scores_comparisons_and_effects_say_it_once(runs: list[Run]) -> None:
    tables = {
        "each": sg.table("scores", runs[0], measure="each"),
        "groups": sg.table("groups", runs[0], by="circuit"),
        "effects": sg.table("effects", runs[0]),
        "comparison": sg.table("comparison", runs),
        "significance": sg.table("significance", runs),
        "equivalence": sg.table("equivalence", runs, bound=0.05),
        "compare": sg.compare(*runs).table(),
    }
    for name, table in tables.items():
        [note] = [note for note in table.notes if "share words" in note]
        assert "dogs_and_cats" in note, name
        assert COMMAND in note, name
        assert (EFFECT if name in ("each", "groups") else OF_DIFFERENCES) in note or name == "effects", name
    assert "over suites" not in " ".join(tables["equivalence"].notes)  # there is one
    [clustered] = sg.table("clustered", runs[0], by="noun").to_frame().to_dicts()
    assert clustered["design effect"] == pytest.approx(40 / 3)


@pytest.mark.slow
def test_the_terminal_and_the_page_say_it(runs: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from syntagm.cli._screen import show_run, show_runs

    show_runs(runs, None)
    assert f"dogs_and_cats (toy:12-sentences) {EFFECT}" in capsys.readouterr().out
    show_run(runs[0], None)
    assert main(["compare", str(runs[0].folder), str(runs[1].folder)]) == 0
    said = capsys.readouterr().out
    assert said.count(EFFECT) == said.count(OF_DIFFERENCES) == 1
    assert main(["report", str(runs[0].folder), str(runs[1].folder), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("dogs_and_cats (toy:12-sentences) " + EFFECT) == 1
    assert page.count("dogs_and_cats " + OF_DIFFERENCES) == 1


def test_items_that_share_words_and_are_no_more_alike_are_not_remarked_on() -> None:
    values = np.tile([1.0, 1.0, 0.0], 40)
    lemmas = {"lemma": [str(k // 6) for k in range(120)]}  # twenty lemmas with two thirds of their items right
    found = alike("mild", values, Kind.VERDICT, lemmas)
    assert found.effect == pytest.approx(0)
    assert evident([found]) == []
    # Four failures are too few to tell whether they go together.
    assert alike("rare", np.array([0.0] * 4 + [1.0] * 115 + [0.0]), Kind.VERDICT, lemmas).p < 1
    assert alike("rare", np.array([0.0] * 4 + [1.0] * 116), Kind.VERDICT, lemmas).p == 1


def test_a_table_of_many_sound_suites_seldom_rings() -> None:
    draw, rung = np.random.default_rng(1), 0
    lemmas = {"lemma": [str(k // 5) for k in range(60)]}
    for _ in range(40):
        values = (draw.random((12, 60)) < 0.8).astype(float)
        rung += bool(evident([alike(str(k), of_suite, Kind.VERDICT, lemmas) for k, of_suite in enumerate(values)]))
    assert rung <= 6  # .1 of 40 are 4, with a standard error of 2


def test_few_words_are_remarked_on_even_if_nothing_tells() -> None:
    [found] = evident([alike("all right", np.ones(40), Kind.VERDICT, {"lemma": list("abcd") * 10}, "lemma")])
    assert "all right (4 values of lemma, design effect unknown)" in remark([found])[0]


def test_of_many_suites_three_are_named() -> None:
    found = [Alike(f"s{k}", "lemma", 20, 2.0 + k, 1e-6) for k in range(5)]
    assert remark(found)[0].startswith("Items share words: s4 (20 values of lemma, design effect 6.0), s3 (")
    assert " and 2 more. " in remark(found)[0]
    assert "RUN by=lemma`" in remark(found)[0]
    assert "RUN by=TAG`" in remark([*found, Alike("s", "verb", 20, 2.0, 1e-6)])[0]


def test_tags_that_name_words_and_tags_that_name_factors() -> None:
    draw = random.Random(1)
    verbs = ["bark", "sleep", "try", "m"]
    items = []
    for k in range(80):
        verb, number = verbs[k % 4], draw.choice(["sg", "pl"])
        said = {"try": "tries"}.get(verb, f"{verb}s")
        tags = {
            "verb": verb,
            "number": number,
            "distance": str(k % 3),
            "row": str(k),
            "length": str(k % 12),
            "json:verb": verb,
            "wh": ["who", "what", "how"][k % 3],
            "np(x)": ["The", "dog", "that", "now"][k % 4],
        }
        items.append((tags, f"The dog that {tags['wh']} {said} now."))
    assert list(found := shared_words(items)) == ["verb"]
    assert few_words(found) == "verb"
    assert few_words({"lemma": [str(k // 10) for k in range(100)], **found}) == ""  # ten lemmas, ten items each


def test_check_tells_an_author() -> None:
    [found] = [found for found in violations([agreement(nouns=NOUNS * 10)]) if found.code == "W213"]
    assert "40 items have 4 values of the tag 'noun'" in found.message
    assert "W213" not in {found.code for found in violations([agreement(nouns=NOUNS * 9)])}
