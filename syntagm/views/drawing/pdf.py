"""PDF files with a fixed order, so that the same figure gives the same file.

The order in which the converter numbers fonts and lists the resources of a page differs from run to run.
"""

import re

_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
# Lines of a dictionary of resources, such as "      /gs6 14 0 R".
_RESOURCES = re.compile(rb"(?:^ +/[A-Za-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
_TABLE = re.compile(
    rb"^xref\n0 \d+\n((?:\d{10} \d{5} [nf][ \r]\n)+)trailer\n(.*)^startxref\n", re.MULTILINE | re.DOTALL
)


def ordered(pdf: bytes) -> bytes:
    """Sort the resources of a PDF, and number its objects in the order of reference."""
    if not (table := _TABLE.search(pdf)):
        return pdf
    offsets = {number: int(line[:10]) for number, line in enumerate(table[1].splitlines()) if line[17:18] == b"n"}
    ends = dict(zip(sorted(offsets.values()), [*sorted(offsets.values())[1:], table.start()], strict=True))
    objects = {number: _sorted(pdf[offset : ends[offset]]) for number, offset in offsets.items()}
    numbers = _numbers(table[2], objects)

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


def _sorted(content: bytes) -> bytes:
    description, mark, stream = content.partition(b"\nstream\n")
    ordered = _RESOURCES.sub(lambda run: b"".join(sorted(run[0].splitlines(keepends=True))), description)
    return ordered + mark + stream


def _numbers(trailer: bytes, objects: dict[int, bytes]) -> dict[int, int]:
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
