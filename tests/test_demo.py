"""The bundled model: made by the recipe that stands beside it, and small enough to carry."""

import json
import re
import shlex
from pathlib import Path

import syntagm.models
import syntagm.papers
from syntagm.cli import _parser
from syntagm.cli.train import _settings
from syntagm.training import gpt2

DEMO = Path(syntagm.models.__file__).with_name("_demo")
RECIPE = Path(syntagm.papers.__file__).with_name("demo.sh")


def test_the_recipe_is_the_command_that_made_it() -> None:
    text = RECIPE.read_text(encoding="utf-8")
    command = re.search(r"^syntagm (train gpt2 .*?[^\\])$", text, re.MULTILINE | re.DOTALL)
    assert command is not None
    arguments = _parser().parse_args(shlex.split(command[1].replace("\\\n", " ")))
    made = json.loads((DEMO / "training.json").read_text(encoding="utf-8"))
    settings = _settings(arguments)
    assert made["settings"] == {name: getattr(settings, name) for name in settings.__slots__ if name != "device"}
    assert made["size"] == {name: getattr(arguments, name) for name in gpt2.Size.__slots__}
    assert made["text"] == {name: getattr(arguments, name) for name in gpt2.Text.__slots__}
    assert made["store"] == arguments.store
    names = [Path(path).name for path in (*arguments.corpus, *arguments.valid)]
    assert [part["name"] for part in (*made["corpus"], *made["held_out"])] == names


def test_it_takes_at_most_ten_megabytes() -> None:
    assert sum(path.stat().st_size for path in DEMO.iterdir()) <= 10_000_000
