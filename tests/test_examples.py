"""The notebooks and programs of `examples/` run from beginning to end."""

import runpy
from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main as sg_main

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert shown.count("text/html") >= 4, "suite, tables and figures show themselves"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


EXAMPLES = NOTEBOOKS[0].parent
PAIRS = (
    ("The keys are here.", "The keys is here."),
    ("Nobody has ever left.", "Somebody has ever left."),
    ("the key are here .", "the key is here ."),
)


@pytest.fixture
def bigram(tmp_path: Path) -> str:
    """A model that only Syntagm has."""
    (tmp_path / "corpus.txt").write_text("the keys are here .\nnobody has left .\nthe key is here .\n" * 4)
    model = str(tmp_path / "bigram")
    options = ["--order", "2", "--threshold", "1", "--discount-fallback"]
    assert sg_main(["train", "ngram", "--corpus", str(tmp_path / "corpus.txt"), "-o", model, *options]) == 0
    return model


def test_a_model_in_minicons(bigram: str) -> None:
    pytest.importorskip("minicons")
    found = runpy.run_path(str(EXAMPLES / "minicons_scorer.py"))
    texts = [text for pair in PAIRS for text in pair]
    sums = [answer.bits.sum() for answer in sg.load_model(bigram).score(texts)]
    assert found["main"](bigram, *texts) == pytest.approx([-bits for bits in sums])
    scorer = found["Scorer"](bigram)
    tokens = scorer.token_score(texts[0], surprisal=True, base_two=True)[0]
    assert "".join(token for token, _ in tokens) == texts[0]
    assert sum(bits for _, bits in tokens) == pytest.approx(sums[0])
    [after] = scorer.conditional_score(
        "The keys", "are here.", reduction=lambda scores: scores.sum(0).item(), base_two=True
    )
    assert after == pytest.approx(-sum(bits for _, bits in tokens[2:]))
    with pytest.raises(TypeError, match="bos_token: an option of minicons' own models"):
        scorer.sequence_score(texts, bos_token=True)


def test_a_model_in_lm_evaluation_harness(bigram: str, tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    (tmp_path / "p.tsv").write_text("good\tbad\n" + "".join(f"{good}\t{bad}\n" for good, bad in PAIRS))
    assert sg_main(["convert", str(tmp_path / "p.tsv"), str(tmp_path / "tasks"), "--as", "lm-eval-task"]) == 0
    found = runpy.run_path(str(EXAMPLES / "lm_eval_model.py"))["main"](bigram, str(tmp_path / "tasks"), "syntagm_p")
    # The harness takes the first of two equal choices, which is the good one.
    run = sg.evaluate(sg.load_model(bigram), str(tmp_path / "p.tsv"), convention="bits+ties_as_hits")
    assert run.results()["value"].to_list() == [1, 1, 0]
    assert found["results"]["syntagm_p"]["acc,none"] == run.results()["value"].mean()


@pytest.mark.slow
def test_training_is_evaluated(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    runpy.run_path(str(NOTEBOOKS[0].parent / "training.py"))["main"](str(tmp_path), steps=25, every=10)
    runs = [sg.open_run(tmp_path / f"step{step}") for step in (10, 20, 25)]
    assert [row["at"] for row in sg.figure("trajectory", runs, by="").to_frame().to_dicts()] == [10, 20, 25]
    assert "precision 0.1" in runs[0].record["command"]
