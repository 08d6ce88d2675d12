"""The controlled experiment of Hu et al. 2020, tiny: two families on 200 sentences, planned, killed, gone on with."""

import csv
import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from training_for_tests import bracketed

from syntagm.cli import main
from syntagm.cli._lines import Lines
from syntagm.core import Interrupted, UsageError
from syntagm.evaluation import perplexity
from syntagm.models import load
from syntagm.papers import Design, hyperparameters, record
from syntagm.papers.experiment import experiment
from syntagm.papers.hu2020 import reproduce as hu2020
from syntagm.runs import open_run
from syntagm.stats import SIMULATIONS
from syntagm.training import corpus, nested
from syntagm.views import accuracies

NOUNS = ["farmer", "sailor", "dog", "painting", "letter", "window"]
VERBS = ["sees", "likes", "moves", "knows"]
TINY = [
    "layers=1",
    "width=16",
    "heads=2",
    "positions=128",
    "vocabulary=300",
    "window=16",
    "batch=8",
    "epochs=2",
    "warmup=2",
]
# Suites that count in the means of the paper, and one that doesn't.
SUITES = ["hu2020/number_src", "hu2020/subordination", "hu2020/nn-nv-rpl"]
# Kills its own process after so many steps.
KILLED = """
import os, signal, sys
from syntagm.cli import main
from syntagm.cli._lines import Lines
def step(self, step, *others):
    if step == {step}:
        os.kill(os.getpid(), signal.SIGKILL)
Lines.step = step
main(sys.argv[1:])
"""
# Kills its own process at a simulated response, counted over all tests; the file has each of them at once.
KILLED_IN_TESTS = """
import os, signal, sys
from itertools import count
from syntagm.cli import main
from syntagm.cli._lines import Lines
from syntagm.stats import few_groups
few_groups._LINEAR = few_groups._LOGISTIC = 1
numbers = count(1)
def simulated(self, done, total, left):
    if next(numbers) == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
Lines.simulated = simulated
main(sys.argv[1:])
"""


def sentences(seed: int, number: int) -> str:
    draw = random.Random(seed).choice
    lines = [f"The {draw(NOUNS)} that {draw(VERBS)} the {draw(NOUNS)} {draw(VERBS)} it." for _ in range(number)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for seed, (name, number) in enumerate({"train": 200, "valid": 20, "test": 20}.items()):
        (folder / f"{name}.txt").write_text(sentences(seed, number))
    return folder


def line(texts: Path, out: Path, *others: str) -> list[str]:
    """8 words a sentence: parts of 60 and of 150 sentences."""
    named = [part for name in ("train", "valid", "test") for part in (f"--{name}", str(texts / f"{name}.txt"))]
    named[0] = "--corpus"
    changes = [f"gpt2.{change}" for change in TINY]
    sizes = ["--sizes", "xs=480,sm=1200", "--seeds", "1", "--suite", *SUITES]
    families = [] if "--families" in others else ["--families", "ngram,gpt2"]
    return ["reproduce", "hu2020", *named, "-o", str(out), *sizes, *families, "--set", *changes, *others]


@pytest.fixture(scope="module")
def undisturbed(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    assert main(line(texts, out)) == 0
    return out


def rows(out: Path) -> list[dict[str, str]]:
    with (out / "results.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_the_table(undisturbed: Path, texts: Path) -> None:
    found = rows(undisturbed)
    assert [(row["family"], row["size"], row["seed"], row["words"]) for row in found] == [
        ("ngram", "xs", "0", "480"),
        ("gpt2", "xs", "1", "480"),
        ("ngram", "sm", "0", "1200"),
        ("gpt2", "sm", "1", "1200"),
    ]
    # 20 sentences of 8 words and an end each, for both families.
    assert {row["test_words"] for row in found} == {str(20 * 9)}
    for row in found:
        suites = [float(row[name]) for name in ("number_src", "subordination")]
        assert float(row["score"]) == pytest.approx(sum(suites) / 2)
        assert float(row["score_all"]) == pytest.approx((sum(suites) + float(row["nn-nv-rpl"])) / 3)
        assert (row["Agreement"], row["Gross Syntactic State"]) == (row["number_src"], row["subordination"])
        assert float(row["low"]) <= float(row["score"]) <= float(row["high"])
        # 28 items and 30; those of nn-nv-rpl don't count.
        assert row["n"] == "58"
    trained = load(str(undisturbed / "models" / "gpt2-xs-1"), eos="yes")
    again = perplexity(trained, corpus.texts([texts / "test.txt"]))
    assert float(found[1]["perplexity"]) == pytest.approx(again.perplexity, rel=1e-4)
    made = {path.name.partition(".")[0] for path in undisturbed.glob("*.*")}
    figures = {f"figure{name}" for name in ("1", "2", "3", "4_by_class", "4_by_corpus", "5")}
    # No suite of the three has a modified version, so there is no figure 6.
    assert figures | {"cells", "correlations", "regressions"} < made
    assert "figure6" not in made
    run = open_run(undisturbed / "runs" / "gpt2-xs-1")
    assert run.done
    by_suite = {one.group.suite: one.value for one in accuracies(run, "first")}
    assert by_suite == {name: float(found[1][name]) for name in by_suite}


@pytest.mark.slow
def test_perplexity_is_what_training_saw(undisturbed: Path, texts: Path) -> None:
    # The loop adds up nats of batches of sentences, `perplexity` bits of sentences; both per word and end.
    made = json.loads((undisturbed / "models" / "gpt2-sm-1" / "training.json").read_text())
    best = min(row["bits_per_word"] for row in made["history"])
    trained = load(str(undisturbed / "models" / "gpt2-sm-1"), eos="yes")
    assert perplexity(trained, corpus.texts([texts / "valid.txt"])).bits_per_word == pytest.approx(best, rel=1e-5)
    # Words between blanks, though "it." is two of the Treebank's: 8 and the end in each of 20 lines.
    made = json.loads((undisturbed / "models" / "ngram-sm" / "training.json").read_text())
    found = perplexity(load(str(undisturbed / "models" / "ngram-sm"), eos="yes"), corpus.texts([texts / "valid.txt"]))
    [row] = made["history"]
    assert found.perplexity == pytest.approx(row["perplexity"])
    assert (found.words, row["words"]) == (20 * 9, 20 * 9)


@pytest.mark.slow
def test_the_parts_are_nested(undisturbed: Path, texts: Path) -> None:
    small, large = ((undisturbed / "corpora" / f"{name}.txt").read_text().splitlines() for name in ("xs", "sm"))
    assert (len(small), len(large)) == (60, 150)
    place = iter(large)
    assert all(sentence in place for sentence in small), "each of the small part, in order, in the large one"


@pytest.mark.slow
def test_markdown_is_without_suites(undisturbed: Path) -> None:
    head = (undisturbed / "results.md").read_text().splitlines()[2]
    assert head.endswith("| score_all | Agreement | Gross Syntactic State |")


@pytest.mark.slow
def test_killed_and_interrupted_it_goes_on_to_the_same_table(
    undisturbed: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    # In the second pass of the first GPT-2: 60 sentences of at least 10 tokens make 4 batches of 8 rows of 16 and more.
    killed = subprocess.run([sys.executable, "-c", KILLED.format(step=6), *line(texts, out)], capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert [row["family"] for row in rows(out)] == ["ngram"]
    assert (out / "models" / "gpt2-xs-1" / "state").exists()
    assert not (out / "models" / "gpt2-xs-1" / "training.json").exists()

    def interrupt(_: Lines, suite: str, number: int) -> None:
        if suite == "subordination" and number:
            raise Interrupted

    with monkeypatch.context() as patched:
        patched.setattr(Lines, "answered", interrupt)
        assert main(line(texts, out)) == 130
    assert not (out / "perplexity" / "gpt2-xs-1.json").exists()
    assert main(line(texts, out)) == 0
    assert (out / "results.csv").read_bytes() == (undisturbed / "results.csv").read_bytes()


def simulated(out: Path) -> dict[str, int]:
    """Return the number of kept responses of each test of an experiment."""
    return {path.name: len(SIMULATIONS.read(path)["ratios"]) for path in (out / "simulations").iterdir()}


@pytest.mark.slow
def test_killed_during_its_tests_it_simulates_no_response_again(
    undisturbed: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(undisturbed, out := tmp_path / "out")
    shutil.rmtree(out / "simulations")
    (out / "regression_tests.csv").unlink()
    whole = simulated(undisturbed)
    # The second kill is in the second test, or a later one.
    for number, expected in ((20, 20), (max(whole.values()), 20 + max(whole.values()))):
        command = [sys.executable, "-c", KILLED_IN_TESTS.format(number=number), *line(texts, out)]
        killed = subprocess.run(command, capture_output=True)
        assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
        assert sum(simulated(out).values()) == expected
    assert len(simulated(out)) > 1
    numbers: list[int] = []
    monkeypatch.setattr(Lines, "simulated", lambda self, done, total, left: numbers.append(done))
    capsys.readouterr()
    assert main(line(texts, out)) == 0
    shown = capsys.readouterr().out
    assert f"simulated responses, {expected:,} of them done: about " in shown
    assert expected + len(numbers) == sum(whole.values())
    for path in (path for path in undisturbed.rglob("*") if path.is_file() and path.suffix not in (".png", ".pdf")):
        assert path.read_bytes() == (out / path.relative_to(undisturbed)).read_bytes(), path
    assert not record.faults(out)


@pytest.mark.slow
def test_the_plan_does_nothing(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line(texts, tmp_path / "out", "--plan")) == 0
    shown = capsys.readouterr().out
    assert "4 models" in shown
    assert "GFLOP/s" in shown
    assert shown.count("to do") == 4
    # Four of scores; of counts of items, which are of two suites, two.
    assert "besides, 6 likelihood-ratio tests with up to 4,400 simulated responses: about " in shown
    assert "with 4 models, these tests find no effect that is not far larger than" in shown
    assert not (tmp_path / "out").exists()
    assert main(line(texts, tmp_path / "out", "--plan", "--bootstrap", "0")) == 0
    assert "simulated" not in capsys.readouterr().out


@pytest.mark.slow
def test_what_is_done_is_not_made_again(
    undisturbed: Path, texts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (undisturbed / "models").rglob("*") if path.is_file()}

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("loaded or drawn again")

    monkeypatch.setattr(experiment, "_load", refuse)
    monkeypatch.setattr(nested, "write", refuse)
    assert main(line(texts, undisturbed)) == 0
    assert capsys.readouterr().out.count(" done ") == 4
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("others", "found"),
    [
        (["--set", "gpt2.layers=2"], "families.gpt2.layers = 1"),
        (["--draw", "2"], "draw = 1"),
        (["--sizes", "xs=490"], "sizes.xs = 480"),
        (
            ["--sizes", "big=2000"],
            "big of 2,000 words; expected at most the 1,600 words of the training text. These fit: --sizes big=1600",
        ),
        (
            ["--families", "gpt3"],
            "'gpt3'; expected one of " + ", ".join(family.name for family in hyperparameters.taking_part()),
        ),
        (["--set", "gpt2.width=wide"], "gpt2.width: 'wide'; expected a whole number"),
        (["--set", "gpt2.depth=1"], "no 'gpt2.depth'"),
        (["--set", "gpt2.width"], "'gpt2.width'; expected NAME=VALUE"),
        (["--seeds", "1,1"], "different names"),
        (["--seeds", "x"], "a whole number"),
        (["--model", "demo"], "--model and --corpus"),
        (["--draw", "-1"], "draw: -1; expected a whole number from 0"),
        (["--suite", "hu2020/mvrr"], "suites = ["),
        (["--set", "gpt2.reading=-1"], "gpt2.reading: -1; expected a number of words; 0: no limit"),
        # It would have been AdamW, and a cosine.
        (["--set", "gpt2.optimiser=adam"], "gpt2.optimiser: 'adam'; expected one of sgd, asgd, adamw"),
        (["--set", "gpt2.schedule=linear"], "gpt2.schedule: 'linear'; expected one of plateau, cosine, constant"),
        (
            ["--set", "ngram.classes=none at all"],
            "ngram.classes: 'none at all'; expected one of berkeley, single, none",
        ),
    ],
)
def test_another_experiment_is_refused(
    undisturbed: Path, texts: Path, others: list[str], found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (undisturbed / "experiment.json").read_bytes()
    assert main(line(texts, undisturbed, *others)) == 2
    assert found in capsys.readouterr().err
    assert (undisturbed / "experiment.json").read_bytes() == before


@pytest.mark.slow
def test_a_plan_for_another_experiment_is_refused(
    undisturbed: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of models with other hyperparameters than those asked for it would say that they are done."""
    assert main(line(texts, undisturbed, "--plan", "--set", "ngram.order=3")) == 2
    shown = capsys.readouterr()
    assert "families.ngram.order = 5" in shown.err
    assert "models" not in shown.out


def test_the_ways_to_reproduce_are_told_apart(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = str(texts / "test.txt")
    for others, found in (
        (["newman2021", "--corpus", text], "newman2021 trains no models"),
        (["hu2020"], "none of these options; expected one of --model, --from-run, --from-raw, --corpus"),
        (["hu2020", "--corpus", text, "--valid", text], "--test: missing"),
        # They would have been passed over.
        (["hu2020", "--model", "toy", "--plan"], "--plan: given with --model"),
        (["hu2020", "--from-run", "run", "--device", "cuda"], "--device: given with --from-run"),
    ):
        assert main(["reproduce", *others, "-o", str(tmp_path / "out")]) == 2
        assert found in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_scales() -> None:
    paper = hyperparameters.options("paper", ["lstm", "gpt2"])
    # Hu et al.: 2 layers of 256; GPT-2's 12 of 768.
    assert (paper["lstm"]["layers"], paper["lstm"]["hidden"]) == (2, 256)
    assert (paper["gpt2"]["layers"], paper["gpt2"]["width"]) == (12, 768)
    small = hyperparameters.options("small", ["ngram", "lstm"], {"lstm.tied": "no", "lstm.lr": "5"})
    assert (small["lstm"]["tied"], small["lstm"]["lr"]) == (False, 5.0)
    assert small["ngram"]["threshold"] == small["lstm"]["threshold"], "the same vocabulary for both"
    with pytest.raises(UsageError, match="yes or no"):
        hyperparameters.options("small", ["lstm"], {"lstm.tied": "maybe"})
    with pytest.raises(UsageError, match="scale"):
        hyperparameters.options("huge", ["lstm"])


def test_every_scale_is_one_that_training_takes() -> None:
    for scale in hyperparameters.scales():
        for family in hyperparameters.taking_part():
            chosen = hyperparameters.options(scale, [family.name])[family.name]
            evaluated = set(hyperparameters.evaluation(family.name, chosen))
            assert chosen.keys() - {"reading"} - evaluated <= {option.name for option in family.options}
            hyperparameters.settings(family.name, chosen, 1_000_000)


def test_estimates_grow_with_the_work() -> None:
    texts = {"valid": 1000, "test": 1000}
    options = hyperparameters.options("small", ["lstm"])["lstm"]
    # Read 40 times (the limit of passes) and 4 times (that of 4 million words): 40 * 50,000 and 4 * 1,000,000 words.
    small, large = (experiment.longest_seconds("lstm", options, words, texts, 5e10)[0] for words in (50_000, 1_000_000))
    assert 2 < large / small < 20
    slow = experiment.longest_seconds("lstm", options, 50_000, texts, 2.5e10)[0]
    assert small < slow < 2 * small
    assert experiment.longest_seconds("ngram", {}, 50_000, texts, 5e10)[0] < small


@pytest.mark.slow
def test_the_record_names_texts_and_settings(undisturbed: Path) -> None:
    record = json.loads((undisturbed / "experiment.json").read_text())
    assert record["corpus"][0]["name"] == "train.txt"
    assert record["sizes"] == {"xs": 480, "sm": 1200}
    assert record["families"]["gpt2"]["layers"] == 1


def designed(texts: Path, folder: Path, sizes: dict[str, int], changes: dict[str, str], *families: str) -> Design:
    files = [[str(texts / f"{name}.txt")] for name in ("train", "valid", "test")]
    return Design(folder, *files, sizes, [1], hyperparameters.options("small", families, changes), SUITES[:1])


@pytest.mark.slow
def test_families_and_sizes_can_be_added(texts: Path, tmp_path: Path) -> None:
    small = {"lstm.epochs": "1", "lstm.hidden": "8", "lstm.embedding": "8"}
    hu2020.experiment(designed(texts, tmp_path, {"sm": 1200}, {}, "ngram"))
    table = hu2020.experiment(designed(texts, tmp_path, {"xs": 480}, small, "lstm"))
    assert [row[:3] for row in table.rows] == [("lstm", "xs", 1), ("ngram", "sm", 0)]
    assert table.csv() == (tmp_path / "results.csv").read_text()


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    for seed, (name, number) in enumerate({"train": 100, "valid": 10, "test": 10}.items()):
        text = sentences(seed, number).replace("it.", "it?!")
        (folder / f"{name}.trees").write_text(bracketed(text))
    return folder


SMALL = {"hidden": "8", "embedding": "8", "layers": "1", "epochs": "1"}


def grown(trees: Path, folder: Path, changes: dict[str, str], *families: str, kind: str = "trees") -> Design:
    files = [[str(trees / f"{name}.{kind if name == 'train' else 'trees'}")] for name in ("train", "valid", "test")]
    sizes = {"xs": 160, "sm": 400}
    return Design(folder, *files, sizes, [1], hyperparameters.options("small", families, changes), SUITES[:1])


@pytest.mark.slow
def test_all_families_see_the_same_words_of_trees(trees: Path, tmp_path: Path) -> None:
    changes = {f"{family}.{name}": value for family in ("lstm", "multitask", "rnng") for name, value in SMALL.items()}
    changes |= {
        "onlstm.hidden": "10",
        "onlstm.embedding": "10",
        "onlstm.epochs": "1",
        "rnng.beam": "5",
        "rnng.word_beam": "2",
    }
    changes |= dict(f"gpt2.{change}".split("=") for change in TINY)
    families = ("ngram", "lstm", "onlstm", "multitask", "rnng", "gpt2")
    table = hu2020.experiment(grown(trees, tmp_path, changes, *families))
    assert [row[0] for row in table.rows] == [*families, *families]
    columns = [{row[table.columns.index(name)] for row in table.rows} for name in ("test_words", "undefined_words")]
    # "it?!" is a word of the trees, although the Treebank's rules split it: 8 words and an end.
    assert columns == [{10 * 9}, {0}]
    unknown = table.columns.index("unknown_words")
    assert len({row[unknown] for row in table.rows if row[0] != "gpt2" and row[1] == "sm"}) == 1
    vocabularies = [
        (tmp_path / "models" / f"{family}-sm-1" / "vocabulary.txt").read_text().split()
        for family in ("lstm", "onlstm", "multitask", "rnng")
    ]
    assert all(set(words) == set(vocabularies[0]) for words in vocabularies)
    assert "it?!" in vocabularies[0]
    assert [note for note in table.notes if "rnng are upper bounds" in note]
    settings = open_run(tmp_path / "runs" / "rnng-sm-1").record["model"]["policies"]
    assert (settings["beam"], settings["word_beam"], settings["eos"]) == ("5", "2", "no")
    part = tmp_path / "corpora" / "xs.trees"
    whole = part.read_bytes()
    part.write_bytes(whole[:-1])
    assert [*record.faults(tmp_path)] == [part]
    part.write_bytes(whole)
    assert not record.faults(tmp_path)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("rnng", r"rnng, and .*xs\.txt has no trees; expected a corpus and a held-out text of trees"),
        ("multitask", r"tags: none given, and .*xs\.txt has no trees"),
    ],
)
def test_a_family_that_needs_trees_is_refused_before_anything_is_trained(
    texts: Path, trees: Path, tmp_path: Path, family: str, message: str
) -> None:
    (trees / "train.txt").write_text(sentences(0, 100))
    for design in (
        designed(texts, tmp_path, {"xs": 480}, {}, "ngram", family),
        grown(trees, tmp_path, {}, "ngram", family, kind="txt"),
    ):
        with pytest.raises(UsageError, match=message):
            record.check(design)
    assert not [*tmp_path.iterdir()]
    record.check(grown(trees, tmp_path, {}, "ngram", family))


def test_the_options_of_a_search_are_checked(trees: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="beam"):
        record.check(grown(trees, tmp_path, {"rnng.beam": "0"}, "rnng"))
    smaller, larger = (
        experiment.longest_seconds(
            "rnng",
            hyperparameters.options("small", ["rnng"], {"rnng.beam": beam})["rnng"],
            1000,
            {"valid": 9, "test": 9},
            1e10,
        )
        for beam in ("10", "100")
    )
    assert smaller[0] == larger[0]
    assert smaller[1] < larger[1] / 5
