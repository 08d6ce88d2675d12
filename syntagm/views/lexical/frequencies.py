"""Word frequencies, from a word list or counted in a text."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from syntagm.core import UsageError
from syntagm.runs import Run
from syntagm.suites import word_list
from syntagm.views.normalised import read_unigrams

FREQUENCY = "frequency"


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Word frequencies."""

    of: Callable[[str], float | None]  # label -> frequency; None if unknown
    about: str  # the source of the numbers


def frequencies(run: Run, words: str, unigrams: str) -> Frequencies:
    """Read word frequencies from a word list, or count words in a text."""
    if unigrams:
        counts = read_unigrams(unigrams, run, "treebank", "lower").counts
        if counts is None:
            raise UsageError("unigrams=", unigrams, "a text file whose words can be counted")
        return Frequencies(
            lambda label: counts.get(label.lower()) or None, f"counted in {Path(unigrams).name}, in lower case"
        )
    return _of_list(words)


def _of_list(name: str) -> Frequencies:
    words = word_list.read(name)
    lemmas: dict[str, float] = {}
    forms: dict[str, set[float]] = {}
    for row in words.rows:
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
        of_form = forms.get(label, set())
        return lemmas.get(label) or (next(iter(of_form)) if len(of_form) == 1 else None) or None

    return Frequencies(of, f"of the lemma, word list {name}")
