"""The training loop, one for all families: step, evaluate, keep the best, go on after a kill as if nothing had been.

Several processes (`torchrun`) train one model: each takes its share of every batch, and gradients are averaged, each
weighted by its tokens. The first process writes.
"""

import contextlib
import json
import math
import os
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from syntagm.errors import InputError, UsageError
from syntagm.io import lock
from syntagm.progress import Progress
from syntagm.training import optimiser, record, state
from syntagm.training.learner import Learner
from syntagm.training.settings import Settings, rate_at
from syntagm.training.state import Place

SAVE_EVERY = 300.0
# Beyond it a perplexity is no number.
HIGHEST_BITS = 1000.0


def fit(learner: Learner, settings: Settings, folder: Path, progress: Progress | None = None) -> list[dict[str, float]]:
    """Train, evaluate, and write the model with the best evaluation into `folder`.

    The state stands in `folder/state`; the same call goes on from it. When the model is written the state is deleted.

    Arguments:
        learner: the model and its text.
        settings: how to train; the same as before, if a training goes on.
        folder: the model folder.
        progress: is told of each step.

    Returns:
        A row for each evaluation: step, epoch, tokens, training loss (nats a token), bits a word and perplexity of the
        held-out text, seconds.

    Raises:
        RunError: the folder is in use, of another training, holds a model that was not trained here or the record of one
            that is gone, or can't be written.
        InputError: the loss is no number any more, or there is not one batch.
        UsageError: a warm-up of more steps than the whole training has.
    """
    rank, world = _processes(learner.device)
    identity = _identity(learner, settings, world)
    made = record.finished(folder)
    record.refuse_foreign(folder)
    _wait_for_all(world)
    if made is not None:
        record.refuse_another(folder, made, identity)
        history: list[dict[str, float]] = made["history"]
        if rank == 0:
            record.remove_state(folder)
        return history
    with lock.held(folder / record.STATE) if rank == 0 else contextlib.nullcontext():
        training = _Training(learner, settings, folder, identity, progress or Progress(), rank, world)
        training.run()
    return training.place.history


class _Training:
    def __init__(
        self, learner: Learner, settings: Settings, folder: Path, identity: dict[str, Any], progress: Progress,
        rank: int, world: int,
    ) -> None:  # fmt: skip
        self.learner, self.settings, self.folder, self.progress = learner, settings, folder, progress
        self.rank, self.world = rank, world
        self.optimiser = optimiser.build(learner.module, settings)
        self.place = Place(identity=identity)
        self.carried: dict[str, Tensor] = {}
        self.saved = time.monotonic()

    def run(self) -> None:
        """All epochs, from where the state stands."""
        self._resume()
        # Or the first process might have ended, and its state be gone, before another has read it.
        _wait_for_all(self.world)
        began, before = time.monotonic(), self.place.seconds
        while self.place.epoch < self.settings.epochs and not self._exhausted():
            batches = self.learner.batches(self.place.epoch, self.rank, self.world)
            self._refuse_too_short(len(batches))
            if self.place.index == 0:
                self.carried = self.learner.carried()
                # Anew in each epoch, so that several processes can go on from the end of one.
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

    def _refuse_too_short(self, batches: int) -> None:
        """Refuse a text of not one batch, and a training that would end while its rate still rises."""
        if not batches:
            has, needed = self.learner.needs(self.world)
            cure = "Train on more text, or with smaller batches."
            raise InputError(
                self.learner.family, f"a training text of not one batch: {has}", f"at least {needed}", cure
            )
        warmup, steps = self.settings.warmup, batches * self.settings.epochs
        # Whether it is so is decided before the first step: later epochs may have a batch less.
        if self.place.step == 0 and self.settings.schedule != "plateau" and warmup > steps:
            found = f"{warmup:,} steps, and the whole training has {steps:,} ({batches:,} batches, {self.settings.epochs} epochs)"
            raise UsageError("warmup", found, f"at most {steps:,}", "Give fewer (--warmup), or train for more epochs.")

    def _after_step(self, ended: bool) -> None:
        """Evaluate if it is time, and save if enough of it has passed."""
        every = self.settings.every
        last = ended and self.place.epoch + 1 == self.settings.epochs
        evaluate = last or (self.place.step % every == 0 if every else ended)
        if evaluate:
            self._evaluate()
        # Several processes carry different things and draw different numbers: they go on from the end of an epoch only.
        if self.world == 1 and not ended and (evaluate or time.monotonic() - self.saved > SAVE_EVERY):
            self._save()

    def _step(self, batch: Any, steps: int) -> float:
        rate = rate_at(self.settings, self.place.step, steps, self.place.reductions)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        with torch.autocast(self.learner.device.type, torch.bfloat16, enabled=self.settings.dtype == "bf16"):
            loss, tokens, self.carried = self.learner.loss(batch, self.carried)
        value = float(loss.detach())
        if not math.isfinite(value):
            cure = "Train with a lower rate, or clip the gradient."
            raise InputError(f"step {self.place.step}", f"a loss of {value}", "a number", cure)
        loss.backward()  # type: ignore[no-untyped-call]
        tokens, value = self._average(tokens, value)
        if self.settings.clip:
            optimiser.clip(self.learner.module, self.settings.clip)
        self.optimiser.step()
        self.place.step += 1
        self.place.tokens += tokens
        self.place.loss_sum += value * tokens
        self.place.loss_tokens += tokens
        return value

    def _average(self, tokens: int, loss: float) -> tuple[int, float]:
        """Average the gradients over the processes, each weighted by its tokens; the tokens of all and their mean loss."""
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
        """Score the held-out text, note it, and keep the weights if it is the best so far."""
        place = self.place
        nats, words = self.learner.held_out()
        self.learner.module.train()
        bits = self._first(nats / words / math.log(2))
        if not bits < HIGHEST_BITS:
            cure = "Train with a lower rate, or clip the gradient."
            raise InputError(f"step {place.step}", f"held-out text at {bits:.4g} bits a word", "it to be learnt", cure)
        better = place.best is None or bits < place.best
        if better:
            place.best, place.without_gain = bits, 0
            if self.rank == 0:
                place.best_file = state.save_best(
                    self.folder / record.STATE, place.step, state.weights_of(self.learner.module)
                )
        else:
            place.reductions, place.without_gain = place.reductions + 1, place.without_gain + 1
        row = {
            "step": place.step, "epoch": place.epoch + 1, "tokens": place.tokens,
            "loss": place.loss_sum / max(1, place.loss_tokens), "bits_per_word": bits, "perplexity": 2**bits,
            "seconds": round(place.seconds, 1),
        }  # fmt: skip
        place.history.append(row)
        place.loss_sum, place.loss_tokens = 0.0, 0
        if self.rank == 0:
            self.progress.evaluated(row)

    def _first(self, value: float) -> float:
        """The value of the first process: what is decided by it must be decided alike by all."""
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
        """Go on from the state, if there is one."""
        if (found := state.load(self.folder / record.STATE)) is None:
            return
        place, tensors = found
        record.refuse_another(self.folder, place.identity, self.place.identity)
        self.place = place
        self.carried = state.restore(self.learner.module, self.optimiser, tensors)

    def _finish(self) -> None:
        """Write the model with the best weights, and what there is to know of its making; then the state can go."""
        if self.rank:
            # Which file holds the best weights only the first process knows, and soon it is gone.
            return
        if self.place.best_file:
            state.load_weights(self.learner.module, state.load_best(self.folder / record.STATE, self.place))
        for left in self.folder.glob(".*.tmp"):
            # Of a process that was killed while it wrote.
            left.unlink()
        self.learner.module.eval()
        self.learner.write(self.folder)
        made = {"family": self.learner.family, **self.place.identity, "history": self.place.history}
        made |= {"seconds": self.place.seconds, "device": self.learner.device.type}
        made |= {"version": metadata.version("syntagm"), "torch": torch.__version__}
        record.end(self.folder, made)


def _identity(learner: Learner, settings: Settings, world: int) -> dict[str, Any]:
    """What must be the same for a training to go on; as it comes back from JSON."""
    shown = {name: getattr(settings, name) for name in settings.__slots__ if name != "device"}
    made: dict[str, Any] = json.loads(json.dumps({"settings": shown, "processes": world, **learner.record}))
    return made


def _wait_for_all(world: int) -> None:
    if world > 1:
        dist.barrier()


def _processes(device: torch.device) -> tuple[int, int]:
    """This process and how many there are, as `torchrun` says."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world > 1 and not dist.is_initialized():
        # By where the model is: a machine may have cards that this training leaves alone.
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return int(os.environ.get("RANK", "0")) if world > 1 else 0, world
