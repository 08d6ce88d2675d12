"""Read what a command line or a script names: any number of files, folders, patterns and bundled collections."""

from collections.abc import Iterator, Sequence

from syntagm.materials.finding import expand
from syntagm.materials.reading import read
from syntagm.suite import Suite


class SuiteFiles:
    """The suites of files, read anew on each pass, one file in memory at a time."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = files

    def __iter__(self) -> Iterator[Suite]:
        for file in self.files:
            yield from read(file)


def read_all(*names: str) -> list[Suite]:
    """The suites of files, folders, patterns and bundled collections, all in memory.

    Raises:
        UsageError: a name means nothing.
        InputError: a file is not what its format demands.

    >>> [suite.name for suite in read_all("hu2020/mvrr", "hu2020/number_prep")]
    ['mvrr', 'number_prep']
    """
    return list(SuiteFiles(expand(names)))
