"""The interface of language models: scoring texts, filling gaps, parsing, and information about the model."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, overriding, public
from syntagm.models.answers import Fill, Gap, InContext, Surprisals
from syntagm.models.windows import refuse_overlap

Sees = Literal["left", "both", "left and length"]
# What a model may be asked to do.
Query = Literal["score", "reduce", "fill", "best", "parse"]
# The same in words, as in "this model can't fill gaps".
QUERIES: Mapping[Query, str] = {
    "score": "score texts",
    "reduce": "tell the entropy and the rank of tokens",
    "fill": "fill gaps",
    "best": "list the most probable entries of its vocabulary",
    "parse": "parse",
}
# The label of constituents without labels.
UNLABELLED = "X"


class Described(Protocol):
    """What is known of a model before it is asked: of one that is loaded, or of a name (`family.Declared`)."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def sees(self) -> Sees:
        """As for `LanguageModel`."""

    @property
    def can(self) -> frozenset[Query]:
        """As for `LanguageModel`."""

    @property
    def settings(self) -> Mapping[str, str]:
        """As for `LanguageModel`."""


@public(
    cure="Use syntagm.load_model(name), or syntagm.from_transformers(model, tokenizer, name=...) for a model in memory."
)
class LanguageModel(ABC):
    """A language model that scores texts and, in some families, fills gaps or parses.

    Attributes:
        name: canonical name `family:path?options`, as in results. Local models are named by folder and hash.
        label: a short name for tables, figures and reports; empty for `name`.
        fingerprint: hash of everything that the numbers depend on: weights, vocabulary, dtype, settings, scorer version.
        bos: the start-of-text symbol before the first token; None if there is none. Without it, the first token has no
            surprisal: its bits are nan and count as 0 in sums.
        eos: the end-of-text symbol, if its surprisal is listed as the last token; else None.
        numerical_error: largest measured difference, in bits per text, between two ways of computing the same number;
            smaller margins are not meaningful. 0 for exact models.
        sees: the context that a token's surprisal depends on: "left", the text before it, so that a prefix has the same
            bits as the beginning of the longer text; "both", the text before and after it; "left and length", the text
            before it and the length of the text.
        reach: the largest number of previous tokens that a token's surprisal depends on; None if it is not limited, or
            limited only by the model's positions.
        exact: whether surprisals are those of the model's own distribution. False for a beam search, whose sizes are
            in `settings`: the bits of a text and of its beginnings are then upper bounds, and a single token may have
            negative bits (`models.possible`).
        words: all words that can follow a text, in families that list them: after any text, their probabilities, with that
            of `eos` if there is one, sum to 1. One of them may stand for all unknown words.
        can: the supported queries: "score", and possibly "reduce" (entropies and ranks), "fill", "best" (`Gap.best`, the
            most probable entries of the vocabulary in a gap) and "parse". They are among those that its family declares.
        labelled: whether constituents in the trees of `parse` have labels. If not, all are labelled X.
        worth_caching: whether reading a cached answer is faster than computing it.
        steady: whether the model can't change while it is loaded, because its weights are in this process. Other models are
            asked again what they have answered (`models.asking`).
        probes: for a model that is not steady, its answers to a few texts when it was loaded, which are asked for again.
        one_by_one: whether each text is computed on its own, so that answers before an interruption can be kept. Otherwise
            the texts of a batch change the last digits of each other's numbers, and a portion is computed again as a whole.
        warnings: sentences to show to the user before the model is used, about options that can make its numbers bad.
        settings: scoring settings as in signatures: {"bos": "yes", "eos": "no", ...}.
        record: further information for the record of a run: hashes, versions, how the numbers were computed.
    """

    name: str
    label: str = ""
    fingerprint: str
    bos: str | None = None
    eos: str | None = None
    numerical_error: float = 0.0
    sees: Sees = "left"
    reach: int | None = None
    exact: bool = True
    words: Sequence[str] | None = None
    can: frozenset[Query] = frozenset({"score"})
    labelled: ClassVar[bool] = True
    worth_caching: ClassVar[bool] = True
    steady: ClassVar[bool] = True
    probes: Sequence[Surprisals] = ()
    one_by_one: ClassVar[bool] = False
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, str]
    record: Mapping[str, object]

    _weights_given = ""
    # Whether an object can be copied and pickled.
    _copies = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        overriding(cls, LanguageModel)

    def _add_to_record(self, further: Mapping[str, object]) -> None:
        self.record = {**self.record, **further}

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self._copies and self.steady:
            return super().__reduce_ex__(protocol)
        cure = "Load it again where it is needed: load_model(name), or from_transformers with a copy of its model."
        raise ModelError(self.name, "a loaded model that is copied or pickled", "its name, or its weights", cure)

    def _weights_now(self) -> str:
        """Return a checksum of all weights in this process; "" if there are none that a user's code could change."""
        return ""

    def _given_out(self) -> None:
        """Note that a user's code holds the model from now on, and may change it."""
        self._weights_given = self._weights_now()

    def _confirm(self) -> None:
        """Verify in full that the model is the one that its fingerprint names, if a user's code holds it."""
        if self._weights_given and self._weights_now() != self._weights_given:
            raise changed(self.name)

    @abstractmethod
    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute the surprisals of each text, in the order of `texts`.

        Arguments:
            texts: the texts. The answer to a text does not depend on the other texts.
            done: called after each batch with the number of texts that it finished. It may raise an exception to stop.

        Raises:
            ModelError: the model can't score a text; the message names it.
        """

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute the surprisals of each text like `score`, and reduce the distribution before each token.

        The answers have `Surprisals.reductions`: the entropy of the distribution from which the token is taken, and the
        token's rank in it. Distributions themselves never leave the model. The bits are those of `score`.

        Arguments:
            texts: the texts, as in `score`.
            done: called after each batch with the number of texts that it finished. It may raise an exception to stop.

        Raises:
            ModelError: the model can't score a text, or can't tell entropies and ranks.
        """
        raise unable(self.name, "reduce")

    def read(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        """Compute the surprisals of texts of any length, in the order of `texts`, with the context of each token.

        A text that is longer than the model's positions is scored in overlapping windows. The start-of-text symbol
        precedes each window. This method is for models without a limit; models with a limit override it.

        Arguments:
            texts: the texts. Their number must fit in memory; call this several times for a large file.
            overlap: the minimum number of tokens before a scored token in the windows after the first. If the model
                sees both sides, half of that number is the minimum on each side. The default is half of the model's
                positions.
            done: called with the number of characters scored since the last call. It may raise an exception to stop.

        Raises:
            UsageError: the windows of this model can't have this overlap.
            ModelError: the model can't score a text; the message names it.
        """
        refuse_overlap(overlap, self.name, "this model reads a text of any length at once")
        return self._at_once(self.score(texts), done)

    def read_reduced(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        """Compute the surprisals of texts of any length like `read`, and reduce the distribution before each token.

        The answers have `Surprisals.reductions`, as those of `reduce`. This method is for models without a limit of
        positions; models with a limit override it.

        Arguments:
            texts, overlap, done: as in `read`.

        Raises:
            UsageError: the windows of this model can't have this overlap.
            ModelError: the model can't score a text, or can't tell entropies and ranks.
        """
        refuse_overlap(overlap, self.name, "this model reads a text of any length at once")
        return self._at_once(self.reduce(texts), done)

    def _at_once(self, answers: Iterator[Surprisals], done: Callable[[int], None] | None) -> Iterator[InContext]:
        for answer in answers:
            yield InContext(answer, self._context(len(answer.starts)))
            if done:
                done(len(answer.text))

    def _context(self, tokens: int) -> NDArray[np.int32]:
        """Return the number of tokens that each token's surprisal depends on, in a text that is scored at once."""
        context = np.arange(tokens, dtype=np.int32)
        return context if self.reach is None else np.minimum(context, np.int32(self.reach))

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """Compute the surprisal of each candidate in each gap, in the order of `gaps`.

        Arguments:
            gaps: the gaps. The answer to a gap does not depend on the other gaps. Left-to-right models ignore `right`.
            done: called after each batch with the number of gaps that it finished. It may raise an exception to stop.

        Raises:
            ModelError: the model can't fill a gap; the message names it. Or it can't list entries, and they are wanted.
        """
        raise unable(self.name, "fill")

    def parse(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[tuple[str, ...]]:
        """Return the best tree of each prefix of each text, in the order of `texts`.

        Arguments:
            texts: the texts.
            done: called after each batch with the number of texts that it finished. It may raise an exception to stop.

        Yields:
            A bracketed tree for each word: that of the text up to this word, with all brackets closed. The last tree is
            that of the whole text. It is empty if the model found none.

        Raises:
            ModelError: the model can't parse.
        """
        raise unable(self.name, "parse")

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each word is a single vocabulary entry after a space.

        Only these have `above` and `below` in a `Fill`, and they are the fastest to compute. In word-level models, an
        unknown word is a single entry, too: it is replaced by the unknown-word symbol.

        Returns:
            Shape (words,), bool.

        Raises:
            ModelError: the model can't fill gaps.
        """
        raise unable(self.name, "fill")


def changed(
    name: str, found: str = "weights that have changed since the model was created", expected: str = "the same as then"
) -> ModelError:
    """Return the error for a model in this process that isn't the one that its fingerprint names."""
    return ModelError(name, found, expected, "Load it, or call from_transformers, again after such a change.")


def unable(name: str, query: Query, expected: str = "a model that can") -> ModelError:
    cure = "`syntagm models FAMILY` tells what a family declares that its models can do."
    return ModelError(name, f"this model can't {QUERIES[query]}", expected, cure)


def refuse_best(model: LanguageModel, best: int) -> None:
    """Refuse to list the most probable entries of a vocabulary, unless the model can."""
    if best and "best" not in model.can:
        raise unable(model.name, "best")
