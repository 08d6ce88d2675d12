"""Vocabularies that the words of a template are limited to, such as the words that a model knows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from syntagm.suites.languages import spelling
from syntagm.suites.templates.cells import MISSING
from syntagm.suites.templates.index import mask_of
from syntagm.suites.templates.lexicon import LexicalClass


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of a list or of a model."""

    about: str
    split: Callable[[str], Sequence[str]]  # function that splits a sentence into words as the source does
    known: Callable[[str], bool]  # function that returns whether a word is in the source
    _masks: dict[tuple[int, str], tuple[LexicalClass, int]] = field(default_factory=dict)

    def unknown(self, text: str) -> str:
        """Return the first unknown word of a sentence, or ""."""
        return next((word for word in self.split(text) if not self.known(word)), "")

    def having(self, own: LexicalClass, form: str) -> int:
        """Return the words of a class with a known form, as a set of bits."""
        # A form counts as known if it is with or without a capital, because a sentence may begin with it. Whether each
        # word of the sentence is known is checked when the sentence is made.
        key = id(own), form
        if key not in self._masks:
            # The class is kept, too, so that no other object gets its id.
            cells = (word.forms.get(form, MISSING) for word in own.words)
            numbers = [number for number, cell in enumerate(cells) if cell != MISSING and self._allows(cell)]
            self._masks[key] = own, mask_of(numbers, len(own.words))
        return self._masks[key][1]

    def _allows(self, form: str) -> bool:
        parts = self.split(spelling.plain(form))
        return all(self.known(part) or self.known(part.lower()) or self.known(part.capitalize()) for part in parts)


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The vocabulary of one template, and the entries that it leaves."""

    words: Words  # the words of the source
    met: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)  # those of them whose forms are known
