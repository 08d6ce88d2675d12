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

If you stop the command with Ctrl-C, or kill it, run it again to resume. It begins with the
models that are not finished; then it loads the finished ones, to see that they are the same.
After the end, running it again computes nothing, and shows the results.

Exit code 1: more than half of the results of a run are undefined; the reasons are printed.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.cli import _config, _evaluation
from syntagm.display import shown_lines
from syntagm.errors import SyntagmError, UsageError
from syntagm.io.number import counted

if TYPE_CHECKING:
    from syntagm.materials.suite_files import SuiteFiles
    from syntagm.runs.store import Run
    from syntagm.suite import Suite
    from syntagm.tasks.task import Task


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
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


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the models, write the report, and print the results."""
    from syntagm.cli._evaluation import limits, suites
    from syntagm.models import sweeps
    from syntagm.suite import Sampled

    written = arguments.models
    found = [(text, model) for text in written for model in sweeps.several(text)]
    arguments.models = [model for _, model in found]
    arguments.given = {model: text for text, model in found}
    # A pattern may match one folder today and two tomorrow: its runs always have folders of their own.
    arguments.alone = len(arguments.models) == 1 and arguments.models == written
    sample, folders, task = limits(arguments), _folders(arguments, found), _evaluation.predictions(arguments)
    if arguments.dry_run and arguments.stop_at is not None:
        cure = "The number of items is known after the pilot."
        raise UsageError("--stop-at", "--dry-run beside it", "one of them", cure)
    _evaluation.check(arguments, task)
    files = suites(arguments, arguments.suite)
    if arguments.dry_run:
        return _show_plan(arguments, task, Sampled(files, **sample), folders)
    if not arguments.alone:
        return _run_several(arguments, files, folders)
    [model] = arguments.models
    finished = _evaluation.evaluate(_with(arguments, model, arguments.name), files, arguments.output)
    _show([finished], arguments)
    return 1 if _mostly_undefined([finished]) else 0


def _planned(task: "Task[Any]", suites: "Iterable[Suite]") -> "Iterator[Suite]":
    """Yield the suites, and refuse those that planning a run would refuse whatever the model."""
    from syntagm.runs.engine import well_formed

    for suite in well_formed(suites):
        task.check(suite)
        yield suite


def _show_plan(
    arguments: argparse.Namespace, task: "Task[Any]", suites: "Iterable[Suite]", folders: Sequence[Path]
) -> int:
    """Print the models in the order of their evaluation, and what is scored; report models that would be refused."""
    from syntagm.cli._screen import size_of

    size, sentences = size_of(_planned(task, suites))
    if arguments.alone:
        [model] = arguments.models
        _evaluation.refuse_unable(model, arguments, task, suites)
        print(f"{next(iter(arguments.name), model)}: {size}")
        return 0
    (named, _), refused = _in_order(arguments, folders), list[str]()
    for number, (model, label, _) in enumerate(named, 1):
        try:
            _evaluation.refuse_unable(model, arguments, task, suites)
        except (SyntagmError, OSError) as error:
            refused.append(label)
            print(f"syntagm: {_config.blame(arguments, error, arguments.given[model], label)}", file=sys.stderr)
        else:
            print(f"{label} ({number} of {len(named)}): {model}")
    if left := len(named) - len(refused):
        print(f"{counted(left, 'model')}, each on {size}; {counted(left * sentences, 'sentence')} in all")
    return _print_failed(refused, len(named), "would fail")


def _folders(arguments: argparse.Namespace, found: Sequence[tuple[str, str]]) -> list[Path]:
    """Return the run directory of each model.

    Arguments:
        found: each name as given, with each of the models that it stands for.

    Raises:
        UsageError: the number of --name options differs from the number of models, two models have the same label, or
            several models are given and DIR is itself a run directory, or one is given and DIR has run directories in it.
    """
    from syntagm.io import atomic
    from syntagm.models import sweeps
    from syntagm.runs.files import has_run

    names, models, output = arguments.name, arguments.models, arguments.output
    if names and len(names) != len(models):
        count = f"{len(names)} for {counted(len(models), 'model')}"
        raise UsageError("--name", count, "one for each model, in order, or none")
    if arguments.alone:
        if not has_run(output) and (inside := [path for path in sorted(output.glob("*")) if has_run(path)]):
            cure = f"Choose another folder, such as {output / _folder_name((names or [sweeps.part(*found[0])])[0])}."
            raise UsageError(
                f"-o {output}", f"a folder of runs, such as {inside[0].name}", "a folder for one run", cure
            )
        return [output]
    if has_run(output):
        cure = "Choose another folder for several models: each gets a folder in it."
        raise UsageError(f"-o {output}", "the run directory of one model", "another folder", cure)
    if not names and (twice := _repeated(models)):
        raise UsageError("MODEL", f"{twice} given twice", "each model once", "A pattern or a range may include it.")
    labels = [_folder_name(name) for name in names or [sweeps.part(*pair) for pair in found]]
    given = [sweeps.part(text, text) for text in dict(found)]
    if not names and (_repeated(labels) or _repeated(given)):
        # a/best and b/best are told apart by their whole paths; so are a/step* and b/step*, whatever they match today.
        labels = [_folder_name(model) for model in models]
    if twice := _repeated(labels):
        raise UsageError("--name", f"two models with the label {twice}", "different labels", "Give each a --name.")
    return [atomic.inside(output, label) for label in labels]


def _repeated(names: Sequence[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _folder_name(label: str) -> str:
    """Return the name of the folder of a model with this label. A label is kept whole: its beginning may be a group.

    >>> _folder_name("GPT-2 (small)"), _folder_name("Pythia: 70m"), _folder_name("gpt2?bos=no")
    ('GPT-2-small', 'Pythia-70m', 'gpt2-bos-no')
    """
    return re.sub(r"[^\w.@+]+", "-", label).strip("-.") or "model"


def _run_several(arguments: argparse.Namespace, files: "SuiteFiles", folders: Sequence[Path]) -> int:
    """Evaluate the models; a model that fails is reported, and the others are still evaluated."""
    runs: dict[str, Run] = {}
    labels = _labels(arguments, folders)
    given = {label: arguments.given[model] for label, model in zip(labels, arguments.models, strict=True)}
    named, done = _in_order(arguments, folders)
    for label, result in (
        _with_workers(arguments, files, named, done) if arguments.executor else _here(arguments, files, named, done)
    ):
        if isinstance(result, Exception):
            print(f"syntagm: {_config.blame(arguments, result, given[label], label)}", file=sys.stderr)
        else:
            runs[label] = result
    # Tables and the report have the models in the given order.
    finished = [runs[label] for label in labels if label in runs]
    if finished:
        _show(finished, arguments)
    return _print_failed([label for label in labels if label not in runs], len(labels), "failed") or (
        1 if _mostly_undefined(finished) else 0
    )


def _labels(arguments: argparse.Namespace, folders: Sequence[Path]) -> list[str]:
    return arguments.name or [folder.name for folder in folders]


def _in_order(arguments: argparse.Namespace, folders: Sequence[Path]) -> tuple[list[tuple[str, str, Path]], set[str]]:
    """Return the models, with labels and folders, in the order of their evaluation, and the labels of finished ones."""
    from syntagm.models import sweeps
    from syntagm.runs.files import is_done

    named = list(zip(arguments.models, _labels(arguments, folders), folders, strict=True))
    if arguments.order != "given":
        places = sweeps.coarse(len(named)) if arguments.order == "coarse" else sweeps.largest(arguments.models)
        named = [named[place] for place in places]
    # A finished model is loaded only to see that it hasn't changed, which can wait.
    done = {label for _, label, folder in named if is_done(folder)}
    named.sort(key=lambda model: model[1] in done)
    if done and not arguments.quiet:
        are = "is" if len(done) == 1 else "are"
        print(f"{len(done):,} of {counted(len(named), 'model')} {are} finished, and checked last", file=sys.stderr)
    return named, done


def _print_failed(failed: Sequence[str], count: int, verb: str) -> int:
    """Print which of the models failed, for reasons that are printed already; return the exit code, 0 if none failed."""
    if not failed:
        return 0
    shown = ", ".join(failed[:10]) + (" ..." if len(failed) > 10 else "")
    found = f"{len(failed)} of {counted(count, 'model')} {verb}, for the reasons above: {shown_lines(shown)}"
    print(f"syntagm: {found}", file=sys.stderr)
    return 2


def _here(
    arguments: argparse.Namespace, files: "SuiteFiles", named: Sequence[tuple[str, str, Path]], finished: Set[str]
) -> "Iterator[tuple[str, Run | Exception]]":
    """Evaluate models, given with labels and folders, one by one in this process.

    Arguments:
        finished: the labels of the models that are finished already; they come last.
    """
    files.hold()
    sizes = _evaluation.sizes_here(arguments, files, named)
    before: Run | None = None
    for number, (model, label, folder) in enumerate(named, 1):
        if not arguments.quiet:
            print(f"{label} ({number} of {len(named)}): {model}", file=sys.stderr)
        try:
            checked = min(len(finished), len(named) - number)
            following = len(named) - number - checked, checked
            with_name = _with(arguments, model, [label])
            before = _evaluation.evaluate(with_name, files, folder, sizes, following, before)
            yield label, before
        except (SyntagmError, OSError) as error:
            yield label, error


def _with_workers(
    arguments: argparse.Namespace, files: "SuiteFiles", named: Sequence[tuple[str, str, Path]], finished: Set[str]
) -> "Iterator[tuple[str, Run | Exception]]":
    """Evaluate models, as for `_here`, with the workers of --executor."""
    from syntagm.runs.driver import Job

    jobs = [Job(*model) for model in named]
    task, output = _evaluation.predictions(arguments), arguments.output
    for job, result in _evaluation.with_workers(arguments, files, task, jobs, output, finished):
        yield job.label, result


def _mostly_undefined(runs: "Sequence[Run]") -> bool:
    """Report each run of which more than half of the results are undefined; tell if there is one."""
    short = []
    # The ledger has the reasons, so the results of most runs need not be read for this.
    for run in (run for run in runs if run.undefined):
        values = run.results()["value"]
        if (undefined := int(values.is_nan().sum())) > len(values) / 2:
            short.append(run)
            found = f"{undefined:,} of {len(values):,} results are undefined"
            print(f"syntagm: {shown_lines(run.model)}: {found}; the reasons are above", file=sys.stderr)
    return bool(short)


def _with(arguments: argparse.Namespace, model: str, name: Sequence[str]) -> argparse.Namespace:
    return argparse.Namespace(**vars(arguments) | {"model": model, "name": name})


def _show(runs: "Sequence[Run]", arguments: argparse.Namespace) -> None:
    """Write the report, and print the results."""
    from syntagm.cli._screen import show_run, show_runs

    page = None if arguments.no_report else arguments.output / "report.html"
    if page:
        from syntagm.report.page import report

        try:
            report(runs, page)
        except UsageError as error:
            # Too many models for a page. The numbers are printed in any case.
            print(f"syntagm: {shown_lines(str(error))}", file=sys.stderr)
            page = None
    if len(arguments.models) == 1:
        show_run(runs[0], page)
    else:
        show_runs(runs, page)
