"""Tables of the texts and the models of a training study, and what it says of classes of unknown words."""

from dataclasses import replace
from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.core import Progress, RunError
from syntagm.models import load
from syntagm.papers import Design, hyperparameters, overview, record
from syntagm.papers.experiment import experiment
from syntagm.papers.experiment.design import PERPLEXITY
from syntagm.views import Table

# Seven words. In ten sentences, all are known but two: a class in -s and one in -ed.
LINES = ["The farmer sees the old dog ."] * 8 + ["The farmer sees the sailors .", "The dog painted the farmer ."]
# 1984 has a class that training has not; the test text has another one, too.
VALID, TEST = ["The farmer sees 1984 ."], ["The dog sees Paris and 1984 .", "The sailors sees 7 ."]
TINY = {"hidden": "8", "embedding": "6", "layers": "1", "epochs": "1", "window": "4", "batch": "2", "tied": "no"}


class Noting(Progress):
    """What was warned of."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warned(self, message: str) -> None:
        self.warnings.append(message)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder, noting = tmp_path_factory.mktemp("overview"), Noting()
    for name, lines in {"train": LINES, "valid": VALID, "test": TEST}.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    changes = {f"lstm.{name}": value for name, value in TINY.items()}
    changes |= {f"{family}.threshold": "2" for family in ("ngram", "lstm")} | {"ngram.order": "2"}
    texts = [[str(folder / f"{name}.txt")] for name in ("train", "valid", "test")]
    options = hyperparameters.options("small", ["ngram", "lstm"], changes)
    design = Design(folder / "out", *texts, {"all": 68}, [1, 2], options, ["hu2020/number_src"])
    experiment.carry_out(design, lambda _: Table("Results", ("model",), ()), noting)
    return folder / "out", noting.warnings


@pytest.fixture(scope="module")
def tables(study: tuple[Path, list[str]]) -> dict[str, Table]:
    return dict(overview.tables(study[0]))


@pytest.mark.slow
def test_the_texts(tables: dict[str, Table]) -> None:
    # 8 * 7 + 6 + 6 words. Known: The farmer sees the old dog . Unknown: sailors (UNK-LC-s), painted (UNK-LC-ed). Of the test
    # text, Paris (UNK-INITC), and (UNK-LC), 1984 and 7 (UNK-NUM) have other classes; `sailors` has one of training's.
    [row] = tables["texts"].rows
    assert dict(zip(tables["texts"].columns, row, strict=True)) == {
        "size": "all", "sentences": 10, "tokens": 68, "types": 7, "unknown_types": 2, "unseen_in_valid": 1,
        "unseen_in_test": 4, "families": "ngram, lstm",
    }  # fmt: skip


@pytest.mark.slow
def test_the_models(study: tuple[Path, list[str]], tables: dict[str, Table]) -> None:
    words = 7 + 2 + 2
    # Embedding, LSTM with two biases for each of four gates, output layer with bias.
    lstm = words * 6 + 4 * 8 * (6 + 8 + 2) + words * 8 + words
    ngrams = load(str(study[0] / "models" / "ngram-all")).ngrams  # type: ignore[attr-defined]
    weights = sum(map(len, ngrams.probabilities)) + len(ngrams.backoffs[0])
    assert tables["parameters"].columns == ("family", "size", "parameters", "vocabulary", "models")
    assert tables["parameters"].rows == (("ngram", "all", weights, words, 1), ("lstm", "all", lstm, words, 2))


@pytest.mark.slow
def test_missing_classes_of_the_test_text_are_warned_of_and_recorded(study: tuple[Path, list[str]]) -> None:
    folder, warnings = study
    for name in ("ngram-all", "lstm-all-1", "lstm-all-2"):
        [warning] = [warning for warning in warnings if warning.startswith(f"{name}: the test text")]
        assert "UNK-NUM (2)" in warning
        found = PERPLEXITY.read(folder / "perplexity" / f"{name}.json")["unseen_classes"]
        assert found == {"UNK-NUM": 2, "UNK-INITC": 1, "UNK-LC": 1}
    assert sum(warning.startswith("the held-out text") for warning in warnings) == 3


def test_whole_sections_can_be_drawn_and_are_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    documents = ["\n".join([f"The farmer {number} sees the dog ."] * 3) for number in range(9)]
    (tmp_path / "train.txt").write_text("\n\n".join(documents) + "\n")
    (tmp_path / "test.txt").write_text("The farmer sees it .\n")
    train, test = ([str(tmp_path / f"{name}.txt")] for name in ("train", "test"))
    options = hyperparameters.options("small", ["ngram"])
    design = Design(
        tmp_path / "out", train, test, test, {"xs": 22, "sm": 70}, [1], options, ["hu2020/number_src"], sections="blank"
    )
    record.begin(design, Progress())
    assert record.draw_subsets(design, Progress()) == {"xs": 42, "sm": 84}
    drawn = {name: design.part(name).read_text().splitlines() for name in design.sizes}
    # Two documents of 3 * 7 words are the fewest with 22 words, and four those with 70.
    assert {name: len(set(lines)) for name, lines in drawn.items()} == {"xs": 2, "sm": 4}
    assert set(drawn["xs"]) < set(drawn["sm"])
    with pytest.raises(RunError, match="an experiment with sections = 'blank'; expected sections = ''"):
        record.check(replace(design, sections=""))
    line = ["reproduce", "hu2020", "--corpus", *train, "--valid", *test, "--test", *test, "-o", str(design.folder)]
    line += ["--families", "ngram", "--sizes", "xs=22,sm=70", "--suite", "hu2020/number_src", "--seeds", "1", "--plan"]
    assert main([*line, "--section-mark", "file"]) == 2
    assert "--section-mark: given without --draw-by sections" in capsys.readouterr().err
    assert main([*line, "--draw-by", "sections"]) == 0
    assert "drawn by sections ('blank') with seed 1" in capsys.readouterr().out
