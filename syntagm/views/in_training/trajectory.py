"""Trajectory: a folder with a run directory for each evaluated step of a training.

DIR/step500    a run directory (`runs.store`), as `syntagm table trajectory DIR/step*` reads it
DIR/replaced   the runs of steps that were trained again, because training resumed before them
"""

import os
import re
from math import nan
from pathlib import Path

from syntagm.core import OptionValue, RunError, UsageError, atomic, public
from syntagm.evaluation import Predictions, suite_hash
from syntagm.models import FastTokenizer, InTraining, TransformersModel, as_evaluated, uncompiled
from syntagm.runs import Evaluation, Job, Run, carry_out, has_run, open_run, read_record, well_formed
from syntagm.stats import items_for, reach_of
from syntagm.suites import Suites, sampled, suites_of
from syntagm.views import estimates

_MEAN = "mean"
_STEP = re.compile(r"step(\d+)")


@public
class Trajectory:
    """The results of a model that is being trained, at one step after another, on the same items.

    The model is left as it was found: its modes, gradients and device, and the random number generators. Its weights
    are not hashed, and how it can be computed exactly is probed at the first step only; the records of the runs say so.

    Arguments:
        folder: the folder of the run directories, `folder/step500` and so on.
        suites: the suites, or names as in `read_suites`; their own predictions are evaluated.
        tokenizer: the model's fast tokenizer.
        name: name of the model in results, to which the step is added.
        precision: evaluate only as many items of each suite as give the mean accuracy over these suites a 95% interval
            of this half-width or less, for example 0.05; see `stats.precision`. By default, all items.
        seed: the seed of the random draw of items.
        start: the step from which training starts or resumes. Runs of later steps are moved to `folder/replaced`.
        masked: whether it is a masked language model; otherwise it is a causal one.
        options: options of the family `causal` or `masked` that are not about loading, such as `bos="no"`.

    Raises:
        UsageError: an option is invalid, the suites have too few items for the precision, or one is called `mean`.
        InputError: a suite is malformed; see `check_suites`.
        RunError: the folder contains runs of another training, or can't be written.
    """

    def __init__(
        self,
        folder: str | Path,
        suites: Suites,
        tokenizer: FastTokenizer,
        *,
        name: str = "model",
        precision: float | None = None,
        seed: int = 1,
        start: int = 0,
        masked: bool = False,
        **options: OptionValue,
    ) -> None:
        if folder == "":
            raise UsageError("folder", "an empty text", "a folder", "'.' is the current folder.")
        self.folder = Path(folder)
        whole = list(well_formed(suites_of(suites)))
        if any(suite.name == _MEAN for suite in whole):
            raise UsageError(f"suite {_MEAN}", "a name that the mean accuracy has", "another name", "Rename the suite.")
        limit = None if precision is None else items_for([len(suite.items) for suite in whole], precision)
        self.suites = tuple(sampled(suite, limit, seed) for suite in whole)
        self._model = InTraining(tokenizer, name=name, masked=masked, **options)
        self._description = f"a trajectory on all items of {len(whole)} suites"
        if limit is not None:
            reach = reach_of([len(suite.items) for suite in self.suites])
            self._description = (
                f"a trajectory on at most {limit} items of each of {len(whole)} suites, seed {seed}: "
                f"precision {precision:g}, reached {reach:.3g}"
            )
        self._resume(start)

    def evaluate(self, model: TransformersModel, step: int) -> dict[str, float]:
        """Evaluate the model after a training step, and write a run directory.

        Arguments:
            model: the transformers model, in any mode.
            step: the number of training steps so far, above 0.

        Returns:
            The accuracy of each suite by its first prediction, and their mean as `mean`: name -> accuracy. It is nan
            where results are undefined, for example after training diverged.

        Raises:
            UsageError: the step is not above 0, or the suites have no prediction for this kind of model.
            ModelError: the architecture can't be scored exactly.
            RunError: this step has been evaluated with other weights, or the folder can't be written.
        """
        if step < 1:
            raise UsageError("step", str(step), "a number of training steps above 0")
        model = uncompiled(model)
        with as_evaluated(model):
            job = Job(self._model.at(model, step), folder=atomic.inside(self.folder, f"step{step}"))
            run = carry_out(Evaluation(Predictions(), self.suites, (job,), command=self._description), job)
        accuracies = {estimate.group.suite: estimate.value for estimate in estimates.accuracies(run, "first")}
        means = [estimate.value for estimate in estimates.scores(run, "first")]
        return {_MEAN: means[0] if means else nan, **accuracies}

    def runs(self) -> list[Run]:
        """Return the runs in the order of their steps, for `table("trajectory", ...)` and `figure("trajectory", ...)`."""
        return [open_run(self._place(step)) for step in self._steps()]

    def _place(self, step: int) -> Path:
        return self.folder / f"step{step}"

    def _steps(self) -> list[int]:
        """Return the steps that have been evaluated."""
        names = (_STEP.fullmatch(path.name) for path in self.folder.glob("step*") if has_run(path))
        return sorted(int(name[1]) for name in names if name)

    def _resume(self, start: int) -> None:
        """Check the runs up to a step, and move later ones away."""
        steps = self._steps()
        if steps and not start:
            raise RunError(
                str(self.folder), f"runs of an earlier training, up to step {steps[-1]}", "a new folder",
                "Choose another folder or delete this one. If training resumes, say from which step: start=STEP.",
            )  # fmt: skip
        if before := [step for step in steps if step <= start]:
            place = self._place(before[-1])
            recorded = [(suite["name"], suite["hash"]) for suite in (read_record(place) or {"suites": ()})["suites"]]
            if recorded != [(suite.name, suite_hash(suite)) for suite in self.suites]:
                raise RunError(
                    str(place), "a run on other suites or items", "the same items as at earlier steps",
                    "Repeat the suites, precision and seed with which training began, or choose another folder.",
                )  # fmt: skip
        replaced = atomic.inside(self.folder, "replaced")
        for step in steps:
            if step > start:
                atomic.make_folder(replaced)
                number = 1 + sum(1 for _ in replaced.glob(f"step{step}-*"))
                os.replace(self._place(step), replaced / f"step{step}-{number}")
