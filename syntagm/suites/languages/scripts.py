"""Scripts of characters and texts (ISO 15924), and the direction in which they are written."""

import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Literal

Direction = Literal["ltr", "rtl"]

# The first words of Unicode's names of letters -> script.
_NAMES = {
    "LATIN": "Latn", "CYRILLIC": "Cyrl", "GREEK": "Grek", "COPTIC": "Copt", "GOTHIC": "Goth", "ARMENIAN": "Armn",
    "GEORGIAN": "Geor", "HEBREW": "Hebr", "ARABIC": "Arab", "SYRIAC": "Syrc", "THAANA": "Thaa", "NKO": "Nkoo",
    "ADLAM": "Adlm", "DEVANAGARI": "Deva", "BENGALI": "Beng", "GURMUKHI": "Guru", "GUJARATI": "Gujr", "ORIYA": "Orya",
    "TAMIL": "Taml", "TELUGU": "Telu", "KANNADA": "Knda", "MALAYALAM": "Mlym", "SINHALA": "Sinh", "THAI": "Thai",
    "LAO": "Laoo", "TIBETAN": "Tibt", "MYANMAR": "Mymr", "KHMER": "Khmr", "ETHIOPIC": "Ethi", "CHEROKEE": "Cher",
    "CANADIAN": "Cans", "MONGOLIAN": "Mong", "CJK": "Hani", "HIRAGANA": "Hira", "KATAKANA": "Kana", "HANGUL": "Hang",
    "BOPOMOFO": "Bopo", "TIFINAGH": "Tfng", "VAI": "Vaii", "JAVANESE": "Java", "BALINESE": "Bali", "OL": "Olck",
    "CUNEIFORM": "Xsux", "GLAGOLITIC": "Glag", "RUNIC": "Runr", "OGHAM": "Ogam", "YI": "Yiii",
}  # fmt: skip
_RIGHT_TO_LEFT = frozenset(("Hebr", "Arab", "Syrc", "Thaa", "Nkoo", "Adlm"))
# Scripts whose words are not separated by spaces.
UNSPACED = frozenset(("Hani", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr", "Tibt", "Java"))


@lru_cache(maxsize=65_536)
def script(character: str) -> str:
    """Return the script of a letter; "" for other characters and for letters of no script.

    >>> script("a"), script("я"), script("学"), script("ต"), script("!")
    ('Latn', 'Cyrl', 'Hani', 'Thai', '')
    """
    if unicodedata.category(character)[0] != "L":
        return ""
    name = unicodedata.name(character, "").removeprefix("FULLWIDTH ").removeprefix("HALFWIDTH ")
    # A prolonged sound mark is no letter of one of the two syllabaries; phonetic letters are Latin.
    if name.startswith(("KATAKANA-HIRAGANA", "MODIFIER")):
        return ""
    return _NAMES.get(name.partition(" ")[0], "")


def scripts(text: str) -> Counter[str]:
    """Count the letters of a text by their scripts."""
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if found := script(character):
            counts[found] += count
    return counts


def main_script(text: str) -> str:
    """Return the script of most letters of a text; "" if it has no letters."""
    counts = scripts(text)
    return max(counts, key=lambda name: counts[name]) if counts else ""


def direction(text: str) -> Direction:
    """Return the direction of a text: that of most of its letters.

    >>> direction("The keys are here."), direction("המפתחות כאן.")
    ('ltr', 'rtl')
    """
    return "rtl" if main_script(text) in _RIGHT_TO_LEFT else "ltr"


def direction_of(scripts: tuple[str, ...]) -> Direction:
    """Return the direction of a language that is written in some scripts, of which the first is the usual one."""
    return "rtl" if scripts and scripts[0] in _RIGHT_TO_LEFT else "ltr"


def is_unspaced(text: str) -> bool:
    """Return whether most letters of a text belong to scripts without spaces between words."""
    return main_script(text) in UNSPACED
