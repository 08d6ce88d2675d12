"""The words a model knows, and what it takes the others for: classes of unknown words in the manner of the Berkeley parser.

A word seen fewer than `threshold` times in training is unknown, in training too, so that a model learns its classes. The
rule is that of Hu et al. 2020 (their RNNG and LSTM), which differs from the Berkeley parser's in that the position in the
sentence makes no difference.

>>> vocabulary = build([["the", "dogs", "barked", "."], ["the", "dogs", "slept", "."]])
>>> vocabulary.words
('</s>', '<unk>', 'UNK-LC', 'UNK-LC-ed', 'the', 'dogs', '.')
>>> vocabulary.ids(["the", "cats", "walked", "."])  # there was no unknown word in -s: UNK-LC
[4, 2, 3, 6]
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syntagm.errors import InputError, ModelError, UsageError
from syntagm.io import atomic

END, UNKNOWN = "</s>", "<unk>"
SINGLE = "UNK"
CLASSES = ("berkeley", "single", "none")
SUFFIXES = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")

_CLASS = re.compile(rf"UNK(-INITC(-KNOWNLC)?|-CAPS|-LC)?(-NUM)?(-DASH)?(-(s|{'|'.join(SUFFIXES)}))?")
_ODD = re.compile(r"[\s\\\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u\{([0-9a-f]{1,6})\}")
_BACK_OFF = tuple(re.compile(part) for part in ("-KNOWNLC", f"-(s|{'|'.join(SUFFIXES)})$", "-DASH", "-NUM", "-.*"))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words by number.

    Arguments:
        words: by number. 0 is the end of a sentence, which also stands before one; 1 the unknown word; then the classes of
            unknown words that occurred in training, by name; then words by falling count, equals by first appearance.
        threshold: a word seen fewer times is unknown.
        classes: `berkeley`; `single`: one class, UNK; `none`: every word of the training text is kept.
    """

    words: tuple[str, ...]
    threshold: int = 2
    classes: str = "berkeley"
    _known: dict[str, int] = field(init=False, repr=False, compare=False)
    _others: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self.threshold, self.classes)
        if self.words[:2] != (END, UNKNOWN):
            raise ModelError("vocabulary", f"begins with {self.words[:2]}", f"{END} and {UNKNOWN}")
        numbers = {word: number for number, word in enumerate(self.words)}
        if len(numbers) < len(self.words):
            [(word, _)] = Counter(self.words).most_common(1)
            raise ModelError("vocabulary", f"{word!r} stands in it twice", "each word once")
        others = {word: number for word, number in numbers.items() if _stands_for_others(word, self.classes)}
        object.__setattr__(self, "_others", others)
        object.__setattr__(self, "_known", {word: numbers[word] for word in numbers if word not in others})

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.known(word)

    def known(self, word: str) -> bool:
        """Is it a word of the vocabulary, and none of those that stand for others?"""
        return word in self._known

    def ids(self, words: Sequence[str]) -> list[int]:
        """The number of each word; of an unknown one that of its class, or of a wider class, at last of `<unk>`."""
        number = self._known.get
        return [found if (found := number(word)) is not None else self._unknown(word) for word in words]

    def _unknown(self, word: str) -> int:
        if self.classes == "none" or word == UNKNOWN:
            return 1
        if _stands_for_others(word, self.classes) and word != END:
            name = word
        else:
            name = unknown_class(word, self) if self.classes == "berkeley" else SINGLE
        return next((self._others[wider] for wider in _wider(name) if wider in self._others), 1)

    def write(self, path: Path) -> None:
        """Write it as text, a word a line after one line of JSON that says how many there are.

        Raises:
            RunError: the disk is full, or the folder can't be written.
        """
        head = {"words": len(self), "threshold": self.threshold, "classes": self.classes}
        lines = (_ODD.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", word) for word in self.words)
        atomic.write_parts(path, (line.encode() + b"\n" for line in (json.dumps(head), *lines)))


def _check(threshold: int, classes: str) -> None:
    if classes not in CLASSES:
        raise UsageError("classes of unknown words", repr(classes), "one of " + ", ".join(CLASSES))
    if threshold < 1:
        raise UsageError("threshold of unknown words", str(threshold), "at least 1")


def _stands_for_others(word: str, classes: str) -> bool:
    if word in (END, UNKNOWN):
        return True
    if classes == "berkeley":
        return word.startswith("UNK") and _CLASS.fullmatch(word) is not None
    return classes == "single" and word == SINGLE


def _wider(name: str) -> Iterator[str]:
    """A class of unknown words and the wider ones to take where it never occurred."""
    yield name
    for part in _BACK_OFF:
        shorter = part.sub("", name, count=1)
        if shorter != name:
            yield (name := shorter)


def build(
    sentences: Iterable[Sequence[str]], threshold: int = 2, classes: str = "berkeley", place: str = "corpus"
) -> Vocabulary:
    """The vocabulary of a training text. Names of classes that stand in the text (it may come so) are taken as classes.

    Arguments:
        sentences: the words of each.
        threshold: a word seen fewer times is unknown.
        classes: as in `Vocabulary`; with `none` the threshold is 1 whatever is said.
        place: what to call the text in errors.

    Raises:
        UsageError: a threshold below 1, or no such classes.
        InputError: no words, or the end symbol inside a sentence.
    """
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    return of_counts(counts, threshold, classes, place)


def of_counts(counts: Counter[str], threshold: int = 2, classes: str = "berkeley", place: str = "corpus") -> Vocabulary:
    """The vocabulary of a text whose words have been counted, in the order in which they appear; as `build`."""
    _check(threshold, classes)
    threshold = 1 if classes == "none" else threshold
    if END in counts:
        raise InputError(
            place, f"the end symbol {END} as a word", "plain text", "Remove it: line ends say where sentences end."
        )
    if not counts:
        raise InputError(place, "no words", "text")
    found = {word for word in counts if _stands_for_others(word, classes)}
    kept = {word: None for word, count in counts.most_common() if count >= threshold and word not in found}
    found |= {
        unknown_class(word, kept) if classes == "berkeley" else SINGLE
        for word in counts
        if word not in kept and word not in found
    }
    return Vocabulary((END, UNKNOWN, *sorted(found - {UNKNOWN}), *kept), threshold, classes)


def read(path: Path) -> Vocabulary:
    """Read a vocabulary as `Vocabulary.write` writes it.

    Raises:
        ModelError: it can't be read, is not whole, or holds a word twice.
    """
    try:
        lines = path.read_bytes().decode().split("\n")
        head = json.loads(lines[0])
        size, threshold, classes = int(head["words"]), int(head["threshold"]), str(head["classes"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ModelError(
            str(path), f"can't be read as a vocabulary ({error!r})", "a line of JSON, then words"
        ) from error
    if len(lines) != size + 2 or lines[-1]:
        raise ModelError(
            str(path), f"{len(lines) - 2:,} words", f"{size:,}, as its first line says", "The file is damaged."
        )
    words = (_ESCAPE.sub(lambda found: chr(int(found[1], 16)), line) for line in lines[1:-1])
    try:
        return Vocabulary(tuple(words), threshold, classes)
    except (ModelError, UsageError) as error:
        raise ModelError(str(path), error.found, error.expected, "The file is damaged.") from error
    except ValueError as error:
        raise ModelError(str(path), f"no such character ({error})", "words", "The file is damaged.") from error


def unknown_class(word: str, known: Container[str]) -> str:
    """The class of an unknown word by its capitals, digits, dashes and ending.

    Arguments:
        word: it.
        known: the words of the vocabulary: is the word in lower case one of them?

    >>> [unknown_class(word, {"quickly"}) for word in ("walked", "Quickly", "mid-1990s", "IBM", "3.5")]
    ['UNK-LC-ed', 'UNK-INITC-KNOWNLC-ly', 'UNK-LC-NUM-DASH-s', 'UNK-CAPS', 'UNK-NUM']
    """
    word = word.rstrip()
    if not word:
        return "UNK"
    capitals = sum(letter.isalpha() and letter.isupper() for letter in word)
    digit, dash = any(map(str.isdigit, word)), "-" in word
    name = "UNK" + _case(word, capitals, known) + "-NUM" * digit + "-DASH" * dash
    return name + _ending(word.lower(), dash or (digit and capitals > 0))


def _case(word: str, capitals: int, known: Container[str]) -> str:
    if word[0].isupper():
        if capitals != 1:
            return "-CAPS"
        return "-INITC-KNOWNLC" if word.lower() in known else "-INITC"
    if capitals and not word[0].isalpha():
        return "-CAPS"
    return "-LC" if any(letter.isalpha() and letter.islower() for letter in word) else ""


def _ending(lower: str, plain: bool) -> str:
    if len(lower) >= 3 and lower[-1] == "s":
        return "" if lower[-2] in "siu" else "-s"
    if len(lower) < 5 or plain:
        return ""
    return next((f"-{suffix}" for suffix in SUFFIXES if lower.endswith(suffix)), "")
