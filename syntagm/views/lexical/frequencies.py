"""How frequent words are: from a word list, or counted in a text."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from syntagm import word_list
from syntagm.errors import UsageError
from syntagm.runs.store import Run
from syntagm.views.normalised.numbers import read_unigrams

FREQUENCY = "frequency"


@dataclass(frozen=True, slots=True)
class Frequencies:
    """What is known of words: label -> how often it occurs, None where that isn't known; and where the numbers are from."""

    of: Callable[[str], float | None]
    about: str


def frequencies(run: Run, words: str, unigrams: str) -> Frequencies:
    """Frequencies as two options ask for them.

    Arguments:
        words: a word list with the column `frequency`; a label is a lemma of it, or a form of one lemma only.
        unigrams: a text, in which words are counted in lower case, divided as the Penn Treebank; instead of the list.

    Raises:
        UsageError: a list without frequencies, or `ngram:`, which has none.
    """
    if unigrams:
        counts = read_unigrams(unigrams, run, "treebank", "lower").counts
        if counts is None:
            raise UsageError("unigrams=", unigrams, "a text, in which words can be counted")
        return Frequencies(
            lambda label: counts.get(label.lower()) or None, f"counted in {Path(unigrams).name}, in lower case"
        )
    return _of_list(words)


def _of_list(name: str) -> Frequencies:
    found = word_list.read(name)
    lemmas: dict[str, float] = {}
    forms: dict[str, set[float]] = {}
    for row in found.rows:
        text = row.tags.get(FREQUENCY, "")
        try:
            count = float(text)
        except ValueError:
            continue
        lemmas.setdefault(row.lemma, count)
        for form in row.forms:
            forms.setdefault(form, set()).add(count)
    if not lemmas:
        raise UsageError("words=", f"{name}, which has no column {FREQUENCY}", "a word list with frequencies")

    def of(label: str) -> float | None:
        alone = forms.get(label, set())
        return lemmas.get(label) or (next(iter(alone)) if len(alone) == 1 else None) or None

    return Frequencies(of, f"of the lemma, word list {name}")
