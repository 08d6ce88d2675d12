"""What a bit costs: slopes of fitted models by independent computations, and effects in ms of words and of regions."""

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from syntagm.cli import main
from syntagm.reading_times import Added, Request, Source, analyses, fitting, record, slopes as costs, views
from syntagm.stats import linear

ROWS = 480


def corpus() -> dict[str, np.ndarray]:
    """Times of four people: 2 ms a bit, 1 ms a bit of the word before; long and rare words have more bits, and cost time."""
    random = np.random.default_rng(12)
    bits = random.gamma(2, 3, ROWS)
    length = np.round(3 + 0.5 * bits + random.normal(0, 1, ROWS))
    person, place = np.arange(ROWS) // 120, np.arange(ROWS) % 120
    before = np.where(place, np.roll(bits, 1), 0)
    time = 300 + 6 * length + (2 + 0.8 * (person - 1.5)) * bits + before + 20 * person + random.normal(0, 15, ROWS)
    return {
        "participant": person, "text": place // 60, "sentence": place // 6, "position": place % 60, "time": time,
        "length": length, "bits": bits,
    }  # fmt: skip


def request(**changed: object) -> Request:
    return Request(**{"response": "time", "baseline": ("length",), "added": (Added("m", ("bits",)),), **changed})  # type: ignore[arg-type]


def source(data: Mapping[str, object]) -> Source:
    frame = pl.DataFrame(data)
    return Source(Path("table.csv"), frame, pl.Series("line", range(2, frame.height + 2)), "")


def by_hand(data: Mapping[str, np.ndarray], lags: int) -> tuple[np.ndarray, list[int]]:
    """Return intercept, length, bits and their lags, and the rows that have them: lags stop at texts and participants."""
    rows = [row for row in range(ROWS) if data["position"][row] >= lags]
    columns = [np.ones(len(rows))]
    for name in ("length", "bits"):
        columns += [data[name][[row - lag for row in rows]] for lag in range(lags + 1)]
    return np.column_stack(columns), rows


@pytest.mark.parametrize("model", ["ols", "loglinear"])
def test_slopes_are_those_of_least_squares_with_errors_by_sentences_and_participants(model: str) -> None:
    """The errors are made cluster by cluster: sentences and participants, minus those of both (Cameron et al. 2011)."""
    data = corpus()
    outcome = fitting.fit(source(data), request(lags=2, model=model))
    found = outcome.slope_frame()
    assert found.columns == ["model", "predictor", "back", "slope", "se", "low", "high", "unit"]
    matrix, rows = by_hand(data, 2)
    response = np.log(data["time"][rows]) if model == "loglinear" else data["time"][rows]
    weights, *_ = np.linalg.lstsq(matrix, response, rcond=None)
    residual, inverse = response - matrix @ weights, np.linalg.inv(matrix.T @ matrix)

    def variance(clusters: list[object]) -> np.ndarray:
        moved = []
        for cluster in set(clusters):
            own = np.array([each == cluster for each in clusters])
            moved.append(inverse @ matrix[own].T @ residual[own] / (1 - own.sum() / len(own)))
        return (np.square(moved).sum(axis=0) * (len(moved) - 1) / len(moved))[4:]

    sentences = [(int(data["text"][row]), int(data["sentence"][row])) for row in rows]
    people = [int(data["participant"][row]) for row in rows]
    first, second = variance(sentences), variance(people)
    both = np.maximum(first + second - variance(list(zip(sentences, people, strict=True))), np.maximum(first, second))
    assert found["slope"].to_list() == pytest.approx(weights[4:], rel=1e-9)
    assert found["se"].to_list() == pytest.approx(np.sqrt(both), rel=1e-9)
    assert found["back"].to_list() == [0, 1, 2]
    assert (found["low"] < found["slope"]).all()
    assert set(found["unit"]) == {"log ms per bit" if model == "loglinear" else "ms per bit"}


def test_effects_by_lag_are_the_slopes_of_the_model_that_was_fitted() -> None:
    """With the length in the model, a bit costs less than alone; the next word costs nothing beside the others."""
    data = corpus()
    outcome = fitting.fit(source(data), request(lags=1))
    table = views.table("lag", analyses.of_outcome(outcome))
    found = {row[3]: row for row in table.rows}
    matrix, rows = by_hand(data, 1)
    weights, *_ = np.linalg.lstsq(matrix, data["time"][rows], rcond=None)
    assert list(found) == [-1, 0, 1]
    assert [found[back][4] for back in (0, 1)] == pytest.approx(weights[3:], rel=1e-9)
    alone, *_ = np.linalg.lstsq(matrix[:, [0, 3, 4]], data["time"][rows], rcond=None)
    assert alone[1] > weights[3] + 1
    # The next word stands beside it in the same text.
    inner = [at for at, (row, after) in enumerate(pairwise([*rows, 0])) if after == row + 1]
    later = np.column_stack([matrix[inner], data["bits"][[rows[at] + 1 for at in inner]]])
    weights, *_ = np.linalg.lstsq(later, data["time"][[rows[at] for at in inner]], rcond=None)
    assert found[-1][4] == pytest.approx(weights[-1], rel=1e-9)
    assert found[0][-1] == "ms per bit"
    assert any(
        "cluster-robust errors (sentences and participants random; only 20 sentences; only 4 participants)" in note
        for note in table.notes
    )


def test_slopes_of_a_mixed_model_are_its_fixed_effects() -> None:
    """Value, standard error and interval are those of the same model in `stats.mixed`; the table of lags has them, too."""
    data = corpus()
    outcome = fitting.fit(
        source(data), request(model="mixed", random=("(1 + bits | participant)",), folds=("contiguous", 2))
    )
    table = pl.DataFrame(data).with_columns(participant=pl.col("participant").cast(pl.String))
    fit = linear.fit("time ~ length + bits + (1 + bits | participant)", table, reml=True)
    [tested] = [each for each in fit.tests() if each.name == "bits"]
    [row] = outcome.slope_frame().rows(named=True)
    assert (row["slope"], row["se"]) == pytest.approx((tested.estimate, np.sqrt(fit.covariance[2, 2])), rel=1e-5)
    assert (row["low"], row["high"]) == pytest.approx((tested.low, tested.high), rel=1e-3)
    lags = views.table("lag", analyses.of_outcome(outcome)).rows
    assert [each[4:7] for each in lags if each[3] == 0] == [(row["slope"], row["low"], row["high"])]
    # The baseline, which lacks bits, has no random slope of them, and the paragraph says so.
    said = "(1 | participant) in the baseline; (1 + bits | participant) in m"
    assert f"Random effects were {said}." in fitting.methods(outcome)
    assert f"random effects: {said}" in outcome.notes


def test_singular_fits_are_noted() -> None:
    """Nobody differs from the others: the variance by participant is 0."""
    data = corpus()
    random = np.random.default_rng(3)
    data["time"] = 300 + 2 * data["bits"] + random.normal(0, 15, ROWS)
    for person in range(4):
        own = data["participant"] == person
        data["time"][own] -= data["time"][own].mean() - 300 - 2 * data["bits"][own].mean()
    outcome = fitting.fit(source(data), request(model="mixed", random=("(1 | participant)",), folds=("contiguous", 2)))
    what = "singular fit: no variance by participant in (Intercept) (SD 0)"
    assert f"warning: m, all rows: {what}" in outcome.notes
    assert any(note.startswith("warning: m, ") and note.endswith(f"of 2 folds: {what}") for note in outcome.notes)


def test_terms_of_any_kind_have_slopes_or_a_reason() -> None:
    data = corpus()
    found = fitting.fit(source(data), request(added=(Added("m", ("log(length)", "bits:length")),), baseline=(), lags=1))
    rows = found.slope_frame().select("predictor", "back", "unit").rows()
    terms = ("log(length)", "bits:length")
    assert rows == [(term, back, "ms per unit") for back in (0, 1) for term in terms]
    for added, changed, said in (
        ("class", {"class": np.where(np.arange(ROWS) % 2, "x", "y")}, "a factor in m"),
        ("twice", {"twice": 2 * data["length"]}, "which other columns determine"),
    ):
        outcome = fitting.fit(source(data | changed), request(added=(Added("m", (added,)),)))
        assert said in outcome.left_out["m"]
        assert not outcome.slopes


FIT = ("--response", "time", "--baseline", "length", "--add", "bits")


def test_slopes_are_written_and_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, file, out = tmp_path / "table.csv", tmp_path / "slopes.csv", tmp_path / "gains.csv"
    pl.DataFrame(corpus()).with_columns(twice=2 * pl.col("length")).write_csv(table)
    line = ["reading", "fit", str(table), *FIT, "--lags", "1"]
    assert main([*line, "--slopes", str(file), "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    first, second = pl.read_csv(file).rows(named=True)
    assert "slopes, on all 472 rows, by least squares with cluster-robust errors" in shown
    assert f"bits, bits of the word: {first['slope']:.4g} ms per bit, se {first['se']:.3g} [" in shown
    assert (first["predictor"], second["back"], second["unit"]) == ("bits", 1, "ms per bit")
    recorded = json.loads(record.place(out).read_text())["results"]["slopes"]
    assert [(row["ms"], row["se"]) for row in recorded] == [(row["slope"], row["se"]) for row in (first, second)]
    assert main([*line, "--by", "text", "--slopes", str(file)]) == 2
    assert "a file with a different header" in capsys.readouterr().err
    assert main([*line, "--by", "text", "--slopes", str(file), "--force"]) == 0
    assert pl.read_csv(file).columns == ["text", *costs.COLUMNS]
    assert (
        main([*line, "--add", "class=participant,twice", "--folds", "contiguous:2", "--slopes", str(file), "--force"])
        == 1
    )
    assert "no slopes of class: slopes: twice of the word" in capsys.readouterr().out
    assert pl.read_csv(file)["model"].unique().to_list() == ["bits"]
    assert main([*line, "--model", "smooth", "--folds", "contiguous:2", "--slopes", str(file)]) == 2
    assert "whose effects are curves" in capsys.readouterr().err


def test_an_analysis_of_an_earlier_version_says_what_its_numbers_were(tmp_path: Path) -> None:
    """Effects by lag without the baseline, and a paragraph that gives the baseline a slope which it lacks."""
    path = tmp_path / "gains.csv"
    lag = {"model": "m", "predictor": "bits", "words_back": 0, "ms": 1.5, "low": 1.0, "high": 2.0, "n": 90}
    results = {"lag": [lag], "methods": "Random effects were (1 + bits | participant)."}
    content = b"model,fold,n,loglik_baseline,loglik,gain\nm,1,90,-1,-1,0\n"
    record.write(path, content, "reading fit", {}, {"random": ["(1 + bits | participant)"]}, {"results": results})
    table = views.table("lag", str(path))
    assert table.rows == (("gains", "m", "bits", 0, 1.5, 1.0, 2.0, 90, "ms per unit"),)
    assert any("without the baseline" in note for note in table.notes)
    assert views.figure("lag", str(path)).table["value"].to_list() == [1.5]
    [one] = analyses.open_analyses([path])
    assert one.methods.endswith("The baseline had no random slopes of the added columns.")


def suite(folder: Path, words: Mapping[str, int]) -> tuple[Path, Path, Path]:
    """Write words of regions, people's times of words and of regions: each word takes 10 ms a bit, and a person's own time."""
    random = np.random.default_rng(1)
    shown, of_words, of_regions = [], [], []
    for item in range(6):
        for condition in "ab":
            place = 0
            for region, count in words.items():
                # Regions differ in length between items.
                bits = random.uniform(1, 9, count + item % 2) + (3 if condition == "a" else 0)
                shown += [("s", item, condition, region, place + at, "w", one) for at, one in enumerate(bits)]
                place += len(bits)
                for person in range(3):
                    of_words += [(person, "s", item, condition, region, 10 * one + 7 * person) for one in bits]
                    of_regions.append((person, "s", item, condition, region, 10 * bits.sum() + 7 * person))
    paths = tuple(folder / f"{name}.csv" for name in ("shown", "of_words", "of_regions"))
    columns = ["suite", "item", "condition", "region", "index", "word", "bits"]
    pl.DataFrame(shown, schema=columns, orient="row").write_csv(paths[0])
    for rows, path in zip((of_words, of_regions), paths[1:], strict=True):
        pl.DataFrame(rows, schema=["participant", *columns[:4], "time"], orient="row").write_csv(path)
    return paths[0], paths[1], paths[2]


def test_ten_ms_a_bit_are_ten_ms_a_bit_however_long_a_region_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, of_words, of_regions = suite(tmp_path, {"short": 1, "long": 3})
    output = tmp_path / "effects.csv"
    line = ["reading", "effects", "--ms-per-bit", "10", "--words", str(shown), "--contrast", "a-b"]
    sums = pl.read_csv(shown).group_by("item", "condition", "region").agg(pl.col("bits").sum())
    for times, people in (("words", of_words), ("regions", of_regions)):
        assert main([*line, "--people", str(people), "--times", times, "-o", str(output)]) == 0
        found = pl.read_csv(output)
        assert found.columns[-1] == "times"
        assert set(found["times"]) == {times}
        assert found["ratio"].to_list() == pytest.approx([1, 1])
        # 10 ms is what a bit costs.
        assert (found["people"] / found["bits"]).to_list() == pytest.approx([10, 10])
    of = {c: sums.filter(region="long", condition=c)["bits"].mean() for c in "ab"}
    assert found.filter(region="long")["bits"].item() == pytest.approx(of["a"] - of["b"])
    capsys.readouterr()
    # Nothing is taken for granted.
    for given, said in (
        ([], "no --times"),
        (["--people", str(of_regions)], "no column times in"),
        (["--people", str(of_words), "--times", "regions"], "several times of one person in one region"),
    ):
        assert main([*line, *given]) == 2
        shown_error = capsys.readouterr().err
        assert said in shown_error
        assert "--times words" in shown_error


def test_people_s_file_may_say_what_its_times_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last column of the answers of a self-paced experiment does."""
    shown, _, of_regions = suite(tmp_path, {"long": 2})
    pl.read_csv(of_regions).with_columns(times=pl.lit("regions")).write_csv(of_regions)
    line = ["reading", "effects", "--ms-per-bit", "10", "--words", str(shown), "--contrast", "a-b"]
    line += ["--people", str(of_regions), "-o", str(tmp_path / "effects.csv")]
    assert main(line) == 0
    assert pl.read_csv(tmp_path / "effects.csv")["ratio"].item() == pytest.approx(1)
    assert "times regions: bits, people's and predicted times are sums" in capsys.readouterr().out
    assert main([*line, "--times", "words"]) == 2
    assert "regions in the column times" in capsys.readouterr().err
    # Answers that the rules of an experiment exclude don't count.
    table = pl.read_csv(of_regions)
    slow = table.head(1).with_columns(participant=pl.lit(9, pl.Int64), time=pl.lit(9000.0), excluded=pl.lit("too slow"))
    pl.concat([table.with_columns(excluded=pl.lit("")), slow.select(*table.columns, "excluded")]).write_csv(of_regions)
    assert main(line) == 0
    assert pl.read_csv(tmp_path / "effects.csv")["ratio"].item() == pytest.approx(1)
    assert f"1 of {table.height + 1} rows of --people left out" in capsys.readouterr().err
    half = pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("words")).otherwise(pl.lit("regions"))
    pl.read_csv(of_regions).with_columns(times=half).write_csv(of_regions)
    assert main(line) == 2
    assert "'regions' and 'words'" in capsys.readouterr().err


def old_effects(folder: Path) -> Path:
    path = folder / "old.csv"
    columns = ("model,suite,contrast,region,items,bits,people,people_low,people_high,predicted,predicted_low,"
               "predicted_high,ratio,ratio_low,ratio_high")  # fmt: skip
    content = f"{columns}\nm,s,a - b,long,6,3,90,80,100,30,25,35,0.33,0.3,0.4\n".encode()
    slope = {"model": "m", "predictor": "bits", "words_back": 0, "ms": 10.0, "low": None, "high": None, "n": 0}
    results = {"columns": columns.split(","), "methods": "We predicted effects.", "slopes": [slope]}
    record.write(path, content, "reading effects", {}, {}, {"rows": 1, "results": results})
    return path


def test_effects_of_an_earlier_version_have_an_unknown_unit(tmp_path: Path) -> None:
    path = old_effects(tmp_path)
    table = views.table("ms", str(path))
    assert table.rows[0][-1] == "unit unknown"
    assert table.notes[0].startswith("old: unit unknown: an earlier version")
    assert "unit unknown" in json.dumps(views.figure("ms", str(path)).spec)


@pytest.mark.slow
def test_pages_and_citations_say_that_a_unit_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = old_effects(tmp_path), tmp_path / "page.html"
    assert main(["cite", str(path)]) == 0
    assert "We predicted effects. (unit unknown: an earlier version" in capsys.readouterr().out
    assert main(["report", str(path), "-o", str(page)]) == 0
    assert "unit unknown" in page.read_text()


def test_too_few_rows_have_no_effect_of_the_next_word() -> None:
    few = fitting.prepare(source({name: each[:20] for name, each in corpus().items()}), request())["m"]
    assert analyses.next_word("m", few, "ols", ()) is None
