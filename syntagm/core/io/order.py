"""The natural order of names, in which step2 comes before step10."""

import re

_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> list[tuple[int, str]]:
    """Return the key that sorts names by their numbers, and text between numbers by its letters.

    >>> sorted(["step10", "step2", "step2b"], key=natural)
    ['step2', 'step2b', 'step10']
    """
    parts = _DIGITS.split(name)
    return [(int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts)]
