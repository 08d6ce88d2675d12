"""Rules for the characters of sentences."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from syntagm.core import counted
from syntagm.suites.check._spot import STOP, Spot, rule, sentences
from syntagm.suites.check.spelling import apart, foreign
from syntagm.suites.suite import SCORED, Suite


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
