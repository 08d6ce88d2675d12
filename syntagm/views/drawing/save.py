"""Base class of tables and figures: their numbers as a frame, and files in all formats."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from syntagm.core import UsageError, atomic, csv, extras, public

if TYPE_CHECKING:
    import polars as pl


@public
class Product(ABC):
    """A table or a figure.

    Attributes:
        FORMATS: name of a format on the command line -> file name extension.
    """

    __slots__ = ()
    FORMATS: ClassVar[Mapping[str, str]]

    @abstractmethod
    def to_frame(self) -> "pl.DataFrame":
        """Return the numbers as a polars frame."""

    @abstractmethod
    def content(self, format: str) -> bytes:
        """Return the content of the file in one of `FORMATS`."""

    @abstractmethod
    def marks(self) -> Mapping[str, re.Pattern[bytes]]:
        """Return, by extension, the pattern of files that may be earlier versions of this product."""

    def format_of(self, path: Path) -> str:
        """Return the format that the extension of a path names; "" if there is none."""
        return next((format for format, extension in self.FORMATS.items() if path.name.endswith(f".{extension}")), "")

    def to_pandas(self) -> Any:
        """Return the numbers as a pandas frame.

        Raises:
            UsageError: pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise extras.missing("pandas", "to_pandas", alternative="use to_frame(), which needs none") from None
        return pandas.DataFrame(self.to_frame().to_dict(as_series=False))

    def save(self, path: str | Path, formats: Sequence[str] = ()) -> list[Path]:
        """Write one file if `path` has the extension of a format, otherwise one file for each format.

        Arguments:
            path: the path, with the extension of a format or without extension.
            formats: names of formats; all formats by default. If a figure is written in several formats, its numbers
                are also written, as CSV.

        Returns:
            The paths written.

        Raises:
            UsageError: there is no such format.
            RunError: the folder can't be written.
        """
        path = Path(path)
        if not path.name:
            raise UsageError(f"save, path {str(path)!r}", "no name of a file", "the path of a file")
        if not formats and (format := self.format_of(path)):
            atomic.write(path, self.content(format))
            return [path]
        contents = {extension: self.content(format) for format, extension in endings(self.FORMATS, formats).items()}
        if "csv" not in self.FORMATS:
            frame = self.to_frame()
            contents["csv"] = "".join(csv.lines(frame.columns, frame.iter_rows())).encode()
        files = {path.with_name(f"{path.name}.{extension}"): content for extension, content in contents.items()}
        # The numbers come first: files with their CSV beside them may be replaced, also if a kill prevents the rest.
        atomic.write_all(dict(sorted(files.items(), key=lambda file: file[0].suffix != ".csv")))
        return list(files)


def endings(known: Mapping[str, str], chosen: Sequence[str] = ()) -> dict[str, str]:
    """Return the chosen formats with their file name extensions."""
    if unknown := [format for format in chosen if format not in known]:
        raise UsageError("--format", repr(unknown[0]), "one or more of " + ",".join(known))
    return {format: known[format] for format in chosen} if chosen else dict(known)
