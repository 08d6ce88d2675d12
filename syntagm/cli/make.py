"""Make suites from templates, one file per suite.

PATH is a template, a folder of templates, a bundled collection (distance, frontier, german,
hu2020, islands, marvin2018, textbook, warstadt2020), or one suite of a collection.
docs/reference/templates.md describes the template language.

    syntagm make hu2020 -o suites
    syntagm make marvin2018 -o pairs --as tsv --style published
    syntagm make warstadt2020/causative -o pairs --as blimp -n 200 --seed 7
    syntagm make warstadt2020 -o pairs --as blimp --vocabulary models/lstm

From a treebank in CoNLL-U, --rule makes minimal pairs: it finds a word, changes one of its
features, and looks up the form in the treebank, or in --lexicon (lemma, form and features,
as in UniMorph). Bundled rules: verb_number, article_gender, article_case. docs/guide/treebank.md
describes rules.

    syntagm make --ud de_gsd-ud-dev.conllu --rule verb_number -o pairs
    syntagm make --ud de_gsd-ud-dev.conllu --rule my_rule.toml --lexicon deu.tsv -n 200 -o pairs

The items depend only on the template and --seed: the same command gives the same bytes on
every machine. A file with other content is replaced only with --force. SyntaxGym's format
numbers regions and predictions; their names are kept as labels. A suite that it can't store
is written as a spreadsheet instead, and named. A suite that the format of --as can't store is
skipped and named (blimp and tsv store only minimal pairs); the exit code is then 1.

With --vocabulary, every word of every sentence is in the vocabulary of a word-level model, or
in a list of words. How many words of the slots remain is printed and stored in the tag
`vocabulary` of the suite. A template that can't reach its number of items is skipped, with the
number that it reaches; the exit code is then 1.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import DONE, FELL_SHORT, _files
from syntagm.core import InputError, UsageError, atomic, counted, registry, whole

if TYPE_CHECKING:
    from syntagm.suites import Suite

# SyntaxGym's readers put a space between any two regions.
_DEFAULT = ("syntaxgym", "spreadsheet")


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="PATH", nargs="*", help="templates, folders, patterns, bundled collections")
    add("--ud", metavar="TREEBANK", help="a treebank in CoNLL-U, from which --rule makes pairs")
    add("--rule", metavar="FILE|NAME", nargs="+", help="what --ud changes: files, or names of bundled rules")
    add("--lexicon", metavar="FILE", help="further forms for --rule, in UniMorph's layout")
    _files.add_output(parser, "DIR", "the folder to write to", required=True)
    add(
        "--as",
        dest="format",
        help="the format to write: syntaxgym, blimp, tsv, ... (syntaxgym, and spreadsheet for suites that it can't store)",
    )
    add("-n", metavar="N", help="at most N items of each suite, instead of the number in its template")
    add("--seed", metavar="S", help="random seed for the items (1)")
    add(
        "--style",
        choices=["natural", "published"],
        help="natural: with an initial capital and a full stop; published: without them (natural)",
    )
    add(
        "--vocabulary",
        metavar="FILE|DIR",
        help="only sentences whose words are all known: a text file with a word per line, or the folder of a word-level model "
        "(lstm, ngram, rnng)",
    )
    add("--force", action="store_true", help="replace files with other content")


def run(arguments: argparse.Namespace) -> int:
    from syntagm.suites import expand, with_options

    options = {
        key: value for key in ("n", "seed", "style", "vocabulary") if (value := getattr(arguments, key)) is not None
    }
    unfilled: list[str] = []
    formats = {name: _format(name) for name in ([arguments.format] if arguments.format else _DEFAULT)}
    _refuse_mixture(arguments)
    if arguments.vocabulary:
        from syntagm.suites import template

        template.words_of(arguments.vocabulary)
    suites: Iterable[Suite]
    if arguments.ud:
        suites = _from_treebank(arguments)
    else:
        files = expand([with_options(source, options) for source in arguments.source])
        suites = _suites(files, unfilled if arguments.vocabulary else None)
    atomic.make_folder(arguments.output)
    seen: set[str] = set()
    counts: list[int] = []
    for suite in suites:
        if (file_name := _file_name(suite.name)) in seen:
            raise InputError(
                f"suite {suite.name}", "two suites have this name", "each name once", "Rename one, or use two folders."
            )
        seen.add(file_name)
        target = _write(suite, arguments.output / file_name, formats, arguments.force)
        if not target:
            continue
        counts.append(len(suite.items))
        known = f", vocabulary {suite.tags['vocabulary']}" if arguments.vocabulary else ""
        print(f"{target}: {_count(len(suite.items), arguments.n)}{known}")
    made, wanted = len(counts), len(seen) + len(unfilled)
    print(f"{made:,} of {wanted:,} suites, {sum(counts):,} items")
    return DONE if made == wanted else FELL_SHORT


def _refuse_mixture(arguments: argparse.Namespace) -> None:
    """Refuse templates with a treebank, and options of the one with the other."""
    if not arguments.ud:
        if not arguments.source:
            raise UsageError("PATH", "neither a template nor --ud", "one of them")
        if odd := [name for name in ("rule", "lexicon") if getattr(arguments, name)]:
            raise UsageError(f"--{odd[0]}", "no --ud", "both", "Add --ud TREEBANK.")
        return
    if arguments.source:
        raise UsageError("PATH", f"{arguments.source[0]} and --ud", "one of them")
    if not arguments.rule:
        raise UsageError("--ud", "no --rule", "both", "Add --rule FILE, or the name of a bundled rule.")
    if odd := [name for name in ("seed", "style", "vocabulary") if getattr(arguments, name) is not None]:
        raise UsageError(
            f"--{odd[0]}", "--ud", "a template", f"Omit --{odd[0]}: pairs stand in the order of the treebank."
        )


def _from_treebank(arguments: argparse.Namespace) -> "Iterator[Suite]":
    """Make a suite for each rule, and say how many words were left out and why."""
    from syntagm.suites import treebank

    most = None if arguments.n is None else whole("-n", arguments.n)
    lexicon = Path(arguments.lexicon) if arguments.lexicon else None
    for name in arguments.rule:
        suite, left_out = treebank.suite(Path(arguments.ud), treebank.Rule.read(name), lexicon, most)
        for reason, n in left_out.most_common():
            print(f"{suite.name}: {counted(n, 'word')} left out: {reason}", file=sys.stderr)
        yield suite


def _suites(files: Sequence[str], unfilled: list[str] | None) -> "Iterator[Suite]":
    from syntagm.suites import read_suite_file

    for file in files:
        try:
            yield from read_suite_file(file)
        except InputError as error:
            if unfilled is None:
                raise
            unfilled.append(file)
            print(f"skipped: {error}", file=sys.stderr)


def _format(name: str) -> tuple[str, str]:
    """Return the module of the format that --as names, and its file name extension."""
    from syntagm.suites import whole

    known = whole()
    if name not in known:
        raise UsageError("--as", repr(name), "one of " + ", ".join(known))
    return known[name]


def _file_name(name: str) -> str:
    """Return the name of a suite with its slashes escaped, or raise InputError if it can't be a file name.

    >>> _file_name("control/raising")
    'control%2Fraising'
    """
    if not name.isprintable() or name.startswith(".") or any(mark in name for mark in "\\:") or len(name) > 150:
        expected = "at most 150 printable characters, without \\ and :, not beginning with a full stop"
        raise InputError(f"suite {name[:60]!r}", "a name that can't be used as a file name", expected, "Rename it.")
    return name.replace("/", "%2F")


def _count(items: int, wanted: str | None) -> str:
    few = wanted and wanted.isdecimal() and int(wanted) > items
    note = f" (all that exist; {int(wanted):,} requested)" if wanted and few else ""
    return counted(items, "item") + note


def _write(suite: "Suite", stem: Path, formats: Mapping[str, tuple[str, str]], force: bool) -> Path | None:
    """Write a suite completely in the first format that can store it; return its path, or None if none can."""
    for place, (name, (module, ending)) in enumerate(formats.items(), 1):
        target = stem.with_name(f"{stem.name}{ending}")
        try:
            with atomic.replacing(target) as written:
                registry.find("formats", module).write([suite], written)
                _files.spare_other(target, written, force)
            return target
        except InputError as error:
            done = "skipped" if place == len(formats) else f"written as {list(formats)[place]}"
            print(f"{done}, because {name} can't store it: {error}", file=sys.stderr)
    return None
