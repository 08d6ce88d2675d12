"""The header of a GGUF file, before the package gguf reads it: that its sizes are possible.

The package believes the lengths of arrays, and keeps half a kilobyte for each value. The format is described in
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

import mmap
import struct
from pathlib import Path

from syntagm.core import ModelError, regular

MAGIC = b"GGUF"
# Types of values -> their bytes.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY = 8, 9
# Values and tensors of a file. The largest vocabularies, with scores, types and merges, have half of them.
_MOST = 3_000_000


def refuse_endless_header(file: Path) -> None:
    """Refuse a file whose header is longer than the file, or has more values than any model."""
    place = str(file)
    try:
        with regular.opened(file) as opened:
            begins = opened.read(len(MAGIC)) == MAGIC
            count = _count(opened.fileno()) if begins else 0
    except OSError as error:
        raise ModelError(place, f"can't be read ({error.strerror})", "a GGUF file") from error
    except (struct.error, LookupError) as error:
        found = "a damaged or incomplete GGUF file (its header ends in the middle, or has unknown types)"
        raise ModelError(place, found, "a complete GGUF file", "Download or convert it again.") from error
    if not begins:
        raise ModelError(place, "no GGUF file", "a file that begins with the letters GGUF")
    if count > _MOST:
        raise ModelError(place, f"a header of {count:,} values", f"at most {_MOST:,}", "Download or convert it again.")


def _count(file: int) -> int:
    """Return how many values and tensors the header has; less than all if there are too many."""
    with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as content:
        # A version with bytes in the other order is a large number.
        order = "<" if struct.unpack_from("<I", content, 4)[0] < 1 << 16 else ">"
        tensors, keys = struct.unpack_from(order + "QQ", content, 8)
        count, at = tensors + keys, 24
        for _ in range(keys):
            if count > _MOST:
                break
            at = _after_string(content, at, order)
            [kind] = struct.unpack_from(order + "I", content, at)
            at, length = at + 4, 1
            if kind == _ARRAY:
                # Arrays of arrays are possible, and no model has one.
                kind, length = struct.unpack_from(order + "IQ", content, at)
                at, count = at + 12, count + length
            if count > _MOST:
                break
            if kind == _STRING:
                for _ in range(length):
                    at = _after_string(content, at, order)
            else:
                at += _SIZES[kind] * length
        return int(count)


def _after_string(content: mmap.mmap, at: int, order: str) -> int:
    length: int = struct.unpack_from(order + "Q", content, at)[0]
    if (end := at + 8 + length) > len(content):
        raise LookupError(end)
    return end
