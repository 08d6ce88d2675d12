"""The registry of model families: those of this package and those of other packages."""

from collections.abc import Iterable
from functools import cache

from syntagm.core import registry
from syntagm.models.contract import Described, Query, unable
from syntagm.models.family import Family


def names() -> list[str]:
    """Return the names of all families.

    >>> "causal" in names()
    True
    """
    return registry.names("models")


def find(name: str) -> Family:
    """Return the declaration of a family.

    Raises:
        UsageError: there is no such family, or one of another package cites a work without bringing its entry.

    >>> find("masked").sees
    'both'
    """
    family: Family = registry.find("models", name).FAMILY
    if name in registry.added("models"):
        family.refuse_unknown_works()
    return family


def every() -> dict[str, Family]:
    """Return the declarations of all families by name, also of those that `find` refuses: they don't hinder others."""
    return {name: registry.find("models", name).FAMILY for name in names()}


def of_model(name: str) -> Family | None:
    """Return the family of a model by its canonical name; None if that family is not installed."""
    family = name.partition(":")[0]
    return find(family) if family in names() else None


def able(query: Query) -> list[str]:
    """Return the names of the families whose models can do something.

    >>> able("parse")
    ['onlstm', 'rnng']
    """
    return [name for name, family in every().items() if query in family.can]


def refuse_unable(model: Described, queries: Iterable[Query]) -> None:
    for query in queries:
        if query not in model.can:
            raise unable(
                model.name, query, _deciding(model, query) or "a model of a family that can: " + ", ".join(able(query))
            )


def _deciding(model: Described, query: Query) -> str:
    """Return what is expected of a model that can't do something because of a setting; empty if there is none."""
    for family in map(find, able(query)):
        for setting, text in model.settings.items():
            if (value := family.known(setting, text)) and value.can is not None and query not in value.can:
                return f"another value than {setting}={text}"
    return ""


def taught(name: str) -> str:
    """Return the sentence on the training of a bundled model, by its canonical name; empty for other models.

    >>> taught("toy")
    ''
    """
    family = of_model(name)
    return family.taught.get(name.partition(":")[2], "") if family else ""


@cache
def bundled() -> dict[str, tuple[str, str]]:
    """Return the names of the bundled models, each with its family and path.

    >>> bundled()["toy"]
    ('toy', '')
    """
    return {name: (family, path) for family, found in every().items() for name, path in found.bundled.items()}
