"""Compare two models on the same items.

Reads two run directories and compares the suites that both have with the same content; the others are named.
Differences are of the second model minus the first, in accuracy, with a 95 % interval (bootstrap over items, paired):
judge by it, not by whether the intervals of A and B overlap. Arrows count the items that flipped: gained by the second
model, lost by it. p is that of McNemar's exact test, adjusted over the suites by Holm: at or below 0.05 a suite
separates the models, and the chance that any of them does so by accident is below 0.05. --json has p, p_holm and p_bh
(Benjamini & Hochberg); `syntagm table significance` says what difference the other suites could have shown. Measures
whose values are shares (equal_weight, model_weight of fill runs) have the difference only: none of their items flips.
-o replaces a file only if it has the header of such a table; --force replaces any.

Exit code 1: a run is not finished; items without results are left out.
"""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files

if TYPE_CHECKING:
    from rich.table import Table

    from syntagm.result import Estimate, Group
    from syntagm.runs.store import Run
    from syntagm.stats.paired import Comparison
    from syntagm.views.comparison import Pairing


# Narrower than this a terminal has intervals under their numbers, not beside them.
WIDE = 140
NARROWEST = 110


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("first", metavar="DIR", help="the run directory of the first model, A")
    parser.add_argument("second", metavar="DIR", help="that of the second model, B")
    parser.add_argument(
        "--measure", metavar="M", default="first",
        help="a prediction's name, `first` (of each suite; the default) or `all` (whether all predictions hold)",
    )  # fmt: skip
    parser.add_argument("--flips", metavar="N", default="10", help="how many flipped items to list, or `all` (10)")
    parser.add_argument("--json", action="store_true", help="print numbers as JSON instead of tables")
    parser.add_argument("-o", "--output", metavar="FILE", help="write all flipped items to FILE, as CSV")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Do it; the exit code."""
    from syntagm.runs.store import open_run
    from syntagm.views.comparison import compare

    count = _count(options.flips)
    _spare(options)
    runs = open_run(options.first), open_run(options.second)
    found = compare(*runs, options.measure)
    if options.output:
        _refuse_without_flips(found, options)
    for sentence in (*found.warnings, *found.skipped):
        print(f"syntagm: {sentence}", file=sys.stderr)
    if options.json:
        _print_json(found, runs, options.measure)
    else:
        _print(found, runs, options.measure, count)
    if options.output:
        _write(found, options.output)
    return 0 if all(one.done for one in runs) else 1


def _refuse_without_flips(found: "Pairing", options: argparse.Namespace) -> None:
    from syntagm.errors import UsageError

    if found.overall.verdicts is None:
        expected = "a measure of verdicts, whose items can flip"
        raise UsageError("-o", f"{options.measure}, whose values are shares", expected, "--json has the differences.")


def _spare(options: argparse.Namespace) -> None:
    from pathlib import Path

    from syntagm.stats.paired import PAIR_COLUMNS

    if options.output:
        _files.spare_csv(Path(options.output), PAIR_COLUMNS, options.force)


def _count(text: str) -> int | None:
    if text == "all":
        return None
    from syntagm.io.number import whole

    return whole("--flips", text, least=0, also="`all`")


def _print(found: "Pairing", runs: "tuple[Run, Run]", rule: str, count: int | None) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = 160
    # A terminal may wrap lines; a cut number is no number.
    console.width = max(console.width, NARROWEST)
    for letter, signature in zip("AB", _signatures(found, runs, rule), strict=True):
        console.print(Text(f"{letter}  {signature}"))
    console.print(_suites(found, narrow=console.width < WIDE))
    for line in _summary(found.overall):
        console.print(Text(line))
    if len(found.discordant) and count != 0:
        console.print(_flips(found, count))
    if count is not None and len(found.discordant) > count:
        console.print(f"{count} of {len(found.discordant)} flipped items; the others with --flips all, or -o FILE")


def _suites(found: "Pairing", narrow: bool = False) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("suite", overflow="fold")
    for name in ("n", "A", "B", "B - A", "flipped", "ties A, B", "p (Holm)"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found.suites:
        table.add_row(Text(one.group.suite), *map(Text, _cells(one, narrow)), _p(one))
    table.add_section()
    table.add_row(f"mean of {len(found.suites)}", *map(Text, _cells(found.overall, narrow)), "", style="bold")
    return table


def _p(one: "Comparison") -> str:
    if not one.tested:
        return "no test"
    return "<0.001" if one.holm < 0.001 else f"{one.holm:.3f}"


def _cells(one: "Comparison", narrow: bool) -> list[str]:
    means = [
        _beside(*(f"{number:.3f}" for number in (mean.value, mean.low, mean.high))) for mean in (one.a, one.b) if mean
    ]
    means.append(_beside(*map(_signed, (one.difference.value, one.difference.low, one.difference.high))))
    counts = ("", "")
    if counted := one.verdicts:
        counts = (f"↑{counted.only_b} ↓{counted.only_a}", f"{counted.ties_a}, {counted.ties_b}")
    return [str(one.n), *(mean.replace(" [", "\n[") if narrow else mean for mean in means), *counts]


def _beside(value: str, low: str, high: str) -> str:
    return f"{value} [{low}, {high}]"


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("+nan", "nan")


def _summary(overall: "Comparison") -> list[str]:
    margin, counted = overall.margin, overall.verdicts
    if margin is None or counted is None:
        return [
            f"left out, undefined in A or B: {overall.difference.undefined}",
            f"intervals: {overall.difference.method}; those of A and B not paired",
        ]
    return [
        f"items: both {counted.both}, only A {counted.only_a}, only B {counted.only_b}, neither {counted.neither}; "
        f"left out, undefined in A or B: {overall.difference.undefined}; McNemar p = {counted.p:.3g} (all items)",
        f"margin, B - A: {_beside(*map(_signed, (margin.value, margin.low, margin.high)))} bits",
        f"intervals: {overall.difference.method} (those of A and B not paired); "
        "p of suites: McNemar's exact test, adjusted over the suites by Holm",
    ]


def _flips(found: "Pairing", count: int | None) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title="flipped items", title_justify="left")
    for name in ("suite", "item", "measure"):
        table.add_column(name, overflow="fold")
    for name in ("", "margin A", "margin B"):
        table.add_column(name, justify="right", no_wrap=True)
    for suite, item, measure, value_a, value_b, margin_a, margin_b in found.discordant.head(
        count or len(found.discordant)
    ).rows():
        names = (Text(suite), Text(item), Text(measure))
        table.add_row(*names, "↑" if value_b > value_a else "↓", f"{margin_a:+.3f}", f"{margin_b:+.3f}")
    return table


def _print_json(found: "Pairing", runs: "tuple[Run, Run]", rule: str) -> None:
    import json

    from syntagm.io.json import finite

    first, second = _signatures(found, runs, rule)
    content = {
        "a": {"model": runs[0].model, "run": runs[0].place, "signature": first},
        "b": {"model": runs[1].model, "run": runs[1].place, "signature": second},
        "overall": _compared(found.overall),
        "suites": [_compared(one) | {"p_holm": one.holm, "p_bh": one.benjamini_hochberg} for one in found.suites],
        "flips": found.discordant.to_dicts(),
        "warnings": found.warnings,
        "left_out": found.skipped,
    }
    print(json.dumps(finite(content), indent=2, ensure_ascii=False, allow_nan=False))


_COUNTS = ("both", "only_a", "only_b", "neither", "ties_a", "ties_b")


def _compared(one: "Comparison") -> dict[str, Any]:
    """A comparison in the terms of the JSON, which are flat."""
    counts = {name: getattr(one.verdicts, name) if one.verdicts else None for name in _COUNTS}
    sides = {"a": one.a, "b": one.b}
    return {
        "group": _group(one.group),
        **{name: side.value for name, side in sides.items() if side},
        **{f"ends_{name}": [side.low, side.high] for name, side in sides.items() if side},
        "difference": _estimate(one.difference),
        "margin": _estimate(one.margin) if one.margin else None,
        **counts,
        "p": one.verdicts.p if one.verdicts else None,
    }


def _estimate(one: "Estimate") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(one) | {"group": _group(one.group)}


def _group(group: "Group") -> dict[str, str]:
    return {name: value for name, value in (("suite", group.suite), ("measure", group.measure)) if value}


def _signatures(found: "Pairing", runs: "tuple[Run, Run]", rule: str) -> list[str]:
    """Of the suite, or, over several, with their number in its place."""
    suite = found.suites[0].group.suite
    signatures = [run.signature(suite, rule) for run in runs]
    count = len(found.suites)
    return [str(signature if count == 1 else signature.over(count)) for signature in signatures]


def _write(found: "Pairing", output: str) -> None:
    from pathlib import Path

    from syntagm.io import atomic
    from syntagm.io import csv as table
    from syntagm.stats.paired import PAIR_COLUMNS

    atomic.write(Path(output), "".join(table.lines(PAIR_COLUMNS, found.discordant.iter_rows())).encode())
