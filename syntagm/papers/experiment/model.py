"""One model of an experiment: trained on its part of the corpus, scored on the suites, measured on the test text."""

from typing import Any

from syntagm.errors import RunError
from syntagm.io import record as records
from syntagm.models.contract import LanguageModel
from syntagm.papers.experiment import hyperparameters
from syntagm.papers.experiment.design import Cell, Design
from syntagm.papers.experiment.measured import read
from syntagm.progress import Progress
from syntagm.runs.store import open_run, read_record
from syntagm.training import families
from syntagm.training import record as training


def make(design: Design, cell: Cell, words: int, progress: Progress) -> None:
    """Make everything of a model that is not there yet.

    Arguments:
        words: of its part of the corpus.
    """
    train(design, cell, progress)
    score(design, cell, progress)
    measure(design, cell, words, progress)


def train(design: Design, cell: Cell, progress: Progress) -> None:
    """Train a model on its part, or go on with its training; nothing if it is finished."""
    family, folder = families.find(cell.family), design.model(cell)
    if training.finished(folder) is not None and family.whole(folder):
        # A kill between the model and this leaves a state of three times its size.
        training.remove_state(folder)
        return
    words, more = design.sizes[cell.size], {"seed": cell.seed, "device": design.device}
    settings = hyperparameters.settings(cell.family, design.options[cell.family], words, **more)
    family.train([str(design.part(cell.size))], design.valid, folder, settings, progress)


def score(design: Design, cell: Cell, progress: Progress) -> None:
    """Score a model on the suites, into its run directory; nothing if the run is finished."""
    from syntagm.materials.finding import expand
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.runs.evaluate import run_suites as run

    place = design.run(cell)
    if (read_record(place) is None) or not open_run(place).done:
        run(_load(design, cell), SuiteFiles(expand(list(design.suites))), place, progress=progress)


def measure(design: Design, cell: Cell, words: int, progress: Progress) -> None:
    """Write the perplexity of a model on the test text, ends of sentences included; nothing if it is there.

    Raises:
        RunError: it is there, and of other weights than the model has now.
    """
    from syntagm.models.hugging_face.weights import hash_folder
    from syntagm.tasks.perplexity import division, perplexity
    from syntagm.training.corpora import corpus

    path, weights = design.perplexity(cell), hash_folder(design.model(cell))
    if path.exists():
        if read(path).get("weights", weights) != weights:
            cure = f"Remove it and {design.run(cell)}: both are then made anew."
            raise RunError(str(path), "of another training", f"of the weights in models/{cell.name}", cure)
        return
    model = _load(design, cell, eos="yes", **division(str(design.model(cell)), design.test))
    found = perplexity(model, corpus.texts(design.test), done=lambda more: progress.answered("test text", more))
    numbers = ("words", "unknown", "undefined", "bits", "bits_per_word", "perplexity", "perplexity_known")
    made: dict[str, Any] = {"family": cell.family, "size": cell.size, "seed": cell.seed, "training_words": words}
    made |= {
        "model": model.name,
        "fingerprint": model.fingerprint,
        "policies": dict(model.settings),
        "weights": weights,
    }
    made |= {name: getattr(found, name) for name in (*numbers, "bits_per_character")}
    path.parent.mkdir(exist_ok=True)
    records.write(path, made)


def _load(design: Design, cell: Cell, **options: str) -> LanguageModel:
    from syntagm.models import names

    where = {"device": design.device} if families.find(cell.family).on_device else {}
    return names.load(str(design.model(cell)), **where, **options)
