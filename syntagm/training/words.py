"""What is a word in training, and what becomes of rare ones: settings that all word models share."""

from dataclasses import dataclass
from typing import Literal

from syntagm.training.options import option


@dataclass(frozen=True, slots=True)
class Words:
    """How text becomes words.

    Arguments:
        tokens: `auto`: a text that is divided into words already is taken as it stands, another is divided as in the Penn
            Treebank; `treebank`: all are (in divided text, NLTK takes a closing quote for an opening one); `blanks`: none is.
        threshold: a word seen less often is unknown.
        classes: of unknown words: `berkeley`, `single` or `none` (every word is kept); see `models.words.vocabulary`.
    """

    tokens: Literal["auto", "blanks", "treebank"] = option(
        "how to divide text: at blanks, as the Penn Treebank, or as it stands if its marks stand alone already", "auto"
    )
    threshold: int = option("a word seen less often is unknown", 2, metavar="N")
    classes: Literal["berkeley", "single", "none"] = option(
        "classes of unknown words; none: keep every word", "berkeley", name="unknown"
    )
