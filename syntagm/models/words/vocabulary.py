"""Vocabularies of word-level models, with classes of unknown words similar to those of the Berkeley parser.

A word seen fewer than `threshold` times in training is unknown. In the training text, too, such words are replaced by their
classes, so that a model learns them. The classes are those of Hu et al. 2020 (their RNNG and LSTM). Unlike in the Berkeley
parser, they don't depend on the position in the sentence.

>>> vocabulary = build([["the", "dogs", "barked", "."], ["the", "dogs", "slept", "."]])
>>> vocabulary.words
('</s>', '<unk>', 'UNK-LC', 'UNK-LC-ed', 'the', 'dogs', '.')
>>> vocabulary.ids(["the", "cats", "walked", "."])  # no unknown word in -s in training: UNK-LC
[4, 2, 3, 6]
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from syntagm.core import InputError, ModelError, UsageError, atomic, regular, seal

FILES = ("model.json", "model.safetensors", "vocabulary.txt")


def check(name: str, path: str, chosen: Mapping[str, str]) -> None:
    """Refuse a folder that does not exist, or in which training was not finished; see `Family.checks`."""
    # No weights are read.
    folder = Path(path)
    if not path or not folder.is_dir():
        raise ModelError(f"{name}:{path}", "no such folder", "a folder with " + ", ".join(FILES))
    seal.refuse_unsealed(folder, ModelError)


END, UNKNOWN = "</s>", "<unk>"
SINGLE = "UNK"
CLASSES = ("berkeley", "single", "none")
SUFFIXES = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")

_CLASS = re.compile(rf"UNK(-INITC(-KNOWNLC)?|-CAPS|-LC)?(-NUM)?(-DASH)?(-(s|{'|'.join(SUFFIXES)}))?")
_ESCAPED = re.compile(r"[\s\\\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u\{([0-9a-f]{1,6})\}")
_BACK_OFF = tuple(re.compile(part) for part in ("-KNOWNLC", f"-(s|{'|'.join(SUFFIXES)})$", "-DASH", "-NUM", "-.*"))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    # The words by id. 0 is the end-of-sentence symbol, which is also used as start symbol; 1 is the unknown word; then
    # the classes of unknown words that occurred in training, by name; then words by decreasing count, and by first
    # occurrence if counts are equal.
    words: tuple[str, ...]
    threshold: int = 2  # a word seen fewer times is unknown
    classes: str = "berkeley"  # `berkeley`; `single`: one class, UNK; `none`: every word of the training text is kept
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _class_ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self.threshold, self.classes)
        if self.words[:2] != (END, UNKNOWN):
            raise ModelError("vocabulary", f"begins with {self.words[:2]}", f"{END} and {UNKNOWN}")
        numbers = {word: number for number, word in enumerate(self.words)}
        if len(numbers) < len(self.words):
            [(word, _)] = Counter(self.words).most_common(1)
            raise ModelError("vocabulary", f"{word!r} twice", "each word once")
        class_ids = {word: number for word, number in numbers.items() if _is_class(word, self.classes)}
        object.__setattr__(self, "_class_ids", class_ids)
        object.__setattr__(self, "_ids", {word: numbers[word] for word in numbers if word not in class_ids})

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.known(word)

    def known(self, word: str) -> bool:
        """Return whether a word is in the vocabulary; symbols and classes of unknown words don't count."""
        return word in self._ids

    def ids(self, words: Sequence[str]) -> list[int]:
        """Return the id of each word. An unknown word gets the id of its class, else of a wider class, else of `<unk>`."""
        known = self._ids.get
        return [number if (number := known(word)) is not None else self._unknown(word) for word in words]

    @property
    def seen_classes(self) -> tuple[str, ...]:
        """The classes of unknown words that occurred in training, by name."""
        return tuple(name for name in self._class_ids if name not in (END, UNKNOWN))

    def unseen_classes(self, words: Iterable[str]) -> Counter[str]:
        """Count the unknown words of a text whose class did not occur in training, by class.

        `ids` gives such words a wider class, of which the model learned something else.

        >>> build([["the", "dogs", "barked"], ["the", "dogs"]]).unseen_classes(["the", "cats", "barked", "Cats", "dogs"])
        Counter({'UNK-LC-s': 1, 'UNK-INITC-s': 1})
        """
        names = (self._class_of(word) for word in words if word not in self._ids)
        return Counter(name for name in names if name not in self._class_ids)

    def _unknown(self, word: str) -> int:
        return next((self._class_ids[wider] for wider in _wider(self._class_of(word)) if wider in self._class_ids), 1)

    def _class_of(self, word: str) -> str:
        """Return the class of an unknown word; `<unk>` if there are no classes."""
        if self.classes == "none" or word == UNKNOWN:
            return UNKNOWN
        if _is_class(word, self.classes) and word != END:
            return word
        return unknown_class(word, self) if self.classes == "berkeley" else SINGLE

    def write(self, path: Path) -> None:
        """Write the vocabulary as text: a line of JSON with the number of words, then one word per line."""
        head = {"words": len(self), "threshold": self.threshold, "classes": self.classes}
        lines = (_ESCAPED.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", word) for word in self.words)
        atomic.write_parts(path, (line.encode() + b"\n" for line in (json.dumps(head), *lines)))


def _check(threshold: int, classes: str) -> None:
    if classes not in CLASSES:
        raise UsageError("classes of unknown words", repr(classes), "one of " + ", ".join(CLASSES))
    if threshold < 1:
        raise UsageError("threshold for unknown words", str(threshold), "at least 1")


def _is_class(word: str, classes: str) -> bool:
    if word in (END, UNKNOWN):
        return True
    if classes == "berkeley":
        return word.startswith("UNK") and _CLASS.fullmatch(word) is not None
    return classes == "single" and word == SINGLE


def _wider(name: str) -> Iterator[str]:
    """Yield a class of unknown words, then wider classes to use if it did not occur in training."""
    yield name
    for part in _BACK_OFF:
        shorter = part.sub("", name, count=1)
        if shorter != name:
            yield (name := shorter)


def build(
    sentences: Iterable[Sequence[str]],
    threshold: int = 2,
    classes: str = "berkeley",
    place: str = "corpus",
    limit: int = 0,
) -> Vocabulary:
    """Build the vocabulary of a training text. A word that is spelled like a class counts as that class."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    return of_counts(counts, threshold, classes, place, limit)


def of_counts(
    counts: Counter[str], threshold: int = 2, classes: str = "berkeley", place: str = "corpus", limit: int = 0
) -> Vocabulary:
    """Build a vocabulary from word counts in the order of first occurrence; for arguments and errors see `build`."""
    _check(threshold, classes)
    if limit < 0 or (limit and classes == "none"):
        found = f"{limit:,} words" + ", and no class for the others" * (limit > 0)
        expected = "a number of words and a class for the others, or 0 for no limit"
        raise UsageError("size of the vocabulary", found, expected)
    threshold = 1 if classes == "none" else threshold
    if END in counts:
        cure = "Remove it: sentences end at line ends."
        raise InputError(place, f"the end symbol {END} as a word", "plain text", cure)
    if not counts:
        raise InputError(place, "no words", "text")
    class_names = {word for word in counts if _is_class(word, classes)}
    frequent = (word for word, count in counts.most_common() if count >= threshold and word not in class_names)
    kept = dict.fromkeys(islice(frequent, limit or None))
    class_names |= {
        unknown_class(word, kept) if classes == "berkeley" else SINGLE
        for word in counts
        if word not in kept and word not in class_names
    }
    return Vocabulary((END, UNKNOWN, *sorted(class_names - {UNKNOWN}), *kept), threshold, classes)


def read(path: Path) -> Vocabulary:
    try:
        lines = regular.content(path).decode().split("\n")
        head = json.loads(lines[0])
        size, threshold, classes = int(head["words"]), int(head["threshold"]), str(head["classes"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        found = f"not a readable vocabulary ({error!r})"
        raise ModelError(str(path), found, "a line of JSON, followed by words") from error
    if len(lines) != size + 2 or lines[-1]:
        expected = f"{size:,}, as stated in its first line"
        raise ModelError(str(path), f"{len(lines) - 2:,} words", expected, "The file is damaged.")
    words = (_ESCAPE.sub(lambda match: chr(int(match[1], 16)), line) for line in lines[1:-1])
    try:
        return Vocabulary(tuple(words), threshold, classes)
    except (ModelError, UsageError) as error:
        raise ModelError(str(path), error.found, error.expected, "The file is damaged.") from error
    except ValueError as error:
        raise ModelError(str(path), f"no such character ({error})", "words", "The file is damaged.") from error


def unknown_class(word: str, known: Container[str]) -> str:
    """Return the class of an unknown word by its capitals, digits, dashes and suffix.

    The word is also looked up in lower case among those that are `known`.

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
