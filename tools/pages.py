"""Generator of the results on the pages of papers: it runs the commands of a page, and copies their tables.

    python -m tools.pages                         # all pages
    python -m tools.pages warstadt2020 hu2020     # some pages
    python -m tools.pages --only seconds          # runs that take seconds only, which the slow tests compare
    python -m tools.pages --list                  # where each number comes from, without running anything

A comment above a block of code says that the block is a run, its name, and how long it takes on one core:

    <!-- run raw: seconds -->

        syntagm reproduce warstadt2020 --from-raw data/blimp -o raw

The commands run in `.pages/PAGE`, which is kept, so that models are not trained again. `data` is there the folder of
published data beside the checkout. Below a run, a generated part (`tools.blocks`) shows a table that the run wrote: its
name is that of the file, and what follows says which part of it:

    <!-- raw/table3: written by python -m tools.pages; columns model; score [low, high]; rows model = GPT-2; no notes -->
    <!-- end of raw/table3 -->

`score [low, high]` makes one column of three. Notes about columns that are not shown are omitted, and with `no notes
Signature` those that begin so. Other names are those of `PARTS`. `record of RUN` says when, with what and where the tables
were computed. Sentences that cite what a publication prints stand between `<!-- cited: SOURCE -->` and `<!-- /cited -->`.
"""

import argparse
import os
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from syntagm.papers import hyperparameters
from tools import blocks
from tools.blocks import Block

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "guide" / "papers"
WORK = ROOT / ".pages"
DATA = ROOT.parent / "shared" / "data"
SECONDS = "seconds"
RUN = re.compile(
    r"^<!-- run (?P<name>\w+): (?P<takes>[^\n]+) -->\n\n(?P<code>(?: {4}[^\n]*\n|\n(?= {4}))+)", re.MULTILINE
)
CITED = re.compile(r"^<!-- cited: (?P<source>[^>\n]+) -->\n.*?^<!-- /cited -->$", re.DOTALL | re.MULTILINE)
_RANGE = re.compile(r"(.+) \[(.+), (.+)\]")


@dataclass(frozen=True, slots=True)
class Run:
    """Commands of a page.

    Arguments:
        name: the name of the run.
        takes: how long it takes, "seconds" or longer.
        code: the commands.
        end: the place after them in the text.
    """

    name: str
    takes: str
    code: str
    end: int

    def carry_out(self, folder: Path) -> None:
        """Run the commands in a folder.

        Raises:
            CalledProcessError: a command failed.
        """
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / "data"
        if not link.is_symlink():
            link.symlink_to(DATA)
        shell(self.code, folder, check=True, stdout=subprocess.DEVNULL)


def shell(code: str, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run commands in a folder with this version of Syntagm, and with a cache of its own; options of `subprocess.run`."""
    script = f'python() {{ "{sys.executable}" "$@"; }}\nsyntagm() {{ python -m syntagm "$@"; }}\nset -euo pipefail\n'
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SYNTAGM_CACHE": str(folder.resolve() / "cache.sqlite")}
    return subprocess.run(["bash", "-c", script + code], cwd=folder, env=environment, text=True, **options)


def runs(text: str) -> list[Run]:
    """Return the runs of a page."""
    return [
        Run(place["name"], place["takes"], re.sub(r"^ {4}", "", place["code"], flags=re.MULTILINE), place.end())
        for place in RUN.finditer(text)
    ]


def run_of(block: Block, text: str) -> Run | None:
    """Return the run whose table a block shows, which is the last one above it; None for one of `PARTS`.

    Raises:
        ValueError: there is none above it.
    """
    if block.name in PARTS:
        return None
    above = [run for run in runs(text) if run.end <= block.start]
    if not above:
        raise ValueError(f"{block.name} is neither below a run nor one of {', '.join(PARTS)}")
    return above[-1]


def hyperparameters_of(scale: str) -> str:
    """Return the hyperparameters of each family at a scale, a list item each."""
    lines = []
    for family, scales in hyperparameters.SCALES.items():
        if scale in scales:
            texts = [f"`{name}={_text(value)}`" for name, value in scales[scale].items() if value != ""]
            default = "" if family in hyperparameters.DEFAULT else " (not among the default families)"
            lines.append(f"- **{family}**{default}: {', '.join(texts)}")
    return "\n".join(part for line in lines for part in blocks.wrapped(line, "  "))


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


PARTS: Mapping[str, Callable[[], str]] = {
    "hyperparameters, paper": lambda: hyperparameters_of("paper"),
    "hyperparameters, small": lambda: hyperparameters_of("small"),
}


def shown(markdown: str, how: str) -> str:
    """Return the part of a table that a page shows.

    Arguments:
        markdown: the table with its title and its notes, as `Table.markdown` writes it.
        how: "columns A; B [C, D]", "rows A = text", "no notes", or "no notes TEXT" for those that begin so, separated by "; ".

    Raises:
        ValueError: there is no such column or no such row.

    >>> table = "## T\\n\\n| a | b | c |\\n|---|---|---|\\n| x | 1 | 2 |\\n| y | 3 |  |\\n\\n- n\\n"
    >>> print(shown(table, "columns a; b [b, c]; rows a = x"))
    | a | b [b, c] |
    |---|---|
    | x | 1 [1, 2] |
    <BLANKLINE>
    - n
    """
    lines = markdown.splitlines()
    head, _, *rows = (
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("|")
    )
    notes = [line for line in lines if line.startswith("- ")]
    columns: list[str] = []
    for part in how.split("; ") if how else []:
        if part.startswith("no notes"):
            notes = [note for note in notes if not note.startswith("- " + part.removeprefix("no notes").lstrip())]
        elif part.startswith("rows "):
            name, _, wanted = part.removeprefix("rows ").partition(" = ")
            place = _place(name, head)
            rows = [row for row in rows if row[place] == wanted]
            if not rows:
                raise ValueError(f"no row with {name} = {wanted}")
        else:
            columns.append(part.removeprefix("columns "))
    chosen = [[_cell(column, head, row) for column in columns or head] for row in rows]
    table = [columns or head, ["---"] * len(columns or head), *chosen]
    text = ["|" + "|".join(row) + "|" if row[0] == "---" else f"| {' | '.join(row)} |" for row in table]
    hidden = [name for name in head if columns and not any(name in _names(column) for column in columns)]
    notes = [note for note in notes if not any(note.startswith(f"- {name}:") for name in hidden)]
    below = [part for note in notes for part in blocks.wrapped(note, "  ")]
    return "\n".join([*text, *([""] if below else []), *below])


def _place(name: str, head: Sequence[str]) -> int:
    if name not in head:
        raise ValueError(f"no column {name!r}; expected one of {', '.join(head)}")
    return head.index(name)


def _names(column: str) -> Sequence[str]:
    """Return the columns of a table that a column of the page shows."""
    return match.groups() if (match := _RANGE.fullmatch(column)) else (column,)


def _cell(column: str, head: Sequence[str], row: Sequence[str]) -> str:
    value, *limits = (row[_place(name, head)] for name in _names(column))
    return f"{value} [{', '.join(limits)}]" if all(limits) and limits else value


def content(block: Block, folder: Path) -> str:
    """Return the current content of a block.

    Arguments:
        folder: where the run of the block was carried out.

    Raises:
        ValueError: the run wrote no such table, or the table has no such part.
    """
    if block.name in PARTS:
        return PARTS[block.name]()
    if block.name.startswith("record of "):
        return record()
    file = folder / f"{block.name}.md"
    if not file.is_file():
        raise ValueError(f"{block.name}: the commands wrote no {file.name}")
    return shown(file.read_text(encoding="utf-8"), block.how)


def record(program: str = "tools.pages") -> str:
    """Say with what and where a program computed something just now."""
    commit, changed = (
        subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        for command in (["rev-parse", "--short=8", "HEAD"], ["status", "--porcelain", "syntagm"])
    )
    versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "scipy"))
    text = (
        f"Computed by `python -m {program}` on {datetime.now(UTC):%Y-%m-%d} at commit {commit}"
        f"{' with changes' if changed else ''}: {platform.machine()}, {os.cpu_count()} processors, "
        f"Python {platform.python_version()}, {versions}."
    )
    return "\n".join(blocks.wrapped(text))


def same(found: str, shown: str) -> bool:
    """Return whether two texts are the same, decimal fractions up to their last digit: sums differ between processors.

    >>> same("a 0.500", "a 0.501"), same("a 0.500", "a 0.502"), same("a 0.500", "b 0.500")
    (True, False, False)
    """
    number = re.compile(r"-?\d+\.\d+")
    pairs = zip(number.findall(found), number.findall(shown), strict=False)
    near = (abs(float(a) - float(b)) <= 1.1 * 10 ** -len(a.partition(".")[2]) for a, b in pairs)
    return number.sub("#", found) == number.sub("#", shown) and all(near)


def seconds() -> float:
    """The processor time of all finished commands."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def renew(page: Path, folder: Path, only: str = "") -> None:
    """Carry out the runs of a page, and write its blocks.

    Arguments:
        only: carry out only the runs that take this long, and leave the blocks of the others as they are.
    """
    for run in runs(page.read_text(encoding="utf-8")):
        if only in ("", run.takes):
            before = seconds()
            run.carry_out(folder)
            print(f"{page.name}: {run.name}, {seconds() - before:.0f} CPU-seconds", flush=True)
    # The page may have been edited in the meantime.
    text = page.read_text(encoding="utf-8")

    def write(block: Block) -> str:
        run = run_of(block, text)
        return content(block, folder) if run is None or only in ("", run.takes) else block.content

    page.write_text(blocks.renewed(text, "pages", write), encoding="utf-8")


def sources(page: Path) -> Iterator[str]:
    """Yield where the numbers of a page come from, a line each, in the order of the page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for block in blocks.find(text):
        if block.tool == "pages":
            run = run_of(block, text)
            found.append((block.start, f"{block.name}: {f'run {run.name}, {run.takes}' if run else 'tools.pages'}"))
    found += [(place.start(), f"cited: {place['source']}") for place in CITED.finditer(text)]
    yield from (f"{page.stem}: {line}" for _, line in sorted(found))


def main() -> None:
    """Renew the pages named on the command line, or all."""
    names = sorted(page.stem for page in PAGES.glob("*.md"))
    parser = argparse.ArgumentParser(
        prog="tools.pages", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="one of " + ", ".join(names) + " (default: all)")
    parser.add_argument(
        "--only", default="", metavar="TIME", help=f"runs that take so long only, for example {SECONDS}"
    )
    parser.add_argument("--list", action="store_true", help="list where each number comes from, and run nothing")
    options = parser.parse_args()
    for name in options.pages or names:
        if options.list:
            for line in sources(PAGES / f"{name}.md"):
                print(line)
            continue
        renew(PAGES / f"{name}.md", WORK / name, options.only)


if __name__ == "__main__":
    main()
