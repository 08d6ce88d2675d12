"""The contents of an experiment's folder: the progress of each model and the results of finished ones."""

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import RENEWED, Form, RunError, Shape
from syntagm.papers.experiment import design as places
from syntagm.papers.experiment.design import Cell, Design
from syntagm.runs import PERPLEXITY, Run, has_run, ledger, open_run, read_record
from syntagm.training import record as training

_TEXT: Shape = [{"name": str, "files": int, "bytes": int, "sha256": str}]
# experiment.json
DESIGN = Form(
    "the design of an experiment",
    2,
    {
        "format": int,
        "corpus": _TEXT,
        "valid": _TEXT,
        "test": _TEXT,
        "draw": int,
        "samples?": int,
        "sections?": str,
        "suites": [str],
        "suite_hashes": {str: str},
        "sizes": {str: int},
        "families": {str: dict},
        "parts?": {str: str},
        "renewed?": RENEWED,
    },
    "Restore the file. If the change was intended, `syntagm seal {folder}` renews the seal.",
)


def state(design: Design, cell: Cell) -> str:
    """Return the state of a model: `to do`, `begun`, `trained` or `done`."""
    folder = design.model(cell)
    if training.finished(folder) is None:
        return "begun" if folder.exists() else "to do"
    return "done" if scored(design.run(cell)) and design.perplexity(cell).exists() else "trained"


def scored(folder: Path) -> bool:
    """Return whether a run is done. A damaged run does not count as done, because the engine repairs or refuses it."""
    return not is_damaged(folder) and read_record(folder) is not None and open_run(folder).done


def is_damaged(folder: Path) -> bool:
    """Return whether a file of a run is damaged; False if there is no run."""
    return has_run(folder) and bool(ledger.faults(folder))


def lost_run(folder: Path, cell: Cell) -> RunError | None:
    """Return an error if a model has a perplexity, but no run, from which it would vanish in silence."""
    place = places.run(folder, cell)
    if has_run(place) or not places.perplexity(folder, cell).exists():
        return None
    expected = f"the run of a model whose perplexity is in {places.perplexity(folder, cell)}"
    return RunError(
        str(place), "no run", expected, "Repeat the command that made the experiment: it computes the run again."
    )


def finished(folder: Path) -> Iterator[tuple[dict[str, Any], Run]]:
    """Yield the perplexity record and the run of each finished model of a folder, beginning with small subsets."""
    # The perplexity record has the key `sample`, which is 1 where the file doesn't say it.
    for model in models(folder):
        place = places.run(folder, cell(model))
        if error := lost_run(folder, cell(model)):
            raise error
        if not (run := open_run(place)).done:
            continue
        if (found := run.model.partition("?")[0]) != (expected := model["model"].partition("?")[0]):
            raise RunError(
                str(place), f"a run of {found}", f"a run of {expected}", "Move each folder back to where it belongs."
            )
        yield model, run


def models(folder: Path) -> list[dict[str, Any]]:
    """Return the perplexity records of a folder, beginning with small subsets; for the errors see `finished`."""
    record = DESIGN.read(places.record(folder))
    families, sizes = list(record["families"]), record["sizes"]
    models = [{"sample": 1} | read(path, families, sizes) for path in sorted((folder / "perplexity").glob("*.json"))]
    order = {cell(model): (sizes[model["size"]], families.index(model["family"])) for model in models}
    return sorted(models, key=lambda each: (*order[cell(each)], each["sample"], each["seed"]))


def read(path: Path, families: Container[str], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Read the perplexity record of a model."""
    model = PERPLEXITY.read(path)
    if model["family"] not in families or sizes.get(model["size"]) != model["requested_words"]:
        found = "a model that is not in the experiment"
        raise RunError(str(path), found, "a family and a size of the experiment", "Remove it.")
    if (name := cell(model).name) != path.stem:
        raise RunError(str(path), f"the perplexity of {name}", f"that of {path.stem}", "Put the files in their places.")
    return model


def cell(model: Mapping[str, Any]) -> Cell:
    """Return the model of an experiment that a perplexity record is about."""
    return Cell(model["family"], model["size"], model["seed"], model.get("sample", 1))


def distinguishing_keys(finished: Sequence[tuple[Mapping[str, Any], Run]]) -> tuple[str, ...]:
    """Return the keys of a perplexity record that tell models apart; `sample` only if there are several samples."""
    return ("family", "size", *(["sample"] if any(model["sample"] > 1 for model, _ in finished) else []), "seed")


def sizes(folder: Path) -> dict[str, int]:
    """Return the requested sizes of the subsets of an experiment: name -> words."""
    return dict(DESIGN.read(places.record(folder))["sizes"])
