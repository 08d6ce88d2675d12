"""Conventions: every linking function against an independent computation, treatments, flips, claims, and separation."""

import json
import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from toy_runs import agreement, pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError, RunError, UsageError
from syntagm.evaluation import Convention, Judge, Predictions, Scored, counted_unigrams, differing, linking, scored
from syntagm.models import Surprisals
from syntagm.runs import Rejudged, Run, rejudged, run_suites
from syntagm.runs.evaluate import evaluate
from syntagm.stats import auc_of_pairs, interval, score
from syntagm.suites import datasets
from syntagm.views import auc as separation, claims, conventions

WORDS = ("the", "naïve", "dogs", "near", "us", "barks", "well-known", "雪人", "who", "it's")
UNIGRAMS = counted_unigrams([["the", "dogs", "barks"], ["the", "who"]], "two sentences")


def sentence(draw: random.Random) -> tuple[str, Surprisals, list[list[float]]]:
    """A sentence of words with one to three tokens each, and the bits of the tokens by word."""
    words = [draw.choice(WORDS) for _ in range(draw.randint(1, 9))]
    starts, bits, text = [], [], ""
    for word in words:
        begin = len(text)
        text += (" " if text else "") + word
        cuts = sorted(draw.sample(range(len(text) - len(word) + 1, len(text)), min(len(word) - 1, draw.randint(0, 2))))
        own = [begin, *cuts]
        starts += own
        bits.append([draw.uniform(0, 12) for _ in own])
    flat = np.array([number for own in bits for number in own])
    return text, Surprisals(text, np.array(starts, np.int32), flat, np.ones(len(flat), bool)), bits


def independently(name: str, text: str, by_word: list[list[float]], begin: int, end: int) -> float:
    """The cost in plain Python; `begin` and `end` are those of the differing words, counted_unigrams in words."""
    flat = [number for own in by_word for number in own]
    words = [math.fsum(own) for own in by_word]
    counts = {"the": 2, "dogs": 1, "barks": 1, "who": 1}
    frequency = [-math.log2((counts.get(word, 0) + 1) / (5 + 2 + 4 + 1 + 1)) for word in text.split()]
    total, unigram = math.fsum(flat), math.fsum(frequency)
    rest = [number for own in by_word[end:] for number in own]
    return {
        "bits": total,
        "mean_token": total / len(flat),
        "mean_word": total / len(text.split(" ")),
        "mean_character": total / sum(1 for _ in text),
        "mean_byte": total / len(text.encode("utf-8")),
        "penalised": total / ((5 + len(flat)) ** 0.8 / 6**0.8),
        "norm_sub": total - unigram,
        "norm_div": total / unigram,
        "slor": (total - unigram) / len(words),
        "word_max": max(words),
        "word_ratio": max(own / expected for own, expected in zip(words, frequency, strict=True)),
        "critical": math.fsum(number for own in by_word[begin:end] for number in own),
        "after_prefix": math.fsum(number for own in by_word[begin:] for number in own),
        "shared_rest": math.fsum(rest) if rest else math.nan,
    }[name]


@pytest.mark.slow
def test_every_linking_function_on_a_thousand_sentences() -> None:
    draw = random.Random(1)
    for _ in range(1000):
        text, answer, by_word = sentence(draw)
        words = text.split(" ")
        begin = draw.randint(0, len(words) - 1)
        end = draw.randint(begin + 1, len(words))
        bounds = [0, *np.cumsum([len(word) + 1 for word in words]).tolist()]
        prepared = scored(text, answer, True, unigrams=UNIGRAMS)
        placed = Scored(
            text, prepared.bits, prepared.begins, prepared.words, prepared.unigram, (bounds[begin], bounds[end] - 1)
        )
        for each in linking.LINKINGS:
            expected = independently(each.name, text, by_word, begin, end)
            assert each.cost(placed)[0] == pytest.approx(expected, abs=1e-5, nan_ok=True), (each.name, text)


def test_where_sentences_differ() -> None:
    good, bad = "The dogs near us who bark .", "The dogs near it who barks ."
    (a, b), (c, d) = differing(good, bad)
    assert (good[a:b], bad[c:d]) == ("us who bark", "it who barks")
    assert differing("a a b", "a b") == ((2, 3), (2, 2))
    assert differing("same", "same") == ((4, 4), (4, 4))


ANSWER = Surprisals("A b .", np.array([0, 1, 3, 5]), np.array([8.0, 4.0, 2.0, 1.0]), np.ones(4, bool))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bits", 15),
        ("bits+without_first", 7),
        ("bits+without_final_mark", 13),
        ("bits+without_end", 14),
        ("bits+without_first+without_final_mark+without_end", 4),
        ("mean_token+without_final_mark", 13 / 3),
        ("mean_word+without_first", 7 / 3),
    ],
)
def test_treatments_by_pencil(name: str, expected: float) -> None:
    convention = Convention.parse(name)
    assert str(convention) == name
    cost, _ = convention.linking.cost(scored(ANSWER.text, ANSWER, True, convention.kept))
    assert cost == pytest.approx(expected)


def test_an_unscored_first_token_has_no_cost() -> None:
    bare = Surprisals("A b .", ANSWER.starts[:3], np.array([np.nan, 4.0, 2.0]), np.ones(3, bool))
    assert linking.BY_NAME["mean_token"].cost(scored(bare.text, bare, False))[0] == 3
    assert linking.BY_NAME["mean_word"].cost(scored(bare.text, bare, False))[0] == 3
    assert math.isnan(linking.BY_NAME["bits"].cost(scored(bare.text, bare, True))[0])


def test_ties_are_decided_in_bits_and_count_as_the_convention_says() -> None:
    other = Surprisals("A c .", ANSWER.starts, ANSWER.bits + 1e-5, np.ones(4, bool))
    names = ["bits", "mean_byte", "bits+ties_as_hits", "mean_word+ties_as_hits"]
    found = Judge(1e-4, True).margins(
        (ANSWER.text, ANSWER), (other.text, other), [Convention.parse(name) for name in names]
    )
    assert found == [(0, 0), (0, 0), (1, 0), (1, 0)]


@pytest.mark.parametrize("name", ["slur", "bits+", "bits+ties", "bits+without_end+without_end", ""])
def test_unknown_conventions(name: str) -> None:
    with pytest.raises(UsageError, match="convention"):
        Convention.parse(name)


def test_a_misspelt_published_is_named() -> None:
    with pytest.raises(UsageError, match="published"):
        Predictions(convention="publishd")


def test_morcela_recovers_planted_parameters(tmp_path: Path) -> None:
    draw, noise = random.Random(3), np.random.default_rng(3)
    known = {}
    while len(known) < 400:
        text, answer, _ = sentence(draw)
        known[text] = scored(text, answer, True, unigrams=UNIGRAMS)
    planted = linking.morcela(0.6, 2.5)
    given = {text: -0.3 * planted.cost(each)[0] + 1.2 for text, each in known.items()}
    exact = linking.fit_ratings(known, given)
    assert (exact.beta, exact.gamma) == pytest.approx((0.6, 2.5), abs=1e-8)
    assert (exact.slope, exact.intercept, exact.correlation) == pytest.approx((0.3, 1.2, 1.0))
    noisy = linking.fit_ratings(known, {text: rating + noise.normal(0, 0.05) for text, rating in given.items()})
    assert (noisy.beta, noisy.gamma) == pytest.approx((0.6, 2.5), abs=0.35)
    path = tmp_path / "ratings.csv"
    path.write_text("text,rating\n" + "".join(f'"{text}",{rating!r}\n' for text, rating in given.items()), "utf-8")
    assert linking.read_ratings(str(path)) == pytest.approx(given)
    with pytest.raises(InputError, match="3 rated sentences; expected at least 20"):
        linking.fit_ratings(known, dict(list(given.items())[:3]))
    path.write_text("text,rating\na,many\n")
    with pytest.raises(InputError, match="line 2, rating: 'many'; expected a number"):
        linking.read_ratings(str(path))


def run_of(*texts: tuple[str, str], model: str = "toy") -> Run:
    return evaluate(sg.load_model(model), [pairs("one", *texts)])


TEXTS = (
    ("The dog barks", "The dog bark"),
    ("The dogs near the cat bark", "The dogs bark"),
    ("a b", "a b"),
    ("The cat sleeps", "The bird sleeps"),
)


def test_the_table_by_pencil() -> None:
    """The longer good sentence has more bits, and fewer per word; equal sentences tie."""
    run = run_of(*TEXTS)
    table = conventions.make_table([run])
    rows = {row[2]: row for row in table.rows}
    assert table.columns == ("model", "suite", "convention", "n", "value", "low", "high", "flips")
    bits = run.results("one").filter(measure="full_sentence")["value"]
    assert rows["bits"][3:5] == (4, bits.mean())
    assert rows["bits"][7] == 0
    assert rows["bits+ties_as_hits"][4] == rows["bits"][4] + 0.25
    assert rows["bits+ties_as_hits"][7] == 1
    tokens = run.tokens("one").group_by("item", "condition", maintain_order=True).agg(total="bits").with_columns()
    means = {(item, condition): float(np.mean(own)) for item, condition, own in tokens.iter_rows()}
    holds = [means[item, "bad"] - means[item, "good"] > 1e-4 for item in dict.fromkeys(item for item, _ in means)]
    assert rows["mean_token"][4] == np.mean(holds)
    assert rows["mean_token"][7] == sum(one != bool(other) for one, other in zip(holds, bits, strict=True))


@pytest.mark.slow
def test_the_tables_say_where_runs_judge_by_another_aggregate_than_the_sum() -> None:
    run = evaluate(sg.load_model("toy"), [agreement(), replace(pairs("mean", *TEXTS), aggregate="mean")])
    for make in (conventions.make_table, claims.make_table):
        [note] = [note for note in make([run]).notes if "aggregate" in note]
        assert note == "bits is the sum here also for suite mean; runs judge by another aggregate."
        assert not [note for note in make([run], suite="agreement").notes if "aggregate" in note]


@pytest.mark.slow
def test_the_table_agrees_with_the_verdicts_of_the_run() -> None:
    run = evaluate(sg.load_model("demo"), [agreement(), pairs("two", *TEXTS)])
    chosen = conventions.choose(run, conventions.Source())
    for suite in ("agreement", "two"):
        found = conventions.results(run, suite, chosen).filter(measure="bits")
        own = run.results(suite).filter(measure="full_sentence")
        assert found["value"].to_list() == own["value"].to_list()
        assert found["margin"].to_list() == pytest.approx(own["margin"].to_list(), abs=1.1e-4)


def test_what_needs_unigrams_says_so(tmp_path: Path) -> None:
    run, text = run_of(*TEXTS), tmp_path / "text.txt"
    text.write_text("the dog barks\nthe dogs bark\n")
    with pytest.raises(UsageError, match="slor without unigrams="):
        conventions.make_table([run], convention=("slor",))
    with pytest.raises(UsageError, match="ratings without unigrams="):
        conventions.make_table([run], ratings="ratings.csv")
    names = [row[2] for row in conventions.make_table([run], unigrams=str(text)).rows]
    assert {"slor", "norm_div", "word_ratio"} <= set(names)
    shown = conventions.make_table([run], unigrams=str(text), convention=("slor", "mean_byte"))
    assert [row[2] for row in shown.rows] == ["bits", "slor", "mean_byte"]


def test_the_figure_has_the_flips_of_each_two() -> None:
    run = run_of(*TEXTS)
    figure = conventions.draw_figure([run], convention=("mean_token", "bits+ties_as_hits"))
    table = figure.to_frame()
    assert table.columns == list(conventions.SCHEMA)
    assert len(table) == 6
    of_table = {row[2]: row[7] for row in conventions.make_table([run]).rows}
    assert table.filter(a="bits", b="mean_token")["flips"].item() == of_table["mean_token"]
    assert "mean_token" in figure.svg()


def test_claims_survive_only_if_every_convention_shows_them() -> None:
    good = [(f"The dog barks {'.' * k}".strip(), f"The dog bark {'.' * k}".strip()) for k in range(12)]
    wrong = [(bad, right) for right, bad in good]
    always, never = run_of(*good), evaluate(sg.load_model("toy"), [pairs("one", *wrong)])
    [above] = claims.make_table([always], convention=("mean_token",)).rows
    assert above[:5] == ("toy:12-sentences is above chance", "yes", 2, 2, 0)
    [below] = claims.make_table([never], convention=("mean_token",)).rows
    assert below[:2] == ("toy:12-sentences is below chance", "yes")
    mixed = claims.make_table([always], convention=("shared_rest",)).rows
    assert [row[1:] for row in mixed] == [("no", 2, 1, 1, "shared_rest"), ("no", 2, 1, 1, "bits")]


@pytest.mark.slow
def test_a_suite_of_regions_has_no_whole_sentences() -> None:
    run = evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"), limit=2)
    with pytest.raises(UsageError, match="no prediction that compares two whole sentences"):
        conventions.make_table([run])
    with pytest.raises(UsageError, match="no prediction that compares two whole sentences"):
        separation.make_table([run])
    with pytest.raises(RunError):
        conventions.make_table([sg.fill(sg.load_model("toy"), [agreement()], "verbs", limit=2)])


@pytest.mark.slow
def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "pairs.tsv"
    suite.write_text("good\tbad\n" + "".join(f"{good}\t{bad}\n" for good, bad in TEXTS))
    assert main(["run", "toy", "--suite", str(suite), "-o", str(tmp_path / "run"), "--no-report"]) == 0
    capsys.readouterr()
    assert main(["table", "conventions", str(tmp_path / "run"), "convention=mean_token", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("model,suite,convention,n,value,low,high,flips\n")
    for name in ("claims", "auc"):
        assert main(["table", name, str(tmp_path / "run")]) == 0
    assert main(["figure", "conventions", str(tmp_path / "run"), "-o", str(tmp_path / "figure")]) == 0


def test_a_pair_of_two_infinite_costs_is_undefined_in_the_table_of_auc_as_elsewhere(tmp_path: Path) -> None:
    texts = {"1": ("It rains", "It rain"), "2": ("It snows", "It snow"), "3": ("It pours", "It pour")}
    bits = {"1": (1, 2), "2": (math.inf, math.inf), "3": (3, math.inf)}
    rows = "".join(
        f"{item},{condition},0,0,{text},{bits[item][side]}\n"
        for item, both in texts.items()
        for side, (condition, text) in enumerate(zip(("good", "bad"), both, strict=True))
    )
    (tmp_path / "tokens.csv").write_text("item,condition,index,start,token,bits\n" + rows)
    run = evaluate(sg.load_model(f"recorded:{tmp_path / 'tokens.csv'}"), [pairs("one", *texts.values())])
    [row] = separation.make_table([run]).to_frame().to_dicts()
    assert (row["n"], row["accuracy"], row["auc"]) == (2, 1.0, 0.75)  # of four comparisons, 3 is not below 2
    assert run.results()["value"].drop_nans().to_list() == [1.0, 1.0]


def test_auc_is_the_rank_statistic() -> None:
    noise = np.random.default_rng(5)
    for n in (5, 40):
        good, bad = noise.integers(0, 9, n).astype(float), noise.integers(2, 11, n).astype(float)
        expected = stats.mannwhitneyu(bad, good).statistic / n**2
        found = auc_of_pairs(good, bad)
        assert found.value == pytest.approx(expected)
        assert found.comparisons == n * n
        assert found.interval.low <= expected <= found.interval.high
        lengths = noise.integers(0, 3, (2, n))
        parts = [(bad[lengths[1] == k], good[lengths[0] == k]) for k in range(3)]
        wins = sum(float(stats.mannwhitneyu(*part).statistic) for part in parts if all(map(len, part)))
        assert auc_of_pairs(good, bad, lengths).value == pytest.approx(wins / sum(len(a) * len(b) for a, b in parts))
    assert math.isnan(auc_of_pairs(np.empty(0), np.empty(0)).value)
    assert math.isnan(auc_of_pairs(np.ones(1), np.ones(1)).interval.low)


def test_the_variance_of_an_auc_is_that_of_the_jackknife() -> None:
    noise = np.random.default_rng(6)
    good = noise.normal(0, 1, 60)
    bad = good * 0.5 + noise.normal(0.5, 1, 60)
    whole = auc_of_pairs(good, bad)
    without = np.array([auc_of_pairs(np.delete(good, k), np.delete(bad, k)).value for k in range(60)])
    jackknife = 59 / 60 * ((without - without.mean()) ** 2).sum()
    width = (whole.interval.high - whole.interval.low) / 2 / stats.t.ppf(0.975, 59)
    assert width**2 == pytest.approx(jackknife, rel=0.12)


@pytest.mark.parametrize("won", [1.0, 0.99])
def test_an_auc_near_one_has_an_interval_of_some_width(won: float) -> None:
    """The variance of a sample that wins nearly all comparisons says too little: it is that of 2n sentences at least."""
    n = 40
    good, bad = np.arange(n, dtype=float), np.arange(n, dtype=float) + (n if won == 1 else n - 5)
    found = auc_of_pairs(good, bad)
    variance = found.value * (1 - found.value) / (2 * n)
    assert found.value >= won
    expected = interval.score(found.value, interval.Spread(variance, n - 1, (("items", n),)))
    assert (found.interval.low, found.interval.high) == (expected.low, expected.high)
    assert found.interval.low < (0.98 if won == 1 else 0.97)


def test_separation_beside_accuracy() -> None:
    """Each pair is won, and no sentence tells whether it is good: the AUC is near a half."""
    run = evaluate(sg.load_model("toy"), [agreement()])
    [row] = separation.make_table([run]).rows
    assert row[2] == 3
    assert row[3] == pytest.approx(run.results("agreement").filter(measure="full_sentence")["value"].mean())
    with pytest.raises(UsageError, match="depends on the partner"):
        separation.make_table([run], convention="critical")


@pytest.mark.parametrize("convention", ["bits", "bits+ties_as_hits", "mean_token", "mean_token+ties_as_hits"])
def test_the_accuracy_beside_an_auc_is_that_of_the_convention(convention: str) -> None:
    """Ties are decided in bits, before any division, and are hits if the convention says so."""
    run = run_of(*TEXTS, ("The same .", "The same ."))
    run.tolerance = 3.0
    rows = conventions.make_table([run], convention=(convention,)).rows
    [expected] = [row[4] for row in rows if row[2] == convention]
    [row] = separation.make_table([run], convention=convention).rows
    assert row[3] == expected


def test_words_are_counted_once() -> None:
    assert Counter(each.name for each in linking.LINKINGS).most_common(1)[0][1] == 1
    assert all(each.says and each.formula for each in linking.LINKINGS)


PUBLISHED = {"SLING": "mean_token", "BLiMP": "bits", "BLiMP-NL": "slor"}
ASKED = ("mean_token", "mean_byte", "mean_token+ties_as_hits", "penalised+without_first", "critical")


def mixed() -> sg.Suite:
    """Pairs of several lengths, of which one is a tie, and predictions about a word and about sentences."""
    return agreement("mixed", ("dog", "cat", "bird", "big old dog", "tree that she saw"))


def numbers_of_ties(run: Run) -> int:
    return run.results().filter((pl.col("measure") == "full_sentence") & (pl.col("margin").abs() <= 1e-4)).height


@pytest.mark.parametrize("name", ASKED)
def test_a_run_under_a_convention_is_the_run_judged_by_it_afterwards(name: str) -> None:
    default = sg.evaluate(sg.load_model("toy"), [mixed()])
    asked = sg.evaluate(sg.load_model("toy"), [mixed()], convention=name)
    afterwards = Rejudged(default, name)
    assert asked.results().equals(afterwards.results(), null_equal=True)
    assert default.results().filter(measure="verb")["value"].equals(asked.results().filter(measure="verb")["value"])
    signature = str(asked.signature("mixed", "full_sentence"))
    assert f"|align:strict|convention:{name}|tie:0.0001|" in signature
    assert signature == str(afterwards.signature("mixed", "full_sentence"))
    # The numbers are those of the table of conventions.
    _, row = [row for row in conventions.make_table([default], convention=(name,)).rows if row[1] == "mixed"]
    [estimate] = score.accuracy(asked.results().filter(measure="full_sentence"), asked.kind, asked.tolerance)
    assert (row[2], row[4]) == (name, estimate.value)
    if name.startswith("mean_token"):  # others may tell a shorter sentence from a longer one of as many bits
        assert estimate.ties == numbers_of_ties(default)
    # Judged by bits again, it is the run that it was.
    again = Rejudged(asked, "bits").results()
    assert again["value"].equals(default.results()["value"])
    assert np.allclose(again["margin"], default.results()["margin"], atol=1e-4)


def test_without_a_convention_nothing_is_recorded() -> None:
    for run in (
        sg.evaluate(sg.load_model("toy"), [mixed()]),
        sg.evaluate(sg.load_model("toy"), [mixed()], convention="bits"),
    ):
        assert "convention" not in run.record["options"]
        assert "convention" not in str(run.signature("mixed", "full_sentence"))


def test_the_convention_of_the_authors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sling = tmp_path / "plural.jsonl"
    row = {"sentence_good": "The big old dog barks", "sentence_bad": "The dog bark", "pair_ID": 1}
    rows = [{**row, "pair_ID": k, "paradigm": "plural", "phenomenon": "x"} for k in range(3)]
    sling.write_text("".join(json.dumps(each) + "\n" for each in rows))
    command = ["run", "toy", "--suite", str(sling), "--no-report", "-q"]
    assert main([*command, "-o", str(tmp_path / "bits")]) == 0
    assert main([*command, "-o", str(tmp_path / "asked"), "--convention", "published"]) == 0
    assert "|convention:mean_token|" in capsys.readouterr().out
    assert sg.open_run(tmp_path / "asked").record["scored"] == {"plural": "mean_token"}
    scores = ["table", "scores", "--format", "csv"]
    assert main([*scores, str(tmp_path / "asked")]) == 0
    wanted = capsys.readouterr().out
    for name in ("published", "mean_token"):
        assert main([*scores, str(tmp_path / "bits"), "--convention", name]) == 0
        assert capsys.readouterr().out == wanted
    # The run goes on under the convention with which it began, and under no other.
    assert main([*command, "-o", str(tmp_path / "asked"), "--convention", "published"]) == 0
    assert main([*command, "-o", str(tmp_path / "asked")]) == 2
    assert main(["table", "conventions", str(tmp_path / "bits"), "--convention", "mean_token"]) == 2
    assert "convention=mean_token" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scored", "name", "message"),
    [
        ("", "published", "the suite mixed; expected a suite of a dataset"),
        ("slor", "published", "slor, which needs a unigram model"),
        ("", "slor", "slor, which needs a unigram model"),
        ("", "mean_tokens", "mean_tokens"),
    ],
)
def test_conventions_that_a_run_can_not_have(scored: str, name: str, message: str) -> None:
    suite = replace(mixed(), tags={"json:scored": scored} if scored else {})
    with pytest.raises(UsageError, match=message):
        sg.evaluate(sg.load_model("toy"), [suite], convention=name)
    with pytest.raises(UsageError, match=message):
        Rejudged(sg.evaluate(sg.load_model("toy"), [suite]), name)


def test_a_convention_needs_predictions_about_sentences() -> None:
    suite = mixed()
    suite = replace(suite, predictions=suite.predictions[:1])
    with pytest.raises(UsageError, match="no prediction of which compares two whole sentences"):
        sg.evaluate(sg.load_model("toy"), [suite], convention="mean_token")
    with pytest.raises(UsageError, match="beside measures"):
        sg.evaluate(sg.load_model("toy"), [suite], convention="mean_token", measures=["surprisal(condition=good)"])
    measured = sg.evaluate(sg.load_model("toy"), [suite], measures=["surprisal(condition=good)"])
    with pytest.raises(UsageError, match="no prediction of which"):
        Rejudged(measured, "mean_token")


def test_every_convention_of_the_list_of_datasets_exists() -> None:
    found = {dataset.name: dataset.scored for dataset in datasets.listed()}
    assert found.items() >= PUBLISHED.items()
    for name in filter(None, found.values()):
        assert str(Convention.parse(name)) == name


def test_what_is_left_out_in_python(tmp_path: Path) -> None:
    listed = tmp_path / "x.csv"
    listed.write_text("suite,item\nmixed,3\n")
    for exclude in ([("mixed", "3")], listed, str(listed)):
        run = sg.evaluate(sg.load_model("toy"), iter([mixed()]), exclude=exclude)
        assert run.results().filter(measure="verb")["item"].to_list() == ["1", "2", "4", "5"]
        assert "|exclude:1@" in str(run.signature("mixed", "verb"))
    with pytest.raises(UsageError, match="no item '9'"):
        sg.evaluate(sg.load_model("toy"), [mixed()], exclude=[("mixed", "9")])


@pytest.mark.parametrize(
    "command", ["run toy --suite x -o y", "table scores x", "figure scores x -o y", "compare x y", "power x y"]
)
@pytest.mark.parametrize("name", ["", "mean_tokens"])
def test_no_convention_is_not_an_empty_one(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--convention", name]) == 2
    assert f"convention: {name!r}; expected one of bits, mean_token, " in capsys.readouterr().err


def test_what_a_convention_does_not_change_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Effects are differences of bits whatever the convention, so it is refused; margins say what they are of."""
    run = run_suites(sg.load_model("toy"), [mixed()], tmp_path / "run")
    assert rejudged.unit(run, "mixed", "full_sentence") == "bits"
    assert main(["table", "effects", str(tmp_path / "run"), "--convention", "mean_token"]) == 2
    assert "neither verdicts nor margins" in capsys.readouterr().err
    for measure, unit in {"full_sentence": "mean_token", "verb": "bits"}.items():
        command = ["table", "items", str(tmp_path / "run"), f"measure={measure}", "--format", "csv"]
        assert main([*command, "--convention", "mean_token"]) == 0
        shown = capsys.readouterr()
        assert shown.out.splitlines()[0].endswith(f"({unit})")
        assert "not under the convention mean_token in 1 of 1 suites: verb." in shown.err
    # Comparisons of regions are judged in bits with the same warning, whichever command makes them.
    again = run_suites(sg.load_model("toy"), [mixed()], tmp_path / "again")
    folders = [str(run.folder), str(again.folder)]
    for command in (["compare", *folders, "--measure", "verb"], ["table", "comparison", *folders, "measure=verb"]):
        assert main([*command, "--convention", "mean_token"]) == 0
        assert "not under the convention mean_token in 1 of 1 suites: verb." in capsys.readouterr().err
    judged = [rejudged.Rejudged(run, "mean_token")] * 2
    assert "Margins are in mean_token:" in sg.table("discordant", judged, measure="full_sentence").notes[0]
    assert "Margins are in bits:" in sg.table("discordant", [run, run]).notes[0]
