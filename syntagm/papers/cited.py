"""Figures transcribed from a publication, to stand beside our own."""

from pathlib import Path
from typing import Any

from syntagm.io import toml, utf8

_FOLDER = Path(__file__).resolve().parent.parent / "materials" / "cited"


def cited(name: str) -> dict[str, Any]:
    """The figures of a paper, as `materials/cited/NAME.toml` has them, with their source.

    >>> cited("marvin2018")["transcribed"]
    True
    """
    path = _FOLDER / f"{name}.toml"
    return toml.read(utf8.read(path), str(path))
