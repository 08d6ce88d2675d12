"""What other programs leave in texts: UTF-8 that was read in another encoding, symbols, escapes, and marks that stand apart.

The same rules hold for sentences of suites (`check`) and for the words of reading times (`reading_times.alarms`).
"""

import re
from html import unescape
from urllib.parse import unquote

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


# Escapes of web addresses, and whole addresses, to pass over: `%20` alone is a number in Turkish. (Below, two apostrophes
# between letters are Hebrew, and after digits inches.)
_PERCENT = re.compile(
    r"\w+://[^\s<>]+|%(?:2[A-F]|3[A-F]|5[B-E]|7[B-E]|0[AD]|[C-F][0-9A-F](?:%[89AB][0-9A-F])+)"
    r"|(?<=[^\W\d_])%(?:2\d|40|60)|%(?:2\d|40|60)(?=[^\W\d_])"
)
_FOREIGN = re.compile(
    # Symbols of models and tokenizers, and markup.
    r"(?:</|(?<!\w)<)[A-Za-z][\w-]{0,20}/?>|<(?i:s|[be]os|pad|unk|br/?)>|<\|[^<>|\s]{1,40}\|>"
    # Words of Maltese begin with Ġ, too.
    r"|\[(?:CLS|SEP|MASK|PAD|UNK|BOS|EOS)\]|▁\S+|(?<!\S)Ġ\S+(?= ?Ġ\S+ ?Ġ)|(?<=[a-z])Ġ[a-z]+"
    # Escapes of web addresses and of HTML.
    rf"|{_PERCENT.pattern}|&(?:#\d{{1,7}}|#[xX][0-9A-Fa-f]{{1,6}}|[A-Za-z]\w{{1,30}});"
    # Brackets and quotation marks of treebanks, and a ~ that is not the first character of its cell.
    r"|-[LRlr][RSCrsc][Bb]-|``|(?<!\w)''|(?<!\d)''(?![\w(])|(?<!\S)~(?![\d\s/])\S+|(?<=[A-Za-z])~(?=[.,;:])"
)
_BEGINS = re.compile(r"[<\[▁Ġ%&`~]|''|-[LRlr]")


def foreign(text: str) -> list[str]:
    """Return the different symbols and escapes of other programs in a text, in order.

    >>> foreign("After dinner%2C we left. <eos>"), foreign("Don&#39;t."), foreign("Go ~.")
    (['%2C', '<eos>'], ['&#39;'], ['~.'])
    >>> foreign("Indirim %20, ~5 & [sic] 'tis")
    []
    """
    found = dict.fromkeys(_FOREIGN.findall(text)) if _BEGINS.search(text) else ()
    return [symbol for symbol in found if "://" not in symbol and (symbol[0] != "&" or unescape(symbol) != symbol)]


def unescaped(text: str) -> str:
    """Return a text with the escapes of web addresses replaced by the characters that they stand for.

    >>> unescaped("dinner%2C"), unescaped("%20 fewer"), unescaped("don%27t")
    ('dinner,', '%20 fewer', "don't")
    """
    return (
        _PERCENT.sub(lambda found: found[0] if "://" in found[0] else unquote(found[0]), text) if "%" in text else text
    )


# Parts of words that treebanks cut off. In Dutch and German, `'s` is a word.
_CUT_OFF = re.compile(r"(?<!\S)(?:n['’]t|['’](?:re|ve|ll|d|s))(?![\w'’-])", re.IGNORECASE)
_MARK = re.compile(r"(?<=[^\s.,])\s[.,](?![\w.,]|\s[.,])|\(\s\w\w|(?<=[\w.]\w)\s\)")
_SPACED = re.compile(r"\s(?:[.,;:!?()'’]|n['’]t)|\(\s", re.IGNORECASE)
# French has spaces before these: they are looked for where a text has an English word, and none that is French.
_HIGH_MARK = re.compile(r"(?<=\w)\s[;:!?](?!\S)")
_ENGLISH = re.compile(r"\b(?:the|are|were|does|who|what|which|that|this|and|he|she|it|they)\b", re.IGNORECASE)
_FRENCH = re.compile(r"«|\b(?:le|les|une|il|elle|est|qui|dit)\b", re.IGNORECASE)


def apart(text: str, marks: bool = True) -> str:
    """Return a punctuation mark or a part of a word that stands apart, with the word before; "" if there is none.

    Arguments:
        marks: whether to look for punctuation marks, too.

    >>> apart("The dogs do n't bark ."), apart("The dogs bark ."), apart("Who barks ?"), apart("Qui aboie ?")
    ("do n't", 'bark .', 'barks ?', '')
    >>> apart("It rained . . ."), apart("Hij slaapt 's nachts.")
    ('', '')
    """
    if not _SPACED.search(text):
        return ""
    english = _ENGLISH.search(text) is not None
    found = _CUT_OFF.search(text)
    if found and found[0][1:] in "sS" and not english:
        found = None
    if marks and not found:
        found = _MARK.search(text) or (_HIGH_MARK.search(text) if english and not _FRENCH.search(text) else None)
    return " ".join([*text[: found.start()].split()[-1:], found[0].strip()]) if found else ""
