"""The hyperparameters of an experiment: those of a scale, with changes by the user, as training settings.

They are named after the fields of a family's settings. Families that are trained in several passes also have `reading`,
which limits the number of words read in all passes together. The number of passes is rounded, and is at least 1. 0
means no limit. Families may also have options of their models, such as the sizes of a beam, for all evaluations.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from syntagm.errors import UsageError
from syntagm.papers.experiment.design import Options
from syntagm.settings import Number, Values
from syntagm.training import families
from syntagm.training.options import changed
from syntagm.training.trainable import Trainable

READING = "reading"


def taking_part() -> list[Trainable[Any]]:
    """List the families that take part in experiments, at any scale."""
    return [family for family in families.FAMILIES if family.controlled]


def default() -> list[str]:
    """List the names of the default families of an experiment.

    >>> default()
    ['ngram', 'lstm', 'gpt2']
    """
    return [family.name for family in taking_part() if family.controlled and family.controlled.default]


def scales() -> list[str]:
    """List the names of the scales.

    >>> scales()
    ['paper', 'small']
    """
    return list(dict.fromkeys(scale for family in taking_part() for scale in _scales(family)))


def _scales(family: Trainable[Any]) -> Mapping[str, Options]:
    return family.controlled.scales if family.controlled else {}


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
    available = {family.name: _scales(family)[scale] for family in taking_part() if scale in _scales(family)}
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
    """Check that a family can be trained with its hyperparameters on a text.

    Arguments:
        name, chosen, words: as for `settings`.
        corpus: the paths of the training text, which need not exist yet.
        valid: the paths of the held-out text.

    Raises:
        UsageError: a hyperparameter is not allowed, or the family needs trees.
    """
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
