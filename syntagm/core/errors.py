"""The exception hierarchy.

    SyntagmError
    ├── UsageError        an invalid name, option or argument
    ├── InputError        an invalid file or text
    │   └── FormulaError  a prediction that can't be parsed (with a caret under the place)
    ├── ModelError        a language model that can't be loaded or can't answer
    ├── AlignmentError    a token that crosses the border of a region
    └── RunError          a run directory that is in use, is damaged, or belongs to another run

    Interrupted           the user requested a stop; finished work is on disk

Each message names the place, what was found there, what was expected, and the cure.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from traceback import walk_tb

from syntagm.core.display import shown_lines


class SyntagmError(Exception):
    """The base class of this package's errors.

    Arguments:
        place: the file, item, condition or option with the error.
        found: what was found there.
        expected: what was expected instead.
        cure: how to solve the problem, as a full sentence.
    """

    def __init__(self, place: str, found: str, expected: str = "", cure: str = "") -> None:
        self.place, self.found, self.expected, self.cure = place, found, expected, cure
        super().__init__(place, found, expected, cure)

    def __str__(self) -> str:
        message = f"{self.place}: {self.found}" if self.place else self.found
        if self.expected:
            message += f"; expected {self.expected}"
        return shown_lines(f"{message}. {self.cure}" if self.cure else message)


class UsageError(SyntagmError):
    """An invalid name, option or argument."""


class InputError(SyntagmError):
    """An invalid file or text."""


class FormulaError(InputError):
    """A prediction that can't be parsed; the message shows the text with a caret under the place."""


class ModelError(SyntagmError):
    """A language model that can't be loaded or can't answer."""


class AlignmentError(SyntagmError):
    """A token that crosses the border of a region, so that its bits can't be assigned to one region."""


class RunError(SyntagmError):
    """A run directory that is in use, is damaged, or belongs to another run."""


class Interrupted(Exception):
    """The user requested a stop. Finished work is on disk; running the same command again resumes it."""


# What a mistake in code raises, and not a library that can't read a file.
_MISTAKES = (AttributeError, NameError, TypeError, LookupError, AssertionError)
# The methods of a library in which an attribute that our code asks for is missing.
_LOOKING = ("__getattr__", "__getattribute__", "__getitem__")


def is_mistake(error: BaseException) -> bool:
    """Return whether an error was raised by a mistake in this package's own code, for which no file is to blame."""
    module = ""
    for frame, _ in walk_tb(error.__traceback__):
        module = module if frame.f_code.co_name in _LOOKING else frame.f_globals.get("__name__", "")
    return isinstance(error, _MISTAKES) and module.startswith("syntagm.")


_NO_MEMORY = (
    "allocate memory", "out of memory", "not enough memory", "bad_alloc", "_status_alloc_failed",
    "could not create a primitive", "failed to map segment",
)  # fmt: skip


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out; libraries say so in a RuntimeError or an ImportError."""
    named = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"  # that of torch
    return named or any(sign in str(error).lower() for sign in _NO_MEMORY)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a cure that asks whether the known name nearest to `name` was meant, or "" if none is near.

    >>> did_you_mean("ngramm", ["lstm", "ngram"])
    'Did you mean ngram?'
    """
    # Longer names would take long.
    near = get_close_matches(name[:100], [*known], 1)
    return f"Did you mean {near[0]}?" if near else ""
