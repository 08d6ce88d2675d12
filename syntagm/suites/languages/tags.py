"""Languages by their tags (BCP 47): `de`, `zh-Hant`, `pt-BR`; also by codes of ISO 639-3 (`deu`) and English names.

Also case by the rules of a language: Turkish and Azerbaijani have two letters i.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from syntagm.core import UsageError, csv, did_you_mean, utf8

TABLE = Path(__file__).parent / "languages.csv"
UNDETERMINED = "und"
# language, script, region, and variants or private parts, which are kept as they are.
_TAG = re.compile(r"([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?((?:-[a-z0-9]{1,8})*)", re.IGNORECASE)
# The scripts in which a language is written, by the names of its writing system.
_OF_SYSTEM = {"Hans": ("Hani",), "Hant": ("Hani",), "Jpan": ("Hani", "Hira", "Kana"), "Kore": ("Hang", "Hani")}
# Codes of ISO 639-2 (bibliographic) and older ones, and names that other tables use.
_OTHER = {
    "ger": "de", "fre": "fr", "dut": "nl", "chi": "zh", "cze": "cs", "gre": "el", "baq": "eu", "per": "fa", "rum": "ro",
    "slo": "sk", "alb": "sq", "arm": "hy", "geo": "ka", "ice": "is", "mac": "mk", "may": "ms", "mao": "mi", "wel": "cy",
    "tib": "bo", "bur": "my", "iw": "he", "in": "id", "cmn": "zh", "zsm": "ms", "arb": "ar", "pes": "fa", "ekk": "et",
    "lvs": "lv", "als": "sq", "azj": "az", "uzn": "uz", "khk": "mn", "nor": "no", "fil": "tl", "greek": "el",
    "mandarin": "zh", "farsi": "fa", "bokmål": "nb", "nynorsk": "nn",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Language:
    """A language, as a tag names it."""

    tag: str  # the tag in its usual spelling, such as `zh-Hant`; `und` if the language isn't known
    name: str  # the English name
    code: str  # the part of the tag for the language alone, such as `zh`
    # The scripts that it is written in (ISO 15924); those of the tag if it names one. Empty if unknown.
    scripts: tuple[str, ...]


UNKNOWN = Language(UNDETERMINED, "undetermined", UNDETERMINED, ())


def find(text: str) -> Language:
    """Return the language with a tag, a code or an English name. Case is ignored, and `_` counts as a hyphen.

    Raises:
        UsageError: the text is no tag, or the table of languages has no such language.

    >>> find("deu").tag, find("zh_hant").tag, find("Swahili").tag, find("zh-Hant").scripts
    ('de', 'zh-Hant', 'sw', ('Hani',))
    """
    if text.strip().lower() in ("", UNDETERMINED):
        return UNKNOWN
    known = _known()
    match = _TAG.fullmatch(text.strip().replace("_", "-"))
    code = _code(match[1]) if match else ""
    if not match or code not in known:
        code, match = _code(text.strip()), None
    if code not in known:
        cure = did_you_mean(text, [*known, *(name for name, _ in known.values())])
        raise UsageError("language", repr(text[:60]), "a tag of BCP 47 such as de or zh-Hant", cure)
    name, systems = known[code]
    script, region, rest = (match[2] or "", match[3] or "", match[4] or "") if match else ("", "", "")
    parts = (code, script.title(), region.upper())
    tag = "-".join(filter(None, parts)) + rest.lower()
    systems = (script.title(),) if script else systems
    scripts = dict.fromkeys(part for system in systems for part in _OF_SYSTEM.get(system, (system,)))
    return Language(tag, name, code, tuple(scripts))


def named_in(text: str) -> str:
    """Return the tag of the language that a part of a file name stands for; "" if it stands for none.

    Only codes of three letters, names of six letters or more and codes of two letters count that stand alone.

    >>> named_in("deu"), named_in("hindi"), named_in("data"), named_in("evalset")
    ('de', 'hi', '', '')
    """
    known, lower = _known(), text.lower()
    names = {name.lower(): code for code, (name, _) in known.items()}
    if lower in names:
        return names[lower]
    code = _code(lower) if re.fullmatch("[a-z]{2,3}", lower) else ""
    return code if code in known else ""


def _code(text: str) -> str:
    lower = text.lower()
    return _aliases().get(lower, lower)


@cache
def _known() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the languages of the table: code -> name and writing systems."""
    rows = csv.under(("tag", "iso3", "name", "scripts"), utf8.read(TABLE), TABLE)
    return {tag: (name, tuple(scripts.split())) for _, (tag, _, name, scripts) in rows if tag not in _OTHER}


@cache
def _aliases() -> dict[str, str]:
    """Return other codes and names of the languages, in lower case, with the codes of the table."""
    rows = list(csv.under(("tag", "iso3", "name", "scripts"), utf8.read(TABLE), TABLE))
    found = {iso3: tag for _, (tag, iso3, _, _) in rows} | {name.lower(): tag for _, (tag, _, name, _) in rows}
    return {alias: tag for alias, tag in found.items() if tag not in _OTHER} | _OTHER


_DOTTED = ("tr", "az", "tt", "kk", "crh")


def lower(text: str, language: Language) -> str:
    """Return a text in lower case.

    >>> from syntagm.suites.languages.tags import find
    >>> lower("IĞDIR İzmir", find("tr")), lower("ILI", find("en"))
    ('ığdır izmir', 'ili')
    """
    if language.code in _DOTTED and "Latn" in language.scripts:
        text = text.replace("I", "ı").replace("İ", "i")
    return text.lower()


def same(first: str, second: str, language: Language) -> bool:
    """Return whether two texts differ in nothing but case."""
    return lower(first, language) == lower(second, language)
