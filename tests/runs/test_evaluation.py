"""One request: the command line, a TOML file and Python ask for the same evaluation."""

from pathlib import Path
from typing import Any

import pytest

from syntagm.cli import _evaluation, _parser
from syntagm.core import Permissions, UsageError
from syntagm.evaluation import Measures, Predictions, parse
from syntagm.models import load
from syntagm.runs import Evaluation, Job, run_suites
from syntagm.suites import Draw, SuiteFiles

SUITE = "hu2020/mvrr"


def asked(words: list[str], tmp_path: Path) -> Evaluation:
    """What the words of a command line ask for, without a model."""
    options = _parser("run").parse_args(["run", *words])
    return _evaluation.given(options, Predictions(options.align), [Job("toy", "t", tmp_path)], options.suite, tmp_path)


def test_flags_and_a_file_ask_for_the_same(tmp_path: Path) -> None:
    flags = ["toy", "--suite", SUITE, "-o", str(tmp_path / "run"), "--limit", "5", "--seed", "3"]
    flags += ["--align", "start", "--cache", "answers.sqlite", "--executor", "local:2", "--allow-exec"]
    file = tmp_path / "toy.toml"
    file.write_text(
        f'models = ["toy"]\nsuite = ["{SUITE}"]\noutput = "{tmp_path / "run"}"\nlimit = 5\nseed = 3\nalign = "start"\n'
        'cache = "answers.sqlite"\nexecutor = "local:2"\n'
    )
    by_flags, by_file = asked(flags, tmp_path), asked(["--config", str(file), "--allow-exec"], tmp_path)
    for one in (by_flags, by_file):
        assert one.task == Predictions("start")
        assert one.draw == Draw(limit=5, seed=3)
        assert one.permissions == Permissions(allow_exec=True)
        assert (one.executor, one.cache, one.output) == ("local:2", Path("answers.sqlite"), tmp_path)
        assert isinstance(one.suites, SuiteFiles)
        assert [suite.name for suite in one.suites] == ["mvrr"]
    # The record has the options of the file, not its name.
    assert "--limit=5" in by_file.command


def test_a_seed_goes_to_what_is_drawn(tmp_path: Path) -> None:
    words = ["toy", "--suite", "marvin2018/simple_agrmt", "-o", str(tmp_path / "run"), "--seed", "7"]
    generated, sampled = asked([*words, "-n", "4"], tmp_path), asked([*words, "--limit", "4"], tmp_path)
    assert (generated.draw, sampled.draw) == (Draw(), Draw(limit=4, seed=7))
    assert all(isinstance(each.suites, SuiteFiles) for each in (generated, sampled))
    assert "seed=7" in generated.suites.files[0]  # type: ignore[attr-defined]  # as just asserted
    assert "seed" not in sampled.suites.files[0]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("task", "draw", "found"),
    [
        (Predictions(), Draw(limit=5, stop_at=0.1), "a limit beside it"),
        (Measures((parse("surprisal(condition=good)"),)), Draw(stop_at=0.1), "measures beside it"),
        (Predictions(), Draw(stop_at=0.5), "0.5"),
    ],
)
def test_a_request_that_contradicts_itself_is_refused_whoever_makes_it(
    task: Predictions | Measures, draw: Draw, found: str
) -> None:
    with pytest.raises(UsageError) as refused:
        Evaluation(task, (), (Job("toy"),), draw)
    assert refused.value.found == found


@pytest.mark.parametrize("label", [3, ["x"], "\ud800"])
def test_a_label_that_is_no_text_is_refused_before_anything_is_computed(label: Any, tmp_path: Path) -> None:
    model = load("toy")
    model.label = label
    with pytest.raises(UsageError, match="the label of toy"):
        run_suites(model, SUITE, tmp_path / "run", limit=2)
    assert not (tmp_path / "run").exists()


def test_an_empty_name_of_a_folder_is_not_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="folder: an empty text"):
        run_suites(load("toy"), SUITE, "", limit=2)
    assert not list(tmp_path.iterdir())


def test_a_pilot_is_needed_until_it_has_chosen() -> None:
    assert Draw(stop_at=0.1).needs_pilot
    # What pilots have chosen is a request again.
    chosen = Evaluation(Predictions(), (), (Job("toy"),), Draw({"mvrr": 20}, 1, 0.1))
    assert not chosen.draw.needs_pilot
    assert not Draw(limit=5).needs_pilot
