"""Check suites, and print errors and warnings item by item.

    syntagm check suite.json
    syntagm check my_suites/ "more/*.jsonl" hu2020
    syntagm check "pairs.csv?good=right&bad=wrong"
    syntagm check my_lexicon/                 a lexicon for templates, a folder with schema.toml
    syntagm check template.toml --counts      also what the template can draw
    syntagm check template.toml --baselines   also what word frequency or length alone would score

Each finding has a code: E is an error (a run would refuse the suite, or its numbers would
be wrong), W is a warning. Exit code: 0 no errors, 1 errors found, 2 wrong argument.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _files
from syntagm.display import shown_lines
from syntagm.errors import InputError
from syntagm.io.number import counted

if TYPE_CHECKING:
    from syntagm.check import Finding
    from syntagm.materials.baselines import Frequencies
    from syntagm.suite import Suite

SHOWN = 10
SCHEMA = "schema.toml"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, a pattern or a bundled collection")
    parser.add_argument(
        "--allow-pickle", action="store_true", help="read pickled suites without running any code in them"
    )
    parser.add_argument("--all", action="store_true", help=f"print all findings, not only {SHOWN} per code and file")
    parser.add_argument(
        "--counts",
        action="store_true",
        help="of templates whose items are sampled, also print the combinations of words in each cell, and the entries of "
        "each slot",
    )
    parser.add_argument(
        "--baselines",
        action="store_true",
        help="also print how often each prediction holds by word frequency alone, and by the number of words or characters "
        "alone, and warn where this is far from chance and no tag of the suite says why",
    )
    parser.add_argument(
        "--unigrams",
        metavar="TEXT",
        help="the text in which --baselines counts words (if omitted: English books)",
    )
    parser.add_argument("--no-warnings", action="store_true", help="print errors only")


def run(args: argparse.Namespace) -> int:
    """Check the files, print the findings and their number; return 1 if there are errors."""
    from syntagm.check import check, repeated
    from syntagm.materials import baselines
    from syntagm.materials.checking import read_file
    from syntagm.materials.finding import expand
    from syntagm.materials.suite_files import renamed, told_apart

    frequencies = baselines.frequencies(args.baselines, args.unigrams)
    skipped: list[str] = []
    suites: dict[str, list[Suite]] = {}
    counts: Counter[str] = Counter()

    def show(findings: "Sequence[Finding]") -> None:
        counts.update(finding.code[0] for finding in findings)
        for line in _lines([finding for finding in findings if finding.error or not args.no_warnings], args.all):
            print(shown_lines(line))

    lexicons = [path for path in args.paths if (Path(path) / SCHEMA).is_file()]
    for folder in lexicons:
        show(_lexicon(folder))
    others = [path for path in args.paths if path not in lexicons]
    files = expand(others, skipped) if others else []
    _files.note_columns(files)
    read = {file: read_file(file, args.allow_pickle) for file in files}
    names = told_apart({file: [suite.name for suite in own] for file, (own, _) in read.items()})
    for (file, name), new in names.items():
        note = f"note: {file}: the suite {name} is called {new}, because another file has a suite of this name"
        print(shown_lines(note), file=sys.stderr)
    for file, (own, unreadable) in read.items():
        suites[file] = renamed(file, own, names)
        show([*unreadable, *check(suites[file], file)])
        if args.counts and suites[file]:
            _print_counts(file)
        if frequencies:
            show(_print_baselines(suites[file], file, frequencies))
    show(list(repeated(suites)))
    _files.note_skipped(skipped)
    print(_summary(suites, counts, len(lexicons)))
    return 1 if counts["E"] else 0


def _lexicon(folder: str) -> "list[Finding]":
    """Read a lexicon, which checks it; return the error, if there is one."""
    from syntagm.materials.checking import unreadable
    from syntagm.templates import schema

    try:
        lexicon = schema.read(Path(folder))
    except InputError as error:
        return [unreadable(folder, error)]
    sizes = ", ".join(f"{len(own.words):,} of {name}" for name, own in lexicon.classes.items())
    print(f"{folder}: words and uses: {sizes}")
    return []


def _print_counts(file: str) -> None:
    """Print the number of combinations that each sampled template of a file can draw from."""
    from syntagm.formats import template
    from syntagm.materials.reading import format_of, options_of
    from syntagm.templates.counts import counts

    name, options = options_of(file)
    if format_of(Path(name), options) is not template:
        return
    for suite in template.templates(Path(name), options.get("vocabulary", "")):
        if suite.fill != "sample":
            continue
        print(f"{file}, suite {suite.name}:")
        try:
            found = counts(suite)
        except InputError as error:
            print(f"    not counted: {error}")
            continue
        for cell in found.cells:
            values = ", ".join(f"{key} = {value}" for key, value in cell.values.items()) or "all items"
            number = ("" if cell.exact else "at most ") + counted(cell.combinations, "combination")
            configurations = counted(cell.configurations, "configuration")
            print(f"    {values}: {number} of words" + (f" in {configurations}" if cell.configurations != 1 else ""))
        for slot, entries in found.entries.items():
            print(f"    slot {slot}: {entries:,} entr{'y' if entries == 1 else 'ies'}")
        for name_of, words in found.unused.items():
            shown = ", ".join(words[:SHOWN]) + (", ..." if len(words) > SHOWN else "")
            print(f"    class {name_of}, words that can't be drawn ({len(words):,}): {shown}")


def _print_baselines(suites: "Sequence[Suite]", file: str, frequencies: "Frequencies") -> "list[Finding]":
    """Print the baselines of suites; return warnings about those that leak and aren't declared."""
    from syntagm.materials import baselines

    warnings = []
    for suite in suites:
        found = baselines.baselines(suite, frequencies)
        for prediction in dict.fromkeys(baseline.prediction for baseline in found):
            own = [baseline for baseline in found if baseline.prediction == prediction]
            values = ", ".join(f"{baseline.kind} {baseline.value:.3f} ({baseline.ties:,} ties)" for baseline in own)
            print(f"{suite.name}, {prediction}: chance {own[0].chance:.3f}; {values}")
        warnings += baselines.warnings(suite, found, file)
        if unlisted := sorted(frequencies.unlisted(suite)):
            listed = ", ".join(unlisted[:SHOWN]) + (", ..." if len(unlisted) > SHOWN else "")
            print(f"{suite.name}: {counted(len(unlisted), 'word')} without a count in {frequencies.about}: {listed}")
    return warnings


def _lines(findings: "Sequence[Finding]", everything: bool) -> Iterator[str]:
    total = Counter(finding.code for finding in findings)
    shown: Counter[str] = Counter()
    for finding in findings:
        shown[finding.code] += 1
        if everything or shown[finding.code] <= SHOWN:
            yield str(finding)
        elif shown[finding.code] == total[finding.code]:
            yield f"{finding.file}: {total[finding.code] - SHOWN} more findings of {finding.code}; --all shows them"


def _summary(suites: "dict[str, list[Suite]]", counts: Counter[str], lexicons: int) -> str:
    read = [suite for in_file in suites.values() for suite in in_file]
    numbers = (
        (len(suites) + lexicons, "file"),
        (len(read), "suite"),
        (sum(len(suite.items) for suite in read), "item"),
        (counts["E"], "error"),
        (counts["W"], "warning"),
    )
    files, names, items, errors, warnings = (counted(number, word) for number, word in numbers)
    return f"{files}, {names}, {items}: {errors}, {warnings}"
