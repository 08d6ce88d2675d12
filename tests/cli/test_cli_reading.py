"""`syntagm reading`: from tables to gains and milliseconds, and thirty broken tables, none of which passes in silence."""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from syntagm.cli import main
from syntagm.reading_times import record

HEADER = "participant,story,position,word,RT"
WORDS = {"A": "The dog barks at night.", "B": "A cat sleeps in the sun."}
LINES = [
    f"{person},{story},{place},{word},{250 + 30 * person + 7 * place + len(word)}"
    for person in (1, 2)
    for story, text in WORDS.items()
    for place, word in enumerate(text.split(), 1)
]


def table(path: Path, lines: list[str] = LINES, header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def simulated(path: Path, rows: int = 600, models: int = 1) -> Path:
    """Write times with known effects: 2 ms a bit, 1 ms a bit of the word before, within 6 texts of 100 words."""
    random = np.random.default_rng(7)
    bits = random.gamma(2, 3, rows)
    length = random.integers(1, 12, rows).astype(float)
    before = np.where(np.arange(rows) % 100 == 0, 0, np.roll(bits, 1))
    time = 250 + 5 * length + 2 * bits + before + random.normal(0, 15, rows)
    columns = {"text": np.arange(rows) // 100, "sentence": np.arange(rows) // 10, "position": np.arange(rows) % 100}
    columns |= {"time": time, "length": length, "bits": bits, "noise": random.normal(size=rows)}
    frame = pl.DataFrame(columns)
    if models > 1:
        frame = pl.concat(
            [frame.with_columns(model=pl.lit(f"m{at}"), bits=pl.col("bits") + at) for at in range(models)]
        )
    frame.write_csv(path)
    return path


FIT = ("--response", "time", "--baseline", "length", "--add", "bits", "--lags", "2")


def test_a_sound_table_has_no_alarm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reading", "check", str(table(tmp_path / "times.csv"))]) == 0
    shown = capsys.readouterr().out
    assert "time = RT, participant = participant, text = story, position = position, word = word" in shown
    assert "22 rows, 2 participants, 2 texts" in shown
    assert "0 alarms" in shown


def without(lines: list[str], *places: int) -> list[str]:
    return [line for at, line in enumerate(lines) if at not in places]


def changed(place: int, old: str, new: str) -> list[str]:
    assert old in LINES[place]
    return [line.replace(old, new, 1) if at == place else line for at, line in enumerate(LINES)]


def times(function) -> list[str]:
    return [",".join([*line.split(",")[:4], function(float(line.split(",")[4]))]) for line in LINES]


# A broken table, and what is said of it: an error (exit code 2), or an alarm (1). None passes with 0 alarms.
BROKEN: dict[str, tuple[str, int, str]] = {
    "empty file": ("", 2, "a header"),
    "header alone": (HEADER + "\n", 2, "no rows"),
    "one column": ("RT\n300\n", 2, "a header with several columns"),
    "repeated column": ("\n".join([HEADER + ",RT", *(line + ",1" for line in LINES)]), 2, "'RT' twice"),
    "nameless columns": ("\n".join([HEADER + ",,", *(line + ",1,2" for line in LINES)]), 2, "without a name"),
    "short row": ("\n".join([HEADER, *changed(3, "1,A,4,at,", "1,A,4at,")]), 2, "4 cells"),
    "decimal comma unquoted": ("\n".join([HEADER, *(line + ",5" for line in LINES)]), 2, "decimal commas"),
    "decimal comma in semicolons": (
        "\n".join([HEADER.replace(",", ";"), *(line.replace(",", ";") + ",5" for line in LINES)]), 2, "--decimal comma",
    ),
    "text for a time": ("\n".join([HEADER, *changed(0, ",290", ",slow")]), 2, "'slow' in column RT"),
    "unit in a cell": ("\n".join([HEADER, *changed(0, ",290", ",290 ms")]), 2, "a number"),
    "thousands": ("\n".join([HEADER, *changed(0, ",290", ',"1,290"')]), 2, "decimal commas"),
    "seconds": ("\n".join([HEADER, *times(lambda ms: f"{ms / 1000}")]), 1, "[units]"),
    "logarithms": ("\n".join([HEADER, *times(lambda ms: f"{np.log(ms)}")]), 1, "[units]"),
    "mixed units": (
        "\n".join([HEADER, *(small if line[0] == "1" and at % 2 else line
                             for at, (line, small) in enumerate(zip(LINES, times(lambda ms: f"{ms / 1000}"), strict=True)))]),
        1, "[units]",
    ),
    "negative time": ("\n".join([HEADER, *changed(0, ",290", ",-1")]), 1, "[units]"),
    "microseconds": ("\n".join([HEADER, *times(lambda ms: f"{ms * 1000}")]), 1, "[units]"),
    "doubled rows": ("\n".join([HEADER, *LINES, LINES[0]]), 1, "[doubled]"),
    "all rows twice": ("\n".join([HEADER, *LINES, *LINES]), 1, "[doubled]"),
    "a word that nobody saw": ("\n".join([HEADER, *without(LINES, 2, 13)]), 1, "[missing_words]"),
    "another word for one reader": ("\n".join([HEADER, *changed(1, "dog", "dig")]), 1, "[words_differ]"),
    "another case for one reader": ("\n".join([HEADER, *changed(0, "The", "the")]), 1, "[words_differ]"),
    "two texts of one name": ("\n".join([HEADER, *(line.replace(",B,", ",A,") for line in LINES)]), 1, "[doubled]"),
    "one text of two names": (
        "\n".join([HEADER, *LINES, *(line.replace(",B,", ",C,") for line in LINES if ",B," in line)]), 1, "[same_text]",
    ),
    "two regions": (
        "\n".join([HEADER + ",region", *(f"{line},{at % 2 if line[0] == '1' else 0}" for at, line in enumerate(LINES))]), 1,
        "[two_regions]",
    ),
    "frequency 0": (
        "\n".join([HEADER + ",frequency", *(f"{line},{at % 4 * 30}" for at, line in enumerate(LINES))]), 1, "[frequency_zero]",
    ),
    "surprisal of -1": (
        "\n".join([HEADER + ",bits", *(f"{line},{-1 if ',1,' in line[3:] else 5 + at % 3}" for at, line in enumerate(LINES))]),
        1, "[first_words]",
    ),
    "lengths of other words": (
        "\n".join([HEADER + ",length", *(f"{line},{20 + at}" for at, line in enumerate(LINES))]), 1, "[columns]",
    ),
    "an absurd frequency": (
        "\n".join([HEADER + ",frequency", *(f"{line},{'-2e40' if at == 3 else 4 + at % 3}" for at, line in enumerate(LINES))]),
        1, "[columns]: 1 numbers beyond 1e+15 in the frequency, such as -2e+40 (first in line 5)",
    ),
    "NUL": (HEADER + "\n1,A,1,a\0b,300\n", 2, "NUL"),
    "open quotation mark": (HEADER + '\n1,A,1,"The,300\n', 2, "can't be read"),
    "odd truth value": ("\n".join([HEADER + ",correct", *(f"{line},maybe" for line in LINES)]), 2, "TRUE or FALSE"),
    "infinite position": ("\n".join([HEADER, *changed(0, "1,A,1,", "1,A,first,")]), 2, "'first' in column position"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_no_broken_table_passes_in_silence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, code, said = BROKEN[name]
    path = tmp_path / "times.csv"
    path.write_text(content.lstrip("\n"), encoding="utf-8")
    assert main(["reading", "check", str(path)]) == code
    shown = capsys.readouterr()
    assert said in (shown.err if code == 2 else shown.out)


def test_there_are_thirty_broken_tables() -> None:
    assert len(BROKEN) >= 30


def test_what_other_programs_write_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A byte order mark, line ends of Windows, row numbers of R, TRUE for True, semicolons with decimal commas."""
    path = tmp_path / "times.csv"
    lines = [f'"{at}";{line.replace(",", ";")},5;{"TRUE" if at % 2 else "False"}' for at, line in enumerate(LINES, 1)]
    header = ";" + HEADER.replace(",", ";") + ";correct"
    path.write_text("\ufeff" + "\r\n".join([header, *lines]), encoding="utf-8")
    assert main(["reading", "check", str(path)]) == 2
    assert "--decimal comma" in capsys.readouterr().err
    assert main(["reading", "check", str(path), "--decimal", "comma"]) == 0
    assert "right answers: 50.0% of rows" in capsys.readouterr().out


def test_declared_units_are_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "times.csv", times(lambda ms: f"{ms / 1000}"))
    assert main(["reading", "check", str(path), "--unit", "s"]) == 0
    assert "times are read as s" in capsys.readouterr().out


def test_the_table_of_predictors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The toy model scores both texts; -log2 of (8 + 1) / (12 + 24) is 2, as its module says."""
    path, output = table(tmp_path / "times.csv"), tmp_path / "table.csv"
    frequencies = tmp_path / "frequencies.csv"
    frequencies.write_text("word,frequency\nthe,6\ndog,3\n")
    line = [
        "reading",
        "table",
        str(path),
        "--model",
        "toy",
        "--frequency",
        str(frequencies),
        "--spillover",
        "1",
        "-o",
        str(output),
    ]
    assert main(line) == 0
    rows = read(output)
    assert len(rows) == len(LINES)
    first, second = rows[:2]
    assert (first["word"], first["bits"], first["length"], first["frequency"], first["bits_1"]) == (
        "The",
        "2",
        "3",
        "6",
        "NA",
    )
    assert (second["bits_1"], second["length_1"], second["frequency_1"]) == ("2", "3", "6")
    assert rows[4]["word"] == "night."
    assert (rows[4]["length"], rows[4]["frequency"], rows[4]["final"]) == ("5", "NA", "1")
    # The first word of the second text has no word before it.
    assert rows[5]["bits_1"] == "NA"
    shown = capsys.readouterr().out
    assert (
        "lmer(time ~ length + length_1 + frequency + frequency_1 + (1 | participant) + (1 | text), d, REML = FALSE)"
        in shown
    )
    written = json.loads(record.place(output).read_text())
    assert written["command"] == "reading table"
    # The same line again replaces the file, and a file of somebody else's is spared.
    assert main(line) == 0
    record.place(output).unlink()
    assert main(line) == 2
    assert main([*line, "--force"]) == 0


def test_several_models_as_columns_and_as_rows(tmp_path: Path) -> None:
    path = table(tmp_path / "times.csv")
    line = ["reading", "table", str(path), "--model", "toy", "--model", "random", "--name", "one", "--name", "two"]
    assert main([*line, "-o", str(tmp_path / "wide.csv")]) == 0
    assert main([*line, "--form", "long", "-o", str(tmp_path / "long.parquet")]) == 0
    wide, long = pl.read_csv(tmp_path / "wide.csv", null_values="NA"), pl.read_parquet(tmp_path / "long.parquet")
    assert {"bits_one", "bits_two", "bits_two_2"} <= set(wide.columns)
    assert long["model"].unique(maintain_order=True).to_list() == ["one", "two"]
    assert long.filter(model="two")["bits"].to_list() == wide["bits_two"].to_list()


def test_the_join_lists_every_mismatch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, scores = table(tmp_path / "times.csv"), tmp_path / "scores.csv"
    words = {
        story: text.replace("barks", "barked").replace("night.", "night…").split() for story, text in WORDS.items()
    }
    lines = [f"{story},{at},{word},{at + 0.5}" for story, own in words.items() for at, word in enumerate(own)]
    scores.write_text("\n".join(["text,index,word,bits", *lines]), encoding="utf-8")
    output = tmp_path / "joined.csv"
    assert main(["reading", "join", str(path), str(scores), "-o", str(output)]) == 1
    shown = capsys.readouterr().out
    assert "words joined: 9 of 11" in shown
    assert "mismatch: text A, position 3 (line 4): shown 'barks', scored 'barked'" in shown
    mismatches = read(tmp_path / "joined.csv.mismatches.csv")
    assert [(row["text"], row["shown"], row["scored"]) for row in mismatches] == [
        ("A", "barks", "barked"),
        ("A", "night.", "night…"),
    ]
    joined = read(output)
    assert [row["bits"] for row in joined[:5]] == ["0.5", "1.5", "NA", "3.5", "NA"]
    accepted = ["--accept", "barks=barked", "night.=night…"]
    assert main(["reading", "join", str(path), str(scores), *accepted, "-o", str(output)]) == 0
    assert not (tmp_path / "joined.csv.mismatches.csv").exists()


@pytest.mark.parametrize("what", ["check", "join"])
def test_a_table_without_texts_is_one_text(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "times.csv", ["a,1,The,300", "a,2,dog,310"], "participant,position,word,time")
    scores = table(tmp_path / "words.csv", ["0,0,The,3.5", "0,1,dog,5.5"], "text,index,word,bits")
    output = tmp_path / "joined.csv"
    options = ["--scores", str(scores)] if what == "check" else [str(scores), "-o", str(output)]
    assert main(["reading", what, str(path), *options, "--texts", "order"]) == 0
    assert "words joined: 2 of 2" in capsys.readouterr().out
    if what == "join":
        assert [(row["time"], row["text"], row["bits"]) for row in read(output)] == [
            ("300", "", "3.5"),
            ("310", "", "5.5"),
        ]


def test_texts_that_are_numbered_differently_are_not_joined_by_chance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, scores = table(tmp_path / "times.csv"), tmp_path / "scores.csv"
    lines = [f"{number},{word},1" for number, text in enumerate(WORDS.values()) for word in text.split()]
    scores.write_text("\n".join(["text,word,bits", *lines]))
    assert main(["reading", "join", str(path), str(scores), "-o", str(tmp_path / "joined.csv")]) == 2
    assert "--texts order" in capsys.readouterr().err
    assert (
        main(["reading", "join", str(path), str(scores), "--texts", "order", "-o", str(tmp_path / "joined.csv")]) == 0
    )


def test_exclusions_are_counted_and_still_precede(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rules = table(tmp_path / "times.csv"), tmp_path / "exclude.toml"
    rules.write_text("[exclude]\nfirst_words = true\nsentence_last = true\ntimes = { above = 340 }\n")
    output = tmp_path / "table.csv"
    assert main(["reading", "table", str(path), "--model", "toy", "--exclude", str(rules), "-o", str(output)]) == 0
    shown = capsys.readouterr().out
    assert "4 first word of a text; 4 last word of a sentence" in shown
    rows = read(output)
    # The excluded first word is still the word before the second.
    assert (rows[0]["word"], rows[0]["bits_1"]) == ("dog", "2")
    rules.write_text("[exclude]\nfirst_word = true\n")
    assert main(["reading", "table", str(path), "--model", "toy", "--exclude", str(rules), "-o", str(output)]) == 2
    assert "first_word" in capsys.readouterr().err


def test_the_fit_prints_the_mean_gain_and_writes_the_folds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = simulated(tmp_path / "table.csv"), tmp_path / "gains.csv"
    assert main(["reading", "fit", str(path), *FIT, "-o", str(output)]) == 0
    shown = capsys.readouterr().out
    assert "lags stop at each text (text)" in shown
    assert "dropped: 12 without a word before" in shown
    rows = read(output)
    assert list(rows[0]) == ["model", "fold", "n", "loglik_baseline", "loglik", "gain"]
    assert [row["fold"] for row in rows] == [str(fold) for fold in range(1, 11)]
    total = sum(int(row["n"]) for row in rows)
    assert total == 600 - 12
    mean = sum(float(row["loglik"]) - float(row["loglik_baseline"]) for row in rows) / total
    assert f"mean gain {mean:.6f} nats per observation" in shown


def test_the_methods_paragraph_says_what_was_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reading", "fit", str(simulated(tmp_path / "table.csv")), *FIT, "--folds", "text:3", "--methods"]) == 0
    shown = capsys.readouterr().out
    assert "588 of 600 observations were used (dropped: 12 without a word before)" in shown
    assert "In 3-fold cross-validation with whole texts as folds" in shown


def test_lags_stop_at_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.read_csv(simulated(tmp_path / "table.csv"))
    pl.concat([frame.with_columns(lang=pl.lit(name)) for name in ("de", "en")]).write_csv(tmp_path / "both.csv")
    assert main(["reading", "fit", str(tmp_path / "both.csv"), *FIT]) == 0
    shown = capsys.readouterr().out
    assert "lags stop at each language (lang), text (text)" in shown
    assert "dropped: 24 without a word before" in shown


def test_models_as_columns_and_as_rows_have_the_same_gains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = simulated(tmp_path / "table.csv", models=2)
    assert main(["reading", "fit", str(path), *FIT]) == 0
    shown = capsys.readouterr().out
    assert "m0: mean gain" in shown
    # A constant added to surprisals changes nothing.
    assert "m1 - m0: " in shown
    assert (
        main(["reading", "fit", str(path), *FIT[:4], "--add", "a=bits", "--add", "b=noise", "--where", "model=m1"]) == 0
    )
    assert "b - a: -" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--response", "tme", "--add", "bits"], "Did you mean time?"),
        (["--response", "time", "--add", "bits", "--baseline", "bits"], "in the baseline"),
        (["--response", "time", "--add", "bits", "--folds", "random:3"], "contiguous:K"),
        (["--response", "time", "--add", "bits", "--folds", "participant:3"], "no column for the participant"),
        (["--response", "time", "--add", "bits", "--folds", "text:99"], "at least 99"),
        (["--response", "time", "--add", "bits", "--model", "mixed"], "--random"),
        (["--response", "time", "--add", "bits", "--where", "text=99"], "no such value"),
        (["--response", "noise", "--add", "bits", "--model", "loglinear"], "positive times"),
        (["--response", "time", "--add", "bits", "--lags", "-1"], "from 0 to 10"),
        (["--response", "time", "--add", "bits", "--figure", "gains=x"], "gain, lag, shape"),
    ],
)
def test_what_can_not_be_fitted(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reading", "fit", str(simulated(tmp_path / "table.csv")), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_alarms_ring_beside_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.read_csv(simulated(tmp_path / "table.csv"))
    frame.with_columns(time=pl.col("time").shift(-1).over("text")).write_csv(tmp_path / "shifted.csv")
    assert main(["reading", "fit", str(tmp_path / "shifted.csv"), *FIT]) == 0
    assert "alarm [lag]" in capsys.readouterr().err


def test_effects_in_ms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A word of 4 more bits costs 8 ms, and the word after it 4 ms more; people are slowed by 80 and 40 ms."""
    path, words, people = simulated(tmp_path / "table.csv"), tmp_path / "words.csv", tmp_path / "people.csv"
    rows = [
        f"toy,s,{item},{condition},{region},{at},w,{bits + (4 if (condition, region) == ('amb', 'verb') else 0)},1"
        for item in range(6)
        for condition in ("amb", "unamb")
        for at, (region, bits) in enumerate([("noun", 5.0), ("verb", 6.0 + item % 2), ("after", 3.0)])
    ]
    words.write_text("\n".join(["model,suite,item,condition,region,index,word,bits,known", *rows]))
    random = np.random.default_rng(3)
    cost = {("amb", "verb"): 80, ("amb", "after"): 40}
    lines = [
        f"{person},s,{item},{condition},{region},{300 + cost.get((condition, region), 0) + random.normal(0, 5)}"
        for person in range(8)
        for item in range(6)
        for condition in ("amb", "unamb")
        for region in ("noun", "verb", "after")
    ]
    people.write_text("\n".join(["participant,suite,item,condition,region,time", *lines]))
    output = tmp_path / "effects.csv"
    line = ["reading", "effects", str(path), *FIT[:-1], "1", "--words", str(words), "--contrast", "amb-unamb"]
    assert main([*line, "--people", str(people), "--times", "words", "-o", str(output)]) == 0
    found = {row["region"]: row for row in read(output)}
    assert float(found["verb"]["bits"]) == 4
    assert float(found["noun"]["predicted"]) == 0
    for region, predicted, own in (("verb", 8, 80), ("after", 4, 40)):
        row = found[region]
        assert float(row["predicted_low"]) < predicted < float(row["predicted_high"])
        assert float(row["people_low"]) < own < float(row["people_high"])
        assert float(row["ratio_low"]) < 0.1 < float(row["ratio_high"])
    capsys.readouterr()
    given = ["reading", "effects", "--ms-per-bit", "2,1", "--words", str(words), "--contrast", "amb-unamb"]
    assert main([*given, "--times", "words"]) == 0
    assert "| given | s | amb - unamb | after | 6 | 0 |" in capsys.readouterr().out.replace("0.000", "0")


@pytest.mark.parametrize("lags", ["2", "2,1"])
def test_undefined_bits_are_not_zero(lags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two items, the first has a word without bits in the region, or with lags just before it."""
    undefined = "" if lags == "2" else "1"
    header = "suite,item,condition,region,word,bits"
    lines = [
        f"s,1,amb,noun,w,{'' if lags == '2,1' else '1'}", f"s,1,amb,verb,w,{undefined}", "s,1,amb,verb,w,4",
        "s,1,un,noun,w,1", "s,1,un,verb,w,2", "s,1,un,verb,w,2",
        "s,2,amb,noun,w,1", "s,2,amb,verb,w,5", "s,2,un,noun,w,1", "s,2,un,verb,w,2",
    ]  # fmt: skip
    words, output = table(tmp_path / "words.csv", lines, header), tmp_path / "effects.csv"
    line = ["reading", "effects", "--ms-per-bit", lags, "--words", str(words), "--contrast", "amb-un"]
    line += ["--times", "words"]
    assert main([*line, "-o", str(output)]) == 0
    assert "1 word of --words without bits" in capsys.readouterr().err
    [verb] = [row for row in read(output) if row["region"] == "verb"]
    assert (verb["items"], float(verb["bits"]), float(verb["predicted"])) == ("1", 5 - 2, 2 * (5 - 2))
    table(words, lines[:1] + lines[3:4] if lags == "2,1" else lines[1:3] + lines[4:6], header)
    assert main(line) == 2
    assert "no item with bits of all words" in capsys.readouterr().err


@pytest.mark.slow
def test_figures(tmp_path: Path) -> None:
    path, sizes = simulated(tmp_path / "table.csv"), tmp_path / "sizes.csv"
    sizes.write_text("model,perplexity\nbits,45.5\n")
    drawn = [f"--figure={name}={tmp_path / name}" for name in ("gain", "lag", "shape")]
    assert main(["reading", "fit", str(path), *FIT, *drawn, "--against", str(sizes)]) == 0
    lags = pl.read_csv(tmp_path / "lag.csv")
    assert lags["x"].to_list() == [-1, 0, 1, 2]
    assert abs(lags["value"][1] - 2) < 1
    assert pl.read_csv(tmp_path / "gain.csv")["x"].to_list() == [45.5]


@pytest.mark.slow
def test_the_test_of_linearity_says_that_rows_count_as_independent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With several participants p is too small, and the printed output says so; the record has the test."""
    path = simulated(tmp_path / "table.csv")
    frame = pl.read_csv(path)
    for people, said in ((1, False), (3, True)):
        frame.with_columns(participant=pl.int_range(pl.len()) // 200 % people).write_csv(path)
        out = tmp_path / f"gains{people}.csv"
        command = ["reading", "fit", str(path), "--response", "time", "--baseline", "length", "--add", "bits"]
        assert main([*command, "--model", "smooth", "--folds", "text:2", "-o", str(out)]) == 0
        assert ("rows count as independent" in capsys.readouterr().out) == said
        [test] = json.loads(record.place(out).read_text())["results"]["linearity"]
        assert test["column"] == "bits"


def test_texts_are_counted_within_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{lang},1,1,{place},w{lang}{place},30{place}" for lang in ("de", "en") for place in range(1, 5)]
    assert main(["reading", "check", str(table(tmp_path / "times.csv", lines, f"lang,{HEADER}"))]) == 0
    assert "8 rows, 1 participants, 2 texts" in capsys.readouterr().out


NUMBERS = {"time": "1e300", "bits": "1e300", "length": "-1e160"}


@pytest.mark.parametrize("column", NUMBERS)
@pytest.mark.parametrize("model", ["ols", "loglinear", "smooth"])
def test_numbers_whose_squares_overflow_are_refused(
    column: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A time of 1e300 gave a gain of nan."""
    frame = pl.read_csv(simulated(tmp_path / "table.csv", 200))
    absurd = pl.when(pl.int_range(pl.len()) == 40).then(float(NUMBERS[column])).otherwise(pl.col(column))
    frame.with_columns(absurd.alias(column)).write_csv(tmp_path / "table.csv")
    line = ["reading", "fit", str(tmp_path / "table.csv"), *FIT[:-2], "--model", model, "--folds", "contiguous:2"]
    assert main(line) == 2
    assert f"line 42: the number {float(NUMBERS[column]):g} in column {column}" in capsys.readouterr().err
    assert main([*line, "--missing", f"{column}={NUMBERS[column]}"]) == 0
    assert "nan" not in capsys.readouterr().out


def test_a_time_of_more_than_a_day_is_an_alarm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for absurd in ("1e9", "1e300", "inf"):
        lines = [*LINES[:-1], ",".join([*LINES[-1].split(",")[:4], absurd])]
        assert main(["reading", "check", str(table(tmp_path / "times.csv", lines))]) == 1
        assert "alarm [units]: 1 times of more than a day (first in line 23)" in capsys.readouterr().out


@pytest.mark.parametrize("absurd", ["1e300", "inf", "-1e200"])
def test_effects_of_absurd_numbers_are_refused(absurd: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{item},{condition},v,w,3" for item in (1, 2) for condition in "ab"]
    words = table(tmp_path / "words.csv", lines, "item,condition,region,word,bits")
    times = [f"{who},{item},{condition},v,300" for who in "pq" for item in (1, 2) for condition in "ab"]
    people = table(
        tmp_path / "people.csv",
        [*times[:-1], times[-1].replace("300", absurd)],
        "participant,item,condition,region,time",
    )
    line = ["reading", "effects", "--ms-per-bit", "2", "--words", str(words), "--contrast", "a-b", "--times", "words"]
    assert main([*line, "--people", str(people)]) == 2
    assert f"{people}, line 9: " in capsys.readouterr().err
    table(tmp_path / "words.csv", [*lines[:-1], f"2,b,v,w,{absurd}"], "item,condition,region,word,bits")
    assert main(line) == 2
    assert f"{words}, line 5: " in capsys.readouterr().err
    assert main([*line, f"--ms-per-bit={absurd}"]) == 2


def test_repeated_rows_ring_without_positions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All rows, those of a participant or of a text, in any order, or numbered: but not a word that is read twice in one time."""
    header = "participant,story,word,RT"
    lines = [",".join(cell for at, cell in enumerate(line.split(",")) if at != 2) for line in LINES]
    first, story = [line for line in lines if line[0] == "1"], [line for line in lines if line.startswith("1,A")]
    for doubled, where in (
        (lines, ""), (lines[::-1], ""), (first, ", for example of participant 1"),
        (story, ", for example of participant 1, text A"),
    ):  # fmt: skip
        path = table(tmp_path / "times.csv", [*lines, *doubled], header)
        assert main(["reading", "check", str(path)]) == 1
        shown = capsys.readouterr().out
        assert f"alarm [doubled]: {2 * len(doubled)} rows that recur with all their cells{where} (" in shown
    numbered = [f"{at},{line}" for at, line in enumerate([*lines, *lines])]
    for name in ("", "index"):
        assert main(["reading", "check", str(table(tmp_path / "times.csv", numbered, f"{name},{header}"))]) == 1
        assert "[doubled]" in capsys.readouterr().out
    fifths = table(tmp_path / "times.csv", 5 * lines, header)
    assert main(["reading", "check", str(fifths)]) == 1
    assert f"[doubled]: {5 * len(lines)} rows that recur" in capsys.readouterr().out
    for sound in (lines, [*lines, lines[0], *lines[-2:]]):
        assert main(["reading", "check", str(table(tmp_path / "times.csv", sound, header))]) == 0


def test_a_fit_cites_no_intervals_of_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["reading", "fit", str(simulated(tmp_path / "table.csv", 200)), *FIT, "--folds", "contiguous:2"]
    assert main([*line, "-o", str(tmp_path / "gains.csv")]) == 0
    capsys.readouterr()
    assert main(["cite", str(tmp_path / "gains.csv")]) == 0
    shown = capsys.readouterr().out
    assert "@inproceedings{goodkind-bicknell-2018-predictive" in shown
    assert "wilson-1927" not in shown


def test_a_fit_says_that_rows_are_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.read_csv(simulated(tmp_path / "table.csv", 200)).drop("position")
    line = ["reading", "fit", str(tmp_path / "table.csv"), *FIT[:-2], "--folds", "contiguous:2"]
    frame.write_csv(tmp_path / "table.csv")
    assert main(line) == 0
    assert "doubled" not in capsys.readouterr().err
    pl.concat([frame, frame]).write_csv(tmp_path / "table.csv")
    assert main(line) == 0
    assert "alarm [doubled]: 400 rows that recur" in capsys.readouterr().err


RAW = {
    "comments": ("#\n# Results on Friday\n# 1. Results reception time.\n1,ab,DashedSentence,0,0,x,NULL,1,The,320\n", "Ibex"),
    "comments of PCIbex": ("# Results on Fri, 3 May 2024\n1,ab,PennController,0,0,x,NULL,PennController,0,_Trial_\n", "PCIbex"),
    "no header": ("1715,ab,DashedSentence,0,0,x,NULL,1,The,320\n1715,ab,DashedSentence,0,0,x,NULL,2,cat,350\n", "Ibex"),
    "JSON": ('[{"trial_type": "spr", "words": ["The", "cat"], "rts": [320, 350]},\n{"trial_type": "spr"}]\n', "jsPsych"),
    "arrays": (
        'subject,item,words,rts\ns1,1,"[""The"", ""cat""]","[320, 350]"\ns1,2,"[""A""]","[340]"\n', "words and rts, as jsPsych",
    ),
    "lists of Python": ("subject,item,words,rts\ns1,1,\"['The', 'cat']\",\"[320, 350]\"\n", "words and rts, as jsPsych"),
    "arrays as times": ('subject,item,word,rt\ns1,1,The cat,"[320, 350]"\n', "arrays in the cells of rt"),
    "no known column": ("Zeit,Wort\n300,Hund\n310,Katze\n", "no column for time"),
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
def test_raw_results_are_refused_by_name(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, said = RAW[name]
    (tmp_path / "raw.csv").write_text(content)
    assert main(["reading", "check", str(tmp_path / "raw.csv")]) == 2
    assert said in capsys.readouterr().err


def test_arrays_beside_words_are_no_concern(tmp_path: Path) -> None:
    lines = [f'{line},"[0, 1]"' for line in LINES]
    assert main(["reading", "check", str(table(tmp_path / "times.csv", lines, f"{HEADER},question_order"))]) == 0
