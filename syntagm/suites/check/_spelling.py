"""Rules for what has gone wrong in the spelling of sentences, and for annotations that don't fit them."""

import re
from collections import Counter
from collections.abc import Iterator

from syntagm.suites.check._spot import Spot, rule, sentences
from syntagm.suites.check.spelling import repaired
from syntagm.suites.languages import casing
from syntagm.suites.languages.scripts import main_script, script
from syntagm.suites.suite import Item, Suite


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
        text = casing.lower(item.sentences[condition].text, suite.language)
        if not _has(text, casing.lower(cue, suite.language)):
            yield Spot(item.id, condition, found=f"{name} {cue!r}")


@rule("W211")
def cue_in_other_case(suite: Suite) -> Iterator[Spot]:
    """a cue or critical word that is in the sentence in other case only. Write it as the sentence does."""
    for item, condition, name, cue in _cues(suite):
        text = item.sentences[condition].text
        lower = casing.lower(text, suite.language), casing.lower(cue, suite.language)
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
