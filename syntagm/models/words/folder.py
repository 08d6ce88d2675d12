"""The folder of a word-level network, and whether there is one. No weights are read here."""

from collections.abc import Mapping
from pathlib import Path

from syntagm.core import ModelError, seal

FILES = ("model.json", "model.safetensors", "vocabulary.txt")


def check(name: str, path: str, chosen: Mapping[str, str]) -> None:
    """Refuse a folder that does not exist, or in which training was not finished; see `Family.checks`."""
    folder = Path(path)
    if not path or not folder.is_dir():
        raise ModelError(f"{name}:{path}", "no such folder", "a folder with " + ", ".join(FILES))
    seal.refuse_unsealed(folder, ModelError)
