"""The options, plan and progress of a paper's controlled experiment."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from syntagm.cli import _evaluation
from syntagm.cli._lines import Lines
from syntagm.cli._saving import write
from syntagm.core import UsageError, counted, utf8
from syntagm.papers import hyperparameters
from syntagm.views import shown_duration

if TYPE_CHECKING:
    from syntagm.papers import Design, Experiment
    from syntagm.stats import Planned


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of an experiment."""
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
    arguments(parser)
    defaults = vars(parser.parse_args([]))
    return [name for name, value in defaults.items() if getattr(options, name) != value]


def run(design: "Design", experiment: "Experiment", paper: str, only_plan: bool) -> int:
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
    changes = dict(pair("--set", text) for text in options.set)
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
    sizes = [pair("--sizes", size) for size in text.split(",")]
    if len(dict(sizes)) < len(sizes):
        raise UsageError("--sizes", repr(text), "different names")
    return sizes


def pair(option: str, text: str) -> tuple[str, str]:
    """Split NAME=VALUE.

    >>> pair("--set", "lstm.hidden=64")
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
    from syntagm.core import whole

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
