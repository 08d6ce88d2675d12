"""Coverage of the interval of an accuracy whose number of items a pilot chose (`syntagm run --stop-at`).

    python -m benchmarks.two_stage      # a minute on one core; writes benchmarks/two_stage.md

Enumerated over the outcomes of the pilot and of the other items, for 199 true accuracies. Stopping at will, after the
first item at which the interval is narrow enough, is simulated for comparison.
"""

from pathlib import Path

import numpy as np
from scipy import stats

from syntagm.stats import PILOT, critical, items_after

PAGE = Path(__file__).with_suffix(".md")
TRUE = np.linspace(0.005, 0.995, 199)
SIMULATED = (0.05, 0.3, 0.5, 0.7, 0.95)
_HEAD = """# Coverage after a pilot

Written by `python -m benchmarks.two_stage`. Wilson's 95% intervals of an accuracy, if a pilot of {pilot} items chooses the
number of items (`syntagm run --stop-at`), the pilot included. Enumerated for {worlds} true accuracies from .005 to .995.
*Reached* is the probability that the interval has the wished-for half-width. *Fixed* is the number of items that an
accuracy of 1/2 needs, and the coverage with that many.

| half-width | coverage, mean | least | reached, mean | least | items, mean | at .95 | fixed: items | mean | least |
|---|---|---|---|---|---|---|---|---|---|
"""
_AT_WILL = """
Stopping at will: items are added one by one, from the tenth on, until the interval is narrow enough. Coverage in 4,000
simulations (standard error .003), for true accuracies of {accuracies}.

| half-width | coverage |
|---|---|
"""


def main() -> None:
    lines = [_HEAD.format(pilot=PILOT, worlds=len(TRUE))]
    lines += [f"{enumerated(reach)}\n" for reach in (0.025, 0.05, 0.1)]
    lines += [_AT_WILL.format(accuracies=", ".join(f"{true:g}".removeprefix("0") for true in SIMULATED))]
    lines += [
        f"| {reach:g} | {', '.join(f'{at_will(reach, true):.3f}' for true in SIMULATED)} |\n" for reach in (0.05, 0.1)
    ]
    PAGE.write_text("".join(lines), "utf-8")
    print(PAGE.read_text("utf-8"))


def enumerated(reach: float) -> str:
    covered, reached, items = (np.zeros(len(TRUE)) for _ in range(3))
    for right in range(PILOT + 1):
        total = items_after(right, PILOT, PILOT, reach)
        further = np.arange(total - PILOT + 1)
        low, high = wilson(right + further, total)
        for place, true in enumerate(TRUE):
            chance = stats.binom.pmf(right, PILOT, true) * stats.binom.pmf(further, total - PILOT, true)
            covered[place] += chance[(low <= true) & (true <= high)].sum()
            reached[place] += chance[high - low <= 2 * reach + 1e-9].sum()
            items[place] += chance.sum() * total
    fixed = items_after(PILOT // 2, PILOT, PILOT, reach)
    low, high = wilson(np.arange(fixed + 1), fixed)
    plain = [stats.binom.pmf(np.arange(fixed + 1), fixed, true)[(low <= true) & (true <= high)].sum() for true in TRUE]
    cells = [
        f"{reach:g}",
        *(f"{value:.3f}" for value in (covered.mean(), covered.min(), reached.mean(), reached.min())),
    ]
    cells += [f"{items.mean():.0f}", f"{items[np.abs(TRUE - 0.95).argmin()]:.0f}", str(fixed)]
    return "| " + " | ".join([*cells, f"{np.mean(plain):.3f}", f"{min(plain):.3f}"]) + " |"


def at_will(reach: float, true: float) -> float:
    most = items_after(PILOT // 2, PILOT, PILOT, reach) + 10
    rows = np.arange(4000)
    right = (np.random.default_rng(1).random((len(rows), most)) < true).cumsum(axis=1)
    low, high = wilson(right[:, 9:], np.arange(10, most + 1))
    stop = (high - low <= 2 * reach).argmax(axis=1)
    return float(((low[rows, stop] <= true) & (true <= high[rows, stop])).mean())


def wilson(right: np.ndarray, n: np.ndarray | int) -> tuple[np.ndarray, np.ndarray]:
    z, share = critical(float("inf")), right / n
    middle, reach = share + z * z / (2 * n), z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)


if __name__ == "__main__":
    main()
