"""Make the tables of a paper for any model, or repeat its experiment.

    syntagm reproduce marvin2018 --model demo -o out
    syntagm reproduce marvin2018 --model gpt2 -o out -n 500 --style published
    syntagm reproduce marvin2018 --model gpt2 -o out --suite LM_syneval/*.pickle --allow-pickle
    syntagm reproduce marvin2018 --from-run runs/gpt2 -o out

Runs the paper's suites into DIR/run, as `syntagm run` does: stop it, and the same command line continues. Then writes each
table as DIR/NAME.csv and DIR/NAME.md, and prints it, the published figures beside it. Exit code 1: the run is not finished.

    syntagm reproduce hu2020 --corpus train.txt --valid valid.txt --test test.txt -o out --plan
    syntagm reproduce hu2020 --corpus train.txt --valid valid.txt --test test.txt -o out --families ngram,lstm --seeds 1

Trains models of several families on nested parts of the corpus, scores them on the suites, and measures their perplexity; the
table of results is DIR/results.csv. It says what it will do and for how long before it begins. Stop it, or kill it: the same
command line continues. Families, sizes and seeds can be added later.
"""

import argparse
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from syntagm import folder
from syntagm.cli import _experiment
from syntagm.errors import UsageError

if TYPE_CHECKING:
    from syntagm.run import Run

_OF_TABLES = ("model", "from-run", "n", "style")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("paper", metavar="PAPER", help="one of " + ", ".join(folder.names("papers")))
    add("--model", metavar="MODEL", help="as in `syntagm run`")
    add("-o", "--output", metavar="DIR", required=True, type=Path, help="where tables and run go")
    add("--from-run", metavar="DIR", help="make the tables from this run; nothing is computed")
    add("--suite", metavar="SUITE", nargs="+", action="extend", help="these suites instead of the bundled ones")
    add("-n", metavar="N", help="draw N items of each suite")
    add("--style", choices=["natural", "published"], help="capital and full stop, or lower case without punctuation")
    add("--allow-pickle", action="store_true", help="unpickle weights, which can run any code; and read pickled suites")
    add("--trust-remote-code", action="store_true", help="run code that comes with the model")
    add("--no-cache", action="store_true", help="keep no answers across runs, and use none")
    _experiment.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Make tables or carry an experiment out, whichever the options ask for and the paper has."""
    paper = folder.find("papers", options.paper)
    if options.corpus:
        if not hasattr(paper, "experiment"):
            raise UsageError("--corpus", f"{options.paper} trains no models", "--model or --from-run")
        _experiment.refuse(options, _OF_TABLES)
        return _experiment.run(options, paper)
    if not hasattr(paper, "tables"):
        raise UsageError("--corpus", f"no text to train on for {options.paper}", "--corpus, --valid and --test")
    return _tables(options, paper)


def _tables(options: argparse.Namespace, paper: ModuleType) -> int:
    """Run the suites or open the run, write the tables, print them."""
    from syntagm import durable
    from syntagm.run import open_run

    if bool(options.model) == bool(options.from_run):
        found = "both" if options.model else "neither"
        raise UsageError("--model and --from-run", found, "one of them", "A model is run; of a run tables are made.")
    done = open_run(options.from_run) if options.from_run else _computed(options, paper.SUITES)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, table in paper.tables(done).items():
        durable.write(options.output / f"{name}.csv", table.csv().encode())
        durable.write(options.output / f"{name}.md", table.markdown().encode())
        print(table.markdown())
    print(f"run: {done.folder}")
    return 0 if done.done else 1


def _computed(options: argparse.Namespace, suites: tuple[str, ...]) -> "Run":
    from syntagm import recording
    from syntagm.cache import AnswerCache, default_path
    from syntagm.cli import _model
    from syntagm.cli._screen import Screen
    from syntagm.formats._many import SuiteFiles
    from syntagm.formats._read import expand

    named = [_drawn(suite, options) for suite in options.suite or suites]
    files = SuiteFiles(expand(named, allow_pickle=options.allow_pickle))
    place = options.output / "run"
    # Refused before the model is loaded, if the folder can't be had.
    with recording.claim(place):
        pass
    model = _model.load(options)
    command = shlex.join(["syntagm", *sys.argv[1:]])
    with Screen() as screen:
        cache = None if options.no_cache else AnswerCache(default_path(), screen.warned)
        return recording.run(model, files, place, cache=cache, progress=screen, command=command)


def _drawn(suite: str, options: argparse.Namespace) -> str:
    """The suite with the options that its reader shall have.

    >>> _drawn("marvin2018", argparse.Namespace(n="20", style="published"))
    'marvin2018?n=20&style=published'
    """
    from syntagm.formats._read import options_of

    asked = [f"{name}={value}" for name in ("n", "style") if (value := getattr(options, name)) is not None]
    return suite + (("&" if options_of(suite)[1] else "?") + "&".join(asked) if asked else "")
