"""Saving of tables and figures in all formats: PNG files packed, PDF files in a fixed order, SVG files checked."""

import re
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from xml.etree import ElementTree

from syntagm.core import UsageError, atomic, csv, extras, public

if TYPE_CHECKING:
    import polars as pl

_PNG = b"\x89PNG\r\n\x1a\n"
_DATA, _END = b"IDAT", b"IEND"


def packed_png(png: bytes) -> bytes:
    """Compress the pixels of a PNG again; its other parts stay as they are."""
    # The converter writes quickly and compresses little: drawings of text and lines on one colour become two to four
    # times smaller.
    if not png.startswith(_PNG):
        return png
    parts, pixels, at = [_PNG], zlib.decompressobj(), len(_PNG)
    compressor = zlib.compressobj()
    data = []
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        name, end = png[at + 4 : at + 8], at + 12 + length
        if name == _DATA:
            data.append(compressor.compress(pixels.decompress(png[at + 8 : at + 8 + length])))
        else:
            if name == _END:
                parts.append(_chunk(_DATA, b"".join([*data, compressor.flush()])))
            parts.append(png[at:end])
        at = end
    return b"".join(parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
# Lines of a dictionary of resources, such as "      /gs6 14 0 R".
_RESOURCES = re.compile(rb"(?:^ +/[A-Za-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
_OFFSETS = re.compile(
    rb"^xref\n0 \d+\n((?:\d{10} \d{5} [nf][ \r]\n)+)trailer\n(.*)^startxref\n", re.MULTILINE | re.DOTALL
)


def ordered_pdf(pdf: bytes) -> bytes:
    """Sort the resources of a PDF, and number its objects in the order of reference."""
    # The order in which the converter numbers fonts and lists the resources of a page differs from run to run.
    if not (table := _OFFSETS.search(pdf)):
        return pdf
    offsets = {number: int(line[:10]) for number, line in enumerate(table[1].splitlines()) if line[17:18] == b"n"}
    ends = dict(zip(sorted(offsets.values()), [*sorted(offsets.values())[1:], table.start()], strict=True))
    objects = {number: _sorted_resources(pdf[offset : ends[offset]]) for number, offset in offsets.items()}
    numbers = _numbered(table[2], objects)

    def renumbered(content: bytes) -> bytes:
        return _REFERENCE.sub(lambda reference: b"%d 0 R" % numbers[int(reference[1])], content)

    written = bytearray(pdf[: min(offsets.values())])
    lines = [b"0000000000 65535 f \n"]
    for old, new in numbers.items():
        lines.append(b"%010d 00000 n \n" % len(written))
        content, mark, stream = objects[old].partition(b"\nstream\n")
        written += b"%d 0 obj" % new + renumbered(content.partition(b" obj")[2]) + mark + stream
    trailer = re.sub(rb"/Size \d+", b"/Size %d" % len(lines), renumbered(table[2]))
    start = len(written)
    written += b"xref\n0 %d\n" % len(lines) + b"".join(lines) + b"trailer\n" + trailer
    return bytes(written + b"startxref\n%d\n%%%%EOF" % start)


def _sorted_resources(content: bytes) -> bytes:
    description, mark, stream = content.partition(b"\nstream\n")
    ordered = _RESOURCES.sub(lambda run: b"".join(sorted(run[0].splitlines(keepends=True))), description)
    return ordered + mark + stream


def _numbered(trailer: bytes, objects: dict[int, bytes]) -> dict[int, int]:
    """Return the new number of each object, from 1: the trailer's references first, then those of each object in turn."""
    numbers: dict[int, int] = {}
    remaining = [int(number) for number in reversed(_REFERENCE.findall(trailer))]
    while remaining:
        number = remaining.pop()
        if number not in numbers:
            numbers[number] = len(numbers) + 1
            description = objects[number].partition(b"\nstream\n")[0]
            remaining += [int(number) for number in reversed(_REFERENCE.findall(description))]
    return numbers


ELEMENTS = frozenset({"svg", "g", "path", "rect", "text", "tspan", "line", "circle", "title", "defs", "clipPath"})
_PAINT = "fill fill-opacity opacity stroke stroke-opacity stroke-width stroke-dasharray stroke-linecap stroke-linejoin"
_TYPE = "font-family font-size font-style font-weight text-anchor"
_PLACE = (
    "clip-path cx cy d dx dy height id r stroke-dashoffset stroke-miterlimit transform viewBox width x x1 x2 y y1 y2"
)
ATTRIBUTES = frozenset(f"{_PAINT} {_TYPE} {_PLACE} version".split())
_NAMESPACE = "{http://www.w3.org/2000/svg}"
# Attributes with these values are left out: they change nothing in drawings of Vega, which sets none on groups.
_DEFAULTS = {"opacity": "1", "stroke-opacity": "1", "fill-opacity": "1", "stroke-width": "1", "x2": "0", "y2": "0",
             "transform": "translate(0,0)"}  # fmt: skip
_NOTHING = "M0,0h0v0h0Z"
_LONG = re.compile(r"(\.\d\d)\d+")


def checked_svg(svg: str) -> str:
    """Remove unknown elements and attributes from a drawing, and round coordinates to a hundredth of a pixel.

    >>> checked_svg('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script><path onclick="2" d="M0.12345,0"/></svg>')
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0.12,0" /></svg>'
    >>> checked_svg('<svg xmlns="http://www.w3.org/2000/svg"><path aria-label="0.5 bits" d="M1,0"/></svg>')
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M1,0"><title>0.5 bits</title></path></svg>'
    """
    root = ElementTree.fromstring(svg)
    ElementTree.register_namespace("", _NAMESPACE[1:-1])
    fonts = {family for text in root.iter() if (family := text.get("font-family"))}
    _prune(root, drop={"font-family"} if len(fonts) == 1 else set())
    if len(fonts) == 1:
        root.set("font-family", *fonts)
    return ElementTree.tostring(root, encoding="unicode")


def _prune(element: ElementTree.Element, drop: Set[str]) -> None:
    """Remove forbidden content below an element, its attributes in `drop`, and content without effect on the drawing."""
    # The labels of headings are on other elements, and repeat their text.
    label = element.get("aria-label") if element.tag == f"{_NAMESPACE}path" else None
    for name, value in list(element.attrib.items()):
        allowed = name in ATTRIBUTES and (name != "clip-path" or value.startswith("url(#"))
        if not allowed or name in drop or _DEFAULTS.get(name) == value:
            del element.attrib[name]
        elif name in ("d", "transform"):
            element.set(name, _LONG.sub(r"\1", value))
    children: list[ElementTree.Element] = []
    for child in element:
        if child.tag.removeprefix(_NAMESPACE) not in ELEMENTS or child.get("d") in ("", _NOTHING):
            continue
        _prune(child, drop)
        # A group without attributes only holds its children.
        children += child if child.tag == f"{_NAMESPACE}g" and not child.attrib else [child]
    element[:] = children
    if label:
        title = ElementTree.Element(f"{_NAMESPACE}title")
        title.text = label
        element.insert(0, title)


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
    if unknown := [format for format in chosen if format not in known]:
        raise UsageError("--format", repr(unknown[0]), "one or more of " + ",".join(known))
    return {format: known[format] for format in chosen} if chosen else dict(known)
