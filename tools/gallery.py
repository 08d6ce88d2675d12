"""Generator of the figures in the gallery: it runs the commands of the page, each of which writes one.

    python -m tools.gallery

Models and runs stay in `.pages/gallery`, and are used again; the figures are in docs/gallery.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "gallery.md"
FIGURES = ROOT / "docs" / "gallery"
WORK = ROOT / ".pages" / "gallery"
_COMMAND = re.compile(r"^ {4}syntagm (.*)$", re.MULTILINE)


def commands(text: str) -> list[list[str]]:
    """Return the commands of the page, as the words after `syntagm`."""
    return [shlex.split(line) for line in _COMMAND.findall(text)]


def figure(words: list[str]) -> str | None:
    """Return the name of the figure that a command writes, or None if it writes something else."""
    return words[words.index("-o") + 1] if words[0] == "figure" else None


def main() -> None:
    """Run the commands, and copy the figures."""
    argparse.ArgumentParser(
        prog="python -m tools.gallery", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    FIGURES.mkdir(exist_ok=True)
    for words in commands(PAGE.read_text(encoding="utf-8")):
        name = figure(words)
        more = ["--format", "svg"] if name else ["--no-report", "--cache", "cache.sqlite"] if words[0] == "run" else []
        subprocess.run(
            [sys.executable, "-m", "syntagm", *words, *more], cwd=WORK, check=True, stdout=subprocess.DEVNULL
        )
        if name:
            shutil.copy(WORK / f"{name}.svg", FIGURES)
            print(FIGURES / f"{name}.svg", flush=True)


if __name__ == "__main__":
    main()
