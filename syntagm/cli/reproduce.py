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

from syntagm.cli import _evaluation, _files, _options
from syntagm.cli._files import write
from syntagm.cli._lines import Lines
from syntagm.core import UsageError, counted, registry, utf8, whole
from syntagm.papers import Paper, hyperparameters, paper as papers
from syntagm.views import shown_duration

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from syntagm.evaluation import Task
    from syntagm.papers import Design, Experiment, Outputs
    from syntagm.runs import Run
    from syntagm.stats import Planned
    from syntagm.views import Figure, Table


def study_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("train models on a corpus and compare them (hu2020, marvin2018, warstadt2020)")
    add = group.add_argument
    add("--corpus", metavar="FILE", nargs="+", help="training text; models are trained on parts of it")
    add("--valid", metavar="FILE", nargs="+", help="validation text, for learning-rate schedules and early stopping")
    add("--test", metavar="FILE", nargs="+", help="test text, on which perplexity is measured")
    add("--families", metavar="LIST", help=_families())
    sizes = "names of the parts and their sizes in words (hu2020: xs=100000,sm=1000000); paper: sizes and samples of the paper"
    add("--sizes", metavar="LIST", help=sizes)
    add("--seeds", metavar="LIST", help="random seeds for training (1,2)")
    add(
        "--scale",
        choices=sorted(hyperparameters.scales(), reverse=True),
        default="small",
        help="size of the models: small trains in an hour or two; paper is the published size (small)",
    )
    add("--draw", metavar="SEED", type=int, default=1, help="random seed for drawing the parts of the first sample (1)")
    add(
        "--draw-by",
        choices=("sentences", "sections"),
        default="sentences",
        help="what is drawn: sentences, or whole sections of the corpus, such as documents (sentences)",
    )
    add(
        "--section-mark",
        metavar="MARK",
        default="blank",
        help="what divides sections: blank (lines), file (each file is one), or the beginning of lines that are no text (blank)",
    )
    add(
        "--samples",
        metavar="N",
        type=int,
        help="random samples of the corpus, with models of each family, size and seed (1; warstadt2020: 3)",
    )
    add("--device", default="cpu", help="device for training and scoring: cpu, cuda, ... (cpu)")
    add("--threads", type=int, default=1, help="processor threads (1)")
    add("--plan", action="store_true", help="print what would be done and how long it would take, then stop")


def _families() -> str:
    """Return the help text for --families: the default families, then the others.

    >>> _families()
    'ngram,lstm,gpt2 (default of hu2020), onlstm, multitask, gpt2-words, rnng'
    """
    default = hyperparameters.DEFAULT
    others = [name for name in hyperparameters.SCALES if name not in default]
    return ", ".join([f"{','.join(default)} (default of hu2020)", *others])


def given_names(options: argparse.Namespace) -> list[str]:
    """Return the names of the options of an experiment that have another value than their default."""
    parser = argparse.ArgumentParser(add_help=False)
    study_arguments(parser)
    defaults = vars(parser.parse_args([]))
    return [name for name, value in defaults.items() if getattr(options, name) != value]


def run_study(design: "Design", experiment: "Experiment", paper: str, only_plan: bool) -> int:
    """Print the plan, run the experiment, write its figures and tables, and print its results."""
    from syntagm.papers import overview

    finished = _show_plan(paper, design)
    if experiment.tests:
        _show_tests(experiment.tests(design, finished), len(design.cells()))
    if only_plan:
        return 0
    experiment.carry_out(design, Lines())
    # The folder holds an experiment.json, so all its files are ours.
    write(overview.tables(design.folder), design.folder, force=True)
    write(experiment.outputs(design.folder), design.folder, force=True)
    print(utf8.read(design.folder / "results.md"))
    print(f"results: {design.folder / 'results.csv'}")
    return 0


def given(options: argparse.Namespace, experiment: "Experiment", suites: Sequence[str]) -> "Design":
    """Return the experiment that a command line asks for, and set the number of threads."""
    import torch

    from syntagm.models import device
    from syntagm.papers import Design

    if options.threads < 1:
        raise UsageError("--threads", str(options.threads), "at least 1")
    torch.set_num_threads(options.threads)
    for name in ("valid", "test"):
        if not getattr(options, name):
            raise UsageError(f"--{name}", "missing", "a text file", "Name a text that no model is trained on.")
    if options.section_mark != "blank" and options.draw_by != "sections":
        raise UsageError("--section-mark", "given without --draw-by sections", "both or none of them")
    if not options.section_mark:
        raise UsageError("--section-mark", "nothing", "blank, file, or the beginning of a line")
    families = _list(options.families, experiment.families or hyperparameters.DEFAULT, "--families")
    changes = dict(name_and_value("--set", text) for text in options.set)
    sizes, samples = experiment.sizes, experiment.samples
    if options.sizes == "paper" and experiment.paper_sizes:
        sizes, samples = experiment.paper_sizes, experiment.paper_samples
    elif options.sizes:
        sizes = {name: _number("--sizes", size) for name, size in _sizes(options.sizes)}
    return Design(
        options.output,
        options.corpus,
        options.valid,
        options.test,
        sizes,
        [_number("--seeds", seed) for seed in _list(options.seeds, map(str, experiment.seeds), "--seeds")],
        hyperparameters.options(options.scale, families, changes),
        _evaluation.with_template_options(options.suite or suites, _evaluation.given_generation(options)),
        options.draw,
        str(device(options.device)),
        samples if options.samples is None else options.samples,
        options.section_mark if options.draw_by == "sections" else "",
    )


def _list(text: str | None, default: Any, option: str) -> list[str]:
    """Parse a comma-separated list without repeated entries.

    >>> _list("ngram,lstm", [], "--families"), _list(None, ["gpt2"], "--families")
    (['ngram', 'lstm'], ['gpt2'])
    """
    names = list(default) if text is None else [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise UsageError(option, repr(text), "different names, separated by commas")
    return names


def _sizes(text: str) -> list[tuple[str, str]]:
    sizes = [name_and_value("--sizes", size) for size in text.split(",")]
    if len(dict(sizes)) < len(sizes):
        raise UsageError("--sizes", repr(text), "different names")
    return sizes


def name_and_value(option: str, text: str) -> tuple[str, str]:
    """Split NAME=VALUE.

    >>> name_and_value("--set", "lstm.hidden=64")
    ('lstm.hidden', '64')
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise UsageError(option, repr(text), "NAME=VALUE")
    return name.strip(), value.strip()


def _number(option: str, text: str) -> int:
    """Parse an integer above 0.

    >>> _number("--sizes", "1_000_000")
    1000000
    """
    return whole(option, text.replace("_", ""))


def _show_plan(paper: str, design: "Design") -> bool:
    """Print the models to train, their progress, and the estimated remaining time; return whether all are finished."""
    from syntagm.papers import basis_of_estimates, operations_per_second, record, remaining_seconds, state_of

    # Without this check, the plan of another experiment would call the models of this folder finished.
    record.check(design)
    words = record.count_words(design)
    cells, speed = design.cells(), operations_per_second(design.device)
    print(f"{paper} in {design.folder}: {len(cells)} models")
    for name, files in (("corpus", design.corpus), ("valid", design.valid), ("test", design.test)):
        print(f"  {name:10}{words[name]:>12,} words  {', '.join(map(str, files))}")
    sizes = ", ".join(f"{name} {size:,} words" for name, size in design.sizes.items())
    seeds = (
        f"seed {design.draw}" if design.samples == 1 else f"seeds {design.draw} to {design.draw + design.samples - 1}"
    )
    unit = f" by sections ({design.sections!r})" if design.sections else ""
    print(f"  {'parts':10}{sizes}; drawn{unit} with {seeds}")
    for family, options in design.options.items():
        print(f"  {family:<9} " + " ".join(f"{name}={value}" for name, value in options.items()))
    total, finished = 0.0, True
    for cell in cells:
        total += (seconds := remaining_seconds(design, cell, words, speed))
        state = state_of(design, cell)
        finished = finished and state == "done"
        print(f"  {cell.name:20} {state:8} {_shown(seconds):>8}")
    left = f"about {shown_duration(total)} at most, one process" if total else "nothing is left to do"
    print(f"{left}; {basis_of_estimates(speed)}" if total else left, flush=True)
    return finished


def _show_tests(tests: "Sequence[Planned]", models: int) -> None:
    """Print what the likelihood-ratio tests with simulated responses need besides, and can show, if the models are few."""
    from syntagm.stats import FEW_GROUPS

    if not tests:
        return
    responses, kept, left = (sum(getattr(test, name) for test in tests) for name in ("responses", "kept", "left"))
    done = f", {kept:,} of them done" if kept else ""
    duration = shown_duration(sum(test.seconds for test in tests))
    rest = f"about {duration} at most; --bootstrap 0 omits them" if left else "nothing is left to do"
    print(
        f"besides, {counted(len(tests), 'likelihood-ratio test')} with up to {responses:,} simulated responses{done}: {rest}",
        flush=True,
    )
    if models < FEW_GROUPS:
        print(
            f"with {counted(models, 'model')}, these tests find no effect that is not far larger than the differences "
            "between seeds",
            flush=True,
        )


def _shown(seconds: float) -> str:
    """Format the time that is left.

    >>> _shown(0), _shown(600)
    ('-', '10 min')
    """
    return shown_duration(seconds) if seconds else "-"


# Option -> a function that returns what a paper offers for it, and the message if it offers nothing.
WAYS: dict[str, tuple[Callable[[Paper], object], str]] = {
    "--model": (lambda paper: paper.of_runs, "offers no tables or figures from runs"),
    "--from-run": (lambda paper: paper.of_runs, "offers no tables or figures from runs"),
    "--from-raw": (lambda paper: paper.from_raw, "has no published raw data that Syntagm can read"),
    "--corpus": (lambda paper: paper.experiment, "trains no models"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
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
    _options.add_permissions(parser)
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
    study_arguments(parser)


def run(options: argparse.Namespace) -> int:
    paper = papers.find(options.paper)
    way = _way(options, paper)
    if way != "--from-raw" and options.strict:
        raise UsageError("--strict", f"given with {way}", "--from-raw", "It concerns only published raw data.")
    with _bootstrap(options, paper, way):
        if way == "--corpus" and paper.experiment:
            design = given(options, paper.experiment, paper.suites)
            return run_study(design, paper.experiment, options.paper, options.plan)
        if changed := given_names(options):
            raise UsageError(f"--{changed[0]}", f"given with {way}", "one of the two", "It needs --corpus.")
        if way != "--model":
            _refuse_options_of_models(options, way)
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


def _refuse_options_of_models(options: argparse.Namespace, way: str) -> None:
    if chosen := [name for name in ("suite", "n", "style") if getattr(options, name)]:
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
    return [_evaluation.carry_out(asked, _evaluation.Display(options.quiet, options.verbose))]


def _choices(analysis: "Callable[..., Outputs]", pairs: Sequence[str]) -> dict[str, str]:
    """Return the options of an analysis that --set gives."""
    chosen = dict(name_and_value("--set", pair) for pair in pairs)
    known = papers.choices(analysis)
    if unknown := [name for name in chosen if name not in known]:
        raise UsageError("--set", f"no option {unknown[0]!r}", "one of " + ", ".join(known) if known else "none")
    return chosen
