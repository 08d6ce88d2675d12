"""What a view makes, a table or a figure: its numbers as a frame, and itself as files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from syntagm.errors import UsageError
from syntagm.io import atomic, csv

if TYPE_CHECKING:
    import polars as pl


class Product(ABC):
    """A table or a figure.

    Attributes:
        FORMATS: what users call a format -> how its files end.
    """

    __slots__ = ()
    FORMATS: ClassVar[Mapping[str, str]]

    @abstractmethod
    def to_frame(self) -> "pl.DataFrame":
        """Return the numbers as a polars frame."""

    @abstractmethod
    def content(self, format: str) -> bytes:
        """Return the content of a file in one of `FORMATS`."""

    def to_pandas(self) -> Any:
        """Return the numbers as a pandas frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return import_module("pandas").DataFrame(self.to_frame().to_dict(as_series=False))

    def save(self, path: str | Path, formats: Sequence[str] = ()) -> list[Path]:
        """Write one file if `path` ends as one of the formats does, else `path` with the ending of each format.

        Arguments:
            formats: all unless some are chosen. A figure in several formats has its numbers beside it, as CSV.

        Returns:
            The paths written.

        Raises:
            UsageError: a format that can't be written.
            RunError: the folder can't be written.
        """
        path = Path(path)
        for format, ending in () if formats else self.FORMATS.items():
            if path.name.endswith(f".{ending}"):
                atomic.write(path, self.content(format))
                return [path]
        contents = {ending: self.content(format) for format, ending in endings(self.FORMATS, formats).items()}
        if "csv" not in self.FORMATS:
            frame = self.to_frame()
            contents["csv"] = "".join(csv.lines(frame.columns, frame.iter_rows())).encode()
        paths = [path.with_name(f"{path.name}.{ending}") for ending in contents]
        for file, content in zip(paths, contents.values(), strict=True):
            atomic.write(file, content)
        return paths


def endings(known: Mapping[str, str], chosen: Sequence[str] = ()) -> dict[str, str]:
    """Return the chosen formats with the endings of their files, all of those known unless some are chosen.

    Arguments:
        known: `FORMATS` of a table or of a figure.

    Raises:
        UsageError: a format that can't be written.
    """
    if odd := [format for format in chosen if format not in known]:
        raise UsageError("--format", repr(odd[0]), "some of " + ",".join(known))
    return {format: known[format] for format in chosen} if chosen else dict(known)
