"""The suites that can be tried and copied: those of the folder of the studio, and those named at the start."""

from collections.abc import Mapping, Sequence

from syntagm.serve.routes import Missing
from syntagm.studio import drafts
from syntagm.studio.store import Store
from syntagm.suite import Suite


class Library:
    """Suites by their names.

    Arguments:
        named: the suites that were named at the start.
        store: the folder of the studio, if there is one.
    """

    def __init__(self, named: Sequence[Suite], store: Store | None) -> None:
        self.named: Mapping[str, Suite] = {suite.name: suite for suite in named}
        self.store = store

    def listed(self) -> list[str]:
        """Return the names of all suites; those of files have the ending of the file."""
        return [*(self.store.names() if self.store else []), *self.named]

    def suite(self, name: str) -> Suite:
        """Return a suite.

        Raises:
            Missing: there is none.
            InputError: its file is not a suite.
        """
        if self.store and name in self.store.names():
            return drafts.suite(self.store.read(name).text, name)
        if name in self.named:
            return self.named[name]
        raise Missing(f"suite {name[:100]}", "no such suite", "a suite of the studio")
