"""Differences that need other surprisals are found by scoring pairs again: planted alone and in twos."""

import random
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from models_for_tests import TEXT, byte_level, transformer
from toy_runs import pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.core import UsageError
from syntagm.evaluation import Sum, Sums
from syntagm.runs import Run
from syntagm.runs.engine import execute
from syntagm.runs.imported.pairs import Tool
from syntagm.suites import Item, Sentence, Suite
from syntagm.views import explanation

# What a tool can do otherwise: with the model, with the texts, and with the numbers.
SETTINGS = {"bos=no": {"bos": "no"}, "eos=yes": {"eos": "yes"}, "dtype=bf16": {"dtype": "bf16"}}
TEXTS: dict[str, Callable[[str], str]] = {"a blank before": " {}".format, "lower case": str.lower}
NUMBERS = ("mean_token", "mean_character", "penalised", "word_max")
TREATMENTS = ("ties_as_hits", "without_final_mark")
ALONE = [*SETTINGS, *TEXTS, *NUMBERS, *TREATMENTS]
TWOS = [pair for pair in combinations(ALONE, 2) if not set(pair) <= {*NUMBERS}]
PLANTED = [*((name,) for name in ALONE), *TWOS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny causal transformer in a folder, with random weights."""
    place = tmp_path_factory.mktemp("model")
    transformer("gpt2", byte_level(), sharpen=3.0).save_pretrained(place)
    byte_level().save_pretrained(place)
    return place


def corpus(count: int) -> Suite:
    draw = random.Random(3)
    words = TEXT.replace("\n", " ").split()
    texts = []
    for k in range(count):
        good = " ".join(draw.choices(words, k=draw.randint(3, 9))).strip(".,;?") + draw.choice([".", "!", "?", ""])
        cut = good.split()
        draw.shuffle(cut)
        texts.append((good, good if k % 12 == 0 else " ".join(cut[: draw.randint(2, len(cut))])))
    return pairs("random", *texts)


def changed(suite: Suite, edit: Callable[[str], str]) -> Suite:
    items = tuple(
        Item(item.id, {key: Sentence(edit(sentence.text)) for key, sentence in item.sentences.items()})
        for item in suite.items
    )
    return Suite(suite.name, items, suite.predictions)


def planted(folder: Path, suite: Suite, names: tuple[str, ...]) -> Run:
    """The verdicts of a tool with these differences, computed by an evaluation of its own."""
    settings: dict[str, str] = {}
    convention = [next((name for name in names if name in NUMBERS), "bits"), *(n for n in names if n in TREATMENTS)]
    asked = suite
    for name in names:
        settings |= SETTINGS.get(name, {})
    for name in ("lower case", "a blank before"):
        if name in names:
            asked = changed(asked, TEXTS[name])
    run = sg.evaluate(sg.load_model(str(folder), **settings), [asked], convention="+".join(convention))
    values = run.results().filter(measure="full_sentence")["value"].to_list()
    sums = [Sum(float("nan"), float("nan"), value) for value in values]
    return execute(Sums("tool", {"random": sums}), Tool("tool", "m", "0" * 64), [suite], None)


def refuse_unexplained(
    folder: Path, own: Run, suite: Suite, names: tuple[str, ...], again: explanation.Rescoring | None = None
) -> None:
    found = explanation.explain(own, planted(folder, suite, names), again or str(folder))
    last = found.steps[-1]
    assert last.left == 0, names
    assert last.differences <= len(names)
    if last.differences == len(names):
        wanted = {str(part) for part in names}
        sets = [
            {*str(each.convention).split("+"), *map(str, each.changes)} - {"bits"} for each in (last.best, *last.others)
        ]
        assert wanted in sets, names


@pytest.mark.slow
@pytest.mark.parametrize("names", [("bos=no",), ("a blank before", "ties_as_hits")])
def test_planted_changes_are_found(folder: Path, names: tuple[str, ...]) -> None:
    suite = corpus(30)
    own = sg.evaluate(sg.load_model(str(folder)), [suite])
    refuse_unexplained(folder, own, suite, names)


@pytest.mark.slow
def test_fifty_planted_sets_of_differences_are_found(folder: Path) -> None:
    suite = corpus(90)
    own = sg.evaluate(sg.load_model(str(folder)), [suite])
    # The same texts are scored for all cases, so they are scored once.
    texts = [sentence.text for item in suite.items for sentence in item.sentences.values()]
    again = explanation.Rescoring(str(folder), own, texts)
    cases = PLANTED[:50]
    assert len(cases) == 50
    assert {len(names) for names in cases} == {1, 2}
    for names in cases:
        refuse_unexplained(folder, own, suite, names, again)


def test_another_model_is_refused(folder: Path) -> None:
    own = sg.evaluate(sg.load_model("toy"), [corpus(5)])
    with pytest.raises(UsageError, match="expected the model of the run"):
        explanation.explain(own, own, str(folder))


@pytest.mark.slow
def test_the_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "random.tsv"
    rows = [(item.sentences["good"].text, item.sentences["bad"].text) for item in corpus(12).items]
    suite.write_text("good\tbad\n" + "".join(f"{good}\t{bad}\n" for good, bad in rows))
    for name, options in (("a", ""), ("b", "?bos=no")):
        command = ["run", f"{folder}{options}", "--suite", str(suite), "-o", str(tmp_path / name), "--no-report", "-q"]
        assert main([*command, "--no-cache"]) == 0
    both = ["compare", str(tmp_path / "a"), str(tmp_path / "b")]
    capsys.readouterr()
    assert main([*both, "--explain", "--rescore", str(folder)]) == 0
    assert "scored again" in capsys.readouterr().out
    assert main([*both, "--rescore", str(folder)]) == 2
    assert "--explain" in capsys.readouterr().err
