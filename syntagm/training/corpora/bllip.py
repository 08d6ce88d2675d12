"""The BLLIP 1987-89 WSJ Corpus (LDC2000T43) as distributed by the LDC, and the subsets used by Hu et al. 2020.

    FOLDER/1987/w7_001/...   FOLDER/1988/w8_001/...   FOLDER/1989/w9_010/...

Each section is a folder of tree files, read in the order of their names. Section numbers and sentence counts are those of
Hu et al. 2020. XS, SM, MD and LG are nested sets; XS, SM and MD have the same number of sections from each year. The
corpus may not be redistributed; it is available from the LDC.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from syntagm.core import InputError, UsageError
from syntagm.training.corpora import trees
from syntagm.training.corpora.trees import Tree

# Year -> section numbers.
DEV: Mapping[int, tuple[int, ...]] = {1987: (1,), 1988: (1,), 1989: (10,)}
TEST: Mapping[int, tuple[int, ...]] = {1987: (2,), 1988: (2,), 1989: (11,)}
XS: Mapping[int, tuple[int, ...]] = {1987: (71, 122), 1988: (54, 107), 1989: (28, 37)}
SM: Mapping[int, tuple[int, ...]] = {
    1987: (35, 43, 48, 54, 61, 71, 77, 81, 96, 122),
    1988: (24, 54, 55, 59, 69, 73, 76, 79, 90, 107),
    1989: (12, 13, 15, 18, 21, 22, 28, 37, 38, 39),
}
MD: Mapping[int, tuple[int, ...]] = {
    1987: (
        5, 10, 18, 21, 22, 26, 32, 35, 43, 47, 48, 49, 51, 54, 55, 56, 57, 61, 62, 65, 71, 77, 79, 81, 90, 96, 100, 105, 122, 125,
    ),
    1988: (
        12, 13, 14, 17, 23, 24, 33, 39, 40, 47, 48, 54, 55, 59, 69, 72, 73, 76, 78, 79, 83, 84, 88, 89, 90, 93, 94, 96, 102, 107,
    ),
    1989: tuple(range(12, 42)),
}  # fmt: skip
# Only the first sentences of each section of these sets are used.
FIRST = {"dev": 500, "test": 1000}
SETS: Mapping[str, Mapping[int, tuple[int, ...]] | None] = {
    "xs": XS, "sm": SM, "md": MD, "lg": None, "dev": DEV, "test": TEST,
}  # fmt: skip


def read(folder: str | Path, name: str) -> Iterator[Tree]:
    """Read the trees of a set, year by year and section by section."""
    return (tree for _, tree in numbered(folder, name))


def numbered(folder: str | Path, name: str) -> Iterator[tuple[int, Tree]]:
    """Yield the trees of a set, each with the number of its section, from 0; for the errors see `read`."""
    for number, section in enumerate(sections(folder, name)):
        count = 0
        for tree in islice(_section(section), FIRST.get(name)):
            count += 1
            yield number, tree
        if count < FIRST.get(name, 1):
            raise InputError(
                str(section), f"{count:,} trees", f"at least {FIRST.get(name, 1):,}", "Check that the copy is complete."
            )


def sections(folder: str | Path, name: str) -> list[Path]:
    """List the section folders of a set, ordered by year and number; for the errors see `read`."""
    if name not in SETS:
        raise UsageError("BLLIP set", repr(name), "one of " + ", ".join(SETS))
    numbers_by_year = SETS[name]
    folders = []
    for year in DEV:
        numbers = _all_but_held_out(Path(folder), year) if numbers_by_year is None else numbers_by_year[year]
        folders += [_path(Path(folder), year, number) for number in numbers]
    for section in folders:
        if not section.is_dir():
            cure = "The folder should hold the corpus as distributed by the LDC (LDC2000T43)."
            raise InputError(str(section), "no such folder", "a section of BLLIP", cure)
    return folders


def _path(folder: Path, year: int, number: int) -> Path:
    return folder / str(year) / f"w{year % 10}_{number:03d}"


def _all_but_held_out(folder: Path, year: int) -> list[int]:
    folders = (folder / str(year)).glob(f"w{year % 10}_[0-9][0-9][0-9]")
    numbers = {int(section.name[-3:]) for section in folders} - {*DEV[year], *TEST[year]}
    if not numbers:
        raise InputError(str(folder / str(year)), "no sections", f"folders w{year % 10}_001, w{year % 10}_002 ...")
    return sorted(numbers)


def files(folder: str | Path, name: str) -> list[Path]:
    """List all files of a set's sections in reading order; `read` uses only the first trees of `dev` and `test`."""
    return [file for section in sections(folder, name) for file in _files(section)]


def _section(section: Path) -> Iterator[Tree]:
    for file in _files(section):
        yield from trees.read(file)


def _files(section: Path) -> list[Path]:
    # Sorted, because the order of a folder's entries depends on the file system.
    return sorted(path for path in section.iterdir() if not path.name.startswith("."))
