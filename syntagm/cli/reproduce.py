"""Reproduce the tables and figures of a paper, or repeat its experiment.

    syntagm reproduce marvin2018 --model demo -o out
    syntagm reproduce marvin2018 --model gpt2 -o out -n 500 --style published
    syntagm reproduce marvin2018 --model gpt2 -o out --suite LM_syneval/*.pickle --allow-pickle
    syntagm reproduce newman2021 --model gpt2 -o out -n 100
    syntagm reproduce newman2021 --from-run runs/gpt2_fill runs/bert_fill -o out
    syntagm reproduce warstadt2020 --from-run runs/s runs/m runs/l -o out --set words=1e6,5e6,14e6
    syntagm reproduce hu2020 --from-run runs/gpt2 runs/lstm -o out
    syntagm reproduce hu2020 --from-raw syntactic-generalization/data/raw -o out --set suites=33

--model runs the paper's suites into DIR/run, as `syntagm run` (or `syntagm fill`) does;
after an interruption, run the same command again to resume. --from-run uses existing runs,
--from-raw the data that the authors published. Each table is printed and written as DIR/NAME.csv, .md
and .tex, with the published numbers next to ours; each figure is written as DIR/NAME.svg,
.png, .pdf and .vl.json, with its numbers in DIR/NAME.csv. Exit code 1: a run is not
finished; with --strict also: the raw data are not all that was published.

Likelihood-ratio tests (hu2020: --from-raw, --corpus) compare with a chi-squared distribution,
which needs many groups. If a group has fewer than 20 levels, such as ten trained models, up to
1,000 responses are simulated from the smaller model instead (seed 1; 10 to 50 ms each).
--bootstrap N simulates up to N for every test of suite scores. Tests of counts of items take
about a second per response, so they have up to 200, and only where groups are few. The column
`method` of the tests says it. With --corpus, finished responses are kept in DIR/simulations.

    syntagm reproduce hu2020 --corpus train.txt --valid valid.txt --test test.txt -o out --plan
    syntagm reproduce hu2020 --corpus train.txt --valid valid.txt --test test.txt -o out --families ngram,lstm --seeds 1
    syntagm reproduce marvin2018 --corpus train.trees --valid valid.trees --test test.trees -o out \\
        --set multitask.tags=train.trees

--corpus trains models of several families on nested parts of the corpus, runs the suites
with them, and measures their perplexity. The results are in DIR/results.csv, with figures in the same
folder. The plan and its duration are printed first. If you stop the command with Ctrl-C, or
kill it, run it again to resume. Families, sizes and seeds can be added later.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _evaluation, _experiment, _files, _model
from syntagm.cli._saving import write
from syntagm.core import UsageError, registry
from syntagm.papers import Paper, paper as papers

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from syntagm.evaluation import Task
    from syntagm.papers import Outputs
    from syntagm.runs import Run
    from syntagm.views import Figure, Table

# Option -> a function that returns what a paper offers for it, and the message if it offers nothing.
WAYS: dict[str, tuple[Callable[[Paper], object], str]] = {
    "--model": (lambda paper: paper.of_runs, "offers no tables or figures from runs"),
    "--from-run": (lambda paper: paper.of_runs, "offers no tables or figures from runs"),
    "--from-raw": (lambda paper: paper.from_raw, "has no published raw data that Syntagm can read"),
    "--corpus": (lambda paper: paper.experiment, "trains no models"),
}
# Options that need --model or --corpus.
_OF_MODEL = ("suite", "n", "style")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    add = parser.add_argument
    add("paper", metavar="PAPER", help="one of " + ", ".join(registry.names("papers")))
    add("--model", metavar="MODEL", help="the model, as in `syntagm run`")
    _files.add_output(parser, "DIR", "the folder for all results", required=True)
    add("--from-run", metavar="DIR", nargs="+", action="extend", help="use these runs; no model is loaded")
    add("--from-raw", metavar="DIR", type=Path, help="use the raw data that the authors published")
    add("--strict", action="store_true", help="exit with 1 if the raw data are incomplete")
    add(
        "--bootstrap",
        metavar="N",
        help="simulate N responses for each likelihood-ratio test of scores; 0: never, also not for counts (as needed)",
    )
    add("--suite", metavar="SUITE", nargs="+", action="extend", help="use these suites instead of the bundled ones")
    add("-n", metavar="N", help="generate N items per suite")
    add(
        "--style",
        choices=["natural", "published"],
        help="natural: with an initial capital and a full stop; published: without them",
    )
    _model.permissions(parser)
    _evaluation.executor(parser)
    add("--no-cache", action="store_true", help="neither read nor write the cache of surprisals")
    add(
        "--set",
        metavar="NAME=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="options of an analysis (suites=33), or hyperparameters (lstm.hidden=64 ...)",
    )
    _files.add_force(parser)
    _experiment.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Make the tables and figures, or run the experiment; return the exit code."""
    paper = papers.find(options.paper)
    way = _way(options, paper)
    if way != "--from-raw" and options.strict:
        raise UsageError("--strict", f"given with {way}", "--from-raw", "It concerns only published raw data.")
    with _bootstrap(options, paper, way):
        if way == "--corpus" and paper.experiment:
            design = _experiment.given(options, paper.experiment, paper.suites)
            return _experiment.run(design, paper.experiment, options.paper, options.plan)
        if changed := _experiment.given_names(options):
            raise UsageError(f"--{changed[0]}", f"given with {way}", "one of the two", "It needs --corpus.")
        if way != "--model":
            _refuse(options, _OF_MODEL, way)
        return _from_raw(options, paper) if way == "--from-raw" else _from_runs(options, paper)


def with_conventions(outputs: "Outputs", runs: "Sequence[Run]") -> "Iterator[tuple[str, Table | Figure]]":
    """Yield tables and figures, each with its name, that say how runs are judged, if not by bits, and what models don't know."""
    from syntagm.views import described

    for name, made in outputs.items() if isinstance(outputs, Mapping) else outputs:
        yield name, described(made, runs)


def _from_runs(options: argparse.Namespace, paper: Paper) -> int:
    assert paper.of_runs, "_way refuses an option that the paper does not offer"
    chosen, runs = _choices(paper.of_runs, options.set), _runs(options, paper)
    write(with_conventions(paper.of_runs(runs, **chosen), runs), options.output, options.force)
    for run in runs:
        print(f"run: {run.place}" + ("" if run.done else ", not finished: items without results are skipped"))
    return 0 if all(run.done for run in runs) else 1


def _from_raw(options: argparse.Namespace, paper: Paper) -> int:
    assert paper.from_raw, "_way refuses an option that the paper does not offer"
    chosen, data = _choices(paper.from_raw, options.set), paper.read(options.from_raw)
    write(paper.from_raw(data, **chosen), options.output, options.force)
    missing = paper.missing(data) if paper.missing else []
    for line in missing:
        print(f"incomplete raw data: {line}", file=sys.stderr)
    return 1 if missing and options.strict else 0


def _bootstrap(options: argparse.Namespace, paper: Paper, way: str) -> "AbstractContextManager[None]":
    """Perform the likelihood-ratio tests of a block of code as --bootstrap says, and report their progress."""
    from syntagm.cli._lines import Lines
    from syntagm.core import whole
    from syntagm.stats import bootstrap

    if options.bootstrap is None:
        return bootstrap.using(None, Lines())
    if not paper.ratio_tests or way not in ("--from-raw", "--corpus"):
        found = f"given with {options.paper} {way}"
        raise UsageError("--bootstrap", found, "results with likelihood-ratio tests", "Omit it.")
    simulated = whole("--bootstrap", options.bootstrap, least=0)
    if 0 < simulated < bootstrap.LEAST:
        raise UsageError("--bootstrap", options.bootstrap, f"at least {bootstrap.LEAST}, or 0")
    return bootstrap.using(bootstrap.Resampling(simulated=simulated), Lines())


def _way(options: argparse.Namespace, paper: Paper) -> str:
    chosen = [way for way in WAYS if getattr(options, way[2:].replace("-", "_"))]
    offered = [way for way, (offer, _) in WAYS.items() if offer(paper)]
    if len(chosen) != 1:
        found = " and ".join(chosen) or "none of these options"
        raise UsageError(f"reproduce {options.paper}", found, "one of " + ", ".join(offered))
    if chosen[0] not in offered:
        raise UsageError(chosen[0], f"{options.paper} {WAYS[chosen[0]][1]}", "one of " + ", ".join(offered))
    return chosen[0]


def _refuse(options: argparse.Namespace, names: Sequence[str], way: str) -> None:
    if chosen := [name for name in names if getattr(options, name)]:
        option = f"-{chosen[0]}" if len(chosen[0]) == 1 else f"--{chosen[0]}"
        raise UsageError(
            option, f"given with {way}", "one of the two", "It only applies when a model is run on suites."
        )


def _runs(options: argparse.Namespace, paper: Paper) -> "list[Run]":
    from syntagm.runs import open_run

    if options.from_run:
        return [open_run(folder) for folder in options.from_run]
    from syntagm.evaluation import Gaps, Predictions
    from syntagm.runs import Job
    from syntagm.suites import read_word_list

    folder = options.output / "run"
    gaps = paper.gaps
    task: Task[Any] = Gaps(read_word_list(gaps.words), top=gaps.top, bottom=gaps.bottom) if gaps else Predictions()
    job = Job(options.model, folder=folder)
    asked = _evaluation.given(options, task, [job], options.suite or paper.suites, folder)
    return [_evaluation.carry_out(asked, _evaluation.given_display(options))]


def _choices(analysis: "Callable[..., Outputs]", pairs: Sequence[str]) -> dict[str, str]:
    """Return the options of an analysis that --set gives."""
    chosen = dict(_experiment.pair("--set", pair) for pair in pairs)
    known = papers.choices(analysis)
    if unknown := [name for name in chosen if name not in known]:
        raise UsageError("--set", f"no option {unknown[0]!r}", "one of " + ", ".join(known) if known else "none")
    return chosen
