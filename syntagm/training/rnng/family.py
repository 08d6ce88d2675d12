"""The declaration of the family `rnng`."""

from collections.abc import Sequence

from syntagm.core import UsageError
from syntagm.training.duration import Work, by_gradients, seen_twice
from syntagm.training.rnng.settings import RnngSettings
from syntagm.training.trainable import Controlled, Trainable

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
    return float(inner), seen_twice(words) * min(1.0, 2 / max(1, settings.words.threshold)) * size.hidden


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
