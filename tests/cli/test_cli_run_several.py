"""`syntagm run` with several models, with names, and with a limit on items."""

import io
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from toy_runs import agreement, pairs, toy_run

from syntagm.cli import _screen, main, run as run_command
from syntagm.core import Interrupted
from syntagm.models import names as model_names
from syntagm.report import page
from syntagm.runs import Run, open_run
from syntagm.views import by_name, vega

SUITE = ["--suite", "hu2020/mvrr"]


def run(*arguments: object) -> int:
    return main(["run", *map(str, arguments)])


def results(folder: Path) -> bytes:
    return (folder / "results.csv").read_bytes()


class TestSeveralModels:
    @pytest.mark.slow
    def test_each_has_a_folder_and_is_loaded_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        loaded: list[str] = []
        load = model_names.load_permitted

        def noted(text: str, *more: Any, **named: Any) -> Any:
            loaded.append(text)
            return load(text, *more, **named)

        monkeypatch.setattr(model_names, "load_permitted", noted)
        assert run("toy", "random?seed=2", *SUITE, "-o", tmp_path / "two") == 0
        assert loaded == ["toy", "random?seed=2"]
        assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["random-seed-2", "report.html", "toy"]
        captured = capsys.readouterr()
        assert "random-seed-2 (2 of 2): random?seed=2\n" in captured.err
        shown = captured.out
        assert f"runs: {tmp_path / 'two'}, 2 folders\n" in shown
        assert [line.split("│")[1].strip() for line in shown.splitlines() if line.startswith("│")] == [
            "toy",
            "random-seed-2",
        ]
        assert f"report: {tmp_path / 'two' / 'report.html'}" in shown
        # The results are those of each model by itself.
        assert run("random?seed=2", *SUITE, "-o", tmp_path / "one", "--no-report") == 0
        assert results(tmp_path / "two" / "random-seed-2") == results(tmp_path / "one")

    @pytest.mark.slow
    def test_the_order_changes_when_models_are_evaluated_and_nothing_else(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = ["random?seed={1..4}", *SUITE, "--limit", 3]
        assert run(*words, "-o", tmp_path / "coarse", "--order", "coarse") == 0
        shown = capsys.readouterr()
        assert re.findall(r"seed=(\d)$", shown.err, re.M) == ["1", "4", "2", "3"]
        assert run(*words, "-o", tmp_path / "given") == 0
        assert capsys.readouterr().out == shown.out.replace("coarse", "given")
        for seed in range(1, 5):
            folders = [tmp_path / folder / f"random-seed-{seed}" for folder in ("coarse", "given")]
            assert results(folders[0]) == results(folders[1])

    def test_several_numbers_of_an_option_are_several_models(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run("random?seed=1,2", *SUITE, "-o", tmp_path / "sweep", "--no-report") == 0
        assert [open_run(tmp_path / "sweep" / f"random-seed-{seed}").record["model"]["name"] for seed in (1, 2)] == [
            "random:normal(16,2)?seed=1", "random:normal(16,2)?seed=2",
        ]  # fmt: skip
        assert results(tmp_path / "sweep" / "random-seed-1") != results(tmp_path / "sweep" / "random-seed-2")
        # Only numbers are split.
        assert run("random?unigram=yes,no", *SUITE, "-o", tmp_path / "refused") == 2
        assert "'yes,no'; expected no or yes" in capsys.readouterr().err

    def test_a_note_tells_of_suites_with_more_predictions(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        suites = agreement(), pairs("one", ("the dog barks", "the dog bark"))
        runs = [toy_run(tmp_path / model, *suites, model=model) for model in ("toy", "random")]
        _screen.show_runs(runs, None)
        note = "note: scores are by the first prediction of each suite; 1 of 2 suites has more, which `syntagm table"
        assert note in capsys.readouterr().err
        _screen.show_runs([toy_run(tmp_path / "single", suites[1])] * 2, None)
        assert "first prediction" not in capsys.readouterr().err

    @pytest.mark.slow
    def test_one_that_fails_is_named_and_the_others_are_done(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        command = ("toy", "lstm:nowhere", "random", *SUITE, "-o", tmp_path)
        assert run(*command) == 2
        captured = capsys.readouterr()
        assert "syntagm: nowhere: " in captured.err
        assert "1 of 3 models failed" in captured.err
        assert all(open_run(tmp_path / name).done for name in ("toy", "random"))
        assert (tmp_path / "report.html").exists()
        assert "nowhere" not in captured.out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["toy", "random", "toy", *SUITE], "MODEL: toy given twice; expected each model once"),
            (["toy", "Toy:", "--name", "a b", "--name", "a-b", *SUITE], "--name: two models with the label a-b"),
            (["toy", "--cache", "a", "--no-cache", *SUITE], "--cache: given with --no-cache; expected one of the two"),
            (["toy", "random", "--name", "A", *SUITE], "--name: 1 for 2 models; expected one for each model"),
            (["toy", "random", "--name", "A", "--name", "A", *SUITE], "two models with the label A"),
            (["toy", "--name", "A", "--name", "B", *SUITE], "--name: 2 for 1 model; expected one for each model"),
            (["toy", "random", "--limit", "0", *SUITE], "--limit: 0; expected at least 1"),
            (["toy", "--limit", "2", "--seed", "x", *SUITE], "--seed: 'x'; expected a whole number"),
        ],
    )  # fmt: skip
    def test_refusals_come_before_any_work(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
    ) -> None:
        assert run(*arguments, "-o", tmp_path / "out") == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "out").exists()

    def test_a_pattern_that_matches_one_folder_leaves_room_for_more(self, tmp_path: Path) -> None:
        assert run("random?seed={3..3}", *SUITE, "-o", tmp_path, "--no-report") == 0
        assert [path.name for path in tmp_path.iterdir()] == ["random-seed-3"]

    def test_folders_of_the_same_name_are_told_apart_by_their_paths(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run("a/best", "b/best", *SUITE, "-o", tmp_path) == 2
        found = capsys.readouterr().err
        assert "syntagm: a-best: " in found
        assert "syntagm: b-best: " in found

    @pytest.mark.parametrize(
        ("models", "labels", "more"),
        [
            (["m/seed*/best"], ["seed1-best", "seed2-best"], "m/seed3/best"),
            (["m/*/best"], ["seed1-best", "seed2-best"], "m/other/best"),
            (["m/seed1/*", "m/seed2/*"], ["m-seed1-best", "m-seed1-last", "m-seed2-best"], "m/seed2/last"),
        ],
    )
    def test_labels_stay_when_more_folders_match(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
        models: list[str], labels: list[str], more: str,
    ) -> None:  # fmt: skip
        for folder in ("m/seed1/best", "m/seed1/last", "m/seed2/best"):
            (tmp_path / folder).mkdir(parents=True)
        monkeypatch.chdir(tmp_path)
        # The folders contain no models. The labels are named before that is found out.
        assert run(*models, *SUITE, "-o", "out") == 2
        assert re.findall(r"^(\S+) \(\d of \d\): m/", capsys.readouterr().err, re.MULTILINE) == labels
        (tmp_path / more).mkdir(parents=True)
        assert run(*models, *SUITE, "-o", "out") == 2
        assert {*labels} < {*re.findall(r"^(\S+) \(\d of \d\): m/", capsys.readouterr().err, re.MULTILINE)}

    def test_a_folder_with_the_run_of_one_model_is_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run("toy", *SUITE, "-o", tmp_path, "--no-report") == 0
        assert run("toy", "random", *SUITE, "-o", tmp_path) == 2
        assert "the run directory of one model" in capsys.readouterr().err

    def test_a_folder_with_runs_of_several_models_is_refused_for_one(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run("toy", *SUITE, "-o", tmp_path / "toy", "--no-report") == 0
        assert run("random?seed=2", *SUITE, "-o", tmp_path) == 2
        error = capsys.readouterr().err
        assert "a folder of runs, such as toy; expected a folder for one run. Choose another folder, such as " in error
        assert error.endswith(f"{tmp_path}/random-seed-2.\n")
        assert [path.name for path in tmp_path.iterdir()] == ["toy"]

    @pytest.mark.slow
    def test_the_same_line_goes_on_after_a_kill(self, tmp_path: Path) -> None:
        command = ["run", "toy", "demo", "random", "--suite", "hu2020", "--no-cache", "--no-report", "-o"]
        assert main([*command, str(tmp_path / "whole")]) == 0
        process = subprocess.Popen(
            [sys.executable, "-m", "syntagm", *command, str(tmp_path / "killed")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        ledger = tmp_path / "killed" / "demo" / "ledger.jsonl"
        for _ in range(6000):
            if ledger.exists() and ledger.read_bytes().count(b"\n") >= 2:
                break
            time.sleep(0.01)
        process.kill()
        process.wait()
        assert not (tmp_path / "killed" / "demo" / "results.csv").exists()
        assert main([*command, str(tmp_path / "killed")]) == 0
        for name in ("toy", "demo", "random"):
            assert results(tmp_path / "killed" / name) == results(tmp_path / "whole" / name)


def test_the_bar_of_several_models_tells_models_speed_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(_screen, "Printer", lambda **_: Console(file=written, force_terminal=True, width=120))
    with _screen.WorkersScreen(3, "sentence", quiet=False) as screen:
        screen.began("one")
        screen.planned(100, 0, 2)
        screen.answered("mvrr", 50)
        # The driver also calls when nothing has arrived.
        screen.answered("", 0)
    shown = re.sub(r"\x1b\[[\d;?]*\w", "", written.getvalue())
    assert re.search(r"1/3 models begun .* 50/300 sentences [\d,]+ per second, \d+ s left", shown)


def test_an_estimate_of_the_time_comes_early_and_includes_the_models_that_follow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with _screen.Screen(following=(2, 0)) as screen:
        now[0] += 30  # to load the model
        screen.planned(1000, 0, 2)
        for _ in range(15):
            now[0] += 1
            screen.answered("mvrr", 10)
    assert capsys.readouterr().err.splitlines() == [
        "2 suites, 1,000 sentences",
        # 96 s for this model, and 131 s for each of the others.
        "40 of 1,000 sentences, 10 per second, 2 min left, 6 min for all models",
        "150 of 1,000 sentences, 10 per second, 85 s left, 6 min for all models",
    ]


def test_workers_without_a_run_have_no_line_of_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with _screen.WorkersScreen(2, "sentence", quiet=False) as screen:
        now[0] += 60
        screen._interrupt(2, None)
        with pytest.raises(Interrupted):
            screen.answered("", 0)
    assert capsys.readouterr().err.splitlines() == [
        "2 models, waiting for workers",
        "stopping after this batch; press Ctrl-C again to stop now",
    ]


def test_an_estimate_of_the_time_is_without_the_first_batch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with _screen.Screen() as screen:
        screen.planned(1000, 100, 2)
        for seconds, sentences in ((20, 10), (1, 20), (2, 40)):
            now[0] += seconds
            screen.answered("mvrr", sentences)
    # 60 sentences in 3 s.
    assert capsys.readouterr().err.splitlines()[1:] == ["170 of 1,000 sentences, 20 per second, 42 s left"]


@pytest.mark.parametrize(
    ("seconds", "total", "announced"),
    [
        (2.5, 360, ["about 15 CPU-minutes for the other 357 contexts (2.5 CPU-seconds each, measured on 2)"]),
        (2.5, 40, ["about 1.5 CPU-minutes for the other 37 contexts (2.5 CPU-seconds each, measured on 2)"]),
        (0.5, 360, ["about 3.0 CPU-minutes for the other 355 contexts (0.5 CPU-seconds each, measured on 4)"]),
        (0.5, 60, []),
    ],
)
def test_what_takes_long_is_announced_in_processor_time(
    seconds: float,
    total: int,
    announced: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    used = [0.0]
    monkeypatch.setattr("time.process_time", lambda: used[0])
    workers = _screen.WorkersScreen(1, "context", quiet=False)
    for screen in (_screen.Screen("context"), workers):
        with screen:
            screen.planned(total, 0, 2)
            # The first answer takes longer: its words are tokenised.
            for further in (9.0, *[seconds] * 6):
                used[0] += further
                screen.answered("mvrr", 1)
        # Workers are other processes.
        lines = [line for line in capsys.readouterr().err.splitlines() if "CPU" in line]
        assert lines == ([] if screen is workers else announced)


def test_the_total_of_several_models_is_without_those_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    with _screen.WorkersScreen(4, "sentence", quiet=False) as screen:
        screen.planned(100, 0, 1)
        assert screen._total == 400
        screen.failed(None)
        assert screen._total == 300
        screen.planned(100, 0, 1)
        screen.failed(70)
        assert screen._total == 230
    assert "1 suite, 100 sentences" in capsys.readouterr().err


def test_finished_models_count_in_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    with _screen.WorkersScreen(4, "sentence", quiet=True, finished={"two", "three"}) as screen:
        for label, done in (("one", 40), ("two", 100)):
            screen.began(label)
            screen.planned(100, done, 1)
        assert (screen._total, screen._done, screen._now("")) == (200, 40, "1/2 models begun")
        # A unit of this one is damaged.
        screen.began("three")
        screen.planned(100, 90, 1)
        assert (screen._total, screen._done, screen._now("")) == (300, 130, "2/3 models begun")
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    screen = _screen.Screen(quiet=True, following=(1, 5))
    now[0] += 30  # to load the model
    screen.planned(1000, 0, 2)
    now[0] += 90
    screen.answered("mvrr", 900)
    # 10 s for the rest of this model, 130 s for the other unfinished one, and 150 s to load the finished ones.
    assert screen._speed(now[0]) == "10 per second, 10 s left, 5 min for all models"


@pytest.mark.parametrize("columns", ["80", "140"])
def test_the_bar_shows_its_numbers_on_any_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with _screen.Screen(following=(2, 0)) as screen:
        now[0] += 30
        screen.planned(12_000, 0, 2)
        now[0] += 10
        screen.answered("npi_across_animate_and_inanimate", 1360)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err).splitlines()[-1]
    assert "1,360/12,000 sentences 136 per second, 78 s left, 5 min for all models" in shown
    assert shown.startswith("npi_across_animate" if columns == "140" else " 1,360")


def test_v_tells_of_units_and_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["toy", *SUITE, "--limit", 3, "--no-report", "--no-cache"]
    assert run(*line, "-o", tmp_path / "out", "-v") == 0
    shown = re.sub(r"\d+\.\d+ s", "T", capsys.readouterr().err)
    name = open_run(tmp_path / "out").suites[0].shards[0][:8]
    assert shown.splitlines()[:-1] == [
        "loaded in T",
        "1 suite, 12 sentences",
        "planned in T; units to compute: 1 of 1",
        f"suite mvrr, unit {name}: 12 sentences in T, 0 answers from the cache; committed in T",
        "results written in T",
    ]
    assert run(*line, "-o", tmp_path / "other") == 0
    assert capsys.readouterr().err.splitlines()[:-1] == ["1 suite, 12 sentences"]
    with pytest.raises(SystemExit):
        run(*line, "-v", "-q", "-o", tmp_path / "both")
    assert "not allowed with argument" in capsys.readouterr().err


def test_more_models_than_fit_on_a_page_have_their_numbers_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MOST", 1)
    assert run("toy", "random", *SUITE, "--limit", 2, "-o", tmp_path) == 0
    shown = capsys.readouterr()
    assert "syntagm: report: 2 models; expected at most 1. Report on some of them: `syntagm report DIR/" in shown.err
    assert "runs: " in shown.out
    assert "report: " not in shown.out
    assert not (tmp_path / "report.html").exists()
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "report.html")]) == 2


def test_results_are_not_read_to_count_what_is_undefined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy_run(tmp_path, agreement())
    opened = open_run(tmp_path)
    monkeypatch.setattr(Run, "results", None)
    assert not run_command._mostly_undefined([opened])


class TestNames:
    def test_models_of_two_groups_may_have_the_same_name(self, tmp_path: Path) -> None:
        named = ["--name", "A: small", "--name", "B: small"]
        assert run("toy", "random", *named, *SUITE, "--limit", 2, "-o", tmp_path, "--no-report") == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["A-small", "B-small"]
        assert open_run(tmp_path / "B-small").name == "B: small"

    def test_a_name_stands_in_tables_and_not_in_results(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run("toy", *SUITE, "--name", "My toy", "-o", tmp_path / "run", "--no-report") == 0
        assert "My toy: toy:12-sentences" in capsys.readouterr().out
        opened = open_run(tmp_path / "run")
        assert (opened.name, opened.model) == ("My toy", "toy:12-sentences")
        assert set(by_name.table("scores", opened).to_frame()["model"]) == {"My toy"}
        assert results(tmp_path / "run").startswith(b"model,suite,item,measure,value,margin\ntoy:12-sentences,mvrr,")

    @pytest.mark.slow
    def test_a_run_can_be_renamed_by_the_same_command(self, tmp_path: Path) -> None:
        for name in ("A", "B"):
            assert run("toy", *SUITE, "--name", name, "-o", tmp_path, "--no-report") == 0
            assert open_run(tmp_path).name == name
        # Without --name, it keeps its name.
        assert run("toy", *SUITE, "-o", tmp_path, "--no-report") == 0
        assert open_run(tmp_path).name == "B"

    @pytest.mark.slow
    def test_tables_figures_and_reports_take_names(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("toy", "random", *SUITE, "-o", tmp_path) == 0
        folders, stem = [str(tmp_path / name) for name in ("toy", "random")], str(tmp_path / "x")
        named = ["--name", "Bigrams", "--name", "Noise"]
        capsys.readouterr()
        assert main(["table", "scores", *folders, "wide=yes", *named, "--format", "latex"]) == 0
        assert "& Bigrams & Noise" in capsys.readouterr().out
        assert main(["figure", *named, "scores", *folders, "-o", stem, "--format", "svg"]) == 0
        assert ">Bigrams<" in (tmp_path / "x.svg").read_text()
        assert main(["report", *folders, *named, "-o", f"{stem}.html"]) == 0
        assert "<bdi>Bigrams</bdi>" in (tmp_path / "x.html").read_text()
        assert main(["table", "scores", *folders, "--name", "one"]) == 2
        assert "--name: 1 for 2 runs; expected one for each run, in order, or none" in capsys.readouterr().err

    def test_legends_have_short_names(self) -> None:
        legend = vega.Series("model", ["causal:tiny-gpt2@dd5dc999", "toy:12-sentences"], 400, True).colour["legend"]
        assert json.loads(legend["labelExpr"].partition("[datum")[0]) == {"causal:tiny-gpt2@dd5dc999": "tiny-gpt2"}


class TestLimit:
    @pytest.mark.slow
    def test_a_limit_samples_any_suite_and_is_in_signatures(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "pairs.tsv"
        path.write_text("good\tbad\n" + "".join(f"The dog {k}.\tThe dogs {k}.\n" for k in range(30)))
        command = ["toy", "--suite", path, "hu2020/mvrr", "--limit", "7", "--no-report"]
        assert run(*command, "--seed", "3", "-o", tmp_path / "a") == 0
        assert "|sample:7,seed:3|" in capsys.readouterr().out
        first = open_run(tmp_path / "a")
        assert [suite.items for suite in first.suites] == [7, 7]
        assert "sample:7,seed:3" in str(first.signature("mvrr", "paper").over(2))
        # Another seed draws other items, and is another run.
        assert run(*command, "--seed", "4", "-o", tmp_path / "b") == 0
        assert first.results("pairs")["item"].to_list() != open_run(tmp_path / "b").results("pairs")["item"].to_list()
        assert run(*command, "--seed", "4", "-o", tmp_path / "a") == 2
        assert "a run on other suites" in capsys.readouterr().err

    def test_a_limit_is_not_the_size_of_made_suites(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        made = ["random", "--suite", "marvin2018/sent_comp", "-n", "20", "--seed", "2", "--no-report"]
        assert run(*made, "-o", tmp_path / "all") == 0
        assert run(*made, "--limit", "5", "-o", tmp_path / "some") == 0
        everything, sample = (open_run(tmp_path / name).results() for name in ("all", "some"))
        assert sample["item"].n_unique() == 5
        assert set(sample.iter_rows()) < set(everything.iter_rows())
        capsys.readouterr()
        assert run("toy", "random", "--suite", "hu2020/mvrr", "--limit", "5", "--dry-run", "-o", tmp_path / "x") == 0
        assert capsys.readouterr().out.splitlines() == [
            "toy (1 of 2): toy",
            "random (2 of 2): random",
            "2 models, each on 1 suite, 5 items, 20 sentences, 20 of them distinct; 40 sentences in all",
        ]

    @pytest.mark.slow
    def test_gaps_have_a_limit_too(self, tmp_path: Path) -> None:
        command = [
            "fill",
            "toy",
            "--suite",
            "marvin2018/simple_agrmt",
            "--words",
            "verbs",
            "--limit",
            "4",
            "--no-report",
        ]
        assert main([*command, "-o", str(tmp_path)]) == 0
        assert open_run(tmp_path).suites[0].items == 4
