"""Encoded text for training a GPT-2: one stream of sentences, cloze lines, and single held-out sentences."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from huggingface_hub import constants
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor

from syntagm.core import InputError, ModelError, UsageError, hub
from syntagm.models import described, is_foreign, refuse_endless_tokenizer
from syntagm.training import hugging_face
from syntagm.training.corpora import corpus
from syntagm.training.gpt2.family import Gpt2Text

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


def cut(
    starts: NDArray[np.int64], length: int, window: int, generator: np.random.Generator, least: int = 1
) -> NDArray[np.int64]:
    """Choose the starts of rows."""
    # A random sentence for the first, and for the others the first sentence after the previous row.
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


def stream(tokenizer: Tokenizer, texts: Iterable[str], symbol: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Encode all sentences as one stream."""
    parts, starts, length = [], [0], 0
    for sentences in corpus.portions(plain(texts), 4096):
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


def cloze(tokenizer: Tokenizer, texts: Iterable[str], symbol: int, window: int) -> list[ClozeLine]:
    """Encode cloze lines, each with the index of its last word."""
    lines = []
    for portion in corpus.portions(plain(texts), 4096):
        for text, encoding in zip(portion, tokenizer.encode_batch(portion, add_special_tokens=False), strict=True):
            begin = len(text.rstrip()) - len(text.split()[-1])
            before = sum(end <= begin for _, end in encoding.offsets)
            if len(encoding.ids) > window:
                raise InputError(
                    f"cloze line {text[:60]!r}", f"{len(encoding.ids):,} tokens", f"at most {window:,}, the window"
                )
            lines.append(ClozeLine(np.array([symbol, *encoding.ids], np.int32), before + 1))
    return lines


def held_out(
    tokenizer: Tokenizer, texts: Iterable[str], symbol: int, limit: int
) -> tuple[list[NDArray[np.int64]], int]:
    """Encode each held-out sentence between two symbols."""
    # A sentence longer than the model's positions is cut into pieces. Each piece begins with the last token of the
    # previous piece, so every token is predicted once.
    sentences: list[NDArray[np.int64]] = []
    words = 0
    for portion in corpus.portions(plain(texts), 4096):
        words += sum(len(text.split()) + 1 for text in portion)
        for encoding in tokenizer.encode_batch(portion, add_special_tokens=False):
            whole = np.array([symbol, *encoding.ids, symbol], np.int64)
            sentences += [whole[start : start + limit + 1] for start in range(0, len(whole) - 1, limit)]
    if not sentences:
        raise InputError("the held-out text", "no sentences", "one sentence per line")
    return sorted(sentences, key=len, reverse=True), words


UNKNOWN = "<unk>"


def load(name: str) -> Any:
    """Load an existing tokenizer."""
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


def load_or_train(training: Sequence[str], folder: Path, text: Gpt2Text) -> Any:
    """Load the tokenizer that a previous training saved in this folder, or train one on the training text."""
    path = hugging_face.tokenizer_file(
        folder, lambda: _bpe(training, text.vocabulary) if text.units == "bpe" else _words(training)
    )
    unknown = {"unk_token": UNKNOWN} if text.units == "words" else {}
    return hugging_face.read_tokenizer(path, bos_token=SYMBOL, eos_token=SYMBOL, **unknown)


def _bpe(training: Sequence[str], vocabulary: int) -> Tokenizer:
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
    tokenizer.train_from_iterator(plain(corpus.texts(training)), trainer)
    return tokenizer


def _words(training: Sequence[str]) -> Tokenizer:
    """Build a tokenizer for words and punctuation marks; those seen less than twice become one unknown word."""
    tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=2**31 - 1, min_frequency=2, special_tokens=[SYMBOL, UNKNOWN], show_progress=False
    )
    tokenizer.train_from_iterator(plain(corpus.texts(training)), trainer)
    return tokenizer
