"""Reading and generating suites from any number of files, folders, patterns and bundled collections."""

from collections.abc import Iterator, Sequence

from syntagm.materials.finding import expand
from syntagm.materials.reading import read, with_options
from syntagm.suite import Suite


class SuiteFiles:
    """The suites of several files, which are read again on each pass, with one file in memory at a time."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = files

    def __iter__(self) -> Iterator[Suite]:
        for file in self.files:
            yield from read(file)


def read_suites(*names: str, allow_pickle: bool = False) -> list[Suite]:
    """Read all suites of files, folders, patterns, bundled collections and data sets of the hub into memory.

    Arguments:
        names: files, folders, patterns, collections or data sets of the hub (`hf:ORG/NAME`), with options after a
            question mark, as in `pairs.csv?good=right&bad=wrong`.
        allow_pickle: whether to read suites in pickles. Pickles are read without running them.

    Raises:
        UsageError: there is no file, folder or collection with a given name.
        InputError: a file does not conform to its format.

    >>> [suite.name for suite in read_suites("hu2020/mvrr", "hu2020/number_prep")]
    ['mvrr', 'number_prep']
    """
    return list(SuiteFiles(expand(names, allow_pickle=allow_pickle)))


def make(*names: str, n: int | None = None, seed: int | None = None, style: str = "") -> list[Suite]:
    """Generate suites from templates or bundled collections.

    Arguments:
        names: files, folders, patterns or collections.
        n: the maximum number of items per suite; the default is the number in the template.
        seed: the seed of the random draws, 1 by default.
        style: `natural` (the default), or `published` for lower case without punctuation.

    Raises:
        UsageError: there is no file, folder or collection with a given name, or the file is not a template.
        InputError: a template has errors.

    >>> [suite] = make("marvin2018/simple_agrmt", n=3)
    >>> len(suite.items)
    3
    """
    options = {"n": n, "seed": seed, "style": style or None}
    template_options = {name: str(value) for name, value in options.items() if value is not None}
    return list(SuiteFiles(expand([with_options(name, template_options) for name in names])))
