"""The templates of Newman et al. 2021: JSON lines with `sentence_good`, `sentence_bad` and `label`, -1 or -2.

The two sentences differ in one word, the verb. The good verb is singular if the label is -1 and plural if it is -2 (the tag
`number` is `sing` or `plur`). Most files are in lower case without a full stop, and the released code changes them: it
removes punctuation at the ends of a sentence, capitalises the first word (and puts its other letters in lower case) and
adds a full stop. `context=published`, the default, does the same; `context=as-is` does not change the sentences.
"""

import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagm.core import InputError, UsageError, json, shape, utf8
from syntagm.suites.formats import _pair, _table
from syntagm.suites.suite import Item, Sentence, Suite

ENDINGS = (".jsonl",)
NUMBERS = {-1: "sing", -2: "plur"}
CONTEXTS = ("published", "as-is")
_LABEL = re.compile(r'"label"\s*:\s*-[12]\s*[,}]')
_MARK = re.compile(r" ([.,;?!])")
# File name -> row of the paper's Table 2. A row may combine several files.
_ROWS = {
    "simple_agrmt": "Simple",
    "sent_comp": "In a sentential complement",
    "vp_coord": "VP coordination",
    "long_vp_coord": "VP coordination",
    "prep_anim": "Across prepositional phrase",
    "prep_inanim": "Across prepositional phrase",
    "subj_rel": "Across subject relative clause",
    "obj_rel_across_anim": "Across object relative clause",
    "obj_rel_across_inanim": "Across object relative clause",
    "obj_rel_no_comp_across_anim": "Across object relative (no that)",
    "obj_rel_no_comp_across_inanim": "Across object relative (no that)",
    "obj_rel_within_anim": "In object relative clause",
    "obj_rel_within_inanim": "In object relative clause",
    "obj_rel_no_comp_within_anim": "In object relative (no that)",
    "obj_rel_no_comp_within_inanim": "In object relative (no that)",
    "distractor_agreement_relational_noun": "BLiMP",
    "distractor_agreement_relative_clause": "BLiMP",
    "irregular_plural_subject_verb_agreement_1": "BLiMP",
    "regular_plural_subject_verb_agreement_1": "BLiMP",
}


def claims(path: Path, head: str) -> bool:
    """Return whether these are JSON lines with both sentences and the label -1 or -2."""
    first = head.lstrip().split("\n", 1)[0]
    fields = all(f'"{name}"' in first for name in ("sentence_good", "sentence_bad"))
    return first.startswith("{") and fields and _LABEL.search(first) is not None


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the fields that are not read."""
    return [
        name for name in _table.excerpt(path, head).columns if name not in ("sentence_good", "sentence_bad", "label")
    ]


def read(path: Path, *, context: str = "published") -> Iterator[Suite]:
    """Read the suite in a file. The suite is named after the file, and pairs are numbered from 0.

    For files with the published names, the tag `construction` is the row of the paper's Table 2.

    Arguments:
        path: the file.
        context: `published` or `as-is`; the module's docstring explains both.

    Raises:
        InputError: a field is missing, the label has another value, or the sentences don't differ in exactly one word;
            the message names the line.
        UsageError: `context` has any other value.
    """
    if context not in CONTEXTS:
        raise UsageError(str(path), f"context={context}", " or ".join(CONTEXTS))
    row = _ROWS.get(path.stem.removesuffix("_all"))
    tags = {"construction": row} if row else {}
    items: list[tuple[str, Item]] = []
    for line, fields in json.objects(utf8.read(path), path):
        place = f"{path}, line {line}"
        number = _number(fields, place)
        good, bad = (shape.sentence(_field(fields, name, place), place) for name in ("sentence_good", "sentence_bad"))
        words = [sentence.strip(string.punctuation + string.whitespace).split() for sentence in (good, bad)]
        _refuse_other_differences(words, place)
        texts = [_published(split) for split in words] if context == "published" else [good, bad]
        sentences = {name: Sentence(text) for name, text in zip(("good", "bad"), texts, strict=True)}
        items.append((path.stem, Item(str(len(items)), sentences, tags | {"number": number})))
        shape.count(len(items), path)
    yield from _pair.suites(items, None, str(path))


def _number(fields: dict[str, Any], place: str) -> str:
    label = _field(fields, "label", place)
    if not isinstance(label, int | float) or isinstance(label, bool) or label not in NUMBERS:
        raise InputError(place, f"the label {shape.shown(label)}", "-1 (singular) or -2 (plural)")
    return NUMBERS[int(label)]


def _field(fields: dict[str, Any], name: str, place: str) -> Any:
    if name not in fields:
        raise InputError(place, f"no {name!r}", "sentence_good, sentence_bad and label")
    return fields[name]


def _refuse_other_differences(words: list[list[str]], place: str) -> None:
    good, bad = words
    differing = sum(word != other for word, other in zip(good, bad, strict=False)) + abs(len(good) - len(bad))
    if differing != 1 or len(good) != len(bad):
        found = f"words that differ: {differing}, in {' '.join(good)!r} and {' '.join(bad)!r}"
        raise InputError(place, found, "exactly one differing word, the verb")


def _published(words: list[str]) -> str:
    """Return the sentence in the form that the released code produces.

    >>> _published(["the", "cat", "is", "tall"])
    'The cat is tall.'
    """
    return _MARK.sub(r"\1", " ".join([words[0].capitalize(), *words[1:], "."]))
