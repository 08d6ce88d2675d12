"""The files of a release: an sdist and a wheel, which is the same wheel from the tree and from the sdist.

python -m tools.package [DIR]      (dist)

Needs hatchling, which the extra `dev` installs, and npm for the browser code of others in the wheel.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# An index takes larger files, but whoever installs it pays for them. The demo checkpoint takes 8.8 MB.
MAX_WHEEL = 12_050_000


def main() -> int:
    """Build, compare, and print names and sizes; 1 if the two wheels differ, or the wheel is too large."""
    parser = argparse.ArgumentParser(prog="python -m tools.package", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "folder", metavar="DIR", nargs="?", type=Path, default=ROOT / "dist", help="where they go (dist)"
    )
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        built = build(ROOT, "sdist", Path(name) / "sdist"), build(ROOT, "wheel", Path(name) / "wheel")
        sdist, wheel = (Path(shutil.copy(path, folder)) for path in built)
        with tarfile.open(sdist) as parts:
            parts.extractall(Path(name) / "tree", filter="data")
        [tree] = (Path(name) / "tree").iterdir()
        different = differences(wheel, build(tree, "wheel", Path(name) / "again"))
    for path in (sdist, wheel):
        print(
            f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}"
        )
    if not base():
        print(
            "README on an index: without links and pictures, since `base` in pyproject.toml is empty (hatch_build.py)"
        )
    for entry in different:
        print(f"{entry}: not the same in the wheel from the sdist")
    if too_large := wheel.stat().st_size > MAX_WHEEL:
        print(f"{wheel.name}: larger than {MAX_WHEEL / 1e6:g} MB")
    return int(bool(different) or too_large)


def base() -> str:
    """Return the address of the files of this version on a forge; empty if there is none yet."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["base"])


def build(tree: Path, target: str, folder: Path) -> Path:
    """Build one file of a release from a tree into an empty folder, and return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=tree, check=True, stdout=sys.stderr)
    [path] = folder.iterdir()
    return path


def differences(one: Path, other: Path) -> list[str]:
    """Return the names of entries that two wheels don't share, byte for byte."""
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        names = {*first.namelist()} | {*second.namelist()}
        both = {*first.namelist()} & {*second.namelist()}
        return sorted(name for name in names if name not in both or first.read(name) != second.read(name))


if __name__ == "__main__":
    sys.exit(main())
