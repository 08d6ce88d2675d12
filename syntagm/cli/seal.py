"""Renew the seal of a model folder after an intended change.

    syntagm seal models/lstm

Folders that `syntagm train` writes hold seal.json: the hashes of their files. A folder whose files are not those of its seal is
refused, whether a bit has flipped or somebody has edited a file. This command seals the files as they are now. The seal says
when it was renewed and which files had changed, and so do the records of runs with the model.
"""

import argparse
from pathlib import Path

from syntagm.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="a model folder")


def run(options: argparse.Namespace) -> int:
    """Seal the folder; say what has changed."""
    from syntagm.io import seal

    folder: Path = options.folder
    if not (folder / "training.json").is_file() and not (folder / "config.json").is_file():
        raise UsageError(str(folder), "no model folder", "a folder with training.json or config.json")
    changed = seal.renew(folder)
    for name in changed:
        print(f"changed: {name}")
    print(f"{folder}: sealed" if changed else f"{folder}: nothing has changed")
    return 0
