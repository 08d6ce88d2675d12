"""The execution of a controlled experiment: draw the subsets, then train and evaluate the models one by one; and its duration."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from syntagm.core import NONE, Progress, RunError, UsageError, atomic
from syntagm.models import LanguageModel
from syntagm.papers.experiment import hyperparameters, record
from syntagm.papers.experiment.design import Cell, Design, is_damaged, is_scored, lost_run, state_of
from syntagm.papers.experiment.hyperparameters import Options
from syntagm.papers.experiment.record import locked_folder
from syntagm.runs import PERPLEXITY
from syntagm.training import REACHED, Work, families, record as training
from syntagm.views import Table


def make_model(design: Design, cell: Cell, words: int, progress: Progress) -> None:
    """Train, score and evaluate a model, skipping the steps that are already done."""
    train_model(design, cell, progress)
    score_model(design, cell, progress)
    measure_perplexity(design, cell, words, progress)


def train_model(design: Design, cell: Cell, progress: Progress) -> None:
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


def score_model(design: Design, cell: Cell, progress: Progress) -> None:
    """Score a model on the suites into its run directory; do nothing if the run is finished."""
    from syntagm.evaluation import Predictions
    from syntagm.runs import Evaluation, Job, carry_out
    from syntagm.suites import SuiteFiles, expand

    if not is_scored(design.run(cell)):
        # The folder is looked at before the model is loaded.
        folder = atomic.inside(design.folder, "runs", cell.name)
        job = Job(_load(design, cell), folder=folder)
        carry_out(Evaluation(Predictions(), SuiteFiles(expand(list(design.suites))), (job,)), job, progress)


def measure_perplexity(design: Design, cell: Cell, words: int, progress: Progress) -> None:
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


def operations_per_second(device: str) -> float:
    """Measure the floating-point operations per second of a matrix product on a device; return the best of several runs."""
    import torch

    size, repeats = (4096, 10) if device.startswith("cuda") else (512, 20)
    matrix = torch.rand(size, size, device=device)
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        float((matrix @ matrix)[0, 0])
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


def longest_seconds(
    family: str, options: Options, words: int, texts: Mapping[str, int], speed: float, device: str = "cpu"
) -> tuple[float, float]:
    controlled = families.find(family).controlled
    if controlled is None:
        known = ", ".join(other.name for other in hyperparameters.taking_part())
        raise UsageError("families", repr(family), f"one of {known}")
    scoring = hyperparameters.evaluation(family, options)
    work = Work(words, texts["valid"], texts["test"], speed, device, scoring)
    return controlled.duration(hyperparameters.settings(family, options, words), work)


def remaining_seconds(design: Design, cell: Cell, texts: Mapping[str, int], speed: float) -> float:
    """Estimate the longest time, in seconds, that the remaining work on a model can take."""
    options, words = design.options[cell.family], design.sizes[cell.size]
    total = longest_seconds(cell.family, options, words, texts, speed, design.device)
    return {"done": 0.0, "trained": total[1]}.get(state_of(design, cell), sum(total))


def basis_of_estimates(speed: float) -> str:
    paces = [family.controlled.pace for family in hyperparameters.taking_part() if family.controlled]
    lines = [
        f"from a matrix product timed here ({speed / 1e9:,.0f} GFLOP/s, {REACHED:.0%} of it reached), "
        "the sizes of the models and guessed vocabularies",
        *(pace for pace in paces if pace),
    ]
    return "; ".join(lines)


def carry_out(
    design: Design,
    results: Callable[[Path], Table],
    progress: Progress | None = None,
    short: Callable[[Table, Path], Table] = lambda table, _: table,
) -> Table:
    """Carry out an experiment, or resume it, and write the results of all finished models after each model."""
    progress = progress or Progress()
    record.begin(design, progress)
    words = record.draw_subsets(design, progress)
    for cell in design.cells():
        # The results of all models are written after each model, so a damaged run of a later one is repaired first.
        if is_damaged(design.run(cell)) or lost_run(design.folder, cell):
            score_model(design, cell, progress)
    for number, cell in enumerate(cells := design.cells(), 1):
        progress.began(f"{number} of {len(cells)}: {cell.name}, {words[cell.part]:,} words")
        with locked(design, cell, progress):
            make_model(design, cell, words[cell.part], progress)
        # Without the lock, another process could overwrite the table with one that lacks this model.
        with locked_folder(design.folder, progress):
            table = results(design.folder)
            atomic.write(design.folder / "results.csv", table.csv().encode())
            atomic.write(design.folder / "results.md", short(table, design.folder).markdown().encode())
    return results(design.folder)


@contextmanager
def locked(design: Design, cell: Cell, progress: Progress) -> Iterator[None]:
    """Check that the record still allows a model, and lock its folder if the model serves for all seeds."""
    # Other processes wait for such a model.
    with ExitStack() as stack:
        if not families.find(cell.family).seeded and state_of(design, cell) != "done":
            stack.enter_context(locked_folder(atomic.inside(design.folder, "models", cell.name), progress))
        record.refuse_changed(design, cell)
        yield
