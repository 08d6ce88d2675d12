"""`syntagm run --config FILE`: what the file says, what the command line replaces, and what is refused."""

import shlex
from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.runs import open_run


def run(*words: object) -> int:
    return main(["run", *map(str, words)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "experiment.toml"
    path.write_text(
        f'suite = ["hu2020/mvrr", "hu2020/cleft"]\nlimit = 3\noutput = "{tmp_path / "all"}"\nno_report = true\n'
        '[[models]]\nmodel = "toy"\nname = "Toy"\n[[models]]\nmodel = "random?seed=2"\nname = "Random"\n'
    )
    return path


@pytest.mark.slow
def test_a_file_says_all_that_options_say(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--config", file) == 0
    assert f"{file}: suite, limit, output, no_report, models\n" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["Random", "Toy"]
    by_options = ["toy", "random?seed=2", "--name", "Toy", "--name", "Random", "--suite", "hu2020/mvrr", "hu2020/cleft"]
    assert run(*by_options, "--limit", "3", "-o", tmp_path / "same", "--no-report") == 0
    for name in ("Toy", "Random"):
        ours, theirs = (tmp_path / folder / name / "results.csv" for folder in ("all", "same"))
        assert ours.read_bytes() == theirs.read_bytes()
    # The record has the whole line, which can be repeated without the file.
    line = shlex.split(open_run(tmp_path / "all" / "Toy").record["command"])
    assert line[:4] == ["syntagm", "run", "toy", "random?seed=2"]
    assert "--config" not in line
    assert main(line[1:]) == 0


def test_the_command_line_replaces_what_it_names(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("toy", f"--config={file}", "--limit", "2", "-o", tmp_path / "one") == 0
    assert "; replaced by the command line: limit, output, models\n" in capsys.readouterr().err
    found = open_run(tmp_path / "one")
    assert [len(found.results(suite.name)["item"].unique()) for suite in found.suites] == [2, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limt = 3", "limt: no option; expected one of models, output, "),
        ("limt = 3", "Did you mean limit?"),
        (
            "allow_pickle = true",
            "a permission; expected options without permissions. Give --allow-pickle on the command",
        ),
        ("trust-remote-code = true", "a permission"),
        ("allow-exec = true", "a permission"),
        ("limit = [3, 4]", "limit: 2 values; expected one"),
        ("limit = []", "limit: 0 values; expected one"),
        ("measure = []", "measure: 0 values; expected at least one"),
        ("no-report = true\nno_report = false", "no_report: no-report and no_report; expected one of the two"),
        ("limit = {a = 1}", "expected text or a number"),
        ('no-cache = "yes"', "no-cache: 'yes'; expected true or false"),
        ('config = "other.toml"', "config: no option"),
        ("models = 3", "models: 3; expected a list"),
        ("[[models]]\nname = 'a'", "models, 1: no model; expected the key model"),
        ("models = ['toy', 3]", "models, 2: 3; expected a list"),
        (
            "[[models]]\nmodel = 'toy'\nkind = 'a'",
            "models, 1, kind: no key of a model; expected model or name or group",
        ),
        ("[[models]]\nmodel = 'toy'\nlimit = 3", "limit: no key of a model"),
        ("[[models]]\nmodel = 'toy'\nlimit = 3", "Options of the command stand above the first [[models]]."),
        ("models = ['toy', '--allow-exec']", "models, 2: '--allow-exec'; expected the name of a model"),
        ("[[models]]\nmodel = '--allow-pickle'", "models, 1: '--allow-pickle'; expected the name of a model"),
        ("models = ['']", "models, 1: ''; expected the name of a model"),
        ('limit = "ten"', "config.toml, limit: 'ten'; expected a whole number"),
        ("limit = 2.5", "config.toml, limit: 2.5; expected a whole number"),
        ("limit = true", "config.toml, limit: true; expected text or a number"),
        ('stop-at = "soon"', "config.toml, stop-at: 'soon'; expected a number"),
        ('align = "loose"', "config.toml, align: 'loose'; expected strict or start"),
        ("quiet = true\nverbose = true", "config.toml, verbose: quiet and verbose; expected one of the two"),
        ("[[models]]\nmodel = 'toy'\ngroup = 'a'", "models, 1: a group without a name"),
        ("[[models]]\nmodel = 'toy'\nname = 'b'\ngroup = 'a: b'", "group: 'a: b'; expected a group without a colon"),
        ("[[models]]\nmodel = 'toy'\nname = 'a'\n[[models]]\nmodel = 'demo'", "1 name for 2 models"),
        ("limit = ", "invalid TOML"),
    ],
)
def test_what_a_file_can_not_say(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    models = [] if "models" in text else ["toy"]
    assert run(*models, "--config", path, "--suite", "hu2020/mvrr", "-o", tmp_path / "run") == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limit = 0", "config.toml, limit: 0; expected at least 1"),
        ("seed = 7.5\nlimit = 2", "config.toml, seed: '7.5'; expected a whole number"),
        ('suite = "hu2020/none"', "config.toml, suite: hu2020/none: no suite 'none' in hu2020"),
        ('suite = "none.tsv"', "config.toml, suite: none.tsv: no such file"),
        ('output = "new"\nsuite = "new/none.tsv"', "config.toml, suite: new/none.tsv: no such file"),
        ('cache = ""\nsuite = "none.tsv"', "config.toml, suite: none.tsv: no such file"),
        ('executor = "ray?gpu=1"', "config.toml, executor ray?gpu=1: no option 'gpu'"),
        ('executor = "cluster"', "config.toml, executor: 'cluster'; expected one of local:N"),
        ('measure = "length()"', "config.toml, measure: no such name: 'length'"),
        ('measure = "surprisal(condition=x)"', "config.toml, measure surprisal(condition=x,region=*): no 'x' in item"),
        ("stop_at = 0.7", "config.toml, stop_at: 0.7; expected a half-width"),
        ('cache = "a"\nno_cache = true', "config.toml, cache: given with --no-cache; expected one of the two"),
        ('output = "config.toml/x"', "config.toml, output: config.toml/x: "),
        ('name = ["a", "b", "c"]', "config.toml, name: 3 for 2 models; expected one for each model"),
        (
            'models = ["random", "random?sed=1"]\ndry-run = true',
            "syntagm: random-sed-1 (config.toml, models, 2): model ",
        ),
        ('models = ["random?sed=1"]', "syntagm: config.toml, models, 1: model family random: no such option: 'sed'"),
        ('models = ["lstm:none"]', "syntagm: config.toml, models, 1: lstm:none: no such folder"),
        ('models = ["toy", "none/*"]', "syntagm: config.toml, models, 2: model none/*: no folder that matches"),
        ('models = ["toy", "toy"]', "syntagm: config.toml, models: toy given twice; expected each model once"),
    ],
)
def test_an_error_names_the_file_and_the_key_of_the_value(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = {"suite": '"hu2020/mvrr"', "output": '"run"', "models": '["toy", "random"]'}
    lines = [f"{key} = {value}" for key, value in keys.items() if f"{key} = " not in text]
    Path("config.toml").write_text("\n".join([text, *lines]))
    assert run("--config", "config.toml", "-q") == 2
    assert said in capsys.readouterr().err.splitlines()[0] + "\n"
    assert not Path("run").exists()


def test_an_error_in_a_suite_is_not_that_of_the_file_that_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("good\tbad\nThe dog barks.\n")
    Path("config.toml").write_text('models = ["toy"]\nsuite = "pairs.tsv"\noutput = "run"\nlimit = 0')
    assert run("--config", "config.toml", "-q", "--limit", 1) == 2
    assert capsys.readouterr().err.startswith("syntagm: pairs.tsv, line 2: ")
    # Nor has the file to do with a value that the command line replaces.
    assert run("--config", "config.toml", "-q", "--limit", -1) == 2
    assert capsys.readouterr().err == "syntagm: --limit: -1; expected at least 1\n"


def test_quiet_lines_print_the_results_only(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--config", file, "--quiet") == 0
    shown = capsys.readouterr()
    # Only warnings: the toy model knows few words.
    assert [line for line in shown.err.splitlines() if not line.startswith("warning: ")] == []
    assert "Random" in shown.out
    file.write_text("verbose = true\n" + file.read_text())
    assert run("--config", file, "-q", "--dry-run") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_name_of_the_command_line_replaces_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[[models]]\nmodel = "toy"\nname = "A"\n')
    assert run("--config", path, "--name", "B", "--suite", "hu2020/mvrr", "--limit", "1", "-o", tmp_path / "run") == 0
    assert "models; replaced by the command line: name\n" in capsys.readouterr().err
    assert open_run(tmp_path / "run").name == "B"


@pytest.mark.parametrize("option", ["--config", "--conf"])
def test_the_option_may_stand_between_suites_and_models(option: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f'limit = 1\noutput = "{tmp_path / "run"}"\nno-report = true\n')
    assert run("--suite", "hu2020/mvrr", option, path, "toy") == 0
    found = open_run(tmp_path / "run")
    assert len(found.results("mvrr")["item"].unique()) == 1
    assert main(shlex.split(found.record["command"])[1:]) == 0


def test_one_file_that_exists(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--config", file, "--config", file) == 2
    assert "--config: 2 files; expected one" in capsys.readouterr().err
    assert run("--config", tmp_path / "none.toml") == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.slow
def test_fill_reads_a_file_with_one_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gaps.toml"
    options = 'suite = "marvin2018/simple_agrmt"\nlimit = 2\nwords = "verbs"\nno-report = true\ntop = [0.9, 0.5]\n'
    path.write_text(options + '[[models]]\nmodel = "toy"\nname = "Toy"\n')
    assert main(["fill", "--config", str(path), "-o", str(tmp_path / "run")]) == 0
    found = open_run(tmp_path / "run")
    assert (found.name, found.record["options"]["top"]) == ("Toy", [0.5, 0.9])
    line = shlex.split(found.record["command"])
    assert line[:3] == ["syntagm", "fill", "toy"]
    assert main(line[1:]) == 0
    assert main(["fill", "random", "--config", str(path), "--top", "0.5", "-o", str(tmp_path / "other")]) == 0
    assert "; replaced by the command line: top, models\n" in capsys.readouterr().err
    assert open_run(tmp_path / "other").record["options"]["top"] == [0.5]
    path.write_text(options + 'models = ["toy", "random"]\n')
    assert main(["fill", "--config", str(path), "-o", str(tmp_path / "two")]) == 2
    assert f"{path}, models: 2 models; expected one, as for `syntagm fill`" in capsys.readouterr().err


def test_a_group_stands_before_the_name(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[[models]]\nmodel = "toy"\nname = "small"\ngroup = "Toys"\n')
    assert run("--config", path, "--suite", "hu2020/mvrr", "--limit", 2, "-o", tmp_path / "run", "--no-report") == 0
    assert open_run(tmp_path / "run").name == "Toys: small"


@pytest.mark.parametrize("executor", [(), ("--executor", "local:2")])
def test_options_of_templates_are_refused_for_tables_before_the_first_model(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], executor: tuple[str, ...]
) -> None:
    (tmp_path / "table.tsv").write_text("good\tbad\nThe dog barks.\tThe dog bark.\n")
    file.write_text(file.read_text().replace("limit = 3", "n = 3").replace("hu2020/cleft", f"{tmp_path}/table.tsv"))
    assert run("--config", file, *executor) == 2
    said = capsys.readouterr().err
    assert f"{file}, n: given for {tmp_path / 'table.tsv'}, whose items are not generated; expected templates" in said
    assert "(1 of 2)" not in said
    assert not (tmp_path / "all").exists()


def test_a_suite_that_cannot_be_read_is_refused_once_and_before_the_first_model(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.json").write_text('{"meta": {"name": "odd"}, "items": 3, "predictions": []}')
    file.write_text(file.read_text().replace("hu2020/cleft", f"{tmp_path}/odd.json"))
    assert run("--config", file) == 2
    said = capsys.readouterr().err
    assert said.count("odd.json") == 1
    assert "(1 of 2)" not in said
    assert not (tmp_path / "all").exists()


LINES = (
    '{"sentence_good": "The dog barks", "sentence_bad": "The dog bark"}\n'
    '{"sentence_good": "a b", "sentence_bad": "a b"}\n'
    '{"sentence_good": "The cat sleeps", "sentence_bad": "The bird sleeps"}\n'
)
FIELDS = (
    '{"sentence_good": "The dogs near the cat bark", "sentence_bad": "The dogs bark", "field": "syntax", '
    '"linguistics_term": "x", "UID": "passive_1"}\n'
)


@pytest.mark.slow
def test_the_pairs_of_babylm_with_ties_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files with the two sentences alone, and with BLiMP's fields; the tie is a failure, and a hit for torch.max."""
    for name, text in {"hypernym": LINES, "passive_1": FIELDS}.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
    suites = ["--suite", tmp_path / "hypernym.jsonl", tmp_path / "passive_1.jsonl", "--no-report", "-q"]
    assert run("toy", "--config", "babylm", *suites, "-o", tmp_path / "run") == 0
    shown = capsys.readouterr()
    opened = open_run(tmp_path / "run")
    means = [opened.results(name)["value"].mean() for name in ("hypernym", "passive_1")]
    failures, hits = sum(means) / 2, (means[0] + 1 / 3 + means[1]) / 2
    said = f"1 of 4 pairs of sentences tie and count as failures: mean accuracy {failures:.4f}. If they counted as hits"
    assert said in shown.out
    assert f"it would be {hits:.4f}\n" in shown.out
    assert "convention" not in opened.record["options"]
    # The command line replaces the preset, and the other number is then that of failures.
    options = ["--convention", "bits+ties_as_hits", "-o", tmp_path / "hits"]
    assert run("toy", "--config", "babylm", *suites, *options) == 0
    said = f"count as hits: mean accuracy {hits:.4f}. If they counted as failures, it would be {failures:.4f}"
    assert said in capsys.readouterr().out
    # Since April 2026, its pipeline breaks ties by chance: half a hit on average.
    assert run("toy", "--config", "babylm-2026", *suites, "-o", tmp_path / "half") == 0
    half = (means[0] + 0.5 / 3 + means[1]) / 2
    assert f"count as half a hit: mean accuracy {half:.4f}. If they counted as hits, it" in capsys.readouterr().out
    assert run("toy", "random", "--config", "babylm", *suites, "-o", tmp_path / "two") == 0
    assert "ties: toy: 1 of 4 pairs" in capsys.readouterr().out
    # Without a tie, nothing is said of ties.
    assert run("toy", "--suite", tmp_path / "passive_1.jsonl", "--no-report", "-q", "-o", tmp_path / "none") == 0
    assert "tie and count" not in capsys.readouterr().out


def test_a_file_comes_before_a_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("toy", "--config", "babyl", "--suite", "hu2020/mvrr", "-o", "run") == 2
    assert "the name of a preset: babylm, babylm-2026. Did you mean babylm?" in capsys.readouterr().err
    # A folder of this name, as that of a corpus, doesn't hide it.
    (tmp_path / "babylm").mkdir()
    assert run("toy", "--config", "babylm", "--suite", "none", "-o", "run") == 2
    assert "babylm: a folder" not in capsys.readouterr().err
    (tmp_path / "babylm").rmdir()
    (tmp_path / "babylm").write_text('convention = "none"\n')
    assert run("toy", "--config", "babylm", "--suite", "hu2020/mvrr", "-o", "run") == 2
    assert "'none'; expected one of bits" in capsys.readouterr().err
