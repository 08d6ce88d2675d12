"""Figures transcribed from a publication, to stand beside our own."""

import tomllib
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent.parent / "materials" / "cited"


def cited(name: str) -> dict[str, Any]:
    """The figures of a paper, as `materials/cited/NAME.toml` has them, with their source.

    >>> cited("marvin2018")["transcribed"]
    True
    """
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
