"""The settings shared by all word-level models: tokenization and the treatment of rare words."""

from dataclasses import dataclass
from typing import Literal

from syntagm.training.options import option


@dataclass(frozen=True, slots=True)
class Words:
    """The settings for turning text into words.

    Arguments:
        tokens: `blanks`: split at white space; `treebank`: split as in the Penn Treebank (in text that is already
            split, NLTK mistakes a closing quote for an opening one); `auto`: `blanks` if the text is already split,
            else `treebank`.
        threshold: the number of occurrences below which a word is unknown.
        classes: the classes of unknown words: `berkeley`, `single` or `none` (every word is kept); see
            `models.words.vocabulary`.
        vocabulary: the number of words that are known at most, the most frequent ones; 0: no limit.
    """

    tokens: Literal["auto", "blanks", "treebank"] = option(
        "how to split text: at white space, as in the Penn Treebank, or whichever suits the text", "auto"
    )
    threshold: int = option("a word seen less often is unknown", 2, metavar="N")
    classes: Literal["berkeley", "single", "none"] = option(
        "classes of unknown words; none: every word is kept", "berkeley", name="unknown"
    )
    vocabulary: int = option("only the N most frequent words are known; 0: no limit", 0, metavar="N")
