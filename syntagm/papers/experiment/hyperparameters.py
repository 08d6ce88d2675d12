"""The hyperparameters of an experiment as the trainings take them: each of its kind, or refused before anything is trained."""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from syntagm.errors import UsageError

# The same in all families that learn by gradients.
_READING = "reading"


def taken(family: str, options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Size, text and settings of a training; of n-grams, its settings.

    Arguments:
        options: hyperparameters by name; those that none of the three has are left out.

    Raises:
        UsageError: a hyperparameter that can't be taken.

    >>> taken("ngram", {"order": 3, "tokens": "treebank", "classes": "single"})[0].order
    3
    """
    if options.get(_READING, 0) < 0:
        raise UsageError(f"{family}.{_READING}", str(options[_READING]), "a number of words; 0: no limit")
    return tuple(_made(family, kind, options) for kind in _kinds(family))


def _kinds(family: str) -> tuple[Any, ...]:
    from syntagm.training.lstm import train as lstm
    from syntagm.training.ngram import kneser_ney
    from syntagm.training.settings import Settings
    from syntagm.training.transformers import gpt2

    if family == "ngram":
        # Words are divided and classed alike for both word models.
        return kneser_ney.Settings, lstm.Text
    return (lstm.Size, lstm.Text, Settings) if family == "lstm" else (gpt2.Size, gpt2.Text, Settings)


def _made(family: str, kind: Any, options: Mapping[str, Any]) -> Any:
    given = {name: options[name] for name in kind.__slots__ if name in options}
    hints = get_type_hints(kind)
    for name, value in given.items():
        # A name that no training knows would be read as one of those it knows.
        if get_origin(hints[name]) is Literal and value not in get_args(hints[name]):
            raise UsageError(f"{family}.{name}", repr(value), "one of " + ", ".join(get_args(hints[name])))
    return kind(**given)
