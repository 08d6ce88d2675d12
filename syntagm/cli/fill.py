"""Score every form of a word list in the gaps of suites.

If the two sentences of an item differ in one word, that word is a gap. WORDS is a
bundled list (verbs, reflexives, reflexive_gender, determiners, npis), a CSV with the
columns lemma,form:singular,form:plural,... or the verb list of Newman et al. (2021) as
published. There are three measures:

    tse            whether the word of the good sentence is more likely
    equal_weight   the proportion of rows of the list whose correct form is more likely
    model_weight   the proportion of the probability of all forms that goes to correct forms

    syntagm fill demo --suite marvin2018 -n 200 --words verbs -o runs/verbs
    syntagm fill gpt2 --suite templates/*.jsonl --words list.csv --eligible single-token --top published -o runs/gpt2
    syntagm fill demo --suite hu2020/reflexive_prep --words reflexives -o runs/reflexives
    syntagm fill demo --suite marvin2018 -n 20 --words verbs --most-probable 10 -o runs/top
    syntagm fill --config experiment.toml

A --config file has the long names of options as keys, and `output`; `models` lists the one
MODEL. See `syntagm run --help`.

If you stop the command with Ctrl-C, or kill it, run it again to resume. After the end,
running it again computes nothing: it loads the model, to see that it is the same, and
shows the results.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _config, _evaluation
from syntagm.core import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from syntagm.evaluation import Estimate
    from syntagm.runs import Run

CAPTION = (
    "intervals: 95%, of tse for other items, of the weights for other contexts and lemmas; covered: mean probability mass of all "
    "eligible forms; invalid: contexts without an eligible row; rows: eligible rows of the list, fewest to most"
)
_SHOWN = ("tse", "equal_weight", "model_weight", "covered")


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _evaluation.arguments(parser)
    _config.argument(parser)
    add("--words", metavar="WORDS", required=True, help="a bundled word list, or FILE.csv[?faults=keep]")
    add(
        "--eligible",
        choices=["all", "single-token"],
        default="all",
        help="which rows of the list to use: all that the model can score, or only those whose forms are single tokens (all)",
    )
    add(
        "--blank",
        choices=["differing", "shared"],
        default="differing",
        help="which word to turn into a gap: that in which the sentences differ, or the list word that they share (differing)",
    )
    for end, sense in (("top", "likeliest"), ("bottom", "least likely")):
        add(
            f"--{end}",
            metavar="Q",
            nargs="+",
            action="extend",
            default=[],
            help=f"also compute the measures over the {sense} vocabulary entries with probability mass Q; "
            "`published`: the cut-offs of the paper",
        )
    add(
        "--most-probable",
        metavar="K",
        type=int,
        default=0,
        help="also keep the K most probable entries of the vocabulary in each gap, for `syntagm table top_words` (0)",
    )
    add("--no-report", action="store_true", help="write no HTML report")


def run(options: argparse.Namespace) -> int:
    from syntagm.evaluation import PUBLISHED_BOTTOM, PUBLISHED_TOP, Gaps
    from syntagm.runs import Job
    from syntagm.suites import read_word_list

    top = _limits("--top", options.top, PUBLISHED_TOP)
    bottom = _limits("--bottom", options.bottom, PUBLISHED_BOTTOM)
    shared = options.blank == "shared"
    task = Gaps(read_word_list(options.words), options.eligible, top, bottom, shared, options.most_probable)
    job = Job(options.model, _evaluation.one_label(options.name), options.output)
    asked = _evaluation.given(options, task, [job], options.suite, options.output)
    finished = _evaluation.carry_out(asked, _evaluation.Display(options.quiet, options.verbose))
    page = None if options.no_report else options.output / "report.html"
    if page:
        from syntagm.report import report

        report([finished], page)
    show(finished, page)
    return 0


def show(run: "Run", page: Path | None = None) -> None:
    from syntagm.cli._text import Printer, plain
    from syntagm.views import gaps

    console = Printer(width=None if sys.stdout.isatty() else 160)
    uncut = [cut for cut in gaps.cut_offs(run) if cut.whole]
    console.print(_table(run, "suite", gaps.estimates(run, uncut)))
    constructions = [suite.tags["construction"] for suite in run.suites if "construction" in suite.tags]
    if len(set(constructions)) < len(constructions):
        console.print(_table(run, "construction", gaps.pooled(run, cuts=uncut)))
    errors = Printer(stderr=True)
    for remark in _remarks(run):
        errors.print(plain(remark))
    console.print(plain(f"signature of the first line: {run.signature(run.suites[0].name, 'equal_weight')}"))
    console.print(plain(f"run: {run.place}"))
    if page:
        console.print(plain(f"report: {page}"))


def _remarks(run: "Run") -> "Iterator[str]":
    from syntagm.views import gaps

    for reason, count in run.undefined.items():
        yield f"warning: {count:,} undefined: {reason}"
    if len(gaps.cut_offs(run)) > 1:
        only = "cut-offs use only rows whose forms are single tokens; " if gaps.several_tokens(run) else ""
        yield f"note: {only}results.csv has the numbers at cut-offs"
    if run.record["options"]["eligible"] == "all" and run.record["model"]["policies"].get("masks") == "several":
        yield (
            "warning: words of several tokens were scored with a different number of masks (masks=several), so model_weight and "
            "covered mix what can't be compared; --eligible single-token excludes these words"
        )


def _table(run: "Run", key: str, estimates: "Sequence[Estimate]") -> "Table":
    from rich.table import Table

    from syntagm.cli._screen import caption
    from syntagm.cli._text import plain

    rows = [(estimate.group.suite if key == "suite" else estimate.group[key], estimate) for estimate in estimates]
    table = Table(title=plain(run.title), title_justify="left", caption=caption(CAPTION, rows), caption_justify="left")
    table.add_column(key, overflow="fold")
    for name in ("items", "tse", "contexts", *_SHOWN[1:], "invalid", "rows"):
        table.add_column(name, justify="right", no_wrap=name != "invalid")
    groups: dict[str, dict[str, Estimate]] = {}
    for name, estimate in rows:
        groups.setdefault(name, {})[estimate.group.measure] = estimate
    for name, by_measure in groups.items():
        suites = [suite.name for suite in run.suites if name == (suite.name if key == "suite" else suite.tags.get(key))]
        table.add_row(plain(name), *map(plain, _cells(run, by_measure, suites)))
    return table


def _cells(run: "Run", by_measure: "dict[str, Estimate]", suites: list[str]) -> list[str]:
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
        _rows(run, suites),
    ]


def _rows(run: "Run", suites: list[str]) -> str:
    import polars as pl

    from syntagm.views import gaps

    range_of_rows = pl.concat([gaps.contexts(run, name) for name in suites]).select(
        pl.col("eligible").min().alias("low"), pl.col("eligible").max().alias("high")
    )
    [(low, high)] = range_of_rows.rows()
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _shown(estimate: "Estimate") -> str:
    from syntagm.evaluation import interval

    if math.isnan(estimate.value):
        return "undefined"
    return f"{estimate.value:.3f} {interval(estimate.low, estimate.high)}"


def _limits(option: str, texts: list[str], published: tuple[float, ...]) -> tuple[float, ...]:
    """Parse probability masses, separated by commas or spaces."""
    words = [word for text in texts for word in text.split(",") if word]
    try:
        return tuple(mass for word in words for mass in (published if word == "published" else [float(word)]))
    except ValueError:
        raise UsageError(option, repr(" ".join(texts)), "probability masses such as 0.9 0.5, or `published`") from None
