"""Coverage of the interval of an AUC (`stats.acceptability`), by seeded simulation with items as units.

    python -m benchmarks.coverage_auc              # some minutes on one core; writes benchmarks/coverage_auc.md

A world is a distribution of items: each has a base (how costly its words are), and a difference between its bad and its good
sentence. The true AUC is that of a good and a bad sentence of two different items.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import stats

from syntagm.stats import auc_of_pairs

PAGE = Path(__file__).with_suffix(".md")
# The spread of the base in units of the spread of the differences, and the mean difference.
WORLDS = [(base, mean) for base in (0.5, 2.0, 6.0) for mean in (0.0, 0.7, 2.0)]
# AUCs near 1, and sentences that have little in common.
WORLDS += [(0.25, 1.5), (0.5, 3.0), (2.0, 5.0)]


def truth(base: float, mean: float) -> float:
    """The AUC of two items: bad - good of different items is normal."""
    return float(stats.norm.cdf(mean / np.sqrt(2 * base**2 + 1)))


def drawn(base: float, mean: float, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the costs of the good and the bad sentences of items."""
    bases = random.normal(0, base, n)
    return bases, bases + random.normal(mean, 1, n)


def coverage(base: float, mean: float, n: int, draws: int, seed: int) -> tuple[float, float]:
    """Return how often the interval contains the true AUC, for all sentences and for those of the same length."""
    random, true = np.random.default_rng([seed, n, int(10 * base), int(10 * mean)]), truth(base, mean)
    hits = np.zeros(2)
    for _ in range(draws):
        good, bad = drawn(base, mean, n, random)
        lengths = random.integers(5, 9, (2, n))
        for place, strata in enumerate((None, lengths)):
            found = auc_of_pairs(good, bad, strata).interval
            hits[place] += found.low <= true <= found.high
    plain, matched = hits / draws
    return float(plain), float(matched)


def main() -> None:
    """Simulate all worlds and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lines = [
        "# Coverage of the interval of an AUC", "",
        f"`python -m benchmarks.coverage_auc --draws {options.draws} --seed {options.seed}`. Of {options.draws:,} draws, "
        "a coverage of .95 has the standard error "
        f"{np.sqrt(0.95 * 0.05 / options.draws):.4f}. base: spread of the costs of items, in units of the spread of their "
        "differences.", "",
        "| items | base | mean difference | true AUC | coverage | same length |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for n in (30, 100, 300):
        for base, mean in WORLDS:
            plain, matched = coverage(base, mean, n, options.draws, options.seed)
            lines.append(f"| {n} | {base:g} | {mean:g} | {truth(base, mean):.3f} | {plain:.3f} | {matched:.3f} |")
            print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
