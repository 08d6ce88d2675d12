"""Tokenisation of English as by the Moses decoder's `tokenizer.perl`, without escapes; and in the form of WikiText.

The rules are those of `tokenizer.perl -l en -no-escape`, with letters and digits as Python defines them. A final full
stop is separated from the last word of a text, too, unless that is an abbreviation (as in versions before 2017).

WikiText is split in this way with `-a` (hyphens between letters are words), and the commas and points in numbers are
words. These are written between @: `3 @,@ 000`.
"""

import re
from itertools import zip_longest

# Abbreviations after which a full stop is not separated; those of the second set, only before a digit.
ABBREVIATIONS = frozenset(
    """
    Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Drs Ens Gen Gov Hon Hosp Hr Insp Lt MM MR
    MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Nos Nr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rs Rt Sen Sens Sfc Sgt Sr St
    Supt Surg Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec e.g i.e rev v vs
    """.split()  # noqa: SIM905, shorter than a list
) | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_BEFORE_DIGITS = frozenset(["No", "Art", "pp"])

# Perl doesn't count superscripts and fractions as digits, Python does.
_SPECIAL = re.compile(r"([^\w\s.'`,\-]|[_²³¹¼-¾⁰-₉⅐-⅟])")
_HYPHEN = re.compile(r"([^\W_])-(?=[^\W_])")
_DOTS = re.compile(r"(\.{2,})")
_COMMAS = ((re.compile(r"(\D),"), r"\1 , "), (re.compile(r",(\D)"), r" , \1"))
_NUMBER = re.compile(r"(?<=\d)([,.])(?=\d)")
_LETTER = r"[^\W\d_]"
_NO_LETTER = r"[\W\d_]"
# In the order of the original. The neighbours of a match are consumed: of two apostrophes around a letter, only the first
# is separated.
_APOSTROPHES = tuple(
    (re.compile(f"({left})'({right})"), replacement)
    for left, right, replacement in (
        (_NO_LETTER, _NO_LETTER, r"\1 ' \2"),
        (r"[\W_]", _LETTER, r"\1 ' \2"),
        (_LETTER, _NO_LETTER, r"\1 ' \2"),
        (_LETTER, _LETTER, r"\1 '\2"),
        (r"\d", "s", r"\1 '\2"),
    )
)


def split(text: str) -> list[str]:
    """Split a text into words.

    >>> split("Dr. Smith's 3,000 sheep-dogs can't (e.g.) wait...")
    ['Dr.', 'Smith', "'s", '3,000', 'sheep-dogs', 'can', "'t", '(', 'e.g.', ')', 'wait', '...']
    """
    return _split(text, hyphens=False)


def split_wikitext(text: str) -> list[str]:
    """Split a text into words in the form of WikiText.

    >>> split_wikitext("3,000 sheep-dogs")
    ['3', '@,@', '000', 'sheep', '@-@', 'dogs']
    """
    return [part for word in _split(text, hyphens=True) for part in _NUMBER.sub(r" @\1@ ", word).split()]


def _split(text: str, hyphens: bool) -> list[str]:
    spaced = _SPECIAL.sub(r" \1 ", f" {text} ")
    if hyphens:
        spaced = _HYPHEN.sub(r"\1 @-@ ", spaced)
    spaced = _DOTS.sub(r" \1 ", spaced)
    for pattern, replacement in (*_COMMAS, *_APOSTROPHES):
        spaced = pattern.sub(replacement, spaced)
    pieces = spaced.split()
    words = []
    for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
        stem = piece[:-1]
        if piece[-1] != "." or not stem.strip(".") or _is_abbreviation(stem, following):
            words.append(piece)
        else:
            words += [stem, "."]
    if len(words) > 1 and words[-1] == "'" and words[-2][-1] == "." and words[-2].strip("."):
        words[-2:] = [words[-2][:-1], ".", "'"]
    return words


def _is_abbreviation(stem: str, following: str) -> bool:
    if "." in stem and any(map(str.isalpha, stem)):
        return True
    before_digit = stem in _BEFORE_DIGITS and following[:1].isdecimal()
    return stem in ABBREVIATIONS or following[:1].islower() or before_digit
