"""Repair of texts whose UTF-8 was once read in another encoding."""

import re

# UTF-8 that was read as Latin-1 or Windows-1252: the first byte of a character, and the bytes that follow it.
_MOJIBAKE = re.compile(
    "[\u00c2-\u00df][\u0080-\u00bf\u0152-\u0192\u02c6-\u02dc\u2013-\u2122]|"
    "[\u00e0-\u00ef][\u0080-\u00bf\u0152-\u0192\u02c6-\u02dc\u2013-\u2122]{2}"
)


def repaired(text: str) -> str:
    """Return a text whose UTF-8 was read as Windows-1252 or Latin-1 as it was meant; any other text as it is.

    >>> repaired("Les Ã©lÃ¨ves dorment."), repaired("Élèves"), repaired("Ã la carte")
    ('Les élèves dorment.', 'Élèves', 'Ã la carte')
    """
    if not _MOJIBAKE.search(text):
        return text
    for encoding in ("cp1252", "latin-1"):
        try:
            meant = text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return meant
    return text
