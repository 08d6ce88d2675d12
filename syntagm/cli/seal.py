"""Renew the seal of a model, a run or an experiment after an intended change.

    syntagm seal models/lstm
    syntagm seal runs/demo

What Syntagm reads again is sealed: seal.json has the hashes of a model's files, and run.json,
experiment.json and perplexity/*.json end with a hash of their own content. A file that
differs from its hash is refused, because it is damaged or was edited. This command computes
the hashes again. The record then shows when its seal was renewed and which files had changed;
so do the records of runs with a model whose seal was renewed. The results of a run are
written again with the new record. A record that contradicts the tables of its run, such as
one with another name of a suite, is refused. `syntagm integrity` lists the files that differ.
"""

import argparse
from pathlib import Path
from pkgutil import resolve_name

from syntagm.core import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="a model folder, a run directory or an experiment")


def run(options: argparse.Namespace) -> int:
    from syntagm.core import FOLDERS, seal

    folder: Path = options.folder
    renew = [resolve_name(kind.renew) for kind in FOLDERS if kind.renew and kind.fits(folder)]
    if not renew and (folder / "config.json").is_file():
        # A model of another program.
        renew = [seal.renew]
    if not renew:
        expected = "a folder with training.json, config.json, run.json or experiment.json"
        raise UsageError(str(folder), "no model, run or experiment", expected)
    changed = [name for function in renew for name in function(folder)]
    for name in changed:
        print(f"changed: {name}")
    print(f"{folder}: sealed" if changed else f"{folder}: nothing has changed")
    return 0
