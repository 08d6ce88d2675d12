"""The notebooks and programs of `examples/` run from beginning to end."""

import runpy
from pathlib import Path

import pytest

import syntagm as sg

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


@pytest.mark.slow
def test_training_is_evaluated(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    runpy.run_path(str(NOTEBOOKS[0].parent / "training.py"))["main"](str(tmp_path), steps=25, every=10)
    runs = [sg.open_run(tmp_path / f"step{step}") for step in (10, 20, 25)]
    assert [row["at"] for row in sg.figure("trajectory", runs, by="").to_frame().to_dicts()] == [10, 20, 25]
    assert "precision 0.1" in runs[0].record["command"]
