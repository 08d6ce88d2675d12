"""Make the tables and figures of a paper: of any model, of runs, or of its raw data; or repeat its experiment.

    syntagm reproduce marvin2018 --model demo -o out
    syntagm reproduce marvin2018 --model gpt2 -o out -n 500 --style published
    syntagm reproduce marvin2018 --model gpt2 -o out --suite LM_syneval/*.pickle --allow-pickle
    syntagm reproduce newman2021 --model gpt2 -o out -n 100
    syntagm reproduce newman2021 --from-run runs/gpt2_fill runs/bert_fill -o out
    syntagm reproduce warstadt2020 --from-run runs/s runs/m runs/l -o out --set words=1e6,5e6,14e6
    syntagm reproduce hu2020 --from-run runs/gpt2 runs/lstm -o out
    syntagm reproduce hu2020 --from-raw syntactic-generalization/data/raw -o out --set suites=33

--model runs the paper's suites into DIR/run, as `syntagm run` (or `syntagm fill`) does: stop it, and the same command line
continues. --from-run takes runs that are there, --from-raw what the authors published. Each table is written as DIR/NAME.csv,
.md and .tex and printed, published numbers beside ours; each figure as DIR/NAME.svg, .png, .pdf and .vl.json, its numbers as
DIR/NAME.csv. Exit code 1: a run is not finished.

    syntagm reproduce hu2020 --corpus train.txt --valid valid.txt --test test.txt -o out --plan
    syntagm reproduce hu2020 --corpus train.txt --valid valid.txt --test test.txt -o out --families ngram,lstm --seeds 1

Trains models of several families on nested parts of the corpus, scores them on the suites, and measures their perplexity; the
table of results is DIR/results.csv, figures stand beside it. It says what it will do and for how long before it begins. Stop
it, or kill it: the same command line continues. Families, sizes and seeds can be added later.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm import registry
from syntagm.cli import _experiment
from syntagm.cli._files import add_force
from syntagm.cli._made import write
from syntagm.errors import UsageError
from syntagm.papers import paper as papers
from syntagm.papers.paper import Paper

if TYPE_CHECKING:
    from syntagm.papers.paper import Outputs
    from syntagm.runs.store import Run

# The option that asks for it -> whether a paper offers it, and what to say of a paper that doesn't.
WAYS: dict[str, tuple[Callable[[Paper], object], str]] = {
    "--model": (lambda paper: paper.of_runs, "makes nothing of runs"),
    "--from-run": (lambda paper: paper.of_runs, "makes nothing of runs"),
    "--from-raw": (lambda paper: paper.from_raw, "has no raw data that can be read"),
    "--corpus": (lambda paper: paper.experiment, "trains no models"),
}
# What only means something where a model is run.
_OF_MODEL = ("suite", "n", "style")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("paper", metavar="PAPER", help="one of " + ", ".join(registry.names("papers")))
    add("--model", metavar="MODEL", help="as in `syntagm run`")
    add("-o", "--output", metavar="DIR", required=True, type=Path, help="where everything goes")
    add("--from-run", metavar="DIR", nargs="+", action="extend", help="of these runs; nothing is computed with a model")
    add("--from-raw", metavar="DIR", type=Path, help="of the raw data that the authors published")
    add("--suite", metavar="SUITE", nargs="+", action="extend", help="these suites instead of the bundled ones")
    add("-n", metavar="N", help="draw N items of each suite")
    add("--style", choices=["natural", "published"], help="capital and full stop, or lower case without punctuation")
    add("--allow-pickle", action="store_true", help="unpickle weights, which can run any code; and read pickled suites")
    add("--trust-remote-code", action="store_true", help="run code that comes with the model")
    add("--no-cache", action="store_true", help="keep no answers across runs, and use none")
    add(
        "--set",
        metavar="NAME=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="choices of an analysis (suites=33), or hyperparameters (lstm.hidden=64 ...)",
    )
    add_force(parser)
    _experiment.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Make what the options ask for, if the paper has it."""
    paper = papers.find(options.paper)
    way = _way(options, paper)
    if way == "--corpus" and paper.experiment:
        _refuse(options, _OF_MODEL[1:], way)
        return _experiment.run(options, paper.experiment, paper.suites)
    _experiment.refuse(options, way)
    if way != "--model":
        _refuse(options, _OF_MODEL, way)
    runs = [] if way == "--from-raw" else _runs(options, paper)
    offered = paper.of_runs if runs else paper.from_raw
    assert offered, "a way that the paper doesn't offer is refused"
    made = offered(runs or options.from_raw, **_choices(offered, options.set))
    write(made, options.output, options.force)
    for one in runs:
        print(f"run: {one.place}" + ("" if one.done else ", not finished: items without results are left out"))
    return 0 if all(one.done for one in runs) else 1


def _way(options: argparse.Namespace, paper: Paper) -> str:
    asked = [way for way in WAYS if getattr(options, way[2:].replace("-", "_"))]
    offered = [way for way, (offer, _) in WAYS.items() if offer(paper)]
    if len(asked) != 1:
        found = " and ".join(asked) or "none of them"
        raise UsageError(f"reproduce {options.paper}", found, "one of " + ", ".join(offered))
    if asked[0] not in offered:
        raise UsageError(asked[0], f"{options.paper} {WAYS[asked[0]][1]}", "one of " + ", ".join(offered))
    return asked[0]


def _refuse(options: argparse.Namespace, names: Sequence[str], way: str) -> None:
    if given := [name for name in names if getattr(options, name)]:
        option = f"-{given[0]}" if len(given[0]) == 1 else f"--{given[0]}"
        raise UsageError(option, f"given with {way}", "one or the other", "It is about suites that a model is run on.")


def _runs(options: argparse.Namespace, paper: Paper) -> "list[Run]":
    from syntagm.runs.store import open_run

    if options.from_run:
        return [open_run(place) for place in options.from_run]
    from syntagm.cli._recorded import filled, recorded, suites

    files, place = suites(options, options.suite or paper.suites), options.output / "run"
    if gaps := paper.gaps:
        return [filled(options, files, place, gaps.words, gaps.top, gaps.bottom)]
    return [recorded(options, files, place)]


def _choices(offered: "Callable[..., Outputs]", pairs: Sequence[str]) -> dict[str, str]:
    """The choices that the user makes, those that the analysis has."""
    chosen = dict(_experiment.pair("--set", pair) for pair in pairs)
    known = papers.choices(offered)
    if odd := [name for name in chosen if name not in known]:
        raise UsageError("--set", f"no choice {odd[0]!r}", "one of " + ", ".join(known) if known else "none")
    return chosen
