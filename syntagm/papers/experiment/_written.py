"""The files that an experiment writes in addition to its models and runs."""

from collections.abc import Iterator
from pathlib import Path

from syntagm.errors import RunError, SyntagmError
from syntagm.io.integrity import File, Folder
from syntagm.papers.experiment import measured, parts
from syntagm.papers.experiment.design import part_file, record
from syntagm.runs.files import has_run
from syntagm.runs.training_study import PERPLEXITY
from syntagm.stats.mixed.simulations import SIMULATIONS
from syntagm.training import record as training


def _faults(folder: Path) -> dict[Path, SyntagmError]:
    try:
        design = measured.DESIGN.read(record(folder))
    except SyntagmError as error:
        return {record(folder): error}
    faults: dict[Path, SyntagmError] = {}
    for path in _perplexities(folder):
        try:
            measured.read(path, design["families"], design["sizes"])
        except SyntagmError as error:
            faults[path] = error
        if not has_run(run := folder / "runs" / path.stem):
            cure = "Repeat the command that made the experiment: it computes the run again."
            faults[run / "run.json"] = RunError(str(run), "no run", f"that of {path.stem}", cure)
        if training.lacks_record(model := folder / "models" / path.stem):
            cure = "Restore it; or delete the folder, and repeat the command that made the experiment."
            found = "no such file, beside weights"
            faults[model / training.FILE] = RunError(
                str(model / training.FILE), found, "the record of the training", cure
            )
    for path in _simulations(folder):
        try:
            SIMULATIONS.read(path)
        except SyntagmError as error:
            faults[path] = error
    for name, digest in design.get("parts", {}).items():
        path = part_file(folder, name, [text["name"] for text in design["corpus"]])
        if damaged := parts.fault(path, digest):
            faults[path] = damaged
    return faults


def _renew(folder: Path) -> list[str]:
    forms = {
        record(folder): measured.DESIGN,
        **dict.fromkeys(_perplexities(folder), PERPLEXITY),
        **dict.fromkeys(_simulations(folder), SIMULATIONS),
    }
    changed = []
    for path, form in forms.items():
        if renewed := form.renewed(path):
            form.write(path, renewed)
            changed.append(path.relative_to(folder).as_posix())
    return changed


def _perplexities(folder: Path) -> Iterator[Path]:
    yield from sorted((folder / "perplexity").glob("*.json"))


def _simulations(folder: Path) -> Iterator[Path]:
    yield from sorted((folder / "simulations").glob("*.json"))


EXPERIMENT = Folder(
    "experiment",
    ("experiment.json", "perplexity/*.json"),
    (
        File("the design of the experiment", "experiment.json"),
        File("the perplexity of a model", "perplexity/*.json"),
        File("the simulated responses of a likelihood-ratio test", "simulations/*.json"),
        File("a subset of the corpus", "corpora/*.txt"),
        File("a subset of a corpus of trees", "corpora/*.trees"),
        File("the results of the experiment", "results.csv", checked=False),
        File("the results of the experiment", "results.md", checked=False),
        *(
            File("a table or figure of the experiment", f"*.{ending}", checked=False)
            for ending in ("csv", "md", "tex", "png", "svg", "pdf")
        ),
    ),
    _faults,
    _renew,
)

FOLDERS = (EXPERIMENT,)
