"""Statistics of the texts of a word-level model, and the check that training has all classes of unknown words.

Hu et al. (2020, section 3.2) verified that the classes of unknown words in the validation and test sets were all present in
training. A word of another class would be scored as a wider class, of which the model learned something else.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from syntagm.core import ModelError, json
from syntagm.models import Vocabulary, read
from syntagm.training.corpora import corpus

_NAMED = 5


def statistics(vocabulary: Vocabulary, sentences: int, words: int, held_out: Iterable[Sequence[str]]) -> dict[str, Any]:
    classes = vocabulary.seen_classes
    return {
        "sentences": sentences,
        "words": words,
        # Without the symbols </s> and <unk>.
        "types": len(vocabulary) - 2 - len(classes),
        "unknown_classes": len(classes),
        "unseen_classes": dict(vocabulary.unseen_classes(chain.from_iterable(held_out)).most_common()),
    }


def unseen_classes(folder: Path, paths: Sequence[str]) -> dict[str, int] | None:
    """Count the words of a text whose class of unknown words did not occur in the training of a model, by class."""
    if not (path := folder / "vocabulary.txt").exists():
        return None
    tokens = json.record(folder / "model.json", ModelError, '{"family": ...}')["tokens"]
    words = chain.from_iterable(corpus.sentences(paths, tokens))
    return dict(read(path).unseen_classes(words).most_common())


def warning(text: str, unseen: Mapping[str, int]) -> str:
    """Return a warning about classes of unknown words that did not occur in training; empty if there are none.

    >>> warning("the test text", {"UNK-NUM": 2})
    'the test text has unknown words of classes that training has not: UNK-NUM (2); they are scored as wider classes'
    """
    if not unseen:
        return ""
    named = ", ".join(f"{name} ({count:,})" for name, count in list(unseen.items())[:_NAMED])
    more = f", and {len(unseen) - _NAMED} more" if len(unseen) > _NAMED else ""
    return f"{text} has unknown words of classes that training has not: {named}{more}; they are scored as wider classes"
