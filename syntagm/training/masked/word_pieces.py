"""The WordPiece tokenizer of a BERT, trained on the training text."""

from collections.abc import Sequence
from itertools import chain

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from syntagm.core import UsageError
from syntagm.training.corpora import corpus
from syntagm.training.masked.settings import Text

# The order is that of their numbers.
PADDING, UNKNOWN, FIRST, LAST, MASK = SYMBOLS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def word_pieces(training: Sequence[str], text: Text) -> Tokenizer:
    """Train a WordPiece tokenizer like BERT's, with the same entries for the same text."""
    # The library numbers pieces in an order that changes from run to run, and breaks ties by number. To prevent that,
    # the pieces of one character are passed to it in a fixed order, as if they were special tokens. The trained
    # vocabulary then goes into a tokenizer that has the five symbols as its only special tokens.
    normalizer = normalizers.BertNormalizer(lowercase=text.lower)
    distinct = set(chain.from_iterable(corpus.texts(training)))
    characters = sorted({normal for character in distinct for normal in normalizer.normalize_str(character)})
    alphabet = [character for character in characters if not character.isspace()]
    entries = [*SYMBOLS, *alphabet, *(f"##{character}" for character in alphabet)]
    if text.vocabulary < len(entries):
        raise UsageError("vocabulary", str(text.vocabulary), f"at least {len(entries)}: symbols and characters")
    trained = _bare(models.WordPiece(unk_token=UNKNOWN), normalizer)
    trainer = trainers.WordPieceTrainer(vocab_size=text.vocabulary, special_tokens=entries, show_progress=False)
    trained.train_from_iterator(corpus.texts(training), trainer)
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
