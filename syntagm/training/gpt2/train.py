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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from huggingface_hub import constants
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor

from syntagm.core import InputError, ModelError, Progress, UsageError, hub
from syntagm.models import (
    described,
    is_foreign,
    refuse_damaged,
    refuse_endless_tokenizer,
    refuse_incomplete,
    refuse_unsafe,
    unused_weights,
)
from syntagm.training import hugging_face
from syntagm.training.corpora import corpus as corpora
from syntagm.training.gpt2.family import Gpt2Settings, Gpt2Text
from syntagm.training.loop import Learner, fit
from syntagm.training.record import finished

# The target at positions where nothing is to be predicted.
NOTHING = -100

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Rows(Sequence[Batch]):
    """Batches of rows of a stream, which are extracted on access."""

    stream: NDArray[np.int32]  # the text as token numbers, shape (tokens,)
    places: NDArray[np.int64]  # the starts of the rows of each batch, shape (batches, rows per batch)
    window: int  # tokens per row

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        cut = self.places[index][:, None] + np.arange(self.window + 1)
        rows = torch.from_numpy(self.stream[cut].astype(np.int64))
        return rows[:, :-1], rows[:, 1:]


@dataclass(frozen=True, slots=True)
class ClozeLine:
    """A cloze line, of which only the last word is a target."""

    ids: NDArray[np.int32]  # the token numbers, beginning with the start-of-text symbol
    last: int  # the index of the first token of the last word


@dataclass(frozen=True, slots=True)
class Lines(Sequence[Batch]):
    """Batches of cloze lines."""

    lines: Sequence[ClozeLine]
    places: NDArray[np.int64]  # the indices of the lines of each batch, shape (batches, lines per step)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        batch = [self.lines[place] for place in self.places[index]]
        width = max(len(line.ids) for line in batch) - 1
        inputs = torch.zeros(len(batch), width, dtype=torch.int64)
        targets = torch.full_like(inputs, NOTHING)
        for row, line in enumerate(batch):
            ids = torch.from_numpy(line.ids.astype(np.int64))
            # Padding on the right has no effect on the tokens before it.
            inputs[row, : len(ids) - 1] = ids[:-1]
            targets[row, line.last - 1 : len(ids) - 1] = ids[line.last :]
        return inputs, targets


@dataclass(frozen=True, slots=True)
class Mixed(Sequence[Batch]):
    """Batches of stream rows and batches of cloze lines, in one common order."""

    stream: Rows
    lines: Lines
    order: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: Any) -> Any:
        place = int(self.order[index])
        return self.stream[place] if place < len(self.stream) else self.lines[place - len(self.stream)]


def row_starts(
    starts: NDArray[np.int64], length: int, window: int, generator: np.random.Generator, least: int = 1
) -> NDArray[np.int64]:
    # The first row starts at a random sentence, each other one at the first sentence after the previous row.
    first = int(starts[generator.integers(0, max(1, min(len(starts), window)))])
    rows = _cut_from(first, starts, length, window)
    return rows if len(rows) >= least else _cut_from(int(starts[0]), starts, length, window)


def _cut_from(place: int, starts: NDArray[np.int64], length: int, window: int) -> NDArray[np.int64]:
    rows = []
    while place + window < length:
        rows.append(place)
        following = int(np.searchsorted(starts, place + window))
        if following == len(starts):
            break
        place = int(starts[following])
    return np.array(rows, np.int64)


# The start and the end of each sentence.
SYMBOL = "<|endoftext|>"


def encoded_stream(
    tokenizer: Tokenizer, texts: Iterable[str], symbol: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    parts, starts, length = [], [0], 0
    for sentences in corpora.portions(plain(texts), 4096):
        for encoding in tokenizer.encode_batch(sentences, add_special_tokens=False):
            parts.append(np.array([symbol, *encoding.ids], np.int32))
            length += len(parts[-1])
            starts.append(length)
    if not parts:
        raise InputError("the training text", "no sentences", "one sentence per line")
    return np.concatenate([*parts, np.array([symbol], np.int32)]), np.array(starts[:-1])


def plain(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts unchanged; refuse those that contain the symbol, which would end a sentence in the middle."""
    for text in texts:
        if SYMBOL in text:
            cure = "Remove it: sentences end at line ends."
            raise InputError(f"sentence {text[:60]!r}", f"the symbol {SYMBOL}", "plain text", cure)
        yield text


def encoded_cloze(tokenizer: Tokenizer, texts: Iterable[str], symbol: int, window: int) -> list[ClozeLine]:
    """Encode cloze lines, each with the index of its last word."""
    lines = []
    for portion in corpora.portions(plain(texts), 4096):
        for text, encoding in zip(portion, tokenizer.encode_batch(portion, add_special_tokens=False), strict=True):
            begin = len(text.rstrip()) - len(text.split()[-1])
            before = sum(end <= begin for _, end in encoding.offsets)
            if len(encoding.ids) > window:
                raise InputError(
                    f"cloze line {text[:60]!r}", f"{len(encoding.ids):,} tokens", f"at most {window:,}, the window"
                )
            lines.append(ClozeLine(np.array([symbol, *encoding.ids], np.int32), before + 1))
    return lines


def held_out_sentences(
    tokenizer: Tokenizer, texts: Iterable[str], symbol: int, limit: int
) -> tuple[list[NDArray[np.int64]], int]:
    """Encode each held-out sentence between two symbols."""
    # A sentence longer than the model's positions is cut into pieces. Each piece begins with the last token of the
    # previous piece, so every token is predicted once.
    sentences: list[NDArray[np.int64]] = []
    words = 0
    for portion in corpora.portions(plain(texts), 4096):
        words += sum(len(text.split()) + 1 for text in portion)
        for encoding in tokenizer.encode_batch(portion, add_special_tokens=False):
            whole = np.array([symbol, *encoding.ids, symbol], np.int64)
            sentences += [whole[start : start + limit + 1] for start in range(0, len(whole) - 1, limit)]
    if not sentences:
        raise InputError("the held-out text", "no sentences", "one sentence per line")
    return sorted(sentences, key=len, reverse=True), words


UNKNOWN = "<unk>"


def load_tokenizer(name: str) -> Any:
    local = Path(name).is_dir()
    if local:
        refuse_endless_tokenizer(Path(name))
    offline = not local and not hub.is_reachable(constants)
    try:
        loaded = transformers.AutoTokenizer.from_pretrained(name, local_files_only=local or offline)
    except BaseException as error:  # transformers raises exceptions of many types, and panics of tokenizers
        if not is_foreign(error):
            raise
        if local:
            found = f"a folder without a readable tokenizer ({described(error)})"
        else:
            found = "no such folder, and no such tokenizer on the hub or in its cache"
            found += "; the hub can't be reached" if offline else ""
        cure = "Give the folder of a GPT-2 tokenizer or its name on the hub. Without one, a tokenizer is trained on the text."
        raise ModelError(
            f"tokenizer {name}", found, "a folder with tokenizer.json, or a name on the hub", cure
        ) from error
    if loaded.convert_tokens_to_ids(SYMBOL) in (None, loaded.unk_token_id):
        raise ModelError(f"tokenizer {name}", f"no symbol {SYMBOL}", "the tokenizer of a GPT-2 model")
    if (backend := getattr(loaded, "backend_tokenizer", None)) is None:
        raise ModelError(f"tokenizer {name}", "no tokenizer.json", "a fast tokenizer")
    # A tokenizer file may turn on truncation or padding; scoring uses neither.
    backend.no_truncation()
    backend.no_padding()
    return loaded


def load_or_train_tokenizer(training: Sequence[str], folder: Path, text: Gpt2Text) -> Any:
    """Load the tokenizer that a previous training saved in this folder, or train one on the training text."""
    path = hugging_face.tokenizer_file(
        folder, lambda: _bpe_tokenizer(training, text.vocabulary) if text.units == "bpe" else _word_tokenizer(training)
    )
    unknown = {"unk_token": UNKNOWN} if text.units == "words" else {}
    return hugging_face.read_tokenizer(path, bos_token=SYMBOL, eos_token=SYMBOL, **unknown)


def _bpe_tokenizer(training: Sequence[str], vocabulary: int) -> Tokenizer:
    """Train a byte-level BPE tokenizer like GPT-2's."""
    if vocabulary < 257:
        raise UsageError("vocabulary", str(vocabulary), "at least 257: the bytes and one symbol")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[SYMBOL], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator(plain(corpora.texts(training)), trainer)
    return tokenizer


def _word_tokenizer(training: Sequence[str]) -> Tokenizer:
    """Build a tokenizer for words and punctuation marks; those seen less than twice become one unknown word."""
    tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=2**31 - 1, min_frequency=2, special_tokens=[SYMBOL, UNKNOWN], show_progress=False
    )
    tokenizer.train_from_iterator(plain(corpora.texts(training)), trainer)
    return tokenizer


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
    tokens = load_tokenizer(existing) if existing else load_or_train_tokenizer(corpus, folder, settings.text)
    torch.manual_seed(settings.loop.seed)
    return fit(Gpt2(corpus, valid, tokens, settings), settings.loop, folder, progress)


class Gpt2(Learner):
    family = "gpt2"

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], tokens: Any, settings: Gpt2Settings) -> None:
        self.tokenizer, self.settings, self.text = tokens, settings, settings.text
        self.symbol, size, backend = tokens.convert_tokens_to_ids(SYMBOL), settings.size, tokens.backend_tokenizer
        self.stream, self.starts = encoded_stream(backend, corpora.texts(corpus), self.symbol)
        lines = corpora.texts(settings.cloze) if settings.cloze else ()
        self.cloze = encoded_cloze(backend, lines, self.symbol, self.text.window)
        self.sentences, self.words = held_out_sentences(backend, corpora.texts(valid), self.symbol, size.positions)
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
        return row_starts(self.starts, len(self.stream), self.text.window, generator, least), generator

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
