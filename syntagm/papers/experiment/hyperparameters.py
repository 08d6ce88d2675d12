"""The hyperparameters of an experiment: those of a scale, with changes by the user, as training settings.

They are named after the fields of a family's settings. Families that are trained in several passes also have `reading`,
which limits the number of words read in all passes together. The number of passes is rounded, and is at least 1. 0
means no limit. Families may also have options of their models, such as the sizes of a beam, for all evaluations.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from syntagm.core import Number, UsageError, Values
from syntagm.training import Default, Trainable, changed, families

Options = Mapping[str, Any]
READING = "reading"
# The families of Hu et al. 2020, which an experiment has if neither it nor the user names any.
DEFAULT = ("ngram", "lstm", "gpt2")


def _scales(paper: Options, small: Options) -> dict[str, Options]:
    """Return the hyperparameters at both scales: those of a publication, and what is different in small models."""
    return {"paper": paper, "small": {**paper, **small}}


# Hu et al. 2020. The threshold of the small model gives the same vocabulary as that of the n-gram model of this scale.
_LSTM = _scales(
    {"embedding": 256, "hidden": 256, "layers": 2, "dropout": 0.3, "tied": False,
     "tokens": "treebank", "threshold": 2, "classes": "berkeley", "batch": 20, "window": 35,
     "epochs": 40, "reading": 0, "optimiser": "sgd", "lr": 20.0, "schedule": "plateau", "clip": 0.25, "patience": 0,
     "dtype": "f32"},
    {"embedding": 128, "hidden": 128, "dropout": 0.2, "tied": True, "threshold": 5, "reading": 4_000_000, "patience": 2},
)  # fmt: skip
_TAGGING = {"tags": "", "valid_tags": "", "head": "linear", "mixing": "equal", "tag_weight": 1.0}
_GPT2 = _scales(
    {"layers": 12, "width": 768, "heads": 12, "positions": 1024, "dropout": 0.1,
     "units": "bpe", "vocabulary": 50_257, "tokenizer": "", "window": 1024, "batch": 8,
     "epochs": 40, "reading": 0, "optimiser": "adamw", "lr": 6e-4, "schedule": "cosine", "warmup": Default(200),
     "decay": 0.1, "clip": 1.0, "patience": 2, "dtype": "f32"},
    {"layers": 4, "width": 128, "heads": 4, "positions": 256, "vocabulary": 4096, "window": 64, "batch": 16, "lr": 2e-3,
     "reading": 4_000_000, "patience": 2},
)  # fmt: skip
# The families that take part in experiments: family -> scale -> hyperparameters.
SCALES: Mapping[str, Mapping[str, Options]] = {
    "ngram": _scales(
        {"order": 5, "smoothing": "interpolated", "tokens": "treebank", "threshold": 2, "classes": "berkeley",
         "discount_fallback": False},
        {"threshold": 5, "discount_fallback": True},
    ),
    "lstm": _LSTM,
    # Shen et al. 2019; words as for the other families of Hu et al. 2020.
    "onlstm": _scales(
        {"embedding": 400, "hidden": 1150, "layers": 3, "chunk": 10, "dropout": 0.45, "dropout_layers": 0.3,
         "dropout_input": 0.5, "dropout_words": 0.1, "dropout_recurrent": 0.45, "tokens": "treebank", "threshold": 2,
         "classes": "berkeley", "batch": 20, "window": 70, "epochs": 500, "reading": 0, "optimiser": "asgd", "lr": 30.0,
         "schedule": "constant", "clip": 0.25, "patience": 0, "dtype": "f32"},
        {"embedding": 160, "hidden": 200, "threshold": 5, "dropout": 0.2, "dropout_layers": 0.1, "dropout_input": 0.2,
         "dropout_words": 0.0, "dropout_recurrent": 0.2, "window": 35, "epochs": 40, "reading": 4_000_000, "patience": 6},
    ),
    "multitask": {scale: {**options, **_TAGGING} for scale, options in _LSTM.items()},
    "gpt2": _GPT2,
    # Section 4.5 of Hu et al. 2020.
    "gpt2-words": {scale: {**options, "units": "words"} for scale, options in _GPT2.items()},
    # Hu et al. 2020, with the optimiser and the number of passes of rnng-pytorch.
    "rnng": _scales(
        {"embedding": 256, "hidden": 256, "layers": 2, "dropout": 0.3, "tied": False, "parts": "all",
         "tokens": "treebank", "threshold": 2, "classes": "berkeley", "batch": 32,
         "epochs": 18, "reading": 0, "optimiser": "adamw", "lr": 1e-3, "schedule": "plateau", "clip": 5.0, "patience": 0,
         "dtype": "f32", "beam": 100, "word_beam": 10, "fast_track": 5},
        {"embedding": 128, "hidden": 128, "dropout": 0.2, "tied": True, "threshold": 5, "reading": 1_000_000, "patience": 2},
    ),
}  # fmt: skip


def taking_part() -> list[Trainable[Any]]:
    """List the families that take part in experiments, at any scale."""
    return list(map(families.find, SCALES))


def scales() -> list[str]:
    """List the names of the scales.

    >>> scales()
    ['paper', 'small']
    """
    return list(dict.fromkeys(scale for of_family in SCALES.values() for scale in of_family))


def options(scale: str, names: Sequence[str], changes: Mapping[str, str] | None = None) -> dict[str, dict[str, object]]:
    """Return the hyperparameters of families at a scale, with changes.

    Arguments:
        scale: the name of the scale.
        names: the names of the families.
        changes: FAMILY.NAME -> value, as text.

    Raises:
        UsageError: the scale, a family or a hyperparameter does not exist, or a value has a different type.

    >>> options("small", ["ngram"], {"ngram.order": "3"})["ngram"]["order"]
    3
    """
    if scale not in scales():
        raise UsageError("scale", repr(scale), "one of " + ", ".join(scales()))
    available = {family: of_family[scale] for family, of_family in SCALES.items() if scale in of_family}
    if unknown := [name for name in names if name not in available]:
        raise UsageError("families", repr(unknown[0]), "one of " + ", ".join(available))
    chosen = {name: dict(available[name]) for name in names}
    for name, text in (changes or {}).items():
        family, _, option = name.partition(".")
        if family not in chosen or option not in chosen[family]:
            known = [f"{family}.{option}" for family, hyperparameters in chosen.items() for option in hyperparameters]
            raise UsageError("hyperparameters", f"no {name!r}", "one of " + ", ".join(known))
        chosen[family][option] = _values(family, option).read(f"hyperparameter {name}", text)
    return chosen


def _values(family: str, option: str) -> Values:
    """Return the possible values of a hyperparameter: of a training option, an option of the trained model, or `reading`."""
    from syntagm.models import families as models

    trained = {flag.name: flag.values for flag in families.find(family).options}
    if option in trained:
        return trained[option]
    return Number(int) if option == READING else models.find(family).options[option].values


def settings(name: str, chosen: Options, words: int, **more: object) -> Any:
    """Create the settings for training a family on a text.

    Arguments:
        name: the name of the family.
        chosen: the hyperparameters of the family.
        words: the number of words of the text, for `reading`.
        more: further settings: the seed, the device.

    Raises:
        UsageError: a hyperparameter is not allowed.

    >>> settings("ngram", {"order": 3, "tokens": "treebank", "classes": "single"}, 1000).estimation.order
    3
    """
    if chosen.get(READING, 0) < 0:
        raise UsageError(f"{name}.{READING}", str(chosen[READING]), "a number of words; 0: no limit")
    limited = {"epochs": passes(chosen, words)} if "epochs" in chosen else {}
    scoring = evaluation(name, chosen)
    trained = {option: value for option, value in chosen.items() if option not in scoring}
    return changed(families.find(name).settings, {**trained, **limited, **more}, f"{name}.")


def evaluation(name: str, chosen: Options) -> dict[str, str]:
    """Return the options with which models of a family are evaluated, by name; for the arguments see `settings`.

    >>> evaluation("rnng", {"hidden": 128, "beam": 100}), evaluation("lstm", {"hidden": 128})
    ({'beam': '100'}, {})
    """
    controlled = families.find(name).controlled
    options = controlled.evaluation if controlled else ()
    return {option: str(value) for option, value in chosen.items() if option in options}


def check(name: str, chosen: Options, words: int, corpus: Sequence[str], valid: Sequence[str]) -> None:
    """Check that a family can be trained with its hyperparameters on a text."""
    from syntagm.models import families as models

    training, controlled = settings(name, chosen, words), families.find(name).controlled
    if scoring := evaluation(name, chosen):
        models.find(name).choose(scoring)
    if controlled and controlled.check_texts:
        controlled.check_texts(training, corpus, valid)


def passes(chosen: Options, words: int) -> int:
    """Return the maximum number of passes over a text of `words` words.

    >>> passes({"epochs": 40, "reading": 4_000_000}, 1_000_000), passes({"epochs": 40, "reading": 0}, 1_000_000)
    (4, 40)
    """
    limit = max(1, round(chosen[READING] / max(1, words))) if chosen.get(READING) else chosen["epochs"]
    return int(min(chosen["epochs"], limit))
