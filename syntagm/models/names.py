"""Parsing of model names, `family:path?option=value&option=value`, and loading of models by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from syntagm.errors import ModelError, UsageError
from syntagm.io import json, seal
from syntagm.models import families
from syntagm.models.contract import LanguageModel
from syntagm.models.family import Family


@dataclass(frozen=True, slots=True)
class Name:
    """A parsed model name."""

    family: str
    path: str
    options: Mapping[str, str]


def parse(text: str) -> Name:
    """Parse a model name.

    A name without a family is the name of a bundled model; otherwise the path of a folder whose `model.json` names the
    family; otherwise a name in the family `causal`.

    Raises:
        UsageError: there is no such family, the options can't be parsed, or an option is given twice.
        ModelError: a `model.json` names no family, or an unknown one.

    >>> parse("org/name@main?bos=no")
    Name(family='causal', path='org/name@main', options={'bos': 'no'})
    """
    address, _, query = text.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise UsageError(f"model {text}", f"options {query!r}", "option=value&option=value") from None
    options = dict(pairs)
    if len(options) < len(pairs):
        raise UsageError(f"model {text}", "an option given twice", "each option once")
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
    """Return the family named by a folder's `model.json`; `causal` if there is none."""
    if not (record := head(path)):
        return "causal"
    if (family := record["family"]) not in (known := families.names()):
        raise ModelError(str(path / "model.json"), f"no family {family!r}", "one of " + ", ".join(known))
    return str(family)


def head(path: Path) -> dict[str, Any]:
    """Read the `model.json` of a folder, which names at least the family; return an empty mapping if there is no such file.

    Raises:
        ModelError: the file names no family, or can't be read.
    """
    if not (file := path / "model.json").is_file():
        return {}
    record = json.record(file, ModelError, '{"family": ...}')
    if "family" not in record:
        raise ModelError(str(file), "no family", '{"family": ...}')
    return record


def permitted(text: str, permissions: Iterable[str]) -> dict[str, str]:
    """Return the permissions that a model can use, as options for `load`.

    For another family, permissions for pickles and programs are not an error: they may be meant for a suite, or for
    another model.

    Arguments:
        text: name of the model.
        permissions: the options that the user has permitted: `allow_pickle`, `allow_exec`, `remote_code`.

    >>> permitted("toy", ["allow_pickle"]), permitted("lstm:folder", ["allow_pickle"])
    ({}, {})
    """
    family = families.find(parse(text).family)
    return {name: "yes" for name in permissions if name == "remote_code" or name in family.permissions}


def check(text: str, **options: str) -> None:
    """Check all of a language model that can be checked without reading its weights; `load` checks the same.

    A name on the hub is not looked up.

    Arguments:
        text: name of the model.
        options: further options, besides those in the name.

    Raises:
        UsageError: there is no such family, or the family has no such option.
        ModelError: there is no such file or folder, or it may not be read.
    """
    family, path, given = _given(text, options)
    family.check(path, given)


def load(text: str, **options: str) -> LanguageModel:
    """Load a language model.

    Arguments:
        text: name of the model.
        options: further options, besides those in the name.

    Raises:
        UsageError: there is no such family, the family has no such option, or `text` is a model instead of a name.
        ModelError: the model can't be loaded.
    """
    if not isinstance(text, str):
        cure = "For a model in memory, call syntagm.from_transformers(model, tokenizer, name=...)."
        raise UsageError("load_model", f"a {type(text).__name__}", "the name of a model", cure)
    family, path, given = _given(text, options)
    model = family.load(path, given)
    if path and (renewals := seal.renewals(Path(path))):
        model.record = {**model.record, "seal renewed": renewals}
    return model


def _given(text: str, options: Mapping[str, str]) -> tuple[Family, str, dict[str, str]]:
    """Return the family of a model, its path, and all options."""
    name = parse(text)
    family = families.find(name.family)
    if forbidden := [
        option for option in name.options if option in family.options and family.options[option].argument_only
    ]:
        cure = f'On the command line: --{forbidden[0].replace("_", "-")}; in Python: load_model(name, {forbidden[0]}="yes").'
        raise UsageError(f"model {text}", f"{forbidden[0]} in a name", "this permission as an argument", cure)
    if doubled := sorted(name.options.keys() & options.keys()):
        raise UsageError(f"model {text}", f"option {doubled[0]!r} given twice", "each option once")
    return family, name.path, {**name.options, **options}
