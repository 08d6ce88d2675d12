"""From token numbers to surprisals: the forward passes of a causal transformer.

Three ways to run the body, and two to reach the vocabulary, are decided by a probe at load, never by a list of names:

* shared prefixes computed once, in packed trees with a tree mask, where that gives the numbers of separate sentences; else
  sentences sorted by length and padded (recurrent layers, ALiBi and the like cannot take the mask, some without an error);
* the head applied to the rows that are needed, a few at a time, where that gives the model's own logits; else the model's
  own forward pass with the other rows cut out before its head.

No tensor of [batch, length, vocabulary] is ever made.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.errors import ModelError
from syntagm.models._prefix_tree import Budget, Pack, batches, plan
from syntagm.models._tokens import Borders

# Logits held at a time, in numbers: 64 MiB of float32.
_LOGITS = 1 << 24
_PACK = 192
_TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is known of one sequence, in bits.

    Arguments:
        bits: shape (length - 1,): surprisal of each token after the first.
        begin: shape (inputs,): surprisal of "a word begins here" after each input token; empty without borders.
        first: surprisal of "a token that can begin a text" after the first input token.
    """

    bits: NDArray[np.float64]
    begin: NDArray[np.float64]
    first: float


class Forward:
    """A causal model's forward passes, with what the probe found out.

    Attributes:
        tree: are shared prefixes computed once?
        direct_head: is the head applied to chosen rows outside the model's own forward pass?
        noise: the largest difference in bits of a sentence between batched and single computation, measured.
        vocabulary: rows of the head, the softmax runs over all of them; and `symbols`: token numbers that may be asked.
        evaluated: how many tokens went through the body so far, padding included; and how many of them were real.
    """

    def __init__(self, model: Any, budget: int, share: bool, borders: Borders | None) -> None:
        self.model, self.budget = model, Budget(budget)
        self.device, self.dtype = model.device, model.dtype
        self.vocabulary = int(model.get_output_embeddings().weight.shape[0])
        self.symbols = min(self.vocabulary, int(model.get_input_embeddings().weight.shape[0]))
        self.limit = _limit(model.config)
        self.window = _window(model.config)
        self.evaluated = self.padded = 0
        self._sets: torch.Tensor | None = None
        self.direct_head, self.tree, self.noise = True, False, 0.0
        self._probe(share)
        if borders is not None:
            sets = np.stack([borders.begins, borders.first], axis=1)
            self._sets = torch.tensor(sets, device=self.device, dtype=self._wide)

    @property
    def _wide(self) -> torch.dtype:
        """The type of the log-sum-exp: float32 at least."""
        return torch.float64 if self.dtype == torch.float64 else torch.float32

    @torch.inference_mode()
    def surprisals(self, sequences: Sequence[Sequence[int]], done: Callable[[Sequence[int]], None]) -> list[Rows]:
        """The surprisals of each sequence, whose first token is given.

        Arguments:
            sequences: token numbers, each at least one, none longer than `limit` + 1.
            done: called with the indices of the sequences that a batch finished.
        """
        found: list[Rows | None] = [None] * len(sequences)
        short = [index for index, sequence in enumerate(sequences) if self.tree and len(sequence) <= self.window]
        kept = set(short)
        long = [index for index in range(len(sequences)) if index not in kept]
        self._run(sequences, short, True, found, done)
        self._run(sequences, long, False, found, done)
        return [rows for rows in found if rows is not None]

    def _run(
        self,
        sequences: Sequence[Sequence[int]],
        chosen: Sequence[int],
        tree: bool,
        found: list[Rows | None],
        done: Callable[[Sequence[int]], None],
    ) -> None:
        remaining = list(chosen)
        while remaining:
            for batch in batches(self._packs(sequences, remaining, tree), self.budget):
                try:
                    answers = self._batch(sequences, batch, tree)
                except (RuntimeError, MemoryError) as error:
                    self._halve(batch, error)
                    break
                for pack, rows in zip(batch, answers, strict=True):
                    for index, row in zip(pack.sequences, rows, strict=True):
                        found[index] = row
                done([index for pack in batch for index in pack.sequences])
            remaining = [index for index in remaining if found[index] is None]

    def _halve(self, batch: Sequence[Pack], error: Exception) -> None:
        """After running out of memory: half the batch, from now on. Any other error is raised again."""
        if not _is_out_of_memory(error):
            raise error
        size = sum(len(pack.tokens) for pack in batch)
        if size <= 1 or sum(len(pack.sequences) for pack in batch) == 1:
            raise ModelError(
                str(self.model.config.model_type), f"out of memory for a single sentence of {size} tokens",
                "memory for one sentence", "Use a smaller model or type, or another device.",
            ) from error  # fmt: skip
        self.budget.tokens = max(1, min(self.budget.tokens, size) // 2)
        _free(self.device)

    def _packs(self, sequences: Sequence[Sequence[int]], chosen: Sequence[int], tree: bool) -> Iterator[Pack]:
        last = self._sets is not None
        if tree:
            yield from plan(sequences, min(_PACK, self.budget.tokens), last, chosen)
            return
        for index in sorted(chosen, key=lambda index: (len(sequences[index]), tuple(sequences[index]))):
            yield from plan(sequences, 1, last, [index])

    def _batch(self, sequences: Sequence[Sequence[int]], batch: Sequence[Pack], tree: bool) -> list[list[Rows]]:
        """The rows of each sequence of each pack."""
        width = max(1, max(len(pack.tokens) for pack in batch))
        tokens = np.zeros((len(batch), width), np.int64)
        for row, pack in enumerate(batch):
            tokens[row, : len(pack.tokens)] = pack.tokens
        inputs: dict[str, Any] = {"input_ids": torch.from_numpy(tokens).to(self.device), "use_cache": False}
        inputs |= self._tree_inputs(batch, width) if tree else self._padded_inputs(batch, width)
        self.evaluated += sum(len(pack.tokens) for pack in batch)
        self.padded += tokens.size
        # Each (row of the head, target) asked about, in the order of packs, sequences and positions.
        nodes, targets, lengths = [], [], []
        for row, pack in enumerate(batch):
            for index, path in zip(pack.sequences, pack.paths, strict=True):
                sequence = sequences[index]
                nodes.append(row * width + path[: len(sequence) - 1])
                targets.append(np.array(sequence[1:], np.int64))
                lengths.append(len(sequence) - 1)
        asked = np.concatenate(nodes)
        if self._sets is not None:
            needed = np.concatenate([row * width + np.arange(len(pack.tokens)) for row, pack in enumerate(batch)])
        else:
            needed = np.unique(asked)
        bits, sets = self._head(inputs, needed, asked, np.concatenate(targets))
        return self._split(batch, bits, sets, lengths)

    def _split(
        self, batch: Sequence[Pack], bits: NDArray[np.float64], sets: NDArray[np.float64], lengths: Sequence[int]
    ) -> list[list[Rows]]:
        parts = iter(np.split(bits, np.cumsum(lengths)[:-1]))
        answers, before = [], 0
        for pack in batch:
            rows = []
            for path in pack.paths:
                begin = sets[before + path, 0] if len(sets) else np.empty(0)
                first = float(sets[before + path[0], 1]) if len(sets) and len(path) else math.nan
                rows.append(Rows(next(parts), begin, first))
            before += len(pack.tokens)
            answers.append(rows)
        return answers

    def _tree_inputs(self, batch: Sequence[Pack], width: int) -> dict[str, torch.Tensor]:
        depths = np.zeros((len(batch), width), np.int64)
        allowed = np.zeros((len(batch), 1, width, width), bool)
        # A padding position attends to itself, so that no row of the softmax is empty.
        allowed[:, 0, np.arange(width), np.arange(width)] = True
        for row, pack in enumerate(batch):
            depths[row, : len(pack.tokens)] = pack.depths
            allowed[row, 0, : len(pack.tokens), : len(pack.tokens)] = pack.mask()
        mask = torch.zeros(allowed.shape, dtype=self.dtype, device=self.device)
        # Additive: a boolean mask is right under one attention and silently wrong under another.
        mask.masked_fill_(torch.from_numpy(~allowed).to(self.device), torch.finfo(self.dtype).min)
        return {"attention_mask": mask, "position_ids": torch.from_numpy(depths).to(self.device)}

    def _padded_inputs(self, batch: Sequence[Pack], width: int) -> dict[str, torch.Tensor]:
        real = np.zeros((len(batch), width), np.int64)
        for row, pack in enumerate(batch):
            real[row, : len(pack.tokens)] = 1
        return {"attention_mask": torch.from_numpy(real).to(self.device)} if not real.all() else {}

    def _head(
        self, inputs: dict[str, Any], needed: NDArray[np.int64], asked: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bits of each (asked, target), and of the border sets after each needed row, shape (needed, 2)."""
        order = np.argsort(asked, kind="stable")
        places = np.searchsorted(needed, asked[order])
        bits = np.empty(len(asked))
        sets = np.empty((len(needed) if self._sets is not None else 0, 2))
        step = max(1, _LOGITS // self.vocabulary)
        for first, logits in self._logits(inputs, needed, step):
            low, high = np.searchsorted(places, [first, first + len(logits)])
            rows = torch.from_numpy(places[low:high] - first).to(self.device)
            columns = torch.from_numpy(targets[order[low:high]]).to(self.device)
            wide = logits.to(self._wide)
            wide = wide - wide.amax(-1, keepdim=True)
            picked = wide[rows, columns]
            masses = wide.exp_()
            total = masses.sum(-1)
            bits[order[low:high]] = ((total.log()[rows] - picked).double() / math.log(2)).cpu().numpy()
            if self._sets is not None:
                shares = (masses @ self._sets).double() / total.double()[:, None]
                sets[first : first + len(logits)] = -shares.log2().cpu().numpy()
        return bits, sets

    def _logits(
        self, inputs: dict[str, Any], needed: NDArray[np.int64], step: int
    ) -> Iterator[tuple[int, torch.Tensor]]:
        """The logits of the needed rows, at most `step` at a time, each with the index of its first row."""
        rows = torch.from_numpy(needed).to(self.device)
        head = self.model.get_output_embeddings()
        if self.direct_head:
            hidden = self.model.base_model(**inputs)[0]
            hidden = hidden.reshape(-1, hidden.shape[-1])
            for first in range(0, len(needed), step):
                yield first, head(hidden[rows[first : first + step]])
            return
        for first in range(0, len(needed), step):
            chosen = rows[first : first + step]

            def cut(_: Any, arguments: tuple[torch.Tensor, ...], chosen: torch.Tensor = chosen) -> tuple[torch.Tensor]:
                hidden = arguments[0]
                return (hidden.reshape(-1, hidden.shape[-1])[chosen][None],)

            hook = head.register_forward_pre_hook(cut)
            try:
                yield first, self.model(**inputs).logits[0]
            finally:
                hook.remove()

    # The probe.

    def _probe(self, share: bool) -> None:
        """Find out what this model can take, by asking the same in several ways."""
        sequences = _probe_sequences(self.symbols, min(self.limit, 48))
        with torch.inference_mode():
            plain = [self._plain(sequence) for sequence in sequences]
            self._refuse_looking_ahead(sequences, plain)
            self.direct_head = self._reaches_head(sequences[0])
            used = self._attempt(sequences, False)
            if self.direct_head and not self._same(used, plain):
                self.direct_head = False
                used = self._attempt(sequences, False)
            if not self._same(used, plain):
                raise ModelError(
                    str(self.model.config.model_type), "batched scoring differs from scoring one sentence at a time",
                    "the same numbers", "This architecture can't be scored exactly here.",
                )  # fmt: skip
            packed = self._attempt(sequences, True) if share else None
            if self._same(packed, plain) and self._keeps_apart(sequences):
                self.tree, used = True, packed
        worst = max(abs(float((one - other).sum())) for one, other in zip(used or plain, plain, strict=True))
        self.noise = _round_up(worst)
        self.evaluated = self.padded = 0

    def _refuse_looking_ahead(self, sequences: Sequence[Sequence[int]], plain: list[NDArray[np.float64]]) -> None:
        """A masked model loaded as a causal one sees the words it should foretell; its beginnings then score otherwise."""
        halves = [(len(bits) + 1) // 2 for bits in plain]
        alone = [self._plain(sequence[: half + 1]) for sequence, half in zip(sequences, halves, strict=True)]
        if not self._same(alone, [bits[:half] for bits, half in zip(plain, halves, strict=True)]):
            raise ModelError(
                str(self.model.config.model_type), "the surprisal of a token changes with what follows it",
                "a left-to-right model", "Is it a masked model? Those can't be scored as causal ones.",
            )  # fmt: skip

    def _reaches_head(self, sequence: Sequence[int]) -> bool:
        """Is the head applied to the body's output the whole way to the logits, with no scaling or capping after it?

        The same operations on the same shapes give the same bits, so in any type the least difference says no.
        """
        inputs = {"input_ids": torch.tensor([sequence[:-1]], device=self.device), "use_cache": False}
        try:
            direct = self.model.get_output_embeddings()(self.model.base_model(**inputs)[0])
        except Exception:  # whatever fails, this way is not open to this architecture
            return False
        own = self.model(**inputs).logits
        return direct.shape == own.shape and torch.equal(direct.to(own.dtype).nan_to_num(), own.nan_to_num())

    def _keeps_apart(self, sequences: Sequence[Sequence[int]]) -> bool:
        """Do other branches of a tree leave the last one alone? Recurrent and convolutional layers ignore the mask.

        The same operations on the same shapes, so in any type nothing may change; comparing with separate sentences is
        too blunt for that in types of low precision.
        """
        [pack] = plan(sequences, sum(map(len, sequences)))
        other = np.ones(len(pack.tokens), bool)
        other[pack.paths[-1]] = False
        changed = replace(pack, tokens=np.where(other, (pack.tokens + 1) % self.symbols, pack.tokens))
        one, two = (self._batch(sequences, [each], True)[0][-1].bits for each in (pack, changed))
        return bool(np.allclose(one, two, rtol=0, atol=1e-6, equal_nan=True))

    def _plain(self, sequence: Sequence[int]) -> NDArray[np.float64]:
        """Bits of a sequence by the model's own forward pass, alone, without mask."""
        logits = self.model(input_ids=torch.tensor([sequence[:-1]], device=self.device), use_cache=False).logits[0]
        spread = torch.log_softmax(logits.to(self._wide), -1)
        return np.array([-float(row[token]) / math.log(2) for row, token in zip(spread, sequence[1:], strict=True)])

    def _attempt(self, sequences: Sequence[Sequence[int]], tree: bool) -> list[NDArray[np.float64]] | None:
        try:
            found: list[Rows | None] = [None] * len(sequences)
            self._run(sequences, range(len(sequences)), tree, found, lambda _: None)
        except Exception:  # any failure means that this way is not open to this architecture
            return None
        return [rows.bits for rows in found if rows is not None]

    def _same(self, found: list[NDArray[np.float64]] | None, plain: list[NDArray[np.float64]]) -> bool:
        """Equal up to rounding; in types of low precision, up to a tenth of a bit a token on average."""
        if found is None:
            return False
        one, other = np.concatenate(found), np.concatenate(plain)
        if (np.isnan(one) != np.isnan(other)).any():
            return False
        difference = np.abs(one - other)[~np.isnan(one)]
        if not len(difference):
            return True
        if self.dtype in (torch.float32, torch.float64):
            return bool(difference.max() < _TOLERANCE * max(1.0, np.nanmax(other) / 16))
        return bool(difference.mean() < 0.1)


def _probe_sequences(vocabulary: int, length: int) -> list[list[int]]:
    """Random sequences of several lengths that branch from shared prefixes."""
    draw = np.random.default_rng(20)
    stem = draw.integers(0, vocabulary, length).tolist()
    sequences = []
    for shared, total in ((length // 4, length), (length // 4, length // 2), (length // 2, length), (1, length // 3)):
        # The last token is a target only, so one more than the positions fits.
        total = min(max(total, shared + 2), length + 1)
        shared = min(shared, total - 1)
        sequences.append([*stem[:shared], *draw.integers(0, vocabulary, total - shared).tolist()])
    return sequences


def _limit(config: Any) -> int:
    """How many input tokens the model's positions allow."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"):
        found = getattr(config.get_text_config(), name, None)
        if isinstance(found, int) and found > 0:
            return found
    return 1 << 30


def _window(config: Any) -> int:
    """How long a sequence may be so that no layer with a sliding window cuts anything off."""
    text = config.get_text_config()
    found = [
        getattr(text, name, None)
        for name in ("sliding_window", "window_size", "attention_window", "sliding_window_size", "attention_chunk_size")
    ]
    return min([size for size in found if isinstance(size, int) and size > 0], default=1 << 30)


def _round_up(value: float) -> float:
    """To one significant digit, upwards: what is measured anew on each load must not read as another number."""
    if not value > 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / unit) * unit:.0e}")


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return any(sign in str(error) for sign in ("can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED"))


def _free(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.empty_cache()
