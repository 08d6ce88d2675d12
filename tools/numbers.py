"""A table of the numbers that differ between two versions, for the changelog of a release.

python -m tools.numbers OLD NEW [--out DIR]
python -m tools.numbers v1.0.0 .
python -m tools.numbers old/.venv new/.venv

OLD and NEW are revisions of the repository, `.` for this tree, or folders of environments in which Syntagm is installed.
Both run the same commands, those of `tests.golden` that are listed here, on one machine: an n-gram model is trained,
three models are evaluated on suites of all collections, texts are scored and gaps filled. Exit code 1: a number differs.
"""

import argparse
import csv
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.golden.record import record
from tests.golden.step import Step
from tests.golden.steps import STEPS as GOLDEN

ROOT = Path(__file__).resolve().parents[1]
_MODELS = ("toy", "5gram", "demo")
_SHARED = [
    "models/5gram",
    *(f"runs/{model}-mixed" for model in _MODELS),
    *(f"exports/{model}-mixed-{kind}" for model in _MODELS for kind in ("tokens", "regions", "results", "scores")),
    "fills/demo", "exports/fill-results", "exports/fill-scores",
]  # fmt: skip
_OWN = [
    Step("texts/words", "score models/5gram --file texts/test.txt --by word -o {out}.csv", quick=True),
    Step("tables/effects", "table effects runs/demo-mixed runs/5gram-mixed -o {out}", quick=True),
    Step("tables/comparison", "table comparison runs/5gram-mixed runs/demo-mixed -o {out}", quick=True),
    Step("tables/items", "table items runs/demo-mixed runs/5gram-mixed suite=mvrr -o {out}", quick=True),
]
STEPS = [
    *(Step(one.out, one.command, True, one.exit, one.said) for name in _SHARED for one in GOLDEN if one.out == name),
    *_OWN,
]


@dataclass(frozen=True, slots=True)
class Row:
    """The comparison of a file of numbers.

    Arguments:
        name: the file.
        values: how many numbers were compared.
        differ: how many of them differ.
        largest: the largest difference.
        first: the first one that differs, before and after, or what else is wrong.
    """

    name: str
    values: int
    differ: int
    largest: float
    first: str


def main() -> int:
    """Record both versions, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.numbers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--out", metavar="DIR", type=Path, help="where the records go (a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="numbers-") as name:
        out = options.out or Path(name)
        failed = sum(recorded(version, out / side) for version, side in ((options.old, "old"), (options.new, "new")))
        rows = list(compared(out / "old", out / "new"))
    print(f"\n{table(rows, options.old, options.new)}")
    return int(bool(failed) or any(row.differ for row in rows))


def recorded(version: str, out: Path, steps: list[Step] = STEPS) -> int:
    """Record the numbers of a version; return the number of commands that failed."""
    with tree(version) as (package, python):
        return record(out, package, None, chosen=steps, python=python)


@contextmanager
def tree(version: str) -> Iterator[tuple[Path | None, str]]:
    """Yield the checkout of a version, or none if it is installed, and the interpreter that runs it."""
    for python in (Path(version) / "bin" / "python", Path(version)):
        if python.is_file():
            yield None, str(python.absolute())
            return
    if (Path(version) / "syntagm").is_dir():
        yield Path(version), sys.executable
        return
    with tempfile.TemporaryDirectory(prefix="numbers-tree-") as name:
        place = Path(name) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(place), version], cwd=ROOT, check=True)
        try:
            yield place, sys.executable
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(place)], cwd=ROOT, check=True)


def compared(old: Path, new: Path) -> Iterator[Row]:
    """Yield a row for each file of numbers that either record has."""
    here, there = (
        {path.relative_to(side / "kept").as_posix(): path for path in (side / "kept").rglob("*.csv")}
        for side in (old, new)
    )
    for name in sorted(here | there):
        if name in here and name in there:
            yield _row(name, here[name], there[name])
        else:
            yield Row(name, 0, 1, math.nan, "only before" if name in here else "only after")


def _row(name: str, old: Path, new: Path) -> Row:
    before, after = (list(csv.reader(path.read_text(encoding="utf-8").splitlines())) for path in (old, new))
    if len(before) != len(after) or before[:1] != after[:1]:
        found = f"{len(before)} rows of {','.join(before[0])} before, {len(after)} of {','.join(after[0])} after"
        return Row(name, 0, max(len(before), len(after)), math.nan, found)
    values, differences = 0, list[tuple[float, str]]()
    header = before[0] if before else []
    for number, (one, other) in enumerate(zip(before, after, strict=True), 1):
        for column, a, b in zip(header, one, other, strict=True):
            values += (known := _number(a)) is not None
            if a != b and not (known is not None and known == _number(b)):
                gap = abs(known - after_) if known is not None and (after_ := _number(b)) is not None else math.nan
                differences.append((gap, f"line {number}, {column}: {a} -> {b}"))
    gaps = [gap for gap, _ in differences if not math.isnan(gap)]
    largest = max(gaps) if gaps else math.nan if differences else 0.0
    return Row(name, values, len(differences), largest, differences[0][1] if differences else "")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def table(rows: list[Row], old: str, new: str) -> str:
    """Return the table in Markdown: files with numbers that differ, and the sum of all others."""
    different, values = [row for row in rows if row.differ], sum(row.values for row in rows)
    lines = [
        f"{values:,} numbers of {len(rows)} files, {old} and {new}: {sum(row.differ for row in different):,} differ."
    ]
    if different:
        lines += [
            "",
            "| file | numbers | differ | largest difference | first, before -> after |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {row.name} | {row.values:,} | {row.differ:,} | {row.largest:.3g} | {row.first.replace('|', '/')} |"
            for row in different
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
