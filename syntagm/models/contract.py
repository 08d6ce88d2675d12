"""What a language model is: two questions it may answer, and what it says of itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap, Surprisals
from syntagm.errors import ModelError

Sees = Literal["left", "both", "left and length"]


class LanguageModel(ABC):
    """A language model that scores texts, and perhaps fills blanks.

    Attributes:
        name: family:path?options, as it stands in every result. Local models are named by folder and content.
        fingerprint: a hash of everything that the numbers depend on: weights, vocabulary, type, settings, scorer version.
        bos: what stands before the first token of a text; None if nothing does, and then the first token has no
            surprisal: its bits are nan, and sums count it as 0.
        eos: the end symbol, if its surprisal is listed as a last token; else None.
        numerical_error: the largest difference in bits, per text, measured between two ways of asking the same. Margins within it
            mean nothing. 0 for exact models.
        sees: what a token's surprisal depends on beside the token itself: "left", what precedes it, so that the bits of a prefix
            are the first bits of the longer text; "both", what precedes and what follows it; "left and length", what precedes
            it and how long the text is.
        exact: is the surprisal that of the model's own distribution? False for a search that keeps a few hypotheses (a beam);
            its sizes stand in `settings`.
        can: the questions it answers: {"score"} or {"score", "fill"}.
        worth_caching: does a stored answer save time?
        settings: what the numbers depend on, as it stands in signatures: {"bos": "yes", "eos": "no", ...}.
        record: whatever else a reader of the run should know: hashes, versions, how it was computed.
    """

    name: str
    fingerprint: str
    bos: str | None = None
    eos: str | None = None
    numerical_error: float = 0.0
    sees: Sees = "left"
    exact: bool = True
    can: ClassVar[frozenset[str]] = frozenset({"score"})
    worth_caching: ClassVar[bool] = True
    settings: Mapping[str, str]
    record: Mapping[str, object]

    @abstractmethod
    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """The surprisals of each text, in the order of `texts`.

        Arguments:
            texts: what to score; repeats and order make no difference to the answers.
            done: called after each batch with the number of texts finished by it. It may raise to stop the work.

        Raises:
            ModelError: a text that the model can't take; the message names it.
        """

    def fill(self, blanks: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """The surprisal of each candidate in each blank, in the order of `blanks`.

        Arguments:
            blanks: repeats and order make no difference to the answers. Models that see the left side take no notice of `right`.
            done: called after each batch with the number of blanks finished by it. It may raise to stop the work.

        Raises:
            ModelError: a blank that the model can't take; the message names it.
        """
        raise ModelError(self.name, "this model fills no blanks", "one that does")

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the words are single entries of the vocabulary where a blank (white space) stands before them.

        Only those have `above` and `below` in a `Fill`, and they are the cheapest to ask for. Unknown words of word-level models
        are single entries, that of unknown words.

        Returns:
            Shape (words,), bool.

        Raises:
            ModelError: the model fills no blanks.
        """
        raise ModelError(self.name, "this model fills no blanks", "one that does")
