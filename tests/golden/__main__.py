"""The record of numbers, before and after a change.

python -m tests.golden record OUT [--package DIR] [--quick]
python -m tests.golden compare OLD NEW [--only numbers,words,drawings]
python -m tests.golden run --old COMMIT [--quick]
python -m tests.golden digests OUT
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from .compare import compare
from .record import record

HERE = Path(__file__).resolve().parents[2]
DIGESTS = Path(__file__).with_name("digests.json")


def main() -> int:
    """Do what the command line says; 1 if something differs or a step failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__, formatter_class=_Formatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="record the numbers of a checkout")
    one.add_argument("out", type=Path, metavar="OUT")
    one.add_argument("--package", type=Path, default=HERE, help="the checkout (this one)")
    one.add_argument("--resume", action="store_true", help="go on with a record of the same checkout")
    two = commands.add_parser("compare", help="compare two records, or digests.json and a record")
    two.add_argument("old", type=Path, metavar="OLD")
    two.add_argument("new", type=Path, metavar="NEW")
    three = commands.add_parser("run", help="record a commit and this checkout, and compare them")
    three.add_argument("--old", required=True, metavar="COMMIT")
    three.add_argument("--out", type=Path, help="where the records go (a temporary folder, removed at the end)")
    four = commands.add_parser("digests", help="write digests.json from a record")
    four.add_argument("out", type=Path, metavar="OUT")
    for parser_of_one in (one, three):
        parser_of_one.add_argument("--quick", action="store_true", help="the quick steps only")
        parser_of_one.add_argument(
            "--shared", type=Path, default=HERE.parent / "shared", help="published data (../shared)"
        )
    for parser_of_one in (two, three):
        parser_of_one.add_argument("--only", default="", metavar="KINDS", help="some of numbers,words,drawings")
    options = parser.parse_args()
    if options.command == "record":
        return min(1, record(options.out, options.package, _there(options.shared), options.quick, options.resume))
    if options.command == "compare":
        return min(1, compare(options.old, options.new, _kinds(options)))
    if options.command == "run":
        return _run(options)
    return _write_digests(options.out)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    pass


def _there(folder: Path) -> Path | None:
    return folder if folder.is_dir() else None


def _kinds(options: argparse.Namespace) -> list[str]:
    return [one for one in options.only.split(",") if one]


def _run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        out, tree = options.out or Path(name) / "records", Path(name) / "old"
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), options.old], cwd=HERE, check=True)
        try:
            failed = record(out / "old", tree, _there(options.shared), options.quick)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=HERE, check=True)
        failed += record(out / "new", HERE, _there(options.shared), options.quick)
        return min(1, failed + compare(out / "old", out / "new", _kinds(options)))


def _write_digests(out: Path) -> int:
    """Only of steps that read no published data."""
    about = json.loads((out / "record.json").read_text())
    found = {name: about["digests"][name] for name in about["without_shared"]}
    text = json.dumps({"surroundings": about["surroundings"], "digests": found}, indent=1)
    DIGESTS.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
