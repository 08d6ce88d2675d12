"""Renew the seal of a model folder after an intended change.

    syntagm seal models/lstm

Folders that `syntagm train` writes contain seal.json, a file with the hashes of their files. A
folder is refused if a file differs from its hash, because it is damaged or was edited. This
command recomputes the hashes. The seal, and the records of runs with the model, then show
when the seal was renewed and which files had changed.
"""

import argparse
from pathlib import Path

from syntagm.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="a model folder")


def run(options: argparse.Namespace) -> int:
    """Renew the seal, and print the files that had changed."""
    from syntagm.io import seal

    folder: Path = options.folder
    if not (folder / "training.json").is_file() and not (folder / "config.json").is_file():
        raise UsageError(str(folder), "not a model folder", "a folder with training.json or config.json")
    changed = seal.renew(folder)
    for name in changed:
        print(f"changed: {name}")
    print(f"{folder}: sealed" if changed else f"{folder}: nothing has changed")
    return 0
