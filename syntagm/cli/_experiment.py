"""The controlled experiment of a paper on a command line: its options, its plan, its progress."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from syntagm.cli._lines import Lines
from syntagm.cli._made import write
from syntagm.errors import UsageError
from syntagm.papers.experiment import hyperparameters

if TYPE_CHECKING:
    from syntagm.papers.experiment.design import Design
    from syntagm.papers.paper import Experiment


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of an experiment."""
    group = parser.add_argument_group("train models on a corpus and compare them (hu2020)")
    add = group.add_argument
    add("--corpus", metavar="FILE", nargs="+", help="training text: train models on parts of it")
    add("--valid", metavar="FILE", nargs="+", help="held-out text, for schedules and early stopping")
    add("--test", metavar="FILE", nargs="+", help="the text whose perplexity is compared")
    add("--families", metavar="LIST", help=_families())
    add("--sizes", metavar="LIST", help="parts by name and words: xs=100000,sm=1000000 (default)")
    add("--seeds", metavar="LIST", help="1,2 (default)")
    add(
        "--scale",
        choices=sorted(hyperparameters.scales(), reverse=True),
        default="small",
        help="the models: an hour or two, or the paper's (small)",
    )
    add("--draw", metavar="SEED", type=int, default=1, help="of the parts (1)")
    add("--device", default="cpu", help="where to train and score: cpu, cuda, ... (cpu)")
    add("--threads", type=int, default=1, help="processor threads (1)")
    add("--plan", action="store_true", help="say what would be done and how long it would take, and stop")


def _families() -> str:
    """Which families there are, those of an experiment that names none first.

    >>> _families()
    'ngram,lstm,gpt2 (default), gpt2-words'
    """
    names, default = [family.name for family in hyperparameters.taking_part()], hyperparameters.default()
    return ", ".join([f"{','.join(default)} (default)", *(name for name in names if name not in default)])


def refuse(options: argparse.Namespace, way: str) -> None:
    """Refuse options of an experiment where none is asked for: a plan, say, after which all is done all the same.

    Raises:
        UsageError: one has another value than without it.
    """
    parser = argparse.ArgumentParser(add_help=False)
    arguments(parser)
    defaults = vars(parser.parse_args([]))
    if given := [name for name, value in defaults.items() if getattr(options, name) != value]:
        raise UsageError(
            f"--{given[0]}", f"given with {way}", "one or the other", "It is about training on a --corpus."
        )


def run(options: argparse.Namespace, experiment: "Experiment", suites: Sequence[str]) -> int:
    """Show the plan, carry the experiment out, write its figures and tables, print its results."""
    import torch

    if options.threads < 1:
        raise UsageError("--threads", str(options.threads), "at least 1")
    torch.set_num_threads(options.threads)
    design = _design(options, experiment, suites)
    _show_plan(options.paper, design)
    if options.plan:
        return 0
    experiment.carry_out(design, Lines())
    # The folder is ours: experiment.json says so.
    write(experiment.outputs(design.folder), design.folder, force=True)
    print((design.folder / "results.md").read_text(encoding="utf-8"))
    print(f"results: {design.folder / 'results.csv'}")
    return 0


def _design(options: argparse.Namespace, experiment: "Experiment", suites: Sequence[str]) -> "Design":
    from syntagm.models.device import device
    from syntagm.papers.experiment.design import Design

    for name in ("valid", "test"):
        if not getattr(options, name):
            raise UsageError(f"--{name}", "nothing", "a text file", "The text must be none that is trained on.")
    families = _list(options.families, hyperparameters.default(), "--families")
    changes = dict(pair("--set", text) for text in options.set)
    sizes = (
        {name: _number("--sizes", size) for name, size in _pairs(options.sizes)} if options.sizes else experiment.sizes
    )
    return Design(
        options.output,
        options.corpus,
        options.valid,
        options.test,
        sizes,
        [_number("--seeds", seed) for seed in _list(options.seeds, map(str, experiment.seeds), "--seeds")],
        hyperparameters.options(options.scale, families, changes),
        options.suite or suites,
        options.draw,
        str(device(options.device)),
    )


def _list(given: str | None, default: Any, option: str) -> list[str]:
    """A list with commas; each entry once.

    >>> _list("ngram,lstm", [], "--families"), _list(None, ["gpt2"], "--families")
    (['ngram', 'lstm'], ['gpt2'])
    """
    found = list(default) if given is None else [name.strip() for name in given.split(",")]
    if not all(found) or len(set(found)) < len(found):
        raise UsageError(option, repr(given), "names with commas between them, each once")
    return found


def _pairs(given: str) -> list[tuple[str, str]]:
    found = [pair("--sizes", text) for text in given.split(",")]
    if len(dict(found)) < len(found):
        raise UsageError("--sizes", repr(given), "each name once")
    return found


def pair(option: str, text: str) -> tuple[str, str]:
    """A name and its value.

    >>> pair("--set", "lstm.hidden=64")
    ('lstm.hidden', '64')
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise UsageError(option, repr(text), "NAME=VALUE")
    return name.strip(), value.strip()


def _number(option: str, text: str) -> int:
    """A whole number above 0.

    >>> _number("--sizes", "1_000_000")
    1000000
    """
    from syntagm.io.number import whole

    return whole(option, text.replace("_", ""))


def _show_plan(paper: str, design: "Design") -> None:
    """What will be done, what is done already, and how long the rest will take."""
    from syntagm.papers.experiment import duration, measured, parts, record

    # A plan for another experiment than the folder's would call its models done.
    record.check(design)
    words = parts.words(design)
    cells, speed = design.cells(), duration.operations(design.device)
    print(f"{paper} in {design.folder}: {len(cells)} models")
    for name, files in (("corpus", design.corpus), ("valid", design.valid), ("test", design.test)):
        print(f"  {name:10}{words[name]:>12,} words  {', '.join(map(str, files))}")
    sizes = ", ".join(f"{name} {size:,} words" for name, size in design.sizes.items())
    print(f"  {'parts':10}{sizes}; drawn with seed {design.draw}")
    for family, options in design.options.items():
        print(f"  {family:10}" + " ".join(f"{name}={value}" for name, value in options.items()))
    total = 0.0
    for cell in cells:
        total += (left := duration.remaining(design, cell, words, speed))
        print(f"  {cell.name:20} {measured.state(design, cell):8} {_shown(left):>8}")
    print(f"about {_shown(total)} at most, one process; {duration.basis(speed)}", flush=True)


def _shown(seconds: float) -> str:
    """A time for reading.

    >>> _shown(0), _shown(42), _shown(600), _shown(9000)
    ('-', '42 s', '10 min', '2.5 h')
    """
    if not seconds:
        return "-"
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )
