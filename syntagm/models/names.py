"""The name of a language model: `family:path?option=value&option=value`, and how it is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from syntagm.errors import ModelError, UsageError
from syntagm.io import json, seal
from syntagm.models import families
from syntagm.models.contract import LanguageModel


@dataclass(frozen=True, slots=True)
class Name:
    """A parsed model name."""

    family: str
    path: str
    options: Mapping[str, str]


def parse(text: str) -> Name:
    """Read a model name. A plain name means the bundled model of that name; else a folder with a `model.json`, which
    says its family; else `causal:`.

    Raises:
        UsageError: there is no such family, the options can't be read, or one is given twice.
        ModelError: a `model.json` that says no family, or none that there is.

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
        # No name on the hub has a colon.
        raise UsageError(f"model {text}", f"no family {family!r}", "one of " + ", ".join(families.names()))
    return Name(_family(Path(address)), address, options)


def _family(path: Path) -> str:
    """The family of a folder without a family before it: what its `model.json` says, else `causal`."""
    if not (said := head(path)):
        return "causal"
    if (family := said["family"]) not in (known := families.names()):
        raise ModelError(str(path / "model.json"), f"no family {family!r}", "one of " + ", ".join(known))
    return str(family)


def head(path: Path) -> dict[str, Any]:
    """What the `model.json` of a folder says, its family at least; nothing if there is none.

    Raises:
        ModelError: it says no family, or can't be read.
    """
    if not (file := path / "model.json").is_file():
        return {}
    said = json.record(file, ModelError, '{"family": ...}')
    if "family" not in said:
        raise ModelError(str(file), "says no family", '{"family": ...}')
    return said


def load(text: str, **options: str) -> LanguageModel:
    """Load the language model called `text`; `options` add to those in the name.

    Raises:
        UsageError: no such family, or an option the family doesn't have; or `text` is a model, not a name.
        ModelError: the model can't be loaded.
    """
    if not isinstance(text, str):
        cure = "For a model in memory: syntagm.from_transformers(model, tokenizer, name=...)."
        raise UsageError("load_model", f"a {type(text).__name__}", "the name of a model", cure)
    name = parse(text)
    if doubled := sorted(name.options.keys() & options.keys()):
        raise UsageError(f"model {text}", f"option {doubled[0]!r} given twice", "each option once")
    model = families.find(name.family).load(name.path, {**name.options, **options})
    if renewals := seal.renewals(Path(name.path)):
        model.record = {**model.record, "seal renewed": renewals}
    return model
