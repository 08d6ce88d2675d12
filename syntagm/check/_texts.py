"""Rules for the characters of sentences."""

import re
import unicodedata
from collections.abc import Iterator

from syntagm.check._spot import Spot, rule, sentences
from syntagm.suite import Suite


@rule("E204")
def empty_sentence(suite: Suite) -> Iterator[Spot]:
    """an empty sentence. Fill it in, or take the condition out."""
    for item, condition, sentence in sentences(suite):
        if not sentence.text.strip():
            yield Spot(item.id, condition)


_ODD_SPACE = re.compile(r"\s{2,}|[^\S ]")


@rule("W301")
def inner_white_space(suite: Suite) -> Iterator[Spot]:
    """two spaces together, a tab, a line break or an odd space inside the sentence.
    Use single spaces; a model sees the difference."""
    for item, condition, sentence in sentences(suite):
        if found := _ODD_SPACE.search(sentence.text.strip()):
            yield Spot(item.id, condition, found=repr(found[0]))


@rule("W302")
def outer_white_space(suite: Suite) -> Iterator[Spot]:
    """white space at the ends of the sentence. Take it out."""
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
    """a character that can't be seen, or that stands for a damaged one. Take it out or put the right one in."""
    for item, condition, sentence in sentences(suite):
        hidden = [
            one
            for one in sentence.text
            if not (one.isprintable() or one.isspace() or one in _JOINERS) or one == "\ufffd"
        ]
        if hidden:
            yield Spot(item.id, condition, found=", ".join(f"U+{ord(one):04X}" for one in dict.fromkeys(hidden)))


# The joiner and the non-joiner are part of the spelling of many languages.
_JOINERS = "\u200c\u200d"


@rule("W305")
def final_stop(suite: Suite) -> Iterator[Spot]:
    """some sentences of the item end in punctuation and some do not. End all of them alike."""
    for item in suite.items:
        ends = {name: _STOP.search(sentence.text) is not None for name, sentence in item.sentences.items()}
        if len(set(ends.values())) == 2:
            yield Spot(item.id, found="without it: " + ", ".join(name for name, stop in ends.items() if not stop))


_STOP = re.compile(r"[.?!…。？！।؟][\"'”’»)\]]*\s*\Z")
