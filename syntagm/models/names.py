"""The name of a language model: `family:path?option=value&option=value`, and how it is loaded."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from syntagm import registry
from syntagm.errors import ModelError, UsageError
from syntagm.io import json
from syntagm.models.contract import LanguageModel

LARGEST = 10**12
BUNDLED = {"demo": ("causal", str(Path(__file__).with_name("_demo"))), "toy": ("toy", ""), "random": ("random", "")}


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
    if address in BUNDLED:
        return Name(*BUNDLED[address], options)
    family, colon, path = address.partition(":")
    if colon and family in registry.names("models"):
        if path in BUNDLED and BUNDLED[path][0] == family:
            path = BUNDLED[path][1]
        return Name(family, path, options)
    if family.isidentifier() and colon and not Path(address).exists():
        # No name on the hub has a colon.
        raise UsageError(f"model {text}", f"no family {family!r}", "one of " + ", ".join(registry.names("models")))
    return Name(_family(Path(address)), address, options)


def _family(path: Path) -> str:
    """The family of a folder without a family before it: what its `model.json` says, else `causal`."""
    if not (said := head(path)):
        return "causal"
    if (family := said["family"]) not in (known := registry.names("models")):
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
        UsageError: no such family, or an option the family doesn't have.
        ModelError: the model can't be loaded.
    """
    name = parse(text)
    if doubled := sorted(name.options.keys() & options.keys()):
        raise UsageError(f"model {text}", f"option {doubled[0]!r} given twice", "each option once")
    module = registry.find("models", name.family)
    model: LanguageModel = module.load(name.path, **name.options, **options)
    return model


def choose(options: Mapping[str, str], name: str, values: Iterable[str], default: str) -> str:
    """The value of option `name`, one of `values`.

    Raises:
        UsageError: another value was given.
    """
    value = options.get(name, default)
    if value not in (known := list(values)):
        raise UsageError(f"model option {name}", repr(value), "one of " + ", ".join(known))
    return value


def whole(place: str, text: str, least: int = 1, most: int = LARGEST, also: str = "") -> int:
    """A whole number in digits from `least` to `most`, without the thousands of digits that Python takes no number from.

    Arguments:
        also: what else may be said there, for the error.

    Raises:
        UsageError: it is none.

    >>> whole("--flips", "20", least=0)
    20
    """
    if not re.fullmatch("[0-9]{1,18}", text) or not least <= int(text) <= most:
        raise UsageError(
            place, f"{text!r:.60}", f"a whole number from {least:,} to {most:,}" + (f", or {also}" if also else "")
        )
    return int(text)


def refuse_others(family: str, options: Mapping[str, str], known: Iterable[str]) -> None:
    """Refuse options that the family does not have: a misspelt one must not change a number unseen."""
    if others := sorted(set(options) - set(known)):
        raise UsageError(
            f"model family {family}", f"no such option: {others[0]!r}", "one of " + ", ".join(sorted(known))
        )


def canonical(family: str, path: str, options: Mapping[str, str], silent: Iterable[str] = ()) -> str:
    """The name as it stands in results: options sorted, less those that say only where or how fast to compute."""
    shown = "&".join(f"{key}={options[key]}" for key in sorted(options) if key not in silent)
    return f"{family}:{path}" + (f"?{shown}" if shown else "")
