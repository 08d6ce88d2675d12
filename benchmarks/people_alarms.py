"""How often the alarms of `syntagm.experiment.alarms` ring for real people, as far as published data tell.

    python -m benchmarks.people_alarms DATA > benchmarks/people_alarms.md

DATA is a folder with `reading/sap` (times of 2,000 readers) and `blimp` (choices of workers, without times). Times are
those of the alarms "regular", "length" and "order"; choices those of "model", on items on which a model and most other
workers disagree.
"""

import csv
import gzip
import json
import platform
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

import syntagm as sg
from syntagm.experiment import alarms


def readers(data: Path) -> dict[str, list[tuple[float, float, float]]]:
    """The times of each reader: ms, characters of the word, place in the course of the study."""
    people: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    with gzip.open(data / "reading/sap/trials_Agreement.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            people[row["participant"]].append((float(row["RT"]), len(row["EachWord"]), float(row["trialnumber"])))
    return people


def workers(data: Path) -> dict[str, dict[tuple[str, str], bool]]:
    """The choices of each worker: item -> whether the acceptable sentence was chosen."""
    people: dict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    with open(data / "blimp/human_responses.csv", encoding="utf-8", errors="replace") as file:
        for row in csv.DictReader(file):
            for slot in range(1, 6):
                condition = row.get(f"Input.item_{slot}_condition", "")
                answer = (row.get(f"Answer.Choice{slot}") or "")[:1]
                if condition.startswith("attnchk") or answer not in ("1", "2"):
                    continue
                right = condition[-4:] == f"ans{answer}"
                sentences = tuple(sorted((row[f"Input.field_{slot}_1"], row[f"Input.field_{slot}_2"])))
                people[row["anonCode"]][condition[:-4].rstrip("_"), "|".join(sentences)] = right
    return people


def machine(generator: np.random.Generator, kind: str, count: int) -> tuple[list[float], list[int], list[int]]:
    """The times of a simulated machine."""
    lengths = generator.integers(2, 12, count)
    noise = generator.normal(0, {"regular": 0.05, "random": 0.4, "reversed": 0.3}[kind], count)
    slope = -0.05 if kind == "reversed" else 0.0
    return list(500 * np.exp(noise + slope * lengths)), list(map(int, lengths)), list(range(count))


def main(data: Path) -> None:
    """Print the rates."""
    print(f"# Alarms of real people\n\nPython {platform.python_version()}, {platform.machine()}.\n")
    rung: Counter[str] = Counter()
    people = {name: times for name, times in readers(data).items() if len(times) >= alarms.LEAST_TIMES}
    for times in people.values():
        kinds = {kind for kind, _ in alarms.of_times(*zip(*times, strict=True))}
        rung.update(kinds)
        rung["any"] += bool(kinds)
    print(f"SAP, {len(people):,} readers with at least {alarms.LEAST_TIMES} times:\n")
    for kind in ("regular", "length", "order", "any"):
        print(f"* {kind}: {rung[kind]} ({rung[kind] / len(people):.2%})")
    choices = {name: given for name, given in workers(data).items() if len(given) >= alarms.LEAST_CHOICES}
    print(f"\nBLiMP, {len(choices)} workers with at least {alarms.LEAST_CHOICES} choices:\n")
    everyone = workers(data)
    generator = np.random.default_rng(1)
    for name, margins in models(data, everyone, generator).items():
        found = [p for person, p, _, _ in alarms.close(everyone, margins) if person in choices]
        ring = sum(p < alarms.CLOSE for p in found)
        share = f" ({ring / len(found):.2%})" if found else ""
        print(f"* {name}: {len(margins)} items, {len(found)} workers with enough of them, {ring} ring{share}")
    print("\nSimulated machines with 42 and with 400 times (shares that ring):\n")
    for kind in ("regular", "random", "reversed"):
        shares = []
        for count in (42, 400):
            found_kinds = [bool(list(alarms.of_times(*machine(generator, kind, count)))) for _ in range(500)]
            shares.append(f"{sum(found_kinds) / 500:.2f}")
        print(f"* {kind}: {', '.join(shares)}")


def models(
    data: Path, people: dict[str, dict[tuple[str, str], bool]], generator: np.random.Generator
) -> dict[str, alarms.Margins]:
    """The margins of models for items of the workers: simulated ones, and the demo model where pairs are there."""
    items = {item for given in people.values() for item in given}
    found: dict[str, alarms.Margins] = {"a model that is always right": dict.fromkeys(items, 1.0)}
    for share in (0.8, 0.65):
        verdicts = np.where(generator.random(len(items)) < share, 1.0, -1.0)
        found[f"a model that is right on {share:.0%} of the items, at random"] = dict(
            zip(sorted(items), verdicts, strict=True)
        )
    demo = sg.load_model("demo")
    margins = {}
    for path in sorted((data / "blimp").glob("*.jsonl")):
        if path.name == "models_summary.jsonl":
            continue
        rows = [json.loads(line) for line in path.read_text().splitlines()[:5]]
        texts = [row[side] for row in rows for side in ("sentence_good", "sentence_bad")]
        bits = [float(np.nansum(answer.bits)) for answer in demo.score(texts)]
        for place, row in enumerate(rows):
            key = path.stem, "|".join(sorted((row["sentence_good"], row["sentence_bad"])))
            margins[key] = bits[2 * place + 1] - bits[2 * place]
    found["the demo model"] = {key: value for key, value in margins.items() if key in items}
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
