"""Tiny language models of many families, built on the spot with random weights, and their tokenizers."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import pytest
import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from syntagm.models import (
    Causal,
    Jrnn,
    JrnnNetwork,
    LanguageModel,
    Letters,
    RecurrentModel,
    Rnng,
    RnngNetwork as Grammar,
    TransformerXl,
    TransformerXlNetwork,
    arpa,
    build,
    families,
    folder as _ngram_folder,
)
from syntagm.models.causal.model import from_transformers
from syntagm.models.jrnn.model import Size as JrnnSize, Symbols
from syntagm.models.ngram.model import load
from syntagm.models.transformer_xl.model import Size as TransformerXlSize
from syntagm.training import NgramSettings, changed
from syntagm.training.ngram.train import train

TEXT = """\
The old gardener watered the roses before the rain came.
The gardeners near the gate were waiting for the baker's daughter.
No one who has met the twins ever forgets their laughter, or so she said.
What did the teacher say that the students had read in the library?
Ten boats were tied to the wooden pier; none of them was new.
The boat that the sailors had painted was sold to a farmer in Porto.
She knows who the painter admired, but he does not know what she bought.
The naïve café owner paid 12 euros for a crème brûlée.
"""
END = "<|endoftext|>"


@cache
def byte_level(size: int = 400) -> Any:
    """Like GPT-2's: bytes, the blank belongs to the token after it, one symbol for start and end."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END, unk_token=END)


@cache
def sentencepiece_like(size: int = 300) -> Any:
    """Like Llama's: a blank is put before the first word, other characters are spelled in bytes, <s> is added."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    # Pieces may not cross a blank, as in SentencePiece; the trained merges see one word at a time.
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    parts = json.loads(tokenizer.to_str())
    vocabulary = parts["model"]["vocab"]
    for byte in range(256):
        vocabulary.setdefault(f"<0x{byte:02X}>", len(vocabulary))
    parts["model"]["byte_fallback"] = True
    parts["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(parts))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def words(normalizer: Any = None, bos: str | None = "<s>", unknown: str = "<unk>") -> Any:
    """Whole words and punctuation marks; whatever is not in `TEXT` is unknown."""
    tokenizer = Tokenizer(models.WordLevel(unk_token=unknown))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = list(dict.fromkeys([unknown, *([bos] if bos else []), "</s>"]))
    tokenizer.train_from_iterator(
        TEXT.splitlines(), trainers.WordLevelTrainer(special_tokens=special, show_progress=False)
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=bos, eos_token="</s>", unk_token=unknown
    )


def pieces(vocabulary: list[tuple[str, float]], normalizer: Any = None) -> Any:
    """A unigram tokenizer whose vocabulary begins with <unk>, <s>, </s>."""
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *vocabulary], 0, False))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in ("<unk>", "<s>", "</s>")])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def _config(kind: Any, tokenizer: Any, **more: Any) -> Any:
    return kind(
        vocab_size=more.pop("rows", len(tokenizer)),
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **more,
    )


_WIDE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}


# By how much weights are widened. A recurrence amplifies rounding: any wider, its float32 numbers hang on the processor.
_SHARPEN = {"mamba": 2.0}


# Differences of the lowest supported transformers, 4.57, that tests allow for.
BEFORE_5 = transformers.__version__.startswith("4.")
# The output layers of LSTMs and RNNGs are trained in bfloat16 from PyTorch 2.9 on.
BFLOAT16 = pytest.mark.skipif(not hasattr(torch.backends.mkldnn, "matmul"), reason="PyTorch before 2.9")


def transformer(kind: str, tokenizer: Any, sharpen: float | None = None, seed: int = 1, **more: Any) -> Any:
    """A random model of the family `kind`; `sharpen` widens its weights, so that its numbers are far from uniform."""
    sharpen = sharpen or _SHARPEN.get(kind, 8.0)
    t = transformers
    shapes: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "gpt2": (t.GPT2LMHeadModel, t.GPT2Config, {"n_positions": 128, "n_embd": 32, "n_layer": 2, "n_head": 2}),
        "llama": (t.LlamaForCausalLM, t.LlamaConfig, _WIDE | {"max_position_embeddings": 128}),
        "neox": (t.GPTNeoXForCausalLM, t.GPTNeoXConfig, _WIDE | {"max_position_embeddings": 128}),
        "mamba": (t.MambaForCausalLM, t.MambaConfig, {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
        "bloom": (t.BloomForCausalLM, t.BloomConfig, {"hidden_size": 32, "n_layer": 2, "n_head": 2}),
        "mpt": (t.MptForCausalLM, t.MptConfig, {"d_model": 32, "n_heads": 2, "n_layers": 2, "max_seq_len": 128}),
        "gemma2": (
            t.Gemma2ForCausalLM,
            t.Gemma2Config,
            _WIDE | {"num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 128, "sliding_window": 64},
        ),
        "bert": (t.BertLMHeadModel, t.BertConfig, _WIDE | {"max_position_embeddings": 128}),
    }
    model, config, shape = shapes[kind]
    torch.manual_seed(seed)
    made = model(_config(config, tokenizer, **(shape | more))).eval()
    with torch.no_grad():
        for weights in made.parameters():
            if weights.dim() > 1:
                weights.mul_(sharpen)
    return made


def causal(kind: str, tokenizer: Any = None, **options: str) -> Causal:
    """A random causal model around a byte-level tokenizer, unless told otherwise."""
    tokenizer = tokenizer or byte_level()
    return from_transformers(transformer(kind, tokenizer), tokenizer, f"tiny-{kind}", **options)


# What `model.json` says of a tiny recurrent network, for all families with these keys.
DESCRIBED = {
    "embedding": 12, "hidden": 16, "layers": 2, "tied": False, "chunk": 4, "cutoffs": [], "head": "linear",
    "tags": ["N", "NP", "S"],
}  # fmt: skip


def recurrent(family: str, described: Mapping[str, object] = MappingProxyType({}), **options: str) -> RecurrentModel:
    """A random model of a family of recurrent networks, over the words of `TEXT`; those that stand there once are unknown."""
    kind, vocabulary = RECURRENT[family], build([line.split() for line in TEXT.splitlines()])
    torch.manual_seed(1)
    network = kind.build(DESCRIBED | dict(described), vocabulary, kind.family.choose(options))
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(8.0)
    return kind(network, vocabulary, "blanks", "tiny", options)


def lstm(**options: str) -> RecurrentModel:
    """A random LSTM."""
    return recurrent("lstm", {"embedding": 16}, **options)


def onlstm(cutoffs: Sequence[int] = (), layers: int = 3, **options: str) -> RecurrentModel:
    """A random ON-LSTM."""
    return recurrent("onlstm", {"cutoffs": list(cutoffs), "layers": layers}, **options)


def jrnn(**options: str) -> Jrnn:
    """A random LSTM with projections and peepholes over the letters of words; it predicts the words of `TEXT`."""
    torch.manual_seed(1)
    vocabulary = build([line.split() for line in TEXT.splitlines()])
    size = JrnnSize(8, 16, 2, 3, ((1, 2), (3, 4)), 1)
    network = JrnnNetwork(size, Letters(vocabulary, Symbols(0, 1, 2, 3, 4)))
    with torch.no_grad():
        for weights in network.parameters():
            weights.normal_(0.0, 0.7)
    return Jrnn(network, vocabulary, "moses", "tiny", options)


def transformer_xl(**options: str) -> TransformerXl:
    """A random Transformer-XL over the words of `TEXT`, with a memory of 8 words."""
    torch.manual_seed(1)
    vocabulary = build([line.split() for line in TEXT.splitlines()])
    size = TransformerXlSize((8, 16), 12, 12, 2, 2, 5, 16, 2, 8, 5)
    zeros, reverse = options.get("memory") != "empty", options.get("clusters") == "reversed"
    network = TransformerXlNetwork(len(vocabulary), size, zeros, reverse)
    with torch.no_grad():
        for weights in network.parameters():
            weights.normal_(0.0, 0.7)
    return TransformerXl(network, vocabulary, "blanks", "tiny", options)


def rnng(parts: str = "all", **options: str) -> Rnng:
    """A random RNNG over the words of `TEXT` and two labels."""
    torch.manual_seed(1)
    vocabulary = build([line.split() for line in TEXT.splitlines()])
    network = Grammar(len(vocabulary), 2, 8, 12, 2, parts)
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(3.0)
    return Rnng(network, vocabulary, ["S", "NP"], "blanks", "tiny", options)


def ngram(**options: str) -> LanguageModel:
    """A trigram model of `TEXT`; words that stand there once are unknown."""
    with TemporaryDirectory() as folder:
        (corpus := Path(folder, "corpus.txt")).write_text(TEXT, encoding="utf-8")
        chosen = {"order": 3, "tokens": options.pop("tokens", "blanks"), "discount_fallback": True}
        train([str(corpus)], [], Path(folder, "tiny"), changed(NgramSettings(), chosen))
        if options.pop("file", "folder") == "folder":
            return load(str(Path(folder, "tiny")), **options)
        arpa.write(_ngram_folder.read(Path(folder, "tiny"))[0], Path(folder, "tiny.arpa.gz"))
        return load(str(Path(folder, "tiny.arpa.gz")), unknown="berkeley", **options)


def _kinds() -> Iterator[type[RecurrentModel]]:
    """Yield the models of all families of recurrent networks."""
    for name in families.names():
        kind = getattr(getattr(import_module(families.find(name).module), "load", None), "__self__", None)
        if isinstance(kind, type) and issubclass(kind, RecurrentModel):
            yield kind


RECURRENT = {kind.family.name: kind for kind in _kinds()}
CAUSAL: dict[str, Callable[[], LanguageModel]] = {
    "gpt2": lambda: causal("gpt2"),
    "llama": lambda: causal("llama", sentencepiece_like()),
    "neox": lambda: causal("neox"),
    "mamba": lambda: causal("mamba"),
    "bloom": lambda: causal("bloom", sentencepiece_like()),
    "mpt": lambda: causal("mpt"),
    "gemma2": lambda: causal("gemma2"),
}
# Architectures that differ from others in what transformers does, not in what is done here; they are asked in the slow lane.
ALIKE = ("neox", "bloom", "mpt", "gemma2", "distilbert", "roberta")
_WORDED = [name for name, kind in RECURRENT.items() if kind.keys.keys() <= DESCRIBED.keys()]
# Every family of words; what follows a hyphen in a name tells its variants apart.
FAMILIES: dict[str, Callable[[], LanguageModel]] = (
    CAUSAL
    | {name: partial(recurrent, name) for name in _WORDED}
    | {
        "lstm-eos": lambda: lstm(eos="yes"),
        "lstm-bare": lambda: lstm(bos="no", tokens="treebank"),
        "multitask-shared": lambda: recurrent("multitask", {"head": "shared"}, eos="yes"),
        "onlstm-eos": lambda: onlstm(eos="yes", tokens="treebank"),
        "onlstm-adaptive": lambda: onlstm((7, 12), bos="no"),
        "jrnn": jrnn,
        "transformer_xl": transformer_xl,
        "transformer_xl-empty": lambda: transformer_xl(memory="empty", clusters="reversed", tokens="moses", eos="yes"),
        "rnng": lambda: rnng(beam="20", word_beam="5", fast_track="1"),
        "rnng-mask": lambda: rnng(parts="stack", root="mask", beam="20", tokens="treebank", batch="2"),
        "ngram": ngram,
        "ngram-eos": lambda: ngram(eos="yes", tokens="treebank"),
        "ngram-arpa": lambda: ngram(file="arpa", case="lower"),
    }
)

# Those of words, without options.
PLAIN = [name for name in FAMILIES if name in families.names()]


def filling() -> list[str]:
    """Return the names of the models of words whose families can fill gaps."""
    named = {name: families.find(name.partition("-")[0]) for name in FAMILIES if name not in CAUSAL}
    return [name for name, family in named.items() if "fill" in family.can]
