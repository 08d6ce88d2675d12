"""Safetensors files, written in parts, because the library would copy all arrays in memory."""

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"int32": "I32", "float32": "F32"}


def parts(arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes]:
    """Yield the parts of a safetensors file, for `atomic.write_parts`."""
    head, end = {}, 0
    for name, values in arrays.items():
        begin, end = end, end + values.nbytes
        head[name] = {"dtype": _TYPES[values.dtype.name], "shape": list(values.shape), "data_offsets": [begin, end]}
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    for values in arrays.values():
        yield np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
