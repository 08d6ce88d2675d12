"""Hashes of files."""

import hashlib
from pathlib import Path

from syntagm.core.io import regular

# The largest file that is hashed: more than any file of weights has.
MAX_BYTES = 2**40


def of_file(path: Path, limit: int = MAX_BYTES) -> str:
    """Return the SHA-256 of a regular file as 64 hexadecimal digits; for the errors see `regular.opened`."""
    with regular.opened(path, limit) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8 as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
