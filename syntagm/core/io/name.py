"""Names in tables, of people and items. Programs differ in the blanks around a name and in how its accents are written."""

from unicodedata import normalize


def name_of(cell: object) -> str:
    """Return the name in a cell without blanks around it, in Unicode's form NFC, so that a name of two files is one.

    >>> name_of(" Zoe\u0308 ") == name_of("Zo\u00eb"), name_of(7), name_of(None)
    (True, '7', '')
    """
    return "" if cell is None else normalize("NFC", str(cell).strip())
