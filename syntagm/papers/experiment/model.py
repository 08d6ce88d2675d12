"""One model of an experiment: trained on its subset, scored on the suites, and evaluated on the test text."""

from typing import Any

from syntagm.core import NONE, Progress, RunError, atomic
from syntagm.models import LanguageModel
from syntagm.papers.experiment import hyperparameters
from syntagm.papers.experiment.design import Cell, Design
from syntagm.papers.experiment.measured import scored
from syntagm.runs import PERPLEXITY
from syntagm.training import families, record as training


def make(design: Design, cell: Cell, words: int, progress: Progress) -> None:
    """Train, score and evaluate a model, skipping the steps that are already done."""
    train(design, cell, progress)
    score(design, cell, progress)
    measure(design, cell, words, progress)


def train(design: Design, cell: Cell, progress: Progress) -> None:
    """Train a model on its subset, or resume its training; do nothing if it is finished."""
    family, folder = families.find(cell.family), design.model(cell)
    if training.finished(folder) is not None and family.is_intact(folder):
        # A training that was killed after it wrote the model leaves a state of three times the model's size.
        training.remove_state(folder)
        return
    folder = atomic.inside(design.folder, "models", cell.name)
    words, run_settings = design.sizes[cell.size], {"seed": cell.seed, "device": design.device}
    settings = hyperparameters.settings(cell.family, design.options[cell.family], words, **run_settings)
    family.train([str(design.part(cell.part))], design.valid, folder, settings, progress)


def score(design: Design, cell: Cell, progress: Progress) -> None:
    """Score a model on the suites into its run directory; do nothing if the run is finished."""
    from syntagm.evaluation import Predictions
    from syntagm.runs import Evaluation, Job, carry_out
    from syntagm.suites import SuiteFiles, expand

    if not scored(design.run(cell)):
        # The folder is looked at before the model is loaded.
        folder = atomic.inside(design.folder, "runs", cell.name)
        job = Job(_load(design, cell), folder=folder)
        carry_out(Evaluation(Predictions(), SuiteFiles(expand(list(design.suites))), (job,)), job, progress)


def measure(design: Design, cell: Cell, words: int, progress: Progress) -> None:
    """Write the perplexity of a model on the test text, including sentence ends; do nothing if it is already written."""
    from syntagm.evaluation import division, perplexity
    from syntagm.models import hash_folder
    from syntagm.training import corpus, unseen_classes, warning

    path, weights = design.perplexity(cell), hash_folder(design.model(cell))
    if path.exists():
        if PERPLEXITY.read(path)["weights"] != weights:
            cure = f"Remove it and {design.run(cell)}; the same command then computes both again."
            found, expected = "the perplexity of other weights", f"that of the weights in models/{cell.name}"
            raise RunError(str(path), found, expected, cure)
        return
    model = _load(design, cell, eos="yes", **division(str(design.model(cell)), design.test))
    result = perplexity(model, corpus.texts(design.test), done=lambda more: progress.answered("test text", more))
    numbers = ("words", "unknown", "undefined", "bits", "bits_per_word", "perplexity", "perplexity_known")
    measured: dict[str, Any] = {"family": cell.family, "size": cell.size, "seed": cell.seed}
    measured |= {"sample": cell.sample} if cell.sample > 1 else {}
    measured |= {"requested_words": design.sizes[cell.size], "training_words": words}
    measured |= {
        "model": model.name,
        "fingerprint": model.fingerprint,
        "policies": dict(model.settings),
        "weights": weights,
    }
    measured |= {name: getattr(result, name) for name in (*numbers, "bits_per_character")}
    unseen = unseen_classes(design.model(cell), design.test)
    if unseen:
        progress.warned(f"{cell.name}: {warning('the test text', unseen)}")
    measured |= {} if unseen is None else {"unseen_classes": unseen}
    atomic.make_folder(atomic.inside(design.folder, "perplexity"))
    PERPLEXITY.write(path, measured)


def _load(design: Design, cell: Cell, **options: str) -> LanguageModel:
    from syntagm.models import names

    options |= hyperparameters.evaluation(cell.family, design.options[cell.family])
    where = {"device": design.device} if families.find(cell.family).on_device else {}
    return names.load_permitted(str(design.model(cell)), NONE, where | options)
