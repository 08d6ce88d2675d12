"""*a* or *an*, by the sound with which the next word begins, as far as its spelling tells."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
# Letters that are spelled out: MP, FBI, MPs, F16, X-ray, a t-shirt.
_SPELLED = re.compile(r"[A-Z]{2,}s?(?![A-Za-z])|[A-Za-z](?![A-Za-z'’])")
_AN_LETTERS = "AEFHILMNORSX"
_NUMBER = re.compile(r"8|1[18](?:\d{2,3})?(?!\d)")
_VOWEL = re.compile(r"[aeiouæœø]|h(?:ono?u?r|onest|eir|our)|y[^aeiouy\W]", re.IGNORECASE)
# They begin like you or like won.
_CONSONANT = re.compile(
    r"eu|ewe|one(?:ness|self|s)?(?!\w)|once(?!\w)|ouija|"
    r"u(?:fo|k[ru]|b[ia]|r[aeiou]|s[aeiu]|t[aeio]|v|nani|ni(?!n|m(?!od)|d(?!im|ir)|ll|r|ss|x))|unix",
    re.IGNORECASE,
)


def article(following: str) -> str:
    """*a* or *an*, by the sound with which the next word begins.

    Spelling doesn't tell everything: of letters that are said as a word (*a NATO ally*) it takes the name of the first.

    >>> [article(word) for word in ("apple", "unit", "unimportant one", "hour", "house", "MP", "European", "8-year-old")]
    ['an', 'a', 'an', 'an', 'a', 'an', 'a', 'an']
    """
    found = _WORD.search(following)
    # An accent doesn't change which letter it is.
    letters = unicodedata.normalize("NFD", found[0]) if found else ""
    word = "".join(letter for letter in letters if not unicodedata.combining(letter))
    if _SPELLED.match(word):
        return "an" if word[0].upper() in _AN_LETTERS else "a"
    if word[:1].isdigit():
        return "an" if _NUMBER.match(word) else "a"
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"
