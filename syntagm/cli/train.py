"""Train a language model on a corpus.

FAMILY is gpt2, masked, lstm or ngram; each has options of its own: syntagm train FAMILY --help. A corpus is a text with one
sentence a line (.txt, .txt.gz), bracketed trees (.trees, .mrg, .ptb), or bllip:FOLDER?set=xs.

    syntagm train ngram --corpus books.txt -o models/5gram
    syntagm train lstm --corpus train.txt --valid valid.txt -o models/lstm
    syntagm train gpt2 --corpus train.txt --valid valid.txt --layers 4 --width 256 --heads 4 -o models/gpt2
    syntagm train masked --corpus train.txt --valid valid.txt --lower -o models/bert
    torchrun --nproc-per-node 2 -m syntagm train gpt2 ...

Stop it with Ctrl-C, or kill it: the same command goes on where it stood, and ends with the same model. What comes out is used at
once: syntagm run models/lstm --suite hu2020 -o runs/lstm
"""

import argparse
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.errors import UsageError

if TYPE_CHECKING:
    from syntagm.training.settings import Settings

_SAY_EVERY = 10.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    families = parser.add_subparsers(dest="family", metavar="FAMILY", required=True)
    for name, (summary, declare, _) in FAMILIES.items():
        family = families.add_parser(name, help=summary, description=summary)
        family.add_argument("--corpus", nargs="+", required=True, metavar="FILE", help="the training text")
        family.add_argument("-o", "--output", metavar="DIR", required=True, type=Path, help="the model folder")
        declare(family)


def run(arguments: argparse.Namespace) -> int:
    """Train, and say what came out."""
    FAMILIES[arguments.family][2](arguments)
    if os.environ.get("RANK", "0") == "0":
        # The other processes end before the first has written.
        print(f"{arguments.output}: done")
    return 0


def _loop(parser: argparse.ArgumentParser, **defaults: Any) -> None:
    """The options of the loop, with the defaults of a family."""
    group = parser.add_argument_group("training")
    group.add_argument("--valid", nargs="+", required=True, metavar="FILE", help="held-out text")
    for name, text in (
        ("epochs", "passes over the text, at most"),
        ("rate", "learning rate"),
        ("warmup", "steps (cosine, constant), at most all there are"),
        ("decay", "weight decay (adamw)"),
        ("clip", "largest norm of the gradient; 0: no limit"),
        ("patience", "stop after so many evaluations without gain; 0: never"),
        ("every", "evaluate every so many steps, and at the end; 0: after each epoch"),
        ("seed", "of weights, order and dropout"),
        ("batch", "sequences a step"),
        ("dropout", "share of units left out"),
    ):
        _number(group, name, defaults[name], text)
    group.add_argument("--optimiser", choices=["sgd", "adamw"], default=defaults["optimiser"])
    group.add_argument("--schedule", choices=["plateau", "cosine", "constant"], default=defaults["schedule"])
    group.add_argument("--dtype", choices=["f32", "bf16"], default="f32", help="bf16: forward passes in bfloat16")
    group.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1 ... (cpu)")
    group.add_argument("--threads", type=int, default=1, help="processor threads (1)")


def _number(group: "argparse._ActionsContainer", name: str, default: float, text: str) -> None:
    """An option that takes numbers of the kind of its default."""
    group.add_argument(
        f"--{name}", type=type(default), default=default, metavar=name.upper(), help=f"{text} ({default})"
    )


def _gpt2(parser: argparse.ArgumentParser) -> None:
    _loop(
        parser, epochs=40, rate=6e-4, warmup=200, decay=0.1, clip=1.0, patience=2, every=0, seed=1, batch=32,
        dropout=0.1, optimiser="adamw", schedule="cosine",
    )  # fmt: skip
    group = parser.add_argument_group("model and text")
    for name, default, text in (
        ("layers", 12, "layers"),
        ("width", 768, "their width"),
        ("heads", 12, "heads of attention"),
        ("positions", 1024, "longest row"),
        ("window", 128, "tokens a row in training"),
        ("lines", 256, "cloze lines a step"),
        ("vocabulary", 50257, "entries of the BPE vocabulary"),
    ):
        _number(group, name, default, text)
    group.add_argument("--units", choices=["bpe", "words"], default="bpe", help="what tokens are (bpe)")
    group.add_argument("--tokenizer", default="", help="take this tokenizer, a folder or a name on the hub")
    group.add_argument(
        "--cloze", nargs="+", default=[], metavar="FILE", help="further lines, of whose words only the last is learnt",
    )  # fmt: skip
    group.add_argument("--start", default="", metavar="MODEL", help="begin with this checkpoint of the same size")
    group.add_argument("--store", choices=["f32", "f16"], default="f32", help="the type of the stored weights (f32)")


def _run_gpt2(arguments: argparse.Namespace) -> None:
    from syntagm.training.transformers import gpt2

    gpt2.train(
        arguments.corpus, arguments.valid, arguments.output, _of(gpt2.Size, arguments), _of(gpt2.Text, arguments),
        _settings(arguments), arguments.store, arguments.start, arguments.cloze, Shown(),
    )  # fmt: skip


def _masked(parser: argparse.ArgumentParser) -> None:
    _loop(
        parser, epochs=40, rate=5e-4, warmup=1000, decay=0.01, clip=1.0, patience=2, every=0, seed=1, batch=64,
        dropout=0.1, optimiser="adamw", schedule="cosine",
    )  # fmt: skip
    group = parser.add_argument_group("model and text")
    for name, default, text in (
        ("layers", 4, "layers"),
        ("width", 512, "their width"),
        ("heads", 8, "heads of attention"),
        ("positions", 512, "longest row"),
        ("window", 128, "longest row in training"),
        ("vocabulary", 30522, "entries of the WordPiece vocabulary"),
    ):
        _number(group, name, default, text)
    group.add_argument("--lower", action="store_true", help="in lower case, without accents, as BERT uncased")
    group.add_argument("--share", type=float, default=0.15, metavar="P", help="share of tokens to be foretold (0.15)")
    group.add_argument("--store", choices=["f32", "f16"], default="f32", help="the type of the stored weights (f32)")


def _run_masked(arguments: argparse.Namespace) -> None:
    from syntagm.training.transformers import gpt2, masked

    masked.train(
        arguments.corpus, arguments.valid, arguments.output, _of(gpt2.Size, arguments), _of(masked.Text, arguments),
        _settings(arguments), arguments.store, Shown(),
    )  # fmt: skip


def _lstm(parser: argparse.ArgumentParser) -> None:
    _loop(
        parser, epochs=40, rate=20.0, warmup=0, decay=0.0, clip=0.25, patience=0, every=0, seed=1, batch=20,
        dropout=0.3, optimiser="sgd", schedule="plateau",
    )  # fmt: skip
    group = parser.add_argument_group(
        "model and text",
        "The defaults are those of Hu et al. 2020. Gulordava et al. 2018: --embedding 650 --hidden 650 --dropout 0.2 --batch 128",
    )
    for name, default, text in (
        ("embedding", 256, "width of the embeddings"),
        ("hidden", 256, "width of the layers"),
        ("layers", 2, "layers"),
        ("window", 35, "words of a column that a step reads"),
    ):
        _number(group, name, default, text)
    group.add_argument("--tied", action="store_true", help="one matrix for embeddings and output layer")
    _words(group)


def _words(group: "argparse._ActionsContainer") -> None:
    """What is a word, and what becomes of rare ones."""
    add = group.add_argument
    add("--threshold", type=int, default=2, metavar="N", help="a word seen less often is unknown (2)")
    add(
        "--unknown", dest="classes", choices=["berkeley", "single", "none"], default="berkeley",
        help="classes of unknown words; none: keep every word (berkeley)",
    )  # fmt: skip
    add(
        "--tokens", choices=["auto", "blanks", "treebank"], default="auto",
        help="how to divide text: at blanks, as the Penn Treebank, or as it stands if its marks stand alone already (auto)",
    )  # fmt: skip


def _run_lstm(arguments: argparse.Namespace) -> None:
    from syntagm.training.lstm import train as lstm

    lstm.train(
        arguments.corpus, arguments.valid, arguments.output, _of(lstm.Size, arguments), _of(lstm.Text, arguments),
        _settings(arguments), Shown(),
    )  # fmt: skip


def _ngram(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--valid", nargs="+", default=[], metavar="FILE", help="held-out text, whose perplexity is said")
    add("--order", type=int, default=5, metavar="N", help="words of the longest n-grams (5)")
    add(
        "--prune",
        type=int,
        nargs="+",
        default=[],
        metavar="N",
        help="leave out n-grams seen so often or less, by order",
    )
    add("--fallback", action="store_true", help="discounts of 0.5, 1 and 1.5 where the text gives none")
    add("--quirk", choices=["yes", "no"], default="yes", help="count the last n-gram as KenLM's lmplz does (yes)")
    _words(parser)


def _run_ngram(arguments: argparse.Namespace) -> None:
    from syntagm.training.ngram import train as ngram

    ngram.train(
        arguments.corpus, arguments.valid, arguments.output, arguments.order, arguments.tokens, arguments.threshold,
        arguments.classes, arguments.quirk == "yes", arguments.fallback, tuple(arguments.prune), print,
    )  # fmt: skip


def _of(kind: Any, arguments: argparse.Namespace) -> Any:
    """A dataclass of what the options of its fields' names say."""
    return kind(**{field.name: getattr(arguments, field.name) for field in fields(kind)})


def _settings(arguments: argparse.Namespace) -> "Settings":
    import torch

    from syntagm.models.device import device
    from syntagm.training.settings import Settings

    if arguments.threads < 1:
        raise UsageError("--threads", str(arguments.threads), "at least 1")
    torch.set_num_threads(arguments.threads)
    chosen = {name: getattr(arguments, name) for name in Settings.__slots__}
    if chosen["device"] == "cuda" and "LOCAL_RANK" in os.environ:
        # torchrun starts a process for each card of a machine, and says which is its.
        chosen["device"] = f"cuda:{os.environ['LOCAL_RANK']}"
    return Settings(**chosen | {"device": str(device(chosen["device"]))})


class Shown:
    """Says now and then how a training goes. Ctrl-C stops it; the last state stays."""

    def __init__(self) -> None:
        self._said = time.monotonic()
        self._before: tuple[int, float] | None = None

    def step(self, step: int, steps: int, loss: float, rate: float, tokens: int, seconds: float) -> None:
        """A line every ten seconds."""
        if self._before is None or time.monotonic() - self._said < _SAY_EVERY:
            self._before = self._before or (tokens, seconds)
            return
        self._said = time.monotonic()
        speed = (tokens - self._before[0]) / max(seconds - self._before[1], 1e-9)
        left = (steps - step) * (tokens / step) / max(speed, 1e-9)
        shown = f"step {step:,} of {steps:,}, loss {loss:.3f}, rate {rate:.3g}, {speed:,.0f} tokens/s, "
        print(f"{shown}{left / 60:,.0f} min left at most", flush=True)

    def evaluated(self, row: Mapping[str, float]) -> None:
        """A line each."""
        print(
            f"epoch {row['epoch']}, step {row['step']:,}: training loss {row['loss']:.4f} nats a token, "
            f"held out {row['bits_per_word']:.4f} bits a word, perplexity {row['perplexity']:.2f}",
            flush=True,
        )


# What each family is called, what it is, the options it takes, and how it is trained.
FAMILIES: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], None]]] = {
    "ngram": ("n-grams: interpolated modified Kneser-Ney", _ngram, _run_ngram),
    "lstm": ("a word-level LSTM", _lstm, _run_lstm),
    "gpt2": ("GPT-2 from scratch, over BPE or over words", _gpt2, _run_gpt2),
    "masked": ("a BERT from scratch, over WordPiece", _masked, _run_masked),
}
