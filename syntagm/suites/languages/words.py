"""Words of a text, by rules that fit its language; and scripts (ISO 15924) with their direction.

Where words are separated by spaces, a word is a run of letters, marks and digits, with inner hyphens and apostrophes; an
English 's is a word of its own. Chinese, Japanese and Thai have no spaces: their words are those of a segmenter, if the
extra `[languages]` is installed. Khmer, Lao, Burmese and Tibetan are segmented by ICU, if its Python package is installed.
Otherwise each character with its marks counts as a word, and `Segmenter.name` says so.
"""

import importlib
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from syntagm.core import extras
from syntagm.suites.languages.tags import Language

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


# A possessive 's is a word of its own: the name before it is as common with it as without.
_ENGLISH = re.compile(r"'s\b|[^\W_]+(?:(?!'s\b)['-][^\W_]+)*")
# An elided article or pronoun is a word: l'été, dell'arte.
_ELIDING = ("fr", "it", "ca", "oc")
_ELISION = re.compile(r"(?<!aujourd)'", re.IGNORECASE)
_JOINERS = "'-\u05f3\u05f4\u200c\u200d\u00b7"


@dataclass(frozen=True, slots=True)
class Segmenter:
    """A way to find the words of a text."""

    name: str  # what finds the words: `spaces`, `characters`, or a package with its version
    words: Callable[[str], Sequence[str]]  # from a text to its words, without punctuation


def segmenter(language: Language) -> Segmenter:
    """Return the way to find the words of a language. Of a text in scripts with spaces, they are found at the spaces."""
    unspaced = [name for name in language.scripts if name in UNSPACED]
    if not unspaced:
        return Segmenter(
            "spaces", english if language.code == "en" else elided if language.code in _ELIDING else spaced
        )
    return _unspaced(language.code)


def english(text: str) -> Sequence[str]:
    """Return the words of an English text, without punctuation.

    >>> list(english("The cook's dog wasn't well-fed."))
    ['The', 'cook', "'s", 'dog', "wasn't", 'well-fed']
    """
    return _ENGLISH.findall(text.replace("’", "'"))


def spaced(text: str) -> Sequence[str]:
    """Return the words of a text with spaces. A part in a script without spaces gives characters.

    >>> list(spaced("L'été, c'est fini !")), list(spaced("बच्चा सेब खाता है।"))
    (["L'été", "c'est", 'fini'], ['बच्चा', 'सेब', 'खाता', 'है'])
    """
    found: list[str] = []
    word = ""
    text = text.replace("’", "'")
    for place, sign in enumerate(text):
        kind = unicodedata.category(sign)[0]
        if kind in "LN" and script(sign) in UNSPACED:
            if word:
                found.append(word)
                word = ""
            found.append(sign)
        elif kind in "LN" or (kind == "M" and word):
            word += sign
        elif kind == "M" and found:
            found[-1] += sign
        elif word and sign in _JOINERS and unicodedata.category(text[place + 1 : place + 2] or " ")[0] in "LM":
            word += sign
        elif word:
            found.append(word)
            word = ""
    return [*found, word] if word else found


def elided(text: str) -> Sequence[str]:
    """Return the words of a text in a language with elision.

    >>> list(elided("L’été n'est qu’aujourd'hui."))
    ['L', 'été', 'n', 'est', 'qu', "aujourd'hui"]
    """
    return spaced(_ELISION.sub("' ", text.replace("’", "'")))


@cache
def _unspaced(code: str) -> Segmenter:
    """Return the segmenter of a language without spaces, which loads its dictionary on first use."""
    for makes in (_MAKERS.get(code), lambda: _icu(code)):
        try:
            # Packages of dictionaries warn about what they import.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if makes and (found := makes()):
                    return found
        except ImportError:
            continue
    return Segmenter("characters", spaced)


def _chinese() -> Segmenter:
    jieba = importlib.import_module("jieba")
    jieba.setLogLevel("ERROR")
    # Without its model of unknown words, a text has the same words whatever surrounds it.
    return Segmenter(_version("jieba"), lambda text: _kept(jieba.cut(text, HMM=False)))


def _japanese() -> Segmenter:
    tokenizer = importlib.import_module("janome.tokenizer").Tokenizer(wakati=True)
    return Segmenter(_version("janome"), lambda text: _kept(tokenizer.tokenize(text)))


def _thai() -> Segmenter:
    tokenize = importlib.import_module("pythainlp.tokenize").word_tokenize
    return Segmenter(_version("pythainlp"), lambda text: _kept(tokenize(text, engine="newmm")))


def _icu(code: str) -> Segmenter:
    icu = importlib.import_module("icu")

    def words(text: str) -> Sequence[str]:
        breaks = icu.BreakIterator.createWordInstance(icu.Locale(code))
        breaks.setText(text)
        # ICU counts in UTF-16.
        units, start, parts = text.encode("utf-16-le"), 0, []
        for end in breaks:
            parts.append(units[2 * start : 2 * end].decode("utf-16-le"))
            start = end
        return _kept(parts)

    return Segmenter(f"ICU {icu.ICU_VERSION}", words)


_MAKERS: dict[str, Callable[[], Segmenter]] = {"zh": _chinese, "ja": _japanese, "th": _thai}


def _version(package: str) -> str:
    return f"{package} {extras.version(package)}"


def _kept(parts: object) -> Sequence[str]:
    """Return the parts that have letters or digits."""
    assert hasattr(parts, "__iter__")
    return [part.strip() for part in parts if any(sign.isalnum() for sign in part)]
