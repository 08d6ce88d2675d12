"""What model families declare: each option is refused, named, shown and cited as its record says."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from masked_for_tests import masked, word_pieces
from safetensors.torch import save_file

from syntagm.cli import main
from syntagm.core import ModelError, SyntagmError, UsageError, registry
from syntagm.evaluation.predictions import skipped_predictions
from syntagm.models import Choice, Family, Fixed, Masking, Option, Scoring, Value, families, frame, names
from syntagm.models.family import Program
from syntagm.models.hugging_face.loading import spelled
from syntagm.models.hugging_face.options import DTYPE
from syntagm.models.masked.masking import KINDS
from syntagm.report import references
from syntagm.suites import read_suites
from tools import options as tables

OPTIONS = [
    pytest.param(families.find(name), option, id=f"{name}-{option.name}")
    for name in families.names()
    for option in families.find(name).options.values()
]
EVERY = pytest.mark.parametrize("family", [*map(families.find, families.names())], ids=lambda family: family.name)
TEXT = "The unbelievable gardener watered the roses."


def values(family: Family) -> list[Value]:
    """All values of scoring settings of which something is said."""
    found = []
    for one in family.settings:
        if isinstance(one, Fixed):
            found.append(one.value)
        elif isinstance(one.values, Choice):
            found += one.values.values
    return found


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.name)
def test_the_lists_in_the_documentation_are_current(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == tables.renewed(page, text), "run `python -m tools.options`"


@EVERY
def test_what_a_family_cites_is_in_the_bibliography(family: Family) -> None:
    family.refuse_unknown_works()
    assert family.bibliography == ""
    assert all(key in references.entries() for value in values(family) for key in value.references)


ENTRY = "@book{mole-1999-dark,\n  author = {Mole, A.},\n  year = {1999},\n}\n"


@pytest.mark.parametrize(
    "cites",
    [
        {"references": ("mole-1999-dark",)},
        {"scoring": Scoring("So", ("mole-1999-dark",))},
        {"filling": Scoring("So", ("mole-1999-dark",))},
        {"architectures": {"gpt2": ("mole-1999-dark",)}},
        {"programs": (Program("dig", "Dig", ("mole-1999-dark",)),)},
        {"settings": (Fixed("bos", Value("yes", references=("mole-1999-dark",))),)},
        {"settings": (Option("masking", Choice((Value("all", references=("mole-1999-dark",)),)), "all", "what."),)},
    ],
    ids=lambda cites: next(iter(cites)),
)
def test_a_family_brings_the_entries_of_all_that_it_cites(cites: dict[str, Any]) -> None:
    family = Family("mole", "It digs.", "mole", **cites)
    with pytest.raises(UsageError, match="model family mole: cites 'mole-1999-dark'; expected a key of a bibliography"):
        family.refuse_unknown_works()
    replace(family, bibliography=f"@misc{{other-2000-one,}}\n\n{ENTRY}").refuse_unknown_works()


@pytest.mark.parametrize("text", ["mole-1999-dark", ENTRY[:-3], f"Works:\n{ENTRY}", "@book{mole}"])
def test_entries_that_can_not_be_read_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"model family mole, bibliography: .*; expected a BibTeX entry with a key"):
        Family("mole", "It digs.", "mole", references=("mole-1999-dark",), bibliography=text).refuse_unknown_works()


@pytest.mark.parametrize("text", ["", "Works: none"])
def test_a_family_that_is_refused_hinders_no_other(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mole = Family("mole", "It digs.", "mole", references=("mole-1999-dark",), bibliography=text, bundled={"moley": "x"})
    find = registry.find
    monkeypatch.setattr(registry, "_added", lambda _: {"mole": ()})
    monkeypatch.setattr(registry, "find", lambda *at: SimpleNamespace(FAMILY=mole) if at[1] == "mole" else find(*at))
    with pytest.raises(UsageError, match="model family mole"):
        names.parse("mole:")
    assert families.bundled.__wrapped__()["toy"] == ("toy", "")
    assert "mole-1999-dark" not in references.entries.__wrapped__()
    assert names.parse("some/folder").family == "causal"


@EVERY
def test_a_sentence_about_scoring_names_settings_of_the_family(family: Family) -> None:
    assert family.scoring.words.format(**dict.fromkeys(family.scoring.settings, "so")).count("{") == 0
    assert set(family.scoring.settings) <= {one.name for one in family.settings}


@EVERY
def test_a_misspelt_option_is_refused(family: Family) -> None:
    with pytest.raises(UsageError, match=f"model family {family.name}: no such option: 'eso'; expected (one of|none)"):
        names.load(f"{family.name}:?eso=yes")


@pytest.mark.parametrize(("family", "option"), OPTIONS)
def test_an_option_is_checked_named_and_shown_as_declared(
    family: Family, option: Option, capsys: pytest.CaptureFixture[str]
) -> None:
    assert option.default or option.depends
    if option.default:
        assert option.checked(option.default) == option.default
        assert family.choose({})[option.name] == option.default
    value = option.default or option.values.shown()[0].strip("`")
    canonical = family.canonical("m", {option.name: value})
    assert (f"{option.name}={value}" in canonical) == (option.effect in ("scoring", "source"))
    always = family.canonical("m", {})
    assert (f"{option.name}=" in always) == option.always_named
    if isinstance(option.values, Choice):
        with pytest.raises(UsageError, match=f"model option {option.name}: 'odd'; expected (one of|\\S+ or) "):
            family.choose({option.name: "odd"})
    assert main(["models", family.name]) == 0
    assert f"  {option.name}=" in capsys.readouterr().out


def test_the_command_lists_the_families(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    said = capsys.readouterr().out
    assert all(families.find(name).summary in said for name in families.names())
    assert main(["models", "maskd"]) == 2
    assert "Did you mean masked?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("causal:m?dtype=bfloat16", "causal:m?dtype=bf16"),
        ("causal:m?dtype=float32&eos=true", "causal:m?dtype=f32&eos=yes"),
        ("masked:m?regions=on&dtype=fp16", "masked:m?dtype=f16&masking=token&regions=yes"),
        ("toy:m?eos=off", "toy:m?eos=no"),
    ],
)
def test_what_people_write_elsewhere_is_recorded_as_here(written: str, name: str) -> None:
    parsed = names.parse(written)
    family = families.find(parsed.family)
    assert family.canonical("m", parsed.options) == name
    settings = names.declared(written).settings
    assert all(settings[option] in str(name) for option in parsed.options)


def test_a_synonym_changes_no_number_and_no_name() -> None:
    (synonym, own), text = map(names.load, ("toy?eos=true", "toy?eos=yes")), ["the dog runs"]
    assert (synonym.name, synonym.fingerprint, dict(synonym.settings)) == (
        own.name,
        own.fingerprint,
        dict(own.settings),
    )
    assert next(synonym.score(text)).bits.tolist() == next(own.score(text)).bits.tolist()


@pytest.mark.parametrize("name", ["toy", "random?seed=3&unigram=yes", "demo?fill=token"])
def test_signatures_have_the_scoring_settings_in_the_order_of_the_declaration(name: str) -> None:
    model = names.load(name)
    family = families.of_model(model.name)
    assert family is not None
    scoring = [one.name for one in family.settings if isinstance(one, Fixed) or one.effect == "scoring"]
    # `chat` is part of a signature only where a template is used, `adapter` only where there is one.
    assert list(model.settings) == [setting for setting in scoring if setting not in ("chat", "adapter")]
    assert (model.sees, model.exact) == (family.sees, family.exact)


def test_a_model_in_memory_takes_no_options_about_loading() -> None:
    family = families.find("causal")
    assert "dtype" not in family.choose({"bos": "no"}, loaded=True)
    with pytest.raises(UsageError, match="model family causal, for a model in memory: no such option: 'dtype'"):
        family.choose({"dtype": "f32"}, loaded=True)


def test_a_value_of_an_option_decides_what_a_model_can_do() -> None:
    assert names.declared("gpt2").can == {"score", "reduce", "fill", "best"}
    assert names.declared("gpt2?chat=user").can == {"score", "reduce"}
    with pytest.raises(
        ModelError, match=r"^gpt2\?chat=user: this model can't fill gaps; expected another value than chat=user"
    ):
        names.check("gpt2?chat=user", queries=["fill"])


def test_a_value_of_an_option_decides_what_a_model_sees() -> None:
    side = Option("side", Choice((Value("left", sees="left"), Value("all"))), "left", "what it reads")
    twice = replace(families.find("toy"), settings=(side,), sees="both")
    assert [twice.declared("any", {"side": value}).sees for value in ("left", "all")] == ["left", "both"]


_PARTS = "model masked:broken: predictions about parts of sentences only"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["fill", "rnng:none", "--words", "verbs"], "rnng:none: this model can't fill gaps; expected a model of a family that"),
        (
            ["fill", "random", "--words", "verbs", "--most-probable", "3"],
            "random: this model can't list the most probable entries of its vocabulary; expected a model of a family that can:",
        ),
        (["run", "masked:broken"], f"{_PARTS}, in mvrr; expected predictions about whole sentences"),
        (["run", "masked:broken", "--dry-run"], _PARTS),
        (["run", "masked:broken", "--executor", "local:1"], _PARTS),
        (["run", "masked:broken", "rnng:none", "--dry-run"], _PARTS),
        (["run", "masked:broken", "--stop-at", "0.1"], _PARTS),
    ],
)  # fmt: skip
def test_what_a_model_can_not_do_is_refused_by_its_name_before_its_weights_are_read(
    line: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken").mkdir()
    Path("broken", "config.json").write_text("{}")
    save_file({"weights of nothing": torch.zeros(1)}, "broken/model.safetensors")
    assert main([*line, "--suite", "hu2020/mvrr", "-o", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_perplexity_that_can_not_be_is_refused_by_the_name_of_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (text := tmp_path / "text.txt").write_text("The dog barks .\n")
    for model in ("masked:none", "lstm:none?eos=no"):
        assert main(["perplexity", model, str(text)]) == 2
        assert f"model {model}: the end of a sentence is not scored" in capsys.readouterr().err
    assert main(["perplexity", "masked:none", "--no-end", str(text)]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_types_are_called_alike_in_declarations_and_in_records() -> None:
    types = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
    assert DTYPE.values.shown() == tuple(f"`{spelled(dtype)}`" for dtype in types)


@pytest.mark.slow
def test_declarations_load_nothing_heavy() -> None:
    code = (
        "import sys; from syntagm.models import families; [families.find(name) for name in families.names()];"
        "print({'torch', 'transformers', 'tokenizers', 'safetensors', 'nltk', 'scipy', 'polars'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_of_masking_hides_the_token_and_is_known_by_its_record_alone(kind: Masking) -> None:
    assert kind.words
    assert kind.help
    tokenizer = word_pieces()
    [framed] = frame(tokenizer, [TEXT], "any")
    model = masked("bert", tokenizer, masking=kind.name)
    assert f"masking={kind.name}" in model.name
    assert model.settings["masking"] == kind.name
    assert model.sees == names.declared(f"masked:any?masking={kind.name}").sees == kind.sees
    [answer] = model.score([TEXT])
    for index, place in enumerate(framed.places.tolist()):
        hidden = kind.hidden(framed, index)
        assert place in hidden
        assert set(hidden.tolist()) <= set(framed.places.tolist())
        assert kind.sees == "both" or set(framed.places[index:].tolist()) <= set(hidden.tolist())
        row = framed.inputs.copy()
        row[hidden] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = model.module(input_ids=torch.from_numpy(row)[None]).logits[0, place].double()
        nats = -float(torch.log_softmax(logits, -1)[framed.inputs[place]])
        assert answer.bits[index] == pytest.approx(nats / np.log(2), abs=2e-5)


def test_predictions_about_parts_are_skipped_for_models_that_see_both_sides_of_a_part() -> None:
    [suite] = read_suites("hu2020/mvrr")
    parts = tuple(prediction.name for prediction in suite.predictions)
    masked_token = names.declared("masked:any")
    assert skipped_predictions(suite, masked_token) == parts
    assert skipped_predictions(suite, replace(masked_token, sees="left and length")) == ()
    assert skipped_predictions(suite, names.declared("masked:any?regions=yes")) == ()
    assert skipped_predictions(suite, names.declared("recorded:any.csv?sides=both")) == parts


PARROT = """
from syntagm.models import Family

FAMILY = Family(name="parrot", summary="Repeats.", module="parrot.model")
"""
MODEL = """
import numpy as np
from syntagm.models import Surprisals
from syntagm.models import LanguageModel


class Parrot(LanguageModel):
    name, fingerprint, start = "parrot:", "parrot 1", "nothing, by definition"
    settings, record = {"bos": "yes"}, {}

    def score(self, texts, done=None):
        for text in texts:
            yield Surprisals(text, np.zeros(1, np.int32), np.full(1, 5.0 * len(text)), np.ones(1, bool))


def load(path, **options):
    return Parrot()
"""


@pytest.mark.parametrize(
    ("file", "family"),
    [
        ("m.arpa", "ngram"), ("m.arpa.gz", "ngram"), ("m.binary", "ngram"), ("m.klm", "ngram"), ("m.csv", "recorded"),
        ("m.py", "python"), ("m.toml", "exec"), ("m.gguf", "causal"),
    ],
)  # fmt: skip
def test_an_existing_file_needs_no_family_if_its_ending_tells(tmp_path: Path, file: str, family: str) -> None:
    path = tmp_path / file
    assert names.parse(f"{path}?bos=no").family == "causal"  # no such file: a name on the hub, for all we know
    path.touch()
    assert names.parse(f"{path}?bos=no") == names.Name(family, str(path), {"bos": "no"})
    assert names.parse(f"masked:{path}").family == "masked"


def test_a_file_that_no_family_knows_is_refused_with_the_endings(tmp_path: Path) -> None:
    (path := tmp_path / "text.txt").touch()
    with pytest.raises(UsageError, match=r"no model, by its name; expected .*\.arpa\.gz.*\.gguf.* FAMILY:FILE"):
        names.parse(str(path))
    assert names.parse(f"ngram:{path}").family == "ngram"


def test_no_two_families_have_the_same_ending() -> None:
    endings = [ending for name in families.names() for ending in families.find(name).endings]
    assert len(set(endings)) == len(endings)


@pytest.mark.parametrize("file", ["m.py", "m.toml"])
def test_a_program_named_by_its_file_alone_needs_the_permission(tmp_path: Path, file: str) -> None:
    (path := tmp_path / file).write_text("")
    with pytest.raises(SyntagmError, match="--allow-exec"):
        names.check(str(path))


@pytest.mark.slow
def test_another_package_adds_a_family_by_an_entry_point(tmp_path: Path) -> None:
    (tmp_path / "parrot").mkdir()
    (tmp_path / "parrot" / "family.py").write_text(PARROT)
    (tmp_path / "parrot" / "model.py").write_text(MODEL)
    (tmp_path / "parrot" / "__init__.py").touch()
    (tmp_path / "parrot-1.dist-info").mkdir()
    (tmp_path / "parrot-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1\n")
    points = tmp_path / "parrot-1.dist-info" / "entry_points.txt"
    points.write_text("[syntagm.models]\nparrot = parrot.family\n")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); import syntagm as sg; print(sg.load_model('parrot:').name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "parrot:\n"
    points.write_text("[syntagm.models]\ntoy = parrot.family\n")
    refused = subprocess.run(
        [sys.executable, "-c", code.replace("parrot:", "toy")], capture_output=True, text=True, check=False
    )
    assert "models: 'toy' in several packages: syntagm, parrot.family" in refused.stderr
