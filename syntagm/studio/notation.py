"""Sentences in one line, with ` | ` between regions: "The keys | to the cabinet | are here |~."

A region that begins with `~` follows without a blank, as in the spreadsheet format. A sentence without ` | ` has no regions.
What is read is scored and kept character by character: blanks inside of a region stay, whichever they are.
"""

import re
from collections.abc import Sequence

from syntagm.core import InputError
from syntagm.suites import WHOLE, Sentence, contents_of, sentence_of

MOST = 2000
_BORDER = re.compile(r"(?:^| +)\|(?= |~|$)")
# Fields of forms end lines in their own way; in a sentence, a line break is a blank.
_BREAK = re.compile(r" *(?:\r\n|\r|\n)\s*")


def written(sentence: Sentence) -> str:
    """Return a sentence with its regions in one line.

    >>> written(sentence_of({"subject": "The keys", "verb": "are here", "end": "~."}, ""))
    'The keys | are here |~.'
    """
    if not sentence.regions:
        return sentence.text
    contents = [content for _, content in contents_of(sentence)]
    return " ".join(
        contents[:1] + [f"|{'' if content.startswith('~') else ' '}{content}".strip() for content in contents[1:]]
    )


def is_lossless(sentence: Sentence) -> bool:
    """Return whether a sentence can be written in one line and read back as it was.

    Not if it has ` | ` of its own, begins or ends with a blank, or has anything but single blanks between its regions.

    >>> is_lossless(read("The keys | are  here", "")), is_lossless(Sentence("a | b"))
    (True, False)
    """
    try:
        return read(written(sentence), "", [region.name for region in sentence.regions]) == sentence
    except InputError:
        return False


def cleaned(line: str) -> str:
    """Return the text of a field as one line: without blanks around it, and with a blank for each line break."""
    return _BREAK.sub(" ", line).strip(" \t")


def read(line: str, place: str, names: Sequence[str] = ()) -> Sentence:
    """Read a sentence.

    Arguments:
        line: the sentence in one line.
        place: the place, for messages.
        names: the names of the regions; if the line has another number of regions, they are numbered from 1.

    Raises:
        InputError: the sentence is too long, or empty.

    >>> [region.name for region in read("The keys | are here |~.", "", ["subject", "verb", "end"]).regions]
    ['subject', 'verb', 'end']
    >>> read("It rained.", "").regions
    ()
    """
    if len(line) > MOST:
        raise InputError(place, f"{len(line):,} characters", f"at most {MOST:,}")
    line = cleaned(line)
    if not line.strip():
        raise InputError(place, "an empty sentence", "a sentence")
    parts = [part.strip(" ") for part in _BORDER.split(line)]
    if len(parts) == 1:
        return sentence_of({WHOLE: line}, place)
    if len(set(names)) != len(parts):
        names = [str(number) for number in range(1, len(parts) + 1)]
    return sentence_of(dict(zip(names, parts, strict=True)), place)
