"""Training of a GPT-2 from scratch (Radford et al. 2019), over a byte-level BPE vocabulary or over words.

The result is an ordinary checkpoint folder that `causal:` and all other tools for Hugging Face models can load.

The text is one stream of sentences, each preceded by `<|endoftext|>`, which is both bos and eos. A row of a batch
begins with a sentence and contains as many sentences as fit. Each sentence is conditioned on those before it in the
row, as in Hu et al. 2020. There may also be cloze lines, of which only the last word is a target. Each is a separate row
after the symbol, as in scoring. Steps on stream rows and on cloze lines come in random order.

The held-out perplexity is computed over single sentences, each after `<|endoftext|>` and including its end, per
whitespace-separated word.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor

from syntagm.core import InputError, ModelError, Progress
from syntagm.models import described, is_foreign, refuse_damaged, refuse_incomplete, refuse_unsafe, unused_weights
from syntagm.training import hugging_face
from syntagm.training.corpora import corpus as corpora
from syntagm.training.gpt2 import text
from syntagm.training.gpt2.family import Gpt2Settings
from syntagm.training.gpt2.text import NOTHING, SYMBOL, Batch, Lines, Mixed, Rows, cut
from syntagm.training.loop import Learner, fit
from syntagm.training.record import finished


def load_checkpoint(start: str, config: Any) -> Any:
    """Load the model of a checkpoint with the dropout of `config`; refuse a model of a different size."""
    dropout = {name: getattr(config, name) for name in ("resid_pdrop", "embd_pdrop", "attn_pdrop")}
    gpt2: Any = transformers.GPT2LMHeadModel
    if Path(start).is_dir():
        refuse_unsafe(Path(start), pickle=False, code=False, kind="causal")
    try:
        loaded, loading = gpt2.from_pretrained(
            start, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **dropout
        )
    except Exception as error:  # transformers raises exceptions of many types
        if not is_foreign(error):
            raise
        raise ModelError(
            f"--init-from {start}", described(error), "the folder or name of a GPT-2 model in safetensors format"
        ) from error
    refuse_incomplete(f"--init-from {start}", loading)
    unused_weights(f"--init-from {start}", loaded.config, loading)
    for name in ("n_layer", "n_embd", "n_head", "n_positions", "vocab_size"):
        if (actual := getattr(loaded.config, name)) != (expected := getattr(config, name)):
            raise ModelError(f"--init-from {start}", f"{name} = {actual}", f"{expected}, as in the settings")
    return loaded


def origin(start: str, model: Any) -> dict[str, Any]:
    """Describe the checkpoint that training starts from: its name, the hash of its weights, and its own training if known."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}|{tuple(tensor.shape)}|".encode())
        digest.update(tensor.detach().float().cpu().numpy().tobytes())
    training = finished(Path(start)) if Path(start).is_dir() else None
    return {"name": Path(start).name, "weights": digest.hexdigest(), "training": training}


HELD_OUT_TOKENS = 8192


def train(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: Gpt2Settings, progress: Progress | None = None
) -> list[dict[str, float]]:
    """Train a GPT-2 and write its checkpoint; making the same call again resumes interrupted training."""
    finished(folder, "gpt2")
    # Check all paths before the training text is read, which may take long.
    corpora.files([*corpus, *valid, *settings.cloze])
    existing = settings.init_from or settings.text.tokenizer
    if existing and Path(existing).is_dir():
        refuse_damaged(Path(existing))
    tokens = text.load(existing) if existing else text.load_or_train(corpus, folder, settings.text)
    torch.manual_seed(settings.loop.seed)
    return fit(Gpt2(corpus, valid, tokens, settings), settings.loop, folder, progress)


class Gpt2(Learner):
    """A GPT-2 in training."""

    family = "gpt2"

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], tokens: Any, settings: Gpt2Settings) -> None:
        self.tokenizer, self.settings, self.text = tokens, settings, settings.text
        self.symbol, size, backend = tokens.convert_tokens_to_ids(SYMBOL), settings.size, tokens.backend_tokenizer
        self.stream, self.starts = text.stream(backend, corpora.texts(corpus), self.symbol)
        lines = corpora.texts(settings.cloze) if settings.cloze else ()
        self.cloze = text.cloze(backend, lines, self.symbol, self.text.window)
        self.sentences, self.words = text.held_out(backend, corpora.texts(valid), self.symbol, size.positions)
        config = transformers.GPT2Config(
            vocab_size=len(tokens), n_positions=size.positions, n_embd=size.width, n_layer=size.layers,
            n_head=size.heads, resid_pdrop=size.dropout, embd_pdrop=size.dropout, attn_pdrop=size.dropout,
            bos_token_id=self.symbol, eos_token_id=self.symbol,
        )  # fmt: skip
        name = settings.init_from
        model: Any = load_checkpoint(name, config) if name else transformers.GPT2LMHeadModel(config)
        self.module = model.to(settings.loop.device)
        # Record the requested size of a BPE vocabulary: the same command with another size must not resume this training.
        learnt = self.text.units == "bpe" and not (settings.init_from or self.text.tokenizer)
        self.record = {
            "corpus": corpora.record(corpus), "held_out": corpora.record(valid), "size": asdict(size),
            "text": asdict(self.text) | {"vocabulary": self.text.vocabulary if learnt else len(tokens)},
            "tokenizer.json": hugging_face.tokenizer_hash(tokens),
            "training_tokens": len(self.stream), "save_dtype": settings.save_dtype, "transformers": transformers.__version__,
            "init_from": origin(name, model) if name else None,
            "cloze": corpora.record(settings.cloze) if settings.cloze else None,
        }  # fmt: skip

    def batches(self, epoch: int, rank: int, world: int) -> Sequence[Batch]:
        """Return rows in random order, with different starts in each epoch, mixed with cloze lines batched by length."""
        share = self.text.batch * world
        rows, generator = self._rows(epoch, share)
        order = rows[generator.permutation(len(rows))]
        whole = len(order) // share * share
        mine = order[:whole].reshape(-1, world, self.text.batch)[:, rank]
        stream = Rows(self.stream, mine, self.text.window)
        if not (self.cloze and whole):
            # Also if there is no batch: then the loop refuses the text instead of training on cloze lines alone.
            return stream
        sizes = [len(line.ids) for line in self.cloze]
        lines = Lines(self.cloze, hugging_face.batches(sizes, self.text.lines, rank, world, generator))
        if not len(lines):
            expected = f"at least {self.text.lines * world:,}, enough for one step on every process"
            cure = "Add cloze lines, or use fewer per step (--lines)."
            raise InputError("cloze lines", f"{len(sizes):,}", expected, cure)
        return Mixed(stream, lines, generator.permutation(len(stream) + len(lines)))

    def _rows(self, epoch: int, least: int) -> tuple[NDArray[np.int64], np.random.Generator]:
        """Return the starts of an epoch's rows, at least `least` of them if the text allows it, and the random generator."""
        generator = np.random.Generator(np.random.PCG64([self.settings.loop.seed, epoch]))
        return cut(self.starts, len(self.stream), self.text.window, generator, least), generator

    def needs(self, world: int) -> tuple[str, str]:
        """Describe the rows of the first epoch; if the text is too short, they start at its beginning."""
        rows = len(self._rows(0, self.text.batch * world)[0])
        has = f"{len(self.stream):,} tokens, cut into {rows:,} rows of {self.text.window:,}"
        return has, f"{self.text.batch * world:,} rows"

    def loss(self, batch: Batch, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Return the cross-entropy of the targets given the tokens before them in their rows."""
        inputs, targets = (tensor.to(self.device) for tensor in batch)
        module: Any = self.module
        chosen = targets != NOTHING
        # Apply the output layer at target positions only.
        logits = module.lm_head(module.transformer(input_ids=inputs, use_cache=False)[0][chosen])
        return torch.nn.functional.cross_entropy(logits, targets[chosen]), len(logits), {}

    @torch.no_grad()
    def held_out(self) -> tuple[float, int]:
        """Score the held-out sentences one by one, beginning with the longest; see `Learner.held_out`."""
        self.module.eval()
        nats = 0.0
        for group in hugging_face.groups(self.sentences, HELD_OUT_TOKENS):
            ids = torch.full((len(group), len(group[0])), self.symbol)
            targets = torch.full_like(ids, NOTHING)
            for row, sentence in enumerate(group):
                ids[row, : len(sentence)] = torch.from_numpy(sentence)
                targets[row, : len(sentence) - 1] = torch.from_numpy(sentence[1:])
            logits = self.module(input_ids=ids[:, :-1].to(self.device), use_cache=False).logits.float()
            flat = targets[:, :-1].flatten().to(self.device)
            nats += float(torch.nn.functional.cross_entropy(logits.flatten(0, 1), flat, reduction="sum"))
        return nats, self.words

    def write(self, folder: Path) -> None:
        """Write a Hugging Face checkpoint: configuration, safetensors and tokenizer."""
        hugging_face.write(self.module, self.tokenizer, folder, self.settings.save_dtype)
