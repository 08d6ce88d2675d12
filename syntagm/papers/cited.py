"""Figures transcribed from a publication, to stand beside our own."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

_FOLDER = Path(__file__).resolve().parent.parent / "materials" / "cited"


@cache
def cited(name: str) -> Mapping[str, Any]:
    """The figures of a paper, as `materials/cited/NAME.toml` has them, with their source.

    >>> cited("marvin2018")["transcribed"]
    True
    """
    return MappingProxyType(tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8")))
