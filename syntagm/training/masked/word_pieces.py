"""The WordPiece vocabulary of a BERT, learnt from the training text."""

from collections.abc import Sequence
from itertools import chain

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from syntagm.errors import UsageError
from syntagm.training.corpora import corpus
from syntagm.training.masked.settings import Text

# Numbered in this order.
PADDING, UNKNOWN, FIRST, LAST, MASK = SYMBOLS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def word_pieces(training: Sequence[str], text: Text) -> Tokenizer:
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
