"""Parsing of model names, `family:path?option=value&option=value`, and loading of models by name."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from syntagm.core import (
    NONE,
    ModelError,
    OptionValue,
    Permissions,
    UsageError,
    asked,
    extras,
    json,
    public,
    refuse,
    seal,
    spelled,
)
from syntagm.models import families
from syntagm.models.contract import LanguageModel, Query
from syntagm.models.family import Declared

NO_OPTIONS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Name:
    """A parsed model name."""

    family: str
    path: str
    options: Mapping[str, str]


def parse(text: str) -> Name:
    """Parse a model name.

    A name without a family is the name of a bundled model; otherwise the path of a folder whose `model.json` names the
    family, or of a file whose ending belongs to a family; otherwise a name in the family `causal`.

    Raises:
        UsageError: there is no such family, no family has files with that ending, the options can't be parsed, an option is
            given twice, or one is a permission.
        ModelError: a `model.json` names no family, or an unknown one.

    >>> parse("org/name@main?bos=no")
    Name(family='causal', path='org/name@main', options={'bos': 'no'})
    """
    address, options = asked(text, "model")
    refuse(f"model {text}", options)
    if address in (bundled := families.bundled()):
        return Name(*bundled[address], options)
    family, colon, path = address.partition(":")
    if colon and family in families.names():
        return Name(family, families.find(family).bundled.get(path, path), options)
    if family.isidentifier() and colon and not Path(address).exists():
        # Names on the hub have no colon.
        raise UsageError(f"model {text}", f"no family {family!r}", "one of " + ", ".join(families.names()))
    return Name(_family(Path(address)), address, options)


def _family(path: Path) -> str:
    """Return the family of a file by its ending, or that named by a folder's `model.json`; `causal` if there is neither."""
    if path.is_file():
        return _of_file(path)
    if not (record := head(path)):
        return "causal"
    if (family := record["family"]) not in (known := families.names()):
        raise ModelError(str(path / "model.json"), f"no family {family!r}", "one of " + ", ".join(known))
    return str(family)


def _of_file(path: Path) -> str:
    endings = {ending: family for family, found in families.every().items() for ending in found.endings}
    if family := next((family for ending, family in endings.items() if path.name.endswith(ending)), ""):
        return family
    cure = "If it is one, write FAMILY:FILE; `syntagm models` lists the families."
    expected = "a folder, or a file whose name ends in " + ", ".join(sorted(endings))
    raise UsageError(f"model {path}", "a file that is no model, by its name", expected, cure)


def head(path: Path) -> dict[str, Any]:
    """Read the `model.json` of a folder, which names at least the family; return an empty mapping if there is no such file."""
    if not (file := path / "model.json").is_file():
        return {}
    record = json.record(file, ModelError, '{"family": ...}')
    if "family" not in record:
        raise ModelError(str(file), "no family", '{"family": ...}')
    return record


def declared(text: str, options: Mapping[str, str] = NO_OPTIONS) -> Declared:
    """Return what is known of a language model by its name: what it sees, what it can do, and its settings.

    Arguments:
        text: name of the model.
        options: further options, besides those in the name.

    Raises:
        UsageError: there is no such family, the family has no such option, or an option is given twice.
        ModelError: a `model.json` names no family, or an unknown one.

    >>> declared("masked:bert-base-cased").sees, sorted(declared("rnng:models/rnng").can)
    ('both', ['parse', 'score'])
    """
    name = _with(text, options)
    return families.find(name.family).declared(text, name.options)


def check(text: str, permissions: Permissions = NONE, queries: Sequence[Query] = ("score",)) -> None:
    """Check all of a language model that can be checked without reading its weights; `load_permitted` checks the same."""
    # A name on the hub is not looked up.
    name = parse(text)
    family = families.find(name.family)
    families.refuse_unable(family.declared(text, name.options), queries)
    with extras.needed(f"model {text}", ModelError):
        family.check(name.path, name.options, permissions)


@public(name="load_model")
def load(
    text: str,
    *,
    allow_pickle: bool = False,
    allow_exec: bool = False,
    trust_remote_code: bool = False,
    **options: OptionValue,
) -> LanguageModel:
    """Load a language model.

    Arguments:
        text: name of the model.
        allow_pickle: load pickled weights, which can run arbitrary code.
        allow_exec: start the program of a model (`exec:`, `python:`).
        trust_remote_code: run Python code that comes with the model.
        options: further options, besides those in the name, as text or as Python values: `seed=2`.

    Raises:
        UsageError: there is no such family, the family has no such option, or `text` is a model instead of a name.
        ModelError: the model can't be loaded.

    >>> load("random", seed=2).name
    'random:normal(16,2)?seed=2'
    """
    refuse("load_model", options)
    texts = {name: spelled(value) for name, value in options.items()}
    model = load_permitted(text, Permissions(allow_pickle, allow_exec, trust_remote_code), texts)
    model._given_out()
    for warning in model.warnings:
        warnings.warn(f"{model.name}: {warning}", stacklevel=2)
    return model


def load_permitted(
    text: str, permissions: Permissions, options: Mapping[str, str] = NO_OPTIONS, queries: Sequence[Query] = ("score",)
) -> LanguageModel:
    name = _with(text, options)
    family = families.find(name.family)
    families.refuse_unable(family.declared(text, name.options), queries)
    with extras.needed(f"model {text}", ModelError):
        model = family.load(name.path, name.options, permissions)
    families.refuse_unable(model, queries)
    if name.path and (renewals := seal.renewals(Path(name.path))):
        model._add_to_record({"seal renewed": renewals})
    return model


def _with(text: str, options: Mapping[str, str]) -> Name:
    name = parse(text)
    if doubled := sorted(name.options.keys() & options.keys()):
        raise UsageError(f"model {text}", f"option {doubled[0]!r} given twice", "each option once")
    return replace(name, options={**name.options, **options})
