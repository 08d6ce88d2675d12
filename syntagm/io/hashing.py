"""Hashes of files."""

import hashlib
from pathlib import Path


def of_file(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits. May raise OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8 as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
