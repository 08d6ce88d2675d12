"""The page about the reading of `warstadt2020`, made from its table."""

import csv
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference" / "collections"
TABLE, PAGE = FOLDER / "warstadt2020_reading.csv", "warstadt2020_reading.md"
FIRST, AGAIN, OTHER, LATER = "first", "after mending", "another seed", "later templates"
READINGS = (FIRST, AGAIN, OTHER, LATER)
VERDICTS = ("right", "doubtful", "wrong")

_HEAD = """# Reading of warstadt2020

For people who want to know how good the pairs are. [The table](warstadt2020_reading.csv) has a row for each pair that
was read, with its verdict and the reason. A program writes this page from it.

**How it was read.** When the paradigms had been written and edited, pairs 1 to 20 of each (seed 1) were read one by
one, sentence by sentence, by readers who had neither written nor edited them. *Right* means: the good sentence is
grammatical, plausible and ordinary; the bad one is bad under every reading, by the contrast of the paradigm and
nothing else. *Doubtful* counts as not right: most doubtful sentences are grammatical, but say something odd.
Paradigms with fewer than 19 right pairs were mended and read again, 20 pairs with seed 1. Then 5 pairs with seed 2
were read by another reader. In a third of the paradigms, the reasons for right pairs (not the verdicts) were put
together from the words that differ. The readings after the first led to further small mends.

**The templates were changed since.** They are balanced for present-day frequencies, and faulty items were mended, so
most paradigms have other sentences than those of these readings. Of *later templates*, pairs 1 to 10 of each
(seed 90210) were read by a reader who had written none of them: 657 of 670 were right, 13 odd, and none wrong. The
reasons for right pairs name the words that differ. The sentences of the table are those that were read.

**The last reading.** With negated sentences and more words, pairs 1 to 10 of each paradigm (seed 20261210) were read by
two readers who had written none of them: 666 of 670 were right, 3 odd, and one wrong (95% upper limits: 1.5% not right,
0.83% wrong). Of four items of each suite of the other collections, 634 of 656 were right, and 22 odd, ten of them in
`islands`. Most of what they found was mended in the templates and the lexicon. `islands` was written anew, and mended
after two readings; of eight other items of each suite (seed 20261701), another reader found 46 of 48 right, and 2 odd.

**What it is not.** The readers are no panel of native speakers, and their verdicts are no substitute for judgements
of many people. In the validation of the published pairs by 20 people, five pairs per paradigm, the majority preferred
the good sentence in 96.4% (Warstadt et al. 2020).
"""


def rows() -> list[dict[str, str]]:
    """Read the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def page(found: list[dict[str, str]]) -> str:
    """Make the page."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in found:
        counts.setdefault((row["paradigm"], row["reading"]), Counter())[row["verdict"]] += 1
    lines = [_HEAD, "| reading | pairs | right | doubtful | wrong |", "|---|---|---|---|---|"]
    for reading in READINGS:
        total = sum((count for (_, kind), count in counts.items() if kind == reading), Counter[str]())
        numbers = " | ".join(f"{total[verdict]:,}" for verdict in VERDICTS)
        lines.append(f"| {reading} | {total.total():,} | {numbers} |")
    lines += ["", "Right pairs by paradigm:", ""]
    lines += [f"| paradigm | {' | '.join(READINGS)} |", "|---" * (len(READINGS) + 1) + "|"]
    for paradigm in sorted({name for name, _ in counts}):
        cells = []
        for reading in READINGS:
            count = counts.get((paradigm, reading))
            cells.append(f"{count['right']} of {count.total()}" if count else "")
        lines.append(f"| {paradigm} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
