"""Make suites of templates, one file a suite.

PATH is a template, a folder of them, or a bundled collection (hu2020, marvin2018, blimp_like) or one suite of it. The language of
templates is described in docs/reference/templates.md.

    syntagm make hu2020 -o suites
    syntagm make marvin2018 -o pairs --as tsv --style published
    syntagm make blimp_like/causative -o pairs --as blimp -n 200 --seed 7

What is drawn depends on --seed alone: the same command gives the same bytes everywhere. Files in the format of SyntaxGym
number their regions and predictions; the names stay in them as labels. A suite that the format can't hold (only minimal pairs
can be written as blimp or tsv) is left out and named, and the exit code is 1.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.errors import InputError, UsageError

if TYPE_CHECKING:
    from syntagm.suite import Suite


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("source", metavar="PATH", nargs="+", help="templates, folders, patterns, bundled collections")
    add("-o", "--output", metavar="DIR", required=True, type=Path, help="where the files go")
    add(
        "--as", dest="format", default="syntaxgym", help="the format to write: syntaxgym (the default), blimp, tsv, ..."
    )
    add("-n", metavar="N", help="how many items of each suite at most, if not those that it says")
    add("--seed", metavar="S", help="of the draws (default: 1)")
    add("--style", choices=["natural", "published"], help="published: lower case, no punctuation (default: natural)")
    add("--force", action="store_true", help="replace files that exist")


def run(arguments: argparse.Namespace) -> int:
    """Make the suites one by one; each file is written whole or not at all."""
    from syntagm.cli import DONE, FELL_SHORT
    from syntagm.materials.finding import expand
    from syntagm.materials.reading import with_options
    from syntagm.materials.suite_files import SuiteFiles

    options = {key: value for key in ("n", "seed", "style") if (value := getattr(arguments, key)) is not None}
    format, ending = _format(arguments.format)
    suites = SuiteFiles(expand([with_options(source, options) for source in arguments.source]))
    _folder(arguments.output)
    seen: set[str] = set()
    made: list[int] = []
    for suite in suites:
        if suite.name in seen:
            raise InputError(f"suite {suite.name}", "made twice", "each suite once", "Rename one, or make them apart.")
        seen.add(suite.name)
        target = arguments.output / f"{_file_name(suite.name)}{ending}"
        if refusal := _write(suite, target, format, arguments.force):
            print(f"left out, {arguments.format} can't hold it: {refusal}", file=sys.stderr)
            continue
        made.append(len(suite.items))
        print(f"{target}: {_count(len(suite.items), arguments.n)}")
    print(f"{len(made):,} of {len(seen):,} suites, {sum(made):,} items")
    return DONE if len(made) == len(seen) else FELL_SHORT


def _format(name: str) -> tuple[str, str]:
    """The format that --as means, and the ending of its files."""
    from syntagm.materials.writing import whole

    known = whole()
    if name not in known:
        raise UsageError("--as", repr(name), "one of " + ", ".join(known))
    return known[name]


def _folder(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = "no folder" if output.exists() else f"can't be made: {error.strerror}"
        raise UsageError(f"-o {output}", found, "a folder, or a place for one") from None


def _file_name(name: str) -> str:
    """The name of a suite, if it can be that of a file in the folder; InputError if not."""
    if not name.isprintable() or name.startswith(".") or any(mark in name for mark in "/\\:") or len(name) > 150:
        expected = "one that can name a file: at most 150 characters, without / \\ and :"
        raise InputError(f"suite {name[:60]!r}", "a name that can't be that of a file", expected, "Rename it.")
    return name


def _count(items: int, asked: str | None) -> str:
    short = f" (all there are; {int(asked):,} asked for)" if asked and asked.isdecimal() and int(asked) > items else ""
    return f"{items:,} item{'' if items == 1 else 's'}{short}"


def _write(suite: "Suite", target: Path, format: str, force: bool) -> InputError | None:
    """Write a suite, whole or not at all; why not, if the format can't hold it."""
    from syntagm import registry

    if target.exists() and not force:
        raise UsageError(str(target), "this file exists", "a new folder", "Add --force to replace it.")
    try:
        registry.find("formats", format).write([suite], target)
    except InputError as error:
        return error
    return None
