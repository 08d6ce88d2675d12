"""Ask a model for every form of a word list in the blanks of suites.

Where the two sentences of an item differ in one word, that word is a blank. WORDS is a bundled list (verbs, reflexives,
reflexive_gender, determiners, npis) or a CSV: `lemma,form:singular,form:plural,...`; also the verb list of Newman et al.
as published.
Three measures: tse (is the word of the good sentence the likelier one?), equal_weight (in how many rows of the list is the
right form the likelier one?), model_weight (of the probability of all forms, how much goes to right ones?).

Stop it with Ctrl-C, or kill it: the same command line continues. Given again after the end, it shows the results.

    syntagm fill demo --suite marvin2018 -n 200 --words verbs -o runs/verbs
    syntagm fill gpt2 --suite templates/*.jsonl --words list.csv --eligible single-token --top published -o runs/gpt2
    syntagm fill demo --suite hu2020/reflexive_prep --words reflexives -o runs/reflexives
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _model
from syntagm.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from syntagm.result import Estimate
    from syntagm.runs.store import Run

CAPTION = (
    "intervals: 95% bootstrap, tse over items, the others over distinct contexts; covered: mean probability of all "
    "eligible forms; invalid: contexts without an eligible row; rows: eligible rows of the list, fewest to most"
)
_SHOWN = ("tse", "equal_weight", "model_weight", "covered")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    _model.arguments(parser)
    add("--suite", metavar="SUITE", nargs="+", required=True, action="extend", help="as of `syntagm run`")
    add("--words", metavar="WORDS", required=True, help="a word list, bundled or FILE.csv[?faults=keep]")
    add("-o", "--output", metavar="DIR", required=True, type=Path, help="the run directory, new or to go on with")
    add(
        "--eligible",
        choices=["all", "single-token"],
        default="all",
        help="which rows count: all that the model can be asked for, or those whose forms are single tokens (all)",
    )
    add(
        "--blank",
        choices=["differing", "shared"],
        default="differing",
        help="which word is the blank: the one in which the sentences differ, or the one of the list that they share",
    )
    for end, sense in (("top", "likeliest"), ("bottom", "least likely")):
        add(
            f"--{end}",
            metavar="Q",
            nargs="+",
            default=[],
            help=f"also over the {sense} entries that make up the share Q; `published` means those of the paper",
        )
    add("-n", metavar="N", help="of templates and collections: N items of each suite")
    add("--seed", metavar="S", help="of what is drawn (1)")
    add("--style", choices=["natural", "published"], help="of templates: capital and full stop, or neither (natural)")
    add("--no-report", action="store_true", help="write no HTML report")


def run(options: argparse.Namespace) -> int:
    """Fill the blanks, print the table, write the report."""
    from syntagm.cli._recorded import filled, suites
    from syntagm.tasks.gaps.nucleus import PUBLISHED_BOTTOM, PUBLISHED_TOP

    top = _limits("--top", options.top, PUBLISHED_TOP)
    bottom = _limits("--bottom", options.bottom, PUBLISHED_BOTTOM)

    done = filled(options, suites(options, options.suite), options.output, options.words, top, bottom)
    page = None if options.no_report else options.output / "report.html"
    if page:
        from syntagm.report.page import report

        report([done], page)
    show(done, page)
    return 0


def show(done: "Run", page: Path | None = None) -> None:
    """The tables of results, and what is odd about them."""
    from rich.console import Console
    from rich.text import Text

    from syntagm.views.gaps import kept
    from syntagm.views.gaps.estimates import estimates, pooled

    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)
    whole = [cut for cut in kept.cuts(done) if cut.whole]
    console.print(_table(done, "suite", estimates(done, whole)))
    constructions = [suite.tags["construction"] for suite in done.suites if "construction" in suite.tags]
    if len(set(constructions)) < len(constructions):
        console.print(_table(done, "construction", pooled(done, cuts=whole)))
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    for remark in _remarks(done):
        errors.print(Text(remark))
    console.print(Text(f"signature of the first line: {done.signature(done.suites[0].name, 'equal_weight')}"))
    console.print(Text(f"run: {done.place}"))
    if page:
        console.print(Text(f"report: {page}"))


def _remarks(done: "Run") -> "Iterator[str]":
    """What to know of the numbers, a line each."""
    from syntagm.views.gaps import kept

    for reason, count in done.undefined.items():
        yield f"warning: {count:,} undefined: {reason}"
    if len(kept.cuts(done)) > 1:
        yield "note: at cut-offs only rows count whose forms are single tokens; the numbers are in results.csv"
    if done.record["options"]["eligible"] == "all" and done.record["model"]["policies"].get("masks") == "several":
        yield (
            "warning: words of several tokens have estimates under another number of masks (masks=several): model_weight and "
            "covered mix what can't be compared; --eligible single-token leaves them out"
        )


def _table(done: "Run", key: str, found: "Sequence[Estimate]") -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(done.model), title_justify="left", caption=Text(CAPTION), caption_justify="left")
    table.add_column(key, overflow="fold")
    for name in ("items", "tse", "contexts", *_SHOWN[1:], "invalid", "rows"):
        table.add_column(name, justify="right", no_wrap=name != "invalid")
    named = [(one.group.suite if key == "suite" else one.group[key], one) for one in found]
    for name in dict.fromkeys(name for name, _ in named):
        by_measure = {one.group.measure: one for about, one in named if about == name}
        suites = [
            suite.name for suite in done.suites if name == (suite.name if key == "suite" else suite.tags.get(key))
        ]
        table.add_row(Text(name), *map(Text, _cells(done, by_measure, suites)))
    return table


def _cells(done: "Run", by_measure: "dict[str, Estimate]", suites: list[str]) -> list[str]:
    tse = by_measure["tse"]
    if "covered" not in by_measure:
        return [f"{tse.n:,}", _shown(tse), "0", *[""] * 5]
    covered = by_measure["covered"]
    weights = [_shown(by_measure[name]) for name in _SHOWN[1:]]
    return [
        f"{tse.n:,}",
        _shown(tse),
        f"{covered.n:,}",
        *weights,
        f"{by_measure['invalid'].value:.3f}",
        _rows(done, suites),
    ]


def _rows(done: "Run", suites: list[str]) -> str:
    import polars as pl

    from syntagm.views.gaps import kept

    found = pl.concat([kept.contexts(done, name) for name in suites]).select(
        pl.col("eligible").min().alias("low"), pl.col("eligible").max().alias("high")
    )
    [(low, high)] = found.rows()
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _shown(one: "Estimate") -> str:
    if math.isnan(one.value):
        return "undefined"
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _limits(option: str, given: list[str], published: tuple[float, ...]) -> tuple[float, ...]:
    """Shares as typed, with commas or blanks between them."""
    parts = [part for text in given for part in text.split(",") if part]
    try:
        return tuple(share for part in parts for share in (published if part == "published" else [float(part)]))
    except ValueError:
        raise UsageError(option, repr(" ".join(given)), "shares such as 0.9 0.5, or `published`") from None
