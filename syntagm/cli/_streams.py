"""The standard streams of a command: people read what it prints, unless it is data."""

import contextlib
import errno
import io
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from syntagm.core import visible


class _Visible:
    """A stream on which each character that hides or reorders text is replaced by its code."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Closed(io.TextIOBase):
    """The standard output, or input, of a command that was started without one (`>&-`)."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def buffer(self) -> Any:
        return self

    def write(self, _: Any) -> int:
        raise OSError(errno.EBADF, "it is closed", f"standard {self.name}")

    def readline(self, _: Any = -1) -> Any:
        return self.write("")


@contextlib.contextmanager
def for_people() -> Iterator[None]:
    """Print nothing that hides or reorders text, in a `with` block."""
    given, out, err = sys.stdin, sys.stdout, sys.stderr
    # Without standard error, nobody reads what it is told; and Python has None for a closed stream.
    sys.stdin = given or cast(TextIO, _Closed("input"))
    sys.stdout, sys.stderr = (
        cast(TextIO, _Visible(stream)) for stream in (out or cast(TextIO, _Closed("output")), err or io.StringIO())
    )
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = given, out, err


def data() -> TextIO:
    """Return standard output for data, such as CSV and JSON, which keep each character unless they go to a terminal."""
    out = sys.stdout
    return out.stream if isinstance(out, _Visible) and not out.isatty() else out
