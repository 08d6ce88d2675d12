"""Tiny masked language models of several families, built on the spot with random weights, and their tokenizers."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
import transformers
from models_for_tests import TEXT
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from syntagm.models import LanguageModel, Masked
from syntagm.models.masked.model import from_transformers

SYMBOLS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_WIDE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}


@cache
def word_pieces(lower: bool = False, size: int = 300) -> Any:
    """Like BERT's."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=SYMBOLS, show_progress=False)
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return _fast(tokenizer, *SYMBOLS)


@cache
def byte_pieces(size: int = 420) -> Any:
    """Like RoBERTa's: bytes, the first word without a blank, a mask that swallows the blank before it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    symbols = ["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)]
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=symbols, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    mask = AddedToken("<mask>", lstrip=True, special=True)
    return _fast(tokenizer, "<pad>", "<unk>", "<s>", "</s>", mask)


@cache
def sentence_pieces() -> Any:
    """Like DeBERTa-v2's: a unigram model, a blank before the first word."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=160, special_tokens=SYMBOLS, unk_token="[UNK]", show_progress=False)
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return _fast(tokenizer, *SYMBOLS)


def _fast(tokenizer: Tokenizer, pad: str, unknown: str, first: str, last: str, mask: Any) -> Any:
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=pad, unk_token=unknown, cls_token=first, sep_token=last, mask_token=mask
    )


def transformer(kind: str, tokenizer: Any, sharpen: float = 8.0, seed: int = 1, **more: Any) -> Any:
    """A random masked model of the family `kind`; `sharpen` widens its weights, so that its numbers are far from uniform."""
    t = transformers
    shapes: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "bert": (t.BertForMaskedLM, t.BertConfig, _WIDE | {"max_position_embeddings": 64}),
        "roberta": (t.RobertaForMaskedLM, t.RobertaConfig, _WIDE | {"max_position_embeddings": 130}),
        "distilbert": (
            t.DistilBertForMaskedLM, t.DistilBertConfig,
            {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 2, "max_position_embeddings": 128},
        ),
        "deberta": (
            t.DebertaV2ForMaskedLM, t.DebertaV2Config,
            _WIDE | {"max_position_embeddings": 128, "relative_attention": True, "pos_att_type": ["p2c", "c2p"],
                     "position_biased_input": False, "type_vocab_size": 0},
        ),
        "modernbert": (
            t.ModernBertForMaskedLM, t.ModernBertConfig,
            _WIDE | {"max_position_embeddings": 128, "local_attention": 8, "cls_token_id": 2, "sep_token_id": 3,
                     "bos_token_id": 2, "eos_token_id": 3},
        ),
        "electra": (
            t.ElectraForMaskedLM, t.ElectraConfig, _WIDE | {"embedding_size": 16, "max_position_embeddings": 128},
        ),
        "albert": (
            t.AlbertForMaskedLM, t.AlbertConfig, _WIDE | {"embedding_size": 16, "max_position_embeddings": 128},
        ),
    }  # fmt: skip
    model, config, shape = shapes[kind]
    torch.manual_seed(seed)
    rows = more.pop("rows", len(tokenizer))
    made = model(config(vocab_size=rows, pad_token_id=tokenizer.pad_token_id, **(shape | more))).eval()
    with torch.no_grad():
        for weights in made.parameters():
            if weights.dim() > 1:
                weights.mul_(sharpen)
    return made


def masked(kind: str, tokenizer: Any = None, **options: str) -> Masked:
    """A random masked model around word pieces, unless told otherwise."""
    tokenizer = tokenizer or word_pieces()
    return from_transformers(transformer(kind, tokenizer), tokenizer, f"tiny-{kind}", **options)


MASKED: dict[str, Callable[[], LanguageModel]] = {
    "bert": lambda: masked("bert"),
    "bert-uncased": lambda: masked("bert", word_pieces(lower=True), masking="word"),
    "roberta": lambda: masked("roberta", byte_pieces()),
    "deberta": lambda: masked("deberta", sentence_pieces(), masking="word", masks="several"),
    "modernbert": lambda: masked("modernbert", byte_pieces(), masks="several"),
    "distilbert": lambda: masked("distilbert"),
}
