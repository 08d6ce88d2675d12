import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from math import log2
from pathlib import Path
from random import Random
from unittest.mock import patch
from urllib.parse import unquote

import polars as pl
import pytest
from report_examples import ATTACKS, crossed, gaps, hostile, hostile_fill, saved, written
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.core import UsageError, csv, visible
from syntagm.evaluation import Kind
from syntagm.evaluation.measures.surprisal import Surprisal
from syntagm.models import load
from syntagm.report import csv_link, report, save, shell
from syntagm.runs import Run, run_suites as run
from syntagm.stats import paired
from syntagm.suites import Suite

PLAIN = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"))


def test_the_numbers_are_there(tmp_path: Path) -> None:
    run = toy_run(tmp_path, agreement(), gaps())
    page = written(tmp_path, run)
    for expected in (
        "toy:12-sentences on 2 suites, 5 items",
        "0.333 [0.061, 0.792]n=3, 1 tie",
        str(run.signature("agreement", "verb")),
        "By circuit",
        "With and without a verb.",
        "(2;%good%) < (2;%bad%)",
        "first prediction of each suite",
        f"{(log2(29 / 3) + log2(28 / 3)) / 2:.3f}",  # barks and sleeps, the mean of region 2 of `full`
        "2 verb (empty)0.000",
    ):
        assert expected in page.text, expected


@pytest.mark.slow
def test_every_number_can_be_saved(tmp_path: Path) -> None:
    runs = [
        toy_run(tmp_path / "toy", agreement(), PLAIN),
        toy_run(tmp_path / "r", agreement(), PLAIN, model="random:?seed=3"),
    ]
    files = saved(written(tmp_path, *runs))
    assert set(files) == {
        "scores.csv", "comparison.csv", "01-agreement.csv", "01-agreement-items.csv", "02-plain.csv", "02-plain-items.csv",
    }  # fmt: skip
    [verb] = [row for row in files["scores.csv"] if row["measure"] == "verb" and row["model"] == "toy:12-sentences"]
    assert (float(verb["value"]), verb["n"], verb["ties"]) == (1 / 3, "3", "1")
    assert verb["signature"] == str(runs[0].signature("agreement", "verb"))
    items = files["01-agreement-items.csv"]
    assert len(items) == 2 * 3 * 2  # models, items, predictions
    assert float(items[0]["margin"]) == log2(3)
    assert float(files["01-agreement.csv"][0]["bits"]) == figure_mean(runs[0])
    assert {row["suite"] for row in files["comparison.csv"]} == {"agreement", "plain"}


FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1+1", "\r=1+1", '=HYPERLINK("http://example.invalid","x")', "＝1+1")


def spreadsheet_files(folder: Path) -> list[str]:
    """The same texts in a CSV file for programs, and in one that a report saves."""
    rows = [(text, -0.5) for text in FORMULAS]
    (folder / "program.csv").write_text("".join(csv.lines(("text", "bits"), rows)), "utf-8", newline="")
    href = re.findall('href="(.*?)"', csv_link("a.csv", ("text", "bits"), rows))[0]
    (folder / "person.csv").write_text(unquote(href.partition(",")[2]), "utf-8", newline="")
    return ["program.csv", "person.csv"]


@pytest.mark.slow
def test_text_like_a_formula_is_marked_for_people_and_exact_for_programs(tmp_path: Path) -> None:
    found = {}
    for name in spreadsheet_files(tmp_path):
        path = tmp_path / name
        found[name] = [cells for _, cells in csv.rows(path.read_bytes().decode(), path)][1:]
    assert found["program.csv"] == [[text, "-0.5"] for text in FORMULAS]
    assert found["person.csv"] == [[f"'{text}", "-0.5"] for text in FORMULAS]
    files = saved(written(tmp_path, hostile(tmp_path)))
    cells = {cell for rows in files.values() for row in rows for cell in [*row, *row.values()]}
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    assert not [cell for cell in cells if cell.startswith(tuple("=@\t")) or (cell[:1] in "+-" and not number(cell))]


def number(cell: str) -> bool:
    return not cell or re.fullmatch(r"-?\d+(\.\d+)?(e-\d+)?", cell) is not None


@pytest.mark.slow
def test_a_spreadsheet_runs_no_text_that_a_report_saves(tmp_path: Path) -> None:
    if not (office := shutil.which("soffice")):
        pytest.skip("no LibreOffice here")
    names = spreadsheet_files(tmp_path)
    profile = f"-env:UserInstallation=file://{tmp_path / 'profile'}"
    command = [office, "--headless", profile, "--convert-to", "fods", "--outdir", str(tmp_path), *names]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    run = [(tmp_path / name).with_suffix(".fods").read_text("utf-8").count("table:formula") for name in names]
    # The file for programs shows that the spreadsheet would have run them.
    assert run == [2, 0]


def figure_mean(run: Run) -> float:
    regions = run.regions("agreement").filter((pl.col("condition") == "good") & (pl.col("region") == "1"))
    return float(regions["bits"].to_numpy().mean())


@pytest.mark.slow
def test_models_are_compared_on_the_suites_they_share(tmp_path: Path) -> None:
    other = toy_run(tmp_path / "random", agreement(), PLAIN, model="random:?seed=3")
    toy = toy_run(tmp_path / "toy", agreement())
    page = written(tmp_path, toy, other)
    [row] = saved(page)["comparison.csv"]
    pairs = paired.pair(*(run.results("agreement").filter(pl.col("measure") == "verb") for run in (toy, other)))
    [expected] = paired.by_suite(pairs, Kind.VERDICT, (toy.tolerance, other.tolerance))
    assert (float(row["difference"]), float(row["p"])) == (expected.difference.value, expected.p)
    assert (row["only_a"], row["only_b"]) == (str(expected.verdicts.only_a), str(expected.verdicts.only_b))
    assert "0 of 1 suite show a significant difference" in page.text
    assert "Models compared" not in written(tmp_path, toy).text


@pytest.mark.slow
def test_models_are_compared_by_the_same_prediction_or_not_at_all(tmp_path: Path) -> None:
    toy, other = (toy_run(tmp_path / model, agreement(), model=model) for model in ("toy", "random"))
    # The second model was asked the second prediction only, which is then its first.
    [suite] = other.suites
    other.suites = (replace(suite, predictions={"full_sentence": suite.predictions["full_sentence"]}),)
    assert "Models compared" not in written(tmp_path, toy, other).text


@pytest.mark.slow
def test_models_without_a_suite_in_common_are_not_compared(tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / "one", agreement()), toy_run(tmp_path / "two", agreement(nouns=("dog", "cat")))]
    assert "Models compared" not in written(tmp_path, *runs).text


def test_a_suite_is_shown_by_an_item_and_its_prediction_in_words(tmp_path: Path) -> None:
    path = report([toy_run(tmp_path, agreement())], tmp_path / "report.html")
    content = path.read_text("utf-8")
    assert "The dog <mark>barks</mark>" in content
    assert '<span class="star" title="ungrammatical">*</span>The dog <mark>bark</mark>' in content
    assert "is less surprising in <code><bdi>good</bdi></code> than in <code><bdi>bad</bdi></code>" in content


@pytest.mark.slow
def test_what_a_model_is_not_asked_is_said_and_is_not_missing(tmp_path: Path) -> None:
    run = toy_run(tmp_path, agreement(), PLAIN)
    whole = run.results

    def without_the_verb(suite: str | None = None) -> pl.DataFrame:
        return whole(suite).filter(pl.col("measure") != "verb")

    with patch.object(run, "results", without_the_verb):
        text = written(tmp_path, run).text
    assert "not asked" in text
    assert "Unfinished" not in text
    # Without the first prediction of one suite the score over both is another score.
    assert "A score is undefined where a suite has no defined item" in text


@pytest.mark.slow
def test_suites_in_no_group_are_counted(tmp_path: Path) -> None:
    bare = replace(agreement(), name="bare", tags={})
    assert (
        "1 of 2 suites has no circuit and is in no row."
        in written(tmp_path, toy_run(tmp_path / "two", agreement(), bare)).text
    )
    assert "in no row" not in written(tmp_path, toy_run(tmp_path / "one", agreement())).text


@pytest.mark.slow
def test_scores_over_different_suites_say_over_how_many(tmp_path: Path) -> None:
    both = toy_run(tmp_path / "both", agreement(), agreement("again"))
    one = toy_run(tmp_path / "one", agreement())
    text = written(tmp_path, both, one).text
    # 3 items a suite, of which one ties. Five lines: first, all, verb and full_sentence of all suites; the circuit.
    assert (text.count("n=6, 2 suites, 2 ties"), text.count("n=3, 1 suite, 1 tie")) == (5, 5)
    assert text.count("1–2") == 5
    assert text.count("Where models were asked different suites, the number of suites stands under each score") == 2
    alike = written(tmp_path, both, both).text
    assert "n=6, 2 ties" in alike
    assert "Where models were asked different suites" not in alike


def test_tokens_are_embedded(tmp_path: Path) -> None:
    page = written(tmp_path, toy_run(tmp_path, agreement()))
    [items] = [json.loads(script) for script in page.raw["script"] if script.startswith("{")]
    assert items["regions"] == ["1 subject", "2"]
    assert [item["id"] for item in items["items"]] == ["1", "2", "3"]
    assert items["items"][0]["sentences"][1][3] == ["The", " dog", " bark"]


@pytest.mark.slow
def test_undefined_ties_and_unfinished_runs_are_loud(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", agreement(), crossed())
    text = written(tmp_path, run).text
    assert "1 undefined verdict for toy:12-sentences" in text
    assert "'dogs' crosses the region border" in text
    assert "2 ties for toy:12-sentences" in text
    assert "Unfinished" not in text
    text = written(tmp_path, interrupt(run.folder, 0)).text
    assert "Unfinished. The run of toy:12-sentences has the status “interrupted”; 4 of 4 items are not judged." in text


@pytest.mark.slow
def test_suites_of_different_runs_stand_side_by_side(tmp_path: Path) -> None:
    page = written(tmp_path, toy_run(tmp_path / "one", agreement(), PLAIN), toy_run(tmp_path / "two", PLAIN))
    assert "not run" in page.text
    assert sum(tag == "article" for tag, _ in page.elements) == 2
    assert "where a prediction fails" in "".join(page.raw["script"])


@pytest.mark.slow
def test_a_suite_without_predictions_or_with_one_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # `run` refuses the first one, but a run directory may come from an earlier version.
    monkeypatch.setattr("syntagm.evaluation.predictions.refuse_no_predictions", lambda suite: None)
    bare = type(PLAIN)("bare", PLAIN.items, ())
    page = written(tmp_path, toy_run(tmp_path, bare, pairs("single", ("the dog barks", "the dog bark"))))
    assert "no prediction" in page.text
    assert "1.000 no interval" in page.text
    assert "All 2 items, token by token" in page.text


def test_the_policy_names_exactly_the_scripts_and_styles(tmp_path: Path) -> None:
    page = written(tmp_path, toy_run(tmp_path, agreement()))
    [policy] = [
        found["content"] for tag, found in page.elements if found.get("http-equiv") == "Content-Security-Policy"
    ]
    run_scripts = [script for script in page.raw["script"] if not script.startswith("{")]

    def source(content: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    [script], [style] = run_scripts, page.raw["style"]
    assert policy == (
        f"default-src 'none'; script-src {source(script)}; style-src {source(style)}; base-uri 'none'; form-action 'none'"
    )
    assert not [name for _, found in page.elements for name in found if name == "style" or name.startswith("on")]


@pytest.mark.slow
@pytest.mark.parametrize("suites", ["ours", "hostile", "hostile gaps"])
def test_nothing_is_loaded(tmp_path: Path, suites: str) -> None:
    made = {"hostile": hostile, "hostile gaps": hostile_fill}
    run = made[suites](tmp_path) if suites in made else toy_run(tmp_path, agreement(), gaps(), PLAIN)
    page = written(tmp_path, run)
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form", "use", "image", "foreignObject")
        assert not {"src", "srcset", "xlink:href", "action", "data", "background"} & attributes.keys()
        saved = attributes.get("href", "#").startswith("data:text/csv;charset=utf-8,") and attributes.get("download")
        assert attributes.get("href", "#").startswith("#") or saved
    if suites == "ours":
        content = (tmp_path / "report.html").read_text("utf-8")
        assert set(re.findall(r"\w+://[^\s\"'<]+", content)) == {"http://www.w3.org/2000/svg"}
        assert "url(" not in content.replace("url(#", "")


@pytest.mark.slow
def test_hostile_texts_stand_as_text(tmp_path: Path) -> None:
    page = written(tmp_path, hostile(tmp_path))
    tags = [tag for tag, _ in page.elements]
    assert (tags.count("style"), tags.count("img")) == (1, 0)
    # One script that runs; the others are data, one a suite.
    kinds = [found.get("type") for tag, found in page.elements if tag == "script"]
    assert kinds.count(None) == 1
    assert kinds.count("application/json") == len(ATTACKS) + 1
    for attack in ATTACKS:
        assert visible(attack.rstrip("\x00")) in page.text
    data = [json.loads(script) for script in page.raw["script"] if script.startswith("{")]
    assert [item["id"] for item in data[-1]["items"]] == list(map(visible, ATTACKS))


@pytest.mark.slow
def test_hostile_texts_stand_as_text_in_a_run_over_gaps(tmp_path: Path) -> None:
    page = written(tmp_path, hostile_fill(tmp_path))
    tags = [tag for tag, _ in page.elements]
    assert (tags.count("script"), tags.count("style"), tags.count("img")) == (1, 1, 0)
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    for attack in ATTACKS[:6]:
        assert visible(attack) in page.text


@pytest.mark.slow
def test_measures_whose_values_are_numbers_have_a_page_without_verdicts(tmp_path: Path) -> None:
    measures = Surprisal("good"), Surprisal("bad")
    runs = [run(load(name), [agreement(), PLAIN], tmp_path / name, measures=measures) for name in ("toy", "random")]
    page = written(tmp_path, *runs)
    bits = runs[0].results("agreement").filter(pl.col("measure") == str(measures[0]))["value"]
    assert "measures stand in place of predictions" in page.text
    assert f"{float(bits.mean()):.3f} [" in page.text
    assert "Models compared" not in page.text
    assert not [
        found
        for _, found in page.elements
        if re.search(r"\ba\d\b", found.get("class") or "") and "number" in found["class"]
    ]
    [items, _] = [json.loads(script) for script in page.raw["script"] if script.startswith("{")]
    assert items["numbers"]
    assert {item["why"] for item in items["items"]} == {"shown"}
    assert "scores.svg" not in {path.name for path in save(runs, tmp_path / "figures", ["svg"])}


@pytest.mark.slow
def test_a_small_ceiling_leaves_items_then_figures_out_and_says_so(tmp_path: Path) -> None:
    texts = [(f"the dog barks {'loudly ' * (k % 7)}at {k}", f"the dogs barks at {k}") for k in range(60)]
    run = toy_run(tmp_path, *(pairs(f"suite{number}", *texts) for number in range(4)))
    whole = report([run], tmp_path / "whole.html")
    assert "50 of 60 items, token by token" in whole.read_text("utf-8")
    small = report([run], tmp_path / "small.html", ceiling=120_000)
    content = small.read_text("utf-8")
    assert small.stat().st_size <= 120_000 < whole.stat().st_size
    assert re.search(r"\b(25|12|6|3) of 60 items, token by token|Items are left out to keep this page small", content)
    with pytest.raises(UsageError, match="at most 20,000"):
        report([run], tmp_path / "none.html", ceiling=20_000)
    assert not (tmp_path / "none.html").exists()


def many_pairs(suites: int, items: int) -> list[Suite]:
    """Suites of pairs of ten words drawn with a seed."""
    words = ["the", "dog", "dogs", "cat", "cats", "bark", "barks", "at", "near", "sleep", "sleeps", "no", "ever"]
    random = Random(5)

    def text() -> str:
        return " ".join(random.choices(words, k=10))

    tags = [{"field": ("syntax", "semantics")[number % 2]} for number in range(suites)]
    return [
        pairs(f"paradigm{number:02}", *((text(), text()) for _ in range(items)), tags=tags[number])
        for number in range(suites)
    ]


@pytest.mark.slow
def test_67_suites_of_1000_pairs_stay_under_the_ceiling(tmp_path: Path) -> None:
    path = report([toy_run(tmp_path / "run", *many_pairs(67, 1000))], tmp_path / "report.html")
    content = path.read_text("utf-8")
    assert path.stat().st_size < shell.CEILING
    assert content.count("50 of 1,000 items, token by token") == 67


@pytest.mark.slow
def test_six_models_on_67_suites_of_200_pairs(tmp_path: Path) -> None:
    # The page shows 50 items of each suite, however many there are.
    suites = many_pairs(67, 200)
    runs = [toy_run(tmp_path / str(seed), *suites, model=f"random:?seed={seed}") for seed in range(1, 7)]
    path = report(runs, tmp_path / "report.html")
    assert path.stat().st_size < shell.CEILING
    assert "Models compared" in path.read_text("utf-8")


def test_no_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one run"):
        report([], tmp_path / "report.html")
