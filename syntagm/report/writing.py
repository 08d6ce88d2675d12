"""How sentences are written: their language and direction, as attributes of HTML.

`dir="auto"` is not enough: it goes by the first letter, and does not look into the elements that isolate tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from syntagm.suites import UNKNOWN, Direction, Language, direction, direction_of, language_of


@dataclass(frozen=True, slots=True)
class Writing:
    """How the sentences of a suite are written."""

    language: Language = UNKNOWN  # their language; `UNKNOWN` if the suite does not say it

    @property
    def lang(self) -> str:
        """The tag of the language; "" if it isn't known."""
        return "" if self.language is UNKNOWN else self.language.tag

    def direction(self, text: str = "") -> Direction:
        """Return the direction of a text: that of the language, or else that of most letters of the text."""
        known = self.language.scripts
        return direction_of(known) if known else direction(text)

    def attributes(self, text: str = "") -> Markup:
        """Return the attributes of the element with a text, with a space before them.

        >>> writing_of({"language": "ar"}).attributes(), writing_of({}).attributes("The keys")
        (Markup(' lang="ar" dir="rtl"'), Markup(' dir="ltr"'))
        """
        lang = Markup(' lang="%s"') % self.lang if self.lang else Markup("")
        return lang + Markup(' dir="%s"') % self.direction(text)


# That of sentences whose language is not known.
UNKNOWN_WRITING = Writing()


def writing_of(tags: Mapping[str, str]) -> Writing:
    """Return how the sentences of a suite with some tags are written."""
    return Writing(language_of(tags))
