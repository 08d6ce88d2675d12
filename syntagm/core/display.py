"""Text for people: counts, the order of names, and what can be seen in place of what hides, reorders or executes something.

Names and sentences come from materials and models of others. A terminal obeys control characters, and characters of
Unicode's category "format" turn the direction of text or can't be seen at all. Every output for people goes through this
module: the command line, tables, figures, reports, notebooks and messages. Files of data keep each character.
"""

import re
from collections.abc import Collection
from unicodedata import category, east_asian_width, normalize

# Characters that are not seen: Unicode's default ignorable code points, and all others of its category "format", without
# the signs of numbers and verses in Arabic, Syriac and Kaithi, which are seen.
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_NON_JOINER, _JOINER = "\u200c", "\u200d"
# The letters and marks of scripts whose spelling needs a joiner or a non-joiner: Arabic and its relatives, those of India,
# of Myanmar, Cambodia and Mongolia, and those of these families that were encoded later.
_JOINED = re.compile(
    "[\u0620-\u06dc\u06de-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
_MODIFIERS = re.compile("[\U0001f3fb-\U0001f3ff]")
_SPACES = frozenset("\x85\u2028\u2029\x0b\x0c\x0d\x09")


def visible(text: str) -> str:
    """Replace each character that hides or reorders text by its code.

    Letters of all scripts stay as they are, and so do the joiners in their words and in emoji.

    >>> print(visible("a\\u202eb"), visible("می\\u200cروم") == "می\\u200cروم", visible("no\\u200cthing"))
    a⟨U+202E⟩b True no⟨U+200C⟩thing
    """
    return text if text.isascii() else _HIDDEN.sub(_seen, text)


def shown(text: str) -> str:
    """Put text on one line, and replace what `visible` replaces, and characters that XML doesn't allow.

    >>> shown("a\\x00b") == "a\\ufffdb", shown("two\\nlines"), shown("\\u2066x")
    (True, 'two lines', '⟨U+2066⟩x')
    """
    return "".join(map(_printed, visible(" ".join(text.split("\n")))))


def shown_lines(text: str) -> str:
    """Replace characters as `shown` does, line by line.

    >>> shown_lines("a\\x00b\\nc") == "a\\ufffdb\\nc"
    True
    """
    return "\n".join(map(shown, text.split("\n")))


def _seen(hidden: re.Match[str]) -> str:
    """Return a hidden character where a script or an emoji needs it, otherwise its code."""
    sign, text, at = hidden[0], hidden.string, hidden.start()
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if (sign in (_JOINER, _NON_JOINER) or "\u180b" <= sign <= "\u180f") and _JOINED.match(before):
        return sign
    if sign == _JOINER and _is_emoji(text, at) and category(after or " ") == "So":
        return sign
    if _is_selector(sign) and _has_variants(before):
        return sign
    return f"⟨U+{ord(sign):04X}⟩"


def _is_emoji(text: str, end: int) -> bool:
    """Return whether an emoji ends before a place, with its colour or its selector."""
    last = text[end - 1 : end]
    return bool(last) and (category(last) == "So" or last == "\ufe0f" or _MODIFIERS.match(last) is not None)


def _is_selector(sign: str) -> bool:
    """Return whether a character selects a variant of the one before it: of an emoji, or of an ideograph."""
    return "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef"


def _has_variants(sign: str) -> bool:
    if not sign:
        return False
    return (
        sign in "#*0123456789" or category(sign)[0] == "S" or (category(sign) == "Lo" and east_asian_width(sign) == "W")
    )


def _printed(character: str) -> str:
    code = ord(character)
    if character in _SPACES:
        return " "
    return (
        "\ufffd"
        if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code in (0xFFFE, 0xFFFF)
        else character
    )


def name_of(cell: object) -> str:
    """Return the name in a cell without blanks around it, in Unicode's form NFC, so that a name of two files is one.

    >>> name_of(" Zoe\u0308 ") == name_of("Zo\u00eb"), name_of(7), name_of(None)
    (True, '7', '')
    """
    # Programs differ in the blanks around a name and in how its accents are written.
    return "" if cell is None else normalize("NFC", str(cell).strip())


def natural(name: str) -> list[tuple[int, str]]:
    """Return the key that sorts names by their numbers, and text between numbers by its letters.

    >>> sorted(["step10", "step2", "step2b"], key=natural)
    ['step2', 'step2b', 'step10']
    """
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts)]


def counted(number: int, noun: str) -> str:
    """Format a count with its noun in the singular or plural.

    >>> counted(1, "suite"), counted(2000, "item")
    ('1 suite', '2,000 items')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def span(numbers: Collection[int], noun: str = "") -> str:
    """Format the smallest and the largest of some counts, with their noun; without any counts, both are 0.

    >>> span([7, 5, 6], "suite"), span([1, 1], "suite"), span([5])
    ('5 to 7 suites', '1 suite', '5')
    """
    least, most = min(numbers, default=0), max(numbers, default=0)
    text = f"{least}" if least == most else f"{least} to {most}"
    return f"{text} {noun}{'' if most == 1 else 's'}" if noun else text
