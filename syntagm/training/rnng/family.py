"""The declaration of the family `rnng`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from syntagm.core import UsageError
from syntagm.training.lstm.family import Size
from syntagm.training.settings import MODEL, TRAINING, Settings, Words, option, part, refuse_small
from syntagm.training.trainable import Controlled, Trainable, Work, by_gradients, known_words


@dataclass(frozen=True, slots=True)
class TreeSteps:
    """The division of the trees into training steps.

    Arguments:
        batch: the number of trees of a step.
    """

    batch: int = option("trees per step", 32)

    def __post_init__(self) -> None:
        refuse_small(self, "batch")


@dataclass(frozen=True, slots=True)
class RnngSettings:
    """All settings of an RNNG.

    Arguments:
        size: the size of the model. Hu et al. 2020: as the LSTM.
        parts: `all`: the state of a derivation is computed from LSTMs over the stack, the actions and the words (Dyer et
            al. 2016); `stack`: from the stack only (rnng-pytorch).
        words: the settings for words; the words of trees are used as they are, and `tokens` is for texts to be scored.
        steps: the division of the trees into steps.
        loop: the settings of the training loop.
    """

    size: Size = part(MODEL, Size())
    parts: Literal["all", "stack"] = option(
        "LSTMs over the stack, the actions and the words, or over the stack only", "all", group=MODEL
    )
    words: Words = part(MODEL, Words())
    steps: TreeSteps = part(MODEL, TreeSteps())
    loop: Settings = part(TRAINING, Settings(epochs=18, optimiser="adamw", lr=1e-3, clip=5.0))


# Actions per word of the Penn Treebank; words per tree; extended derivations per word, as a multiple of the beam; the share
# of them for which the search computes the probability of the word.
ACTIONS, TREE, EXTENDED, WITH_WORD = 2.6, 20, 2.0, 0.1


def weights(settings: RnngSettings, words: int) -> tuple[float, float]:
    """Return the number of weights that each action and each word is multiplied by, in a model trained on `words` words.

    >>> inner, output = weights(RnngSettings(), 1_000_000)
    >>> round(inner), round(output)
    (4521984, 6144000)
    """
    size = settings.size
    layer = 4 * size.hidden * (size.embedding + size.hidden) + 8 * (size.layers - 1) * size.hidden**2
    composition = 2 * 8 * size.embedding**2 + 2 * size.embedding**2
    several = 3 if settings.parts == "all" else 1
    inner = several * layer + composition + several * size.hidden**2
    return float(inner), known_words(words, settings.words.threshold) * size.hidden


def _duration(settings: RnngSettings, work: Work) -> tuple[float, float]:
    (inner, output), epochs, step = weights(settings, work.words), settings.loop.epochs, settings.steps.batch * TREE
    training, _ = by_gradients(ACTIONS * inner + output, 1.0, epochs, step, work)
    extended = EXTENDED * int(work.evaluation["beam"])
    _, scoring = by_gradients((inner + WITH_WORD * output) * extended, 1.0, epochs, step, work)
    return training, scoring


def _check_texts(settings: RnngSettings, corpus: Sequence[str], valid: Sequence[str]) -> None:
    from syntagm.training.corpora import corpus as corpora

    if lines := [path for path in (*corpus, *valid) if not corpora.is_treebank(path)]:
        cure = "Name files of trees (.trees, .ptb, .mrg, .parse), or leave rnng out."
        raise UsageError(
            "families", f"rnng, and {lines[0]} has no trees", "a corpus and a held-out text of trees", cure
        )


RNNG = Trainable(
    name="rnng",
    summary="a recurrent neural network grammar, on trees",
    settings=RnngSettings(),
    module="syntagm.training.rnng.train",
    valid="held-out trees",
    trees=True,
    note="FILE must be a file of bracketed trees, or a text for --parser. The size is that of Hu et al. 2020; the optimiser is "
    "that of rnng-pytorch.",
    controlled=Controlled(_duration, evaluation=("beam", "word_beam", "fast_track"), check_texts=_check_texts),
)
