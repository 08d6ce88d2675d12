"""GPT-2 from scratch (Radford et al. 2019), over a byte-level BPE vocabulary or over words.

What comes out is an ordinary checkpoint folder that `causal:` and every other tool for Hugging Face models loads.

The text is one stream of sentences, each preceded by `<|endoftext|>`, which is start and end symbol at once. A row of a
batch begins with a sentence and holds as many as fit; sentences see those before them in the row, as in Hu et al. 2020.
Beside it there can be cloze lines, chosen for what their last word teaches, and it alone is learnt: each is a row of its own,
after the symbol, as `score` sees it. Steps on either kind come in random order.
Held-out perplexity is of single sentences, each after `<|endoftext|>` alone, its end included, per word between blanks.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from safetensors import SafetensorError
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor

from syntagm.errors import InputError, ModelError, UsageError
from syntagm.training.corpora import corpus
from syntagm.training.learner import Learner
from syntagm.training.loop import Progress, fit
from syntagm.training.record import finished, refuse_small
from syntagm.training.settings import Settings
from syntagm.training.transformers import checkpoint
from syntagm.training.transformers import lengths as _lengths
from syntagm.training.transformers.rows import NOTHING, Batch, Line, Lines, Mixed, Rows, cut

SYMBOL = "<|endoftext|>"
UNKNOWN = "<unk>"
HELD_OUT_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class Size:
    """How big a GPT-2 is.

    Arguments:
        layers: how many.
        width: of each, a multiple of `heads`.
        heads: of attention.
        positions: the longest row that the model can take.
        dropout: everywhere (0.1 in the paper).
    """

    layers: int = 12
    width: int = 768
    heads: int = 12
    positions: int = 1024
    dropout: float = 0.1

    def __post_init__(self) -> None:
        refuse_small(self, "layers", "width", "heads", "positions")
        if self.width % self.heads:
            raise UsageError("width", str(self.width), f"a multiple of heads ({self.heads})")
        if not 0 <= self.dropout < 1:
            raise UsageError("dropout", str(self.dropout), "from 0 to less than 1")


@dataclass(frozen=True, slots=True)
class Text:
    """How text becomes tokens and rows.

    Arguments:
        units: `bpe`, or `words`: what stands between blanks and punctuation marks, those seen less than twice unknown.
        vocabulary: how many entries (bpe).
        tokenizer: the folder or name of a tokenizer to take as it is, instead of training one.
        window: tokens a row.
        batch: rows a step.
        lines: cloze lines a step.
    """

    units: Literal["bpe", "words"] = "bpe"
    vocabulary: int = 50_257
    tokenizer: str = ""
    window: int = 128
    batch: int = 32
    lines: int = 256

    def __post_init__(self) -> None:
        refuse_small(self, "window", "batch", "lines")


def train(
    training: Sequence[str], held_out: Sequence[str], folder: Path, size: Size, text: Text, settings: Settings,
    store: Literal["f32", "f16"] = "f32", start: str = "", cloze: Sequence[str] = (), progress: Progress | None = None,
) -> list[dict[str, float]]:  # fmt: skip
    """Train a GPT-2 and write its checkpoint; the same call goes on with it.

    Arguments:
        training: the corpora, as `corpus.texts` takes them.
        held_out: the held-out corpora, for the schedule and for early stopping.
        folder: where the checkpoint goes.
        size: of the model.
        text: how text becomes tokens and rows.
        settings: of the loop.
        store: the type in which weights are stored.
        start: the folder or name of a checkpoint of this size to begin with, instead of with random weights; its tokenizer is
            taken, too.
        cloze: corpora of lines of whose words only the last is learnt.
        progress: is told of each step.

    Returns:
        The history; see `loop.fit`.
    """
    if text.window > size.positions:
        raise UsageError("window", str(text.window), f"at most the model's positions ({size.positions})")
    finished(folder, "gpt2")
    # Before any of it is read: the training text may take long.
    corpus.files([*training, *held_out, *cloze])
    if start and text.tokenizer:
        raise UsageError("tokenizer", text.tokenizer, "none with start", "A checkpoint goes with its own tokenizer.")
    if text.tokenizer and text.units != "bpe":
        raise UsageError("units", text.units, "none with tokenizer", "A given tokenizer says what its tokens are.")
    tokenizer = _given(start or text.tokenizer) if start or text.tokenizer else _tokenizer(training, folder, text)
    torch.manual_seed(settings.seed)
    learner = Gpt2(training, held_out, tokenizer, size, text, settings, store, start, cloze)
    return fit(learner, settings, folder, progress)


class Gpt2(Learner):
    """A GPT-2 in training."""

    family = "gpt2"

    def __init__(
        self, training: Sequence[str], held_out: Sequence[str], tokenizer: Any, size: Size, text: Text,
        settings: Settings, store: str, start: str, cloze: Sequence[str],
    ) -> None:  # fmt: skip
        self.tokenizer, self.text, self.seed, self.store = tokenizer, text, settings.seed, store
        self.symbol = tokenizer.convert_tokens_to_ids(SYMBOL)
        self.stream, self.starts = _stream(tokenizer.backend_tokenizer, corpus.texts(training), self.symbol)
        lines = corpus.texts(cloze) if cloze else ()
        self.cloze = _cloze(tokenizer.backend_tokenizer, lines, self.symbol, text.window)
        self.sentences, self.words = _held_out(
            tokenizer.backend_tokenizer, corpus.texts(held_out), self.symbol, size.positions
        )
        config = transformers.GPT2Config(
            vocab_size=len(tokenizer), n_positions=size.positions, n_embd=size.width, n_layer=size.layers,
            n_head=size.heads, resid_pdrop=size.dropout, embd_pdrop=size.dropout, attn_pdrop=size.dropout,
            bos_token_id=self.symbol, eos_token_id=self.symbol,
        )  # fmt: skip
        made: Any = _started(start, config) if start else transformers.GPT2LMHeadModel(config)
        self.module = made.to(settings.device)
        # Of a BPE vocabulary what was asked for, or another number in the same folder would go on with the old one.
        entries = len(tokenizer) if start or text.tokenizer or text.units == "words" else text.vocabulary
        self.record = {
            "corpus": corpus.record(training), "held_out": corpus.record(held_out),
            "size": {name: getattr(size, name) for name in size.__slots__},
            "text": {name: getattr(text, name) for name in text.__slots__} | {"vocabulary": entries},
            "training_tokens": len(self.stream), "store": store, "transformers": transformers.__version__,
            "start": _origin(start, made) if start else None,
            "cloze": corpus.record(cloze) if cloze else None,
        }  # fmt: skip

    def batches(self, epoch: int, rank: int, world: int) -> Sequence[Batch]:
        """Rows in random order, cut anew in each epoch; among them cloze lines, those of like length together."""
        share = self.text.batch * world
        rows, generator = self._rows(epoch, share)
        order = rows[generator.permutation(len(rows))]
        whole = len(order) // share * share
        mine = order[:whole].reshape(-1, world, self.text.batch)[:, rank]
        stream = Rows(self.stream, mine, self.text.window)
        if not (self.cloze and whole):
            # With lines alone the text would be left out unseen; without a batch the loop refuses it.
            return stream
        lengths = [len(line.ids) for line in self.cloze]
        lines = Lines(self.cloze, _lengths.batches(lengths, self.text.lines, rank, world, generator))
        if not len(lines):
            expected = f"at least {self.text.lines * world:,}, a step of all processes"
            cure = "Give more of them, or fewer a step (--lines)."
            raise InputError("cloze lines", f"{len(lengths):,}", expected, cure)
        return Mixed(stream, lines, generator.permutation(len(stream) + len(lines)))

    def _rows(self, epoch: int, least: int) -> tuple[NDArray[np.int64], np.random.Generator]:
        """Where the rows of an epoch begin, at least so many if the text has them, and the generator that drew the first."""
        generator = np.random.Generator(np.random.PCG64([self.seed, epoch]))
        return cut(self.starts, len(self.stream), self.text.window, generator, least), generator

    def needs(self, world: int) -> tuple[str, str]:
        """Rows of the first epoch: of all the text, where it is too short."""
        rows = len(self._rows(0, self.text.batch * world)[0])
        has = f"{len(self.stream):,} tokens, cut into {rows:,} rows of {self.text.window:,}"
        return has, f"{self.text.batch * world:,} rows"

    def loss(self, batch: Batch, carried: dict[str, Tensor]) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Cross-entropy of each target given what stands before it in its row."""
        inputs, targets = (tensor.to(self.device) for tensor in batch)
        module: Any = self.module
        chosen = targets != NOTHING
        # The head at the chosen places only.
        logits = module.lm_head(module.transformer(input_ids=inputs, use_cache=False)[0][chosen])
        return torch.nn.functional.cross_entropy(logits, targets[chosen]), len(logits), {}

    @torch.no_grad()
    def held_out(self) -> tuple[float, int]:
        """Sentence by sentence, the longest first."""
        self.module.eval()
        nats = 0.0
        for group in _lengths.groups(self.sentences, HELD_OUT_TOKENS):
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
        """A Hugging Face checkpoint: configuration, safetensors, tokenizer."""
        checkpoint.write(self.module, self.tokenizer, folder, self.store)


def _stream(tokenizer: Tokenizer, texts: Iterable[str], symbol: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """All sentences as one stream, and where each begins, at the symbol before it."""
    parts, starts, length = [], [0], 0
    for sentences in corpus.portions(_plain(texts), 4096):
        for encoding in tokenizer.encode_batch(sentences, add_special_tokens=False):
            parts.append(np.array([symbol, *encoding.ids], np.int32))
            length += len(parts[-1])
            starts.append(length)
    if not parts:
        raise InputError("the training text", "not one sentence", "a sentence a line")
    return np.concatenate([*parts, np.array([symbol], np.int32)]), np.array(starts[:-1])


def _plain(texts: Iterable[str]) -> Iterator[str]:
    """Texts without the symbol, which would be taken for the end of a sentence in the midst of one."""
    for text in texts:
        if SYMBOL in text:
            cure = "Remove it: line ends say where sentences end."
            raise InputError(f"sentence {text[:60]!r}", f"the symbol {SYMBOL} in it", "plain text", cure)
        yield text


def _cloze(tokenizer: Tokenizer, texts: Iterable[str], symbol: int, window: int) -> list[Line]:
    """Each line with the place of its last word."""
    lines = []
    for some in corpus.portions(_plain(texts), 4096):
        for text, encoding in zip(some, tokenizer.encode_batch(some, add_special_tokens=False), strict=True):
            begin = len(text.rstrip()) - len(text.split()[-1])
            before = sum(end <= begin for _, end in encoding.offsets)
            if len(encoding.ids) > window:
                raise InputError(
                    f"cloze line {text[:60]!r}", f"{len(encoding.ids):,} tokens", f"at most {window:,}, the window"
                )
            lines.append(Line(np.array([symbol, *encoding.ids], np.int32), before + 1))
    return lines


def _held_out(
    tokenizer: Tokenizer, texts: Iterable[str], symbol: int, limit: int
) -> tuple[list[NDArray[np.int64]], int]:
    """Each sentence between two symbols, the longest first; and the number of words, ends of sentences among them.

    A sentence longer than the model's positions is cut; each piece begins with the last token of the one before, so that
    every token is predicted once.
    """
    sentences: list[NDArray[np.int64]] = []
    words = 0
    for many in corpus.portions(_plain(texts), 4096):
        words += sum(len(text.split()) + 1 for text in many)
        for encoding in tokenizer.encode_batch(many, add_special_tokens=False):
            whole = np.array([symbol, *encoding.ids, symbol], np.int64)
            sentences += [whole[start : start + limit + 1] for start in range(0, len(whole) - 1, limit)]
    if not sentences:
        raise InputError("the held-out text", "not one sentence", "a sentence a line")
    return sorted(sentences, key=len, reverse=True), words


def _given(name: str) -> Any:
    """A tokenizer that stands somewhere, as it is."""
    try:
        given = transformers.AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        if Path(name).is_dir():
            found = f"no tokenizer can be read in this folder ({str(error).splitlines()[0]})"
        else:
            found = "no folder of this name, and no such tokenizer on the hub or in its cache"
        cure = "Give the folder of a GPT-2 tokenizer or its name on the hub, or none, and one is trained on the text."
        raise ModelError(
            f"tokenizer {name}", found, "a folder with tokenizer.json, or a name on the hub", cure
        ) from error
    if given.convert_tokens_to_ids(SYMBOL) in (None, given.unk_token_id):
        raise ModelError(f"tokenizer {name}", f"no symbol {SYMBOL}", "the tokenizer of a GPT-2")
    if (backend := getattr(given, "backend_tokenizer", None)) is None:
        raise ModelError(f"tokenizer {name}", "no tokenizer.json", "a fast tokenizer")
    # A file may say that texts be cut, or filled up: scoring does neither.
    backend.no_truncation()
    backend.no_padding()
    return given


def _tokenizer(training: Sequence[str], folder: Path, text: Text) -> Any:
    """The tokenizer of the training that stands in this folder, or one trained now on the training text."""
    path = checkpoint.tokenizer_file(
        folder, lambda: _bpe(training, text.vocabulary) if text.units == "bpe" else _words(training)
    )
    unknown = {"unk_token": UNKNOWN} if text.units == "words" else {}
    return checkpoint.read_tokenizer(path, bos_token=SYMBOL, eos_token=SYMBOL, **unknown)


def _started(start: str, config: Any) -> Any:
    """The model of a checkpoint, with the dropout asked for."""
    dropout = {name: getattr(config, name) for name in ("resid_pdrop", "embd_pdrop", "attn_pdrop")}
    model: Any = transformers.GPT2LMHeadModel
    try:
        made = model.from_pretrained(start, dtype=torch.float32, use_safetensors=True, **dropout)
    except (OSError, ValueError, SafetensorError) as error:
        shown = str(error).splitlines()[0]
        raise ModelError(f"start {start}", shown, "a folder or name of a GPT-2 in safetensors") from error
    for name in ("n_layer", "n_embd", "n_head", "n_positions", "vocab_size"):
        if (found := getattr(made.config, name)) != (asked := getattr(config, name)):
            raise ModelError(f"start {start}", f"{name} = {found}", f"{asked}, as asked for")
    return made


def _origin(start: str, model: Any) -> dict[str, Any]:
    """What a training began with: a checkpoint, the hash of its weights, and how it was made, if its folder says so."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}|{tuple(tensor.shape)}|".encode())
        digest.update(tensor.detach().float().cpu().numpy().tobytes())
    made = finished(Path(start)) if Path(start).is_dir() else None
    return {"name": Path(start).name, "weights": digest.hexdigest(), "training": made}


def _bpe(training: Sequence[str], vocabulary: int) -> Tokenizer:
    """Byte-level BPE, as GPT-2's."""
    if vocabulary < 257:
        raise UsageError("vocabulary", str(vocabulary), "at least 257: the bytes and one symbol")
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[SYMBOL], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    made.train_from_iterator(_plain(corpus.texts(training)), trainer)
    return made


def _words(training: Sequence[str]) -> Tokenizer:
    """Words and punctuation marks; one unknown word for all those seen less than twice."""
    made = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=2**31 - 1, min_frequency=2, special_tokens=[SYMBOL, UNKNOWN], show_progress=False
    )
    made.train_from_iterator(_plain(corpus.texts(training)), trainer)
    return made
