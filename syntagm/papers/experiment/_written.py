"""What an experiment writes beside its models and runs."""

from pathlib import Path

from syntagm.errors import SyntagmError
from syntagm.io.integrity import Folder, Kind
from syntagm.papers.experiment.measured import read


def _faults(folder: Path) -> dict[Path, SyntagmError]:
    faults: dict[Path, SyntagmError] = {}
    for path in (folder / "experiment.json", *sorted((folder / "perplexity").glob("*.json"))):
        try:
            read(path)
        except SyntagmError as error:
            faults[path] = error
    return faults


EXPERIMENT = Folder(
    "experiment",
    ("experiment.json",),
    (
        Kind("the design of the experiment", "experiment.json"),
        Kind("the perplexity of a model", "perplexity/*.json"),
        Kind("a subset of the corpus", "corpora/*.txt", checked=False),
        Kind("the results of the experiment", "results.csv", checked=False),
        Kind("the results of the experiment", "results.md", checked=False),
        *(
            Kind("a table or figure of the experiment", f"*.{ending}", checked=False)
            for ending in ("csv", "md", "tex", "png", "svg", "pdf")
        ),
    ),
    _faults,
)

FOLDERS = (EXPERIMENT,)
