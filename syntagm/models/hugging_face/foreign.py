"""Errors of libraries over the files of a checkpoint: whatever they raise, it becomes one ModelError."""

import contextlib
from collections.abc import Iterator

from syntagm.core import Interrupted, ModelError, SyntagmError, is_mistake, lacks_memory

# For a checkpoint that was loaded, and with which nothing can be computed.
UNUSABLE = "a model that can be computed"
CURE = "Compare config.json and the tokenizer with those of the published checkpoint: were they edited?"


def is_panic(error: BaseException) -> bool:
    """Return whether an error is a panic of a library in Rust, such as tokenizers. Its class is no subclass of Exception."""
    return type(error).__name__ == "PanicException"


def is_foreign(error: BaseException) -> bool:
    """Return whether a library raised an error over what it was given: no interruption, no mistake of ours, no lack of memory."""
    if isinstance(error, SyntagmError | Interrupted) or is_mistake(error) or lacks_memory(error):
        return False
    return isinstance(error, Exception) or is_panic(error)


@contextlib.contextmanager
def one_error(place: str, expected: str, cure: str = "") -> Iterator[None]:
    """Turn what a library raises in the block into a ModelError. What is not of a library (`is_foreign`) is left as it is."""
    try:
        yield
    except BaseException as error:
        if not is_foreign(error):
            raise
        raise ModelError(place, described(error), expected, cure) from error


def described(error: BaseException) -> str:
    """Return an error of a library in one line. Some have the reason on the line after a heading.

    >>> described(ValueError("Validation error for field 'x':\\n    TypeError: not a number")), described(AssertionError())
    ("Validation error for field 'x': TypeError: not a number", 'AssertionError')
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = " ".join(lines[:2] if lines and lines[0].endswith(":") else lines[:1])
    if not first:
        return type(error).__name__
    # The text of some errors means nothing without their name: "'vocab'", "list index out of range".
    named = isinstance(error, LookupError | AssertionError) or is_panic(error)
    return (f"{type(error).__name__}: {first}" if named else first)[:300]
