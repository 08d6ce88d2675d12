"""The hyperparameters of an experiment: those of a scale, some of them changed, as the settings of a training.

They have the names of the fields of a family's settings. `reading`, which families that learn in passes have besides, limits
these: pass through the text no more often than it takes to read so many words, to the nearest pass, and once at least; 0: no
such limit.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from syntagm.errors import UsageError
from syntagm.papers.experiment.design import Options
from syntagm.training import families
from syntagm.training.options import changed
from syntagm.training.trainable import Trainable

READING = "reading"


def taking_part() -> list[Trainable[Any]]:
    """The families that take part in experiments, at any scale."""
    return [family for family in families.FAMILIES if family.controlled]


def default() -> list[str]:
    """The names of the families of an experiment that names none.

    >>> default()
    ['ngram', 'lstm', 'gpt2']
    """
    return [family.name for family in taking_part() if family.controlled and family.controlled.default]


def scales() -> list[str]:
    """The names of the scales.

    >>> scales()
    ['paper', 'small']
    """
    return list(dict.fromkeys(scale for family in taking_part() for scale in _scales(family)))


def _scales(family: Trainable[Any]) -> Mapping[str, Options]:
    return family.controlled.scales if family.controlled else {}


def options(scale: str, names: Sequence[str], changes: Mapping[str, str] | None = None) -> dict[str, dict[str, object]]:
    """The hyperparameters of families at a scale, some of them changed.

    Arguments:
        changes: FAMILY.NAME -> value, as text.

    Raises:
        UsageError: no such scale, family or hyperparameter, or a value of another kind.

    >>> options("small", ["ngram"], {"ngram.order": "3"})["ngram"]["order"]
    3
    """
    if scale not in scales():
        raise UsageError("scale", repr(scale), "one of " + ", ".join(scales()))
    there = {family.name: _scales(family)[scale] for family in taking_part() if scale in _scales(family)}
    if odd := [name for name in names if name not in there]:
        raise UsageError("families", repr(odd[0]), "one of " + ", ".join(there))
    made = {name: dict(there[name]) for name in names}
    for name, text in (changes or {}).items():
        family, _, option = name.partition(".")
        if family not in made or option not in made[family]:
            known = [f"{family}.{option}" for family, several in made.items() for option in several]
            raise UsageError("hyperparameters", f"no {name!r}", "one of " + ", ".join(known))
        made[family][option] = _like(made[family][option], name, text)
    return made


def _like(standing: object, name: str, text: str) -> object:
    """A value given as text, of the kind that stands there."""
    kinds: dict[type, Callable[[str], object]] = {
        int: int,
        float: float,
        str: str,
        bool: {"yes": True, "no": False}.__getitem__,
    }
    try:
        return kinds[type(standing)](text)
    except (ValueError, KeyError):
        expected = "yes or no" if isinstance(standing, bool) else f"a value like {standing!r}"
        raise UsageError(f"hyperparameter {name}", repr(text), expected) from None


def settings(name: str, chosen: Options, words: int, **more: object) -> Any:
    """The settings with which a family is trained on a text.

    Arguments:
        name: of the family.
        chosen: its hyperparameters.
        words: of the text, which `reading` is about.
        more: further settings: the seed, the device.

    Raises:
        UsageError: a hyperparameter that can't be taken.

    >>> settings("ngram", {"order": 3, "tokens": "treebank", "classes": "single"}, 1000).estimation.order
    3
    """
    if chosen.get(READING, 0) < 0:
        raise UsageError(f"{name}.{READING}", str(chosen[READING]), "a number of words; 0: no limit")
    limited = {"epochs": passes(chosen, words)} if "epochs" in chosen else {}
    return changed(families.find(name).settings, {**chosen, **limited, **more}, f"{name}.")


def passes(chosen: Options, words: int) -> int:
    """How often a text of so many words is read, at most.

    >>> passes({"epochs": 40, "reading": 4_000_000}, 1_000_000), passes({"epochs": 40, "reading": 0}, 1_000_000)
    (4, 40)
    """
    limit = max(1, round(chosen[READING] / max(1, words))) if chosen.get(READING) else chosen["epochs"]
    return int(min(chosen["epochs"], limit))
