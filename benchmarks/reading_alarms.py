"""How often the alarms of reading times ring, and how often intervals of gains and of ms per bit cover the truth.

    python -m benchmarks.reading_alarms --sets 200 -o benchmarks/results/reading_alarms.md

Each simulated data set has texts of words with sentences, whose times depend on length, frequency and surprisal of a word and
of the two before it. Spillover is up to twice as strong as the effect of the word itself; effects are straight or curved
(logarithmic); half of the sets have slower sentence-final words. Sound sets are then damaged in four ways: times stand one
row early; the surprisal of sentence-final words includes that of a full stop; two columns are swapped; times are in seconds.
"""

import argparse
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from syntagm.reading_times import Added, Request, Source, alarms, effects, fitting

TEXTS, WORDS = 15, 120
SLOPE = 3.0
# Sets of parameters for the coverage of intervals.
WORLDS = 4
DAMAGES = {
    "shifted": ("lag",),
    "final words": ("final_words",),
    "swapped columns": ("columns", "units"),
    "seconds": ("units",),
}
_SWAPS = (
    ("time", "bits"),
    ("time", "length"),
    ("time", "frequency"),
    ("bits", "length"),
    ("bits", "frequency"),
    ("length", "frequency"),
)


def sound(seed: int, curved: bool = False, world: int | None = None) -> pl.DataFrame:
    """Simulate a sound data set with known effects.

    Arguments:
        seed: the seed of its words and noise.
        curved: whether the effect of surprisal is logarithmic.
        world: the seed of spillover, noise and pauses; by default that of the words.
    """
    random = np.random.default_rng(seed)
    of_world = np.random.default_rng([1, seed if world is None else world])
    spill, noise, pause = (
        of_world.uniform(0, 2),
        of_world.uniform(0.15, 0.3),
        of_world.choice([0, 1]) * of_world.uniform(20, 80),
    )
    rows = TEXTS * WORDS
    common = random.normal(size=rows)
    length = np.clip(np.round(4.5 + 2.2 * (0.7 * common + 0.7 * random.normal(size=rows))), 1, 14)
    frequency = 5 - 0.9 * common + 0.5 * random.normal(size=rows)
    bits = np.clip(6 + 2.5 * common + 3 * random.normal(size=rows), 0.05, None)
    last = random.random(rows) < 1 / 13
    place = np.arange(rows) % WORDS
    last[place == WORDS - 1] = True
    letters = [chr(97 + int(letter)) for letter in random.integers(0, 26, 26)]
    words = [
        "".join(letters[(row + at) % 26] for at in range(int(size))) + ("." if end else "")
        for row, (size, end) in enumerate(zip(length, last, strict=True))
    ]
    cost = SLOPE * (np.log1p(bits) * 4 if curved else bits)
    times = 220 + 6 * length - 4 * frequency + cost
    for lag, share in ((1, spill), (2, spill / 4)):
        before = place >= lag
        times[before] += share * (np.roll(cost, lag) + 3 * np.roll(length, lag))[before]
    times[last] += pause
    # Skewed noise with a mean of 0, as reading times have it; times stay positive.
    times += 250 * (np.exp(random.normal(0, noise, rows)) - np.exp(noise**2 / 2))
    return pl.DataFrame({
        "text": [str(row // WORDS) for row in range(rows)], "position": place.astype(float), "word": words, "time": times,
        "bits": bits, "length": length, "frequency": frequency,
        "sentence": (np.cumsum(last) - last).astype(str), "line": np.arange(2, rows + 2),
    })  # fmt: skip


def damaged(table: pl.DataFrame, damage: str, seed: int) -> pl.DataFrame:
    """Damage a data set."""
    random = np.random.default_rng(seed + 10**6)
    if damage == "shifted":
        return table.with_columns(time=pl.col("time").shift(-1).over("text"))
    if damage == "seconds":
        return table.with_columns(time=pl.col("time") / 1000)
    if damage == "final words":
        # The full stop costs some bits more, and readers pause at ends of sentences.
        ends = alarms.final(table).to_numpy()
        more = np.where(ends, np.clip(random.normal(9, 3, table.height), 1, None), 0)
        pause = np.where(ends, random.uniform(40, 90), 0)
        return table.with_columns(bits=table["bits"] + more, time=table["time"] + pause)
    first, second = _SWAPS[seed % len(_SWAPS)]
    return table.with_columns(pl.col(first).alias(second), pl.col(second).alias(first))


def source(table: pl.DataFrame) -> Source:
    """Return a data set as a table to fit."""
    return Source(Path("simulated"), table.drop("line"), table["line"], "")


def study(sets: int) -> list[str]:
    """Run the simulation, and return the lines of its page."""
    rings: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    for seed in range(sets):
        table = sound(seed, curved=seed % 4 > 1)
        rings.update({alarm.code for alarm in alarms.alarms(table)})
        for damage, codes in DAMAGES.items():
            found = {alarm.code for alarm in alarms.alarms(damaged(table, damage, seed))}
            caught[damage] += bool(found & set(codes))
    lines = [f"## Alarms in {sets} sound data sets", "", "| alarm | rings |", "|---|---|"]
    lines += [f"| `{code}` | {rings[code] / sets:.1%} |" for code in alarms.CODES]
    lines += ["", f"## Damaged data sets ({sets} of each kind)", "", "| damage | alarm | rings |", "|---|---|---|"]
    lines += [
        f"| {damage} | {' or '.join(f'`{code}`' for code in codes)} | {caught[damage] / sets:.1%} |"
        for damage, codes in DAMAGES.items()
    ]
    return [*lines, "", *coverage(sets)]


def coverage(sets: int) -> list[str]:
    """Measure how often intervals of ms per bit cover the true slope, and intervals of gains the mean gain of their world."""
    request = Request("time", ("length", "frequency"), (Added("bits", ("bits",)),), 2)
    values, gains = [], []
    slopes_right = gains_right = total = 0
    for world in range(WORLDS):
        found = []
        for seed in range(sets // WORLDS):
            outcome = fitting.fit(source(sound(1000 * (world + 1) + seed, world=world)), request)
            rows = outcome.observations["bits"]
            slope = effects.slopes("bits", rows, fitting.clusters(rows)).predict(np.array([1.0, 0.0, 0.0]))
            low, high = slope.ends
            slopes_right += low <= SLOPE <= high
            values.append(slope.value)
            found.append(outcome.gains[0])
        mean = float(np.mean([gain.mean for gain in found]))
        gains_right += sum(gain.interval.low <= mean <= gain.interval.high for gain in found)
        gains += [gain.mean for gain in found]
        total += len(found)
    return [
        "## Intervals", "", "| number | truth | mean | coverage of 95% intervals | sets |", "|---|---|---|---|---|",
        f"| ms per bit of the word | {SLOPE:g} | {np.mean(values):.3f} | {slopes_right / total:.1%} | {total} |",
        f"| gain (nats per word) | mean of its world | {np.mean(gains):.5f} | {gains_right / total:.1%} | {total} |",
    ]  # fmt: skip


def main() -> None:
    """Run the study, and write its page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("-o", dest="output", type=Path)
    options = parser.parse_args()
    began = time.monotonic()
    lines = study(options.sets)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    page = "\n".join(
        [
            "# Alarms of reading times",
            "",
            f"Written by `python -m benchmarks.reading_alarms --sets {options.sets}`, commit {commit}.",
            "",
            *lines,
            "",
        ]
    )
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    print(page)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
