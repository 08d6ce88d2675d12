"""The bundled model: made by the recipe that stands beside it, small enough to carry, and above chance in agreement."""

import hashlib
import json
import re
import shlex
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import syntagm as sg
import syntagm.models
import syntagm.papers
from recipes.demo import clauses
from syntagm.cli import _parser
from syntagm.cli.train import given_settings
from syntagm.training import families
from syntagm.views import chance_of, estimates

DEMO = Path(syntagm.models.__file__).with_name("_demo")
ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "recipes" / "demo" / "train.sh"


def said(made: dict[str, Any], arguments: Namespace) -> None:
    """Does the record of a training say what the command did?"""
    settings = given_settings(families.find("gpt2"), arguments)
    assert made["settings"] == {name: value for name, value in asdict(settings.loop).items() if name != "device"}
    assert made["size"] == asdict(settings.size)
    assert made["save_dtype"] == settings.save_dtype
    paths = (*arguments.corpus, *arguments.valid, *arguments.cloze)
    parts = (*made["corpus"], *made["held_out"], *(made.get("cloze") or ()))
    assert [part["name"] for part in parts] == [Path(path).name for path in paths]


def test_the_recipe_is_the_commands_that_made_it() -> None:
    text = RECIPE.read_text(encoding="utf-8")
    commands = re.findall(r"^syntagm (train gpt2 .*?[^\\])$", text, re.MULTILINE | re.DOTALL)
    first, second = (_parser().parse_args(shlex.split(command.replace("\\\n", " "))) for command in commands)
    made = json.loads((DEMO / "training.json").read_text(encoding="utf-8"))
    said(made, second)
    said(made["init_from"]["training"], first)
    assert made["init_from"]["name"] == Path(second.init_from).name == first.output.name
    # Options that later versions added had no part in the first training.
    text_of_first = made["init_from"]["training"]["text"]
    assert text_of_first == {name: getattr(first, name) for name in text_of_first}
    vocabulary = {"vocabulary": text_of_first["vocabulary"]}
    assert made["text"] == asdict(given_settings(families.find("gpt2"), second).text) | vocabulary


@pytest.mark.slow
def test_its_clauses_are_found_again(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = json.loads((DEMO / "training.json").read_text(encoding="utf-8"))
    [read] = made["cloze"]
    names = [part["name"] for part in made["init_from"]["training"]["corpus"]]
    clauses.main([str(shared / "data" / "corpora" / name) for name in names])
    assert hashlib.sha256(capsys.readouterr().out.encode()).hexdigest() == read["sha256"]


def test_its_readme_names_files_that_exist_and_the_numbers_of_its_training() -> None:
    text = (DEMO / "README.md").read_text(encoding="utf-8")
    files = re.findall(r"`([\w/]+\.\w+)`", text)
    assert len(files) == 3
    assert [name for name in files if not ((DEMO / name).exists() or (ROOT / name).exists())] == []
    made = json.loads((DEMO / "training.json").read_text(encoding="utf-8"))
    for training in (made, made["init_from"]["training"]):
        last = training["history"][-1]
        assert f"{last['bits_per_word']:.2f} bits" in " ".join(text.split())
        assert f"perplexity of {last['perplexity']:.0f}" in text


def test_it_takes_at_most_ten_megabytes() -> None:
    assert sum(path.stat().st_size for path in DEMO.iterdir()) <= 10_000_000


@pytest.mark.slow
def test_its_agreement_is_above_chance(tmp_path: Path) -> None:
    suites = sg.read_suites(*(f"hu2020/number_{name}" for name in ("prep", "src", "orc")))
    run = sg.run_suites(sg.load_model("demo"), suites, tmp_path / "run")
    [agreement] = estimates.scores(run, tag="circuit")
    # Each verb in the place of the other, for a head of either number.
    assert chance_of(run, agreement).value == 0.25
    assert agreement.n == 84
    assert agreement.low > 0.25
