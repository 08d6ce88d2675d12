"""The indefinite article, *a* or *an*, chosen by the spelling of the next word."""

import re
import unicodedata

# The beginning of a word decides, and a "word" of a thousand hyphens would take long.
MAX_LENGTH = 100

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
# Letters that are read one by one: MP, FBI, MPs, F16, X-ray, t-shirt.
_LETTERS = re.compile(r"[A-Z]{2,}s?(?![A-Za-z])|[A-Za-z](?![A-Za-z'’])")
_AN_LETTERS = "AEFHILMNORSX"
# Acronyms read as words that begin with a consonant, although the name of their first letter begins with a vowel.
_READ_AS_WORDS = re.compile(
    r"(?:FEMA|FIFA|HUD|LAN|LASER|LIDAR|MERS|MIDI|NAFTA|NASA|NASCAR|NASDAQ|NATO|NIMBY|NOAA|RADAR|RAID|RAM|REM|ROM|SALT|SARS|"
    r"SCUBA|SEAL|SETI|SIM|SONAR|START|SWAT)s?(?![A-Za-z0-9])"
)
_NUMBER = re.compile(r"8|1[18](?:\d{2,3})?(?!\d)")
_VOWEL = re.compile(r"[aeiouæœø]|h(?:ono?u?r|onest|eir|our)|y[^aeiouy\W]", re.IGNORECASE)
# Words that begin with the sound of *you* or *won*.
_CONSONANT = re.compile(
    r"eu|ewe|one(?:ness|self|s)?(?!\w)|once(?!\w)|ouija|"
    r"u(?:fo|k[ru]|b[ia]|r[aeiou]|s[aeiu]|t[aeio]|v|nani|ni(?!n|m(?!od)|d(?!im|ir)|ll|r|ss|x))|unix",
    re.IGNORECASE,
)


def article(following: str) -> str:
    """Return *a* or *an*, judging by the sound with which the next word probably begins.

        An acronym gets the article of its first letter's name (*an FBI agent*), unless it is known to be read as a word
    (*a NATO ally*).

    >>> [article(word) for word in ("apple", "unit", "unimportant one", "hour", "house", "MP", "NATO", "European")]
    ['an', 'a', 'an', 'an', 'a', 'an', 'a', 'a']
    """
    match = _WORD.search(following)
    # Accents are ignored.
    letters = unicodedata.normalize("NFD", match[0][:MAX_LENGTH]) if match else ""
    word = "".join(letter for letter in letters if not unicodedata.combining(letter))
    if _READ_AS_WORDS.match(word):
        return "a"
    if _LETTERS.match(word):
        return "an" if word[0].upper() in _AN_LETTERS else "a"
    if word[:1].isdigit():
        return "an" if _NUMBER.match(word) else "a"
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"
