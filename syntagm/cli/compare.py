"""Compare two models on the same items.

Reads two run directories and compares the suites that both contain with the same content;
other suites are skipped and named. A folder in which `syntagm run` put two models stands for
both, in the order given to it. What differs in the treatment of the models is said.

    syntagm compare runs/demo runs/gpt2
    syntagm compare runs/demo runs/gpt2 --measure all --flips 50
    syntagm compare runs/demo runs/gpt2 -o discordant.csv

Differences are of accuracy, second model (B) minus first (A), with a paired 95% interval.
Judge by this interval, not by whether the intervals of A and B overlap. On a suite, the
interval is Tango's and p is McNemar's test (asymptotic, without continuity correction);
over suites, both are Student's, from the differences of the suites, and Hall's where these
are skewed. p is at most 0.05 exactly where the interval doesn't contain 0. Numbers over
suites are about other suites, too, or with --suites fixed about these alone (score test of
the items). What limits a number is printed below the table and is in `remarks` of --json:
few items or suites, one suite without which the number or the verdict would change, or
skewed suites. The p-values of suites are adjusted by Holm's method: where they are at most
0.05, the probability of any false positive among the suites is below 0.05. A discordant item
is one that only one model gets right: arrows count the items that B gains and loses; in the
list of these items, `measure` is the name of the prediction. --json has p, p_holm and p_bh
(Benjamini & Hochberg); `syntagm table significance` shows which difference each suite could
have detected. Measures whose values are proportions (equal_weight and model_weight of fill
runs) have no discordant items.

--effects adds the differences in bits: for each comparison of every prediction, or of the
one that --measure names, its effect under A and under B, and B - A within items, with a 95%
interval and d (mean divided by standard deviation). `syntagm table effects DIR DIR paired=yes` writes them to files.

--convention mean_token compares runs that were made by bits under another convention.

--explain searches the smallest set of differences (another linking function, tokens that don't
count, ties as hits; `docs/reference/conventions.md`) by which A gets the verdicts of B on the same
pairs, as for results of another tool (`syntagm import-results`). A needs surprisals. With
--rescore MODEL, the model of A scores pairs again, to see whether the other tool had another
start or end symbol, another dtype, a blank before the sentences, or lower case.
`syntagm table explanation A B` writes it to files.

An existing FILE is replaced only if it has the header of this table; --force replaces any
file. Exit code 1: a run is not finished; items without results are skipped.
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from syntagm.cli import _files, _options, _streams, _views
from syntagm.core import UsageError, atomic, counted, csv, finite, whole

if TYPE_CHECKING:
    from rich.table import Table

    from syntagm.evaluation import Estimate, Group
    from syntagm.runs import Run
    from syntagm.stats import Comparison
    from syntagm.views import Pairing, Table as Product


# On terminals narrower than this, intervals stand under their numbers, not beside them.
WIDE = 140
NARROWEST = 110


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", metavar="DIR", nargs="+", help="the run directories of two models, A and B, or a folder with both"
    )
    parser.add_argument(
        "--measure", metavar="M",
        help="a prediction's name, `first` (the first of each suite, the default) or `all` (whether all predictions hold)",
    )  # fmt: skip
    parser.add_argument("--flips", metavar="N", default="10", help="how many discordant items to list, or `all` (10)")
    parser.add_argument(
        "--effects", action="store_true", help="also compare the effects in bits, those of every prediction or of M"
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="also say which differences of conventions explain the discordant verdicts",
    )
    parser.add_argument(
        "--rescore",
        metavar="MODEL",
        default="",
        help="with --explain: the model of A, with its options, to score pairs again under other settings and texts",
    )
    parser.add_argument("--json", action="store_true", help="print numbers as JSON instead of tables")
    _views.add_convention(parser)
    _options.add_intervals(parser)
    _files.add_output(parser, "FILE", "write all discordant items to FILE, as CSV")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    from syntagm.stats import PAIR_COLUMNS, bootstrap
    from syntagm.views import compare, intervals

    count = None if options.flips == "all" else whole("--flips", options.flips, least=0, also="`all`")
    if options.rescore and not options.explain:
        raise UsageError("--rescore", "given without --explain", "both: it looks for an explanation")
    if options.explain and options.convention:
        cure = "It begins with the conventions of the runs."
        raise UsageError("--convention", "given with --explain, which looks for one", "one of them", cure)
    if options.output:
        _files.spare_csv(options.output, PAIR_COLUMNS, options.force)
    first, second = _views.under([*_two(options.runs)], options.convention)
    runs = first, second
    rule = options.measure or "first"
    with bootstrap.using(_options.given_resampling(options)):
        pairing = compare(*runs, rule)
        effects, notes = _effects(runs, options.measure) if options.effects else (None, ())
        of_intervals = [*intervals([*pairing.suites, pairing.overall]), *notes]
    if options.output and pairing.overall.verdicts is None:
        expected = "a measure of verdicts, which has discordant items"
        problem = f"{options.measure}, whose values are proportions"
        raise UsageError("-o", problem, expected, "--json has the differences.")
    for sentence in (*pairing.warnings, *pairing.skipped):
        print(f"syntagm: {sentence}", file=sys.stderr)
    explained: Product | None = None
    if options.explain:
        from syntagm.views import explanation

        explained = explanation.make_table(runs, options.rescore)
    if options.json:
        _print_json(pairing, runs, rule, effects, of_intervals, explained)
    else:
        _print(pairing, runs, rule, count, effects, notes)
        if explained:
            print(f"\n{explained}")
    if options.output:
        rows = csv.lines(PAIR_COLUMNS, pairing.discordant.iter_rows())
        atomic.write(options.output, "".join(rows).encode())
    return 0 if all(run.done for run in runs) else 1


def _two(folders: Sequence[str]) -> "tuple[Run, Run]":
    runs = _views.open_runs(folders, [])
    if len(runs) != 2:
        found = ", ".join(run.place for run in runs[:5]) + (", ..." if len(runs) > 5 else "")
        cure = "`syntagm report` compares any number of runs with the first."
        raise UsageError("compare", f"{counted(len(runs), 'run')} ({found})", "two", cure)
    return runs[0], runs[1]


def _effects(runs: "tuple[Run, Run]", rule: str | None) -> "tuple[list[dict[str, Any]], tuple[str, ...]]":
    """Return the effects in bits under both models and their differences, as rows of the table of effects, and its notes."""
    from syntagm.views import effects, letters

    # All predictions together have no effect of their own, so `all` shows the comparisons of each.
    table = effects.make_table(runs, measure="each" if rule in (None, "all") else rule, paired=True)
    names = {"effect A": "effect_a", "effect B": "effect_b", "B - A": "difference"}
    notes = tuple(note for note in table.notes if note not in letters(runs))
    return table.to_frame().drop("A", "B").rename(names).to_dicts(), notes


def _print(
    pairing: "Pairing", runs: "tuple[Run, Run]", rule: str, count: int | None, effects: "list[dict[str, Any]] | None",
    notes: "Sequence[str]",
) -> None:  # fmt: skip
    from syntagm.cli._text import Printer, plain

    console = Printer()
    if not console.is_terminal:
        console.width = 160
    # On narrow terminals lines wrap, so that no number is cut.
    console.width = max(console.width, NARROWEST)
    for letter, signature in zip("AB", _signatures(pairing, runs, rule), strict=True):
        console.print(plain(f"{letter}  {signature}"))
    console.print(_suites(pairing, narrow=console.width < WIDE))
    for line in (*_summary(pairing.overall, pairing.unit), *_limits(pairing)):
        console.print(plain(line))
    if effects is not None:
        console.print(_effects_table(effects))
        for note in notes:
            console.print(plain(note))
    if len(pairing.discordant) and count != 0:
        console.print(_discordant(pairing, runs, count))
    if count is not None and len(pairing.discordant) > count:
        console.print(
            f"{count} of {len(pairing.discordant)} discordant items; --flips all or -o FILE gives all of them"
        )


def _suites(pairing: "Pairing", narrow: bool = False) -> "Table":
    from rich import box
    from rich.table import Table

    from syntagm.cli._text import plain

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("suite", overflow="fold")
    for name in ("n", "A", "B", "B - A", "discordant", "ties A, B", "p (Holm)"):
        table.add_column(name, justify="right", no_wrap=True)
    for comparison in pairing.suites:
        table.add_row(plain(comparison.group.suite), *map(plain, _cells(comparison, narrow)), _p(comparison))
    table.add_section()
    table.add_row(f"mean of {len(pairing.suites)}", *map(plain, _cells(pairing.overall, narrow)), "", style="bold")
    return table


def _p(comparison: "Comparison") -> str:
    from syntagm.evaluation import p_value

    return p_value(comparison.holm) if comparison.tested else "no test"


def _cells(comparison: "Comparison", narrow: bool) -> list[str]:
    means = [_beside(mean, ".3f") for mean in (comparison.a, comparison.b) if mean]
    means.append(_beside(comparison.difference, "+.3f"))
    counts = ("", "")
    if counted := comparison.verdicts:
        counts = (f"↑{counted.only_b} ↓{counted.only_a}", f"{counted.ties_a}, {counted.ties_b}")
    return [str(comparison.n), *(mean.replace(" ", "\n", 1) if narrow else mean for mean in means), *counts]


def _beside(estimate: "Estimate", form: str) -> str:
    from syntagm.evaluation import interval, signless

    return f"{signless(estimate.value, form)} {interval(estimate.low, estimate.high, form)}"


def _summary(overall: "Comparison", unit: str) -> list[str]:
    margin, counted = overall.margin, overall.verdicts
    if counted is None:
        return [
            f"skipped, undefined in A or B: {overall.difference.undefined}",
            f"intervals: {overall.difference.design}; those of A and B are not paired",
        ]
    return [
        f"items: both {counted.both}, only A {counted.only_a}, only B {counted.only_b}, neither {counted.neither}; "
        f"skipped, undefined in A or B: {overall.difference.undefined}",
        f"difference, B - A: p = {overall.p:.3g}; {overall.difference.design}",
        f"margin, B - A: {_beside(margin, '+.3f')} {'bits' if unit == 'bits' else f'({unit})'}"
        if margin
        else "margin, B - A: not compared, as A and B are judged by different conventions",
        "suites: A, B Wilson's intervals, B - A Tango's; p of McNemar's asymptotic test "
        "without continuity correction, adjusted over the suites by Holm's method",
    ]


def _limits(pairing: "Pairing") -> tuple[str, ...]:
    """Return what limits the differences, of suites and over all suites."""
    from syntagm.views import labelled, limits

    compared = labelled(pairing.suites, pairing.overall)
    numbers = [(name, comparison.difference) for name, comparison in compared]
    margin = [("margin", pairing.overall.margin)] if pairing.overall.margin else []
    return (*limits([*numbers, *margin]), *pairing.shared_words)


def _effects_table(effects: "list[dict[str, Any]]") -> "Table":
    from rich import box
    from rich.table import Table

    from syntagm.cli._text import plain
    from syntagm.evaluation import interval, signless

    table = Table(
        box=box.SIMPLE_HEAD, title="effects in bits: mean differences within items; above 0 supports the prediction",
        title_justify="left",
    )  # fmt: skip
    # A contrast may occur in several predictions of a suite.
    several = len({(row["suite"], row["measure"]) for row in effects}) > len({row["suite"] for row in effects})
    names = ("suite", "measure", "contrast") if several else ("suite", "contrast")
    for name in names:
        table.add_column(name, overflow="fold")
    for name in ("n", "A", "B", "B - A", "d"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in effects:
        numbers = ("effect_a", "effect_b", "difference", "d", "low", "high")
        *bits, low, high = (math.nan if row[name] is None else row[name] for name in numbers)
        a, b, change, d = (signless(number, "+.3f") for number in bits)
        change = f"{change} {interval(low, high, '+.3f')}"
        table.add_row(*map(plain, (*(row[name] for name in names), str(row["n"]), a, b, change, d)))
    return table


def _discordant(pairing: "Pairing", runs: "tuple[Run, Run]", count: int | None) -> "Table":
    from rich import box
    from rich.table import Table

    from syntagm.cli._text import plain

    table = Table(box=box.SIMPLE_HEAD, title="discordant items", title_justify="left")
    for name in ("suite", "item", "measure"):
        table.add_column(name, overflow="fold")
    for name in ("", "margin A", "margin B"):
        table.add_column(name, justify="right", no_wrap=True)
    for suite, item, measure, value_a, value_b, margin_a, margin_b in pairing.discordant.head(
        count or len(pairing.discordant)
    ).rows():
        names = (plain(suite), plain(item), plain(measure))
        margins = [
            "tie" if abs(margin) <= run.tolerance else f"{margin:+.3f}"
            for margin, run in zip((margin_a, margin_b), runs, strict=True)
        ]
        table.add_row(*names, "↑" if value_b > value_a else "↓", *margins)
    return table


def _print_json(
    pairing: "Pairing", runs: "tuple[Run, Run]", rule: str, effects: "list[dict[str, Any]] | None", notes: "Sequence[str]",
    explanation: "Product | None",
) -> None:  # fmt: skip

    first, second = _signatures(pairing, runs, rule)
    content = {
        "a": {"model": runs[0].model, "run": runs[0].place, "signature": first},
        "b": {"model": runs[1].model, "run": runs[1].place, "signature": second},
        "overall": _compared(pairing.overall),
        "margin_unit": pairing.unit or None,
        "suites": [
            _compared(comparison) | {"p_holm": comparison.holm, "p_bh": comparison.benjamini_hochberg}
            for comparison in pairing.suites
        ],
        **({} if effects is None else {"effects": effects}),
        "flips": pairing.discordant.to_dicts(),
        **({} if explanation is None else {"explanation": explanation.to_frame().to_dicts()}),
        "warnings": pairing.warnings,
        "notes": [*notes, *pairing.shared_words],
        "left_out": pairing.skipped,
    }
    print(json.dumps(finite(content), indent=2, ensure_ascii=False, allow_nan=False), file=_streams.data())


_COUNTS = ("both", "only_a", "only_b", "neither", "ties_a", "ties_b")


def _compared(comparison: "Comparison") -> dict[str, Any]:
    """Return a comparison as an object for the JSON output."""
    counts = {name: getattr(comparison.verdicts, name) if comparison.verdicts else None for name in _COUNTS}
    sides = {"a": comparison.a, "b": comparison.b}
    return {
        "group": _group(comparison.group),
        **{name: side.value for name, side in sides.items() if side},
        **{f"ends_{name}": [side.low, side.high] for name, side in sides.items() if side},
        "difference": _estimate(comparison.difference),
        "margin": _estimate(comparison.margin) if comparison.margin else None,
        **counts,
        "p": comparison.p if comparison.verdicts else None,
    }


def _estimate(estimate: "Estimate") -> dict[str, Any]:
    return asdict(estimate) | {"group": _group(estimate.group)}


def _group(group: "Group") -> dict[str, str]:
    return {name: value for name, value in (("suite", group.suite), ("measure", group.measure)) if value}


def _signatures(pairing: "Pairing", runs: "tuple[Run, Run]", rule: str) -> list[str]:
    """Return the signatures of A and B; for several suites, their number takes the place of the name."""
    from syntagm.runs import signature_over

    suites = [comparison.group.suite for comparison in pairing.suites]
    return [str(signature_over(run, suites, rule)) for run in runs]
