"""A BERT from scratch (Devlin et al. 2019), over a WordPiece vocabulary learnt from the corpus.

What comes out is an ordinary checkpoint folder that `masked:` and every other tool for Hugging Face models loads.

Each row is one sentence, as sentences are scored; there is no next-sentence task. In each epoch other tokens are chosen to be
foretold: of 100 of them 80 are masked, 10 replaced by any entry of the vocabulary, 10 left as they are. The held-out text is
masked once and for all, and all of its chosen tokens by the mask: the loss at these, times the tokens over the chosen ones, is
an estimate of its pseudo-log-likelihood, given per word between blanks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor

from syntagm.errors import InputError, UsageError
from syntagm.io import atomic
from syntagm.training.corpora import corpus
from syntagm.training.learner import Learner
from syntagm.training.loop import Progress, fit
from syntagm.training.record import finished, refuse_small
from syntagm.training.settings import Settings
from syntagm.training.transformers import checkpoint, lengths
from syntagm.training.transformers.gpt2 import Size

# Numbered in this order.
PADDING, UNKNOWN, FIRST, LAST, MASK = SYMBOLS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
HELD_OUT_TOKENS = 8192
_KEPT, _REPLACED = 0.1, 0.1


@dataclass(frozen=True, slots=True)
class Text:
    """How text becomes tokens and rows.

    Arguments:
        vocabulary: how many entries.
        lower: in lower case and without accents, as BERT uncased is?
        share: of the tokens of a row, how many are to be foretold.
        window: the longest row, its two symbols included; longer sentences are several rows.
        batch: rows a step.
    """

    vocabulary: int = 30_522
    lower: bool = False
    share: float = 0.15
    window: int = 128
    batch: int = 64

    def __post_init__(self) -> None:
        refuse_small(self, "vocabulary", "batch")
        if self.window < 3:
            raise UsageError("window", str(self.window), "at least 3: a token and two symbols")
        if not 0 < self.share < 1:
            raise UsageError("share", str(self.share), "between 0 and 1")


def train(
    training: Sequence[str], held_out: Sequence[str], folder: Path, size: Size, text: Text, settings: Settings,
    store: Literal["f32", "f16"] = "f32", progress: Progress | None = None,
) -> list[dict[str, float]]:  # fmt: skip
    """Train a BERT and write its checkpoint; the same call goes on with it.

    Arguments:
        training: the corpora, as `corpus.texts` takes them.
        held_out: the held-out corpora, for the schedule and for early stopping.
        folder: where the checkpoint goes.
        size: of the model.
        text: how text becomes tokens and rows.
        settings: of the loop.
        store: the type in which weights are stored.
        progress: is told of each step.

    Returns:
        The history; see `loop.fit`. Its bits a word are the estimate that stands at the top of this file.
    """
    if text.window > size.positions:
        raise UsageError("window", str(text.window), f"at most the model's positions ({size.positions})")
    finished(folder, "masked")
    path = checkpoint.tokenizer_file(folder, lambda: _word_pieces(training, text))
    tokenizer = checkpoint.read_tokenizer(
        path, pad_token=PADDING, unk_token=UNKNOWN, cls_token=FIRST, sep_token=LAST, mask_token=MASK
    )
    torch.manual_seed(settings.seed)
    return fit(Bert(training, held_out, tokenizer, size, text, settings, store), settings, folder, progress)


class Bert(Learner):
    """A BERT in training."""

    family = "masked"

    def __init__(
        self, training: Sequence[str], held_out: Sequence[str], tokenizer: Any, size: Size, text: Text,
        settings: Settings, store: str,
    ) -> None:  # fmt: skip
        self.tokenizer, self.text, self.seed, self.store = tokenizer, text, settings.seed, store
        self.rows, _ = _rows(tokenizer.backend_tokenizer, training, text.window)
        kept, self.words = _rows(tokenizer.backend_tokenizer, held_out, size.positions)
        self.sentences = sorted(kept, key=len, reverse=True)
        config = transformers.BertConfig(
            vocab_size=len(tokenizer), hidden_size=size.width, num_hidden_layers=size.layers,
            num_attention_heads=size.heads, intermediate_size=4 * size.width, max_position_embeddings=size.positions,
            hidden_dropout_prob=size.dropout, attention_probs_dropout_prob=size.dropout,
            pad_token_id=tokenizer.pad_token_id,
        )  # fmt: skip
        made: Any = transformers.BertForMaskedLM(config)
        self.module = made.to(settings.device)
        self.record = {
            "corpus": corpus.record(training), "held_out": corpus.record(held_out),
            "size": {name: getattr(size, name) for name in size.__slots__},
            "text": {name: getattr(text, name) for name in text.__slots__},
            "training_tokens": sum(len(row) - 2 for row in self.rows), "store": store,
            "transformers": transformers.__version__,
        }  # fmt: skip

    def batches(self, epoch: int, rank: int, world: int) -> "Batches":
        """Rows in random order, those of like length together, masked anew in each epoch."""
        generator = np.random.Generator(np.random.PCG64([self.seed, epoch]))
        mine = lengths.batches([len(row) for row in self.rows], self.text.batch, rank, world, generator)
        return Batches(self.rows, mine, self._masks, (self.seed, epoch, rank), self.text.share)

    def needs(self, world: int) -> tuple[str, str]:
        """Rows, a sentence each, or a piece of one."""
        return f"{len(self.rows):,} rows of at most {self.text.window:,} tokens", f"{self.text.batch * world:,} rows"

    @property
    def _masks(self) -> tuple[int, int, int]:
        """The number of the mask, that of the first entry that is no symbol, and the number of entries."""
        return int(self.tokenizer.mask_token_id), len(SYMBOLS), len(self.tokenizer)

    def loss(
        self, batch: tuple[Tensor, Tensor, Tensor], carried: dict[str, Tensor]
    ) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Cross-entropy of the chosen tokens given what is left of their rows."""
        nats, chosen = self._nats(*batch)
        return nats / chosen, chosen, {}

    def _nats(self, ids: Tensor, real: Tensor, targets: Tensor) -> tuple[Tensor, int]:
        ids, real, targets = (tensor.to(self.device) for tensor in (ids, real, targets))
        module: Any = self.module
        chosen = targets >= 0
        # The head at the chosen places only.
        hidden = module.bert(input_ids=ids, attention_mask=None if bool(real.all()) else real)[0]
        logits = module.cls(hidden[chosen]).float()
        return torch.nn.functional.cross_entropy(logits, targets[chosen], reduction="sum"), int(chosen.sum())

    @torch.no_grad()
    def held_out(self) -> tuple[float, int]:
        """The longest first, masked alike each time."""
        self.module.eval()
        generator = np.random.Generator(np.random.PCG64(20))
        nats, chosen = 0.0, 0
        for group in lengths.groups(self.sentences, HELD_OUT_TOKENS):
            more, count = self._nats(*_masked(group, self._masks, generator, self.text.share, mixed=False))
            nats, chosen = nats + float(more), chosen + count
        return nats * sum(len(row) - 2 for row in self.sentences) / chosen, self.words

    def write(self, folder: Path) -> None:
        """A Hugging Face checkpoint, and a `model.json` that says what family it is."""
        checkpoint.write(self.module, self.tokenizer, folder, self.store)
        atomic.write(folder / "model.json", b'{"family": "masked"}\n')


@dataclass(frozen=True, slots=True)
class Batches(Sequence[tuple[Tensor, Tensor, Tensor]]):
    """Batches of rows, masked when they are asked for: by the seed, epoch, process and index alone."""

    rows: Sequence[NDArray[np.int64]]
    places: NDArray[np.int64]
    masks: tuple[int, int, int]
    seed: tuple[int, int, int]
    share: float

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        generator = np.random.Generator(np.random.PCG64([*self.seed, index]))
        rows = [self.rows[place] for place in self.places[index]]
        return _masked(rows, self.masks, generator, self.share, mixed=True)


def _masked(
    rows: Sequence[NDArray[np.int64]],
    masks: tuple[int, int, int],
    generator: np.random.Generator,
    share: float,
    mixed: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Token numbers as the model sees them, which are real, and what is to be foretold: -1 elsewhere. At least one is.

    Arguments:
        masks: the number of the mask, and between which entries those are that may replace a token.
        mixed: replace some of the chosen tokens by others and keep some, instead of masking all.
    """
    mask, first, entries = masks
    width = max(map(len, rows))
    ids, real = np.zeros((len(rows), width), np.int64), np.zeros((len(rows), width), np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)], real[number, : len(row)] = row, 1
    inside = np.flatnonzero((ids >= first) | (ids == SYMBOLS.index(UNKNOWN)))
    chosen = inside[generator.random(len(inside)) < share]
    if not len(chosen):
        chosen = inside[[generator.integers(len(inside))]]
    targets = np.full(ids.size, -1)
    targets[chosen] = ids.ravel()[chosen]
    fate = generator.random(len(chosen)) if mixed else np.ones(len(chosen))
    seen = ids.ravel()
    others = generator.integers(first, entries, len(chosen))
    seen[chosen] = np.where(fate < _KEPT, seen[chosen], np.where(fate < _KEPT + _REPLACED, others, mask))
    return torch.from_numpy(ids), torch.from_numpy(real), torch.from_numpy(targets.reshape(ids.shape))


def _rows(tokenizer: Tokenizer, paths: Sequence[str], window: int) -> tuple[list[NDArray[np.int64]], int]:
    """Each sentence between its two symbols, in pieces if it is longer than the window; and the number of words."""
    rows: list[NDArray[np.int64]] = []
    words = 0
    first, last = (tokenizer.token_to_id(symbol) for symbol in (FIRST, LAST))
    for many in corpus.portions(corpus.texts(paths), 4096):
        words += sum(len(text.split()) for text in many)
        for encoding in tokenizer.encode_batch(many, add_special_tokens=False):
            rows += [np.array([first, *piece, last], np.int64) for piece in _pieces(encoding.ids, window - 2)]
    if not rows:
        raise InputError("the text", "not one sentence", "a sentence a line")
    return rows, words


def _pieces(ids: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def _word_pieces(training: Sequence[str], text: Text) -> Tokenizer:
    """WordPiece, as BERT's: the same entries for the same text.

    The library numbers pieces in an order that changes from run to run, and breaks ties by number; so those of one character
    are given to it in order, as if they were symbols, and what it learns becomes a tokenizer that knows the five alone.
    """
    normalizer = normalizers.BertNormalizer(lowercase=text.lower)
    found = set(chain.from_iterable(corpus.texts(training)))
    letters = sorted({letter for one in found for letter in normalizer.normalize_str(one)})
    alphabet = [letter for letter in letters if not letter.isspace()]
    given = [*SYMBOLS, *alphabet, *(f"##{letter}" for letter in alphabet)]
    if text.vocabulary < len(given):
        raise UsageError("vocabulary", str(text.vocabulary), f"at least {len(given)}: symbols and characters")
    learnt = _bare(models.WordPiece(unk_token=UNKNOWN), normalizer)
    trainer = trainers.WordPieceTrainer(vocab_size=text.vocabulary, special_tokens=given, show_progress=False)
    learnt.train_from_iterator(corpus.texts(training), trainer)
    made = _bare(models.WordPiece(learnt.get_vocab(), unk_token=UNKNOWN), normalizer)
    made.add_special_tokens(SYMBOLS)
    symbols = [(symbol, made.token_to_id(symbol)) for symbol in (FIRST, LAST)]
    made.post_processor = processors.TemplateProcessing(
        single=f"{FIRST} $A {LAST}", pair=f"{FIRST} $A {LAST} $B {LAST}", special_tokens=symbols
    )
    return made


def _bare(model: models.WordPiece, normalizer: normalizers.BertNormalizer) -> Tokenizer:
    made = Tokenizer(model)
    made.normalizer, made.pre_tokenizer = normalizer, pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    return made
