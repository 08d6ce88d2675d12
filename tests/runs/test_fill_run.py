"""Fill runs: what is asked, what is kept, and that the numbers are those of the definition."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from fill_for_tests import Drawn, oracle
from toy_runs import FULL, interrupt, pairs

from syntagm.core import InputError, Interrupted, ModelError, Progress, RunError, UsageError
from syntagm.core.io.csv import cell
from syntagm.evaluation import Cut
from syntagm.models import LanguageModel, Sees, load
from syntagm.runs import Run, fill, open_run, run_suites as score
from syntagm.suites import Item, Sentence, Suite, WordList, WordRow
from syntagm.views import accuracies, chance_of, compare, estimates, gaps
from syntagm.views.export import results as results_csv, scores as scores_csv, tokens as tokens_csv

VERBS = [("is", "are"), ("barks", "bark"), ("sings", "sing"), ("naps", "nap"), ("old_s", "old_p"), ("odds", "odd")]
WORDS = WordList("six", ("singular", "plural"), tuple(WordRow(forms[1], forms) for forms in VERBS))
# "odd" and "odds" are unknown; "old_s" and "old_p" are two tokens.
VOCABULARY = [*(form for forms in VERBS[:4] for form in forms), "old", "s", "p", *"abcdefghij"]
SIMPLE = pairs(
    "simple",
    ("The dog barks.", "The dog bark."),
    ("The dog sings well.", "The dog sing well."),
    ("The dogs are here.", "The dogs is here."),
    ("The cats odd.", "The cats odds."),
    ("It rains.", "They rain."),
    tags={"construction": "Simple"},
)
# The first context is that of `simple`, with the other label; the second is new.
CLASH = pairs(
    "clash",
    ("The dog bark.", "The dog barks."),
    ("A bird sings.", "A bird sing."),
    tags={"construction": "Simple"},
)


def filled(folder: Path, *suites: Suite, model: Drawn | None = None, **options: object) -> Run:
    return fill(model or Drawn(VOCABULARY), suites or (SIMPLE, CLASH), WORDS, folder, **options)  # type: ignore[arg-type]


def values(run: Run, suite: str, measure: str) -> dict[str, float]:
    rows = run.results(suite).filter(pl.col("measure") == measure)
    return dict(zip(rows["item"], rows["value"], strict=True))


def test_distinct_contexts_are_asked_once_over_all_suites(tmp_path: Path) -> None:
    model = Drawn(VOCABULARY)
    run = filled(tmp_path, model=model)
    assert [left for left, _ in model.asked] == ["The dog ", "The dogs ", "The cats ", "A bird "]
    # For a model that sees the right side, "." and " well." are two contexts.
    both = Drawn(VOCABULARY, sees="both")
    filled(tmp_path / "both", model=both)
    assert len(both.asked) == 5
    told = run.record["contexts"]
    assert told["simple"] | {"left_out": {}} == {
        "contexts": 3,
        "asked": 3,
        "items": 4,
        "left_out": {},
        "conflicts": 0,
        "contradicted": 0,
    }
    assert told["simple"]["left_out"] == {"more than one word differs": 1}
    assert [told["clash"][key] for key in ("contexts", "asked", "items")] == [2, 1, 2]


def test_each_suite_takes_the_label_of_its_own_first_item(tmp_path: Path) -> None:
    """`clash` has a context of `simple` under the other label: the same answer, judged the other way round."""
    run = filled(tmp_path)
    own = gaps.contexts(run, "simple").filter(pl.col("left") == "The dog ").row(0, named=True)
    guest = gaps.contexts(run, "clash").filter(pl.col("left") == "The dog ").row(0, named=True)
    assert (own["label"], guest["label"]) == ("singular", "plural")
    assert own["context"] == guest["context"]
    assert guest["equal_weight"] == pytest.approx(1 - own["equal_weight"])
    assert guest["model_weight"] == pytest.approx(1 - own["model_weight"])
    assert guest["covered"] == own["covered"]
    # Together the first label wins, and the context counts once.
    together = gaps.distinct_contexts(run, ["simple", "clash"])
    assert together["label"].to_list() == ["singular", "plural", "plural", "singular"]
    [equal] = [one for one in gaps.pooled(run) if one.group.measure == "equal_weight"]
    assert equal.n == 4
    assert equal.value == pytest.approx(together["equal_weight"].mean())


def test_within_a_suite_the_first_label_wins_and_that_is_said(tmp_path: Path) -> None:
    class Said(Progress):
        def __init__(self) -> None:
            self.lines: list[str] = []

        def warned(self, message: str) -> None:
            self.lines.append(message)

    said, both = Said(), pairs("both", ("The dog barks.", "The dog bark."), ("The dog sing.", "The dog sings."))
    run = filled(tmp_path, both, progress=said)
    assert gaps.contexts(run)["label"].to_list() == ["singular"]
    assert gaps.contexts(run)["items"].to_list() == [2]
    assert said.lines == ["both: 1 items share a context with an item of another label, which is used"]
    # tse asks about the two words of each item, whatever the label.
    p = Drawn(VOCABULARY).distribution("The dog ", "")
    assert values(run, "both", "tse") == {"both-0": p["barks"] > p["bark"], "both-1": p["sing"] > p["sings"]}


def test_the_number_of_a_suite_is_that_of_its_items_and_the_list_goes_before_it(tmp_path: Path) -> None:
    same = pairs(
        "same", ("The dogs bark.", "The dogs barks."), ("The cats doze.", "The cats dozes."), tags={"number": "pl"}
    )
    other = dataclasses.replace(same, name="other", tags={"number": "sg"})
    heard: list[str] = []

    class Hearing(Progress):
        def warned(self, text: str) -> None:
            heard.append(text)

    run = filled(tmp_path, same, other, progress=Hearing())
    labels = {
        (suite, left): label for suite, left, label in gaps.contexts(run).select("suite", "left", "label").iter_rows()
    }
    # `doze` is not in the list, so only the number of the suite can say its label; `bark` is.
    assert labels == {
        ("same", "The dogs "): "plural", ("same", "The cats "): "plural",
        ("other", "The dogs "): "plural", ("other", "The cats "): "singular",
    }  # fmt: skip
    assert heard == ["other: 1 items have another number than their good word in the list, which is used"]
    assert [run.record["contexts"][name]["contradicted"] for name in ("same", "other")] == [0, 1]


@pytest.mark.parametrize("sees", ["left", "both"])
def test_every_number_is_that_of_the_definition(tmp_path: Path, sees: Sees) -> None:
    """The whole way, against sorting the whole vocabulary in each context."""
    model = Drawn(VOCABULARY, sees)
    run = filled(tmp_path, model=model, eligible="single-token", top=(0.3, 0.9), bottom=(0.5, 0.01))
    for suite in ("simple", "clash"):
        for row in gaps.contexts(run, suite).iter_rows(named=True):
            p = model.distribution(row["left"], row["right"])
            for cut in gaps.cut_offs(run):
                end, q = ("bottom", cut.bottom) if cut.bottom < 1 else ("top", cut.top)
                expected = oracle(p, VERBS, WORDS.labels.index(row["label"]), end, q)
                found = [row[f"{name}{cut}"] for name in ("equal_weight", "model_weight", "covered")]
                assert found == pytest.approx(expected, nan_ok=True, abs=1e-9)
                given = [values(run, suite, f"{name}{cut}")[row["item"]] for name in ("equal_weight", "model_weight")]
                assert given == pytest.approx(found[:2], nan_ok=True)
            assert (row["eligible"], row["ranked"]) == (4, 4)
    texts = {item.id: item.sentences["good"].text for item in SIMPLE.items}
    for item, value in values(run, "simple", "tse").items():
        p = model.distribution(
            " ".join(texts[item].split()[:2]) + " ", "." if texts[item].count(" ") == 2 else " well."
        )
        if item in ("simple-0", "simple-1"):
            good, bad = VERBS[1] if item == "simple-0" else VERBS[2]
            assert value == (p[good] > p[bad])
    assert np.isnan(values(run, "simple", "tse")["simple-3"])


def test_estimates_are_means_with_what_is_left_out(tmp_path: Path) -> None:
    run = filled(tmp_path, top=(0.05,))
    found = {(one.group.suite, one.group.measure): one for one in gaps.estimates(run)}
    table = gaps.contexts(run, "simple")
    for name in ("equal_weight", "model_weight", "covered", "covered(top=0.05)"):
        assert found["simple", name].value == pytest.approx(table[name].mean())
        assert found["simple", name].low <= found["simple", name].value <= found["simple", name].high
    missing = int(table["equal_weight(top=0.05)"].is_nan().sum())
    assert found["simple", "invalid(top=0.05)"].value == pytest.approx(missing / 3)
    assert found["simple", "equal_weight(top=0.05)"].undefined == missing
    assert (found["simple", "tse"].n, found["simple", "tse"].undefined) == (3, 1)
    assert found["simple", "covered"].method == "Wilson with t(2); random: contexts; only 3 contexts"
    assert found["simple", "equal_weight"].method.endswith("random: contexts, lemmas; only 3 contexts")
    # One number, one interval, in the tables of scores, too.
    for one in [*accuracies(run), *accuracies(run, "equal_weight")]:
        same = found[one.group.suite, one.group.measure]
        assert (one.low, one.high, one.method) == (same.low, same.high, same.method)
    assert [one.group.measure for one in gaps.estimates(run, [Cut()])][:2] == ["tse", "equal_weight"]


def test_lemma_sums(tmp_path: Path) -> None:
    run = filled(tmp_path)
    rows = {(row["label"], row["lemma"]): row for row in gaps.lemma_sums(run, "simple").iter_rows(named=True)}
    dogs, cats = (Drawn(VOCABULARY).distribution(left, "") for left in ("The dogs ", "The cats "))
    assert rows["plural", "bark"]["contexts"] == 2
    assert rows["plural", "bark"]["won"] == sum(p["bark"] > p["barks"] for p in (dogs, cats))
    assert rows["plural", "bark"]["right"] == pytest.approx(dogs["bark"] + cats["bark"])
    assert rows["plural", "bark"]["wrong"] == pytest.approx(dogs["barks"] + cats["barks"])
    assert ("plural", "old_p") in rows
    assert ("plural", "odd") not in rows


def test_items_with_two_contexts_have_two_rows(tmp_path: Path) -> None:
    from syntagm.suites import Prediction, parse

    texts = {"a": "The dog barks", "b": "The dog bark", "c": "The dogs bark", "d": "The dogs barks"}
    item = Item("7", {name: Sentence(text) for name, text in texts.items()})
    formula = parse("((*;%a%) < (*;%b%)) & ((*;%c%) < (*;%d%))")
    run = filled(tmp_path, Suite("four", (item,), (Prediction("both", formula),)))
    assert list(values(run, "four", "tse")) == ["7/1", "7/2"]
    assert gaps.contexts(run)["label"].to_list() == ["singular", "plural"]


def test_a_capital_at_the_beginning(tmp_path: Path) -> None:
    model = Drawn([*VOCABULARY, "Is", "Are", "Barks", "Bark", "Sings", "Sing"])
    suite = pairs("first", ("Is it here?", "Are it here?"))
    run = filled(tmp_path, suite, model=model)
    p = model.distribution("", "")
    assert gaps.contexts(run)["eligible"].to_list() == [3]
    right, wrong = (sum(p[form] for form in forms) for forms in (("Is", "Barks", "Sings"), ("Are", "Bark", "Sing")))
    assert gaps.contexts(run)["model_weight"][0] == pytest.approx(right / (right + wrong))


def test_the_results_file_has_every_row_once(tmp_path: Path) -> None:
    run = filled(tmp_path)
    table = pl.read_csv(tmp_path / "results.csv")
    assert table.columns == ["model", "suite", "item", "measure", "value", "margin"]
    # 4 + 2 items; 3 + 2 contexts, each with two weights.
    assert table.height == 6 + 2 * 5
    assert table.select("suite", "item", "measure").is_unique().all()
    assert table["suite"].to_list() == sorted(table["suite"], key=["simple", "clash"].index)
    assert run.done
    assert dataclasses.replace(gaps.words(run), repeats=False) == WORDS
    assert "words:six@" in str(run.signature("simple", "tse"))
    assert "|eligible:all|" in str(run.signature("simple", "tse"))


def test_fill_runs_among_other_commands(tmp_path: Path) -> None:
    run = filled(tmp_path / "a")
    other = filled(tmp_path / "b", model=Drawn([*VOCABULARY, "k"]))
    assert {one.group.suite for one in compare(run, other).suites} == {"simple", "clash"}
    assert compare(run, other, "model_weight").overall.n == 5
    assert "".join(results_csv.EXPORT.lines(run)) == (tmp_path / "a" / "results.csv").read_text()
    scores = [line.split(",")[:4] for line in scores_csv.EXPORT.lines(run)]
    assert [run.model, "suite", "simple", "equal_weight"] in scores
    assert {row[3] for row in scores[1:] if row[1] != "suite"} == {"first"}
    # One number, one interval: those of the table that `syntagm fill` prints.
    shown = {(one.group.suite, one.group.measure): cell(one.low) for one in gaps.estimates(run)}
    rows = [line.split(",") for line in scores_csv.EXPORT.lines(run)]
    assert {(row[2], row[3]): row[5] for row in rows if row[1] == "suite"} == shown
    [tse, equal, *_] = estimates.estimates(run)
    assert (chance_of(run, tse).value, tse.group.measure) == (0.5, "tse")
    assert chance_of(run, equal).method == "no chance level: a measure without a formula"
    with pytest.raises(UsageError, match="one of the run's measures"):
        compare(run, other, "all")
    with pytest.raises(RunError, match="a run of the task gaps has no"):
        list(tokens_csv.EXPORT.lines(run))


def test_the_same_command_goes_on_and_another_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    before = (tmp_path / "results.csv").read_bytes()
    model = Drawn(VOCABULARY)
    filled(tmp_path, model=model)
    assert model.asked == []
    assert (tmp_path / "results.csv").read_bytes() == before
    with pytest.raises(RunError, match=r"a run with eligible = 'all'; expected eligible = 'single-token'[.] Choose"):
        filled(tmp_path, eligible="single-token")
    with pytest.raises(RunError, match="a run on other suites"):
        filled(tmp_path, SIMPLE)
    with pytest.raises(RunError, match="of the task gaps; expected a run of the task predictions"):
        score(load("toy"), [SIMPLE], tmp_path)
    others = dataclasses.replace(WORDS, rows=WORDS.rows[:3])
    with pytest.raises(RunError, match=r"expected words.hash = .*, words.rows = 3[.]"):
        fill(Drawn(VOCABULARY), (SIMPLE, CLASH), others, tmp_path)
    with pytest.raises(RunError, match=r"in the same order[.] Their order is different"):
        filled(tmp_path, CLASH, SIMPLE)


def test_the_order_of_cut_offs_and_repeats_make_no_other_run(tmp_path: Path) -> None:
    filled(tmp_path, top=(0.9, 0.5), bottom=(0.01, 0.1))
    before = (tmp_path / "results.csv").read_bytes()
    model = Drawn(VOCABULARY)
    run = filled(tmp_path, model=model, top=(0.5, 0.9, 0.5), bottom=(0.1, 0.01))
    assert (model.asked, (tmp_path / "results.csv").read_bytes()) == ([], before)
    assert [str(cut) for cut in gaps.cut_offs(run)] == ["", "(top=0.5)", "(top=0.9)", "(bottom=0.1)", "(bottom=0.01)"]
    with pytest.raises(RunError, match=r"a run with top = \[0.5, 0.9\]; expected top = \[0.5\]"):
        filled(tmp_path, top=(0.5,), bottom=(0.1, 0.01))


def test_a_run_that_named_its_cut_offs_in_another_order_is_read_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = filled(tmp_path / "sorted", top=(0.5, 0.9))
    with monkeypatch.context() as patched:
        patched.setattr(
            "syntagm.evaluation.gaps.task.canonical_cuts", lambda top, _: (Cut(), *(Cut(top=share) for share in top))
        )
        made = filled(tmp_path / "old", top=(0.9, 0.5))
    assert made.record["options"]["top"] == [0.9, 0.5]
    # One of its two shards is lost; the other keeps its columns in the order of the time.
    interrupt(tmp_path / "old", 1)
    model = Drawn(VOCABULARY)
    run = filled(tmp_path / "old", model=model, top=(0.5, 0.9))
    assert [left for left, _ in model.asked] == ["A bird "]
    assert gaps.contexts(run).equals(gaps.contexts(whole))
    keys = ["suite", "item", "measure"]
    assert run.results().sort(keys).equals(whole.results().sort(keys))


def test_results_that_are_gone_are_written_again(tmp_path: Path) -> None:
    filled(tmp_path)
    before = (tmp_path / "results.csv").read_bytes()
    (tmp_path / "results.csv").unlink()
    model = Drawn(VOCABULARY)
    filled(tmp_path, model=model)
    assert ((tmp_path / "results.csv").read_bytes(), model.asked) == (before, [])


def test_tags_may_change_and_forms_may_not(tmp_path: Path) -> None:
    filled(tmp_path)
    tagged = dataclasses.replace(WORDS, rows=tuple(dataclasses.replace(row, tags={"band": "1"}) for row in WORDS.rows))
    run = fill(Drawn(VOCABULARY), (SIMPLE, CLASH), tagged, tmp_path)
    assert {row.tags["band"] for row in gaps.words(run).rows} == {"1"}
    path = tmp_path / "words.csv"
    path.write_text(path.read_text().replace(WORDS.rows[0].forms[0], "others"))
    with pytest.raises(RunError, match=r"words.csv: damaged, edited or missing"):
        assert gaps.words(open_run(tmp_path)).rows


def test_a_damaged_shard_is_moved_aside_and_computed_again(tmp_path: Path) -> None:
    run = filled(tmp_path)
    expected = run.results()
    name = run.suites[0].shards[0]
    (tmp_path / "shards" / f"{name}.lemmas.parquet").write_bytes(b"x")
    with pytest.raises(RunError, match="damaged"):
        gaps.lemma_sums(open_run(tmp_path), "simple")
    again = Drawn(VOCABULARY)
    assert filled(tmp_path, model=again).results().equals(expected)
    assert len(again.asked) == 3
    assert len(list((tmp_path / "shards").glob("damaged-*"))) == 3


def test_an_interrupted_run_says_so_and_goes_on(tmp_path: Path) -> None:
    class Stop(Progress):
        def answered(self, suite: str, sentences: int) -> None:
            if suite == "clash":
                raise Interrupted

    with pytest.raises(Interrupted):
        filled(tmp_path, progress=Stop())
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "interrupted"
    begun = open_run(tmp_path)
    assert isinstance(begun, Run)
    assert not begun.done
    assert gaps.contexts(begun)["suite"].unique().to_list() == ["clash", "simple"] or len(gaps.contexts(begun)) == 4
    model = Drawn(VOCABULARY)
    run = filled(tmp_path, model=model)
    assert [left for left, _ in model.asked] == ["A bird "]
    assert run.results().equals(filled(tmp_path / "whole").results())


def test_a_suite_that_changes_on_the_way_is_refused(tmp_path: Path) -> None:
    class Twice:
        def __init__(self) -> None:
            self.passes = iter([[SIMPLE], [dataclasses.replace(SIMPLE, items=SIMPLE.items[:2])]])

        def __iter__(self) -> Iterator[Suite]:
            return iter(next(self.passes))

    with pytest.raises(InputError, match="suite simple: it has changed"):
        fill(Drawn(VOCABULARY), Twice(), WORDS, tmp_path)


def test_what_cannot_be_filled_is_refused(tmp_path: Path) -> None:
    class Scorer(Drawn):
        can: ClassVar[frozenset[str]] = frozenset({"score"})

    with pytest.raises(ModelError, match="can't fill gaps"):
        filled(tmp_path / "scorer", model=Scorer(VOCABULARY))
    nothing = pairs("nothing", ("It rains.", "They rain."))
    with pytest.raises(InputError, match=r"no item has a context.*nothing: more than one word differs \(1 items\)"):
        filled(tmp_path / "nothing", nothing)
    with pytest.raises(UsageError, match="two suites with this name"):
        filled(tmp_path / "twice", SIMPLE, SIMPLE)
    with pytest.raises(UsageError, match="a share above 0"):
        filled(tmp_path / "share", top=(90.0,))
    sums = dataclasses.replace(SIMPLE, name="sums", predictions=())
    run = filled(tmp_path / "some", SIMPLE, sums)
    assert run.record["contexts"]["sums"]["left_out"] == {"no prediction compares one region of two sentences": 5}
    assert FULL in SIMPLE.predictions


def test_what_cannot_count_is_not_asked(tmp_path: Path) -> None:
    """If only single tokens count, words of several are not asked within a sentence; the numbers are those of all."""

    class Silent(Drawn):
        single = LanguageModel.single

    first = pairs("first", ("The dog barks.", "The dog bark."), ("Is it here?", "Are it here?"))
    model, silent = Drawn(VOCABULARY), Silent(VOCABULARY)
    # The 12 forms of the list, `Is` and `Are`; less `old_s` and `old_p`.
    run = filled(tmp_path / "some", first, model=model, eligible="single-token")
    every = filled(tmp_path / "all", first, model=silent, eligible="single-token")
    assert [len(words) for words in model.words] == [12, 14]
    assert [len(words) for words in silent.words] == [14, 14]
    assert "old_s" not in model.words[0]
    assert run.results().equals(every.results())
    assert gaps.contexts(run).equals(gaps.contexts(every))


def test_weights_by_what_is_known_of_the_lemmas(tmp_path: Path) -> None:
    tags = dict(zip(["are", "bark", "sing", "nap", "old_p", "odd"], ["1", "1", "2", "2", "2", "3"], strict=True))
    words = dataclasses.replace(
        WORDS, rows=tuple(dataclasses.replace(row, tags={"band": tags[row.lemma]}) for row in WORDS.rows)
    )
    run = fill(Drawn(VOCABULARY), (SIMPLE, CLASH), words, tmp_path)
    found = {(one.group["band"], one.group.measure): one for one in gaps.by_tag(run, "band", ["simple"])}
    # Three contexts: one is singular, two plural. `odd` is unknown, so band 3 has no lemma.
    p = [Drawn(VOCABULARY).distribution(left, "") for left in ("The dog ", "The dogs ", "The cats ")]
    labels, pairs_of_one = (0, 1, 1), [("is", "are"), ("barks", "bark")]
    won = [np.mean([q[row[k]] > q[row[1 - k]] for q, k in zip(p, labels, strict=True)]) for row in pairs_of_one]
    right = sum(q[row[k]] for q, k in zip(p, labels, strict=True) for row in pairs_of_one)
    every = sum(q[form] for q in p for row in pairs_of_one for form in row)
    assert {band for band, _ in found} == {"1", "2"}
    assert found["1", "equal_weight"].value == pytest.approx(np.mean(won))
    assert found["1", "model_weight"].value == pytest.approx(right / every)
    assert (found["1", "model_weight"].n, found["2", "model_weight"].n) == (2, 3)
    assert found["2", "equal_weight"].low <= found["2", "equal_weight"].value <= found["2", "equal_weight"].high
    with pytest.raises(UsageError, match="no tag 'bond'; expected band"):
        gaps.by_tag(run, "bond")
