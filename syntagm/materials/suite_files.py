"""Read what a command line or a script names: any number of files, folders, patterns and bundled collections."""

from collections.abc import Iterator, Sequence

from syntagm.materials.finding import expand
from syntagm.materials.reading import read, with_options
from syntagm.suite import Suite


class SuiteFiles:
    """The suites of files, read anew on each pass, one file in memory at a time."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = files

    def __iter__(self) -> Iterator[Suite]:
        for file in self.files:
            yield from read(file)


def read_suites(*names: str, allow_pickle: bool = False) -> list[Suite]:
    """Read the suites of files, folders, patterns and bundled collections, all into memory.

    Arguments:
        names: each with options after a question mark, as in `pairs.csv?good=right&bad=wrong`.
        allow_pickle: read a suite that is a pickle, through a reader that runs nothing.

    Raises:
        UsageError: a name means nothing.
        InputError: a file is not what its format demands.

    >>> [suite.name for suite in read_suites("hu2020/mvrr", "hu2020/number_prep")]
    ['mvrr', 'number_prep']
    """
    return list(SuiteFiles(expand(names, allow_pickle=allow_pickle)))


def make(*names: str, n: int | None = None, seed: int | None = None, style: str = "") -> list[Suite]:
    """Make suites of templates or bundled collections.

    Arguments:
        n: how many items of each suite at most; as many as the template says unless given.
        seed: of what is drawn (1).
        style: `natural`, or `published`: lower case, no punctuation.

    Raises:
        UsageError: a name means nothing, or is no template.
        InputError: a template has errors.

    >>> [suite] = make("marvin2018/simple_agrmt", n=3)
    >>> len(suite.items)
    3
    """
    options = {"n": n, "seed": seed, "style": style or None}
    chosen = {name: str(value) for name, value in options.items() if value is not None}
    return list(SuiteFiles(expand([with_options(name, chosen) for name in names])))
