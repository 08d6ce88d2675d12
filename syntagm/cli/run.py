"""Evaluate language models on suites, and write the results to run directories.

SUITE is a file, a folder, a pattern, a bundled collection (hu2020), or one suite of a
collection (hu2020/mvrr). MODEL is a bundled model (demo, toy), a folder, a name on the
Hugging Face hub (gpt2, org/name@revision), or family:path?option=value&option=value;
`syntagm models` lists the families.

    syntagm run demo --suite hu2020 -o runs/demo
    syntagm run 'gpt2?bos=yes' --suite blimp/*.jsonl -o runs/gpt2
    syntagm run demo --suite marvin2018 -n 200 --seed 7 -o runs/ml
    syntagm run gpt2 distilgpt2 models/lstm --name GPT-2 --name Distilled --name LSTM --suite hu2020 -o runs/three
    syntagm run 'models/rnng?beam=20,50,100,200' --suite hu2020 -o runs/beams
    syntagm run 'ckpt/step*' --suite hu2020 -o runs/sweep
    syntagm run 'org/name@step{1000..9000..1000}' --suite hu2020 -o runs/sweep
    syntagm run 'ckpt/step*' --suite hu2020 --executor local:4 -o runs/sweep
    syntagm run --config experiment.toml
    syntagm run gpt2 --config babylm --suite blimp_filtered/*.jsonl -o runs/babylm
    syntagm run demo --suite blimp/*.jsonl --limit 100 -o runs/sample
    syntagm run demo --suite hu2020/mvrr --measure 'surprisal(condition=reduced_ambig, region=disambiguator)' -o runs/bits

One model writes its run into DIR. Several are evaluated one after the other; each writes its
run into DIR/LABEL, where LABEL is its --name or else made from MODEL, and DIR/report.html
compares them. A pattern of folders, a range in braces, and an option with several numbers, as
above, stand for several models, even if only one matches. Their LABEL begins at the first
folder with a pattern or braces: 'seeds/seed*/best' gives seed1-best. If a model fails, the
others are evaluated, and the exit code is 2. Other commands accept DIR in place of the run
directories in it.

With --executor, other processes compute, and the numbers are the same. Any of them may be
killed: its work is given to another.

A --config file has the long names of options as keys, besides `models` and `output`:

    models = ["demo", "gpt2"]
    suite = ["hu2020", "blimp/*.jsonl"]
    limit = 100
    output = "runs/two"

Options of the command line replace those of the file. Permissions can't be given in a file.
--config babylm and --config babylm-2026 are bundled, for the pairs of BabyLM's pipeline: ties are
failures, or half a hit, as its pipeline counts them since April 2026. If pairs tie, the last lines
also have the score with ties as hits.

If you stop the command with Ctrl-C, or kill it, run it again to resume. It begins with the
models that are not finished; then it loads the finished ones, to see that they are the same.
After the end, running it again computes nothing, and shows the results.

Exit code 1: more than half of the results of a run are undefined; the reasons are printed.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _config, _evaluation
from syntagm.core import SyntagmError, UsageError, atomic, counted, shown_lines

if TYPE_CHECKING:
    from syntagm.cli._config import Source
    from syntagm.runs import Evaluation, Job, Run
    from syntagm.suites import Suite


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _evaluation.arguments(parser, several=True)
    _config.argument(parser)
    add(
        "--align",
        choices=["strict", "start"],
        default="strict",
        help="a token that crosses a region border makes the item undefined (strict, the default), or belongs to the region "
        "in which it starts (start), as in SyntaxGym",
    )
    add(
        "--convention",
        metavar="NAME",
        default="bits",
        help="the number of a sentence that is compared, where predictions compare two whole sentences: bits (the sum, the "
        "default), mean_token, mean_byte+ties_as_hits ... (docs/reference/conventions.md), or `published`, that of each "
        "dataset's authors; the signature says which",
    )
    add(
        "--measure",
        metavar="MEASURE",
        action="append",
        help="compute NAME(option=value, ...) for each item instead of the suites' predictions; may be repeated",
    )
    add(
        "--stop-at",
        metavar="H",
        type=float,
        help="evaluate as many items of each suite, drawn at random, as give the 95%% interval of its accuracy a half-width "
        "of at most H; a pilot of 50 items chooses how many, for several models the same, and the run records it",
    )
    add("--cache", metavar="FILE", type=Path, help="the file that caches surprisals across runs")
    add("--no-cache", action="store_true", help="neither read nor write the cache of surprisals")
    add("--no-report", action="store_true", help="write no HTML report")
    add(
        "--order",
        choices=["given", "coarse", "largest"],
        default="given",
        help="evaluate several models in the given order (default), or the first, the last, the middle, the quarters "
        "and so on (coarse), so that a curve takes shape early, or by the sizes of their files (largest), so that workers "
        "end together; numbers don't depend on it",
    )
    add(
        "--dry-run",
        action="store_true",
        help="print the models in order, and what would be scored; refuse what the command would refuse before it reads "
        "weights; then stop. The time is estimated only when the first sentences are scored",
    )


@dataclass(frozen=True, slots=True)
class _Sweep:
    """The models of a command, and what else it says of several."""

    asked: "Evaluation"  # the evaluation of all of them, in the given order
    written: Mapping[str, str]  # the label of each model -> its name as written, such as a pattern
    alone: bool  # whether the model is the only one, so that its run has no folder of its own
    order: str  # the order of their evaluation
    source: "Source | None"  # the configuration file, if there is one

    def failed(self, job: "Job", error: Exception) -> None:
        print(f"syntagm: {_config.blame(self.source, error, self.written[job.label], job.label)}", file=sys.stderr)


def run(arguments: argparse.Namespace) -> int:
    from syntagm.models import sweeps
    from syntagm.runs import task_of

    found = [(text, model) for text in arguments.models for model in sweeps.several(text)]
    # A pattern may match one folder today and two tomorrow: its runs always have folders of their own.
    alone = [model for _, model in found] == arguments.models and len(found) == 1
    jobs = _jobs(found, arguments.name, arguments.output, alone)
    if arguments.dry_run and arguments.stop_at is not None:
        cure = "The number of items is known after the pilot."
        raise UsageError("--stop-at", "--dry-run beside it", "one of them", cure)
    task = task_of(arguments.measure or (), arguments.align, arguments.convention)
    asked = _evaluation.given(arguments, task, jobs, arguments.suite, arguments.output)
    written = {job.label: text for job, (text, _) in zip(jobs, found, strict=True)}
    sweep = _Sweep(asked, written, alone, arguments.order, arguments.config_source)
    display = _evaluation.Display(arguments.quiet, arguments.verbose)
    if arguments.dry_run:
        return _show_plan(sweep, display)
    page = None if arguments.no_report else arguments.output / "report.html"
    if not alone:
        return _run_several(sweep, display, page)
    finished = _evaluation.carry_out(asked, display)
    _show([finished], page, len(jobs), display.quiet)
    return 1 if _mostly_undefined([finished]) else 0


def _planned(asked: "Evaluation") -> "Iterator[Suite]":
    """Yield the suites that will be evaluated, and refuse those that planning a run would refuse whatever the model."""
    from syntagm.runs import well_formed

    for suite in well_formed(asked.draw.of(asked.suites)):
        asked.task.check(suite)
        yield suite


def _show_plan(sweep: _Sweep, display: "_evaluation.Display") -> int:
    """Print the models in the order of their evaluation, and what is scored; report models that would be refused."""
    from syntagm.cli._screen import size_of
    from syntagm.runs import check

    asked = sweep.asked
    size, sentences = size_of(_planned(asked))
    if sweep.alone:
        check(asked, asked.job)
        print(f"{asked.job.shown}: {size}")
        return 0
    (jobs, _), refused = _in_order(asked.jobs, sweep.order, display.quiet), list[str]()
    for number, job in enumerate(jobs, 1):
        try:
            check(asked, job)
        except (SyntagmError, OSError) as error:
            refused.append(job.label)
            sweep.failed(job, error)
        else:
            print(f"{job.label} ({number} of {len(jobs)}): {job.name}")
    if left := len(jobs) - len(refused):
        print(f"{counted(left, 'model')}, each on {size}; {counted(left * sentences, 'sentence')} in all")
    return _print_failed(refused, len(jobs), "would fail")


def _jobs(found: Sequence[tuple[str, str]], names: Sequence[str], output: Path, alone: bool) -> "list[Job]":
    from syntagm.models import sweeps
    from syntagm.runs import Job, has_run

    models = [model for _, model in found]
    if names and len(names) != len(models):
        count = f"{len(names)} for {counted(len(models), 'model')}"
        raise UsageError("--name", count, "one for each model, in order, or none")
    if alone:
        if not has_run(output) and (inside := [path for path in sorted(output.glob("*")) if has_run(path)]):
            cure = f"Choose another folder, such as {output / sweeps.folder_name((names or [sweeps.label_part(*found[0])])[0])}."
            raise UsageError(
                f"-o {output}", f"a folder of runs, such as {inside[0].name}", "a folder for one run", cure
            )
        return [Job(models[0], next(iter(names), ""), output)]
    if has_run(output):
        cure = "Choose another folder for several models: each gets a folder in it."
        raise UsageError(f"-o {output}", "the run directory of one model", "another folder", cure)
    if not names and (twice := _repeated(models)):
        raise UsageError("MODEL", f"{twice} given twice", "each model once", "A pattern or a range may include it.")
    labels = [sweeps.folder_name(name) for name in names or [sweeps.label_part(*pair) for pair in found]]
    given = [sweeps.label_part(text, text) for text in dict(found)]
    if not names and (_repeated(labels) or _repeated(given)):
        # a/best and b/best are told apart by their whole paths; so are a/step* and b/step*, whatever they match today.
        labels = [sweeps.folder_name(model) for model in models]
    if twice := _repeated(labels):
        raise UsageError("--name", f"two models with the label {twice}", "different labels", "Give each a --name.")
    return [
        Job(model, name, atomic.inside(output, label), place)
        for place, (model, name, label) in enumerate(zip(models, names or labels, labels, strict=True))
    ]


def _repeated(names: Sequence[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _run_several(sweep: _Sweep, display: "_evaluation.Display", page: Path | None) -> int:
    """Evaluate the models; a model that fails is reported, and the others are still evaluated."""
    runs: dict[str, Run] = {}
    jobs, done = _in_order(sweep.asked.jobs, sweep.order, display.quiet)
    asked = replace(sweep.asked, jobs=tuple(jobs))
    carry_out = _evaluation.carry_out_by_workers if asked.executor else _here
    for job, result in carry_out(asked, display, done):
        if isinstance(result, Exception):
            sweep.failed(job, result)
        else:
            runs[job.label] = result
    # Tables and the report have the models in the given order.
    labels = [job.label for job in sweep.asked.jobs]
    finished = [runs[label] for label in labels if label in runs]
    if finished:
        _show(finished, page, len(labels), display.quiet)
    return _print_failed([label for label in labels if label not in runs], len(labels), "failed") or (
        1 if _mostly_undefined(finished) else 0
    )


def _in_order(jobs: "Sequence[Job]", order: str, quiet: bool) -> "tuple[list[Job], set[str]]":
    """Return the models in the order of their evaluation, and the labels of finished ones."""
    from syntagm.models import sweeps
    from syntagm.runs import is_done

    if order == "given":
        ordered = list(jobs)
    else:
        places = sweeps.coarse(len(jobs)) if order == "coarse" else sweeps.largest([job.name for job in jobs])
        ordered = [jobs[place] for place in places]
    # A finished model is loaded only to see that it hasn't changed, which can wait.
    done = {job.label for job in ordered if job.folder and is_done(job.folder)}
    ordered.sort(key=lambda job: job.label in done)
    if done and not quiet:
        are = "is" if len(done) == 1 else "are"
        print(f"{len(done):,} of {counted(len(ordered), 'model')} {are} finished, and checked last", file=sys.stderr)
    return ordered, done


def _print_failed(failed: Sequence[str], count: int, verb: str) -> int:
    """Print which of the models failed, for reasons that are printed already; return the exit code, 0 if none failed."""
    if not failed:
        return 0
    shown = ", ".join(failed[:10]) + (" ..." if len(failed) > 10 else "")
    found = f"{len(failed)} of {counted(count, 'model')} {verb}, for the reasons above: {shown_lines(shown)}"
    print(f"syntagm: {found}", file=sys.stderr)
    return 2


def _here(
    asked: "Evaluation", display: "_evaluation.Display", finished: Set[str]
) -> "Iterator[tuple[Job, Run | Exception]]":
    """Evaluate the models one by one in this process. Yield each when it is finished or has failed."""
    from syntagm.suites import SuiteFiles

    if isinstance(asked.suites, SuiteFiles):
        asked.suites.hold()
    asked = _evaluation.after_pilots_here(asked, display)
    before: Run | None = None
    for number, job in enumerate(asked.jobs, 1):
        if not display.quiet:
            print(f"{job.label} ({number} of {len(asked.jobs)}): {job.name}", file=sys.stderr)
        try:
            checked = min(len(finished), len(asked.jobs) - number)
            following = len(asked.jobs) - number - checked, checked
            before = _evaluation.carry_out_here(asked, job, display, following, before)
            yield job, before
        except (SyntagmError, OSError) as error:
            yield job, error


def _mostly_undefined(runs: "Sequence[Run]") -> bool:
    """Report each run of which more than half of the results are undefined; tell if there is one."""
    reported = False
    # The ledger has the reasons, so the results of most runs need not be read for this.
    for run in (run for run in runs if run.undefined):
        values = run.results()["value"]
        if (undefined := int(values.is_nan().sum())) > len(values) / 2:
            reported = True
            found = f"{undefined:,} of {len(values):,} results are undefined"
            print(f"syntagm: {shown_lines(run.model)}: {found}; the reasons are above", file=sys.stderr)
    return reported


def _show(runs: "Sequence[Run]", page: Path | None, models: int, quiet: bool) -> None:
    """Write the report, if there is to be one, and print the results."""
    from syntagm.cli._screen import show_run, show_runs
    from syntagm.runs import judging
    from syntagm.views import coverage

    if page:
        from syntagm.report import report

        try:
            report(runs, page)
        except UsageError as error:
            # Too many models for a page. The numbers are printed in any case.
            print(f"syntagm: {shown_lines(str(error))}", file=sys.stderr)
            page = None
    if models == 1:
        show_run(runs[0], page)
    else:
        show_runs(runs, page)
    for note in judging.unscored(runs):
        print(shown_lines(f"note: {note}"), file=sys.stderr)
    if remarks := coverage.remarks(runs):
        shown = remarks[:5] + ([f"and {len(remarks) - 5} more: syntagm table coverage"] if len(remarks) > 5 else [])
        print(*(shown_lines(f"note: {remark}") for remark in shown), sep="\n", file=sys.stderr)
    for found in coverage.unknown(runs):
        if found.compared or not quiet:
            print(shown_lines(f"{'warning' if found.compared else 'note'}: {found.in_full}"), file=sys.stderr)
