"""Sentences in one line, with ` | ` between regions: "The keys | to the cabinet | are here |~."

A region that begins with `~` follows without a blank, as in the spreadsheet format. A sentence without ` | ` has no regions.
"""

import re
from collections.abc import Sequence

from syntagm.errors import InputError
from syntagm.formats.spreadsheet import WHOLE, contents_of, sentence_of
from syntagm.suite import Sentence

MOST = 2000
_BORDER = re.compile(r"(?:^|\s+)\|(?=\s|~|$)")


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
    line = " ".join(line.split())
    if not line:
        raise InputError(place, "an empty sentence", "a sentence")
    parts = [part.strip() for part in _BORDER.split(line)]
    if len(parts) == 1:
        return sentence_of({WHOLE: line}, place)
    if len(set(names)) != len(parts):
        names = [str(number) for number in range(1, len(parts) + 1)]
    return sentence_of(dict(zip(names, parts, strict=True)), place)
