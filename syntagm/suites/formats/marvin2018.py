"""Marvin & Linzen 2018: the pickles of LM_syneval, each with the minimal pairs or NPI triples of a construction.

The keys are configurations. In `sing_MS_MV_plur_ES_EV`, for instance, the tested dependency (main subject and main verb) is
singular, and the embedded subject and verb are plural. Pairs differ in one word, which is the critical region; in triples
the critical region is `ever`. A pickle is a program, so reading one needs a permission. Even then it is not run:
`core.io.pickle` reads it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from syntagm.core import InputError, UsageError, how_to_give, toml
from syntagm.suites.formats import _pair
from syntagm.suites.formula import parse
from syntagm.suites.suite import Item, Prediction, Sentence, Suite
from syntagm.suites.templates.spelling import STYLES

ENDINGS = (".pickle", ".pkl")
AGREEMENT, REFLEXIVES, NPI = "subject-verb agreement", "reflexive anaphora", "negative polarity items"
# File name without _anim or _inanim -> the row of the paper's Table 1 and its phenomenon.
CONSTRUCTIONS = {
    "simple_agrmt": ("Simple", AGREEMENT),
    "sent_comp": ("In a sentential complement", AGREEMENT),
    "vp_coord": ("Short VP coordination", AGREEMENT),
    "long_vp_coord": ("Long VP coordination", AGREEMENT),
    "prep": ("Across a prepositional phrase", AGREEMENT),
    "subj_rel": ("Across a subject relative clause", AGREEMENT),
    "obj_rel_across": ("Across an object relative clause", AGREEMENT),
    "obj_rel_no_comp_across": ("Across an object relative (no that)", AGREEMENT),
    "obj_rel_within": ("In an object relative clause", AGREEMENT),
    "obj_rel_no_comp_within": ("In an object relative (no that)", AGREEMENT),
    "simple_reflexives": ("Reflexive: simple", REFLEXIVES),
    "reflexive_sent_comp": ("Reflexive: in a sentential complement", REFLEXIVES),
    "reflexives_across": ("Reflexive: across a relative clause", REFLEXIVES),
    "simple_npi": ("NPI: simple", NPI),
    "npi_across": ("NPI: across a relative clause", NPI),
}
PAIR = ("good", "bad")
TRIPLE = ("grammatical", "intrusive", "ungrammatical")
PREDICTIONS: dict[int, tuple[Prediction, ...]] = {
    2: (_pair.FULL, Prediction("one_prefix", _pair.CRITICAL)),
    3: tuple(
        Prediction(f"{better}_{worse}", parse(f"(*;%{better}%) < (*;%{worse}%)"))
        for better, worse in (TRIPLE[:2], TRIPLE[::2], TRIPLE[1:])
    ),
}
SOURCE = {
    "paper": "Marvin & Linzen 2018",
    "reference": "Marvin and Linzen 2018. Targeted syntactic evaluation of language models. EMNLP.",
    "source": "LM_syneval",
    "licence": "MIT",
}
_NUMBER = re.compile(r"[0-9]{1,9}")
_NUMBERS = re.compile(r"(sing|plur)_[A-Z_]+?(?:_(sing|plur)_[A-Z_]+)?")


def claims(path: Path, head: str) -> bool:
    """Return whether this is a pickle. Its content is only known after it has been read."""
    return path.suffix in (".pickle", ".pkl")


def read(
    path: Path, *, allow_pickle: bool = False, style: str = "published", n: str = "", seed: str = "1"
) -> Iterator[Suite]:
    """Read the suite in a pickle. The suite is named after the file.

    Arguments:
        path: the file.
        allow_pickle: the permission to read a pickle.
        style: `published` for sentences as in the file, in lower case and without a full stop; `natural` adds a capital
            and a full stop.
        n: the maximum number of items, which are drawn evenly from the configurations.
        seed: the seed of the random draw.

    Raises:
        InputError: the permission is missing, the content is not a dictionary of lists of pairs or triples of strings,
            or a pair differs in more than one word; the message names the key and the number.
        UsageError: an option has a value that is not allowed.
    """
    if style not in STYLES:
        raise UsageError(str(path), f"style={style}", " or ".join(STYLES))
    if not allow_pickle:
        cure = f"It is read without running it. {how_to_give('allow_pickle')}"
        raise InputError(str(path), "a pickle, which can contain a program", "permission to read it", cure)
    from syntagm.core import pickle

    content = pickle.load(path)
    sizes = {len(row) for rows in content.values() for row in rows}
    if len(sizes) != 1 or not sizes <= PREDICTIONS.keys():
        shown = f"rows of {' and '.join(map(str, sorted(sizes)))} sentences" if sizes else "no rows"
        raise InputError(str(path), shown, "only rows of 2 sentences, or only rows of 3")
    items = tuple(
        _item(key, index, content[key][index], style, str(path))
        for key, chosen in _chosen(content, n, seed, path).items()
        for index in chosen
    )
    made_tags = ({"seed": seed} if n else {}) | ({"style": style} if style != "natural" else {})
    yield Suite(path.stem, items, PREDICTIONS[sizes.pop()], tags(path.stem) | made_tags)


def unpaired(suites: Sequence[str]) -> set[str]:
    """Return the suites of one animacy without those of the other.

    >>> unpaired(["vp_coord", "prep_anim"])
    {'prep_anim'}
    """
    of_both = {suite: {suite.replace("_inanim", "_anim"), suite.replace("_anim", "_inanim")} for suite in suites}
    return {suite for suite, both in of_both.items() if not both <= {*suites}}


def tags(name: str) -> dict[str, str]:
    """Return the tags of a suite that follow from the name of its file.

    >>> tags("prep_anim")["construction"], tags("prep_anim")["animacy"]
    ('Across a prepositional phrase', 'animate')
    """
    kind, _, ending = name.rpartition("_")
    animacy = {"anim": "animate", "inanim": "inanimate"}.get(ending, "")
    row, phenomenon = CONSTRUCTIONS.get(kind if animacy else name, ("", ""))
    known = {"construction": row, "phenomenon": phenomenon, "circuit": phenomenon, "animacy": animacy or "animate"}
    return {**SOURCE, **(known if row else {})}


def _chosen(content: Mapping[str, Sequence[object]], n: str, seed: str, path: Path) -> dict[str, Sequence[int]]:
    """Choose the rows to read for each key: all of them, or `n` in total, as evenly across the keys as possible."""
    if not n:
        return {key: range(len(rows)) for key, rows in content.items()}
    if not _NUMBER.fullmatch(n) or int(n) < 1 or not _NUMBER.fullmatch(seed):
        expected = "n, a number from 1, and seed, a number, up to 999,999,999"
        raise UsageError(str(path), f"n={toml.shown(n)}, seed={toml.shown(seed)}", expected)
    from syntagm.suites.templates.draw import quotas

    generator = Random(f"syntagm {seed}")
    chosen: dict[str, Sequence[int]] = {}
    for key, share in zip(content, quotas(int(n), [len(rows) for rows in content.values()]), strict=True):
        # `random` is the only method of the generator that gives the same numbers in all versions of Python.
        order = sorted(range(len(content[key])), key=lambda _: generator.random())
        chosen[key] = sorted(order[:share])
    return chosen


def _item(key: str, index: int, row: tuple[str, ...], style: str, path: str) -> Item:
    place = f"{path}, {key}/{index}"
    if style == "natural":
        row = tuple(text[:1].upper() + text[1:].removesuffix(".") + "." for text in row)
    sentences = (
        _pair_of(row, place)
        if len(row) == 2
        else {name: _npi(text, place) for name, text in zip(TRIPLE, row, strict=True)}
    )
    numbers = _NUMBERS.fullmatch(key)
    key_tags = {"number": numbers[1], "attractor": numbers[2]} if numbers else {"tense": key} if len(row) == 3 else {}
    return Item(
        f"{key}/{index}", sentences, {"configuration": key} | {name: tag for name, tag in key_tags.items() if tag}
    )


def _pair_of(row: tuple[str, ...], place: str) -> dict[str, Sentence]:
    words = [text.removesuffix(".").split() for text in row]
    differing = [index for index, (good, bad) in enumerate(zip(*words, strict=False)) if good != bad]
    if len(words[0]) != len(words[1]) or len(differing) != 1:
        found = f"{row[0]!r} and {row[1]!r}"
        raise InputError(place, found, "two sentences that differ in one word")
    [index] = differing
    return {
        name: _pair.split(text, " ".join(split[:index]), split[index], place)
        for name, text, split in zip(PAIR, row, words, strict=True)
    }


def _npi(text: str, place: str) -> Sentence:
    before, ever, _ = text.partition(" ever ")
    if not ever:
        raise InputError(place, repr(text), "a sentence with the word 'ever'")
    return _pair.split(text, before, "ever", place)
