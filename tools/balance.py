"""Say how balanced and how diverse the pairs of a collection are: for those who write paradigms.

python -m tools.balance                            the paradigms of warstadt2020
python -m tools.balance frontier -n 200 --seed 7   other suites, items or a seed

For each paradigm: the baselines of its first prediction, by words in public-domain books, by words of today (wordfreq, of
the extra [languages]) and by the number of characters, and for each open slot how many entries fill it and which share the
most frequent one has. A star marks a baseline of pairs outside of [.40, .60] whose reason no tag declares, and a slot
with fewer than 40 entries, or one above 8%, in a paradigm without the tag `closed_class`; then the exit code is 1.

The last line says how many good sentences of pairs have *not*, *n't* or a contraction.
"""

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import syntagm as sg
from syntagm.evaluation import Frequencies, baselines
from syntagm.suites import Suite, find, frequency, template as template_format
from syntagm.suites.templates import make

LOW, HIGH = 0.40, 0.60
FEWEST, MOST = 40, 0.08
# Classes of open words; all others (determiners, numbers, auxiliaries, question words) are closed.
OPEN = ("noun", "name", "verb", "adjective", "adverb")
_NEGATED = re.compile(
    r"\b(?:not|cannot)\b|n't\b|'(?:re|ve|ll|d|m)\b|\b(?:he|she|it|that|there|who|what)'s\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Slot:
    """How diverse a slot is: the number of entries in it, and the share of the most frequent one."""

    name: str
    entries: int
    top: str
    share: float

    @property
    def narrow(self) -> bool:
        """Whether it has fewer entries than `FEWEST`, or one with more than `MOST` of the items."""
        return self.entries < FEWEST or self.share > MOST


@dataclass(frozen=True)
class Report:
    """What one paradigm has: its baselines by name, which of them leak unsaid, and its slots."""

    name: str
    values: dict[str, float]
    leaks: tuple[str, ...]
    slots: tuple[Slot, ...]
    closed: bool
    good: tuple[str, ...]


def today() -> Frequencies:
    """Return the English word frequencies of today."""
    return Frequencies(frequency.per_billion(find("en")), frequency.TOTAL, frequency.about())


def leaks(value: float, chance: float, declared: str) -> bool:
    """Return whether a baseline gives pairs away, and no tag says why.

    >>> leaks(0.61, 0.5, ""), leaks(0.61, 0.5, "the contrast"), leaks(0.6, 0.5, ""), leaks(0.3, 0.25, "")
    (True, False, False, False)
    """
    return not declared and chance == 0.5 and not LOW <= value <= HIGH


def balance(suite: Suite) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the baselines of the first prediction, and those that leak unsaid."""
    first = suite.predictions[0].name
    computed = {
        "books": baselines.baselines(suite, baselines.books(), ["frequency"]),
        "today": baselines.baselines(suite, today(), ["frequency"]),
        "characters": baselines.baselines(suite, None, ["characters"]),
    }
    of_first = {kind: found for kind, each in computed.items() for found in each if found.prediction == first}
    leaking = [kind for kind, found in of_first.items() if leaks(found.value, found.chance, found.declared)]
    return {kind: found.value for kind, found in of_first.items()}, tuple(leaking)


def diversity(path: Path, n: int | None, seed: int) -> Iterator[tuple[str, tuple[Slot, ...]]]:
    """Yield each suite of a template, with its open slots."""
    for name, items in make.words(list(template_format.templates(path)), n, seed):
        entries: dict[str, Counter[str]] = defaultdict(Counter)
        shown: dict[str, str] = {}
        for words in items:
            for slot, word in words.items():
                if word.forms.get("class", "") in OPEN:
                    first = next(form for name, form in word.forms.items() if name != "class")
                    entry = word.entry or first
                    entries[slot][entry] += 1
                    shown[entry] = first
        yield (
            name,
            tuple(
                Slot(slot, len(counts), shown[top], count / counts.total())
                for slot, counts in entries.items()
                for top, count in counts.most_common(1)
            ),
        )


def reports(collection: str, n: int | None, seed: int) -> Iterator[Report]:
    """Yield a report on each suite of a collection."""
    folder = Path(sg.__file__).parent / "suites" / "materials" / collection
    for path in sorted(folder.glob("*.toml")):
        slots = dict(diversity(path, n, seed))
        options = f"?{f'n={n}&' if n else ''}seed={seed}"
        for suite in sg.read_suites(f"{path}{options}"):
            values, leaking = balance(suite)
            good = tuple(item.sentences["good"].text for item in suite.items if "good" in item.sentences)
            yield Report(suite.name, values, leaking, slots.get(suite.name, ()), "closed_class" in suite.tags, good)


def negated(sentences: Sequence[str]) -> float:
    """Return the share of sentences with *not*, *n't* or a contraction.

    >>> negated(["He's not here.", "They can't.", "The dog's tail is short.", "Nothing is."])
    0.5
    """
    return sum(1 for text in sentences if _NEGATED.search(text)) / len(sentences)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", nargs="?", default="warstadt2020")
    parser.add_argument("-n", type=int, help="items of each suite (those of the template)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong, good = 0, list[str]()
    for report in reports(options.collection, options.n, options.seed):
        shown = [
            f"{kind} {value:.3f}{'*' if kind in report.leaks else ''}" for kind, value in sorted(report.values.items())
        ]
        narrow = [slot for slot in report.slots if slot.narrow]
        star = "" if report.closed else "*"
        shown += [f"{slot.name}{star} {slot.entries} ({slot.top} {slot.share:.1%})" for slot in narrow]
        wrong += len(report.leaks) + (0 if report.closed else len(narrow))
        print(f"{report.name}: {', '.join(shown)}" + (" (closed)" if report.closed else ""))
        good += report.good
    if good:
        print(f"not, n't or a contraction: {negated(good):.1%} of {len(good):,} good sentences")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
