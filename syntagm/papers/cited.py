"""Numbers transcribed from publications, for comparison with computed numbers."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from syntagm.core import toml, utf8

_FOLDER = Path(__file__).resolve().parent


@cache
def cited(name: str) -> Mapping[str, Any]:
    """Return the transcribed numbers of a paper and their source, from `papers/NAME/cited.toml`.

    >>> cited("marvin2018")["transcribed"]
    True
    """
    path = _FOLDER / name / "cited.toml"
    return MappingProxyType(toml.read(utf8.read(path), str(path)))
