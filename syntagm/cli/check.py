"""Check suites, and print errors and warnings item by item.

    syntagm check suite.json
    syntagm check my_suites/ "more/*.jsonl" hu2020
    syntagm check "pairs.csv?good=right&bad=wrong"
    syntagm check my_lexicon/                 a lexicon for templates, a folder with schema.toml
    syntagm check template.toml --counts      also what the template can draw
    syntagm check template.toml --baselines   also what word frequency, length or one word alone would score
    syntagm check pairs.csv --language tr     words, case and script by the rules of Turkish
    syntagm check pairs.csv --model gpt2      also pairs whose sentences may be swapped
    syntagm check pairs.csv --json            findings and their numbers as JSON
    syntagm check pairs.csv --fix clean.tsv --exclude-list bad.csv
                                              mend blanks, NFC and encoding, and list the items to exclude

Each finding has a code: E is an error (a run would refuse the suite, or its numbers would
be wrong), W is a warning. Exit code: 0 no errors, 1 errors found, 2 wrong argument.
"""

import argparse
import contextlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files
from syntagm.core import InputError, UsageError, atomic, counted, csv, shown_lines
from syntagm.suites import find

if TYPE_CHECKING:
    from syntagm.evaluation import Frequencies
    from syntagm.suites import Finding, Suite

SHOWN = 10
SCHEMA = "schema.toml"


def arguments(parser: argparse.ArgumentParser) -> None:
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
        help="the text in which --baselines counts words (if omitted: English books, or wordfreq for other languages)",
    )
    parser.add_argument("--no-warnings", action="store_true", help="print errors only")
    parser.add_argument(
        "--language",
        metavar="TAG",
        help="the language of all suites (BCP 47, such as de or zh-Hant); known of published datasets",
    )
    parser.add_argument("--json", action="store_true", help="print the findings and their numbers as JSON")
    parser.add_argument(
        "--fix",
        metavar="FILE",
        type=_files.file,
        help="write the suites with mended white space, NFC and encoding to FILE, and the changes to FILE.log.csv",
    )
    parser.add_argument(
        "--exclude-list",
        metavar="FILE",
        type=_files.file,
        help="write the items that should not count, for run --exclude: duplicates, identical pairs, sentences that are good "
        "in one item and bad in another, and those that the data mark as discarded",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help="a model that scores the suites, to find pairs whose sentences may be swapped (W405)",
    )
    _files.add_force(parser)


def run(args: argparse.Namespace) -> int:
    if args.json:
        # Only the object is printed; all else goes to the other stream.
        with contextlib.redirect_stdout(sys.stderr):
            code, found = _run(args)
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return code
    return _run(args)[0]


def _run(args: argparse.Namespace) -> "tuple[int, dict[str, Any]]":
    from syntagm.evaluation import baselines
    from syntagm.suites import expand, near_duplicates, renamed, repeated, told_apart, violations, with_options
    from syntagm.views import read_file

    _spare(args.fix, args.exclude_list, args.force)
    language = {"language": find(args.language).tag} if args.language else {}
    frequencies = baselines.frequencies(args.baselines, args.unigrams)
    skipped: list[str] = []
    suites: dict[str, list[Suite]] = {}
    counts: Counter[str] = Counter()

    everything: list[Finding] = []

    def show(findings: "Sequence[Finding]") -> None:
        everything.extend(findings)
        counts.update(finding.code[0] for finding in findings)
        for line in _lines([finding for finding in findings if finding.error or not args.no_warnings], args.all):
            print(shown_lines(line))

    lexicons = [path for path in args.paths if (Path(path) / SCHEMA).is_file()]
    for folder in lexicons:
        show(_lexicon(folder))
    others = [with_options(path, language) if language else path for path in args.paths if path not in lexicons]
    files = expand(others, skipped) if others else []
    _files.note_columns(files)
    read = {file: read_file(file, args.allow_pickle) for file in files}
    if args.model:
        failed = any(found for _, found in read.values())
        _refuse_without_pairs([suite for own, _ in read.values() for suite in own], failed)
    names = told_apart({file: [suite.name for suite in own] for file, (own, _) in read.items()})
    for (file, name), new in names.items():
        note = f"note: {file}: the suite {name} is called {new}, because another file has a suite of this name"
        print(shown_lines(note), file=sys.stderr)
    for file, (own, unreadable) in read.items():
        suites[file] = renamed(file, own, names)
        show([*unreadable, *violations(suites[file], file)])
        if args.counts and suites[file]:
            _print_counts(file)
        if frequencies:
            show(_print_baselines(suites[file], file, frequencies))
        if args.model:
            show(_swapped(suites[file], file, args.model))
    show([*repeated(suites), *near_duplicates(suites)])
    _files.note_skipped(skipped)
    print(_summary(suites, counts, len(lexicons)))
    _write(args, suites, everything)
    listed = [each.to_json() for each in everything if each.error or not args.no_warnings]
    numbers = {"files": len(suites) + len(lexicons), "suites": sum(map(len, suites.values()))}
    numbers["items"] = sum(len(suite.items) for own in suites.values() for suite in own)
    by_code = dict(sorted(Counter(each["code"] for each in listed).items()))
    return 1 if counts["E"] else 0, {"findings": listed, "summary": {**numbers, "counts": by_code}}


def _spare(fix: Path | None, exclude_list: Path | None, force: bool) -> None:
    """Refuse to replace files that Syntagm did not write, and any file by mended suites."""
    from syntagm.suites import excluded, mending

    if fix:
        if fix.exists() and not force:
            raise UsageError(str(fix), "this file exists", "a new name", _files.CURE)
        _files.spare_csv(_log(fix), mending.COLUMNS, force)
    if exclude_list:
        _files.spare_csv(exclude_list, excluded.COLUMNS, force)


def _write(args: argparse.Namespace, suites: "dict[str, list[Suite]]", findings: "Sequence[Finding]") -> None:
    """Write the mended suites with the log of changes, and the list of items to exclude, as far as they are asked for."""
    from syntagm.suites import convert, excluded, formats_for, mending

    every = [suite for own in suites.values() for suite in own]
    if args.fix:
        found = [mending.mended(suite) for suite in every]
        changes = [change for _, own in found for change in own]
        convert([suite for suite, _ in found], args.fix, formats_for(args.fix))
        atomic.write(_log(args.fix), mending.log(changes).encode())
        print(f"{args.fix}: {counted(len(changes), 'sentence')} mended; the changes are in {_log(args.fix)}")
    if args.exclude_list:
        rows = mending.to_exclude(every, findings)
        atomic.write(args.exclude_list, csv.plain([excluded.COLUMNS, *rows], ",").encode())
        print(f"{args.exclude_list}: {counted(len(rows), 'item')} to exclude; use run --exclude {args.exclude_list}")


def _log(output: Path) -> Path:
    return output.with_name(f"{output.name}.log.csv")


def _lexicon(folder: str) -> "list[Finding]":
    """Read a lexicon, which checks it; return the error, if there is one."""
    from syntagm.suites import schema
    from syntagm.views import unreadable

    try:
        lexicon = schema.read(Path(folder))
    except InputError as error:
        return [unreadable(folder, error)]
    sizes = ", ".join(f"{len(own.words):,} of {name}" for name, own in lexicon.classes.items())
    print(f"{folder}: words and uses: {sizes}")
    return []


def _print_counts(file: str) -> None:
    """Print the number of combinations that each sampled template of a file can draw from."""
    from syntagm.suites import counts, format_of, options_of, template

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
    from syntagm.evaluation import baselines

    warnings, given = [], frequencies
    for suite in suites:
        fitting, remark = baselines.fitting(suite, given)
        if remark:
            print(shown_lines(f"{suite.name}: {remark}"))
        found = baselines.baselines(suite, fitting)
        for prediction in dict.fromkeys(baseline.prediction for baseline in found):
            own = [baseline for baseline in found if baseline.prediction == prediction]
            values = ", ".join(f"{baseline.kind} {baseline.value:.3f} ({baseline.ties:,} ties)" for baseline in own)
            print(f"{suite.name}, {prediction}: chance {own[0].chance:.3f}; {values}")
        warnings += [*baselines.warnings(suite, found, file), *baselines.solved_by_a_word(suite, file)]
        if fitting and (unlisted := sorted(fitting.unlisted(suite))):
            listed = ", ".join(unlisted[:SHOWN]) + (", ..." if len(unlisted) > SHOWN else "")
            print(
                shown_lines(
                    f"{suite.name}: {counted(len(unlisted), 'word')} without a count in {fitting.about}: {listed}"
                )
            )
    return warnings


def _are_pairs(suite: "Suite") -> bool:
    return bool(suite.items) and all({"good", "bad"} == set(item.sentences) for item in suite.items)


def _refuse_without_pairs(suites: "Sequence[Suite]", unreadable: bool) -> None:
    """Name the suites that a model is not asked about, because not all of their items are pairs."""
    others = [suite.name for suite in suites if not _are_pairs(suite)]
    if len(others) == len(suites) and not unreadable:
        raise UsageError("--model", "no suite of pairs", "items with the conditions good and bad, which may be swapped")
    if others:
        shown = ", ".join(others[:SHOWN]) + (", ..." if len(others) > SHOWN else "")
        note = f"note: not scored by --model, as not all items are pairs: {counted(len(others), 'suite')}: {shown}"
        print(shown_lines(note), file=sys.stderr)


def _swapped(suites: "Sequence[Suite]", file: str, model: str) -> "list[Finding]":
    """Score the pairs of suites with a model, and return a finding for each whose sentences may be swapped."""
    from syntagm.models import load
    from syntagm.runs.evaluate import evaluate
    from syntagm.suites import swapped

    if not (pairs := [suite for suite in suites if _are_pairs(suite)]):
        return []
    run = evaluate(load(model), pairs)
    found = []
    for suite in pairs:
        results = run.results(suite.name).filter(measure=suite.predictions[0].name)
        found += swapped(suite, results["margin"].to_list(), model, file)
    return found


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
