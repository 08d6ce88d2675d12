"""The bibliography: BibTeX entries for the sources of suites, models and methods, in `references.bib`.

A key consists of surnames, the year and a word, such as `levy-2008-expectation`.
"""

import re
from functools import cache
from pathlib import Path

from syntagm.core.errors import UsageError
from syntagm.core.io import utf8

_KEY = re.compile(r"@\w+\{([^,\s]+),")


@cache
def entries() -> dict[str, str]:
    """Return the entries of the file by key.

    >>> "hu-etal-2020-systematic" in entries()
    True
    """
    path = Path(__file__).with_name("references.bib")
    return parsed(utf8.read(path), str(path))


def parsed(text: str, place: str) -> dict[str, str]:
    """Return BibTeX entries by key."""
    found: dict[str, str] = {}
    for block in re.split(r"\n\s*(?=@)", text.strip()) if text.strip() else ():
        match = _KEY.match(block)
        if not match or block.count("{") != block.count("}") or not block.rstrip().endswith("}"):
            raise UsageError(
                place, repr(block[:60]), "a BibTeX entry with a key, such as @article{name-2020-word, ...}"
            )
        found[match[1]] = block.strip()
    return found
