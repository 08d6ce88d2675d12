"""The training loop of all families: make steps, evaluate, keep the best weights, and resume exactly after an interruption.

Several processes (`torchrun`) can train one model. Each takes its share of every batch; gradients are averaged, weighted by
the number of tokens. Only the first process writes files.
"""

import atexit
import contextlib
import json
import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from syntagm.core import InputError, Progress, UsageError, atomic, extras, lock
from syntagm.training import record, state
from syntagm.training.settings import NON_MONOTONE, Default, Settings, rate_at, warmup_steps
from syntagm.training.state import Place
from syntagm.training.statistics import warning


class AveragedSGD(torch.optim.SGD):
    """Plain SGD that, from some step on, also computes the mean of the weights after each step (Polyak & Juditsky 1992)."""

    # This is PyTorch's ASGD with t0 = 0 and lambd = 0, but the learning rate is that of the step.

    @property
    def averaging(self) -> bool:
        return bool(self.state)

    def average(self) -> None:
        """Average the weights from the next step on."""
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter] = {"average": parameter.detach().clone(), "step": torch.zeros(())}

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Make a step, and add its weights to the averages."""
        super().step(closure)
        for parameter, mean in self.state.items():
            mean["step"] += 1
            mean["average"].lerp_(parameter, 1 / float(mean["step"]))

    @contextlib.contextmanager
    def averaged(self) -> Iterator[None]:
        """Use the averages as weights while the context lasts, if there are any."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for parameter, mean in self.state.items():
            kept = parameter.detach().clone()
            parameter.data.copy_(mean["average"])
            mean["average"].copy_(kept)


def build_optimiser(module: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """Create the optimiser of a module: plain SGD, SGD with averaging, or AdamW without weight decay of biases and norms."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if settings.optimiser == "sgd":
        return torch.optim.SGD(parameters, lr=settings.lr)
    if settings.optimiser == "asgd":
        return AveragedSGD(parameters, lr=settings.lr, weight_decay=settings.decay)
    groups = [
        {"params": [parameter for parameter in parameters if parameter.dim() > 1], "weight_decay": settings.decay},
        {"params": [parameter for parameter in parameters if parameter.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.lr, betas=(0.9, 0.95), eps=1e-8)


def clip(module: nn.Module, limit: float) -> None:
    """Scale gradients, including sparse ones, down to a norm of `limit` if theirs is larger, like PyTorch."""
    values = []
    for parameter in module.parameters():
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()
            values.append(parameter.grad.values())
        elif parameter.grad is not None:
            values.append(parameter.grad)
    norm = torch.nn.utils.get_total_norm(values)
    factor = torch.clamp(limit / (norm + 1e-6), max=1.0)
    if float(factor) != 1:
        for value in values:
            value.mul_(factor)


class Learner(ABC):
    """A model in training.

    Attributes:
        family: the name of the family's folder in `training`: `lstm`, `gpt2` ...
        module: the network that is trained.
        record: the corpus, the text settings and the model's size, for `training.json`. Training resumes only if the
            record is the same as before.
        statistics: what else `training.json` says of the texts of a word-level model; see `training.statistics`.
    """

    family: str
    module: nn.Module
    record: dict[str, object]
    statistics: Mapping[str, Any] = {}

    @abstractmethod
    def batches(self, epoch: int, rank: int, world: int) -> Sequence[Any]:
        """Return the batches of an epoch for one process.

        They depend only on the seed and the epoch. Batches are indexed, so training can resume in the middle of an
        epoch.

        Arguments:
            epoch: the number of the epoch, from 0.
            rank: the number of this process, from 0.
            world: the number of processes. Each gets the same number of batches.
        """

    @abstractmethod
    def needs(self, world: int) -> tuple[str, str]:
        """Describe the size of the training text and of one batch of `world` processes, for an error message."""

    def carried(self) -> dict[str, Tensor]:
        """Return the initial value of the state that is carried from batch to batch in an epoch.

        It is empty unless overridden.
        """
        return {}

    def rate_factor(self, batch: Any) -> float:
        """Return a factor for the learning rate of the step that reads a batch; 1 unless overridden."""
        return 1.0

    @abstractmethod
    def loss(self, batch: Any, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Return the mean loss of a batch in nats per token, the number of tokens, and the detached state to carry on."""

    @abstractmethod
    def held_out(self) -> tuple[float, int]:
        """Return the held-out negative log-likelihood in nats, and the number of words including sentence ends.

        The module is put into evaluation mode.
        """

    def judged(self, bits: float) -> tuple[float, dict[str, float]]:
        """Return the number that decides which weights are best, the lowest, and further columns of the history.

        Arguments:
            bits: the held-out bits per word, just computed. They decide, unless this is overridden.
        """
        return bits, {}

    @abstractmethod
    def write(self, folder: Path) -> None:
        """Write the model into a folder, in the format that `models/` reads."""

    @property
    def device(self) -> torch.device:
        """The device of the module."""
        return next(self.module.parameters()).device


SAVE_EVERY = 300.0
# The perplexity of more bits per word is no finite number.
HIGHEST_BITS = 1000.0


def fit(learner: Learner, settings: Settings, folder: Path, progress: Progress | None = None) -> list[dict[str, float]]:
    """Train, evaluate, and write the model with the best evaluation into `folder`."""
    # The state is saved in `folder/state`; making the same call again resumes from it. The state is deleted once the
    # model is written.
    rank, world = _processes(learner.device)
    identity = _identity(learner, settings, world)
    finished = record.finished(folder)
    record.refuse_foreign(folder)
    _wait_for_all(world)
    if finished is not None:
        record.refuse_another(folder, finished, identity)
        if rank == 0:
            record.refuse_damaged(folder)
        history: list[dict[str, float]] = finished["history"]
        if rank == 0:
            record.remove_state(folder)
        return history
    with lock.held(atomic.inside(folder, record.STATE)) if rank == 0 else contextlib.nullcontext():
        training = _Training(learner, settings, folder, identity, progress or Progress(), rank, world)
        training.run()
    return training.place.history


@contextlib.contextmanager
def _without_onednn() -> Iterator[None]:
    enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(enabled)


class _Training:
    def __init__(
        self, learner: Learner, settings: Settings, folder: Path, identity: dict[str, Any], progress: Progress,
        rank: int, world: int,
    ) -> None:  # fmt: skip
        self.learner, self.settings, self.folder, self.progress = learner, settings, folder, progress
        self.rank, self.world = rank, world
        self.optimiser = build_optimiser(learner.module, settings)
        self.place = Place(identity=identity)
        self.carried: dict[str, Tensor] = {}
        self.saved = time.monotonic()

    def run(self) -> None:
        self._resume()
        # Otherwise the first process could finish and delete the state before another process has read it.
        _wait_for_all(self.world)
        began, before, first = time.monotonic(), self.place.seconds, self.place.epoch
        while self.place.epoch < self.settings.epochs and not self._exhausted():
            batches = self.learner.batches(self.place.epoch, self.rank, self.world)
            self._refuse_too_short(len(batches))
            if self.place.epoch == first and self.rank == 0:
                self._tell_size(len(batches))
            if self.place.index == 0:
                self.carried = self.learner.carried()
                # Seed each epoch by itself: several processes resume from the end of an epoch.
                torch.manual_seed((self.settings.seed * 1_000_003 + self.place.epoch) * self.world + self.rank)
            self.learner.module.train()
            while self.place.index < len(batches) and not self._exhausted():
                loss = self._step(batches[self.place.index], len(batches) * self.settings.epochs)
                self.place.index += 1
                self.place.seconds = before + time.monotonic() - began
                self._after_step(ended=self.place.index == len(batches))
                self._tell(loss, len(batches) * self.settings.epochs)
            self.place.epoch, self.place.index = self.place.epoch + 1, 0
            self._save()
        self._finish()

    def _tell_size(self, batches: int) -> None:
        """Report the number of parameters and steps, because the first step of a large model may take minutes."""
        parameters = sum(parameter.numel() for parameter in self.learner.module.parameters())
        epochs, done = self.settings.epochs, self.place.step
        if unseen := warning("the held-out text", self.learner.statistics.get("unseen_classes", {})):
            self.progress.warned(unseen)
        if self._plain_lstms():
            self.progress.warned("this processor can't compute LSTMs in bfloat16; their layers are computed in float32")
        resumed = f"; resumed after step {done:,}" if done else ""
        steps = f"{batches * epochs:,} steps at most (epochs: {epochs:,}, steps in each: {batches:,})"
        self.progress.began(f"{self.learner.family}: {parameters:,} parameters, {steps}{resumed}")

    def _plain_lstms(self) -> bool:
        """Return whether LSTMs stay in float32: oneDNN has none in bfloat16 for some processors, and refuses them there."""
        return (
            self.settings.dtype == "bf16"
            and self.learner.device.type == "cpu"
            and not torch.ops.mkldnn._is_mkldnn_bf16_supported()
            and any(isinstance(module, torch.nn.LSTM) for module in self.learner.module.modules())
        )

    def _refuse_too_short(self, batches: int) -> None:
        """Refuse a text that is too short for one batch, and a training run that would end during a given warm-up."""
        if not batches:
            has, needed = self.learner.needs(self.world)
            cure = "Train on more text, or with smaller batches."
            raise InputError(
                self.learner.family, f"a training text too short for one batch: {has}", f"at least {needed}", cure
            )
        # Check only before the first step: later epochs may have one batch less.
        if self.place.step or self.settings.schedule == "plateau":
            return
        steps = batches * self.settings.epochs
        warmup = warmup_steps(self.settings, steps)
        if warmup < self.settings.warmup and self.rank == 0:
            self.progress.warned(
                f"the whole training has {steps:,} steps, so the warm-up is reduced from the default of "
                f"{self.settings.warmup:,} steps to {warmup:,} (--warmup sets it)"
            )
        if warmup > steps:
            whole = f"the whole training has {steps:,} ({batches:,} batches, {self.settings.epochs} epochs)"
            cure = "Use a shorter warm-up (--warmup), or train for more epochs."
            raise UsageError("warmup", f"{warmup:,} steps, and {whole}", f"at most {steps:,}", cure)

    def _after_step(self, ended: bool) -> None:
        """Evaluate and save if either is due."""
        every = self.settings.every
        last = ended and self.place.epoch + 1 == self.settings.epochs
        evaluate = last or (self.place.step % every == 0 if every else ended)
        if evaluate:
            self._evaluate()
        # Several processes carry different states and random numbers, so they save and resume at the end of an epoch only.
        if self.world == 1 and not ended and (evaluate or time.monotonic() - self.saved > SAVE_EVERY):
            self._save()

    def _step(self, batch: Any, steps: int) -> float:
        rate = rate_at(self.settings, self.place.step, steps, self.place.reductions) * self.learner.rate_factor(batch)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        rounded = torch.autocast(self.learner.device.type, torch.bfloat16, enabled=self.settings.dtype == "bf16")
        with rounded, _without_onednn() if self._plain_lstms() else contextlib.nullcontext():
            loss, tokens, self.carried = self.learner.loss(batch, self.carried)
        value = float(loss.detach())
        if not math.isfinite(value):
            cure = "Use a lower learning rate, or clip the gradient."
            raise InputError(f"step {self.place.step}", f"a loss of {value}", "a finite number", cure)
        loss.backward()  # type: ignore[no-untyped-call]
        tokens, value = self._average(tokens, value)
        if self.settings.clip:
            clip(self.learner.module, self.settings.clip)
        self.optimiser.step()
        self.place.step += 1
        self.place.tokens += tokens
        self.place.loss_sum += value * tokens
        self.place.loss_tokens += tokens
        return value

    def _average(self, tokens: int, loss: float) -> tuple[int, float]:
        """Average the gradients over the processes, weighted by tokens; return the total number of tokens and their mean loss."""
        if self.world == 1:
            return tokens, loss
        sums = torch.tensor([tokens, tokens * loss], dtype=torch.float64, device=self.learner.device)
        dist.all_reduce(sums)
        total, nats = sums.tolist()
        for parameter in self.learner.module.parameters():
            if parameter.grad is not None:
                if parameter.grad.is_sparse:
                    parameter.grad = parameter.grad.to_dense()
                parameter.grad *= tokens / total
                dist.all_reduce(parameter.grad)
        return int(total), nats / total

    def _evaluate(self) -> None:
        """Evaluate the weights, or their averages if the optimiser computes them."""
        if not isinstance(self.optimiser, AveragedSGD):
            self._evaluate_weights()
            return
        with self.optimiser.averaged():
            self._evaluate_weights()
        values = self.place.values
        if not self.optimiser.averaging and values[-1] > min(values[: -NON_MONOTONE - 1], default=math.inf):
            self.optimiser.average()
            self.place.averaged_after, self.place.without_gain = self.place.step, 0

    def _evaluate_weights(self) -> None:
        """Score the held-out text, add it to the history, and save the weights if they are the best so far."""
        place = self.place
        nats, words = self.learner.held_out()
        self.learner.module.train()
        bits = self._first(nats / words / math.log(2))
        value, more = self.learner.judged(bits)
        value = self._first(value)
        if not bits < HIGHEST_BITS:
            cure = "Use a lower learning rate, or clip the gradient."
            found = f"{bits:.4g} bits per held-out word"
            raise InputError(f"step {place.step}", found, f"less than {HIGHEST_BITS:,.0f}", cure)
        better = place.best is None or value < place.best
        place.values.append(value)
        if better:
            place.best, place.without_gain = value, 0
            if self.rank == 0:
                place.best_file, place.best_checksum = state.save_best(
                    self.folder / record.STATE, place.step, state.weights_of(self.learner.module)
                )
        else:
            place.reductions, place.without_gain = place.reductions + 1, place.without_gain + 1
        row = {
            "step": place.step, "epoch": place.epoch + 1, "tokens": place.tokens,
            "loss": place.loss_sum / max(1, place.loss_tokens), "bits_per_word": bits, "perplexity": 2**bits,
            **more, "seconds": round(place.seconds, 1),
        }  # fmt: skip
        place.history.append(row)
        place.loss_sum, place.loss_tokens = 0.0, 0
        if self.rank == 0:
            self.progress.evaluated(row)

    def _first(self, value: float) -> float:
        """Return the value from the first process, so that all processes make the same decision."""
        if self.world == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64, device=self.learner.device)
        dist.broadcast(shared, 0)
        return float(shared)

    def _exhausted(self) -> bool:
        return 0 < self.settings.patience <= self.place.without_gain

    def _tell(self, loss: float, steps: int) -> None:
        if self.rank == 0:
            place = self.place
            rate = self.optimiser.param_groups[0]["lr"]
            self.progress.step(place.step, steps, loss, rate, place.tokens, place.seconds)

    def _save(self) -> None:
        self.saved = time.monotonic()
        if self.rank == 0:
            tensors = state.tensors_of(self.learner.module, self.optimiser, self.carried)
            state.save(self.folder / record.STATE, self.place, tensors)

    def _resume(self) -> None:
        if (saved := state.load(self.folder / record.STATE)) is None:
            return
        place, tensors = saved
        record.refuse_another(self.folder, place.identity, self.place.identity)
        self.place = place
        self.carried = state.restore(self.learner.module, self.optimiser, tensors)

    def _finish(self) -> None:
        """Write the model with the best weights and the record of its training; then delete the state."""
        if self.rank:
            # Only the first process knows which file holds the best weights, and it deletes that file soon.
            return
        if self.place.best_file:
            state.load_weights(self.learner.module, state.load_best(self.folder / record.STATE, self.place))
        self.learner.module.eval()
        self.learner.write(self.folder)
        summary = {"family": self.learner.family, **self.place.identity, **self.learner.statistics}
        summary["history"] = self.place.history
        summary |= {"seconds": self.place.seconds, "device": self.learner.device.type}
        if self.settings.optimiser == "asgd":
            summary["averaged_after"] = self.place.averaged_after
        summary |= {"version": extras.version("syntagm"), "torch": torch.__version__}
        record.end(self.folder, summary)


def _identity(learner: Learner, settings: Settings, world: int) -> dict[str, Any]:
    """Return the values that must be the same for training to resume, with the types that JSON gives back."""
    values = {name: getattr(settings, name) for name in settings.__slots__ if name != "device"}
    # A default and the same number given differ in short trainings.
    values["warmup"] = f"{settings.warmup} or less" if isinstance(settings.warmup, Default) else settings.warmup
    identity: dict[str, Any] = json.loads(json.dumps({"settings": values, "processes": world, **learner.record}))
    return identity


def _wait_for_all(world: int) -> None:
    if world > 1:
        dist.barrier()


def _processes(device: torch.device) -> tuple[int, int]:
    """Return the rank of this process and the number of processes, which `torchrun` sets."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world > 1 and not dist.is_initialized():
        # The model's device decides: a machine may have GPUs that this training does not use.
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        # Threads of the group that still run when the interpreter ends would abort the process.
        atexit.register(dist.destroy_process_group)
    return int(os.environ.get("RANK", "0")) if world > 1 else 0, world
