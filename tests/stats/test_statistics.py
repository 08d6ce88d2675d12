"""Power, clusters, normalised scores, lexical items: by pencil, and what tables say of odd runs."""

import itertools
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from toy_runs import FULL, agreement, pairs, toy_run

from syntagm.core import InputError, UsageError
from syntagm.evaluation import Estimate, Group, Kind, counted_unigrams, linking
from syntagm.runs import Run, whole
from syntagm.stats import clustered, interval, mcnemar, planning
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse
from syntagm.views import (
    Table,
    clustered as clustered_view,
    lexical,
    lexical as lexical_figure,
    normalised,
    options,
    significance,
)

Row = dict[str, object]


def rows(table: Table) -> list[Row]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def by_hand(n: int, difference: float, flips: float) -> float:
    """Every outcome of n items, one by one: flips to a, flips to b, no flip."""
    to_b, to_a = (flips + difference) / 2, (flips - difference) / 2
    return sum(
        math.comb(n, k) * math.comb(k, b) * to_b**b * to_a ** (k - b) * (1 - flips) ** (n - k)
        for k in range(n + 1)
        for b in range(k + 1)
        if mcnemar(k - b, b, n) <= 0.05
    )


@pytest.mark.parametrize(
    ("n", "difference", "flips"), [(10, 0.3, 0.5), (24, 0.2, 0.4), (30, 0, 0.5), (28, -0.35, 0.35), (7, 1.0, 1.0)]
)
def test_power_is_the_sum_over_all_outcomes(n: int, difference: float, flips: float) -> None:
    assert planning.mcnemar_power(n, difference, flips) == pytest.approx(by_hand(n, difference, flips), abs=1e-12)


def test_power_is_symmetric_and_the_level_without_a_difference_is_kept() -> None:
    assert planning.mcnemar_power(40, 0.2, 0.3) == planning.mcnemar_power(40, -0.2, 0.3)
    assert 0 < planning.mcnemar_power(200, 0.0, 0.5) <= 0.053
    assert planning.mcnemar_power(20, 0.0, 0.0) == 0.0


@pytest.mark.slow
def test_the_detectable_difference_is_where_the_power_is_as_wanted() -> None:
    found = planning.detectable(60, balanced=0.2)
    assert planning.mcnemar_power(60, found, 0.2 + found) == pytest.approx(0.8, abs=1e-6)
    worst = planning.detectable(60)
    assert planning.mcnemar_power(60, worst, 1.0) == pytest.approx(0.8, abs=1e-6)
    assert worst > found > planning.detectable(240, balanced=0.2)
    # Connor 1987 for many items: (1.960 sqrt(f) + 0.842 sqrt(f - d^2)) / sqrt(n), with f = 0.1 + d.
    exact, n = planning.detectable(20_000, balanced=0.1), 20_000
    flips = 0.1 + exact
    assert exact == pytest.approx((1.959964 * flips**0.5 + 0.841621 * (flips - exact**2) ** 0.5) / n**0.5, rel=0.02)


def test_three_items_can_show_nothing_and_a_stricter_level_asks_for_more() -> None:
    assert math.isnan(planning.detectable(5))  # p = 2 / 2**5
    assert not math.isnan(planning.detectable(6))  # p = 2 / 2**6
    assert math.isnan(planning.detectable(6, level=0.05 / 2))
    assert math.isnan(planning.detectable(100, balanced=1.0))


def test_shares_that_can_not_be_are_refused() -> None:
    with pytest.raises(InputError, match="discordant"):
        planning.mcnemar_power(10, 0.5, 0.4)
    with pytest.raises(InputError, match="balanced"):
        planning.detectable(10, balanced=1.5)


def test_clusters_without_spread_inside_are_worth_one_item_each() -> None:
    # Eight clusters of five equal items: the variance of a mean is p (1 - p) / 8 instead of / 40.
    values = np.repeat([0, 1, 0, 1, 0, 1, 1, 0], 5)
    found = clustered(values, Kind.VERDICT, {"words": [str(k // 5) for k in range(40)]})
    assert (found.value, found.n, found.count) == (0.5, 40, 8)
    # Of eight clusters, with n - 1 in place of n: 5 * 8 / 7.
    assert found.effect == pytest.approx(5 * 8 / 7)
    assert found.clusters.high - found.clusters.low > 1.8 * (found.items.high - found.items.low)
    assert found.clusters.method == "Wilson with t(7); random: words; only 8 words"


def test_the_plain_interval_is_that_of_all_other_tables() -> None:
    values = [0.0, 1.0, 1.0, 1.0, 0.0, 1.0]
    assert clustered(values, Kind.VERDICT, {"words": list("aabbcc")}).items == interval.of_items(values, Kind.VERDICT)


def test_one_cluster_no_items_and_undefined_items() -> None:
    one = clustered([0.0, 1.0, math.nan], Kind.VERDICT, {"words": ["a", "a", "b"]})
    assert (one.n, one.count, one.value) == (2, 1, 0.5)
    assert math.isnan(one.clusters.low)
    assert one.clusters.method == "no interval: fewer than two words"
    none = clustered([math.nan], Kind.VERDICT, {"words": ["a"]})
    assert (none.n, none.count) == (0, 0)
    assert math.isnan(none.value)
    same = clustered([1.0] * 4, Kind.VERDICT, {"words": list("aabb")})
    # As certain as two words of which both are right.
    assert (same.items.high, same.clusters.high) == (1.0, 1.0)
    assert same.clusters.low < same.items.low < 1
    assert math.isnan(same.effect)


def test_words_without_frequency_are_left_out_of_the_correlation_and_named() -> None:
    found = {
        name: Estimate(Group(), value, 0, 1, 9, "")
        for name, value in zip("abcd", (0.9, 0.2, 0.5, math.nan), strict=True)
    }
    association, missing = lexical.with_frequency(found, {"a": 1, "b": 30, "c": 20, "d": 9})
    assert association is not None
    # Ranks 1, 3, 2 of frequency and 3, 1, 2 of accuracy.
    assert (association.value, association.n, missing) == (-1.0, 3, ["d"])
    assert lexical.with_frequency(found, {"a": 1, "b": 30}) == (None, ["c", "d"])


UNIGRAMS = counted_unigrams([["The", "dog", "barks"], ["The", "cat", "bark"], ["The", "dog", "dog"]], "three sentences")


def test_unigram_probabilities_sum_to_one() -> None:
    # The 3, dog 3, barks, cat, bark 1 each, ends 3: 12 words, 6 different: each (count + 1) / 19, the unseen word 1 /
    # 19.
    p = 2.0 ** -UNIGRAMS.bits(["The", "dog", "barks", "cat", "bark", "bird"])
    assert (p * 19).round(9).tolist() == [4.0, 4.0, 2.0, 2.0, 2.0, 1.0]
    assert p.sum() + 2.0**-UNIGRAMS.end == pytest.approx(1)


def test_lower_case_counts_and_looks_up_alike() -> None:
    lower = counted_unigrams([["The", "the"]], "one sentence", lower=True)
    assert dict(lower.counts or {}) == {"the": 2}
    assert lower.bits(["THE"])[0] == lower.bits(["the"])[0]


def test_costs_of_a_sentence_by_pencil() -> None:
    found = linking.costs(np.array([1.0, 3.0, 5.0]), np.array([2.0, 2.0, 8.0]))
    assert {name: cost for name, (cost, _) in found.items()} == pytest.approx(
        {
            "bits": 9,
            "mean_bits": 3,
            "norm_sub": 9 - 12,
            "norm_div": 9 / 12,
            "slor": (9 - 12) / 3,
            "word_max": 5,
            "word_ratio": 3 / 2,
        }
    )
    assert all(math.isnan(cost) for cost, _ in linking.costs(np.array([]), np.array([])).values())
    undefined = linking.costs(np.array([1.0, math.nan]), np.array([2.0, 2.0]))
    assert all(math.isnan(cost) for cost, _ in undefined.values())


@pytest.fixture
def run(tmp_path: Path) -> Run:
    # Two lemmas; the toy model's margins are 1.585, -1 and 0 bits for dog, cat and bird.
    return toy_run(tmp_path / "run", agreement(nouns=("dog", "cat", "bird", "dog")))


def test_normalised_results_by_pencil(run: Run) -> None:
    assert whole(run, "agreement") == {"full_sentence": ("good", "bad")}
    found = normalised.results(run, "agreement", UNIGRAMS)
    margins = {
        (item, measure): margin for item, measure, margin in found.select("item", "measure", "margin").iter_rows()
    }
    bits = dict(
        run.results("agreement").filter(pl.col("measure") == "full_sentence").select("item", "margin").iter_rows()
    )
    for item, noun in (("1", "dog"), ("2", "cat")):
        assert margins[item, "bits"] == pytest.approx(bits[item])
        # barks and bark are as frequent here, so what is taken off is the same; three words.
        assert margins[item, "norm_sub"] == pytest.approx(bits[item]), noun
        assert margins[item, "slor"] == pytest.approx(bits[item] / 3)
        assert margins[item, "mean_bits"] == pytest.approx(bits[item] / 3)
    # A tie in bits is a tie, however it is divided.
    assert {margins["3", measure] for measure in ("bits", "slor", "norm_div", "mean_bits")} == {0.0}
    assert set(found["n"]) == {6}


def test_the_unigram_model_decides_where_the_words_differ_in_frequency(run: Run) -> None:
    frequent = counted_unigrams([["barks"]] * 30 + [["bark"]], "a text of barks")
    found = normalised.results(run, "agreement", frequent).filter(pl.col("measure") == "slor")
    # barks costs log2(31 / 2) = 3.95 bits less by itself; 1.585 - 3.95 and -1 - 3.95 and 0 - 3.95 bits, over three
    # words.
    expected = [(margin - math.log2(31 / 2)) / 3 for margin in (math.log2(3), -1, 0, math.log2(3))]
    assert found["margin"].to_list() == pytest.approx(expected)
    assert found["value"].to_list() == [0.0] * 4


def test_an_end_symbol_is_a_word(tmp_path: Path) -> None:
    ended = toy_run(tmp_path / "eos", agreement(nouns=("dog",)), model="toy:?eos=yes")
    # Three words and the end, in two sentences.
    assert normalised.results(ended, "agreement", UNIGRAMS)["n"].to_list() == [8] * 7


def test_a_first_word_that_was_not_scored_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = list(run.answers("agreement"))
    for _, _, _, answer in answers:
        answer.bits[0] = math.nan
    monkeypatch.setattr(run, "answers", lambda suite: iter(answers))
    assert normalised.results(run, "agreement", UNIGRAMS)["margin"].is_nan().all()
    run.record["model"]["start"] = None
    found = normalised.results(run, "agreement", UNIGRAMS)
    assert set(found["n"]) == {4}
    slor = found.filter((pl.col("measure") == "slor") & (pl.col("item") == "1"))["margin"].item()
    assert slor == pytest.approx(math.log2(3) / 2)  # two words instead of three


ARPA = """\\data\\
ngram 1=5

\\1-grams:
-1\t</s>
-99\t<s>
-1\t<unk>
-0.5\tbarks
-2\tThe

\\end\\
"""


def test_unigrams_from_a_text_and_from_a_model_of_order_one(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The dog barks\nThe cat bark\n")
    assert normalised.read_unigrams(str(text), run).counts == {"The": 2, "dog": 1, "barks": 1, "cat": 1, "bark": 1}
    (tmp_path / "one.arpa").write_text(ARPA)
    model = normalised.read_unigrams(f"ngram:{tmp_path / 'one.arpa'}", run)
    # Powers of ten; bark is an unknown word there.
    tens = [-0.5, -2, -1]
    assert model.bits(["barks", "The", "bark"]) == pytest.approx([-ten * math.log2(10) for ten in tens], abs=1e-6)
    assert model.end == pytest.approx(math.log2(10), abs=1e-6)
    two = ARPA.replace("\n\n\\1", "\nngram 2=1\n\n\\1").replace("\\end", "\\2-grams:\n-0.1\tThe barks\n\n\\end")
    (tmp_path / "two.arpa").write_text(two)
    with pytest.raises(UsageError, match="of order 2"):
        normalised.read_unigrams(f"ngram:{tmp_path / 'two.arpa'}", run)
    with pytest.raises(UsageError, match="unigrams="):
        normalised.read_unigrams("", run)


def test_the_normalised_table_counts_flips_against_bits(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("barks\n" * 30 + "bark\n")
    found = {row["by"]: row for row in rows(normalised.make_table([run], str(text)))}
    assert (found["bits"]["score"], found["bits"]["n"], found["bits"]["ties"]) == (0.5, 4, 1)
    assert (found["slor"]["score"], found["slor"]["only by bits"], found["slor"]["only by this"]) == (0.0, 2, 0)
    assert [row["by"] for row in rows(normalised.make_table([run], str(text), by="slor"))] == ["bits", "slor"]
    with pytest.raises(UsageError, match="by="):
        options.call(normalised.make_table, [run], {"unigrams": str(text), "by": "slur"}, "table normalised")


def test_lexical_items_and_their_frequency(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The dog, the dog, the Dog and a cat.\n")
    table = lexical.make_table([run], by="noun", measure="full_sentence", unigrams=str(text))
    found = {row["word"]: row for row in rows(table)}
    assert (found["dog"]["score"], found["dog"]["n"], found["dog"]["frequency"]) == (1.0, 2, 3)
    assert (found["bird"]["score"], found["bird"]["ties"], found["bird"]["frequency"]) == (0.0, 1, None)
    assert found["cat"]["low"] is None  # one item has no interval
    assert "fewer than three words" in table.notes[-1]
    with pytest.raises(UsageError, match="noun"):
        lexical.make_table([run], by="lemma")


def test_labels_of_words_do_not_lie_on_each_other(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("dog dog cat cat bird bird\n")
    drawn = lexical_figure.draw_figure([run, run], by="noun", unigrams=str(text))
    values = drawn.spec["concat"][0]["data"]["values"]
    # Three words under two models: six dots of one frequency, three labels.
    heights = sorted(value["at"] * lexical_figure.HEIGHT for value in values if "at" in value)
    assert (len(values), len(heights)) == (6, 3)
    assert min(high - low for low, high in itertools.pairwise(heights)) >= 12
    assert drawn.table["frequency"].to_list() == [2.0] * 6


@pytest.mark.slow
def test_words_without_any_frequency_have_rows(run: Run) -> None:
    drawn = lexical_figure.draw_figure([run], by="region:2", measure="full_sentence")
    assert drawn.table.select("word", "value", "n", "ties").rows() == [("barks", 0.5, 4, 1)]
    assert lexical_figure.draw_figure([run], by="noun").table["frequency"].null_count() >= 1


def test_words_of_a_region_stand_for_a_tag(run: Run) -> None:
    found = {row["word"]: row["n"] for row in rows(lexical.make_table([run], by="region:1"))}
    assert found == {"the dog": 2, "the cat": 1, "the bird": 1}


def test_the_clustered_table(run: Run) -> None:
    [row] = rows(clustered_view.make_table([run], by="noun", measure="full_sentence"))
    assert (row["score"], row["n"], row["clusters"], row["ties"], row["undefined"]) == (0.5, 4, 3, 1, 0)
    with pytest.raises(UsageError, match="noun"):
        clustered_view.make_table([run], by="lemma")


def test_which_suites_separate_two_models(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("the dog barks\nthe bird bark\nthe cats bark\nthe cat barks\n")
    suites = (agreement("cats", ("cat",) * 12), agreement("dogs", ("dog",) * 12), agreement("five", ("cat",) * 5))
    a = toy_run(tmp_path / "a", *suites)
    b = toy_run(tmp_path / "b", *suites, model=f"toy:{tmp_path / 'other.txt'}")
    table = significance.make_table([a, b])
    found = rows(table)
    assert [(row["suite"], row["better"]) for row in found] == [("cats", "B"), ("five", ""), ("dogs", "")]
    # 12 flips to b of 12 items: p = 2 / 2**12 or, larger, that of z = sqrt(12), times three suites.
    assert found[0]["p Holm"] == pytest.approx(3 * 0.000532, rel=1e-3)
    # Five flips of five: p = 2 / 2**5, times two suites.
    assert (found[1]["B - A"], found[1]["p Holm"]) == (1.0, 0.125)
    assert (found[1]["detectable"], found[1]["detectable by Holm"]) == (None, None)
    assert found[2]["detectable"] == pytest.approx(planning.detectable(12, 0.0))
    assert found[2]["detectable by Holm"] == pytest.approx(planning.detectable(12, 0.0, 0.05 / 3))
    assert any("significant on 1 of 3 suites; A is better on 0, B on 1" in note for note in table.notes)
    with pytest.raises(UsageError, match="one run"):
        significance.make_table([a])


@pytest.mark.slow
def test_undefined_items_and_a_single_one_are_said(tmp_path: Path) -> None:
    halves = {
        name: Sentence(f"The dog {verb}", (Region("1", 0, 6), Region("2", 6, 8 + len(verb))))
        for name, verb in (("good", "barks"), ("bad", "bark"))
    }
    verb = Prediction("verb", parse("(2;%good%) < (2;%bad%)"))
    odd = Suite("odd", (Item("1", halves, {"noun": "dog"}),), (verb, FULL))
    run = toy_run(tmp_path / "a", odd, agreement("one", ("dog",)), pairs("untagged", ("the dog barks", "the dog bark")))
    found = {row["suite"]: row for row in rows(clustered_view.make_table([run], by="noun"))}
    assert set(found) == {"odd", "one"}
    assert (found["odd"]["score"], found["odd"]["n"], found["odd"]["undefined"]) == (None, 0, 1)
    assert (found["one"]["score"], found["one"]["low"], found["one"]["clustered low"]) == (1.0, None, None)
    words = {row["suite"]: row for row in rows(lexical.make_table([run], by="noun"))}
    assert (words["odd"]["score"], words["odd"]["undefined"]) == (None, 1)
    apart = {row["suite"]: row for row in rows(significance.make_table([run, run]))}
    assert (apart["odd"]["n"], apart["odd"]["p Holm"], apart["odd"]["detectable"]) == (0, None, None)
    # One item shows no variance, so it has no test.
    assert (apart["one"]["n"], apart["one"]["p Holm"]) == (1, None)
