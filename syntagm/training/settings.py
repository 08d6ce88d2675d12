"""Settings of training, declared as fields of dataclasses, which are the flags of `syntagm train`; those that families share.

    @dataclass(frozen=True, slots=True)
    class Size:
        layers: int = option("layers", 2)

    @dataclass(frozen=True, slots=True)
    class AllSettings:
        size: Size = part(MODEL, Size())

declares `--layers`. Its default is the value in the family's settings, which may differ from the default of the class.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from math import cos, inf, pi
from typing import Any, Literal, TypeVar, get_type_hints

from syntagm.core import Choice, Setting, UsageError, of_annotation

# The titles under which `--help` lists options.
TRAINING, MODEL = "training", "model and text"
_OPTION, _PART = "option", "part"

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Flag(Setting):
    """A training option: a setting, and how the command line shows it. Its name is that of the field."""

    flag: str = ""  # the name on the command line, without dashes
    value: Any = None  # the value if the option is not given
    metavar: str = ""  # the placeholder of the value in `--help`; "" for the flag in capitals
    group: str = ""  # the title under which `--help` lists the option; "" for none


def option(help: str, default: Any = MISSING, *, name: str = "", metavar: str = "", group: str = "") -> Any:
    """Declare a field of settings as an option."""
    declared = {"help": help, "name": name, "metavar": metavar, "group": group}
    return field(default=default, metadata={_OPTION: declared})


def part(title: str, default: Any) -> Any:
    """Declare a field of settings that contains further settings with their own options."""
    return field(default=default, metadata={_PART: title})


def options(settings: object) -> tuple[Flag, ...]:
    """List the options of a family's settings, with the values of the settings as defaults."""
    return tuple(_options(settings, ""))


def _options(settings: Any, group: str) -> Iterator[Flag]:
    hints = get_type_hints(type(settings), include_extras=True)
    for item in fields(settings):
        value = getattr(settings, item.name)
        if _PART in item.metadata:
            yield from _options(value, item.metadata[_PART])
        elif _OPTION in item.metadata:
            declared, setting = item.metadata[_OPTION], of_annotation(item.name, hints[item.name], value)
            yield Flag(
                setting.name, setting.values, setting.default, declared["help"], False,
                declared["name"] or item.name.replace("_", "-"), value, declared["metavar"], declared["group"] or group,
            )  # fmt: skip


def changed(settings: S, values: Mapping[str, object], place: str = "") -> S:
    """Return a copy of settings with new values for some fields, in any part of the settings."""
    original: Any = settings
    hints = get_type_hints(type(settings), include_extras=True)
    changes: dict[str, object] = {}
    for item in fields(original):
        if _PART in item.metadata:
            changes[item.name] = changed(getattr(original, item.name), values, place)
        elif item.name in values:
            value, allowed = values[item.name], of_annotation(item.name, hints[item.name], None).values
            # An unknown name would otherwise be treated as one of the known ones.
            if isinstance(value, str) and isinstance(allowed, Choice):
                value = allowed.read(f"{place}{item.name}", value)
            changes[item.name] = value
    return replace(original, **changes)  # type: ignore[no-any-return]


def refuse_small(settings: object, *names: str) -> None:
    """Refuse a setting below 1."""
    for name in names:
        if (value := getattr(settings, name)) < 1:
            raise UsageError(name, str(value), "at least 1")


@dataclass(frozen=True, slots=True)
class Words:
    """The settings for turning text into words.

    Arguments:
        tokens: `blanks`: split at white space; `treebank`: split as in the Penn Treebank (in text that is already
            split, NLTK mistakes a closing quote for an opening one); `auto`: `blanks` if the text is already split,
            else `treebank`.
        threshold: the number of occurrences below which a word is unknown.
        classes: the classes of unknown words: `berkeley`, `single` or `none` (every word is kept); see
            `models.words.vocabulary`.
        vocabulary: the number of words that are known at most, the most frequent ones; 0: no limit.
    """

    tokens: Literal["auto", "blanks", "treebank"] = option(
        "how to split text: at white space, as in the Penn Treebank, or whichever suits the text", "auto"
    )
    threshold: int = option("a word seen less often is unknown", 2, metavar="N")
    classes: Literal["berkeley", "single", "none"] = option(
        "classes of unknown words; none: every word is kept", "berkeley", name="unknown"
    )
    vocabulary: int = option("only the N most frequent words are known; 0: no limit", 0, metavar="N")


@dataclass(frozen=True, slots=True)
class TransformerSize:
    """The size of a transformer.

    Arguments:
        layers: the number of layers.
        width: the width of the layers, a multiple of `heads`.
        heads: the number of attention heads.
        positions: the length of the longest row that the model can read.
        dropout: the dropout in all places (0.1 in the papers).
    """

    layers: int = option("layers", 12)
    width: int = option("width of the layers", 768)
    heads: int = option("attention heads", 12)
    positions: int = option("length of the longest row that the model can read", 1024)
    dropout: float = option("dropout probability", 0.1)

    def __post_init__(self) -> None:
        refuse_small(self, "layers", "width", "heads", "positions")
        if self.width % self.heads:
            raise UsageError("width", str(self.width), f"a multiple of heads ({self.heads})")
        if not 0 <= self.dropout < 1:
            raise UsageError("dropout", str(self.dropout), "from 0 to less than 1")


def refuse_long_rows(window: int, size: TransformerSize) -> None:
    if window > size.positions:
        raise UsageError("window", str(window), f"at most the model's positions ({size.positions})")


Optimiser = Literal["sgd", "asgd", "adamw"]
Schedule = Literal["plateau", "cosine", "constant"]
PLATEAU_FACTOR = 0.25
FLOOR = 0.1
# Averaging (asgd) begins when an evaluation is worse than the best of all but this number of the last ones.
NON_MONOTONE = 5
# The loop multiplies the seed by a million and adds the epoch; the result must fit into 64 bits.
_SEEDS = 2**32


class Default(int):
    """A default number of warm-up steps, which is reduced in short training. A number given by the user is a plain int."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Training settings.

    Arguments:
        epochs: the maximum number of passes over the text.
        optimiser: `sgd`: plain SGD; `asgd`: SGD that averages the weights of all steps once evaluations stop improving
            (NT-ASGD, Merity et al. 2018); `adamw`: AdamW with betas 0.9 and 0.95 and no weight decay of biases and norms.
        lr: the peak learning rate.
        schedule: `plateau`: divide the rate by four after an evaluation that does not beat the best one (Gulordava et al.
            2018); `cosine`: rise linearly over `warmup` steps, then fall to a tenth along a cosine over all epochs;
            `constant`: rise linearly over `warmup` steps, then stay constant.
        warmup: the number of linear warm-up steps, at most the total number of steps; ignored by `plateau`. In short
            training, a `Default` is reduced; see `warmup_steps`.
        decay: the weight decay (asgd, adamw).
        clip: the maximum norm of the gradient; 0 for no limit.
        patience: the number of successive evaluations without improvement after which training stops; 0 for no
            early stopping.
        every: the number of steps between evaluations, in addition to one at the end; 0 to evaluate after each
            epoch.
        seed: the seed of the initial weights, the order of the batches and dropout.
        dtype: `f32`: float32; `bf16`: forward passes in bfloat16, weights and optimiser in float32.
        device: `cpu`, `cuda`, `cuda:1` ...
    """

    epochs: int = option("maximum number of passes over the text")
    optimiser: Optimiser = option("plain SGD, SGD with averaging once improvement stops, or AdamW")
    lr: float = option("learning rate")
    schedule: Schedule = option("schedule of the learning rate", "plateau")
    warmup: int = option("warm-up steps (cosine, constant); the default is reduced in short training", 0)
    decay: float = option("weight decay (asgd, adamw)", 0.0)
    clip: float = option("maximum norm of the gradient; 0: no limit", 0.25)
    patience: int = option("number of evaluations without improvement after which to stop; 0: never stop early", 0)
    every: int = option("number of steps between evaluations; 0: evaluate after each epoch", 0)
    seed: int = option("seed of the initial weights, the order of the batches and dropout", 1)
    dtype: Literal["f32", "bf16"] = option("bf16: forward passes in bfloat16", "f32")
    device: str = option("cpu, cuda, cuda:1 ...", "cpu")

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("warmup", 0), ("decay", 0), ("clip", 0), ("patience", 0), ("every", 0)):
            # This refuses inf and nan, too.
            if not least <= getattr(self, name) < inf:
                raise UsageError(name, str(getattr(self, name)), f"at least {least}")
        if not 0 < self.lr < inf:
            raise UsageError("lr", str(self.lr), "more than 0")
        if self.optimiser == "asgd" and 0 < self.patience <= NON_MONOTONE:
            # Training would stop before the average begins.
            raise UsageError("patience", f"{self.patience} with the optimiser asgd", f"0, or more than {NON_MONOTONE}")
        if not 0 <= self.seed < _SEEDS:
            raise UsageError("seed", str(self.seed), f"from 0 to {_SEEDS - 1:,}")


def rate_at(settings: Settings, step: int, steps: int, reductions: int) -> float:
    """Return the learning rate of a step (from 0), of so many steps, after so many reductions by the plateau schedule.

    >>> cosine = Settings(1, "adamw", 1.0, "cosine", warmup=2)
    >>> [round(rate_at(cosine, step, 12, 0), 3) for step in (0, 1, 2, 7, 11)]
    [0.5, 1.0, 1.0, 0.55, 0.122]
    >>> rate_at(Settings(1, "sgd", 20.0), 5, 12, reductions=2)
    1.25
    """
    if settings.schedule == "plateau":
        return float(settings.lr * PLATEAU_FACTOR**reductions)
    warmup = warmup_steps(settings, steps)
    if step < warmup:
        return settings.lr * (step + 1) / warmup
    if settings.schedule == "constant":
        return settings.lr
    progress = (step - warmup) / max(1, steps - warmup)
    return settings.lr * (FLOOR + (1 - FLOOR) * (1 + cos(pi * min(1.0, progress))) / 2)


def warmup_steps(settings: Settings, steps: int) -> int:
    """Return the number of warm-up steps for training with a total of `steps` steps.

    A default that is more than half of the steps is reduced to a tenth of them.

    >>> default = Settings(1, "adamw", 1.0, "cosine", warmup=Default(200))
    >>> warmup_steps(default, 400), warmup_steps(default, 150)
    (200, 15)
    """
    if isinstance(settings.warmup, Default) and 2 * settings.warmup > steps:
        return steps // 10
    return settings.warmup
