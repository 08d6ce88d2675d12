"""Check suites, and print errors and warnings item by item.

    syntagm check suite.json
    syntagm check my_suites/ "more/*.jsonl" hu2020
    syntagm check "pairs.csv?good=right&bad=wrong"

Each finding has a code: E is an error (a run would refuse the suite, or its numbers would
be wrong), W is a warning. Exit code: 0 no errors, 1 errors found, 2 wrong argument.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from syntagm.errors import InputError

if TYPE_CHECKING:
    from syntagm.check import Finding
    from syntagm.suite import Suite

SHOWN = 10


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, a pattern or a bundled collection")
    parser.add_argument(
        "--allow-pickle", action="store_true", help="read pickled suites without running any code in them"
    )
    parser.add_argument("--all", action="store_true", help=f"print all findings, not only {SHOWN} per code and file")
    parser.add_argument("--no-warnings", action="store_true", help="print errors only")


def run(args: argparse.Namespace) -> int:
    """Check the files, print the findings and their number; return 1 if there are errors."""
    from syntagm.check import check, repeated
    from syntagm.materials.finding import expand

    skipped: list[str] = []
    suites: dict[str, list[Suite]] = {}
    counts: Counter[str] = Counter()
    for file in expand(args.paths, skipped, args.allow_pickle):
        suites[file], unreadable = _read(file)
        _show([*unreadable, *check(suites[file], file)], args, counts)
    _show(list(repeated(suites)), args, counts)
    for file in skipped:
        print(f"skipped: {file}", file=sys.stderr)
    print(_summary(suites, counts))
    return 1 if counts["E"] else 0


def _read(file: str) -> "tuple[list[Suite], list[Finding]]":
    """Return the suites of a file; if it can't be read, return no suites and a finding with the reason."""
    from syntagm.check import Finding
    from syntagm.materials.reading import options_of, read

    try:
        return read(file), []
    except InputError as error:
        place = error.place.removeprefix(options_of(file)[0]).strip(", ")
        message = ": ".join(filter(None, (place, error.found)))
        message += f"; expected {error.expected}" if error.expected else ""
        return [], [Finding("E001", file, "", "", "", "", message, error.cure)]


def _show(findings: "Sequence[Finding]", args: argparse.Namespace, counts: Counter[str]) -> None:
    counts.update(finding.code[0] for finding in findings)
    for line in _lines([finding for finding in findings if finding.error or not args.no_warnings], args.all):
        # Control characters in a file must not reach the terminal.
        print(
            "".join(
                sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode() for sign in line
            )
        )


def _lines(findings: "Sequence[Finding]", everything: bool) -> Iterator[str]:
    total = Counter(finding.code for finding in findings)
    shown: Counter[str] = Counter()
    for finding in findings:
        shown[finding.code] += 1
        if everything or shown[finding.code] <= SHOWN:
            yield str(finding)
        elif shown[finding.code] == total[finding.code]:
            yield f"{finding.file}: {total[finding.code] - SHOWN} more findings of {finding.code}; --all shows them"


def _summary(suites: "dict[str, list[Suite]]", counts: Counter[str]) -> str:
    read = [suite for in_file in suites.values() for suite in in_file]
    numbers = (
        (len(suites), "file"),
        (len(read), "suite"),
        (sum(len(suite.items) for suite in read), "item"),
        (counts["E"], "error"),
        (counts["W"], "warning"),
    )
    files, names, items, errors, warnings = (
        f"{number:,} {word}{'' if number == 1 else 's'}" for number, word in numbers
    )
    return f"{files}, {names}, {items}: {errors}, {warnings}"
