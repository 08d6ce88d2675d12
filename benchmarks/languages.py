"""Benchmark of a collection in many languages: 101 suites of 1,000 pairs in MultiBLiMP's layout, read and reported with `toy`.

    python -m benchmarks.languages                                 # 101 suites x 1,000 pairs
    python -m benchmarks.languages --suites 10 --pairs 100 --keep FOLDER

The sentences are strings of letters of the scripts in which 101 languages are written, with or without spaces, 8 to 20 words
long; the bad sentence has another word in the place of one. Nobody wrote them and they mean nothing: what is measured is
reading, checking, evaluating and reporting. Goal: 90 seconds on an otherwise idle machine.
"""

import argparse
import contextlib
import csv as stdlib_csv
import os
import random
import sys
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path

from benchmarks import processor
from benchmarks.spine import measure
from syntagm.core import csv
from syntagm.suites import languages as package, words

SUITES, PAIRS, SECONDS = 101, 1_000, 90
_LIST = Path(package.__file__).with_name("languages.csv")
_COLUMNS = ("", "sen", "wrong_sen", "prefix", "verb", "distance")


def main() -> None:
    """Run the command, and print the results as Markdown."""
    parser = argparse.ArgumentParser(prog="benchmarks.languages", description=__doc__)
    parser.add_argument("--suites", type=int, default=SUITES, help=f"({SUITES})")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"({PAIRS})")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="where suites and run are kept (a temporary folder)"
    )
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        used = make(folder / "multiblimp", arguments.suites, arguments.pairs)
        count = arguments.suites * arguments.pairs
        print(f"{processor()}; {arguments.suites} suites, {count:,} pairs, {len(used)} scripts: {', '.join(used)}\n")
        for what in ("check", "run"):
            suites, run = str(folder / "multiblimp"), str(folder / "run")
            options = [suites] if what == "check" else ["toy", "--suite", suites, "-o", run, "--no-cache"]
            load = os.getloadavg()[0]
            seconds, cpu, peak = measure([sys.executable, "-m", "syntagm", what, *options])
            goal = f"; goal {SECONDS} s: {'reached' if seconds <= SECONDS else 'missed'}" if what == "run" else ""
            print(
                f"* `{what}`: {seconds:.1f} s wall, {cpu:.1f} CPU-seconds, {peak:.2f} GB at most, load {load:.1f} before{goal}"
            )


def make(folder: Path, suites: int, pairs: int) -> list[str]:
    """Write suites as MultiBLiMP's files, `<iso3>/data.tsv`, and return their scripts."""
    letters = _letters()
    listed = stdlib_csv.DictReader(_LIST.open(encoding="utf-8", newline=""))
    languages = [
        (row["iso3"], script)
        for row in listed
        if (script := row["scripts"].partition(" ")[0]) in letters and row["iso3"]
    ]
    # Rare scripts first, then the others in turns.
    counts = Counter(script for _, script in languages)
    languages.sort(key=lambda each: counts[each[1]])
    if suites > len(languages):
        raise SystemExit(f"there are {len(languages)} languages")
    for code, script in languages[:suites]:
        draw = random.Random(code)
        rows = [_pair(draw, letters[script], script, number) for number in range(pairs)]
        path = folder / code / "data.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(csv.lines(_COLUMNS, rows, "\t")), encoding="utf-8")
    return sorted({script for _, script in languages[:suites]})


def _letters() -> dict[str, list[str]]:
    """Return the letters of each script, without capitals and rare ones."""
    found: dict[str, list[str]] = {}
    for code in range(0x61, 0xFFFF):
        character = chr(code)
        if unicodedata.category(character) in ("Ll", "Lo") and unicodedata.is_normalized("NFC", character):
            found.setdefault(words.script(character), []).append(character)
    return {name: some[:2_000] for name, some in found.items() if name and len(some) > 20}


def _pair(draw: random.Random, letters: list[str], script: str, number: int) -> list[object]:
    alphabet = letters[:30] if len(letters) < 500 else letters
    words = ["".join(draw.choices(alphabet, k=draw.randint(2, 9))) for _ in range(draw.randint(8, 20))]
    place = draw.randrange(1, len(words))
    other = [*words[:place], words[place][:-1] + draw.choice(alphabet), *words[place + 1 :]]
    blank = "" if script in words.UNSPACED else " "
    texts = [blank.join(each) + "." for each in (words, other)]
    return [number, *texts, blank.join(words[:place]), words[place], draw.randint(1, 6)]


if __name__ == "__main__":
    main()
