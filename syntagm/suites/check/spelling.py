"""Rules for the characters and the spelling of sentences, and for annotations that don't fit them.

What other programs leave in texts comes first: UTF-8 that was read in another encoding, symbols, escapes, and marks that
stand apart. The same functions serve for the words of reading times (`reading_times.alarms`).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote

from syntagm.core import counted
from syntagm.suites.check._spot import STOP, Spot, rule, sentences
from syntagm.suites.languages import tags
from syntagm.suites.languages.words import main_script, script
from syntagm.suites.suite import SCORED, Item, Suite

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


@rule("W306")
def mojibake(suite: Suite) -> Iterator[Spot]:
    """characters of a file in UTF-8 that was once read in another encoding. Write the letters that were meant."""
    for item, condition, sentence in sentences(suite):
        if not sentence.text.isascii() and (meant := repaired(sentence.text)) != sentence.text:
            yield Spot(item.id, condition, found=f"probably {meant[:60]!r}")


_STRAIGHT, _CURLY = re.compile("[\"']"), re.compile("[“”„‘’‚«»‹›]")


@rule("W307")
def mixed_quotes(suite: Suite) -> Iterator[Spot]:
    """straight and typographic quotation marks or apostrophes in one item. Use one kind; a model sees the difference."""
    for item in suite.items:
        texts = [sentence.text for sentence in item.sentences.values()]
        if any(map(_STRAIGHT.search, texts)) and any(map(_CURLY.search, texts)):
            found = dict.fromkeys(mark for text in texts for mark in re.findall("[\"'“”„‘’‚«»‹›]", text))
            yield Spot(item.id, found=" ".join(found))


_LOOK_ALIKE = {"Latn", "Cyrl", "Grek"}
_LETTERS = re.compile(r"[^\W\d_]+")


@rule("W308")
def wrong_script(suite: Suite) -> Iterator[Spot]:
    """a word with letters of two scripts that look alike, or a sentence in another script than the language has.
    Type the letters of the right script, or correct the language."""
    scripts = set(suite.language.scripts)
    for item, condition, sentence in sentences(suite):
        if sentence.text.isascii() and (not scripts or "Latn" in scripts):
            continue
        words = _LETTERS.findall(sentence.text) if len(_of_word(sentence.text) & _LOOK_ALIKE) > 1 else ()
        mixed = next((word for word in words if len(_of_word(word) & _LOOK_ALIKE) > 1), "")
        if mixed:
            foreign = Counter(map(script, mixed))
            rare = min((name for name in foreign if name), key=lambda name: foreign[name])
            letters = ", ".join(f"U+{ord(sign):04X}" for sign in dict.fromkeys(mixed) if script(sign) == rare)
            yield Spot(item.id, condition, found=f"{mixed!r}, where {letters} is {rare}")
        elif scripts and (main := main_script(sentence.text)) and main not in scripts:
            yield Spot(item.id, condition, found=f"{main}, not {' or '.join(suite.language.scripts)}")


def _of_word(word: str) -> set[str]:
    return {name for sign in set(word) if (name := script(sign))}


# Columns of published tables with words of the sentences -> the conditions that have them.
_BOTH = ("good", "bad")
_CUES = {
    "good_cue": ("good",), "bad_cue": ("bad",), "critical_region": _BOTH, "source_word": ("good",), "target_word": ("bad",),
    "Critical word(s)": _BOTH, "Cue word(s)": _BOTH,
    **{f"{name} word(s)_{side}": (side,) for name in ("Critical", "Cue") for side in _BOTH},
}  # fmt: skip
_PARTS = re.compile(r"\s*(?:\.\.\.|…|,|;|/|\s-\s)\s*")


@rule("W210")
def cue_not_in_sentence(suite: Suite) -> Iterator[Spot]:
    """a cue or critical word that is not in the sentence. Correct the annotation, or the sentence."""
    for item, condition, name, cue in _cues(suite):
        text = tags.lower(item.sentences[condition].text, suite.language)
        if not _has(text, tags.lower(cue, suite.language)):
            yield Spot(item.id, condition, found=f"{name} {cue!r}")


@rule("W211")
def cue_in_other_case(suite: Suite) -> Iterator[Spot]:
    """a cue or critical word that is in the sentence in other case only. Write it as the sentence does."""
    for item, condition, name, cue in _cues(suite):
        text = item.sentences[condition].text
        lower = tags.lower(text, suite.language), tags.lower(cue, suite.language)
        if not _has(text, cue) and _has(*lower):
            yield Spot(item.id, condition, found=f"{name} {cue!r}")


def _cues(suite: Suite) -> Iterator[tuple[Item, str, str, str]]:
    shared = {name: cue for name, cue in suite.tags.items() if name in _CUES}
    for item in suite.items:
        for name, cue in {**shared, **item.tags}.items():
            if name in _CUES and cue.strip():
                yield from ((item, side, name, cue.strip()) for side in _CUES[name] if side in item.sentences)


def _has(text: str, cue: str) -> bool:
    return cue in text or all(part in text for part in _PARTS.split(cue) if part)


@rule("W212")
def good_and_bad(suite: Suite) -> Iterator[Spot]:
    """a bad sentence that is the good one of another item. Correct one of the items."""
    goods = {item.sentences["good"].text: item.id for item in suite.items if "good" in item.sentences}
    for item in suite.items:
        bad = item.sentences.get("bad")
        if bad and (other := goods.get(bad.text)) is not None and other != item.id:
            yield Spot(item.id, "bad", found=f"item {other}")


_FACTORS = ("number", "gender", "person", "case", "tense", "condition", "cell", "subtype", "label")
_MOST_VALUES, _LEAST_ITEMS = 10, 20


@rule("W105")
def unbalanced(suite: Suite) -> Iterator[Spot]:
    """a tag of the design whose values have very different numbers of items. Add items, or report each value by itself."""
    for name in _FACTORS:
        counts = Counter(value for item in suite.items if (value := item.tags.get(name, "")))
        if (
            1 < len(counts) <= _MOST_VALUES
            and counts.total() >= _LEAST_ITEMS
            and max(counts.values()) > 2 * min(counts.values())
        ):
            listed = ", ".join(f"{value} {count}" for value, count in counts.most_common())
            yield Spot(found=f"{name}: {listed}")


@rule("E204")
def empty_sentence(suite: Suite) -> Iterator[Spot]:
    """an empty sentence. Fill it in, or remove the condition."""
    for item, condition, sentence in sentences(suite):
        if not sentence.text.strip():
            yield Spot(item.id, condition)


_ODD_SPACE = re.compile(r"\s{2,}|[^\S ]")


@rule("W301")
def inner_white_space(suite: Suite) -> Iterator[Spot]:
    """two spaces in a row, a tab, a line break or an unusual space inside the sentence.
    Use single spaces; a model sees the difference."""
    for item, condition, sentence in sentences(suite):
        if match := _ODD_SPACE.search(sentence.text.strip()):
            yield Spot(item.id, condition, found=repr(match[0]))


@rule("W302")
def outer_white_space(suite: Suite) -> Iterator[Spot]:
    """white space at the ends of the sentence. Remove it."""
    for item, condition, sentence in sentences(suite):
        if sentence.text != sentence.text.strip() and sentence.text.strip():
            yield Spot(item.id, condition)


@rule("W303")
def not_normalised(suite: Suite) -> Iterator[Spot]:
    """letters and accents as separate characters (not in Unicode's form NFC).
    Normalise the file to NFC; a model sees the difference."""
    for item, condition, sentence in sentences(suite):
        if not sentence.text.isascii() and not unicodedata.is_normalized("NFC", sentence.text):
            yield Spot(item.id, condition)


@rule("W304")
def hidden_character(suite: Suite) -> Iterator[Spot]:
    """an invisible character, or a replacement character (U+FFFD) left by a decoding error.
    Remove it, or replace it with the correct one."""
    for item, condition, sentence in sentences(suite):
        hidden = [
            letter
            for letter in sentence.text
            if not (letter.isprintable() or letter.isspace() or letter in _JOINERS) or letter == "\ufffd"
        ]
        if hidden:
            yield Spot(item.id, condition, found=", ".join(f"U+{ord(letter):04X}" for letter in dict.fromkeys(hidden)))


# The zero-width joiner and non-joiner are part of the spelling of many languages.
_JOINERS = "\u200c\u200d"


@rule("W305")
def final_stop(suite: Suite) -> Iterator[Spot]:
    """some sentences of the item end in punctuation and some do not. End all of them in the same way."""
    for item in suite.items:
        ends = {name: STOP.search(sentence.text) is not None for name, sentence in item.sentences.items()}
        if len(set(ends.values())) == 2:
            yield Spot(item.id, found="without it: " + ", ".join(name for name, stop in ends.items() if not stop))


@rule("W309")
def foreign_symbol(suite: Suite) -> Iterator[Spot]:
    """a symbol or an escape of another program in the sentence.
    Remove it, or write the character that it stands for; a model reads it as text."""
    places = [(item.id, side, found) for item, side, each in sentences(suite) if (found := foreign(each.text))]
    counts = Counter(symbol for *_, found in places for symbol in found)
    if counts:
        listed = ", ".join(f"{symbol!r} {number:,}" for symbol, number in counts.most_common(5))
        yield Spot(*places[0][:2], found=f"in {_of(len(places), suite)}, here first: {listed}")


@rule("W310")
def marks_apart(suite: Suite) -> Iterator[Spot]:
    """punctuation marks or parts of words that stand apart, as in treebanks, which changes the bits of models of subwords.
    Write them as in print (in tables of regions, with a ~ before the mark), if models should read them so."""
    # SyntaxGym's files, whose regions have labels, have blanks before all marks, and `?joined=hub` for texts without.
    marks = not any(tag.startswith("region.") for tag in suite.tags)
    found = [example for *_, each in sentences(suite) if (example := apart(each.text, marks))]
    # A file of a published dataset is as its authors wrote it.
    if found and SCORED not in suite.tags:
        yield Spot(found=f"in {_of(len(found), suite)}, such as {found[0]!r}")


def _of(number: int, suite: Suite) -> str:
    return f"{number:,} of {counted(sum(len(item.sentences) for item in suite.items), 'sentence')}"
