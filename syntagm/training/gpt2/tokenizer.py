"""The tokenizer of a GPT-2, which is an existing one or is trained on the training text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import transformers
from huggingface_hub import constants
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from syntagm.core import ModelError, UsageError, hub
from syntagm.models import described, is_foreign, refuse_endless_tokenizer
from syntagm.training.corpora import corpus
from syntagm.training.gpt2.settings import Text
from syntagm.training.gpt2.text import SYMBOL, plain
from syntagm.training.transformers import checkpoint

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


def load_or_train(training: Sequence[str], folder: Path, text: Text) -> Any:
    """Load the tokenizer that a previous training saved in this folder, or train one on the training text."""
    path = checkpoint.tokenizer_file(
        folder, lambda: _bpe(training, text.vocabulary) if text.units == "bpe" else _words(training)
    )
    unknown = {"unk_token": UNKNOWN} if text.units == "words" else {}
    return checkpoint.read_tokenizer(path, bos_token=SYMBOL, eos_token=SYMBOL, **unknown)


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
