"""Each family that can be trained says all of itself in one record, which train and experiments read."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal

import pytest

from syntagm.cli import _parser, main
from syntagm.cli.reproduce import _families
from syntagm.core import Number, RunError, Several, Text, UsageError, record
from syntagm.papers import hyperparameters
from syntagm.training import MODEL, changed, families, option, options, part

FAMILIES = pytest.mark.parametrize("family", families.FAMILIES, ids=lambda family: family.name)


@dataclass(frozen=True, slots=True)
class Size:
    layers: int = option("layers", 2)
    kind: Literal["wide", "narrow"] = option("what it is like", "wide", name="shape")


@dataclass(frozen=True, slots=True)
class Settings:
    size: Size = part(MODEL, Size(layers=3))
    files: tuple[str, ...] = option("further files", (), metavar="FILE")
    hidden: float = 1.0


def test_options_are_the_fields_with_the_defaults_of_the_family() -> None:
    layers, kind, files = options(Settings())
    assert (layers.name, layers.values, layers.value, layers.default, layers.group) == (
        "layers",
        Number(int),
        3,
        "3",
        MODEL,
    )
    assert (kind.name, kind.flag, kind.values.texts, kind.default) == ("kind", "shape", ("wide", "narrow"), "wide")
    assert (files.values, files.value, files.metavar, files.group) == (Several(Text()), (), "FILE", "")


def test_settings_are_changed_in_whatever_part_they_are() -> None:
    found = changed(Settings(), {"layers": 5, "hidden": 2.0, "reading": 7})
    assert found == Settings(Size(5), hidden=2.0)
    with pytest.raises(UsageError, match=r"toy\.kind: 'tall'; expected wide or narrow"):
        changed(Settings(), {"kind": "tall"}, "toy.")


def test_a_flag_is_read_like_any_setting(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["train", "lstm", "--corpus", "no", "--valid", "no", "-o", "out"]
    options = _parser("train").parse_args([*line, "--dtype", "bfloat16", "--hidden", "7", "--lr", "1e-2", "--tied"])
    assert (options.dtype, options.hidden, options.lr, options.tied) == ("bf16", 7, 0.01, True)
    options = _parser("train").parse_args(
        ["train", "ngram", "--corpus", "no", "-o", "out", "--lmplz-compatible", "off"]
    )
    assert options.lmplz_compatible is False
    assert options.prune == ()
    for words, message in (
        (["--hidden", "wide"], "--hidden: 'wide'; expected a whole number"),
        (["--dtype", "f16"], "--dtype: 'f16'; expected f32 or bf16"),
        (["--schedule", "steep"], "--schedule: 'steep'; expected one of plateau, cosine, constant"),
    ):
        assert main([*line, *words]) == 2
        assert f"syntagm: {message}" in capsys.readouterr().err
    assert changed(families.find("lstm").settings, {"dtype": "bfloat16"}).loop.dtype == "bf16"


def parts(settings: Any) -> Iterator[Any]:
    yield settings
    for one in fields(settings):
        if is_dataclass(value := getattr(settings, one.name)):
            yield from parts(value)


@FAMILIES
def test_each_option_has_one_field_one_spelling_and_a_sentence(family: Any) -> None:
    for name in ("name", "flag"):
        found = [getattr(one, name) for one in family.options]
        assert len(set(found)) == len(found)
    assert all(one.help for one in family.options)
    for settings in parts(family.settings):
        explained = re.findall(r"^ {8}(\w+):", type(settings).__doc__.partition("Raises:")[0], re.MULTILINE)
        assert explained == [one.name for one in fields(settings)]


@FAMILIES
def test_defaults_are_settings_that_training_takes(family: Any) -> None:
    assert changed(family.settings, {one.name: one.value for one in family.options}) == family.settings


@FAMILIES
def test_an_experiment_sets_what_there_is(family: Any) -> None:
    for scale in hyperparameters.SCALES.get(family.name, {}).values():
        assert set(family.controlled.evaluation) < scale.keys()
        assert scale.keys() - {"reading", *family.controlled.evaluation} <= {one.name for one in family.options}


def test_a_copy_of_a_family_takes_no_part_in_the_experiments_of_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _families(), [family.name for family in hyperparameters.taking_part()]
    copies = [replace(family, name=f"{family.name}-copy") for family in families.FAMILIES]
    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, *copies))
    assert (_families(), [family.name for family in hyperparameters.taking_part()]) == before
    assert before[0].startswith("ngram,lstm,gpt2 (default of hu2020), ")
    with pytest.raises(UsageError, match="families: 'lstm-copy'; expected one of ngram, lstm, "):
        hyperparameters.options("small", ["lstm-copy"])


def test_the_command_offers_the_families_and_an_experiment_their_variants(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    offered = re.findall(r"^    (\S+)(?: |$)", capsys.readouterr().out, re.MULTILINE)
    names = [family.name for family in families.FAMILIES]
    commands = [family.name for family in families.FAMILIES if not family.variant_of]
    assert [name for name in offered if name != "syntagm"][-len(commands) :] == commands
    words = families.find("gpt2-words")
    assert words.variant_of == "gpt2"
    assert words == replace(families.find("gpt2"), name=words.name, summary=words.summary, variant_of="gpt2")
    with pytest.raises(UsageError, match="'gpt3'; expected one of " + ", ".join(names)):
        families.find("gpt3")


def test_what_families_say_of_themselves_loads_nothing_heavy() -> None:
    code = "import sys, syntagm.training.families; print(*{'torch', 'transformers', 'tokenizers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.strip()


def test_every_setting_that_differs_is_named_by_its_path() -> None:
    standing = {"size": {"layers": 2, "tied": True}, "text": None, "seconds": 3.0}
    asked = {"size": {"layers": 3, "tied": True, "heads": 2}, "text": {"window": (1, 2)}}
    assert record.differences(standing, asked) == {
        "size.layers": (2, 3), "size.heads": (None, 2), "text": (None, {"window": [1, 2]}),
    }  # fmt: skip
    with pytest.raises(RunError, match=r"out: a run with size\.layers = 2, .*; expected size\.layers = 3, .*\. Go\."):
        record.refuse_another("out", "a run", standing, asked, "Go.")
    record.refuse_another("out", "a run", {"prune": [1], "more": 1}, {"prune": (1,), "start": None}, "Go.")
