"""A callback of transformers' trainer that evaluates the model during training."""

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from syntagm.core import UsageError, extras, public
from syntagm.suites import Suites, suites_of
from syntagm.views.in_training.trajectory import Trajectory

if TYPE_CHECKING:
    from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
else:
    # Without transformers, the name exists all the same, and what is made of it says what is missing.
    try:
        from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
    except ModuleNotFoundError:
        TrainerCallback, TrainerControl, TrainerState, TrainingArguments = object, Any, Any, Any


_SECONDS = "seconds"


class Trainer(Protocol):
    """A `Trainer` of transformers."""

    model: Any
    processing_class: Any
    is_fsdp_enabled: bool
    is_deepspeed_enabled: bool

    def log(self, logs: dict[str, float]) -> None:
        """Log numbers."""


@public
class EvaluationCallback(TrainerCallback):
    """Evaluate the model on suites every few steps of a transformers `Trainer`, and at the end of training.

    The accuracies are written to a trajectory, and logged by the trainer as `eval_syntagm_mean`, `eval_syntagm_SUITE`
    and `eval_syntagm_seconds`, so they reach its log history, TensorBoard, Weights & Biases and so on. With several
    processes, the first one evaluates. If training resumes from a checkpoint, so does the trajectory.

        trainer.add_callback(sg.EvaluationCallback(trainer, suites, "runs/mine", every=500, precision=0.05))

    Arguments:
        trainer: the trainer, whose model, tokenizer (`processing_class`) and log are used.
        suites: the suites, or names as in `read_suites`; their own predictions are evaluated.
        folder: the folder of the trajectory.
        every: the number of steps from one evaluation to the next.
        options: further arguments of `Trajectory`: `name`, `precision`, `seed`, `masked`, and options of the model.

    Raises:
        UsageError: transformers is not installed, `every` is below 1, the trainer has no tokenizer, or it splits the model
            between processes.
    """

    def __init__(self, trainer: Trainer, suites: Suites, folder: str | Path, *, every: int, **options: Any) -> None:
        if not extras.installed("transformers"):
            raise extras.missing("transformers", "EvaluationCallback")
        if every < 1:
            raise UsageError("EvaluationCallback", f"every={every}", "a number of steps, at least 1")
        if trainer.processing_class is None:
            cure = "Create it with Trainer(..., processing_class=tokenizer)."
            raise UsageError("EvaluationCallback", "a trainer without a tokenizer", "a trainer with one", cure)
        if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
            found = "a trainer that may split the weights between processes (FSDP or DeepSpeed)"
            cure = "Save checkpoints, and evaluate them with `syntagm run`."
            raise UsageError("EvaluationCallback", found, "a model that is whole in each process", cure)
        self._trainer, self._suites, self._folder, self._every = trainer, list(suites_of(suites)), folder, every
        if any(suite.name == _SECONDS for suite in self._suites):
            raise UsageError(
                f"suite {_SECONDS}", "a name that is logged for the time", "another name", "Rename the suite."
            )
        self._options = options
        self._trajectory: Trajectory | None = None
        self._last = 0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Open the trajectory at the step from which training starts or resumes."""
        if state.is_world_process_zero:
            tokenizer, start = self._trainer.processing_class, state.global_step
            self._trajectory = Trajectory(self._folder, self._suites, tokenizer, start=start, **self._options)
            self._last = start

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Evaluate the model if it is time for it, or if this step is the last one."""
        if state.global_step % self._every == 0 or control.should_training_stop:
            self._evaluate(state, control)

    def _on_last(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Evaluate the model if training stops, before the trainer may load another one."""
        if control.should_training_stop and state.global_step > self._last:
            self._evaluate(state, control)

    # Other callbacks may stop the training in any of these.
    on_evaluate = on_save = on_epoch_end = _on_last

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Evaluate the model after the last step, unless that has been done, or the trainer has loaded another one."""
        if self._trajectory is None or state.global_step <= self._last:
            return
        best = state.best_model_checkpoint if args.load_best_model_at_end else None
        if best is not None and not best.endswith(f"-{state.global_step}"):
            warnings.warn(
                f"EvaluationCallback: step {state.global_step}, the last one, was not evaluated, because the trainer has "
                f"loaded the best checkpoint, {Path(best).name}",
                stacklevel=2,
            )
            # Nor will it be, if the trainer evaluates that checkpoint later.
            self._last = state.global_step
            return
        self._evaluate(state, control)

    def _evaluate(self, state: TrainerState, control: TrainerControl) -> None:
        if self._trajectory is None:
            return
        began, self._last = time.perf_counter(), state.global_step
        accuracies = self._trajectory.evaluate(self._trainer.model, state.global_step)
        accuracies[_SECONDS] = time.perf_counter() - began
        # Logging cancels the trainer's own log of this step, with the loss, unless it is asked for again.
        should_log = control.should_log
        self._trainer.log({f"eval_syntagm_{name}": value for name, value in accuracies.items()})
        control.should_log = should_log
