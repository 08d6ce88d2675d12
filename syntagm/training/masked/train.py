"""Training of a BERT from scratch (Devlin et al. 2019), over a WordPiece vocabulary trained on the corpus.

The result is an ordinary checkpoint folder that `masked:` and all other tools for Hugging Face models can load.

Each row is one sentence, because sentences are scored one by one; there is no next-sentence task. Each epoch chooses
different tokens for prediction. Of these, 80 % are masked, 10 % are replaced with a random entry of the vocabulary, and
10 % are kept. The held-out text is masked in the same way at each evaluation, and all of its chosen tokens are masked.
The loss at these tokens, multiplied by the number of all tokens and divided by the number of chosen ones, estimates the
negative pseudo-log-likelihood, which is reported per whitespace-separated word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor

from syntagm.core import InputError, Progress, UsageError, atomic
from syntagm.training import hugging_face
from syntagm.training.corpora import corpus as corpora
from syntagm.training.loop import Learner, fit
from syntagm.training.masked.family import MaskedSettings, MaskedText
from syntagm.training.record import finished

# The order is that of their numbers.
PADDING, UNKNOWN, FIRST, LAST, MASK = SYMBOLS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def word_pieces(training: Sequence[str], text: MaskedText) -> Tokenizer:
    """Train a WordPiece tokenizer like BERT's, with the same entries for the same text."""
    # The library numbers pieces in an order that changes from run to run, and breaks ties by number. To prevent that,
    # the pieces of one character are passed to it in a fixed order, as if they were special tokens. The trained
    # vocabulary then goes into a tokenizer that has the five symbols as its only special tokens.
    normalizer = normalizers.BertNormalizer(lowercase=text.lower)
    distinct = set(chain.from_iterable(corpora.texts(training)))
    characters = sorted({normal for character in distinct for normal in normalizer.normalize_str(character)})
    alphabet = [character for character in characters if not character.isspace()]
    entries = [*SYMBOLS, *alphabet, *(f"##{character}" for character in alphabet)]
    if text.vocabulary < len(entries):
        raise UsageError("vocabulary", str(text.vocabulary), f"at least {len(entries)}: symbols and characters")
    trained = _bare(models.WordPiece(unk_token=UNKNOWN), normalizer)
    trainer = trainers.WordPieceTrainer(vocab_size=text.vocabulary, special_tokens=entries, show_progress=False)
    trained.train_from_iterator(corpora.texts(training), trainer)
    tokenizer = _bare(models.WordPiece(trained.get_vocab(), unk_token=UNKNOWN), normalizer)
    tokenizer.add_special_tokens(SYMBOLS)
    symbols = [(symbol, tokenizer.token_to_id(symbol)) for symbol in (FIRST, LAST)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{FIRST} $A {LAST}", pair=f"{FIRST} $A {LAST} $B {LAST}", special_tokens=symbols
    )
    return tokenizer


def _bare(model: models.WordPiece, normalizer: normalizers.BertNormalizer) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


_KEPT, _REPLACED = 0.1, 0.1


@dataclass(frozen=True, slots=True)
class Batches(Sequence[tuple[Tensor, Tensor, Tensor]]):
    """Batches of rows, masked on access; the masks depend only on the seed, epoch, process and index."""

    rows: Sequence[NDArray[np.int64]]  # the token numbers of all rows
    places: NDArray[np.int64]  # the indices of the rows of each batch, shape (batches, rows per batch)
    masks: tuple[int, int, int]  # the mask token and the replacements; see `masked`
    seed: tuple[int, int, int]  # the seed, epoch and number of the process
    share: float  # the probability that a token is chosen for prediction

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        generator = np.random.Generator(np.random.PCG64([*self.seed, index]))
        rows = [self.rows[place] for place in self.places[index]]
        return masked(rows, self.masks, generator, self.share, mixed=True)


def masked(
    rows: Sequence[NDArray[np.int64]],
    masks: tuple[int, int, int],
    generator: np.random.Generator,
    share: float,
    mixed: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Mask rows of tokens. At least one token is chosen for prediction."""
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
    replacements = generator.integers(first, entries, len(chosen))
    seen[chosen] = np.where(fate < _KEPT, seen[chosen], np.where(fate < _KEPT + _REPLACED, replacements, mask))
    return torch.from_numpy(ids), torch.from_numpy(real), torch.from_numpy(targets.reshape(ids.shape))


HELD_OUT_TOKENS = 8192


def train(
    corpus: Sequence[str],
    valid: Sequence[str],
    folder: Path,
    settings: MaskedSettings,
    progress: Progress | None = None,
) -> list[dict[str, float]]:
    """Train a BERT and write its checkpoint; making the same call again resumes interrupted training."""
    finished(folder, "masked")
    path = hugging_face.tokenizer_file(folder, lambda: word_pieces(corpus, settings.text))
    tokenizer = hugging_face.read_tokenizer(
        path, pad_token=PADDING, unk_token=UNKNOWN, cls_token=FIRST, sep_token=LAST, mask_token=MASK
    )
    torch.manual_seed(settings.loop.seed)
    return fit(Bert(corpus, valid, tokenizer, settings), settings.loop, folder, progress)


class Bert(Learner):
    family = "masked"

    def __init__(self, corpus: Sequence[str], valid: Sequence[str], tokenizer: Any, settings: MaskedSettings) -> None:
        self.tokenizer, self.settings, self.text, size = tokenizer, settings, settings.text, settings.size
        self.rows, _ = _rows(tokenizer.backend_tokenizer, corpus, self.text.window)
        held_out, self.words = _rows(tokenizer.backend_tokenizer, valid, size.positions)
        self.sentences = sorted(held_out, key=len, reverse=True)
        config = transformers.BertConfig(
            vocab_size=len(tokenizer), hidden_size=size.width, num_hidden_layers=size.layers,
            num_attention_heads=size.heads, intermediate_size=4 * size.width, max_position_embeddings=size.positions,
            hidden_dropout_prob=size.dropout, attention_probs_dropout_prob=size.dropout,
            pad_token_id=tokenizer.pad_token_id,
        )  # fmt: skip
        model: Any = transformers.BertForMaskedLM(config)
        self.module = model.to(settings.loop.device)
        self.record = {
            "corpus": corpora.record(corpus), "held_out": corpora.record(valid),
            "size": asdict(size), "text": asdict(self.text), "tokenizer.json": hugging_face.tokenizer_hash(tokenizer),
            "training_tokens": sum(len(row) - 2 for row in self.rows), "save_dtype": settings.save_dtype,
            "transformers": transformers.__version__,
        }  # fmt: skip

    def batches(self, epoch: int, rank: int, world: int) -> "Batches":
        """Return rows in random order, batched by length and masked differently in each epoch."""
        seed = self.settings.loop.seed
        generator = np.random.Generator(np.random.PCG64([seed, epoch]))
        mine = hugging_face.batches([len(row) for row in self.rows], self.text.batch, rank, world, generator)
        return Batches(self.rows, mine, self._masks, (seed, epoch, rank), self.text.mask_prob)

    def needs(self, world: int) -> tuple[str, str]:
        """Describe the rows, each of which is a sentence or a piece of one."""
        return f"{len(self.rows):,} rows of at most {self.text.window:,} tokens", f"{self.text.batch * world:,} rows"

    @property
    def _masks(self) -> tuple[int, int, int]:
        """The number of the mask token, the number of the first entry after the symbols, and the number of entries."""
        return int(self.tokenizer.mask_token_id), len(SYMBOLS), len(self.tokenizer)

    def loss(
        self, batch: tuple[Tensor, Tensor, Tensor], carried: dict[str, Tensor]
    ) -> tuple[Tensor, int, dict[str, Tensor]]:
        """Return the cross-entropy of the chosen tokens given the rest of their rows."""
        nats, chosen = self._nats(*batch)
        return nats / chosen, chosen, {}

    def _nats(self, ids: Tensor, real: Tensor, targets: Tensor) -> tuple[Tensor, int]:
        ids, real, targets = (tensor.to(self.device) for tensor in (ids, real, targets))
        module: Any = self.module
        chosen = targets >= 0
        # Apply the output layer at the chosen positions only.
        hidden = module.bert(input_ids=ids, attention_mask=None if bool(real.all()) else real)[0]
        logits = module.cls(hidden[chosen]).float()
        return torch.nn.functional.cross_entropy(logits, targets[chosen], reduction="sum"), int(chosen.sum())

    @torch.no_grad()
    def held_out(self) -> tuple[float, int]:
        """Estimate the held-out negative pseudo-log-likelihood, with the same masks each time; see `Learner.held_out`."""
        self.module.eval()
        generator = np.random.Generator(np.random.PCG64(20))
        nats, chosen = 0.0, 0
        for group in hugging_face.groups(self.sentences, HELD_OUT_TOKENS):
            group_nats, count = self._nats(*masked(group, self._masks, generator, self.text.mask_prob, mixed=False))
            nats, chosen = nats + float(group_nats), chosen + count
        return nats * sum(len(row) - 2 for row in self.sentences) / chosen, self.words

    def write(self, folder: Path) -> None:
        """Write a Hugging Face checkpoint, and a `model.json` that names the family."""
        hugging_face.write(self.module, self.tokenizer, folder, self.settings.save_dtype)
        atomic.write(folder / "model.json", b'{"family": "masked"}\n')


def _rows(tokenizer: Tokenizer, paths: Sequence[str], window: int) -> tuple[list[NDArray[np.int64]], int]:
    """Encode each sentence between two symbols, in pieces if it is longer than the window; also count the words."""
    rows: list[NDArray[np.int64]] = []
    words = 0
    first, last = (tokenizer.token_to_id(symbol) for symbol in (FIRST, LAST))
    for portion in corpora.portions(corpora.texts(paths), 4096):
        words += sum(len(text.split()) for text in portion)
        for encoding in tokenizer.encode_batch(portion, add_special_tokens=False):
            rows += [np.array([first, *piece, last], np.int64) for piece in _pieces(encoding.ids, window - 2)]
    if not rows:
        raise InputError("the text", "no sentences", "one sentence per line")
    return rows, words


def _pieces(ids: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
