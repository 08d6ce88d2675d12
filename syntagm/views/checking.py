"""Checks of suites in memory and in files."""

from collections.abc import Sequence

from syntagm.core import InputError, public
from syntagm.suites import Finding, Suite, Suites, expand, listed, options_of, read_suite_file, violations
from syntagm.views.drawing.table import Listing, Table


@public
def check_suites(suites: Suites, file: str = "") -> Listing[Finding]:
    """Check suites against all rules, suite by suite.

    Arguments:
        suites: the suites, or names as in `read_suites`. A file that can't be read is a finding, E001.
        file: the file of suites in memory, for the findings.

    Raises:
        UsageError: there is no file, folder or collection with a given name.

    >>> from syntagm.suites import Item, Sentence, Suite
    >>> pair = Item("1", {"good": Sentence("The dog barks."), "bad": Sentence(" The dog bark.")})
    >>> for finding in check_suites(Suite("agreement", (pair,), ())):
    ...     print(finding)
    agreement: W101 no predictions. Add one, or nothing is tested.
    agreement, item 1, condition bad: W302 white space at the ends of the sentence. Remove it.
    >>> len(check_suites("hu2020"))
    0
    """
    findings: list[Finding] = []
    for part in listed(suites):
        if isinstance(part, Suite):
            findings += violations([part], file)
        else:
            for name in expand([str(part)]):
                own, unread = read_file(name)
                findings += [*unread, *violations(own, name)]
    return Listing(findings, _table)


def read_file(file: str, allow_pickle: bool = False) -> tuple[list[Suite], list[Finding]]:
    """Return the suites of a file; if it can't be read, no suites, and a finding with the reason."""
    try:
        return read_suite_file(file, allow_pickle), []
    except InputError as error:
        return [], [unreadable(file, error)]


def unreadable(file: str, error: InputError) -> Finding:
    place = error.place.removeprefix(options_of(file)[0]).strip(", /")
    message = ": ".join(filter(None, (place, error.found)))
    message += f"; expected {error.expected}" if error.expected else ""
    return Finding("E001", file, "", "", "", "", message, error.cure)


def _table(findings: Sequence[Finding]) -> Table:
    columns = ("code", "file", "suite", "item", "condition", "region", "message", "cure")
    rows = (tuple(getattr(finding, column) for column in columns) for finding in findings)
    return Table("Findings", columns, tuple(rows))
