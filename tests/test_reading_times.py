"""Reading times: held-out likelihoods against independent computations, the join, splines, folds and alarms."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import interpolate, stats

from syntagm.cli import main
from syntagm.core import NONE, InputError, SyntagmError, UsageError, name_of
from syntagm.models import load
from syntagm.reading_times import (
    Added,
    Request,
    Source,
    alarms,
    analyses,
    effects,
    exclusions,
    fitting,
    joining,
    observations,
    predictors,
    record,
    regressions,
    roles,
    slopes as costs,
    tables,
    views,
)
from syntagm.report import Served, Shelf, shell
from tests.experiment_for_tests import pairs


def source(columns: dict[str, object]) -> Source:
    frame = pl.DataFrame(columns)
    return Source(Path("table.csv"), frame, pl.Series("line", range(2, frame.height + 2)), "")


def example(rows: int = 240) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    bits, length = random.gamma(2, 3, rows), random.integers(1, 12, rows).astype(float)
    person = np.arange(rows) % 8
    time = 300 + 6 * length + 3 * bits + 30 * np.sin(person) + random.normal(0, 20, rows)
    return {
        "time": time, "bits": bits, "length": length, "person": person, "text": np.arange(rows) // 60,
        "sentence": np.arange(rows) // 6,
    }  # fmt: skip


REQUEST = Request("time", ("length",), (Added("bits", ("bits",)),), given={"participant": ("person",)})


@pytest.mark.parametrize("rows", [10, 97, 101, 1234])
@pytest.mark.parametrize("count", [2, 3, 7, 10])
def test_contiguous_folds_are_those_of_cut(rows: int, count: int) -> None:
    """R: breaks are seq(1, n, length.out = K + 1), and a row belongs to the interval (lower, upper]."""
    borders = [1 + (rows - 1) * at / count for at in range(1, count)]
    expected = [1 + sum(number > border + 1e-9 for border in borders) for number in range(1, rows + 1)]
    assert fitting.contiguous_folds(rows, count).tolist() == expected


def test_held_out_likelihoods_of_least_squares() -> None:
    """Each fold is fitted by the normal equations, without the code of the package."""
    data = example()
    outcome = fitting.fit(source(data), REQUEST)
    fold_of = fitting.contiguous_folds(240, 10)
    for columns, found in ((["length"], outcome.gains[0].baseline), (["length", "bits"], outcome.gains[0].full)):
        matrix = np.column_stack([np.ones(240), *(data[name] for name in columns)])
        for fold in range(1, 11):
            train, test = fold_of != fold, fold_of == fold
            weights = np.linalg.inv(matrix[train].T @ matrix[train]) @ matrix[train].T @ data["time"][train]
            residual = data["time"][train] - matrix[train] @ weights
            sigma = np.sqrt(residual @ residual / (train.sum() - matrix.shape[1]))
            density = stats.norm.logpdf(data["time"][test], matrix[test] @ weights, sigma)
            np.testing.assert_allclose(found[test], density, rtol=1e-10)


def test_the_loglinear_density_is_that_of_the_time() -> None:
    data = example()
    found = regressions.densities("loglinear", fitting.prepare(source(data), REQUEST)["bits"], "bits")
    train = np.arange(240) >= 24
    matrix = np.column_stack([np.ones(240), data["length"], data["bits"]])
    weights, rest, *_ = np.linalg.lstsq(matrix[train], np.log(data["time"][train]), rcond=None)
    sigma = np.sqrt(rest[0] / (train.sum() - 3))
    expected = stats.lognorm.logpdf(data["time"][~train], sigma, scale=np.exp(matrix[~train] @ weights))
    np.testing.assert_allclose(found(train), expected, rtol=1e-9)


def test_a_mixed_model_predicts_known_groups_and_widens_for_new_ones() -> None:
    """With given variances, the prediction is that of the multivariate normal distribution of all rows."""
    data = example()
    rows = fitting.prepare(
        source(data), Request(**{**vars_of(REQUEST), "model": "mixed", "random": ("(1 | person)",)})
    )["bits"]
    density = regressions.densities("mixed", rows, "bits", ["(1 | person)"])
    train = (data["person"] != 7) & (np.arange(240) % 5 > 0)
    found = density(train)
    from syntagm.stats import linear

    table = pl.DataFrame({**data, "person": data["person"].astype(str)})
    fit = linear.fit("time ~ length + bits + (1 | person)", table.filter(pl.Series(train)), reml=True)
    matrix = np.column_stack([np.ones(240), data["length"], data["bits"]])
    weights = np.array([each.estimate for each in fit.coefficients])
    shared = fit.groups[0].sd[0] ** 2 * (data["person"][:, None] == data["person"][None, :])
    whole = shared + fit.sigma**2 * np.eye(240)
    gap = np.linalg.solve(whole[np.ix_(train, train)], data["time"][train] - matrix[train] @ weights)
    test = ~train
    mean = matrix[test] @ weights + shared[np.ix_(test, train)] @ gap
    new = data["person"][test] == 7
    variance = fit.sigma**2 + np.where(new, fit.groups[0].sd[0] ** 2, 0)
    np.testing.assert_allclose(found, stats.norm.logpdf(data["time"][test], mean, np.sqrt(variance)), rtol=1e-6)


def vars_of(request: Request) -> dict[str, object]:
    return {name: getattr(request, name) for name in request.__dataclass_fields__}


def test_columns_that_others_determine_are_dropped_as_in_r() -> None:
    data = example()
    doubled = {**data, "twice": 2 * data["length"]}
    more = Request("time", ("length", "twice"), (Added("bits", ("bits",)),))
    plain = Request("time", ("length",), (Added("bits", ("bits",)),))
    gains = [fitting.fit(source(doubled), request).gains[0].gains for request in (more, plain)]
    np.testing.assert_allclose(gains[0], gains[1], rtol=1e-8)


def test_lags_stop_at_texts_and_participants_and_cover_every_column() -> None:
    data = {
        "participant": [1, 1, 1, 2, 2, 2, 2], "text": ["a", "a", "b", "b", "b", "b", "a"], "time": [300.0] * 7,
        "length": [1, 2, 3, 4, 5, 6, 7], "bits": [1.0, 2, 3, 4, 5, None, 7],
    }  # fmt: skip
    rows = observations.observations(source(data), "time", ["length"], [Added("m", ("bits",))], 1)
    # Only rows 2 and 5 have a row before them in the same text of the same participant, and all values.
    assert rows.frame.select("length", "length_1", "bits", "bits_1").rows() == [(2, 1, 2, 1), (5, 4, 5, 4)]
    assert rows.dropped == {"without a word before": 4, "without bits": 1}
    assert [str(term[0]) for term in (*rows.baseline, *rows.added["m"])] == ["length", "length_1", "bits", "bits_1"]


def test_splines_are_natural_and_penalised_by_their_curvature() -> None:
    values = np.random.default_rng(2).gamma(2, 3, 300)
    basis = regressions.basis(values, "bits", 7)
    heights = np.cos(basis.knots)
    reference = interpolate.CubicSpline(basis.knots, heights, bc_type="natural")
    places = np.linspace(basis.knots[0], basis.knots[-1], 50)
    found = regressions._cardinal(basis, places) @ heights
    np.testing.assert_allclose(found, reference(places), atol=1e-12)
    beyond = regressions._cardinal(basis, basis.knots[-1] + np.array([0.0, 1, 2])) @ heights
    np.testing.assert_allclose(np.diff(beyond), reference(basis.knots[-1], 1), rtol=1e-9)
    # The integral of the squared second derivative, which is linear between knots, of each curved part is 1.
    bends = basis.curvature @ basis.parts
    areas = ((bends[:-1] ** 2 + bends[:-1] * bends[1:] + bends[1:] ** 2) / 3 * np.diff(basis.knots)[:, None]).sum(
        axis=0
    )
    np.testing.assert_allclose(areas, 1, rtol=1e-8)


@pytest.mark.slow
def test_smooths_find_lines_and_curves() -> None:
    random = np.random.default_rng(11)
    bits = random.uniform(0, 12, 600)
    for shape, curved in ((3 * bits, False), (40 * np.sin(bits / 2), True)):
        data = {"time": 300 + shape + random.normal(0, 10, 600), "bits": bits, "length": random.normal(size=600)}
        request = Request("time", ("length",), (Added("bits", ("bits",)),), model="smooth")
        outcome = fitting.fit(source(data), request)
        [test] = fitting.linearity("bits", outcome.observations["bits"])
        assert (test.p < 1e-6) == curved
        assert (test.edf > 4) == curved
        straight = fitting.fit(source(data), Request(**{**vars_of(request), "model": "ols"}))
        assert (outcome.gains[0].mean > straight.gains[0].mean + 0.1) == curved


def test_intervals_have_sentences_and_participants_as_units() -> None:
    outcome = fitting.fit(source(example()), REQUEST)
    assert "random: participants, sentences" in outcome.gains[0].interval.method


def test_tokens_are_summed_to_words() -> None:
    found = joining.of_tokens(["A", " mis", "take", ",", " she", " said"], [1.0, 2, 3, 4, 5, 6])
    assert found == [("A", 1), ("mistake,", 9), ("she", 5), ("said", 6)]


def test_a_text_with_a_missing_word_is_aligned_by_its_words(tmp_path: Path) -> None:
    shown = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    (tmp_path / "times.csv").write_text(
        "\n".join(["word,position,time", *(f"{word},{at},300" for at, word in enumerate(shown, 1))])
    )
    others = [word for word in shown if word != "three"]
    (tmp_path / "scores.csv").write_text("\n".join(["word,bits", *(f"{word},{len(word)}" for word in others)]))
    times, scores = (tables.interpret(tables.open_table(tmp_path / f"{name}.csv"), {}) for name in ("times", "scores"))
    joined = joining.join(times, scores, joining.Rules())
    assert [(one.shown, one.scored) for one in joined.mismatches] == [("three", "")]
    assert joined.words["bits"].to_list() == [3, 3, None, 4, 4, 3, 5, 5]


def test_missing_values_are_no_words(tmp_path: Path) -> None:
    """The word NA is a word; an NA in a column of numbers is missing."""
    (tmp_path / "times.csv").write_text("word,position,time\nNA,1,300\nnull,2,NA\n")
    frame = tables.interpret(tables.open_table(tmp_path / "times.csv"), {}).frame
    assert frame.select("word", "time").rows() == [("NA", 300), ("null", None)]


def test_strong_spillover_rings_no_alarm_and_a_shift_does() -> None:
    random = np.random.default_rng(4)
    bits, length = random.gamma(2, 3, 1500), random.integers(2, 10, 1500).astype(float)
    time = 250 + 4 * length + 2 * bits + 6 * np.roll(bits, 1) + 3 * np.roll(bits, 2) + random.normal(0, 30, 1500)
    frame = pl.DataFrame(
        {
            "text": ["a"] * 1500,
            "position": np.arange(1500.0),
            "time": time,
            "bits": bits,
            "length": length,
            "line": np.arange(1500),
        }
    )
    assert alarms.alarms(frame) == []
    shifted = alarms.alarms(frame.with_columns(time=pl.col("time").shift(-1)))
    assert [alarm.code for alarm in shifted] == ["lag"]


def test_two_regions_and_two_texts_are_alarms_of_their_own() -> None:
    words = {
        "text": ["a"] * 3,
        "position": [1.0, 1, 2],
        "word": ["x", "x", "y"],
        "region": ["n", "v", "v"],
        "line": [1, 2, 3],
    }
    assert [alarm.code for alarm in alarms.alarms(pl.DataFrame(words))] == ["two_regions"]


def test_escapes_in_words_are_read_and_other_symbols_ring() -> None:
    words = ["Before", "supper%2C", "the", "kite", "rose."] * 2
    frame = {
        "text": [1] * 5 + [2] * 5,
        "position": [*range(5)] * 2,
        "word": words,
        "time": [310.0, 330, 320, 350, 345] * 2,
    }
    read = tables.interpret(source(frame), {})
    assert read.frame["word"][1] == "supper,"
    # Without punctuation, 6 letters; `supper%2C` has 9.
    assert alarms.letters(read.frame["word"])[1] == 6
    assert "2 of 10 rows with escapes such as %2C in the word, which are read as the characters" in read.notes
    assert [alarm for alarm in alarms.alarms(read.frame) if alarm.code == "symbols"] == []
    spaced = tables.interpret(source(frame | {"word": [" rose", *words[1:]]}), {})
    assert spaced.frame["word"][0] == "rose"
    assert "2 of 10 rows with escapes" in " ".join(spaced.notes)
    cut = [*words[:5], "Before", "supper", ",", "it", "did", "n't", "rise", "<eos>", "&amp;", "~."]
    frame = {"text": [1] * 5 + [2] * 10, "position": [*range(5), *range(10)], "word": cut, "time": [330.0] * 15}
    [alarm] = [alarm for alarm in alarms.alarms(tables.interpret(source(frame), {}).frame) if alarm.code == "symbols"]
    # The comma is in the third row of the second text, in line 9 of the file.
    assert (alarm.count, alarm.line) == (5, 9)
    assert "',' 1, \"n't\" 1, '<eos>' 1, '&amp;' 1, '~.' 1" in alarm.message
    # French puts blanks before these marks, and Dutch writes the night so.
    for words in (["Qui", "dort", "?", "Elle", "!"], ["Hij", "slaapt", "'s", "nachts", "niet."]):
        sound = {"text": [1] * 5, "position": [*range(5)], "word": words, "time": [330.0, 340, 350, 360, 370]}
        assert [a for a in alarms.alarms(tables.interpret(source(sound), {}).frame) if a.code == "symbols"] == []
    # A table of surprisals may have the tokens of a treebank, but no symbols.
    tokens = {"text": [1] * 3, "position": [0, 1, 2], "word": ["did", "n't", "</s>"], "bits": [3.0, 1.0, 2.0]}
    [alarm] = alarms.alarms(tables.interpret(source(tokens), {}).frame)
    assert (alarm.code, alarm.count, alarm.line) == ("symbols", 1, 4)


def test_the_slopes_of_effects_are_those_of_least_squares_with_robust_errors() -> None:
    """One sentence a row: the variance is that of leaving out one row after another, close to White's."""
    data = example() | {"sentence": np.arange(240), "person": np.zeros(240)}
    rows = fitting.prepare(source(data), REQUEST)["bits"]
    number = effects.slopes("bits", rows, fitting.clusters(rows)).predict(np.array([1.0]))
    matrix = np.column_stack([np.ones(240), data["length"], data["bits"]])
    inverse = np.linalg.inv(matrix.T @ matrix)
    weights = inverse @ matrix.T @ data["time"]
    residual = data["time"] - matrix @ weights
    white = inverse @ (matrix.T @ (matrix * residual[:, None] ** 2)) @ inverse
    assert number.value == pytest.approx(weights[2])
    assert number.variance == pytest.approx(white[2, 2], rel=0.03)


def test_layouts_have_the_roles_of_a_join() -> None:
    for layout in roles.LAYOUTS:
        assert {"time", "text", "position", "word"} <= layout.columns.keys(), layout.name
        assert roles.find_layout(layout.name) is layout
    with pytest.raises(SyntagmError, match="Did you mean provo"):
        roles.find_layout("Provo")


@pytest.mark.slow
def test_natural_stories(shared: Path) -> None:
    """10,256 words are aligned with GPT-3's tokens; the lag alarm rings, and falls silent when times are moved."""
    folder = shared / "data" / "reading" / "natural_stories"
    times = tables.interpret(tables.open_table(folder / "processed_wordinfo.tsv"), {})
    tokens = tables.interpret(
        tables.open_table(folder / "all_stories_gpt3.csv"), {"text": ("story",)}, unused=("time",)
    )
    with pytest.raises(InputError, match="--texts order"):
        joining.join(times, tokens, joining.Rules())
    joined = joining.join(times, tokens, joining.Rules(texts="order"))
    assert (joined.words.height, joined.matched) == (10_256, 10_255)
    assert [(one.shown, one.scored) for one in joined.mismatches] == [("peaked", "peeked")]
    frame = joined.words.join(
        times.frame.select("text", "position", "time"), on=["text", "position"], maintain_order="left"
    )
    assert [alarm.code for alarm in alarms.alarms(frame)] == ["lag"]
    assert alarms.alarms(frame.with_columns(time=pl.col("time").shift(1).over("text"))) == []


def test_a_column_of_the_name_line_is_a_predictor() -> None:
    """The line of a row in its file is not the user's column `line`, such as the line on a screen."""
    data = example()
    renamed = {"line" if name == "length" else name: values for name, values in data.items()}
    found = [
        fitting.fit(source(table), Request("time", (name,), REQUEST.added, lags=1)).gains[0].gains
        for table, name in ((data, "length"), (renamed, "line"))
    ]
    np.testing.assert_array_equal(found[0], found[1])


def test_texts_of_two_languages_are_different_texts() -> None:
    """Texts are numbered within languages: for folds, units of intervals, exclusions and alarms."""
    data = example() | {"text": np.arange(240) // 60 % 2, "language": np.array(["en", "de"])[np.arange(240) // 120]}
    rows = fitting.prepare(source(data), REQUEST)["bits"]
    assert len(set(rows.label("text") or [])) == 4
    frame = pl.DataFrame({
        "language": ["en"] * 2 + ["de"] * 3, "text": ["1"] * 5, "position": [1.0, 2, 1, 2, 3], "sentence": ["1"] * 5,
        "word": ["a", "b", "c", "d", "e"], "time": [300.0, 310, 400, 420, 430], "line": range(5),
    })  # fmt: skip
    for switch, expected in (("last_words", [1, 4]), ("sentence_first", [0, 2]), ("sentence_last", [1, 4])):
        excluded = exclusions.reasons(frame, exclusions.Exclusions((switch,)), "times.csv")
        assert excluded.is_not_null().arg_true().to_list() == expected, switch
    means = alarms.word_means(frame)
    assert means is not None
    assert sorted(means["time"].to_list()) == [300, 310, 400, 420, 430]


def test_a_region_with_a_word_without_bits_has_none() -> None:
    words = pl.DataFrame({
        "item": ["1"] * 4, "condition": ["a"] * 4, "region": ["r", "s", "s", "t"], "position": [1.0, 2, 3, 4],
        "bits": [3.0, None, 5, 7], "line": [2, 3, 4, 5],
    })  # fmt: skip
    chosen = {name: (name,) for name in words.columns}
    readings = tables.Readings(words, chosen, Source(Path("words.csv"), words, pl.Series("line", range(4)), ""), ())
    found = effects.region_amounts(readings, None, costs.given([1.0, 1.0])).select("region", "0", "1").rows()
    assert found == [("r", 3, 0), ("s", None, None), ("t", 7, 5)]


def test_mismatches_of_every_model_are_listed(tmp_path: Path) -> None:
    shown = ["one", "two", "three", "four"]
    (tmp_path / "times.csv").write_text(
        "\n".join(["word,position,time", *(f"{word},{at},300" for at, word in enumerate(shown))])
    )
    scored = [("a", at, word) for at, word in enumerate(shown)] + [
        ("b", at, word) for at, word in enumerate(["one", "2", "three", "four"])
    ]
    (tmp_path / "scores.csv").write_text(
        "\n".join(["model,position,word,bits", *(f"{model},{at},{word},1" for model, at, word in scored)])
    )
    times, scores = (tables.interpret(tables.open_table(tmp_path / f"{name}.csv"), {}) for name in ("times", "scores"))
    joined = joining.join(times, scores, joining.Rules())
    assert [(one.shown, one.scored) for one in joined.mismatches] == [("two", "2")]
    assert joined.matched == 3
    assert joined.words["bits_b"].to_list() == [1, None, 1, 1]


def test_a_damaged_table_or_record_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`syntagm integrity` knows the records beside the tables of `syntagm reading`, and what they seal."""
    path = tmp_path / "gains.csv"
    sealed = record.write(path, b"a,b\n1,2\n", "reading fit", {}, {}, {})
    assert main(["integrity", str(tmp_path), "--all"]) == 0
    assert "2 whole" in capsys.readouterr().out
    path.write_bytes(b"a,b\n1,3\n")
    for place in (tmp_path, path):
        assert main(["integrity", str(place)]) == 1
        assert f"damaged    {path}: damaged or edited" in capsys.readouterr().out
    assert main(["integrity", str(sealed)]) == 0
    path.unlink()
    assert main(["integrity", str(tmp_path)]) == 1
    assert "no such file" in capsys.readouterr().out
    sealed.write_text(sealed.read_text().replace("reading fit", "reading fat"))
    assert main(["integrity", str(sealed)]) == 1
    assert "does not fit its seal" in capsys.readouterr().out
    sealed.unlink()
    (tmp_path / ("other" + record.ENDING)).symlink_to("/dev/zero")
    assert main(["integrity", str(tmp_path)]) == 1


def test_columns_without_a_coefficient_are_said() -> None:
    """A gain of 0 may come from a column that others determine; a level that training lacks has no effect."""
    data = example() | {"class": np.where(np.arange(240) < 9, "x", "n")}
    table = source(data | {"twice": 2 * data["length"]})
    outcome = fitting.fit(table, Request("time", ("length", "class"), (Added("bits", ("twice",)),)))
    assert outcome.gains[0].mean == pytest.approx(0, abs=1e-9)
    assert outcome.notes == (
        "warning: twice has no coefficient, as the columns before it determine it",
        "warning: classx is 0 in all training rows of fold 1, so its effect on the others counts as 0",
    )
    assert fitting.fit(source(example()), REQUEST).notes == ()


def test_a_constant_predictor_is_no_warning_of_numpy(recwarn: pytest.WarningsRecorder) -> None:
    frame = pl.DataFrame({"word": ["a", "bb"] * 200, "bits": [1.0] * 400, "frequency": [2.0, 1] * 200})
    assert alarms.alarms(frame.with_columns(line=pl.int_range(pl.len()))) == []
    assert not recwarn.list


def test_effects_by_lag_are_those_of_the_words_beside_a_word() -> None:
    """Words without a time are dropped from the regression, but are still the words before and after others."""
    random = np.random.default_rng(8)
    bits = random.gamma(2, 3, 900)
    time = 300 + 2 * bits + 5 * np.roll(bits, 1) + random.normal(0, 1, 900)
    time[random.random(900) < 0.3] = np.nan
    table = source({"time": time, "bits": bits, "length": random.normal(size=900)})
    lags = views.table("lag", analyses.of_outcome(fitting.fit(table, Request("time", ("length",), REQUEST.added, 2))))
    found = {row[3]: row[4] for row in lags.rows}
    assert [found[lag] for lag in (-1, 0, 1, 2)] == pytest.approx([0, 2, 5, 0], abs=0.1)


def test_effects_by_lag_follow_positions_not_rows() -> None:
    """A table that is sorted by its words has the same effects; positions that count anew in sentences say nothing."""
    random = np.random.default_rng(9)
    bits, position = random.gamma(2, 3, 400), np.arange(400) % 200
    time = 300 + 2 * bits + 5 * np.roll(bits, -1) + random.normal(0, 1, 400)
    columns = {"time": time, "bits": bits, "length": random.normal(size=400), "text": np.arange(400) // 200}
    shuffled = random.permutation(400)

    def effects(order: np.ndarray, position: np.ndarray) -> list[float]:
        table = {name: values[order] for name, values in (columns | {"position": position}).items()}
        rows = fitting.prepare(source(table), Request("time", ("length",), REQUEST.added))["bits"]
        found = analyses.next_word("bits", rows, "ols", ())
        assert found is not None
        return found.values.tolist()

    in_order = effects(np.arange(400), position)
    assert in_order == pytest.approx([2, 5], abs=0.1)
    assert effects(shuffled, position) == pytest.approx(in_order)
    assert effects(np.arange(400), position % 20) == pytest.approx(in_order)


def test_a_model_named_like_a_lag_of_another_is_refused() -> None:
    words = pl.DataFrame({"text": ["1"] * 3, "position": [1.0, 2.0, 3.0], "word": ["a", "b", "c"]})
    times = tables.interpret(
        source({"word": ["a", "b", "c"], "text": [1] * 3, "position": [1, 2, 3], "time": [300.0] * 3}), {}
    )
    scored = words.with_columns(bits_lstm=pl.lit(1.0), bits_lstm_1=pl.lit(2.0))
    with pytest.raises(UsageError, match="bits_lstm_1"):
        predictors.predictors(times, scored, predictors.Options(spillover=1), None)
    table = predictors.predictors(times, scored, predictors.Options(spillover=0), None)
    assert table.frame["bits_lstm_1"].to_list() == [2.0] * 3


def test_slopes_of_several_predictors_are_those_of_a_mixed_model() -> None:
    """The variance of a weighted sum is that of the fit's covariance, and its degrees of freedom are Satterthwaite's."""
    from syntagm.stats import linear

    data = example()
    added = (Added("m", ("bits", "length")),)
    request = Request("time", ("sentence",), added, 1, "mixed", random=("(1 | person)",), given=REQUEST.given)
    rows = fitting.prepare(source(data), request)["m"]
    found = effects.slopes("m", rows, fitting.clusters(rows), request.random)
    places = ["bits of the word", "length of the word", "bits of 1 before", "length of 1 before"]
    assert (list(map(str, found.places)), found.predictors) == (places, ["bits", "length"])
    table = rows.frame.with_columns(person=pl.col("(person)"))
    names = "sentence + sentence_1 + bits + length + bits_1 + length_1"
    fit = linear.fit(f"time ~ {names} + (1 | person)", table, reml=True)
    for number, name in enumerate(("bits", "length", "bits_1", "length_1")):
        [tested] = [each for each in fit.tests() if each.name == name]
        own = found.predict(np.eye(4)[number])
        assert own.value == pytest.approx(tested.estimate, rel=1e-6)
        assert own.ends == pytest.approx((tested.low, tested.high), rel=1e-4)
    weights = np.array([1.0, 2, 0, 0])
    at = [[each.name for each in fit.coefficients].index(name) for name in ("bits", "length")]
    variance = weights[:2] @ fit.covariance[np.ix_(at, at)] @ weights[:2]
    assert found.predict(weights).variance == pytest.approx(variance, rel=1e-6)


def test_predictors_of_regions_come_from_the_words_or_are_refused() -> None:
    words = pl.DataFrame({
        "item": ["1"] * 2, "condition": ["a"] * 2, "region": ["r", "s"], "position": [1.0, 2], "bits": [3.0, 5],
        "word": ["(The", "captain."], "frequency": ["7", "4.5"], "line": [2, 3],
    })  # fmt: skip
    chosen = {name: (name,) for name in words.columns}
    readings = tables.Readings(words, chosen, Source(Path("words.csv"), words, pl.Series("line", range(2)), ""), ())

    def slopes(*names: str) -> costs.Slopes:
        places = tuple(costs.Place(name, 0) for name in names)
        return costs.Slopes("m", places, np.ones(len(names)), None, 0)

    found = effects.region_amounts(readings, None, slopes("bits_gpt2", "length", "frequency"))
    assert found.select("0", "1", "2").rows() == [(3, 3, 7), (5, 7, 4.5)]
    with pytest.raises(InputError, match="no column entropy"):
        effects.region_amounts(readings, None, slopes("bits", "entropy"))


def test_a_fit_by_language_is_that_of_each_language_alone(tmp_path: Path) -> None:
    """One model a language, texts whose names recur, folds and lags within a language."""
    data = example() | {"text": np.arange(240) // 60 % 2, "language": np.array(["en", "de"])[np.arange(240) // 120]}
    request = Request(**{**vars_of(REQUEST), "lags": 2})
    outcome = fitting.fit(source(data), Request(**{**vars_of(request), "by": "language"}))
    frame = outcome.frame()
    assert frame.columns == ["language", "model", "fold", "n", "loglik_baseline", "loglik", "gain"]
    for language in ("en", "de"):
        alone = fitting.fit(source(data), Request(**{**vars_of(request), "where": (f"language={language}",)})).frame()
        assert frame.filter(language=language).drop("language").equals(alone)


def test_separate_accents_change_no_length_and_no_frequency(tmp_path: Path) -> None:
    rows = [("x", 1, "„Café,“"), ("x", 2, "naïve."), ("y", 1, "Cafe\u0301"), ("y", 2, "nai\u0308ve.")]
    (tmp_path / "frequencies.csv").write_text("word,frequency\ncafe\u0301,3\nnaïve,4\n")
    path = tmp_path / "times.csv"
    path.write_text(
        "text,position,word,time\n" + "".join(f'{text},{place},"{word}",300\n' for text, place, word in rows)
    )
    times = tables.interpret(tables.open_table(path), {})
    of = predictors.frequency(str(tmp_path / "frequencies.csv"), NONE)
    words = joining.shown_words(times).with_columns(bits=1.0)
    table = predictors.predictors(times, words, predictors.Options(), of).frame
    assert table.select("length", "frequency").rows() == [(4, 3), (5, 4)] * 2
    assert table["sentence"].to_list() == ["1"] * 4, "a text begins with its first sentence"


def test_a_name_is_the_same_whatever_its_accents_are_written_as(tmp_path: Path) -> None:
    """One participant and one condition, in a table that two programs wrote; words stay as they were shown."""
    rows = [("Jose\u0301", 1, "nai\u0308ve", "pro\u0301"), ("José", 2, "too", "pró")]
    path = tmp_path / "times.csv"
    text = "participant,text,position,word,condition,time\n"
    path.write_text(text + "".join(f"{who},x,{at},{word},{of},300\n" for who, at, word, of in rows))
    frame = tables.interpret(tables.open_table(path), {}).frame
    assert frame.select("participant", "condition", "word").rows() == [
        ("José", "pró", "nai\u0308ve"),
        ("José", "pró", "too"),
    ]
    assert observations.meeting(tables.open_table(path), ["participant=Jose\u0301"]).all()
    assert effects.read_contrast("pro\u0301-nul", ["pró", "nul"]) == effects.Contrast("pró", "nul")


def test_effects_of_people_are_about_the_items_of_the_predicted_ones(tmp_path: Path) -> None:
    """Item 2 has no bits under b: its 900 ms don't count either, but in the region before."""
    rows = [(item, of, region) for item in "12" for of in "abc" for region in ("n", "v")]
    (tmp_path / "words.csv").write_text("item,condition,region,position,word,bits\n" + "".join(
        f"{item},{of},{region},{at % 2},x,{'NA' if (item, of, region) == ('2', 'b', 'v') or of == 'c' else at}\n"
        for at, (item, of, region) in enumerate(rows)
    ))  # fmt: skip
    (tmp_path / "times.csv").write_text("participant,item,condition,region,time\n" + "".join(
        f"{who},{item},{of},{region},{900 if item + of == '2a' else 300 if of == 'a' else 280}\n"
        for who in "pq" for item, of, region in rows
    ))  # fmt: skip
    words, times = (
        tables.interpret(tables.open_table(tmp_path / f"{name}.csv"), {}, unused=("text",))
        for name in ("words", "times")
    )
    contrast = effects.Contrast("a", "b")
    amounts = effects.region_amounts(words, None, costs.given([1.0]))
    kept, items, left_out = effects.shared(amounts, times, contrast)
    assert items is not None
    assert items.rows() == [("", "n", "1"), ("", "v", "1"), ("", "n", "2")]
    assert left_out.endswith("conditions: 1 item of --words and 1 item of --people")
    found = effects.of_people(times, contrast, items=items)
    assert (found["", "n", ""].value, found["", "v", ""].value) == (320, 20)
    assert [row.items for row in effects.effects(costs.given([1.0]), kept, contrast, found)] == [2, 1]


def test_effects_are_about_the_items_that_words_and_people_both_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words have items 1, 2, and 4 under one condition; people 1, 3 and 4. Only item 1 counts: 5 bits and 10 ms."""
    bits = {"1a": 6, "1b": 1, "2a": 16, "2b": 1, "4a": 50}
    ms = {"1a": 310, "1b": 300, "3a": 900, "3b": 300, "4a": 5000, "4b": 100}
    words, people = tmp_path / "words.csv", tmp_path / "people.csv"
    words.write_text("item,condition,region,position,word,bits\n" + "".join(
        f"{place[0]},{place[1]},v,1,w,{number}\n" for place, number in bits.items()
    ))  # fmt: skip
    lines = [f"{who},{place[0]},{place[1]},v,{number}\n" for who in "pq" for place, number in ms.items()]
    people.write_text("participant,item,condition,region,time\n" + "".join(lines))
    command = ["reading", "effects", "--ms-per-bit", "1", "--words", str(words), "--people", str(people)]
    command += ["--contrast", "a-b", "--times", "words", "-o", str(tmp_path / "effects.csv")]
    assert main(command) == 0
    [row] = pl.read_csv(tmp_path / "effects.csv").rows(named=True)
    assert (row["items"], row["predicted"], row["people"]) == (1, 5, 10)
    assert "both conditions: 2 items of --words and 2 items of --people" in capsys.readouterr().err
    # A region for which people have none of its items has all those of the words.
    people.write_text("participant,item,condition,region,time\n" + "".join(lines).replace(",v,", ",x,"))
    assert main([*command, "--force"]) == 0
    [row] = pl.read_csv(tmp_path / "effects.csv").rows(named=True)
    assert (row["items"], row["predicted"], row["people"]) == (2, 10, "nan")
    people.write_text("participant,unit,condition,region,time\n" + "".join(lines))
    assert main([*command, "--force"]) == 0
    assert "the items of --people are not known" in capsys.readouterr().err
    assert main([*command, "--force", "--by-item"]) == 2
    assert "no column for item" in capsys.readouterr().err


def test_unknown_words_are_not_excluded_from_a_table_that_cannot_tell_them() -> None:
    unknown = exclusions.Exclusions(("unknown",))
    frame = pl.DataFrame({"word": ["a", "b"], "known_m": [True, False], "known_n": [True, True]})
    assert exclusions.reasons(frame, unknown, "times.csv").to_list() == [None, "unknown word"]
    with pytest.raises(InputError, match="no column for known"):
        exclusions.reasons(frame.select("word"), unknown, "times.csv")


def test_a_question_counts_once_however_long_its_text_is() -> None:
    """Right about two short texts and wrong about a long one: two of three questions, but two of five words."""
    answers = [("a", "x", True), ("a", "y", True), *[("a", "z", False)] * 3, ("b", "x", False), ("b", "y", False)]
    frame = pl.DataFrame(answers, schema=["participant", "text", "correct"], orient="row")
    excluded = exclusions.reasons(frame, exclusions.Exclusions(accuracy=0.6), "times.csv")
    assert excluded.to_list() == [None] * 5 + ["participant with accuracy below 0.6"] * 2
    # A question after each sentence.
    within = frame.with_columns(text=pl.lit("story"), sentence=pl.col("text"))
    assert exclusions.reasons(within, exclusions.Exclusions(accuracy=0.6), "times.csv").equals(excluded)
    # Answers of words, as far as can be told.
    loose = within.drop("sentence")
    assert exclusions.reasons(loose, exclusions.Exclusions(accuracy=0.6), "times.csv").null_count() == 0
    assert "rows of 1 answer of 2 contradict" in exclusions.notes(loose, exclusions.Exclusions(accuracy=0.6))[1]


def test_a_contradictory_answer_changes_its_own_question_alone() -> None:
    """Of five rows about one of b's texts, one says right: a fifth of an answer. The accuracy of a is two thirds still."""
    answers = [("a", "x", True), ("a", "y", True), *[("a", "z", False)] * 3, ("b", "x", True), *[("b", "y", False)] * 4]
    frame = pl.DataFrame([*answers, ("b", "y", True)], schema=["participant", "text", "correct"], orient="row")
    for sentences in ({}, {"sentence": pl.lit("s")}):
        table = frame.with_columns(**sentences)
        for limit, kept in ((0.59, 11), (0.61, 5), (0.66, 5), (0.67, 0)):
            rules = exclusions.Exclusions(accuracy=limit)
            assert exclusions.reasons(table, rules, "times.csv").null_count() == kept
        assert exclusions.notes(table, rules) == [
            "accuracy_below: one answer for each text (2 participants)",
            "warning: accuracy_below: rows of 1 answer of 5 contradict one another; such an answer counts as the share of its "
            "rows that are right",
        ]
    unknown = frame.with_columns(correct=pl.lit(None, pl.Boolean))
    assert exclusions.notes(unknown, rules) == ["accuracy_below: no answers of participants"]


@pytest.mark.parametrize("unit", ["item", "sentence"])
def test_a_question_counts_once_without_a_column_of_texts(unit: str) -> None:
    """Right about an item of ten rows, wrong about one of two: a half. Half of the questions, not .83 of the rows."""
    frame = pl.DataFrame({"participant": "p", unit: [1] * 10 + [2] * 2, "correct": [True] * 10 + [False] * 2})
    for limit, kept in ((0.6, 0), (0.5, 12)):
        assert exclusions.reasons(frame, exclusions.Exclusions(accuracy=limit), "x").null_count() == kept
    with pytest.raises(InputError, match="no column for text, item or sentence"):
        exclusions.reasons(frame.drop(unit), exclusions.Exclusions(accuracy=0.6), "times.csv")


def test_a_condition_that_is_called_null_is_said_to_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("participant,text,position,word,time,condition\na,1,1,It,300,null\na,1,2,rains,310,overt\n")
    notes = tables.interpret(tables.open_table(path), {}).notes
    assert notes[-1] == "1 of 2 rows without condition (null is a missing value)"


def test_words_that_where_and_by_leave_out_are_words_before_others() -> None:
    """The content words of a text have the words before them as lags; rows of another model are no words before."""
    rows = 60
    data = {name: example()[name][:rows] for name in ("time", "bits", "length")}
    data |= {"text": np.arange(rows) // 20, "position": np.arange(rows) % 20, "class": np.arange(rows) % 3}
    request = Request("time", ("length",), (Added("bits", ("bits",)),), lags=1)
    before = dict(zip(range(2, rows + 2), [None, *data["bits"]], strict=False))

    def lags(data: dict[str, object], **changed: object) -> dict[int, float]:
        parts = fitting.prepare(source(data), Request(**{**vars_of(request), **changed}))
        return {
            line: bits for part in parts.values() for line, bits in part.frame[[observations.LINE, "bits_1"]].rows()
        }

    words = [row for row in range(rows) if row % 20]
    assert lags(data, by="class") == {row + 2: before[row + 2] for row in words}
    assert lags(data, where=("class=1",)) == {row + 2: before[row + 2] for row in words if row % 3 == 1}
    # Two versions of each word, one after the other.
    double = {name: np.repeat(column, 2) for name, column in data.items()} | {"lm2": np.tile(["a", "b"], rows)}
    found = lags(double, where=("lm2=b", "class=1"))
    assert found == {2 * row + 3: before[row + 2] for row in words if row % 3 == 1}
    unplaced = {name: column for name, column in data.items() if name != "position"}
    [part] = fitting.prepare(source(unplaced), Request(**{**vars_of(request), "where": ("class=1",)})).values()
    assert "19 rows follow rows that --where leaves out" in part.notes[1]


def test_positions_that_start_anew_in_each_sentence_make_no_versions() -> None:
    """Classes of words alternate over sentences of three words; lm2 has versions, one after the other or side by side."""
    rows = 6
    data: dict[str, Sequence[object]] = {
        "time": np.arange(rows) + 300.0, "length": np.arange(rows) + 1.0, "text": ["t"] * rows,
        "wordinsentence": [1, 2, 3, 1, 2, 3], "cls": [*"ababab"],
    }  # fmt: skip

    def lags(
        data: Mapping[str, object], where: tuple[str, ...], by: str = ""
    ) -> tuple[list[tuple[int, float]], list[str]]:
        found = observations.observations(source({**data}), "time", ("length",), (), 1, where=where, by=by)
        return found.frame.sort(observations.LINE)[[observations.LINE, "length_1"]].rows(), list(found.notes)

    for where, by, kept in ((("cls=a",), "", (2, 4)), (("cls=b",), "", (1, 3, 5)), ((), "cls", range(1, 6))):
        found, notes = lags(data, where, by)
        assert found == [(row + 2, row) for row in kept]
        assert not any("versions" in note for note in notes)
    side_by_side = [(row, version) for row in range(rows) for version in "ab"]
    for order in (side_by_side, sorted(side_by_side, key=lambda each: each[1])):
        double = {name: [column[row] for row, _ in order] for name, column in data.items()}
        double["lm2"] = [version for _, version in order]
        found, notes = lags(double, ("lm2=b", "cls=a"))
        assert found == [(order.index((row, "b")) + 2, row) for row in (2, 4)]
        assert "lags stop at lm2, whose values are taken for versions of the same words" in notes


def test_values_that_stand_for_missing_ones_are_missing_at_every_lag() -> None:
    data = {name: example()[name][:40].astype(float) for name in ("time", "bits", "length")}
    data["length"][[7, 20]] = np.inf, 0
    request = Request("time", ("length",), REQUEST.added, 1)
    with pytest.raises(InputError, match="--missing length=inf"):
        fitting.prepare(source(data), request)
    rows = fitting.prepare(source(data), Request(**{**vars_of(request), "missing": ("length=inf", "length=0")}))["bits"]
    assert rows.notes[0] == "missing by --missing: 2 values of length"
    assert sorted({*range(2, 42)} - {*rows.frame[observations.LINE]}) == [2, 9, 10, 22, 23]
    for wrong in ("length", "length=x", "word=0"):
        with pytest.raises(UsageError, match="--missing"):
            fitting.prepare(source(data), Request(**{**vars_of(request), "missing": (wrong,)}))


@pytest.mark.slow
def test_entropies_of_words_are_those_before_their_first_tokens() -> None:
    """The n-gram model of the toy family has one distribution a token; windows and word borders don't matter to it."""
    words = ["The", "dog", "barks", "The", "cat", "sleeps"]
    frame = {"word": words, "text": [0, 0, 0, 1, 1, 1], "position": [1, 2, 3] * 2, "time": [300.0] * 6}
    times = tables.interpret(source(frame), {})
    model = load("demo")
    scored, *_ = predictors.score(times, {"demo": model}, "text", entropy=True)
    expected = []
    for answer in model.reduce(["The dog barks", "The cat sleeps"]):
        assert answer.reductions is not None
        firsts = [list(answer.starts).index(at) for at in (0, 3, 7)]
        expected += answer.reductions.entropy[firsts].tolist()
    assert scored["entropy"].to_list() == pytest.approx(expected, abs=1e-6)
    plain, *_ = predictors.score(times, {"demo": model}, "text")
    assert scored["bits"].to_list() == pytest.approx(plain["bits"].to_list(), abs=1e-6)
    with pytest.raises(UsageError, match="can't tell entropies"):
        predictors.score(times, {"demo": load("demo?boundary=word")}, "text", entropy=True)


def test_each_language_has_a_model_of_its_own() -> None:
    words = {
        "language": ["en", "en", "de", "de"],
        "text": [1] * 4,
        "position": [1, 2] * 2,
        "word": ["a", "dog", "ein", "Hund"],
    }
    times = tables.interpret(source(words | {"time": [300.0] * 4}), {})
    load_them = {"en": lambda: load("toy"), "de": lambda: load("random:?seed=3")}
    scored, *_ = predictors.score_languages(times, load_them, "text")
    assert scored["text"].to_list() == ["en/1", "en/1", "de/1", "de/1"]
    alone, *_ = predictors.score(
        replace(times, frame=times.frame.filter(language="de")), {"m": load("random:?seed=3")}, "text"
    )
    assert scored["bits"].to_list()[2:] == alone["bits"].to_list()
    some, none = (predictors.Frequency(lambda words, each=each: [each] * len(words), "") for each in (1.0, None))
    of = {"en": some, "de": none}
    numbers, notes = predictors.frequencies(times, scored, of)
    assert (numbers.to_list(), len(notes)) == ([1, 1, None, None], 2)
    for given in ({"en": load_them["en"]}, {}):
        with pytest.raises(UsageError, match="none for"):
            predictors.score_languages(times, given, "text")


@pytest.mark.slow
def test_an_analysis_shows_again_what_the_fit_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables, figures, the page and the citations come from the sealed record, and have the numbers of the fit."""
    path, page = tmp_path / "table.csv", tmp_path / "page.html"
    pl.DataFrame(example()).write_csv(path)
    common = ["--response", "time", "--baseline", "length", "--add", "one=bits", "--columns", "participant=person"]
    assert main(["reading", "fit", str(path), *common, "--add", "two=text", "-o", str(tmp_path / "gains.csv")]) == 0
    capsys.readouterr()
    request = Request("time", ("length",), (Added("one", ("bits",)), Added("two", ("text",))), given=REQUEST.given)
    outcome = fitting.fit(source({name: values.astype(float) for name, values in example().items()}), request)
    gains = [str(tmp_path / "gains.csv")]
    found = views.table("gain", gains)
    assert [row[:4] for row in found.rows] == [
        ("gains", one.model, 240, pytest.approx(one.mean)) for one in outcome.gains
    ]
    assert views.table("gain", gains, pairs=True).rows[0][3] == pytest.approx(outcome.differences[0].value)
    lags = views.table("lag", analyses.of_outcome(outcome)).rows
    assert [row[1:] for row in lags] == [pytest.approx(row[1:]) for row in views.table("lag", gains).rows]
    assert views.figure("gain", gains).table["value"].to_list() == pytest.approx([one.mean for one in outcome.gains])
    assert main(["table", "lag", *gains]) == 0
    assert main(["cite", *gains]) == 0
    said = capsys.readouterr().out
    keys = analyses.cited(analyses.open_analyses(gains))
    assert all(f"{{{key}," in said for key in keys)
    assert main(["report", *gains, "-o", str(page)]) == 0
    shown = page.read_text()
    assert all(f'id="reading-{name}"' in shown for name in ("gain", "pairs", "lag", "record"))
    with pytest.raises(UsageError, match="an analysis of `reading fit`"):
        views.table("ms", gains)
    assert f"{outcome.gains[0].mean:.6f}" in views.table("gain", gains).markdown()
    # As pages of a folder, and on a server: alone, and beside suites.
    folder = tmp_path / "pages"
    assert main(["report", *gains, "-o", f"{folder}/"]) == 0
    assert 'id="reading-lag"' in (folder / "index.html").read_text()
    saved = pl.read_csv(folder / "index.reading-gain.csv")["gain"].to_list()
    assert saved == pytest.approx([one.mean for one in outcome.gains])
    shelf = Shelf([], suites=[pairs()], reading=gains)
    assert 'href="/reading"' in shelf.site.html((), Served(), shell.LINKED)
    assert f"{outcome.gains[0].mean:.6f}" in shelf.site.html(("reading",), Served(), shell.LINKED)
    (tmp_path / "gains.csv").write_text("model,fold\n")
    with pytest.raises(SyntagmError, match="damaged or edited"):
        views.table("gain", gains)
    with pytest.raises(InputError, match="no record"):
        views.table("gain", str(path))


def test_effects_in_ms_are_shown_for_people_and_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        ("s", item, condition, region, at, bits + (condition == "a") * region_bits)
        for item in range(4)
        for condition in "ab"
        for at, (region, bits, region_bits) in enumerate([("verb", 3.0, 2.0 + item), ("end", 2.0, 0.0)])
    ]
    names = ["suite", "item", "condition", "region", "position", "bits"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "words.csv")
    line = ["reading", "effects", "--ms-per-bit", "2,1", "--words", str(tmp_path / "words.csv"), "--contrast", "a-b"]
    line += ["--times", "words"]
    assert main([*line, "-o", str(tmp_path / "effects.csv")]) == 0
    shown = views.figure("ms", str(tmp_path / "effects.csv")).table
    # 2 + item bits more at the verb: 3.5 in the mean, twice that in ms; the word after it has half of that by spillover.
    assert shown.select("region", "of", "ms").rows() == [
        ("verb", "predicted, given", 7.0),
        ("end", "predicted, given", 3.5),
    ]
    assert main(["report", str(tmp_path / "effects.csv"), "-o", str(tmp_path / "page.html")]) == 0
    assert 'id="reading-ms"' in (tmp_path / "page.html").read_text()
    with pytest.raises(UsageError, match="suite="):
        views.table("ms", str(tmp_path / "effects.csv"), suite="other")


def test_names_in_tables_are_those_of_other_rooms(tmp_path: Path) -> None:
    """A vectorised copy of `name_of` must agree with it; people who are left out by name are named alike."""
    cells = [" Zoe\u0308\u00a0", "\u3000p 1\t", "\ufb01", "\u1112\u1161\u11ab", ""]
    source = Source(tmp_path, pl.DataFrame({"p": cells}), pl.Series(range(len(cells))), "")
    assert source.texts(["p"]).to_list() == [name_of(cell) or None for cell in cells]
    file = tmp_path / "exclusions.toml"
    file.write_text('[exclude]\nparticipants = [" Zoe\u0308 "]\n', encoding="utf-8")
    assert exclusions.read(file).participants == ("Zo\u00eb",)
